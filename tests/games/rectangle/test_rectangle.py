"""Rectangle: worked cases, recorded games, and a brute-force model that must agree on random boards."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from conftest import HOSTILE
from hypothesis import given
from hypothesis import strategies as st

from referee import games
from referee.games.game import MalformedMove, SettingsError
from referee.games.rectangle import conformance
from referee.games.rectangle.rings import Ring, claim, closed
from referee.games.rectangle.state import Orders, Place, State
from referee.replay.reader import verify
from sdk.rectangle import DIRECTIONS, Order, RectangleBot, _Reader
from sdk.rectangle import State as SdkState
from sdk.testing import play

GAME = games.get("rectangle")
DATA = Path(__file__).parents[2] / "data"
CASES = json.loads((DATA / "rectangle-examples.json").read_text())
GAMES = [json.loads(line) for line in (DATA / "rectangle.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_worked_cases(case: dict[str, Any]) -> None:
    assert conformance.play(case).difference is None


@pytest.mark.parametrize("number", range(len(GAMES)))
def test_recorded_games(number: int) -> None:
    played = conformance.play(GAMES[number])
    assert played.difference is None
    assert played.steps == len(GAMES[number]["turns"]) + 1


def test_a_wrong_record_is_told_apart() -> None:
    game = json.loads(json.dumps(GAMES[0]))
    game["turns"][5][2][0] += 1
    difference = conformance.play(game).difference
    assert difference is not None
    assert (difference.step, difference.field) == (6, "gained")
    with pytest.raises(ValueError, match="can't be read"):
        conformance.play({"placements": 3})


def brute(owner: list[list[int | None]], spent: set[tuple[int, int]], players: int) -> tuple[dict[tuple[int, int], int], list[Ring]]:
    """Who gets which cells, by looking at every rectangle of the board."""
    n = len(owner)
    rings = []
    for top in range(n):
        for bottom in range(top + 2, n):
            for left in range(n):
                for right in range(left + 2, n):
                    edge = {
                        (row, column)
                        for row in range(top, bottom + 1)
                        for column in range(left, right + 1)
                        if row in (top, bottom) or column in (left, right)
                    }
                    inside = [(row, column) for row in range(top + 1, bottom) for column in range(left + 1, right)]
                    colors = {owner[row][column] for row, column in edge}
                    if len(colors) == 1 and None not in colors and not set(inside) <= spent:
                        rings.append(Ring(next(iter(colors)) or 0, top, left, bottom, right))
    found: dict[tuple[int, int], int] = {}
    for row in range(n):
        for column in range(n):
            around = [ring for ring in rings if ring.top < row < ring.bottom and ring.left < column < ring.right]
            if around and (row, column) not in spent:
                found[row, column] = min(around, key=lambda ring: ring.area).player
    assert all(player < players for player in found.values())
    return found, rings


def masks(owner: list[list[int | None]], player: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    n = len(owner)
    rows = tuple(sum(1 << column for column in range(n) if owner[row][column] == player) for row in range(n))
    columns = tuple(sum(1 << row for row in range(n) if owner[row][column] == player) for column in range(n))
    return rows, columns


@given(st.randoms(use_true_random=False), st.integers(3, 8), st.integers(2, 3))
def test_the_finder_agrees_with_looking_at_everything(random: Any, n: int, players: int) -> None:
    """Boards full of rings: all cells count as gained, or one that closes what the rest had left open."""
    owner: list[list[int | None]] = [[random.choice([None, 0, 0, 1]) for _ in range(n)] for _ in range(n)]
    for _ in range(random.randint(1, 5)):
        top, left = random.randint(0, n - 3), random.randint(0, n - 3)
        bottom, right, player = random.randint(top + 2, n - 1), random.randint(left + 2, n - 1), random.randrange(players)
        for row in range(top, bottom + 1):
            for column in range(left, right + 1):
                if row in (top, bottom) or column in (left, right):
                    owner[row][column] = player
    spent = {(row, column) for row in range(n) for column in range(n) if owner[row][column] is None and random.random() < 0.3}
    expected, _ = brute(owner, spent, players)
    spent_rows = [sum(1 << column for row, column in spent if row == wanted) for wanted in range(n)]
    rings: set[Ring] = set()
    for player in range(players):
        gained = [(row, column) for row in range(n) for column in range(n) if owner[row][column] == player]
        rings |= closed(player, *masks(owner, player), gained)
    got = {(row, column): player for player, row, bits in claim(rings, spent_rows)[1] for column in range(n) if bits >> column & 1}
    assert got == expected
    cells = [(row, column) for row in range(n) for column in range(n) if owner[row][column] is not None]
    if cells:
        row, column = random.choice(cells)
        player = owner[row][column] or 0
        through = {ring for ring in brute(owner, set(), players)[1] if ring.player == player and _has(ring, row, column)}
        found = closed(player, *masks(owner, player), [(row, column)])
        assert found <= through
        # Narrower ones lie inside those that are found.
        inside = {cell for ring in through for cell in _inside(ring)}
        assert {cell for ring in found for cell in _inside(ring)} == inside


def _has(ring: Ring, row: int, column: int) -> bool:
    return (ring.top <= row <= ring.bottom and ring.left <= column <= ring.right) and (
        row in (ring.top, ring.bottom) or column in (ring.left, ring.right)
    )


def _inside(ring: Ring) -> list[tuple[int, int]]:
    return [(row, column) for row in range(ring.top + 1, ring.bottom) for column in range(ring.left + 1, ring.right)]


@given(st.randoms(use_true_random=False), st.sampled_from(["2002", "2003"]))
def test_whole_random_games_hold_together(random: Any, sharing: str) -> None:
    """Bit sets, board, scores, views and what a bot reads agree in every position; the claims are those of the brute force."""
    players, robots, n = random.randint(2, 4), random.randint(1, 6), random.randint(3, 9)
    settings = GAME.codec.settings("small", {"n": n, "players": players, "robots": robots, "sharing": sharing, "cap": 40})
    state: State = GAME.start(settings, b"secret")
    readers = {seat: _Reader(settings, seat) for seat in state.seats}
    while not state.ended:
        before = state
        moves: dict[str, Any] = {}
        for seat in GAME.movers(state):
            if state.step:
                moves[seat] = Orders(tuple(random.choice("NSEWNSEW-?") for _ in range(robots + random.choice([-1, 0, 0, 0, 1]))))
            else:
                moves[seat] = Place(tuple((random.randint(-1, n), random.randint(0, n - 1)) for _ in range(robots)))
            assert GAME.codec.parse(state, seat, GAME.codec.move_json(moves[seat])) == moves[seat]
        state, _ = GAME.step(state, moves)
        assert json.loads(GAME.codec.view_text(state, None)) == GAME.codec.view(state, None)
        owner: list[list[int | None]] = [[None] * n for _ in range(n)]
        for place, code in enumerate(state.cells):
            if code >= 97:
                owner[place // n][place % n] = code - 97
        for player in range(players):
            assert (state.rows[player], state.columns[player]) == masks(owner, player)
        claimed = [place for place, (was, now) in enumerate(zip(before.cells, state.cells, strict=True)) if was != now and 65 <= now <= 90]
        assert len(claimed) == sum(state.gained)
        assert state.scores == tuple(map(sum, zip(before.scores, state.gained, strict=True)))
        for player, seat in enumerate(state.seats):
            seen = readers[seat].read(json.loads(GAME.codec.view_text(state, None)))
            assert seen.row_texts() == state.row_texts()
            assert (seen.rows, seen.columns, seen.spent, seen.robots) == (state.rows, state.columns, state.spent, state.robots)
            assert seen.mine == state.robots[player]
        changes = json.loads(GAME.codec.changes_text(before, state))
        cells = bytearray(before.cells)
        for place, letter in changes.get("cells", []):
            cells[place] = ord(letter)
        assert bytes(cells) == state.cells


@pytest.mark.parametrize(
    ("given_", "why"),
    [
        ({"players": 1}, "for 2 to 26 players, but there is 1; name as many bots"),
        ({"players": 27}, "for 2 to 26 players, but there are 27"),
        ({"n": 2}, "n is 2, but must be a whole number from 3 to 200"),
        ({"robots": 0}, "robots is 0"),
        ({"sharing": "2004"}, 'must be "2002" or "2003"'),
        ({"stagnation": True}, "stagnation is True"),
        ({"robot": 1}, "did you mean 'robots'"),
    ],
)
def test_settings_that_are_refused(given_: dict[str, Any], why: str) -> None:
    with pytest.raises(SettingsError, match=why):
        GAME.codec.settings("small", given_)


def test_presets() -> None:
    assert [GAME.codec.settings(name, {})[1:] for name in GAME.info.rule_sets] == [
        (12, 2, 2, 48, 0, "2002"),
        (30, 2, 5, 120, 0, "2002"),
        (40, 4, 6, 160, 0, "2002"),
    ]
    with pytest.raises(SettingsError, match="no preset 'huge'; there are small, middle, large"):
        GAME.codec.settings("huge", {})


@pytest.mark.parametrize(
    ("step", "answer", "why"),
    [
        (0, {"place": [[0]]}, "move.place is"),
        (0, {"place": [[0, 1.5]]}, "move.place is"),
        (0, {"place": [[True, 1]]}, "move.place is"),
        (0, {"place": "ab"}, "move.place is"),
        (1, {"orders": [1]}, "move.orders is"),
        (1, {"orders": {"0": "N"}}, "move.orders is"),
        (1, {"orders": "N" * 1_001}, "move.orders is"),
        (1, [], "move is"),
    ],
)
def test_malformed_moves(step: int, answer: Any, why: str) -> None:
    state = GAME.start(GAME.codec.settings("small", {}), b"")._replace(step=step)
    with pytest.raises(MalformedMove, match=why):
        GAME.codec.parse(state, "a", answer)


def test_what_is_placed_nowhere_is_placed_by_lot_and_told() -> None:
    def begun(secret: bytes) -> tuple[Any, Any]:
        return GAME.step(GAME.start(GAME.codec.settings("small", {"robots": 3}), secret), {"a": Place(((0, 0), (12, 0), (-1, 5)))})

    state, notices = begun(b"one")
    assert state.robots[0][0] == (0, 0)
    assert all(0 <= at < 12 for cells in state.robots for cell in cells for at in cell)
    assert [(notice.seat, notice.code, notice.data) for notice in notices] == [
        ("a", "placed-by-lot", {"robots": [1, 2]}),
        ("b", "placed-by-lot", {"robots": [0, 1, 2]}),
    ]
    assert begun(b"one")[0].robots == state.robots
    assert begun(b"two")[0].robots != state.robots


def test_odd_orders_mean_stay_and_are_told() -> None:
    state, _ = GAME.step(GAME.start(GAME.codec.settings("small", {}), b""), {"a": Place(((5, 5), (6, 6))), "b": Place(((0, 0), (1, 1)))})
    state, notices = GAME.step(state, {"a": Orders(("X", "E", "N")), "b": Orders(("N",))})
    assert state.robots == (((5, 5), (6, 7)), ((0, 0), (1, 1)))
    assert state.orders == ("-E", "N-")
    assert [(notice.seat, notice.text) for notice in notices] == [
        ("a", "a gives 3 orders for 2 robots; the rest is ignored"),
        ("a", "the order of a's robot 0 is none of N, S, E, W and -; it stays"),
        ("b", "b gives 1 order for 2 robots; the others stay"),
    ]


class Walker(RectangleBot):
    def orders(self, state: SdkState) -> str:
        return "E" * state.settings.robots


class Crasher(Walker):
    def orders(self, state: SdkState) -> str:
        if state.turn == 3:
            raise RuntimeError("boom")
        return super().orders(state)


def test_who_fails_keeps_its_score_and_the_others_play_on(tmp_path: Path) -> None:
    replay = tmp_path / "game.replay.jsonl.gz"
    result = play(Walker, Crasher, Walker, game="rectangle", players=3, cap=10, replay=replay, reraise=False)
    assert result.outcome.reason == "cap"
    assert result.steps == 11
    assert result.faults["b"].kind == "crashed"
    assert result.state.failed == {"b"}
    assert result.clocks["a"].asked == 11
    assert result.clocks["b"].asked == 5
    assert verify(replay).problem is None


def test_real_programs_that_fail_one_after_the_other(tmp_path: Path, referee: Any) -> None:
    (tmp_path / "early.py").write_text("raise SystemExit(3)")
    (tmp_path / "late.py").write_text(
        "from sdk import RectangleBot\nimport os\nclass Late(RectangleBot):\n    def orders(self, state):\n        if state.turn == 4:\n            os._exit(5)\n        return '--'\nLate.main()\n"
    )
    done = referee(
        "play",
        "--game",
        "rectangle",
        "early.py",
        "late.py",
        "random",
        "looper",
        "--cap",
        "30",
        "--out",
        "game",
        "--json",
        "-q",
        "--seed",
        "3",
    )
    assert done.returncode == 3, "one could not start"
    result = json.loads(done.stdout)
    assert result["reason"] == "cap"
    assert result["steps"] == 31
    assert {seat: player["fault"]["kind"] if player["fault"] else None for seat, player in result["players"].items()} == {
        "a": "crashed",
        "b": "crashed",
        "c": None,
        "d": None,
    }
    assert set(result["ranks"]) == set("abcd")
    assert result["players"]["d"]["time"]["answers"] == 31
    assert verify(tmp_path / "game.replay.jsonl.gz").problem is None
    with gzip.open(tmp_path / "game.replay.jsonl.gz", "rt") as lines:
        faults = [json.loads(line) for line in lines if '"type":"fault"' in line]
    assert [(record["turn"], list(record["faults"])) for record in faults] == [(0, ["a"]), (5, ["b"])]


#: Fails in the greeting, and has something to say when it is ended.
GARBAGE = """
import sys
sys.stdin.readline()
print("last words", file=sys.stderr, flush=True)
print("garbage", flush=True)
sys.stdin.read()
"""

#: Takes its time, says something in each turn, and leaves in the fourth.
NOISY = """
import json, sys, time
sys.stdin.readline()
print('{"type":"ready","protocol":1,"name":"noisy"}', flush=True)
for count, line in enumerate(sys.stdin):
    message = json.loads(line)
    if message["type"] != "turn" or count == 3:
        sys.exit(4)
    print("noise", count, file=sys.stderr, flush=True)
    time.sleep(0.03)
    move = {"place": [[0, 0], [1, 1]]} if count == 0 else {"orders": "--"}
    print(json.dumps({"type": "move", "turn": message["turn"], "move": move}), flush=True)
