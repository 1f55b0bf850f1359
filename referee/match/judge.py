"""Judges what players send: the move of an answer or its fault, and the remark beside it. Sentences of faults are in ``replay/faults.py``."""

from __future__ import annotations

import ast
import json
from typing import TYPE_CHECKING, Any

from referee.errors import SUPERVISOR
from referee.games.dialect import DialectError
from referee.games.game import IllegalMove, MalformedMove
from referee.players.crash_report import crash_report
from referee.replay.answers import AnswerWarning, JudgedAnswer, Remark
from referee.replay.faults import CRASHED, EXCEEDED, ILLEGAL, LATE, MALFORMED, NO_ANSWER, Failure, Fault
from referee.support.escape import quoted
from referee.wire import decode
from referee.wire.constants import CPU, DRAW_BYTES, MOST_SHAPES, SAY_LENGTH
from referee.wire.decode import answer_key

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from referee.games.dialect import Host
    from referee.games.game import Game, Json, Seat
    from referee.match.options import TimeControl
    from referee.players.clock import Clock
    from referee.players.player import Reply, RunningPlayer
    from referee.wire.decode import Answer, Problem

#: Answers up to this many bytes are cached, so that the same answer in another turn needs no decoding.
_SHORT_ANSWER = 512
_MOST_REMEMBERED = 1_000
#: The most unknown keys that a warning names.
_MOST_KEYS = 5
#: The remark beside an answer that has only a move.
_SILENT = Remark()
#: Longer lines are not read as Python: answers are much shorter.
_MOST_PYTHON = 10_000


