"""A simulated replay in memory, which answers questions about each step that need the engine."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

from referee.errors import ReplayError
from referee.games.game import IllegalMove, MalformedMove
from referee.replay.events import StepTaken
from referee.replay.questions import Questions
from referee.replay.reader import UNWRITTEN, ReplayReader, read_lines, unwritten
from referee.replay.turning_points import Budget, CheckpointQueue, Spent, turning_points
from referee.wire import decode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path
    from typing import Any

    from referee.games.capabilities import Analysis
    from referee.games.game import Game, Json, Notice, Seat
    from referee.replay.events import PlayersFaulted

#: Every 200th position is kept; positions between are recomputed.
_EVERY = 200
#: The most additional positions that are kept.
_MOST_KEPT = 2_000
#: The most different moves of which repetitions are stored only once.
_MOST_MOVES = 4_000
_NOTHING: dict[str, Json] = {}
#: Budgets of processor time for one file, in seconds: for metrics and for verdicts. Ordinary files need a hundredth of this. A
#: malicious file of a few kilobytes could need hours.
MEASURING_SECONDS = 5.0
JUDGING_SECONDS = 60.0


class Cancelled(Exception):
    """The work was cancelled because no page needs it any more."""


class ReplayIndex:
    """The data of one replay. ``play`` reads it in its own thread; all other methods can be called in the meantime.

    ``steps`` is the number of steps played so far; ``metrics`` are the metrics of positions, in order. ``left_out`` has a text for all
    work that would take too long. ``measuring_seconds`` and ``judging_seconds`` are the budgets for that; no metrics are computed if the
    first is None.
    """

    def __init__(
        self,
        measuring_seconds: float | None = MEASURING_SECONDS,
        judging_seconds: float = JUDGING_SECONDS,
        on_begin: Callable[[], None] = lambda: None,
    ) -> None:
        self.left_out: list[str] = []
        self._measuring = Budget(measuring_seconds or 0.0)
        self._is_measured = measuring_seconds is not None
        #: The time that is left for verdicts.
        self.judging = Budget(judging_seconds)
        self._unmeasured = 0
        self._is_cancelled = threading.Event()
        #: Set at the end of ``play``.
        self.has_played = threading.Event()
        self.steps = 0
        self.metrics: list[tuple[int, dict[str, Json]]] = []
        #: The verdicts, each with the position from which it holds; filled by ``compute_verdicts``.
        self.judged: list[tuple[int, dict[str, Json]]] = []
        self.is_judged = False
        self._checkpoints = CheckpointQueue()
        #: Called when the first position is known, before any step.
        self._on_begin = on_begin
        self.verdict: dict[str, Json] | None = None
        self.game: Game | None = None
        self._analysis: Analysis | None = None
        self.head: dict[str, Json] = {}
        self.latest: Any = None
        self._states: list[object] = []
        #: The positions whose verdicts are computed, by turn, so that they need not be stepped to again; not more than ``_MOST_KEPT``.
        self._kept: dict[int, object] = {}
        self._moves: list[Mapping[Seat, object]] = []
        self._same_moves: dict[tuple[tuple[Seat, object], ...], Mapping[Seat, object]] = {}
        self._questions: Questions | None = None
        #: The positions before and after the game has handled the faults of a step, by turn.
        self._faulted: dict[int, tuple[object, object]] = {}

    @classmethod
    def of(cls, path: Path, judging_seconds: float = JUDGING_SECONDS, *, below: Path | None = None) -> ReplayIndex:
        """Return the index of a file after ``play`` and ``compute_verdicts``; ``below`` is as for ``open_regular``."""
        index = cls(judging_seconds=judging_seconds)
        index.play(path, read_lines(path, below=below))
        index.compute_verdicts()
        return index

    def findings(self) -> dict[str, Json]:
        """Return what the viewer shows of a replay besides its steps: whether it is correct, the metrics and the verdicts of its positions."""
        return {"check": self.verdict, "metrics": self.metrics, "judged": self.judged}

    def give_up(self, text: str) -> None:
        """Note that the referee itself failed during the simulation; ``text`` says how."""
        self.verdict = {"status": "unknown", "kind": "failed", "text": text, "steps": self.steps}

    def play(self, path: Path, lines: Iterator[bytes]) -> dict[str, Json]:
        """Play a replay to its end; return whether it is complete and correct."""
        try:
            reader = ReplayReader(path, lines)
            self._begin(reader)
            for event in reader.events():
                self._take(event)
            replay = reader.verified()
        except ReplayError as error:
            self.verdict = {"status": "bad", "kind": "unreadable", "text": str(error), "steps": self.steps}
        except Cancelled:
            self.verdict = {"status": "unknown", "kind": "cancelled", "text": "The file is no longer kept here.", "steps": self.steps}
        except UNWRITTEN as error:
            # Waiting threads must still get a result.
            self.verdict = unwritten(self.steps, error)
        else:
            self.latest = replay.final
            self.verdict = {**replay.verdict(), "sentence": replay.sentence()}
        finally:
            # ``compute_verdicts`` must end even if the file is wrong.
            self._checkpoints.finish(self.steps)
            if self._unmeasured:
                self.left_out.append(f"{self._unmeasured:,} positions were not measured: that would take too long on a board like this.")
            self.has_played.set()
        return self.verdict

    def cancel(self) -> None:
        """End ``play`` and ``compute_verdicts`` at the next step, because their results are no longer needed."""
        self._is_cancelled.set()

    def compute_verdicts(self, on_found: Callable[[], None] | None = None) -> None:
        """Compute the verdicts in a thread beside ``play``; ``judged`` grows in the meantime."""
        try:
            for point in turning_points(self._checkpoints, self.state_at, self.verdict_of):
                self.judged.append(point)
                if on_found is not None:
                    on_found()
        except Cancelled:
            pass
        except Spent:
            last = self.judged[-1][0] if self.judged else 0
            self.left_out.append(f"Not everything after step {last:,} was judged: that would take too long on a board like this.")
        finally:
            self.is_judged = True

    def verdict_of(self, state: object) -> Mapping[str, Json]:
        """Return the verdict of a position; empty if its game has none. Raises Spent if no time is left for it."""
        if self._is_cancelled.is_set():
            raise Cancelled
        if self._analysis is None:
            return {}
        if self.judging.left <= 0.0:
            raise Spent
        with self.judging:
            return self._analysis.verdict(state)

    def overlay(self, turn: int) -> dict[str, Json]:
        """Return the overlay of a position, or a ``text`` with the reason if it has none. ``later``: a later call may return one."""
        state = self.state_at(turn)
        if state is None or self.game is None:
            if self.verdict is None:
                return {"text": "This step has not been played again yet.", "later": True}
            return {"text": "There is no such step."}
        if self.game.outcome(state) is not None:
            return {"text": "The match is over here."}
        analysis = self.game.analysis
        return {"text": "There is nothing to show in this game."} if analysis is None else dict(analysis.overlay(state))

    def _begin(self, reader: ReplayReader) -> None:
        self.head, self.latest = reader.head, reader.start
        self._questions = Questions(reader.game, reader.head)
        self.game = reader.game
        self._analysis = reader.game.analysis
        self._measure(0, None, self.latest)
        self._checkpoints.add(0)
        self._on_begin()

    def _take(self, event: StepTaken | PlayersFaulted) -> None:
        assert self._questions is not None
        if self._is_cancelled.is_set():
            raise Cancelled
        self._questions.add(event)
        if isinstance(event, StepTaken):
            self._take_step(event)
        else:
            self._faulted[event.turn] = event.before, event.after

    def _take_step(self, step: StepTaken) -> None:
        if self.steps % _EVERY == 0:
            self._states.append(step.before)
        self._moves.append(self._shared(step.moves))
        self.latest = step.after
        self.steps += 1
        self._measure(self.steps, step.before, step.after)
        if self._analysis is not None and self._analysis.invalidates_verdict(step.before, step.after):
            if len(self._kept) < _MOST_KEPT:
                self._kept[self.steps - 1], self._kept[self.steps] = step.before, step.after
            self._checkpoints.add(self.steps)

    def _shared(self, moves: Mapping[Seat, object]) -> Mapping[Seat, object]:
        """Return the moves of an earlier step if they are the same: few are different in a long match."""
        key = tuple(moves.items())
        if key not in self._same_moves and len(self._same_moves) >= _MOST_MOVES:
            return moves
        return self._same_moves.setdefault(key, moves)

    def _measure(self, position: int, before: object, state: object) -> None:
        assert self.game is not None
        if self.game.metrics is None or not self._is_measured:
            return
        if self._measuring.left <= 0.0:
            self._unmeasured += 1
            return
        with self._measuring:
            values = self.game.metrics.measure(before, state)
        if values:
            self.metrics.append((position, dict(values)))

    def state_at(self, turn: int) -> Any:
        """The position before the step of that index; None if it isn't known."""
        if self.game is None or not 0 <= turn <= self.steps:
            return None
        if turn in self._faulted:
            return self._faulted[turn][0]
        if turn == self.steps:
            return self.latest
        if turn in self._kept:
            return self._kept[turn]
        at = turn - turn % _EVERY
        state = self._states[at // _EVERY]
        for step in range(at, turn):
            state, _ = self._stepped(state, step)
        return state

    def notices(self, turn: int) -> tuple[Notice, ...]:
        """Return the notices of a simulated step."""
        return self._stepped(self.state_at(turn), turn)[1]

    def _stepped(self, state: object, turn: int) -> tuple[object, tuple[Notice, ...]]:
        """Return the position one step on, by the moves that were made there, and the notices of the step."""
        assert self.game is not None
        return self.game.step(self._faulted[turn][1] if turn in self._faulted else state, self._moves[turn])

    def question(self, turn: int, seat: Seat) -> dict[str, Json]:
        """Return a seat's question in a step, reconstructed: ``question``, or a ``text`` with the reason if there was no question."""
        if self.game is None:
            return {"text": "This replay has not been played again yet." if self.verdict is None else "This replay can't be played again."}
        if seat not in self.head["players"]:
            return {"text": "There is no such seat."}
        state = self.state_at(turn)
        if state is None:
            return {"text": "This step has not been played again yet." if self.verdict is None else "There is no such step."}
        if seat not in self.game.movers(state):
            return {"text": "It is not asked in this step."}
        assert self._questions is not None
        return {"question": decode.question(self._questions.question(turn, seat, state).line(self.game))}

    def preview(self, seat: Seat, answer: Json) -> dict[str, Json]:
        """Return the changes and notices of a seat's move in the latest position, if the other seats do nothing."""
        return {"changes": {}, "notices": []} if self.game is None else preview(self.game, self.latest, seat, answer)

    def refusal(self, seat: Seat, turn: int, move: Json) -> str | None:
        """Return why the rules refuse a move in a turn that is asked; "" if they don't, None while the position of that turn isn't known."""
        if self.has_played.is_set():
            # An internal error has ended the reading. Then only the match judges the move.
            return ""
        if self.steps < turn:
            return None
        try:
            return self.refusal_in(self.preview(seat, move))
        except (RecursionError, ValueError):
            return "the move can't be read"

    def refusal_in(self, preview: Mapping[str, Json]) -> str:
        """Return why the rules refuse the move of a preview; "" if they don't."""
        samples = None if self.game is None else self.game.samples
        codes = {"refused", *(() if samples is None else samples.refusals)}
        return "; ".join(str(notice["text"]) for notice in preview["notices"] if notice.get("code") in codes)


def preview(game: Game, state: object, seat: Seat, answer: Json) -> dict[str, Json]:
    """Return the changes and notices of a seat's move in a position, if the other seats do nothing."""
    try:
        moves = {mover: game.codec.parse(state, mover, answer if mover == seat else _NOTHING) for mover in game.movers(state)}
        if seat not in moves:
            return {"changes": {}, "notices": []}
        after, notices = game.step(state, moves)
    except (MalformedMove, IllegalMove) as error:
        return {"changes": {}, "notices": [{"code": "refused", "seat": seat, "text": str(error)}]}
    return {
        "changes": json.loads(game.codec.changes_text(state, after)),
        "notices": [notice.to_json() for notice in notices if notice.seat == seat],
    }
