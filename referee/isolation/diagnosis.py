"""Tests which levels this machine supports, for ``referee doctor``."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.isolation import bubblewrap, cgroups, machine, probe
from referee.isolation.level import Level
from referee.isolation.limits import ISOLATED, ISOLATED_CGROUP, LIMITS, NONE, Limits, word_of
from referee.isolation.plan import VARIANT_A, VARIANT_B
from referee.isolation.probe import SandboxCheck
from referee.support import delays
from referee.support.words import counted, program

if TYPE_CHECKING:
    from collections.abc import Sequence

_DELEGATE = "Run it as: systemd-run --user --scope -p Delegate=yes referee ... (docs/isolation.md)"
_MOUNT = "Give the referee a control group that it may write to; containers often show it read-only (docs/isolation.md)"

_PROMISES = {
    "strict": "a sandbox for each bot: for everybody's programs",
    LIMITS: "resource limits and timeouts: for your own bots only",
    NONE: "nothing",
}


class Diagnosis(NamedTuple):
    """All checks, in order, and the possible levels, the strongest first."""

    checks: Sequence[SandboxCheck]
    levels: tuple[str, ...]
    holds: bool
    #: What the machine lacks for the default limits of bots.
    shortages: Sequence[SandboxCheck] = ()

    @property
    def is_strict(self) -> bool:
        """True if strict isolation is possible."""
        return ISOLATED in self.levels

    @property
    def caps(self) -> str:
        """A sentence about how the limits of a bot in a sandbox are enforced."""
        return "Control groups cap memory and processes." if ISOLATED_CGROUP in self.levels else "The supervisor checks memory."

    @property
    def stopping(self) -> str:
        """A sentence about how bots are stopped between their turns."""
        if self.holds:
            return "Bots are frozen between their turns."
        return f"There is no freezer: each bot needs a core of its own, of the {os.cpu_count()} here, or --idle run."

    @property
    def clock(self) -> str:
        """A sentence about the default clock."""
        if delays.is_counted():
            return "The fair clock bills: a bot doesn't pay for time in which it waits for a processor."
        return "This kernel doesn't count waits for a processor, so there is no fair clock: strict matches bill processor time, others wall time."

    def missing(self) -> str:
        """Return the failed checks without which a sandbox isn't possible."""
        names = (check.name for check in self.checks if not check.ok and check.name not in _GROUPS)
        return ", ".join(dict.fromkeys(names))

    def to_json(self) -> dict[str, Any]:
        """As ``--json`` prints it."""
        return {
            "strict": self.is_strict,
            "levels": list(self.levels),
            "freezer": self.holds,
            "fair_clock": delays.is_counted(),
            "checks": [check.to_json() for check in (*self.checks, *self.shortages)],
        }

    def lines(self) -> list[str]:
        """Return the checks and the levels for people: how many have passed, and each that has failed with its remedy."""
        width, lines = max(len(check.name) for check in self.checks), []
        for variant in dict.fromkeys(check.variant for check in self.checks):
            checks = [check for check in self.checks if check.variant == variant]
            where = f"in a sandbox entered as {variant}" if variant else "of this machine"
            lines.append(f"  ok    {counted(sum(check.ok for check in checks), 'check')} {where}")
            for check in checks:
                lines += [] if check.ok else [f"  FAIL  {check.name:<{width}}  {check.seen}", f"        {'':<{width}}  -> {check.remedy}"]
        if self.shortages:
            lines += ["", "This machine can't give bots what the limits promise:"]
        for check in self.shortages:
            lines += [f"  FAIL  {check.name:<{width}}  {check.seen}", f"        {'':<{width}}  -> {check.remedy}"]
        lines.append("")
        possible = {word_of(level) for level in self.levels}
        for level, promise in _PROMISES.items():
            why = "" if level in possible else f"; missing: {self.missing()}"
            lines.append(f"  {'yes' if level in possible else 'no ':<4}  {level:<6}  {promise}{why}")
        return [*lines, "", self.clock]

    def conclusion(self) -> list[str]:
        """Return the conclusion if strict isolation is available."""
        lines = [
            f"Strict isolation is available: {self.caps} {self.stopping}",
            f"Try:  {program()} play --isolation strict searcher evader",
        ]
        if all(check.ok for check in self.checks):
            return lines
        return ["Strict isolation does not need the checks that fail below; docs/isolation.md lists what they would add.", *lines]


_GROUPS = ("control groups: caps", "control groups: freezer", "control groups: time")


def missing_parts() -> str:
    """Return the missing programs and libraries of the sandbox, in words; "" if none is missing."""
    return "; ".join(check.seen for check in probe.parts() if not check.ok)


def diagnose(cpu_seconds: int | None = None) -> Diagnosis:
    """Run all checks; this takes up to a second. ``cpu_seconds`` is as for ``machine.shortages``. UsageError if the referee itself may open too few files."""
    machine.refuse_few_files()
    checks = probe.parts()
    levels: list[str] = []
    trees = cgroups.find()
    if all(check.ok for check in checks):
        checks += _groups(trees)
        level = ISOLATED_CGROUP if trees.has_caps else ISOLATED
        isolation = Level(level, Limits(), trees)
        tried = probe.prove(isolation, (), is_deep=True)
        if any(not check.ok and check.variant == VARIANT_A for check in tried):
            # If variant B passes, the parts that failed aren't necessary.
            other = [check for check in tried if check.variant != VARIANT_A] or probe.prove(isolation, {VARIANT_B}, is_deep=True)
            if all(check.ok for check in other):
                checks += [check for check in tried if check.variant == VARIANT_A and not check.ok]
                tried = other
        if level == ISOLATED_CGROUP and not all(check.ok for check in tried):
            # The control groups may be the cause.
            levels = [ISOLATED] if all(check.ok for check in probe.prove(Level(ISOLATED), (), is_deep=True)) else []
        elif all(check.ok for check in tried):
            levels = [ISOLATED_CGROUP, ISOLATED] if level == ISOLATED_CGROUP else [ISOLATED]
        checks += tried
    if bubblewrap.tool("prlimit") is not None or os.access("/bin/sh", os.X_OK):
        levels.append(LIMITS)
    shortages = machine.shortages(LIMITS, Limits(), machine.BOTS_OF_A_MATCH, cpu_seconds)
    lacking = [SandboxCheck(name, ok=False, seen=seen, remedy=remedy) for name, seen, remedy in shortages]
    return Diagnosis(checks, (*levels, NONE), ISOLATED in levels and trees.has_freezer, lacking)


def _groups(trees: cgroups.Trees) -> list[SandboxCheck]:
    """Return the check of the control groups."""
    where = "version 2" if trees.is_unified else "version 1"
    there = (trees.has_caps, trees.has_freezer, trees.has_accounts)
    what = ("memory and processes can be capped", "bots can be frozen", "processor time is exact")
    lacking = ("memory and processes can't be capped", "bots can't be frozen", "processor time is approximate")
    why = f" ({trees.why})" if trees.why else ""
    return [
        SandboxCheck(name, ok, f"{good}, {where}" if ok else bad + why, "" if ok else _MOUNT if os.geteuid() == 0 else _DELEGATE)
        for name, ok, good, bad in zip(_GROUPS, there, what, lacking, strict=True)
    ]
