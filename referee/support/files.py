"""Files: open files that users name without blocking, and write our own files completely or not at all."""

from __future__ import annotations

import errno
import os
import re
import stat
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path
    from typing import BinaryIO


#: Names of this process's descriptors, such as a shell's <(...). Opening one does not block.
_OWN = ("/dev/fd", "/proc/self/fd")
#: A file with more bytes in holes than this is refused.
_MOST_HOLES = 64 << 20
#: Flags that open a file to read it, and a folder to go on from it.
_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
_FOLDER = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC
#: The most names of a folder that are compared with a mistyped one.
_MOST_NAMES = 1000


def open_regular(path: Path, below: Path | None = None) -> BinaryIO:
    """Open an ordinary file, or one of this process's descriptors such as stdin, for reading.

    ``below`` is a folder of files that other people may have made: the file must be in it or in a folder below, and no link is followed on
    the way from there. Without it the user has named the file, and links are followed.

    OSError if it doesn't exist or is something else: opening a FIFO waits until somebody writes to it, and a device may have no
    end.
    """
    fd = os.open(path, _READ) if below is None else _descend(path, below)
    try:
        facts = os.fstat(fd)
        if stat.S_ISDIR(facts.st_mode):
            raise IsADirectoryError(0, "it is a folder", str(path))
        is_own = below is None and (_is_stdin(facts) or str(path.parent) in _OWN)
        if not stat.S_ISREG(facts.st_mode) and not is_own:
            raise OSError(0, "it is not an ordinary file", str(path))
        os.set_blocking(fd, True)
        return os.fdopen(fd, "rb")
    except BaseException:
        os.close(fd)
        raise


def open_whole(path: Path, below: Path | None = None) -> BinaryIO:
    """Open an ordinary file as ``open_regular`` does, to read it to its end.

    OSError also for a file with large holes: it takes no space on the disk, but reading it may take years.
    """
    file = open_regular(path, below)
    try:
        if (missing := _holes(file.fileno())) > _MOST_HOLES:
            raise OSError(0, f"it has {missing >> 20:,} MiB of holes, so the referee did not write it", str(path))
    except BaseException:
        file.close()
        raise
    return file


def _holes(fd: int) -> int:
    """Return how many bytes of a file are in holes: places that were never written and read as zeros."""
    facts = os.fstat(fd)
    if not stat.S_ISREG(facts.st_mode) or facts.st_size - 512 * facts.st_blocks <= _MOST_HOLES:
        return 0
    # Some file systems count blocks in another way, so ask for the holes themselves.
    data = end = 0
    try:
        while True:
            begin = os.lseek(fd, end, os.SEEK_DATA)
            end = os.lseek(fd, begin, os.SEEK_HOLE)
            data += end - begin
    except OSError as error:
        # There is no data after the last piece; other errors come from file systems that don't know their holes.
        missing = facts.st_size - data if error.errno == errno.ENXIO else 0
    os.lseek(fd, 0, os.SEEK_SET)
    return missing


def _descend(path: Path, folder: Path) -> int:
    """Return a descriptor of a file below a folder. Opens one folder after another, so it also notices a link that is put there meanwhile."""
    parts = path.relative_to(folder).parts if path.is_relative_to(folder) else ()
    if not parts or os.pardir in parts:
        raise OSError(errno.EACCES, f"it is not below {folder}", str(path))
    place = os.open(folder, _FOLDER)
    try:
        for part in parts[:-1]:
            place, above = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=place), place
            os.close(above)
        return os.open(parts[-1], _READ | os.O_NOFOLLOW, dir_fd=place)
    except OSError as error:
        if error.errno not in (errno.ELOOP, errno.ENOTDIR):
            raise
        raise OSError(error.errno, "it is a link, and links are not followed here", str(path)) from None
    finally:
        os.close(place)


def similar(path: Path) -> Path | None:
    """Return an existing file or folder in the same folder with a similar name, for a path that does not exist; None without one."""
    from difflib import get_close_matches

    try:
        names = [entry.name for entry in islice(path.parent.iterdir(), _MOST_NAMES)]
    except (OSError, ValueError):
        return None
    # A name with another ending must be closer: "no.toml" is hardly "x.html".
    alike = [name for name in names if not path.suffix or name.endswith(path.suffix)]
    matches = get_close_matches(path.name, alike, n=1) or get_close_matches(path.name, names, n=1, cutoff=0.75)
    return path.parent / matches[0] if matches else None


def write_whole(path: Path | str, data: bytes) -> None:
    """Write a file atomically, so that no reader sees a partial one. On OSError no partial file is left behind.

    A link of that name is replaced, not followed. The error names the file, also where the system doesn't, as on a full disk. A device, a
    FIFO or a descriptor such as /dev/stdout stays what it is: it gets the data.
    """
    if takes_data(os.fspath(path)):
        with open(path, "wb") as stream:
            stream.write(data)
        return
    part = f"{os.fspath(path)}.{os.getpid()}.part"
    file = open(part, "xb")  # noqa: SIM115 - what follows must not remove a file that was there
    try:
        with file:
            file.write(data)
        os.replace(part, path)
    except BaseException as error:
        try:
            os.unlink(part)
        except OSError:
            pass
        if isinstance(error, OSError) and error.filename is None:
            error.filename = os.fspath(path)
        raise


def remove_parts(parts: Iterable[Path]) -> None:
    """Remove those of these files that a killed process left behind in ``write_whole``. Their names have a number."""
    for path in parts:
        if path.is_file() and re.search(r"\.\d+\.part$", path.name):
            path.unlink()


def takes_data(path: str) -> bool:
    """Whether to write into a path instead of replacing it. Replacing /dev/null would harm every program of the machine."""
    # A name such as /dev/stdout leads nowhere if stdout was closed: then writing fails, and nothing is replaced.
    if os.path.dirname(os.path.abspath(path)) in ("/dev", *_OWN):
        return True
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _is_stdin(facts: os.stat_result) -> bool:
    try:
        return os.path.samestat(facts, os.fstat(0))
    except OSError:
        return False
