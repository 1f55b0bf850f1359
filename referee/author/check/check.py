"""A check, as a value."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.author.check.evidence import Evidence
    from referee.author.check.finding import Finding
    from referee.games.game import Json

#: What a check needs of the bot: that it starts, that it is ready, or that it answers questions.
STARTED, READY, ANSWERING = "started", "ready", "answering"
#: Why a check is skipped: the bot doesn't meet its needs, or has been late for too long.
NOT_READY = "The bot isn't ready."
NO_ANSWER = "The bot doesn't answer its first question."
LATE = "The bot was late before, and isn't waited for again."


class Check(NamedTuple):
    """A check: ``about`` says in a sentence what it tests. ``needs`` is what the bot must be able to do before the check makes sense."""

    name: str
    group: str
    about: str
    run: Callable[[Evidence], Finding]
    needs: str = ANSWERING


class CheckResult(NamedTuple):
    """A check with its result at a seat."""

    check: Check
    seat: str
    finding: Finding

    def to_json(self) -> dict[str, Json]:
        """The result as ``--json`` prints it."""
        check = self.check
        return {"name": check.name, "group": check.group, "about": check.about, **self.finding._asdict()}
