"""Each robot draws ring after ring of one size, where most is left to win near it."""

from __future__ import annotations

from sdk.rectangle import DIRECTIONS, Order, RectangleBot, State

#: Cells of a side.
SIDE = 5


class Looper(RectangleBot):
    def place(self, state: State) -> list[tuple[int, int]]:
        n = state.settings.n
        return [(self.random.randrange(n), self.random.randrange(n)) for _ in range(state.settings.robots)]

    def begin(self) -> None:
        self.plans: dict[int, list[Order]] = {}

    def orders(self, state: State) -> dict[int, Order]:
        orders: dict[int, Order] = {}
        for robot, cell in enumerate(state.mine):
            if not self.plans.get(robot):
                self.plans[robot] = self.plan(state, cell)
            orders[robot] = self.plans[robot].pop(0)
        return orders

    def plan(self, state: State, cell: tuple[int, int]) -> list[Order]:
        """The way around the ring that is worth most: free cells inside, less the way to it and spoiled sides."""
        n = state.settings.n
        side = min(SIDE, n)
        best = 0.0
        orders: list[Order] = []
        for _ in range(30):
            top = min(max(cell[0] + self.random.randint(-2 * side, side), 0), n - side)
            left = min(max(cell[1] + self.random.randint(-2 * side, side), 0), n - side)
            bottom, right = top + side - 1, left + side - 1
            inside = sum(state.at((row, column)) != "#" for row in range(top + 1, bottom) for column in range(left + 1, right))
            edge = [
                (row, column)
                for row in range(top, bottom + 1)
                for column in range(left, right + 1)
                if row in (top, bottom) or column in (left, right)
            ]
            if not inside or any(state.at(place) == "#" for place in edge):
                continue
            way = state.draws(cell, top, left, bottom, right)
            if inside / len(way) > best:
                best, orders = inside / len(way), list(way)
        return orders or [self.random.choice(DIRECTIONS)]


if __name__ == "__main__":
    Looper.main()
