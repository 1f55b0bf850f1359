"""Unpacks untrusted archives: zip, tar and tar.gz.

Theory of operation. The referee trusts nothing that an archive says about itself. It counts entries and bytes while it reads them, against
the limits of a hand-in. It creates each part of a path in its open parent folder, never through a link, and a name that exists
already is never opened. Links, devices and paths that lead out are refused by name. An archive can't make the referee read more than a
small piece at once, so its memory stays small too.
"""

from __future__ import annotations

import contextlib
import errno
import gzip
import os
import re
import stat
import tarfile
import zipfile
from functools import partial
from typing import IO, TYPE_CHECKING, BinaryIO, NamedTuple, cast

from referee.errors import PlayerError, RefereeError, UsageError
from referee.handins.names import is_ignored
from referee.isolation.submission import KINDS, MOST_BYTES, MOST_DEPTH, Count, refusal
from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

#: The longest path of a file in a hand-in and the longest name of a file, in bytes.
LONGEST_PATH = 1_000
LONGEST_NAME = 255

_CHUNK = 1 << 16
#: The most bytes read at once for the headers of an archive. The list of 10,000 files is far shorter.
_LONGEST_HEADER = 4 << 20
#: A tar archive has headers and padding besides the bytes of its files.
_MOST_TAR_BYTES = MOST_BYTES + (64 << 20)
#: The most entries of an archive that holds the hand-ins of a class.
_MOST_CLASS_ENTRIES = 1_000_000
#: The referee's own failures: a full disk, a quota, a broken disk, too many open files, no memory.
OWN_FAILURES = frozenset(
    {errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EROFS, errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.EACCES, errno.EPERM}
)
#: How archives of other kinds begin.
_OTHER = {b"Rar": "RAR", b"7z\xbc": "7z", b"\xfd7z": "xz", b"BZh": "bzip2", b"(\xb5/": "zstd"}
_UNPACK = "unpack it with another program, and name the folder"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class _ArchiveEntry(NamedTuple):
    """One entry of an archive. ``trouble`` says why it can't be unpacked; ``open`` returns a file with its bytes."""

    name: str
    size: int
    open: Callable[[], IO[bytes]]
    is_folder: bool = False
    is_executable: bool = False
    trouble: str = ""


def unpack(path: Path, target: Path, label: str) -> None:
    """Unpack one hand-in into the folder ``target``. PlayerError names the entry that can't be unpacked.

    ``label`` is the hand-in's name in messages. RefereeError if the referee itself fails, for instance because the disk is full.
    """
    count = Count(f"'{label:.120}'", is_hand_in=True)
    with _open(path, count.label, is_class=False) as entries, _opened(target) as top:
        for entry in entries:
            count.add_entry()
            parts = _parts(entry.name, count.label)
            if not any(is_ignored(part) for part in parts):
                _put(entry, parts, top, count)


def unpack_class(path: Path, target: Path, is_wrapper: Callable[[str, Collection[str]], bool]) -> dict[str, str]:
    """Unpack an archive that holds the hand-ins of a class. Return the reasons why some of them are refused, by name.

    Each file or folder at its top is one hand-in with its own limits. A folder around all others is left out if ``is_wrapper`` of its
    name and the names in it is true. UsageError if the whole archive can't be read.
    """
    label = f"'{path.name:.120}'"
    counts: dict[str, Count] = {}
    refused: dict[str, str] = {}
    try:
        with _open(path, label, is_class=True) as entries:
            depth = _wrappers([entry.name for entry in _capped(entries, label)], is_wrapper)
        with _open(path, label, is_class=True) as entries, _opened(target) as top:
            for entry in entries:
                name = next(iter(_split(entry.name)[depth:]), "")
                name = entry.name if name in ("", "..") else name
                count = counts.setdefault(name, Count(f"'{name:.120}'", is_hand_in=True))
                try:
                    parts = _parts(entry.name, count.label)[depth:]
                    if parts and name not in refused and not any(is_ignored(part) for part in parts):
                        count.add_entry()
                        _put(entry, parts, top, count)
                except PlayerError as error:
                    refused.setdefault(name, str(error))
    except PlayerError as error:
        raise UsageError(str(error)) from None
    return refused


def _capped(entries: Iterator[_ArchiveEntry], label: str) -> Iterator[_ArchiveEntry]:
    for number, entry in enumerate(entries):
        if number >= _MOST_CLASS_ENTRIES:
            raise UsageError(f"The archive {label} has more than {_MOST_CLASS_ENTRIES:,} entries; unpack it and name the folder.")
        yield entry


def _wrappers(names: list[str], is_wrapper: Callable[[str, Collection[str]], bool]) -> int:
    """Return how many folders lie around all hand-ins."""
    paths = [parts for parts in map(_split, names) if parts and not any(is_ignored(part) or part == ".." for part in parts)]
    depth = 0
    while paths and len({path[0] for path in paths}) == 1:
        inner = [path[1:] for path in paths if len(path) > 1]
        if not inner or not is_wrapper(paths[0][0], {path[0] for path in inner}):
            break
        paths, depth = inner, depth + 1
    return depth


