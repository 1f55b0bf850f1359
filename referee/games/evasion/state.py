"""Settings, states and moves of Evasion, all frozen."""

from __future__ import annotations

from referee.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from referee.games.evasion.walls import Span, Walls

HUNTER = "hunter"
PREY = "prey"
SEATS = (HUNTER, PREY)


class Settings(NamedTuple):
    """Everything that may differ between two games. Build one with ``variants.settings``, which checks it.

    ``hunter`` is x, y, dx, dy; ``prey`` is x, y; ``cooldown`` is N, the steps from one wall to the next; ``max_walls`` is M.
    ``capture_radius`` is in cells; the prey moves on every ``prey_period``-th step; ``max_steps`` is the step limit.
    """

    rules: str
    width: int
    height: int
    hunter: tuple[int, int, int, int]
    prey: tuple[int, int]
    cooldown: int
    max_walls: int
    capture_radius: int
    prey_period: int
    max_steps: int


class Body(NamedTuple):
    """A player on the board: its cell and the direction it moves in, each part -1, 0 or 1."""

    x: int
    y: int
    dx: int
    dy: int


class Build(NamedTuple):
    """A wish for a wall through the hunter's cell: its kind and, if it isn't to be the longest, its first and last coordinate."""

    kind: str
    span: Span | None = None


class HunterMove(NamedTuple):
    """What a hunter asks for in one step: a wall or none, and the ids of walls to take down."""

    build: Build | None = None
    remove: tuple[int, ...] = ()


class PreyMove(NamedTuple):
    """What a prey asks for in one step: a direction, or None to go on as it goes."""

    go: tuple[int, int] | None = None


class State(NamedTuple):
    """One position. ``step`` counts completed steps; ``wall_timer`` the steps until a wall may be built again (0: now).

    ``ended`` is empty while the game goes on, else the reason of its end.
    """

    settings: Settings
    step: int
    hunter: Body
    prey: Body
    walls: Walls
    wall_timer: int = 0
    next_id: int = 0
    ended: str = ""

    @property
    def prey_moves(self) -> bool:
        """Whether the prey may move in the step to come."""
        return (self.step + 1) % self.settings.prey_period == 0
