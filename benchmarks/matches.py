"""The matches of the benchmarks: trivial bots, single matches between them, many on all cores, and pretended ones."""

from __future__ import annotations

import contextlib
import random
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import psutil

from referee import games
from referee.errors import RefereeError
from referee.games.evasion.board.wall import HORIZONTAL, Wall
from referee.games.evasion.board.walls import Walls
from referee.games.evasion.game import GAME, Evasion
from referee.games.evasion.state import Settings, State
from referee.handins.values import Entry
from referee.isolation.launcher import BotLauncher
from referee.isolation.level import Level
from referee.isolation.limits import Limits
from referee.match.match import Match
from referee.match.options import FAIR, WALL, MatchOptions, RunOptions, TimeControl
from referee.match.spec import MatchSpec
from referee.match.start import Start
from referee.players.names import resolve
from referee.replay.events import Listener, MatchBegun, StepTaken
from referee.tournament.local import LocalPool, free_slots
from referee.tournament.many import played
from referee.tournament.values import Record, Task
from referee.tournament.worker import Terms, Worker
from referee.wire import encode

SEATS = ("hunter", "prey")
#: Parses each question and answers, as the bot of floor.py does.
PARSING = """
import json, sys
read, write, flush = sys.stdin.readline, sys.stdout.write, sys.stdout.flush
seat = json.loads(read())["seat"]
write('{"type":"ready","protocol":1}\\n')
flush()
while True:
    line = read()
    if not line:
        break
    question = json.loads(line)
    if question["type"] == "end":
        break
    move = '{}' if 'h' in seat else '{"go":[0,1]}'
    write('{"type":"move","turn":%d,"move":%s}\\n' % (question["turn"], move))
    flush()
"""
#: The same moves, with the SDK.
IDLE_SDK = """
from sdk import HunterBot, PreyBot
class Idle(HunterBot, PreyBot):
    def hunt(self, state):
        return None
    def flee(self, state):
        return (0, 1)
Idle.main()
"""
#: How often a pretending pool reads its memory, in matches.
READ_EACH = 100


def written(folder: Path, name: str, source: str) -> Path:
    """Write a bot's program into a folder, and return its path."""
    path = folder / f"{name}.py"
    path.write_text(source)
    return path


def start_line(seat: str) -> bytes:
    """Return a start message for the trivial bots, which read their seat alone."""
    return encode.start(games.info("evasion"), "classic", seat, {}, clock={}, seed=0, match="")


# --- one match ---


class FloorGame(Evasion):
    """Evasion with five walls as long as those in the floor's questions, so that both send as many bytes; out of the hunter's way."""

    def start(self, settings: Settings, secret: bytes = b"") -> State:
        walls = [Wall(index, HORIZONTAL, 0, 95 + index, 299, 95 + index) for index in range(5)]
        return super().start(settings, secret)._replace(walls=Walls(settings.width, settings.height, walls), next_id=5)


class Stopwatch(Listener):
    """Times a match from its ``start`` messages to its last step."""

    def __init__(self) -> None:
        self.begun_at = self.seconds = 0.0

    def begun(self, event: MatchBegun) -> None:
        """Start."""
        self.begun_at = time.perf_counter()

    def stepped(self, event: StepTaken) -> None:
        """Stop with the last step."""
        if event.after.ended:
            self.seconds = time.perf_counter() - self.begun_at


def step_of_match(
    bot: Path, steps: int, *, game: Evasion = GAME, replay: Path | None = None, level: Level | None = None, clock: str = FAIR,
    idle: str = "stop", cores: int = 1,
) -> float:  # fmt: skip
    """Return the microseconds for a step of a whole match of a bot with itself, from the first question to the last step.

    A step has one question and a half. Only the last step ends a match, however busy the machine is.
    """
    settings = game.codec.settings("classic", {"max_steps": steps})
    times = TimeControl(startup=60, move=60, bank=None, kind=clock)
    options = MatchOptions(time=times, run=RunOptions(idle=idle, cores=cores, max_lateness=60))
    players = {seat: resolve(str(bot), seat, "evasion") for seat in SEATS}
    stopwatch = Stopwatch()
    with contextlib.closing(BotLauncher(lambda _: level or Level())) as launcher:
        result = Match(MatchSpec(game, settings, players, Start.of(game, settings, 1), options, replay), [stopwatch], launcher).run()
    if result.faults or result.steps != steps:
        raise RefereeError(f"A match of the benchmark ended in step {result.steps:,} of {steps:,}: {result.text} {result.faults}")
    return stopwatch.seconds / steps * 1e6


