"""A thief that takes the shortest way to the exit, but not next to the policeman."""

from __future__ import annotations

from sdk.maze import Order, State, ThiefBot


class Dasher(ThiefBot):
    def escape(self, state: State) -> Order:
        ways = state.neighbours(state.thief)
        reached = {state.policeman, *state.neighbours(state.policeman).values()}
        safe = {order: square for order, square in ways.items() if square == state.exit or square not in reached}
        options = safe or ways
        return min(options, key=lambda order: state.distance(options[order], state.exit))


if __name__ == "__main__":
    Dasher.main()
