"""A hunter that plays its walls through: it imagines preys of several characters, and finds out which of them it faces.

The room of the prey is always a rectangle with the hunter inside. A wall cuts off the part of the room behind the hunter, and the old wall
on that side is removed, so the limit on walls never stops the hunter. For each wall that it can build now, and for waiting, the hunter
plays on against each imagined prey until capture. It takes what captures soonest.
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, NamedTuple

from sdk import HORIZONTAL, VERTICAL, HunterBot, HunterMove, State

if TYPE_CHECKING:
    from collections.abc import Callable

    from sdk.evasion import Kind

    Cell = tuple[int, int]
    #: First and last column, first and last row.
    Bounds = tuple[int, int, int, int]
    #: The hunter's cell and heading.
    Motion = tuple[int, int, int, int]
    #: A prey's way, from its place ahead of the hunter along each axis and the hunter's steps to the next bounce in each.
    Prey = Callable[[int, int, int, int], tuple[int, int]]

FORESIGHT = 400  # steps to play on
MORE = 12  # steps more for each step of the cooldown, which makes everything slower
MOST = 1_600  # but no more steps than that
LEAST = 0.02  # part of the room that a wall must cut off to be thought about
PASSING = 3  # cells to the prey at which the hunter is about to pass it
PATIENCE = (0.05, 0.3)  # the least parts of the room that a later wall cuts off: two plans
STRIP = 7  # cells beside the hunter's diagonal that a prey leaves in time
LOOK = 16  # steps before a bounce in which a prey dodges what comes after it
MEMORY = 0.95  # how much a guess counts that was made one move earlier


class Room(NamedTuple):
    """The free rectangle around the prey, and the wall on each side: None where the board ends."""

    west: int
    east: int
    south: int
    north: int
    walls: tuple[int | None, ...]

    def holds(self, x: int, y: int) -> bool:
        return self.west <= x <= self.east and self.south <= y <= self.north


class Trapper(HunterBot):
    def begin(self) -> None:
        self.trust = dict.fromkeys(PREYS, 1.0)
        self.guesses: dict[Prey, tuple[int, int]] = {}

    def hunt(self, state: State) -> HunterMove | None:
        room = find_room(state)
        if room is None:
            return self.remove(*[wall.id for wall in state.walls])
        self.learn(state, room)
        if state.wall_timer:
            return None
        has_wall = [wall is not None for wall in room.walls]
        found = cuts(room[:4], has_wall, state.settings.max_walls, state.hunter, state.prey[:2])
        kinds = [kind for part, kind in found if part >= LEAST]
        best, choice = self.steps_needed(state, room, None) if kinds else 0, None
        for kind in kinds:
            steps = self.steps_needed(state, room, kind)
            if steps < best and not self.is_late():
                best, choice = steps, kind
        if choice is None:
            return None
        self.say(f"{choice} wall, about {best:.0f} steps to go")
        replaced = side(choice, state.hunter.dx, state.hunter.dy)
        kept = [wall for at, wall in enumerate(room.walls) if at != replaced]
        return self.build(choice, remove=[wall.id for wall in state.walls if wall.id not in kept])

    def steps_needed(self, state: State, room: Room, kind: Kind | None) -> float:
        """The steps until capture if a wall is built now (None: no wall), by the better plan; preys that guessed right count more."""
        weights = [(trust + 0.1) ** 2 for trust in self.trust.values()]
        return min(
            sum(weight * play_on(state, room, kind, prey, least) for prey, weight in zip(PREYS, weights, strict=True)) / sum(weights)
            for least in PATIENCE
        )

    def learn(self, state: State, room: Room) -> None:
        """Compare the prey's last move with the guesses, and guess its next one."""
        prey = state.prey
        for character, guess in self.guesses.items():
            self.trust[character] = MEMORY * self.trust[character] + (guess == (prey.x, prey.y))
        self.guesses = {}
        if (state.step + 1) % state.settings.prey_period:
            return
        hunter = state.hunter_path(1)[0]
        for character in PREYS:
            self.guesses[character] = run(character, room[:4], hunter, prey.x, prey.y)

    def is_late(self) -> bool:
        """Whether half of the time for this answer is gone."""
        left = self.left.now()
        return left is not None and left < 0.5 * min(limit for limit in (self.left.move, self.left.bank) if limit is not None)


