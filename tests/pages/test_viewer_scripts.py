"""The viewer's scripts without a page: their own tests, which Node.js runs, and what they compute beside the engine's."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest
from served_pages import SCRIPTS, node

from referee.games.evasion.board.regions import reachable
from referee.games.evasion.board.wall import DIAGONAL, HORIZONTAL, VERTICAL, Wall
from referee.games.evasion.board.walls import Walls


@pytest.mark.parametrize("file", sorted(SCRIPTS.glob("*.test.js")), ids=lambda file: file.name)
def test_scripts(file: Path) -> None:
    node("--test", file)


REGION = """
const { display } = await import("../../referee/games/evasion/display.js");
const [settings, built] = JSON.parse(process.argv.at(-1));
const track = display.createTrack({ rules: "classic", settings, players: {} });
track.push({ turn: 0, changes: { built } });
const { cells, mask } = track.regionAt(1);
console.log(JSON.stringify([cells, [...mask].flatMap((isReached, at) => (isReached ? [[at % 20, Math.floor(at / 20)]] : []))]));
"""


@pytest.mark.parametrize("seed", range(3))
def test_the_preys_region_is_the_engines(seed: int) -> None:
    dice = random.Random(seed)
    x = dice.randrange(4, 9)
    walls = [
        Wall(0, HORIZONTAL, 0, 6, dice.randrange(8, 20), 6),
        Wall(1, VERTICAL, x, 0, x, 5),
        Wall(2, DIAGONAL, 12, 7, 14, 9, "x"),
    ]
    board = Walls(20, 10, walls)
    prey = next(cell for cell in ((dice.randrange(20), dice.randrange(10)) for _ in range(99)) if board.is_free(*cell))
    settings: dict[str, Any] = {"width": 20, "height": 10, "capture_radius": 2, "cooldown": 3, "max_walls": 5, "prey_period": 2}
    settings |= {"max_steps": 9, "hunter": [1, 1, 1, 1], "prey": prey}
    built = [{"id": w.id, "kind": w.kind, "x1": w.x1, "y1": w.y1, "x2": w.x2, "y2": w.y2, "first": w.first} for w in walls]
    cells, found = json.loads(node("--input-type=module", "--eval", REGION, json.dumps([settings, built])))
    assert {tuple(cell) for cell in found} == set(reachable(board, prey))
    assert cells == len(found)
