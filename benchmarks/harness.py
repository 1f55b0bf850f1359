"""What all benchmarks share: figures beside their floors, measured in alternating rounds, and their comparison with a stored run.

Absolute times mean little on a shared machine. The ratio to a floor that is measured in between is meaningful, so budgets bound medians of
ratios, and ``--against FILE`` compares ratios alone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import sub, truediv
from pathlib import Path
from typing import Any, NamedTuple

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from referee.errors import RefereeError, UsageError
from referee.support.files import open_regular
from referee.support.escape import escape

#: The share by which a ratio may be worse than in the stored run.
TOLERANCE = 0.15
#: The most bytes of a stored run that are read; a whole run has some ten thousand.
MOST_BYTES = 10_000_000


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


def stored(path: Path) -> dict[str, float]:
    """Return the ratios of a stored run by name. Raises UsageError if it is no run, or one of another machine."""
    name = escape(str(path), 200)
    try:
        with open_regular(path) as file:
            text = file.read(MOST_BYTES + 1)
        figures = json.loads(text) if len(text) <= MOST_BYTES else None
        others = {str(figure["machine"]) for figure in figures} - {machine()}
        ratios = {str(figure["name"]): float(figure["measured"]) for figure in figures if figure["compared"] == "ratio"}
    except OSError as error:
        raise UsageError(f"{name} can't be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError, TypeError, KeyError):
        raise UsageError(f"{name} is no stored run: it must be what this benchmark prints with --json.") from None
    if others:
        raise UsageError(f"{name} was measured on {escape(min(others), 200)}; ratios can't be compared with those of this run.")
    if not ratios or not all(0 < ratio < math.inf for ratio in ratios.values()):
        raise UsageError(f"{name} has no ratio to compare with.")
    return ratios


def worse(figures: Iterable[Figure], before: Mapping[str, float]) -> list[tuple[Figure, float, float]]:
    """Return each ratio with that of the stored run and the share by which it is worse; negative means better.

    Raises UsageError if the stored run lacks one of them.
    """
    ratios = [figure for figure in figures if figure.compared == "ratio"]
    if lacking := [figure.name for figure in ratios if figure.name not in before]:
        raise UsageError(f"The stored run has no figure {lacking[0]!r}; store a run with the same options.")
    found = []
    for figure in ratios:
        was, now = before[figure.name], figure.measured
        found.append((figure, was, (was / now if figure.at_least else now / was) - 1.0))
    return found


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

    ``add`` adds options of the benchmark to ``--rounds``, ``--steps``, ``--json`` and ``--against``. A missed budget doesn't change the exit
    status. With ``--against`` it is 1 if a ratio is more than 15 % worse than in the stored run.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=number(1), default=rounds, help="measurements of each figure; the median counts")
    parser.add_argument("--steps", type=number(1), default=steps, help="steps of each match")
    parser.add_argument("--json", action="store_true", help="print the figures of all rounds as JSON")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare the ratios with a run of this machine, stored with --json")
    add(parser)
    options = parser.parse_args()
    try:
        before = None if options.against is None else stored(options.against)
        figures = measure(options)
        changes = [] if before is None else worse(figures, before)
    except RefereeError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    if options.json:
        print(json.dumps([figure.to_json() for figure in figures], indent=1))
    else:
        report(figures)
    for figure, was, change in changes:
        word = "WORSE" if change > TOLERANCE else "good"
        text = f"{figure.name} {was:.2f} -> {figure.measured:.2f} x floor ({abs(change):.0%} {'worse' if change > 0 else 'better'})"
        print(f"{word:<7}{text}", file=sys.stderr)
    raise SystemExit(any(change > TOLERANCE for *_, change in changes))


def number(least: int, step: int = 1) -> Callable[[str], int]:
    """Return argparse's type for whole numbers of at least ``least``, and multiples of ``step``."""

    def parse(text: str) -> int:
        value = int(text)
        if value < least or value % step:
            raise ValueError
        return value

    parse.__name__ = f"number (at least {least}{', even' * (step == 2)})"
    return parse
