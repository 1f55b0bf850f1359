"""Matches of programs that want out, in the sandbox of each level that there is."""

from __future__ import annotations

import contextlib
import gc
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psutil
import pytest
from commands import MARK
from new_match import LevelLauncher, Options, match_between

import referee
from referee import games
from referee.isolation import cgroups, probe
from referee.isolation.names import PREFIX
from referee.match.options import RunOptions, TimeControl
from referee.players.names import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.isolation.level import Level
    from referee.replay.events import Listener, MatchResult

HOSTILE = Path(__file__).parent / "hostile_bots"
INTRUDERS = Path(__file__).parent / "intruders"

ROOT = Path(__file__).parents[1]
#: A user who exists for tests alone; no account has the number.
USER = 57_999

#: Enough for a slow machine; tests that wait for a limit set one of their own.
PATIENT = TimeControl(startup=60.0, move=30.0, bank=None)
#: The options of such a test: no lateness of the referee, which other programs on the machine can cause, voids its match.
UNHURRIED = Options(PATIENT, RunOptions(max_lateness=3600.0))


class Played(NamedTuple):
    """A match with an intruder as the prey: its result, and what the intruder wrote to its log."""

    result: MatchResult
    log: str

    @property
    def got(self) -> list[str]:
        """What the intruder got that it must not."""
        return [line for line in self.log.splitlines() if line.startswith("GOT")]

    @property
    def tried(self) -> int:
        """How many things it tried and was refused."""
        return sum(line.startswith("no ") for line in self.log.splitlines())


@contextlib.contextmanager
def busy(processes: int) -> Iterator[None]:
    """So many processes that burn the processors."""
    hogs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(processes)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
        for hog in hogs:
            hog.wait()


def missing() -> str:
    """What this machine lacks for a sandbox, empty if nothing."""
    lacking = [check.seen for check in probe.parts() if not check.ok]
    return "; ".join(lacking)


def need(condition: bool, why: str, *, of_kernel: bool = False) -> None:
    """Skip a test on a machine that lacks something, with its name; in CI fail, but for what the kernel itself lacks."""
    if not condition:
        (pytest.fail if os.environ.get("CI") and not of_kernel else pytest.skip)(f"this machine can't run it: {why}")


class Planted(NamedTuple):
    """What an intruder is told to look for."""

    folder: Path
    port: int
    name: str

    def fill(self, text: str) -> str:
        """The source of an intruder with the places of what was planted."""
        values = {
            "SECRET": str(self.folder / "secret.txt"),
            "OPPONENT": str(self.folder / "opponent" / "hunter.py"),
            "REPLAY": str(self.folder / "match.replay.jsonl.gz"),
            "FOLDER": str(self.folder),
            "PACKAGES": str(Path(referee.__file__).resolve().parents[1]),
            "PORT": str(self.port),
            "NAME": self.name,
            "ARCH": platform.machine(),
            "REFEREE": str(os.getpid()),
        }
        for name, value in values.items():
            text = text.replace(f"@{name}@", value)
        return text


def folder_of(source: Path, planted: Planted, python: str = "") -> Path:
    """A submission: a folder with the intruder, what it shares with others, and nothing else; ``python`` runs it if it is named."""
    folder = planted.folder / source.stem
    folder.mkdir(exist_ok=True)
    shutil.copy(HOSTILE / "_wire.py", folder)
    shutil.copy(INTRUDERS / "_tries.py", folder)
    text = planted.fill(source.read_text())
    program = folder / ("prey" if python else "prey.py")
    program.write_text(f"#!{python}\n{text}" if python else text)
    program.chmod(0o755)
    return folder


