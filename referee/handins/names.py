"""The names of files that were handed in, and the form in which identities are compared."""

from __future__ import annotations

import re
import unicodedata

from referee.isolation import submission
from referee.isolation.submission import ARCHIVES, OTHER_ARCHIVES

#: What computers leave in folders.
_IGNORED = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"})


def is_ignored(name: str) -> bool:
    """True if a file or folder of this name doesn't belong to a submission, such as ``.git`` or ``__MACOSX``."""
    return name in _IGNORED or name.startswith("._") or submission.is_ignored(name)


def is_archive(name: str) -> bool:
    """True if a file of this name is an archive that can be unpacked."""
    return name.lower().endswith(ARCHIVES)


def without_suffix(name: str) -> str:
    """Return the name of an archive without its suffix: "hw3" for "hw3.tar.gz"."""
    return next((name[: -len(end)] for end in (*ARCHIVES, *OTHER_ARCHIVES) if name.lower().endswith(end) and len(name) > len(end)), name)


def stem(name: str) -> str:
    """Return a file's name without its suffix."""
    base = without_suffix(name)
    if base != name:
        return base
    base, _, suffix = name.rpartition(".")
    return base if base and re.fullmatch(r"[A-Za-z]\w{0,5}", suffix) else name


def key(text: str) -> str:
    """Return an identity in the form in which it is compared."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
