"""A thief and a policeman that go anywhere, from the seed of the match."""

from __future__ import annotations

from sdk.maze import Order, PolicemanBot, State, ThiefBot


class RandomSteps(ThiefBot, PolicemanBot):
    name = "Random"

    def escape(self, state: State) -> Order:
        return self.random.choice(list(state.neighbours(state.here)))

    def chase(self, state: State) -> Order:
        return self.random.choice(list(state.neighbours(state.here)))


if __name__ == "__main__":
    RandomSteps.main()