def intrude(
    source: Path,
    planted: Planted,
    isolation: Level,
    *,
    options: Options | None = None,
    time: TimeControl | None = None,
    hunter: str | None = None,
    python: str = "",
    listeners: list[Listener] | None = None,
    steps: int = 30,
    launcher: LevelLauncher | None = None,
) -> Played:
    """Play a match of a quiet hunter against an intruder; ``time`` is the intruder's own time control."""
    folder = folder_of(source, planted, python)
    players = {"hunter": hunter or str(planted.folder / "opponent"), "prey": str(folder)}
    bots = {seat: resolve(text, seat, "evasion") for seat, text in players.items()}
    game = games.get("evasion")
    replay = planted.folder / "match.replay.jsonl.gz"
    chosen = (options or UNHURRIED)._replace(isolation=isolation)
    match = match_between(
        game,
        game.codec.settings("classic", {"max_steps": steps}),
        bots,
        chosen,
        seed=1,
        replay=replay,
        listeners=listeners or [],
        launcher=launcher,
        times={} if time is None else {"prey": time},
    )
    result = match.run()
    return Played(result, result.logs["prey"].read_text("utf-8", "replace") if "prey" in result.logs else "")


def command_of(process: psutil.Process) -> str | None:
    """The command of a process; None for one that has ended, whether or not its parent has noticed that."""
    try:
        return " ".join(process.cmdline())
    except (psutil.ZombieProcess, psutil.NoSuchProcess):
        return None


def census(*referees: int) -> dict[str, object]:
    """What matches of this process, or of other referees by their process numbers, could leave behind on this machine.

    Others may play here at the same time: what is theirs isn't counted. Garbage of earlier tests is collected first, so that no descriptor
    of theirs is closed between two counts.
    """
    gc.collect()
    numbers = [str(number) for number in (os.getpid(), *referees)]
    marks = tuple(f"{PREFIX}{number}-" for number in numbers)
    trees = cgroups.find()
    groups = [name for folder in trees.folders.values() for name in os.listdir(folder) if name.startswith(marks) and "self" not in name]
    processes = [command for child in psutil.Process().children(recursive=True) if (command := command_of(child)) is not None]
    for process in psutil.process_iter(["cmdline"]):
        # The sandbox's line names the copy of the bot; a supervisor inherits a variable that names its referee.
        line = " ".join(process.info["cmdline"] or ())
        if any(mark in line for mark in marks) or (referees and "supervisor.py" in line and is_marked(process)):
            processes.append(line)
    with open("/proc/self/mountinfo") as file:
        mounts = len(file.readlines())
    return {
        "processes": processes,
        "mounts": mounts,
        "groups": groups,
        "descriptors": descriptors(),
        "files": sorted(name for name in os.listdir(tempfile.gettempdir()) if name.startswith(marks)),
    }


def descriptors() -> dict[int, str]:
    """The open descriptors of this process, each with what it leads to."""
    found = {}
    for name in os.listdir("/proc/self/fd"):
        # The one of this listing is closed by now.
        with contextlib.suppress(FileNotFoundError):
            found[int(name)] = os.readlink(f"/proc/self/fd/{name}")
    return found


def is_marked(process: psutil.Process) -> bool:
    """Whether a process was started by a test of this process."""
    try:
        return bool(process.environ().get(MARK) == str(os.getpid()))
    except psutil.Error:
        return False


def closed_tops(paths: list[Path]) -> dict[Path, list[Path]]:
    """The topmost folders that others may not enter, each with what of it the user needs."""
    found: dict[Path, list[Path]] = {}
    for path in paths:
        for parent in reversed(path.parents):
            if not parent.stat().st_mode & 0o001:
                found.setdefault(parent, []).append(path)
                break
    return found


def opened(paths: list[Path]) -> str:
    """Shell commands that show what is needed of closed folders, in a mount namespace of their own."""
    lines = ["set -e", "mount --make-rprivate /"]
    for number, (top, needed) in enumerate(closed_tops(paths).items()):
        lines.append(f"mkdir -p /tmp/held-{number} && mount --bind {shlex.quote(str(top))} /tmp/held-{number}")
        lines.append(f"mount -t tmpfs -o mode=755 none {shlex.quote(str(top))}")
        for path in needed:
            held = f"/tmp/held-{number}/{path.relative_to(top)}"
            lines.append(f"mkdir -p {shlex.quote(str(path))} && mount --bind {shlex.quote(held)} {shlex.quote(str(path))}")
        lines.append(f"umount -l /tmp/held-{number} && rmdir /tmp/held-{number}")
    return "\n".join(lines)
