"""Bots for tests: programs for every game and seat that do nothing, but for a few lines of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

#: A bot for every game and seat that does nothing, but for what ``special`` says; it writes down what it reads.
BOT = """
import json, sys
seen = open(sys.argv[1], "a") if len(sys.argv) > 1 else None
for line in sys.stdin:
    message = json.loads(line)
    if seen:
        print(line, end="", file=seen, flush=True)
    if message["type"] == "start":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "turn":
        turn, move, extra = message["turn"], {}, {}
        SPECIAL
        print(json.dumps({"type": "move", "turn": turn, "move": move, **extra}), flush=True)
"""


def bot(folder: Path, name: str, special: str = "pass") -> str:
    """Write such a bot and return its path."""
    path = folder / f"{name}.py"
    path.write_text(BOT.replace("SPECIAL", special))
    return str(path)