def _split(name: str) -> tuple[str, ...]:
    return tuple(part for part in name.split("/") if part not in ("", "."))


def _parts(name: str, label: str) -> tuple[str, ...]:
    """Return the parts of an entry's path, () for the top folder. PlayerError for a path that leads out or can't exist."""
    quoted = f"'{name:.80}'"
    if name.startswith("/") or re.match(r"[A-Za-z]:/", name):
        raise refusal(label, f"has an absolute path: {quoted}; pack it with relative ones.")
    parts = _split(name)
    if ".." in parts:
        raise refusal(label, f"has a path that leads out of it: {quoted}; take it out.")
    if "\0" in name:
        raise refusal(label, f"has a file name with a null character: {quoted}; rename the file.")
    sizes = [len(part.encode("utf-8", "surrogatepass")) for part in parts]
    if max(sizes, default=0) > LONGEST_NAME:
        raise refusal(label, f"has a file name of {max(sizes)} bytes, where {LONGEST_NAME} are allowed: {quoted}; rename the file.")
    if sum(sizes) + len(sizes) > LONGEST_PATH:
        raise refusal(label, f"has a path of more than {LONGEST_PATH:,} bytes: {quoted}; flatten it.")
    if len(parts) > MOST_DEPTH:
        raise refusal(label, f"has more than {MOST_DEPTH} folders in one another: {quoted}; flatten it.")
    return parts


@contextlib.contextmanager
def _opened(folder: Path) -> Iterator[int]:
    fd = os.open(folder, _FOLDER)
    try:
        yield fd
    finally:
        os.close(fd)


@contextlib.contextmanager
def _reading(label: str, remedy: str = "pack it again") -> Iterator[None]:
    """Turn whatever a broken archive makes the standard library raise into a PlayerError. ``remedy`` ends the sentence."""
    try:
        yield
    except RefereeError:
        raise
    except UnicodeDecodeError as error:
        name = error.object.decode("utf-8", "replace")
        raise refusal(
            label, f"has a file name that is not UTF-8, though the archive says so: '{name:.80}'; rename that file, or {remedy}."
        ) from None
    except Exception as error:  # noqa: BLE001 - a hostile archive makes zipfile and tarfile raise almost anything
        if isinstance(error, OSError) and error.errno in OWN_FAILURES:
            raise _own_failure(error) from None
        why = (str(error) or type(error).__name__).rstrip(".")
        raise refusal(label, f"is an archive that can't be read: {why}; {remedy}.") from None


def _own_failure(error: OSError) -> RefereeError:
    where = f"'{error.filename}'" if error.filename else "The hand-ins"
    return RefereeError(f"{where} can't be unpacked: {error.strerror or error}.")


def _put(entry: _ArchiveEntry, parts: tuple[str, ...], top: int, count: Count) -> None:
    """Make one file or folder below the open folder ``top``."""
    quoted = f"'{entry.name}'"
    if entry.trouble:
        raise refusal(count.label, f"has {entry.trouble}: {quoted}; take it out.")
    if not parts:
        return
    try:
        if entry.is_folder:
            os.close(_enter(top, parts, count))
            return
        count.expect(entry.size)
        folder = _enter(top, parts[:-1], count)
        try:
            fd = os.open(parts[-1], _NEW_FILE, 0o500 if entry.is_executable else 0o400, dir_fd=folder)
        finally:
            os.close(folder)
    except OSError as error:
        if error.errno in OWN_FAILURES:
            raise _own_failure(error) from None
        if error.errno in (errno.EEXIST, errno.ENOTDIR, errno.EISDIR, errno.ELOOP):
            raise refusal(count.label, f"has two files or folders with the name {quoted}; keep one.") from None
        raise refusal(count.label, f"has a file that can't be made here: {quoted} ({error.strerror or error}); rename it.") from None
    with os.fdopen(fd, "wb", buffering=0) as writing:
        _fill(entry, writing, count)


def _enter(top: int, parts: tuple[str, ...], count: Count) -> int:
    """Open a folder below ``top``, and make its missing parts."""
    fd = os.dup(top)
    for part in parts:
        try:
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o700, dir_fd=fd)
                count.add_entry()
            inner = os.open(part, _FOLDER, dir_fd=fd)
        finally:
            os.close(fd)
        fd = inner
    return fd


def _fill(entry: _ArchiveEntry, writing: IO[bytes], count: Count) -> None:
    with _reading(count.label), entry.open() as reading:
        while chunk := reading.read(_CHUNK):
            count.add_bytes(len(chunk))
            try:
                writing.write(chunk)
            except OSError as error:
                raise _own_failure(error) from None


