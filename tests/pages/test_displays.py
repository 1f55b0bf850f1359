"""What each game's drawing code tells the page: moves in words, the colours of the seats, the events that it hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from served_pages import laid_out, run

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
REWORDED = """
const { controlsFor } = await import("./games/evasion/controls.js");
const { reworded } = await import("./pages/viewer/app/sentence.js");
const hunters = [false, true].map((isTurnwise) => controlsFor({ kinds: ["vertical"], isTurnwise }, "hunter"));
const text = "counter-diagonal wall refused: it would cover the hunter's next cell (1, 2)";
console.log(JSON.stringify([
  ...hunters.flatMap((controls) => [reworded(text, controls, "wall-refused"), reworded(text, controls), reworded("wall refused: it leaves the board", controls)]),
  reworded("a move refused: no", null, "wall-refused"),
]));
"""
PLACED = """
const { display } = await import("./games/maze/display.js");
const track = display.createTrack({ settings: { layout: ["...", ".#E", "..."] }, players: {} });
track.push({ turn: 0, changes: { thief: [1, 2] } });
const spots = () => track.spots(1).length;
const policeman = () => track.spots(1).filter(({ seat }) => seat === "policeman").map(({ u, v }) => [u, v])[0] ?? null;
const found = [spots(), policeman(), track.summary(1), track.score(1), track.score(2), track.facts(1)[1][1]];
track.measure(0, { thief: [1, 1], policeman: [3, 3] });
console.log(JSON.stringify([...found, spots(), policeman(), track.summary(1)]));
"""
NUMBERS = """
const { counted, number } = await import("./pages/viewer/kit/dom.js");
const values = [[0], [999], [1234567], [-1234.5, 1], [0.05, 2], [NaN], [Infinity], [1e6, 1]];
console.log(JSON.stringify([...values.map(([value, digits]) => number(value, digits)), counted(1, "step"), counted(2000, "match", "matches")]));
"""


@pytest.fixture
def scripts(tmp_path: Path) -> Path:
    return laid_out(tmp_path)


BUILD = '{"build":{"kind":"vertical","span":[0,9]},"remove":[3]}'
CASES = [
    (
        "evasion",
        f'[{BUILD},{{"go":[0,0]}},{{"go":"NE"}},{{}}]',
        ["build a vertical wall from 0 to 9 and remove wall 3", "stand still", "go ↗ north-east", ""],
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


def test_the_game_alone_shortens_what_its_engine_says_of_a_move(scripts: Path) -> None:
    whole, reason, other, *turnwise, foreign = run(scripts, REWORDED)
    assert (whole, reason) == ("Refused: it would cover your next cell (1, 2)", "It would cover your next cell (1, 2)")
    assert other == "It leaves the board"
    assert turnwise == [whole, reason, other]
    assert foreign == "A move refused: no"


def test_a_figure_of_maze_is_drawn_once_its_square_is_known(scripts: Path) -> None:
    before = [1, None, "Ply 1. Thief at row 1, column 2.", "1 move", "1 move", "not known yet"]
    assert run(scripts, PLACED) == [*before, 2, [2.5, 2.5], "Ply 1. Thief at row 1, column 2; policeman at row 3, column 3."]


def test_numbers_are_written_as_english_writes_them(scripts: Path) -> None:
    found = run(scripts, NUMBERS)
    assert found == ["0", "999", "1,234,567", "-1,234.5", "0.05", "NaN", "\u221e", "1,000,000.0", "1 step", "2,000 matches"]
