"""Evasion as JSON, there and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from referee.games import get
from referee.games.evasion.board.wall import KINDS, Wall
from referee.games.evasion.board.walls import trace
from referee.games.evasion.state import Build, HunterMove, PreyMove, State
from referee.games.game import MalformedMove

GAME = get("evasion")


def busy_state() -> State:
    state: State = GAME.start(GAME.codec.settings("diagonal", {}), b"")
    for index, kind in enumerate(KINDS):
        wall = trace(state.walls, kind, 40 + 60 * index, 50 + 41 * index, None, index)
        assert isinstance(wall, Wall)
        state = state._replace(walls=state.walls.adding(wall), next_id=index + 1)
    return state


def test_the_view_has_the_keys_of_the_protocol() -> None:
    view = json.loads(GAME.codec.view_text(busy_state(), "prey"))
    assert list(view) == ["step", "hunter", "prey", "walls", "wall_timer", "prey_moves"]
    assert list(view["hunter"]) == ["x", "y", "dx", "dy"]
    assert list(view["walls"][0]) == ["id", "kind", "x1", "y1", "x2", "y2"]
    assert view["walls"][2]["first"] in ("x", "y")


GOOD: list[tuple[str, Any, Any]] = [
    ("hunter", {}, HunterMove()),
    ("hunter", {"build": {"kind": "vertical"}}, HunterMove(Build("vertical"))),
    ("hunter", {"build": {"kind": "diagonal", "span": [3, 9]}, "remove": [1, 2]}, HunterMove(Build("diagonal", (3, 9)), (1, 2))),
    ("hunter", {"build": None, "remove": None}, HunterMove()),
    ("hunter", {"remove": []}, HunterMove()),
    ("prey", {}, PreyMove()),
    ("prey", {"go": None}, PreyMove()),
    ("prey", {"go": [-1, 0]}, PreyMove((-1, 0))),
    ("prey", {"build": {"kind": "nonsense"}}, PreyMove()),
]


@pytest.mark.parametrize(("seat", "answer", "move"), GOOD)
def test_good_moves_are_read_and_written_alike(seat: str, answer: Any, move: Any) -> None:
    assert GAME.codec.parse(busy_state(), seat, answer) == move
    assert GAME.codec.parse(busy_state(), seat, GAME.codec.move_json(move)) == move


BAD: list[tuple[str, Any, str]] = [
    ("hunter", [], "move is []"),
    ("hunter", {"build": "vertical"}, "move.build is 'vertical'"),
    ("hunter", {"build": {}}, "move.build.kind is missing"),
    ("hunter", {"build": {"kind": "wall"}}, "must be one of horizontal, vertical"),
    ("hunter", {"build": {"kind": ["vertical"]}}, "must be one of"),
    ("hunter", {"build": {"kind": "vertical", "span": [1]}}, "move.build.span"),
    ("hunter", {"build": {"kind": "vertical", "span": [1, 2.0]}}, "move.build.span"),
    ("hunter", {"build": {"kind": "vertical", "span": [True, 2]}}, "move.build.span"),
    ("hunter", {"remove": 3}, "move.remove is 3"),
    ("hunter", {"remove": ["3"]}, "move.remove"),
    ("hunter", {"remove": [True]}, "move.remove"),
    ("hunter", {"remove": list(range(1001))}, "holds 1001 ids"),
    ("prey", "north", "move is 'north'"),
    ("prey", {"go": "north"}, "move.go is 'north'"),
    ("prey", {"go": [1]}, "each -1, 0 or 1"),
    ("prey", {"go": [2, 0]}, "each -1, 0 or 1"),
    ("prey", {"go": [True, False]}, "each -1, 0 or 1"),
    ("prey", {"go": [1.0, 0]}, "each -1, 0 or 1"),
    ("prey", {"go": [10**4000, 0]}, "each -1, 0 or 1"),
]


@pytest.mark.parametrize(("seat", "answer", "text"), BAD)
def test_malformed_moves_name_the_key(seat: str, answer: Any, text: str) -> None:
    with pytest.raises(MalformedMove) as caught:
        GAME.codec.parse(busy_state(), seat, answer)
    assert text in str(caught.value)
    assert len(str(caught.value)) < 200


def test_unknown_keys_are_found() -> None:
    state = busy_state()
    assert GAME.codec.unknown_keys(state, "hunter", {"biuld": 1, "build": {"kind": "x", "len": 2}}) == ["move.biuld", "move.build.len"]
    assert GAME.codec.unknown_keys(state, "prey", {"go": [0, 1], "run": 1}) == ["move.run"]
    assert not GAME.codec.unknown_keys(state, "prey", {})


def test_changes_tell_what_a_step_changed() -> None:
    before = busy_state()
    after, _ = GAME.step(before, {"hunter": HunterMove(Build("vertical", (0, 0)), (2,))})
    changes = json.loads(GAME.codec.changes_text(before, after))
    assert changes["hunter"] == [1, 1, 1, 1]
    assert changes["removed"] == [2]
    assert changes["built"] == [{"id": 4, "kind": "vertical", "x1": 0, "y1": 0, "x2": 0, "y2": 0}]
    assert "prey" not in changes


@pytest.mark.parametrize(("columns", "rows"), [(30, 10), (80, 24), (400, 200), (3, 1)])
def test_the_board_fits(columns: int, rows: int) -> None:
    assert GAME.text is not None
    lines = GAME.text.board_lines(busy_state(), columns, rows)
    assert len(lines) <= rows + 2
    assert max(map(len, lines)) <= columns + 2
    assert any("H" in line or "X" in line for line in lines[:-1])
    assert ("hunter" in lines[-1]) is (len(lines[-1]) >= 21)
