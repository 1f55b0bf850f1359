"""Leagues for tests: small files, workers that only pretend to play, results that were never played, and worker processes of a cluster."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import random
import re
import select
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee.handins.values import Entry
from referee.league import config, schedule
from referee.league.league import Standing
from referee.league.report import DuelLine, LeagueProgress, MatchLine, ReportData
from referee.league.standings import StandingsRow
from referee.tournament.duels import DuelResult, PlannedDuel
from referee.tournament.progress import ProgressListener
from referee.tournament.ratings import Rating
from referee.tournament.values import Record, Task

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from commands import Commands

    from referee.league.league import OpenLeague
    from referee.league.schedule import Fixture, FixturePlan

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

    def __init__(self, play: Callable[[Task], Record], slots: int = 3) -> None:
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

    def wait(self, seconds: float) -> Sequence[Record]:
        """End one of the matches."""
        if not self._running:
            return []
        task = self._running.pop(self._random.randrange(len(self._running)))
        self.played.append(task)
        return [self._play(task)]

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


def not_started(task: Task, name: str, text: str) -> Record:
    """The program of a name could not be started."""
    return Record(task.key, text=text, faults={seat: text for seat, each in task.names.items() if each == name}, started=False)


def play(task: Task) -> Record:
    """Every match ends with a capture."""
    return record(task)


SEATS = ("hunter", "prey")
NAMES = (
    "Boxer", "Searcher", "Runner", "Lasso", "Straight", "Evader", "Corner Pocket", "Zugzwang", "Fermat's Last Hunter", "Null Pointers",
    "Segfault & Sons", "The Greedy Walk", "A*", "Minotaur", "Dijkstra Ultras", "Off By One", "Walls and Peace", "Heisenbug", "Busy Beavers",
    "Löwenzahn",
)  # fmt: skip
HOSTILE = (
    '<img src=x onerror="alert(1)">',
    "</script><script>alert(2)</script>",
    "\"'&lt;`${alert(3)}`",
    "\u202eright to left\u0007\x1b[31m",
    "__proto__",
    "W" * 120,
)


def league(
    teams: int | Sequence[str],
    *,
    seed: int = 1,
    starts: int = 1,
    finished: float = 1.0,
    remark: str = "",
    replay: str = "replays/{key}.replay.jsonl.gz",
) -> ReportData:
    """A round-robin of teams of random strength; ``finished`` is the share of its duels that are over."""
    rng = random.Random(seed)
    if isinstance(teams, int):
        teams = [NAMES[number] if number < len(NAMES) else f"Team {number + 1}" for number in range(teams)]
    strength = {team: rng.gauss(0, 1) for team in teams}
    pairs = [(a, b, start) for a, b in combinations(teams, 2) for start in range(starts)]
    done = round(len(pairs) * finished)
    duels = []
    for number, (a, b, start) in enumerate(pairs[:done]):
        matches = tuple(_match(rng, game, seats, strength, remark, replay) for game, seats in enumerate(((a, b), (b, a))))
        steps = [match.record.steps if match.record.reason == "caught" else math.inf for match in matches]
        first = 0.5 if steps[0] == steps[1] else float(steps[0] < steps[1])
        duels.append(DuelLine(number, number % max(1, len(teams) - 1), (a, b), {a: first, b: 1 - first}, matches, start, note=remark))
    return ReportData(
        name=remark or "Autumn league",
        game="evasion",
        rules="classic",
        format="round-robin",
        settings={"cooldown": 20, "max_steps": 3000},
        progress=LeagueProgress("finished", 2 * done, 2 * done)
        if finished == 1
        else LeagueProgress("running", 2 * done, 2 * len(pairs), 412.0, 1260.0),
        standings=_standings(teams, duels, strength),
        duels=duels,
        seed=7,
        notes=[remark] if remark else [],
        written="22 November 2026, 10:00",
    )


def _match(rng: random.Random, number: int, teams: tuple[str, str], strength: dict[str, float], remark: str, replay: str) -> MatchLine:
    hunter, prey = teams
    lead = strength[hunter] - strength[prey]
    steps = max(20, round(rng.lognormvariate(6 - lead / 2, 0.4)))
    used = {seat: steps * rng.uniform(0.0002, 0.004) for seat in SEATS}
    slowest = {seat: rng.uniform(0.002, 0.6) for seat in SEATS}
    key = f"{rng.getrandbits(128):032x}"
    record = Record(key, None, "", "", {}, steps, {}, {}, used, slowest, replay.format(key=key), "")
    chance = rng.random()
    if chance < 0.02:
        fault = remark or f"{prey} answered after 1.20 s; the limit for a move is 1 s."
        record = record._replace(reason="late", text=f"The prey was late in step {steps}.", winner="hunter", faults={"prey": fault})
    elif chance < 0.03:
        fault = remark or "stdout line 1 is not JSON: 'debug 3' - print to stderr"
        record = record._replace(
            reason="malformed", text="The hunter's answer was malformed.", steps=1, winner="prey", faults={"hunter": fault}
        )
    elif steps > 1200:
        record = record._replace(reason="step-limit", text="The prey evades for 3,000 steps.", steps=3000, winner="prey")
    else:
        record = record._replace(reason="caught", text=f"The hunter catches the prey after {steps} steps.", winner="hunter")
    return MatchLine(number, dict(zip(SEATS, teams, strict=True)), record)


def _standings(teams: Sequence[str], duels: Sequence[DuelLine], strength: dict[str, float]) -> list[Standing]:
    points = dict.fromkeys(teams, 0.0)
    won, tied, lost, total = (dict.fromkeys(teams, 0) for _ in range(4))
    for duel in duels:
        for team in duel.teams:
            points[team] += duel.points[team]
            counts = {1.0: won, 0.5: tied, 0.0: lost}[duel.points[team]]
            counts[team] += 1
        for match in duel.matches:
            total[match.seats["hunter"]] += match.record.steps
    ranked = sorted(teams, key=lambda team: (-points[team], total[team]))
    width = 240 / math.sqrt(max(1, len(duels) * 2 / max(1, len(teams))))
    reach = max(1, round(len(teams) / 30))
    rows = []
    for place, team in enumerate(ranked, 1):
        is_first = place == 1
        places = (1, 1) if is_first else (max(2, place - reach), min(len(teams), place + reach))
        elo = 170 * (strength[team] - sum(strength.values()) / len(teams))
        played = won[team] + tied[team] + lost[team]
        row = StandingsRow(place, False, team, played, won[team], tied[team], lost[team], 0, 0, points[team], float(total[team]), 0)
        rated = (elo, elo - width, elo + width * 1.1) if played else (0.0, -width, width)
        rows.append(Standing(row, Rating(team, *rated, *places), is_first, None))
    return rows


def duel_count(plan: FixturePlan) -> int:
    """Return the number of duels of the whole league."""
    size = len(plan.teams)
    if plan.format == "round-robin":
        fixtures = size * (size - 1) // 2
    elif plan.format == "swiss":
        fixtures = (plan.rounds or 0) * (size // 2)
    elif plan.format == "elimination":
        fixtures = size - 1
    else:
        seats = plan.table_size or size
        fixtures = size * (plan.rounds or schedule.tables_each(size, seats)) // seats
    return fixtures * plan.duels_each


def result(
    number: int, points: dict[str, float], totals: dict[str, float] | None = None, *, round_: int = 0, more: bool = False
) -> DuelResult:
    return DuelResult(PlannedDuel(number, round_, tuple(points)), points, totals or {}, more_is_better=more)


def beats(number: int, winner: str, loser: str, steps: tuple[float, float] = (100, 200), *, round_: int = 0) -> DuelResult:
    return result(number, {winner: 1.0, loser: 0.0}, dict(zip((winner, loser), steps, strict=True)), round_=round_)


def ties(number: int, a: str, b: str, steps: float = 100, *, round_: int = 0) -> DuelResult:
    return result(number, {a: 0.5, b: 0.5}, {a: steps, b: steps}, round_=round_)


def by_strength(duel: PlannedDuel) -> DuelResult:
    """The team whose name is first in the alphabet wins."""
    best = min(duel.teams)
    return DuelResult(duel, {team: float(team == best) for team in duel.teams}, {team: 100 if team == best else 200 for team in duel.teams})


def all_tied(duel: PlannedDuel) -> DuelResult:
    return DuelResult(duel, dict.fromkeys(duel.teams, 0.5), dict.fromkeys(duel.teams, 100))


def played(plan: FixturePlan, judge: Callable[[PlannedDuel], DuelResult] = by_strength) -> tuple[tuple[Fixture, ...], list[DuelResult]]:
    """The fixtures and the results of a whole league."""
    results: list[DuelResult] = []
    while True:
        fixtures = schedule.known_fixtures(plan, results)
        due = list(schedule.duels(fixtures, starts=plan.duels_each))[len(results) :]
        if not due:
            return fixtures, results
        results += [judge(duel) for duel in due]


PAGE = (Path(__file__).parents[1] / "docs" / "clusters.md").read_text()


class Node:
    """A process of Dask. ``address`` is what it says to listen at."""

    def __init__(self, words: Sequence[str], ready: str, **environment: str) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "dask", *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            env={**os.environ, **environment},
            text=True,
        )
        self._ready = ready
        self.lines: list[str] = []
        self.address = ""
        self._reader: threading.Thread | None = None

    def wait(self) -> None:
        """Wait until it is ready."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self.lines.append(line)
            if found := re.search(self._ready, line):
                self.address = found[1]
                break
        else:
            self.process.wait()
            raise AssertionError("".join(self.lines))
        self._reader = threading.Thread(target=self.lines.extend, args=(self.process.stderr,))
        self._reader.start()

    def kill(self) -> None:
        """End it without a chance to say good-bye, also if it is frozen."""
        self.process.kill()
        self.process.wait()

    def freeze(self) -> None:
        """Stop it: it is there and does nothing."""
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        """Let a frozen process go on."""
        self.process.send_signal(signal.SIGCONT)

    def close(self) -> None:
        """End it."""
        self.kill()
        if self._reader is not None:
            self._reader.join()
        assert self.process.stderr is not None
        self.process.stderr.close()


