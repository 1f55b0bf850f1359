"""The manifest of a folder: the SHA-256 of each of its files, by the file's name.

A name is the path in the folder, with ``%`` and bytes that aren't UTF-8 written as %XX. No link is followed: the value of a link is the word
"link" and the hash of its target. Each function raises OSError for what can't be read.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

from referee.support.files import open_whole

_LINK = "link "
_CHUNK = 1 << 20


def paths(folder: Path) -> dict[str, Path]:
    """Return all files and links below a folder by their names."""
    found = {}
    for place, folders, names in os.walk(folder, onerror=_refuse):
        links = [name for name in folders if Path(place, name).is_symlink()]
        for path in (Path(place, name) for name in [*names, *links]):
            found[name_of(path.relative_to(folder))] = path
    return found


def name_of(path: Path) -> str:
    """Return the name of a relative path."""
    return "".join(f"%{ord(char) & 0xFF:02X}" if char == "%" or "\udc80" <= char <= "\udcff" else char for char in path.as_posix())


def hash_of(path: Path) -> str:
    """Return the value of a file or a link."""
    if path.is_symlink():
        return _LINK + hashlib.sha256(os.fsencode(path.readlink())).hexdigest()
    digest = hashlib.sha256()
    with open_whole(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()


def change(path: Path, expected: str) -> str:
    """Return how a file or a link differs from its value in a manifest, as the end of a sentence; "" if it doesn't."""
    found = hash_of(path)
    if found.startswith(_LINK) and not expected.startswith(_LINK):
        return "there is a link in its place."
    return "" if found == expected else "it has changed."


def _refuse(error: OSError) -> None:
    raise error
