"""The examples of docs/environments.md: trained policies, their training, and the tree search."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    Cli = Callable[..., subprocess.CompletedProcess[str]]

LEARNING = Path(__file__).parents[1] / "example_bots" / "learning"
UNHURRIED = ("--move-time", "none", "--bank", "none", "--startup", "none", "--json", "--quiet")


@pytest.fixture
def linear(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let the modules of the folder be found by their names."""
    monkeypatch.syspath_prepend(str(LEARNING / "linear"))
    yield
    for name in ("policies", "train"):
        sys.modules.pop(name, None)


def test_the_stored_weights_play_as_hunter(referee: Cli) -> None:
    done = referee("play", str(LEARNING / "linear"), "still", "--max-steps", "2000", *UNHURRIED)
    assert done.returncode == 0, done.stderr
    # The hunter straight never catches it.
    assert json.loads(done.stdout)["winner"] == "hunter"


def test_the_bot_of_the_page_plays(referee: Cli, tmp_path: Path) -> None:
    page = (LEARNING.parents[1] / "docs" / "environments.md").read_text()
    (program,) = [text for text in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "policy_bot" in text]
    (tmp_path / "bot.py").write_text(program)
    done = referee("play", "bot.py", "still", "--max-steps", "2000", *UNHURRIED)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["players"]["hunter"]["fault"] is None
    assert told["winner"] == "hunter", told["text"]


@pytest.mark.slow
def test_the_stored_weights_play_as_prey(referee: Cli) -> None:
    steps = {}
    for prey in (str(LEARNING / "linear"), "still"):
        done = referee("play", "boxer", prey, "--max-steps", "2000", *UNHURRIED)
        assert done.returncode == 0, done.stderr
        steps[prey] = json.loads(done.stdout)["steps"]
    assert steps[str(LEARNING / "linear")] > steps["still"]


def test_a_policy_gives_one_game_the_action_that_it_gives_it_among_many(linear: None) -> None:
    import policies  # type: ignore[import-not-found]  # the fixture lets it be found

    chance = np.random.default_rng(3)
    seen = chance.uniform(-0.4, 0.4, (4, 50, 74))
    seen[..., policies.HEADING] = chance.choice([-1, 1], (4, 50, 2))
    for seat, policy in policies.POLICIES.items():
        weights = chance.normal(size=(4, policies.SIZES[seat]))
        many = policy(weights, seen)
        assert many.tolist() == [[int(policy(weights[row], one)) for one in seen[row]] for row in range(4)]
        assert set(np.unique(many)) == (set(range(3)) if seat == "hunter" else set(range(9)))
        assert policies.load(seat).shape == (policies.SIZES[seat],)


@pytest.mark.slow
@pytest.mark.parametrize("seat", ["hunter", "prey"])
def test_a_short_training_improves_the_policy(seat: str, linear: None) -> None:
    import policies
    import train  # type: ignore[import-not-found]  # the fixture lets it be found

    # Few games and steps: the random numbers of this seed suffice.
    found = train.train(seat, 5, seed=1, drawn=24, games=8, steps=600)
    drawn = np.random.default_rng(2).normal(size=(24, policies.SIZES[seat]))
    before, after = (train.captures(seat, weights, games=20, steps=600, seed=9).mean() for weights in (drawn, found[None]))
    assert (after - before) * train.SIGNS[seat] > 0.1
    again: Any = train.train(seat, 1, seed=1, drawn=24, games=8, steps=50)
    assert (again == train.train(seat, 1, seed=1, drawn=24, games=8, steps=50)).all()


@pytest.mark.slow
@pytest.mark.long
def test_the_tree_search_is_built_and_catches_its_prey(referee: Cli) -> None:
    # From this start, a hunter that builds by the first plan and doesn't search needs 2,600 steps.
    start = ("--hunter", "182,197,-1,1", "--prey", "38,198", "--max-steps", "1500")
    done = referee("play", str(LEARNING / "mcts"), "shadow", *start, "--limit", "build_seconds=900", *UNHURRIED, timeout=1_000)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["winner"] == "hunter"
    assert told["players"]["hunter"]["fault"] is None
