"""What environments look like before a game is played: spaces, options and registration. Nothing is compiled here."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
import pytest

import sdk.env
from referee.games.evasion import variants
from referee.games.game import SettingsError
from referee.support.packages import install_command
from sdk.env import Encoding, Rewards, View
from sdk.env.episodes import options_of


def encoding(seat: str = "hunter", rules: str = "classic", view: View | None = None, **settings: Any) -> Encoding:
    return Encoding(variants.settings(rules, settings), seat, view)


@pytest.mark.parametrize(
    ("seat", "rules", "max_walls", "view", "observed", "acts", "mask"),
    [
        ("hunter", "classic", 10, View(), "Box(-1.0, 1.0, (74,), float32)", "Discrete(15)", 15),
        ("prey", "classic", 10, View(), "Box(-1.0, 1.0, (74,), float32)", "Discrete(9)", 9),
        ("hunter", "diagonal", 6, View(), "Box(-1.0, 1.0, (68,), float32)", "Discrete(15)", 15),
        ("hunter", "classic", 0, View(), "Box(-1.0, 1.0, (14,), float32)", "Discrete(5)", 5),
        ("prey", "classic", 3, View("around"), "(4, 33, 33), uint8", "Discrete(9)", 9),
        ("prey", "classic", 3, View("around", 7), "(4, 7, 7), uint8", "Discrete(9)", 9),
        ("hunter", "classic", 3, View("board", 64), "(3, 64, 64), uint8", "Discrete(8)", 8),
        ("hunter", "classic", 3, View(actions="spans"), "(32,)", "MultiDiscrete([  3   5   2 300 300])", 610),
        ("prey", "classic", 3, View(actions="spans"), "(32,)", "Discrete(9)", 9),
    ],
)
def test_spaces_follow_the_settings(seat: str, rules: str, max_walls: int, view: View, observed: str, acts: str, mask: int) -> None:
    made = encoding(seat, rules, view, max_walls=max_walls)
    assert observed in str(made.observation_space)
    assert str(made.action_space) == acts
    assert made.mask_size == mask
    assert made.action_space.sample(made.split(np.ones(mask, np.int8))) in made.action_space


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"observation": "photo"}, "no observation 'photo'; there are vector, around, board"),
        ({"size": 9}, "a vector has none"),
        ({"observation": "around", "size": 8}, "must be odd"),
        ({"observation": "board", "size": 0}, "from 1 to 1,000"),
        ({"observation": "board", "size": True}, "size is True"),
        ({"actions": "telepathy"}, "no actions 'telepathy'; there are discrete, spans"),
        ({"rewards": {"catch": 1}}, "no reward 'catch'; there are capture, evasion, step, approach"),
        ({"rewards": 3}, "rewards is 3, but must be a dictionary"),
        ({"observation": []}, "no observation []"),
        ({"rewards": {"capture": 10**400}}, "must be a finite number"),
        ({"rewards": {"capture": float("nan")}}, "capture is nan, but must be a finite number"),
        ({"max_cycles": 0}, "max_cycles is 0"),
        ({"max_cycles": True}, "max_cycles is True"),
        ({"invalid": "ignore"}, "must be refuse or error"),
        ({"adjudicate_after": 5}, "doesn't adjudicate"),
    ],
)
def test_wrong_options_are_named(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        options_of(options)


@pytest.mark.parametrize(
    ("actions", "action", "text"),
    [
        ("discrete", 3.0, "the action is 3.0, but must be a whole number"),
        ("discrete", None, "the action is None, but must be a whole number"),
        ("discrete", np.array([1]), "the action is array([1]), but must be a whole number"),
        ("spans", 3, "the action is 3, but must be an array of 5 whole numbers"),
    ],
)
def test_an_action_of_one_game_is_named(actions: str, action: object, text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        encoding(view=View(actions=actions)).row(action)


def test_numbers_of_numpy_are_numbers() -> None:
    options = options_of({"size": np.int64(5), "observation": "board", "max_cycles": np.int8(3), "rewards": {"step": np.float32(0.5)}})
    assert (options.view.size, options.max_cycles, options.rewards.step) == (5, 3, 0.5)
    assert options_of({"prey": np.array([3, 200]), "width": np.int16(400)}).settings == {"prey": [3, 200], "width": 400}


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: sdk.env.make_vec("maze", 2), ValueError, "no environment of the game 'maze'; there is one of evasion"),
        (lambda: sdk.env.make_vec("evasion", 0), ValueError, "num_envs is 0"),
        (lambda: sdk.env.make_vec("evasion", 2.0), ValueError, "num_envs is 2.0"),  # type: ignore[arg-type]  # on purpose
        (lambda: sdk.env.make_vec("evasion", 2, seat="dog"), ValueError, "no seat 'dog'; there are hunter and prey"),
        (lambda: sdk.env.make_vec("evasion", 2, rules="gameserver"), ValueError, "there are classic and diagonal"),
        (lambda: sdk.env.make_vec("evasion", 2, rules="cubic"), SettingsError, "no rule set 'cubic'"),
        (lambda: sdk.env.make_vec("evasion", 2, width=0), SettingsError, "width"),
        (lambda: sdk.env.make_vec("evasion", 2, depth=3), SettingsError, "depth"),
        (lambda: sdk.env.make_vec("evasion", 2, autoreset_mode="Never"), ValueError, "there are NextStep, SameStep, Disabled"),
        (lambda: sdk.env.make_vec("evasion", 2, render_mode="human"), ValueError, "no render_mode 'human'"),
        (lambda: sdk.env.parallel_env("chess"), ValueError, "no environment of the game 'chess'"),
        (lambda: sdk.env.parallel_env(starts="anywhere"), ValueError, "starts is 'anywhere'"),
        (lambda: encoding("dog"), ValueError, "no seat 'dog'"),
        (lambda: encoding(rules="gameserver"), ValueError, "there are classic and diagonal"),
        (lambda: sdk.env.make_it, AttributeError, "no attribute 'make_it'"),
    ],
)
def test_what_cannot_be_made_is_said_in_a_sentence(make: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=re.escape(text)):
        make()


def test_the_environment_is_registered_when_sdk_env_is_imported() -> None:
    spec = gymnasium.spec("referee/Evasion-v0")
    assert (spec.entry_point, spec.vector_entry_point) == ("sdk.env.vector:EvasionEnv", "sdk.env.vector:EvasionVectorEnv")
    assert set(sdk.env.__all__) <= set(dir(sdk.env))
    assert Rewards() == (1.0, 1.0, 0.0, 0.0)


def test_compiled_code_is_forgotten_when_any_module_of_the_kernel_changes(tmp_path: Path) -> None:
    from referee.games.evasion.kernel import compiled, loop, walls

    folder = Path(compiled.__file__).parent
    for function in (loop.advance, walls.covers):
        made: Any = function
        assert compiled.sources(folder) in made._cache._cache_file.stamp
    for path in folder.glob("*.py"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert compiled.sources(tmp_path) == compiled.sources(folder)
    (tmp_path / "walls.py").write_text("")
    assert compiled.sources(tmp_path) != compiled.sources(folder)


def loaded_by(statement: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", f"import sys; {statement}; print(*sys.modules)"], capture_output=True, text=True)


def test_the_sdk_loads_nothing_of_it() -> None:
    loaded = set(loaded_by("import sdk").stdout.split())
    assert "sdk" in loaded
    assert not {"sdk.env", "numpy", "numba", "gymnasium", "pettingzoo"} & loaded


@pytest.mark.parametrize("missing", ["numba", "numpy"])
def test_without_the_extra_a_batch_names_it(missing: str) -> None:
    done = loaded_by(f"sys.modules['{missing}'] = None; import referee.games.evasion.batch")
    text = f"many games at once need the extra rl, but {missing} can't be imported; install it: {install_command('numba', 'numpy')}"
    assert done.stderr.splitlines()[-1] == f"ImportError: {text}"


def test_without_the_extra_one_sentence_names_it() -> None:
    done = loaded_by("sys.modules.update(numba=None, pettingzoo=None); import sdk.env")
    text = f"sdk.env needs the extra rl, but numba and pettingzoo can't be imported; install it: {install_command('numba', 'pettingzoo')}"
    assert done.stderr.splitlines()[-1] == f"ImportError: {text}"


def test_without_the_extra_the_examples_name_it() -> None:
    learning = Path(sdk.env.__file__).parents[2] / "example_bots" / "learning"
    for folder, module, what in (
        ("linear", "policies", "the linear policies need"),
        ("linear", "train", "the"),
        ("mcts", "mcts", "mcts needs"),
    ):
        done = loaded_by(f"sys.modules['numpy'] = None; sys.path.insert(0, {str(learning / folder)!r}); import {module}")
        (told,) = done.stderr.splitlines()
        assert told.startswith(what)
        assert f"{sys.executable} -m pip install " in told