class Cluster:
    """A scheduler and its workers on the loopback interface. ``words`` are options that all of them get."""

    def __init__(self, folder: Path, words: Sequence[str] = (), kind: str = "tcp", **environment: str) -> None:
        self._folder = folder
        self._words = words
        self._environment = environment
        self._kind = kind
        self.workers: list[Node] = []
        listen = f"{kind}://127.0.0.1:0"
        self.scheduler = Node(
            ["scheduler", "--host", listen, "--no-dashboard", "--no-show", *words], rf"Scheduler at:\s+({kind}://\S+)", **environment
        )
        try:
            self.scheduler.wait()
        except BaseException:
            self.scheduler.close()
            raise
        self.address = self.scheduler.address

    def add_worker(self, *words: str) -> Node:
        """Start a worker with a folder of its own. ``wait`` for it."""
        folder = self._folder / f"worker{len(self.workers)}"
        folder.mkdir(parents=True)
        given = ["worker", self.address, "--host", f"{self._kind}://127.0.0.1", "--no-nanny", "--nthreads", "1", "--no-dashboard"]
        worker = Node([*given, "--local-directory", str(folder), *self._words, *words], r"Registered to:\s+(\S+)", **self._environment)
        self.workers.append(worker)
        return worker

    def close(self) -> None:
        """End all processes."""
        for node in (*self.workers, self.scheduler):
            node.close()


@contextlib.contextmanager
def cluster(folder: Path, workers: int, words: Sequence[str] = (), kind: str = "tcp", **environment: str) -> Iterator[Cluster]:
    """A running cluster."""
    made = Cluster(folder, words, kind, **environment)
    try:
        for _ in range(workers):
            made.add_worker()
        for worker in made.workers:
            worker.wait()
        yield made
    finally:
        made.close()


def certificates(folder: Path) -> dict[str, str]:
    """Make an authority and a certificate with the command of the page; return the files by the names of Dask's options."""
    (command,) = re.findall(r"^python -m (trustme .*)$", PAGE, re.MULTILINE)
    folder.mkdir(parents=True)
    subprocess.run([sys.executable, "-m", *command.split()], cwd=folder, check=True, capture_output=True)
    return {name: str(folder / file) for name, file in {"ca": "client.pem", "cert": "server.pem", "key": "server.key"}.items()}


def blocks(language: str) -> list[str]:
    """The fenced blocks of a language on the page about clusters."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