class Judge:
    """Judges the answers of one match, and bills their time to the players' ``clocks``.

    ``hosts`` read the lines of some seats, which use a dialect. ``warn`` passes warnings on to a player. With ``excuses`` a malformed answer is
    a pass with a warning, if the game has a pass. ``remarks_bytes`` is each seat's budget for what the replay keeps beside its moves.
    """

    def __init__(
        self,
        game: Game[Any, Any],
        clocks: Mapping[Seat, Clock],
        hosts: Mapping[Seat, Host],
        warn: Callable[[Seat, Sequence[AnswerWarning]], None],
        *,
        excuses: bool,
        remarks_bytes: int,
    ) -> None:
        self._game = game
        self._clocks = clocks
        self._hosts = hosts
        self._warn = warn
        self._excuses = excuses
        self._remarks_bytes = remarks_bytes
        self._remarked = dict.fromkeys(clocks, 0)
        #: The moves of the answers that have only a move, by seat and by ``decode.answer_key`` of the line. Bots often repeat an
        #: answer that differs only in the turn, and decoding is the most expensive part of a quick step. The moves are parsed if the
        #: game's codec parses them in the same way in all positions, else they are JSON.
        self._cached_moves: dict[Seat, dict[bytes, Any]] = {seat: {} for seat in clocks}
        self._keeps_parsed: bool = getattr(game.codec, "parse_ignores_state", False)

    def ready(self, player: RunningPlayer, reply: Reply, time: TimeControl) -> str | Fault:
        """Return the player's own name, "" if it gives none, or the fault if it isn't ready."""
        host = self._hosts.get(player.seat)
        if reply.failure is not None:
            early = reply.failure.line if reply.failure.reason == "early" and host is None else None
            if early is not None and isinstance(problem := decode.ready(line := early.partition(b"\n")[0]), decode.Problem):
                # Such a line comes before or after the question by chance; the reason is the line itself.
                return malformed(player.seat, problem, line)
            return not_ready(player, reply.failure, host, time)
        if reply.line is None:
            # Another player has left, which ends the match before its first step.
            return ""
        if host is not None:
            try:
                return host.take_name(reply.line)
            except DialectError as error:
                return refused_line(player.seat, error, player.log.shown(reply.line))
        line = player.log.shown(reply.line)
        name = decode.ready(line)
        return name if isinstance(name, str) else malformed(player.seat, name, line)

    def answer(self, player: RunningPlayer, turn: int, state: Any, reply: Reply) -> JudgedAnswer:
        """Judge the reply to a question, and bill its time. Answers in the cache have a fast path."""
        line, seconds, failure, is_rescued, other = reply
        seat = player.seat
        clock = self._clocks[seat]
        if line is not None and not is_rescued and (move := self._cached_moves[seat].get(answer_key(line, turn))) is not None:
            try:
                if not self._keeps_parsed:
                    move = self._game.codec.parse(state, seat, move)
            except (MalformedMove, IllegalMove):
                pass
            else:
                clock.spend(seconds, other)
                return JudgedAnswer(move, seconds, other, None, None, b"")
        move, remark, fault = None, _SILENT, None
        if line is not None:
            line = player.log.shown(line)
            understand = self._understand_dialect if seat in self._hosts else self._understand
            move, remark, fault = understand(seat, turn, state, line)
        elif failure is not None:
            fault = unanswered(player, failure, clock)
        if fault is not None and (passed := self._pass(seat, state, fault)) is not None:
            remark = remark._replace(warnings=(*remark.warnings, AnswerWarning.of("passed", fault.text)))
            move, fault = passed, None
        if remark.warnings:
            self._warn(seat, remark.warnings)
        if is_rescued:
            remark = remark._replace(is_rescued=True)
        recorded = None if remark is _SILENT else self._within_budget(seat, remark)
        clock.spend(seconds, other)
        return JudgedAnswer(move, seconds, other, recorded, fault, b"" if fault is None or line is None else line)

    def _understand(self, seat: Seat, turn: int, state: Any, line: bytes) -> tuple[Any, Remark, Fault | None]:
        """Return the move of an answer, the remark beside it, and its fault."""
        answer = decode.move(line, turn)
        if isinstance(answer, decode.Problem):
            return None, _SILENT, malformed(seat, answer, line, turn)
        move, fault, codec = None, None, self._game.codec
        unknown = tuple(codec.unknown_keys(state, seat, answer.move))
        try:
            move = codec.parse(state, seat, answer.move)
        except (MalformedMove, IllegalMove) as error:
            fault = refused_move(seat, error, line, turn)
        if answer.say is not None or answer.draw is not None or unknown:
            return move, _remark(answer, unknown), fault
        if fault is None:
            self._cache_move(seat, turn, line, move if self._keeps_parsed else answer.move)
        return move, _SILENT, fault

    def _understand_dialect(self, seat: Seat, turn: int, state: Any, line: bytes) -> tuple[Any, Remark, Fault | None]:
        """Return the move of a player with a dialect, the remark beside it, and its fault."""
        try:
            heard = self._hosts[seat].answer(turn, state, line)
        except DialectError as error:
            return None, _SILENT, refused_line(seat, error, line, turn)
        return heard.move, Remark(warnings=(AnswerWarning.of("dialect", heard.warning),)) if heard.warning else _SILENT, None

    def _within_budget(self, seat: Seat, remark: Remark) -> Remark | None:
        """Return the part of a remark that the replay keeps. Remarks beyond a seat's budget are dropped, because a bot could fill the disk with them."""
        spent = self._remarked[seat]
        if spent > self._remarks_bytes:
            return None
        self._remarked[seat] = spent = spent + len(json.dumps(remark.to_json()))
        if spent <= self._remarks_bytes:
            return remark
        warnings = (AnswerWarning.of("budget-spent", self._remarks_bytes),)
        self._warn(seat, warnings)
        return Remark(warnings=warnings)

    def _pass(self, seat: Seat, state: Any, fault: Fault) -> Any:
        """Return the pass that replaces a malformed answer; None if such an answer isn't excused or the game has no pass."""
        if fault.kind != MALFORMED or not self._excuses:
            return None
        try:
            return self._game.codec.parse(state, seat, {})
        except (MalformedMove, IllegalMove):
            return None

    def _cache_move(self, seat: Seat, turn: int, line: bytes, move: Any) -> None:
        """Cache the move of an answer.

        The cache key is the line without the turn's number. This is safe because the digits of one number don't change the meaning of the
        rest. Lines with escapes or with more than one "turn" are never cached.
        """
        key = answer_key(line, turn)
        if key and len(line) <= _SHORT_ANSWER and b"\\" not in line and line.count(b'"turn"') == 1:
            moves = self._cached_moves[seat]
            if len(moves) >= _MOST_REMEMBERED:
                moves.clear()
            moves[key] = move


def _remark(answer: Answer, unknown: tuple[str, ...]) -> Remark:
    """Return the remark of an answer for spectators, with a warning about each part that is ignored."""
    say, draw, warnings = answer.say, answer.draw, []
    if say is not None and len(say) > SAY_LENGTH:
        say = say[:SAY_LENGTH]
        warnings.append(AnswerWarning.of("say-cut"))
    if draw is not None and (len(draw) > MOST_SHAPES or len(json.dumps(draw)) > DRAW_BYTES):
        warnings.append(AnswerWarning.of("draw-dropped", len(draw)))
        draw = None
    if unknown:
        warnings.append(AnswerWarning.of("unknown-keys", *unknown[:_MOST_KEYS]))
    return Remark(say, draw, tuple(warnings))


def malformed(seat: Seat, problem: Problem, line: bytes, turn: int | None = None) -> Fault:
    """Return the fault of a line that is not the answer in a turn or, without a turn, not the ``ready`` message."""
    is_python = problem.reason == "not-json" and _is_python(line)
    data = [value if isinstance(value, str) or value < 10**9 else "a huge number" for value in problem.data]
    values = {"seat": seat, "turn": turn, "data": data, "quote": quoted(line), "is_python": is_python}
    return Fault.of(MALFORMED, problem.reason, values, quoted(line, 500))


