"""What a league prints: its progress, and its standings as a table of text and as JSON."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import time
from typing import TYPE_CHECKING, Any

import typer

from referee.cli.app import put, put_json, say
from referee.league.export import csv_text
from referee.league.pace import Pace
from referee.support.escape import escape, printable
from referee.support.words import counted, cut

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from referee.league.engine import LeagueState
    from referee.league.league import OpenLeague, Standing
    from referee.league.store import Store
    from referee.league.values import MatchRecord, MatchTask


def put_standings(opened: OpenLeague, *, as_json: bool, as_csv: bool = False) -> None:
    """Print the standings: a table for people, one JSON object, or a line for each team for a spreadsheet."""
    state = opened.state()
    places = opened.standings(state.results)
    if as_json:
        put_json(report(opened, state, places))
        return
    if as_csv:
        put(*csv_text([_place_json(place) for place in places]).splitlines())
        return
    put(*table(places, is_live=opened.is_live(), kind=opened.league.format.kind))
    decided = opened.store.fact("decided")
    if decided:
        put(decided["why"])
    for note in opened.notes(state.results):
        put(f"note: {note}")


def top(opened: OpenLeague, wide: int, high: int) -> list[str]:
    """The first lines of the standings while the league runs."""
    results = opened.state().results
    shown = opened.standings(results, resamples=100)[:high]
    return table(shown, wide, is_live=opened.is_live(), kind=opened.league.format.kind) if results else []


def report(opened: OpenLeague, state: LeagueState, places: Sequence[Standing]) -> dict[str, Any]:
    """The league as ``--json`` prints it."""
    decided = opened.store.fact("decided")
    return {
        "league": opened.league.name,
        "folder": str(opened.folder),
        "game": opened.league.game,
        "rules": opened.league.rules,
        "format": opened.league.format.kind,
        "seed": opened.league.seed,
        "complete": opened.store.counts().planned == 0,
        "decided": decided["why"] if decided else None,
        "duels": len(state.results),
        **counts(opened),
        "standings": [_place_json(place) for place in places],
    }


def counts(opened: OpenLeague) -> dict[str, Any]:
    """How many matches there are, as ``--json`` prints it."""
    found = opened.store.counts()
    return {"matches": {**found._asdict(), "total": found.total}}


def _place_json(place: Standing) -> dict[str, Any]:
    row, rating = place.row, place.rating
    return {
        **row._asdict(),
        "elo": round(rating.elo, 2),
        "low": round(rating.low, 2),
        "high": round(rating.high, 2),
        "best_rank": rating.best_rank,
        "worst_rank": rating.worst_rank,
        "decided": place.is_decided,
        "forfeit": place.forfeit,
        "withdrawn": place.is_withdrawn,
    }


#: The width of a table where there is no terminal.
_WIDE = 110
#: The columns behind the team in the order of their weight: in a narrow terminal the last ones are left out.
_KEPT = ("points", "Elo", "duels", "rounds", "a duel", "possible places", "Buchholz", "total", "95 %", "won", "lost", "tied")
#: The least width of the column of teams.
_TEAM = 12


def table(places: Sequence[Standing], width: int | None = None, *, is_live: bool = False, kind: str = "") -> list[str]:
    """The standings of a league of the format ``kind`` as lines of text; columns that don't fit into ``width`` are left out.

    ``is_live``: matches are missing, and the points a duel decide the order.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    width = width or (shutil.get_terminal_size().columns if sys.stdout.isatty() or "COLUMNS" in os.environ else _WIDE)
    optional = {"rounds": kind == "elimination", "Buchholz": kind == "swiss", "a duel": is_live and kind != "elimination"}
    rows = [{heading: cell for heading, cell in _cells(place).items() if optional.get(heading, True)} for place in places]
    team = max(len("team"), min(_TEAM, max((len(place.row.team) for place in places), default=0)))
    headings = _fitting(rows, width - len("place") - 2 - team)
    made = Table(box=None, pad_edge=False, header_style="")
    made.add_column("place", justify="right", no_wrap=True)
    made.add_column("team", overflow="fold")
    for heading in headings:
        made.add_column(heading, justify="right", no_wrap=True)
    for place, cells in zip(places, rows, strict=True):
        row = place.row
        name = escape(row.team, 40) + ("" if place.forfeit is None else " (withdrawn)" if place.is_withdrawn else " (can't start)")
        made.add_row(f"{row.place}{'=' if row.shared else ''}", Text(name), *(cells[heading] for heading in headings))
    stream = io.StringIO()
    Console(file=stream, width=width).print(made)
    return [line.rstrip() for line in stream.getvalue().rstrip("\n").split("\n")]


def _fitting(rows: Sequence[Mapping[str, str]], room: int) -> list[str]:
    """Return the headings of the columns that fit into so many characters, in order."""
    if not rows:
        return []
    kept = set()
    for heading in (one for one in _KEPT if one in rows[0]):
        room -= max(len(heading), *(len(row[heading]) for row in rows)) + 2
        if room < 0:
            break
        kept.add(heading)
    return [heading for heading in rows[0] if heading in kept]


