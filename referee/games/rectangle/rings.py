"""Finding complete rectangles: rings of one colour, at least three cells long on each side.

A board is one integer a row and one a column for each player, with a bit for each cell of its colour. Only cells that gained the
colour in this turn can complete anything. Such a cell on a horizontal side in row y needs another row z: the columns whose cells
have the colour all the way from y to z are an AND carried from row to row, and two of them, one on each side of the cell and both in
its runs in y and in z, make a rectangle. The two that are farthest apart are enough for each pair of rows, since narrower rectangles
lie inside it. A vertical side is the same on the columns.

Source: rules of Rectangle, "A turn", steps 3 and 4, and "Speed".
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from referee.games.rectangle.state import Lines


class Ring(NamedTuple):
    """A complete rectangle of a player: its corners are (top, left) and (bottom, right)."""

    player: int
    top: int
    left: int
    bottom: int
    right: int

    @property
    def area(self) -> int:
        """The cells inside."""
        return (self.bottom - self.top - 1) * (self.right - self.left - 1)

    @property
    def inside(self) -> int:
        """The columns inside, as bits."""
        return (1 << self.right) - (2 << self.left)


def closed(player: int, rows: Lines, columns: Lines, gained: Iterable[tuple[int, int]]) -> set[Ring]:
    """Return the rings that new cells (row, column) of a player closed, without rings that lie inside others between the same lines."""
    rings: set[Ring] = set()
    for row, column in gained:
        for top, left, bottom, right in _sides(rows, row, column):
            rings.add(Ring(player, top, left, bottom, right))
        for left, top, right, bottom in _sides(columns, column, row):
            rings.add(Ring(player, top, left, bottom, right))
    return rings


def _run(line: int, at: int) -> tuple[int, int]:
    """The first and last bit of the run of ones around a bit."""
    above = ~(line >> at)
    last = at + (above & -above).bit_length() - 2
    below = ~line & ((1 << at) - 1)
    return below.bit_length(), last


def _sides(lines: Lines, at: int, across: int) -> Iterator[tuple[int, int, int, int]]:
    """The rectangles with a cell on the side that lies in its own line: (line, first, line, last), lines in order."""
    first, last = _run(lines[at], across)
    if last - first < 2:
        return
    run = (2 << last) - (1 << first)
    upto, beyond = (2 << across) - 1, -1 << across
    for step in (1, -1):
        carried = run
        other, end = at + step, len(lines) if step > 0 else -1
        while other != end:
            carried &= lines[other]
            if not carried & upto or not carried & beyond or not carried & (carried - 1):
                break
            if (other - at) * step > 1 and lines[other] >> across & 1:
                low, high = _run(lines[other], across)
                both = carried & ((2 << high) - (1 << low))
                left, right = both & upto, both & beyond
                if left and right:
                    left_end, right_end = (left & -left).bit_length() - 1, right.bit_length() - 1
                    if right_end - left_end > 1:
                        yield min(at, other), left_end, max(at, other), right_end
            other += step


def claim(rings: Iterable[Ring], spent: Sequence[int]) -> tuple[list[int], list[tuple[int, int, int]]]:
    """Give every cell inside a ring to the owner of the smallest one around it.

    Return the rows of all spent cells afterwards, and the claimed cells: (player, row, columns as bits).
    """
    rows = list(spent)
    claimed = []
    for ring in sorted(rings, key=lambda ring: (ring.area, ring)):
        inside = ring.inside
        for row in range(ring.top + 1, ring.bottom):
            new = inside & ~rows[row]
            if new:
                rows[row] |= new
                claimed.append((ring.player, row, new))
    return rows, claimed
