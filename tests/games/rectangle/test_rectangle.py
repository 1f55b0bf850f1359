"""Rectangle: worked cases, recorded games, and a brute-force model that must agree on random boards."""

from __future__ import annotations

import json
from typing import Any

import conformance
import pytest
from hypothesis import given
from hypothesis import strategies as st
from recorded_games import CASES, GAMES, RECTANGLE, seen_by

from referee.games.game import MalformedMove, SettingsError
from referee.games.rectangle.rings import Ring, claim, closed
from referee.games.rectangle.state import Orders, Place, State


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_the_worked_cases_are_played_as_written(case: dict[str, Any]) -> None:
    assert conformance.play(case).difference is None


@pytest.mark.parametrize("number", range(len(GAMES)))
def test_recorded_games_are_played_as_recorded(number: int) -> None:
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


@pytest.mark.soak
@given(st.randoms(use_true_random=False), st.sampled_from(["2002", "2003"]))
def test_whole_random_games_hold_together(random: Any, sharing: str) -> None:
    """Bit sets, board, scores, views and what a bot reads agree in every position; the claims are those of the brute force."""
    players, robots, n = random.randint(2, 4), random.randint(1, 6), random.randint(3, 9)
    settings = RECTANGLE.codec.settings("small", {"n": n, "players": players, "robots": robots, "sharing": sharing, "cap": 40})
    state: State = RECTANGLE.start(settings, b"secret")
    readers = {seat: seen_by(settings, seat) for seat in state.seats}
    while not state.ended:
        before = state
        moves: dict[str, Any] = {}
        for seat in RECTANGLE.movers(state):
            if state.step:
                moves[seat] = Orders(tuple(random.choice("NSEWNSEW-?") for _ in range(robots + random.choice([-1, 0, 0, 0, 1]))))
            else:
                moves[seat] = Place(tuple((random.randint(-1, n), random.randint(0, n - 1)) for _ in range(robots)))
            assert RECTANGLE.codec.parse(state, seat, RECTANGLE.codec.move_json(moves[seat])) == moves[seat]
        state, _ = RECTANGLE.step(state, moves)
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
            seen = readers[seat](json.loads(RECTANGLE.codec.view_text(state, None)))
            assert seen.row_texts() == state.row_texts()
            assert (seen.rows, seen.columns, seen.spent, seen.robots) == (state.rows, state.columns, state.spent, state.robots)
            assert seen.mine == state.robots[player]
        changes = json.loads(RECTANGLE.codec.changes_text(before, state))
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
        RECTANGLE.codec.settings("small", given_)


def test_the_presets_have_their_sizes() -> None:
    assert [RECTANGLE.codec.settings(name, {})[1:] for name in RECTANGLE.info.rule_sets] == [
        (12, 2, 2, 48, 0, "2002"),
        (30, 2, 5, 120, 0, "2002"),
        (40, 4, 6, 160, 0, "2002"),
    ]
    with pytest.raises(SettingsError, match="no preset 'huge'; there are small, middle, large"):
        RECTANGLE.codec.settings("huge", {})


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
def test_a_malformed_move_is_refused_with_its_reason(step: int, answer: Any, why: str) -> None:
    state = RECTANGLE.start(RECTANGLE.codec.settings("small", {}), b"")._replace(step=step)
    with pytest.raises(MalformedMove, match=why):
        RECTANGLE.codec.parse(state, "a", answer)


def test_what_is_placed_nowhere_is_placed_by_lot_and_told() -> None:
    def begun(secret: bytes) -> tuple[Any, Any]:
        return RECTANGLE.step(
            RECTANGLE.start(RECTANGLE.codec.settings("small", {"robots": 3}), secret), {"a": Place(((0, 0), (12, 0), (-1, 5)))}
        )

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
    state, _ = RECTANGLE.step(
        RECTANGLE.start(RECTANGLE.codec.settings("small", {}), b""), {"a": Place(((5, 5), (6, 6))), "b": Place(((0, 0), (1, 1)))}
    )
    state, notices = RECTANGLE.step(state, {"a": Orders(("X", "E", "N")), "b": Orders(("N",))})
    assert state.robots == (((5, 5), (6, 7)), ((0, 0), (1, 1)))
    assert state.orders == ("-E", "N-")
    assert [(notice.seat, notice.text) for notice in notices] == [
        ("a", "a gives 3 orders for 2 robots; the rest is ignored"),
        ("a", "the order of a's robot 0 is none of N, S, E, W and -; it stays"),
        ("b", "b gives 1 order for 2 robots; the others stay"),
    ]
