"""Policies as bots: a match with ``referee play`` is the same game as in the environment, step by step."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from referee.replay.reader import Step, verify
from sdk import Build, HunterMove, PreyMove
from sdk.env import generator, policy_bot
from sdk.testing import answer, position

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from _pytest.mark import ParameterSet

    Cli = Callable[..., subprocess.CompletedProcess[str]]

#: Three policies: weights and the mask decide; chance decides; weights decide about walls with spans.
POLICIES = {
    "weights": """
weights = numpy.random.default_rng(5).normal(size=(40, 200))

def policy(observation, mask):
    return int((weights[: len(mask), : len(observation)] @ observation + 0.5 * (numpy.arange(len(mask)) < 3) + 100 * (mask - 1)).argmax())
""",
    "chance": """
def policy(observation, mask, random):
    # A prey that can't move has one action, and draws nothing.
    return int(random.choice(numpy.flatnonzero(mask))) if mask.sum() > 1 else int(mask.argmax())
""",
    "spans": """
def policy(observation):
    first = int(300 * abs(observation[0]))
    return numpy.array([1 + first % 2, 1, first % 2, max(0, first - 40), first + 3])
""",
}
#: A bot's file. As a program with the argument "environment" it plays in the environment instead, and prints the positions.
FILE = """
import sys
import numpy
{policy}
if sys.argv[1:] == ["environment"]:
    import gymnasium, inspect, json
    from sdk import env
    game = gymnasium.make("referee/Evasion-v0", seat="{seat}", opponent="{opponent}", render_mode="rgb_array", disable_env_checker=True, **{options}).unwrapped
    generator, seen = env.generator({seed}, "{seat}"), []
    observation, info = game.reset(seed={seed})
    count, is_over = len(inspect.signature(policy).parameters), False
    while not is_over:
        action = policy(*(observation, info["action_mask"], generator)[:count])
        observation, reward, terminated, truncated, info = game.step(action)
        is_over = terminated or truncated
        state = game.trail[-1]
        seen.append([state.step, *state.hunter, *state.prey, state.wall_timer, *[[*wall] for wall in state.walls]])
    print(json.dumps(seen))
else:
    from sdk.env import policy_bot
    policy_bot(policy, seat="{seat}", actions="{actions}").main()
"""


def slow(*values: object) -> ParameterSet:
    return pytest.param(*values, marks=pytest.mark.slow)


@pytest.mark.parametrize(
    ("policy", "seat", "opponent", "options"),
    [
        ("weights", "hunter", "runner", {"rules": "diagonal", "cooldown": 7, "max_steps": 250}),
        ("weights", "prey", "boxer", {"rules": "classic", "max_steps": 250}),
        slow(
            "chance",
            "hunter",
            "still",
            {"rules": "diagonal", "width": 60, "height": 40, "prey": (50, 20), "max_walls": 3, "max_steps": 250},
        ),
        slow("chance", "prey", "straight", {"rules": "classic", "prey_period": 3, "max_steps": 250}),
        slow("spans", "hunter", "runner", {"rules": "classic", "cooldown": 3, "actions": "spans", "max_steps": 250}),
    ],
)
def test_a_match_is_the_game_of_the_environment(
    policy: str, seat: str, opponent: str, options: dict[str, Any], referee: Cli, tmp_path: Path
) -> None:
    given = {"policy": POLICIES[policy], "seat": seat, "opponent": opponent, "seed": 7, "actions": options.get("actions", "discrete")}
    file = tmp_path / "bot.py"
    file.write_text(FILE.format(options=options, **given))
    # Uncompiled code makes the same steps, and needs no half a minute before the first of them.
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    done = subprocess.run([sys.executable, "-W", "ignore", file, "environment"], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    expected = json.loads(done.stdout)
    assert len(expected) > 20

    players = [str(file), opponent] if seat == "hunter" else [opponent, str(file)]
    flags = [
        f"--{name.replace('_', '-')}={','.join(map(str, value)) if isinstance(value, tuple) else value}"
        for name, value in options.items()
        if name != "actions"
    ]
    replay = tmp_path / "game.replay.jsonl.gz"
    unhurried = ["--move-time", "none", "--bank", "none", "--startup", "none"]
    done = referee("play", *players, *flags, "--seed", "7", "--quiet", "--json", *unhurried, "--out", str(replay))
    assert done.returncode == 0, done.stderr
    played: list[list[Any]] = []

    def add(step: Step) -> None:
        state = step.after
        walls = [[*wall] for wall in state.walls]
        played.append([state.step, *state.hunter, *state.prey, state.wall_timer, *walls])

    verify(replay, add)
    assert played == expected


@pytest.mark.slow
def test_a_policy_plays_both_seats_unless_one_is_named() -> None:
    def policy(observation: object, mask: np.ndarray[Any, Any]) -> int:
        assert len(mask) in (9, 15)
        return 1

    drawing = "H.........\n..........\n.........P"
    both = policy_bot(policy)
    assert both.name == "policy"
    assert answer(both, position(drawing, step=1), seat="hunter").move == HunterMove(Build("horizontal"))
    assert answer(both, position(drawing, step=1), seat="prey").move == PreyMove((-1, 0))
    with pytest.raises(TypeError, match="does not play prey"):
        answer(policy_bot(policy, seat="hunter"), position(drawing, step=1), seat="prey")


def test_what_is_no_policy_is_refused() -> None:
    with pytest.raises(ValueError, match="no seat 'wolf'; there are hunter and prey"):
        policy_bot(lambda seen: 0, seat="wolf")
    with pytest.raises(ValueError, match="no observation 'smell'"):
        policy_bot(lambda seen: 0, observation="smell")
    with pytest.raises(TypeError, match="3 can't be called"):
        policy_bot(3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="needs more: a, b, c, d"):
        policy_bot(lambda a, b, c, d: 0)


def test_the_generator_is_that_of_the_seat() -> None:
    first, second = generator(7, "hunter"), generator(7, "hunter")
    assert first.integers(1 << 30) == second.integers(1 << 30) != generator(7, "prey").integers(1 << 30)
    with pytest.raises(ValueError, match="no seat 'thief'"):
        generator(7, "thief")
    with pytest.raises(TypeError, match="seed is 'x'"):
        generator("x", "hunter")  # type: ignore[arg-type]  # on purpose


def test_a_bot_does_not_compile_the_rules(tmp_path: Path) -> None:
    """Compiling takes longer than a start-up may."""
    file = tmp_path / "bot.py"
    file.write_text(
        "from sdk.env import policy_bot\n"
        "policy_bot(lambda seen: 0)\n"
        "import sys, numba\n"
        "from referee.games.evasion.kernel import observe\n"
        "own = numba.njit(lambda: 1)\n"
        "print(type(observe.some_vectors).__name__, hasattr(own, 'py_func'), file=sys.stderr)\n"
    )
    environment = {**os.environ, "REFEREE_PROTOCOL": "1"}
    done = subprocess.run([sys.executable, file], env=environment, capture_output=True, text=True)
    assert done.stderr == "function True\n"
