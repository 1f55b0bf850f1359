"""Maze: the worked cases, the solved game held against one-step checks, layouts, starts, the built-in policemen."""

from __future__ import annotations

import json
import subprocess
import sys
import zlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from example_bots import BOTS
from example_bots.table import bot_class
from referee import games
from referee.cli import request
from referee.games.game import MalformedMove, SettingsError
from referee.games.maze import solver, variants
from referee.games.maze.layouts import STANDARD, Layout
from referee.games.maze.solver import Solution, Value, solution
from referee.games.maze.state import Go, State
from referee.isolation import bubblewrap
from referee.replay.reader import verify
from sdk.maze import Order, ThiefBot
from sdk.maze import State as SdkState
from sdk.testing import play

GAME = games.get("maze")


def state_of(thief: tuple[int, int], policeman: tuple[int, int], **given_: Any) -> State:
    made: State = GAME.start(GAME.codec.settings(None, {"thief": thief, "policeman": policeman, "parity": "any", **given_}), b"")
    return made


def after(state: State, *orders: str) -> State:
    for order in orders:
        state, _ = GAME.step(state, {GAME.movers(state)[0]: Go(order)})
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
    outcome = GAME.outcome(state)
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
    first, notices = GAME.step(state, {"thief": Go(order)})
    assert squares(first)[0] == squares(after(state, taken))[0]
    assert notices[0].code == "illegal-order"
    assert notices[0].seat == "thief"
    assert first.illegal == (1, 0)
    state = after(first, "U")
    for _ in range(2):
        assert not state.ended
        state, _ = GAME.step(state, {"thief": Go("nowhere")})
        if not state.ended:
            state = after(state, "D")
    assert state.ended == "thief-fault"
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert outcome.winner == "policeman"
    # The order that loses is no move.
    assert state.moves == 2
    assert outcome.text == "The thief loses by its third illegal order, after 2 moves of the thief."


def test_the_third_illegal_order_of_the_policeman_loses_as_well() -> None:
    state = after(state_of((1, 1), (16, 16)), "D")
    for order in "UDU":
        state, _ = GAME.step(state, {"policeman": Go("nowhere")})
        if not state.ended:
            state = after(state, order)
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert (state.ended, state.moves, outcome.winner) == ("policeman-fault", 3, "thief")
    assert outcome.text == "The policeman loses by its third illegal order, after 3 moves of the thief."


def test_the_move_limit_is_a_draw() -> None:
    state = after(state_of((1, 1), (16, 16), max_moves=2), "D", "U", "U", "D")
    outcome = GAME.outcome(state)
    assert outcome is not None
    assert (outcome.reason, outcome.winner, outcome.scores) == ("move-limit", None, {"thief": 0.5, "policeman": 0.5})


@pytest.mark.parametrize(
    ("given_", "count"),
    [({"parity": "any"}, 3_917), ({"parity": "any", "exit_start": False}, 3_858), ({}, 2_118)],
)
def test_the_starts_are_as_many_as_the_rules_count(given_: dict[str, Any], count: int) -> None:
    assert len(list(variants.starts(GAME.codec.settings(None, given_)))) == count


def test_starts_are_drawn_evenly_by_the_secret() -> None:
    settings = GAME.codec.settings(None, {"parity": "any"})
    layout = settings.layout
    allowed = set(variants.starts(settings))
    assert (layout.index[16, 8], layout.index[1, 7]) in allowed
    assert (layout.index[15, 8], layout.index[1, 1]) not in allowed
    drawn = [GAME.start(settings, b"%d" % number) for number in range(120)]
    assert {(state.thief, state.policeman) for state in drawn} <= allowed
    assert len({(state.thief, state.policeman) for state in drawn}) > 100
    assert GAME.start(settings, b"7") == drawn[7]


SOLVED = Solution(Layout(STANDARD))


def value(thief: tuple[int, int], policeman: tuple[int, int]) -> Value:
    index = SOLVED.layout.index
    return SOLVED.value(index[thief], index[policeman], is_thiefs=True)


