"""Observations, masks and moves against the same written with the engine, over random games. The first call compiles."""

from __future__ import annotations

from random import Random
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from referee.games.evasion import variants
from referee.games.evasion.batch import Batch
from referee.games.evasion.board.walls import KINDS, VERTICAL, Wall
from referee.games.evasion.game import GAME
from referee.games.evasion.kernel.observe import SCALARS
from referee.games.evasion.state import HUNTER, PREY, Build, HunterMove, PreyMove
from sdk.env.encoding import Encoding, View
from sdk.evasion import State

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
BOARDS: list[dict[str, Any]] = [
    {"rules": "classic"},
    {"rules": "diagonal", "width": 40, "height": 23, "prey": (30, 20), "cooldown": 3, "max_walls": 4, "prey_period": 3},
    {"rules": "classic", "width": 23, "height": 40, "prey": (20, 30), "cooldown": 0, "max_walls": 2, "prey_period": 1},
    {"rules": "diagonal", "width": 30, "height": 30, "prey": (29, 20), "cooldown": 1, "max_walls": 12},
    {"rules": "classic", "width": 30, "height": 30, "prey": (29, 20), "cooldown": 2, "max_walls": 0},
]


def positions(board: dict[str, Any], steps: int, seed: int = 1) -> Iterator[State]:
    """The positions of a random game, as a bot sees them."""
    given = {name: list(value) if isinstance(value, tuple) else value for name, value in board.items() if name != "rules"}
    state, chance = GAME.start(variants.settings(board["rules"], {**given, "max_steps": 2_000})), Random(seed)
    kinds = variants.RULE_SETS[board["rules"]].kinds
    for _ in range(steps):
        yield tuple.__new__(State, state)
        if state.ended:
            return
        removed = [wall.id for wall in state.walls if chance.random() < 0.02]
        build = Build(chance.choice(kinds)) if chance.random() < 0.5 else None
        state, _ = GAME.step(
            state, {HUNTER: HunterMove(build, (*removed,)), PREY: PreyMove((chance.randint(-1, 1), chance.randint(-1, 1)))}
        )


def vector(state: State) -> list[float]:
    """The vector as docs/environments.md describes it."""
    s = state.settings
    across, up = max(1, s.width - 1), max(1, s.height - 1)
    hunter, prey = state.hunter, state.prey
    row = [hunter.x / across, hunter.y / up, hunter.dx, hunter.dy, prey.x / across, prey.y / up, prey.dx, prey.dy]
    row += [(prey.x - hunter.x) / across, (prey.y - hunter.y) / up, state.wall_timer / max(1, s.cooldown)]
    row += [(-(state.step + 1) % s.prey_period) / s.prey_period, state.step / s.max_steps, len(state.walls) / max(1, s.max_walls)]
    assert len(row) == len(SCALARS)
    for wall in [*state.walls, *[None] * (s.max_walls - len(state.walls))]:
        row += wall_row(state, wall, across, up)
    return row


def wall_row(state: State, wall: Wall | None, across: int, up: int) -> list[float]:
    kinds = state.kinds()
    if wall is None:
        return [0] * (9 if len(kinds) == 4 else 6)
    row: list[float] = [wall.kind == kind for kind in kinds]
    row += [wall.x1 / across, wall.y1 / up, wall.x2 / across, wall.y2 / up]
    return row + ([{"x": 1, "y": -1, "": 0}[wall.first]] if len(kinds) == 4 else [])


def hunter_mask(state: State) -> list[bool]:
    """Which discrete actions have their full effect."""
    oldest = [wall.id for wall in state.walls][:1]
    first = [bool(state.can_build(kind)) for kind in state.kinds()]
    second = [bool(oldest) and bool(state.can_build(kind, remove=oldest)) for kind in state.kinds()]
    return [True, *first, *second, *(index < len(state.walls) for index in range(state.settings.max_walls))]


@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_vectors_and_masks_are_those_of_the_positions(board: dict[str, Any]) -> None:
    encodings: dict[str, Encoding] = {}
    walls = 0
    for state in positions(board, 400):
        for seat in (HUNTER, PREY):
            made = encodings.setdefault(seat, Encoding(state.settings, seat))
            seen, mask = made.encode(state)
            assert isinstance(seen, np.ndarray)
            assert seen in made.observation_space
            assert np.allclose(seen, vector(state), atol=1e-7)
            prey_mask = [state.prey_moves or action == 4 for action in range(9)]
            assert mask.tolist() == (hunter_mask(state) if seat == HUNTER else prey_mask)
        walls = max(walls, len(state.walls))
    assert walls == min(walls, state.settings.max_walls)
    assert walls > 1 or not state.settings.max_walls


