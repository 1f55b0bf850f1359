"""Settings, states and moves of Maze, all frozen."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from typing import Literal

    from referee.games.maze.layouts import Layout

THIEF, POLICEMAN = "thief", "policeman"
SEATS = (THIEF, POLICEMAN)
#: Illegal orders that cost a seat the game.
MOST_ILLEGAL = 3


class Settings(NamedTuple):
    """The settings of a game. Build them with ``variants.settings``, which checks them.

    ``apart`` is the least distance of the thief's start from the exit and from the policeman (Manhattan); ``parity`` is "any" or "even"
    (only even distances between the two); ``exit_start``: the policeman may start on the exit. ``thief`` and
    ``policeman`` are their squares if the start isn't drawn at random. After ``max_moves`` moves of the thief the game is drawn (0: never).
    """

    rules: Literal["standard"]
    layout: Layout
    parity: Literal["any", "even"]
    exit_start: bool
    apart: int
    max_moves: int
    thief: tuple[int, int] | None = None
    policeman: tuple[int, int] | None = None


class Go(NamedTuple):
    """A move by one square up, down, left or right: U, D, L or R. Any other text is an illegal order."""

    go: str


class State(NamedTuple):
    """One position. ``step`` counts plies: the thief's have even indexes. Places count the free squares of the layout.

    ``thief_from`` and ``policeman_from`` are the places that they came from last, -1 before they have moved. ``illegal`` counts each
    seat's illegal orders. ``ended`` is empty while the game is running, else the reason of its end.
    """

    settings: Settings
    step: int
    thief: int
    policeman: int
    thief_from: int = -1
    policeman_from: int = -1
    illegal: tuple[int, int] = (0, 0)
    ended: str = ""

    @property
    def is_thiefs(self) -> bool:
        """Whether the thief has the turn."""
        return self.step % 2 == 0

    @property
    def moves(self) -> int:
        """The number of moves that the thief has made, without an illegal order that lost the game."""
        return (self.step + 1) // 2 - (self.illegal[0] >= MOST_ILLEGAL)
