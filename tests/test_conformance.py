"""The program that plays recorded games: it runs by itself, names what differs, and refuses what it can't read."""

from __future__ import annotations

import gzip
import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("conformance.py")
DATA = PROGRAM.parent / "data"
GAME = '{"rules":"classic","width":%d,"height":300,"max_walls":10,"cooldown":20,"hunter":[0,0,1,1],"prey":[230,200],"steps":[%s]}'
POSITION = {"rules": "classic", "width": 40, "height": 3, "walls": [], "hunter": [0, 0, 1, 1], "prey": [30, 1], "verdict": "capture"}


def ran(folder: Path, *files: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a copy of the program, which has no module of the tests beside it."""
    (folder / "alone").mkdir(exist_ok=True)
    copy = shutil.copy(PROGRAM, folder / "alone")
    done = subprocess.run([sys.executable, copy, *files], cwd=folder, capture_output=True, text=True)
    assert "Traceback" not in done.stderr
    return done


def test_recorded_games_and_positions_agree(tmp_path: Path) -> None:
    (tmp_path / "games.jsonl.gz").write_bytes(gzip.compress((DATA / "evasion-classic.jsonl").read_bytes()))
    names = ("evasion-diagonal.jsonl", "evasion-gameserver.jsonl", "evasion-verdicts.jsonl", "rectangle.jsonl", "rectangle-examples.json")
    done = ran(tmp_path, "games.jsonl.gz", *(DATA / name for name in names))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "games 122, steps 18452, positions 248: agree; different: 0\n"


def test_each_record_that_differs_is_named(tmp_path: Path) -> None:
    lines = (DATA / "evasion-classic.jsonl").read_text().splitlines()
    for record, step in ((2, 7), (4, 0)):
        game = json.loads(lines[record])
        game["steps"][step][5] += 1
        lines[record] = json.dumps(game)
    (tmp_path / "bad.jsonl").write_text("\n".join([*lines, json.dumps({**POSITION, "verdict": "evade"})]))
    done = ran(tmp_path, "bad.jsonl")
    assert done.returncode == 1
    first, second, third, total = done.stdout.splitlines()
    assert first.startswith("bad.jsonl, record 3, step 7, field hunter.y: recorded ")
    assert second.startswith("bad.jsonl, record 5, step 0, field hunter.y: recorded ")
    assert third == "bad.jsonl, record 15, step 0, field verdict: recorded evade, engine capture"
    assert total.endswith("agree; different: 3")


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "is not a file of recorded games"),
        ("[]", "record 1 is not a recorded game: it must be a JSON object"),
        ('{"rules":"cubic","steps":[]}', "not a recorded game that this version knows (rules 'cubic')"),
        ('{"rules":["classic"],"steps":[]}', "not a recorded game that this version knows"),
        ('{"rules":"classic","steps":[[]]}', "record 1: the game has no width"),
        (GAME % (300, "[]"), "record 1: step 0 must be a list"),
        (GAME % (0, ""), "width is 0"),
        (GAME % (300, "[0,3,0,0,1,1,1,1,230,200,0,0]"), "no readable moves"),
        (GAME % (300, "[0,[],5,0,1,1,1,1,230,200,0,0]"), "no readable moves"),
        (json.dumps({**POSITION, "prey": [1, 1]}), "has caught the prey"),
        ('{"placements":3}', "can't be read"),
        ("[" * 100_000, "is not a file of recorded games"),
    ],
)
def test_a_wrong_file_is_refused_in_one_sentence(content: str, sentence: str, tmp_path: Path) -> None:
    (tmp_path / "wrong.jsonl").write_text(content + "\n")
    done = ran(tmp_path, "wrong.jsonl")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert sentence in done.stderr


def test_a_file_that_is_missing_or_cut_is_named(tmp_path: Path) -> None:
    (tmp_path / "cut.jsonl.gz").write_bytes(gzip.compress(b"{}" * 100)[:-9])
    for name in ("missing.jsonl", "cut.jsonl.gz"):
        done = ran(tmp_path, name)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert f"conformance: {name} can't be read" in done.stderr
    assert ran(tmp_path).returncode == 2
