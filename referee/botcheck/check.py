"""A check and its result, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.botcheck.evidence import Evidence
    from referee.games.game import Json

OK, WARNING, FAILED, SKIPPED = "ok", "warning", "failed", "skipped"
STATUSES = (OK, WARNING, FAILED, SKIPPED)

#: What a check needs of the bot: that it starts, that it is ready, or that it answers questions.
STARTED, READY, ANSWERING = "started", "ready", "answering"

#: The most characters of a line that a result shows.
_SHOWN = 300


class Finding(NamedTuple):
    """The result of a check. ``sent`` is what the bot was sent, ``came`` what came back, ``remedy`` what its author can do."""

    status: str
    text: str
    sent: str = ""
    came: str = ""
    remedy: str = ""


class Check(NamedTuple):
    """A check: ``about`` says in a sentence what it tests. ``needs`` is what the bot must do before it makes sense."""

    name: str
    group: str
    about: str
    run: Callable[[Evidence], Finding]
    needs: str = ANSWERING


class Checked(NamedTuple):
    """A check with its result at a seat."""

    check: Check
    seat: str
    finding: Finding

    def to_json(self) -> dict[str, Json]:
        """The result as ``--json`` prints it."""
        check = self.check
        return {"name": check.name, "group": check.group, "about": check.about, **self.finding._asdict()}


def ok(text: str) -> Finding:
    """Return the result of a check that the bot passes."""
    return Finding(OK, text)


def skipped(reason: str) -> Finding:
    """Return the result of a check that could not be done."""
    return Finding(SKIPPED, reason)


def shown(line: bytes | str | None, nothing: str = "nothing") -> str:
    """Return a line in a form that is safe to print, cut to a few hundred characters."""
    if not line:
        return nothing
    if isinstance(line, bytes):
        line = line.decode("utf-8", "backslashreplace")
    line = line.strip()
    if len(line) > _SHOWN:
        return f"{escape(line[:_SHOWN], _SHOWN)}... ({len(line):,} characters)"
    return escape(line, _SHOWN) or nothing


def seconds_shown(seconds: float) -> str:
    """Return a time in seconds or milliseconds."""
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{seconds * 1000:.1f} ms"
