"""The worked cases of the bounce rules."""

from __future__ import annotations

import pytest

from referee.games.evasion.board.bounce import by_kind, by_neighbours
from referee.games.evasion.board.wall import HORIZONTAL, VERTICAL, Wall
from referee.games.evasion.board.walls import Walls

ROW_200 = [Wall(0, HORIZONTAL, 10, 200, 299, 200)]
TWO_ROWS = [Wall(0, HORIZONTAL, 0, 40, 40, 40), Wall(1, HORIZONTAL, 0, 41, 40, 41)]


@pytest.mark.parametrize(
    ("walls", "start", "end"),
    [
        (ROW_200, (100, 199, 1, 1), (101, 199, 1, -1)),
        (ROW_200, (9, 200, 1, 1), (10, 201, 1, 1)),
        (ROW_200, (9, 199, 1, 1), (10, 199, 1, -1)),
        (ROW_200, (9, 200, 1, 0), (9, 200, -1, 0)),
        (TWO_ROWS, (41, 41, -1, -1), (41, 40, 1, -1)),
        ([], (299, 299, 1, 1), (299, 299, -1, -1)),
        ([], (0, 0, -1, -1), (0, 0, 1, 1)),
        ([], (299, 5, 1, 1), (299, 6, -1, 1)),
        ([], (5, 299, 1, 1), (6, 299, 1, -1)),
        ([], (5, 5, 0, 0), (5, 5, 0, 0)),
        ([Wall(0, VERTICAL, 6, 0, 6, 299)], (5, 5, 1, 1), (5, 6, -1, 1)),
    ],
)
def test_the_hunter_bounces_off_walls_by_their_kind(walls: list[Wall], start: tuple[int, ...], end: tuple[int, ...]) -> None:
    assert by_kind(Walls(300, 300, walls), *start) == end


HIT, A, B, C, D = (9, 11), (9, 10), (10, 11), (9, 12), (8, 11)


@pytest.mark.parametrize(
    ("occupied", "end"),
    [
        ((), (9, 11, -1, 1)),
        ((A, HIT), (10, 11, 1, 1)),
        ((B, HIT), (9, 10, -1, -1)),
        ((A, B, HIT), (10, 10, 1, -1)),
        ((HIT, D), (9, 10, -1, -1)),
        ((HIT, C), (10, 11, 1, 1)),
        ((HIT, C, D), (10, 10, 1, -1)),
        ((HIT,), (10, 10, 1, -1)),
        ((A, B), (9, 11, -1, 1)),
    ],
)
def test_the_hunter_bounces_by_the_neighbours_of_a_cell(occupied: tuple[tuple[int, int], ...], end: tuple[int, ...]) -> None:
    walls = Walls(300, 300, [Wall(index, HORIZONTAL, x, y, x, y) for index, (x, y) in enumerate(occupied)])
    assert by_neighbours(walls, 10, 10, -1, 1) == end


@pytest.mark.parametrize("way", [(1, 0), (-1, 0), (0, 1), (0, -1)])
def test_an_orthogonal_prey_bounces_back_to_its_place(way: tuple[int, int]) -> None:
    dx, dy = way
    walls = Walls(20, 20, [Wall(0, HORIZONTAL, 10 + dx, 10 + dy, 10 + dx, 10 + dy)])
    assert by_neighbours(walls, 10, 10, dx, dy) == (10, 10, -dx, -dy)
