"""The check of a hand-in for the page of its team: the checks in groups, each with what it means and how far it is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from referee.author.check.check_result import FAILED, OK, SKIPPED, WARNING
from referee.author.check.run import CHECKS

if TYPE_CHECKING:
    from collections.abc import Mapping

#: How a check is that was not begun yet, and the one that runs.
WAITING, RUNNING = "waiting", "running"
_MARKS = {OK: "✓", WARNING: "!", FAILED: "✗", SKIPPED: "\N{EN DASH}", RUNNING: "▸", WAITING: "·"}
_MEANINGS = {
    "start": "It starts, is ready in time, and plays with other settings.",
    "answers": "It answers every question at once, with lines that the referee can read.",
    "time and memory": "It keeps within its time and its memory.",
    "matches": "It plays a whole match, and the same seed gives the same answers.",
    "positions": "It answers in every kind of position.",
    "reading": "It reads unknown fields, and notices and texts of all kinds.",
    "end": "It ends with its match.",
}


class CheckLine(NamedTuple):
    """A check of a group: its status, a sign for it, and what it tests in a sentence."""

    status: str
    mark: str
    name: str
    about: str


class CheckGroup(NamedTuple):
    """Some checks of a seat; ``status`` is that of the whole group, and ``meaning`` says what a bot has to do for it."""

    name: str
    meaning: str
    status: str
    mark: str
    done: int
    lines: list[CheckLine]


def groups(report: Mapping[str, Any]) -> list[tuple[str, list[CheckGroup]]]:
    """Return the groups of each seat, from a hand-in's report: while its check runs, and with the results afterwards."""
    statuses: dict[str, dict[str, str]] = report.get("results") or {}
    if not statuses:
        lines = [line.partition(": ") for line in report.get("lines", ())]
        for at, (seat, _, name) in enumerate(lines, 1):
            statuses.setdefault(seat, {})[name] = OK if at < len(lines) else RUNNING
    return [(seat, _of_seat(by_name)) for seat, by_name in statuses.items()]


def _of_seat(by_name: Mapping[str, str]) -> list[CheckGroup]:
    lines: dict[str, list[CheckLine]] = {}
    for check in CHECKS:
        status = by_name.get(check.name, WAITING)
        lines.setdefault(check.group, []).append(CheckLine(status, _MARKS[status], check.name, check.about))
    made = []
    for name, of_group in lines.items():
        statuses = [line.status for line in of_group]
        # The worst of a group that is done; before that, how far it is.
        whole = next((status for status in (FAILED, RUNNING, WARNING, OK) if status in statuses), statuses[0])
        whole = RUNNING if whole == OK and WAITING in statuses else whole
        made.append(
            CheckGroup(
                name, _MEANINGS.get(name, ""), whole, _MARKS[whole], sum(status not in (WAITING, RUNNING) for status in statuses), of_group
            )
        )
    return made
