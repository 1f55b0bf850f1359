"""Questions about a position: distances, clear lines, the area that a player can reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from referee.games.evasion.board.walls import Walls

    Cell = tuple[int, int]


def distance(a: Cell, b: Cell) -> float:
    """The Euclidean distance of two cells."""
    return float(((a[0] - b[0]) ** 2 + (a[1] - b[1]) ** 2) ** 0.5)


def line(a: Cell, b: Cell) -> Iterator[Cell]:
    """The cells between two cells, both included. Source: rules of Evasion, section "Capture", C1."""
    steep = abs(b[1] - a[1]) > abs(b[0] - a[0])
    if (b[steep], b[not steep]) < (a[steep], a[not steep]):
        a, b = b, a
    longer = b[steep] - a[steep]
    shorter = abs(b[not steep] - a[not steep])
    sideways = 1 if b[not steep] > a[not steep] else -1
    error, across = longer // 2, a[not steep]
    for along in range(a[steep], b[steep] + 1):
        yield (across, along) if steep else (along, across)
        error -= shorter
        if error < 0:
            across += sideways
            error += longer


def is_clear(walls: Walls, a: Cell, b: Cell) -> bool:
    """Whether no cell of the line between two cells is wall."""
    return all(walls.is_free(x, y) for x, y in line(a, b))


def is_captured(walls: Walls, radius: int, a: Cell, b: Cell) -> bool:
    """Whether two players are near and in sight of each other. Source: rules of Evasion, section "Capture", C1."""
    dx, dy = a[0] - b[0], a[1] - b[1]
    return dx * dx + dy * dy <= radius * radius and is_clear(walls, a, b)


def corners(path: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    """Return the first point of a path, the points at which its direction changes, and its last point."""
    inner = zip(path, path[1:], path[2:], strict=False)
    turns = [here for before, here, after in inner if (2 * here[0], 2 * here[1]) != (before[0] + after[0], before[1] + after[1])]
    return [path[0], *turns, path[-1]]


class Region:
    """A set of cells of one board as a bit board: bit ``y * stride + x`` stands for the cell (x, y); ``stride`` is a multiple of 8."""

    __slots__ = ("bits", "stride")

    def __init__(self, bits: int, stride: int) -> None:
        self.bits = bits
        self.stride = stride

    def __len__(self) -> int:
        return self.bits.bit_count()

    def __contains__(self, cell: Cell) -> bool:
        x, y = cell
        return 0 <= x < self.stride and y >= 0 and bool(self.bits >> (y * self.stride + x) & 1)

    def __iter__(self) -> Iterator[Cell]:
        bits, at = self.bits, 0
        while bits:
            skip = (bits & -bits).bit_length() - 1
            bits >>= skip + 1
            at += skip
            yield at % self.stride, at // self.stride
            at += 1

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Region) and (self.bits, self.stride) == (other.bits, other.stride)

    def __hash__(self) -> int:
        return hash((self.bits, self.stride))

    def __and__(self, other: Region) -> Region:
        """The cells that two sets of one board share."""
        return Region(self.bits & other.bits, self.stride)

    def __or__(self, other: Region) -> Region:
        """The cells of both."""
        return Region(self.bits | other.bits, self.stride)

    def __sub__(self, other: Region) -> Region:
        """The cells that are not in the other."""
        return Region(self.bits & ~other.bits, self.stride)

    def __le__(self, other: Region) -> bool:
        """Whether the other holds all of these cells."""
        return not self.bits & ~other.bits

    def spread(self, free: Region) -> Region:
        """Return these cells and their neighbours in all eight directions, restricted to ``free`` cells."""
        bits = self.bits
        bits |= bits << 1 | bits >> 1
        return Region((bits | bits << self.stride | bits >> self.stride) & free.bits, self.stride)

    def rows(self, height: int) -> list[int]:
        """The rows of a board, each as a number whose bit x stands for the cell in that column."""
        size = self.stride // 8
        data = self.bits.to_bytes(size * height, "little")
        return [int.from_bytes(data[at : at + size], "little") for at in range(0, size * height, size)]


def free_cells(walls: Walls) -> Region:
    """All cells of the board that no wall covers."""
    # At least one column more than the board has: bits that are shifted over an edge land there, and a mask clears them.
    stride, height = walls.width // 8 * 8 + 8, walls.height
    free = ((1 << walls.width) - 1) * _every(stride, height)
    blocked = 0
    for stretch in walls.stretches:
        x, y, dx, dy = stretch.path()
        blocked |= _every(dy * stride + dx, stretch.high - stretch.low + 1) << y * stride + x
    return Region(free & ~blocked, stride)


def _every(step: int, count: int) -> int:
    """The number with ``count`` bits set, ``step`` apart, from bit 0."""
    bits, done = 1, 1
    while done < count:
        bits |= bits << done * step
        done *= 2
    return bits & ((1 << (count - 1) * step + 1) - 1)


def reachable(walls: Walls, cell: Cell, free: Region | None = None) -> Region:
    """Return the cells that a player can reach by steps in all eight directions over free cells, including its own cell.

    The hunter moves only diagonally and bounces, so it reaches at most a part of them.
    """
    free = free or free_cells(walls)
    stride, open_bits = free.stride, free.bits
    bits = 1 << cell[1] * stride + cell[0]
    if not bits & open_bits:
        return Region(0, stride)
    shifts = (1, stride, stride + 1, stride - 1)
    longest = max(walls.width, walls.height)
    before = 0
    while bits != before:
        before = bits
        for shift in shifts:
            bits = _flood(bits, open_bits, shift, longest)
    return Region(bits, stride)


def _flood(bits: int, open_bits: int, shift: int, longest: int) -> int:
    """Spread a set along one direction and back over open cells, in steps that double (Kogge and Stone's parallel prefix)."""
    up = down = bits
    open_up = open_down = open_bits
    reach = 1
    while reach < longest:
        by = shift * reach
        up |= open_up & up << by
        down |= open_down & down >> by
        open_up &= open_up << by
        open_down &= open_down >> by
        reach *= 2
    return up | down


def is_within(walls: Walls, most: int, a: Cell, b: Cell) -> bool:
    """Whether a path of at most ``most`` unit steps up, down, left or right over free cells joins two cells.

    Source: rules of Evasion, section "Capture", C2.
    """
    if abs(a[0] - b[0]) + abs(a[1] - b[1]) > most:
        return False
    seen = {a}
    edge = [a]
    for _ in range(most):
        if b in seen:
            return True
        edge = [
            cell
            for x, y in edge
            for cell in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1))
            if cell not in seen and walls.is_free(*cell) and not seen.add(cell)  # type: ignore[func-returns-value]
        ]
    return b in seen


def are_joined(walls: Walls, a: Cell, b: Cell) -> bool:
    """Whether a path of steps in all eight directions over free cells joins two cells."""
    return b in reachable(walls, a)
