"""What all benchmarks share: options, figures beside their floors, measured in alternating rounds, and their table.

Absolute times mean little on a shared machine. The ratio to a floor that is measured in between is meaningful, so budgets bound medians of
ratios.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import math
import multiprocessing
import os
import platform
import resource
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from operator import sub, truediv
from pathlib import Path
from typing import Any, NamedTuple

import psutil

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from referee.errors import RefereeError, UsageError
from referee.support.escape import escape


class Figure(NamedTuple):
    """One measure: the ``values`` of all rounds, those of its floor if there is one, and the ``budget``, a bound on ``measured``.

    ``compared`` is what the budget is about: "value", "ratio" (value over floor) or "excess" (value less floor).
    """

    name: str
    unit: str
    values: Sequence[float]
    floors: Sequence[float] | None = None
    compared: str = "value"
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
        machine = f"{platform.node()}, {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
        record = {name: getattr(self, name) for name in ("name", "unit", "value", "floor", "compared", "measured", "budget")}
        return {**record, "met": self.is_met, "values": self.values, "floors": self.floors, "machine": machine}


def alternate(rounds: int, *measures: Callable[[], float]) -> list[list[float]]:
    """Run several measures in turn, and return the values of each."""
    values: list[list[float]] = [[] for _ in measures]
    for number in range(rounds):
        print(f"round {number + 1} of {rounds}", file=sys.stderr, flush=True)
        for each, measure in zip(values, measures, strict=True):
            each.append(measure())
    return values


def timed(call: Callable[[], object]) -> float:
    """Return the milliseconds of a call."""
    begun = time.perf_counter()
    call()
    return 1000 * (time.perf_counter() - begun)


def high(values: Sequence[float]) -> float:
    """Return the 95th percentile."""
    return sorted(values)[math.ceil(0.95 * len(values)) - 1]


def children_seconds() -> float:
    """Return the processor time of all processes below this one that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def cpu_seconds(process: psutil.Process | None = None) -> float:
    """Return the processor time of all processes that live below one, that of this benchmark if none is named."""
    times = [child.cpu_times() for child in (process or psutil.Process()).children(recursive=True)]
    return float(sum(each.user + each.system for each in times))


def child(*command: str) -> str:
    """Run a program of a benchmark and return its output. Raises RefereeError with the last line of its stderr if it fails."""
    # In this folder it can't import the user's files by mistake.
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/")
    if done.returncode:
        last = (done.stderr.strip().splitlines() or [f"exit status {done.returncode}"])[-1]
        raise RefereeError(f"A program of the benchmark failed: {escape(last, 300)}")
    return done.stdout


def apart(measure: Callable[..., Any], *arguments: object) -> Any:
    """Return what a function of a benchmark returns in a new process, whose memory holds nothing else."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        return process.submit(measure, *arguments).result()


@contextlib.contextmanager
def served(*words: str) -> Iterator[tuple[str, psutil.Process]]:
    """Run a command of the referee that serves pages; yield its address and its process."""
    command = [sys.executable, "-m", "referee", *words, "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, cwd=ROOT)
    try:
        address = server.stdout.readline().strip() if server.stdout else ""
        if not address:
            raise RefereeError("The server did not start.")
        yield address, psutil.Process(server.pid)
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)


@contextlib.contextmanager
def open_folder() -> Iterator[Path]:
    """Yield a new folder that a sandbox's user can read."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


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


def number(text: str) -> int:
    """Return argparse's value of an option that counts something."""
    value = int(text)
    if value < 1:
        raise ValueError
    return value


def levels(text: str) -> list[str]:
    """Return argparse's value of levels of isolation, separated by commas."""
    values = list(dict.fromkeys(text.split(",")))
    if not set(values) <= {"none", "limits", "strict"}:
        raise ValueError
    return values


def run(
    description: str | None,
    measure: Callable[[argparse.Namespace], Sequence[Figure]],
    **options: tuple[object, str],
) -> None:
    """Be the main program of a benchmark: read the options, measure, print, and end with an exit status.

    ``options`` have the default and the help of those that a benchmark has beside ``--json`` and ``--rounds``; a default decides the type, None
    means a path, and ``...`` one that must be there. A missed budget doesn't change the exit status.
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", action="store_true", help="print the figures of all rounds as JSON")
    for name, (default, text) in {"rounds": (7, "measurements of each figure; the median counts"), **options}.items():
        flag = f"--{name.replace('_', '-')}"
        if default is ...:
            parser.add_argument(name, metavar=name.upper(), type=Path, help=text)
        elif isinstance(default, bool):
            parser.add_argument(flag, action="store_true", help=text)
        else:
            kind = {int: number, list: levels, str: str}.get(type(default), Path)
            parser.add_argument(flag, type=kind, default=default, help=text)
    chosen = parser.parse_args()
    try:
        figures = measure(chosen)
    except RefereeError as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    if chosen.json:
        print(json.dumps([figure.to_json() for figure in figures], indent=1))
    else:
        report(figures)
