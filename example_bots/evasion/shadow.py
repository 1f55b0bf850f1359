"""A prey that stays at the hunter's back: a wall then cuts off little, because the hunter builds its walls behind itself."""

from __future__ import annotations

from sdk import Body, PreyBot, PreyMove, State

HORIZON = 24  # steps of the hunter to look ahead
RUN = 12  # moves of its own in which it keeps a direction in its mind
GAP = 7  # cells behind the hunter, along each axis, where it wants to be
ENOUGH = 6.5  # cells to the hunter that are as good as more
DIRECTIONS = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]


class Shadow(PreyBot):
    def flee(self, state: State) -> PreyMove | None:
        path = state.hunter_path(HORIZON)
        return self.go(*max(DIRECTIONS, key=lambda way: self.worth(state, path, way)))

    def worth(self, state: State, path: list[Body], way: tuple[int, int]) -> tuple[float, int, int]:
        """How near the hunter comes if the prey runs this way for a while, then how near its next cell is to the hunter's back."""
        x, y = state.prey.x, state.prey.y
        nearest, runs = ENOUGH, 0
        first = x, y
        for step, hunter in enumerate(path, state.step + 1):
            if step % max(1, state.settings.prey_period) == 0 and runs < RUN and state.is_free(x + way[0], y + way[1]):
                x, y, runs = x + way[0], y + way[1], runs + 1
                first = first if runs > 1 else (x, y)
            nearest = min(nearest, state.distance((x, y), (hunter.x, hunter.y)))
        hunter = state.hunter
        apart = abs(first[0] - hunter.x + GAP * hunter.dx), abs(first[1] - hunter.y + GAP * hunter.dy)
        return nearest, -max(apart), -sum(apart)


if __name__ == "__main__":
    Shadow.main()
