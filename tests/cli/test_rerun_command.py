"""``referee rerun`` on the command line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from conftest import play_match

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def replay(tmp_path: Path) -> str:
    """A match of 20 steps, in which the prey is asked 10 times."""
    play_match("straight", "runner", replay=tmp_path / "game.gz", max_steps=20)
    return "game.gz"


def test_json_counts_the_answers_that_are_equal_and_that_differ(referee: Cli, replay: str) -> None:
    found = json.loads(referee("rerun", replay, "--seat", "prey", "runner", "--json").stdout)
    assert found["ok"] is True
    assert (found["answers"], found["equal"], found["differing"], found["unasked"]) == (10, 10, 0, 0)
    done = referee("rerun", replay, "--seat", "prey", "still", "--json", "--differences", "1")
    assert done.returncode == 1
    found = json.loads(done.stdout)
    assert (found["ok"], found["differing"], found["seat"]) == (False, 10, "prey")
    ((difference),) = found["differences"]
    assert difference["step"] == 1
    assert difference["new"] == {"kind": "move", "move": {}}


def test_a_strict_sandbox(referee: Cli, replay: str) -> None:
    from sandboxes import missing, need

    need(not missing(), missing())
    assert referee("rerun", replay, "--seat", "hunter", "straight", "--isolation", "strict").returncode == 0