def test_the_numbers_of_the_solved_game() -> None:
    assert value((1, 1), (16, 2)) == ("thief", 43)
    assert value((16, 2), (1, 3)) == ("", 0)
    assert value((2, 1), (1, 2)) == ("policeman", 30)
    everywhere = Counter(SOLVED.value(*places, is_thiefs=True).winner for places in SOLVED.positions())
    assert everywhere == {"thief": 28_420, "": 25_674, "policeman": 195}
    for given_, wins, count in (({"parity": "any", "exit_start": False}, 233, 3_858), ({}, 137, 2_118)):
        found = [SOLVED.value(*places, is_thiefs=True) for places in variants.starts(GAME.codec.settings(None, given_))]
        assert Counter(one.winner for one in found) == {"thief": wins, "": count - wins}
        assert max(one.plies for one in found) <= 43
    assert (
        max(SOLVED.value(*places, is_thiefs=True).plies for places in variants.starts(GAME.codec.settings(None, {"parity": "any"}))) == 43
    )


def check_every_state(solved: Solution) -> int:
    """Each label follows from those one ply later, by the game's own rules; the number of states."""
    layout, checked = solved.layout, 0
    for is_thiefs in (True, False):
        sign = 1 if is_thiefs else -1
        for thief in range(solved.count):
            for policeman in range(solved.count):
                label = solved.label(thief, policeman, is_thiefs=is_thiefs)
                if thief == policeman or thief == layout.exit:
                    if not is_thiefs or thief == policeman:
                        wanted = 1 if thief == layout.exit and not is_thiefs else -1
                        assert label == wanted
                    continue
                checked += 1
                here = thief if is_thiefs else policeman
                nexts = []
                for place in layout.near[here].values():
                    at = (place, policeman) if is_thiefs else (thief, place)
                    nexts.append(sign * solved.label(*at, is_thiefs=not is_thiefs))
                won = [one for one in nexts if one > 0]
                if won:
                    assert sign * label == min(won) + 1
                elif all(one < 0 for one in nexts):
                    assert sign * label == min(nexts) - 1
                else:
                    assert label == 0
    return checked


def test_every_label_follows_from_those_one_ply_later() -> None:
    assert check_every_state(SOLVED) == 2 * 233 * 233


@st.composite
def layouts(draw: Any) -> Layout:
    height, width = draw(st.integers(4, 7)), draw(st.integers(4, 7))
    signs = draw(st.lists(st.sampled_from("....#"), min_size=height * width, max_size=height * width))
    signs[draw(st.integers(0, height * width - 1))] = "E"
    if signs.count("E") != 1:
        signs = ["." if sign == "E" else sign for sign in signs]
        signs[0] = "E"
    rows = ["".join(signs[start : start + width]) for start in range(0, height * width, width)]
    while True:
        try:
            return Layout(rows)
        except SettingsError as error:
            # What isn't joined is walled up.
            line, column = [int(word.strip(":,")) for word in str(error).split() if word.strip(":,").isdigit()][:2]
            rows[line - 1] = rows[line - 1][: column - 1] + "#" + rows[line - 1][column:]


@given(layouts())
def test_other_layouts_are_solved_as_well(layout: Layout) -> None:
    if len(layout.squares) > 1:
        solved = Solution(layout)
        check_every_state(solved)
        check_the_same(Solution(layout, solved.to_bytes()), solved)


def check_the_same(one: Solution, other: Solution) -> None:
    for is_thiefs in (True, False):
        for thief in range(other.count):
            for policeman in range(other.count):
                assert one.label(thief, policeman, is_thiefs=is_thiefs) == other.label(thief, policeman, is_thiefs=is_thiefs)


