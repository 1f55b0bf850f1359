from __future__ import annotations

import base64

import pytest

from referee.games.evasion.analysis import presentation
from referee.games.evasion.analysis.verdict import safe_cells
from referee.games.evasion.board.wall import Kind, Wall
from referee.games.evasion.board.walls import Walls, trace
from referee.games.evasion.game import GAME
from referee.games.evasion.state import Body, State


def position(rules: str, hunter: tuple[int, ...], prey: tuple[int, int], *walls: tuple[Kind, int, int], **given: int) -> State:
    state = GAME.start(GAME.codec.settings(rules, {"hunter": list(hunter), "prey": list(prey), **given}))
    standing = Walls(state.settings.width, state.settings.height)
    for number, (kind, x, y) in enumerate(walls):
        wall = trace(standing, kind, x, y, None, number)
        assert isinstance(wall, Wall)
        standing = standing.adding(wall)
    return state._replace(walls=standing)


@pytest.mark.parametrize(
    ("record", "text"),
    [
        ({"verdict": "capture", "within": 12, "separated": False}, "capture is certain within 12 steps"),
        ({"verdict": "capture", "within": 1, "separated": False}, "capture is certain within 1 step"),
        ({"verdict": "capture", "within": 0, "separated": False}, "the prey is caught"),
        ({"verdict": "evade", "within": None, "separated": False}, "the prey can evade forever"),
        ({"verdict": "evade", "within": None, "separated": True}, "the prey can evade forever: no path joins the two players"),
        ({"verdict": "undecided", "within": None, "separated": False}, "not decided within the budget"),
    ],
)
def test_each_verdict_has_its_sentence(record: dict[str, object], text: str) -> None:
    assert presentation.verdict_text(record) == text


def test_what_a_page_draws() -> None:
    state = position("classic", (3, 3, 1, 1), (30, 20), ("vertical", 20, 5), width=40, height=30)
    found = presentation.overlay(state)
    for name, cells in (("safe", safe_cells(state).cells), ("reach", None)):
        rows = base64.b64decode(found[name])
        assert len(rows) == found["stride"] * 30
        told = {(x, y) for y in range(30) for x in range(40) if rows[y * found["stride"] + x // 8] >> x % 8 & 1}
        assert told == (set(cells) if cells is not None else {(x, y) for x in range(21, 40) for y in range(30)})
    assert found["safe_cells"] == len(safe_cells(state).cells)
    assert found["prey_is_safe"] is True
    assert (found["verdict"], found["separated"]) == ("evade", True)
    # The hunter's way: straight lines between its bounces, from where it is.
    assert found["trajectory"][0] == [3, 3]
    assert all(
        abs(x - u) == abs(y - v) or abs(x - u) + abs(y - v) == 1
        for (x, y), (u, v) in zip(found["trajectory"], found["trajectory"][1:], strict=False)
    )
    assert [19, 19] in found["trajectory"]


def test_a_game_that_has_ended_otherwise_says_nothing() -> None:
    state = position("classic", (3, 3, 1, 1), (30, 20), width=40, height=30)
    assert GAME.analysis.verdict(state._replace(ended="prey-timeout")) == {}
    assert GAME.analysis.verdict(state._replace(ended="caught", prey=Body(3, 3, 0, 0))) == {
        "verdict": "capture",
        "within": 0,
        "separated": False,
    }
