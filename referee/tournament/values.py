"""The values of many matches: starts, tasks and their records. All of them are plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json, Seat
    from referee.handins.values import Entry


#: The number of void attempts after which a match is given up.
MOST_VOIDS = 3
#: The cause of a void record after which no match can be played at present, for example because the disk is full. It is no attempt.
FATAL = "fatal"


class MatchStart(NamedTuple):
    """A start: settings that replace those of all matches, and the seed that a game draws its own randomness from. ``number`` counts from 0."""

    number: int
    settings: Mapping[str, Json]
    seed: int


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