@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_planes_are_those_of_the_positions(board: dict[str, Any]) -> None:
    size, rows = 9, 16
    for number, state in enumerate(positions(board, 400, seed=2)):
        if number % 20:
            continue
        width, height = state.settings.width, state.settings.height
        walls = {cell for wall in state.walls for cell in wall.cells()}
        bodies = {HUNTER: (state.hunter.x, state.hunter.y), PREY: (state.prey.x, state.prey.y)}
        for seat, (x, y) in bodies.items():
            seen, _ = Encoding(state.settings, seat, View("around", size)).encode(state)
            assert isinstance(seen, dict)
            cells = [[(x - size // 2 + column, y - size // 2 + row) for column in range(size)] for row in range(size)]
            off = [[not (0 <= a < width and 0 <= b < height) for a, b in line] for line in cells]
            blocked = [[cell in walls or out for cell, out in zip(line, outs, strict=True)] for line, outs in zip(cells, off, strict=True)]
            wanted = [blocked, off, *([[cell == bodies[one] for cell in line] for line in cells] for one in bodies)]
            assert (seen["planes"] == 255 * np.array(wanted)).all()
            assert np.allclose(seen["scalars"], vector(state)[: len(SCALARS)], atol=1e-7)
        seen, _ = Encoding(state.settings, HUNTER, View("board", rows)).encode(state)
        assert isinstance(seen, dict)
        board_planes = np.zeros((3, rows, rows), np.uint8)
        for plane, cells_of in enumerate((walls, {bodies[HUNTER]}, {bodies[PREY]})):
            for a, b in cells_of:
                board_planes[plane, b * rows // height, a * rows // width] = 255
        assert (seen["planes"] == board_planes).all()


@pytest.mark.parametrize("actions", ["discrete", "spans"])
@pytest.mark.parametrize("board", BOARDS, ids=str)
def test_actions_are_the_same_moves_for_the_engine_and_for_the_kernel(board: dict[str, Any], actions: str) -> None:
    made: dict[str, Encoding] = {}
    batch: Batch | None = None
    chance = np.random.default_rng(3)
    for state in positions(board, 300, seed=3):
        if state.ended:
            break
        if batch is None:
            made = {seat: Encoding(state.settings, seat, View(actions=actions)) for seat in (HUNTER, PREY)}
            for seat, encoding in made.items():
                encoding.action_space.seed(4 + (seat == PREY))
            given = {name: getattr(state.settings, name) for name in variants.RULE_SETS[state.settings.rules].names}
            batch = Batch(1, state.settings.rules, **given)
        batch.put(state)
        chosen: dict[str, Any] = {seat: encoding.action_space.sample() for seat, encoding in made.items()}
        if actions == "spans":
            # Long spans are nearly always refused.
            chosen[HUNTER][3:] = chance.integers(0, 12, 2)
        batch.step(*(made[seat].moves(batch.games, np.asarray(chosen[seat])[None]) for seat in (HUNTER, PREY)))
        after, _ = GAME.step(state, {seat: encoding.decode(chosen[seat], state) for seat, encoding in made.items()})
        assert batch.state(0) == after


def test_the_edges_of_the_board_cut_spans_short() -> None:
    state = next(positions(BOARDS[3], 1))
    for x, y in ((0, 0), (29, 29), (5, 29), (29, 7)):
        moved = state._replace(hunter=state.hunter._replace(x=x, y=y))
        made = Encoding(state.settings, HUNTER, View(actions="spans"))
        for kind in range(len(KINDS)):
            move = made.decode(np.array([1 + kind, 0, 1, 29, 29]), moved)
            assert isinstance(move, HunterMove)
            assert move.build is not None
            at = y if move.build.kind == VERTICAL else x
            # At some edges not even the shortest thick wall has room.
            shortest = moved.can_build(move.build.kind, (at, at)).reason
            assert moved.can_build(move.build.kind, move.build.span).reason != "off-board" or shortest == "off-board"


def test_numbers_that_are_no_actions_do_nothing() -> None:
    state = next(positions(BOARDS[0], 1))
    hunter, spans, prey = (
        Encoding(state.settings, seat, View(actions=actions))
        for seat, actions in ((HUNTER, "discrete"), (HUNTER, "spans"), (PREY, "discrete"))
    )
    assert hunter.decode(99, state) == hunter.decode(-1, state) == HunterMove()
    assert spans.decode(np.array([9, 99, 7, 3, 3]), state) == HunterMove()
    assert prey.decode(-3, state) == PreyMove()
    games = Batch(2).games
    assert hunter.allows(np.ones((2, 15), np.int8), [14, 15]).tolist() == [True, False]
    for wrong in ([1], [[1], [2]], [1.0, 2.0], ["a", "b"]):
        with pytest.raises(ValueError, match=r"but must be whole numbers of the shape \(2,\)"):
            hunter.moves(games, wrong)
