"""Arenas that are killed at random moments while they play and while they take versions. REFEREE_KILLS says how many times."""

from __future__ import annotations

import json
import os
import random
import select
import signal
from contextlib import closing
from time import monotonic
from typing import TYPE_CHECKING

import pytest
from arenas import begin, done_matches
from leagues import IDLE

from referee.arena.arena import open_arena
from referee.arena.versions import ACCEPTED

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from commands import Commands

    Cli = Callable[..., subprocess.CompletedProcess[str]]

KILLS = int(os.environ.get("REFEREE_KILLS", "12"))


@pytest.mark.soak
def test_kills_while_playing_and_adding_lose_nothing(commands: Commands, referee: Cli, tmp_path: Path) -> None:
    lots = random.Random(KILLS)
    folder = tmp_path / "arena"
    begin(folder, 2).close()
    # How long it takes to add a version, so that kills hit all of that.
    (tmp_path / "bot.py").write_text(IDLE)
    begun = monotonic()
    assert referee("arena", "add", "arena", "bot.py", "--team", "mine", timeout=600).returncode == 0
    longest = 1.1 * (monotonic() - begun)
    told = [1]
    for number in range(KILLS):
        before = done_matches(folder)
        if number % 2:
            # A kill comes after as many results as the lot says, so that it hits play, however slow the machine is.
            running = commands.start("arena", "run", "arena", "--slots", "2", "-q", cwd=tmp_path)
            wanted, ended = len(before) + lots.randrange(6), None
        else:
            (tmp_path / "bot.py").write_text(f"# {number}\n{IDLE}")
            running = commands.start("arena", "add", "arena", "bot.py", "--team", "mine", "--json", cwd=tmp_path)
            wanted, ended = 0, lots.uniform(0, longest)
        while ended is None and len(done_matches(folder)) < wanted:
            assert running.poll() is None, running.communicate(timeout=600)
        select.select([], [], [], lots.uniform(0, 1) if ended is None else ended)
        running.send_signal(signal.SIGKILL)
        stdout, stderr = running.communicate(timeout=600)
        assert "Traceback" not in stderr
        if not number % 2 and stdout:
            told.append(json.loads(stdout)["version"])
        after = done_matches(folder)
        # What is stored stays, and is not played again.
        assert {key: after[key] for key in before} == before
        with closing(open_arena(folder)) as arena:
            versions = {version.number: version for version in arena.versions if version.team == "mine"}
            assert all(versions[one].status == ACCEPTED for one in told)
            for version in versions.values():
                assert version.status == ACCEPTED
                assert all(os.path.isdir(path) or os.path.isfile(path) for path in arena.entries[version.name].players.values())
            assert sum(version.is_active for version in versions.values()) == 1
    done = referee("arena", "run", "arena", "--duels", "4", "--slots", "2", "--json", "-q", timeout=600)
    assert done.returncode == 0, done.stderr
    checked = referee("arena", "verify", "arena", timeout=600)
    assert checked.returncode == 0, checked.stdout
    with closing(open_arena(folder)) as arena:
        assert arena.store.core.disagreements() == []
        assert arena.counts().planned == 0
        print(f"{KILLS} kills, {arena.counts().done} matches, {len(arena.versions)} versions")
