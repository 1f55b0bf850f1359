"""What the tests of leagues share: small leagues, and workers that only pretend to play."""

from __future__ import annotations

import contextlib
import hashlib
import json
import random
import select
import signal
import sqlite3
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.handins.values import Entry
from referee.league import config
from referee.tournament.local import Finished
from referee.tournament.progress import ProgressListener
from referee.tournament.values import Record, Task
from referee.tournament.worker import Completed, Report

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from commands import Commands

    from referee.league.league import OpenLeague

#: A bot for both roles that needs no SDK: a hunter that never builds and a prey that never moves.
IDLE = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "turn":
        print(json.dumps({"type": "move", "turn": message["turn"], "move": {}}), flush=True)
"""
#: The settings of a game that is over within a few steps.
SHORT = "width = 30\nheight = 30\nhunter = [0, 0, 1, 1]\nprey = [20, 12]\nmax_steps = 40\n"


def write_league(folder: Path, teams: int = 4, extra: str = "", settings: str = SHORT, bot: str = IDLE) -> Path:
    """Write a league of teams that differ in a comment only; return its file. One worker plays it, as each takes a quarter of a second to start."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(teams):
        (folder / f"bot{number}.py").write_text(f"# {number}\n{bot}")
    tables = "".join(f'[[teams]]\nname = "T{number}"\nprogram = "bot{number}.py"\n' for number in range(teams))
    file = folder / "league.toml"
    file.write_text(f'name = "test"\nseed = 7\nslots = 1\nisolation = "none"\n{extra}\n[settings]\n{settings}\n{tables}')
    return file


def move_store(store: Path, old: Path | str, new: Path) -> None:
    """Let the store of a league whose folder was copied name its programs at their new place."""
    with contextlib.closing(sqlite3.connect(store)) as database, database:
        for column in ("league", "file"):
            database.execute(f"update league set {column} = replace({column}, ?, ?)", (str(old), str(new)))


def open_new(folder: Path, **options: Any) -> OpenLeague:
    """Begin a league in ``folder/out``."""
    from referee.league.league import begin

    return begin(config.load(write_league(folder / "in", **options)), folder / "out")


#: A bot that says by a file that it waits: at its start, or for its first question.
_WAITS = """
import pathlib, sys
if {at_start}:
    pathlib.Path({begun!r}).touch()
    sys.stdin.read()
sys.stdin.readline()
print('{{"type":"ready","protocol":1}}', flush=True)
if '"turn"' in sys.stdin.readline():
    pathlib.Path({begun!r}).touch()
    sys.stdin.read()
"""


def first_interrupted(commands: Commands, folder: Path, command: str, *more: str, at_start: bool = False) -> tuple[int, str, str]:
    """The exit status, stdout and stderr of many matches that Ctrl-C ends while the first one waits for a bot."""
    limits = ("--startup", "600", "--move-time", "600", "--bank", "600")
    with tempfile.TemporaryDirectory() as shared:
        # Root's bots are users of their own.
        Path(shared).chmod(0o777)
        begun = Path(shared, "begun")
        (folder / "waits.py").write_text(_WAITS.format(at_start=at_start, begun=str(begun)))
        running = commands.start(command, "waits.py", "evader" if command == "play" else "straight", *limits, *more, cwd=folder)
        while not begun.exists():
            assert running.poll() is None, running.stderr.read()
            select.select([], [], [], 0.02)
    running.send_signal(signal.SIGINT)
    told, problems = running.communicate(60)
    return running.wait(60), told, problems


class PretendPool:
    """Workers that make results up: ``play`` says what each match comes to. Matches end in a shuffled order."""

    def __init__(self, play: Callable[[Task], Report], slots: int = 3) -> None:
        self.slots = slots
        self.has_workers = True
        self.begun: list[Task] = []
        self.played: list[Task] = []
        self._play = play
        self._running: list[Task] = []
        self._random = random.Random(7)

    @property
    def room(self) -> int:
        """The slots that are free."""
        return self.slots - len(self._running)

    def submit(self, task: Task) -> None:
        """Begin a match."""
        assert self.room > 0
        self._running.append(task)
        self.begun.append(task)

    def wait(self, seconds: float) -> Sequence[Finished]:
        """End one of the matches."""
        if not self._running:
            return []
        task = self._running.pop(self._random.randrange(len(self._running)))
        self.played.append(task)
        return [Finished(task, self._play(task))]

    def close(self) -> None:
        """There is nothing to close."""


class Notes(ProgressListener):
    """Keeps what a league's watcher is told."""

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.finished_keys: list[str] = []

    def finished(self, task: Task, record: Record) -> None:
        """A match is done."""
        self.finished_keys.append(task.key)

    def said(self, text: str) -> None:
        """A sentence."""
        self.sentences.append(text)


def task_of(key: str, names: Mapping[str, str], settings: Mapping[str, Any], seed: int = 0) -> Task:
    """A task whose seats have entries of these names and no players."""
    return Task(key, {seat: Entry(name, {}) for seat, name in names.items()}, settings, seed)


def record(task: Task, steps: int | None = None, **changes: Any) -> Record:
    """A result in which the hunter catches the prey after so many steps; by default a number that the match decides."""
    number = int(hashlib.sha256(json.dumps([dict(task.names), dict(task.settings), 0]).encode()).hexdigest(), 16)
    count = number % 37 + 1 if steps is None else steps
    made = Record(
        key=task.key,
        winner="hunter",
        reason="caught",
        text="caught",
        scores={"hunter": count},
        steps=count,
        faults={},
        fault_kinds={},
        seconds={"hunter": 0.1, "prey": 0.1},
        slowest={"hunter": 0.01, "prey": 0.01},
        replay=f"replays/{task.key}",
        replay_hash="",
        wall_seconds=0.5,
        host="here",
        position=f"{count}",
    )
    return made._replace(**changes)


def play(task: Task) -> Report:
    """Every match ends with a capture."""
    return Completed(record(task))
