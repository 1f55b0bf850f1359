"""Matches in sandboxes: a match of any bots at any level, of programs that want out, and commands in containers."""

from __future__ import annotations

import contextlib
import errno
import gc
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import psutil
import pytest
from commands import MARK

import referee
from referee import games
from referee.isolation import cgroups, probe
from referee.isolation.launcher import BotLauncher
from referee.isolation.level import Level
from referee.isolation.names import PREFIX
from referee.match.match import Match
from referee.match.options import MatchOptions, RunOptions, TimeControl
from referee.match.spec import MatchSpec
from referee.match.start import Start
from referee.players.names import resolve
from referee.wire.seeds import new_seed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from referee.games.game import Game
    from referee.isolation.copies import Check
    from referee.players.player import Player
    from referee.replay.events import Listener, MatchResult

HOSTILE = Path(__file__).parent / "hostile_bots"
INTRUDERS = Path(__file__).parent / "intruders"

ROOT = Path(__file__).parents[1]
#: A user who exists for tests alone; no account has the number.
USER = 57_999


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


class Options(NamedTuple):
    """How a test's match is run, at a level of isolation that is there."""

    time: TimeControl = TimeControl()
    run: RunOptions = RunOptions()
    isolation: Level = Level()


#: Enough for a slow machine; tests that wait for a limit set one of their own.
PATIENT = TimeControl(startup=60.0, move=30.0, bank=None)
#: The options of such a test: no lateness of the referee, which other programs on the machine can cause, voids its match.
UNHURRIED = Options(PATIENT, RunOptions(max_lateness=3600.0))


class LevelLauncher(BotLauncher):
    """Runs bots at a level that the test chooses. ``serves_one``: nothing of it is left after a match."""

    def __init__(self, level: Level | None = None, check: Check | None = None, *, serves_one: bool = False) -> None:
        super().__init__(lambda _: level or Level(), check)
        self._serves_one = serves_one
        self.settle(())

    def at(self, level: Level) -> LevelLauncher:
        """Run the bots of the next match at another level."""
        self._find_level = lambda _: level
        self._levels.clear()
        return self

    def renew(self, *, is_sound: bool) -> None:
        """End the match."""
        super().renew(is_sound=is_sound and not self._serves_one)


def match_between(
    game: Game,
    settings: Any,
    players: Mapping[str, Player],
    options: Options | None = None,
    *,
    seed: int | None = None,
    start: Start | None = None,
    replay: Path | None = None,
    listeners: Sequence[Listener] = (),
    launcher: LevelLauncher | None = None,
    times: Mapping[str, TimeControl] | None = None,
) -> Match:
    """A match that hasn't begun. Its logs are beside its replay. ``times`` gives some seats a time control of their own."""
    time, run, level = options or Options()
    start = start or Start.of(game, settings, new_seed() if seed is None else seed)
    spec = MatchSpec(game, settings, players, start, MatchOptions(time=time, run=run), replay, times or {})
    launcher = LevelLauncher(level, serves_one=True) if launcher is None else launcher.at(level)
    return Match(spec, listeners, launcher)


#: What root keeps in a container of Docker.
_KEPT = "chown dac_override fowner fsetid kill setgid setuid setpcap net_bind_service net_raw sys_chroot mknod audit_write setfcap"
_CLONE_NEW = (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000)
_DENIED = ("unshare", "setns", "mount", "umount2", "pivot_root", "open_tree", "move_mount", "fsopen", "bpf", "kexec_load", "keyctl")
MEMORY_BYTES = 768 << 20


def refuse_namespaces() -> None:
    """Load a filter into this process, as a container has one."""
    import pyseccomp as seccomp

    rules = seccomp.SyscallFilter(seccomp.ALLOW)
    for name in _DENIED:
        rules.add_rule(seccomp.ERRNO(errno.EPERM), name)
    rules.add_rule(seccomp.ERRNO(errno.ENOSYS), "clone3")
    for flag in _CLONE_NEW:
        rules.add_rule(seccomp.ERRNO(errno.EPERM), "clone", seccomp.Arg(0, seccomp.MASKED_EQ, flag, flag))
    rules.load()


