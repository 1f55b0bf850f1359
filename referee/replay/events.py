"""The events of a match, running or recorded. To follow a running match, derive from ``Listener`` and override the methods that you need."""

from __future__ import annotations

import html
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, NamedTuple

from typing_extensions import TypeVar

from referee.errors import ReplayError
from referee.games.outcome import Notice
from referee.replay.names import result_sentence, what_failed
from referee.support.words import who

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee import Replay
    from referee.games.game import Game, Json, Outcome, Seat
    from referee.replay.answers import TurnAnswers
    from referee.replay.faults import Fault


S = TypeVar("S", default=Any)


class MatchBegun(NamedTuple):
    """Every player has been started and greeted; ``head`` is the first record of the replay."""

    head: dict[str, Json]
    state: Any
    game: Game


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


class TimeUsed(NamedTuple):
    """The time that a player has used in a match, in seconds. ``used`` is billed; ``cpu`` is None where nothing measures it.

    ``answers`` counts its questions, ``longest`` is the time of its slowest answer. ``bank`` is what is left, None without a bank.
    """

    used: float
    wall: float
    cpu: float | None
    answers: int
    longest: float
    bank: float | None

    @property
    def mean(self) -> float:
        """The mean time of an answer, 0 without answers."""
        return self.used / self.answers if self.answers else 0.0

    def to_json(self) -> dict[str, Json]:
        """The times as they stand in the result of a replay."""
        return {
            "used_seconds": round(self.used, 6),
            "wall_seconds": round(self.wall, 6),
            "cpu_seconds": None if self.cpu is None else round(self.cpu, 6),
            "answers": self.answers,
            "mean_seconds": round(self.mean, 6),
            "longest_seconds": round(self.longest, 6),
            "bank_left_seconds": None if self.bank is None else round(self.bank, 6),
        }


@dataclass(frozen=True, repr=False)
class MatchResult(Generic[S]):
    """The result of a match. All its processes have ended.

    ``outcome`` is how the game ended, ``state`` the last position, after ``steps`` steps. ``started`` is False if a player wasn't ready for
    the match. ``failures`` are the players' faults, ``fault_steps`` the steps of these. ``head`` is the first record of the replay. ``notes``
    are sentences for whoever runs the match. ``file`` is the replay, None if the match has none, ``logs`` the players' stderr files by seat,
    ``stderr_bytes`` how much they have written.
    """

    outcome: Outcome
    steps: int
    state: S
    started: bool
    failures: Mapping[Seat, Fault]
    fault_steps: Mapping[Seat, int]
    times: Mapping[Seat, TimeUsed]
    names: dict[Seat, str]
    head: Mapping[str, Json]
    notes: tuple[str, ...] = ()
    stderr_bytes: Mapping[Seat, int] = field(default_factory=dict)
    file: Path | None = None
    logs: dict[Seat, Path] = field(default_factory=dict)

    @property
    def winner(self) -> Seat | None:
        """The seat that won; None for a draw."""
        return self.outcome.winner

    @property
    def reason(self) -> str:
        """How it ended, as a term of the game's rules."""
        return self.outcome.reason

    @property
    def scores(self) -> dict[Seat, float | None]:
        """The score of each seat that can have one; None for no score."""
        return dict(self.outcome.scores)

    @property
    def text(self) -> str:
        """The outcome as a sentence."""
        return self.outcome.text

    @property
    def sentence(self) -> str:
        """The outcome as a sentence with the players' names, for people."""
        failed = {seat: what_failed(fault) for seat, fault in self.failures.items()}
        return result_sentence(self.outcome, self.head["players"], failed, self.fault_steps)

    @property
    def faults(self) -> dict[Seat, str]:
        """The sentence of each seat that failed."""
        return {seat: fault.text for seat, fault in self.failures.items()}

    @property
    def seconds(self) -> dict[Seat, float]:
        """The time that each seat has used, by the clock of the match."""
        return {seat: time.used for seat, time in self.times.items()}

    @property
    def seed(self) -> int:
        """The seed of the match; with it you can play the match again."""
        seed: int = self.head["seed"]
        return seed

    @property
    def replay(self) -> Path:
        """The path of the replay. ReplayError if the match was played without one."""
        if self.file is None:
            raise ReplayError("The match was played without a replay.")
        return self.file

    def to_json(self) -> dict[str, Json]:
        """The result as ``--json`` prints it."""
        players = {
            seat: {
                "name": self.names[seat],
                "program": self.head["players"][seat]["program"],
                "fault": self.failures[seat].to_json() if seat in self.failures else None,
                "time": time.to_json(),
            }
            for seat, time in self.times.items()
        }
        return {
            **{key: self.head[key] for key in ("match", "game", "rules", "seed", "isolation")},
            **self.outcome.to_json(),
            "steps": self.steps,
            "started": self.started,
            "players": players,
            "notes": list(self.notes),
            "replay": None if self.file is None else str(self.file),
            "logs": {seat: str(path) for seat, path in self.logs.items()},
        }

    def open_replay(self) -> Replay[S]:
        """The replay of the match. ReplayError if it has none."""
        import referee

        return referee.open_replay(self.replay)

    def __repr__(self) -> str:
        return f"<Result {' - '.join(self.names.values())}: {self.text}>"

    def _repr_html_(self) -> str:
        """A notebook shows the sentence and the replay in the viewer, or why the replay can't be read."""
        try:
            return self.open_replay()._repr_html_()
        except ReplayError as error:
            return f"<p>{html.escape(self.text)}</p><p>{html.escape(str(error))}</p>"


class Waiting(NamedTuple):
    """The match waits for players: the seconds so far and the names, both by seat."""

    seconds: Mapping[Seat, float]
    names: Mapping[Seat, str]

    @property
    def text(self) -> str:
        """The players for whom it has waited for at least a second, as a sentence; "" for none."""
        words = [
            f"{who(seat, self.names[seat], begins=False)}, asked {int(seconds)} s ago"
            for seat, seconds in self.seconds.items()
            if seconds >= 1
        ]
        return f"waiting for {' and '.join(words)}" if words else ""


class Saves(NamedTuple):
    """How often a replay is written during the match: after a number of steps or of seconds."""

    steps: int = 100
    seconds: float = 1.0


class Listener:
    """Base class of listeners; every method does nothing. Methods run between questions, while no clock runs.

    ``saves`` is how often the listener wants the replay written; the shortest interval of a match's listeners counts.
    """

    saves = Saves()

    def begun(self, event: MatchBegun) -> None:
        """The match begins."""

    def recorded(self, event: StepTaken | PlayersFaulted) -> None:
        """An event of the recorded match in which this match begins; these follow ``begun``."""

    def stepped(self, event: StepTaken) -> None:
        """A step was taken."""

    def faulted(self, event: PlayersFaulted) -> None:
        """Players failed."""

    def ended(self, event: MatchResult) -> None:
        """The match is over."""

    def waiting(self, event: Waiting) -> None:
        """Called a few times a second while the referee waits for players that think for long."""

    def saved(self) -> None:
        """The replay has been written up to the last event."""

    def stopped(self) -> None:
        """The match was aborted, by the user or by a failure of the referee. No further events follow."""
