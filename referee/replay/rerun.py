"""Asks a bot the questions of a replay again and compares its answers with the recorded ones.

Every question is made from the replay: the same position, notices and time left. A position follows from the recorded moves, so a
different answer changes no later question. The bot has more time than the match gave it, because another machine may be slower.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from referee.errors import ReplayWrong, UsageError
from referee.match.clock import Clock
from referee.match.conversation import Conversation, Entrant, Manner
from referee.match.sentences import warning_code
from referee.players.faults import ILLEGAL, LATE, MALFORMED, Fault
from referee.players.log import Log
from referee.replay.reader import open_game, read_head, read_lines, start_of, verify
from referee.replay.recorded import first_turn, limits_of, microseconds, start_line, time_control, told, warnings
from referee.wire import encode
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from referee.games.game import Game, Json, Seat
    from referee.isolation.level import Isolation
    from referee.isolation.limits import Limits
    from referee.match.collector import TurnAnswers
    from referee.match.options import TimeControl
    from referee.players.spec import Spec
    from referee.replay.reader import Failed, Replay, Step

_Read = TypeVar("_Read", "Step", "Failed")
#: The bot's limit is a multiple of that of the match, plus a number of seconds. Without a limit in the match it is ``_UNLIMITED``.
_TIMES, _MORE, _UNLIMITED = 5.0, 5.0, 60.0
MOVE, PASS = "move", "pass"


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

    def __str__(self) -> str:
        """The answer in a sentence."""
        return escape(_text(self.move), 200) if self.kind == MOVE else escape(self.text, 400).rstrip(".")

    def to_json(self) -> dict[str, Json]:
        """The answer as ``--json`` prints it."""
        return {"kind": self.kind, **({"move": self.move} if self.kind == MOVE else {"text": self.text})}


class Difference(NamedTuple):
    """An answer that differs. ``step`` is None if the bot failed before its first question."""

    step: int | None
    recorded: Given | None
    new: Given | None

    def to_json(self) -> dict[str, Json]:
        """The difference as ``--json`` prints it."""
        return {
            "step": self.step,
            "recorded": None if self.recorded is None else self.recorded.to_json(),
            "new": None if self.new is None else self.new.to_json(),
        }


class Rerun(NamedTuple):
    """The result of asking a bot again.

    ``answers`` is the number of recorded answers, ``equal`` and ``differing`` count those that were compared. ``unasked`` questions came
    after a failure of the bot. ``differences`` are the first ones. ``is_same_file`` tells whether the bot's file has the hash that the
    replay names, None if it names none. ``notes`` are remarks on what could not be compared.
    """

    seat: Seat
    answers: int
    equal: int
    differing: int
    unasked: int
    differences: tuple[Difference, ...]
    is_same_file: bool | None
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True if every answer is equal."""
        return not self.differing and not self.unasked

    def to_json(self) -> dict[str, Json]:
        """The result as ``--json`` prints it."""
        return {
            "ok": self.ok,
            **self._asdict(),
            "differences": [difference.to_json() for difference in self.differences],
            "notes": list(self.notes),
        }


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
    def limits(self) -> Limits:
        """The limits of the match; the ordinary ones where the head names none."""
        return limits_of(self.replay.head)


def questions(path: Path, seat: Seat) -> Questions:
    """Read a replay and return the questions of a seat. ReplayError if it doesn't verify; UsageError if there is no such seat or question."""
    head, _ = read_head(path, read_lines(path))
    game, settings = open_game(path, head)
    shown = escape(str(path), 200)
    if seat not in head["players"]:
        raise UsageError(f"{shown} has no seat '{escape(seat, 40)}'; there are {', '.join(head['players'])}.")
    found: dict[int, Given] = {}
    open_turns: set[int] = set()
    starts: list[Given] = []

    def fault(failed: Failed) -> None:
        record = failed.record
        turn, fault = record["turn"], record["faults"].get(seat)
        if "us" not in record:
            # Before the first question. A record of a step has the times of those who were asked.
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
        raise UsageError(f"{shown} holds no answer of the {seat}, so there is nothing to compare.")
    return Questions(replay, game, settings, seat, found, starts[0] if starts else None, frozenset(open_turns))


def check_sound(path: Path, replay: Replay) -> None:
    """Raise ReplayError if a replay has any problem except that it ends early."""
    if replay.problem is not None and replay.problem.kind != "cut":
        raise ReplayWrong(f"{escape(str(path), 200)} does not verify, so it proves nothing: {replay.problem.text.rstrip('.')}.")


def _from(first: int, take: Callable[[_Read], None]) -> Callable[[_Read], None]:
    """Return a function that passes only what happened from a turn on."""
    return lambda one: take(one) if one.record["turn"] >= first else None


def rerun(
    asked: Questions,
    spec: Spec,
    isolation: Isolation,
    *,
    patience: float | None = None,
    most: int = 5,
    on_progress: Callable[[int, int], None] | None = None,
) -> Rerun:
    """Ask a bot all questions again. ``patience`` is its limit for each answer, in seconds; ``most`` limits the differences that are kept.

    ``on_progress`` gets the number of questions so far and of all questions. Raises StartError if the program can't be started.
    """
    run = _Rerun(asked, spec, isolation, patience, most, on_progress)
    try:
        return run.run()
    finally:
        run.close()


