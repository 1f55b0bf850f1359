"""Archives as students and attackers make them: small files that would do much if they were believed."""

from __future__ import annotations

import gzip
import io
import stat
import struct
import tarfile
import warnings
import zipfile
from typing import TYPE_CHECKING

from leagues import IDLE

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

BOT = "print('a bot')\n"


def zipped(path: Path, files: Mapping[str, bytes | str], modes: Mapping[str, int] | None = None) -> Path:
    """A zip with these files; ``modes`` are the bits of Unix of some of them."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr = (modes or {}).get(name, 0o100644) << 16
            # Long data is all zeros, and packing it well takes long.
            archive.writestr(info, data, compresslevel=1 if len(data) > 1 << 20 else None)
    return path


def zipped_on_windows(path: Path, files: Mapping[str, bytes | str]) -> Path:
    """A zip whose entries have no permissions."""
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in files.items():
            info = zipfile.ZipInfo(name)
            info.create_system, info.external_attr = 0, 0x20
            archive.writestr(info, data)
    return path


def badly_named(path: Path, name: bytes) -> Path:
    """A zip with a name that claims to be UTF-8, in both of its headers."""
    zipped(path, {"main.py": BOT, "x" * len(name): ""})
    data = bytearray(path.read_bytes().replace(b"x" * len(name), name))
    for header, flags in ((b"PK\x03\x04", 7), (b"PK\x01\x02", 9)):
        data[data.rindex(header) + flags] |= 8
    path.write_bytes(data)
    return path


def tarred(path: Path, files: Mapping[str, bytes | str]) -> Path:
    """A tar or tar.gz with these files."""
    with tarfile.open(path, "w:gz" if path.name.endswith("gz") else "w") as archive:
        for name, data in files.items():
            raw = data.encode() if isinstance(data, str) else data
            info = tarfile.TarInfo(name)
            info.size = len(raw)
            archive.addfile(info, io.BytesIO(raw))
    return path


def _zip_of(name: str, data: bytes | str = BOT, mode: int = 0o100644) -> Callable[[Path], None]:
    def build(path: Path) -> None:
        zipped(path, {"main.py": BOT, name: data}, {name: mode})

    return build


def _zip_twice(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        archive.writestr("main.py", "first")
        archive.writestr("main.py", "second")


def _zip_bomb(path: Path) -> None:
    """About 1 MB that becomes 300 MB of zeros: the size is honest, so the first look refuses it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive, archive.open("main.py", "w") as file:
        for _ in range(300):
            file.write(bytes(1 << 20))


def _zip_of_many_bombs(path: Path) -> None:
    """Each file is within the limit, all of them aren't."""
    data = bytes(60 << 20)
    zipped(path, {f"{number}.py": data for number in range(6)})


