"""The events of a match, running or recorded. To follow a running match, derive from ``Listener`` and override the methods that you need."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from referee.games.outcome import Notice

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json, Outcome, Seat
    from referee.replay.answers import TurnAnswers
    from referee.replay.faults import Fault


class TimeUsed(NamedTuple):
    """The time that a player has used in a match, in seconds. ``used`` is billed; ``cpu`` is None where nothing measures it.

    ``answers`` counts the questions that it was asked, ``longest`` is its slowest answer. ``bank`` is what is left, None without a bank.
    """

    used: float
    wall: float
    cpu: float | None
    answers: int
    longest: float
    bank: float | None

    def to_json(self) -> dict[str, Json]:
        """The times as they stand in the result of a replay."""
        return {
            "used_seconds": round(self.used, 6),
            "wall_seconds": round(self.wall, 6),
            "cpu_seconds": None if self.cpu is None else round(self.cpu, 6),
            "answers": self.answers,
            "mean_seconds": round(self.used / self.answers if self.answers else 0.0, 6),
            "longest_seconds": round(self.longest, 6),
            "bank_left_seconds": None if self.bank is None else round(self.bank, 6),
        }


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

    def next_notices(self) -> list[Notice]:
        """Return the notices of the players' next questions: warnings about their answers, then the game's notices."""
        warnings = [
            Notice(warning.notice_code, warning.text, seat)
            for seat, answer in self.answers.items()
            if answer.remark is not None
            for warning in answer.remark.warnings
        ]
        return [*warnings, *(notice for notice in self.notices if notice.seat is not None)]


class PlayersFaulted(NamedTuple):
    """Players failed in one step. ``before`` is the position about which they were asked, ``after`` the one after the game has handled the faults.

    ``answers`` are those of all seats that were asked in that step; none were asked if the players failed before their first question.
    """

    turn: int
    faults: Mapping[Seat, Fault]
    before: Any
    after: Any
    answers: TurnAnswers
    logs: Mapping[Seat, int]


class MatchEnded(NamedTuple):
    """The match is over, and every process of it is gone."""

    outcome: Outcome
    steps: int
    state: Any
    faults: Mapping[Seat, Fault]
    times: Mapping[Seat, TimeUsed]
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