def find_room(state: State) -> Room | None:
    """The prey's room, or None if it isn't a rectangle with the hunter inside."""
    x, y = state.prey.x, state.prey.y
    west, east, south, north = -1, state.settings.width, -1, state.settings.height
    walls: list[int | None] = [None] * 4
    for wall in state.walls:
        if wall.kind == VERTICAL and wall.y1 <= y <= wall.y2:
            if west < wall.x1 < x:
                west, walls[0] = wall.x1, wall.id
            elif x < wall.x1 < east:
                east, walls[1] = wall.x1, wall.id
        elif wall.kind == HORIZONTAL and wall.x1 <= x <= wall.x2:
            if south < wall.y1 < y:
                south, walls[2] = wall.y1, wall.id
            elif y < wall.y1 < north:
                north, walls[3] = wall.y1, wall.id
    room = Room(west + 1, east - 1, south + 1, north - 1, tuple(walls))
    for wall in state.walls:
        (west, east), (south, north) = sorted((wall.x1, wall.x2)), sorted((wall.y1, wall.y2))
        if west <= room.east and east >= room.west and south <= room.north and north >= room.south:
            return None  # It stands in the room.
    return room if room.holds(state.hunter.x, state.hunter.y) else None


def cuts(bounds: Bounds, has_wall: list[bool], most: int, hunter: Motion, prey: Cell, near: float = inf) -> list[tuple[float, Kind]]:
    """The walls that can be built now, each with the part of the room that it cuts off; only those that are ``near`` the prey.

    ``most`` is the limit on walls. A wall is left out that would shut the hunter out.
    """
    west, east, south, north = bounds
    x, y, dx, dy = hunter
    has_spare = sum(has_wall) < most
    found: list[tuple[float, Kind]] = []
    if 0 < (prey[0] - x) * dx < near and west <= x + dx <= east and (has_spare or has_wall[side(VERTICAL, dx, dy)]):
        found.append(((1 + (x - west if dx > 0 else east - x)) / (east - west + 1), VERTICAL))
    if 0 < (prey[1] - y) * dy < near and south <= y + dy <= north and (has_spare or has_wall[side(HORIZONTAL, dx, dy)]):
        found.append(((1 + (y - south if dy > 0 else north - y)) / (north - south + 1), HORIZONTAL))
    return found


def side(kind: Kind, dx: int, dy: int) -> int:
    """The side of the room, as in ``Room.walls``, that a wall behind the hunter bounds."""
    return (0 if dx > 0 else 1) if kind == VERTICAL else (2 if dy > 0 else 3)


def run(prey: Prey, bounds: Bounds, hunter: Motion, x: int, y: int) -> Cell:
    """Where an imagined prey goes from (x, y)."""
    west, east, south, north = bounds
    hx, hy, dx, dy = hunter
    along, across = prey((x - hx) * dx, (y - hy) * dy, east - hx if dx > 0 else hx - west, north - hy if dy > 0 else hy - south)
    x, y = x + along * dx, y + across * dy
    return (west if x < west else east if x > east else x), (south if y < south else north if y > north else y)


def fly(bounds: Bounds, hunter: Motion) -> Motion:
    """The hunter after one step."""
    west, east, south, north = bounds
    x, y, dx, dy = hunter
    x, dx = (x + dx, dx) if west <= x + dx <= east else (x, -dx)
    y, dy = (y + dy, dy) if south <= y + dy <= north else (y, -dy)
    return x, y, dx, dy


