"""A hunter that looks ahead: it flies on in its mind, tries every wall on the way, and builds the one that leaves the prey least room."""

from __future__ import annotations

from sdk import HORIZONTAL, VERTICAL, Build, HunterBot, HunterMove, State
from sdk.evasion import Kind, Room

HORIZON = 60  # steps to look ahead for walls along rows and columns
NEAR = 20  # steps to look ahead for slanting walls, which take longer to judge
PATIENCE = 800  # steps without a new wall before it starts afresh
LARGEST = 2_000_000  # cells of a board that it can think about in time
IMPATIENCE = 1.01  # a wall one step later must leave that much less room


class Searcher(HunterBot):
    def begin(self) -> None:
        self.next_look = self.last_built = self.looked_at = 0

    def hunt(self, state: State) -> HunterMove | None:
        if state.wall_timer or state.step < self.next_look or state.settings.width * state.settings.height > LARGEST:
            return None
        if cell(state) not in state.reach("prey") or state.step - self.last_built > PATIENCE:
            # Shut out, or stuck: open everything and start again.
            self.last_built = state.step
            return self.remove(*[wall.id for wall in state.walls])
        useless = self.useless_walls(state)
        wait, build = self.best_wall(state, useless)
        if build is None or wait > 0:
            self.next_look = state.step + max(1, wait)
            return None
        self.last_built = state.step
        self.say(f"{build.kind} wall, {state.area('prey')} cells left so far")
        return HunterMove(build, useless)

    def best_wall(self, state: State, useless: tuple[int, ...]) -> tuple[int, Build | None]:
        """How many steps to wait for the best wall, and that wall; None if no wall would shrink the prey's room by a tenth."""
        forward = state.without(useless).forward()
        room = Room(forward)
        least = 0.9 * room.area
        best: tuple[int, Build | None] = (NEAR, None)
        discount = 1.0
        for wait in range(HORIZON):
            if wait and self.is_late():
                break
            for kind in state.kinds():
                if kind in (HORIZONTAL, VERTICAL):
                    left = room.left_by(forward, kind)
                else:
                    left = self.left_by(kind, forward.state()) if wait < NEAR else None
                self.looked_at += 1
                if left is not None and left * discount < least:
                    least, best = left * discount, (wait, Build(kind))
            forward.step()
            discount *= IMPATIENCE
            if forward.ended:
                break
        return best

    def left_by(self, kind: Kind, state: State) -> int | None:
        """What a slanting wall would leave of the prey's room; None if it can't be built or shuts the hunter out."""
        if not state.can_build(kind):
            return None
        after = state.after(Build(kind))
        room = after.reach("prey")
        return len(room) if cell(after) in room else None

    def is_late(self) -> bool:
        """Whether half of the time for this answer is gone."""
        left = self.left.now()
        return left is not None and left < 0.5 * min(limit for limit in (self.left.move, self.left.bank) if limit is not None)

    def useless_walls(self, state: State) -> tuple[int, ...]:
        """Walls that don't bound the prey's room, once there are so many that they cost a new one its place."""
        if len(state.walls) < state.settings.max_walls:
            return ()
        room = state.area("prey")
        return tuple(wall.id for wall in state.walls if state.without((wall.id,)).area("prey") <= room)


def cell(state: State) -> tuple[int, int]:
    return state.hunter.x, state.hunter.y


if __name__ == "__main__":
    Searcher.main()
