"""Starters that are written and built once for the tests that play them."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import NamedTuple

from sandboxes import need

from referee.author.starters.compose import choose
from referee.author.starters.write import write_file
from referee.players.languages import LANGUAGES, Language, named

NAMES = [language.name for language in LANGUAGES]
#: Every seat that has starters, with its game.
ROLES = [("evasion", "hunter"), ("evasion", "prey"), ("maze", "thief"), ("maze", "policeman"), ("rectangle", "painter")]


class Built(NamedTuple):
    """A starter that can run: its folder, its command line as words, and the player that stands for it in that folder."""

    folder: Path
    words: list[str]
    player: str


def need_language(name: str) -> Language:
    """Skip a test on a machine without a language; in CI fail."""
    language = named(name)
    lacking = language.missing()
    need(not lacking, f"{' and '.join(lacking)} missing")
    return language


@cache
def _top() -> Path:
    folder = Path(mkdtemp(prefix="starters-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def built(name: str, role: str) -> Built:
    """Return the starter of a language for a role, built by the commands that ``referee new`` prints."""
    language = need_language(name)
    folder = _top() / f"{name}-{role}"
    folder.mkdir()
    was = Path.cwd()
    os.chdir(folder)
    try:
        written = write_file(choose(role, None), language, f"my_{role}{language.suffix}")
    finally:
        os.chdir(was)
    if written.build:
        made = subprocess.run(written.build, shell=True, cwd=folder, capture_output=True, text=True)
        assert made.returncode == 0, made.stdout + made.stderr
        assert "warning" not in made.stdout + made.stderr
    words = written.run.split() or [sys.executable, written.player]
    return Built(folder, words, written.player)
