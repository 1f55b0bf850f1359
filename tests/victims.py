"""Referees, workers and supervisors with a match under way, of which parts are killed from outside."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

import psutil
from leagues import task_of
from sandboxes import HOSTILE, INTRUDERS, ROOT, command_of

from referee.handins.values import Entry
from referee.isolation import cgroups
from referee.isolation.names import PREFIX
from referee.match.options import MatchOptions, RunOptions, TimeControl
from referee.tournament.local import LocalPool
from referee.tournament.values import Task
from referee.tournament.worker import Terms

if TYPE_CHECKING:
    import random
    from pathlib import Path

    from referee.tournament.values import Record

#: Names the match, in the environment of everything that its referee starts outside a sandbox.
TOKEN = "REFEREE_TEST_VICTIM"
#: What can be killed, alone or together: of referee, watchdog and supervisor one must be left to clean up.
KILLS = (
    ("referee",),
    ("supervisor",),
    ("watchdog",),
    ("bot",),
    ("supervisor", "referee"),
    ("referee", "watchdog"),
    ("watchdog", "supervisor"),
    ("bot", "referee"),
)

#: Leaves a daemon in a session of its own, then thinks a while for each answer, so that the other one is stopped.
THINKS = """
def play_slowly():
    for message in turns():
        end = time.process_time() + 0.03
        while time.process_time() < end:
            pass
        answer(message["turn"])
