"""What a match tells the world. Whoever wants to know derives from ``Listener`` and overrides what it cares about."""

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
    """One step: the positions, the moves, what happened, the seconds billed to each seat that was asked.

    ``others`` are the seconds by the clock that isn't billed. ``remarks`` holds, by seat, what else came with an answer: ``say``, ``draw``, ``warnings`` (texts), ``rescued`` (True when
    lateness of the referee's own was forgiven). ``logs`` holds the stderr offsets, in bytes, of the seats where it has moved.
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
    """Players failed while a step was asked; ``state`` is what the game made of it. ``seconds`` were billed in that step."""

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
    """Base of those who follow a match; every method does nothing. They run between questions, on nobody's clock."""

    def begun(self, event: MatchBegun) -> None:
        """The match begins."""

    def stepped(self, event: StepTaken) -> None:
        """A step was taken."""

    def faulted(self, event: PlayersFaulted) -> None:
        """Players failed."""

    def ended(self, event: MatchEnded) -> None:
        """The match is over."""

    def ticked(self) -> None:
        """A player is thinking for long; called a few times a second while the referee waits."""

    def stopped(self) -> None:
        """The match was broken off, by the user or by a failure of the referee; what is written so far is all there will be."""
