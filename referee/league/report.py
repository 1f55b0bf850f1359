"""The plain values of a league's report, so that any results can have a report; ``of_league`` reads them."""

from __future__ import annotations

import itertools
import time
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from referee.league.standings import rule
from referee.tournament.play_file import StartList
from referee.tournament.progress import Pace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from referee.games.game import Json, Seat
    from referee.league.folder import LeagueState
    from referee.league.league import OpenLeague, Standing
    from referee.league.schedule import BracketLine
    from referee.tournament.values import Record

#: Values of ``Progress.state``.
RUNNING, FINISHED, STOPPED = "running", "finished", "stopped"
#: The speed is computed from the ends of at most so many matches.
_TIMES = 1000


class MatchLine(NamedTuple):
    """A match that was played: its number in its duel from 0, the team of each seat, and its record."""

    number: int
    seats: Mapping[Seat, str]
    record: Record


class DuelLine(NamedTuple):
    """One scored duel or table, with its matches. ``note`` is a remark about it, such as results that were not reproduced."""

    number: int
    round: int
    teams: tuple[str, ...]
    points: Mapping[str, float]
    matches: tuple[MatchLine, ...]
    start: int = 0
    variant: int = 0
    note: str = ""


class LeagueProgress(NamedTuple):
    """The progress of a league, in matches. ``matches_a_minute`` and ``seconds_left`` are None while they are unknown."""

    state: str
    done: int
    total: int
    matches_a_minute: float | None = None
    seconds_left: float | None = None


class ReportData(NamedTuple):
    """The content of the report. ``standings`` are in order of place; ``seed`` is None if it isn't public.

    ``variants`` has the settings of each variant that differ from ``settings``. ``total_name`` is the heading of the totals, such as
    "steps". ``notes`` are sentences about the whole league, such as pairs that were stopped. ``written`` is the time of the report.
    ``order`` is the sentence about the order of the teams; ``is_live`` is True if it is by points a duel. ``clock`` is the time that
    matches billed, "wall" or "cpu". ``bracket`` has the fixtures of an elimination.
    """

    name: str
    game: str
    rules: str
    format: str
    settings: Mapping[str, Json]
    progress: LeagueProgress
    standings: Sequence[Standing]
    duels: Sequence[DuelLine]
    seed: int | None = None
    variants: Sequence[Mapping[str, Json]] = ()
    notes: Sequence[str] = ()
    total_name: str = "steps"
    written: str = ""
    order: str = ""
    is_live: bool = False
    clock: str = "wall"
    bracket: Sequence[BracketLine] = ()


def of_league(opened: OpenLeague, *, is_running: bool = False) -> ReportData:
    """Return the content of the report of a league."""
    league, state = opened.league, opened.view.state()
    counts = state.counts
    is_over = not state.is_live
    notes = [f"{team} can't start and forfeits: {why}" for team, why in state.forfeits.items()]
    notes += opened.notes(state)
    base = league.variants[0].settings
    variants = [{key: value for key, value in each.settings.items() if base.get(key) != value} for each in league.variants]
    if len(variants) > 1:
        for number, variant in enumerate(league.variants):
            variants[number] = {"name": variant.name, **variants[number]}
    return ReportData(
        name=league.name,
        game=league.game,
        rules=league.rules,
        format=league.format.kind,
        settings=_settings(opened, base),
        progress=LeagueProgress(
            FINISHED if is_over else RUNNING if is_running else STOPPED,
            counts.done,
            counts.done + counts.planned,
            *_speed(opened, counts.planned if is_running else 0),
        ),
        standings=opened.standings(state),
        duels=list(_duels(opened, state)),
        seed=league.shown_seed,
        variants=variants if len(variants) > 1 else (),
        notes=tuple(notes),
        total_name="score" if opened.schedule.game.pairing is None else "steps",
        written=time.strftime("%Y-%m-%d %H:%M"),
        order=rule(league.format.kind, is_live=not is_over),
        is_live=not is_over,
        clock=league.options.time.kind,
        bracket=opened.bracket(state),
    )


def _settings(opened: OpenLeague, base: Mapping[str, Json]) -> dict[str, Json]:
    """The settings of all matches, and how they are played. Settings that every start replaces are left out: they were never played."""
    league, starts = opened.league, opened.schedule.starts
    replaced = set.intersection(*(set(start.settings) for listed in starts for start in listed))
    source = "drawn from the seed" if league.starts.drawn else "listed"
    limits = (
        ("startup", league.options.time.startup),
        ("move", league.options.time.move),
        ("bank", league.options.time.bank),
        ("increment", league.options.time.increment),
    )
    return {
        **{name: value for name, value in base.items() if name not in replaced},
        "starts": f"{len(starts[0]):,} {source}" if league.starts != StartList() else "the one of the settings",
        "isolation": league.options.isolation,
        "clock": f"{league.options.time.kind}; "
        + ", ".join(f"{name} {'no limit' if seconds is None else f'{seconds:g} s'}" for name, seconds in limits),
    }


def _speed(opened: OpenLeague, planned: int) -> tuple[float | None, float | None]:
    """Matches a minute, and the seconds that so many planned ones take at that speed; None if none will be played, or while it isn't known."""
    times = opened.store.last_times(_TIMES)[::-1] if planned else []
    if not times:
        return None, None
    pace, is_known = Pace(times[0]), False
    for end in times[1:]:
        # After a pause the league was resumed: the time before has no meaning.
        is_silent = is_known and pace.rate(end) is None
        if is_silent:
            pace = Pace(end)
        else:
            pace.note(end)
        is_known = not is_silent
    rate = pace.rate(time.time())
    return (None, None) if rate is None else (rate * 60, pace.seconds_left(planned, time.time()))


def _duels(opened: OpenLeague, state: LeagueState) -> Iterator[DuelLine]:
    points = {result.duel.number: result.points for result in state.results}
    for duel, group in itertools.groupby(opened.view.matches(), key=attrgetter("duel")):
        matches = tuple(MatchLine(match.number, match.task.names, match.record) for match in group if match.record is not None)
        duel_points = points.get(duel.number)
        if matches or duel_points:
            note = state.notes.get(duel.number, "")
            yield DuelLine(duel.number, duel.round, duel.teams, duel_points or {}, matches, duel.start, duel.variant, note)
