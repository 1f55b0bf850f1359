"""A hunter that simulates its walls: for each wall that it can build now, and for none, it imagines the match until capture.

The room of the prey is always a rectangle with the hunter inside. A wall cuts off the part of the room behind the hunter, and the old wall
on that side is removed, so the limit on walls never stops the hunter. The imagined prey is a hard one: it stays at the hunter's back, where
walls cut off little.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from sdk import HORIZONTAL, VERTICAL, HunterBot, HunterMove, State

if TYPE_CHECKING:
    from sdk.evasion import Kind

    Cell = tuple[int, int]
    #: The hunter's cell and heading.
    Motion = tuple[int, int, int, int]
    #: The first and the last column of a room, then its first and last row.
    Bounds = list[int]

FORESIGHT = 400  # steps to imagine
MORE = 12  # steps more for each step of the cooldown, which makes everything slower
MOST = 1_600  # but no more steps than that
LEAST = 0.02  # the least part of the room that a wall cuts off
PATIENCE = (0.05, 0.3)  # the least part of the room that a later wall cuts off: two plans
PASSING = 3  # cells to the prey at which the hunter is about to pass it
STRIP = 7  # cells beside the hunter's diagonal that the prey leaves in time
LOOK = 16  # steps before a bounce in which the prey leaves the diagonal after it


class Room(NamedTuple):
    """The free rectangle around the prey, and the id of the wall at each of its bounds: None where the board ends."""

    bounds: Bounds
    walls: list[int | None]


class Cut(NamedTuple):
    """A wall behind the hunter: the part of the room that it cuts off, and the bound of the room that it moves to the cell ``edge``."""

    part: float
    kind: Kind
    bound: int
    edge: int


class Trapper(HunterBot):
    def hunt(self, state: State) -> HunterMove | None:
        room = find_room(state)
        if room is None:
            return self.remove(*[wall.id for wall in state.walls])
        if state.wall_timer:
            return None
        has_wall = [wall is not None for wall in room.walls]
        possible = cuts(room.bounds, has_wall, state.settings.max_walls, state.hunter, state.prey[:2])
        possible = [cut for cut in possible if cut.part >= LEAST]
        if not possible:
            return None
        best, chosen = inf, None
        for cut in (None, *possible):
            steps = min(steps_to_capture(state, room, cut, least) for least in PATIENCE)
            if steps < best:
                best, chosen = steps, cut
        if chosen is None:
            return None
        self.say(f"{chosen.kind} wall, about {best} steps to go")
        remaining = [wall for bound, wall in enumerate(room.walls) if bound != chosen.bound]
        return self.build(chosen.kind, remove=[wall.id for wall in state.walls if wall.id not in remaining])


def find_room(state: State) -> Room | None:
    """The prey's room, or None if the hunter isn't inside."""
    x, y = state.prey.x, state.prey.y
    bounds = [0, state.settings.width - 1, 0, state.settings.height - 1]
    walls: list[int | None] = [None] * 4
    for wall in state.walls:
        if wall.kind == VERTICAL and wall.y1 <= y <= wall.y2:
            bound, edge = (0, wall.x1 + 1) if wall.x1 < x else (1, wall.x1 - 1)
        elif wall.kind == HORIZONTAL and wall.x1 <= x <= wall.x2:
            bound, edge = (2, wall.y1 + 1) if wall.y1 < y else (3, wall.y1 - 1)
        else:
            continue
        if edge > bounds[bound] if bound in (0, 2) else edge < bounds[bound]:
            bounds[bound], walls[bound] = edge, wall.id
    west, east, south, north = bounds
    return Room(bounds, walls) if west <= state.hunter.x <= east and south <= state.hunter.y <= north else None


def cuts(bounds: Bounds, has_wall: list[bool], max_walls: int, hunter: Motion, prey: Cell, near: float = inf) -> list[Cut]:
    """The walls that the hunter can build now, with itself and the prey on the same side; only those that are ``near`` the prey."""
    x, y, dx, dy = hunter
    possible = []
    for kind, at, heading, target, low in ((VERTICAL, x, dx, prey[0], 0), (HORIZONTAL, y, dy, prey[1], 2)):
        bound, edge = (low if heading > 0 else low + 1), at + heading
        is_allowed = has_wall[bound] or sum(has_wall) < max_walls
        if is_allowed and 0 < (target - at) * heading < near and bounds[low] <= edge <= bounds[low + 1]:
            possible.append(Cut(abs(edge - bounds[bound]) / (bounds[low + 1] - bounds[low] + 1), kind, bound, edge))
    return possible


def steps_to_capture(state: State, room: Room, cut: Cut | None, least: float) -> int:
    """The steps until the imagined prey is caught, or more than can be foreseen, if this wall is built now (None: no wall).

    Later walls are built when the hunter is about to pass the prey, if they cut off ``least`` of the room.
    """
    settings = state.settings
    squares = max(1, settings.capture_radius - 1) ** 2
    bounds, has_wall = [*room.bounds], [wall is not None for wall in room.walls]
    hunter: Motion = state.hunter
    (x, y), timer = state.prey[:2], 0
    horizon = min(MOST, FORESIGHT + MORE * settings.cooldown)
    for step in range(1, horizon + 1):
        if timer:
            timer -= 1
        elif step > 1:
            near = cuts(bounds, has_wall, settings.max_walls, hunter, (x, y), PASSING)
            cut = max((option for option in near if option.part >= least), default=None)
        hunter = fly(bounds, hunter)
        if cut is not None:
            bounds[cut.bound], has_wall[cut.bound] = cut.edge, True
            cut, timer = None, max(0, settings.cooldown - 1)
        if (state.step + step) % settings.prey_period == 0:
            x, y = follow(bounds, hunter, x, y)
        if (hunter[0] - x) ** 2 + (hunter[1] - y) ** 2 <= squares:
            return step
    return horizon + bounds[1] - bounds[0] + bounds[3] - bounds[2] + 2


def fly(bounds: Bounds, hunter: Motion) -> Motion:
    """The hunter after one step."""
    west, east, south, north = bounds
    x, y, dx, dy = hunter
    x, dx = (x + dx, dx) if west <= x + dx <= east else (x, -dx)
    y, dy = (y + dy, dy) if south <= y + dy <= north else (y, -dy)
    return x, y, dx, dy


def follow(bounds: Bounds, hunter: Motion, x: int, y: int) -> Cell:
    """Where the imagined prey goes from (x, y): off the hunter's diagonal, or off the one after its next bounce, else to its back."""
    west, east, south, north = bounds
    hx, hy, dx, dy = hunter
    to_x, to_y = east - hx if dx > 0 else hx - west, north - hy if dy > 0 else hy - south
    steps = min(to_x, to_y)
    bounced = hx + steps * dx, hy + steps * dy, -dx if to_x == steps else dx, -dy if to_y == steps else dy
    way = dodge(hunter, x, y) or (dodge(bounced, x, y) if steps <= LOOK else None)
    way = way or (sign(hx - STRIP * dx - x), sign(hy - STRIP * dy - y))
    return min(max(x + way[0], west), east), min(max(y + way[1], south), north)


def dodge(hunter: Motion, x: int, y: int) -> Cell | None:
    """The prey's direction off the hunter's diagonal; None if it isn't in danger."""
    hx, hy, dx, dy = hunter
    ahead_x, ahead_y = (x - hx) * dx, (y - hy) * dy
    if -STRIP < ahead_x - ahead_y < STRIP and ahead_x + ahead_y > -STRIP:
        return (dx, -dy) if ahead_x >= ahead_y else (-dx, dy)
    return None


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


if __name__ == "__main__":
    Trapper.main()
