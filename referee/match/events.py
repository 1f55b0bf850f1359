"""The events of a match. To follow a match, derive from ``Listener`` and override the methods that you need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json, Notice, Outcome, Seat
    from referee.match.clock import Clock
    from referee.players.faults import Fault


class MatchBegun(NamedTuple):
    """Every player has been started and greeted; ``head`` is the first record of the replay."""

    head: dict[str, Json]
    state: Any


class StepTaken(NamedTuple):
    """One step: the positions before and after it, the moves, the notices, and the seconds billed to each seat that was asked.

    ``others`` are the seconds by the clock that isn't billed. ``remarks`` holds, by seat, the other parts of an answer: ``say``, ``draw``,
    ``warnings`` (texts), ``rescued`` (True if the answer arrived after the deadline because the referee was late). ``logs`` holds the
    stderr offsets, in bytes, of the seats that have written to stderr.
    """

    turn: int
    before: Any
    after: Any
    moves: Mapping[Seat, Any]
    notices: tuple[Notice, ...]
    seconds: Mapping[Seat, float]
    remarks: Mapping[Seat, dict[str, Json]]
    logs: Mapping[Seat, int]
    others: Mapping[Seat, float]


class PlayersFaulted(NamedTuple):
    """Players failed in one step. ``state`` is the position after the game has handled the faults; ``seconds`` were billed in that step."""

    turn: int
    faults: Mapping[Seat, Fault]
    state: Any
    seconds: Mapping[Seat, float]
    logs: Mapping[Seat, int]
    others: Mapping[Seat, float]


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
