"""Maze: what a move cost, held against the solved game."""

from __future__ import annotations

import pytest
from recorded_games import MAZE

from referee.games.maze import appraisal
from referee.games.maze.layouts import Layout
from referee.games.maze.solver import solution
from referee.games.maze.state import POLICEMAN, THIEF, Go, State

#: A maze with wins of both sides and draws.
SETTINGS = MAZE.codec.settings(None, {"layout": ["..#..", ".....", ".#.#.", "..#.E", "...#."], "parity": "any", "apart": 1})


def worth(state: State, seat: str) -> tuple[int, int]:
    """The value of a position for a seat, ordered: a loss, the later the better; a draw; a win."""
    value = solution(state.settings.layout).value(state.thief, state.policeman, is_thiefs=state.is_thiefs)
    return (2, 0) if value.winner == seat else (1, 0) if not value.winner else (0, value.plies)


@pytest.mark.parametrize("seat", [THIEF, POLICEMAN])
def test_the_better_move_is_a_best_one_and_is_named_only_where_the_played_one_is_worse(seat: str) -> None:
    assert MAZE.appraisal is appraisal
    appraise = appraisal.appraiser(seat)
    kinds = set()
    for thief, policeman in solution(SETTINGS.layout).positions():
        before = State(SETTINGS, 0 if seat == THIEF else 1, thief, policeman)
        orders = SETTINGS.layout.neighbours[thief if seat == THIEF else policeman]
        after = {order: MAZE.step(before, {seat: Go(order)})[0] for order in orders}
        best = max(worth(state, seat) for state in after.values())
        for order, state in after.items():
            found = appraise(before, {seat: Go(order)}, state)
            assert (found is None) == (worth(state, seat) == best)
            if found is None:
                continue
            assert worth(after[found.better.go], seat) == best
            assert found.cost == found.instead - found.now > 0
            assert (found.now < 1000) == (worth(state, seat)[0] == 0) == (found.remark == "")
            kinds.add((worth(state, seat)[0], best[0]))
    # Among them: draws that became losses, wins that became draws or losses; of the thief also losses that came sooner.
    assert kinds >= {(0, 1), (0, 2), (1, 2)} | ({(0, 0)} if seat == THIEF else set())


def test_a_loss_is_counted_in_plies_and_described() -> None:
    assert appraisal.is_exact
    assert appraisal.measure(THIEF, SETTINGS) == (
        "plies until the policeman catches the thief if both play perfectly, 1,000 where nobody can win, 2,000 where the thief wins"
    )
    corridor = MAZE.codec.settings(None, {"layout": [".....E", "######", "######", "######"], "parity": "any", "apart": 1})
    assert isinstance(corridor.layout, Layout)
    before = State(corridor, 0, 2, 0)
    found = appraisal.appraiser(THIEF)(before, {THIEF: Go("L")}, MAZE.step(before, {THIEF: Go("L")})[0])
    assert found == (Go("R"), "then the thief escapes in 4 plies", 1, 2000, "")
