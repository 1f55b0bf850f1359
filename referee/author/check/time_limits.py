"""The time limits of checks: how long they wait for the answers of a bot."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.match.options import TimeControl

#: A question waits for a multiple of the limit of a move, plus a number of seconds.
_TIMES, _MORE = 3.0, 2.0
#: How many such waits a whole check spends on late answers.
_WAITS = 2.0


def longest_wait(time: TimeControl) -> float | None:
    """Return how long a check waits for an answer, in seconds: longer than a match, so that it can say how late the answer is."""
    return None if time.move is None else _TIMES * time.move + _MORE


class LateBudgetSpent(Exception):
    """The bot has been late for so long that it isn't asked again."""


class LateBudget:
    """The time that the checks of one seat may spend on answers that are late because the bot thinks.

    ``share`` is the part of a whole check that this seat has. Only the time of late answers counts, so a quick bot that is late once is
    still checked completely.
    """

    def __init__(self, time: TimeControl, share: float = 1.0) -> None:
        self.left = (longest_wait(time) or float("inf")) * _WAITS * share
        self.late = 0

    @property
    def is_spent(self) -> bool:
        """True if no time is left."""
        return self.left <= 0

    def spend(self, seconds: float) -> None:
        """Note a late answer."""
        self.late += 1
        self.left -= seconds

    def check(self) -> None:
        """Raise LateBudgetSpent if no time is left."""
        if self.is_spent:
            raise LateBudgetSpent
