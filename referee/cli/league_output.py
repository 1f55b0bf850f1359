"""What a league prints: its progress, and its standings as a table of text and as JSON."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee.cli.app import columns, is_quiet, put, put_csv, put_json, put_more, say
from referee.cli.models import CommandModel
from referee.cli.options import Force
from referee.cli.terminal import seldom
from referee.errors import UsageError
from referee.league.standings_text import place_json, report, table
from referee.support.escape import printable
from referee.support.outputs import write_output
from referee.support.words import counted, cut
from referee.tournament.export import MARK, as_csv_text, csv_text, store_files
from referee.tournament.progress import LINE_SECONDS, ProgressLines

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from referee.league.folder import LeagueState
    from referee.league.league import OpenLeague
    from referee.tournament.progress import MatchCounts
    from referee.tournament.replays import Progress, ReplayCheck
    from referee.tournament.values import Task


#: The width of a table without a terminal.
_WIDE = 110


def put_standings(opened: OpenLeague, *, as_json: bool, as_csv: bool = False) -> None:
    """Print the standings: a table for people, one JSON object, or a line for each team for a spreadsheet."""
    state = opened.view.state()
    places = opened.standings(state)
    if as_json:
        put_json(report(opened, state, places))
        return
    if as_csv:
        put_csv(csv_text([place_json(place) for place in places]))
        return
    put(*table(places, columns(_WIDE), is_live=state.is_live, kind=opened.league.format.kind))
    put_more(*(f"note: {note}" for note in opened.notes(state)), *opened.faults())


def top(opened: OpenLeague, state: LeagueState, wide: int, high: int) -> list[str]:
    """Return the first lines of the standings, shown while the league runs."""
    places = opened.standings(state, resamples=100)[:high]
    return table(places, wide, is_live=state.is_live, kind=opened.league.format.kind) if state.results else []


#: The standings are computed again after a multiple of the time that computing them took; and the least and most seconds until then.
_PAUSE, _LEAST_PAUSE, _MOST_PAUSE = 5.0, 2.0, 15.0


class LiveProgress(ProgressLines):
    """Shows the standings, the running matches and the speed as a table that is redrawn in place.

    ``standings`` returns the lines of the table, for a number of columns and of lines.
    """

    def __init__(self, counts: Callable[[], MatchCounts], standings: Callable[[int, int], list[str]], replays: Path | None = None) -> None:
        super().__init__(counts, say, replays=replays)
        from rich.console import Console
        from rich.live import Live

        self._standings = standings
        self._live = Live(console=Console(stderr=True), refresh_per_second=4, transient=True)
        self._next = 0.0
        self._table: list[str] = []

    def start(self) -> None:
        """Begin to show the table."""
        self._live.start()

    def stop(self) -> None:
        """Clear the table."""
        self._live.stop()

    def said(self, text: str) -> None:
        """Print a message above the table."""
        self._live.console.print(printable(text), markup=False, highlight=False)

    def tick(self, running: Collection[Task] | None) -> None:
        """Redraw the table."""
        from rich.text import Text

        self.measure(running)
        if time.monotonic() >= self._next:
            begun = time.monotonic()
            self._table = self._standings(self._live.console.width, max(5, self._live.console.height - 8))
            self._next = time.monotonic() + min(_MOST_PAUSE, max(_LEAST_PAUSE, _PAUSE * (time.monotonic() - begun)))
        running = running or ()
        now = [f"  {' - '.join(cut(team, 30) for team in task.names.values())}{self.lasting(task)}" for task in islice(running, 4)]
        more = [f"  and {len(running) - 4:,} more"] if len(running) > 4 else []
        self._live.update(Text("\n".join(map(printable, [*self._table, "", self.line(), *now, *more]))))


@contextlib.contextmanager
def progress(
    counts: Callable[[], MatchCounts], standings: Callable[[int, int], list[str]], replays: Path | None = None
) -> Iterator[ProgressLines]:
    """Show the progress while matches are played, whose ``replays`` are in this folder."""
    if is_quiet() or not sys.stderr.isatty():
        yield ProgressLines(counts, say, replays=replays)
        return
    live = LiveProgress(counts, standings, replays)
    live.start()
    try:
        yield live
    finally:
        live.stop()


class ExportOptions(CommandModel):
    """The form of all matches of a league or an arena, and where they are written."""

    as_csv: Annotated[bool, typer.Option("--csv", help="Write one line for each match, for a spreadsheet.")] = False
    as_json: Annotated[bool, typer.Option("--json", help="Write one JSON object.")] = False
    out: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write to a file.  (default: stdout)")] = None
    force: Force = False

    def model_post_init(self, context: object) -> None:
        """Raise UsageError unless one form is named."""
        if self.as_csv == self.as_json:
            raise UsageError("Name one form: --csv or --json.")

    def put(
        self,
        folder: Path,
        seats: Sequence[str],
        rows: Sequence[Mapping[str, Any]],
        about: Mapping[str, Any],
        teams: Mapping[str, Mapping[str, Any]],
    ) -> None:
        """Print all matches of a folder, or write them to a file: as CSV with facts about ``teams`` by name, or as JSON with the keys of ``about``."""
        text = json.dumps({**about, "matches": rows}, indent=1) + "\n" if self.as_json else as_csv_text(rows, seats, teams)
        if self.out is None:
            put(*text.splitlines()) if self.as_json else put_csv(text)
        else:
            write_output(self.out, text.encode(), MARK.match, store_files(folder), force=self.force)
            say(f"Written: {self.out}")


def put_check(verify: Callable[[Progress | None], ReplayCheck], *, as_json: bool) -> None:
    """Check the stored results against the replays, and print the problems. Exit status 1 if there is one."""
    check = verify(None if as_json else plain_progress("checked"))
    if as_json:
        put_json(check.to_json())
    else:
        put(*check.problems)
        for note in check.notes:
            put(f"note: {note}")
        put(f"{counted(check.replays, 'replay')} checked, {counted(len(check.problems), 'problem')}.")
    if check.problems:
        raise typer.Exit(1)


def plain_progress(what: str) -> Callable[[int, int], None]:
    """Return a listener that prints "10 of 20 ``what``" every ten seconds."""
    print_seldom = seldom(LINE_SECONDS)
    return lambda done, total: print_seldom(f"{done:,} of {total:,} {what}")
