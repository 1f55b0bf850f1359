"""A thief that keeps away from the policeman until it is nearer to the exit than he is."""

from __future__ import annotations

from sdk.maze import Order, State, ThiefBot


class Patient(ThiefBot):
    def escape(self, state: State) -> Order:
        ways = state.neighbours(state.thief)

        def worth(order: Order) -> tuple[bool, int, int]:
            square = ways[order]
            apart = state.distance(square, state.policeman)
            to_exit, his = state.distance(square, state.exit), state.distance(state.policeman, state.exit)
            ahead = to_exit < his
            # Never within his reach; then straight for the exit if it would be first, else as far away as can be.
            return square == state.exit or apart > 1, -to_exit if ahead else -1_000, min(apart, 8) * 10 - to_exit

        return max(ways, key=worth)


if __name__ == "__main__":
    Patient.main()
