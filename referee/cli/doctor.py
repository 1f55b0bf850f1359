"""doctor: report which isolation levels this machine supports, for graders that run untrusted programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from referee.cli.app import JsonFlag, app, command, program, put, put_json, say
from referee.cli.front import GRADERS
from referee.isolation.limits import ISOLATED, ISOLATED_CGROUP, LEVELS, LIMITS, NONE

if TYPE_CHECKING:
    from referee.isolation.diagnosis import Diagnosis

_PROMISES = {
    ISOLATED_CGROUP: "everything, with hard caps on memory and processes",
    ISOLATED: "everything, memory by a watchdog",
    LIMITS: "resource limits and timeouts: for your own bots only",
    NONE: "nothing",
}


@app.command(rich_help_panel=GRADERS)
@command
def doctor(as_json: JsonFlag = False) -> None:
    """Test the sandbox on this machine. For each failed check, print the remedy.

    A self-check runs in the real sandbox and tries the attacks of a hostile bot. Exit status 1 if --isolation strict is unavailable.
    """
    from referee.isolation.diagnosis import diagnose

    found = diagnose()
    if as_json:
        put_json(found.to_json())
    else:
        _print(found)
    if not found.is_strict:
        raise typer.Exit(1)


def _print(found: Diagnosis) -> None:
    width = max(len(check.name) for check in found.checks)
    variant = ""
    for check in found.checks:
        if check.variant != variant:
            variant = check.variant
            put(f"\nIn a sandbox entered as {variant}:")
        put(f"  {'ok  ' if check.ok else 'FAIL'}  {check.name:<{width}}  {check.seen}")
        if not check.ok:
            put(f"        {'':<{width}}  -> {check.remedy}")
    put("")
    for level in LEVELS:
        there = level in found.levels
        why = "" if there else f"; missing: {found.missing(level)}"
        put(f"  {'yes' if there else 'no ':<4}  {level:<{len(ISOLATED_CGROUP)}}  {_PROMISES[level]}{why}")
    put("")
    if found.is_strict:
        if not all(check.ok for check in found.checks):
            put("Strict isolation does not need the checks that fail above; docs/isolation.md lists what they would add.")
        put(f"Strict isolation is available: {found.levels[0]}. {found.stopping}")
        put(f"Try:  {program()} play --isolation strict searcher evader")
    else:
        say("referee: Strict isolation is not available here; each FAIL above shows its remedy (see docs/isolation.md).")
