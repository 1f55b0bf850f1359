"""A prey that reads the hunter's course: it runs where the hunter, flying on as it does, stays farthest away, and keeps to open ground."""

from __future__ import annotations

from sdk import Body, PreyBot, PreyMove, State

HORIZON = 80  # steps of the hunter to look ahead
DIRECTIONS = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]


class Evader(PreyBot):
    def flee(self, state: State) -> PreyMove | None:
        path = state.hunter_path(HORIZON)
        best = max(DIRECTIONS, key=lambda way: self.worth(state, path, way))
        return self.go(*best)

    def worth(self, state: State, path: list[Body], way: tuple[int, int]) -> float:
        """How near the hunter will come if the prey runs this way for a while, and how open the place is where it gets to."""
        x, y = state.prey.x, state.prey.y
        nearest, run = 1e9, 0
        for step, hunter in enumerate(path):
            if step % 2 == 0 and run < 20 and state.is_free(x + way[0], y + way[1]):
                x, y, run = x + way[0], y + way[1], run + 1
            # What is near soon weighs more than what is near later.
            nearest = min(nearest, max(abs(hunter.x - x), abs(hunter.y - y)) + step / 8)
        return nearest + 0.2 * min(self.room(state, x, y), 20)

    def room(self, state: State, x: int, y: int) -> int:
        """The free cells to the nearest wall or border, in the worst of the four directions."""
        reach = 0
        while reach < 20 and all(state.is_free(x + dx * reach, y + dy * reach) for dx, dy in ((1, 0), (-1, 0), (0, 1), (0, -1))):
            reach += 1
        return reach


if __name__ == "__main__":
    Evader.main()
