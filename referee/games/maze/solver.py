"""Who wins from where, and in how many plies: the whole game solved backwards from its ends.

Retrograde analysis: positions in which somebody has won are labelled first; a position from which a move leads to one that is won for
who moves is won one ply later; one from which all moves lead to positions that are lost is lost one ply later than the last of them.
What is never labelled is a draw with perfect play. Moves that the rules count (the limit of a game) are left aside.

Source: rules of Maze, "The solved game".
"""

from __future__ import annotations

from referee.record import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.games.maze.layouts import Layout

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
    """

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.count = len(layout.squares)
        stride = layout.width + 1
        self._bits = [(row - 1) * stride + column - 1 for row, column in layout.squares]
        self._thief, self._policeman = _solved(layout, self._bits, stride)

    def label(self, thief: int, policeman: int, *, is_thiefs: bool) -> int:
        """The plies to the end plus one, positive if the thief wins, negative if the policeman does, 0 in a draw."""
        bit = self._bits[policeman]
        for label, cells in (self._thief if is_thiefs else self._policeman)[thief]:
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


def _solved(  # noqa: C901 - the loop over all plies, in one piece
    layout: Layout, bits: list[int], stride: int
) -> tuple[list[list[tuple[int, int]]], list[list[tuple[int, int]]]]:
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
    # What was labelled last, by the thief's place: wins of the thief with the policeman to move, losses with the thief to move.
    won = {way_out: free}
    lost = {place: 1 << bit for place, bit in enumerate(bits)}
    # Where something was labelled last, so that all moves from there or to there may be known to fail now.
    thiefs_changed, policemans_changed = set(range(count)), set(range(count))
    label = 1
    while thiefs_changed or policemans_changed:
        label += 1
        wins: dict[int, int] = {}
        for place, cells in won.items():
            for before in near[place]:
                wins[before] = wins.get(before, 0) | cells
        # Both sides look at what was known a ply ago, so nothing is entered before both have looked.
        found = []
        for place in ({before for after in policemans_changed for before in near[after]} | wins.keys()) - {way_out}:
            failing = free
            for after in near[place]:
                failing &= policemans.lost[after]
            found.append((place, wins.get(place, 0), failing))
        won, lost_before, lost = {}, lost, {}
        changed = set()
        for place in thiefs_changed:
            caught = policemans.add(place, beside(lost_before.get(place, 0)), -label)
            gained = policemans.add(place, free & ~beside(free & ~thiefs.won[place]), label)
            if gained:
                won[place] = gained
            if gained or caught:
                changed.add(place)
        policemans_changed, thiefs_changed = changed, set()
        for place, winning, failing in found:
            gained = thiefs.add(place, winning, label)
            caught = thiefs.add(place, failing, -label)
            if caught:
                lost[place] = caught
            if gained or caught:
                thiefs_changed.add(place)
    return thiefs.layers, policemans.layers


_kept: dict[Layout, Solution] = {}


def solution(layout: Layout) -> Solution:
    """The solution of a layout, made once."""
    found = _kept.get(layout)
    if found is None:
        if len(_kept) > 8:
            _kept.clear()
        found = _kept[layout] = Solution(layout)
    return found
