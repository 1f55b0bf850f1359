"""Typed bots of the other games."""

from __future__ import annotations

from typing import Literal

from typing_extensions import assert_type

from sdk import PolicemanBot, RectangleBot, ThiefBot
from sdk.maze import Layout, Order, Value
from sdk.maze import Settings as MazeSettings
from sdk.maze import State as MazeState
from sdk.rectangle import Order as Word
from sdk.rectangle import Ring, Settings, State


class Typed(ThiefBot, PolicemanBot):
    def begin(self) -> None:
        assert_type(self.settings, MazeSettings)
        assert_type(self.settings.parity, Literal["any", "even"])
        assert_type(self.seat, Literal["thief", "policeman"])
        self.solve()

    def escape(self, state: MazeState) -> Order:
        assert_type(state.thief, tuple[int, int])
        assert_type(state.thief_from, tuple[int, int] | None)
        assert_type(state.moves_left, int | None)
        assert_type(state.neighbours(state.here), dict[Order, tuple[int, int]])
        assert_type(state.distance(state.here, state.exit), int)
        assert_type(state.value(), Value)
        assert_type(state.value(state.best()[0]).plies, int)
        assert_type(self.layout, Layout)
        return state.best()[0]

    def chase(self, state: MazeState) -> Order:
        return state.path(state.here, state.thief)[0]


class Painter(RectangleBot):
    def place(self, state: State) -> list[tuple[int, int]]:
        return [(robot, robot) for robot in range(self.settings.robots)]

    def orders(self, state: State) -> dict[int, Word]:
        assert_type(self.settings, Settings)
        assert_type(self.settings.rules, Literal["small", "middle", "large"])
        assert_type(state.mine, tuple[tuple[int, int], ...])
        assert_type(state.scores, tuple[int, ...])
        assert_type(state.at((0, 0)), str)
        assert_type(state.neighbours((0, 0)), dict[Word, tuple[int, int]])
        assert_type(state.after("N"), State)
        assert_type(state.closes((1, 1)), tuple[list[Ring], int])
        assert_type(state.next_wins(), list[tuple[int, Word, int]])
        assert_type(self.placed, dict[str, tuple[tuple[int, int], ...]])
        assert_type(self.history, list[dict[str, str]])
        return {robot: order for robot, order, _ in state.next_wins()}
