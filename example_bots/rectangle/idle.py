"""Stays where it was put: what everybody must beat."""

from __future__ import annotations

from sdk.rectangle import RectangleBot, State


class Idle(RectangleBot):
    def orders(self, state: State) -> str:
        return "-" * state.settings.robots


if __name__ == "__main__":
    Idle.main()
