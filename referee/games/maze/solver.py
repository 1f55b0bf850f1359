"""The solution of the game: the winner of every position with perfect play, and the number of plies.

Retrograde analysis: final positions are labelled first. If a move leads to a position that the mover wins, the position is won one ply
later. If all moves lead to positions that the mover loses, it is lost one ply later than the last of them. A position without a label
is a draw with perfect play. The move limit of a game is ignored.

A solution is kept on disk (``referee.support.cache``), so that a layout is solved once on a machine and not once in each process.

Source: rules of Maze, "The solved game".
"""

from __future__ import annotations

from referee.support.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Literal

    from referee.games.maze.layouts import Layout, Order

    Winner = Literal["thief", "policeman", ""]

THIEF: Winner = "thief"
POLICEMAN: Winner = "policeman"


class Value(NamedTuple):
    """The value of a position with perfect play: the winner ("" for a draw) and the number of plies."""

    winner: Winner
    plies: int


_DRAWN = Value("", 0)


class Solution:
    """All positions of a layout.

    The labels are kept as bit boards, so that a whole row of positions is labelled at once: for each place of the thief and each of the
    two to move one board of the policeman's places for each binary digit of the plies to the end plus one, and one of the thief's wins.

    ``data`` are the bytes of ``to_bytes``; ValueError if they are damaged, of another layout or another form.
    """

    def __init__(self, layout: Layout, data: bytes | None = None) -> None:
        self.layout = layout
        self.count = len(layout.squares)
        self._bits = _bits(layout)
        self._size = _size(layout)
        boards = _solved(layout) if data is None else _unpacked(layout, data)
        self._boards = boards
        # Where the boards of a place begin, and how many bytes these take; the ones with the policeman to move come behind all others.
        self._row = len(boards) // (2 * self.count)
        self._policemans = self.count * self._row

    def to_bytes(self) -> bytes:
        """The solution in a form to be kept."""
        return _packed(self.layout, self._boards)

    def label(self, thief: int, policeman: int, *, is_thiefs: bool) -> int:
        """The plies to the end plus one, positive if the thief wins, negative if the policeman does, 0 in a draw."""
        bit = self._bits[policeman]
        shift = bit & 7
        boards, size = self._boards, self._size
        start = thief * self._row + (bit >> 3) + (0 if is_thiefs else self._policemans)
        label = 0
        for at in range(start + self._row - size, start, -size):
            label = label << 1 | boards[at] >> shift & 1
        return label if boards[start] >> shift & 1 else -label

    def value(self, thief: int, policeman: int, *, is_thiefs: bool) -> Value:
        """Who wins, and when."""
        label = self.label(thief, policeman, is_thiefs=is_thiefs)
        return _DRAWN if not label else Value(THIEF if label > 0 else POLICEMAN, abs(label) - 1)

    def best(self, thief: int, policeman: int, *, is_thiefs: bool) -> list[Order]:
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
    """The labelled positions with one of the two to move: by the thief's place the policeman's places, for wins of the thief, for losses,
    and for each binary digit of a label.
    """

    def __init__(self, count: int) -> None:
        self.won, self.lost = [0] * count, [0] * count
        self.digits: list[list[int]] = []
        self._unknown = [-1] * count
        self._now: list[list[int]] = []

    def begin(self, label: int) -> None:
        """From now on positions get this label, or its negative."""
        while len(self.digits) < label.bit_length():
            self.digits.append([0] * len(self.won))
        self._now = [boards for digit, boards in enumerate(self.digits) if label >> digit & 1]

    def add(self, boards: dict[int, int], label: int) -> dict[int, int]:
        """Label those of some positions, by the thief's place, that have no label yet; which they were, where there were any."""
        unknown, mine, now = self._unknown, self.won if label > 0 else self.lost, self._now
        added = {}
        for thief, cells in boards.items():
            new = cells & unknown[thief]
            if new:
                added[thief] = new
                unknown[thief] ^= new
                mine[thief] |= new
                for digits in now:
                    digits[thief] |= new
        return added


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


