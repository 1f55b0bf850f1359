"""Makes the sentences of faults from the reason codes and data that other modules report.

No code reads the sentences, but for ``replay/recorded.py``: a replay holds the sentence of a warning without its code.
"""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

from referee.games.game import IllegalMove, MalformedMove
from referee.match.options import CPU
from referee.players import crash_advice, crash_report
from referee.players.faults import CRASHED, EXCEEDED, ILLEGAL, LATE, MALFORMED, Failure, Fault, the_seat, who
from referee.support.escape import quoted
from referee.wire.strict_json import MOST_DEPTH, MOST_DIGITS

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.dialects.dialect import DialectError, Host
    from referee.games.game import Seat
    from referee.match.clock import Clock
    from referee.match.options import TimeControl
    from referee.players.player import Player
    from referee.wire.decode import Problem, Reason
    from referee.wire.strict_json import NotJson

#: Advice about a line that is a Python dict as ``print`` writes it.
_DUMPS = " - this is a Python dict: use json.dumps to print an answer"
#: Longer lines are not read as Python: answers are much shorter.
_MOST_PYTHON = 10_000

#: Advice about a program that was silent from its first answer on.
_FLUSH = "Did it flush its output?"

#: What is wrong with a line, as a predicate of it, by reason.
_PREDICATES: dict[Reason, Callable[..., str]] = {
    "not-utf8": "is not UTF-8 (byte {} is 0x{:02x})".format,
    "byte-order-mark": lambda: "starts with a byte order mark",
    "not-json": lambda: "is not JSON",
    "too-deep": lambda: f"is nested deeper than {MOST_DEPTH} levels",
    "surrogate": lambda: "holds a lone surrogate, which is no character",
    "key-twice": lambda key: f"has the key {quoted(key, 40)} twice in one object",
    "too-large": lambda number: f"holds the number {quoted(number, 20)}, which is too large",
    "constant": "holds {}, which is not JSON".format,
    "too-long": lambda: f"holds a number of more than {MOST_DIGITS:,} digits",
    "not-an-object": lambda: "is JSON but not an object",
    "other-type": 'has no "type":"{}"'.format,
    "no-key": lambda name: f"has no key {quoted(name, 40)}",
    "wrong-value": lambda name, why: f"has a wrong {quoted(name, 40)} ({quoted(why[:1].lower() + why[1:], 80)[1:-1]})",
}
#: What a player without an answer did, by reason.
_LATE = {
    "silent": "gave no answer",
    "unread": "did not even read its question",
    "unfinished": "wrote an answer without the newline that ends it",
}
_CRASHED = {
    "deaf": "closed its stdin, so it can't be asked",
    "hung-up": "closed its connection",
    "left": "{}",
    "raised": "raised {}",
    "returned": "gave no answer",
}


def predicate(problem: Problem | NotJson) -> str:
    """Return what is wrong with a line, as a predicate without its subject."""
    return _PREDICATES[problem.reason](*problem.data)


def malformed(seat: Seat, problem: Problem, line: bytes, turn: int | None = None) -> Fault:
    """The fault of a line that is not the answer in a turn, or, without a turn, not the ``ready`` message."""
    if problem.reason == "other-turn":
        given = problem.data[0]
        shown = given if isinstance(given, int) and given < 10**9 else "a huge number"
        text = f"{the_seat(seat)} answered turn {shown} when asked for turn {turn}: {quoted(line)} - an answer carries the turn of its question"
    else:
        what = "stdout line 1" if turn is None else f"answer in turn {turn}"
        hint = ""
        if problem.reason == "not-json":
            hint = _DUMPS if _is_python(line) else " - print to stderr, stdout is for answers alone"
        text = f"{the_seat(seat)}'s {what} {predicate(problem)}: {quoted(line)}{hint}"
    return Fault(MALFORMED, f"{text}.", quoted(line, 500))


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
    what = "first line" if turn is None else f"answer in turn {turn}"
    return Fault(MALFORMED, f"{the_seat(seat)}'s {what} {error}: {quoted(line)}", quoted(line, 500))


def refused_move(seat: Seat, error: MalformedMove | IllegalMove, line: bytes, turn: int) -> Fault:
    """The fault of a move that the game refuses."""
    if isinstance(error, MalformedMove):
        return Fault(MALFORMED, f"{the_seat(seat)}'s answer in turn {turn} has a malformed move: {error}.", quoted(line, 500))
    return Fault(ILLEGAL, f"{the_seat(seat)}'s move in turn {turn} is illegal: {error}.", quoted(line, 500))