@contextlib.contextmanager
def _open(path: Path, label: str, *, is_class: bool) -> Iterator[Iterator[_ArchiveEntry]]:
    """Open an archive; its content says of which kind it is. PlayerError if it can't be read, now or later."""
    with _reading(label, _UNPACK if is_class else "pack it again"), open_regular(path) as file:
        first = file.read(4)
        file.seek(0)
        if kind := _OTHER.get(first[:3]):
            remedy = _UNPACK if is_class else "submit a zip or tar.gz file"
            raise refusal(label, f"is an archive of the kind {kind}, whatever its name says; {remedy}.")
        if first.startswith(b"<"):
            raise refusal(label, "is a web page and not an archive: the platform's page was saved in place of the file.")
        if first.startswith(b"PK"):
            with zipfile.ZipFile(cast("BinaryIO", _Careful(file, None if is_class else _LONGEST_HEADER, label))) as packed:
                yield _zipped(packed)
        else:
            plain = gzip.GzipFile(fileobj=file) if first.startswith(b"\x1f\x8b") else file
            stream = _Forward(cast("BinaryIO", plain), None if is_class else _MOST_TAR_BYTES, label)
            with tarfile.open(fileobj=cast("BinaryIO", stream), mode="r:") as archive:
                yield _tarred(archive)


def _zipped(archive: zipfile.ZipFile) -> Iterator[_ArchiveEntry]:
    for info in archive.infolist():
        mode = info.external_attr >> 16
        kind = stat.S_IFMT(mode)
        trouble = ""
        if stat.S_ISLNK(mode):
            trouble = "a link"
        elif kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            trouble = KINDS.get(kind, "no ordinary file")
        elif info.flag_bits & 1:
            trouble = "an encrypted file"
        elif info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            trouble = "a file with an unusual compression"
        elif "\0" in info.orig_filename:
            trouble = "a file name with a null character"
        # Windows programs write backslashes.
        name = _zip_name(info).replace("\\", "/")
        is_folder = name.endswith("/") or stat.S_ISDIR(mode)
        yield _ArchiveEntry(name, info.file_size, partial(archive.open, info), is_folder, bool(mode & 0o111), trouble)


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Return an entry's name. Some programs write UTF-8 without saying so."""
    if info.flag_bits & 0x800 or info.filename.isascii():
        return info.filename
    try:
        return info.filename.encode("cp437").decode("utf-8")
    except UnicodeError:
        return info.filename


def _tarred(archive: tarfile.TarFile) -> Iterator[_ArchiveEntry]:
    kinds = {tarfile.FIFOTYPE: "a FIFO", tarfile.CHRTYPE: "a device", tarfile.BLKTYPE: "a device"}
    for info in archive:
        trouble = "a link" if info.issym() or info.islnk() else kinds.get(info.type, "")
        if not trouble and (info.issparse() or not (info.isreg() or info.isdir())):
            trouble = "no ordinary file"
        if info.size < 0:
            trouble = "a file with a size below zero"
        yield _ArchiveEntry(info.name, info.size, partial(_content, archive, info), info.isdir(), bool(info.mode & 0o111), trouble)


def _content(archive: tarfile.TarFile, info: tarfile.TarInfo) -> IO[bytes]:
    stream = archive.extractfile(info)
    assert stream is not None, "an ordinary file has content"
    return stream


class _Careful:
    """A file that refuses to read very much at once: zipfile reads the list of all entries in one piece."""

    def __init__(self, file: BinaryIO, most: int | None, label: str) -> None:
        self._file = file
        self._most = most
        self._label = label
        self.seek = file.seek
        self.tell = file.tell
        self.seekable = file.seekable

    def read(self, size: int = -1) -> bytes:
        if self._most is not None and size > self._most:
            raise refusal(self._label, "is an archive with far too many files in it; submit only the bot's own files.")
        return self._file.read(size)


class _Forward:
    """A stream for tarfile that only goes forward, counts what was read and refuses to read very much at once.

    A header may say that it is 8 GB long, or that the next one lies before it.
    """

    def __init__(self, file: BinaryIO, most: int | None, label: str) -> None:
        self._file = file
        self._most = most
        self._label = label
        self._at = 0

    def tell(self) -> int:
        return self._at

    def read(self, size: int) -> bytes:
        if not 0 <= size <= _LONGEST_HEADER:
            raise refusal(self._label, "is an archive with a header that is far too long; pack it again.")
        data = self._file.read(size)
        self._at += len(data)
        if self._most is not None and self._at > self._most:
            raise refusal(self._label, f"has more than {MOST_BYTES >> 20} MiB; submit only the bot's own files.")
        return data

    def seek(self, place: int) -> int:
        if place < self._at:
            raise tarfile.ReadError("its headers lead back")
        while self._at < place and self.read(min(_CHUNK, place - self._at)):
            pass
        return self._at
