"""The names of files that were handed in, of students and of teams, and the form in which identities are compared."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING

from referee.errors import UsageError
from referee.isolation import submission
from referee.isolation.submission import ARCHIVES, OTHER_ARCHIVES
from referee.support.escape import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable

#: The longest name of a team or a league, in characters.
LONGEST_NAME = 40
#: What computers leave in folders.
_IGNORED = frozenset({"__MACOSX", ".DS_Store", "Thumbs.db", "desktop.ini"})


def is_ignored(name: str) -> bool:
    """True if a file or folder of this name doesn't belong to a hand-in, such as ``.git`` or ``__MACOSX``."""
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


def file_name(name: str) -> str:
    """Return a team's name as a part of file names: letters, digits and hyphens, in lower case."""
    text = unicodedata.normalize("NFKC", name).casefold()
    return re.sub(r"[\W_]+", "-", text).strip("-")


def check_name(name: str, what: str, longest: int = LONGEST_NAME) -> None:
    """Raise UsageError for a name that can't stand in a table or a file name; ``what`` begins the sentence ("The name of team 3")."""
    if not name or is_blank(name):
        raise UsageError(f"{what} is empty; give it a name of 1 to {longest} characters.")
    if not name.isprintable():
        raise UsageError(f"{what}, '{name}', has a control character or an invisible one; remove it.")
    if name != name.strip():
        raise UsageError(f"{what}, '{name}', begins or ends with a space; remove it.")
    if len(name) > longest:
        raise UsageError(f"{what}, '{name:.60}', has {len(name):,} characters; the limit is {longest}.")
    if not file_name(name):
        raise UsageError(f"{what}, '{name}', has no letter and no digit; file names need one.")


def check_different(names: Iterable[str]) -> None:
    """Raise UsageError for two names that are equal but for upper and lower case and for forms that Unicode counts as compatible (NFKC)."""
    seen: dict[str, str] = {}
    for name in names:
        key = unicodedata.normalize("NFKC", name).casefold()
        if key in seen:
            raise UsageError(f"Two teams have the same name, '{seen[key]}' and '{name}'; give one of them another name.")
        seen[key] = name
