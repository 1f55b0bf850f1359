"""Lines and areas, against cell-by-cell models."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from referee.games.evasion.board.regions import free_cells, line, reachable
from referee.games.evasion.board.wall import KINDS, Wall
from referee.games.evasion.board.walls import Walls, trace

SIZE = 9
cells = st.tuples(st.integers(0, SIZE - 1), st.integers(0, SIZE - 1))


@st.composite
def boards(draw: st.DrawFn) -> Walls:
    walls = Walls(SIZE, SIZE - 2)
    for index in range(draw(st.integers(0, 7))):
        x, y = draw(cells)
        wall = trace(walls, draw(st.sampled_from(KINDS)), x, y, None, index)
        if isinstance(wall, Wall):
            walls = walls.adding(wall)
    return walls


@given(boards())
def test_free_cells_are_those_that_are_free(walls: Walls) -> None:
    expected = {(x, y) for x in range(walls.width) for y in range(walls.height) if walls.is_free(x, y)}
    assert set(free_cells(walls)) == expected
    assert len(free_cells(walls)) == len(expected)


@given(boards(), cells)
def test_reach_is_a_flood_in_eight_directions(walls: Walls, start: tuple[int, int]) -> None:
    seen, todo = set(), [start] if walls.is_free(*start) else []
    while todo:
        cell = todo.pop()
        if cell in seen:
            continue
        seen.add(cell)
        around = [(cell[0] + dx, cell[1] + dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
        todo += [near for near in around if walls.is_free(*near)]
    region = reachable(walls, start)
    assert set(region) == seen
    assert all((x, y) in region for x, y in seen)
    assert (SIZE, 0) not in region
    assert (0, -1) not in region


@given(cells, cells)
def test_a_line_is_the_same_from_both_ends_and_has_no_gap(a: tuple[int, int], b: tuple[int, int]) -> None:
    path = list(line(a, b))
    assert path == list(line(b, a))
    assert {a, b} <= set(path)
    assert len(path) == max(abs(a[0] - b[0]), abs(a[1] - b[1])) + 1
    for (x1, y1), (x2, y2) in pairwise(path):
        assert max(abs(x1 - x2), abs(y1 - y2)) == 1


def test_a_known_line() -> None:
    # Longer axis x, error from 4 // 2 = 2, less 1 a cell: it falls below 0 after the third.
    assert list(line((0, 0), (4, 1))) == [(0, 0), (1, 0), (2, 0), (3, 1), (4, 1)]
