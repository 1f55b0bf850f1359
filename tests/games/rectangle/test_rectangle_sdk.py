"""Rectangle: what the SDK answers to bots."""

from __future__ import annotations

from typing import Any

import pytest
from recorded_games import RECTANGLE, Walker, seen_by

from referee.games.rectangle.rings import Ring
from sdk.rectangle import DIRECTIONS, Order, RectangleBot
from sdk.rectangle import State as SdkState
from sdk.testing import play


def state_of(board: str, robots: list[list[tuple[int, int]]], seat: str = "a") -> SdkState:
    rows = board.split("/")
    settings = RECTANGLE.codec.settings("small", {"n": len(rows), "players": len(robots), "robots": len(robots[0])})
    seats = "ab"[: len(robots)]
    nothing = dict.fromkeys(seats, 0)
    view = {
        "turn": 3,
        "board": rows,
        "robots": dict(zip(seats, robots, strict=True)),
        "orders": {},
        "scores": nothing,
        "gained": nothing,
        "stagnation": 0,
        "failed": [],
    }
    return seen_by(settings, seat)(view)


def test_what_the_sdk_answers() -> None:
    state = state_of("aaa../a.a../aa.b./.bbb./.....", [[(2, 1)], [(3, 3)]])
    assert state.at((1, 1)) == "."
    assert state.neighbours((0, 0)) == {"S": (1, 0), "E": (0, 1)}
    assert state.closes((2, 2)) == ([Ring(0, 0, 0, 2, 2)], 1)
    assert state.closes((1, 1)) == ([], 0)
    assert state.next_wins() == [(0, "E", 1)]
    after = state.after("E")
    assert after.at((1, 1)) == "#"
    assert (after.scores, after.gained, after.seat) == ((1, 0), (1, 0), "a")
    assert state.after("E", {"b": "N"}).at((2, 3)) == "b"
    assert [(ring[1:], cells) for ring, cells in state.unfinished(missing=1)] == [((0, 0, 2, 2), [(2, 2)])]
    assert state.way((0, 0), (2, 1)) == "SSE"
    assert state.draws((0, 0), 1, 1, 3, 3) == "SEEESSWWNN"
    assert after.closes((2, 2)) == ([], 0)
    assert state.after({0: "E"}) == after
    for wrong in ("EE", "x", {3: "E"}, None):
        with pytest.raises(TypeError):
            state.after(wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="no player"):
        state.after("E", {"z": "N"})
    with pytest.raises(ValueError, match="off the board"):
        state.closes((5, 0))
    with pytest.raises(ValueError, match="there is no ring"):
        state.draws((0, 0), 3, 3, 1, 1)


def test_closing_names_only_what_wins_something() -> None:
    state = state_of("aa.aa/a#a.a/aaaaa/...../.....", [[(0, 1)], [(4, 4)]])
    rings, won = state.closes((0, 2))
    assert won == 2
    assert Ring(0, 0, 0, 2, 2) not in rings
    assert Ring(0, 0, 0, 2, 4) in rings


def test_the_helpers_agree_with_playing_on() -> None:
    """What ``next_wins`` promises is what a turn alone gives, in all positions of a game between the example bots."""
    compared = 0

    class Checker(RectangleBot):
        def orders(self, state: SdkState) -> dict[int, Order]:
            nonlocal compared
            for robot, order, won in state.next_wins():
                alone: list[Order] = ["-"] * state.settings.robots
                alone[robot] = order
                target = state.neighbours(state.mine[robot])[order]
                if not any(target in cells for cells in state.robots):
                    assert sum(state.after(alone).gained) == won
                    compared += 1
            return {robot: self.random.choice(DIRECTIONS) for robot in range(state.settings.robots)} | {
                robot: order for robot, order, _ in state.next_wins()[:1]
            }

    play(Checker, Checker, game="rectangle", n=8, robots=4, cap=300, seed=4)
    assert compared > 5


@pytest.mark.parametrize(
    ("orders", "why"),
    [("NX", "they must be N, S, E, W or -"), ({5: "N"}, "orders are for the robots"), (None, "orders are None")],
)
def test_a_wrong_answer_is_told_to_its_author(orders: Any, why: str) -> None:
    class Wrong(RectangleBot):
        def orders(self, state: SdkState) -> Any:
            return orders

    with pytest.raises(TypeError, match=why):
        play(Wrong, Walker, game="rectangle", cap=5)
