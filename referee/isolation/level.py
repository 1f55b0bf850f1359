"""A level of isolation, and the processes that it makes."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import PlayerError, StartError
from referee.isolation import another_user, bubblewrap, cgroups, own_user, runtime
from referee.isolation.copies import Copies
from referee.isolation.limits import ISOLATED, ISOLATED_CGROUP, LIMITS, LIMITS_USER, NONE, Limits
from referee.isolation.names import own_prefix
from referee.isolation.plan import VARIANT_A, VARIANT_B, is_own_python, needs, normal, variant_for
from referee.isolation.process import Cleaning, Process, ProgramStart, SandboxedProcess
from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from referee.isolation.plan import Plan

_numbers = itertools.count()

NO_TREES = cgroups.Trees({}, frozenset(), is_unified=False)


class Isolation(NamedTuple):
    """The level that was reached, with its limits and control groups. ``notes`` say which guarantees are weaker."""

    level: str = NONE
    limits: Limits = Limits()
    trees: cgroups.Trees = NO_TREES
    notes: tuple[str, ...] = ()
    #: True if a bot that can't be frozen needs a core of its own.
    is_strict: bool = False
    #: True if root may start a bot in a user namespace of its own (variant A).
    has_variant_a: bool = True

    @property
    def has_sandbox(self) -> bool:
        """True if bots run in a sandbox."""
        return self.level in (ISOLATED_CGROUP, ISOLATED)

    @property
    def guards_supervisor(self) -> bool:
        """True if bots can't signal the processes of the referee."""
        return self.has_sandbox or self.starts_as_users

    @property
    def copies_files(self) -> bool:
        """True if bots run from copies of their files."""
        return self.has_sandbox or self.level == LIMITS_USER

    @property
    def starts_as_users(self) -> bool:
        """True if each bot runs without a sandbox as a user of its own."""
        return self.level == LIMITS_USER or (not self.has_sandbox and own_user.is_needed())

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
        # No limit of the match: the build is over when the match begins.
        del limits["build_seconds"]
        return limits if self.level != NONE else {name: limits[name] for name in ("line_bytes", "stderr_bytes", "remarks_bytes")}

    def _variant(self, binds: Iterable[str]) -> str:
        variant = variant_for(binds)
        return VARIANT_B if variant == VARIANT_A and not self.has_variant_a else variant

    def process(
        self,
        plan: Plan,
        cpu_seconds: int | None = None,
        *,
        ends_whole: bool = True,
        announce: Callable[[Cleaning], None] = lambda _: None,
        copies: Copies | None = None,
    ) -> Process:
        """Return the process of a bot, or of its build, which the supervisor is to start. It has descriptors and a copy of the bot's files until it is closed.

        ``announce`` is called with everything that must be cleaned up, before it is created. ``copies`` are those of earlier matches.
        PlayerError if the program has files that can't be copied, or if the user of the sandbox can't run it.
        """
        if self.level == LIMITS_USER:
            _refuse_unrunnable(plan, has_sandbox=False)
            return another_user.process(plan, self.limits, cpu_seconds, announce)
        if not self.has_sandbox:
            if self.level != NONE:
                _refuse_unrunnable(plan, has_sandbox=False)
            argv = (*plan.before, *plan.argv)
            if self.level == LIMITS:
                argv = (*_caps(self.limits, cpu_seconds), *argv)
            if own_user.is_needed():
                return own_user.process(plan, argv, self.limits, self.level, copies or Copies(announce))
            return Process(plan.bot, ProgramStart(argv, plan.env, plan.bot.folder), self.limits, self.level)
        return self._sandbox(plan, cpu_seconds, announce, copies or Copies(announce), ends_whole=ends_whole)

    def _sandbox(
        self, plan: Plan, cpu_seconds: int | None, announce: Callable[[Cleaning], None], copies: Copies, *, ends_whole: bool
    ) -> Process:
        # Wrapper processes don't count towards the bot's limit.
        limits = self.limits.replace(processes=self.limits.processes + 1) if plan.script else self.limits
        with contextlib.ExitStack() as undo:
            user = None
            if os.geteuid() == 0:
                from referee.isolation.users import UserNumber

                user = UserNumber()
                undo.callback(user.release)
            number = None if user is None else user.number
            copy = copies.take(plan.bot, number)
            undo.callback(copy.give_back)
            # What runs is the copy, whatever has become of the original.
            plan = _copied(plan, copy.folder)
            _refuse_unrunnable(plan, has_sandbox=True)
            _refuse_unshown(plan)
            binds = needs(plan)
            own_namespace = self._variant(binds) != VARIANT_B
            if user is not None:
                _refuse_closed(plan, binds)
            name = f"{own_prefix(os.getpid())}-{next(_numbers)}"
            trees = self.trees if self.level == ISOLATED_CGROUP else NO_TREES
            writes, folders = cgroups.thaw_files(trees, name), cgroups.folders_of(trees, name)
            announce(Cleaning(tuple(writes), tuple(folders)))
            group = None
            if self.level == ISOLATED_CGROUP:
                # Add one for bwrap's inner half.
                group = cgroups.BotGroups(self.trees, name, limits.memory_bytes, limits.processes + 1, ends_whole=ends_whole)
                undo.callback(group.remove)
                undo.callback(group.close)
            own_bin = [os.path.dirname(runtime.OWN_PYTHON if plan.is_own_file else plan.inside[0])] if binds else []
            # The group caps all processes together and counts its kills. Without a group each process has its own cap.
            data = None if group is not None else self.limits.memory_bytes
            env = bubblewrap.environment(own_bin)
            argv, builder = (plan.inside, plan.before) if plan.is_build else ((*plan.before, *plan.inside), ())
            argv, env = bubblewrap.with_java_memory(argv, env, limits.memory_bytes)
            config = bubblewrap.SandboxConfig(
                argv, copy.folder, binds, env, limits, number, own_namespace, cpu_seconds, data, builder=builder
            )
            process = SandboxedProcess(plan.bot, config, self.limits, self.level, group, user, copy.give_back)
            undo.pop_all()
            return process


