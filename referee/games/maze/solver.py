"""Who wins from where, and in how many plies: the whole game solved backwards from its ends.

Retrograde analysis: positions in which somebody has won are labelled first; a position from which a move leads to one that is won for
who moves is won one ply later; one from which all moves lead to positions that are lost is lost one ply later than the last of them.
What is never labelled is a draw with perfect play. Moves that the rules count (the limit of a game) are left aside.

A solution is kept on disk (``referee.cache``), so that a layout is solved once on a machine and not once in each process.

Source: rules of Maze, "The solved game".
"""

from __future__ import annotations

from referee.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.games.maze.layouts import Layout

    #: For one place of the thief: the labels that occur, with the places of the policeman as bits; or the same as it is kept.
    Row = list[tuple[int, int]] | bytes

THIEF, POLICEMAN = "thief", "policeman"


class Value(NamedTuple):
    """A position with perfect play: who wins, "" for a draw, and after how many plies."""

    winner: str
    plies: int


_DRAWN = Value("", 0)


class Solution:
    """All positions of a layout.

    For each place of the thief the places of the policeman are a bit board, one for each ply in which positions were labelled: a whole
    row of positions is labelled at once.

    ``data`` are the bytes of ``to_bytes``; ValueError if they are damaged, of another layout or another form.
    """

    def __init__(self, layout: Layout, data: bytes | None = None) -> None:
        self.layout = layout
        self.count = len(layout.squares)
        self._stride = layout.width + 1
        self._bits = [(row - 1) * self._stride + column - 1 for row, column in layout.squares]
        self._thief: list[Row]
        self._policeman: list[Row]
        if data is None:
            self._solve()
        else:
            rows = _unpacked(layout, data)
            self._thief, self._policeman = rows[: self.count], rows[self.count :]

    def _solve(self) -> None:
        thief, policeman = _solved(self.layout, self._bits, self._stride)
        self._thief, self._policeman = [*thief], [*policeman]

    def to_bytes(self) -> bytes:
        """The solution in a form to be kept."""
        size = _width(self.layout)
        return _packed(self.layout, [_closed(row, size) for side in (self._thief, self._policeman) for row in side])

    def label(self, thief: int, policeman: int, *, is_thiefs: bool) -> int:
        """The plies to the end plus one, positive if the thief wins, negative if the policeman does, 0 in a draw."""
        bit = self._bits[policeman]
        side = self._thief if is_thiefs else self._policeman
        row = side[thief]
        if isinstance(row, bytes):
            row = side[thief] = _opened(row, _width(self.layout))
        for label, cells in row:
            if cells >> bit & 1:
                return label
        return 0

    def value(self, thief: int, policeman: int, *, is_thiefs: bool) -> Value:
        """Who wins, and when."""
        label = self.label(thief, policeman, is_thiefs=is_thiefs)
        return _DRAWN if not label else Value(THIEF if label > 0 else POLICEMAN, abs(label) - 1)

    def best(self, thief: int, policeman: int, *, is_thiefs: bool) -> list[str]:
        """The orders that keep the value: they win soonest, lose latest, or keep the draw."""
        layout = self.layout
        options = layout.near[thief if is_thiefs else policeman]
        sign = 1 if is_thiefs else -1
        scored = {}
        for order, place in options.items():
            at = (place, policeman) if is_thiefs else (thief, place)
            label = sign * self.label(*at, is_thiefs=not is_thiefs)
            # Wins first, the sooner the better; then draws; then losses, the later the better.
            scored[order] = (1, -label) if label > 0 else (0, 0) if not label else (-1, -label)
        most = max(scored.values())
        return [order for order, score in scored.items() if score == most]

    def positions(self) -> Iterator[tuple[int, int]]:
        """The places of both in every position in which the game goes on with the thief to move."""
        for thief in range(self.count):
            if thief != self.layout.exit:
                yield from ((thief, policeman) for policeman in range(self.count) if policeman != thief)


class _Rows:
    """The labelled positions with one of the two to move: by the thief's place the policeman's places, for wins of the thief and losses."""

    def __init__(self, count: int) -> None:
        self.won, self.lost = [0] * count, [0] * count
        self.layers: list[list[tuple[int, int]]] = [[] for _ in range(count)]

    def add(self, thief: int, cells: int, label: int) -> int:
        """Label those of some positions that have no label yet; which they were."""
        cells &= ~(self.won[thief] | self.lost[thief])
        if cells:
            self.layers[thief].append((label, cells))
            (self.won if label > 0 else self.lost)[thief] |= cells
        return cells

    def add_all(self, boards: dict[int, int], label: int) -> dict[int, int]:
        """The same for several places of the thief; those at which there were any, with which they were."""
        return {place: added for place, cells in boards.items() if (added := self.add(place, cells, label))}


def _some_way(near: list[tuple[int, ...]], boards: dict[int, int]) -> dict[int, int]:
    """By place: for which places of the other some way from there leads to a place where these boards have them."""
    found: dict[int, int] = {}
    for place, cells in boards.items():
        for before in near[place]:
            found[before] = found.get(before, 0) | cells
    return found