def recorded_conversation(
    head: Mapping[str, Json], seat: Seat, entrant: Entrant, isolation: Isolation, log: Log | None = None
) -> Conversation:
    """Return a conversation with the player of a seat, about the questions of a replay with this head."""
    manner = Manner(excuses=head.get("on_malformed") == "pass")
    return Conversation({seat: entrant}, isolation, {seat: log or Log(None, isolation.limits.stderr_bytes)}, manner)


def failure_to_greet(conversation: Conversation, asked: Questions, line: bytes, control: TimeControl, state: Any) -> Given | None:
    """Greet the player of a replay's seat with this start message. Return its failure. Raises StartError if its program can't be started."""
    name = conversation.greet(asked.game, state, {asked.seat: line}, {asked.seat: control})[asked.seat]
    return fault_given(name) if isinstance(name, Fault) else None


class _Over(Exception):
    """The bot can't be asked any more."""


class RecordedClock(Clock):
    """The clock that a bot had in the match; ``patience`` is its limit now, in seconds, None for no limit."""

    __slots__ = ("match_limit", "patience")

    def __init__(self, control: TimeControl, patience: float | None) -> None:
        super().__init__(control)
        self.patience = patience
        self._let()

    def _let(self) -> None:
        self.match_limit = self._limit()
        self.limit, self.guard = self.patience, None

    def spend(self, seconds: float, other: float = 0.0) -> None:
        """Bill nothing: the replay says what was billed."""

    def bill(self, seconds: float) -> None:
        """Bill the time that was billed in the match."""
        super().spend(seconds)
        self._let()

    def limit_name(self, *, is_guard: bool = False) -> str:
        """Return the limit as words for a message."""
        return f"the {self.patience or 0.0:g} s that it has here"


