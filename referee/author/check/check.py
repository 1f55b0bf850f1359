"""A check, as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.author.check.check_result import FAILED, OK, SKIPPED, WARNING

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.author.check.check_result import Finding
    from referee.author.check.shared_runs import CheckedBot
    from referee.games.game import Json

#: The needs of a check: the bot starts, is ready, or answers questions.
STARTED, READY, ANSWERING = "started", "ready", "answering"
#: Why a check is skipped: the bot doesn't meet its needs, or has been late for too long.
NOT_READY = "The bot isn't ready."
NO_ANSWER = "The bot doesn't answer its first question."
LATE = "The bot was late before, and isn't waited for again."
#: The order in which the results of several parts count.
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
