"""Faults: a player's failure as a value, which becomes part of the result."""

from __future__ import annotations

from typing import Any, NamedTuple

LATE = "late"
CRASHED = "crashed"
MALFORMED = "malformed"
EXCEEDED = "exceeded"
ILLEGAL = "illegal"

KINDS = (LATE, CRASHED, MALFORMED, EXCEEDED, ILLEGAL)

_CAUSES = {LATE: "time", CRASHED: "crash", MALFORMED: "answer", EXCEEDED: "memory", ILLEGAL: "rules"}


class Fault(NamedTuple):
    """A player's failure: ``kind`` is one of ``KINDS``, ``text`` a sentence that a beginner understands.

    ``line`` is the line that caused the fault, as far as it was read, escaped for display; ``detail`` holds facts such as an exit status.
    """

    kind: str
    text: str
    line: str | None = None
    detail: dict[str, Any] | None = None

    @property
    def cause(self) -> str:
        """The category for graders: time, memory, processes, disk, output (a line too long), crash, answer, rules or left."""
        cause: str = (self.detail or {}).get("cause", _CAUSES[self.kind])
        return cause

    def to_json(self) -> dict[str, Any]:
        """The fault as it stands in a replay and in ``--json``."""
        record: dict[str, Any] = {"kind": self.kind, "cause": self.cause, "text": self.text}
        if self.line is not None:
            record["line"] = self.line
        detail = {key: value for key, value in (self.detail or {}).items() if key != "cause"}
        if detail:
            record["detail"] = detail
        return record
