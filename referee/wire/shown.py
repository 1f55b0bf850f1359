"""Untrusted text made harmless: what a bot says, logs or calls itself never reaches a terminal or a page as it came."""

from __future__ import annotations


def shown(data: bytes | str, limit: int = 60) -> str:
    """The text with everything unprintable escaped, in quotes, cut to about ``limit`` characters."""
    return f"'{plain(data, limit)}'"


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
