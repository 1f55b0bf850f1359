"""The solution of the game: the winner of every position with perfect play, and the number of plies.

Retrograde analysis: final positions are labelled first. If a move leads to a position that the mover wins, the position is won one ply
later. If all moves lead to positions that the mover loses, it is lost one ply later than the last of them. A position without a label
is a draw with perfect play. The move limit of a game is ignored.

Source: rules of Maze, "The solved game".
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

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
    """The values of all positions of a layout.

    The label of a position is the number of plies to the end plus one; it is negative if the policeman wins, and 0 for a draw.
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.count = len(layout.squares)
        self._bits = _bits(layout)
        self._thiefs, self._policemans = _solved(layout)

    @property
    def most(self) -> int:
        """A number above the plies of any value."""
        return 1 << max(len(self._thiefs.digits), len(self._policemans.digits))

    def label(self, thief: int, policeman: int, *, is_thiefs: bool) -> int:
        """Return the number of plies to the end plus one: positive if the thief wins, negative if the policeman does, 0 in a draw."""
        labels, bit = self._thiefs if is_thiefs else self._policemans, self._bits[policeman]
        label = sum((boards[thief] >> bit & 1) << digit for digit, boards in enumerate(labels.digits))
        return label if labels.won[thief] >> bit & 1 else -label

    def value(self, thief: int, policeman: int, *, is_thiefs: bool) -> Value:
        """Return the winner and the number of plies."""
        label = self.label(thief, policeman, is_thiefs=is_thiefs)
        return _DRAWN if not label else Value(THIEF if label > 0 else POLICEMAN, abs(label) - 1)

    def best(self, thief: int, policeman: int, *, is_thiefs: bool) -> list[Order]:
        """Return the orders that keep the value of the position: those that win soonest, keep the draw, or lose latest."""
        sign = 1 if is_thiefs else -1
        scored = {}
        for order, place in self.layout.neighbours[thief if is_thiefs else policeman].items():
            at = (place, policeman) if is_thiefs else (thief, place)
            label = sign * self.label(*at, is_thiefs=not is_thiefs)
            # Wins first, the sooner the better; then draws; then losses, the later the better.
            scored[order] = (1, -label) if label > 0 else (0, 0) if not label else (-1, -label)
        most = max(scored.values())
        return [order for order, score in scored.items() if score == most]

    def positions(self) -> Iterator[tuple[int, int]]:
        """Yield the places of thief and policeman in every unfinished position with the thief to move."""
        for thief in range(self.count):
            if thief != self.layout.exit:
                yield from ((thief, policeman) for policeman in range(self.count) if policeman != thief)


class _Labels:
    """The labels of the positions in which one player moves next, as bit boards, so that a whole row of positions is labelled at once.

    Every list has a board of the policeman's places for each place of the thief: ``won`` and ``lost`` for the thief's wins and losses,
    ``digits`` for the binary digits of the labels.
    """

    def __init__(self, count: int) -> None:
        self.won, self.lost = [0] * count, [0] * count
        self.digits: list[list[int]] = []
        self._unlabelled = [-1] * count

    def add(self, boards: dict[int, int], label: int) -> dict[int, int]:
        """Label the positions in some boards that have no label yet. Return these boards without the positions that had one."""
        plies = abs(label)
        while len(self.digits) < plies.bit_length():
            self.digits.append([0] * len(self.won))
        changing = [self.won if label > 0 else self.lost, *(board for digit, board in enumerate(self.digits) if plies >> digit & 1)]
        added = {}
        for thief, cells in boards.items():
            new = cells & self._unlabelled[thief]
            if new:
                added[thief] = new
                self._unlabelled[thief] ^= new
                for board in changing:
                    board[thief] |= new
        return added


def _any_move(neighbours: list[tuple[int, ...]], boards: dict[int, int]) -> dict[int, int]:
    """Return the positions from which at least one move of the thief leads into some boards."""
    wins: dict[int, int] = {}
    for place, cells in boards.items():
        for before in neighbours[place]:
            wins[before] = wins.get(before, 0) | cells
    return wins


def _all_moves(neighbours: list[tuple[int, ...]], changed: set[int], boards: list[int]) -> dict[int, int]:
    """Return the positions, next to the boards that have changed, from which all moves of the thief lead into some boards."""
    losses = {}
    for place in {before for after in changed for before in neighbours[after]}:
        cells = -1
        for after in neighbours[place]:
            cells &= boards[after]
        losses[place] = cells
    return losses


def _solved(layout: Layout) -> tuple[_Labels, _Labels]:
    """Return the labels of the positions in which the thief moves next, and of those in which the policeman does."""
    count, way_out = len(layout.squares), layout.exit
    bits, stride = _bits(layout), _stride(layout)
    free = sum(1 << bit for bit in bits)
    neighbours = [tuple(moves.values()) for moves in layout.neighbours]
    thiefs, policemans = _Labels(count), _Labels(count)

    def beside(cells: int) -> int:
        return (cells << 1 | cells >> 1 | cells << stride | cells >> stride) & free

    # The positions that were labelled one ply ago. With the policeman to move: ``won`` are wins of the thief; ``caught`` are the thief's
    # places that have new losses. With the thief to move: ``lost`` are losses; ``escaping`` are the thief's places that have new wins.
    lost = {place: 1 << bit for place, bit in enumerate(bits)}
    won = policemans.add({way_out: free}, 1)
    policemans.add(lost, -1)
    thiefs.add(lost, -1)
    escaping: set[int] = set()
    caught = set(range(count))
    label = 1
    while won or lost or escaping or caught:
        label += 1
        # All four look at the labels of one ply ago, so both of the thief's come before the policeman's are added.
        wins, losses = _any_move(neighbours, won), _all_moves(neighbours, caught, policemans.lost)
        caught = {*policemans.add({place: beside(cells) for place, cells in lost.items()}, -label)}
        won = policemans.add({place: free & ~beside(free & ~thiefs.won[place]) for place in escaping}, label)
        wins.pop(way_out, None)
        losses.pop(way_out, None)
        escaping = {*thiefs.add(wins, label)}
        lost = thiefs.add(losses, -label)
    return thiefs, policemans


def _stride(layout: Layout) -> int:
    """Return the distance from one row of a bit board to the next. The extra column stops steps from one row's end to the next row."""
    return layout.width + 1


def _bits(layout: Layout) -> list[int]:
    """Return the bit of each place."""
    return [(row - 1) * _stride(layout) + column - 1 for row, column in layout.squares]


@lru_cache(maxsize=8)
def solution(layout: Layout) -> Solution:
    """Return the solution of a layout."""
    return Solution(layout)