@contextlib.contextmanager
def _groups() -> Iterator[list[Path]]:
    """Control groups with a container's memory and half a core, where this machine has any to give."""
    made: list[Path] = []
    base = Path("/sys/fs/cgroup")
    name = f"test-container-{os.getpid()}"
    try:
        for kind, settings in (
            ("memory", {"memory.limit_in_bytes": MEMORY_BYTES}),
            ("cpu", {"cpu.cfs_period_us": 100_000, "cpu.cfs_quota_us": 50_000}),
        ):
            if (base / kind / "cgroup.procs").exists():
                group = base / kind / name
                group.mkdir()
                made.append(group)
                for file, value in settings.items():
                    (group / file).write_text(str(value))
        yield made
    finally:
        for group in made:
            with contextlib.suppress(OSError):
                group.rmdir()


def _own_folders(needed: Sequence[Path]) -> list[str]:
    """Shell commands that give the container its own folders for temporary files, and show what is needed of closed folders."""
    outer = [path for path in needed if not any(path != other and path.is_relative_to(other) for other in needed)]
    closed = [top for top in closed_tops(outer) if not top.is_relative_to("/tmp")]
    lines = ["set -e", "umask 022", "mount --make-rprivate /", "mount -t tmpfs -o mode=755 none /mnt"]
    for number, path in enumerate(outer):
        lines.append(f"mkdir /mnt/{number} && mount --bind {shlex.quote(str(path))} /mnt/{number}")
    lines += [f"mount -t tmpfs -o mode=755 none {shlex.quote(str(top))}" for top in closed]
    lines += [f"mount -t tmpfs -o mode=1777 none {top}" for top in ("/tmp", "/var/tmp", "/dev/shm")]
    for number, path in enumerate(outer):
        lines.append(f"mkdir -p {shlex.quote(str(path))} && mount --bind /mnt/{number} {shlex.quote(str(path))}")
    return [*lines, "umount -l /mnt"]


def run_in_container(
    command: Sequence[str], folder: Path, environment: Mapping[str, str] | None = None, *, timeout: float = 600
) -> subprocess.CompletedProcess[str]:
    """Run a command in such a setting. ``folder`` is the only folder besides the project that it can use; bots' copies go to ``bots`` in it."""
    need(os.geteuid() == 0, "only root can make a container", of_kernel=True)
    allowed = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    need(allowed.returncode == 0 and shutil.which("setpriv") is not None, "no namespaces to make a container of", of_kernel=True)
    bots = folder / "bots"
    bots.mkdir(exist_ok=True)
    bots.chmod(0o711)
    needed = [ROOT, Path(sys.prefix), Path(sys.base_prefix), folder]
    keep = ",".join(["-all", *(f"+{name}" for name in _KEPT.split())])
    inner = [sys.executable, __file__, "setpriv", f"--bounding-set={keep}", "--inh-caps=-all", "--", *command]
    with _groups() as groups:
        lines = [f"echo $$ > {shlex.quote(str(group / 'cgroup.procs'))}" for group in groups]
        lines += _own_folders(needed)
        lines.append("mount --bind /dev/null /usr/bin/bwrap" if Path("/usr/bin/bwrap").exists() else ":")
        lines.append(f"cd {shlex.quote(str(folder))}")
        lines.append(f"exec {shlex.join(inner)}")
        outside = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", "\n".join(lines)]
        env = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "TMPDIR": str(bots),
            "PYTHONDONTWRITEBYTECODE": "1",
            "LANG": "C.UTF-8",
            "PYTHONPATH": str(ROOT / "tests"),
            **({"CI": os.environ["CI"]} if os.environ.get("CI") else {}),
            **(environment or {}),
        }
        return subprocess.run(outside, env=env, capture_output=True, text=True, timeout=timeout, check=False)


if __name__ == "__main__":
    refuse_namespaces()
    os.execvp(sys.argv[1], sys.argv[1:])
