"""A bot's own files, copied to a neutral place: what it was called and where it lay is nobody's business inside the sandbox."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import PlayerError
from referee.isolation.marks import is_left, own_mark
from referee.wire.shown import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

#: The most that one submission may have.
MOST_FILES = 10_000
MOST_BYTES = 256 << 20
#: Folders in folders.
MOST_DEPTH = 50


class Piece(NamedTuple):
    """One file or folder of a submission: where it is, and its place below the bot's folder ("" for the folder itself)."""

    source: str
    place: str


class _Count:
    """What has been copied so far."""

    def __init__(self, label: str) -> None:
        self.label = label
        self.files = 0
        self.bytes = 0

    def add(self, size: int) -> None:
        self.files += 1
        self.bytes += size
        if self.files > MOST_FILES:
            raise PlayerError(f"The submission {self.label} has more than {MOST_FILES:,} files; submit the bot's own files alone.")
        if self.bytes > MOST_BYTES:
            raise PlayerError(f"The submission {self.label} has more than {MOST_BYTES >> 20} MiB; submit the bot's own files alone.")


def copy(pieces: tuple[Piece, ...], label: str, owner: int | None) -> str:
    """Copy a submission to a new folder of its own, readable for ``owner`` (a user number) or else for this user alone.

    Gives the folder's path; whoever asked removes it. PlayerError names the file that can't be taken: a link that leaves the
    submission or leads nowhere, a FIFO, a socket, a device, one file too many.
    """
    target = new_folder()
    count = _Count(f"'{plain(label, 120)}'")
    try:
        for piece in pieces:
            _refuse_link(piece.source, count)
            place = os.path.join(target, piece.place) if piece.place else target
            os.makedirs(os.path.dirname(place) if piece.place else place, exist_ok=True)
            if os.path.isdir(piece.source):
                _copy_folder(os.path.realpath(piece.source), place, count)
            else:
                _copy_file(os.path.realpath(piece.source), place, piece.place or piece.source, count)
        if owner is not None:
            _give(target, owner)
    except OSError as error:
        remove(target)
        where = plain(str(error.filename or label), 200)
        raise PlayerError(f"The submission {count.label} can't be copied: {where}: {error.strerror or error}.") from None
    except BaseException:
        remove(target)
        raise
    return target


def _refuse_link(source: str, count: _Count) -> None:
    """PlayerError for a file or folder that was named, but is a link to something outside its own folder."""
    if os.path.islink(source):
        real, home = os.path.realpath(source), os.path.realpath(os.path.dirname(source))
        if not real.startswith(home + os.sep):
            raise PlayerError(
                f"The submission {count.label} is a link that leaves its folder: '{plain(source, 200)}' points to '{plain(os.readlink(source), 200)}'; "
                "name the file itself."
            )


def _walk(top: str, count: _Count) -> Iterator[tuple[str, os.DirEntry[str], str | None]]:
    """Everything below a folder: the path from the top, the entry, and where it points if it is a link that may stay."""
    waiting = [""]
    while waiting:
        below = waiting.pop()
        try:
            entries = os.scandir(os.path.join(top, below))
        except OSError as error:
            raise PlayerError(
                f"The submission {count.label} has a folder that can't be read: '{plain(below, 200)}' ({error.strerror})."
            ) from None
        with entries:
            for entry in entries:
                path = os.path.join(below, entry.name)
                link = None
                if entry.is_symlink():
                    link = _link(top, path, count)
                elif entry.is_dir(follow_symlinks=False):
                    if path.count(os.sep) >= MOST_DEPTH:
                        raise PlayerError(
                            f"The submission {count.label} has more than {MOST_DEPTH} folders in one another: '{plain(path, 80)}'; flatten it."
                        )
                    waiting.append(path)
                elif not entry.is_file(follow_symlinks=False):
                    kind = stat.filemode(entry.stat(follow_symlinks=False).st_mode)[0]
                    what = {"p": "a FIFO", "s": "a socket", "b": "a device", "c": "a device"}.get(kind, "no ordinary file")
                    raise PlayerError(f"The submission {count.label} has {what}: '{plain(path, 200)}'; take it out.")
                count.add(0 if link is not None else entry.stat(follow_symlinks=False).st_size)
                yield path, entry, link


def _link(top: str, path: str, count: _Count) -> str:
    """Where a link points, from its own folder; PlayerError unless that is in the submission."""
    full = os.path.join(top, path)
    real = os.path.realpath(full)
    if real != top and not real.startswith(top + os.sep):
        raise PlayerError(
            f"The submission {count.label} has a link that leaves it: '{plain(path, 200)}' points to '{plain(os.readlink(full), 200)}'; put a copy there."
        )
    if not os.path.exists(real):
        raise PlayerError(
            f"The submission {count.label} has a broken link: '{plain(path, 200)}' points to '{plain(os.readlink(full), 200)}'; take it out."
        )
    return os.path.relpath(real, os.path.realpath(os.path.dirname(full)))


def _copy_folder(top: str, target: str, count: _Count) -> None:
    os.makedirs(target, exist_ok=True)
    for path, entry, link in _walk(top, count):
        place = os.path.join(target, path)
        if link is not None:
            os.symlink(link, place)
        elif entry.is_dir(follow_symlinks=False):
            os.mkdir(place, 0o700)
        else:
            _copy_file(os.path.join(top, path), place, path, None)


def _copy_file(source: str, target: str, name: str, count: _Count | None) -> None:
    """Copy one ordinary file, and nothing that took its place in the meantime."""
    fd = os.open(source, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(fd, "rb") as reading:
        facts = os.fstat(fd)
        if not stat.S_ISREG(facts.st_mode):
            raise PlayerError(f"'{plain(name, 200)}' is not an ordinary file.")
        if count is not None:
            count.add(facts.st_size)
        mode = 0o500 if facts.st_mode & 0o111 else 0o400
        with os.fdopen(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode), "wb") as writing:
            shutil.copyfileobj(reading, writing, 1 << 20)


def _give(top: str, owner: int) -> None:
    """Let a user number own a copy."""
    for folder, names, files in os.walk(top):
        for name in (*names, *files):
            os.lchown(os.path.join(folder, name), owner, owner)
    os.chown(top, owner, owner)
    # bwrap, where it runs as root, has lost its rights when it enters; names inside can't be listed.
    os.chmod(top, 0o711)


def new_folder() -> str:
    """A new, empty folder, named after this process so that it can be found if this process and its supervisor are killed together."""
    return tempfile.mkdtemp(prefix=f"{own_mark(os.getpid())}-")


def sweep() -> None:
    """Remove the folders of referees that are gone."""
    with os.scandir(tempfile.gettempdir()) as entries:
        for entry in entries:
            if is_left(entry.name) and _is_ours(entry):
                remove(entry.path)


def _is_ours(entry: os.DirEntry[str]) -> bool:
    """Whether a folder is this user's, or of a user that this user, root, had made for a bot."""
    try:
        owner = entry.stat(follow_symlinks=False).st_uid
        return entry.is_dir(follow_symlinks=False) and (owner == os.geteuid() or os.geteuid() == 0)
    except OSError:
        return False


def remove(folder: str) -> None:
    """Remove a copy, as far as that can be done."""
    with contextlib.suppress(RecursionError):
        shutil.rmtree(folder, ignore_errors=True)
