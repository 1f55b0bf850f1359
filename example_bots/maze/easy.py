"""The policeman of the assignment's easy game: any square that it can go to. Source: rules of Maze, "Policemen"."""

from __future__ import annotations

from sdk.maze import Order, PolicemanBot, State


class Easy(PolicemanBot):
    def chase(self, state: State) -> Order:
        return self.random.choice(list(state.neighbours(state.policeman)))


if __name__ == "__main__":
    Easy.main()
