"""What the tests of arenas share: small arenas whose bots need no check."""

from __future__ import annotations

import re
from contextlib import closing
from typing import TYPE_CHECKING

from leagues import IDLE, Notes, PretendPool, play

from referee.arena import intake
from referee.arena.arena import OpenArena, new, open_arena
from referee.arena.player import play_batches

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pytest

    from referee.arena.duels import ArenaDuel, DuelMatch
    from referee.arena.versions import Version

#: The settings of a game that is over within a few steps.
SHORT = "width = 30\nheight = 30\nmax_steps = 40"


def write_arena(folder: Path, references: int = 1, more: str = "") -> Path:
    """Write the file of an arena with such references, which differ in a comment only; ``more`` are lines at its top."""
    folder.mkdir(parents=True, exist_ok=True)
    tables = ""
    for number in range(references):
        (folder / f"reference{number}.py").write_text(f"# {number}\n{IDLE}")
        tables += f'[[references]]\nname = "R{number}"\nprogram = "reference{number}.py"\n'
    top = f'seed = 7\nisolation = "none"\n{more}\n' + ("" if re.search("^versions", more, re.MULTILINE) else 'versions = "all"\n')
    (folder / "arena.toml").write_text(f"{top}[settings]\n{SHORT}\n[season]\nplacement = 3\n{tables}")
    return folder


def begin(folder: Path, references: int = 1, more: str = "") -> OpenArena:
    """Begin an arena in a folder."""
    write_arena(folder, references, more)
    return new(folder, None, None)


def accept_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every version pass its check."""
    monkeypatch.setattr(intake, "check", lambda *_: intake.CheckVerdict("", {}))


def add(arena: OpenArena, text: str, team: str = "mine") -> Version:
    """Add a bot that differs from others in a comment only."""
    file = arena.folder.parent / "bot.py"
    file.write_text(f"# {text}\n{IDLE}")
    version, _ = arena.add(file, team, text)
    arena.plan()
    return version


def run(arena: OpenArena, most: int | None, pool: PretendPool | None = None, *, until_decided: bool = False) -> Notes:
    """Play duels with workers that pretend; return what a watcher is told."""
    arena.plan(most, until_decided=until_decided)
    notes = Notes()
    play_batches(arena, pool or PretendPool(play), notes)
    return notes


def all_duels(arena: OpenArena) -> list[ArenaDuel]:
    """All duels in their order."""
    return arena.store.duels.rows.all()


def duel_results(arena: OpenArena) -> Sequence[ArenaDuel]:
    """The duels that have results."""
    return [duel for duel in all_duels(arena) if duel.points is not None]


def done(arena: OpenArena) -> list[DuelMatch]:
    """The matches that were played, in the order of their duels."""
    return [match for _, matches in arena.store.duels.all_matches() for match in matches]


def done_matches(folder: Path) -> dict[str, int]:
    """The time at which the replay of each match that is done was written."""
    with closing(open_arena(folder)) as arena:
        return {match.task.key: (folder / match.record.replay).stat().st_mtime_ns for match in done(arena)}
