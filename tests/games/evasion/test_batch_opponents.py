"""The players inside the kernel against the example bots, move by move in random games. The first call compiles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from example_bots import BOTS
from example_bots.table import bot_class
from referee.games.evasion.batch import Batch
from referee.games.evasion.game import GAME
from referee.games.evasion.state import HUNTER, PREY, HunterMove, PreyMove
from sdk.env import Encoding
from sdk.env.episodes import Episodes, Options
from sdk.evasion import State
from sdk.testing import ask

pytestmark = pytest.mark.slow
GAMES, STEPS = 6, 150
SETTINGS: list[dict[str, Any]] = [
    {"rules": rules, "width": width, "height": height, "cooldown": cooldown, "max_walls": walls, "prey_period": period}
    for rules in ("classic", "diagonal")
    for width, height, cooldown, walls, period in ((60, 50, 0, 3, 1), (40, 70, 6, 8, 2), (50, 50, 2, 1, 3), (300, 300, 20, 10, 2))
]


@pytest.mark.parametrize("settings", SETTINGS, ids=str)
@pytest.mark.parametrize(("seat", "name"), [(HUNTER, "straight"), (HUNTER, "boxer"), (PREY, "still"), (PREY, "runner")])
def test_players_of_the_kernel_move_as_the_example_bots(seat: str, name: str, settings: dict[str, Any]) -> None:
    """The player of the kernel meets random moves; those of the example bot, asked in each position, lead to the same states."""
    episodes = Episodes(GAMES, Options(starts="random", settings=settings))
    episodes.begin(7)
    batch, chance = episodes.batch, np.random.default_rng(7)
    other = Encoding(batch.settings, PREY if seat == HUNTER else HUNTER)
    bot: Any = bot_class(next(example for example in BOTS if example.path.stem == name))()
    acted = compared = 0
    for _ in range(STEPS):
        before = [tuple.__new__(State, batch.state(game)) for game in range(GAMES)]
        actions = chance.integers(0, other.mask_size, GAMES)
        moves = other.moves(batch.games, actions)
        if seat == HUNTER:
            batch.step(goes=moves, hunter=name)
        else:
            batch.step(moves, prey=name)
        for game, state in enumerate(before):
            if state.ended:
                continue
            given = {other.seat: other.decode(actions[game], state)}
            if seat == HUNTER or state.prey_moves:
                given[seat] = ask(bot, state)
                acted += given[seat] not in (HunterMove(), PreyMove())
            after, _ = GAME.step(state, given)
            assert batch.state(game) == after
            compared += 1
    assert compared > STEPS
    assert (acted > 0) == (name in ("boxer", "runner"))


def test_random_players_take_each_action_as_often() -> None:
    batch = Batch(4_096, seed=3, cooldown=0, max_walls=2, prey_period=1)
    batch.step(hunter="random", prey="random")
    # Of seven actions, four build, two of them after they have removed a wall that isn't there; two remove such a wall; one does nothing.
    notices = {code: int(got.sum()) for code, got in batch.notices.items()}
    assert notices["wall-built"] == pytest.approx(4_096 * 4 / 7, rel=0.1)
    assert notices["unknown-wall"] == pytest.approx(4_096 * 4 / 7, rel=0.1)
    directions = np.unique(batch.prey[:, 2:], axis=0, return_counts=True)[1]
    assert len(directions) == 9
    assert directions.min() > 4_096 / 9 * 0.8
    again = Batch(4_096, seed=3, cooldown=0, max_walls=2, prey_period=1)
    again.step(hunter="random", prey="random")
    assert (again.games == batch.games).all()
