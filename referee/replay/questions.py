"""Reconstructs the questions of a replay, with the recorded answers. Nothing here asks a bot.

Every question follows from the recorded moves: the same position, notices and time left. So a different answer changes no later question.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from itertools import groupby
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import ReplayWrong, UsageError
from referee.replay.answers import JudgedAnswer
from referee.replay.events import PlayersFaulted, StepTaken
from referee.replay.faults import ILLEGAL, MALFORMED
from referee.replay.reader import ReplayReader
from referee.replay.records import clock_of, first_turn
from referee.support.words import cut, the_seat
from referee.wire import encode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from referee.games.game import Game, Json, Seat
    from referee.replay.faults import Fault
    from referee.replay.reader import VerifiedReplay
    from referee.replay.records import RecordedClock

MOVE, PASS = "move", "pass"


class ComparedAnswer(NamedTuple):
    """An answer to a question, or a fault, in a form that can be compared.

    ``kind`` is "move", "pass" (a malformed answer that counts as one) or that of a fault. ``line`` is the bot's line where it was
    wrong, ``text`` the sentence about it.
    """

    kind: str
    move: Json = None
    text: str = ""
    line: str | None = None

    @classmethod
    def of(cls, game: Game, answer: JudgedAnswer) -> ComparedAnswer:
        """Return an answer in the form of recorded moves."""
        if answer.fault is not None:
            return cls.of_fault(answer.fault)
        warnings = () if answer.remark is None else answer.remark.warnings
        excuse = next((warning.text for warning in warnings if warning.code == "passed"), None)
        return cls(MOVE, game.codec.move_json(answer.move)) if excuse is None else cls(PASS, text=excuse)

    @classmethod
    def of_fault(cls, fault: Fault) -> ComparedAnswer:
        """Return a fault as a value to compare."""
        return cls(fault.kind, text=fault.text, line=fault.line)

    def is_same(self, other: ComparedAnswer) -> bool:
        """True if both are the same answer. Two faults of a program, such as two crashes, are the same if their kinds are."""
        if self.kind != other.kind:
            return False
        if self.kind == MOVE:
            return _text(self.move) == _text(other.move)
        if self.kind == PASS:
            return self.text == other.text
        return self.kind not in (MALFORMED, ILLEGAL) or self.line == other.line

    @property
    def is_answer(self) -> bool:
        """True for a move or a pass, False for a fault."""
        return self.kind in (MOVE, PASS)

    def __str__(self) -> str:
        """The answer in a sentence."""
        return cut(_text(self.move), 200) if self.kind == MOVE else cut(self.text, 400).rstrip(".")

    def to_json(self) -> dict[str, Json]:
        """The answer as ``--json`` prints it."""
        return {"kind": self.kind, **({"move": self.move} if self.kind == MOVE else {"text": self.text})}


class RepeatQuestion(NamedTuple):
    """One question of a replay. ``notices`` came with it; ``move`` is the limit of a move and ``bank`` what was left, in seconds.

    ``is_move``: the seat had to move; else only a dialect asks about this step. ``answer`` is the recorded answer, None if the replay
    doesn't hold it; ``step`` is the step that followed, None if the match ended with a fault.
    """

    turn: int
    seat: Seat
    state: Any
    notices: Sequence[Mapping[str, str]]
    move: float | None
    bank: float | None
    is_move: bool = True
    answer: ComparedAnswer | None = None
    step: StepTaken | None = None

    @property
    def limit(self) -> float | None:
        """The limit of the answer in the match, in seconds."""
        return min((limit for limit in (self.move, self.bank) if limit is not None), default=None)

    def line(self, game: Game) -> bytes:
        """Return the ``turn`` message."""
        return encode.turn(self.turn, game.codec.view_text(self.state, self.seat), self.notices, encode.limit(self.move), self.bank)


class _SeatRecord:
    """The facts for the questions of one seat: its moves' turns, its notices, and its bank after each answer."""

    def __init__(self, head: Mapping[str, Json], seat: Seat) -> None:
        self.clock = clock_of(head, seat)
        self.bank = None if self.clock is None else self.clock.bank
        self.moves = array("q")
        self.notices: list[tuple[int, dict[str, str]]] = []
        self.billed = array("q")
        self.banks = array("d")

    def bill(self, turn: int, seconds: float) -> None:
        if self.clock is not None and self.bank is not None:
            self.bank = self.clock.bank_after(self.bank, seconds)
            self.billed.append(turn)
            self.banks.append(self.bank or 0.0)

    def bank_at(self, turn: int) -> float | None:
        place = bisect_left(self.billed, turn)
        return self.banks[place - 1] if place else None if self.clock is None else self.clock.bank

    def notices_at(self, turn: int) -> list[dict[str, str]]:
        place = bisect_left(self.moves, turn)
        first = bisect_left(self.notices, self.moves[place - 1] if place else 0, key=itemgetter(0))
        return [notice for _, notice in self.notices[first : bisect_left(self.notices, turn, key=itemgetter(0))]]


