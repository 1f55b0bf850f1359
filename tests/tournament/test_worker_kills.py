"""Workers that play match after match: killed at random moments, and for their memory."""

from __future__ import annotations

import contextlib
import os
import random
import uuid
from typing import TYPE_CHECKING

import psutil
import pytest
from commands import MARK
from sandboxes import command_of, missing, need
from victims import kill_at_random, opened, task, workers

if TYPE_CHECKING:
    from pathlib import Path

LEVELS = ("none", "limits", "strict")


@pytest.mark.slow
@pytest.mark.parametrize("level", LEVELS)
def test_kills_at_random_moments_lose_and_leave_nothing(
    level: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    need(level != "strict" or not missing(), missing())
    mark = uuid.uuid4().hex
    monkeypatch.setenv(MARK, mark)
    kills = kill_at_random(level, 2, tmp_path, random.Random(level))
    assert kills.killed.total() == 2
    for record in kills.records:
        assert record.faults == {}
        assert record.steps == 40
    left = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(MARK) == mark and process.pid != os.getpid():
                left.append(process)
    _, alive = psutil.wait_procs(left, timeout=60)
    assert [command_of(process) for process in alive if command_of(process)] == []
    assert "Traceback" not in capfd.readouterr().err


@pytest.mark.soak
@pytest.mark.parametrize("level", LEVELS)
def test_a_worker_grows_by_no_match(level: str, tmp_path: Path) -> None:
    need(level != "strict" or not missing(), missing())
    with contextlib.closing(opened(level, tmp_path, 1)) as pool:
        held, memory = [], []
        for number in range(1, 201):
            pool.submit(task(number, 1))
            while not (ended := pool.wait(60.0)):
                pass
            assert ended[0].replay, ended[0]
            if number in (100, 200):
                (worker,) = workers(pool)
                processes = [worker, *worker.children(recursive=True)]
                held.append([(process.pid, len(os.listdir(f"/proc/{process.pid}/fd"))) for process in processes])
                memory.append(sum(process.memory_info().rss for process in processes))
    # The same supervisor has served them, and holds nothing of them.
    assert held[0] == held[1]
    assert memory[1] - memory[0] < 2 << 20
