"""A hunter that never builds: it flies across the board and hopes."""

from sdk import HunterBot, HunterMove, State


class Straight(HunterBot):
    def hunt(self, state: State) -> HunterMove | None:
        return None


if __name__ == "__main__":
    Straight.main()
