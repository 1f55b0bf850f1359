"""referee verify --conformance, and the keys of referee bots."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

GAME = '{"rules":"classic","width":%d,"height":300,"max_walls":10,"cooldown":20,"hunter":[0,0,1,1],"prey":[230,200],"steps":[%s]}'

DATA = Path(__file__).parents[1] / "data"


def test_recorded_games_agree(referee: Cli) -> None:
    done = referee("verify", "--conformance", DATA / "evasion-classic.jsonl", DATA / "evasion-diagonal.jsonl")
    assert done.returncode == 0
    assert done.stdout == "28 games and 11,185 steps agree.\n"


def test_compressed_files_are_read(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "games.jsonl.gz").write_bytes(gzip.compress((DATA / "evasion-classic.jsonl").read_bytes()))
    assert json.loads(referee("verify", "--conformance", "games.jsonl.gz", "--json").stdout) == {
        "ok": True,
        "games": 14,
        "steps": 5591,
        "positions": 0,
    }


def test_the_first_difference_is_named_in_full(referee: Cli, tmp_path: Path) -> None:
    lines = (DATA / "evasion-classic.jsonl").read_text().splitlines()
    game = json.loads(lines[2])
    game["steps"][7][5] += 1
    (tmp_path / "bad.jsonl").write_text("\n".join([*lines[:2], json.dumps(game), *lines[3:]]))
    done = referee("verify", "--conformance", "bad.jsonl")
    assert done.returncode == 1
    right = game["steps"][7][5] - 1
    assert done.stderr == f"referee: bad.jsonl, line 3, step 7, field hunter.y: expected {right + 1}, got {right}.\n"
    assert json.loads(referee("verify", "--conformance", "--json", "bad.jsonl").stdout)["field"] == "hunter.y"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "is not a file of recorded games"),
        ("[]", "line 1 is not a recorded game"),
        ('{"rules":"cubic","steps":[]}', "not a recorded game that this version knows (rules 'cubic')"),
        ('{"rules":"classic","steps":[[]]}', "line 1: the game has no width"),
        (GAME % (300, "[]"), "line 1: step 0 must be a list"),
        (GAME % (0, ""), "width is 0"),
        (GAME % (300, "[0,3,0,0,1,1,1,1,230,200,0,0]"), "no readable moves"),
        (GAME % (300, "[0,[],5,0,1,1,1,1,230,200,0,0]"), "no readable moves"),
        ("[" * 100_000, "is not a file of recorded games"),
    ],
)
def test_a_wrong_file_exits_2(content: str, sentence: str, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "wrong.jsonl").write_text(content + "\n")
    done = referee("verify", "--conformance", "wrong.jsonl")
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert referee("verify", "--conformance", "missing.jsonl").returncode == 2


def documented(what: str) -> list[str]:
    """The keys in the table of docs/results.md with that heading, in their order."""
    page = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    table = page.partition(f"| key of a {what} | meaning |\n")[2].partition("\n\n")[0]
    return [key for line in table.splitlines()[1:] for key in re.findall(r"`(\w+)`", line.split("|")[1])]


def test_the_keys_of_bots_are_those_of_the_page(referee: Cli) -> None:
    bots = json.loads(referee("bots", "--json").stdout)
    assert len(bots) > 10
    for bot in bots:
        assert list(bot) == documented("bot")
        assert Path(bot["file"]).is_file()
