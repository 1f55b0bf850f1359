"""The compiled rules against the engine: every field after every step, over random settings and moves."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import numba
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from referee.errors import RefereeError
from referee.games.evasion.batch import ENDS, KINDS, NOTICES, REASONS, Batch
from referee.games.evasion.game import GAME
from referee.games.evasion.kernel import state as fields
from referee.games.evasion.state import Build, HunterMove, PreyMove
from referee.games.game import SettingsError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from referee.games.evasion.state import State

GAMES = 32
#: The first call compiles for half a minute.
pytestmark = pytest.mark.slow
DATA = Path(__file__).parents[2] / "data"


@st.composite
def boards(draw: st.DrawFn) -> dict[str, Any]:
    """Settings of a game; some are refused because the prey is caught at the start."""
    width, height = draw(st.sampled_from([(8, 14), (14, 8), (23, 40), (300, 300), (1, 30)]))
    cell = st.tuples(st.integers(0, width - 1), st.integers(0, height - 1))
    return {
        "rules": draw(st.sampled_from(["classic", "diagonal"])),
        "width": width,
        "height": height,
        "hunter": [*draw(cell), draw(st.sampled_from([1, -1])), draw(st.sampled_from([1, -1]))],
        "prey": list(draw(cell)),
        "cooldown": draw(st.sampled_from([0, 1, 2, 20])),
        "max_walls": draw(st.sampled_from([0, 1, 3, 10, 40])),
        "capture_radius": draw(st.sampled_from([0, 1, 4])),
        "prey_period": draw(st.sampled_from([1, 2, 3])),
        "max_steps": draw(st.sampled_from([20, 400])),
    }


def hunter_move(chance: Random, state: State) -> tuple[HunterMove, list[int], list[int]]:
    """A random move of the hunter: for the engine, and as the numbers and the indices of removed walls for the batch."""
    most = state.settings.max_walls
    removed = [index for index in range(most) if chance.random() < 0.03]
    ids = tuple(state.walls.all[index].id if index < len(state.walls) else 1_000_000 + index for index in removed)
    if chance.random() < 0.5:
        return HunterMove(None, ids), [-1, -1, 0, 0, 0], removed
    kind = chance.randrange(len(KINDS))
    span = None
    if chance.random() < 0.4:
        anchor = state.hunter.y if kind == 1 else state.hunter.x
        span = (anchor - chance.randint(-1, 9), anchor + chance.randint(-1, 9))
    return HunterMove(Build(KINDS[kind], span), ids), [kind, -1, int(span is not None), *(span or (0, 0))], removed


def prey_move(chance: Random) -> tuple[PreyMove, list[int]]:
    """A random move of the prey, for the engine and as numbers for the batch."""
    if chance.random() < 0.4:
        return PreyMove(), [2, 0]
    go = chance.randint(-1, 1), chance.randint(-1, 1)
    return PreyMove(go), [*go]


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    """A few games in a call: threads that wait for each other would take most of the time."""
    before = numba.get_num_threads()
    numba.set_num_threads(1)
    yield
    numba.set_num_threads(before)


def row(state: State) -> list[int]:
    """All fields of a state but its walls, in the order of the columns of a batch."""
    ends = ENDS.index(state.ended)
    return [state.step, state.wall_timer, state.next_id, state.changed, ends, len(state.walls), *state.hunter, *state.prey]


def play(given_settings: Mapping[str, Any], seed: int, steps: int) -> int:
    """Play random games by both; return the number of steps that were compared."""
    rules, plain = given_settings["rules"], {name: value for name, value in given_settings.items() if name != "rules"}
    batch = Batch(GAMES, rules, **plain)
    states = [GAME.start(batch.settings)] * GAMES
    chance, compared = Random(seed), 0
    # The walls of each game at the last step: the engine's and the batch's. Walls that both have left as they were are not compared again.
    walls: list[tuple[object, bytes]] = [(None, b"")] * GAMES
    for _ in range(steps):
        moves = [(*hunter_move(chance, state), *prey_move(chance)) for state in states]
        removed = np.zeros((GAMES, max(1, batch.settings.max_walls)), np.bool_)
        for number, (_, _, indices, _, _) in enumerate(moves):
            removed[number, indices] = True
        was_on = [not state.ended for state in states]
        batch.step([build for _, build, _, _, _ in moves], [go for *_, go in moves], removed=removed)
        notices, refused = batch.notices, batch.refused
        for number in np.flatnonzero(was_on).tolist():
            hunter, _, _, prey, _ = moves[number]
            after, told = GAME.step(states[number], {"hunter": hunter, "prey": prey})
            now = after.walls, batch.walls[number].tobytes()
            if now[0] is walls[number][0] and now[1] == walls[number][1]:
                assert batch.games[number, : fields.NOTICED].tolist() == row(after)
            else:
                assert batch.state(number) == after
            walls[number] = now
            assert {code for code in NOTICES if notices[code][number]} == {notice.code for notice in told}
            reasons = [notice.data["reason"] for notice in told if notice.code == "wall-refused" and notice.data is not None]
            assert [REASONS[refused[number]]] == (reasons or [""])
            states[number] = after
            compared += 1
        if not any(was_on):
            break
    # A state of the engine that is put into a batch goes on in the same way.
    copy = Batch(GAMES, rules, **plain)
    for number, state in enumerate(states):
        copy.put(state, [number])
    for each in (batch, copy):
        each.step(each.discrete([1] * GAMES), [[1, 1]] * GAMES, steps=5)
    assert [copy.state(number) for number in range(GAMES)] == [batch.state(number) for number in range(GAMES)]
    return compared


@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
@given(boards(), st.integers(0, 2**32))
def test_every_field_is_what_the_engine_gives(board: dict[str, Any], seed: int) -> None:
    try:
        assert play(board, seed, 60) > 0
    except SettingsError as error:
        assert "before the first step" in str(error)


@pytest.mark.parametrize("seed", range(2026, 2030))
def test_a_million_random_steps_are_those_of_the_engine(seed: int) -> None:
    """A quarter of them for each seed, so that they can be compared side by side."""
    chance, compared = Random(seed), 0
    while compared < 250_000:
        width, height = chance.choice([(8, 14), (30, 30), (60, 20), (300, 300)])
        board = {
            "rules": chance.choice(["classic", "diagonal"]),
            "width": width,
            "height": height,
            "hunter": [chance.randrange(width), chance.randrange(height), chance.choice([1, -1]), chance.choice([1, -1])],
            "prey": [chance.randrange(width), chance.randrange(height)],
            "cooldown": chance.choice([0, 1, 2, 5, 20]),
            "max_walls": chance.choice([0, 1, 2, 5, 10, 50]),
            "capture_radius": chance.choice([0, 1, 2, 4]),
            "prey_period": chance.choice([1, 2, 3]),
            "max_steps": 2_000,
        }
        try:
            compared += play(board, chance.randrange(2**32), 1_000)
        except SettingsError as error:
            assert "before the first step" in str(error)


def finals(threads: int, seed: int) -> tuple[Any, Any]:
    """The positions and the ends after many steps between players of the kernel, on so many threads."""
    before = numba.get_num_threads()
    numba.set_num_threads(min(threads, len(os.sched_getaffinity(0))))
    try:
        batch = Batch(200, "diagonal", seed=seed, starts=[[0, 0, 1, 1, 230, 200], [250, 20, -1, 1, 40, 200]], max_steps=300)
        batch.step(hunter="random", prey="random", steps=1_000, mode="at-once")
        return batch.games.copy(), batch.ends.copy()
    finally:
        numba.set_num_threads(before)


def test_a_seed_gives_the_same_games_whatever_the_number_of_threads() -> None:
    (one, ends), (two, other_ends) = finals(1, 5), finals(2, 5)
    assert (one == two).all()
    assert (ends == other_ends).all()
    assert ends.sum() == 200 * 1_000
    assert (finals(1, 6)[0] != one).any()


@pytest.mark.parametrize("rules", ["classic", "diagonal"])
def test_boxer_and_runner_move_as_the_example_bots_do(rules: str) -> None:
    from example_bots.evasion.boxer import Boxer
    from example_bots.evasion.runner import Runner
    from sdk.testing import play as play_match

    size: dict[str, Any] = {"width": 80, "height": 60, "prey": [55, 40], "cooldown": 7, "max_walls": 4, "max_steps": 1_500}
    wanted = play_match(Boxer, Runner, rules=rules, **size).state
    batch = Batch(1, rules, **size)
    batch.step(hunter="boxer", prey="runner", steps=1_500)
    assert batch.state(0)._replace(settings=wanted.settings) == wanted
    assert ENDS[batch.ended[0]] == wanted.ended


@pytest.mark.parametrize(("mode", "ended", "steps"), [("stay", 1, 10), ("next-step", 0, 0), ("at-once", 0, 1)])
def test_games_that_have_ended_stay_or_begin_anew(mode: str, ended: int, steps: int) -> None:
    batch = Batch(2, width=40, height=40, hunter=[0, 0, 1, 1], prey=[11, 11], capture_radius=2)
    batch.step(steps=10, mode=mode)
    assert batch.ended.tolist() == [1, 1]
    assert batch.steps.tolist() == [10, 10]
    assert batch.ends.tolist() == [[9, 1, 0]] * 2
    batch.step(mode=mode)
    assert batch.ended.tolist() == [ended] * 2
    assert batch.steps.tolist() == [steps] * 2
    batch.reset([True, False])
    assert batch.steps.tolist() == [0, steps]


@pytest.mark.parametrize("name", ["evasion-classic.jsonl", "evasion-diagonal.jsonl"])
def test_recorded_games_are_played_as_recorded(name: str) -> None:
    for record in map(json.loads, (DATA / name).read_text().splitlines()):
        known = {key: record[key] for key in ("width", "height", "max_walls", "cooldown", "hunter", "prey")}
        batch = Batch(1, record["rules"], **known, max_steps=len(record["steps"]) + 1)
        standing: list[Any] = []
        for build, removed, dx, dy, *values in record["steps"]:
            kind, *span = build if isinstance(build, list) else [build]
            marks = np.zeros((1, max(1, batch.settings.max_walls)), np.bool_)
            marks[0, [place for place in removed if 0 <= place < len(standing)]] = True
            row = [kind - 1, -1, int(bool(span)), *(span[:2] or (0, 0))]
            batch.step([row], [[2, 0] if dx is None else [dx, dy]], removed=marks)
            *_, timer, captured = values[:8]
            assert [*batch.hunter[0].tolist(), *batch.prey[0, :2].tolist()] == values[:6]
            assert (int(batch.wall_timer[0]), int(batch.ended[0] == 1)) == (timer, captured)
            standing = values[8] if len(values) > 8 else standing
            assert [wall.to_numbers() for wall in batch.state(0).walls] == standing


def test_discrete_actions_are_moves() -> None:
    batch = Batch(1, "diagonal")
    assert batch.discrete([0, 1, 4, 5, 8, 9, 18]).tolist() == [
        [-1, -1, 0, 0, 0],
        [0, -1, 0, 0, 0],
        [3, -1, 0, 0, 0],
        [0, -2, 0, 0, 0],
        [3, -2, 0, 0, 0],
        [-1, 0, 0, 0, 0],
        [-1, 9, 0, 0, 0],
    ]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Batch(0), "0 games"),
        (lambda: Batch(2, "gameserver"), "there are classic and diagonal"),
        (lambda: Batch(2, width=0), "width"),
        (lambda: Batch(2, starts=[[0, 0, 1, 1]]), "rows of six numbers"),
        (lambda: Batch(2, starts=[[0, 0, 1, 1, 500, 0]]), "off the 300 x 300 board"),
        (lambda: Batch(2).step([[0, 0, 0]] * 2), "builds has the shape"),
        (lambda: Batch(2).step(goes=[[0, 0]]), "goes has the shape"),
        (lambda: Batch(True), "has True games"),
        (lambda: Batch(2.5), "has 2.5 games"),  # type: ignore[arg-type]  # on purpose
        (lambda: Batch(2, starts=[[0, 0, 1, 1, 1 << 40, 0]]), "off the 300 x 300 board"),
        (lambda: Batch(2, starts=[[0.5, 0, 1, 1, 200, 200]]), "type float64, but must have the shape (any, 6): rows of six numbers"),
        (lambda: Batch(2, seed=[5]), "seed has the shape (1,)"),
        (lambda: Batch(2, seed=1.5), "a seed is 1.5"),  # type: ignore[arg-type]  # on purpose
        (lambda: Batch(2).reset([True]), "chosen has the shape (1,)"),
        (lambda: Batch(2).reset([0, 1]), "True or False for each game"),
        (lambda: Batch(2).step([[0.5, -1, 0, 0, 0]] * 2), "builds has the shape (2, 5) and the type float64"),
        (lambda: Batch(2).step([[4, -1, 0, 0, 0]] * 2), "builds has 4 in column 0, but it must be from -1 to 3"),
        (lambda: Batch(2).step([[0, 1 << 32, 0, 0, 0]] * 2), "builds has 4294967296 in column 1"),
        (lambda: Batch(2).step([[0], [1, 2]]), "builds has the shape"),
        (lambda: Batch(2).step(goes=[[0, 0], [0, -2]]), "goes has -2 in column 1, but it must be from -1 to 1"),
        (lambda: Batch(2).step(removed=[True]), "must have the shape (2, any)"),
        (lambda: Batch(2).step(steps=-1), "steps is -1"),
        (lambda: Batch(2).step(hunter=[]), "no hunter []"),  # type: ignore[arg-type]  # on purpose
        (lambda: Batch(2).step(hunter="boxr"), "no hunter 'boxr'; there are straight, random, boxer"),
        (lambda: Batch(2).step(mode="never"), "no mode 'never'"),
        (lambda: Batch(2).put(GAME.start(Batch(1, max_walls=3).settings)), "other settings"),
    ],
)
def test_wrong_values_are_named(make: Any, text: str) -> None:
    with pytest.raises((ValueError, TypeError, RefereeError), match=re.escape(text)):
        make()