def _is_python(line: bytes) -> bool:
    """True if a line is a dict as Python prints it: with single quotes, None, True or False."""
    if not line.lstrip().startswith(b"{") or len(line) > _MOST_PYTHON:
        return False
    try:
        return isinstance(ast.literal_eval(line.decode().strip()), dict)
    except (ArithmeticError, MemoryError, RecursionError, SyntaxError, UnicodeDecodeError, ValueError, TypeError):
        return False


def refused_line(seat: Seat, error: DialectError, line: bytes, turn: int | None = None) -> Fault:
    """Return the fault of a line that a dialect doesn't know, in a turn or as the first line."""
    return Fault.of(MALFORMED, "bad-line", {"seat": seat, "turn": turn, "why": str(error), "quote": quoted(line)}, quoted(line, 500))


def refused_move(seat: Seat, error: MalformedMove | IllegalMove, line: bytes, turn: int) -> Fault:
    """Return the fault of a move that the game refuses."""
    values, shown = {"seat": seat, "turn": turn, "why": str(error)}, quoted(line, 500)
    is_malformed = isinstance(error, MalformedMove)
    return Fault.of(MALFORMED, "bad-move", values, shown) if is_malformed else Fault.of(ILLEGAL, "illegal-move", values, shown)


def unanswered(player: RunningPlayer, failure: Failure, clock: Clock, *, was_at_work: bool = False) -> Fault:
    """Return the fault of a player that didn't answer its question. ``was_at_work``: it used the processor meanwhile."""
    if failure.reason not in NO_ANSWER:
        return fault(player, failure)
    is_guard = bool((failure.detail or {}).get("guard"))
    # A program at its limit of processor time was at work.
    has_waited = failure.reason == "silent" and (is_guard or clock.control.kind != CPU)
    may_flush = has_waited and not was_at_work and clock.answers == 0 and player.process is not None
    late = fault(player, failure, clock.limit_values(is_guard=is_guard))
    return late.advised(may_flush=True) if may_flush else late


def not_ready(player: RunningPlayer, failure: Failure, host: Host | None, time: TimeControl) -> Fault:
    """Return the fault of a player that was not ready for the match."""
    limit: dict[str, Json] | None = None if time.startup is None else {"name": "startup", "seconds": time.startup}
    if failure.reason not in NO_ANSWER:
        return fault(player, failure, is_start=host is None)
    if host is not None:
        values = {"seat": player.seat, "label": player.label, "dialect": host.dialect, "limit": limit}
        return Fault.of(LATE, "unconnected", values, None, failure.detail)
    return fault(player, failure, limit, is_start=True).advised(may_flush=True)


def fault(player: RunningPlayer, failure: Failure, limit: dict[str, Json] | None = None, *, is_start: bool = False) -> Fault:
    """Return the fault of a failure. ``limit`` is the one that a late player exceeded, else None. ``is_start``: it wasn't ready yet."""
    reason, detail = failure.reason, failure.detail
    values: dict[str, object] = {"seat": player.seat, "label": player.label}
    if failure.line is not None:
        line = player.log.shown(failure.line)
        values = {"seat": player.seat, "quote": quoted(line)}
        if reason == "overlong":
            assert player.link is not None
            values |= {"number": failure.number, "most_bytes": player.link.lines.max_bytes, "is_remote": player.link.is_remote}
        return Fault.of(MALFORMED, reason, values, quoted(line, 500), detail)
    if reason in NO_ANSWER:
        return Fault.of(LATE, reason, values | {"limit": limit, "is_start": is_start}, None, detail)
    if reason == "ended":
        assert detail is not None
        assert player.process is not None
        over = player.process.excess(str(detail["cause"]))
        values |= {
            "status": detail.get("status"),
            "signal": detail.get("signal"),
            "excess": None if over is None else list(over),
            "is_remote": player.link is not None and player.link.keeps_early,
            "crash": crash_report(player.log.tail(), player.process.file_names(), player.process.status)._asdict(),
            "is_start": is_start,
        }
        return Fault.of(CRASHED if over is None else EXCEEDED, reason, values, None, detail)
    return Fault.of(CRASHED, reason, values | {"words": failure.words}, None, detail)


def blamed(player: RunningPlayer, reason: str, *, is_alone: bool) -> Fault:
    """Return the fault of a player to blame for a failure that otherwise voids the match. ``reason`` is its code. ``is_alone``: no other can be to blame."""
    values = {"seat": player.seat, "label": player.label, "is_alone": is_alone}
    return Fault.of(CRASHED, "unsupervised", values) if reason == SUPERVISOR else Fault.of(LATE, "unjudged", values)


def with_place(found: Fault, place: str, *, may_wait: bool = False) -> Fault:
    """Return the fault of a late player with the line of its own files that the bot was running.

    This line replaces the advice to flush, which is a guess, unless the bot may have waited there for the next question.
    """
    return found.advised(place=place, may_flush=bool(found.values.get("may_flush")) and may_wait)
