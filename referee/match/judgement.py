"""Decides which fault a failure or a wrong line is, and gathers the values of its sentence. The sentences are in ``replay/faults.py``."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from referee.errors import SUPERVISOR
from referee.games.game import IllegalMove, MalformedMove
from referee.match.options import CPU
from referee.players.crash_report import last_words
from referee.replay.faults import CRASHED, EXCEEDED, ILLEGAL, LATE, MALFORMED, NO_ANSWER, Failure, Fault
from referee.support.escape import quoted

if TYPE_CHECKING:
    from referee.games.dialect import DialectError, Host
    from referee.games.game import Seat
    from referee.match.options import TimeControl
    from referee.players.clock import Clock
    from referee.players.player import RunningPlayer
    from referee.wire.decode import Problem

#: Longer lines are not read as Python: answers are much shorter.
_MOST_PYTHON = 10_000


def malformed(seat: Seat, problem: Problem, line: bytes, turn: int | None = None) -> Fault:
    """The fault of a line that is not the answer in a turn, or, without a turn, not the ``ready`` message."""
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
    """The fault of a line that a dialect doesn't know, in a turn or as the first line."""
    return Fault.of(MALFORMED, "bad-line", {"seat": seat, "turn": turn, "why": str(error), "quote": quoted(line)}, quoted(line, 500))


def refused_move(seat: Seat, error: MalformedMove | IllegalMove, line: bytes, turn: int) -> Fault:
    """The fault of a move that the game refuses."""
    values, shown = {"seat": seat, "turn": turn, "why": str(error)}, quoted(line, 500)
    is_malformed = isinstance(error, MalformedMove)
    return Fault.of(MALFORMED, "bad-move", values, shown) if is_malformed else Fault.of(ILLEGAL, "illegal-move", values, shown)


def unanswered(player: RunningPlayer, failure: Failure, clock: Clock, *, was_at_work: bool = False) -> Fault:
    """The fault of a player that was asked in a match and gave no answer. ``was_at_work``: it used the processor meanwhile."""
    if failure.reason not in NO_ANSWER:
        return fault(player, failure)
    is_guard = bool((failure.detail or {}).get("guard"))
    # A program that met a limit of processor time was at work.
    has_waited = failure.reason == "silent" and (is_guard or clock.control.kind != CPU)
    may_flush = has_waited and not was_at_work and clock.answers == 0 and player.process is not None
    late = fault(player, failure, f"within {clock.limit_name(is_guard=is_guard)}")
    return late.advised(may_flush=True) if may_flush else late


def not_ready(player: RunningPlayer, failure: Failure, host: Host | None, time: TimeControl) -> Fault:
    """The fault of a player that was not ready for the match."""
    limit = f" within the start-up limit of {time.startup:g} s" if time.startup is not None else ""
    if failure.reason not in NO_ANSWER:
        return fault(player, failure, is_start=host is None)
    if host is not None:
        values = {"seat": player.seat, "label": player.label, "dialect": host.dialect, "when": limit}
        return Fault.of(LATE, "unconnected", values, None, failure.detail)
    return fault(player, failure, f"to the start message{limit}").advised(may_flush=True)


def fault(player: RunningPlayer, failure: Failure, when: str = "", *, is_start: bool = False) -> Fault:
    """The fault of a failure; ``when`` is the limit that a late player met, in words. ``is_start``: it wasn't ready yet."""
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
        return Fault.of(LATE, reason, values | {"when": when}, None, detail)
    if reason == "ended":
        assert detail is not None
        assert player.process is not None
        over = player.process.excess(str(detail["cause"]))
        values |= {
            "status": detail.get("status"),
            "signal": detail.get("signal"),
            "excess": None if over is None else list(over),
            "is_remote": player.link is not None and player.link.keeps_early,
            "crash": last_words(player.log.tail(), player.process.file_names(), player.process.status)._asdict(),
            "is_start": is_start,
        }
        return Fault.of(CRASHED if over is None else EXCEEDED, reason, values, None, detail)
    return Fault.of(CRASHED, reason, values | {"words": failure.words}, None, detail)


def blamed(player: RunningPlayer, reason: str, *, is_alone: bool) -> Fault:
    """The fault of a player that is to blame for what else makes a match void; ``reason`` is its code. ``is_alone``: no other can be."""
    values = {"seat": player.seat, "label": player.label, "is_alone": is_alone}
    return Fault.of(CRASHED, "unsupervised", values) if reason == SUPERVISOR else Fault.of(LATE, "unjudged", values)


def located(found: Fault, place: str, *, may_wait: bool = False) -> Fault:
    """Return the fault of a late player with the line of its own files that the bot was running.

    This line replaces the advice to flush, which is only a guess, unless the bot may have waited there for the next question.
    """
    return found.advised(place=place, may_flush=bool(found.values.get("may_flush")) and may_wait)
