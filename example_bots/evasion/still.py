"""A prey that never moves: the first thing that a hunter should catch."""

from sdk import PreyBot, PreyMove, State


class Still(PreyBot):
    def flee(self, state: State) -> PreyMove | None:
        return None


if __name__ == "__main__":
    Still.main()