def shrunk(bounds: Bounds, kind: Kind, hunter: Motion) -> Bounds:
    """The room after a wall is built behind the hunter, which was here before its step."""
    west, east, south, north = bounds
    x, y, dx, dy = hunter
    if kind == VERTICAL:
        return (x + 1, east, south, north) if dx > 0 else (west, x - 1, south, north)
    return (west, east, y + 1, north) if dy > 0 else (west, east, south, y - 1)


def play_on(state: State, room: Room, kind: Kind | None, prey: Prey, least: float) -> int:
    """The steps until an imagined prey is caught, or more than can be foreseen.

    A wall of this ``kind`` is built now. Later walls are built when the hunter is about to pass the prey, if they cut off ``least`` of the
    room.
    """
    settings = state.settings
    squares = max(1, settings.capture_radius - 1) ** 2
    bounds, has_wall = room[:4], [wall is not None for wall in room.walls]
    hunter: Motion = state.hunter
    (x, y), timer = state.prey[:2], 0
    horizon = min(MOST, FORESIGHT + MORE * settings.cooldown)
    for step in range(state.step + 1, state.step + horizon + 1):
        if timer:
            timer -= 1
        elif step > state.step + 1:
            near = cuts(bounds, has_wall, settings.max_walls, hunter, (x, y), PASSING)
            part, kind = max(near) if near else (0.0, None)
            kind = kind if part >= least else None
        before, hunter = hunter, fly(bounds, hunter)
        if kind is not None:
            has_wall[side(kind, before[2], before[3])] = True
            bounds, timer, kind = shrunk(bounds, kind, before), max(0, settings.cooldown - 1), None
        if step % settings.prey_period == 0:
            x, y = run(prey, bounds, hunter, x, y)
        if (hunter[0] - x) ** 2 + (hunter[1] - y) ** 2 <= squares:
            return step - state.step
    return horizon + bounds[1] - bounds[0] + bounds[3] - bounds[2] + 2


def dodge(ahead_x: int, ahead_y: int, wall_x: int, wall_y: int) -> tuple[int, int] | None:
    """The way out of the hunter's diagonal, this one or the one after its next bounce; None where there is no danger."""
    if -STRIP < ahead_x - ahead_y < STRIP and ahead_x + ahead_y > -STRIP:
        return (1, -1) if ahead_x >= ahead_y else (-1, 1)
    steps = min(wall_x, wall_y)
    if steps > LOOK:
        return None
    turn_x, turn_y = (-1 if wall_x == steps else 1), (-1 if wall_y == steps else 1)
    ahead_x, ahead_y = (ahead_x - steps) * turn_x, (ahead_y - steps) * turn_y
    if -STRIP < ahead_x - ahead_y < STRIP and ahead_x + ahead_y > -STRIP:
        return (turn_x, -turn_y) if ahead_x >= ahead_y else (-turn_x, turn_y)
    return None


def follower(ahead_x: int, ahead_y: int, wall_x: int, wall_y: int) -> tuple[int, int]:
    """Stays at the hunter's back."""
    return dodge(ahead_x, ahead_y, wall_x, wall_y) or (sign(-STRIP - ahead_x), sign(-STRIP - ahead_y))


def fugitive(ahead_x: int, ahead_y: int, wall_x: int, wall_y: int) -> tuple[int, int]:
    """Runs away from the hunter."""
    return dodge(ahead_x, ahead_y, wall_x, wall_y) or (sign(ahead_x), sign(ahead_y))


def idler(ahead_x: int, ahead_y: int, wall_x: int, wall_y: int) -> tuple[int, int]:
    """Moves only to dodge."""
    return dodge(ahead_x, ahead_y, wall_x, wall_y) or (0, 0)


def sign(number: int) -> int:
    return (number > 0) - (number < 0)


PREYS: tuple[Prey, ...] = (follower, fugitive, idler)

if __name__ == "__main__":
    Trapper.main()
