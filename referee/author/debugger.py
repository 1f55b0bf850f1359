"""Asks a bot in a turn of a replay, after all earlier questions, and reports what it answered there.

No clock limits the bot. So it may wait at a breakpoint for as long as its author likes. Its earlier answers change nothing.
"""

from __future__ import annotations

import inspect
import json
import os
import shlex
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.author.repeat import Repeat, program_of
from referee.errors import UsageError
from referee.games.game import IllegalMove, MalformedMove
from referee.isolation.bot import Bot
from referee.isolation.file_names import published
from referee.isolation.launcher import open_launcher
from referee.isolation.log import Log
from referee.match.options import checked_isolation, limits_of
from referee.players.recorded_bots import SAME
from referee.replay.faults import ILLEGAL, MALFORMED
from referee.replay.position import board, status_facts
from referee.replay.questions import MOVE, PASS, recorded_seat
from referee.replay.records import first_turn, known_secret, start_line
from referee.support.escape import escape
from referee.support.words import program, the_seat, wrapped
from sdk.testing import class_player

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.author.repeat import RepeatedAnswer
    from referee.games.game import Json, Seat
    from referee.isolation.process import Launcher
    from referee.players.player import Player
    from referee.replay.questions import ComparedAnswer, RecordedSeat, RepeatQuestion
    from sdk.bot import Bot as BotClass

_MOST_STDERR = 2_000
_NO_SECRET = "The replay has no secret in its head, so the seed that the bot got isn't known; it gets another one."  # noqa: S105 - no password


class BotAnswer(NamedTuple):
    """A bot's answer in one turn of a replay.

    ``move`` is its move as JSON ({} for doing nothing), None if it has failed; ``fault`` is then the sentence about it. ``recorded`` is the
    recorded move, None if it is not in the replay or was a fault. ``same`` and ``different`` count the bot's answers in the turns before.
    """

    move: Json
    fault: str
    recorded: Json
    same: int
    different: int


def ask(
    replay: str | os.PathLike[str], turn: int, seat: Seat, player: str | os.PathLike[str] | type[BotClass], *, isolation: str = "none"
) -> BotAnswer:
    """Ask a bot the recorded question of a turn, after all earlier questions to that seat. No clock limits it.

    ``player`` is what ``referee.play`` takes. The bot's earlier answers change nothing. An exception of a bot class is raised here.
    Raises UsageError if the seat wasn't asked in that turn, ReplayError if the replay doesn't verify, and StartError if the program
    can't be started.
    """
    checked_isolation(isolation, "isolation")
    recorded = recorded_seat(Path(replay), seat)
    errors: list[Exception | SystemExit] = []
    limits = limits_of(recorded.replay.head)
    subject: Player
    if inspect.isclass(player):
        subject = class_player(seat, player, errors)
    else:
        subject = published(program_of(os.fspath(player), recorded), str(Path.cwd()))
    with closing(open_launcher(isolation, limits, [subject] if isinstance(subject, Bot) else [])) as launcher:
        result = debug(recorded, turn_of(recorded, turn), subject, launcher)
    if errors:
        raise errors[0]
    before, answer = result.question.answer, result.answer
    is_move = result.has_answered and answer is not None and answer.kind == MOVE
    return BotAnswer(
        answer.move if is_move and answer is not None else None,
        "" if is_move or answer is None else answer.text,
        before.move if before is not None and before.kind == MOVE else None,
        result.same,
        result.different,
    )


def turn_of(recorded: RecordedSeat, turn: int | None) -> int:
    """Return a turn in which the seat was asked, by default the last one. UsageError if it wasn't asked in that turn."""
    turns = sorted(recorded.answers)
    if turn is None and turns:
        return turns[-1]
    if turn is None or turn not in recorded.answers:
        raise UsageError(_unasked(recorded, turn, turns))
    return turn


def _unasked(recorded: RecordedSeat, turn: int | None, turns: list[int]) -> str:
    path, seat = str(recorded.path), the_seat(recorded.seat, begins=False)
    if not turns or turn is None:
        return f"{path} holds no question to {seat}: it failed before its first one."
    if not 0 <= turn < max(recorded.replay.turns, turns[-1] + 1):
        return f"{path} has no turn {turn}: the last question to {seat} was in turn {turns[-1]}."
    first = first_turn(recorded.replay.head)
    if turn < first:
        return f"The match of {path} began in turn {first} of another replay, so {seat} wasn't asked in turn {turn}; debug it there."
    near = " and ".join(map(str, sorted(sorted(turns, key=lambda each: abs(each - turn))[:2])))
    return f"{the_seat(recorded.seat)} wasn't asked in turn {turn} of {path}; the nearest questions to it were in turn {near}."


