"""What several tests share."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from referee import games
from referee.clock import TimeControl
from referee.match import Entrant, Match, Options, Result
from referee.players.spec import resolve
from referee.replay_writer import ReplayWriter

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.events import Listener

HOSTILE = Path(__file__).parent / "hostile_bots"

#: Enough for a slow machine; tests that wait for a limit set one of their own.
PATIENT = TimeControl(startup=60.0, move=30.0, bank=None)


def play_match(
    hunter: str,
    prey: str,
    *,
    rules: str = "classic",
    options: Options | None = None,
    seed: int | None = 1,
    replay: Path | None = None,
    listeners: list[Listener] | None = None,
    **settings: Any,
) -> Result:
    """Play a match of real programs; without options the clock is patient."""
    game = games.get("evasion")
    specs = {seat: resolve(name, seat, "evasion") for seat, name in (("hunter", hunter), ("prey", prey))}
    entrants = {seat: Entrant(spec.label, spec.about, spec.program) for seat, spec in specs.items()}
    followers = list(listeners or [])
    logs = {}
    if replay is not None:
        followers.insert(0, ReplayWriter(replay))
        logs = {seat: replay.with_name(f"{seat}.log") for seat in specs}
    checked = game.settings(rules, settings)
    return Match(game, checked, entrants, options or Options(PATIENT), seed=seed, listeners=followers, logs=logs).run()


@pytest.fixture
def referee(tmp_path: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """Run the command line in an empty folder, with no terminal."""

    def run(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "referee", *map(str, arguments)]
        environment = {**os.environ, "COLUMNS": "200", "NO_COLOR": "1", **options.pop("env", {})}
        defaults: dict[str, Any] = {"cwd": tmp_path, "stdin": subprocess.DEVNULL, "capture_output": True, "text": True, "timeout": 120}
        return subprocess.run(command, env=environment, **{**defaults, **options})

    return run
