"""Runs each bot as a separate user at the level ``limits+user``, for machines that allow no namespaces, such as a grader's container.

Theory of operation. The referee runs as root. Each bot runs under a user ID that no other process has, without capabilities and
without a way to gain any. File permissions then separate it from everything that is closed to other users: the referee's files, the
opponent's and those of other matches. It can signal and trace only its own processes. Its program is a copy that it can read and not
change, its scratch folder is its own. Both are removed with the bot.

``confinement`` also takes away the network and, if the kernel can, the right to write anywhere else.

This is weaker than a sandbox. The bot sees which programs run, and it can read whatever is open to every user. A program of a dialect keeps
the network, because it connects to a port.
"""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
from typing import TYPE_CHECKING

from typing_extensions import override

from referee.errors import PlayerError, UsageError
from referee.isolation import bubblewrap, confinement, runtime, submission, supervisor, users
from referee.isolation.bot import HOME
from referee.isolation.bot_process import BotProcess, Cleaning, ProgramStart, SoftLimits
from referee.isolation.plan import needs
from referee.isolation.users import UserNumber

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from referee.isolation.bot import Bot
    from referee.isolation.level import Level
    from referee.isolation.plan import Plan

#: The path of a bot's files, as a whole part of a word of its command line.
_HOME = re.compile(rf"(?:(?<=^)|(?<=[=:])){re.escape(HOME)}(?=$|[/:])")
_SETPRIV_SECONDS = 60
#: The first descriptor that a program inherits besides the standard ones.
_FILTER_FD = 3


class UserProcess(BotProcess):
    """A bot that runs without a sandbox as a user of its own. Its ``folder`` is removed with it; "" for a build, because its files stay.

    The supervisor removes files only after the last of its matches. By then another bot may have the user ID.
    """

    def __init__(self, bot: Bot, start: ProgramStart, level: Level, user: UserNumber, folder: str) -> None:
        super().__init__(bot, start, level.limits, level.name)
        self._user: UserNumber | None = user
        self._folder = folder

    @override
    def close(self) -> None:
        super().close()
        if self._user is not None:
            if self.is_sandbox:
                # Only their common user ID still connects the bot with the processes that it left behind.
                users.end_all_of(self._user.number)
            if self._folder and not supervisor.attempt(os.rmdir, self._folder):
                supervisor.attempt(supervisor.remove_tree, self._folder)
            users.clear_shared_memory(self._user.number)
            self._user.release()
            self._user = None


class OtherUserProcess(UserProcess):
    """A bot with a user of its own. ``home`` is the copy of its files; ``processes`` its limit, plus the processes that start it."""

    is_sandbox = True

    def __init__(self, bot: Bot, start: ProgramStart, level: Level, user: UserNumber, folder: str, home: str, processes: int) -> None:
        super().__init__(bot, start, level, user, folder)
        self.home = home
        self.watch = SoftLimits(level.limits.memory_bytes, processes)


def refuse_missing(plans: Iterable[Plan]) -> None:
    """Raise UsageError if bots can't run as separate users here, or if those users can't read the files that these programs need."""
    begin = "Bots can't run as users of their own"
    if os.geteuid() != 0:
        raise UsageError(f"{begin}: only root can start them so.")
    for name, package in (("setpriv", "util-linux"), ("prlimit", "util-linux"), ("perl", "perl-base")):
        if bubblewrap.tool(name) is None:
            raise UsageError(f"{begin}: this machine has no {name}; install {package}.")
    why = confinement.refusal()
    if why is not None:
        raise UsageError(f"{begin}: {why}.")
    folder = os.path.dirname(submission.new_name())
    if not runtime.is_passable(folder):
        where = folder
        raise UsageError(f"{begin}: they can't enter {where}, where their files would be; name another folder in TMPDIR.")
    for plan in plans:
        closed = _closed(plan)
        if closed is not None:
            where = closed
            raise UsageError(
                f"{begin}: {plan.bot.label:.120} needs {where}, which other users can't read; "
                "install the referee in a folder that every user can enter, such as /opt/referee."
            )
    try:
        with users.other_user() as number:
            # A container may lack the rights for this.
            line = [*users.become(number), bubblewrap.tool("true") or "true"]
            done = subprocess.run(line, capture_output=True, text=True, errors="replace", timeout=_SETPRIV_SECONDS, check=False)
    except (OSError, subprocess.SubprocessError) as error:
        raise UsageError(f"{begin}: setpriv failed ({error}).") from None
    if done.returncode != 0:
        raise UsageError(f"{begin}: {done.stderr.strip() or 'setpriv failed'}.")


