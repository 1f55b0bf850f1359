"""Messages of protocol 1 as lines: every line that a bot reads, and the answers of players in the referee's own program."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from referee.wire.constants import PROTOCOL

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import GameInfo, Json

_dumps = json.JSONEncoder(separators=(",", ":")).encode


def start(
    info: GameInfo, rules: str, seat: str, settings: Mapping[str, Json], *, clock: Mapping[str, Json], seed: int, match: str
) -> bytes:
    """The ``start`` message. ``settings`` and ``clock`` are JSON; ``seed`` is the bot's own."""
    message = {
        "type": "start",
        "protocol": PROTOCOL,
        "game": info.name,
        "version": info.version,
        "rules": rules,
        "seat": seat,
        "settings": settings,
        "clock": clock,
        "seed": seed,
        "match": match,
    }
    return _line(message)


def turn(number: int, view: str, notices: Sequence[Mapping[str, str]], move: str, bank: float | None) -> bytes:
    """The ``turn`` message: a question. ``view`` is JSON text, ``move`` the limit of a move as JSON text; ``bank`` is in seconds."""
    notices_text = _dumps(notices) if notices else "[]"
    left = "null" if bank is None else "%.3f" % bank
    return f'{{"type":"turn","turn":{number},"state":{view},"notices":{notices_text},"left":{{"move":{move},"bank":{left}}}}}\n'.encode()


def limit(seconds: float | None) -> str:
    """A time limit as JSON text."""
    return "null" if seconds is None else repr(seconds)


def end(result: Mapping[str, Json]) -> bytes:
    """The ``end`` message."""
    return _line({"type": "end", "result": result})


def ready(name: str = "") -> bytes:
    """The ``ready`` message of a player."""
    return _line({"type": "ready", "protocol": PROTOCOL, **({"name": name} if name else {})})


def move(turn: int, move: Json) -> bytes:
    """The ``move`` message: the answer to a question."""
    return _line({"type": "move", "turn": turn, "move": move})


def _line(message: Mapping[str, Json]) -> bytes:
    return _dumps(message).encode() + b"\n"
