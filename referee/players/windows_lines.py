"""Windows line ends in scripts: which ones can't start, and which ones only play because something else starts them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.isolation.program import Program

#: Phrase used in messages about such a script.
WHAT = "Windows line ends (CRLF)"

_listeners: list[Callable[[str], None]] = []
_told: set[str] = set()


def ends_first_line(script: Path) -> bool:
    """True if a script's line ``#!`` ends as on Windows: the kernel takes the carriage return for a part of the interpreter's name."""
    try:
        with open_regular(script) as file:
            first = file.readline(256)
    except (OSError, ValueError):
        return False
    return first.startswith(b"#!") and first.endswith(b"\r\n")


def tell(listener: Callable[[str], None]) -> None:
    """Call a function with a sentence about each script that plays only because its interpreter starts it."""
    _listeners.append(listener)


def notice(program: Program) -> None:
    """Tell the listeners of each script that a program names after its interpreter and that couldn't start by itself; once in a process."""
    for word in program.argv[1:]:
        path = Path(program.cwd, word)
        if str(path) in _told or not ends_first_line(path):
            continue
        _told.add(str(path))
        shown = path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path
        text = f"'{shown}' has {WHAT}: its interpreter can start it, but its first line can't; save it with Unix line ends."
        for listener in _listeners:
            listener(text)
