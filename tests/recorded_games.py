"""Recorded games for tests: the records of replays, and states and games of the maze and of the rectangle."""

from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee import games
from referee.games.maze.layouts import STANDARD, Layout
from referee.games.maze.solver import Solution
from referee.replay.events import StepTaken
from referee.replay.reader import ReplayReader
from referee.replay.writer import DIGEST_KEY, dumps
from sdk.bot import Conversation
from sdk.rectangle import RectangleBot
from sdk.rectangle import State as SdkState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from referee.games.maze.state import State
    from referee.games.rectangle.state import Settings
    from referee.replay.reader import VerifiedReplay


def records(path: Path) -> list[dict[str, Any]]:
    """Return all records of a replay, the head first."""
    return [json.loads(line) for line in gzip.open(path).read().splitlines()]


def sealed(lines: list[dict[str, Any]]) -> bytes:
    """Return the file of a replay with these records, whose result has the digest of its text."""
    *others, result = lines
    records = [*others, {key: value for key, value in result.items() if key != "sha256"}]
    text = "".join(f"{dumps(record)}\n" for record in records)[:-2] + DIGEST_KEY
    return gzip.compress(f'{text}{hashlib.sha256(text.encode()).hexdigest()}"}}\n'.encode())


def steps_of(path: Path) -> list[StepTaken]:
    """Return the steps of a replay, up to the first that is wrong."""
    return [event for event in ReplayReader(path).events() if isinstance(event, StepTaken)]


def read_closely(path: Path) -> VerifiedReplay:
    """Check a replay as ``verify`` does, with every line decoded."""
    reader = ReplayReader(path)
    for _ in reader.events():
        pass
    return reader.verified()


def edited(path: Path, change: Callable[[dict[str, Any]], object], out: Path) -> Path:
    """The replay with another head, cut before its result so that no digest speaks."""
    head, *lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
    found = json.loads(head)
    change(found)
    out.write_bytes(gzip.compress(json.dumps(found, separators=(",", ":")).encode() + b"\n" + b"".join(lines[:-1])))
    return out


RECTANGLE = games.get("rectangle")
DATA = Path(__file__).parent / "data"
CASES = json.loads((DATA / "rectangle-examples.json").read_text())
GAMES = [json.loads(line) for line in (DATA / "rectangle.jsonl").read_text().splitlines()]


class Walker(RectangleBot):
    def orders(self, state: SdkState) -> str:
        return "E" * state.settings.robots


def seen_by(settings: Settings, seat: str) -> Callable[[dict[str, Any]], SdkState]:
    """Return a function that asks one bot, with the state of each question, and returns the state that the bot was given."""
    seen: list[SdkState] = []

    class Looker(Walker):
        def place(self, state: SdkState) -> Iterable[tuple[int, int]]:
            seen.append(state)
            return super().place(state)

        def orders(self, state: SdkState) -> str:
            seen.append(state)
            return super().orders(state)

    conversation = Conversation(Looker)

    def ask(message: dict[str, Any]) -> None:
        conversation.answer(json.dumps(message).encode())

    ask(
        {
            "type": "start",
            "seat": seat,
            "rules": settings.rules,
            "settings": RECTANGLE.codec.settings_json(settings),
            "seed": 1,
            "match": "m",
        }
    )

    def asked(view: dict[str, Any]) -> SdkState:
        ask({"type": "turn", "turn": len(seen), "state": view, "notices": [], "left": {"move": None, "bank": None}})
        return seen[-1]

    return asked


MAZE = games.get("maze")
SOLVED = Solution(Layout(STANDARD))


def state_of(thief: tuple[int, int], policeman: tuple[int, int], **given_: Any) -> State:
    made: State = MAZE.start(MAZE.codec.settings(None, {"thief": thief, "policeman": policeman, "parity": "any", **given_}), b"")
    return made
