"""A time step, stage by stage."""

from __future__ import annotations

import json
from typing import Any

import pytest

from referee.games import get
from referee.games.evasion.board.wall import HORIZONTAL, VERTICAL, Kind, Wall
from referee.games.evasion.board.walls import Walls
from referee.games.evasion.state import Body, Build, HunterMove, PreyMove, State

GAME = get("evasion")


def position(rules: str = "classic", walls: list[Wall] | None = None, **changes: Any) -> State:
    names = ("width", "height", "hunter", "prey", "cooldown", "max_walls", "max_steps", "capture_radius", "prey_period")
    settings = GAME.codec.settings(rules, {name: changes.pop(name) for name in names if name in changes})
    state: State = GAME.start(settings, b"")
    if walls is not None:
        state = state._replace(walls=Walls(settings.width, settings.height, walls), next_id=len(walls))
    return state._replace(**changes)


def step(state: State, hunter: HunterMove | None = None, prey: PreyMove | None = None) -> tuple[State, list[str]]:
    after, notices = GAME.step(state, {"hunter": hunter, "prey": prey})
    return after, [notice.code for notice in notices]


def build(kind: Kind, span: tuple[int, int] | None = None, remove: tuple[int, ...] = ()) -> HunterMove:
    return HunterMove(Build(kind, span), remove)


def reason(state: State, move: HunterMove) -> str:
    _, notices = GAME.step(state, {"hunter": move})
    return str(next(notice.data["reason"] for notice in notices if notice.code == "wall-refused" and notice.data))


def test_the_wall_stands_where_the_hunter_was() -> None:
    after, codes = step(position(hunter=(10, 20, 1, 1)), build(VERTICAL))
    assert codes == ["wall-built"]
    assert after.walls.all == (Wall(0, VERTICAL, 10, 0, 10, 299),)
    assert after.hunter == Body(11, 21, 1, 1)
    assert after.wall_timer == 19


@pytest.mark.parametrize(("cooldown", "wait"), [(0, 1), (1, 1), (2, 2), (5, 5)])
def test_the_next_wall_is_legal_after_the_cooldown(cooldown: int, wait: int) -> None:
    state, _ = step(position(hunter=(100, 20, 1, 1), cooldown=cooldown), build(VERTICAL, (15, 25)))
    built_after = 1
    while step(state, build(VERTICAL, (state.hunter.y, state.hunter.y)))[0].next_id != 2:
        state, _ = step(state)
        built_after += 1
    assert built_after == wait


def test_a_refusal_does_not_start_the_cooldown() -> None:
    after, codes = step(position(hunter=(10, 20, 1, 1)), build("diagonal"))
    assert codes == ["wall-refused"]
    assert after.wall_timer == 0


REFUSED: list[tuple[str, dict[str, Any], HunterMove]] = [
    ("cooldown", {"wall_timer": 3}, build(VERTICAL)),
    ("max-walls", {"max_walls": 0}, build(VERTICAL)),
    ("kind", {}, build("counter-diagonal")),
    ("span", {}, build(VERTICAL, (21, 25))),
    ("off-board", {}, build(VERTICAL, (-1, 25))),
    ("occupied", {"walls": [Wall(0, HORIZONTAL, 0, 25, 299, 25)]}, build(VERTICAL, (15, 26))),
    ("prey", {"prey": (10, 200)}, build(VERTICAL)),
    ("hunter", {"hunter": (10, 299, 1, 1)}, build(HORIZONTAL)),
]


@pytest.mark.parametrize(("why", "changes", "move"), REFUSED, ids=[case[0] for case in REFUSED])
def test_a_wall_is_refused_and_why(why: str, changes: dict[str, Any], move: HunterMove) -> None:
    state = position(**{"hunter": (10, 20, 1, 1), **changes})
    assert reason(state, move) == why
    assert step(state, move)[0].walls == state.walls


def test_the_first_rule_that_forbids_a_wall_is_named() -> None:
    assert reason(position(hunter=(10, 20, 1, 1), wall_timer=1, max_walls=0), build("diagonal")) == "cooldown"


def test_the_limit_counts_after_removals() -> None:
    state = position(hunter=(10, 20, 1, 1), max_walls=1, walls=[Wall(0, VERTICAL, 200, 0, 200, 299)])
    assert reason(state, build(VERTICAL)) == "max-walls"
    after, codes = step(state, build(VERTICAL, remove=(0,)))
    assert codes == ["wall-removed", "wall-built"]
    assert [wall.id for wall in after.walls] == [1]


