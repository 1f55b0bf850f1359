"""A hunter that measures what is left to the prey exactly: it picks the wall that shrinks the prey's safe cells most, and ends a game that is won.

While the prey's room is large it goes by the room's size, as the searcher does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sdk import HORIZONTAL, VERTICAL, Build, HunterBot, HunterMove, State
from sdk.evasion import Kind, Room

if TYPE_CHECKING:
    from collections.abc import Iterator

HORIZON = 60  # steps to look ahead for walls along rows and columns
SMALL = 4_000  # cells of a room that is judged exactly
NEAR = 20  # steps to look ahead there, and for slanting walls
BUDGET = 60_000_000  # what one verdict may cost
PATIENCE = 800  # steps without a new wall before it starts afresh
LARGEST = 2_000_000  # cells of a board that it can think about in time
IMPATIENCE = 1.01  # a wall one step later must leave that much less room
HURRY = 1.03  # the same for safe cells


class Surveyor(HunterBot):
    def begin(self) -> None:
        self.next_look = self.last_built = 0

    def hunt(self, state: State) -> HunterMove | None:
        if state.wall_timer:
            return None
        if state.area("prey") > SMALL or cell(state) not in state.reach("prey"):
            return self.shrink(state)
        if state.step < self.next_look:
            return None
        useless = self.useless_walls(state)
        wait, build, steps = self.sharpest_wall(state, useless)
        if build is None and not steps:
            return self.shrink(state)
        self.next_look = state.step + max(1, wait)
        if build is None or wait:
            return None
        self.last_built = state.step
        self.say(f"{build.kind} wall" + (f", caught within {steps} steps" if steps else ""))
        return HunterMove(build, useless)

    def sharpest_wall(self, state: State, useless: tuple[int, ...]) -> tuple[int, Build | None, int]:
        """How long to wait for the wall that brings capture soonest, that wall (None: as it is now), and the steps until capture (0: not certain)."""
        soonest = state.verdict(BUDGET).steps or 0
        best: tuple[int, Build | None] = (NEAR, None)
        safest = 0.9 * self.safe_area(state)
        for wait, build, after in self.futures(state.without(useless)):
            steps = after.verdict(BUDGET).steps
            if steps is not None:
                steps += wait + 1
                if not soonest or steps < soonest:
                    soonest, best = steps, (wait, build)
            elif not soonest:
                left = self.safe_area(after) * HURRY**wait
                if left < safest:
                    safest, best = left, (wait, build)
        return *best, soonest

    def futures(self, state: State) -> Iterator[tuple[int, Build, State]]:
        """The walls of the next steps that keep the hunter with the prey: how long to wait, the wall, and the position after it."""
        forward = state.forward()
        for wait in range(NEAR):
            if forward.ended or (wait and self.is_late()):
                return
            here = forward.state()
            for kind in state.kinds():
                after = here.after(Build(kind)) if here.can_build(kind) else None
                if after is not None and not after.is_over and cell(after) in after.reach("prey"):
                    yield wait, Build(kind), after
            forward.step()

    def safe_area(self, state: State) -> int:
        return len(state.safe_cells(BUDGET) & state.reach("prey"))

    def shrink(self, state: State) -> HunterMove | None:
        """As the searcher does: the wall that leaves the prey least room."""
        if state.step < self.next_look or state.settings.width * state.settings.height > LARGEST:
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
    Surveyor.main()
