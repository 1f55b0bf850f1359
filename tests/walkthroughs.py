"""Follows a page of the documentation literally: saves its files, runs its commands, and looks for the output that it shows.

A paragraph that ends in "Save ... as `NAME`:" names the file of the block below it; with "Add ... to `NAME`:" the block goes to the end of
that file. A block of Python without a file is run as a program. Each line of a block ``sh`` is a command. A block ``text`` below commands
shows their output: each of its lines must be there in this order, but for lines that consist of three dots.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).parents[1]
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
_FILE = re.compile(r"(?:(Add)|Save|[Mm]ake)\b[^`]*`([\w./-]+)`:$")
_SECONDS = 600
#: The pages that are followed as a whole; all others are run block by block (``test_docs``).
FOLLOWED = tuple(
    f"docs/{name}.md"
    for name in ("add-a-game", "arena", "boxer-to-better", "first-bot", "first-grading", "first-league", "index", "recipes")
)


class Block(NamedTuple):
    """A fenced block: its language, its text, and the file that it belongs to ("" if none)."""

    language: str
    text: str
    file: str
    is_added: bool


def blocks(page: str) -> Iterator[Block]:
    """The fenced blocks of a page, in order."""
    text = (ROOT / page).read_text()
    for found in _BLOCK.finditer(text):
        paragraph = text[: found.start()].rstrip().rpartition("\n\n")[2]
        named = _FILE.search(paragraph)
        yield Block(found[1], found[2], named[2] if named else "", bool(named and named[1]))


def folder(tmp_path: Path) -> tuple[Path, dict[str, str]]:
    """An empty folder to work in, and the environment of an author whose virtual environment is active."""
    home = tmp_path / "work"
    home.mkdir()
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, words in (("referee", "-m referee "), ("python", "")):
        (tools / name).write_text(f'#!/bin/sh\nexec {sys.executable} {words}"$@"\n')
        (tools / name).chmod(0o755)
    path = f"{tools}:{Path(sys.executable).parent}:{os.environ['PATH']}"
    found = {**os.environ, "PATH": path, "COLUMNS": "100"}
    return home, found


def follow(
    page: str, home: Path, env: dict[str, str], instead: Callable[[str], str | None] = lambda _: None, shown: Callable[[str], bool] = bool
) -> list[str]:
    """Do what the page says in an empty folder. Returns the commands that were run.

    ``instead`` may give another command for one of the page, "" for none. ``shown`` tells which lines of output are compared.
    """
    output = ""
    commands: list[str] = []
    for block in blocks(page):
        if block.language == "text":
            look_for(block.text, output, page, shown)
        elif block.file:
            save(block, home)
        elif block.language == "python":
            output = run([sys.executable, "-c", block.text], home, env, page)
        elif block.language == "sh":
            output = ""
            for line in block.text.splitlines():
                other = instead(line)
                command = line if other is None else other
                commands.append(line)
                if command:
                    output += run(["bash", "-c", command], home, env, page)
        else:
            raise AssertionError(f"{page}: nobody runs a block of the language {block.language!r} without a file: {block.text[:60]!r}")
    return commands


def save(block: Block, home: Path) -> None:
    """Write or extend the file of a block."""
    path = home / block.file
    path.parent.mkdir(parents=True, exist_ok=True)
    before = path.read_text() if block.is_added else ""
    assert not block.is_added or before, f"{block.file} is to be extended, but isn't there"
    path.write_text(before + block.text)


def run(command: list[str], home: Path, env: dict[str, str], page: str) -> str:
    """Run a command that must succeed; return what it prints."""
    done = subprocess.run(command, cwd=home, env=env, capture_output=True, text=True, timeout=_SECONDS, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, f"{page}: {command[-1]}\n{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout + done.stderr


def look_for(expected: str, output: str, page: str, shown: Callable[[str], bool]) -> None:
    """Look for each line in the output, in order."""
    rest = output
    for line in filter(shown, filter(None, map(str.rstrip, expected.splitlines()))):
        if line.strip() == "...":
            continue
        _, there, rest = rest.partition(line)
        assert there, f"{page} shows {line!r}, but the output is:\n{output[-3000:]}"