class DebugResult(NamedTuple):
    """The result of asking a bot all questions up to a turn. ``question`` is that of the turn, with the recorded answer.

    ``same`` and ``different`` count the bot's earlier answers; ``first`` is the turn of the first different one. ``answer`` is its answer in
    the turn, or its fault. ``failed`` is the earlier turn in which it failed; if ``is_ready`` is false, it failed before its first
    question. ``say`` is its remark in the turn, ``seconds`` the time that its answer took. ``notes`` are sentences on its earlier faults.
    """

    recorded: RecordedSeat
    question: RepeatQuestion
    same: int
    different: int
    first: int | None
    answer: ComparedAnswer | None
    failed: int | None
    is_ready: bool
    say: Json
    seconds: float
    notes: tuple[str, ...]

    @property
    def has_answered(self) -> bool:
        """True if the bot has answered in the turn; a pass is an answer."""
        return self.is_ready and self.failed is None and self.answer is not None and self.answer.is_answer

    @property
    def was_asked(self) -> bool:
        """True if the bot was asked in the turn."""
        return self.is_ready and self.failed is None

    @property
    def failed_turn(self) -> int | None:
        """The turn in which the bot failed; None if it failed before its first question."""
        return None if not self.is_ready else self.question.turn if self.failed is None else self.failed

    @property
    def is_same(self) -> bool:
        """True if the bot's answer in the turn is the recorded one."""
        before = self.question.answer
        return before is not None and self.has_answered and self.answer is not None and self.answer.is_same(before)


def debug(
    recorded: RecordedSeat, turn: int, player: Player, launcher: Launcher, on_stderr: Callable[[str], None] = lambda _: None
) -> DebugResult:
    """Start a bot and ask it all questions up to a turn in which it was asked. ``on_stderr`` gets its stderr, line by line.

    Raises StartError if its program can't be started.
    """
    head, stderr = recorded.replay.head, _Stderr(on_stderr)
    secret = known_secret(head)
    notes = [] if secret is not None else [_NO_SECRET]
    head = {**head, "secret": (secret or b"0").hex(), "match": str(head.get("match"))}
    line = start_line(recorded.game, recorded.settings, head, recorded.seat)
    earlier: list[tuple[int, RepeatedAnswer]] = []
    latest: RepeatedAnswer | None = None
    with Repeat(recorded, player, launcher, None, Log(None, launcher.level.limits.stderr_bytes, stderr)) as repeat:
        failure = repeat.greet(line, None)
        is_ready, failed = failure is None, None
        for question in recorded.questions():
            if failure is None:
                stderr.turn = question.turn
                latest = repeat.ask(question)
            if question.turn == turn:
                break
            if failure is None and latest is not None:
                earlier.append((question.turn, latest))
                if _has_ended(latest):
                    failure, failed = latest.answer, question.turn
        has_answered = failure is None and latest is not None and latest.answer.is_answer
        if isinstance(player, Bot) and has_answered:
            repeat.dismiss(b"", 1.0)
    stderr.finish()
    faults = [(number, answer.answer.text) for number, answer in earlier if not answer.answer.is_answer and number != failed]
    notes += [f"In turn {number} a match would end or warn: {text}" for number, text in faults[:1]]
    different = [number for number, answer in earlier if not answer.is_same]
    last = latest if failure is None else None
    remark = None if last is None else last.judged.remark
    return DebugResult(
        recorded,
        question,
        len(earlier) - len(different),
        len(different),
        min(different, default=None),
        failure if last is None else last.answer,
        failed,
        is_ready,
        None if remark is None else remark.say,
        0.0 if last is None else last.judged.seconds,
        tuple(notes),
    )


def _has_ended(answer: RepeatedAnswer) -> bool:
    """True if a bot can't be asked any more after an answer."""
    fault = answer.judged.fault
    # After another line than an object the bot may still write its answer, which would count as that of the next turn.
    return fault is not None and not (fault.kind in (MALFORMED, ILLEGAL) and answer.judged.line.startswith(b"{"))


