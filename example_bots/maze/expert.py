"""Perfect play for both roles, from the solved game; in a draw the policeman steps nearest to the thief, and the thief to the exit."""

from __future__ import annotations

from sdk.maze import Order, PolicemanBot, State, ThiefBot


class Expert(ThiefBot, PolicemanBot):
    def begin(self) -> None:
        self.solve()

    def escape(self, state: State) -> Order:
        best, ways = state.best(), state.neighbours(state.thief)
        return min(best, key=lambda order: state.distance(ways[order], state.exit))

    def chase(self, state: State) -> Order:
        best, ways = state.best(), state.neighbours(state.policeman)
        return min(best, key=lambda order: state.distance(ways[order], state.thief))


if __name__ == "__main__":
    Expert.main()
