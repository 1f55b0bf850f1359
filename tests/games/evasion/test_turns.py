"""``gameserver``: turns, commands, capture by a path, separation."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from referee.games import get
from referee.games.evasion.board.bounce import by_turning
from referee.games.evasion.board.regions import is_within
from referee.games.evasion.board.wall import HORIZONTAL, VERTICAL, Wall
from referee.games.evasion.board.walls import Walls
from referee.games.evasion.state import COMPASS, AddWall, Body, Invalid, RemoveWall, State, Step, To
from referee.games.game import MalformedMove, SettingsError

GAME = get("evasion")


def cells(*places: tuple[int, int]) -> Walls:
    return Walls(21, 21, [Wall(index, HORIZONTAL, x, y, x, y) for index, (x, y) in enumerate(places)])


def start(**given: Any) -> State:
    made: State = GAME.start(GAME.codec.settings("gameserver", given), b"")
    return made


def step(state: State, **moves: Any) -> State:
    after: State = GAME.step(state, moves)[0]
    return after


@pytest.mark.parametrize(
    ("occupied", "heading", "end"),
    [
        ([(11, 9)], "SW", (9, 11)),
        ([(11, 9), (10, 9), (11, 10)], "SW", (9, 11)),
        ([(11, 9), (10, 9)], "SE", (11, 11)),
        ([(11, 9), (11, 10)], "NW", (9, 9)),
        ([(11, 9), (11, 10), (9, 9)], "SE", (11, 11)),
        ([(11, 9), (11, 10), (9, 9), (11, 11)], "SW", (9, 11)),
        ([(10, 9), (11, 10)], "NE", (11, 9)),
    ],
)
def test_the_worked_cases_of_turning(occupied: list[tuple[int, int]], heading: str, end: tuple[int, int]) -> None:
    assert by_turning(cells(*occupied), 10, 10, 1, -1) == (*end, *COMPASS[heading])


def test_a_hunter_that_is_shut_in_has_lost() -> None:
    walls = cells((11, 9), (11, 11), (9, 11), (9, 9))
    assert by_turning(walls, 10, 10, 1, -1) == (10, 10, 1, -1)
    state = start(width=21, height=21, hunter=[10, 10, 1, -1], prey=[0, 0])._replace(walls=walls)
    after = step(state)
    assert after.ended == "trapped"
    outcome = GAME.outcome(after)
    assert outcome is not None
    assert (outcome.winner, outcome.scores) == ("prey", {"hunter": None})


def test_capture_is_by_a_path() -> None:
    assert is_within(cells((2, 1), (2, 2)), 4, (1, 1), (3, 1))
    assert not is_within(cells((2, 1), (2, 2), (2, 0)), 4, (1, 1), (3, 1))
    assert is_within(cells(), 4, (0, 0), (2, 2))
    assert not is_within(cells(), 4, (0, 0), (3, 2))
    assert is_within(cells(), 0, (5, 5), (5, 5))


def test_defaults_are_those_of_the_2010_server() -> None:
    settings = GAME.codec.settings("gameserver", {})
    assert GAME.codec.settings_json(settings) == {
        "width": 500, "height": 500, "hunter": [0, 0, 1, 1], "prey": [330, 200], "cooldown": 25, "max_walls": 6, "capture_radius": 4,
        "prey_cooldown": 1, "max_steps": 10_000,
    }  # fmt: skip
    with pytest.raises(SettingsError, match="gameserver has no setting 'prey_period'"):
        GAME.codec.settings("gameserver", {"prey_period": 2})
    with pytest.raises(SettingsError, match="classic has no setting 'prey_cooldown'"):
        GAME.codec.settings("classic", {"prey_cooldown": 2})
    with pytest.raises(SettingsError, match="has caught the prey"):
        GAME.codec.settings("gameserver", {"prey": [2, 2]})


def test_turns_alternate_and_cooldowns_are_not_asked() -> None:
    state = start(cooldown=2)
    asked = []
    for _ in range(9):
        movers = GAME.movers(state)
        asked.append("".join(seat[0] for seat in movers) or "-")
        moves: dict[str, Any] = (
            {"hunter": AddWall(len(asked), 400, len(asked), 410, len(asked))} if movers == ("hunter",) else {"prey": Step("E")}
        )
        state = step(state, **{seat: move for seat, move in moves.items() if seat in movers})
    assert asked == ["h", "p", "-", "-", "-", "p", "h", "-", "-"]
    assert (state.hunter, state.step) == (Body(5, 5, 1, 1), 9)


def test_a_pass_keeps_the_ability_ready() -> None:
    state = start()
    for _ in range(6):
        assert GAME.movers(state)
        state = step(state)
    assert (state.wall_timer, state.prey_timer) == (0, 0)


@pytest.mark.parametrize(
    ("command", "why"),
    [
        (AddWall(1, 3, 3, 3, 9), "the id 1 is in use"),
        (AddWall(-1, 3, 3, 3, 9), "must be from 0"),
        (AddWall(10_000, 3, 3, 3, 9), "must be from 0"),
        (AddWall(2, 3, 3, 4, 4), "no common row or column"),
        (AddWall(2, 3, 3, 3, 21), "leaves the board"),
        (AddWall(2, -1, 3, 3, 3), "leaves the board"),
        (AddWall(2, 10**40, 3, 3, 3), "no common row|leaves the board"),
        (AddWall(2, 0, 8, 9, 8), "meets another wall"),
        (AddWall(2, 10, 0, 10, 20), "cover the hunter"),
        (AddWall(2, 15, 0, 15, 20), "cover the prey"),
    ],
    ids=str,
)
def test_walls_that_are_refused_cost_the_turn_and_nothing_else(command: AddWall, why: str) -> None:
    state = start(width=21, height=21, hunter=[10, 10, 1, 1], prey=[15, 3], cooldown=5)
    state = state._replace(walls=Walls(21, 21, [Wall(1, VERTICAL, 5, 5, 5, 12)]))
    after, notices = GAME.step(state, {"hunter": command})
    assert after.walls == state.walls
    assert after.wall_timer == 5
    assert after.hunter[:2] == (11, 11)
    assert notices[0].seat == "hunter"
    assert re.search(why, notices[0].text)


def test_too_many_walls_and_unknown_ones() -> None:
    state = start(max_walls=1, cooldown=0)
    state = step(step(state, hunter=AddWall(4, 9, 9, 30, 9)))
    for command, why in (
        (AddWall(5, 9, 12, 30, 12), "1 of at most 1 walls"),
        (RemoveWall(5), "no wall has the id 5"),
        (Invalid("FLY"), "FLY"),
    ):
        _, notices = GAME.step(state, {"hunter": command})
        assert why in notices[0].text
    after, _ = GAME.step(state, {"hunter": RemoveWall(4)})
    assert not after.walls


def test_a_new_wall_counts_in_the_same_turn() -> None:
    # The hunter bounces off what it has just built.
    after = step(start(hunter=[10, 10, 1, 1]), hunter=AddWall(1, 11, 0, 11, 40))
    assert after.hunter == Body(9, 11, -1, 1)


def test_ends_are_shown_as_they_were_given() -> None:
    after = step(start(), hunter=AddWall(8, 30, 9, 9, 9))
    assert json.loads(GAME.codec.view_text(after, None))["walls"] == [{"id": 8, "x1": 30, "y1": 9, "x2": 9, "y2": 9}]
    assert next(iter(after.walls)).is_flipped


@pytest.mark.parametrize(
    ("move", "end"),
    [(Step("N"), (10, 9)), (Step("SW"), (9, 11)), (To(11, 11), (11, 11)), (To(10, 10), (10, 10)), (To(12, 10), None), (Step("E"), None), (Invalid("UP"), None)],
    ids=str,
)  # fmt: skip
def test_the_prey_moves_or_has_lost_its_turn(move: Any, end: tuple[int, int] | None) -> None:
    state = start(width=41, height=41, hunter=[30, 30, 1, 1], prey=[10, 10], prey_cooldown=3)._replace(
        walls=Walls(41, 41, [Wall(0, VERTICAL, 11, 10, 11, 10)]), step=1
    )
    after, notices = GAME.step(state, {"prey": move})
    assert after.prey[:2] == (end or (10, 10))
    assert after.prey_timer == 3
    assert bool(notices) == (end is None)


def test_the_prey_passes_between_walls_that_touch_at_a_corner() -> None:
    state = start(width=41, height=41, hunter=[30, 30, 1, 1], prey=[10, 10])._replace(
        walls=Walls(41, 41, [Wall(0, VERTICAL, 11, 10, 11, 10), Wall(1, VERTICAL, 10, 11, 10, 11)]), step=1
    )
    assert step(state, prey=Step("SE")).prey[:2] == (11, 11)


def test_who_is_walled_off_has_won() -> None:
    state = start(width=21, height=21, hunter=[3, 3, 1, 1], prey=[15, 15])
    after = step(state, hunter=AddWall(1, 0, 10, 20, 10))
    assert (after.ended, after.hunter) == ("trapped", state.hunter)


@pytest.mark.parametrize(("turn", "score"), [(10, 5), (11, 5), (12, 6)])
def test_the_score_is_the_round_of_the_capture(turn: int, score: int) -> None:
    near = 100 + turn % 2
    state = start()._replace(step=turn, hunter=Body(near, near, 1, 1), prey=Body(103, 102, 0, 0))
    after = step(state)
    assert after.ended == "caught"
    outcome = GAME.outcome(after)
    assert outcome is not None
    assert outcome.scores == {"hunter": score}
    assert f"after {score} rounds" in outcome.text
    # Broken off: the whole rounds that were played.
    broken = GAME.outcome(GAME.fault(state, {"prey": "late"}))
    assert broken is not None
    assert broken.scores == {"hunter": turn // 2}


@pytest.mark.parametrize(
    ("seat", "answer", "move"),
    [
        ("hunter", {"add": {"id": 7, "x1": 1, "y1": 2, "x2": 1, "y2": 9}}, AddWall(7, 1, 2, 1, 9)),
        ("hunter", {"remove": 7}, RemoveWall(7)),
        ("hunter", {"invalid": "FLY"}, Invalid("FLY")),
        ("prey", {"go": "NE"}, Step("NE")),
        ("prey", {"to": [3, 4]}, To(3, 4)),
    ],
)
def test_commands_are_read_and_written(seat: str, answer: Any, move: Any) -> None:
    state = start()
    assert GAME.codec.parse(state, seat, answer) == move
    assert GAME.codec.move_json(move) == answer
    assert GAME.codec.move_json(GAME.codec.parse(state, seat, {})) == {}
    assert GAME.codec.move_json(GAME.codec.parse(state, seat, {"add": None, "go": None})) == {}


def test_no_two_commands_are_the_same_value() -> None:
    # Moves are keys of the replay writer's memory.
    moves = [AddWall(1, 2, 3, 4, 5), RemoveWall(1), Step("N"), To(0, 1), To(1, 0), Invalid("N"), Invalid("NE"), Step("NE")]
    assert len(dict.fromkeys(moves)) == len(moves)


@pytest.mark.parametrize(
    ("seat", "answer", "said"),
    [
        ("hunter", [], "move is []"),
        ("hunter", {"add": {"id": 1}}, "move.add is"),
        ("hunter", {"add": {"id": 1, "x1": True, "y1": 0, "x2": 0, "y2": 0}}, "move.add is"),
        ("hunter", {"remove": [7]}, "move.remove is [7]"),
        ("hunter", {"remove": 7, "add": {}}, "add and remove"),
        ("prey", {"go": [1, 0]}, "move.go is [1, 0], but must be one of N, NE"),
        ("prey", {"go": "north"}, "move.go is 'north'"),
        ("prey", {"to": [1]}, "move.to is [1]"),
        ("prey", {"invalid": 5}, "move.invalid is 5"),
    ],
)
def test_malformed_commands_name_the_key(seat: str, answer: Any, said: str) -> None:
    with pytest.raises(MalformedMove) as refused:
        GAME.codec.parse(start(), seat, answer)
    assert said in str(refused.value)


def test_unknown_keys_of_commands() -> None:
    state = start()
    assert GAME.codec.unknown_keys(state, "hunter", {"build": 1, "add": {"id": 1, "z": 2}}) == ["move.build", "move.add.z"]
    assert GAME.codec.unknown_keys(state, "prey", {"go": "N", "run": 1}) == ["move.run"]


def test_the_board_is_drawn_with_y_downwards() -> None:
    assert GAME.text is not None
    lines = GAME.text.board_lines(start(), 50, 25)
    assert lines[1].startswith("│H")
