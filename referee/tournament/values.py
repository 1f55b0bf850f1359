"""The values of many matches: who plays, tasks and their records. All of them are plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.handins.values import Entry

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json, Seat


#: The number of void attempts after which a match is given up.
MOST_VOIDS = 3
#: The cause of a void record after which no match can be played at present, for example because the disk is full. It is no attempt.
FATAL = "fatal"
#: A team is an entry that can play every seat.
Team = Entry


class MatchStart(NamedTuple):
    """A start: settings that replace those of the league, and the seed that a game draws its own randomness from.

    ``number`` counts from 0. Both games of a duel use the same start.
    """

    number: int
    settings: Mapping[str, Json]
    seed: int


class Fixture(NamedTuple):
    """Teams that meet in a round: two, or the teams of a table; a single team has a bye. ``round`` counts from 0."""

    round: int
    teams: tuple[str, ...]


class PlannedDuel(NamedTuple):
    """The unit that is scored: a fixture on one start, in one variant of the settings. ``number`` is its place in the schedule, from 0.

    Two teams play both roles; in a game without roles to swap, the teams of a table play one match.
    """

    number: int
    round: int
    teams: tuple[str, ...]
    start: int = 0
    variant: int = 0
    repeat: int = 0


class DuelResult(NamedTuple):
    """The result of a duel.

    ``points`` are the match points of each team: 1 for a win, 0.5 for a tie, 0 for a loss; at a table, the share of the other teams that
    a team has beaten, a tie counting half. ``totals`` is what breaks ties of points: the steps that a team needed in its own first seat
    (fewer are better), or its score at a table (more is better, ``more_is_better``). ``forfeits`` are teams that could not start.

    A duel that will not be played, because its matches were void too often or because it would repeat another, has a result without points
    (``results.stopped``), so that no round waits for it. A team has no entry in ``totals`` if it got none.
    """

    duel: PlannedDuel
    points: Mapping[str, float]
    totals: Mapping[str, float]
    forfeits: tuple[str, ...] = ()
    more_is_better: bool = False


class PairedComparison(NamedTuple):
    """Two teams on one start: ``score`` is 1 if ``a`` is better, 0 if ``b`` is, 0.5 for a tie. Comparisons on one start are dependent."""

    a: str
    b: str
    score: float
    start: int = 0


class Task(NamedTuple):
    """A match to play. ``key`` is a hash of all that decides its result: a task with a record isn't played again.

    ``seats`` has the entry of each seat. Those in ``blamed`` are at fault if the match ends with a failure for which nobody else can be to
    blame.
    """

    key: str
    seats: Mapping[Seat, Entry]
    settings: Mapping[str, Json]
    seed: int
    blamed: tuple[str, ...] = ()

    @property
    def names(self) -> Mapping[Seat, str]:
        """The name of each seat's entry."""
        return {seat: entry.name for seat, entry in self.seats.items()}


class Record(NamedTuple):
    """The result of a match, as it is stored. ``replay`` is relative to the folder of the store.

    ``position`` is a hash of the final state: it shows whether two games ended in the same position.
    ``faults`` holds the sentence of each seat that failed, ``fault_kinds`` its kind, ``fault_steps`` the step. ``started`` is False if a
    player failed before the first step. ``seconds`` is the time used by each seat, ``slowest`` its slowest answer, ``answers`` the number of
    its answers. ``wall_seconds`` is the duration of the match, ``host`` the machine that played it.

    ``void`` says why a match doesn't count, "" if it does; ``cause`` is then the code of ``MatchVoid`` or ``FATAL``, and ``hit`` are the
    names of those whose bots the failure hit.
    """

    key: str
    winner: Seat | None = None
    reason: str = ""
    text: str = ""
    scores: Mapping[Seat, float | None] = {}
    steps: int = 0
    faults: Mapping[Seat, str] = {}
    fault_kinds: Mapping[Seat, str] = {}
    seconds: Mapping[Seat, float] = {}
    slowest: Mapping[Seat, float] = {}
    replay: str = ""
    replay_hash: str = ""
    wall_seconds: float = 0.0
    host: str = ""
    position: str = ""
    ranks: Mapping[Seat, int] | None = None
    started: bool = True
    answers: Mapping[Seat, int] = {}
    fault_steps: Mapping[Seat, int] = {}
    void: str = ""
    cause: str = ""
    hit: tuple[str, ...] = ()

    @property
    def is_startable(self) -> bool:
        """False if a player's program can't be started: its other matches would not begin either."""
        return self.started or bool(self.replay)

    @property
    def has_result(self) -> bool:
        """True for a match that was played and counts."""
        return not self.void and self.is_startable