def _solved(layout: Layout) -> bytes:
    """The boards of a solution, one behind the other."""
    count, way_out = len(layout.squares), layout.exit
    bits, stride = _bits(layout), _stride(layout)
    free = sum(1 << bit for bit in bits)
    near = [tuple(ways.values()) for ways in layout.near]
    thiefs, policemans = _Rows(count), _Rows(count)

    def beside(cells: int) -> int:
        return (cells << 1 | cells >> 1 | cells << stride | cells >> stride) & free

    thiefs.begin(1)
    policemans.begin(1)
    caught_already = {place: 1 << bit for place, bit in enumerate(bits)}
    policemans.add({way_out: free}, 1)
    policemans.add(caught_already, -1)
    thiefs.add(caught_already, -1)
    # What was labelled a ply ago, by the thief's place: wins with the policeman to move, losses with the thief to move; and where there
    # were wins with the thief to move, losses with the policeman to move, so that all moves from there or to there may be known to fail now.
    won, lost = {way_out: free}, caught_already
    escaping: set[int] = set()
    caught = set(range(count))
    label = 1
    while won or lost or escaping or caught:
        label += 1
        thiefs.begin(label)
        policemans.begin(label)
        # Both sides look at what was known a ply ago, so nothing is entered before both have looked.
        wins, losses = _some_way(near, won), _all_ways(near, caught, policemans.lost)
        caught = {*policemans.add({place: beside(cells) for place, cells in lost.items()}, -label)}
        won = policemans.add({place: free & ~beside(free & ~thiefs.won[place]) for place in escaping}, label)
        wins.pop(way_out, None)
        losses.pop(way_out, None)
        escaping = {*thiefs.add(wins, label)}
        lost = thiefs.add(losses, -label)
    size = _size(layout)
    return b"".join(
        board.to_bytes(size, "little")
        for rows in (thiefs, policemans)
        for boards in zip(rows.won, *rows.digits, strict=True)
        for board in boards
    )


#: The form of solutions that are kept, to be changed with it. What they say can't change: it follows from the rules.
_FORM = b"maze solution 2\n"
#: No maze is so winding that a label has more binary digits.
_MOST_DIGITS = 24
#: Bytes of one solution that is kept, far more than any maze of 32 by 32 needs; and of all together.
_MOST, _MOST_OF_ALL = 64 << 20, 256 << 20


def _stride(layout: Layout) -> int:
    """From one row of a bit board to the next: a column more than there are, so that nothing steps from one end of a row to the next."""
    return layout.width + 1


def _bits(layout: Layout) -> list[int]:
    """The bit of each place."""
    return [(row - 1) * _stride(layout) + column - 1 for row, column in layout.squares]


def _size(layout: Layout) -> int:
    """The bytes that a bit board takes."""
    return (layout.height * _stride(layout) + 7) // 8


def _packed(layout: Layout, boards: bytes) -> bytes:
    """What it is and of which layout, a check sum of the boards, the boards."""
    import zlib

    return _head(layout) + zlib.crc32(boards).to_bytes(4, "little") + boards


def _unpacked(layout: Layout, data: bytes) -> bytes:
    import zlib

    head = _head(layout)
    start = len(head) + 4
    boards = data[start:]
    digits, rest = divmod(len(boards), 2 * len(layout.squares) * _size(layout))
    if (
        not data.startswith(head)
        or rest
        or not 2 <= digits <= 1 + _MOST_DIGITS
        or zlib.crc32(boards) != int.from_bytes(data[len(head) : start], "little")
    ):
        raise ValueError("the bytes are damaged, or not those of a solution of this layout")
    return boards


def _head(layout: Layout) -> bytes:
    return _FORM + "\n".join(layout.rows).encode() + b"\n\n"


_known: dict[Layout, Solution] = {}


def solution(layout: Layout) -> Solution:
    """Return the solution of a layout. It is computed once and cached on disk for later runs."""
    found = _known.get(layout)
    if found is None:
        if len(_known) > 8:
            _known.clear()
        found = _known[layout] = _recalled(layout)
    return found


def _recalled(layout: Layout) -> Solution:
    import zlib

    from referee.support import cache

    name = f"maze-{layout.width}x{layout.height}-{zlib.crc32(_head(layout)):08x}"
    data = cache.recall(name, _MOST)
    if data is not None:
        try:
            return Solution(layout, data)
        except ValueError:
            pass
    found = Solution(layout)
    kept = found.to_bytes()
    if len(kept) <= _MOST:
        cache.keep(name, kept, kind="maze-", most=_MOST_OF_ALL)
    return found
