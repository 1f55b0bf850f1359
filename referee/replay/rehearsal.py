"""Asks a bot the recorded questions of a replay up to a turn. Its earlier answers change nothing.

No clock limits the bot. So it may wait at a breakpoint for as long as its author likes.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import UsageError
from referee.games.game import IllegalMove, MalformedMove
from referee.isolation.bot import Bot
from referee.replay.faults import ILLEGAL, MALFORMED
from referee.replay.questions import PASS, Interview, fault_given, read_questions
from referee.replay.recorded import first_turn, known_secret, start_line
from referee.support.words import the_seat

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.games.dialect import Host
    from referee.games.game import Game, Json, Seat
    from referee.isolation.level import Isolation
    from referee.players.log import Log
    from referee.players.player import Player
    from referee.replay.answers import JudgedAnswer
    from referee.replay.faults import Fault
    from referee.replay.questions import Asker, Given, NewAnswer, Question, Questions
    from referee.replay.reader import Step

#: The kinds of faults after which a program can still be asked.
_LIVING = (MALFORMED, ILLEGAL)


class QuestionsToTurn(NamedTuple):
    """The questions that lead a seat to a turn of a replay, and the last one. ``step`` is the step of that turn, None after a fault."""

    asked: Questions
    earlier: tuple[Question, ...]
    last: Question
    step: Step | None

    @property
    def recorded(self) -> Given | None:
        """The recorded answer; None if it is not in the replay."""
        return self.last.recorded


class CurrentTurn:
    """The turn that a bot is asked about; None before its first one."""

    def __init__(self) -> None:
        self.turn: int | None = None


class Debugged(NamedTuple):
    """The result of asking a bot all questions up to a turn.

    ``same`` and ``different`` count its earlier answers; ``first`` is the turn of the first different one. ``given`` is its answer in the turn,
    or its fault. ``failed`` is the earlier turn in which it failed; if ``is_ready`` is false, it failed before its first question. ``say``
    is its remark in the turn, ``seconds`` the time that its answer took. ``notes`` are sentences on its earlier faults.
    """

    same: int
    different: int
    first: int | None
    given: Given | None
    failed: int | None = None
    is_ready: bool = True
    say: Json = None
    seconds: float = 0.0
    notes: tuple[str, ...] = ()

    @property
    def has_answered(self) -> bool:
        """True if the bot has answered in the turn; a pass is an answer."""
        return self.is_ready and self.failed is None and self.given is not None and self.given.is_answer


class Judgment(NamedTuple):
    """What the engine does with an answer. ``refused`` are the reasons why it does not do all of it; ``after`` is the next position."""

    refused: tuple[str, ...]
    after: Any = None


def questions_to_turn(asked: Questions, turn: int | None, host: Host | None = None) -> QuestionsToTurn:
    """Return the questions of a seat up to a turn, by default its last one. UsageError if it wasn't asked in that turn."""
    turns = sorted({*asked.answers, *asked.unrecorded})
    if turn is None and turns:
        turn = turns[-1]
    if turn is None or turn not in turns:
        raise UsageError(_unasked(asked, turn, turns))
    found: list[Question] = []
    steps: list[Step] = []
    asks_always = host is not None and host.asks_always

    def take(question: Question) -> None:
        if question.turn <= turn and (question.is_own or asks_always):
            found.append(question)

    read_questions(asked, take, lambda step: steps.append(step) if step.record["turn"] == turn else None)
    *earlier, last = found
    return QuestionsToTurn(asked, tuple(earlier), last, steps[0] if steps else None)


def _unasked(asked: Questions, turn: int | None, turns: list[int]) -> str:
    shown, seat = str(asked.replay.path), asked.seat
    if not turns or turn is None:
        return f"{shown} holds no question to {the_seat(seat, begins=False)}: it failed before its first one."
    if not 0 <= turn < max(asked.replay.turns, turns[-1] + 1):
        return f"{shown} has no turn {turn}: the last question to {the_seat(seat, begins=False)} was in turn {turns[-1]}."
    first = first_turn(asked.replay.head)
    if turn < first:
        return f"The match of {shown} began in turn {first} of another replay, so {the_seat(seat, begins=False)} wasn't asked in turn {turn}; debug it there."
    near = " and ".join(map(str, sorted(sorted(turns, key=lambda each: abs(each - turn))[:2])))
    return f"{the_seat(seat)} wasn't asked in turn {turn} of {shown}; the nearest questions to it were in turn {near}."


