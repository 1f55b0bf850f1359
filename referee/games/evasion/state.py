"""Settings, states and moves of Evasion, all frozen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from referee.games.evasion.board.wall import Kind, Span
    from referee.games.evasion.board.walls import Walls


Rules = Literal["classic", "diagonal", "gameserver"]
Heading = Literal["N", "NE", "E", "SE", "S", "SW", "W", "NW"]

HUNTER = "hunter"
PREY = "prey"
SEATS = (HUNTER, PREY)


class Settings(NamedTuple):
    """The settings of a game. Build them with ``variants.settings``, which checks them.

    ``hunter`` is x, y, dx, dy; ``prey`` is x, y; ``cooldown`` is N, the steps from one wall to the next; ``max_walls`` is M.
    ``capture_radius`` is in cells; the prey moves on every ``prey_period``-th step; ``max_steps`` is the step limit. In ``gameserver``
    steps are turns, ``cooldown`` counts the hunter's turns between two walls, ``prey_cooldown`` counts the prey's turns between two
    moves, and ``capture_radius`` is the length of a path. ``prey_period`` has no effect there; ``prey_cooldown`` has none elsewhere.
    ``adjudicate_after`` is the number of steps without a change of walls after which a prey that can evade forever wins; 0: never.
    """

    rules: Rules
    width: int
    height: int
    hunter: tuple[int, int, int, int]
    prey: tuple[int, int]
    cooldown: int
    max_walls: int
    capture_radius: int
    prey_period: int
    max_steps: int
    prey_cooldown: int = 0
    adjudicate_after: int = 0


class Body(NamedTuple):
    """A player on the board: its cell and the direction it moves in, each part -1, 0 or 1."""

    x: int
    y: int
    dx: int
    dy: int


class Build(NamedTuple):
    """A requested wall through the hunter's cell: its kind and its first and last coordinate, or no span for the longest wall."""

    kind: Kind
    span: Span | None = None


class HunterMove(NamedTuple):
    """A hunter's move in one step: a wall to build or None, and the ids of walls to remove."""

    build: Build | None = None
    remove: tuple[int, ...] = ()


class PreyMove(NamedTuple):
    """A prey's move in one step: a direction, or None to keep its direction."""

    go: tuple[int, int] | None = None


class AddWall(NamedTuple):
    """``gameserver``: a wall with an id of the hunter's choice, from one end to the other."""

    id: int
    x1: int
    y1: int
    x2: int
    y2: int


class RemoveWall(NamedTuple):
    """``gameserver``: take down a wall."""

    id: int


class Step(NamedTuple):
    """``gameserver``: the prey moves one cell in a direction of the compass, N being up on the screen, where y is 0."""

    go: Heading


class To(NamedTuple):
    """``gameserver``: the prey moves to a cell."""

    x: int
    y: int


class Invalid(NamedTuple):
    """``gameserver``: an invalid command, which costs the turn. ``tag`` distinguishes it from other records of two fields."""

    text: str
    tag: str = "invalid"


#: The compass directions by step (dx, dy), with y downwards. ``COMPASS`` is the inverse mapping.
HEADINGS: dict[tuple[int, int], Heading] = {
    (0, -1): "N",
    (1, -1): "NE",
    (1, 0): "E",
    (1, 1): "SE",
    (0, 1): "S",
    (-1, 1): "SW",
    (-1, 0): "W",
    (-1, -1): "NW",
}
COMPASS: dict[str, tuple[int, int]] = {name: step for step, name in HEADINGS.items()}
#: The prey's steps by their direction.
STEPS: dict[str, Step] = {name: Step(name) for name in HEADINGS.values()}


class State(NamedTuple):
    """One position. ``step`` counts completed steps; ``wall_timer`` the steps until a wall may be built again (0: now).

    In ``gameserver`` steps are turns, ``wall_timer`` counts turns of the hunter, and ``prey_timer`` those of the prey until it may
    move again. ``ended`` is empty while the game is running, else the reason of its end. ``changed`` is the number of steps completed when
    walls changed last.
    """

    settings: Settings
    step: int
    hunter: Body
    prey: Body
    walls: Walls
    wall_timer: int = 0
    next_id: int = 0
    ended: str = ""
    prey_timer: int = 0
    changed: int = 0

    @property
    def prey_moves(self) -> bool:
        """Whether the prey may move in the step to come."""
        return (self.step + 1) % self.settings.prey_period == 0