@pytest.fixture
def kept(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The folder in which solutions are kept; nothing is known yet."""
    monkeypatch.setenv("REFEREE_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(solver, "_known", {})
    return tmp_path / "cache"


def refuse(*_: object) -> None:
    raise AssertionError("a layout is solved that was solved before")


def test_a_layout_is_solved_once_on_a_machine(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layouts_ = [Layout(STANDARD), Layout(["E...", "....", ".##.", "...."])]
    made = [solution(layout) for layout in layouts_]
    assert len(list(kept.iterdir())) == 2
    # As in another process.
    monkeypatch.setattr(solver, "_known", {})
    monkeypatch.setattr(solver, "_solved", refuse)
    for layout, first in zip(layouts_, made, strict=True):
        again = solution(layout)
        assert again is not first
        # What was read can be kept again, read or not.
        assert again.to_bytes() == first.to_bytes()
        check_the_same(again, first)
        assert again.to_bytes() == first.to_bytes()
    with pytest.raises(AssertionError, match="solved before"):
        solution(Layout(["E...", "....", "....", "...."]))


@pytest.mark.parametrize(
    "damage",
    [
        lambda data: b"",
        lambda data: data[:-1],
        lambda data: data[: len(data) // 2],
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
        lambda data: data.replace(b"maze solution", b"maze salvation"),
        lambda data: data.replace(b"E..", b".E.", 1),
        lambda data: bytes(len(data)),
        lambda data: data + b"more",
    ],
)
def test_what_is_damaged_is_solved_anew_and_kept_again(damage: Any, kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(["E...", "....", ".##.", "...."])
    solution(layout)
    (file,) = kept.iterdir()
    good = file.read_bytes()
    assert damage(good) != good
    file.write_bytes(damage(good))
    monkeypatch.setattr(solver, "_known", {})
    check_the_same(solution(layout), Solution(layout))
    assert file.read_bytes() == good
    if damage(good):
        with pytest.raises(ValueError, match="damaged"):
            Solution(layout, damage(good))


@pytest.mark.parametrize("extra", [1, -1, 7, -7])
def test_a_right_check_sum_over_too_much_or_too_little_is_not_believed(extra: int) -> None:
    layout = Layout(["E...", "....", ".##.", "...."])
    data = Solution(layout).to_bytes()
    head = data[: data.index(b"\n\n") + 2]
    boards = data[len(head) + 4 :]
    boards = boards + bytes(extra) if extra > 0 else boards[:extra]
    for wrong in (boards, b"", boards * 40):
        with pytest.raises(ValueError, match="damaged"):
            Solution(layout, head + zlib.crc32(wrong).to_bytes(4, "little") + wrong)


@given(st.randoms(use_true_random=False))
def test_whatever_a_file_of_the_right_size_says_can_be_looked_up(random: Any) -> None:
    layout = Layout(["E...", "....", ".##.", "...."])
    data = Solution(layout).to_bytes()
    head = data[: data.index(b"\n\n") + 2]
    boards = random.randbytes(len(data) - len(head) - 4)
    solved = Solution(layout, head + zlib.crc32(boards).to_bytes(4, "little") + boards)
    for place in range(solved.count):
        assert solved.best(place, 0, is_thiefs=True)
        assert solved.value(place, 0, is_thiefs=False).plies < 2**24


def test_many_processes_solve_and_keep_the_same_layout(kept: Path) -> None:
    layout = Layout(["." * 12] * 11 + ["." * 11 + "E"])
    code = (
        "import sys\nfrom referee.games.maze.layouts import Layout\nfrom referee.games.maze.solver import solution\n"
        "solved = solution(Layout(sys.argv[1].split()))\nprint(sum(solved.label(*places, is_thiefs=True) for places in solved.positions()))"
    )
    command = [sys.executable, "-c", code, "\n".join(layout.rows)]
    running = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(6)]
    told = {process.communicate()[0] for process in running}
    assert all(process.returncode == 0 for process in running)
    solved = Solution(layout)
    assert told == {f"{sum(solved.label(*places, is_thiefs=True) for places in solved.positions())}\n"}
    (file,) = kept.iterdir()
    assert file.read_bytes() == solved.to_bytes()


def test_the_oldest_solutions_make_room_on_disk_and_in_memory(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layouts_ = [Layout(["." * at + "E" + "." * (11 - at), *["." * 12] * 3]) for at in range(12)]
    size = max(len(Solution(layout).to_bytes()) for layout in layouts_)
    monkeypatch.setattr(solver, "_MOST_OF_ALL", 4 * size)
    for layout in layouts_:
        solution(layout)
    assert len(solver._known) <= 9 < len(layouts_)
    assert 2 <= len(list(kept.iterdir())) <= 5
    # The one that was made last is among those that are kept, in a file of its own.
    monkeypatch.setattr(solver, "_known", {})
    monkeypatch.setattr(solver, "_solved", refuse)
    solution(layouts_[-1])


def test_what_is_too_large_to_be_read_is_not_kept(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    layout = Layout(["E...", "....", ".##.", "...."])
    size = len(Solution(layout).to_bytes())
    monkeypatch.setattr(solver, "_MOST", size - 1)
    solution(layout)
    assert not kept.exists()
    monkeypatch.setattr(solver, "_known", {})
    monkeypatch.setattr(solver, "_MOST", size)
    solution(layout)
    assert len(list(kept.iterdir())) == 1


def test_nothing_is_kept_in_a_sandbox_or_where_it_is_not_wanted(kept: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_CACHE", bubblewrap.environment(())["REFEREE_CACHE"])
    monkeypatch.setenv("XDG_CACHE_HOME", str(kept))
    layout = Layout(["E...", "....", ".##.", "...."])
    check_the_same(solution(layout), Solution(layout))
    assert not kept.exists()


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
        GAME.codec.settings(None, {"layout": rows})


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
        GAME.codec.settings(None, given_)


def test_settings_by_their_options() -> None:
    build = request.build
    assert build({"game": "maze"}).settings.exit_start is False
    assert build({"game": "maze", "parity": "any"}).settings.exit_start is True
    assert build({"game": "maze", "parity": "any", "exit_start": False}).settings.exit_start is False
    assert build({"game": "maze", "exit_start": True}).settings.exit_start is True


@pytest.mark.parametrize("answer", [[], {"go": 1}, {"go": "U" * 41}, {"go": ["U"]}])
def test_malformed_moves(answer: Any) -> None:
    with pytest.raises(MalformedMove):
        GAME.codec.parse(state_of((1, 1), (16, 16)), "thief", answer)


def choices(
    name: str, thief: tuple[int, int], policeman: tuple[int, int], came_from: tuple[int, int] | None = None
) -> set[tuple[int, int]]:
    """Where a built-in policeman goes, over many seeds."""
    bot = bot_class(next(one for one in BOTS if one.game == "maze" and one.name == name))()
    settings = GAME.codec.settings(None, {"parity": "any"})
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
        for square in [SOLVED.layout.squares[SOLVED.layout.near[index[1, 2]][order]]]
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
    settings = GAME.codec.settings(None, {})
    state = SdkState(settings, "thief", GAME.codec.view(state_of((5, 7), (16, 16)), None))
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
    won = SdkState(settings, "thief", GAME.codec.view(state_of((8, 14), (16, 2)), None))
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


def test_on_the_command_line(referee: Any, tmp_path: Any) -> None:
    done = referee("play", "--game", "maze", "dasher", "hard", "-q", "--seed", "5", "--out", "game", "--json")
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert sum(result["scores"].values()) == 1
    assert all(player["fault"] is None for player in result["players"].values())
    replay = tmp_path / "game.replay.jsonl.gz"
    assert verify(replay).problem is None
    assert referee("show", replay).returncode == 0
    assert referee("export", replay, "--svg", "--step", "3").returncode == 0
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
    assert "--size means nothing" in referee("play", "--game", "maze", "dasher", "hard", "--size", "5").stderr


def ended(reason: str, steps: int) -> tuple[Any, int]:
    return GAME.outcome(state_of((1, 1), (16, 16))._replace(ended=reason)), steps


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
    assert GAME.pairing is not None
    assert GAME.pairing.winner(first, second) == winner


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
        found = GAME.codec.settings(None, given_)
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


def test_the_largest_maze_is_solved_and_started() -> None:
    layout = Layout(["." * 32] * 31 + ["." * 31 + "E"])
    solved = Solution(layout)
    index = layout.index
    # Next to the exit and to move: one ply. In an open maze nobody else can be held off for ever, but the way can be barred.
    assert solved.value(index[32, 31], index[1, 1], is_thiefs=True) == ("thief", 1)
    assert solved.best(index[32, 31], index[1, 1], is_thiefs=True) == ["R"]
    assert variants.start(GAME.codec.settings(None, {"layout": Layout(["." * 64] * 63 + ["." * 63 + "E"])}), 10**9) > (0, 0)


def test_helpers_name_what_is_wrong() -> None:
    state = SdkState(GAME.codec.settings(None, {}), "thief", GAME.codec.view(state_of((6, 6), (16, 16)), None))
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