"""


class Victim:
    """One referee that plays a match which would not end by itself.

    With ``short_matches`` it first plays so many short matches with the same supervisor, and ``steps`` are those of the last match.
    """

    def __init__(self, folder: Path, level: str, *, short_matches: int | None = None, steps: int = 1_000_000) -> None:
        self.token = secrets.token_hex(8)
        folder.mkdir()
        bot = folder / "bot"
        bot.mkdir()
        (bot / "_wire.py").write_text((HOSTILE / "_wire.py").read_text())
        text = (INTRUDERS / "daemon.py").read_text().replace("import play_well, ready", "import answer, ready, turns")
        (bot / "bot.py").write_text(text.replace("play_well(100)", f"{THINKS}\nplay_slowly()"))
        for path in (folder, bot):
            path.chmod(0o755)
        command = [sys.executable, "-m", "referee", "play", str(bot), str(bot), "--isolation", level, "--max-steps", "1000000"]
        command += ["--bank", "none", "--move-time", "none", "--startup", "none", "--cores", "0", "--quiet", "--out", str(folder) + os.sep]
        idle = "run" if level == "strict" and not cgroups.find().has_freezer else "stop"
        command += ["--idle", idle]
        if short_matches is not None:
            command = [sys.executable, str(ROOT / "tests" / "second_match.py"), str(bot), str(folder), level, idle]
            command += [str(short_matches), str(steps)]
        self.process = subprocess.Popen(
            command, env={**os.environ, TOKEN: self.token}, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
        )
        self.replays = folder

    def parts(self) -> dict[str, int]:
        """Process numbers of the parts that there are now."""
        found = {"referee": self.process.pid}
        for name, parent in (("watchdog", "referee"), ("supervisor", "watchdog"), ("bot", "supervisor")):
            for child in _children(found.get(parent, 0)):
                # The first child: what a bot leaves behind comes after it.
                if name not in found and (name == "bot" or "supervisor.py" in _line(child)):
                    found[name] = child
        return found

    def wait_for_steps(self) -> None:
        """Wait until the match is under way: its replay has begun."""
        while self.process.poll() is None and not any(path.stat().st_size for path in self.replays.glob("*.gz")):
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(0.01)

    def kill(self, names: tuple[str, ...]) -> list[int]:
        """Kill some parts at once; the process numbers of those that there were."""
        parts = self.parts()
        found = [parts[name] for name in names if name in parts]
        for pid in found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return found

    def end(self, patience: float = 2.0) -> str:
        """Let the referee end, if nothing else has ended its match within ``patience`` seconds; what it said."""
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.process.terminate()
        return self.process.communicate(timeout=60)[1].decode()

    def close(self) -> None:
        """End the referee, whatever has become of the test, and give up its pipe."""
        self.process.kill()
        self.process.communicate(timeout=60)

    def wait_for_helpers(self, helpers: list[psutil.Process]) -> None:
        """Wait until watchdog and supervisor are gone, also if the referee started them after ``helpers`` was read and before it was killed."""
        started = []
        for process in psutil.process_iter():
            with contextlib.suppress(psutil.Error):
                # A helper that has not yet loaded its program has the command of the referee.
                is_helper = "supervisor.py" in _line(process.pid) or process.cmdline() == self.process.args
                if is_helper and process.pid != self.process.pid and process.environ().get(TOKEN) == self.token:
                    started.append(process)
        psutil.wait_procs([*helpers, *started], timeout=60)

    def helpers(self) -> list[psutil.Process]:
        """Watchdog and supervisor."""
        found = []
        for name, pid in self.parts().items():
            if name in ("watchdog", "supervisor"):
                with contextlib.suppress(psutil.NoSuchProcess):
                    found.append(psutil.Process(pid))
        return found

    def left(self) -> list[str]:
        """What is left of it on this machine: processes, control groups, files."""
        mark = f"{PREFIX}{self.process.pid}-"
        found = []
        for process in psutil.process_iter(["cmdline", "status"]):
            line = " ".join(process.info["cmdline"] or ())
            if process.pid == self.process.pid or process.info["status"] == psutil.STATUS_ZOMBIE:
                continue
            with contextlib.suppress(psutil.Error):
                if mark in line or process.environ().get(TOKEN) == self.token:
                    found.append(f"process {process.pid} {line[:200]}")
        for folder in {*cgroups.find().folders.values(), tempfile.gettempdir()}:
            found += [f"{folder}/{name}" for name in os.listdir(folder) if name.startswith(mark) and not name.endswith("-self")]
        return found


def _children(pid: int) -> list[int]:
    try:
        with open(f"/proc/{pid}/task/{pid}/children") as file:
            return [int(word) for word in file.read().split()]
    except OSError:
        return []


def _line(pid: int) -> str:
    try:
        with open(f"/proc/{pid}/cmdline") as file:
            return file.read().replace("\0", " ")
    except OSError:
        return ""


#: Answers at once and starts in a moment.
BOT = r"""#!/bin/sh
read -r line
move='{"go":[0,1]}'
case $line in *'"seat":"hunter"'*) move='{}';; esac
echo '{"type":"ready","protocol":1}'
while read -r line; do
    case $line in *'"type":"end"'*) exit;; esac
    turn=${line#*'"turn":'}
    echo "{\"type\":\"move\",\"turn\":${turn%%,*},\"move\":$move}"
done
"""


def workers(pool: LocalPool) -> list[psutil.Process]:
    """The processes of the workers; without one that is being replaced."""
    found = []
    for child in psutil.Process().children():
        with contextlib.suppress(psutil.NoSuchProcess):
            if LocalPool.__module__ in child.cmdline():
                found.append(child)
    assert len(found) <= pool.slots
    return found


def opened(level: str, folder: Path, slots: int) -> LocalPool:
    """Workers for matches between two quick bots, which nothing but their last step ends."""
    folder.chmod(0o755)
    bot = folder / "bot"
    bot.write_text(BOT)
    bot.chmod(0o755)
    teams = {name: Entry(name, {"hunter": str(bot), "prey": str(bot)}) for name in "AB"}
    time = TimeControl(startup=None, move=None, bank=None)
    options = MatchOptions.model_validate({"time": time, "run": RunOptions(max_lateness=3600.0), "isolation": level})
    return LocalPool(Terms("evasion", None, options), teams, folder / "replays", slots)


def task(number: int, steps: int) -> Task:
    """A match with a key of its own."""
    return task_of(f"{number:04}", {"hunter": "A", "prey": "B"}, {"max_steps": steps}, 1)


def helpers(worker: psutil.Process) -> dict[str, list[psutil.Process]]:
    """The watchdog and the supervisor of a worker. A supervisor whose watchdog was killed is the worker's child; the watchdog leads its session."""
    found: dict[str, list[psutil.Process]] = {"watchdog": [], "supervisor": []}
    for process in worker.children(recursive=True):
        if "supervisor.py" in (command_of(process) or ""):
            with contextlib.suppress(ProcessLookupError):
                found["watchdog" if os.getsid(process.pid) == process.pid else "supervisor"].append(process)
    return found


class RandomKills(NamedTuple):
    """Kills of workers and their helpers: the results of all matches, the number of kills by what was killed, all workers' numbers."""

    records: list[Record]
    killed: Counter[str]
    workers: set[int]


def struck(pool: LocalPool, level: str, lots: random.Random) -> str:
    """Kill a worker, or a process between it and its bots, and return which; "" if it was gone.

    A supervisor only in a sandbox: elsewhere a bot may have killed it, and the bot that was asked loses.
    """
    if not (found := workers(pool)):
        return ""
    worker = lots.choice(found)
    kind = lots.choice(("worker", "watchdog", "supervisor") if level == "strict" else ("worker", "watchdog"))
    with contextlib.suppress(psutil.NoSuchProcess):
        for process in [worker] if kind == "worker" else helpers(worker)[kind][:1]:
            process.send_signal(signal.SIGKILL)
            return kind
    return ""


def kill_at_random(level: str, kills: int, folder: Path, lots: random.Random) -> RandomKills:
    """Kill so many processes of workers while they play. Void matches are played again."""
    found: list[Record] = []
    killed: Counter[str] = Counter()
    with contextlib.closing(opened(level, folder, 2)) as pool:
        numbers = {worker.pid for worker in workers(pool)}
        number, tasks = 0, dict[str, Task]()
        while tasks or killed.total() < kills:
            while pool.room and killed.total() < kills:
                new = task(number, 40)
                tasks[new.key] = new
                pool.submit(new)
                number += 1
            for ended in pool.wait(lots.choice((0.0, 0.01, 0.05, 1.0))):
                assert ended.replay or ended.void, ended
                if ended.replay:
                    del tasks[ended.key]
                    found.append(ended)
                else:
                    pool.submit(tasks[ended.key])
            numbers.update(worker.pid for worker in workers(pool))
            if killed.total() < kills and lots.random() < 0.3 and (kind := struck(pool, level, lots)):
                killed[kind] += 1
    assert len(found) == number
    return RandomKills(found, killed, numbers)
