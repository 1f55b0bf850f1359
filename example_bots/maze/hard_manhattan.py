"""A policeman that looks at the straight distance, walls left aside, and never goes back if it can choose. Source: rules of Maze, "Policemen"."""

from __future__ import annotations

from sdk.maze import Order, PolicemanBot, State


class HardManhattan(PolicemanBot):
    name = "Hard Manhattan"

    def chase(self, state: State) -> Order:
        ways = state.neighbours(state.policeman)
        onward = {order: square for order, square in ways.items() if square != state.policeman_from} or ways
        apart = {order: abs(row - state.thief[0]) + abs(column - state.thief[1]) for order, (row, column) in onward.items()}
        least = min(apart.values())
        return self.random.choice([order for order, distance in apart.items() if distance == least])


if __name__ == "__main__":
    HardManhattan.main()
