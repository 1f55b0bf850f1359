"""The events of a match. To follow a match, derive from ``Listener`` and override the methods that you need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json, Notice, Outcome, Seat
    from referee.players.clock import Clock
    from referee.replay.answers import TurnAnswers
    from referee.replay.faults import Fault


class MatchBegun(NamedTuple):
    """Every player has been started and greeted; ``head`` is the first record of the replay."""

    head: dict[str, Json]
    state: Any


class StepTaken(NamedTuple):
    """One step: the positions before and after it, the moves, the notices, and the answers of all seats that were asked.

    ``logs`` holds the stderr offsets, in bytes, of the seats that have written to stderr.
    """

    turn: int
    before: Any
    after: Any
    moves: Mapping[Seat, Any]
    notices: tuple[Notice, ...]
    answers: TurnAnswers
    logs: Mapping[Seat, int]


class PlayersFaulted(NamedTuple):
    """Players failed in one step. ``state`` is the position after the game has handled the faults.

    ``answers`` are those of all seats that were asked in that step.
    """

    turn: int
    faults: Mapping[Seat, Fault]
    state: Any
    answers: TurnAnswers
    logs: Mapping[Seat, int]


class MatchEnded(NamedTuple):
    """The match is over, and every process of it is gone."""

    outcome: Outcome
    steps: int
    state: Any
    faults: Mapping[Seat, Fault]
    clocks: Mapping[Seat, Clock]
    stderr_bytes: Mapping[Seat, int]


class Listener:
    """Base class of listeners; every method does nothing. Methods run between questions, while no clock runs."""

    def begun(self, event: MatchBegun) -> None:
        """The match begins."""

    def recorded(self, event: StepTaken | PlayersFaulted) -> None:
        """An event of the recorded match in which this match begins; these follow ``begun``."""

    def stepped(self, event: StepTaken) -> None:
        """A step was taken."""

    def faulted(self, event: PlayersFaulted) -> None:
        """Players failed."""

    def ended(self, event: MatchEnded) -> None:
        """The match is over."""

    def ticked(self) -> None:
        """Called a few times a second while the referee waits for a player that thinks for long."""

    def stopped(self) -> None:
        """The match was aborted, by the user or by a failure of the referee. No further events follow."""
