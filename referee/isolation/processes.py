"""Makes the process of a bot, or of its build, at a level of isolation."""

from __future__ import annotations

import contextlib
import itertools
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import PlayerError, StartError
from referee.isolation import another_user, bubblewrap, cgroups, own_user, runtime, users
from referee.isolation.bot import HOME
from referee.isolation.bot_process import BotProcess, Cleaning, ProgramStart
from referee.isolation.level import NO_TREES, Level
from referee.isolation.limits import ISOLATED_CGROUP, LIMITS, LIMITS_USER, NONE, Limits
from referee.isolation.names import own_prefix
from referee.isolation.plan import VARIANT_A, VARIANT_B, is_own_python, needs, normal, variant_for
from referee.isolation.sandboxed_process import SandboxedProcess
from referee.isolation.users import UserNumber
from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.isolation.copies import Copies
    from referee.isolation.plan import Plan

_numbers = itertools.count()


def make_process(level: Level, plan: Plan, cpu_seconds: int | None, copies: Copies) -> BotProcess:
    """Return the process of a bot or its build, for the supervisor to start. It owns descriptors and a copy of the bot's files until ``close``.

    ``copies`` are those of the supervisor. PlayerError if the program has files that can't be copied, or if the user of the sandbox can't run it.
    """
    if level.has_sandbox:
        return sandbox(level, plan, cpu_seconds, copies)
    if level.name != NONE:
        _refuse_unrunnable(plan, has_sandbox=False)
    if level.name == LIMITS_USER:
        return another_user.process(plan, level, cpu_seconds, copies.announce)
    argv = (*plan.before, *plan.argv)
    if level.name == LIMITS:
        argv = (*_caps(level.limits, cpu_seconds), *argv)
    if users.are_needed():
        return own_user.process(plan, argv, level, copies)
    return BotProcess(plan.bot, ProgramStart(argv, plan.env, plan.bot.folder), level.limits, level.name)


def sandbox(level: Level, plan: Plan, cpu_seconds: int | None, copies: Copies) -> SandboxedProcess:
    """Return the process of a bot in a sandbox, as ``make_process`` does."""
    # Wrapper processes don't count towards the bot's limit.
    limits = level.limits.replace(processes=level.limits.processes + 1) if plan.script else level.limits
    with contextlib.ExitStack() as undo:
        user = None
        if os.geteuid() == 0:
            user = UserNumber()
            undo.callback(user.release)
        number = None if user is None else user.number
        copy = copies.take(plan.bot, number)
        undo.callback(copy.give_back)
        # The copy runs, even if the original has changed.
        plan = _copied(plan, copy.folder)
        _refuse_unrunnable(plan, has_sandbox=True)
        _refuse_unshown(plan)
        binds = needs(plan)
        variant = variant_for(binds)
        own_namespace = variant != VARIANT_B and (variant != VARIANT_A or level.has_variant_a)
        if user is not None:
            _refuse_closed(plan, binds)
        name = f"{own_prefix(os.getpid())}-{next(_numbers)}"
        trees = level.trees if level.name == ISOLATED_CGROUP else NO_TREES
        copies.announce(Cleaning(tuple(cgroups.thaw_files(trees, name)), tuple(cgroups.folders_of(trees, name))))
        group = None
        if level.name == ISOLATED_CGROUP:
            # Add one for bwrap's inner half.
            group = cgroups.BotGroups(trees, name, limits.memory_bytes, limits.processes + 1, ends_whole=level.ends_whole)
            undo.callback(group.remove)
            undo.callback(group.close)
        own_bin = [os.path.dirname(runtime.OWN_PYTHON if plan.is_own_file else plan.inside[0])] if binds else []
        # The group caps all processes together and counts its kills. Without a group each process has its own cap.
        data = None if group is not None else limits.memory_bytes
        argv, builder = (plan.inside, plan.before) if plan.is_build else ((*plan.before, *plan.inside), ())
        argv, env = bubblewrap.with_java_memory(argv, bubblewrap.environment(own_bin), limits.memory_bytes)
        config = bubblewrap.SandboxConfig(argv, copy.folder, binds, env, limits, number, own_namespace, cpu_seconds, data, builder=builder)
        process = SandboxedProcess(plan.bot, config, level, group, user, copy.give_back)
        undo.pop_all()
        return process


def _copied(plan: Plan, folder: str) -> Plan:
    """Return a plan whose program, if it is one of the bot's files, is that of a copy."""
    if not plan.is_own_file:
        return plan
    return plan._replace(argv=(folder + plan.inside[0].removeprefix(HOME), *plan.argv[1:]))


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
    """Return the command that sets resource limits: the system's tool, or the shell on macOS, which has no such tool."""
    if bubblewrap.tool("prlimit") is not None:
        return bubblewrap.prlimit(bubblewrap.hard_limits(limits, cpu_seconds, limits.memory_bytes, None))
    script = f"ulimit -c 0; ulimit -n {limits.open_files}; ulimit -f {limits.scratch_bytes // 512}; "
    script += f"ulimit -t {cpu_seconds}; " if cpu_seconds is not None else ""
    return ("/bin/sh", "-c", script + 'exec "$@"', "sh")
