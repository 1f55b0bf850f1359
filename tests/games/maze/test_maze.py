"""Maze: the worked cases, layouts, starts, settings, the command line."""

from __future__ import annotations

import json
from typing import Any

import pytest
from recorded_games import MAZE, state_of

from referee.games.game import MalformedMove, SettingsError
from referee.games.maze import variants
from referee.games.maze.layouts import STANDARD, Layout
from referee.games.maze.state import Go, State
from referee.match.request import MatchRequest
from referee.replay.reader import verify


def after(state: State, *orders: str) -> State:
    for order in orders:
        state, _ = MAZE.step(state, {MAZE.movers(state)[0]: Go(order)})
    return state


def squares(state: State) -> tuple[tuple[int, int], tuple[int, int]]:
    layout = state.settings.layout
    return layout.squares[state.thief], layout.squares[state.policeman]


def test_the_board_of_the_assignment() -> None:
    layout = Layout(STANDARD)
    assert (layout.height, layout.width, len(layout.squares)) == (16, 16, 234)
    assert layout.squares[layout.exit] == (8, 16)


def test_the_exit_wins_at_once() -> None:
    state = after(state_of((8, 15), (7, 16)), "R")
    assert (state.ended, squares(state)) == ("escaped", ((8, 16), (7, 16)))
    outcome = MAZE.outcome(state)
    assert outcome is not None
    assert (outcome.winner, outcome.scores) == ("thief", {"thief": 1.0, "policeman": 0.0})


def test_who_meets_has_caught() -> None:
    state = after(state_of((12, 8), (12, 6)), "L", "R")
    assert state.ended == "caught"
    state = after(state_of((12, 8), (12, 9)), "R")
    assert state.ended == "caught", "onto the policeman"


@pytest.mark.parametrize(("thief", "order", "taken"), [((5, 7), "D", "U"), ((1, 1), "U", "D"), ((1, 1), "", "D"), ((5, 7), "X", "U")])
def test_illegal_orders_take_the_first_legal_one_and_the_third_loses(thief: tuple[int, int], order: str, taken: str) -> None:
    state = state_of(thief, (16, 16))
    first, notices = MAZE.step(state, {"thief": Go(order)})
    assert squares(first)[0] == squares(after(state, taken))[0]
    assert notices[0].code == "illegal-order"
    assert notices[0].seat == "thief"
    assert first.illegal == (1, 0)
    state = after(first, "U")
    for _ in range(2):
        assert not state.ended
        state, _ = MAZE.step(state, {"thief": Go("nowhere")})
        if not state.ended:
            state = after(state, "D")
    assert state.ended == "thief-fault"
    outcome = MAZE.outcome(state)
    assert outcome is not None
    assert outcome.winner == "policeman"
    # The order that loses is no move.
    assert state.moves == 2
    assert outcome.text == "The thief loses by its third illegal order, after 2 moves of the thief."


def test_the_third_illegal_order_of_the_policeman_loses_as_well() -> None:
    state = after(state_of((1, 1), (16, 16)), "D")
    for order in "UDU":
        state, _ = MAZE.step(state, {"policeman": Go("nowhere")})
        if not state.ended:
            state = after(state, order)
    outcome = MAZE.outcome(state)
    assert outcome is not None
    assert (state.ended, state.moves, outcome.winner) == ("policeman-fault", 3, "thief")
    assert outcome.text == "The policeman loses by its third illegal order, after 3 moves of the thief."


def test_the_move_limit_is_a_draw() -> None:
    state = after(state_of((1, 1), (16, 16), max_moves=2), "D", "U", "U", "D")
    outcome = MAZE.outcome(state)
    assert outcome is not None
    assert (outcome.reason, outcome.winner, outcome.scores) == ("move-limit", None, {"thief": 0.5, "policeman": 0.5})


@pytest.mark.parametrize(
    ("given_", "count"),
    [({"parity": "any"}, 3_917), ({"parity": "any", "exit_start": False}, 3_858), ({}, 2_118)],
)
def test_the_starts_are_as_many_as_the_rules_count(given_: dict[str, Any], count: int) -> None:
    assert len(list(variants.starts(MAZE.codec.settings(None, given_)))) == count


