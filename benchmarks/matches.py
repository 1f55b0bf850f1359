"""The trivial bots of the benchmarks, and matches between them."""

from __future__ import annotations

import contextlib
import re
import sys
import tempfile
import time
from referee.players.player import Player
from collections.abc import Mapping
from pathlib import Path

from harness import ROOT, child

from referee import games
from referee.games.evasion.board.wall import HORIZONTAL, Wall
from referee.games.evasion.board.walls import Walls
from referee.games.evasion.game import Evasion
from referee.games.evasion.state import Settings, State
from referee.isolation.launcher import BotLauncher
from referee.isolation.level import Level
from referee.isolation.bot import Bot
from referee.match.options import MatchOptions, FAIR, TimeControl, RunOptions
from referee.replay.events import Listener, MatchBegun, StepTaken
from referee.match.match import Match
from referee.match.spec import MatchSpec
from referee.match.start import Start
from referee.isolation.plan import environment
from referee.replay.writer import ReplayWriter
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


def entrants(source: str) -> Mapping[str, Player]:
    """A program text as the player of every seat."""
    line = (sys.executable, "-c", source)
    return {seat: Bot("bench", line, tempfile.gettempdir(), about={"program": "bench"}) for seat in SEATS}


class FloorGame(Evasion):
    """Evasion with five walls as long as those in the floor's questions, so that both send as many bytes; out of the hunter's way."""

    def start(self, settings: Settings, secret: bytes = b"") -> State:
        walls = [Wall(index, HORIZONTAL, 0, 95 + index, 299, 95 + index) for index in range(5)]
        return super().start(settings, secret)._replace(walls=Walls(settings.width, settings.height, walls), next_id=5)


def floor(steps: int) -> float:
    """Microseconds for a step of the bare loop."""
    shown = child([sys.executable, str(ROOT / "benchmarks" / "floor.py"), str(steps)])
    found = re.match(r"([\d.]+) us a step", shown)
    assert found is not None, shown
    return float(found[1])


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
    source: str, steps: int, game: Evasion, path: Path | None, idle: str, isolation: Level | None = None, clock: str = FAIR
) -> float:
    """Microseconds for a step of a whole match between two programs, from the first question to the last step."""
    settings = game.codec.settings("classic", {"max_steps": steps})
    stopwatch = Stopwatch()
    listeners = [stopwatch] if path is None else [ReplayWriter(path), stopwatch]
    options = MatchOptions(time=TimeControl(bank=None, kind=clock), run=RunOptions(idle=idle))
    spec = MatchSpec(game, settings, entrants(source), Start.of(game, settings, 1), options)
    with contextlib.closing(BotLauncher(lambda _: isolation or Level())) as launcher:
        Match(spec, listeners, launcher).run()
    return stopwatch.seconds / steps * 1e6


def start_line(seat: str) -> bytes:
    """Return a start message for the trivial bots, which read their seat alone."""
    return encode.start(games.info("evasion"), "classic", seat, {}, clock={}, seed=0, match="")
