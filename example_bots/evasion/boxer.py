"""A hunter that boxes the prey in: whenever it flies towards the prey, it closes the half of the board behind its back."""

from __future__ import annotations

from sdk import HORIZONTAL, VERTICAL, HunterBot, HunterMove, State


class Boxer(HunterBot):
    def hunt(self, state: State) -> HunterMove | None:
        hunter, prey = state.hunter, state.prey
        for kind, ahead in (
            (VERTICAL, (prey.x - hunter.x) * hunter.dx),
            (HORIZONTAL, (prey.y - hunter.y) * hunter.dy),
        ):
            # Near enough to be worth a wall, far enough not to shut itself out when it bounces.
            if 3 <= ahead <= 40 and state.can_build(kind):
                self.say(f"closing the {kind} door")
                return self.build(kind, remove=self.outer_walls(state))
        return None

    def outer_walls(self, state: State) -> list[int]:
        """The oldest wall, once the last one of those allowed is needed."""
        full = len(state.walls) >= state.settings.max_walls - 1
        return [state.walls.all[0].id] if full and state.walls else []


if __name__ == "__main__":
    Boxer.main()
