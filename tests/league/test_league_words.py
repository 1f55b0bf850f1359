"""The words of the commands of a league: their usual output, their refusals, and the keys of their --json."""

from __future__ import annotations

import contextlib
import sqlite3
from typing import TYPE_CHECKING

import pytest
from golden import plain, transcript
from leagues import IDLE, write_league

from referee.errors import UsageError
from referee.league import config

if TYPE_CHECKING:
    from pathlib import Path

    from commands import Commands
    from syrupy.assertion import SnapshotAssertion

#: It leaves when it is to play the prey, as bots of the SDK do.
HUNTER = IDLE.replace('"start":\n', '"start":\n        if message["seat"] == "prey": sys.exit("I hunt")\n')
LEAGUE = """
0 league run season/league.toml --out out
0 league run season/league.toml --out out
0 league resume out --json
0 league standings out
0 league standings out --csv
0 league standings out --json
0 league verify out
0 league verify out --json
0 league report out
0 league export out --json
0 league starts out/private/commitment.toml
0 league init teams
0 league run wrong/league.toml --out w
0 league run wrong/league.toml --out w -q
"""
REFUSALS = """
2 league run none.toml
2 league run season/league.toml --out season/bot0.py
2 league run empty
2 league run half --out x
2 league run hunts/league.toml --out x
2 league run hunts2/league.toml --out x
2 league run season/league.toml --out out --slots 0
2 league run season/league.toml --out out --cluster local:0
2 league run season/league.toml --out out --cluster local:1 --slots 2
2 league run season/league.toml --out out --format swis
2 league run season/league.toml --out x --database mysql://user:secret@host/x
2 league resume nowhere
2 league standings .
2 league standings cats
2 league export .
2 league standings out --csv --json
2 league init teams
2 league starts none.toml
2 compare boxer straight --seed 1 --out out
2 compare boxer shadow
"""
TEAMS = '[[teams]]\nname = "A"\nprogram = "random"\n[[teams]]\nname = "B"\nhunter = "boxer"\nprey = "runner"\n'
TABLES = 'game = "rectangle"\n{}\n' + "".join(f'[[teams]]\nname = "{name}"\nprogram = "{name}"\n' for name in ("idle", "looper", "blocker"))
#: League files that are refused: what stands before two good teams.
FILES = (
    "formt = 'swiss'",
    "cooldown = 3",
    "count = 3",
    "[time]\nclock = 'cpu'",
    "[run]\nisolation = 'strict'",
    "[starts]\nfil = 'x'",
    "[settings]\ncooldwon = 3",
    "format = 'swis'",
    "format = 'chess'",
    "game = 'chess'",
    "rules = 'chess'",
    "seed = 'seven'",
    "seed = true",
    "seed = 0x" + "f" * 40,
    "repeat = 0",
    "slots = 0",
    "isolation = 'loose'",
    "clock = 'sand'",
    "[starts]\ncount = 0",
    "[starts]\ncount = 2\nfile = 'x'",
    "[starts]\nfile = 'x'",
    "[starts]\ncount = 2\n[settings]\nprey = [9, 9]",
    "[starts]\ncount = 2\n[settings]\nwidth = 9\nheight = 9",
    "rounds = 2",
    "format = 'swiss'\nrounds = 2",
    "table_size = 2",
    "format = 'tables'",
    "name = ''",
    'name = "a\\u001b"',
    "[time]\nmove = 0",
    "[limits]\nmemory_bytes = '1KiB'",
    "[settings]\nprey = [1, 1]",
    "[[variants]]\nname = 'x'\ncooldwon = 3",
    "[[variants]]\nname = 'x'\n[[variants]]\nname = 'X'\ncooldown = 3",
    "[[variants]]\ncooldown = 20\n[[variants]]\nmax_walls = 10",
    "[[variants]]\nname = 3",
    "[[teams]]\nname = 'b'\nprogram = 'random'",
    "[[teams]]\nname = 'B'\nprogram = 'random'",
    "[[teams]]\nprogram = 'random'",
    "[[teams]]\nname = 3",
    "[[teams]]\nname = 'C'",
    "[[teams]]\nname = 'C'\nhunter = 'boxer'",
    "[[teams]]\nname = 'C'\nhuntr = 'boxer'",
    "[[teams]]\nname = 'C'\nprogram = 3",
    "[[teams]]\nname = 'C'\nprogram = 'rnadom'",
    "[[teams]]\nname = 'C'\nhunter = 'boxer'\nprey = 'boxer'",
    "rules = 'gameserver'",
    "this is not toml",
)
#: The same, as whole files.
WHOLE_FILES = (
    "",
    '[[teams]]\nname = "A"\nprogram = "random"',
    TABLES.format('format = "tables"\ntable_size = 2\nrounds = 3'),
    TABLES.format('format = "tables"\ntable_size = 4'),
    TABLES.format('format = "tables"\ntable_size = 27'),
    TABLES.format("[settings]\nplayers = 3"),
    TABLES.format('format = "tables"\ntable_size = 3\n[settings]\nplayers = 2'),
    TABLES.format('format = "tables"\n[[variants]]\nplayers = 3'),
    'game = "rectangle"\n[[teams]]\nname = "A"\na = "idle"\n[[teams]]\nname = "B"\nprogram = "idle"',
)


@pytest.fixture
def folder(scene_folder: Path) -> Path:
    """A folder with leagues, good and wrong."""
    write_league(scene_folder / "season", 3)
    write_league(scene_folder / "wrong", 3)
    (scene_folder / "wrong/bot1.py").write_text("raise SystemExit(1)\n")
    (scene_folder / "wrong/bot2.py").write_text(IDLE.replace('message["type"] == "turn"', 'message["type"] == "turn" and 1 / 0'))
    for name, count in (("hunts", 1), ("hunts2", 2)):
        write_league(scene_folder / name, 3)
        for number in range(count):
            (scene_folder / name / f"bot{2 * number}.py").write_text(HUNTER)
    for name in ("empty", "cats", "teams", "half/half"):
        (scene_folder / name).mkdir(parents=True)
    for name in ("teams/ada.py", "teams/bob.py", "half/half/hunter.py", "half/whole.py"):
        (scene_folder / name).write_text(f"# {name}\n{IDLE}")
    with contextlib.closing(sqlite3.connect(scene_folder / "cats/league.sqlite")) as store, store:
        store.execute("create table cats (name text)")
    return scene_folder


def test_a_league(folder: Path, commands: Commands, golden: SnapshotAssertion) -> None:
    assert transcript(LEAGUE, commands.run, folder) == golden


def test_refusals(folder: Path, commands: Commands, golden: SnapshotAssertion) -> None:
    done = commands.run("league", "run", "season/league.toml", "--out", "out", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert commands.run("league", "init", "teams", cwd=folder).returncode == 0
    assert transcript(REFUSALS, commands.run, folder) == golden


def test_files(scene_folder: Path, golden: SnapshotAssertion) -> None:
    file, parts = scene_folder / "autumn.toml", []
    for text in (*(f"{text}\n{TEAMS}" for text in FILES), *WHOLE_FILES):
        file.write_text(text)
        with pytest.raises(UsageError, match=r"autumn\.toml") as caught:
            config.load(file)
        assert str(caught.value).isprintable()
        parts.append(f"{text.removesuffix(TEAMS).strip()}\n! {plain(str(caught.value), scene_folder)}\n")
    assert "\n".join(parts) == golden
