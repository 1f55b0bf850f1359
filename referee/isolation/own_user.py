"""Runs each bot as a user of its own at the levels ``none`` and ``limits``, if root runs the referee.

Theory of operation. These levels promise little, but no bot gets the rights of root. The supervisor starts each bot, and each build, under a
user ID that no other process has, without a way to gain rights. So a bot can neither signal nor change what isn't its own: the referee,
other programs of the machine, the opponent, its own folder. It runs where its files are. If they, or the programs that it needs, are below
a folder that is closed to other users, the bot's start opens the way only for this bot, as ``user_start`` describes. Where no mounts are allowed, as
in most containers, such a match is refused. Its home folder and its folder for temporary files are its own, and are removed with the bot.

On other systems than Linux, root's bots stay root's.
"""

from __future__ import annotations

import os
import shlex
import stat
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.isolation import another_user, bubblewrap, runtime, submission
from referee.isolation.another_user import UserProcess
from referee.isolation.bot_process import ProgramStart
from referee.isolation.plan import needs
from referee.isolation.users import UserNumber
from referee.support.cache import VARIABLE as CACHE_VARIABLE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.isolation.copies import Copies
    from referee.isolation.level import Level
    from referee.isolation.plan import Plan


#: The results of ``find_passage``, by program.
_passages: dict[object, tuple[tuple[str, ...], tuple[str, ...]]] = {}


def process(plan: Plan, argv: tuple[str, ...], level: Level, copies: Copies) -> UserProcess:
    """Return a bot's own user, which runs ``argv``. UsageError if that user can't reach the bot's files here."""
    user = UserNumber()
    try:
        if plan.is_build:
            # The copy that the build changes, and its temporary files, are in one folder.
            top = os.path.dirname(plan.bot.folder)
            another_user.give(top, user.number)
            os.chmod(top, 0o711)
            folder, home = "", f"{top}/tmp"
        else:
            folder = home = copies.new_folder()
            os.chown(home, user.number, user.number)
        # Files don't change during a run of many matches.
        key = (
            plan.argv,
            plan.script,
            plan.bot.folder,
            plan.bot.files,
            os.stat(plan.bot.folder).st_ctime_ns if os.path.exists(plan.bot.folder) else 0,
        )
        passage = _passages.get(key) or find_passage(plan)
        if not plan.is_build:
            _passages[key] = passage
        _compile_sdk()
        env = {name: value for name, value in plan.env.items() if not name.startswith("XDG_")}
        if os.path.isdir(toolchains := os.path.join(env.get("HOME", ""), ".rustup")):
            # rustup finds its toolchains by HOME, which is another one here.
            env.setdefault("RUSTUP_HOME", toolchains)
        env |= {"HOME": home, "TMPDIR": home, CACHE_VARIABLE: ""}
        start = ProgramStart(argv, env, plan.bot.folder, user=user.number, passage=passage)
        return UserProcess(plan.bot, start, level, user, folder)
    except BaseException:
        user.release()
        raise


