"""The questions that one seat got in a replay, with its answers, and a bot that is asked them again.

Every question is made from the replay: the same position, notices and time left. A position follows from the recorded moves, so a
different answer changes no later question.
"""

from __future__ import annotations

import json
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from referee.errors import ReplayError, ReplayWrong, UsageError
from referee.match.collector import MoveCollector
from referee.match.greeting import greet, pause
from referee.players.clock import Clock, LongWait
from referee.players.exchange import GRACE, Exchange
from referee.players.log import Log
from referee.players.player import host_of
from referee.replay.faults import ILLEGAL, MALFORMED, Fault
from referee.replay.reader import open_game, read_head, read_lines, start_of, verify
from referee.replay.recorded import NO_CLOCK, first_turn, limits_of, microseconds, remark_of, time_control, told
from referee.support.words import cut, the_seat

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from referee.games.dialect import Host
    from referee.games.game import Game, Json, Seat
    from referee.isolation.level import Isolation
    from referee.isolation.limits import Limits
    from referee.match.options import TimeControl
    from referee.players.player import Player
    from referee.replay.answers import JudgedAnswer, Remark
    from referee.replay.reader import Failed, Replay, Step

_Read = TypeVar("_Read", "Step", "Failed")
MOVE, PASS = "move", "pass"
#: No limit on the remarks of a bot that is asked again, in bytes.
_UNLIMITED = 1 << 62


class Given(NamedTuple):
    """A bot's answer to a question, or its fault.

    ``kind`` is "move", "pass" (a malformed answer that counts as one) or that of a fault. ``line`` is the bot's line where it was
    wrong, ``text`` the sentence about it.
    """

    kind: str
    move: Json = None
    text: str = ""
    line: str | None = None

    def is_as(self, other: Given) -> bool:
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


class Questions(NamedTuple):
    """The questions that a seat got in a replay, with the recorded answer of each by its turn.

    ``start`` is the fault of a bot that failed before its first question. ``unrecorded`` are turns whose answer the replay doesn't hold.
    """

    replay: Replay
    game: Game[Any, Any]
    settings: Any
    seat: Seat
    answers: Mapping[int, Given]
    start: Given | None
    unrecorded: frozenset[int]

    @property
    def control(self) -> TimeControl:
        """The time control of the seat. ReplayError if the head has none."""
        found = time_control(self.replay.head, self.seat)
        if found is None:
            raise ReplayError(NO_CLOCK)
        return found

    @property
    def excuses(self) -> bool:
        """True if a malformed answer counted as a pass in the match."""
        return bool(self.replay.head.get("on_malformed") == "pass")

    @property
    def limits(self) -> Limits:
        """The limits of the match; the ordinary ones where the head names none."""
        return limits_of(self.replay.head)


def questions(path: Path, seat: Seat) -> Questions:
    """Read a replay and return the questions of a seat. ReplayError if it doesn't verify; UsageError if there is no such seat or question."""
    head, _ = read_head(path, read_lines(path))
    game, settings = open_game(path, head)
    shown = str(path)
    if seat not in head["players"]:
        raise UsageError(f"{shown} has no seat '{cut(seat, 40)}'; there are {', '.join(head['players'])}.")
    found: dict[int, Given] = {}
    open_turns: set[int] = set()
    starts: list[Given] = []

    def fault(failed: Failed) -> None:
        record = failed.record
        turn, fault = record["turn"], record["faults"].get(seat)
        if "us" not in record:
            # Before the first question. The record of a step has the times of the seats that were asked.
            starts.extend([] if fault is None else [_recorded_fault(fault)])
        elif seat in game.movers(failed.before):
            if fault is None:
                open_turns.add(turn)
            else:
                found[turn] = _recorded_fault(fault)

    def step(step: Step) -> None:
        turn = step.record["turn"]
        if turn in open_turns or (turn not in found and seat in game.movers(step.before)):
            open_turns.discard(turn)
            found[turn] = _recorded(game, step, seat)

    first = first_turn(head)
    replay = verify(path, _from(first, step), _from(first, fault))
    check_sound(path, replay)
    if not found and not starts:
        raise UsageError(f"{shown} holds no answer of {the_seat(seat, begins=False)}, so there is nothing to compare.")
    return Questions(replay, game, settings, seat, found, starts[0] if starts else None, frozenset(open_turns))


def check_sound(path: Path, replay: Replay) -> None:
    """Raise ReplayError if a replay has any problem except that it ends early."""
    if replay.problem is not None and replay.problem.kind != "cut":
        raise ReplayWrong(f"{path} does not verify, so it proves nothing: {replay.problem.text.rstrip('.')}.")


def _from(first: int, take: Callable[[_Read], None]) -> Callable[[_Read], None]:
    """Return a function that passes only what happened from a turn on."""
    return lambda one: take(one) if one.record["turn"] >= first else None


class Question(NamedTuple):
    """One question of a replay. ``notices`` came with it. ``is_own``: the seat had to move; else only a dialect asks about this step.

    ``recorded`` is the answer; None if the replay doesn't hold it. ``record`` is the replay's record of the step, or of the faults in it.
    """

    turn: int
    state: Any
    notices: tuple[Mapping[str, str], ...]
    is_own: bool
    recorded: Given | None
    record: Mapping[str, Json]


