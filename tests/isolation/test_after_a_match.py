"""What a match leaves on the machine: nothing, however it ends."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import psutil
import pytest
from commands import MARK
from sandboxes import INTRUDERS, Planted, census, folder_of, intrude

from referee.errors import MatchVoid
from referee.isolation import bubblewrap, cgroups
from referee.players.exchange import Exchange
from referee.replay.reader import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from referee.isolation.level import Level
    from referee.players.clock import Clock
    from referee.players.player import Reply
    from referee.replay.events import MatchResult


PR_SET_CHILD_SUBREAPER = 36


@pytest.fixture
def orphans() -> Iterator[Callable[[], list[psutil.Process]]]:
    """What killed referees have left comes to this process, as it would come to init; nothing that has just been started is overlooked."""
    libc = ctypes.CDLL(None)
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
    before = set(psutil.Process().children())
    yield lambda: [process for process in psutil.Process().children() if process not in before]
    assert libc.prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0) == 0


def left(*referees: int) -> dict[str, object]:
    found = census(*referees)
    return {name: found[name] for name in ("processes", "groups", "files")}


@pytest.mark.slow
@pytest.mark.parametrize(
    "moments", [[0.1, 0.35, 0.6, 1.5], pytest.param([0.1 * moment for moment in range(1, 31)], marks=pytest.mark.soak)], ids=["few", "many"]
)
def test_nothing_is_left_when_the_referee_is_killed(
    moments: list[float], best: Level, planted: Planted, tmp_path: Path, orphans: Callable[[], list[psutil.Process]]
) -> None:
    before = left()
    for number, seconds in enumerate(moments):
        (tmp_path / str(number)).mkdir()
        referee = kill_at(seconds, planted, tmp_path / str(number))
        # Its supervisor does its work now; how long that takes is not measured.
        while found := orphans():
            assert not psutil.wait_procs(found, timeout=60)[1]
        assert left(referee) == before


def kill_at(seconds: float, planted: Planted, tmp_path: Path) -> int:
    """Kill a referee, whose bots have tried to become pid 1 and left a daemon, some time after its start; its process number."""
    bot = folder_of(INTRUDERS / "leaves_the_sandbox.py", planted)
    (bot / "bot.py").write_text((bot / "prey.py").read_text().replace("play_well(100)", "exec(open('/bot/stay.py').read())"))
    (bot / "stay.py").write_text(
        (INTRUDERS / "daemon.py").read_text().replace("ready()\n", "").replace("play_well(100)", "play_well(10**9)")
    )
    (bot / "prey.py").unlink()
    replay = tmp_path / "killed.replay.jsonl.gz"
    command = [sys.executable, "-m", "referee", "play", str(bot), str(bot), "--max-steps", "1000000", "--out", str(replay), "--quiet"]
    command += ["--isolation", "strict", "--bank", "none", "--move-time", "none", "--cores", "0"]
    command += [] if census_has_freezer() else ["--idle", "run"]
    environment = {**os.environ, MARK: str(os.getpid())}
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGKILL)
        process.wait()
    else:
        assert process.returncode == 0
    if replay.exists() and replay.stat().st_size:
        found = verify(replay)
        assert found.problem is not None
        assert found.problem.kind == "cut"
    return process.pid


def census_has_freezer() -> bool:
    return cgroups.find().has_freezer


@pytest.mark.slow
@pytest.mark.parametrize("matches", [12, pytest.param(100, marks=pytest.mark.soak)])
def test_nothing_is_left_of_many_matches(matches: int, isolation: Level, planted: Planted) -> None:
    intrude(INTRUDERS / "daemon.py", planted, isolation, steps=3)
    before = census()
    for number in range(matches):
        intrude(INTRUDERS / ("forks_200.py" if number % 10 == 0 else "daemon.py"), planted, isolation, steps=3)
    assert census() == before


def test_a_match_run_by_a_thread_goes_on(best: Level, planted: Planted) -> None:
    found: list[MatchResult] = []
    thread = threading.Thread(target=lambda: found.append(intrude(INTRUDERS / "daemon.py", planted, best).result))
    thread.start()
    thread.join()
    assert not found[0].faults
    assert found[0].steps == 30


def test_ctrl_c_leaves_nothing(best: Level, planted: Planted) -> None:
    before = census()
    folder = planted.folder / "waits"
    folder.mkdir()
    (folder / "hunter.py").write_text(
        "import sys, time\nfrom sdk import HunterBot\nclass Waits(HunterBot):\n    def hunt(self, state):\n"
        "        print('waiting', file=sys.stderr)\n        time.sleep(60)\nWaits.main()\n"
    )
    command = [sys.executable, "-m", "referee", "play", str(folder), "still", "--move-time", "none", "--out", str(planted.folder) + os.sep]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    while not [path for path in planted.folder.glob("*.hunter.stderr.log") if path.stat().st_size] and process.poll() is None:
        select.select([], [], [], 0.02)
    process.send_signal(signal.SIGINT)
    said = process.communicate(timeout=60)[1]
    assert process.returncode == 130, said
    assert census() == before


def test_a_sandbox_that_fails_voids_the_match_and_leaves_nothing(best: Level, planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    before = census()
    command = bubblewrap.command

    def broken(box: bubblewrap.SandboxConfig) -> tuple[str, ...]:
        line = list(command(box))
        at = line.index("--remount-ro")
        return (*line[:at], "--ro-bind", "/nowhere/at/all", "/x", *line[at:])

    monkeypatch.setattr(bubblewrap, "command", broken)
    with pytest.raises(MatchVoid, match="failed: bwrap: Can't find source path /nowhere/at/all") as raised:
        intrude(INTRUDERS / "daemon.py", planted, best)
    assert "the match is void and nobody loses; try: referee doctor" in str(raised.value)
    assert raised.value.exit_code == 4
    assert census() == before


def test_a_sandbox_that_is_killed_from_outside_voids_the_match(best: Level, planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever kills bwrap itself, the bot can't have done it."""
    ask = Exchange.ask

    def killing(self: Exchange, seat: str, data: bytes, clock: Clock) -> Reply:
        if seat == "prey":
            os.kill(self.processes["prey"].pid, signal.SIGKILL)
        return ask(self, seat, data, clock)

    monkeypatch.setattr("referee.match.match.Exchange", type("Watched", (Exchange,), {"ask": killing}))
    # The bot may answer until the kernel has ended it, but it leaves before the match does.
    with pytest.raises(MatchVoid, match=r"The sandbox of the prey .* failed"):
        intrude(INTRUDERS / "daemon.py", planted, best, steps=1_000)
