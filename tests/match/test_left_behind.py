"""The loop with real programs: nothing is left behind, however a match ends."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import uuid
from pathlib import Path

import psutil
import pytest
from conftest import HOSTILE, play_match

from referee.errors import MatchVoid
from referee.replay.events import Listener, StepTaken
from referee.replay.reader import verify


def test_a_failing_listener_leaves_no_process_behind() -> None:
    class Failing(Listener):
        def stepped(self, event: StepTaken) -> None:
            raise OSError(28, "No space left on device")

    before = set(psutil.Process().children(recursive=True))
    with pytest.raises(OSError, match="No space"):
        play_match("straight", "still", listeners=[Failing()])
    assert set(psutil.Process().children(recursive=True)) == before


@pytest.mark.usefixtures("same_user")
def test_matches_leave_no_descriptor_and_no_process_behind() -> None:
    play_match("straight", "still", max_steps=5)
    # What other tests have left to the garbage collector may close in the meantime.
    gc.collect()
    descriptors = len(os.listdir("/proc/self/fd"))
    children = psutil.Process().children(recursive=True)
    for _ in range(5):
        play_match("straight", str(HOSTILE / "leaves_a_daemon.py"), max_steps=5)
        with pytest.raises(MatchVoid):
            play_match("straight", str(HOSTILE / "kills_the_supervisor.py"), max_steps=5)
    assert len(os.listdir("/proc/self/fd")) <= descriptors
    assert psutil.Process().children(recursive=True) == children


def test_a_supervisor_that_needs_longer_than_the_referee_waits_still_ends_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    mark = uuid.uuid4().hex
    monkeypatch.setenv("REFEREE_TEST_MARK", mark)
    wait = subprocess.Popen.wait

    def impatient(self: subprocess.Popen[bytes], timeout: float | None = None) -> int:
        if "supervisor.py" not in str(self.args):
            return wait(self, timeout)
        supervisors.append(self)
        raise subprocess.TimeoutExpired(self.args, 0.0)

    supervisors: list[subprocess.Popen[bytes]] = []
    monkeypatch.setattr(subprocess.Popen, "wait", impatient)
    play_match("straight", str(HOSTILE / "leaves_a_daemon.py"), max_steps=5)
    assert len(supervisors) == 1
    assert wait(supervisors[0], 60) == 0
    psutil.wait_procs(marked(mark), timeout=60)
    assert not marked(mark)


def marked(mark: str) -> list[psutil.Process]:
    """The living processes that have inherited a mark in their environment."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get("REFEREE_TEST_MARK") == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def kill_at(seconds: float, tmp_path: Path) -> None:
    """Kill a referee some time after its start; nothing marked may be left, and the replay must read up to its end."""
    mark = uuid.uuid4().hex
    replay = tmp_path / f"{mark}.replay.jsonl.gz"
    bot = str(HOSTILE / "leaves_a_daemon.py")
    command = [
        sys.executable,
        "-m",
        "referee",
        "play",
        bot,
        bot,
        "--max-steps",
        "1000000",
        "--out",
        str(replay),
        "--quiet",
        "--isolation",
        "none",
    ]
    process = subprocess.Popen(command, env={**os.environ, "REFEREE_TEST_MARK": mark}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    # The supervisor needs a moment; how long it took is not measured here.
    psutil.wait_procs(marked(mark), timeout=60)
    assert not marked(mark)
    if replay.exists() and replay.stat().st_size:
        found = verify(replay)
        assert found.problem is not None
        assert found.problem.kind == "cut"


@pytest.mark.parametrize("seconds", [0.15, 0.4, 1.2])
def test_nothing_outlives_a_killed_referee(seconds: float, tmp_path: Path) -> None:
    kill_at(seconds, tmp_path)
