from __future__ import annotations

import json
import random
from pathlib import Path

import conformance
import prey_model
import pytest
from prey_model import lasso

from referee.games.evasion.analysis import pursuit
from referee.games.evasion.analysis.arena import BUDGET, Budget, BudgetSpent
from referee.games.evasion.analysis.trajectory import Trajectory
from referee.games.evasion.analysis.verdict import safe_cells, verdict
from referee.games.evasion.board.regions import are_joined
from referee.games.evasion.board.wall import Kind, Wall
from referee.games.evasion.board.walls import Walls, trace
from referee.games.evasion.game import GAME
from referee.games.evasion.state import Body, State

DATA = Path(__file__).parents[2] / "data"
RULES = ("classic", "diagonal", "gameserver")


def position(rules: str = "classic", hunter: tuple[int, ...] = (0, 0, 1, 1), prey: tuple[int, int] = (30, 20), **given: object) -> State:
    """A position without walls."""
    return GAME.start(GAME.codec.settings(rules, {"hunter": list(hunter), "prey": list(prey), **given}))


def walled(state: State, *walls: tuple[Kind, int, int]) -> State:
    """The position with the longest walls through some cells."""
    standing = state.walls
    for number, (kind, x, y) in enumerate(walls):
        wall = trace(standing, kind, x, y, None, number)
        assert isinstance(wall, Wall), wall
        standing = standing.adding(wall)
    return state._replace(walls=standing)


def test_the_supplied_positions_have_their_known_verdicts() -> None:
    lines = (DATA / "evasion-verdicts.jsonl").read_text().splitlines()
    assert len(lines) == 248
    for line in lines:
        record = json.loads(line)
        found = verdict(conformance.position(record))
        assert (found.kind, found.steps) == (record["verdict"], record.get("k")), line


@pytest.mark.parametrize("rules", RULES)
def test_witnesses_of_the_supplied_evasions(rules: str) -> None:
    records = [json.loads(line) for line in (DATA / "evasion-verdicts.jsonl").read_text().splitlines()]
    chosen = [record for record in records if record["verdict"] == "evade" and record["rules"] == rules]
    assert len(chosen) == {"classic": 47, "diagonal": 43, "gameserver": 0}[rules]
    for record in chosen[::6]:
        state = conformance.position(record)
        found = lasso(state)
        assert found is not None
        prey_model.walk(state, found)


def agrees_with_the_model(seed: int, rules: str, count: int) -> None:
    """Certain captures by trying every prey, evasions by walking the witness."""
    rng = random.Random(seed)
    kinds = {"capture": 0, "evade": 0}
    for index in range(count):
        state = prey_model.random_position(rng, rules)
        expected = prey_model.steps_to_capture(state)
        found = verdict(state)
        assert (found.kind, found.steps) == ("evade" if expected is None else "capture", expected), state
        assert found.is_separated == (not are_joined(state.walls, state.hunter[:2], state.prey[:2]))
        kinds[found.kind] += 1
        way = lasso(state)
        assert (way is None) == (found.kind == "capture")
        if way is not None:
            prey_model.walk(state, way)
        if index % 10 == 0:
            cells = safe_cells(state)
            assert not len(cells.unknown)
            for x in range(state.settings.width):
                for y in range(state.settings.height):
                    assert ((x, y) in cells.cells) == (state.walls.is_free(x, y) and prey_model.is_safe(state, (x, y))), (x, y, state)
    assert min(kinds.values()) > count // 10


@pytest.mark.parametrize("rules", RULES)
def test_agrees_with_the_model(rules: str) -> None:
    agrees_with_the_model(1, rules, 60)


