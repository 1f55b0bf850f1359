"""The trivial bots that the benchmarks play with: the answers of the floor's own bot, behind the greeting of the protocol."""

from __future__ import annotations

import sys
import tempfile
from typing import TYPE_CHECKING

from referee.isolation.program import Program
from referee.match.loop import Entrant
from referee.players.spec import environment

if TYPE_CHECKING:
    from collections.abc import Mapping

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

#: Writes the time of its first question to its log, by the system-wide monotonic clock.
STAMPING = """
import sys, time
from sdk import HunterBot, PreyBot
class Stamping(HunterBot, PreyBot):
    def hunt(self, state):
        if self.turn == 0:
            print(time.monotonic(), file=sys.stderr)
    def flee(self, state):
        pass
Stamping.main()
"""


def entrants(source: str, seats: tuple[str, ...] = ("hunter", "prey")) -> Mapping[str, Entrant]:
    """A program text as the player of every seat."""
    line = (sys.executable, "-c", source)
    program = Program(line, tempfile.gettempdir(), environment(), "bench", (), line)
    return {seat: Entrant("bench", {"program": "bench"}, program) for seat in seats}
