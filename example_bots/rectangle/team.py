"""All robots share one large ring: each draws its piece of it, so that it closes before others see it coming."""

from __future__ import annotations

import itertools

from sdk.rectangle import DIRECTIONS, Order, RectangleBot, State


class Team(RectangleBot):
    def begin(self) -> None:
        self.plans: dict[int, list[Order]] = {}

    def place(self, state: State) -> list[tuple[int, int]]:
        n, robots = state.settings.n, state.settings.robots
        side = self.side(state)
        top, left = self.random.randint(0, n - side), self.random.randint(0, n - side)
        ring = self.cells(top, left, side)
        starts = [ring[len(ring) * robot // robots] for robot in range(robots)]
        for robot in range(robots):
            first, last = len(ring) * robot // robots, len(ring) * (robot + 1) // robots
            piece = [*ring, ring[0]][first : last + 1]
            # The last cell of a piece is where the next robot began: it has its colour already.
            self.plans[robot] = self.along(state, piece)
        return starts

    def side(self, state: State) -> int:
        """Longer with more robots: a ring takes about eight turns."""
        return max(3, min(state.settings.n, 2 * state.settings.robots + 2))

    def cells(self, top: int, left: int, side: int) -> list[tuple[int, int]]:
        """A square ring, clockwise from its upper left corner."""
        end = side - 1
        ring = [(0, at) for at in range(end)] + [(at, end) for at in range(end)]
        ring += [(end, at) for at in range(end, 0, -1)] + [(at, 0) for at in range(end, 0, -1)]
        return [(top + row, left + column) for row, column in ring]

    def orders(self, state: State) -> dict[int, Order]:
        wins = {robot: order for robot, order, _ in reversed(state.next_wins())}
        if not any(self.plans.values()):
            self.share(state)
        orders: dict[int, Order] = {}
        for robot in range(state.settings.robots):
            if robot in wins and not self.plans.get(robot):
                orders[robot] = wins[robot]
                continue
            plan = self.plans.get(robot)
            orders[robot] = plan.pop(0) if plan else "-"
        return orders

    def along(self, state: State, cells: list[tuple[int, int]]) -> list[Order]:
        """Orders that lead from each cell to the next."""
        return [order for here, there in itertools.pairwise(cells) for order in state.way(here, there)]

    def share(self, state: State) -> None:
        """Find the next ring and give each robot the piece that it is near."""
        n, robots = state.settings.n, state.settings.robots
        best, ring = 0, []
        for side in range(self.side(state), 2, -1):
            for _ in range(40):
                top, left = self.random.randint(0, n - side), self.random.randint(0, n - side)
                cells = self.cells(top, left, side)
                if any(state.at(cell) == "#" for cell in cells):
                    continue
                free = sum(
                    state.at((row, column)) != "#" for row in range(top + 1, top + side - 1) for column in range(left + 1, left + side - 1)
                )
                if free > best:
                    best, ring = free, cells
            if ring:
                break
        if not ring:
            self.plans = {robot: [self.random.choice(DIRECTIONS)] for robot in range(robots)}
            return
        free_robots = list(range(robots))
        for part in range(robots):
            first, last = len(ring) * part // robots, len(ring) * (part + 1) // robots
            piece = [*ring, ring[0]][first : last + 1]
            robot = min(free_robots, key=lambda number: len(state.way(state.mine[number], piece[0])))
            free_robots.remove(robot)
            way = state.way(state.mine[robot], piece[0])
            self.plans[robot] = [*way, *self.along(state, piece)]


if __name__ == "__main__":
    Team.main()