def test_starts_are_drawn_evenly_by_the_secret() -> None:
    settings = MAZE.codec.settings(None, {"parity": "any"})
    layout = settings.layout
    allowed = set(variants.starts(settings))
    assert (layout.index[16, 8], layout.index[1, 7]) in allowed
    assert (layout.index[15, 8], layout.index[1, 1]) not in allowed
    drawn = [MAZE.start(settings, b"%d" % number) for number in range(120)]
    assert {(state.thief, state.policeman) for state in drawn} <= allowed
    assert len({(state.thief, state.policeman) for state in drawn}) > 100
    assert MAZE.start(settings, b"7") == drawn[7]


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        (["....", "....", "....", "...."], "line 4, column 4: there is no exit"),
        (["E...", "....", "..E.", "...."], "line 3, column 3: a second exit, after that of line 1, column 1"),
        (["E...", ".##.", ".#.#", "..##"], "line 3, column 3: no way leads"),
        (["E...", "...", "....", "...."], "line 2, column 4: the line has 3 signs, but the first one has 4"),
        (["E...", ".....", "....", "...."], "line 2, column 5: the line has 5 signs"),
        (["E...", "..x.", "....", "...."], "line 2, column 3: 'x' is none of"),
        (["E..", "...", "..."], "layout, line 4, column 1: a maze of 3 lines"),
        (["E.." + "." * 70] * 5, "line 1, column 65"),
        ("E...", "must be a list"),
    ],
)
def test_bad_layouts_name_the_line_and_the_column(rows: Any, why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        MAZE.codec.settings(None, {"layout": rows})


SMALL = ["E...", "....", "....", "...."]


PAIR = ["####", "#E.#", "####", "####"]


@pytest.mark.parametrize(
    ("given_", "why"),
    [
        (
            {"layout": SMALL},
            "apart is 16, but the free square farthest from the exit, on line 4, column 4 of the layout, is only 6 from it; give a smaller one",
        ),
        (
            {"layout": ["......", "......", "......", "E....."], "apart": 8},
            "apart is 8, but for a thief that starts so far from the exit, as on line 1, column 6 of the layout, there is no square so far",
        ),
        ({"layout": ["####", "#E##", "####", "####"], "apart": 0}, "layout, line 2, column 2: this is the only free square"),
        (
            {"layout": PAIR, "apart": 0},
            "parity is even and exit_start false, but then no two of the 2 free squares.*; give parity any and exit_start true",
        ),
        ({"layout": PAIR, "apart": 0, "exit_start": True}, "exit_start true, but .* the first on line 2, column 2 .*; give parity any\\."),
        ({"layout": PAIR, "apart": 0, "parity": "any", "exit_start": False}, "parity is any .*; give exit_start true\\."),
        ({"thief": [2, 2]}, "thief starts on line 2, column 2, but policeman has no square"),
        ({"thief": [1, 9], "policeman": [1, 1]}, "thief can't start on line 1, column 9"),
        ({"thief": [99, 1], "policeman": [1, 1]}, "thief can't start on line 99, column 1"),
        ({"thief": [8, 16], "policeman": [1, 1]}, "start on line 8, column 16: that is the exit"),
        ({"thief": [1, 1], "policeman": [1, 1]}, "both start on line 1, column 1"),
        ({"thief": [1, 1]}, "give both or neither"),
        ({"parity": "odd"}, "must be even or any"),
        ({"max_moves": -1}, "max_moves is -1"),
        ({"exit_start": 1}, "must be true or false"),
        ({"layuot": SMALL}, "did you mean 'layout'"),
    ],
)
def test_settings_that_are_refused(given_: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        MAZE.codec.settings(None, given_)


def test_settings_by_their_options() -> None:
    def exit_start(**flags: object) -> bool:
        return bool(MatchRequest.model_validate({"game": "maze", **flags}).checked_settings.exit_start)

    assert not exit_start()
    assert exit_start(parity="any")
    assert not exit_start(parity="any", exit_start=False)
    assert exit_start(exit_start=True)


@pytest.mark.parametrize("answer", [[], {"go": 1}, {"go": "U" * 41}, {"go": ["U"]}])
def test_a_malformed_move_is_refused(answer: Any) -> None:
    with pytest.raises(MalformedMove):
        MAZE.codec.parse(state_of((1, 1), (16, 16)), "thief", answer)


def test_on_the_command_line(referee: Any, tmp_path: Any) -> None:
    done = referee("play", "--game", "maze", "dasher", "hard", "-q", "--seed", "5", "--out", "game", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert sum(result["scores"].values()) == 1
    assert all(player["fault"] is None for player in result["players"].values())
    replay = tmp_path / "game.replay.jsonl.gz"
    assert verify(replay).problem is None
    assert referee("show", replay).returncode == 0
    assert referee("export", replay, "--html").returncode == 0
    (tmp_path / "maze.txt").write_text("E....\n.##..\n.....\n....#\n")
    done = referee("play", "--game", "maze", "patient", "easy", "--layout", "maze.txt", "--set", "apart=3", "-q", "--seed", "1")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("....\n....\n....\n....\n", "layout, line 4, column 4: there is no exit"),
        ("E...\n....\n..E.\n....\n", "layout, line 3, column 3: a second exit"),
        ("E...\n.##.\n.#.#\n..##\n", "layout, line 3, column 3: no way leads"),
        ("E...\n...\n....\n....\n", "layout, line 2, column 4"),
        ("E...\n....\n....\n....\n", "apart is 16"),
    ],
)
def test_bad_layout_files_exit_2(text: str, why: str, referee: Any, tmp_path: Any) -> None:
    (tmp_path / "maze.txt").write_text(text)
    done = referee("play", "--game", "maze", "dasher", "hard", "--layout", "maze.txt")
    assert done.returncode == 2
    assert why in done.stderr
    assert referee("play", "--game", "maze", "dasher", "hard", "--layout", "none.txt").returncode == 2
    assert "--size has no meaning" in referee("play", "--game", "maze", "dasher", "hard", "--size", "5").stderr


def ended(reason: str, steps: int) -> tuple[Any, int]:
    return MAZE.outcome(state_of((1, 1), (16, 16))._replace(ended=reason)), steps


@pytest.mark.parametrize(
    ("first", "second", "winner"),
    [
        (ended("escaped", 41), ended("caught", 20), "a"),
        (ended("caught", 20), ended("move-limit", 400), "b"),
        (ended("escaped", 41), ended("escaped", 39), "b"),
        (ended("caught", 30), ended("caught", 40), "b"),
        (ended("escaped", 41), ended("escaped", 41), None),
        (ended("move-limit", 400), ended("move-limit", 400), None),
        (ended("thief-timeout", 2), ended("escaped", 9), "b"),
    ],
)
def test_who_beats_whom_in_a_pair(first: Any, second: Any, winner: str | None) -> None:
    assert MAZE.pairing is not None
    assert MAZE.pairing.winner(first, second) == winner


def test_a_duel_plays_one_start_twice(referee: Any, tmp_path: Any) -> None:
    done = referee("duel", "--game", "maze", "expert", "random", "-q", "--json", "--out", "d")
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["winner"] == "a"
    assert set(report["games"]) == {"a runs", "b runs"}
    seeds = {game["seed"] for game in report["games"].values()}
    assert len(seeds) == 1
    done = referee("duel", "--game", "rectangle", "idle", "team")
    assert done.returncode == 2
    assert "A duel is for games of two roles" in done.stderr


def test_starts_are_drawn_from_all_pairs_in_their_order() -> None:
    for given_ in ({}, {"parity": "any"}, {"apart": 3}, {"parity": "any", "exit_start": False, "apart": 0}):
        found = MAZE.codec.settings(None, given_)
        squares = found.layout.squares
        out = squares[found.layout.exit]
        pairs = [
            (thief, policeman)
            for thief, at in enumerate(squares)
            for policeman, place in enumerate(squares)
            if thief not in (found.layout.exit, policeman)
            and abs(at[0] - out[0]) + abs(at[1] - out[1]) >= found.apart
            and abs(at[0] - place[0]) + abs(at[1] - place[1]) >= found.apart
            and (found.parity == "any" or (sum(at) - sum(place)) % 2 == 0)
            and (found.exit_start or policeman != found.layout.exit)
        ]
        assert list(variants.starts(found)) == pairs
        for number in (0, 1, len(pairs) // 2, len(pairs) - 1, len(pairs), 12345 * len(pairs) + 77):
            assert variants.start(found, number) == pairs[number % len(pairs)]