class Questions:
    """The questions of all seats of one match. ``add`` takes its events in order, of a replay or of a running match."""

    def __init__(self, game: Game, head: Mapping[str, Json]) -> None:
        self._game = game
        self._first = first_turn(head)
        self._seats = {seat: _SeatRecord(head, seat) for seat in head["players"]}
        self._asked = -1
        #: The faults of players that failed before their first question.
        self.not_ready: dict[Seat, Fault] = {}

    def add(self, event: StepTaken | PlayersFaulted) -> None:
        """Take the next event. A match that begins in another replay asks nothing about the steps before its first turn, and bills nothing."""
        turn = event.turn
        if isinstance(event, PlayersFaulted) and not event.answers:
            if turn >= self._first:
                self.not_ready |= event.faults
            return
        # All players of a step were asked about the same position. After a fault in it, the same turn may be recorded twice.
        if turn != self._asked:
            self._asked = turn
            for seat in self._game.movers(event.before):
                self._seats[seat].moves.append(turn)
            for seat, answer in event.answers.items() if turn >= self._first else ():
                if seat in self._seats:
                    self._seats[seat].bill(turn, answer.seconds)
        if isinstance(event, StepTaken):
            for notice in event.next_notices():
                if notice.seat in self._seats:
                    self._seats[notice.seat].notices.append((turn, {"code": notice.code, "text": notice.text}))

    def notices(self, turn: int, seat: Seat) -> list[dict[str, str]]:
        """Return the notices that come with a seat's question in a turn, after the events of all earlier turns."""
        return self._seats[seat].notices_at(turn)

    def question(self, turn: int, seat: Seat, state: Any) -> RepeatQuestion:
        """Return a seat's question about the position of a turn, after the events of all earlier turns."""
        record = self._seats[seat]
        move = None if record.clock is None else record.clock.move
        return RepeatQuestion(turn, seat, state, record.notices_at(turn), move, record.bank_at(turn))

    def read(self, reader: ReplayReader, seat: Seat) -> Iterator[RepeatQuestion]:
        """Read a replay, and yield the questions of a seat with their answers, including those that only a dialect asks."""
        for turn, group in groupby(reader.events(), attrgetter("turn")):
            events = list(group)
            for event in events:
                self.add(event)
            if turn < self._first or self._asked != turn:
                continue
            event = next(event for event in events if isinstance(event, StepTaken) or event.answers)
            step = next((event for event in events if isinstance(event, StepTaken)), None)
            faults = {} if isinstance(event, StepTaken) else event.faults
            question = self.question(turn, seat, event.before)
            if seat not in self._game.movers(event.before):
                yield question._replace(notices=(), is_move=False, step=step)
                continue
            answer = None
            if seat in faults:
                answer = ComparedAnswer.of_fault(faults[seat])
            elif step is not None and seat in step.moves:
                answer = ComparedAnswer.of(self._game, step.answers.get(seat) or JudgedAnswer(step.moves[seat], 0.0, None))
            yield question._replace(answer=answer, step=step)


class RecordedSeat(NamedTuple):
    """One seat of a replay, with its answers by turn; None if the replay lacks the answer.

    ``not_ready`` is the fault of a player that failed before its first question.
    """

    path: Path
    replay: VerifiedReplay
    game: Game
    settings: Any
    seat: Seat
    clock: RecordedClock | None
    answers: Mapping[int, ComparedAnswer | None]
    not_ready: ComparedAnswer | None

    def questions(self) -> Iterator[RepeatQuestion]:
        """Read the replay again, and yield the questions as ``Questions.read`` does."""
        reader = ReplayReader(self.path)
        return Questions(reader.game, reader.head).read(reader, self.seat)


def recorded_seat(path: Path, seat: Seat) -> RecordedSeat:
    """Read the answers of a seat. ReplayError if the replay doesn't verify; UsageError if there is no such seat or answer."""
    reader = ReplayReader(path)
    if seat not in reader.head["players"]:
        raise UsageError(f"{path} has no seat '{cut(seat, 40)}'; there are {', '.join(reader.head['players'])}.")
    questions = Questions(reader.game, reader.head)
    answers = {question.turn: question.answer for question in questions.read(reader, seat) if question.is_move}
    fault = questions.not_ready.get(seat)
    replay = reader.verified()
    check_sound(path, replay)
    if fault is None and not any(answers.values()):
        raise UsageError(f"{path} holds no answer of {the_seat(seat, begins=False)}, so there is nothing to compare.")
    not_ready = None if fault is None else ComparedAnswer.of_fault(fault)
    return RecordedSeat(path, replay, reader.game, reader.settings, seat, clock_of(reader.head, seat), answers, not_ready)


def check_sound(path: Path, replay: VerifiedReplay) -> None:
    """Raise ReplayError if a replay has any problem except that it ends early."""
    if replay.problem is not None and replay.problem.kind != "cut":
        raise ReplayWrong(f"{path} does not verify, so it proves nothing: {replay.problem.text.rstrip('.')}.")


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
