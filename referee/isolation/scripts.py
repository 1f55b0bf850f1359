"""Repairs scripts from Windows that Linux can't run: Windows line ends, a byte order mark, no permission to execute.

Only copies are repaired. The author's own files stay as they are, and messages say what is wrong with them.
"""

from __future__ import annotations

import os
import re
import shlex
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from referee.support.files import open_regular
from referee.support.plain_text import MARKS, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.isolation.bot import Bot

_SHELL = re.compile(r"(?:ba|da|k|z)?sh")
_SHELL_LINE = re.compile(rb"#!.*\b(?:ba|da|k|z)?sh\b")
#: Files that a shell, or make, reads line by line.
_SHELL_FILE = re.compile(r".+\.(?:sh|bash|ksh|zsh|mk)|(?:GNU)?[Mm]akefile", re.DOTALL)


def fault(script: Path, name: str, *, is_for_shell: bool = False) -> str:
    """Return what is wrong with a script, and what to do, as the end of a sentence; "" for a good script.

    ``name`` is that of the script in a command. ``is_for_shell``: a shell reads the file, whatever its first line says.
    """
    try:
        data, good = _texts(script, is_for_shell=is_for_shell)
    except (OSError, ValueError):
        return ""
    if data == good:
        return ""
    if (text := plain(data)) == data:
        return f"has Windows line ends (CRLF), with which Linux can't run it; try: sed -i 's/\\r$//' {shlex.quote(name)}"
    if data.endswith(text):
        return (
            f"begins with a byte order mark, which hides its first line; try: sed -i '1s/^\\xef\\xbb\\xbf//; s/\\r$//' {shlex.quote(name)}"
        )
    return f"is in the encoding UTF-16; save {shlex.quote(name)} in UTF-8."


def fault_of_argument(bot: Bot) -> str:
    """Return what is wrong with a script that a command line gives to a shell, with its name; "" for a good script."""
    if _SHELL.fullmatch(Path(bot.argv[0]).name):
        for word in bot.argv[1:]:
            path = Path(bot.folder, word)
            shown = str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path)
            if why := fault(path, shown, is_for_shell=True):
                return f"'{shown}', which {why}"
    return ""


def repair(folder: str, *commands: Sequence[str]) -> None:
    """Repair all scripts of a copy, and let all its files be executed. ``commands`` are command lines that run there."""
    for_shell = {os.path.normpath(word) for words in commands if _SHELL.fullmatch(Path(words[0]).name) for word in words[1:]}
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            if not stat.S_ISREG(path.lstat().st_mode):
                continue
            data, good = _texts(path, is_for_shell=os.path.relpath(path, folder) in for_shell)
            if data != good:
                path.unlink()
                path.write_bytes(good)
            path.chmod(0o500)


def _texts(path: Path, *, is_for_shell: bool) -> tuple[bytes, bytes]:
    """Return the content of a script, and the repaired one; of another file its beginning twice."""
    is_for_shell = is_for_shell or _SHELL_FILE.fullmatch(path.name) is not None
    with open_regular(path) as file:
        data = file.read(4)
        if is_for_shell or data.startswith((b"#!", *MARKS)):
            data += file.read()
    text = plain(data)
    first = text.partition(b"\n")[0]
    if not (is_for_shell or first.startswith(b"#!")):
        return data, data
    if is_for_shell or first.endswith(b"\r") or _SHELL_LINE.match(first):
        text = text.replace(b"\r\n", b"\n")
    return data, text
