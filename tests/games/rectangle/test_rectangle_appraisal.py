"""Rectangle: what a turn cost a player, by the cells that it has claimed or painted."""

from __future__ import annotations

from pathlib import Path

import conformance
import pytest
from recorded_games import RECTANGLE, steps_of

from referee.games.rectangle import appraisal
from referee.games.rectangle.state import Orders, State

REPLAYS = sorted((Path(__file__).parents[2] / "data/replays").glob("rectangle-*.replay.jsonl.gz"))


def held(state: State, player: int) -> int:
    """The cells that a player has claimed or painted, counted one by one."""
    return sum(cell in (97 + player, 65 + player) for cell in state.cells)


@pytest.mark.parametrize("path", REPLAYS, ids=lambda path: path.name.partition(".")[0])
def test_every_better_move_holds_more_cells_than_the_one_that_was_played(path: Path) -> None:
    assert RECTANGLE.appraisal is appraisal
    found = 0
    for step in steps_of(path):
        moves = step.moves
        for player, seat in enumerate(RECTANGLE.seats(step.before.settings)):
            one = appraisal.appraiser(seat)(step.before, moves, step.after) if seat in moves else None
            if one is not None:
                found += 1
                better, _ = RECTANGLE.step(step.before, {**moves, seat: one.better})
                assert (one.now, one.instead) == (held(step.after, player), held(better, player))
                assert one.now < one.instead

    assert found


def test_a_rectangle_that_a_robot_could_have_completed_is_named() -> None:
    settings = RECTANGLE.codec.settings("small", {"n": 5, "players": 2, "robots": 2})
    state = conformance.set_up(RECTANGLE.start(settings, b""), "aaaa./a..a./a..a./aaa../....b", [((1, 3), (2, 3)), ((4, 4), (4, 0))])
    # Robot 1 stands on (2, 3), above the one cell that is missing.
    moves = {"a": Orders(("E", "-")), "b": Orders(("-", "-"))}
    after, _ = RECTANGLE.step(state, moves)
    found = appraisal.appraiser("a")(state, moves, after)
    assert found is not None
    assert (found.better, found.about) == (Orders(("E", "S")), "robot 1 S instead of -, which claims 4 cells")
    assert (found.now, found.instead, found.cost) == (12, 17, 5)
    assert appraisal.appraiser("a")(state, {**moves, "a": found.better}, RECTANGLE.step(state, {**moves, "a": found.better})[0]) is None
    assert not appraisal.is_exact
    assert appraisal.measure("a", state.settings) == "cells of the 25 that player a has claimed or painted after the turn"
