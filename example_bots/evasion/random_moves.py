"""A hunter and a prey in one class: each does anything that its rules allow, from the seed of the match."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdk import HunterBot, HunterMove, PreyBot, PreyMove, State

if TYPE_CHECKING:
    from sdk.evasion import AddWall


class RandomMoves(HunterBot, PreyBot):
    name = "Random"

    def hunt(self, state: State) -> HunterMove | AddWall | None:
        if self.random.random() < 0.9:
            return None
        if state.walls and self.random.random() < 0.5:
            return self.remove(self.random.choice(state.walls.all).id)
        if state.settings.rules == "gameserver":
            row, column = self.random.randrange(state.settings.height), self.random.randrange(state.settings.width)
            return self.add(state.step % 10_000, (column, row), (self.random.randrange(state.settings.width), row))
        return self.build(self.random.choice(state.kinds()))

    def flee(self, state: State) -> PreyMove | None:
        if self.random.random() < 0.9:
            return None
        return self.go(self.random.randint(-1, 1), self.random.randint(-1, 1))


if __name__ == "__main__":
    RandomMoves.main()