class _Stderr:
    """Shows a bot's stderr while it comes, each line with the ``turn`` that the bot is asked about, None before its first one."""

    def __init__(self, on_line: Callable[[str], None]) -> None:
        self.turn: int | None = None
        self._on_line = on_line
        self._rest = b""

    def __call__(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        if len(self._rest) > _MOST_STDERR:
            lines, self._rest = [*lines, self._rest], b""
        turn = "start" if self.turn is None else f"turn {self.turn}"
        for line in lines:
            self._on_line(f"{turn}  {escape(line.rstrip(), _MOST_STDERR)}")

    def finish(self) -> None:
        """Show a last line without its end."""
        if self._rest:
            self(b"\n")


class Judgment(NamedTuple):
    """What the engine does with an answer. ``refused`` are the reasons why it does not do all of it; ``after`` is the next position."""

    refused: tuple[str, ...]
    after: Any = None


def _judge(result: DebugResult, answer: ComparedAnswer) -> Judgment:
    """Return what the engine does with an answer in the turn, beside the recorded moves of the others.

    If the replay doesn't have a move of another player, that player makes no move.
    """
    if not answer.is_answer:
        return Judgment((answer.text,))
    game, (_, seat, state, *_), step = result.recorded.game, result.question, result.question.step
    recorded = {} if step is None else step.moves
    try:
        moves = {
            mover: recorded[mover]
            if mover != seat and mover in recorded
            else game.codec.parse(state, mover, (answer.move or {}) if mover == seat else {})
            for mover in game.movers(state)
        }
    except (MalformedMove, IllegalMove):
        return Judgment(())
    after, notices = game.step(state, moves)
    passed = (answer.text,) if answer.kind == PASS else ()
    return Judgment((*passed, *(notice.text for notice in notices if notice.seat == seat)), after)


def report(file: Path, bot: str, isolation: str, result: DebugResult, test: tuple[Path, Path] | None) -> dict[str, Json]:
    """Return what ``--json`` prints. ``test`` is the written test and the replay beside it."""
    question, game = result.question, result.recorded.game

    def answer_json(answer: ComparedAnswer | None) -> dict[str, Json] | None:
        if answer is None:
            return None
        judgment = _judge(result, answer)
        return {**answer.to_json(), "accepted": not judgment.refused, "refused": list(judgment.refused)}

    return {
        "file": str(file),
        "bot": bot,
        "seat": question.seat,
        "turn": question.turn,
        "isolation": isolation,
        "position": json.loads(game.codec.view_text(question.state, None)),
        "notices": [dict(notice) for notice in question.notices],
        "recorded": answer_json(question.answer),
        "new": answer_json(result.answer) if result.was_asked else None,
        "same": result.is_same,
        "earlier": {"same": result.same, "different": result.different, "first_different": result.first},
        "failed": None if result.has_answered or result.answer is None else {"turn": result.failed_turn, **result.answer.to_json()},
        "say": result.say,
        "seconds": result.seconds,
        "notes": list(result.notes),
        "test": None if test is None else [str(path) for path in test],
    }


def debug_lines(file: Path, bot: str, result: DebugResult, test: tuple[Path, Path] | None, wide: int) -> list[str]:
    """Return the result for people, in lines of ``wide`` columns. ``test`` is the written test and the replay beside it."""
    question, game = result.question, result.recorded.game
    place = f"turn {question.turn:,} of {file}: {the_seat(question.seat[:20], begins=False)} is asked"
    facts = [("debug", place), *status_facts(game, question.state)]
    lines = [line for name, text in facts for line in wrapped(name, 10, text, wide)]
    lines += ["", *board(game, question.state, wide), ""]
    notices = [("told", str(notice["text"])) for notice in question.notices]
    facts = [*notices, *_answers(result), *_earlier(result)]
    if test is not None:
        facts.append(("test", f"{test[0]}, with {test[1].name} beside it"))
    lines += [line for name, text in facts for line in wrapped(name, 10, text, wide)]
    return [*lines, f"Next:  {_next(file, bot, result, test)}"]


def _answers(result: DebugResult) -> list[tuple[str, str]]:
    """Return the recorded answer and the new one, each with what the engine does with it."""
    before, answer = result.question.answer, result.answer
    lines = [("recorded", _judged(result, before) if before is not None else "not in the replay")]
    if not result.is_ready:
        lines.append(("now", f"the bot failed before its first question: {answer}"))
    elif result.failed is not None:
        lines.append(("now", f"the bot failed in turn {result.failed}, so it was not asked here: {answer}"))
    elif answer is not None:
        same = "the same: " if before is not None and answer.is_same(before) else ""
        lines.append(("now", f"{same}{_judged(result, answer)}"))
        if result.say is not None:
            lines.append(("", f"it said: {result.say}"))
    return lines


def _judged(result: DebugResult, answer: ComparedAnswer) -> str:
    if not answer.is_answer:
        return f"failed, {answer.kind}: {answer.text}"
    game, judgment = result.recorded.game, _judge(result, answer)
    status = ""
    if judgment.after is not None:
        outcome = game.outcome(judgment.after)
        if outcome is not None:
            status = f"; then the match is over: {outcome.text.rstrip('.')}"
        elif game.text is not None:
            status = f"; then {', '.join(f'{name} {value:,}' for name, value in game.text.status_fields(judgment.after).items())}"
    refused = "; ".join(judgment.refused)
    return f"{answer if answer.kind == MOVE else 'a pass'}, {f'refused: {refused}' if refused else 'accepted'}{status}"


def _earlier(result: DebugResult) -> list[tuple[str, str]]:
    total = result.same + result.different
    notes = [("note", note) for note in result.notes]
    if not total:
        return notes
    text = f"all {total:,} answers are the recorded ones" if total > 1 else "the one answer is the recorded one"
    if result.different:
        text = f"{result.different:,} of {total:,} answers differ from the recorded ones, first in turn {result.first}; they change nothing"
    return [("earlier", text), *notes]


def _next(file: Path, bot: str, result: DebugResult, test: tuple[Path, Path] | None) -> str:
    if test is not None:
        return f"python -m pytest {shlex.quote(str(test[0]))}"
    recorded, question = result.recorded, result.question
    seats = list(recorded.game.seats(recorded.settings))
    players = [SAME] * seats.index(question.seat) + [bot]
    return f"{program()} play --from {shlex.quote(f'{file}@{question.turn}')} {shlex.join(players)}"
