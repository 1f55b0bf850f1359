"""A prey that keeps to cells from which it could stay free forever if the hunter built nothing more, and puts off a capture that is certain."""

from __future__ import annotations

from sdk import HORIZONTAL, VERTICAL, Body, PreyBot, PreyMove, State
from sdk.evasion import Room

HORIZON = 80  # steps of the hunter to look ahead
DIRECTIONS = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
BUDGET = 100_000_000  # what one look may cost
NEAR = 24  # cells between it and the hunter's way at which it looks closely
RESERVE = 30.0  # seconds of its bank that it doesn't think away
AHEAD = 40  # steps in which the hunter's walls are feared
DOUBT = 1.01  # a wall one step later is feared that much less
WALLS = 30.0  # what its whole room is worth, in cells of distance to the hunter


class Ghost(PreyBot):
    def flee(self, state: State) -> PreyMove | None:
        path = state.hunter_path(HORIZON)
        if self.left.bank is not None and self.left.bank < RESERVE:
            return self.go(*max(DIRECTIONS, key=lambda way: self.worth(state, path, way)))
        places: dict[tuple[int, int], tuple[int, int]] = {}
        after = state
        for way in DIRECTIONS:
            after = state.after(prey=way)
            if not after.is_over:
                places.setdefault((after.prey.x, after.prey.y), way)
        if not places:
            return None
        safe = self.safe_places(state, path, list(places))
        if safe:
            left = self.left_by_walls(state, [places[place] for place in safe])
            best = max(safe, key=lambda place: WALLS * left[places[place]] + self.worth(state, path, places[place]))
        else:
            best = max(places, key=lambda place: (self.steps_left(state, places[place]), self.worth(state, path, places[place])))
        return self.go(*places[best])

    def safe_places(self, state: State, path: list[Body], places: list[tuple[int, int]]) -> list[tuple[int, int]]:
        """Those of some places that are safe after this step; all while the hunter doesn't come near."""
        after = state.after(prey=(0, 0))
        if after.is_over:
            return []
        x, y = state.prey.x, state.prey.y
        if all(max(abs(hunter.x - x), abs(hunter.y - y)) > NEAR for hunter in path):
            return places
        cells = after.safe_cells(BUDGET)
        return [place for place in places if place in cells]

    def left_by_walls(self, state: State, ways: list[tuple[int, int]]) -> dict[tuple[int, int], float]:
        """For each way what part of its room the hunter's best wall of the next steps would leave, if it ran that way all the time."""
        if state.settings.rules == "gameserver":
            return dict.fromkeys(ways, 1.0)
        forward = state.forward()
        room = Room(forward)
        shares = {}
        for way in ways:
            least, steps = 1.0, 0
            for steps in range(1, AHEAD + 1):
                for kind in (HORIZONTAL, VERTICAL):
                    left = room.left_by(forward, kind)
                    if left is not None:
                        least = min(least, left / room.area * DOUBT**steps)
                forward.step(None, way)
                if forward.ended:
                    break
            for _ in range(steps):
                forward.undo()
            shares[way] = least
        return shares

    def steps_left(self, state: State, way: tuple[int, int]) -> int:
        """The steps until capture if the prey goes this way now and does its best from then on."""
        verdict = state.after(prey=way).verdict(BUDGET)
        return verdict.steps if verdict.steps is not None else 10**6

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
    Ghost.main()
