"""Maze: the built-in policemen, and what the SDK answers."""

from __future__ import annotations

import json

import pytest
from recorded_games import MAZE, SOLVED, state_of
from table import bot_class

from example_bots import BOTS
from sdk.maze import Order, ThiefBot
from sdk.maze import State as SdkState
from sdk.testing import play


def choices(
    name: str, thief: tuple[int, int], policeman: tuple[int, int], came_from: tuple[int, int] | None = None
) -> set[tuple[int, int]]:
    """Where a built-in policeman goes, over many seeds."""
    bot = bot_class(next(one for one in BOTS if one.game == "maze" and one.name == name))()
    settings = MAZE.codec.settings(None, {"parity": "any"})
    view = {"step": 1, "thief": list(thief), "policeman": list(policeman), "thief_from": None, "moves_left": None}
    state = SdkState(settings, "policeman", {**view, "policeman_from": None if came_from is None else list(came_from)})
    bot.seed = 1
    return {state.neighbours(policeman)[bot.chase(state)] for _ in range(60)}  # type: ignore[attr-defined]


def test_the_policemen_of_the_assignment() -> None:
    assert choices("hard", (12, 7), (12, 6)) == {(12, 7)}
    assert choices("hard", (9, 5), (11, 5)) == {(11, 4)}
    assert choices("hard-manhattan", (9, 5), (11, 5)) == {(11, 4), (12, 5)}
    assert choices("hard-manhattan", (9, 5), (11, 4), (11, 5)) == {(11, 3), (12, 4)}
    assert choices("hard", (14, 14), (16, 16)) == {(15, 16), (16, 15)}
    assert choices("easy", (1, 1), (16, 2)) == {(16, 1), (16, 3), (15, 2)}
    # The only square that keeps the policeman's win in 30 plies, after any thief's move that loses latest.
    index = SOLVED.layout.index
    kept = {
        square
        for order in SOLVED.best(index[3, 1], index[1, 2], is_thiefs=False)
        for square in [SOLVED.layout.squares[SOLVED.layout.neighbours[index[1, 2]][order]]]
    }
    assert choices("expert", (3, 1), (1, 2)) <= kept < {(1, 1), (2, 2), (1, 3)}


def test_the_expert_wins_what_is_won() -> None:
    """Perfect play against perfect play takes exactly as many plies as the solution says."""
    expert = bot_class(next(one for one in BOTS if one.game == "maze" and one.name == "expert"))
    result = play(expert, expert, game="maze", parity="any", thief=(1, 1), policeman=(16, 2))
    assert (result.outcome.reason, result.steps) == ("escaped", 43)
    result = play(expert, expert, game="maze", parity="any", thief=(2, 1), policeman=(1, 2))
    assert (result.outcome.reason, result.steps) == ("caught", 30)
    result = play(expert, expert, game="maze", parity="any", thief=(16, 2), policeman=(1, 3))
    assert result.outcome.reason == "move-limit"


def test_what_the_sdk_answers() -> None:
    settings = MAZE.codec.settings(None, {})
    state = SdkState(settings, "thief", json.loads(MAZE.codec.view_text(state_of((5, 7), (16, 16)), None)))
    assert state.neighbours((5, 7)) == {"U": (4, 7), "L": (5, 6), "R": (5, 8)}
    assert (state.here, state.exit, state.moves_left) == ((5, 7), (8, 16), 200)
    assert state.distance((5, 7), (7, 8)) == len(state.path((5, 7), (7, 8))) == 7
    at = state.thief
    for order in state.path(at, state.exit):
        at = state.neighbours(at)[order]
    assert at == state.exit
    best = state.best()
    assert best
    assert all(state.value(order).winner == state.value().winner for order in best)
    won = SdkState(settings, "thief", json.loads(MAZE.codec.view_text(state_of((8, 14), (16, 2)), None)))
    assert won.value() == ("thief", 3)
    assert won.best() == ["R"]
    assert won.value("R") == ("thief", 2)


class Lost(ThiefBot):
    def escape(self, state: SdkState) -> Order:
        return "up"  # type: ignore[return-value]


def test_a_wrong_answer_is_told_to_its_author() -> None:
    hard = bot_class(next(one for one in BOTS if one.game == "maze" and one.name == "hard"))
    with pytest.raises(TypeError, match="it must be U, D, L or R"):
        play(Lost, hard, game="maze")


def test_helpers_name_what_is_wrong() -> None:
    state = SdkState(MAZE.codec.settings(None, {}), "thief", json.loads(MAZE.codec.view_text(state_of((6, 6), (16, 16)), None)))
    for ask, why in (
        (lambda: state.value("R"), "'R' leads nowhere from here"),
        (lambda: state.neighbours((1, 9)), r"\(1, 9\) is no free square"),
        (lambda: state.distance((0, 0), (1, 1)), r"\(0, 0\) is no free square"),
        (lambda: state.path([1, 1], (2, 2)), r"\[1, 1\] is no free square of this maze; squares are \(row, column\)"),  # type: ignore[arg-type]
    ):
        with pytest.raises(ValueError, match=why):
            ask()


class Lister(ThiefBot):
    def escape(self, state: SdkState) -> Order:
        return ["U"]  # type: ignore[return-value]


def test_an_order_of_another_kind_is_named_to_its_author() -> None:
    example = next(bot for bot in BOTS if bot.name == "hard")
    with pytest.raises(TypeError, match=r"an order is \['U'\]; it must be U, D, L or R"):
        play(Lister, bot_class(example), game="maze")
