"""Escapes untrusted text: a bot's remarks, logs and name never reach a terminal or a page unescaped."""

import unicodedata


def quoted(data: bytes | str, limit: int = 60) -> str:
    """The text with everything unprintable escaped, in quotes, cut to about ``limit`` characters."""
    return f"'{escape(data, limit)}'"


#: Characters without a visible shape: Hangul fillers, the empty Braille pattern, blank hieroglyphs, a note without a head.
_EMPTY = "\u115f\u1160\u2800\u3164\uffa0\U00013441\U00013442\U0001d159"


def is_blank(text: str) -> bool:
    """True if a text has no visible character: only white space, invisible characters, or combining marks without a letter."""
    return all(char in _EMPTY or unicodedata.category(char) in ("Cc", "Cf", "Me", "Mn", "Zl", "Zp", "Zs") for char in text)


def escape(data: bytes | str, limit: int = 200) -> str:
    """The text with everything unprintable escaped, cut to about ``limit`` characters.

    Terminal escapes, line breaks, direction marks and lone surrogates become visible backslash escapes.
    """
    cut = len(data) > limit
    if isinstance(data, bytes):
        data = data[: 4 * limit].decode("utf-8", "backslashreplace")
    text = printable(data[:limit])
    return text + "..." if cut or len(text) > 2 * limit else text


def printable(text: str) -> str:
    """Return a text on one line, with everything unprintable as a visible backslash escape. All output for people goes through this last."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode("ascii") for char in text)


def message(text: str) -> str:
    """Return a message with everything unprintable escaped, but for the line breaks before indented lines, such as those of a compiler.

    Because of the indentation, nobody takes such a line for a separate message.
    """
    return "\n  ".join(map(printable, text.split("\n  ")))
