"""The pairs of a round of a Swiss league: teams with similar points meet, and no two teams meet again if that can be avoided.

Neighbours in the order of points are paired. Then pairs exchange opponents as long as that makes the round better. A large league is cut
into windows along the order of points. In a window of at least 2 (r + 1) teams after r rounds, each team has at least half of the others
left, so two teams that would meet again always find a pair to exchange with (the step of G. Dirac's theorem, 1952). After more rounds a
search may be needed.
"""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    #: The teams that each team has met, with the number of times.
    Met = Mapping[str, Mapping[str, int]]
    Pair = tuple[str, str]

#: Teams of a window: more find closer pairs at the borders and take longer.
_WINDOW = 32

#: A league up to this size is one window.
_SMALL = 64

#: The most pairs that a search tries.
_TRIES = 10_000


def pairs(ordered: Sequence[str], points: Mapping[str, float], met: Met) -> tuple[Pair, ...]:
    """Pair an even number of teams, which are ordered by points, best first. The result depends only on the arguments."""
    size = len(ordered)
    rounds = max((len(met.get(team, ())) for team in ordered), default=0)
    width = size if size <= _SMALL else max(_WINDOW, 2 * (rounds + 1))
    paired: list[Pair] = []
    begin = 0
    while begin < size:
        # The last window takes the rest, so that no window is too small.
        end = size if size - begin < 2 * width else begin + width
        paired += _match(ordered[begin:end], points, met)
        begin = end
    return tuple(paired)


def _match(window: Sequence[str], points: Mapping[str, float], met: Met) -> list[Pair]:
    """Pair all teams of a window: with few rematches, and then with a small sum of squared differences in points."""
    # Whole numbers: half points are the unit. Each exchange lowers an exact sum, so there is a last one.
    halves = {team: round(2 * points.get(team, 0.0)) for team in window}
    worst = max(halves.values()) - min(halves.values())
    rematch = (worst * worst + 1) * len(window)

    def cost(pair: Pair) -> int:
        a, b = pair
        return (halves[a] - halves[b]) ** 2 + met.get(a, {}).get(b, 0) * rematch

    teams = iter(window)
    paired = list(zip(teams, teams, strict=True))
    _exchange(paired, cost)
    if len(window) <= _SMALL and any(cost(pair) >= rematch for pair in paired):
        better = _search(window, met, iter(range(_TRIES)))
        if better is not None:
            paired = better
            _exchange(paired, cost)
    place = {team: number for number, team in enumerate(window)}
    return sorted(((a, b) if place[a] < place[b] else (b, a) for a, b in paired), key=lambda pair: place[pair[0]])


def _exchange(paired: list[Pair], cost: Callable[[Pair], int]) -> None:
    """Let pairs exchange opponents until no exchange of two pairs lowers the sum of their costs."""
    is_better = True
    while is_better:
        is_better = False
        for left, right in combinations(range(len(paired)), 2):
            (a, b), (c, d) = paired[left], paired[right]
            least = cost((a, b)) + cost((c, d))
            for first, second in (((a, c), (b, d)), ((a, d), (b, c))):
                if (new := cost(first) + cost(second)) < least:
                    paired[left], paired[right], least, is_better = first, second, new, True


def _search(teams: Sequence[str], met: Met, tries: Iterator[int]) -> list[Pair] | None:
    """Pair teams without a rematch, the nearest ones first; None if there is no such way, or if ``tries`` end before one is found."""
    if not teams:
        return []
    first, *others = teams
    for number, other in enumerate(others):
        if not met.get(first, {}).get(other) and next(tries, None) is not None:
            rest = _search([*others[:number], *others[number + 1 :]], met, tries)
            if rest is not None:
                return [(first, other), *rest]
    return None