class Prompter:
    """Asks one bot the questions up to a turn. ``progress`` is kept up to date; ``fault`` is the fault that stopped the questions."""

    def __init__(self, to_turn: QuestionsToTurn, asker: Asker, progress: CurrentTurn, notes: Iterable[str] = ()) -> None:
        self.asker = asker
        self.fault: Fault | None = None
        self._to_turn, self._progress = to_turn, progress
        self._same = self._different = 0
        self._first: int | None = None
        self._notes = list(notes)
        self._has_failed = False

    def go(self) -> None:
        """Ask the questions before the turn. Stop if the program can't be asked any more."""
        for question in self._to_turn.earlier:
            new = self._ask(question)
            if new is None:
                continue
            is_same = question.recorded is None or new.given.is_as(question.recorded)
            self._same += is_same
            self._different += not is_same
            if not is_same and self._first is None:
                self._first = question.turn
            if new.judged.fault is not None and self._ends(question.turn, new.judged.fault, new.judged.line):
                return

    def _ask(self, question: Question) -> NewAnswer | None:
        self._progress.turn = question.turn
        return self.asker.ask(question)

    def _ends(self, turn: int, fault: Fault, line: bytes) -> bool:
        # After another line than an object the bot may still write its answer, which would count as that of the next turn.
        if fault.kind in _LIVING and line.startswith(b"{"):
            if not self._has_failed:
                self._has_failed = True
                self._notes.append(f"In turn {turn} a match would end or warn: {fault.text}")
            return False
        self.fault = fault
        return True

    def ask_last(self) -> Debugged:
        """Ask the question of the turn."""
        new = self._ask(self._to_turn.last)
        return self.report(None) if new is None else self.report(new.given, new.judged)

    def report(self, given: Given | None, judged: JudgedAnswer | None = None) -> Debugged:
        """Return the result. After a fault in an earlier turn, ``given`` and ``judged`` are not used."""
        counts = self._same, self._different, self._first
        if self.fault is not None:
            return Debugged(*counts, fault_given(self.fault), self._progress.turn, notes=tuple(self._notes))
        say = None if judged is None or judged.remark is None else judged.remark.say
        return Debugged(*counts, given, say=say, seconds=0.0 if judged is None else judged.seconds, notes=tuple(self._notes))


def ask_at(
    to_turn: QuestionsToTurn, player: Player, isolation: Isolation, log: Log, *, progress: CurrentTurn | None = None, grace: float = 1.0
) -> Debugged:
    """Start a bot and ask it all questions up to the turn. ``grace`` are the seconds that it then has to exit.

    Raises StartError if its program can't be started.
    """
    asked, seat = to_turn.asked, to_turn.asked.seat
    head, notes = asked.replay.head, []
    secret = known_secret(head)
    if secret is None:
        notes.append("The replay has no secret in its head, so the seed that the bot got isn't known; it gets another one.")
    line = start_line(asked.game, asked.settings, {**head, "secret": (secret or b"0").hex(), "match": str(head.get("match"))}, seat)
    interview = Interview(asked, player, isolation, None, log)
    try:
        failure = interview.greet(line, None)
        if failure is not None:
            return Debugged(0, 0, None, failure, is_ready=False)
        prompter = Prompter(to_turn, interview.asker, progress or CurrentTurn(), notes)
        prompter.go()
        found = prompter.report(None) if prompter.fault is not None else prompter.ask_last()
        if isinstance(player, Bot) and found.has_answered:
            interview.dismiss(b"", grace)
        return found
    finally:
        interview.close()
        log.close()


def judge(to_turn: QuestionsToTurn, given: Given | None) -> Judgment | None:
    """Return what the engine does with an answer in the turn, beside the recorded moves of the others; None if there is no answer.

    If the replay doesn't have a move of another player, that player makes no move.
    """
    if given is None:
        return None
    if not given.is_answer:
        return Judgment((given.text,))
    game, state, seat = to_turn.asked.game, to_turn.last.state, to_turn.asked.seat
    recorded = {} if to_turn.step is None else to_turn.step.record.get("moves", {})
    try:
        moves = {
            other: game.codec.parse(state, other, given.move or {} if other == seat else recorded.get(other, {}))
            for other in game.movers(state)
        }
    except (MalformedMove, IllegalMove):
        return Judgment(())
    after, notices = game.step(state, moves)
    passed = (given.text,) if given.kind == PASS else ()
    return Judgment((*passed, *(notice.text for notice in notices if notice.seat == seat)), after)


def position(to_turn: QuestionsToTurn, game: Game[Any, Any], seat: Seat | None) -> Json:
    """Return the position of the turn as a seat sees it; None: as a spectator does."""
    return json.loads(game.codec.view_text(to_turn.last.state, seat))


__all__ = ["CurrentTurn", "Debugged", "Judgment", "QuestionsToTurn", "ask_at", "judge", "position", "questions_to_turn"]
