"""The progress of a league: its listeners, and the speed of the last minute."""

from __future__ import annotations

import time
from collections import deque
from typing import TYPE_CHECKING, NamedTuple

from referee.support.times import shown_span
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Collection
    from pathlib import Path

    from referee.tournament.plan import Step
    from referee.tournament.values import Record, Task

#: The speed is that of this number of seconds or, if fewer ended in them, of this number of last matches.
_SECONDS, _MATCHES = 60.0, 10
#: The interval between two lines, in seconds.
LINE_SECONDS = 10.0
#: Seconds of play before the time left is shown: at first, the start of the workers has too much weight.
_MEASURED_SECONDS = 10.0
#: After this multiple of the usual time between two ends, the speed is no longer valid.
_SILENCE = 5.0


class MatchCounts(NamedTuple):
    """How many matches there are by status, and how many attempts were void. ``stopped`` ones will not be played."""

    planned: int
    done: int
    stopped: int
    voids: int

    @property
    def total(self) -> int:
        """All matches."""
        return self.planned + self.done + self.stopped


class ProgressListener:
    """Receives the progress of many matches. A subclass overrides the methods that it needs."""

    def step(self, step: Step, sentences: deque[str], *, has_workers: bool) -> None:
        """Take a step of play, and the sentences about it, each once."""
        for task, record in step.ended:
            if record.has_result:
                self.finished(task, record)
        while sentences:
            self.said(sentences.popleft())
        self.tick(step.running if has_workers else None)

    def finished(self, task: Task, record: Record) -> None:
        """A match is done."""

    def said(self, text: str) -> None:
        """Take a sentence that people should see at once."""

    def tick(self, running: Collection[Task] | None) -> None:
        """Called about twice a second, and after every match, with the running matches; None while there are no workers."""


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
        """Return how many matches end in a second; None while that isn't known."""
        self._forget(now)
        if not self._ends:
            return None
        since = self._from if len(self._ends) <= _MATCHES else max(self._from, now - _SECONDS)
        usual = (self._ends[-1] - since) / len(self._ends)
        if now - self._ends[-1] > max(_SECONDS, _SILENCE * usual):
            return None
        return len(self._ends) / max(now - since, 0.001)

    def seconds_left(self, planned: int, now: float) -> float | None:
        """Return the time for this number of matches at the present speed; None while too little is known."""
        rate = self.rate(now) if planned and now - self.begun >= _MEASURED_SECONDS else None
        return None if rate is None else planned / rate


class ProgressLines(ProgressListener):
    """Counts matches, and passes the progress to ``say`` as a line every ten seconds.

    In ``replays`` are the replays of matches that are played on this machine.
    """

    def __init__(
        self,
        counts: Callable[[], MatchCounts],
        say: Callable[[str], None],
        *,
        replays: Path | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._counts = counts
        self._replays = replays
        self._say = say
        self._clock = clock
        self._told = clock()
        #: When each running match was seen first.
        self._since: dict[str, float] = {}
        #: None while there are no workers.
        self._pace: Pace | None = Pace(self._told)

    def finished(self, task: Task, record: Record) -> None:
        """Count a match."""
        if self._pace is not None:
            self._pace.note(self._clock())

    def said(self, text: str) -> None:
        """Pass on a sentence at once."""
        self._say(text)

    def tick(self, running: Collection[Task] | None) -> None:
        """Pass on a line from time to time."""
        self.measure(running)
        if self._clock() - self._told >= LINE_SECONDS:
            self._told = self._clock()
            longest = min(running or (), key=lambda task: self._since[task.key], default=None)
            lasting = "" if longest is None else self.lasting(longest)
            self._say(self.line() + (f", waiting for {' against '.join(longest.names.values())}{lasting}" if longest and lasting else ""))

    def lasting(self, task: Task) -> str:
        """Return how long a running match has lasted, and how long nobody in it has answered, for the end of a line; "" if it isn't long."""
        seconds = self._clock() - self._since[task.key]
        if seconds < LINE_SECONDS:
            return ""
        silent = self._silent_seconds(task)
        awaited = f", no answer for {shown_span(silent)}" if silent >= LINE_SECONDS else ""
        return f" ({shown_span(seconds)} so far{awaited})"

    def _silent_seconds(self, task: Task) -> float:
        """Return for how long nobody has answered in a running match: its replay grows with every second in which somebody has."""
        # Every command loads this module, and the worker loads the whole match.
        from referee.tournament.worker import replay_path

        try:
            return 0.0 if self._replays is None else time.time() - replay_path(self._replays, task.key).stat().st_mtime
        except OSError:
            return 0.0

    def measure(self, running: Collection[Task] | None) -> None:
        """Measure the speed while there are workers. A pause doesn't count: afterwards the speed is measured anew."""
        self._since = {task.key: self._since.get(task.key, self._clock()) for task in running or ()}
        if running is None:
            self._pace = None
        elif self._pace is None:
            self._pace = Pace(self._clock())

    def line(self) -> str:
        """Return the progress as a line: the matches played, the speed of the last minute and the time that is left."""
        counts = self._counts()
        voids = f", {counts.voids:,} void" if counts.voids else ""
        return f"{counts.done:,} of {counted(counts.done + counts.planned, 'match')}{voids}, {self._speed(counts.planned, self._clock())}"

    def _speed(self, planned: int, now: float) -> str:
        if self._pace is None:
            return "waiting for workers"
        rate = self._pace.rate(now)
        if rate is None:
            return "waiting for results"
        left = self._pace.seconds_left(planned, now)
        return f"{rate * 60:,.{0 if rate * 60 >= 1 else 1}f} a minute" + (f", {shown_span(left)} left" if left is not None else "")
