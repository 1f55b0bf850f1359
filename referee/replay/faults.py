"""Failures, the reason codes for missing answers, and faults, which are part of the result; and the sentence of each fault.

Code never reads these sentences, but for ``replay/recorded.py``: a replay holds the sentence of a warning without its code.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from referee.support.escape import quoted
from referee.support.words import size_text, the_seat, who
from referee.wire.decode import LineReason, Problem
from referee.wire.strict_json import MOST_DEPTH, MOST_DIGITS, NotJson

if TYPE_CHECKING:
    from referee.isolation.endings import Excess

LATE = "late"
CRASHED = "crashed"
MALFORMED = "malformed"
EXCEEDED = "exceeded"
ILLEGAL = "illegal"

KINDS = (LATE, CRASHED, MALFORMED, EXCEEDED, ILLEGAL)

CAUSES = {LATE: "time", CRASHED: "crash", MALFORMED: "answer", EXCEEDED: "memory", ILLEGAL: "rules"}
#: The causes that say no more than a kind.
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
#: The reasons of a fault: those of failures and of wrong lines, and: a dialect doesn't know the line; the game refuses the move; no program
#: came to the port of its dialect; an answer before the end of its question, in a check. "recorded" has the sentence of a replay.
FaultReason = FailureReason | LineReason | Literal["bad-line", "bad-move", "illegal-move", "unconnected", "hasty", "recorded"]


class Failure(NamedTuple):
    """Why a player gave no answer, as players/io reports it; ``match.judgement`` makes it a fault.

    ``line`` is what the player wrote, ``number`` the number of that line, ``words`` the player's own text about its end, such as its
    exception. ``detail`` holds facts, as in a fault.
    """

    reason: FailureReason
    line: bytes | None = None
    number: int = 0
    words: str = ""
    detail: dict[str, Any] | None = None


class LastWords(NamedTuple):
    """What a bot's stderr tells of its end: the error of Python and the line of the bot's own files, else the last line; each "" if there is none."""

    error: str = ""
    place: str = ""
    last: str = ""


class Fault(NamedTuple):
    """A player's failure: ``kind`` is one of ``KINDS``, ``values`` are those of the sentence that ``reason`` has in ``_SENTENCES``.

    ``line`` is the line that caused the fault, as far as it was read, escaped for display; ``detail`` holds facts such as an exit status.
    The rest is for advice. ``may_flush``: it may have forgotten to flush its output. ``place`` is the line of its own files that it was
    running.
    """

    kind: str
    reason: FaultReason
    values: Mapping[str, Any]
    line: str | None = None
    detail: dict[str, Any] | None = None
    may_flush: bool = False
    place: str = ""

    @property
    def text(self) -> str:
        """The sentence, which a beginner understands, with the advice."""
        sentences = [_SENTENCES[self.reason](**self.values)]
        sentences += ["Did it flush its output?"] if self.may_flush else []
        sentences += [f"It was at {self.place}."] if self.place else []
        return " ".join(sentences)

    @property
    def cause(self) -> str:
        """The category for graders: time, memory, processes, disk, output (a line too long), crash, refusal, answer, rules or left."""
        cause: str = (self.detail or {}).get("cause", CAUSES[self.kind])
        return cause

    @property
    def code(self) -> str:
        """The code whose explanation fits best: the cause if it says more than the kind."""
        return self.kind if self.cause in _USUAL else self.cause

    def to_json(self) -> dict[str, Any]:
        """Return the fault in the form of a replay and of ``--json``."""
        record: dict[str, Any] = {"kind": self.kind, "cause": self.cause, "text": self.text}
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


def predicate(problem: Problem | NotJson) -> str:
    """Return what is wrong with a line, as a predicate without its subject."""
    return _PREDICATES[problem.reason](*problem.data)


def _wrong_line(seat: str, turn: int | None, problem: Problem, shown: str, *, is_python: bool) -> str:
    what = "stdout line 1" if turn is None else f"answer in turn {turn}"
    hint = ""
    if problem.reason == "not-json":
        hint = " - print to stderr, stdout is for answers alone"
        hint = " - this is a Python dict: use json.dumps to print an answer" if is_python else hint
    return f"{the_seat(seat)}'s {what} {predicate(problem)}: {shown}{hint}."


def _other_turn(seat: str, turn: int | None, problem: Problem, shown: str, **_: bool) -> str:
    given = problem.data[0]
    answered = given if isinstance(given, int) and given < 10**9 else "a huge number"
    return f"{the_seat(seat)} answered turn {answered} when asked for turn {turn}: {shown} - an answer carries the turn of its question."


def _late(what: str, seat: str, label: str, when: str) -> str:
    return f"{who(seat, label)} {what}{f' {when}' if when else ''}."


def _crashed(what: str, seat: str, label: str, words: str) -> str:
    return f"{who(seat, label)} {what.format(words)}."


def _overlong(seat: str, shown: str, number: int, most_bytes: int, *, is_remote: bool) -> str:
    wrote = "sent a line" if is_remote else "wrote a stdout line"
    return f"{the_seat(seat)} {wrote} (number {number}) of more than {most_bytes:,} bytes: {shown} - an answer must be shorter."


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


def exceeded(excess: "Excess") -> str:
    """Return how a program exceeded a limit, as a predicate without its subject."""
    return _EXCESSES[excess.limit](excess.most, excess.shared_bytes)


def told_by(words: LastWords) -> str:
    """Return what a bot's stderr tells of its end, as the end of a sentence; "" if it tells nothing."""
    if words.error:
        return f": {words.error}, at {words.place}" if words.place else f": {words.error}"
    return f"; the last line of its stderr: {words.last}" if words.last else ""


def _ended(
    seat: str,
    label: str,
    status: object,
    signal: str | None,
    over: "Excess | None",
    crash: LastWords,
    *,
    is_remote: bool,
    is_start: bool,
) -> str:
    """How a program ended: ``over`` is the limit that it exceeded; without one it exited. ``crash`` is what its stderr tells of that."""
    if over is not None:
        how = exceeded(over)
    elif not isinstance(status, int):
        how = "closed its connection" if is_remote else "closed its stdout"
    else:
        how = f"exited with status {status}" if status >= 0 else f"was killed by {signal or f'signal {-status}'}"
    end = " before it was ready: does it call main(), or answer the start message?" if is_start and status == 0 else "."
    return f"{who(seat, label)} {how}{told_by(crash)}{end}"


def _refused_line(seat: str, turn: int | None, why: str, shown: str) -> str:
    return f"{the_seat(seat)}'s {'first line' if turn is None else f'answer in turn {turn}'} {why}: {shown}"


#: The sentences of faults, made from their values.
_SENTENCES: dict[FaultReason, Callable[..., str]] = {
    **dict.fromkeys(_PREDICATES, _wrong_line),
    "other-turn": _other_turn,
    "silent": partial(_late, "gave no answer"),
    "unread": partial(_late, "did not even read its question"),
    "unfinished": partial(_late, "wrote an answer without the newline that ends it"),
    "early": lambda seat, shown: (
        f"{the_seat(seat)} wrote to stdout before it was asked: {shown} - answer each question once, and print to stderr."
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
    "unconnected": lambda seat, label, dialect, when: (
        f"{who(seat, label)} did not connect to its port and tell its name by the {dialect} protocol{when}."
    ),
    "hasty": lambda shown: f"It answered before its question had ended: {shown}.",
    "recorded": lambda text: text,
}