def test_removal_comes_before_the_move_and_the_wall_after_it() -> None:
    ahead = Wall(0, VERTICAL, 11, 0, 11, 299)
    state = position(hunter=(10, 20, 1, 1), walls=[ahead])
    assert step(state)[0].hunter == Body(10, 21, -1, 1)
    assert step(state, HunterMove(None, (0,)))[0].hunter == Body(11, 21, 1, 1)


def test_unknown_and_repeated_ids_are_harmless() -> None:
    state = position(walls=[Wall(0, VERTICAL, 200, 0, 200, 299)])
    after, codes = step(state, HunterMove(None, (7, 0, 0, -1, 10**4000)))
    assert codes == ["wall-removed", "unknown-wall"]
    assert not after.walls


def test_ids_are_never_used_again() -> None:
    state, _ = step(position(hunter=(10, 20, 1, 1), cooldown=0), build(VERTICAL))
    state, _ = step(state, build(VERTICAL, remove=(0,)))
    assert [wall.id for wall in state.walls] == [1]


def test_the_prey_moves_on_odd_steps_with_its_direction() -> None:
    state = position()
    state, _ = step(state, prey=PreyMove((1, 0)))
    assert state.prey == Body(230, 200, 0, 0)
    state, _ = step(state, prey=PreyMove((1, -1)))
    assert state.prey == Body(231, 199, 1, -1)
    state, _ = step(state)
    state, _ = step(state)
    assert state.prey == Body(232, 198, 1, -1)
    state, _ = step(state)
    state, _ = step(state, prey=PreyMove((0, 0)))
    assert state.prey == Body(232, 198, 0, 0)


@pytest.mark.parametrize(("period", "moves"), [(1, [0, 1, 2, 3]), (2, [1, 3]), (3, [2])])
def test_the_prey_is_asked_in_its_steps_alone(period: int, moves: list[int]) -> None:
    state, asked = position(prey_period=period), []
    for index in range(4):
        if "prey" in GAME.movers(state):
            asked.append(index)
        assert json.loads(GAME.codec.view_text(state, None))["prey_moves"] == ("prey" in GAME.movers(state))
        state, _ = step(state)
    assert asked == moves


def test_the_new_wall_stops_the_prey() -> None:
    state = position(hunter=(10, 20, 1, 1), prey=(9, 100), step=1)
    after, _ = step(state, build(VERTICAL), PreyMove((1, 0)))
    assert after.prey == Body(9, 100, -1, 0)


CAPTURES = [
    ((10, 10), [], True),
    ((15, 11), [], True),
    ((16, 11), [], False),
    ((14, 14), [], False),
    ((13, 13), [], True),
    ((15, 11), [Wall(0, VERTICAL, 13, 0, 13, 299)], False),
    ((15, 11), [Wall(0, VERTICAL, 13, 0, 13, 10)], True),
]


@pytest.mark.parametrize(("prey", "walls", "caught"), CAPTURES)
def test_capture_needs_to_be_near_and_in_sight(prey: tuple[int, int], walls: list[Wall], caught: bool) -> None:
    state = position(hunter=(10, 10, 1, 1), prey=(50, 50), walls=walls)._replace(prey=Body(*prey, 0, 0))
    after, codes = step(state)
    assert (after.ended == "caught") == caught
    assert ("captured" in codes) == caught
    outcome = GAME.outcome(after)
    assert (outcome is not None) == caught
    if outcome:
        assert (outcome.winner, outcome.scores) == ("hunter", {"hunter": 1})


def test_the_step_limit_ends_the_game() -> None:
    state = position(max_steps=2)
    state, _ = step(state)
    assert GAME.outcome(state) is None
    state, _ = step(state)
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert (outcome.reason, outcome.winner, outcome.scores) == ("evaded", "prey", {"hunter": None})
    assert GAME.movers(state) == ()
    with pytest.raises(ValueError, match="over"):
        step(state)


FAULTS = [
    ({"prey": "late"}, "prey-timeout", 5),
    ({"prey": "crashed"}, "prey-fault", 5),
    ({"hunter": "late"}, "hunter-timeout", None),
    ({"hunter": "malformed"}, "hunter-fault", None),
    ({"hunter": "late", "prey": "late"}, "prey-timeout", 5),
    ({"hunter": "crashed", "prey": "late"}, "prey-timeout", 5),
]


@pytest.mark.parametrize(("faults", "ended", "score"), FAULTS)
def test_what_a_fault_means(faults: dict[str, str], ended: str, score: int | None) -> None:
    outcome = GAME.outcome(GAME.fault(position(step=5), faults))
    assert outcome is not None
    assert (outcome.reason, outcome.scores["hunter"]) == (ended, score)
    assert outcome.winner == ("hunter" if ended.startswith("prey") else "prey")
