"""The pairs of a round of a Swiss league: teams with similar points meet, and no two teams meet again if that can be avoided.

A round is a matching of maximum weight. That takes cubic time, so a large league is cut into windows along the order of points. A window
of at least 2 (r + 1) teams after r rounds has a matching without a rematch: each team has at least half of the others left (Dirac).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    #: The teams that each team has met, with the number of times.
    Met = Mapping[str, Mapping[str, int]]

#: Teams of a window: more find closer pairs at the borders and take longer.
_WINDOW = 32

#: A league up to this size is one window.
_SMALL = 64

#: Each team is first offered this many of the teams below it.
_NEAR = 24


def pairs(ordered: Sequence[str], points: Mapping[str, float], met: Met) -> tuple[tuple[str, str], ...]:
    """Pair an even number of teams, which are ordered by points, best first. The result depends on nothing but the arguments."""
    size = len(ordered)
    rounds = max((len(met.get(team, ())) for team in ordered), default=0)
    width = size if size <= _SMALL else max(_WINDOW, 2 * (rounds + 1))
    found: list[tuple[str, str]] = []
    begin = 0
    while begin < size:
        # The last window takes the rest, so that no window is too small.
        end = size if size - begin < 2 * width else begin + width
        found += _match(ordered[begin:end], points, met)
        begin = end
    return tuple(found)


def _match(window: Sequence[str], points: Mapping[str, float], met: Met) -> list[tuple[str, str]]:
    """Pair all teams of a window; with rematches only if there is no other way."""
    found = _matching(window, points, met, near=_NEAR, rematches=False)
    if 2 * len(found) < len(window):
        found = _matching(window, points, met, near=len(window), rematches=True)
    return found


def _matching(window: Sequence[str], points: Mapping[str, float], met: Met, *, near: int, rematches: bool) -> list[tuple[str, str]]:
    """The matching with the smallest sum of squared differences in points, after the fewest rematches."""
    import networkx as nx

    # Whole numbers: half points are the unit, and sums of them are exact.
    halves = [round(2 * points.get(team, 0.0)) for team in window]
    worst = max(halves) - min(halves)
    rematch = (worst * worst + 1) * len(window)
    graph = nx.Graph()
    graph.add_nodes_from(range(len(window)))
    for a, team in enumerate(window):
        before = met.get(team, {})
        offered = 0
        for b in range(a + 1, len(window)):
            times = before.get(window[b], 0)
            if times and not rematches:
                continue
            graph.add_edge(a, b, weight=-((halves[a] - halves[b]) ** 2) - times * rematch)
            offered += 1
            if offered == near:
                break
    matching = nx.max_weight_matching(graph, maxcardinality=True)
    return [(window[a], window[b]) for a, b in sorted((min(pair), max(pair)) for pair in matching)]