def _all_ways(near: list[tuple[int, ...]], changed: set[int], boards: list[int]) -> dict[int, int]:
    """By place, beside those that have changed: for which places of the other all ways from there lead to places where these boards have them."""
    found = {}
    for place in {before for after in changed for before in near[after]}:
        cells = -1
        for after in near[place]:
            cells &= boards[after]
        found[place] = cells
    return found


def _solved(layout: Layout, bits: list[int], stride: int) -> tuple[list[list[tuple[int, int]]], list[list[tuple[int, int]]]]:
    """The labels with the thief to move and with the policeman to move, by the thief's place: which, and for which places of the policeman."""
    count, way_out = len(bits), layout.exit
    free = sum(1 << bit for bit in bits)
    near = [tuple(ways.values()) for ways in layout.near]
    thiefs, policemans = _Rows(count), _Rows(count)

    def beside(cells: int) -> int:
        return (cells << 1 | cells >> 1 | cells << stride | cells >> stride) & free

    policemans.add(way_out, free, 1)
    for place, bit in enumerate(bits):
        thiefs.add(place, 1 << bit, -1)
        policemans.add(place, 1 << bit, -1)
    # What was labelled a ply ago, by the thief's place: wins with the policeman to move, losses with the thief to move; and where there
    # were wins with the thief to move, losses with the policeman to move, so that all moves from there or to there may be known to fail now.
    won, lost = {way_out: free}, {place: 1 << bit for place, bit in enumerate(bits)}
    escaping: set[int] = set()
    caught = set(range(count))
    label = 1
    while won or lost or escaping or caught:
        label += 1
        # Both sides look at what was known a ply ago, so nothing is entered before both have looked.
        wins, losses = _some_way(near, won), _all_ways(near, caught, policemans.lost)
        caught = {*policemans.add_all({place: beside(cells) for place, cells in lost.items()}, -label)}
        won = policemans.add_all({place: free & ~beside(free & ~thiefs.won[place]) for place in escaping}, label)
        wins.pop(way_out, None)
        losses.pop(way_out, None)
        escaping = {*thiefs.add_all(wins, label)}
        lost = thiefs.add_all(losses, -label)
    return thiefs.layers, policemans.layers


#: The form of solutions that are kept, to be changed with it. What they say can't change: it follows from the rules.
_FORM = b"maze solution 1\n"
#: Bytes of one solution (that of an open maze of 64 by 64 takes a third), and of all that are kept.
_MOST, _MOST_OF_ALL = 32 << 20, 128 << 20
#: Bytes of a label.
_LABEL = 4


def _width(layout: Layout) -> int:
    """The bytes that a bit board takes."""
    return (layout.height * (layout.width + 1) + 7) // 8


def _closed(row: Row, size: int) -> bytes:
    import zlib

    if isinstance(row, bytes):
        return row
    parts = [label.to_bytes(_LABEL, "little", signed=True) + cells.to_bytes(size, "little") for label, cells in row]
    return zlib.compress(b"".join(parts), 1)


def _opened(row: bytes, size: int) -> list[tuple[int, int]]:
    import zlib

    data, each = zlib.decompress(row), _LABEL + size
    return [
        (int.from_bytes(data[at : at + _LABEL], "little", signed=True), int.from_bytes(data[at + _LABEL : at + each], "little"))
        for at in range(0, len(data), each)
    ]


def _head(layout: Layout) -> bytes:
    return _FORM + "\n".join(layout.rows).encode() + b"\n\n"


def _packed(layout: Layout, rows: list[bytes]) -> bytes:
    """What it is and of which layout, a check sum of the rest, the length of each row, the rows."""
    import zlib

    body = b"".join([*(len(row).to_bytes(4, "little") for row in rows), *rows])
    return _head(layout) + zlib.crc32(body).to_bytes(4, "little") + body


def _unpacked(layout: Layout, data: bytes) -> list[Row]:
    import zlib

    head = _head(layout)
    start = len(head) + 4
    body = data[start:]
    if data[: len(head)] != head or zlib.crc32(body) != int.from_bytes(data[len(head) : start], "little"):
        raise ValueError("the bytes are damaged, or not those of a solution of this layout")
    count = 2 * len(layout.squares)
    rows: list[Row] = []
    at = 4 * count
    for index in range(0, at, 4):
        size = int.from_bytes(body[index : index + 4], "little")
        rows.append(body[at : at + size])
        at += size
    return rows


_known: dict[Layout, Solution] = {}


def solution(layout: Layout) -> Solution:
    """The solution of a layout, made once: what an earlier run has kept of it is taken."""
    found = _known.get(layout)
    if found is None:
        if len(_known) > 8:
            _known.clear()
        found = _known[layout] = _recalled(layout)
    return found


def _recalled(layout: Layout) -> Solution:
    import zlib

    from referee import cache

    name = f"maze-{layout.width}x{layout.height}-{zlib.crc32(_head(layout)):08x}"
    data = cache.recall(name, _MOST)
    if data is not None:
        try:
            return Solution(layout, data)
        except ValueError:
            pass
    found = Solution(layout)
    if cache.folder():
        cache.keep(name, found.to_bytes(), kind="maze-", most=_MOST_OF_ALL)
    return found
