from __future__ import annotations

import random
from typing import Any

import prey_model
import pytest

from referee.games.evasion.board.regions import reachable
from referee.games.evasion.forward import Forward, Room
from referee.games.evasion.game import GAME
from referee.games.evasion.state import HEADINGS, HUNTER, PREY, AddWall, Build, HunterMove, PreyMove, RemoveWall, State, Step
from referee.games.evasion.variants import RULE_SETS

RULES = ("classic", "diagonal", "gameserver")


def hunters_move(rng: random.Random, state: State) -> Any:
    """Anything that a hunter may ask for, good or bad."""
    ids = [wall.id for wall in state.walls] + [99]
    if state.settings.rules == "gameserver":
        x, y = rng.randrange(-1, state.settings.width + 1), rng.randrange(-1, state.settings.height + 1)
        wall = AddWall(rng.randrange(8), x, y, rng.choice((x, x + 3, x - 9)), rng.choice((y, y + 2)))
        return rng.choice((None, wall, RemoveWall(rng.choice(ids))))
    span = rng.choice((None, None, (rng.randrange(-2, 12), rng.randrange(0, 14))))
    build = Build(rng.choice(("horizontal", "vertical", "diagonal", "counter-diagonal")), span)
    return rng.choice((None, build, HunterMove(build, (rng.choice(ids),)), HunterMove(None, tuple(ids))))


def stepped(state: State, move: Any, go: tuple[int, int] | None) -> State:
    """The engine's own step."""
    prey: Any = None
    if state.settings.rules == "gameserver":
        prey = Step(HEADINGS[go]) if go in HEADINGS else None
    else:
        prey = PreyMove(go)
        move = HunterMove(move) if isinstance(move, Build) else move
    after, _ = GAME.step(state, {seat: one for seat, one in ((HUNTER, move), (PREY, prey)) if one is not None})
    return after


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("seed", range(6))
def test_plays_as_the_engine_does_and_takes_back(rules: str, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(20):
        state = prey_model.random_position(rng, rules, most=14)
        state = state._replace(settings=state.settings._replace(cooldown=rng.choice((0, 1, 3)), max_walls=5, max_steps=state.step + 60))
        forward = Forward(state)
        assert forward.state() == state
        states = [state]
        while not state.ended:
            move = hunters_move(rng, state)
            go = rng.choice((None, *((dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1))))
            forward.step(move, go)
            state = stepped(state, move, go)
            assert forward.state() == state
            states.append(state)
            if rng.random() < 0.2:
                # A side line, and back again.
                if not forward.ended:
                    forward.step(hunters_move(rng, state), (1, 0))
                    forward.undo()
                assert forward.state() == state
        with pytest.raises(ValueError, match="the game is over"):
            forward.step()
        looked_at = forward.looked_at
        for before in reversed(states[:-1]):
            forward.undo()
            assert forward.state() == before
        assert forward.looked_at == looked_at >= len(states) - 1
        with pytest.raises(IndexError):
            forward.undo()


@pytest.mark.parametrize("rules", ["classic", "diagonal"])
def test_a_room_knows_at_most_what_a_wall_would_leave(rules: str) -> None:
    """Wherever it names a number, the wall is to be had, and no cell more is left than it says; often it is exact."""
    rng = random.Random(3)
    named = exact = 0
    for _ in range(400):
        state = prey_model.random_position(rng, rules, most=20)
        state = state._replace(settings=state.settings._replace(max_walls=40, prey_period=5), step=0)
        forward = Forward(state)
        room = Room(forward)
        assert room.area == len(reachable(state.walls, state.prey[:2]))
        assert room.holds(*state.prey[:2])
        for kind in RULE_SETS[rules].kinds:
            most = room.left_by(forward, kind)
            if most is None:
                continue
            after = stepped(state, Build(kind), None)
            if len(after.walls) == len(state.walls):
                # Only the hunter's bounce can have come between.
                assert RULE_SETS[rules].bounce(state.walls, *state.hunter)[2:] != state.hunter[2:]
                continue
            left = len(reachable(after.walls, after.prey[:2]))
            assert left <= most < room.area
            named += 1
            exact += left == most
    assert named > 40
    assert exact > 0.8 * named
