"""The matches of watch mode: a listener that ends one when a file changes, and their difference and their sum."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.match.events import Listener, MatchBegun, StepTaken

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.api.runner import PlayedMatch
    from referee.author.bot_watcher import BotWatcher
    from referee.games.game import Seat


class FilesChanged(Exception):
    """A file of a bot has changed during the match."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step


class ChangeListener(Listener):
    """Ends the match when a file has changed."""

    def __init__(self, watcher: BotWatcher) -> None:
        self._watcher = watcher
        self._step = 0

    def begun(self, event: MatchBegun) -> None:
        """Look before the first step."""
        self.ticked()

    def stepped(self, event: StepTaken) -> None:
        """Look after each step."""
        self._step = event.turn + 1
        self.ticked()

    def ticked(self) -> None:
        """Look while a bot thinks."""
        if self._watcher.has_changed:
            raise FilesChanged(self._step)


class Change(NamedTuple):
    """The difference between a match and the last one that was played to its end."""

    winner: bool
    reason: bool
    steps: int
    scores: Mapping[Seat, float]


class Tally:
    """What the matches so far come to, for the summary, and the last of them."""

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.played = self.stopped = self.failed = 0
        self.won: dict[str, int] = {}
        self.steps: list[int] = []
        self.last: PlayedMatch | None = None
        self._last_of: dict[int, PlayedMatch] = {}

    def add(self, played: PlayedMatch, game: int) -> Change | None:
        """Count a match, and return its difference from the last one; of several games, from the last one on the same start."""
        change = None if game not in self._last_of else difference(self._last_of[game], played)
        self.last = self._last_of[game] = played
        self.played += 1
        self.steps.append(played.result.steps)
        winner = played.result.outcome.winner or "nobody"
        self.won[winner] = self.won.get(winner, 0) + 1
        return change

    def to_json(self) -> dict[str, Any]:
        """The summary as ``--json`` prints it."""
        return {
            "played": self.played,
            "stopped": self.stopped,
            "failed": self.failed,
            "won": self.won,
            "least_steps": min(self.steps, default=None),
            "most_steps": max(self.steps, default=None),
            "seconds": round(time.monotonic() - self.begun, 3),
        }


def difference(last: PlayedMatch, now: PlayedMatch) -> Change:
    """Return what has changed between two matches of the same players."""
    before, after = last.result.outcome, now.result.outcome
    scores = {
        seat: score - old
        for seat, score in after.scores.items()
        if score is not None and (old := before.scores.get(seat)) is not None and score != old
    }
    return Change(before.winner != after.winner, before.reason != after.reason, now.result.steps - last.result.steps, scores)
