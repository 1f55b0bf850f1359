"""Each robot goes anywhere, from the seed of the match; but takes what it can win with its next step."""

from __future__ import annotations

from sdk.rectangle import DIRECTIONS, Order, RectangleBot, State


class RandomOrders(RectangleBot):
    name = "Random"

    def orders(self, state: State) -> dict[int, Order]:
        orders = {robot: self.random.choice(DIRECTIONS) for robot in range(state.settings.robots)}
        return orders | {robot: order for robot, order, _ in reversed(state.next_wins())}


if __name__ == "__main__":
    RandomOrders.main()
