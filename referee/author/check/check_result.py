"""The result of a check, as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.support.escape import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

OK, WARNING, FAILED, SKIPPED = "ok", "warning", "failed", "skipped"
STATUSES = (OK, WARNING, FAILED, SKIPPED)

#: The most characters of a line that a result shows.
_SHOWN = 300
#: What to do about late answers.
THINKING = "Look at the clock while you think, and answer with the best move so far; left in the question says how much time there is."
#: What to do about too much memory.
KEEPING = "Keep less: a game tree or a table needs a limit of its own."


class Finding(NamedTuple):
    """The result of a check. ``sent`` is what the bot was sent, ``came`` what came back, ``remedy`` what its author can do."""

    status: str
    text: str
    sent: str = ""
    came: str = ""
    remedy: str = ""


def mend(place: str) -> str:
    """Return what to do about an error in a line of the bot's own files."""
    return f"mend {place}, then check again"


def ok(text: str) -> Finding:
    """Return the result of a check that the bot passes."""
    return Finding(OK, text)


def skipped(reason: str) -> Finding:
    """Return the result of a check that could not be done."""
    return Finding(SKIPPED, reason)


def quoted(line: bytes | str | None, nothing: str = "nothing") -> str:
    """Return a line in a form that is safe to print, cut to a few hundred characters."""
    if not line:
        return nothing
    if isinstance(line, bytes):
        line = line.decode("utf-8", "backslashreplace")
    line = line.strip()
    if len(line) > _SHOWN:
        return f"{escape(line[:_SHOWN], _SHOWN)}... ({len(line):,} characters)"
    return escape(line, _SHOWN) or nothing


def no_line(stderr: Sequence[bytes | str]) -> str:
    """Return the text for a missing line: "nothing", with the last of these lines of stderr."""
    return f"nothing; stderr: {quoted(stderr[-1])}" if stderr else "nothing"


def seconds_shown(seconds: float) -> str:
    """Return a time in seconds or milliseconds."""
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{seconds * 1000:.1f} ms"
