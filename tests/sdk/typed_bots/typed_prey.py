"""A typed prey, and a hunter and a prey of ``gameserver``."""

from __future__ import annotations

from typing import Literal

from typing_extensions import assert_type

from sdk import HunterBot, PreyBot, PreyMove, State
from sdk.evasion import COMPASS, AddWall, HunterMove, Step


class Typed(PreyBot):
    def flee(self, state: State) -> PreyMove | None:
        assert_type(self.seat, Literal["hunter", "prey"])
        free = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1) if state.is_free(state.prey.x + dx, state.prey.y + dy)]
        assert_type(free, list[tuple[int, int]])
        return self.go(*max(free, key=lambda go: state.after(prey=go).distance())) if free else None


class TurnByTurn(HunterBot, PreyBot):
    def hunt(self, state: State) -> AddWall | HunterMove:
        return self.add(len(state.walls), (0, 0), (9, 0)) if len(state.walls) < 2 else self.remove(0)

    def flee(self, state: State) -> Step:
        assert_type(COMPASS, dict[str, tuple[int, int]])
        return Step("NE")
