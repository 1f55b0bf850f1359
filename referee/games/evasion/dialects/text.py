"""Parsing of the text lines of the old programs: from bytes to words, numbers, settings and cells."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from referee.dialects.dialect import DialectError
from referee.games.evasion import variants
from referee.games.game import SettingsError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.evasion.state import Settings

#: The longest line that any message of the protocols needs, in bytes.
MOST_BYTES = 4_096

_NUMBER = re.compile(r"[+-]?[0-9]{1,18}")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")


def words(line: bytes) -> str:
    """Return a line as text. Raises DialectError for bytes that are not text."""
    try:
        text = line.decode().strip()
    except UnicodeDecodeError:
        raise DialectError("is not text, but binary") from None
    if _CONTROL.search(text):
        raise DialectError("is not text: it holds control characters")
    return text


def numbers(text: str) -> list[int] | None:
    """Return the whole numbers of a line, separated by white space; None if the line contains anything else."""
    found = text.split()
    if not all(map(_NUMBER.fullmatch, found)):
        return None
    return [int(word) for word in found]


def settings(rules: str, given: Mapping[str, Any]) -> Settings:
    """Return the settings that a server sends. A limit above our engine's maximum is replaced by the maximum. Raises DialectError."""
    limits = {name: min(given[name], variants.MOST[name]) for name in ("max_walls", "cooldown", "prey_cooldown") if name in given}
    try:
        return variants.settings(rules, {**given, **limits})
    except SettingsError as error:
        raise DialectError(f"tells of a game that can't be: {error}") from None


def check_cells(found: Settings, what: str, *cells: tuple[int, int]) -> None:
    """Raise DialectError, with ``what`` as its text, if a cell is off the board."""
    if not all(0 <= x < found.width and 0 <= y < found.height for x, y in cells):
        raise DialectError(what)
