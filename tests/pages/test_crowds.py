"""Crowds at real servers: many spectators, and files that ask for much work."""

from __future__ import annotations

import json
import shutil
import subprocess
from typing import TYPE_CHECKING

import pytest
from conftest import play_match
from sandboxes import need
from served_pages import Socket, served

from referee.replay.reader import read_lines
from referee.replay.replay_index import ReplayIndex
from referee.support.descriptors import raise_limit

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize(("places", "descriptors"), [(112, 200), pytest.param(750, None, marks=pytest.mark.soak)])
def test_a_player_comes_back_whatever_the_crowd(places: int, descriptors: int | None, tmp_path: Path) -> None:
    """A server with few descriptors has fewer places."""
    if descriptors is None and raise_limit() < 3_000:
        pytest.skip("this user may not have so many descriptors")
    if descriptors is not None:
        need(shutil.which("prlimit") is not None, "prlimit is missing")
    with served(tmp_path, "play", "human", "still", "--isolation", "none", descriptors=descriptors) as (_, found):
        own, public = sorted(found, key=lambda address: address != found[0])
        player = Socket(own)
        assert player.frame()[0] in (1, 2)
        # The player has one of these places.
        crowd = [Socket(public) for _ in range(places - 1)]
        with pytest.raises((AssertionError, ConnectionError)):
            Socket(public)
        player.close()
        back = Socket(own)
        kind, data = back.frame()
        assert kind in (1, 2), data
        for each in (*crowd, back):
            each.close()


@pytest.fixture
def replay(tmp_path: Path) -> Path:
    path = tmp_path / "match.replay.jsonl.gz"
    play_match("straight", "still", replay=path, max_steps=20)
    return path


#: Builds a wall in every step.
BUILDS = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "turn":
        kind = "vertical" if message["turn"] % 2 else "horizontal"
        print(json.dumps({"type": "move", "turn": message["turn"], "move": {"build": {"kind": kind}}}), flush=True)
"""


@pytest.fixture
def heavy(tmp_path: Path) -> Path:
    """A few kilobytes that ask for minutes of work: a huge board whose walls change in every step."""
    bot = tmp_path / "builds.py"
    bot.write_text(BUILDS)
    path = tmp_path / "heavy.replay.jsonl.gz"
    play_match(str(bot), "runner", replay=path, max_steps=150, width=2_000, height=2_000, cooldown=0, max_walls=300)
    assert path.stat().st_size < 100_000
    return path


@pytest.mark.slow
def test_what_takes_too_long_is_left_out_and_said(heavy: Path, replay: Path, referee: Cli) -> None:
    done = referee("analyze", heavy, "--seconds", "0.2", "--json", timeout=300)
    assert done.returncode == 0, done.stderr
    report = json.loads(done.stdout)
    assert report["steps"] == 150
    assert report["judged"] < 150
    assert any("Not everything after step" in text for text in report["left_out"])
    done = referee("analyze", replay, "--seconds", "0")
    assert "Left out: Not everything after step 0 was judged" in done.stdout


def test_work_on_a_file_ends_with_it(heavy: Path) -> None:
    recorded = ReplayIndex(measuring_seconds=0.0)
    found = recorded.play(heavy, read_lines(heavy))
    assert found["status"] == "good"
    assert not recorded.metrics
    assert recorded.left_out == ["151 positions were not measured: that would take too long on a board like this."]
    recorded.compute_verdicts(recorded.cancel)
    assert recorded.is_judged
    assert len(recorded.judged) == 1
    cancelled = ReplayIndex()
    cancelled.cancel()
    assert cancelled.play(heavy, read_lines(heavy))["kind"] == "cancelled"
