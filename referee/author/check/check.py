"""A check and its result, as values."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.support.escape import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from referee.author.check.shared_runs import CheckedBot
    from referee.games.game import Json

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
    """Return what came if there was no line: nothing, with the last of these lines of stderr."""
    return f"nothing; stderr: {quoted(stderr[-1])}" if stderr else "nothing"


def seconds_shown(seconds: float) -> str:
    """Return a time in seconds or milliseconds."""
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{seconds * 1000:.1f} ms"


#: What a check needs of the bot: that it starts, that it is ready, or that it answers questions.
STARTED, READY, ANSWERING = "started", "ready", "answering"
#: Why a check is skipped: the bot doesn't meet its needs, or has been late for too long.
NOT_READY = "The bot isn't ready."
NO_ANSWER = "The bot doesn't answer its first question."
LATE = "The bot was late before, and isn't waited for again."
#: Which result of several parts counts.
_ORDER = (FAILED, WARNING, OK, SKIPPED)


class Check(NamedTuple):
    """A check: ``about`` says in a sentence what it tests. ``needs`` is what the bot must be able to do before the check makes sense."""

    name: str
    group: str
    about: str
    run: Callable[[CheckedBot], Finding]
    needs: str = ANSWERING


def all_of(*parts: Callable[[CheckedBot], Finding]) -> Callable[[CheckedBot], Finding]:
    """Return a check of several parts. Its result is the first failure, else the first warning, else that of the first part that was done."""

    def run(bot: CheckedBot) -> Finding:
        findings: list[Finding] = []
        for part in parts:
            findings.append(part(bot))
            if findings[-1].status == FAILED:
                break
        return min(findings, key=lambda finding: _ORDER.index(finding.status))

    return run


class CheckResult(NamedTuple):
    """A check with its result at a seat."""

    check: Check
    seat: str
    finding: Finding

    def to_json(self) -> dict[str, Json]:
        """The result as ``--json`` prints it."""
        check = self.check
        return {"name": check.name, "group": check.group, "about": check.about, **self.finding._asdict()}
