"""Words for messages: numbers with nouns or units, players in sentences, lines that fit a width, and the command that starts this program."""

from __future__ import annotations

import shlex
import shutil
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

from referee.support.escape import escape

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


def counted(count: int, noun: str) -> str:
    """A number with its noun in the singular or the plural: "1 match", "2,000 matches"."""
    ending = "" if count == 1 else "es" if noun.endswith(("ch", "sh", "s", "x")) else "s"
    return f"{count:,} {noun}{ending}"


def cut(text: str, most: int) -> str:
    """Return the first ``most`` characters of a text, and dots if there are more."""
    return text if len(text) <= most else f"{text[:most]}..."


def listed(names: Sequence[str], most: int = 5) -> str:
    """Return the first names for a sentence, and how many more there are: "Ada, Bob and 3 more"."""
    text = ", ".join(names[:most])
    return text if len(names) <= most else f"{text} and {len(names) - most:,} more"


def of_unit(count: float, unit: str) -> str:
    """A number with a unit that is named in the plural: "1 step", "2,000 points"."""
    return f"{count:,} {unit.removesuffix('s') if count == 1 else unit}"


def signed(number: float) -> str:
    """A rating or a difference of ratings, to the whole with its sign: "+120", "-5"; "+0" also for what is a little below 0."""
    text = f"{number:+.0f}"
    return "+0" if text == "-0" else text


def size_text(count: int) -> str:
    """Return a number of bytes as text with a unit."""
    for unit, name in ((GIB << 10, "TiB"), (GIB, "GiB"), (MIB, "MiB"), (KIB, "KiB")):
        if count >= unit:
            return f"{count / unit:.4g} {name}"
    return f"{count} bytes"


def the_seat(seat: str, *, begins: bool = True) -> str:
    """Return a seat for a sentence: ``The hunter``, or ``Player a`` if seats have letters as names. ``begins``: it is the first word."""
    text = f"The {seat}" if len(seat) > 1 else f"Player {seat}"
    return text if begins else text[0].lower() + text[1:]


def who(seat: str, label: str, *, begins: bool = True) -> str:
    """Return a player for a sentence: ``The hunter (boxer.py)``. ``begins`` is as for ``the_seat``."""
    return f"{the_seat(seat, begins=begins)} ({escape(label, 80)})"


def program() -> str:
    """Return the shell command that starts this program again, for the hints "Try:" and "Next:"."""
    called = Path(sys.argv[0])
    path = shutil.which("referee")
    if called.name != "referee":
        return f"{shlex.quote(sys.executable)} -m referee"
    return "referee" if path is not None and Path(path).samefile(called) else shlex.quote(str(called))


def wrapped(name: str, width: int, text: str, wide: int) -> list[str]:
    """Return a text in lines of ``wide`` characters, at least 30, beside its name, which has ``width`` characters."""
    indent = f"{name:<{width}} "
    lines = textwrap.wrap(text, max(wide, 30), initial_indent=indent, subsequent_indent=" " * (width + 1), break_on_hyphens=False)
    return lines or [indent]


def fitted(line: str, indent: int, wide: int) -> list[str]:
    """Return a line in lines of ``wide`` characters, the later ones indented; 0 keeps it whole. No word is broken."""
    if not 0 < wide < len(line):
        return [line]
    return textwrap.wrap(line, max(wide, 30), subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False)


def aligned(rows: Sequence[Sequence[object]], left: Container[int]) -> list[str]:
    """Return the rows of a table as lines. The columns with the numbers ``left`` begin at the left; the others end at the right."""
    table = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if at in left else cell.rjust(width) for at, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]
