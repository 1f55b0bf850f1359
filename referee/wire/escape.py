"""Untrusted text made harmless: what a bot says, logs or calls itself never reaches a terminal or a page as it came."""

from __future__ import annotations

import unicodedata


def shown(data: bytes | str, limit: int = 60) -> str:
    """The text with everything unprintable escaped, in quotes, cut to about ``limit`` characters."""
    return f"'{plain(data, limit)}'"


#: Letters and signs that are drawn as nothing: fillers of Hangul, the empty pattern of Braille, blanks of hieroglyphs, a note without a head.
_EMPTY = "\u115f\u1160\u2800\u3164\uffa0\U00013441\U00013442\U0001d159"


def is_blank(text: str) -> bool:
    """Whether a text would show nothing at all: white space, invisible signs, marks without a letter to stand on."""
    return all(char in _EMPTY or unicodedata.category(char) in ("Cc", "Cf", "Me", "Mn", "Zl", "Zp", "Zs") for char in text)


def plain(data: bytes | str, limit: int = 200) -> str:
    """The text with everything unprintable escaped, cut to about ``limit`` characters.

    Terminal escapes, line breaks, direction marks and lone surrogates all come out as visible backslash escapes.
    """
    cut = len(data) > limit
    if isinstance(data, bytes):
        data = data[: 4 * limit].decode("utf-8", "backslashreplace")
    text = data[:limit]
    if not text.isprintable():
        text = "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)
    return text + "..." if cut or len(text) > 2 * limit else text
