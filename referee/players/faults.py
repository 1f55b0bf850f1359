"""Failures, the reason codes for missing answers, and faults, which add a sentence and are part of the result."""

from typing import Any, Literal, NamedTuple

from referee.support.escape import escape

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
#: early, or was too long. Crashed: the player closed its input; the supervisor was killed; the program ended; the person left; the remote
#: program closed its connection; the function in this process raised, or returned nothing.
Reason = Literal[
    "silent", "unread", "unfinished", "early", "overlong", "deaf", "unsupervised", "ended", "left", "hung-up", "raised", "returned"
]


class Failure(NamedTuple):
    """Why a player gave no answer, as players/io reports it; ``match.sentences`` makes it a fault.

    ``line`` is what the player wrote, ``number`` the number of that line, ``words`` the player's own text about its end, such as its
    exception. ``detail`` holds facts, as in a fault.
    """

    reason: Reason
    line: bytes | None = None
    number: int = 0
    words: str = ""
    detail: dict[str, Any] | None = None


class Fault(NamedTuple):
    """A player's failure: ``kind`` is one of ``KINDS``, ``sentence`` one that a beginner understands, ``advice`` what may help, or "".

    ``line`` is the line that caused the fault, as far as it was read, escaped for display; ``detail`` holds facts such as an exit status.
    """

    kind: str
    sentence: str
    line: str | None = None
    detail: dict[str, Any] | None = None
    advice: str = ""

    @property
    def text(self) -> str:
        """The sentence with the advice."""
        return f"{self.sentence} {self.advice}" if self.advice else self.sentence

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


def the_seat(seat: str, *, begins: bool = True) -> str:
    """Return a seat for a sentence: ``The hunter``, but ``Player a`` where letters are the names of the seats. ``begins``: it is the first word."""
    text = f"The {seat}" if len(seat) > 1 else f"Player {seat}"
    return text if begins else text[0].lower() + text[1:]


def who(seat: str, label: str, *, begins: bool = True) -> str:
    """Return a player for a sentence: ``The hunter (boxer.py)``. ``begins`` is as for ``the_seat``."""
    return f"{the_seat(seat, begins=begins)} ({escape(label, 80)})"
