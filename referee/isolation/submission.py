"""Copies hand-ins and other bots' files to a folder of the referee, so that the sandbox hides their original name and path.

Theory of operation. The owner of a hand-in may change it during the copy, for instance by swapping a folder for a link to a place
that only the referee's user can read. So no path is resolved twice. Each folder is opened by its name in its parent folder,
never through a link, and files are opened, measured and read through descriptors. The caps apply to the bytes that were read,
not to the listed sizes.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
import tempfile
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from referee.errors import CopyUnwritten, PlayerError
from referee.isolation import runtime
from referee.isolation.names import is_stale, own_prefix
from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Limits of one hand-in.
MOST_FILES = 10_000
MOST_BYTES = 256 << 20
#: The deepest nesting of folders.
MOST_DEPTH = 50

_CHUNK = 1 << 20
#: Errors of the disk, not of the hand-in.
_FULL = (errno.ENOSPC, errno.EDQUOT)
#: The most links on the path to a hand-in, as in the kernel.
_MOST_LINKS = 40
#: Opening a folder only to look up names needs no permission to list it (Linux).
_PATH = getattr(os, "O_PATH", os.O_RDONLY)
_FOLDER = os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
#: The system's folder for temporary files.
_SHARED = "/tmp"
#: A FIFO that took a file's place must not block the referee.
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
#: Names of the kinds that are neither files nor folders, by the bits of the mode.
KINDS = {stat.S_IFIFO: "a FIFO", stat.S_IFSOCK: "a socket", stat.S_IFBLK: "a device", stat.S_IFCHR: "a device"}


#: The ends of the names of archives that a grading unpacks, and of others.
ARCHIVES = (".tar.gz", ".tgz", ".tar", ".zip")
OTHER_ARCHIVES = (".7z", ".rar", ".tar.xz", ".txz", ".tar.bz2", ".tbz2", ".tar.zst", ".gz", ".bz2", ".xz", ".zst")


def is_ignored(name: str) -> bool:
    """True for a name that doesn't belong to a bot: Python's compiled files, and the history of a repository.

    Hashes, copies and archives all leave it out: a file without a hash that reaches a bot could change its behaviour.
    """
    return name in ("__pycache__", ".git")


class Piece(NamedTuple):
    """One file or folder of a hand-in: where it is, and its place below the bot's folder ("" for the folder itself)."""

    source: str
    place: str


def refusal(label: str, text: str, *, is_hand_in: bool = True) -> PlayerError:
    """Return the exception for a refused hand-in or other bot.

    ``label`` is its quoted name, ``text`` continues the sentence.
    """
    return PlayerError(f"The {'hand-in' if is_hand_in else 'bot'} {label} {text}")


class Count:
    """Counts the files and bytes copied so far; PlayerError above a cap.

    ``leaves_out`` returns whether a name is left out. Messages speak of a bot or, with ``is_hand_in``, of a hand-in.
    """

    def __init__(self, label: str, leaves_out: Callable[[str], bool] = is_ignored, *, is_hand_in: bool = False) -> None:
        self.label = label
        self.is_hand_in = is_hand_in
        self._remedy = "submit only the bot's own files" if is_hand_in else "put the bot's own files into a folder of their own"
        self.is_ignored = leaves_out
        self.files = 0
        self.bytes = 0

    def refusal(self, text: str) -> PlayerError:
        """Return the exception for these files; ``text`` continues the sentence."""
        return refusal(self.label, text, is_hand_in=self.is_hand_in)

    def add_entry(self) -> None:
        """Count one file, folder or link."""
        self.files += 1
        if self.files > MOST_FILES:
            raise self.refusal(f"has more than {MOST_FILES:,} files; {self._remedy}.")

    def expect(self, size: int) -> None:
        """Refuse a file of this size early if it would exceed the cap."""
        if self.bytes + size > MOST_BYTES:
            raise self.refusal(f"has more than {MOST_BYTES >> 20} MiB; {self._remedy}.")

    def add_bytes(self, size: int) -> None:
        """Count bytes that were read."""
        self.expect(size)
        self.bytes += size


