"""Failures, the codes of missing answers, and faults, which are part of the result; and the sentence of each fault.

Code reads codes and values, never these sentences. Only a replay of an older version has sentences without codes.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from referee.support.escape import escape, quoted
from referee.support.words import size_text, the_seat, who
from referee.wire.decode import LineReason, Problem
from referee.wire.strict_json import MOST_DEPTH, MOST_DIGITS, NotJson

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from referee.games.game import Json

LATE = "late"
CRASHED = "crashed"
MALFORMED = "malformed"
EXCEEDED = "exceeded"
ILLEGAL = "illegal"

KINDS = (LATE, CRASHED, MALFORMED, EXCEEDED, ILLEGAL)

CAUSES = {LATE: "time", CRASHED: "crash", MALFORMED: "answer", EXCEEDED: "memory", ILLEGAL: "rules"}
#: Causes with the same meaning as a kind.
_USUAL = frozenset(cause for kind, cause in CAUSES.items() if kind != EXCEEDED)


#: Why there is no answer. Late: nothing came; the question was not read; an answer lacked its newline. Malformed: a line came too
#: early, or was too long. Crashed: the player closed its input; it is to blame for the end of the supervisor; the program ended; the
#: person left; the remote program closed its connection; the function in this process raised, or returned nothing. "unjudged": it is to blame
#: because the machine was too busy.
FailureReason = Literal[
    "silent",
    "unread",
    "unfinished",
    "early",
    "overlong",
    "deaf",
    "unsupervised",
    "unjudged",
    "ended",
    "left",
    "hung-up",
    "raised",
    "returned",
]
#: The reasons of a late player.
NO_ANSWER = frozenset(("silent", "unread", "unfinished"))
#: The codes of faults: the reasons of failures and of wrong lines, and: a dialect doesn't know the line; the game refuses the move; no program
#: came to the port of its dialect.
FaultCode = FailureReason | LineReason | Literal["bad-line", "bad-move", "illegal-move", "unconnected"]


class Failure(NamedTuple):
    """Why a player gave no answer, as players/io reports it; ``match.judge`` makes it a fault.

    ``line`` is what the player wrote, ``number`` the number of that line, ``words`` the player's own text about its end, such as its
    exception. ``detail`` holds facts, as in a fault.
    """

    reason: FailureReason
    line: bytes | None = None
    number: int = 0
    words: str = ""
    detail: dict[str, Any] | None = None


class CrashReport(NamedTuple):
    """The error message at the end of a bot's stderr: Python's error and the line of the bot's own files, else the last line; "" if missing."""

    error: str = ""
    place: str = ""
    last: str = ""


class Fault(NamedTuple):
    """A player's failure. ``kind`` is one of ``KINDS``, ``code`` says what happened ("" in a replay without codes), ``values`` are JSON.

    ``text`` is a sentence for beginners, with advice. ``line`` is the line that caused the fault, as far as it was
    read, escaped for display; ``detail`` holds facts such as an exit status.
    """

    kind: str
    code: FaultCode | Literal[""]
    values: Mapping[str, Json]
    text: str
    line: str | None = None
    detail: Mapping[str, Json] | None = None

    @classmethod
    def of(
        cls, kind: str, code: FaultCode, values: Mapping[str, Json], line: str | None = None, detail: Mapping[str, Json] | None = None
    ) -> Fault:
        """Return the fault whose sentence has these values.

        Two further values are for advice. ``may_flush``: the player may have forgotten to flush its output. ``place`` is the line of its
        own files that it was running.
        """
        values = {key: _printable(value) for key, value in values.items()}
        return cls(kind, code, values, _sentence(code, **values), line, detail)

    def advised(self, **advice: Json) -> Fault:
        """Return the fault with values for advice."""
        assert self.code
        values = {key: value for key, value in {**self.values, **advice}.items() if key not in advice or value}
        return Fault.of(self.kind, self.code, values, self.line, self.detail)

    @property
    def cause(self) -> str:
        """The category for graders: time, memory, processes, disk, output (a line too long), crash, refusal, answer, rules or left."""
        return str((self.detail or {}).get("cause", CAUSES.get(self.kind, "")))

    @property
    def topic(self) -> str:
        """The code for ``referee explain``: the cause if it is more specific than the kind."""
        return self.kind if self.cause in _USUAL else self.cause

    def to_json(self) -> dict[str, Json]:
        """Return the fault in the form of a replay and of ``--json``."""
        record: dict[str, Json] = {"kind": self.kind, "cause": self.cause}
        if self.code:
            record |= {"code": self.code, "values": dict(self.values)}
        record["text"] = self.text
        if self.line is not None:
            record["line"] = self.line
        detail = {key: value for key, value in (self.detail or {}).items() if key != "cause"}
        if detail:
            record["detail"] = detail
        return record


