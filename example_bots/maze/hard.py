"""The policeman of the assignment's hard game: nearer to the thief by the path, and not back if it can choose. Source: rules of Maze, "Policemen"."""

from __future__ import annotations

from sdk.maze import Order, PolicemanBot, State


class Hard(PolicemanBot):
    def chase(self, state: State) -> Order:
        ways = state.neighbours(state.policeman)
        least = min(state.distance(square, state.thief) for square in ways.values())
        nearest = [order for order, square in ways.items() if state.distance(square, state.thief) == least]
        onward = [order for order in nearest if ways[order] != state.policeman_from]
        return self.random.choice(onward or nearest)


if __name__ == "__main__":
    Hard.main()
