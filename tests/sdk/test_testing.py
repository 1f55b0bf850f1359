"""Whole matches in one process."""

from __future__ import annotations

import gzip
import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import play_match

from referee.games.game import SettingsError
from referee.replay.reader import verify
from sdk import HunterBot, PreyBot, State
from sdk.testing import play

EXAMPLES = Path(__file__).parents[2] / "example_bots" / "evasion"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def steps(path: Path) -> list[dict[str, Any]]:
    records = [json.loads(line) for line in gzip.open(path).read().splitlines()][1:]
    for record in records:
        for key in ("us", "cpu_us", "wall_us", "time", "log", "stderr_bytes", "sha256"):
            record.pop(key, None)
    return records


@pytest.mark.parametrize(
    ("hunter", "prey", "rules"),
    [("random_moves:random", "random_moves:random", "diagonal"), ("boxer", "runner", "classic"), ("boxer", "evader", "diagonal")],
)
def test_the_same_match_as_between_programs(hunter: str, prey: str, rules: str, tmp_path: Path) -> None:
    classes, names = [], []
    for bot in (hunter, prey):
        file, _, name = bot.partition(":")
        module = load(file)
        classes.append(next(value for value in vars(module).values() if isinstance(value, type) and value.__module__ == file))
        names.append(name or file)
    here = play(*classes, rules=rules, seed=5, max_steps=400, replay=tmp_path / "here.gz")
    there = play_match(*names, rules=rules, seed=5, max_steps=400, replay=tmp_path / "there.gz")
    assert here.outcome == there.outcome
    assert here.state == there.state
    assert steps(tmp_path / "here.gz") == steps(tmp_path / "there.gz")
    assert verify(tmp_path / "here.gz").problem is None


class Quiet(PreyBot):
    def flee(self, state: State) -> None:
        return None


class Buggy(HunterBot):
    def hunt(self, state: State) -> None:
        if state.step == 2:
            raise KeyError("gone")


def test_an_exception_is_raised_or_is_a_fault() -> None:
    with pytest.raises(KeyError, match="gone"):
        play(Buggy, Quiet)
    result = play(Buggy, Quiet, reraise=False)
    assert result.failures["hunter"].kind == "crashed"
    assert "raised KeyError: 'gone'" in result.failures["hunter"].text
    assert result.outcome.reason == "hunter-fault"


def test_mistakes_are_named() -> None:
    with pytest.raises(TypeError, match="Quiet does not play hunter; it plays prey"):
        play(Quiet, Quiet)
    with pytest.raises(TypeError, match="2 seats"):
        play(Buggy)
    with pytest.raises(SettingsError, match="width"):
        play(Buggy, Quiet, width=0)