def new_name(*, is_for_others: bool = False) -> str:
    """Return the path of a new folder. Its name contains this process, so that it can be removed if this process is killed.

    ``is_for_others``: the bots' users must be able to reach it, even if root's folder for temporary files is closed.
    """
    folder = open_temporary_folder() if is_for_others else tempfile.gettempdir()
    return os.path.join(folder, f"{own_prefix(os.getpid())}-{secrets.token_hex(8)}")


def open_temporary_folder() -> str:
    """Return the folder for temporary files that the bots' users can go through: for root, not one that is closed to them."""
    folder = tempfile.gettempdir()
    return _SHARED if os.geteuid() == 0 and not runtime.is_passable(folder) and os.path.isdir(_SHARED) else folder


class CopiedFiles(NamedTuple):
    """A copy of a hand-in: its folder, and the number of files and bytes in it."""

    folder: str
    files: int
    bytes: int


def copy(
    pieces: tuple[Piece, ...],
    label: str,
    target: str | None = None,
    leaves_out: Callable[[str], bool] = is_ignored,
    *,
    is_open: bool = False,
    is_hand_in: bool = False,
) -> CopiedFiles:
    """Copy a hand-in to a new folder, ``target`` if one is given; the caller removes it.

    Files and folders inside a folder are left out if ``leaves_out`` of their name is true. Only this user can read the copy or, with
    ``is_open``, everybody who can enter the folder above. PlayerError names the file that can't be copied: a link that leaves the
    hand-in or leads nowhere, a FIFO, a socket, a device, one file too many. CopyUnwritten if the disk is full.
    """
    target = target or new_name()
    count = Count(f"'{label}'", leaves_out, is_hand_in=is_hand_in)
    try:
        os.mkdir(target, 0o700)
        for piece in pieces:
            _copy_piece(piece, target, count)
        if is_open:
            open_to_all(target)
    except OSError as error:
        remove(target)
        if error.errno in _FULL:
            where = os.path.dirname(target)
            raise CopyUnwritten(
                f"The files of {count.label} can't be copied to {where}: {error.strerror}; make room and try again."
            ) from None
        where = str(error.filename or label)
        why = error.strerror or str(error)
        if error.errno in (errno.ELOOP, errno.ENOTDIR, errno.EINVAL):
            why = "it changed while it was copied"
        raise count.refusal(f"can't be copied: {where}: {why}.") from None
    except BaseException:
        remove(target)
        raise
    return CopiedFiles(target, count.files, count.bytes)


