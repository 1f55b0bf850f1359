"""Draws small rings, and sends who is nearest to spoil a ring that the leader has nearly finished."""

from __future__ import annotations

from sdk.rectangle import DIRECTIONS, Order, RectangleBot, State


class Blocker(RectangleBot):
    def begin(self) -> None:
        self.plans: dict[int, list[Order]] = {}
        self.seen: list[tuple[int, int]] = []

    def orders(self, state: State) -> dict[int, Order]:
        orders: dict[int, Order] = {}
        # On a large board looking everywhere takes long: not in every turn then.
        if state.settings.n <= 40 or state.turn % 10 == 0:
            self.seen = self.targets(state)
        targets = [target for target in self.seen if state.at(target) != "#"]
        for robot, cell in enumerate(state.mine):
            near = [target for target in targets if len(state.way(cell, target)) <= 4]
            if near:
                target = min(near, key=lambda place: len(state.way(cell, place)))
                orders[robot] = "-" if cell == target else state.way(cell, target)[0]
                self.plans[robot] = []
                continue
            if not self.plans.get(robot):
                self.plans[robot] = self.ring(state, cell)
            orders[robot] = self.plans[robot].pop(0)
        return orders | {robot: order for robot, order, _ in reversed(state.next_wins())}

    def targets(self, state: State) -> list[tuple[int, int]]:
        """The cells that the best of the others lacks."""
        others = [seat for seat in state.seats if seat != state.seat]
        leader = max(others, key=lambda seat: state.scores[state.seats.index(seat)])
        cells_lacking: dict[tuple[int, int], None] = {}
        for _, cells in state.unfinished(leader, missing=2, longest=7):
            cells_lacking |= dict.fromkeys(cells)
            if len(cells_lacking) > 20:
                break
        return list(cells_lacking)

    def ring(self, state: State, cell: tuple[int, int]) -> list[Order]:
        """The way around a small ring near a cell with something left inside."""
        n = state.settings.n
        for _ in range(20):
            top = min(max(cell[0] + self.random.randint(-3, 1), 0), n - 3)
            left = min(max(cell[1] + self.random.randint(-3, 1), 0), n - 3)
            square = [(row, column) for row in range(top, top + 3) for column in range(left, left + 3)]
            if all(state.at(place) != "#" for place in square):
                return list(state.draws(cell, top, left, top + 2, left + 2))
        return [self.random.choice(DIRECTIONS)] * 3


if __name__ == "__main__":
    Blocker.main()
