"""Whole recorded games, and random ones that must hold together."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import conformance
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from referee.games import get
from referee.games.evasion.board.wall import KINDS
from referee.games.evasion.state import Build, HunterMove, PreyMove

GAME = get("evasion")
DATA = Path(__file__).parents[2] / "data"


def records(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (DATA / name).read_text().splitlines()]


@pytest.mark.parametrize(
    ("name", "count"), [("evasion-classic.jsonl", 14), ("evasion-diagonal.jsonl", 14), ("evasion-gameserver.jsonl", 60)]
)
def test_every_recorded_game_is_played_as_recorded(name: str, count: int) -> None:
    games = records(name)
    assert len(games) == count
    for game in games:
        played = conformance.play(game)
        assert played.difference is None
        assert played.steps == len(game["steps"])


@pytest.mark.parametrize(
    ("index", "item", "field"),
    [
        (4, 999, "hunter.x"),
        (7, 0, "hunter.dy"),
        (8, 999, "prey.x"),
        (10, 77, "wall_timer"),
        (11, 1, "captured"),
        (12, [[0, 1, 2, 3]], "walls"),
    ],
)
def test_a_changed_game_is_found(index: int, item: Any, field: str) -> None:
    game = records("evasion-classic.jsonl")[0]
    step = game["steps"][1]
    step[index:] = [item, *step[index + 1 :]]
    difference = conformance.play(game).difference
    assert difference is not None
    assert (difference.step, difference.field) == (1, field)


def test_steps_after_the_end_are_found() -> None:
    game = next(game for game in records("evasion-classic.jsonl") if game["steps"][-1][11])
    game["steps"].append(game["steps"][-1])
    difference = conformance.play(game).difference
    assert difference is not None
    assert difference.step == len(game["steps"]) - 1


@pytest.mark.parametrize("change", [{"steps": [[]]}, {"steps": [[9, [], 0, 0, 1, 1, 1, 1, 0, 0, 0, 0]]}, {"width": 0}, {"hunter": [0, 0]}])
def test_a_record_of_the_wrong_form_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError):
        conformance.play({**records("evasion-classic.jsonl")[0], **change})


sizes = st.integers(6, 40)
spans = st.none() | st.tuples(st.integers(-3, 45), st.integers(-3, 45))
builds = st.none() | st.builds(Build, st.sampled_from(KINDS), spans)
hunter_moves = st.builds(HunterMove, builds, st.lists(st.integers(-1, 12), max_size=3).map(tuple))
ways = st.integers(-1, 1)
prey_moves = st.builds(PreyMove, st.none() | st.tuples(ways, ways))


@st.composite
def games(draw: st.DrawFn) -> tuple[Any, list[tuple[HunterMove, PreyMove]]]:
    width, height = draw(sizes), draw(sizes)
    given = {
        "width": width,
        "height": height,
        "hunter": (draw(st.integers(0, width - 1)), 0, draw(st.sampled_from([-1, 1])), draw(st.sampled_from([-1, 1]))),
        "prey": (draw(st.integers(0, width - 1)), height - 1),
        "cooldown": draw(st.integers(0, 6)),
        "max_walls": draw(st.integers(0, 12)),
        "capture_radius": draw(st.integers(0, 4)),
        "prey_period": draw(st.integers(1, 4)),
        "max_steps": draw(st.integers(1, 120)),
    }
    return (draw(st.sampled_from(["classic", "diagonal"])), given), draw(
        st.lists(st.tuples(hunter_moves, prey_moves), min_size=1, max_size=80)
    )


@pytest.mark.soak
@given(games())
@settings(max_examples=200, deadline=None)
def test_random_games_hold_together(game: tuple[Any, list[tuple[HunterMove, PreyMove]]]) -> None:
    (rules, given), moves = game
    state = GAME.start(GAME.codec.settings(rules, given | {"capture_radius": min(given["capture_radius"], given["height"] - 2)}), b"")
    for hunter, prey in moves:
        if not GAME.movers(state):
            break
        kept = copy.deepcopy(state)
        after, notices = GAME.step(state, {"hunter": hunter, "prey": prey})
        assert state == kept, "step changed its argument"
        assert (after, notices) == GAME.step(state, {"hunter": hunter, "prey": prey}), "step is not a function"
        assert after.step == state.step + 1
        assert after.walls.is_free(after.hunter.x, after.hunter.y)
        assert after.walls.is_free(after.prey.x, after.prey.y)
        assert len(after.walls) <= after.settings.max_walls
        assert abs(after.hunter.dx) == abs(after.hunter.dy) == 1
        cells = [cell for wall in after.walls for cell in wall.cells()]
        assert len(cells) == len(set(cells))
        json.loads(GAME.codec.changes_text(state, after))
        state = after


@pytest.mark.parametrize(
    ("index", "item", "field"),
    [(2, 999, "hunter.x"), (4, "NE", "heading"), (5, 9, "hunter.cooldown"), (6, 0, "prey.x"), (8, 5, "prey.cooldown"), (9, "CAUGHT", "verdict"),
     (10, [[1, 0, 0, 0, 0]], "walls"), (1, None, "command")],
)  # fmt: skip
def test_a_changed_game_of_turns_is_found(index: int, item: Any, field: str) -> None:
    game = records("evasion-gameserver.jsonl")[0]
    turn = game["steps"][0]
    turn[index:] = [item, *turn[index + 1 :]]
    difference = conformance.play(game).difference
    assert difference is not None
    assert (difference.step, difference.field) == (0, field)


COMPASS_WORDS = ["N", "NE", "E", "SE", "S", "SW", "W", "NW"]
commands: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.builds(
        lambda x, y, z, number: {"add": {"id": number, "x1": x, "y1": y, "x2": z, "y2": y}}, *[st.integers(-1, 20)] * 3, st.integers(0, 4)
    ),
    st.builds(
        lambda x, y, z, number: {"add": {"id": number, "x1": x, "y1": y, "x2": x, "y2": z}}, *[st.integers(-1, 20)] * 3, st.integers(0, 4)
    ),
    st.integers(0, 4).map(lambda number: {"remove": number}),
    st.just({"invalid": "FLY"}),
)
steps_of_prey: st.SearchStrategy[dict[str, Any]] = st.one_of(
    st.just({}),
    st.sampled_from(COMPASS_WORDS).map(lambda go: {"go": go}),
    st.tuples(st.integers(0, 19), st.integers(0, 19)).map(lambda to: {"to": list(to)}),
    st.just({"invalid": "UP"}),
)


@pytest.mark.soak
@given(st.lists(st.tuples(commands, steps_of_prey), min_size=1, max_size=60), st.integers(0, 3), st.integers(0, 3))
@settings(max_examples=150, deadline=None)
def test_random_games_of_turns_hold_together(moves: list[tuple[Any, Any]], cooldown: int, prey_cooldown: int) -> None:
    given_ = {"width": 20, "height": 20, "prey": (15, 14), "cooldown": cooldown, "prey_cooldown": prey_cooldown, "max_walls": 3}
    state = GAME.start(GAME.codec.settings("gameserver", given_), b"")
    for hunter, prey in moves:
        if GAME.outcome(state) is not None:
            break
        asked = {seat: GAME.codec.parse(state, seat, {"hunter": hunter, "prey": prey}[seat]) for seat in GAME.movers(state)}
        for seat, move in asked.items():
            assert GAME.codec.parse(state, seat, GAME.codec.move_json(move)) == move
        before = copy.deepcopy(state)
        after, _ = GAME.step(state, asked)
        assert state == before, "step changed its argument"
        assert after.step == state.step + 1
        assert len(after.walls) <= 3
        assert after.walls.is_free(*after.hunter[:2])
        assert after.walls.is_free(*after.prey[:2])
        if after.step % 2 and after.ended != "trapped":
            assert abs(after.hunter.x - state.hunter.x) == abs(after.hunter.y - state.hunter.y) == 1
            assert after.prey == state.prey
        else:
            assert after.hunter == state.hunter
        json.loads(GAME.codec.view_text(after, None))
        json.loads(GAME.codec.changes_text(state, after))
        state = after