def _lying_zip(path: Path) -> None:
    """A file of 40 MiB of zeros that claims to have 10 bytes, in both of its headers."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("main.py", bytes(40 << 20))
    data = path.read_bytes()
    size = struct.pack("<L", 40 << 20)
    assert data.count(size) == 2
    path.write_bytes(data.replace(size, struct.pack("<L", 10)))


def _zip_100_000(path: Path) -> None:
    """A list of 100,000 files, made from the list of one."""
    zipped(path, {"main.py": b""})
    data = path.read_bytes()
    start, end = data.index(b"PK\x01\x02"), data.index(b"PK\x05\x06")
    files = data[start:end] * 100_000
    # Python reads the list by its size in bytes; the number of files has room for 65,535.
    tail = data[end : end + 8] + struct.pack("<HHLL", 65_535, 65_535, len(files), start) + b"\0\0"
    path.write_bytes(data[:start] + files + tail)


def _zip_10_001(path: Path) -> None:
    zipped(path, {f"{number}": b"" for number in range(10_001)})


def _encrypted_zip(path: Path) -> None:
    zipped(path, {"main.py": BOT})
    data = bytearray(path.read_bytes())
    data[data.index(b"PK\x03\x04") + 6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    path.write_bytes(data)


def _lzma_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("main.py", BOT)


def _cut_zip(path: Path) -> None:
    zipped(path, {"main.py": BOT})
    path.write_bytes(path.read_bytes()[:40])


def _spoilt_zip(path: Path) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("main.py", "a" * 100)
    path.write_bytes(path.read_bytes().replace(b"aaaa", b"aaba", 1))


def _deep_zip(path: Path) -> None:
    zipped(path, {"a/" * 60 + "main.py": BOT})


def _file_and_folder(path: Path) -> None:
    zipped(path, {"main.py": BOT, "lib": BOT, "lib/a.py": BOT})


def _tar_entry(change: Callable[[tarfile.TarInfo], None]) -> Callable[[Path], None]:
    def build(path: Path) -> None:
        with tarfile.open(path, "w:gz", format=tarfile.PAX_FORMAT) as archive:
            info = tarfile.TarInfo("main.py")
            change(info)
            archive.addfile(info, io.BytesIO(bytes(info.size)) if info.isreg() else None)

    return build


def _of_type(kind: bytes, target: str = "") -> Callable[[Path], None]:
    def change(info: tarfile.TarInfo) -> None:
        info.type, info.linkname = kind, target

    return _tar_entry(change)


def _called(name: str) -> Callable[[Path], None]:
    return _tar_entry(lambda info: setattr(info, "name", name))


def _tar_bomb(path: Path) -> None:
    """10 MB of gzip that claims to hold, and does hold, 10 GB of zeros; members of gzip may follow one another."""
    block = gzip.compress(bytes(1 << 27), 9)
    info = tarfile.TarInfo("main.py")
    info.size = 10 << 30
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT)) + block * 80)


def _hidden_tar_bomb(path: Path) -> None:
    """The bomb is in a folder that is left out, so nobody asks for its bytes; they have to be passed all the same."""
    block = gzip.compress(bytes(1 << 27), 9)
    info = tarfile.TarInfo("__MACOSX/main.py")
    info.size = 10 << 30
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT)) + block * 80)


def _long_header(path: Path) -> None:
    """An extended header of 4 GB, which tarfile would read in one piece."""
    info = tarfile.TarInfo("././@PaxHeader")
    info.type, info.size = tarfile.XHDTYPE, 4 << 30
    path.write_bytes(gzip.compress(info.tobuf(tarfile.GNU_FORMAT)) + gzip.compress(bytes(1 << 27), 9) * 32)


def _backward_header(name: str) -> Callable[[Path], None]:
    """A size of -512, with which some versions of tarfile read the same headers forever."""

    def build(path: Path) -> None:
        data = bytearray(tarfile.TarInfo(name).tobuf(tarfile.USTAR_FORMAT))
        data[124:136] = b"\xff" * 10 + b"\xfe\x00"
        data[148:156] = b"        "
        data[148:156] = b"%06o\0 " % sum(data)
        path.write_bytes(tarfile.TarInfo("a").tobuf() + bytes(data) + bytes(4096))

    return build


def _sparse_tar(path: Path) -> None:
    """A file of 8 GiB with one hole and no byte."""
    info = tarfile.TarInfo("main.py")
    data = bytearray(info.tobuf(tarfile.GNU_FORMAT))
    data[156:157] = tarfile.GNUTYPE_SPARSE
    data[386:398] = b"%011o\0" % 0
    data[398:410] = b"%011o\0" % 0
    data[483:495] = b"%011o\0" % ((8 << 30) - 1)
    data[148:156] = b"        "
    data[148:156] = b"%06o\0 " % sum(data)
    path.write_bytes(gzip.compress(bytes(data) + bytes(1024)))


def _tar_100_000(path: Path) -> None:
    # Reading ends after 10,000 different ones.
    files = [tarfile.TarInfo(f"{number}").tobuf() for number in range(10_100)]
    path.write_bytes(gzip.compress(b"".join(files) + files[-1] * 89_900, 1))


def _no_archive(path: Path) -> None:
    path.write_bytes(b"\x1f\x8bnothing of the kind")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


#: Each hostile archive with the words that refuse it. The name says how it is packed.
HOSTILE: Mapping[str, tuple[str, Callable[[Path], None]]] = {
    "absolute.zip": ("has an absolute path: '/etc/cron.d/x'", _zip_of("/etc/cron.d/x")),
    "drive.zip": ("has an absolute path: 'C:/x.py'", _zip_of("C:\\x.py")),
    "up.zip": ("has a path that leads out of it: '../../x.py'", _zip_of("../../x.py")),
    "up-backslash.zip": ("has a path that leads out of it: 'a/../../x.py'", _zip_of("a\\..\\..\\x.py")),
    "link.zip": ("has a link: 'out'", _zip_of("out", "/etc/passwd", stat.S_IFLNK | 0o777)),
    "fifo.zip": ("has a FIFO: 'pipe'", _zip_of("pipe", "", stat.S_IFIFO | 0o644)),
    "device.zip": ("has a device: 'null'", _zip_of("null", "", stat.S_IFCHR | 0o644)),
    "long-name.zip": ("has a file name of 300 bytes, where 255 are allowed", _zip_of("n" * 300)),
    "long-unicode.zip": ("has a file name of 300 bytes", _zip_of("\u6587" * 100)),
    "long-path.zip": ("has a path of more than 1,000 bytes", _zip_of("/".join(["d" * 200] * 6))),
    "deep.zip": ("has more than 50 folders in one another", _deep_zip),
    "twice.zip": ("has two files or folders with the name 'main.py'", _zip_twice),
    "both.zip": ("has two files or folders with the name 'lib/a.py'", _file_and_folder),
    "bomb.zip": ("has more than 256 MiB", _zip_bomb),
    "bombs.zip": ("has more than 256 MiB", _zip_of_many_bombs),
    "lying.zip": ("is an archive that can't be read", _lying_zip),
    "many.zip": ("has more than 10,000 files", _zip_10_001),
    "very-many.zip": ("is an archive with far too many files in it", _zip_100_000),
    "encrypted.zip": ("has an encrypted file: 'main.py'", _encrypted_zip),
    "lzma.zip": ("has a file with an unusual compression: 'main.py'", _lzma_zip),
    "cut.zip": ("is an archive that can't be read", _cut_zip),
    "spoilt.zip": ("is an archive that can't be read: Bad CRC-32", _spoilt_zip),
    "empty.zip": ("is an archive that can't be read", _empty),
    "absolute.tar.gz": ("has an absolute path: '/tmp/x.py'", _called("/tmp/x.py")),
    "up.tar.gz": ("has a path that leads out of it: 'a/../../x.py'", _called("a/../../x.py")),
    "link.tar.gz": ("has a link: 'main.py'", _of_type(tarfile.SYMTYPE, "/etc/passwd")),
    "hard-link.tgz": ("has a link: 'main.py'", _of_type(tarfile.LNKTYPE, "/etc/passwd")),
    "fifo.tar.gz": ("has a FIFO: 'main.py'", _of_type(tarfile.FIFOTYPE)),
    "device.tar.gz": ("has a device: 'main.py'", _of_type(tarfile.BLKTYPE)),
    "sparse.tar.gz": ("has no ordinary file: 'main.py'", _sparse_tar),
    "long-name.tar.gz": ("has a file name of 300 bytes", _called("n" * 300)),
    "bomb.tar.gz": ("has more than 256 MiB", _tar_bomb),
    "hidden-bomb.tar.gz": ("has more than 256 MiB", _hidden_tar_bomb),
    "long-header.tar.gz": ("is an archive with a header that is far too long", _long_header),
    "backward.tar": ("has a file with a size below zero: 'main.py'", _backward_header("main.py")),
    "backward-hidden.tar": ("is an archive that can't be read: its headers lead back", _backward_header("._main.py")),
    "very-many.tar.gz": ("has more than 10,000 files", _tar_100_000),
    "none.tar.gz": ("is an archive that can't be read", _no_archive),
    "empty.tar": ("is an archive that can't be read", _empty),
}


def laid_out(folder: Path, *names: str) -> Path:
    """Make a download: folders for names that end in a slash, else files."""
    for name in names:
        path = folder / f"{name}bot.py" if name.endswith("/") else folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(IDLE)
    return folder
