"""Text files as people save them: in UTF-8 with or without a byte order mark, or in UTF-16 with one, as programs on Windows do."""

from __future__ import annotations

import codecs
import json
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

#: The byte order marks that a text may begin with, and the encoding of what follows. That of UTF-32 begins like the one of UTF-16.
MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}


#: Quotes as a word processor writes them.
_TYPOGRAPHIC = "\u201c\u201d\u201e\u2018\u2019"


def plain(data: bytes) -> bytes:
    """Return a text in UTF-8 without a byte order mark. Text without a mark, and data that isn't text, stay as they are."""
    mark = next((mark for mark in MARKS if data.startswith(mark)), b"")
    if mark in (b"", codecs.BOM_UTF8):
        return data[len(mark) :]
    try:
        return data[len(mark) :].decode(MARKS[mark]).encode()
    except UnicodeError:
        return data


def toml(data: bytes) -> dict[str, Any]:
    """Return the table of a TOML file. ValueError has the end of a sentence about the file: "is not TOML: ..."."""
    # Few bots have such a file, and the import takes time at each start.
    import tomli

    data = plain(data)
    try:
        text = data.decode()
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise ValueError(f"is not UTF-8 (at line {line}); save it in the encoding UTF-8.") from None
    if "\0" in text:
        raise ValueError("has null characters, as text in UTF-16 does; save it in the encoding UTF-8.")
    try:
        return tomli.loads(text)
    except (ValueError, RecursionError) as error:
        quotes = '; write straight quotes (") in place of typographic ones' if set(text) & set(_TYPOGRAPHIC) else ""
        raise ValueError(f"is not TOML: {error}{quotes}.") from None


def toml_lines(table: Mapping[str, object]) -> str:
    """Return a table as lines of TOML. What is None is left out."""
    return "".join(f"{key} = {toml_value(value)}\n" for key, value in table.items() if value is not None)


def toml_value(value: object) -> str:
    """Return a value of JSON as TOML, on one line. TOML has no null: such a key is left out, as in the file of the organizer."""
    if isinstance(value, dict):
        pairs = [f"{_key(key)} = {toml_value(each)}" for key, each in value.items() if each is not None]
        return f"{{ {', '.join(pairs)} }}" if pairs else "{}"
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    # JSON escapes a text as TOML does, but for one control character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if re.fullmatch("[A-Za-z0-9_-]+", key) else toml_value(key)
