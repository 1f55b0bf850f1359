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
    # By the thief's place, how far to go in a list for each of its neighbours.
    thief_near = [tuple(place * count for place in places) for places in near]
    thiefs, policemans = [0] * (count * count), [0] * (count * count)
    # How many moves of who would rather not lose haven't been found to lose yet.
    thief_left = [len(near[place]) for place in range(count) for _ in range(count)]
    policeman_left = [len(places) for places in near] * count
    way_out_at = way_out * count
    # Those that were labelled last: with the thief to move, and with the policeman to move; whoever has won.
    thiefs_new = [place * (count + 1) for place in range(count)]
    policemans_new = [way_out_at + place for place in range(count)]
    policemans_new += [place * (count + 1) for place in range(count) if place != way_out]
    for at in thiefs_new:
        thiefs[at] = policemans[at] = -1
    for at in range(way_out_at, way_out_at + count):
        policemans[at] = 1
    label = 1
    while thiefs_new or policemans_new:
        label += 1
        thiefs_next, policemans_next = [], []
        for state in policemans_new:
            thief, policeman = divmod(state, count)
            if policemans[state] > 0:
                for before in thief_near[thief]:
                    at = before + policeman
                    if not thiefs[at] and before != way_out_at:
                        thiefs[at] = label
                        thiefs_next.append(at)
            else:
                for before in thief_near[thief]:
                    at = before + policeman
                    thief_left[at] -= 1
                    if not thief_left[at] and not thiefs[at] and before != way_out_at:
                        thiefs[at] = -label
                        thiefs_next.append(at)
        for state in thiefs_new:
            thief, policeman = divmod(state, count)
            base = state - policeman
            if thiefs[state] < 0:
                for before in near[policeman]:
                    at = base + before
                    if not policemans[at]:
                        policemans[at] = -label
                        policemans_next.append(at)
            else:
                for before in near[policeman]:
                    at = base + before
                    policeman_left[at] -= 1
                    if not policeman_left[at] and not policemans[at]:
                        policemans[at] = label
                        policemans_next.append(at)
        thiefs_new, policemans_new = thiefs_next, policemans_next
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
