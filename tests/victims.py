"""Referees with a match under way, of which parts are killed from outside."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import subprocess
import sys
import tempfile
from typing import TYPE_CHECKING

import psutil
from sandboxes import HOSTILE, INTRUDERS, ROOT

from referee.isolation import cgroups
from referee.isolation.names import PREFIX

if TYPE_CHECKING:
    from pathlib import Path

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