#: What is wrong with a line, as a predicate of it, by reason.
_PREDICATES: dict[LineReason, Callable[..., str]] = {
    "not-utf8": "is not UTF-8 (byte {} is 0x{:02x})".format,
    "byte-order-mark": lambda: "starts with a byte order mark",
    "not-json": lambda: "is not JSON",
    "too-deep": lambda: f"is nested deeper than {MOST_DEPTH} levels",
    "surrogate": lambda: "holds a lone surrogate, which isn't a character",
    "key-twice": lambda key: f"has the key {quoted(key, 40)} twice in one object",
    "too-large": lambda number: f"holds the number {quoted(number, 20)}, which is too large",
    "constant": "holds {}, which is not JSON".format,
    "too-long": lambda: f"holds a number of more than {MOST_DIGITS:,} digits",
    "not-an-object": lambda: "is JSON but not an object",
    "other-type": 'has no "type":"{}"'.format,
    "no-key": lambda name: f"has no key {quoted(name, 40)}",
    "wrong-value": lambda name, why: f"has a wrong {quoted(name, 40)} ({quoted(why[:1].lower() + why[1:], 80)[1:-1]})",
}


def predicate(problem: Problem | NotJson) -> str:
    """Return what is wrong with a line, as a predicate without its subject."""
    return _PREDICATES[problem.reason](*problem.data)


def _printable(value: Json) -> Json:
    """Return a value with bounded texts that are safe to show, in a form that the reader of a replay accepts."""
    if isinstance(value, str):
        return escape(value, 500)
    if isinstance(value, dict):
        return {key: _printable(part) for key, part in value.items()}
    return [_printable(part) for part in value] if isinstance(value, list) else value


def _wrong_line(code: LineReason, seat: str, turn: int | None, data: list[str | int], quote: str, *, is_python: bool) -> str:
    what = "stdout line 1" if turn is None else f"answer in turn {turn}"
    hint = ""
    if code == "not-json":
        hint = " - print to stderr, stdout is only for answers"
        hint = " - this is a Python dict: use json.dumps to print an answer" if is_python else hint
    return f"{the_seat(seat)}'s {what} {_PREDICATES[code](*data)}: {quote}{hint}."


def _other_turn(seat: str, turn: int | None, data: list[int], quote: str, **_: bool) -> str:
    answered = data[0]
    return f"{the_seat(seat)} answered turn {answered} when asked for turn {turn}: {quote} - an answer carries the turn of its question."


def _late(what: str, seat: str, label: str, limit: dict[str, Any] | None, *, is_start: bool) -> str:
    return f"{who(seat, label)} {what}{' to the start message' if is_start else ''}{_within(limit)}."


def _within(limit: dict[str, Any] | None) -> str:
    return "" if limit is None else f" within {limit_words(**limit)}"


#: The limit that a late player exceeded. A guard is a limit by the wall clock where another clock bills.
_LIMITS: dict[str, Callable[[float], str]] = {
    "startup": "the start-up limit of {:g} s".format,
    "move": "the move limit of {:g} s".format,
    "bank": "what was left of its bank of {:g} s".format,
    "guard": "the wall-clock guard of {:.3g} s".format,
    "wait": "the {:g} s".format,
}


def limit_words(name: str, seconds: float, clock: str = "wall", why: str = "", rule: Sequence[float] = ()) -> str:
    """Return a limit as words. ``clock`` measures it; ``why`` ends the words if the wait is longer than in a match.

    ``rule`` is how a guard follows from the other limits: a multiple of the move limit plus seconds, or a multiple of the bank plus
    seconds.
    """
    words = _LIMITS[name](seconds)
    if rule:
        times, more, bank_times, bank_more = rule
        rest = f" and {bank_more:g} s more" if bank_more else ""
        words += f" ({times:g} times the move limit and {more:g} s more, or the rest of {bank_times:g} times the bank{rest}), though its limit is by processor time"
    return f"{words}{' of processor time' if clock == 'cpu' else ''}{f' {why}' if why else ''}"


def _crashed(what: str, seat: str, label: str, words: str) -> str:
    return f"{who(seat, label)} {what.format(words)}."


def _overlong(seat: str, quote: str, number: int, most_bytes: int, *, is_remote: bool) -> str:
    wrote = "sent a line" if is_remote else "wrote a stdout line"
    return f"{the_seat(seat)} {wrote} (number {number}) of more than {most_bytes:,} bytes: {quote} - an answer must be shorter."


