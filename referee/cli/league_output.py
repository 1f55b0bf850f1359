"""What a league prints: its progress, and its standings as a table of text and as JSON."""

from __future__ import annotations

import contextlib
import json
import sys
import time
from typing import TYPE_CHECKING, Any

import typer

from referee.cli.app import columns, put, put_csv, put_json, say
from referee.cli.terminal import seldom
from referee.league.standings_text import place_json, report, table
from referee.support.escape import printable
from referee.support.outputs import write_output
from referee.support.words import counted, cut
from referee.tournament.export import MARK, as_csv_text, csv_text
from referee.tournament.progress import Pace, ProgressListener

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from referee.league.folder import LeagueState
    from referee.league.league import OpenLeague
    from referee.tournament.progress import Counted
    from referee.tournament.replays import Check, Progress
    from referee.tournament.values import MatchTask, Record


#: The width of a table where there is no terminal.
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
    for note in opened.notes(state):
        put(f"note: {note}")


def top(opened: OpenLeague, state: LeagueState, wide: int, high: int) -> list[str]:
    """The first lines of the standings while the league runs."""
    places = opened.standings(state, resamples=100)[:high]
    return table(places, wide, is_live=state.is_live, kind=opened.league.format.kind) if state.results else []


_LINE_SECONDS = 10.0
#: The time left is told after so many seconds of play: before, the start of the workers counts for too much.
_MEASURED_SECONDS = 10.0
#: The standings are computed again after a multiple of the time that computing them took; and the least and most seconds until then.
_PAUSE, _LEAST_PAUSE, _MOST_PAUSE = 5.0, 2.0, 15.0


class ProgressPrinter(ProgressListener):
    """Counts matches and prints the progress."""

    def __init__(self, store: Counted, *, is_quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._is_quiet = is_quiet
        self._clock = clock
        self._told = clock()
        #: When each running match was seen first.
        self._since: dict[str, float] = {}
        #: None while nobody can play.
        self._pace: Pace | None = Pace(self._told)

    def finished(self, task: MatchTask, record: Record) -> None:
        """Count a match."""
        if self._pace is not None:
            self._pace.note(self._clock())

    def said(self, text: str) -> None:
        """Print a message at once."""
        say(text)

    def tick(self, running: Sequence[MatchTask] | None) -> None:
        """Print a line now and then."""
        self._measure(running)
        self._since = {task.key: self._since.get(task.key, self._clock()) for task in running or ()}
        if not self._is_quiet and self._clock() - self._told >= _LINE_SECONDS:
            self._told = self._clock()
            say(self.line() + self._awaited(running or ()))

    def _awaited(self, running: Sequence[MatchTask]) -> str:
        """Return the running match that takes longest, as the end of a line; "" if none takes long."""
        longest = min(running, key=lambda task: self._since[task.key], default=None)
        seconds = 0.0 if longest is None else self._clock() - self._since[longest.key]
        if longest is None or seconds < _LINE_SECONDS:
            return ""
        return f", waiting for {' against '.join(longest.seats.values())} ({_duration(seconds)} so far)"

    def _measure(self, running: Sequence[MatchTask] | None) -> None:
        """Measure the speed while somebody can play. A pause doesn't count: afterwards the speed is measured anew."""
        if running is None:
            self._pace = None
        elif self._pace is None:
            self._pace = Pace(self._clock())

    def line(self) -> str:
        """Return the progress as a line: the matches played, the speed of the last minute and the time that is left."""
        counts = self._store.counts()
        voids = f", {counts.voids:,} void" if counts.voids else ""
        return f"{counts.done:,} of {counted(counts.total, 'match')}{voids}, {self._speed(counts.planned, self._clock())}"

    def _speed(self, planned: int, now: float) -> str:
        if self._pace is None:
            return "waiting for workers"
        rate = self._pace.rate(now)
        if rate is None:
            return "waiting for results"
        is_measured = planned and now - self._pace.begun >= _MEASURED_SECONDS
        return f"{rate * 60:,.{0 if rate * 60 >= 1 else 1}f} a minute" + (f", {_duration(planned / rate)} left" if is_measured else "")


class LiveProgress(ProgressPrinter):
    """Shows the standings, the running matches and the speed as a table that is redrawn in place.

    ``standings`` returns the lines of the table, within a number of columns and of lines.
    """

    def __init__(self, store: Counted, standings: Callable[[int, int], list[str]]) -> None:
        super().__init__(store, is_quiet=False)
        from rich.console import Console
        from rich.live import Live

        self._standings = standings
        self._live = Live(console=Console(stderr=True), refresh_per_second=4, transient=True)
        self._next = 0.0
        self._table: list[str] = []

    def start(self) -> None:
        """Begin to show."""
        self._live.start()

    def stop(self) -> None:
        """Clear the table."""
        self._live.stop()

    def said(self, text: str) -> None:
        """Print a message above the table."""
        self._live.console.print(printable(text), markup=False, highlight=False)

    def tick(self, running: Sequence[MatchTask] | None) -> None:
        """Redraw the table."""
        from rich.text import Text

        self._measure(running)
        if time.monotonic() >= self._next:
            begun = time.monotonic()
            self._table = self._standings(self._live.console.width, max(5, self._live.console.height - 8))
            self._next = time.monotonic() + min(_MOST_PAUSE, max(_LEAST_PAUSE, _PAUSE * (time.monotonic() - begun)))
        running = running or ()
        now = [f"  {' - '.join(cut(team, 30) for team in task.seats.values())}" for task in running[:4]]
        more = [f"  and {len(running) - 4:,} more"] if len(running) > 4 else []
        self._live.update(Text("\n".join(map(printable, [*self._table, "", self.line(), *now, *more]))))


@contextlib.contextmanager
def progress(store: Counted, standings: Callable[[int, int], list[str]], *, is_quiet: bool) -> Iterator[ProgressPrinter]:
    """Show the progress while matches are played."""
    if is_quiet or not sys.stderr.isatty():
        yield ProgressPrinter(store, is_quiet=is_quiet)
        return
    live = LiveProgress(store, standings)
    live.start()
    try:
        yield live
    finally:
        live.stop()


def _duration(seconds: float) -> str:
    """A time for people."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def put_export(
    folder: Path,
    seats: Sequence[str],
    rows: Sequence[Mapping[str, Any]],
    about: Mapping[str, Any],
    out: Path | None,
    *,
    as_json: bool,
    force: bool,
    teams: Mapping[str, Mapping[str, Any]] | None = None,
) -> None:
    """Print all matches of a folder, or write them to a file: as CSV with facts about ``teams`` by their names, or as JSON with facts ``about`` them."""
    text = json.dumps({**about, "matches": rows}, indent=1) + "\n" if as_json else as_csv_text(rows, seats, teams or {})
    if out is None:
        put(*text.splitlines()) if as_json else put_csv(text)
    else:
        write_output(out, text.encode(), MARK.match, store_files(folder), force=force)
        say(f"Written: {out}")


def store_files(folder: Path) -> list[Path]:
    """Return the files and folders of a league or an arena from which its results are read."""
    return [
        *folder.glob("*.sqlite*"),
        *(folder / name for name in ("arena.toml", "database.url", "league.id", "replays", "handed-in", "versions")),
    ]


def put_check(verify: Callable[[Progress | None], Check], *, as_json: bool) -> None:
    """Check everything against the replays, and print what was found. Exit status 1 if there is a problem."""
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
    """Return a listener that prints a line every ten seconds; ``what`` are the things that are done."""
    print_seldom = seldom(_LINE_SECONDS)
    return lambda done, total: print_seldom(f"{done:,} of {total:,} {what}")
