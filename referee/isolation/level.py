"""A level of isolation: the mechanisms that separate the bots of a match from this machine and from each other."""

from __future__ import annotations

from typing import NamedTuple

from referee.isolation import cgroups, users
from referee.isolation.limits import ISOLATED, ISOLATED_CGROUP, LIMITS_USER, NONE, Limits

NO_TREES = cgroups.Trees({}, frozenset(), is_unified=False)


class Level(NamedTuple):
    """The level of a match, with the limits of bots and the control groups. ``notes`` say which guarantees are weaker."""

    name: str = NONE
    limits: Limits = Limits()
    trees: cgroups.Trees = NO_TREES
    notes: tuple[str, ...] = ()
    #: True if a bot that can't be frozen needs a core of its own.
    is_strict: bool = False
    #: True if root may start a bot in a user namespace of its own (variant A).
    has_variant_a: bool = True
    #: True if the kernel kills the whole bot above its memory cap (version 2 of control groups), not only the largest process.
    ends_whole: bool = True

    @property
    def has_sandbox(self) -> bool:
        """True if bots run in a sandbox."""
        return self.name in (ISOLATED_CGROUP, ISOLATED)

    @property
    def guards_supervisor(self) -> bool:
        """True if bots can't signal the processes of the referee."""
        return self.has_sandbox or self.starts_as_users

    @property
    def copies_files(self) -> bool:
        """True if bots run from copies of their files."""
        return self.has_sandbox or self.name == LIMITS_USER

    @property
    def starts_as_users(self) -> bool:
        """True if each bot runs without a sandbox as a user of its own."""
        return self.name == LIMITS_USER or (not self.has_sandbox and users.are_needed())

    @property
    def holds(self) -> bool:
        """True if a bot can't undo being stopped."""
        return self.has_sandbox and self.trees.has_freezer

    @property
    def accounting(self) -> str:
        """The precision of processor time: "exact" (the kernel counts all processes of a bot) or "approximate"."""
        return "exact" if self.has_sandbox and self.trees.has_accounts else "approximate"

    def kept_limits(self) -> dict[str, int]:
        """Return the limits that are enforced at this level, by name."""
        limits = dict(self.limits)
        # This isn't a limit of the match: the build ends before the match begins.
        del limits["build_seconds"]
        return limits if self.name != NONE else {name: limits[name] for name in ("line_bytes", "stderr_bytes", "remarks_bytes")}