def _copy_piece(piece: Piece, target: str, count: Count) -> None:
    """Copy one file or folder that the user named."""
    with contextlib.closing(_Descent(count)) as descent:
        folder, name = descent.enter(os.path.join(os.getcwd(), piece.source))
        place = os.path.join(target, piece.place) if piece.place else target
        os.makedirs(os.path.dirname(place) if piece.place else place, exist_ok=True)
        if stat.S_ISDIR(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            top = os.open(name, os.O_RDONLY | _FOLDER, dir_fd=folder)
            try:
                os.makedirs(place, exist_ok=True)
                _copy_folder(top, os.path.realpath(piece.source), "", place, count)
            finally:
                os.close(top)
        else:
            count.add_entry()
            _copy_file(folder, name, piece.place or piece.source, place, count)


class _LinkOnPath(NamedTuple):
    """A link on the path that was followed: its owner, its name and its target."""

    owner: int
    name: str
    text: str


class _Descent:
    """Opens a path folder by folder from the root and decides whether to follow each link.

    A link that belongs to this user or to root is followed: nobody else can change it. A link of another user is followed only to
    a target that belongs to that user.
    """

    def __init__(self, count: Count) -> None:
        self._count = count
        self._open: list[int] = []

    def enter(self, path: str) -> tuple[int, str]:
        """Return the descriptor of the folder that holds ``path`` and the name in it, which isn't a link ("." for the folder itself)."""
        if os.path.basename(path.rstrip("/")) in ("", ".", ".."):
            path = os.path.realpath(path)
        home, name = os.path.split(path.rstrip("/"))
        folder = self._walk(_names(home))
        fd = self._peek(folder, name)
        if not stat.S_ISLNK(os.fstat(fd).st_mode):
            return folder, name
        goal = self.follow(path)
        if stat.S_ISDIR(os.fstat(goal).st_mode):
            return goal, "."
        # The named file is itself a link: only a link to a file in the same folder is accepted.
        text = os.readlink("", dir_fd=fd)
        real, home = os.path.realpath(path), os.path.realpath(home)
        if not real.startswith(home + os.sep):
            where = f"'{path}' points to '{text}'"
            raise self._count.refusal(f"is a link that leaves its folder: {where}; name the file itself.")
        # From here on only names are used. They are looked up in the open folder, even if the path means something else now.
        *parts, last = real[len(home) + 1 :].split(os.sep)
        for part in parts:
            folder = self._keep(os.open(part, _PATH | _FOLDER, dir_fd=folder))
        return folder, last

    def follow(self, path: str) -> int:
        """Return a descriptor of a path's final target, only for inspection."""
        return self._walk(_names(path))

    def _walk(self, names: list[str]) -> int:
        """Open folder after folder from the root, as the kernel does: ".." leads to the parent of the folder that was really entered."""
        root = self._keep(os.open("/", _PATH | _FOLDER))
        path = [root]
        waiting: deque[str | _LinkOnPath] = deque(names)
        links = 0
        while waiting:
            part = waiting.popleft()
            if isinstance(part, _LinkOnPath):
                self._check(part, path[-1])
            elif part == "..":
                del path[max(1, len(path) - 1) :]
            else:
                fd = self._peek(path[-1], part)
                facts = os.fstat(fd)
                if not stat.S_ISLNK(facts.st_mode):
                    path.append(fd)
                    continue
                links += 1
                if links > _MOST_LINKS:
                    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), part)
                text = os.readlink("", dir_fd=fd)
                if text.startswith("/"):
                    path = [root]
                waiting.extendleft(reversed([*_names(text), _LinkOnPath(facts.st_uid, part, text)]))
        return path[-1]

    def _check(self, link: _LinkOnPath, goal: int) -> None:
        """Raise PlayerError if a link of another user leads to a target that doesn't belong to that user."""
        if link.owner not in (0, os.geteuid(), os.fstat(goal).st_uid):
            where = f"'{link.name}', which belongs to another user and points to '{link.text}'"
            raise self._count.refusal(f"is reached through the link {where}, which doesn't; name the folder itself.")

    def _peek(self, folder: int, name: str) -> int:
        """Return a descriptor of a name without reading it or following a link."""
        return self._keep(os.open(name, _PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=folder))

    def _keep(self, fd: int) -> int:
        self._open.append(fd)
        return fd

    def close(self) -> None:
        """Close all descriptors opened on the path."""
        while self._open:
            os.close(self._open.pop())


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]


