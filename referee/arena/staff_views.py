"""What the staff's page shows: the teams with what can be done about each, and what the staff did last, with the way back."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.arena.versions import ACCEPTED

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.arena.audit import AuditEntry
    from referee.arena.store import ArenaStore
    from referee.arena.views import FaultCount

#: For so many seconds the page offers to undo the last action.
_UNDO_SECONDS = 3600.0
_SENTENCES = {
    "freeze": "Hand-ins are frozen; matches go on.",
    "thaw": "Hand-ins are open again.",
    "disqualify": "{team} is disqualified: {reason}",
    "requeue": "Submission {id} of {team} is checked again.",
    "activate": "Version {version} of {team} is active.",
}
#: What undoes an action without a team.
_OPPOSITES = {"freeze": "thaw", "thaw": "freeze"}


class TeamLine(NamedTuple):
    """A team: its active version, its accepted ones, how many were refused, and its recent faults in words. ``disqualified`` says why it is."""

    team: str
    active: int | None
    accepted: list[int]
    refused: int
    faults: str
    disqualified: str | None
    is_reference: bool


class LastAction(NamedTuple):
    """The last action of the staff in a sentence. ``undo`` is the action that takes it back, with its fields; None if there is none."""

    text: str
    time: float
    undo: tuple[str, dict[str, Any]] | None


def team_lines(store: ArenaStore, faults: Sequence[FaultCount]) -> list[TeamLine]:
    """Return all teams, those that were invited and have no version yet, too."""
    versions, out = store.versions.all(), store.versions.disqualified()
    lines = []
    for team in sorted({*(version.team for version in versions), *store.tokens.teams(), *out}, key=str.casefold):
        mine = [version for version in versions if version.team == team]
        lines.append(
            TeamLine(
                team,
                next((version.number for version in mine if version.is_active), None),
                [version.number for version in mine if version.status == ACCEPTED],
                sum(version.status != ACCEPTED for version in mine),
                ", ".join(f"{each.times:,} {each.kind}" for each in faults if each.team == team),
                out.get(team),
                any(version.is_reference for version in mine),
            )
        )
    return lines


def last_action(entries: Sequence[AuditEntry]) -> LastAction | None:
    """Return the last action of the staff's page, from the log, the latest first; None if it is long ago."""
    entry = entries[0] if entries else None
    if entry is None or entry.action not in _SENTENCES or time.time() - entry.time > _UNDO_SECONDS:
        return None
    details = entry.details
    undo: tuple[str, dict[str, Any]] | None = None
    if entry.action in _OPPOSITES:
        undo = _OPPOSITES[entry.action], {}
    elif details.get("was_disqualified"):
        undo = "disqualify", {"team": details["team"], "reason": details["was_disqualified"]}
    elif entry.action in ("disqualify", "activate") and (details.get("before") or entry.action == "disqualify"):
        # A team without an accepted version is admitted by any number.
        undo = "activate", {"team": details["team"], "version": details.get("before") or 1}
    return LastAction(_SENTENCES[entry.action].format_map(details), entry.time, undo)


def before(store: ArenaStore, team: str) -> dict[str, Any]:
    """Return what a later undo has to know: the team's active version, and why it is disqualified, as far as there is such a thing."""
    active = next((version.number for version in store.versions.all(team) if version.is_active), None)
    facts = {"before": active, "was_disqualified": store.versions.disqualified().get(team)}
    return {name: value for name, value in facts.items() if value is not None}
