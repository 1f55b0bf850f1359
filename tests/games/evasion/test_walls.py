"""Walls against a picture of the board in which every cell is looked at."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from referee.games.evasion.board.wall import COUNTER_DIAGONAL, DIAGONAL, HORIZONTAL, KINDS, VERTICAL, Blocked, Kind, Wall
from referee.games.evasion.board.walls import Walls, trace

SIZE = 12


def staircase(kind: Kind, x: int, y: int) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """The cells after the anchor in both directions, step by step, as the rules describe them."""
    sides = []
    for way in (1, -1):
        cells, at_x, at_y, step = [], x, y, 0
        while -1 <= at_x <= SIZE and -1 <= at_y <= SIZE:
            if kind == HORIZONTAL:
                at_x += way
            elif kind == VERTICAL:
                at_y += way
            else:
                in_y = (step % 2 == 0) == (way == 1)
                if in_y:
                    at_y += way if kind == DIAGONAL else -way
                else:
                    at_x += way
            step += 1
            cells.append((at_x, at_y))
        sides.append(cells)
    return sides[0], sides[1]


def longest(walls: Walls, kind: Kind, x: int, y: int) -> set[tuple[int, int]]:
    cells = {(x, y)}
    for side in staircase(kind, x, y):
        for cell in side:
            if not walls.is_free(*cell):
                break
            cells.add(cell)
    return cells


@st.composite
def boards(draw: st.DrawFn) -> Walls:
    walls = Walls(SIZE, SIZE)
    for index in range(draw(st.integers(0, 6))):
        x, y = draw(st.integers(0, SIZE - 1)), draw(st.integers(0, SIZE - 1))
        span = draw(st.none() | st.tuples(st.integers(-1, SIZE), st.integers(-1, SIZE)))
        wall = trace(walls, draw(st.sampled_from(KINDS)), x, y, span, index)
        if isinstance(wall, Wall):
            walls = walls.adding(wall)
    return walls


places = st.integers(0, SIZE - 1)


@given(boards())
def test_a_cell_is_free_unless_a_wall_holds_it(walls: Walls) -> None:
    taken = [cell for wall in walls for cell in wall.cells()]
    assert len(taken) == len(set(taken)), "walls go through each other"
    for x in range(-1, SIZE + 1):
        for y in range(-1, SIZE + 1):
            inside = 0 <= x < SIZE and 0 <= y < SIZE
            assert walls.is_free(x, y) == (inside and (x, y) not in taken)
            assert any(wall.covers(x, y) for wall in walls) == ((x, y) in taken)


@given(boards(), st.sampled_from(KINDS), places, places)
def test_the_longest_wall_runs_to_the_last_free_cell_both_ways(walls: Walls, kind: Kind, x: int, y: int) -> None:
    wall = trace(walls, kind, x, y, None, 99)
    if not walls.is_free(x, y):
        assert isinstance(wall, Blocked)
        return
    assert isinstance(wall, Wall)
    assert set(wall.cells()) == longest(walls, kind, x, y)


@given(boards(), st.sampled_from(KINDS), places, places, st.integers(-2, SIZE + 1), st.integers(-2, SIZE + 1))
def test_a_span_is_built_whole_or_not_at_all(walls: Walls, kind: Kind, x: int, y: int, first: int, last: int) -> None:
    anchor = y if kind == VERTICAL else x
    up, down = staircase(kind, x, y)
    wanted = {cell for cell in [(x, y), *up, *down] if first <= (cell[1] if kind == VERTICAL else cell[0]) <= last}
    legal = first <= anchor <= last and first >= 0 and last < SIZE and all(walls.is_free(*cell) for cell in wanted)
    wall = trace(walls, kind, x, y, (first, last), 99)
    assert isinstance(wall, Wall) == legal
    if isinstance(wall, Wall):
        assert set(wall.cells()) == wanted


@pytest.mark.parametrize(
    ("kind", "cells"),
    [
        (DIAGONAL, [(9, 9), (9, 10), (10, 10), (10, 11), (11, 11), (11, 12)]),
        (COUNTER_DIAGONAL, [(9, 11), (9, 10), (10, 10), (10, 9), (11, 9), (11, 8)]),
    ],
)
def test_the_worked_spans(kind: Kind, cells: list[tuple[int, int]]) -> None:
    wall = trace(Walls(300, 300), kind, 10, 10, (9, 11), 0)
    assert isinstance(wall, Wall)
    assert sorted(wall.cells()) == sorted(cells)


@pytest.mark.parametrize(
    ("wall", "cells"),
    [
        (Wall(0, DIAGONAL, 0, 0, 1, 1, "x"), [(0, 0), (1, 0), (1, 1)]),
        (Wall(0, DIAGONAL, 0, 0, 1, 1, "y"), [(0, 0), (0, 1), (1, 1)]),
        (Wall(0, COUNTER_DIAGONAL, 0, 1, 1, 0, "x"), [(0, 1), (1, 1), (1, 0)]),
        (Wall(0, COUNTER_DIAGONAL, 0, 1, 1, 0, "y"), [(0, 1), (0, 0), (1, 0)]),
    ],
)
def test_ends_and_first_step_say_which_cells(wall: Wall, cells: list[tuple[int, int]]) -> None:
    assert sorted(wall.cells()) == sorted(cells)


def test_walls_are_frozen_values() -> None:
    walls = Walls(5, 5, [Wall(0, HORIZONTAL, 0, 1, 4, 1)])
    with pytest.raises(AttributeError):
        walls.width = 6
    assert walls == Walls(5, 5, [Wall(0, HORIZONTAL, 0, 1, 4, 1)])
    assert hash(walls) == hash(Walls(5, 5, [Wall(0, HORIZONTAL, 0, 1, 4, 1)]))
    assert walls != walls.without(frozenset([0]))


@pytest.mark.parametrize(
    ("span", "reason"),
    [((3, 4), "span"), ((4, 3), "span"), ((0, 20), "off-board"), ((-(10**4000), 20), "off-board"), ((0, 5), "occupied")],
)
def test_a_bad_span_says_why(span: tuple[int, int], reason: str) -> None:
    walls = Walls(12, 12, [Wall(0, VERTICAL, 3, 0, 3, 11)])
    found = trace(walls, HORIZONTAL, 5, 5, span, 1)
    assert isinstance(found, Blocked)
    assert found.reason == reason
    assert len(found.text) < 100