class _Rerun:
    def __init__(
        self,
        asked: Questions,
        spec: Spec,
        isolation: Isolation,
        patience: float | None,
        most: int,
        on_progress: Callable[[int, int], None] | None,
    ) -> None:
        head, seat = asked.replay.head, asked.seat
        control = time_control(head, seat)
        self.start_line = start_line(asked.game, asked.settings, head, seat)
        assert control is not None, "there would be no start message"
        self.asked, self.spec, self.isolation, self.most, self.on_progress = asked, spec, isolation, most, on_progress
        self.control = control
        self.startup = _patience(control.startup)
        self.clock = RecordedClock(control, _patience(control.move) if patience is None else patience)
        self.host = spec.dialect.host(seat) if spec.dialect is not None else None
        self.conversation = recorded_conversation(head, seat, Entrant(spec.label, {}, spec.program, host=self.host), isolation)
        self.notices: list[dict[str, Json]] = []
        self.differences: list[Difference] = []
        self.first = first_turn(head)
        self.equal = self.differing = self.remarks = 0
        self.turn = -1

    def close(self) -> None:
        """End the bot."""
        self.conversation.close()

    def run(self) -> Rerun:
        asked, seat = self.asked, self.asked.seat
        self.conversation.start()
        self.collector = self.conversation.collector(asked.game, {seat: self.clock})
        path = asked.replay.path
        assert path is not None
        failed = self.greet(start_of(asked.game, asked.settings, asked.replay.head))
        if failed is not None or asked.start is not None:
            self.compare(None, asked.start, failed)
        else:
            try:
                verify(path, self.step, self.fault)
            except _Over:
                pass
            else:
                self.dismiss()
        total = len(asked.answers) + (asked.start is not None)
        unasked = max(0, total - self.equal - self.differing)
        return Rerun(
            seat, total, self.equal, self.differing, unasked, tuple(self.differences), self.is_same_file(), tuple(self.notes(unasked))
        )

    def greet(self, state: Any) -> Given | None:
        """Send ``start`` and read ``ready``, or the equivalent in a dialect. Return the bot's failure."""
        control = self.control.replace(startup=self.startup)
        return failure_to_greet(self.conversation, self.asked, self.start_line, control, state)

    def dismiss(self) -> None:
        """Send the last message, as the match did, and wait for the bot to leave."""
        replay, game = self.asked.replay, self.asked.game
        outcome = game.outcome(replay.final)
        if outcome is not None:
            end = encode.end({**outcome.to_json(), "steps": replay.turns})
            self.conversation.dismiss({self.asked.seat: end if self.host is None else self.host.closing(replay.final, outcome)})

    def fault(self, failed: Failed) -> None:
        """Ask about the position in which somebody failed; it was the same for all players of the step."""
        if "us" in failed.record and failed.record["turn"] >= self.first:
            self.ask(failed.record["turn"], failed.before, failed.record)

    def step(self, step: Step) -> None:
        """Ask about the position before a step, unless a record of faults has brought it already."""
        seat, turn = self.asked.seat, step.record["turn"]
        if turn < self.first:
            # A match that begins in another replay asks nothing about its steps; its first question has the notices of the last one.
            if seat in self.asked.game.movers(step.before):
                self.notices.clear()
        elif turn != self.turn:
            self.ask(turn, step.before, step.record)
        self.notices += [notice for notice in told(step.record) if notice["seat"] == seat]

    def ask(self, turn: int, state: Any, record: dict[str, Json]) -> None:
        """Ask the bot and compare its answer."""
        asked, seat = self.asked, self.asked.seat
        self.turn = turn
        recorded = asked.answers.get(turn)
        is_mover = recorded is not None or turn in asked.unrecorded
        if is_mover:
            self.collector.replace_notices(seat, [{"code": notice["code"], "text": notice["text"]} for notice in self.notices])
            self.notices.clear()
        given = self.collector.ask(turn, state, [seat] if is_mover else [], ())
        if is_mover:
            new = given_in(asked.game, given, seat)
            if recorded is not None:
                self.compare(turn, recorded, new, given.seconds.get(seat, 0.0))
                # A record of faults has no remarks.
                self.remarks += "type" not in record and _remarks(record, seat) != _remarks({"remarks": given.remarks}, seat)
            if new.kind not in (MOVE, PASS) or (recorded is not None and recorded.kind not in (MOVE, PASS)):
                raise _Over
        us = microseconds(record, seat)
        if us is not None:
            self.clock.bill(us / 1e6)
        if self.on_progress is not None:
            self.on_progress(self.equal + self.differing, len(asked.answers))

    def compare(self, turn: int | None, recorded: Given | None, new: Given | None, seconds: float = 0.0) -> None:
        """Count an answer as equal or differing."""
        limit = self.control.startup if turn is None else self.clock.match_limit
        is_late_again = recorded is not None and recorded.kind == LATE and turn is not None and limit is not None and seconds > limit
        if is_late_again or (recorded is not None and new is not None and recorded.is_as(new)):
            self.equal += 1
            return
        # A bot that isn't ready has answered nothing: none of the recorded answers was compared.
        self.differing += 1 if recorded is not None else 0
        if len(self.differences) < self.most or recorded is None:
            self.differences.append(Difference(turn, recorded, new))

    def is_same_file(self) -> bool | None:
        """True if the bot's file is the recorded one by its hash; None if one of them has none."""
        recorded, own = self.asked.replay.head["players"][self.asked.seat].get("sha256"), self.spec.about.get("sha256")
        return recorded == own if isinstance(recorded, str) and isinstance(own, str) else None

    def notes(self, unasked: int) -> list[str]:
        """Return remarks on what was not compared."""
        replay, found = self.asked.replay, []
        if replay.problem is not None:
            found.append(f"The replay is {replay.problem.text.rstrip('.')}; only these were compared.")
        if self.asked.unrecorded:
            steps = ", ".join(map(str, sorted(self.asked.unrecorded)))
            found.append(f"The answer in step {steps} is not in the replay, because the match ended there by another player's fault.")
        if self.remarks and not unasked:
            found.append(f"What the bot says or draws differs in {self.remarks:,} answers; remarks don't count.")
        return found


def _patience(limit: float | None) -> float:
    return _UNLIMITED if limit is None else _TIMES * limit + _MORE


def _text(value: Json) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"))


def given_in(game: Game[Any, Any], found: TurnAnswers, seat: Seat) -> Given:
    """Return a seat's answer or fault in a turn, as the collector has judged it."""
    if seat in found.faults:
        return fault_given(found.faults[seat])
    return answer_of(game, found.moves[seat], {"remarks": found.remarks}, seat)


def fault_given(fault: Fault) -> Given:
    """Return a fault as a value to compare."""
    return Given(fault.kind, text=fault.text, line=fault.line)


def _recorded_fault(fault: Mapping[str, Json]) -> Given:
    line = fault.get("line")
    return Given(str(fault.get("kind")), text=str(fault.get("text")), line=line if isinstance(line, str) else None)


def _recorded(game: Game[Any, Any], step: Step, seat: Seat) -> Given:
    """Return the recorded answer of a step that was played again, so its moves are good."""
    move = game.codec.parse(step.before, seat, step.record.get("moves", {}).get(seat, {}))
    return answer_of(game, move, step.record, seat)


def answer_of(game: Game[Any, Any], move: Any, record: Mapping[str, Json], seat: Seat) -> Given:
    """Return an answer in the form in which moves are recorded."""
    malformed = [text for text in warnings(record, seat) if warning_code(seat, text) == MALFORMED]
    return Given(PASS, text=malformed[0]) if malformed else Given(MOVE, game.codec.move_json(move))


def _remarks(record: Mapping[str, Json], seat: Seat) -> str:
    remarks = record.get("remarks")
    remark = remarks.get(seat) if isinstance(remarks, dict) else None
    return _text([remark.get("say"), remark.get("draw")] if isinstance(remark, dict) else [None, None])
