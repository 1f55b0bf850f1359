"""Rectangle: the game and its recorded cases."""

from __future__ import annotations

import json
from pathlib import Path

from referee import games
from sdk.rectangle import RectangleBot
from sdk.rectangle import State as SdkState

GAME = games.get("rectangle")
DATA = Path(__file__).parent / "data"
CASES = json.loads((DATA / "rectangle-examples.json").read_text())
GAMES = [json.loads(line) for line in (DATA / "rectangle.jsonl").read_text().splitlines()]


class Walker(RectangleBot):
    def orders(self, state: SdkState) -> str:
        return "E" * state.settings.robots
