"""The board as bytes, for many questions about cells between two changes of the walls."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.evasion.board.wall import HORIZONTAL

if TYPE_CHECKING:
    from referee.games.evasion.board.wall import Wall
    from referee.games.evasion.board.walls import Walls

#: The values of a cell: free, an obstacle that a player bounces off sideways, and one that a player bounces off up or down.
FREE, UPRIGHT, LEVEL = 0, 1, 2


class Cells:
    """A byte for each cell of the board and of a border around it. It has the queries of ``Walls``, in constant time.

    The cell (x, y) is byte ``(y + 1) * wide + x + 1``.
    """

    __slots__ = ("bytes", "height", "wide", "width")

    def __init__(self, walls: Walls) -> None:
        self.width, self.height = walls.width, walls.height
        self.wide = wide = walls.width + 2
        high = walls.height + 2
        self.bytes = bytearray(wide * high)
        self.bytes[::wide] = self.bytes[wide - 1 :: wide] = bytes([UPRIGHT]) * high
        self.bytes[:wide] = self.bytes[-wide:] = bytes([LEVEL]) * wide
        for wall in walls:
            self.put(wall, is_there=True)

    def put(self, wall: Wall, *, is_there: bool) -> None:
        """Set up a wall or take one down."""
        mark = (LEVEL if wall.kind == HORIZONTAL else UPRIGHT) if is_there else FREE
        for stretch in wall.stretches():
            x, y, dx, dy = stretch.path()
            step, count = dy * self.wide + dx, stretch.high - stretch.low + 1
            start = (y + 1) * self.wide + x + 1
            self.bytes[start : start + (count - 1) * step + 1 : step] = bytes([mark]) * count

    def is_free(self, x: int, y: int) -> bool:
        """As ``Walls.is_free``; bodies are never more than two cells off the board."""
        return 0 <= x < self.width and 0 <= y < self.height and not self.bytes[(y + 1) * self.wide + x + 1]

    def is_horizontal(self, x: int, y: int) -> bool:
        """As ``Walls.is_horizontal``."""
        return y < 0 or y >= self.height or (0 <= x < self.width and self.bytes[(y + 1) * self.wide + x + 1] == LEVEL)