def process(plan: Plan, level: Level, cpu_seconds: int | None, announce: Callable[[Cleaning], None]) -> OtherUserProcess:
    """Return a bot's own user with a copy of its files, as ``processes.make_process`` does. PlayerError if the files can't be copied."""
    closed = _closed(plan)
    if closed is not None:
        raise PlayerError(f"{plan.bot.label:.120} needs {closed}, which the bot's user can't read.")
    limits = level.limits
    # A build changes its files, which are already a copy.
    top = os.path.dirname(plan.bot.folder) if plan.is_build else submission.new_name()
    home, scratch = f"{top}/bot", f"{top}/tmp"
    with contextlib.ExitStack() as undo:
        user = UserNumber(is_spread=True)
        undo.callback(user.release)
        if plan.is_build:
            give(top, user.number)
            # Landlock lets it write in the folder that holds both.
            confined_to = top
        else:
            announce(Cleaning(trees=(top,)))
            os.mkdir(top, 0o700)
            undo.callback(submission.remove, top)
            submission.copy(plan.bot.files, plan.bot.label, home)
            _show(home, user.number)
            os.mkdir(scratch, 0o700)
            os.chown(scratch, user.number, user.number)
            confined_to = scratch
        # Its group may enter, and nobody else; the names in it can't be listed.
        os.chown(top, 0, user.number)
        os.chmod(top, 0o710)
        own_bin = [os.path.dirname(runtime.OWN_PYTHON if plan.is_own_file else plan.inside[0])]
        env = {**bubblewrap.environment(own_bin), "HOME": scratch, "TMPDIR": scratch}
        # The kernel counts the processes of the whole user; a wrapper doesn't count towards the bot's limit.
        processes = limits.processes + (1 if plan.script else 0)
        caps = bubblewrap.prlimit(bubblewrap.hard_limits(limits, cpu_seconds, limits.memory_bytes, processes))
        inside = tuple(_HOME.sub(home.replace("\\", r"\\"), word) for word in plan.inside)
        inside, env = bubblewrap.with_java_memory(inside, env, limits.memory_bytes)
        confined = confinement.before(bubblewrap.tool("perl") or "perl", confined_to, _FILTER_FD)
        argv = (*users.become(user.number), *caps, *confined, *plan.before, *inside)
        fd = confinement.filter_pipe(has_network=bool(plan.script) and not plan.is_build, is_build=plan.is_build)
        start = ProgramStart(argv, env, home, (fd,))
        made = OtherUserProcess(plan.bot, start, level, user, "" if plan.is_build else top, home, processes)
        undo.pop_all()
        return made


def _show(top: str, group: int) -> None:
    """Let a group read and execute a copy, as in ``submission.copy``. Root stays its owner, so the bot can't change its mode or content."""
    for folder, _, files in os.walk(top):
        os.chown(folder, 0, group)
        os.chmod(folder, 0o750)
        for name in files:
            path = os.path.join(folder, name)
            os.lchown(path, 0, group)
            if not os.path.islink(path):
                os.chmod(path, 0o550)


def give(top: str, user: int) -> None:
    """Give everything in a folder to a user, except the folder itself."""
    for folder, names, files in os.walk(top):
        for name in (*names, *files):
            os.lchown(os.path.join(folder, name), user, user)


def _closed(plan: Plan) -> str | None:
    """Return the first path of this machine that a bot needs but other users can't read; None if they can read all."""
    return next((path for path in needs(plan) if not runtime.is_open_to_all(path)), None)
