"""The environments: the checkers of Gymnasium and PettingZoo, the same games as in matches, and the tables of docs/environments.md."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ResetNeeded
from gymnasium.utils.env_checker import check_env
from pettingzoo.test import parallel_api_test, parallel_seed_test  # type: ignore[import-untyped]  # it has no types

import sdk.env
from example_bots.evasion.evader import Evader
from example_bots.evasion.runner import Runner
from referee.errors import RefereeError
from referee.games.evasion import variants
from referee.games.evasion.game import GAME
from referee.games.evasion.state import Build, HunterMove, PreyMove
from sdk import HunterBot, State
from sdk.testing import play

PAGE = (Path(__file__).parents[2] / "docs" / "environments.md").read_text()
SMALL: dict[str, Any] = {"width": 40, "height": 30, "prey": [30, 20], "max_steps": 120, "cooldown": 5, "max_walls": 4}
DRAWN: dict[str, Any] = {"rules": "diagonal", "width": 40, "height": 30, "max_steps": 120, "random_starts": True}
VARIETY: list[dict[str, Any]] = [SMALL, DRAWN]


@pytest.mark.parametrize("seat", ["hunter", "prey"])
@pytest.mark.parametrize("options", [{**SMALL, "render_mode": "ansi"}, DRAWN], ids=str)
def test_one_seat_passes_the_checks_of_gymnasium(options: dict[str, Any], seat: str) -> None:
    check_env(gymnasium.make("referee/Evasion-v0", seat=seat, **options).unwrapped)


@pytest.mark.parametrize("options", VARIETY, ids=str)
def test_both_seats_pass_the_tests_of_pettingzoo(options: dict[str, Any]) -> None:
    parallel_api_test(sdk.env.EvasionParallelEnv(**options), num_cycles=300)
    parallel_seed_test(lambda: sdk.env.EvasionParallelEnv(**options), num_cycles=100)


@pytest.mark.parametrize("options", VARIETY, ids=str)
def test_every_position_is_that_of_the_engine_and_lies_in_the_space(options: dict[str, Any]) -> None:
    env = sdk.env.EvasionParallelEnv(**options)
    env.reset(seed=1)
    for agent in env.possible_agents:
        env.action_space(agent).seed(1)
    endings = set()
    for _ in range(400):
        state = env._game.state
        actions = {agent: env.action_space(agent).sample() for agent in env.agents}
        after, _ = GAME.step(state, {agent: sdk.env.move(state, agent, action) for agent, action in actions.items()})
        seen, rewards, terminated, truncated, _ = env.step(actions)
        assert (*env._game.state,) == (*after,)
        assert all(env.observation_space(agent).contains(seen[agent]) for agent in seen)
        assert rewards["hunter"] == -rewards["prey"] == {"": 0, "caught": 1, "evaded": -1}[after.ended]
        assert [*terminated.values(), *truncated.values()] == [bool(after.ended)] * 2 + [False] * 2
        if after.ended:
            endings.add(after.ended)
            assert env.agents == []
            assert env.step({}) == ({}, {}, {}, {}, {})
            env.reset()
    assert "evaded" in endings


def test_a_mask_says_which_moves_the_rules_allow() -> None:
    env = sdk.env.EvasionParallelEnv(**SMALL)
    seen, _ = env.reset(seed=3)
    refused = 0
    for _ in range(110):
        state, mask = env._game.state, seen["hunter"]["action_mask"]
        for action, is_allowed in enumerate(mask):
            chosen = sdk.env.move(state, "hunter", action)
            assert isinstance(chosen, HunterMove)
            after, _ = GAME.step(state, {"hunter": chosen, "prey": PreyMove()})
            removed = {wall.id for wall in state.walls} - {wall.id for wall in after.walls}
            is_done = (chosen.build is None or after.next_id > state.next_id) and removed == {*chosen.remove}
            assert bool(is_allowed) == (is_done and (action == 0 or chosen != HunterMove())), (action, state)
            refused += not is_allowed
        assert seen["prey"]["action_mask"].sum() == (9 if state.prey_moves else 1)
        allowed = np.flatnonzero(mask)
        seen, *_ = env.step({"hunter": allowed[-1 if len(state.walls) > 2 else len(allowed) // 2], "prey": 4})
    assert refused


class Learned(HunterBot):
    def hunt(self, state: State) -> HunterMove:
        chosen = sdk.env.move(state, "hunter", policy(sdk.env.observation(state), sdk.env.action_mask(state, "hunter")))
        assert isinstance(chosen, HunterMove)
        return chosen


def policy(observation: Any, mask: Any) -> int:
    allowed = np.flatnonzero(mask)
    return int(allowed[int(abs(observation.sum()) * 1000) % len(allowed)])


def test_a_policy_plays_the_same_game_in_a_match() -> None:
    env = gymnasium.make("referee/Evasion-v0", seat="hunter", opponent=Runner, **SMALL)
    seen, infos = env.reset(seed=1)
    reward, is_over, steps = 0.0, False, 0
    while not is_over:
        seen, reward, is_over, _, infos = env.step(policy(seen, infos["action_mask"]))  # type: ignore[assignment]  # SupportsFloat
        steps += 1
    result = play(Learned, Runner, **SMALL)
    assert (result.steps, result.outcome.reason) == (steps, "caught" if reward > 0 else "evaded")


def test_a_seed_gives_the_same_games() -> None:
    games = []
    for _ in range(2):
        env = gymnasium.make("referee/Evasion-v0", seat="prey", **DRAWN)
        env.action_space.seed(4)
        games.append([env.reset(seed=4)[0].tolist(), *(env.step(env.action_space.sample())[0].tolist() for _ in range(20))])
        games[-1].append(env.reset()[0].tolist())
    assert games[0] == games[1]
    assert games[0][0] != games[0][-1]


def test_the_board_is_drawn_as_text() -> None:
    env = gymnasium.make("referee/Evasion-v0", render_mode="ansi", **SMALL)
    env.reset(seed=1)
    text = str(env.render())
    assert text.startswith("step 0, distance ")
    assert {"H", "P"} < {*text}
    silent = sdk.env.EvasionParallelEnv(**SMALL)
    silent.reset(seed=1)
    assert silent.render() is None


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"seat": "judge"}, "there is no seat 'judge'"),
        ({"render_mode": "human"}, "there is no render_mode 'human'"),
        ({"rules": "gameserver"}, "classic and diagonal"),
        ({"rules": "chess"}, "no rule set"),
        ({"adjudicate_after": 5}, "doesn't adjudicate"),
        ({"wide": 5}, "wide"),
        ({"seat": "prey", "opponent": Evader}, "a class of bots that plays the hunter"),
        ({"opponent": "runner"}, "a class of bots that plays the prey"),
    ],
    ids=str,
)
def test_a_wrong_option_is_named(options: dict[str, Any], told: str) -> None:
    with pytest.raises((ValueError, TypeError, RefereeError), match=re.escape(told)):
        sdk.env.EvasionEnv(**options)


def test_a_game_must_begin_and_actions_must_exist() -> None:
    one, both = sdk.env.EvasionEnv(**SMALL), sdk.env.EvasionParallelEnv(**SMALL)
    with pytest.raises(ResetNeeded):
        one.step(0)
    with pytest.raises(ResetNeeded):
        both.step({"hunter": 0, "prey": 4})
    one.reset(seed=1)
    with pytest.raises(ValueError, match=r"the hunter's action is 99, but must be from 0 to 8"):
        one.step(99)
    both.reset(seed=1)
    with pytest.raises(ValueError, match="actions of hunter, but"):
        both.step({"hunter": 0})
    while not one.step(0)[2]:
        pass
    with pytest.raises(ResetNeeded):
        one.step(0)


def test_what_an_opponent_says_and_draws_is_not_kept() -> None:
    class Talker(Runner):
        def flee(self, state: State) -> PreyMove | None:
            self.say("here")
            self.draw.line((0, 0), (1, 1))
            return super().flee(state)

    env = sdk.env.EvasionEnv(opponent=Talker, **SMALL)
    env.reset(seed=1)
    for _ in range(4):
        env.step(0)
    assert env._opponent is not None
    assert (env._opponent._bot._said, env._opponent._bot.draw.take()) == (None, [])


def test_the_examples_run(capsys: pytest.CaptureFixture[str]) -> None:
    trains, plays = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    exec(compile(trains, "docs/environments.md", "exec"), {"__name__": "example"})
    assert capsys.readouterr().out.startswith("(74,) ")
    scope: dict[str, Any] = {"__name__": "example"}
    exec(compile(plays, "docs/environments.md", "exec"), scope)
    assert play(scope["Learned"], Runner, max_steps=50).outcome.reason == "evaded"


def table(head: str) -> list[list[str]]:
    """The rows of the page's table whose first cell of the head is this."""
    found = re.search(rf"^\| {re.escape(head)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", PAGE, re.MULTILINE)
    assert found is not None, head
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in found[1].splitlines()]


