from __future__ import annotations

import random
import threading
from typing import Any

import prey_model

from referee.games.evasion.game import GAME
from referee.replay.turning_points import CheckpointQueue, turning_points


def judged(states: list[Any]) -> list[tuple[int, dict[str, Any]]]:
    """The turning points of some positions."""
    marks = CheckpointQueue()
    marks.add(0)
    for position in range(1, len(states)):
        if GAME.analysis.invalidates_verdict(states[position - 1], states[position]):
            marks.add(position)
    marks.finish(len(states) - 1)
    return list(turning_points(marks, states.__getitem__, GAME.analysis.verdict))


def test_every_position_has_the_verdict_of_the_point_before_it() -> None:
    """By halving, as by asking for every position."""
    rng = random.Random(4)
    points_seen = 0
    for _ in range(40):
        state = prey_model.random_position(rng, "classic")
        state = state._replace(settings=state.settings._replace(max_steps=state.step + 40, cooldown=7, max_walls=12), wall_timer=0)
        states = [state]
        while not state.ended:
            moves: dict[str, Any] = {
                "hunter": GAME.codec.parse(state, "hunter", rng.choice(({}, {}, {"build": {"kind": "vertical"}}, {"remove": [0, 1]})))
            }
            moves["prey"] = GAME.codec.parse(state, "prey", {"go": [rng.randint(-1, 1), rng.randint(-1, 1)]})
            state, _ = GAME.step(state, moves)
            states.append(state)
        points = judged(states)
        points_seen += len(points)
        assert points[0][0] == 0
        assert [position for position, _ in points] == sorted({position for position, _ in points})
        for position, state in enumerate(states):
            certain = GAME.analysis.verdict(state)
            if not certain:
                continue
            _, found = [point for point in points if point[0] <= position][-1]
            assert found["verdict"] == certain["verdict"], (position, points)
    assert points_seen > 100


def test_judging_goes_on_beside_a_match_and_ends_with_it() -> None:
    state = GAME.start(GAME.codec.settings("classic", {}))
    marks = CheckpointQueue()
    found: list[Any] = []
    judge = threading.Thread(target=lambda: found.extend(turning_points(marks, lambda _: state, GAME.analysis.verdict)))
    judge.start()
    marks.add(0)
    marks.add(7)
    marks.finish(9)
    judge.join(60)
    assert not judge.is_alive()
    assert [position for position, _ in found] == [0, 7]


def test_a_game_without_certainty_has_no_turning_points() -> None:
    marks = CheckpointQueue()
    marks.add(0)
    marks.finish(5)
    assert list(turning_points(marks, lambda _: None, lambda _: {})) == []


def test_nothing_was_played() -> None:
    marks = CheckpointQueue()
    marks.finish(0)
    assert list(turning_points(marks, lambda _: None, lambda _: {})) == []
