"""What each game's drawing code tells the page: moves in words, the colours of the seats, the events that it hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from displays import laid_out, run

if TYPE_CHECKING:
    from pathlib import Path

SCRIPT = """
const { display } = await import("./games/GAME/display.js");
const words = MOVES.map((move) => display.describeMove(move));
console.log(JSON.stringify({ words, seats: Object.keys(display.seatColors), minor: Object.keys(display.eventLooks ?? {}).filter((kind) => display.eventLooks[kind].isMinor) }));
"""
COMBINE = """
const { controlsFor } = await import("./games/evasion/controls.js");
const { combine } = controlsFor({ kinds: ["vertical"] }, "hunter");
console.log(JSON.stringify([
  combine({ remove: [1, 2] }, { remove: [2, 3] }), combine({ build: { kind: "vertical" } }, { remove: [4] }), combine({ remove: [4] }, {}),
]));
"""


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    return laid_out(tmp_path)


BUILD = '{"build":{"kind":"vertical","span":[0,9]},"remove":[3]}'
CASES = [
    (
        "evasion",
        f'[{BUILD},{{"go":[0,0]}},{{"go":"NE"}},{{}}]',
        ["build a vertical wall from 0 to 9 and take down wall 3", "stand still", "go ↗ north-east", ""],
    ),
    ("maze", '[{"go":"U"},{}]', ["go ↑ up", ""]),
    ("rectangle", '[{"orders":"E-"},{"place":[[1,2]]},{}]', ["robots → •", "1 robot placed", ""]),
    ("toy", '[{"add":2}]', ["add 2"]),
]


@pytest.mark.parametrize(("game", "moves", "words"), CASES)
def test_a_game_says_its_moves_in_words(game: str, moves: str, words: list[str], scripts: Path) -> None:
    found = run(scripts, SCRIPT.replace("GAME", game).replace("MOVES", moves))
    assert isinstance(found, dict)
    seats = {"evasion": ["hunter", "prey"], "maze": ["thief", "policeman"], "rectangle": list("abcdefghijklmnopqrstuvwxyz")}
    assert found == {"words": words, "seats": seats.get(game, ["first", "second"]), "minor": ["bounce"] * (game == "evasion")}


def test_a_second_click_on_a_wall_takes_the_removal_back(scripts: Path) -> None:
    assert run(scripts, COMBINE) == [{"remove": [1, 3]}, {"build": {"kind": "vertical"}, "remove": [4]}, {"remove": [4]}]
