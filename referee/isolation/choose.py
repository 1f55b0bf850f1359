"""Finds the level of isolation that this machine supports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.isolation import another_user, cgroups, check_cache, machine, submission
from referee.isolation.level import Level
from referee.isolation.limits import ISOLATED, ISOLATED_CGROUP, LIMITS, LIMITS_USER, NONE
from referee.isolation.plan import VARIANT_A, VARIANT_B, VARIANTS, needs, plans, variant_for

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.isolation.bot import Bot
    from referee.isolation.limits import Limits
    from referee.isolation.probe import SandboxCheck


def choose(requested: str, limits: Limits, bots: Sequence[Bot] = ()) -> Level:
    """Return the level for a value of --isolation ("auto", "strict", "limits", "none") and these bots.

    If no sandbox is possible, "strict" raises UsageError with each failed check and its remedy. "strict" always tests the sandbox; "auto"
    accepts a test of the last day on the same system. "limits+user" isn't a value of --isolation; it raises UsageError if bots can't run as
    separate users. Every level raises UsageError if the referee may not open enough files.
    """
    machine.refuse_few_files()
    if requested == "none":
        return Level(NONE, limits)
    if requested == "limits":
        return Level(LIMITS, limits, notes=("Isolation is limits: the bots can read your files and use the network.",))
    if requested == LIMITS_USER:
        another_user.refuse_missing(plans(bots))
        submission.sweep()
        return Level(LIMITS_USER, limits, notes=("Isolation is limits: each bot is a user of its own without network.",))
    trees = cgroups.find()
    cgroups.sweep(trees)
    submission.sweep()
    isolation = Level(ISOLATED_CGROUP if trees.has_caps else ISOLATED, limits, trees, is_strict=requested == "strict")
    variants = variants_of(bots)
    if requested == "auto" and all(check_cache.is_known(isolation, variant) for variant in variants):
        return isolation
    from referee.isolation import probe

    failed = [check for check in probe.parts() if not check.ok] or _failures(isolation, variants)
    if failed and all(check.variant == VARIANT_A for check in failed):
        # Variant B needs fewer kernel features.
        isolation = isolation._replace(has_variant_a=False)
        failed = _failures(isolation, {VARIANT_B})
    if not failed:
        return isolation
    if requested == "strict":
        raise UsageError(refusal(failed))
    note = f"Isolation is limits ({failed[0].seen}): the bots can read your files and use the network; referee doctor says what to do."
    return Level(LIMITS, limits, notes=(note,))


def variants_of(bots: Sequence[Bot]) -> set[str]:
    """Return the variants of the sandbox that these bots need."""
    return {variant_for(needs(each)) for each in plans(bots)}


def _failures(isolation: Level, variants: set[str]) -> list[SandboxCheck]:
    """Return the checks that fail twice: a busy machine or a kill from outside may cause a first failure."""
    from referee.isolation import probe

    def failed() -> list[SandboxCheck]:
        return [check for check in probe.prove(isolation, variants) if not check.ok]

    return failed() and failed()


def forget(isolation: Level) -> None:
    """Delete the stored results of passed tests, after a sandbox has failed."""
    for variant in VARIANTS:
        check_cache.forget(isolation, variant)


def refusal(failed: Sequence[SandboxCheck]) -> str:
    """Return the message that strict isolation isn't possible: each failed check with its remedy."""
    lines = dict.fromkeys(f"  {check.name}: {check.seen}. {check.remedy}" for check in failed)
    return "\n".join(["Strict isolation isn't possible on this machine, so no match was started:", *lines])
