"""docs/environments.md: its tables against the spaces, and its examples."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from referee.games.evasion import variants
from referee.games.evasion.batch import HUNTERS, PREYS
from referee.games.evasion.kernel.observe import AROUND, BOARD, SCALARS
from sdk.env import Encoding, Rewards, View
from sdk.env.encoding import ACTIONS, OBSERVATIONS
from sdk.env.episodes import DRAWN, INVALID, USUAL, Options
from sdk.env.pictures import WIDTH

TEXT = (Path(__file__).parents[3] / "docs" / "environments.md").read_text()
OURS = TEXT.partition("\n## Speed")[0]


def table(head: str) -> list[list[str]]:
    """The rows of the table whose first cell of the head is this."""
    found = re.search(rf"^\| {re.escape(head)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", TEXT, re.MULTILINE)
    assert found is not None, head
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in found[1].splitlines()]


def encoding(seat: str, rules: str, view: View) -> Encoding:
    return Encoding(variants.settings(rules, {"width": 40, "height": 30, "prey": [30, 20], "max_walls": 7}), seat, view)


def number(text: str, kinds: int) -> int:
    """The value of a formula of the page for seven walls on 40 x 30 cells."""
    return int(eval(text.replace("2 K", "2 * K").replace("c M", "c * M"), {"K": kinds, "M": 7, "L": 40, "c": 6 if kinds == 2 else 9}))


@pytest.mark.parametrize(("rules", "kinds"), [("classic", 2), ("diagonal", 4)])
def test_the_tables_name_the_spaces(rules: str, kinds: int) -> None:
    vector, around, board = (row[1] for row in table("`observation`"))
    sizes = re.search(r"shape \((.*),\); c is 6 in `classic`, 9 in `diagonal`", vector)
    assert sizes is not None
    made = encoding("prey", rules, View())
    assert made.observation_space.shape == (number(sizes[1], kinds),)
    assert [row[2] for row in table("`observation`")] == ["float32", "uint8; float32", "uint8; float32"]
    for name, text in (("around", around), ("board", board)):
        space: Any = encoding("prey", rules, View(name, 9)).observation_space
        shapes = re.findall(r"`(\w+)` Box\((-?\d+), (\d+)\), shape \(([\w, ]+?),?\)", text)
        for part, low, high, shape in shapes:
            assert space[part].shape == tuple(9 if size == "size" else int(size) for size in shape.split(", "))
            assert (space[part].low.min(), space[part].high.max()) == (int(low), int(high))
    discrete, spans, prey = table("seat, `actions`")
    for row, seat, actions in ((discrete, "hunter", "discrete"), (prey, "prey", "discrete")):
        action = encoding(seat, rules, View(actions=actions))
        size = number(row[1].removeprefix("Discrete(").removesuffix(")"), kinds)
        assert (str(action.action_space), action.mask_size) == (f"Discrete({size})", size)
        assert number(row[2].removeprefix("shape (").removesuffix(",)"), kinds) == size
    parts = re.search(r"\(\[(.*)\]\)", spans[1])
    assert parts is not None
    several: Any = encoding("hunter", rules, View(actions="spans")).action_space
    assert several.nvec.tolist() == [number(part, kinds) for part in parts[1].split(", ")]


def test_the_tables_name_the_columns_planes_options_and_rewards() -> None:
    assert [(int(row[0]), row[1]) for row in table("index")] == [(index, f"`{name}`") for index, name in enumerate(SCALARS)]
    planes = [
        re.findall(r"`(\w+)`", row[1])
        for row in re.findall(r'^\| `"(\w+)"` \| (.*)\|$', TEXT.partition("planes in order")[2], re.MULTILINE)
    ]
    assert planes[:2] == [list(AROUND), list(BOARD)]
    options = {row[0].strip("`"): row[1] for row in table("option")}
    assert set(options) == {"rules", "render_mode", *View._fields, *Options._fields} - {"view", "settings"}
    assert options["size"] == f"{OBSERVATIONS['around']}, {OBSERVATIONS['board']}"
    assert options["invalid"] == f'`"{INVALID[0]}"`'
    assert options["actions"] == f'`"{ACTIONS[0]}"`'
    assert f"{DRAWN:,} fair starts" in TEXT
    assert f"{WIDTH} pixels wide" in TEXT
    rewards = {row[0].strip("`"): float(row[1]) for row in table("reward")}
    assert rewards == Rewards()._asdict()
    opponents = {row[0].strip('`"'): row[1:] for row in table("opponent")}
    assert {*HUNTERS, *PREYS, "a function"} == set(opponents)
    for seat, names in (("hunter", HUNTERS), ("prey", PREYS)):
        assert {name for name, (plays, _) in opponents.items() if plays in (seat, "both")} == {*names, "a function"}
    assert {name for name, (_, moves) in opponents.items() if "usual opponent" in moves} == set(USUAL.values())


@pytest.mark.slow
@pytest.mark.parametrize("text", re.findall(r"```python\n(.*?)```", OURS, re.DOTALL))
def test_the_examples_run(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    exec(compile(text, "docs/environments.md", "exec"), {"__name__": "example"})
    if "print(" in text:
        assert capsys.readouterr().out == "(64, 74) float64\n"
