"""What all benchmarks share: figures beside their floors, measured in alternating rounds.

Absolute times mean little on a shared machine. The ratio to a floor that is measured in between is meaningful, so budgets bound medians of
ratios.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from operator import sub, truediv
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from referee.errors import RefereeError
from referee.support.escape import escape


class Figure(NamedTuple):
    """One measure: the ``values`` of all rounds, those of its floor if there is one, and the ``budget``, a bound on ``measured``.

    ``compared`` is what the budget is about: "value", "ratio" (value over floor) or "excess" (value less floor).
    """

    name: str
    unit: str
    values: list[float]
    floors: list[float] | None
    compared: str
    budget: float | None = None
    at_least: bool = False

    @property
    def value(self) -> float:
        """The median over the rounds."""
        return statistics.median(self.values)

    @property
    def floor(self) -> float | None:
        """The median of the floor over the rounds."""
        return None if self.floors is None else statistics.median(self.floors)

    @property
    def measured(self) -> float:
        """The number that the budget bounds: the median of what each round gave, measure and floor taken one after the other."""
        if self.floors is None or self.compared == "value":
            return self.value
        compare = truediv if self.compared == "ratio" else sub
        return float(statistics.median(map(compare, self.values, self.floors)))

    @property
    def is_met(self) -> bool:
        """Whether the budget is kept, if there is one."""
        return self.budget is None or (self.measured >= self.budget if self.at_least else self.measured <= self.budget)

    def to_json(self) -> dict[str, Any]:
        """The figure as ``--json`` prints it."""
        record = {name: getattr(self, name) for name in ("name", "unit", "value", "floor", "compared", "measured", "budget")}
        return {**record, "met": self.is_met, "values": self.values, "floors": self.floors, "machine": machine()}


def alternate(rounds: int, *measures: Callable[[], float]) -> list[list[float]]:
    """Run several measures in turn, and return the values of each."""
    found: list[list[float]] = [[] for _ in measures]
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        for values, measure in zip(found, measures, strict=True):
            values.append(measure())
    return found


def child(command: Sequence[str], *, env: Mapping[str, str] | None = None) -> str:
    """Run a program of a benchmark and return its output. Raises RefereeError with the last line of its stderr if it fails."""
    # In this folder it can't import the user's files by mistake.
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", env=env)
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise RefereeError(f"A program of the benchmark failed: {escape(last, 300)}")
    return done.stdout


@contextlib.contextmanager
def open_folder() -> Iterator[Path]:
    """Yield a new folder that a sandbox's user can read."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


def machine() -> str:
    """Return what tells this machine and its Python from others, in words."""
    return f"{platform.node()}, {_processor()}, {os.cpu_count()} cores, Python {'.'.join(map(str, sys.version_info[:2]))}"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
            return next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), platform.machine())
    except OSError:
        return platform.processor() or platform.machine()


def report(figures: Sequence[Figure]) -> None:
    """Print a table of the figures."""
    wide = max(28, *(len(figure.name) + 2 for figure in figures))
    floors = max(10, *(len(f"{figure.floor or 0:,.1f}") + 2 for figure in figures))
    print(f"{'measure':<{wide}}{'median':>12}{'floor':>{floors}}   against its budget")
    for figure in figures:
        floor = "" if figure.floor is None else f"{figure.floor:,.1f}"
        what = {"ratio": "x floor", "excess": f"{figure.unit} over", "value": figure.unit}[figure.compared]
        sign = ">=" if figure.at_least else "<="
        bound = "" if figure.budget is None else f" {sign} {figure.budget:,g}: {'met' if figure.is_met else 'MISSED'}"
        digits = 0 if figure.value >= 1000 else 2 if figure.unit == "ms" and figure.value < 10 else 1
        print(f"{figure.name:<{wide}}{figure.value:>12,.{digits}f}{floor:>{floors}}   {figure.measured:,.2f} {what}{bound}")


def run(
    description: str | None,
    measure: Callable[[argparse.Namespace], Sequence[Figure]],
    add: Callable[[argparse.ArgumentParser], object] = lambda _: None,
    *,
    rounds: int = 7,
    steps: int = 10_000,
) -> None:
    """Be the main program of a benchmark: read the options, measure, print, and end with an exit status.

    ``add`` adds options of the benchmark to ``--rounds``, ``--steps`` and ``--json``. A missed budget doesn't change the exit status.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=number(1), default=rounds, help="measurements of each figure; the median counts")
    parser.add_argument("--steps", type=number(1), default=steps, help="steps of each match")
    parser.add_argument("--json", action="store_true", help="print the figures of all rounds as JSON")
    add(parser)
    options = parser.parse_args()
    try:
        figures = measure(options)
    except RefereeError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    if options.json:
        print(json.dumps([figure.to_json() for figure in figures], indent=1))
    else:
        report(figures)


def number(least: int, step: int = 1) -> Callable[[str], int]:
    """Return argparse's type for whole numbers of at least ``least``, and multiples of ``step``."""

    def parse(text: str) -> int:
        value = int(text)
        if value < least or value % step:
            raise ValueError
        return value

    parse.__name__ = f"number (at least {least}{', even' * (step == 2)})"
    return parse
