"""The progress of a league: who listens to it, and the speed at which matches end, which is that of the last minute."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.tournament.values import MatchTask, Record

#: The speed is that of so many seconds, or that of the last matches if fewer than these ended in them.
_SECONDS, _MATCHES = 60.0, 10
#: After so many times the usual time between two ends, the speed says nothing about the present any more.
_SILENCE = 5.0


class Counts(Protocol):
    """How many matches there are, how many have a result, how many will be played, and how many attempts were void."""

    @property
    def total(self) -> int:
        """All matches."""

    @property
    def done(self) -> int:
        """Those with a result."""

    @property
    def planned(self) -> int:
        """Those that will be played."""

    @property
    def voids(self) -> int:
        """The attempts that were void."""


class MatchCounts(NamedTuple):
    """How many matches there are by status, and how many attempts were void. Implements ``Counts``."""

    planned: int
    done: int
    stopped: int
    voids: int

    @property
    def total(self) -> int:
        """All matches."""
        return self.planned + self.done + self.stopped


class Counted(Protocol):
    """Something that counts its matches: a store, a league or a grading that is played."""

    def counts(self) -> Counts:
        """Return the numbers of matches."""


class ProgressListener:
    """Receives the progress of a league. A subclass takes what it needs of it."""

    def finished(self, task: MatchTask, record: Record) -> None:
        """A match is done."""

    def said(self, text: str) -> None:
        """Take a sentence that people should see at once."""

    def tick(self, running: Sequence[MatchTask] | None) -> None:
        """Called about twice a second, and after every match, with the matches that are played: None while nobody can play them."""


class Pace:
    """The times at which matches ended since play began at ``begun``. All times are seconds of one clock."""

    def __init__(self, begun: float) -> None:
        self.begun = begun
        self._ends: deque[float] = deque()
        #: The time from which the ends are counted.
        self._from = begun

    def note(self, end: float) -> None:
        """A match has ended."""
        self._ends.append(end)
        self._forget(end)

    def _forget(self, now: float) -> None:
        while len(self._ends) > _MATCHES and self._ends[0] <= now - _SECONDS:
            self._from = self._ends.popleft()

    def rate(self, now: float) -> float | None:
        """Return how many matches end in a second; None while nothing is known of it."""
        self._forget(now)
        if not self._ends:
            return None
        since = self._from if len(self._ends) <= _MATCHES else max(self._from, now - _SECONDS)
        usual = (self._ends[-1] - since) / len(self._ends)
        if now - self._ends[-1] > max(_SECONDS, _SILENCE * usual):
            return None
        return len(self._ends) / max(now - since, 0.001)