def _blamed(seat: str, label: str, what: str, *, is_alone: bool) -> str:
    why = "no other player can do that" if is_alone else "the same happened in its matches against other opponents"
    return f"{what}, for which {who(seat, label, begins=False)} is to blame: {why}."


#: How a program exceeded a limit.
_EXCESSES: dict[str, Callable[..., str]] = {
    "time": lambda _most, _shared: "used more processor time than its clock can allow",
    "memory": lambda most, _shared: f"used more memory than its limit of {size_text(most)}",
    "processes": lambda most, _shared: f"started more processes or threads than its limit of {most}",
    "files": lambda most, _shared: f"made more than {most:,} files in /tmp and /dev/shm",
    "disk": lambda most, shared: (
        f"wrote more to disk than its limit of {size_text(most)}{f' (in /dev/shm of {size_text(shared)})' if shared else ''}"
    ),
}


def exceeded(limit: str, most: int, shared_bytes: int = 0) -> str:
    """Return how a program exceeded a limit, as a predicate without its subject. The values are those of an ``Excess``."""
    return _EXCESSES[limit](most, shared_bytes)


def stderr_words(words: CrashReport) -> str:
    """Return what a bot's stderr says about its end, as the end of a sentence; "" if it says nothing."""
    if words.error:
        return f": {words.error}, at {words.place}" if words.place else f": {words.error}"
    return f"; the last line of its stderr: {words.last}" if words.last else ""


def _ended(
    seat: str,
    label: str,
    status: object,
    signal: str | None,
    excess: list[Any] | None,
    crash: dict[str, str],
    *,
    is_remote: bool,
    is_start: bool,
) -> str:
    """Return how a program ended. ``excess`` are the values of ``exceeded``; without them it exited. ``crash`` is a ``CrashReport`` as JSON."""
    if excess is not None:
        how = exceeded(*excess)
    elif not isinstance(status, int):
        how = "closed its connection" if is_remote else "closed its stdout"
    else:
        how = f"exited with status {status}" if status >= 0 else f"was killed by {signal or f'signal {-status}'}"
    end = " before it was ready: does it call main(), or answer the start message?" if is_start and status == 0 else "."
    return f"{who(seat, label)} {how}{stderr_words(CrashReport(**crash))}{end}"


def _refused_line(seat: str, turn: int | None, why: str, quote: str) -> str:
    return f"{the_seat(seat)}'s {'first line' if turn is None else f'answer in turn {turn}'} {why}: {quote}"


#: The sentences of faults, made from their values.
_SENTENCES: dict[FaultCode, Callable[..., str]] = {
    **{code: partial(_wrong_line, code) for code in _PREDICATES},
    "other-turn": _other_turn,
    "silent": partial(_late, "gave no answer"),
    "unread": partial(_late, "did not even read its question"),
    "unfinished": partial(_late, "wrote an answer without the newline that ends it"),
    "early": lambda seat, quote: (
        f"{the_seat(seat)} wrote to stdout before it was asked: {quote} - answer each question once, and print to stderr."
    ),
    "overlong": _overlong,
    "deaf": partial(_crashed, "closed its stdin, so it can't be asked"),
    "unsupervised": partial(_blamed, what="The supervisor process of the match was killed"),
    "unjudged": partial(_blamed, what="The machine was too busy to judge an answer"),
    "ended": _ended,
    "left": partial(_crashed, "{}"),
    "hung-up": partial(_crashed, "closed its connection"),
    "raised": partial(_crashed, "raised {}"),
    "returned": partial(_crashed, "gave no answer"),
    "bad-line": _refused_line,
    "bad-move": lambda seat, turn, why: f"{the_seat(seat)}'s answer in turn {turn} has a malformed move: {why}.",
    "illegal-move": lambda seat, turn, why: f"{the_seat(seat)}'s move in turn {turn} is illegal: {why}.",
    "unconnected": lambda seat, label, dialect, limit: (
        f"{who(seat, label)} did not connect to its port and tell its name by the {dialect} protocol{_within(limit)}."
    ),
}
FAULT_CODES = frozenset(_SENTENCES)


def _sentence(code: FaultCode, *, may_flush: bool = False, place: str = "", **values: Json) -> str:
    """Return the sentence of a fault, with its advice."""
    sentences = [_SENTENCES[code](**values)]
    sentences += ["Did it flush its output?"] if may_flush else []
    sentences += [f"It was at {place}."] if place else []
    return " ".join(sentences)
