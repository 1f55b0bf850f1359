"""The cost of a maze's solution: computed, and read from the cache of an earlier run."""

from __future__ import annotations

import math
import os
import sys
import tempfile
from typing import TYPE_CHECKING

from referee.bench.measures import Figure, child
from referee.games.maze.layouts import STANDARD
from referee.support.cache import VARIABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_WIDE = 32
_OPEN = ("." * _WIDE,) * (_WIDE - 1) + ("." * (_WIDE - 1) + "E",)
#: One corridor from end to end: the slowest that was found.
_SNAKE = (*(("." * _WIDE, "#" * (_WIDE - 1) + ".", "." * _WIDE, "." + "#" * (_WIDE - 1)) * (_WIDE // 4))[:-1], "E" + "#" * (_WIDE - 1))
_LAYOUTS: dict[str, Sequence[str]] = {"the standard maze": STANDARD, "32 x 32, open": _OPEN, "32 x 32, one corridor": _SNAKE}
_BUDGET_MS = 1000.0

#: The program of the new process: it computes the value of one position and prints the time in milliseconds.
_CODE = """
import sys, time
from referee.games.maze.layouts import Layout
from referee.games.maze.solver import solution
layout = Layout(sys.argv[1].split())
begun = time.perf_counter()
solution(layout).value(0, 1, is_thiefs=True)
print((time.perf_counter() - begun) * 1e3)
"""


def solutions(rounds: int, progress: Callable[[str], None]) -> list[Figure]:
    """Measure the milliseconds to the first value in a new process: solving and storing the maze; and reading, with solving as its floor."""
    figures = []
    for name, rows in _LAYOUTS.items():
        progress(f"{name}: {rounds} rounds")
        solved: list[float] = []
        read: list[float] = []
        for _ in range(rounds):
            with tempfile.TemporaryDirectory() as folder:
                for times in (solved, read):
                    shown = child([sys.executable, "-c", _CODE, "\n".join(rows)], env={**os.environ, VARIABLE: folder})
                    times.append(float(shown))
        figures.append(Figure(f"{name}, solved", "ms", solved, None, "value", _BUDGET_MS))
        figures.append(Figure(f"{name}, read", "ms", read, solved, "ratio", math.inf))
    return figures