@pytest.mark.parametrize("windows", [(1, 3), (2, 4), (3,)])
@pytest.mark.parametrize("rules", RULES)
def test_agrees_with_the_model_in_windows(rules: str, windows: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows are for large boards; made tiny, they must hold on small ones too, and witnesses keep to them."""
    monkeypatch.setattr(pursuit, "WINDOWS", windows)
    monkeypatch.setattr(pursuit, "SMALL_BOARD", 2)
    agrees_with_the_model(3 + sum(windows), rules, 30)


@pytest.mark.soak
@pytest.mark.parametrize("windows", [(1, 3), (2, 4)])
@pytest.mark.parametrize("rules", RULES)
def test_agrees_with_the_model_in_windows_on_thousands(rules: str, windows: tuple[int, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pursuit, "WINDOWS", windows)
    monkeypatch.setattr(pursuit, "SMALL_BOARD", 2)
    agrees_with_the_model(30 + sum(windows), rules, 500)


@pytest.mark.parametrize("rules", RULES)
def test_witnesses_on_larger_boards(rules: str) -> None:
    """On these a prey must go a way before it comes to where it can stay."""
    rng = random.Random(6)
    walked = 0
    for _ in range(14):
        state = prey_model.random_position(rng, rules, most=70)
        state = state._replace(settings=state.settings._replace(capture_radius=rng.choice((4, 8, 12))))
        if verdict(state).kind == "evade" and not verdict(state).is_separated:
            found = lasso(state)
            assert found is not None
            if found.tail + 2 * found.cycle < 60_000:
                prey_model.walk(state, found)
                walked += 1
    assert walked > 2


def test_a_prey_that_hardly_ever_moves_but_is_never_met() -> None:
    """No loop of the hunter and the prey's period together could be gone through."""
    for rules in ("classic", "diagonal"):
        assert verdict(position(rules, (0, 0, 1, 1), (230, 200), prey_period=1_000_000)).kind == "evade"


def test_safe_cells_of_a_board_that_is_too_large_are_known_round_the_prey() -> None:
    state = position(width=2_000, height=2_000, hunter=(0, 0, 1, 1), prey=(1_500, 900))
    found = safe_cells(state)
    assert verdict(state).kind == "evade"
    assert (1_500, 900) in found.cells
    assert len(found.cells) > 1_000
    assert (5, 5) not in found.cells
    assert not found.cells & found.unknown


@pytest.mark.soak
@pytest.mark.long
@pytest.mark.parametrize("rules", RULES)
def test_agrees_with_the_model_on_thousands(rules: str) -> None:
    agrees_with_the_model(2, rules, 1_000)


@pytest.mark.parametrize("rules", RULES)
def test_the_way_is_the_engines(rules: str) -> None:
    rng = random.Random(5)
    for _ in range(60):
        state = prey_model.random_position(rng, rules, most=12)
        bounce = {"classic": "by_kind", "diagonal": "by_neighbours", "gameserver": "by_turning"}[rules]
        from referee.games.evasion.board import bounce as bounces

        move = getattr(bounces, bounce)
        way = Trajectory(state.walls, move, state.hunter, Budget(BUDGET), stops=rules == "gameserver")
        way.close()
        at, places = tuple(state.hunter), []
        for _ in range(300):
            at = move(state.walls, *at)
            places.append(at[:2])
        if way.ends is not None:
            places = places[: way.ends]
        box = (0, 0, state.settings.width - 1, state.settings.height - 1)
        assert [(x, y) for _, x, y in way.moves_in(box, 0, 300)] == places
        assert [number for number, _, _ in way.moves_in(box, 7, 19)] == [number for number in range(8, 20) if number <= len(places)]
        left, bottom = 1, 1
        inside = [(number, x, y) for number, (x, y) in enumerate(places, 1) if left <= x <= 3 and bottom <= y <= 2]
        assert list(way.moves_in((1, 1, 3, 2), 0, 300)) == inside
        if way.ends is None and way.tail + 2 * way.cycle < 300:
            assert places[way.tail : way.tail + way.cycle] == places[way.tail + way.cycle : way.tail + 2 * way.cycle]


CASES = {
    "no walls: the hunter flies up and down one diagonal": (position(), "evade", False),
    "one row, shut between two others: caught": (
        walled(position(hunter=(0, 5, 1, 1), prey=(20, 5), width=40, height=11), ("horizontal", 0, 4), ("horizontal", 0, 6)),
        "capture",
        False,
    ),
    "a wall between": (walled(position(hunter=(0, 0, 1, 1), prey=(30, 9), width=40, height=10), ("vertical", 20, 0)), "evade", True),
    "a prey shut in alone": (
        walled(position(prey=(20, 20), width=41, height=41), ("vertical", 18, 20), ("vertical", 22, 20), ("horizontal", 20, 18), ("horizontal", 20, 22)),
        "evade",
        True,
    ),
    "a prey that may never move": (position(prey_period=1_000_000, hunter=(0, 0, 1, 1), prey=(10, 10), width=20, height=20), "capture", False),
    "no capture but on the same cell": (position(capture_radius=0, width=12, height=9, prey=(11, 8), hunter=(0, 0, 1, 1)), "evade", False),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_each_case_has_its_verdict(name: str) -> None:
    state, kind, is_separated = CASES[name]
    found = verdict(state)
    assert (found.kind, found.is_separated) == (kind, is_separated)


def test_a_verdict_is_the_same_every_time_whatever_the_machine_does() -> None:
    state = CASES["one row, shut between two others: caught"][0]
    assert len({verdict(state) for _ in range(5)}) == 1
    assert 0 < verdict(state).cost < BUDGET


def test_too_small_a_budget_is_said_to_be_so() -> None:
    state = position(width=300, height=300, hunter=(0, 3, 1, 1), prey=(200, 31))
    found = verdict(state, 2_000_000)
    assert (found.kind, found.steps, found.how) == ("undecided", None, "budget")
    cells = safe_cells(state, 2_000_000)
    assert len(cells.unknown) == 90_000
    assert not len(cells.cells)
    with pytest.raises(BudgetSpent):
        lasso(state, 2_000_000)


def test_a_game_that_is_over() -> None:
    state = position()
    assert verdict(state._replace(ended="caught"))[:2] == ("capture", 0)
    assert verdict(state._replace(ended="evaded"))[:2] == ("evade", None)


def test_large_boards_and_many_walls() -> None:
    large = position(width=2_000, height=2_000, hunter=(0, 0, 1, 1), prey=(1_500, 900))
    assert verdict(walled(large, ("vertical", 700, 3), ("horizontal", 1_900, 300))).kind == "evade"
    # Forty walls, each with a gap at one end: a comb.
    state = position(width=300, height=300, hunter=(0, 0, 1, 1), prey=(288, 200))
    walls = Walls(300, 300, [Wall(n, "vertical", 7 * n + 5, n % 2, 7 * n + 5, 298 + n % 2) for n in range(40)])
    found = verdict(state._replace(walls=walls))
    assert found.kind == "evade"
    assert not found.is_separated


def test_the_verdict_can_change_only_from_evade_to_capture_while_no_wall_does() -> None:
    rng = random.Random(11)
    seen = set()
    for _ in range(60):
        state = prey_model.random_position(rng, "classic")
        kinds: list[str] = []
        while not state.ended and len(kinds) < 30:
            kinds.append(verdict(state).kind)
            state, _ = GAME.step(state, {})
        seen.add(tuple(sorted(set(kinds))))
        assert kinds == sorted(kinds, reverse=True)
    assert ("capture", "evade") in seen


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"width": 1, "height": 1, "hunter": [0, 0, 1, 1], "prey": [0, 0], "walls": []}, "has caught the prey"),
        ({"hunter": [6, 291, 1, 1]}, "has caught the prey"),
        ({"hunter": [0, 287, 1, 1]}, "hunter starts at (0, 287), where a wall stands"),
        ({"prey": [35, 290]}, "prey starts at (35, 290), where a wall stands"),
        ({"walls": [[0, 300, 0, 5]]}, "wall 0 leaves the 300 x 300 board"),
        ({"walls": [[0, 5, 0, 5], [1, 3, 2, 9]]}, "wall 1 crosses another wall"),
        ({"walls": [[2, 0, 9, 0, 5, 1]]}, "its ends don't fit its kind"),
        ({"walls": [[7, 0, 9]]}, "can't be read"),
        ({"walls": [[0, "5", 0, 5]]}, "wall 0 leaves"),
        ({"walls": 5}, "can't be read"),
        ({"step": -1}, "can't be read"),
        ({"width": "x"}, "width is 'x'"),
    ],
)
def test_positions_that_are_refused(change: dict[str, object], message: str) -> None:
    record = json.loads((DATA / "evasion-verdicts.jsonl").read_text().splitlines()[0])
    with pytest.raises(ValueError, match=r".") as raised:
        conformance.play({**record, **change})
    assert message in str(raised.value)


