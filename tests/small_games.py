"""The maze and the rectangle game for their tests: recorded games, states by their squares, a bot that walks."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee import games
from referee.games.maze.layouts import STANDARD, Layout
from referee.games.maze.solver import Solution
from sdk.bot import Conversation
from sdk.rectangle import RectangleBot
from sdk.rectangle import State as SdkState

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from referee.games.maze.state import State
    from referee.games.rectangle.state import Settings

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
