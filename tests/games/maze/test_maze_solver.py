"""Maze: the solved game held against one-step checks."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_games import MAZE, SOLVED

from referee.games.game import SettingsError
from referee.games.maze import variants
from referee.games.maze.layouts import Layout
from referee.games.maze.solver import Solution, Value


def value(thief: tuple[int, int], policeman: tuple[int, int]) -> Value:
    index = SOLVED.layout.index
    return SOLVED.value(index[thief], index[policeman], is_thiefs=True)


def test_the_numbers_of_the_solved_game() -> None:
    assert value((1, 1), (16, 2)) == ("thief", 43)
    assert value((16, 2), (1, 3)) == ("", 0)
    assert value((2, 1), (1, 2)) == ("policeman", 30)
    everywhere = Counter(SOLVED.value(*places, is_thiefs=True).winner for places in SOLVED.positions())
    assert everywhere == {"thief": 28_420, "": 25_674, "policeman": 195}
    for given_, wins, count in (({"parity": "any", "exit_start": False}, 233, 3_858), ({}, 137, 2_118)):
        found = [SOLVED.value(*places, is_thiefs=True) for places in variants.starts(MAZE.codec.settings(None, given_))]
        assert Counter(one.winner for one in found) == {"thief": wins, "": count - wins}
        assert max(one.plies for one in found) <= 43
    assert (
        max(SOLVED.value(*places, is_thiefs=True).plies for places in variants.starts(MAZE.codec.settings(None, {"parity": "any"}))) == 43
    )


def check_every_state(solved: Solution) -> int:
    """Each label follows from those one ply later, by the game's own rules; the number of states."""
    layout, checked = solved.layout, 0
    for is_thiefs in (True, False):
        sign = 1 if is_thiefs else -1
        for thief in range(solved.count):
            for policeman in range(solved.count):
                label = solved.label(thief, policeman, is_thiefs=is_thiefs)
                if thief == policeman or thief == layout.exit:
                    if not is_thiefs or thief == policeman:
                        wanted = 1 if thief == layout.exit and not is_thiefs else -1
                        assert label == wanted
                    continue
                checked += 1
                here = thief if is_thiefs else policeman
                nexts = []
                for place in layout.neighbours[here].values():
                    at = (place, policeman) if is_thiefs else (thief, place)
                    nexts.append(sign * solved.label(*at, is_thiefs=not is_thiefs))
                won = [one for one in nexts if one > 0]
                if won:
                    assert sign * label == min(won) + 1
                elif all(one < 0 for one in nexts):
                    assert sign * label == min(nexts) - 1
                else:
                    assert label == 0
    return checked


@pytest.mark.soak
def test_every_label_follows_from_those_one_ply_later() -> None:
    assert check_every_state(SOLVED) == 2 * 233 * 233


@st.composite
def layouts(draw: Any) -> Layout:
    height, width = draw(st.integers(4, 7)), draw(st.integers(4, 7))
    signs = draw(st.lists(st.sampled_from("....#"), min_size=height * width, max_size=height * width))
    signs[draw(st.integers(0, height * width - 1))] = "E"
    if signs.count("E") != 1:
        signs = ["." if sign == "E" else sign for sign in signs]
        signs[0] = "E"
    rows = ["".join(signs[start : start + width]) for start in range(0, height * width, width)]
    while True:
        try:
            return Layout(rows)
        except SettingsError as error:
            # What isn't joined is walled up.
            line, column = [int(word.strip(":,")) for word in str(error).split() if word.strip(":,").isdigit()][:2]
            rows[line - 1] = rows[line - 1][: column - 1] + "#" + rows[line - 1][column:]


@given(layouts())
@pytest.mark.soak
def test_other_layouts_are_solved_as_well(layout: Layout) -> None:
    if len(layout.squares) > 1:
        check_every_state(Solution(layout))


def test_the_largest_maze_is_solved_and_started() -> None:
    layout = Layout(["." * 32] * 31 + ["." * 31 + "E"])
    solved = Solution(layout)
    index = layout.index
    # Next to the exit and to move: one ply. In an open maze nobody else can be held off forever, but the way can be barred.
    assert solved.value(index[32, 31], index[1, 1], is_thiefs=True) == ("thief", 1)
    assert solved.best(index[32, 31], index[1, 1], is_thiefs=True) == ["R"]
    assert variants.start(MAZE.codec.settings(None, {"layout": Layout(["." * 64] * 63 + ["." * 63 + "E"])}), 10**9) > (0, 0)
