"""Starts a bot as another user, and lets it reach files below closed folders. The supervisor imports this file where root runs the referee.

Theory of operation. A bot of root may not be root, but root's files are often below a folder of mode 0700: the home folder, or one for
temporary files. The start copies nothing and changes no mode. The bot starts in a mount namespace of its own, in which each such folder on the
way to its files is replaced by an empty one in memory, open to everybody. Everything in the real folder is mounted there again, with the
same permissions, but read-only. So a bot reads what everybody could read if that one folder were open, and nothing that is closed
itself, such as ``.ssh``. The few files of the bot's own that others may not read are copied into that memory.

The supervisor is in that namespace only while it starts the bot. The namespace ends with the bot's last process.

Source: mount(2), mount_setattr(2), mount_namespaces(7); <linux/mount.h>, <linux/prctl.h>.
"""

from __future__ import annotations

import ctypes
import os
import stat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_CLONE_NEWNS = 0x20000
_MS_BIND, _MS_REC, _MS_SLAVE = 0x1000, 0x4000, 0x80000
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE, _MOUNT_ATTR_RDONLY = 442, -100, 0x8000, 1
_PR_SET_NO_NEW_PRIVS = 38
_READ_AND_ENTER = 0o005
_libc = ctypes.CDLL(None, use_errno=True)


def become(user: int, groups: list[int]) -> None:
    """Let the programs that root starts next run as a user, or as root again.

    Root's saved ID is this process's way back. A program has none: the kernel sets its saved IDs to its user's when it starts, and takes all
    rights. No other process has that user's ID, so none can act on this one meanwhile.
    """
    os.setresuid(-1, 0, 0)
    os.setgroups(groups)
    os.setresgid(user, user, 0)
    os.setresuid(user, user, 0)


def enter(standard: Sequence[int], user: int, opened: Sequence[str], copied: Sequence[str]) -> Callable[[], None] | None:
    """Prepare this process to start a program as a user, in a new mount namespace if anything has to be opened.

    The function that is returned leaves that namespace. OSError if mounts are not allowed here. From now on, no program that this process
    starts can gain rights, for instance by a set-user-ID program.

    ``standard`` are the program's pipes, which become its own, so that it can open /dev/stderr. ``opened`` are the closed folders, outer
    ones first, and those in which others could write. ``copied`` are files in opened folders that only their owner can read.
    """
    _check(_libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
    for fd in standard:
        os.fchown(fd, user, user)
    if not opened:
        return None
    # The way back. After setns the root folder is that of the namespace, and this process may have another one.
    home, root = os.open("/proc/self/ns/mnt", os.O_RDONLY | os.O_CLOEXEC), os.open("/", os.O_PATH | os.O_CLOEXEC)

    def leave() -> None:
        _check(_libc.setns(home, _CLONE_NEWNS))
        os.fchdir(root)
        os.chroot(".")
        os.close(home)
        os.close(root)

    _check(_libc.unshare(_CLONE_NEWNS))
    try:
        # Mounts here have no effect outside.
        _mount(None, "/", None, _MS_REC | _MS_SLAVE)
        for folder in opened:
            _open(folder, opened, copied)
    except BaseException:
        leave()
        raise
    return leave


def _open(folder: str, opened: Sequence[str], copied: Sequence[str]) -> None:
    """Cover a folder with one that everybody can read, and show everything in it that other users can use."""
    fd = os.open(folder, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        real = f"/proc/self/fd/{fd}"
        names = os.listdir(real)
        _mount("closed", folder, "tmpfs", 0, "mode=0755")
        for name in names:
            path = f"{folder}/{name}"
            try:
                _show(f"{real}/{name}", path, is_opened=path in opened, is_copied=path in copied)
            except FileNotFoundError:
                # Others may remove files at this moment.
                continue
    finally:
        os.close(fd)
    # Kernels before 5.12 can't do this; there, file permissions have to suffice.
    attributes = (ctypes.c_uint64 * 4)(_MOUNT_ATTR_RDONLY, 0, 0, 0)
    _libc.syscall(_MOUNT_SETATTR, _AT_FDCWD, os.fsencode(folder), _AT_RECURSIVE, attributes, ctypes.sizeof(attributes))


def _show(source: str, path: str, *, is_opened: bool, is_copied: bool) -> None:
    """Show one file, folder or link of a real folder, unless other users can't use it."""
    mode = os.lstat(source).st_mode
    if stat.S_ISLNK(mode):
        os.symlink(os.readlink(source), path)
    elif is_copied:
        _copy(source, path)
    elif mode & _READ_AND_ENTER or is_opened:
        if stat.S_ISDIR(mode):
            os.mkdir(path)
        else:
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_CLOEXEC))
        _mount(source, path, None, _MS_BIND | _MS_REC)


def _copy(source: str, path: str) -> None:
    with open(source, "rb") as file, open(path, "xb") as copy:
        while data := file.read(1 << 20):
            copy.write(data)
    os.chmod(path, 0o555)


def _mount(source: str | None, target: str, kind: str | None, flags: int, data: str | None = None) -> None:
    words = [None if word is None else os.fsencode(word) for word in (source, target, kind, data)]
    _check(_libc.mount(words[0], words[1], words[2], ctypes.c_ulong(flags), words[3]))


def _check(result: int) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
