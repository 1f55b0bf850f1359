"""Settings, states and moves of Rectangle, all frozen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    Cell = tuple[int, int]
    #: One integer for each row (or column) of a board, a bit for each of its cells.
    Lines = tuple[int, ...]

Order = Literal["N", "S", "W", "E", "-"]
Rules = Literal["small", "middle", "large"]

LETTERS = "abcdefghijklmnopqrstuvwxyz"
#: The directions as steps (row, column); row 0 is in the north.
STEPS = {"N": (-1, 0), "S": (1, 0), "W": (0, -1), "E": (0, 1), "-": (0, 0)}
UNPAINTED, SPENT = ord("."), ord("#")
#: Claimed cells all look alike to players.
_SHOWN = bytes(SPENT if 65 <= code <= 90 else code for code in range(256))


class Settings(NamedTuple):
    """The settings of a game. Build them with ``variants.settings``, which checks them.

    The board has ``n`` x ``n`` cells; each of ``players`` has ``robots``; after ``stagnation`` turns in which nobody gained a cell the
    game ends, and with ``cap`` turns at the latest (0: no such limit). ``sharing`` is "2002" or "2003".
    """

    rules: Rules
    n: int
    players: int
    robots: int
    stagnation: int
    cap: int
    sharing: Literal["2002", "2003"]


class Place(NamedTuple):
    """Where a player's robots begin: (row, column) of each."""

    place: tuple[Cell, ...] = ()


class Orders(NamedTuple):
    """A word for each robot: N, S, E, W or ``-``."""

    orders: tuple[str, ...] = ()


class State(NamedTuple):
    """One position. ``step`` counts steps: the first is the set-up, turn t is step t + 1.

    ``cells`` is the board row by row, one byte a cell: ``.`` unpainted, a player's letter if painted, and for a cell that can't be
    painted any more the capital letter of the player that claimed it (``#`` if no player did). ``rows`` and ``columns`` are the cells of
    each player's colour, ``spent`` the cells that can't be painted any more. For the last step ``gained`` are the cells that each
    player gained, ``orders`` its orders and ``moved`` their results. ``failed`` are players that get no more questions. ``secret``
    seeds the only random choice of the game: the cells of robots that their players did not place.
    """

    settings: Settings
    step: int
    cells: bytes
    rows: tuple[Lines, ...]
    columns: tuple[Lines, ...]
    spent: Lines
    robots: tuple[tuple[Cell, ...], ...]
    scores: tuple[int, ...]
    gained: tuple[int, ...]
    stagnation: int
    orders: tuple[str, ...]
    moved: tuple[str, ...] = ()
    failed: frozenset[str] = frozenset()
    ended: str = ""
    secret: bytes = b""

    @property
    def turn(self) -> int:
        """Turns played since the set-up; -1 before it."""
        return self.step - 1

    @property
    def seats(self) -> tuple[str, ...]:
        """The players' letters."""
        return tuple(LETTERS[: self.settings.players])

    def row_texts(self) -> list[str]:
        """The board, a text a row."""
        n = self.settings.n
        text = self.cells.translate(_SHOWN).decode()
        return [text[start : start + n] for start in range(0, n * n, n)]