@pytest.mark.parametrize(("rules", "kinds"), [("classic", 2), ("diagonal", 4)])
def test_the_page_names_the_spaces(rules: str, kinds: int) -> None:
    env = sdk.env.EvasionParallelEnv(rules, **SMALL)
    found = re.search(r"c is (\d+) in `classic` and (\d+) in `diagonal`", PAGE)
    assert found is not None
    assert "with 14 + c M numbers" in PAGE
    assert env.observation_space("hunter")["observation"].shape == (14 + int(found[1 if kinds == 2 else 2]) * 4,)
    last = [row[1].rpartition(" to ")[2] for row in table("seat")]
    assert last == ["0", "K", "2 K", "2 K + M", "8"]
    assert [env.action_space(agent).n for agent in env.possible_agents] == [2 * kinds + 4 + 1, 9]
    assert {row[0].strip("`") for row in table("option")} == {"seat", "opponent", "rules", "random_starts", "render_mode"}


def test_the_page_names_the_numbers() -> None:
    first = State(*GAME.start(variants.settings("classic", SMALL)))
    state = first.after(Build("vertical"))
    seen = sdk.env.observation(state)
    (hunter_x, hunter_y, *heading), (prey_x, prey_y, *direction) = state.hunter, state.prey
    players = [hunter_x / 39, hunter_y / 29, *heading, prey_x / 39, prey_y / 29, *direction]
    times = [state.wall_timer / 5, 0, 1 / 120, 1 / 4]
    wall = next(iter(state.walls))
    ends = [wall.x1 / 39, wall.y1 / 29, wall.x2 / 39, wall.y2 / 29]
    numbers = [*players, (prey_x - hunter_x) / 39, (prey_y - hunter_y) / 29, *times, 0, 1, *ends]
    assert seen[: len(numbers)].tolist() == pytest.approx(numbers)
    assert not seen[len(numbers) :].any()
    assert table("index")[-1][0] == "13"


def test_many_games_at_once_are_those_of_the_games_one_by_one() -> None:
    many = gymnasium.make_vec("sdk.env:referee/Evasion-v0", 2, vectorization_mode="sync", **DRAWN)
    seen, _ = many.reset(seed=5)
    for game in range(2):
        one = gymnasium.make("referee/Evasion-v0", **DRAWN)
        assert one.reset(seed=5 + game)[0].tolist() == seen[game].tolist()
    many.close()