def find_passage(plan: Plan) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the folders to open and the files to copy, so that another user can read a bot's files and its interpreter, but not write there.

    UsageError if that isn't possible here.
    """
    runtimes = needs(plan)
    for path in runtimes:
        _refuse_closed_runtime(path)
    pieces = () if plan.is_build else tuple(os.path.abspath(piece.source) for piece in plan.bot.files)
    opened = {folder for path in runtimes for folder in _closed_runtime(path)}
    ways = filter(os.path.isabs, (plan.bot.folder, *plan.argv, *runtime.first_line(plan.argv[0])[:1], *pieces))
    # The copy that a build changes belongs to its user.
    opened |= {folder for path in ways if not (plan.is_build and _is_in(path, plan.bot.folder)) for folder in _closed(path)}
    pieces = tuple(map(os.path.realpath, pieces))
    copied, writable = [], set()
    for piece in pieces:
        folders, files, is_writable = _closed_files(piece)
        opened.update(folders, map(os.path.dirname, files))
        copied += files
        folder = piece if os.path.isdir(piece) else os.path.dirname(piece)
        if is_writable and not _is_in(submission.open_temporary_folder(), folder):
            writable.add(folder)
    if opened and not _has_mounts():
        raise UsageError(_refusal(plan, min(opened, key=len), pieces))
    if opened:
        # The commands that a script names: those of PATH, and the Python that has the SDK.
        commands = (*plan.env.get("PATH", "").split(":"), sys.executable)
        opened |= {folder for path in filter(os.path.isabs, commands) for folder in _closed_runtime(path)}
    if writable and _has_mounts():
        opened |= writable
    return tuple(sorted(opened, key=len)), tuple(copied)


def _refusal(plan: Plan, folder: str, pieces: tuple[str, ...]) -> str:
    piece = next((piece for piece in pieces if _is_in(folder, piece)), None)
    remedy = f"-R o+rX {piece}" if piece is not None else f"o+{'rx' if folder == plan.bot.folder else 'x'} {folder}"
    return (
        f"Root's bots run as users of their own, and {plan.bot.label:.120} needs files in {folder}, which is closed to other users. This system "
        "doesn't allow the mounts that would open it only to the bot. Install the referee and the bots in a folder that every user can enter, "
        f"such as /opt, or open this one: chmod {remedy}"
    )


def _is_in(path: str, folder: str) -> bool:
    return f"{path}/".startswith(f"{folder}/")


@cache
def _closed_runtime(path: str) -> tuple[str, ...]:
    """Return ``_closed`` of a part of this machine, which stays the same while the referee runs."""
    return tuple(_closed(path))


def _closed(path: str) -> Iterator[str]:
    """Return the folders on the way to a path that other users can't pass through, and the path itself if it is a folder that they can't read."""
    for way in dict.fromkeys((path, os.path.realpath(path))):
        folder, needed = way, 0o005
        while folder != "/":
            try:
                mode = os.stat(folder).st_mode
            except OSError:
                # It doesn't exist: the start of the bot will report that.
                mode = needed
            if mode & needed != needed and stat.S_ISDIR(mode):
                yield os.path.realpath(folder)
            folder, needed = os.path.dirname(folder), 0o001


def _closed_files(piece: str) -> tuple[list[str], list[str], bool]:
    """Return the folders of a submission that other users can't read, the files that they can't read or run, and whether they can change one."""
    folders, files, hidden = [], [], []
    is_writable = os.path.exists(piece) and bool(os.stat(piece).st_mode & 0o002)
    top, name = os.path.split(piece)
    count = 0
    for folder, subfolders, names in [(top, [], [name])] if os.path.isfile(piece) else os.walk(piece):
        subfolders[:] = [name for name in subfolders if not submission.is_ignored(name)]
        count += len(subfolders) + len(names)
        if count > submission.MOST_FILES:
            # Too many to be a bot's own files.
            break
        for name in (*subfolders, *names):
            path = f"{folder}/{name}"
            mode = os.lstat(path).st_mode
            if stat.S_ISLNK(mode):
                continue
            is_writable |= bool(mode & 0o002)
            is_dir = stat.S_ISDIR(mode)
            if mode & 0o004 and (mode & 0o001 or not (is_dir or mode & 0o100)):
                continue
            if name.startswith("."):
                # The bot's folder may be root's home, with .ssh in it.
                hidden.append(path)
            elif is_dir:
                folders.append(path)
            elif stat.S_ISREG(mode):
                files.append(path)
        subfolders[:] = [name for name in subfolders if f"{folder}/{name}" not in hidden]
    return folders, files, is_writable


@cache
def _refuse_closed_runtime(path: str) -> None:
    """Raise UsageError for an interpreter, or a part of the referee, whose own files are closed to other users."""
    parts = [os.path.join(path, name) for name in ("bin", "lib", "__init__.py")] if os.path.isdir(path) else [path]
    for part in filter(os.path.exists, parts):
        needed = 0o005 if os.path.isdir(part) else 0o004
        if os.stat(part).st_mode & needed != needed:
            raise UsageError(
                f"Root's bots run as users of their own, and other users can't read {part}, which they need; "
                f"try: chmod -R o+rX {shlex.quote(path)}"
            )


@cache
def _compile_sdk() -> None:
    """Compile the SDK: root's bots can't write the compiled files, so each would compile it again."""
    folder = Path(__file__).resolve().parents[2] / "sdk"
    made = max((path.stat().st_mtime for path in folder.glob("__pycache__/*.pyc")), default=0.0)
    if not sys.dont_write_bytecode and made < max((path.stat().st_mtime for path in folder.glob("*.py")), default=0.0):
        import compileall

        compileall.compile_dir(folder, maxlevels=0, quiet=2)


@cache
def _has_mounts() -> bool:
    """True if this process may make mount namespaces and mounts."""
    unshare = bubblewrap.tool("unshare")
    # It also changes how mounts spread, which a system that forbids mounts refuses.
    return unshare is not None and subprocess.run([unshare, "--mount", "true"], capture_output=True, check=False).returncode == 0
