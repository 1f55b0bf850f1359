"""The values that the report of a league shows: plain values, so that a report can be made of any results."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import Json, Seat
    from referee.league.schedule import BracketLine

#: Values of ``Progress.state``.
RUNNING, FINISHED, STOPPED = "running", "finished", "stopped"


class TeamRow(NamedTuple):
    """One row of the standings.

    ``places`` is the interval of places that the results allow at 95 %; ``decided`` is True if it has one place only. ``total`` is what
    breaks ties of points. ``elo`` is the rating with its interval from ``low`` to ``high``; None if nothing was rated yet. ``forfeits``
    is the number of duels that the team lost because it could not start. ``byes`` are fixtures won without a match, ``stage`` the rounds
    that the team survived in an elimination, and ``buchholz`` is for a Swiss league; the last two are None in other formats.
    """

    team: str
    place: int
    #: True if another team has the same place.
    shared: bool
    places: tuple[int, int]
    decided: bool
    points: float
    played: int
    won: int
    tied: int
    lost: int
    total: float | None = None
    elo: float | None = None
    low: float | None = None
    high: float | None = None
    forfeits: int = 0
    byes: int = 0
    stage: int | None = None
    buchholz: float | None = None

    @property
    def shown_place(self) -> str:
        """The place as tables show it: "1=" if it is shared."""
        return f"{self.place}{'=' if self.shared else ''}"


class MatchLine(NamedTuple):
    """One match of a duel. ``seats`` names the team of each seat; times are in seconds; ``replay`` is relative to the league's folder."""

    game_number: int
    seats: Mapping[Seat, str]
    reason: str
    text: str
    steps: int
    winner: Seat | None = None
    seconds: Mapping[Seat, float] = {}
    slowest: Mapping[Seat, float] = {}
    faults: Mapping[Seat, str] = {}
    replay: str = ""


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
    standings: Sequence[TeamRow]
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