def test_a_wrong_verdict_is_a_difference() -> None:
    record = json.loads((DATA / "evasion-verdicts.jsonl").read_text().splitlines()[2])
    assert conformance.play(record) == (0, None, True)
    late = conformance.play({**record, "k": record["k"] + 1})
    assert late.difference is not None
    assert late.difference[1:] == ("k", record["k"] + 1, record["k"])
    wrong = conformance.play({**record, "verdict": "evade"})
    assert wrong.difference is not None
    assert wrong.difference.field == "verdict"


def test_gameserver_positions_are_read() -> None:
    record = {
        "rules": "gameserver", "width": 40, "height": 30, "walls": [[3, 20, 9, 20, 0]], "hunter": [5, 5, "SE"], "prey": [25, 5],
        "prey_cooldown": 2, "prey_timer": 1, "step": 3, "verdict": "evade",
    }  # fmt: skip
    state = conformance.position(record)
    assert (state.hunter, state.prey_timer, state.step) == (Body(5, 5, 1, 1), 1, 3)
    assert state.walls.all[0][:7] == (3, "vertical", 20, 0, 20, 9, "")
    assert conformance.play(record).difference is None


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.slow
def test_safe_cells_of_large_rooms_hold_what_the_verdict_says(rules: str) -> None:
    """Where the ground is large they are found by way of a safe region; cell for cell they must be what a prey there can do."""
    rng = random.Random(8)
    state = position(rules, (3, 90, 1, -1), (70, 40), width=110, height=100)
    state = walled(state, ("vertical", 100, 50), ("horizontal", 20, 80))
    state = state._replace(hunter=Body(3, 10, 1, 1))
    found = safe_cells(state)
    assert not len(found.unknown)
    cells = [(rng.randrange(110), rng.randrange(100)) for _ in range(40)]
    # Near the hunter, where it matters.
    cells += [(3 + rng.randint(-9, 9), 10 + rng.randint(-9, 9)) for _ in range(60)]
    safe = 0
    for cell in cells:
        if not state.walls.is_free(*cell) or max(abs(cell[0] - 3), abs(cell[1] - 10)) <= 4:
            continue
        kind = verdict(state._replace(prey=Body(*cell, 0, 0))).kind
        assert (cell in found.cells) == (kind == "evade"), cell
        safe += kind == "evade"
    assert safe > 40


@pytest.mark.parametrize("rules", RULES)
def test_what_the_budget_does_not_reach_is_unknown(rules: str) -> None:
    state = position(rules, (3, 90, 1, -1), (70, 40), width=110, height=100)
    for budget in (0, 400_000, 1_000_000, 4_000_000, 10_000_000):
        found = safe_cells(state, budget)
        assert not found.cells & found.unknown
        assert found.cells | found.unknown <= safe_cells(state).cells | found.unknown
        assert len(found.cells | found.unknown) > 10_000
