"""The environments against the checkers of gymnasium and PettingZoo, and against each other. The first call compiles."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import gymnasium
import numpy as np
import pytest
from gymnasium.error import ClosedEnvironmentError, Error, ResetNeeded
from gymnasium.utils.env_checker import check_env, data_equivalence
from gymnasium.vector import AutoresetMode, SyncVectorEnv
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics
from pettingzoo.test import (  # type: ignore[import-untyped]  # it has no types
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    seed_test,
)

import sdk.env
from sdk.env.vector import EvasionEnv

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.slow
SMALL: dict[str, Any] = {"width": 40, "height": 30, "prey": [30, 20], "max_steps": 120, "cooldown": 5, "max_walls": 4}
VARIETY: list[dict[str, Any]] = [
    {},
    {"rules": "diagonal", "actions": "spans", "observation": "around", "size": 11},
    {"observation": "board", "starts": "random"},
]
#: Remarks of PettingZoo's checks on dictionaries as observations, on MultiDiscrete, and on names without numbers. They are no faults.
REMARKS = (
    "Observation is not a NumPy array|Agents have different observation space sizes|Observation space for each agent probably"
    "|Action space for each agent probably|We recommend agents to be named"
)


@pytest.fixture
def lenient() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", REMARKS)
        yield


@pytest.mark.parametrize("options", VARIETY, ids=str)
def test_the_parallel_environment_passes_the_tests_of_pettingzoo(options: dict[str, Any], lenient: None) -> None:
    options = SMALL | options
    parallel_api_test(sdk.env.parallel_env(**options), num_cycles=300)
    api_test(sdk.env.env(**options), num_cycles=300)
    parallel_seed_test(lambda: sdk.env.parallel_env(**options), num_cycles=100)
    seed_test(lambda: sdk.env.env(**options), num_cycles=100)


def test_episodes_are_truncated_after_max_cycles(lenient: None) -> None:
    max_cycles_test(sdk.env)
    env = sdk.env.parallel_env(**SMALL, max_cycles=5)
    env.reset(seed=1)
    for step in range(1, 6):
        _, rewards, terminated, truncated, _ = env.step({"hunter": 0, "prey": 4})
        assert (terminated["prey"], truncated["prey"]) == (False, step == 5)
        assert rewards == {"hunter": 0.0, "prey": 0.0}
    assert env.agents == []
    assert env.step({}) == ({}, {}, {}, {}, {})


@pytest.mark.parametrize("options", [*VARIETY, {"seat": "prey"}, {"seat": "prey", "opponent": "random", "rules": "diagonal"}], ids=str)
def test_the_environment_of_one_game_passes_the_checks_of_gymnasium(options: dict[str, Any]) -> None:
    # Checks of the rendering need pictures that Pillow draws.
    check_env(gymnasium.make("referee/Evasion-v0", **(SMALL | options)).unwrapped)


@pytest.mark.parametrize("actions", ["discrete", "spans"])
def test_the_mask_is_in_the_observation_and_in_the_infos(actions: str) -> None:
    env = sdk.env.parallel_env(**SMALL, actions=actions)
    seen, infos = env.reset(seed=1)
    for _ in range(3):
        for agent in ("hunter", "prey"):
            mask = seen[agent]["action_mask"]
            assert np.concatenate(mask if isinstance(mask, tuple) else [mask]).any()
            assert data_equivalence(mask, infos[agent]["action_mask"])
            env.action_space(agent).sample(infos[agent]["action_mask"])
        seen, _, _, _, infos = env.step({agent: env.action_space(agent).sample(seen[agent]["action_mask"]) for agent in env.agents})


def played(env: Any, steps: int, seed: int) -> list[Any]:
    """What many random steps return."""
    first = env.reset(seed=seed)
    env.action_space.seed(seed)
    return [first, *(env.step(env.action_space.sample()) for _ in range(steps))]


@pytest.mark.parametrize("mode", [AutoresetMode.NEXT_STEP, AutoresetMode.SAME_STEP])
@pytest.mark.parametrize(
    "options", [{}, {"seat": "prey", "opponent": "random", "observation": "around", "size": 5, "starts": "random"}], ids=str
)
def test_many_games_are_those_of_the_games_one_by_one(mode: AutoresetMode, options: dict[str, Any]) -> None:
    options = SMALL | options | {"max_cycles": 25, "rewards": {"approach": 0.1, "step": 0.01}}
    if "starts" in options:
        del options["prey"]
    vector = sdk.env.make_vec("evasion", 3, autoreset_mode=mode, **options)
    assert vector.metadata["autoreset_mode"] is mode
    single = SyncVectorEnv([lambda: EvasionEnv(**options) for _ in range(3)], autoreset_mode=mode)
    together, apart = played(vector, 80, 5), played(single, 80, 5)
    for one, other in zip(together, apart, strict=True):
        assert data_equivalence(one[:-1], other[:-1])
        assert one[-1].keys() == other[-1].keys()
        for key in ("action_mask", "final_obs"):
            if key in one[-1]:
                for game in np.flatnonzero(one[-1][f"_{key}"]):
                    assert data_equivalence(one[-1][key][game], other[-1][key][game])
        if "final_info" in one[-1]:
            last, others = one[-1]["final_info"]["action_mask"], other[-1]["final_info"]["action_mask"]
            for game in np.flatnonzero(one[-1]["final_info"]["_action_mask"]):
                assert last[game].any()
                assert data_equivalence(last[game], others[game])
    assert sum(step[3].sum() for step in together[1:]) > 6
    vector.close()
    single.close()


def test_no_array_is_used_again(lenient: None) -> None:
    env = sdk.env.make_vec("evasion", 4, autoreset_mode="SameStep", **SMALL, max_cycles=3)
    first, infos = env.reset(seed=1)
    kept, mask = first.copy(), infos["action_mask"].copy()
    for _ in range(3):
        last: Any = env.step(np.zeros(4, np.int64))
    final = last[-1]["final_obs"][0].copy()
    assert (last[2], last[3])[1].all()
    env.step(np.zeros(4, np.int64))
    assert (kept == first).all()
    assert (mask == infos["action_mask"]).all()
    assert (final == last[-1]["final_obs"][0]).all()
    assert (final != last[0][0]).any()


def test_wrappers_of_gymnasium_work() -> None:
    env = DictInfoToList(RecordEpisodeStatistics(gymnasium.make_vec("referee/Evasion-v0", 3, **SMALL, max_cycles=5)))
    env.reset(seed=1)
    for _ in range(5):
        *_, truncated, infos = env.step(np.zeros(3, np.int64))
    assert truncated.all()
    assert [info["episode"]["l"] for info in infos] == [5] * 3


@pytest.mark.parametrize(("seat", "sign"), [("hunter", 1), ("prey", -1)])
def test_rewards_are_given_at_the_end_and_for_shaping(seat: str, sign: int) -> None:
    near: dict[str, Any] = {"width": 60, "height": 60, "hunter": [0, 0, 1, 1], "prey": [20, 20], "capture_radius": 3, "max_steps": 30}
    opponent = "still" if seat == "hunter" else "straight"
    nothing = 0 if seat == "hunter" else 4
    for rewards, wanted in (({}, 1.0), ({"capture": 5, "step": 0.5}, 5 - 0.5), ({"approach": 1.0, "capture": 0}, 2**0.5)):
        env = gymnasium.make("referee/Evasion-v0", seat=seat, opponent=opponent, rewards=rewards, **near)
        env.reset(seed=1)
        terminated = False
        while not terminated:
            _, reward, terminated, truncated, _ = env.step(nothing)
            assert not truncated
        assert reward == pytest.approx(sign * wanted)
    env = gymnasium.make("referee/Evasion-v0", seat=seat, opponent=opponent, **near | {"prey": [59, 1]})
    env.reset(seed=1)
    rewards_seen = [env.step(nothing)[1:4] for _ in range(30)]
    assert rewards_seen[-1] == (-1.0 * sign, True, False)
    assert {reward for reward, *_ in rewards_seen[:-1]} == {0.0}


def test_an_opponent_can_be_a_function() -> None:
    asked = []

    def policy(seen: Any, mask: Any) -> Any:
        asked.append((seen.shape, mask.shape))
        return np.full(len(seen), 8)

    env = sdk.env.make_vec("evasion", 3, opponent=policy, width=60, height=60, prey=[40, 20])
    env.reset(seed=1)
    for _ in range(4):
        seen, *_ = env.step(np.zeros(3, np.int64))
    assert asked == [((3, 74), (3, 9))] * 4
    assert (seen[:, 4] * 59).round().tolist() == [42] * 3
    with pytest.raises(ValueError, match="no opponent 'boxer'; there are still, random, runner"):
        sdk.env.make_vec("evasion", 3, opponent="boxer")
    with pytest.raises(TypeError, match="opponent is 3"):
        sdk.env.make_vec("evasion", 3, opponent=3)


@pytest.mark.parametrize("actions", ["discrete", "spans"])
def test_a_forbidden_action_is_refused_or_an_error(actions: str) -> None:
    unknown: Any = 14 if actions == "discrete" else [0, 11, 0, 0, 0]
    outside: Any = 15 if actions == "discrete" else [0, 12, 0, 0, 0]
    for action in (unknown, outside):
        for invalid in ("refuse", "error"):
            env = sdk.env.make_vec("evasion", 2, invalid=invalid, actions=actions)
            env.reset(seed=1)
            if invalid == "refuse":
                env.step(np.array([action, action]))
            else:
                with pytest.raises(ValueError, match=r"game 0: the action .* is not in the action space, or its action_mask is 0"):
                    env.step(np.array([action, action]))
    both = sdk.env.parallel_env(invalid="error")
    both.reset(seed=1)
    with pytest.raises(ValueError, match="prey: the action 9"):
        both.step({"hunter": 0, "prey": 9})
    wrong: Any
    for wrong in ({"hunter": 0}, None):
        with pytest.raises(ValueError, match="those of hunter and prey"):
            both.step(wrong)
    env = sdk.env.make_vec("evasion", 2, invalid="error", opponent=lambda seen, mask: [0])
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"must be whole numbers of the shape \(2,\)"):
        env.step([1, 2, 3])
    with pytest.raises(ValueError, match="is not in the action space"):
        env.step(np.array([2**64 - 1, 0], np.uint64))
    with pytest.raises(ValueError, match="opponent: actions have the shape"):
        env.step([0, 0])


def test_an_environment_that_is_closed_or_not_begun_says_so() -> None:
    makes: list[Any] = [lambda: sdk.env.make_vec("evasion", 2), EvasionEnv, sdk.env.parallel_env]
    for make in makes:
        for action in (np.zeros(2, np.int64), 0, {"hunter": 0, "prey": 0}):
            env = make()
            if isinstance(action, dict) == hasattr(env, "possible_agents") and isinstance(action, int) == isinstance(env, EvasionEnv):
                with pytest.raises(ResetNeeded, match="reset"):
                    env.step(action)
        env.close()
        env.close()
        for call in (env.reset, env.render, lambda env=env: env.step(0)):
            with pytest.raises(ClosedEnvironmentError, match="is closed"):
                call()


def test_games_that_have_ended_are_begun_anew_by_hand() -> None:
    env = sdk.env.make_vec("evasion", 2, autoreset_mode=AutoresetMode.DISABLED, **SMALL, max_cycles=2)
    env.reset(seed=[3, None])
    for _ in range(2):
        *_, truncated, _ = env.step([0, 0])
    assert truncated.all()
    with pytest.raises(ResetNeeded, match="reset_mask"):
        env.step([0, 0])
    for wrong in ([True], np.array([False, False]), np.array([1, 0])):
        with pytest.raises(ValueError, match="reset_mask"):
            env.reset(options={"reset_mask": wrong})
    with pytest.raises(TypeError, match="options is 'reset'"):
        env.reset(options="reset")  # type: ignore[arg-type]  # on purpose
    seen, _ = env.reset(options={"reset_mask": np.array([True, False])})
    assert (seen[:, 12] > 0).tolist() == [False, True]
    with pytest.raises(ValueError, match="3 seeds, but 2 games"):
        env.reset(seed=[1, 2, 3])


@pytest.mark.parametrize("seed", [np.int64(3), np.array([3, 4]), (3, 4)], ids=str)
def test_seeds_may_be_numbers_of_numpy(seed: Any) -> None:
    count: Any = np.int64(2)
    env = sdk.env.make_vec("evasion", count, starts="random")
    assert (env.reset(seed=seed)[0] == env.reset(seed=3)[0]).all()


def test_drawn_starts_are_many() -> None:
    first = sdk.env.make_vec("evasion", 2_000, starts="random").reset(seed=1)[0]
    # Of a thousand starts, 2,000 games begin from about 860.
    assert len(np.unique(first, axis=0)) > 700


@pytest.mark.parametrize("seed", [1.5, "a", -1, [1.5, 2]], ids=str)
def test_seeds_are_whole_numbers(seed: Any) -> None:
    for reset in (sdk.env.make_vec("evasion", 2).reset, sdk.env.parallel_env().reset):
        with pytest.raises((ValueError, Error), match=r"must be a whole number from 0 on|greater or equal to zero|2 seeds, but 1 games"):
            reset(seed=seed)


def test_the_prey_of_a_game_that_goes_on_gets_no_negative_zero() -> None:
    env = sdk.env.make_vec("evasion", 2, seat="prey")
    env.reset(seed=1)
    assert not np.signbit(env.step([4, 4])[1]).any()


@pytest.mark.parametrize("size", [{}, {"width": 60, "height": 20, "prey": [50, 10]}], ids=str)
def test_pictures_are_drawn_as_in_the_exports(size: dict[str, Any]) -> None:
    from referee.export.raster import image
    from referee.games.evasion import picture

    env: Any = gymnasium.make("referee/Evasion-v0", render_mode="rgb_array", **size)
    env.reset(seed=1)
    for action in (1, 0, 2):
        env.step(action)
    shown, players = env.render(), env.unwrapped
    assert (shown == np.asarray(image(picture.draw(players.trail), 300))).all()
    assert len(players.trail) == 4
    frames: Any = sdk.env.make_vec("evasion", 2, render_mode="rgb_array", **size)
    frames.reset(seed=1)
    assert [frame.shape for frame in frames.render()] == [shown.shape] * 2
    both = sdk.env.parallel_env(render_mode="rgb_array", **size)
    with pytest.raises(ResetNeeded):
        both.render()
    both.reset()
    assert both.render() is not None
    assert sdk.env.make_vec("evasion", 2).render() is None