def open_file(path: str, label: str) -> BinaryIO:
    """Open a file for reading, never through another user's link to a target that doesn't belong to that user.

    OSError if that fails, also if it isn't an ordinary file; PlayerError for a link that may not be followed.
    """
    if not hasattr(os, "O_PATH"):
        return open_regular(Path(path))
    with contextlib.closing(_Descent(Count(f"'{label}'"))) as descent:
        goal = descent.follow(os.path.join(os.getcwd(), path))
        if not stat.S_ISREG(os.fstat(goal).st_mode):
            raise OSError(0, "it is not an ordinary file", path)
        # Open the same file again, for reading.
        return os.fdopen(os.open(f"/proc/self/fd/{goal}", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb")


def _copy_folder(folder: int, top: str, below: str, target: str, count: Count) -> None:
    """Copy everything in an open folder; ``top`` is the hand-in's path and ``below`` the folder's path in it, for messages and links."""
    for name, facts in _entries(folder, below, count):
        count.add_entry()
        path, place = os.path.join(below, name), os.path.join(target, name)
        if stat.S_ISLNK(facts.st_mode):
            os.symlink(_link(top, path, count), place)
        elif stat.S_ISDIR(facts.st_mode):
            if path.count(os.sep) >= MOST_DEPTH:
                raise count.refusal(f"has more than {MOST_DEPTH} folders in one another: '{path}'; flatten it.")
            os.mkdir(place, 0o700)
            try:
                inner = os.open(name, os.O_RDONLY | _FOLDER, dir_fd=folder)
            except PermissionError as error:
                raise count.refusal(f"has a folder that can't be read: '{path}' ({error.strerror}).") from None
            try:
                _copy_folder(inner, top, path, place, count)
            finally:
                os.close(inner)
            # A bot's hash covers only files, so copies have no empty folders.
            with contextlib.suppress(OSError):
                os.rmdir(place)
        else:
            _copy_file(folder, name, path, place, count)


def _entries(folder: int, below: str, count: Count) -> Iterator[tuple[str, os.stat_result]]:
    """Return the bot's entries of an open folder, sorted by name, with their present status.

    The numbers and times of a copy's files show the order of their creation. It must not depend on the folder, because no hash covers that order.
    """
    names = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if count.is_ignored(entry.name):
                continue
            names.append(entry.name)
            if len(names) > MOST_FILES:
                # ``count`` refuses them.
                break
    for name in sorted(names):
        try:
            yield name, os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            gone = os.path.join(below, name)
            raise count.refusal(f"changed while it was copied: '{gone}' is gone; try again.") from None


def _link(top: str, path: str, count: Count) -> str:
    """Return the target of a link inside the hand-in, relative to its folder. PlayerError if it leads out of the hand-in.

    The result is the text of a link in the copy. Nothing outside the sandbox follows it.
    """
    full = os.path.join(top, path)
    real = os.path.realpath(full)
    where = f"'{path}' points to '{_target(full)}'"
    if real != top and not real.startswith(top + os.sep):
        raise count.refusal(f"has a link that leaves it: {where}; put a copy there.")
    if not os.path.exists(real):
        raise count.refusal(f"has a broken link: {where}; take it out.")
    if any(count.is_ignored(name) for name in _names(os.path.relpath(real, top))):
        raise count.refusal(f"has a link to a file that is left out of the copy: {where}; put a copy there.")
    return os.path.relpath(real, os.path.realpath(os.path.dirname(full)))


def _target(link: str) -> str:
    try:
        return os.readlink(link)
    except OSError:
        return "nowhere"


def _copy_file(folder: int, name: str, path: str, target: str, count: Count) -> None:
    """Copy one ordinary file of an open folder, but not an object that has replaced it."""
    try:
        fd = os.open(name, _FILE, dir_fd=folder)
    except OSError as error:
        # A socket, or a device without a driver.
        if error.errno == errno.ENXIO:
            raise _odd_file(count, path, os.stat(name, dir_fd=folder, follow_symlinks=False)) from None
        raise
    facts = os.fstat(fd)
    if not stat.S_ISREG(facts.st_mode):
        os.close(fd)
        raise _odd_file(count, path, facts)
    with os.fdopen(fd, "rb", buffering=0) as reading:
        count.expect(facts.st_size)
        mode = 0o500 if facts.st_mode & 0o111 else 0o400
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as writing:
            while chunk := reading.read(_CHUNK):
                count.add_bytes(len(chunk))
                writing.write(chunk)


def _odd_file(count: Count, path: str, facts: os.stat_result) -> PlayerError:
    kind = KINDS.get(stat.S_IFMT(facts.st_mode), "no ordinary file")
    remedy = "take it out" if count.is_hand_in else "take it out, or give the bot a folder of its own"
    return count.refusal(f"has {kind}: '{path}'; {remedy}.")


def open_to_all(top: str) -> None:
    """Let all users read and execute a copy, so that an archive without permissions runs like the packed folder."""
    for folder, _, files in os.walk(top):
        os.chmod(folder, 0o755)
        for name in files:
            path = os.path.join(folder, name)
            if stat.S_ISREG(os.lstat(path).st_mode):
                os.chmod(path, 0o555)


def sweep() -> None:
    """Remove the folders of referees that have ended."""
    for folder in {tempfile.gettempdir(), open_temporary_folder()}:
        with os.scandir(folder) as entries:
            for entry in entries:
                if is_stale(entry.name) and _is_ours(entry):
                    remove(entry.path)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """True if a folder belongs to this user or, for root, to a user ID reserved for a bot."""
    try:
        owner = entry.stat(follow_symlinks=False).st_uid
        return entry.is_dir(follow_symlinks=False) and (owner == os.geteuid() or os.geteuid() == 0)
    except OSError:
        return False


def remove(folder: str) -> None:
    """Remove a copy as far as possible."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
