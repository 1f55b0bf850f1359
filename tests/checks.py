"""Runs checks of bots of Evasion in the tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee import games
from referee.author.check.run import CheckRequest, Report, run
from referee.author.check.table import CHECKS, NAMES
from referee.isolation.limits import NONE, Limits
from referee.match.options import TimeControl

if TYPE_CHECKING:
    from collections.abc import Iterable


def check(
    bot: str,
    seats: str | tuple[str, ...] = "hunter",
    only: Iterable[str] = NAMES,
    time: TimeControl | None = None,
    limits: Limits | None = None,
    level: str = NONE,
) -> Report:
    """Check a bot outside of a sandbox: some checks, or all."""
    game = games.get("evasion")
    names = set(only)
    request = CheckRequest(
        bot,
        game,
        game.codec.settings(None, {}),
        (seats,) if isinstance(seats, str) else seats,
        level,
        limits or Limits(),
        time or TimeControl(),
        tuple(check for check in CHECKS if check.name in names),
    )
    return run(request)


def named(report: Report, status: str) -> set[str]:
    """Return the checks with a status."""
    return {one.check.name for one in report.results if one.finding.status == status}


def texts(report: Report) -> dict[str, str]:
    """Return the texts of the results, by check."""
    return {one.check.name: one.finding.text for one in report.results}
