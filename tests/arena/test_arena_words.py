"""The words of the commands of an arena: their usual output, their refusals, and the keys of their --json."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

import pytest
from arenas import accept_all, add, begin
from golden import transcript
from leagues import IDLE

from referee.arena.arena import open_arena

if TYPE_CHECKING:
    from pathlib import Path

    from commands import Commands
    from syrupy.assertion import SnapshotAssertion

ARENA = """
0 arena standings arena
0 arena run arena --duels 3 --slots 1
0 arena run arena --duels 1 --slots 1 --json
0 arena standings arena
0 arena standings arena --json
0 arena history arena mine
0 arena history arena mine --json
0 arena verify arena
0 arena export arena --json
0 arena freeze arena
2 arena add arena bot.py --team mine
2 arena final arena final
0 arena thaw arena
0 arena add arena --activate mine 1
0 arena invite arena roster.csv --out tokens.csv
2 arena invite arena roster.csv --out tokens.csv
0 arena invite arena --revoke Ada
2 arena invite arena --revoke Ada
0 arena new other
"""
REFUSALS = f"""
2 arena add arena
2 arena add arena bot.py
2 arena add arena bot.py --team a --activate a 1
2 arena add arena --activate a 1 --note better
2 arena add arena nowhere.py --team a
2 arena add nowhere bot.py --team a
2 arena add bot.py arena --team me
2 arena add arena bot.py --team {300 * "x"}
2 arena add arena bot.py --team R0
2 arena add arena bot.py --team Ada --note {201 * "n"}
2 arena run arena
2 arena history arena nobody
2 arena export arena
2 arena export arena --csv --out arena
2 arena export arena --csv --out bot.py/x.csv
2 arena final arena arena
2 arena new other --rules none
2 arena new other --seat thief
2 arena new other --seat a --game rectangle
2 arena new bot.py
2 arena invite arena
2 arena invite arena roster.csv --staff
2 arena invite arena --staff --out x.csv
2 arena invite arena --staff --url arena.example.org
2 arena invite arena roster.csv --url ftp://x
2 arena invite arena roster.csv --url "http://x y"
2 arena invite arena roster.csv --url http://[::1
2 arena invite arena roster.csv --url http://a:99999
2 arena invite arena missing.csv
2 arena serve arena --isolation limits
2 arena serve arena --isolation none --host 0.0.0.0
2 submit bot.py https://arena.example.org
2 submit http://127.0.0.1:1 bot.py --token t
2 submit arena.example.org bot.py --token t
2 submit file:///etc/passwd bot.py --token t
2 submit http://127.0.0.1:1 bot.py
2 submit http://127.0.0.1:1 bot.py --token "t\tX"
2 submit http://127.0.0.1:1 missing.py --token t
2 submit http://127.0.0.1:1 /dev/zero --token t
2 submit http://127.0.0.1:1 empty --token t
"""


@pytest.fixture
def folder(scene_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a bot, a roster and an arena with one reference."""
    monkeypatch.delenv("REFEREE_TOKEN", raising=False)
    accept_all(monkeypatch)
    begin(scene_folder / "arena").close()
    (scene_folder / "bot.py").write_text(IDLE)
    (scene_folder / "roster.csv").write_text("team,mail\nAda,ada@example.org\nBob,\n")
    (scene_folder / "empty").mkdir()
    return scene_folder


def test_an_arena(folder: Path, commands: Commands, golden: SnapshotAssertion) -> None:
    with contextlib.closing(open_arena(folder / "arena")) as arena:
        for text in ("one", "two"):
            add(arena, text)
    assert transcript(ARENA, commands.run, folder) == golden


def test_refusals(folder: Path, commands: Commands, golden: SnapshotAssertion) -> None:
    assert transcript(REFUSALS, commands.run, folder) == golden
    assert not (folder / "other").exists()
