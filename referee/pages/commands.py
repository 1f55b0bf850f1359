"""Data for the command lines that a page prints about its replay: how to start this program, the file, and the programs that played.

A replay may come from a stranger, and a person copies these command lines into a shell. So a page names only programs that the referee itself
would start from a replay: example bots, and files in the current folder or below it. A person names all others on the page.
"""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import RefereeError
from referee.players.player import HUMAN
from referee.players.recorded_bots import recorded_bot
from referee.replay.reader import RecordedMatch, read_head

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from referee.games.game import Json


def commands_of(file: Path | None, head: Mapping[str, Json], *, is_here: bool = True, is_public: bool = False) -> dict[str, Json]:
    """Return ``program``, the ``replay`` as a command names it, and ``bots``: by seat the program, "human" for a person, or None.

    ``file`` is the replay as its user knows it; None if the user has no such file. ``is_here``: commands are run in this folder on this
    machine; otherwise they name the file alone, and no program is looked for. ``is_public``: other people read the page, too, so nothing
    outside this folder is named. Where this folder is the root, no program is named: every
    path of the machine would be in it.
    """
    name = _named(file, is_here=is_here)
    looks = is_here and not (is_public and str(Path.cwd()) == "/")
    bots = {seat: _program(head, seat) if looks else None for seat in head["players"]}
    if not is_public:
        return {"program": _started_by() if is_here else "referee", "replay": name, "bots": bots}
    return {"program": "referee", "replay": _inside(name), "bots": {seat: _inside(bot) for seat, bot in bots.items()}}


def _inside(name: str | None) -> str | None:
    return None if name is not None and name.startswith(("/", "~")) else name


def read_commands(file: Path | None, path: Path, lines: Iterator[bytes], *, is_here: bool, is_public: bool) -> dict[str, Json]:
    """Return the same for the replay at ``path`` with these lines. ReplayError if it can't be read."""
    head, _ = read_head(path, lines)
    return commands_of(file, head, is_here=is_here, is_public=is_public)


def _named(file: Path | None, *, is_here: bool) -> str | None:
    """Return the file as a command names it; None if no command can name it safely."""
    if file is None:
        return None
    return _plain(_shortened(file) if is_here else file.name)


def _shortened(file: Path) -> str:
    """Return a path relative to the current folder, if the file is in it or below it."""
    return str(file.relative_to(Path.cwd()) if file.is_absolute() and file.is_relative_to(Path.cwd()) else file)


def _plain(text: str) -> str | None:
    """Return a name as a command may have it; None if a terminal would not show all of it."""
    if not text.isprintable():
        return None
    return os.path.join(".", text) if text.startswith("-") else text  # noqa: PTH118 - a Path drops the leading "./"


def _program(head: Mapping[str, Json], seat: str) -> str | None:
    about = head["players"][seat]
    if isinstance(about, dict) and about.get("program") == HUMAN:
        return HUMAN
    try:
        recorded = RecordedMatch.of(Path("replay"), head)
        program = recorded_bot(recorded, seat, "name one yourself").text
    except (RefereeError, AttributeError, OSError, ValueError):
        return None
    return _plain(_shortened(Path(program)) if "/" in program else program)


def _started_by() -> str:
    return "referee" if shutil.which("referee") else f"{shlex.quote(sys.executable)} -m referee"
