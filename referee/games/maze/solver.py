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
    """All positions of a layout. A label is the plies to the end plus one, positive if the thief wins, negative if the policeman does."""

    def __init__(self, layout: Layout) -> None:
        self.layout = layout
        self.count = len(layout.squares)
        self._thief, self._policeman = _solved(layout)

    def label(self, thief: int, policeman: int, *, is_thiefs: bool) -> int:
        """The label of a position by the places of both, with the thief or the policeman to move."""
        return (self._thief if is_thiefs else self._policeman)[thief * self.count + policeman]

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


def _solved(layout: Layout) -> tuple[list[int], list[int]]:  # noqa: C901, PLR0912 - the loop over all positions, in one piece
    """The labels with the thief to move and with the policeman to move."""
    count, way_out = len(layout.squares), layout.exit
    near = [tuple(ways.values()) for ways in layout.near]
    thiefs, policemans = [0] * (count * count), [0] * (count * count)
    # How many moves of who would rather not lose haven't been found to lose yet.
    thief_left = [len(near[state // count]) for state in range(count * count)]
    policeman_left = [len(near[state % count]) for state in range(count * count)]
    waiting: list[int] = []
    # A state is twice its place, one more with the policeman to move.
    for place in range(count):
        policemans[way_out * count + place] = 1
        waiting.append(2 * (way_out * count + place) + 1)
        thiefs[place * count + place] = -1
        waiting.append(2 * (place * count + place))
        if place != way_out:
            policemans[place * count + place] = -1
            waiting.append(2 * (place * count + place) + 1)
    for state in waiting:
        thief, policeman = divmod(state >> 1, count)
        if state & 1:
            label = policemans[state >> 1]
            for before in near[thief]:
                at = before * count + policeman
                if thiefs[at] or before == way_out:
                    continue
                if label > 0:
                    thiefs[at] = label + 1
                else:
                    thief_left[at] -= 1
                    if thief_left[at]:
                        continue
                    thiefs[at] = label - 1
                waiting.append(2 * at)
        else:
            label = thiefs[state >> 1]
            for before in near[policeman]:
                at = thief * count + before
                if policemans[at]:
                    continue
                if label < 0:
                    policemans[at] = label - 1
                else:
                    policeman_left[at] -= 1
                    if policeman_left[at]:
                        continue
                    policemans[at] = label + 1
                waiting.append(2 * at + 1)
    return thiefs, policemans


_kept: dict[Layout, Solution] = {}


def solution(layout: Layout) -> Solution:
    """The solution of a layout, made once."""
    found = _kept.get(layout)
    if found is None:
        if len(_kept) > 8:
            _kept.clear()
        found = _kept[layout] = Solution(layout)
    return found