"""


@pytest.mark.parametrize("ask", ["in-turn", "together"])
def test_those_who_are_out_are_no_trouble_to_the_others(ask: str, tmp_path: Path, referee: Any) -> None:
    (tmp_path / "garbage.py").write_text(GARBAGE)
    (tmp_path / "noisy.py").write_text(NOISY)
    players = ["garbage.py", "noisy.py", "looper", "noisy.py"]
    done = referee("play", "--game", "rectangle", *players, "--cap", "12", "--ask", ask, "--out", "game", "--json", "-q")
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert result["steps"] == 13
    kinds = {seat: (player["fault"] or {}).get("kind") for seat, player in result["players"].items()}
    assert kinds == {"a": "malformed", "b": "crashed", "c": None, "d": "crashed"}
    assert verify(tmp_path / "game.replay.jsonl.gz").problem is None
    # Whole logs, to the last words.
    logs = sorted(tmp_path.rglob("*.log"))
    assert [path.read_text() for path in logs if "looper" not in path.read_text()][:2] == ["last words\n", "noise 0\nnoise 1\nnoise 2\n"]


#: Programs of ``hostile_bots`` that would not let a match be quick, or end it for all.
NOT_HERE = {"kills_the_supervisor", "stops_the_supervisor", "forks_without_end", "lists_descriptors", "never_ready", "_wire"}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_many_that_misbehave_at_once(seed: int, tmp_path: Path, referee: Any) -> None:
    dice = Random(seed)
    (tmp_path / "garbage.py").write_text(GARBAGE)
    (tmp_path / "noisy.py").write_text(NOISY)
    hostile = sorted(str(path) for path in HOSTILE.glob("*.py") if path.stem not in NOT_HERE)
    players = [*dice.sample(hostile, 4), "garbage.py", "noisy.py", "looper", "idle"]
    dice.shuffle(players)
    options = {
        "--ask": ("in-turn", "together"),
        "--isolation": ("none", "limits", "auto"),
        "--idle": ("stop", "run"),
        "--clock": ("wall", "cpu"),
        "--on-malformed": ("forfeit", "pass"),
    }
    chosen = [word for name, values in options.items() for word in (name, dice.choice(values))]
    limits = ("--move-time", "0.4", "--bank", "10", "--startup", "10", "--cap", "12")
    done = referee("play", "--game", "rectangle", *players, *chosen, *limits, "--out", "game", "--json", "-q")
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert result["steps"] == 13
    for player, fault in ((players[ord(seat) - ord("a")], told["fault"]) for seat, told in result["players"].items()):
        assert (fault is None) == (player in ("looper", "idle")) or player in hostile
    assert verify(tmp_path / "game.replay.jsonl.gz").problem is None


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["idle"], "for 2 to 26 players, but there is 1"),
        (["idle"] * 27, "for 2 to 26 players, but there are 27"),
        (["idle", "idle", "--preset", "small", "--rules", "middle"], "they mean the same, so give one"),
        (["idle", "idle", "--size", "2"], "n is 2"),
        (["idle", "idle", "--size", "10x12"], "but must be one number"),
        (["idle", "idle", "--max-walls", "3"], "Rectangle has no setting 'max_walls'"),
        (["idle", "boxer"], "is neither a file nor an example bot"),
        (["idle", "idle", "--preset", "tiny"], "no preset 'tiny'"),
        ([], "needs 2 players (a, b), but 0 were named"),
    ],
)
def test_what_cant_be_played(words: list[str], why: str, referee: Any) -> None:
    done = referee("play", "--game", "rectangle", *words)
    assert done.returncode == 2
    assert why in done.stderr


def test_the_command_line_plays_any_number(referee: Any, tmp_path: Path) -> None:
    words = ["idle", "random", "blocker", "looper", "team", "random"]
    done = referee(
        "play",
        "--game",
        "rectangle",
        *words,
        "--size",
        "20x20",
        "--robots",
        "3",
        "--cap",
        "25",
        "--sharing",
        "2003",
        "-q",
        "--seed",
        "1",
        "--out",
        "g",
    )
    assert done.returncode == 0, done.stderr
    assert "ranks    1 " in done.stdout
    replay = str(tmp_path / "g.replay.jsonl.gz")
    assert referee("verify", replay).returncode == 0
    shown = referee("show", replay)
    assert shown.returncode == 0
    assert "cells" in shown.stdout
    assert referee("export", replay, "--svg", "--step", "20").returncode == 0


def test_conformance_reads_both_kinds_of_file(referee: Any) -> None:
    done = referee("conformance", DATA / "rectangle-examples.json", DATA / "rectangle.jsonl")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"{len(CASES) + len(GAMES)} games and ")


def state_of(board: str, robots: list[list[tuple[int, int]]], seat: str = "a") -> SdkState:
    rows = board.split("/")
    settings = GAME.codec.settings("small", {"n": len(rows), "players": len(robots), "robots": len(robots[0])})
    reader = _Reader(settings, seat)
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
    return reader.read(view)


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


def test_robots_placed_by_lot_are_where_they_were_with_the_same_seed_alone() -> None:
    boards = [play(*[Walker] * 4, game="rectangle", cap=20, seed=seed).state.cells for seed in (9, 9, 10)]
    assert boards[0] == boards[1] != boards[2]
