"""Compares the ratios of a run of ``referee bench`` with those of an earlier run on the same machine."""

from __future__ import annotations

import json
import math
import os
import platform
import sys
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import UsageError
from referee.support.files import open_regular
from referee.wire.escape import escape

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.bench.measures import Figure

#: The share by which a ratio may be worse than in the earlier run.
TOLERANCE = 0.15
#: The most bytes of a stored run that are read; a whole run has some ten thousand.
_MOST_BYTES = 10_000_000


class Compared(NamedTuple):
    """A ratio of this run beside the same one of the earlier run. ``change`` is the share by which it is worse, negative if it is better."""

    name: str
    before: float
    now: float
    change: float

    @property
    def is_worse(self) -> bool:
        """Whether the ratio is worse by more than the tolerance."""
        return self.change > TOLERANCE

    @property
    def text(self) -> str:
        """The comparison in words."""
        return (
            f"{self.name} {self.before:.2f} -> {self.now:.2f} x floor ({abs(self.change):.0%} {'worse' if self.change > 0 else 'better'})"
        )

    def to_json(self) -> dict[str, Any]:
        """The comparison as ``--json`` prints it."""
        return {"before": self.before, "change": self.change, "worse": self.is_worse}


def machine() -> str:
    """Return what tells this machine and its Python from others, in words."""
    return f"{platform.node()}, {_processor()}, {os.cpu_count()} cores, Python {'.'.join(map(str, sys.version_info[:2]))}"


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:  # noqa: PTH123 - a file of the kernel
            return next((line.partition(":")[2].strip() for line in file if line.startswith("model name")), platform.machine())
    except OSError:
        return platform.processor() or platform.machine()


def read(path: Path, here: str, build: str) -> dict[str, float]:
    """Return the ratios of a stored run by name; ``here`` is this machine, ``build`` says whether this referee is compiled.

    UsageError if the file is not the output of ``referee bench --json``, was measured on another machine or with the other build, or has no
    ratio.
    """
    name = escape(str(path), 200)
    try:
        with open_regular(path) as file:
            text = file.read(_MOST_BYTES + 1)
        stored: Any = json.loads(text) if len(text) <= _MOST_BYTES else None
        machines = {figure.get("machine") for figure in stored}
        builds = [str(figure["build"]) for figure in stored if figure.get("build", build) != build]
        ratios = {figure["name"]: figure["measured"] for figure in stored if figure["compared"] == "ratio"}
    except OSError as error:
        raise UsageError(f"{name} can't be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError, TypeError, AttributeError, KeyError):
        raise UsageError(f"{name} is no stored run: it must be the output of referee bench --json.") from None
    if not all(isinstance(ratio, (int, float)) and not isinstance(ratio, bool) and 0 < ratio < math.inf for ratio in ratios.values()):
        raise UsageError(f"{name} is no stored run: a ratio in it is no positive number.")
    if machines != {here}:
        there = next(
            (escape(str(other), 200) for other in machines if other is not None and other != here), "a machine that it doesn't name"
        )
        raise UsageError(f"{name} was measured on {there}, and this is {here}; ratios of different machines can't be compared.")
    if builds:
        raise UsageError(
            f"{name} was measured with a referee that is {escape(builds[0], 60)}, and this one is {build}; compare equal builds."
        )
    if not ratios:
        raise UsageError(f"{name} has no ratio to compare with.")
    return ratios


def compare(figures: Sequence[Figure], before: Mapping[str, float], name: str) -> list[Compared]:
    """Compare the ratios of this run with those of an earlier one; ``name`` is its file. UsageError if the earlier run lacks one of them."""
    ratios = [figure for figure in figures if figure.compared == "ratio"]
    missing = [figure.name for figure in ratios if figure.name not in before]
    if missing or not ratios:
        lacks = f"has no figure {missing[0]!r}" if missing else "can't be compared: this bench has no ratio"
        raise UsageError(f"{escape(name, 200)} {lacks}; store a run with the same options and --json.")
    found = []
    for figure in ratios:
        was, now = before[figure.name], figure.measured
        found.append(Compared(figure.name, was, now, (was / now if figure.at_least else now / was) - 1.0))
    return found
