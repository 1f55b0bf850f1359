"""Measures the memory of a league's coordinator, as a program: store, schedule and engine are real, the workers only pretend to play.

Arguments: the number of matches, and an empty folder. Prints the growth of the resident memory after the first hundred matches, in MiB.
"""

from __future__ import annotations

import math
import random
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import psutil

from referee.league import config
from referee.league.engine import Engine
from referee.league.league import begin
from referee.league.local import Finished
from referee.league.values import MatchRecord
from referee.league.worker import Played

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.league.values import MatchTask

#: So many matches are played before the first reading, and between two readings.
_INTERVAL = 100
_SLOTS = 8


class _PretendPool:
    """Workers that make results up, and readings of this process's memory, in bytes."""

    slots = _SLOTS

    def __init__(self) -> None:
        self.readings: list[int] = []
        self._ended = 0
        self._running: list[MatchTask] = []
        self._random = random.Random(1)  # noqa: S311 - pretended results
        self._process = psutil.Process()

    @property
    def room(self) -> int:
        return self.slots - len(self._running)

    def submit(self, task: MatchTask) -> None:
        self._running.append(task)

    def wait(self, seconds: float) -> Sequence[Finished]:
        del seconds
        if not self._running:
            return []
        task = self._running.pop(self._random.randrange(len(self._running)))
        self._ended += 1
        if self._ended % _INTERVAL == 0:
            self.readings.append(self._process.memory_info().rss)
        return [Finished(task, Played(self._record(task)))]

    def close(self) -> None:
        """There is nothing to close."""

    def _record(self, task: MatchTask) -> MatchRecord:
        steps = self._random.randrange(1, 3000)
        used = dict.fromkeys(task.seats, steps * 1e-4)
        text = f"The hunter caught the prey in step {steps}."
        return MatchRecord(
            task.key, "hunter", "caught", text, {"hunter": float(steps), "prey": None}, steps, {}, {}, used, used, task.key, task.key,
            wall_seconds=steps * 2e-4, host="here", position=str(steps),
        )  # fmt: skip


class _Silent:
    """Watches a league and says nothing."""

    def finished(self, task: MatchTask, record: MatchRecord) -> None:
        """A match is done."""

    def said(self, text: str) -> None:
        """A sentence."""

    def decided(self, why: str) -> None:
        """The league ends early."""

    def tick(self, running: Sequence[MatchTask]) -> None:
        """Nothing to do."""


def growth(matches: int, folder: Path) -> float:
    """Play at least this number of pretended matches of a round-robin. Return how much the coordinator's memory grew, in MiB."""
    teams = math.ceil((1 + math.sqrt(1 + 4 * matches)) / 2)
    for number in range(teams):
        (folder / f"bot{number}.py").write_text(f"# {number}\n")
    tables = "".join(f'[[teams]]\nname = "T{number}"\nprogram = "bot{number}.py"\n' for number in range(teams))
    file = folder / "league.toml"
    file.write_text(f'name = "bench"\nseed = 1\nisolation = "none"\n{tables}')
    opened = begin(config.load(file), folder / "out")
    pool = _PretendPool()
    try:
        Engine(opened.store, pool, opened.schedule, _Silent()).run()
    finally:
        opened.store.close()
    return (max(pool.readings) - pool.readings[0]) / (1 << 20)


if __name__ == "__main__":
    sys.stdout.write(f"{growth(int(sys.argv[1]), Path(sys.argv[2]))}\n")