# --- many matches ---


def terms(level: str = "strict", *, startup: float = 60.0, move: float = 60.0, lateness: float = 60.0, kind: str = WALL) -> Terms:
    """Return what all matches have in common. By default nothing ends one before its last step: other programs may slow the machine down."""
    time = {"startup": startup, "move": move, "bank": None, "kind": kind}
    return Terms("evasion", None, MatchOptions.model_validate({"time": time, "run": {"max_lateness": lateness}, "isolation": level}))


def teams(bot: Path) -> dict[str, Entry]:
    """Return two teams of one bot."""
    return {name: Entry(name, dict.fromkeys(SEATS, str(bot))) for name in "AB"}


def open_pool(bot: Path, folder: Path, of: Terms, slots: int | None = None) -> AbstractContextManager[LocalPool]:
    """Return workers for matches of a bot with itself, as many as this machine has room for."""
    return contextlib.closing(LocalPool(of, teams(bot), folder, slots or free_slots(Limits())))


def tasks(count: int, steps: int) -> Iterator[Task]:
    """Yield matches of these steps, each with a key of its own."""
    for number in range(count):
        key = f"{time.monotonic_ns():x}-{number}"
        yield Task(key, {seat: Entry(name, {}) for seat, name in zip(SEATS, "AB", strict=True)}, {"max_steps": steps}, number)


def records(pool: LocalPool, matches: Iterable[Task]) -> Iterator[Record]:
    """Play matches as referee play --games does; their records as they come."""
    for ended, _ in played(matches, pool, 100 * pool.slots):
        yield from (record for _, record in ended)


def play(pool: LocalPool, matches: int, steps: int) -> float:
    """Play matches, and return the seconds that they took."""
    begun = time.perf_counter()
    for _ in records(pool, tasks(matches, steps)):
        pass
    return time.perf_counter() - begun


def play_one_step(worker: Worker, matches: int = 1) -> None:
    """Play matches of one step in one worker."""
    for task in tasks(matches, 1):
        outcome = worker.play(task)
        if not outcome.replay:
            raise RefereeError(f"A match of the benchmark was not played: {outcome.text}")


# --- pretended matches ---


def pretended(task: Task) -> Record:
    """Return a result in which the hunter needs a number of steps that the match decides."""
    steps = 1 + int(task.key[-6:], 36) % 3000
    used = dict.fromkeys(task.seats, steps * 1e-4)
    text = f"The hunter caught the prey in step {steps}."
    replay = f"replays/{task.key[:2]}/{task.key}.replay.jsonl.gz"
    scores = {"hunter": float(steps), "prey": None}
    return Record(task.key, "hunter", "caught", text, scores, steps, {}, {}, used, used, replay, "0" * 64, 0.6, "here", "0" * 16)


class PretendPool:
    """Workers that make results up, and readings of this process's memory, in MiB."""

    has_workers = True

    def __init__(self, slots: int = 8) -> None:
        self.slots = slots
        self.readings: list[float] = []
        self._ended = 0
        self._running: list[Task] = []
        self._random = random.Random(1)

    @property
    def room(self) -> int:
        """The slots that are free."""
        return self.slots - len(self._running)

    def submit(self, task: Task) -> None:
        """Begin a match."""
        self._running.append(task)

    def wait(self, seconds: float) -> Sequence[Record]:
        """End one of the matches."""
        del seconds
        if not self._running:
            return []
        task = self._running.pop(self._random.randrange(len(self._running)))
        self._ended += 1
        if self._ended % READ_EACH == 0:
            self.read_memory()
        return [pretended(task)]

    def read_memory(self) -> None:
        """Take a reading."""
        self.readings.append(psutil.Process().memory_info().rss / (1 << 20))

    def close(self) -> None:
        """There is nothing to close."""
