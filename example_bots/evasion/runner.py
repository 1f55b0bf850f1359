"""A prey that runs straight away from the hunter, and along the wall when it has run into one."""

from __future__ import annotations

from sdk import PreyBot, PreyMove, State


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


class Runner(PreyBot):
    def flee(self, state: State) -> PreyMove | None:
        x, y = state.prey.x, state.prey.y
        away = sign(x - state.hunter.x), sign(y - state.hunter.y)
        for dx, dy in (away, (away[0], 0), (0, away[1]), (away[0], -away[1]), (-away[0], away[1])):
            if (dx or dy) and state.is_free(x + dx, y + dy):
                return self.go(dx, dy)
        return self.go(0, 0)


if __name__ == "__main__":
    Runner.main()