def _copied(plan: Plan, folder: str) -> Plan:
    """Return a plan whose program, if it is one of the bot's files, is that of a copy."""
    if not plan.is_own_file:
        return plan
    return plan._replace(argv=(folder + plan.inside[0].removeprefix(bubblewrap.HOME), *plan.argv[1:]))


def _refuse_closed(plan: Plan, binds: Iterable[str]) -> None:
    """Raise PlayerError for a runtime that the sandbox's user can't read."""
    for bind in binds:
        needed = 0o005 if os.path.isdir(bind) else 0o004
        if not os.path.exists(bind) or os.stat(bind).st_mode & needed != needed:
            where = bind
            raise PlayerError(f"{plan.bot.label:.120} needs {where}, which the sandbox's user can't read; try: chmod -R a+rX {where}")


def _refuse_unrunnable(plan: Plan, *, has_sandbox: bool) -> None:
    """Raise StartError for a file that the kernel can't run, or whose interpreter isn't in the sandbox.

    The wrapper programs would run such a file as a shell script. The sandbox shows only interpreters of the system and the referee's own
    Python. If a bot's first line could choose, the bot could choose any file that it wants to see.
    """
    if not plan.is_own_file or not sys.platform.startswith("linux"):
        return
    why = None
    try:
        with open_regular(Path(plan.argv[0])) as file:
            first = file.read(4)
    except OSError:
        return
    words = runtime.first_line(plan.argv[0])
    if first.startswith(b"#!"):
        interpreter = words[0] if words else ""
        names = f"its first line names the interpreter '{interpreter:.120}'"
        if not os.path.isabs(interpreter) or not os.path.exists(interpreter):
            why = f"{names}, which does not exist; write #!/usr/bin/env python3, for instance"
        elif has_sandbox and not (runtime.is_of_system(normal(interpreter)) or is_own_python(words)):
            why = f"{names}, which is not shown in the sandbox; write #!/usr/bin/env python3, or name the interpreter before the file"
    elif not first.startswith(b"\x7fELF"):
        why = "it is neither a program of this machine nor a script whose first line names one (#!/usr/bin/env python3, for instance)"
    if why is not None:
        raise StartError(f"{plan.bot.label:.120} can't be started: {why}.")


def _refuse_unshown(plan: Plan) -> None:
    """Raise StartError for a program on the PATH that belongs neither to the system nor to a runtime, so that no sandbox shows it.

    A submission may name a program. What a sandbox shows must not depend on it, except for runtimes.
    """
    argv0 = plan.inside[0]
    if not plan.is_own_file and argv0 != runtime.OWN_PYTHON and not runtime.is_one(argv0):
        raise StartError(
            f"{plan.bot.label:.120} can't be started: '{argv0}' belongs neither to the system nor to the folder of a "
            "runtime, so the sandbox doesn't show it; install it for all users, or put it into the bot's folder."
        )


def _caps(limits: Limits, cpu_seconds: int | None) -> tuple[str, ...]:
    """Return the command that sets resource limits: the system's tool, or the shell if there is none (macOS)."""
    if bubblewrap.tool("prlimit") is not None:
        return bubblewrap.prlimit(bubblewrap.hard_limits(limits, cpu_seconds, limits.memory_bytes, None))
    script = f"ulimit -c 0; ulimit -n {limits.open_files}; ulimit -f {limits.scratch_bytes // 512}; "
    script += f"ulimit -t {cpu_seconds}; " if cpu_seconds is not None else ""
    return ("/bin/sh", "-c", script + 'exec "$@"', "sh")