def _cells(place: Standing) -> dict[str, str]:
    """Return the cells of a team, by their headings in order."""
    row, rating = place.row, place.rating
    return {
        "rounds": f"{row.stage}",
        "points": f"{row.points:g}",
        "a duel": f"{row.points / row.played:.2f}" if row.played else "",
        "duels": f"{row.played}",
        "Buchholz": f"{row.buchholz or 0:g}",
        "won": f"{row.won}",
        "tied": f"{row.tied}",
        "lost": f"{row.lost}",
        "total": f"{row.total:,.0f}",
        "Elo": f"{rating.elo:+.0f}",
        "95 %": f"{rating.low:+.0f} to {rating.high:+.0f}",
        "possible places": f"{rating.best_rank}" if place.is_decided else f"{rating.best_rank}-{rating.worst_rank}",
    }


_LINE_SECONDS = 10.0
#: The time left is told after so many seconds of play: before, the start of the workers counts for too much.
_MEASURED_SECONDS = 10.0
#: The standings are computed again after a multiple of the time that computing them took; and the least and most seconds until then.
_PAUSE, _LEAST_PAUSE, _MOST_PAUSE = 5.0, 2.0, 15.0


class ProgressPrinter:
    """Counts matches and prints the progress; implements ``engine.ProgressListener``."""

    def __init__(self, store: Store, *, is_quiet: bool, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._is_quiet = is_quiet
        self._clock = clock
        self._told = clock()
        #: None while nobody can play.
        self._pace: Pace | None = Pace(self._told)

    def finished(self, task: MatchTask, record: MatchRecord) -> None:
        """Count a match."""
        if self._pace is not None:
            self._pace.note(self._clock())

    def said(self, text: str) -> None:
        """Print a message at once."""
        say(text)

    def decided(self, why: str) -> None:
        """Nothing to do: the standings, which follow at once, say it."""

    def tick(self, running: Sequence[MatchTask] | None) -> None:
        """Print a line now and then."""
        self._measure(running)
        if not self._is_quiet and self._clock() - self._told >= _LINE_SECONDS:
            self._told = self._clock()
            say(self.line())

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
        return f"{counts.done:,} of {counts.total:,} matches{voids}, {self._speed(counts.planned, self._clock())}"

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

    def __init__(self, store: Store, standings: Callable[[int, int], list[str]]) -> None:
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
def progress(store: Store, standings: Callable[[int, int], list[str]], *, is_quiet: bool) -> Iterator[ProgressPrinter]:
    """Show the progress while matches are played."""
    if is_quiet or not sys.stderr.isatty():
        yield ProgressPrinter(store, is_quiet=is_quiet)
        return
    shown = LiveProgress(store, standings)
    shown.start()
    try:
        yield shown
    finally:
        shown.stop()


def _duration(seconds: float) -> str:
    """A time for people."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def warn_of_hosts(opened: OpenLeague) -> None:
    """Say which machines gave other results than the others, and which matches were played twice with different results."""
    from referee.league.hosts import strange_hosts

    for host, why in strange_hosts(opened.store):
        say(f"warning: the results of the machine {host} differ from the others' ({why}).")
    found = opened.store.disagreements()
    if not found:
        return
    seats = {stored.task.key: stored.task.seats for stored in opened.store.matches(done=True)}
    for key, record in found:
        teams = " and ".join(seats.get(key, {}).values())
        replay = str(opened.folder / record.replay)
        say(
            f"warning: a match of {teams} was played twice with different results. The first one counts; the second one is from "
            f"{record.host}, replay {replay}."
        )


def put_export(opened: OpenLeague, about: Mapping[str, Any], out: Path | None, *, as_json: bool) -> None:
    """Print all matches, or write them to a file: as CSV, or as JSON together with facts ``about`` them."""
    from referee.league.export import as_csv_text, export_rows
    from referee.support.files import write_whole

    rows = list(export_rows(opened))
    text = json.dumps({**about, "matches": rows}, indent=1) + "\n" if as_json else as_csv_text(rows, opened)
    if out is None:
        put(*text.splitlines())
    else:
        write_whole(out, text.encode())
        say(f"Written: {out}")


def put_check(opened: OpenLeague, *, as_json: bool) -> None:
    """Check everything against the replays, and print what was found. Exit status 1 if there is a problem."""
    from referee.league.check import verify_league

    found = verify_league(opened, progress=None if as_json else plain_progress("checked"))
    if as_json:
        put_json(found.to_json())
    else:
        put(*found.problems)
        for note in found.notes:
            put(f"note: {note}")
        put(f"{counted(found.replays, 'replay')} checked, {counted(len(found.problems), 'problem')}.")
    if found.problems:
        raise typer.Exit(1)


def plain_progress(what: str) -> Any:
    """Return a listener that prints a line every ten seconds; ``what`` are the things that are done."""
    last = [time.monotonic()]

    def tell(done: int, total: int) -> None:
        if time.monotonic() - last[0] >= 10:
            last[0] = time.monotonic()
            say(f"{done:,} of {total:,} {what}")

    return tell