def unanswered(player: Player, failure: Failure, clock: Clock, *, was_at_work: bool = False) -> Fault:
    """The fault of a player that was asked in a match and gave no answer. ``was_at_work``: it used the processor meanwhile."""
    if failure.reason not in _LATE:
        return fault(player, failure)
    is_guard = bool((failure.detail or {}).get("guard"))
    # A program that met a limit of processor time was at work.
    has_waited = failure.reason == "silent" and (is_guard or clock.control.kind != CPU)
    hint = _FLUSH if has_waited and not was_at_work and clock.asked == 0 and player.process is not None else ""
    return fault(player, failure, f" within {clock.limit_name(is_guard=is_guard)}.", hint)


def not_ready(player: Player, failure: Failure, host: Host | None, time: TimeControl) -> Fault:
    """The fault of a player that was not ready for the match, with advice."""
    limit = f"within the start-up limit of {time.startup:g} s" if time.startup is not None else ""
    if host is not None:
        if failure.reason not in _LATE:
            return fault(player, failure)
        text = f"{who(player.seat, player.label)} did not connect to its port and tell its name by the {host.dialect} protocol {limit}."
        return Fault(LATE, text, None, failure.detail)
    if failure.reason in _LATE:
        return fault(player, failure, f" to the start message {limit}.", _FLUSH)
    if (failure.detail or {}).get("status") == 0:
        return fault(player, failure, " before it was ready: does it call main(), or answer the start message?")
    return fault(player, failure)


def fault(player: Player, failure: Failure, end: str = ".", advice: str = "") -> Fault:
    """The fault of a failure; ``end`` is the end of the sentence about a player that was late or has ended, ``advice`` that for a late one."""
    reason, line, detail, seat = failure.reason, failure.line, failure.detail, player.seat
    if line is not None:
        line = player.log.shown(line)
        text = f"{the_seat(seat)} wrote to stdout before it was asked: {quoted(line)} - answer each question once, and print to stderr."
        if reason == "overlong":
            assert player.pipes is not None
            wrote = "sent a line" if player.pipes.is_remote else "wrote a stdout line"
            length = f"of more than {player.pipes.lines.max_bytes:,} bytes"
            text = f"{the_seat(seat)} {wrote} (number {failure.number}) {length}: {quoted(line)} - an answer must be shorter."
        return Fault(MALFORMED, text, quoted(line, 500), detail)
    name = who(seat, player.label)
    if reason in _LATE:
        return Fault(LATE, f"{name} {_LATE[reason]}{end}", None, detail, advice)
    if reason == "unsupervised":
        text = f"The supervisor process of the match was killed while {who(seat, player.label, begins=False)} was asked; only a bot of the match could have done that."
        return Fault(CRASHED, text)
    if reason == "ended":
        assert detail is not None
        assert player.process is not None
        kind = EXCEEDED if player.process.sandbox.is_over(detail["cause"]) else CRASHED
        remedy = crash_advice.advice_of(player.process, player.log.tail()).text
        return Fault(kind, f"{name} {_ending(player, detail)}{end}", None, detail, f"{remedy}." if remedy else "")
    return Fault(CRASHED, f"{name} {_CRASHED[reason].format(failure.words)}{end}", None, detail)


def located(found: Fault, place: str, *, may_wait: bool = False) -> Fault:
    """Return the fault of a late player with the line of its own files that the bot was running.

    This line replaces the advice to flush, which is only a guess, unless the bot may have waited there for the next question.
    """
    kept = f"{found.advice} " if found.advice and may_wait else ""
    return found._replace(advice=f"{kept}It was at {place}.")


def _ending(player: Player, detail: dict[str, object]) -> str:
    """How a program ended, as the middle of a sentence: a limit that it met, or how it exited, with what its stderr tells of that."""
    process, cause, status = player.process, str(detail["cause"]), detail.get("status")
    assert process is not None
    if process.sandbox.is_over(cause):
        how = process.sandbox.over(cause)
    elif not isinstance(status, int):
        how = "closed its connection" if player.pipes is not None and player.pipes.keeps_early else "closed its stdout"
    elif status >= 0:
        how = f"exited with status {status}"
    else:
        how = f"was killed by {detail.get('signal', f'signal {-status}')}"
    return f"{how}{crash_report.quoted(player.log.tail(), process.own_files(), process.status)}"