def read_questions(asked: Questions, take: Callable[[Question], None], on_step: Callable[[Step], None] = lambda _: None) -> None:
    """Play a replay again, and call ``take`` with each question to the seat, and with each step between them. ``on_step`` gets all steps."""
    seat, first = asked.seat, first_turn(asked.replay.head)
    notices: list[Mapping[str, str]] = []
    seen = -1

    def add(record: Mapping[str, Json], state: Any) -> None:
        nonlocal seen
        turn = record["turn"]
        # All players of the step were asked about the same position.
        if turn == seen or turn < first:
            return
        seen = turn
        is_own = turn in asked.answers or turn in asked.unrecorded
        take(Question(turn, state, tuple(notices) if is_own else (), is_own, asked.answers.get(turn), record))
        if is_own:
            notices.clear()

    def fault(failed: Failed) -> None:
        if "us" in failed.record:
            add(failed.record, failed.before)

    def step(step: Step) -> None:
        on_step(step)
        add(step.record, step.before)
        if step.record["turn"] < first and seat in asked.game.movers(step.before):
            # A match that begins in another replay asks nothing about its steps; its first question has the notices of the last one.
            notices.clear()
        notices.extend({"code": notice["code"], "text": notice["text"]} for notice in told(step.record) if notice["seat"] == seat)

    assert asked.replay.path is not None
    verify(asked.replay.path, step, fault)


class NewAnswer(NamedTuple):
    """A bot's answer to a recorded question, as it was ``judged`` and as a value to compare."""

    given: Given
    judged: JudgedAnswer


class Asker:
    """Asks one player the questions of a replay. ``patience`` is its limit for each answer, None for none."""

    def __init__(self, asked: Questions, exchange: Exchange, host: Host | None, patience: float | None) -> None:
        self._asked = asked
        self._wait = LongWait(patience, "that it has here")
        self._match_clock = Clock(asked.control)
        self._clocks = {asked.seat: self._recorded_clock()}
        self._exchange = exchange
        self._collector = MoveCollector(
            asked.game,
            self._clocks,
            {} if host is None else {asked.seat: host},
            exchange,
            people=frozenset(),
            excuses=asked.excuses,
            remarks_bytes=_UNLIMITED,
        )

    @property
    def match_limit(self) -> float | None:
        """The limit that the next answer had in the match, in seconds."""
        return self._match_clock.limit

    def _recorded_clock(self) -> Clock:
        """The clock for the next question: with the bank that the bot had in the match, and its limit here."""
        return Clock(self._asked.control, wait=self._wait, bank=self._match_clock.bank, answers=self._match_clock.answers)

    def ask(self, question: Question) -> NewAnswer | None:
        """Ask a question, and bill what was billed in the match. Return the answer, None for a question that only a dialect asks."""
        game, seat = self._asked.game, self._asked.seat
        if question.is_own:
            self._collector.replace_notices(seat, question.notices)
        self._clocks[seat] = self._recorded_clock()
        answers = self._collector.ask(question.turn, question.state, [seat] if question.is_own else [])
        self._exchange.drain()
        us = microseconds(question.record, seat)
        if us is not None:
            self._match_clock.spend(us / 1e6)
        if not question.is_own:
            return None
        judged = answers[seat]
        given = answer_of(game, judged.move, judged.remark) if judged.fault is None else fault_given(judged.fault)
        return NewAnswer(given, judged)


class Interview:
    """One bot that is asked the questions of a replay, in a process of its own. Call ``greet``, then ``asker``; in the end ``close``."""

    def __init__(self, asked: Questions, player: Player, isolation: Isolation, patience: float | None, log: Log | None = None) -> None:
        self._asked, self._patience = asked, patience
        self._host = host_of(player, asked.seat)
        logs = {asked.seat: log or Log(None, isolation.limits.stderr_bytes)}
        self._exchange = Exchange({asked.seat: player}, isolation, logs, drops_early=asked.excuses)

    def greet(self, line: bytes, startup: float | None) -> Given | None:
        """Start the bot and send it this ``start`` message, or the equivalent in a dialect. Return its failure.

        ``startup`` limits its start, None for no limit. Raises StartError if its program can't be started.
        """
        asked = self._asked
        self._exchange.open()
        start = start_of(asked.game, asked.settings, asked.replay.head)
        clock = Clock(asked.control.replace(startup=startup))
        hosts = {} if self._host is None else {asked.seat: self._host}
        name = greet(self._exchange, hosts, asked.game, start, {asked.seat: (line, clock)})[asked.seat]
        return fault_given(name) if isinstance(name, Fault) else None

    @cached_property
    def asker(self) -> Asker:
        """The object that asks the bot, once it is greeted."""
        return Asker(self._asked, self._exchange, self._host, self._patience)

    def dismiss(self, line: bytes, grace: float = GRACE) -> None:
        """Send the last message, and give the bot ``grace`` seconds to exit."""
        if self._host is not None:
            pause({self._asked.seat: self._host})
        self._exchange.dismiss({self._asked.seat: line}, grace)

    def close(self) -> None:
        """End the bot."""
        self._exchange.close()


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def fault_given(fault: Fault) -> Given:
    """Return a fault as a value to compare."""
    return Given(fault.kind, text=fault.text, line=fault.line)


def _recorded_fault(fault: Mapping[str, Json]) -> Given:
    line = fault.get("line")
    return Given(str(fault.get("kind")), text=str(fault.get("text")), line=line if isinstance(line, str) else None)


def _recorded(game: Game[Any, Any], step: Step, seat: Seat) -> Given:
    """Return the recorded answer of a step that was played again, so its moves are good."""
    return answer_of(game, step.moves(game)[seat], remark_of(step.record, seat))


def answer_of(game: Game[Any, Any], move: Any, remark: Remark | None) -> Given:
    """Return an answer in the form in which moves are recorded."""
    malformed = [warning.text for warning in ([] if remark is None else remark.warnings) if warning.code == MALFORMED]
    return Given(PASS, text=malformed[0]) if malformed else Given(MOVE, game.codec.move_json(move))
