"""Tables for games of many players: all teams play equally often, in each seat equally often, against as many opponents as possible.

The tables come from cyclic designs: a block of places is moved round the circle of all teams, one step a table. A full turn has each team
in each seat once, and two teams at distance d meet as often as d is a difference of two places in the block. Blocks whose differences are
all distinct give tables at which no two teams meet twice. In a small league, exchanging teams between tables gives more varied opponents.
"""

from __future__ import annotations

import random
from collections import Counter
from functools import lru_cache
from itertools import combinations
from math import exp, gcd
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Table = tuple[int, ...]
    Node = int | tuple[int, int]

#: Leagues up to this size are improved by exchanges, and are cut into rounds in which everybody plays if that is possible.
_SMALL = 200

#: How often the exchanges are begun anew, how many are tried each time, the probability of taking a worse one (exp(-change / heat) at the
#: beginning), and the work on each block.
_RUNS = 4
_EXCHANGES = 20_000
_HEAT = 0.4
_BLOCKS = 200


@lru_cache(maxsize=8)
def rounds(teams: int, size: int, each: int) -> tuple[tuple[Table, ...], ...]:
    """Return the tables of each round: teams by number, in the order of seats. Nobody plays twice in a round.

    Each team plays ``each`` tables, which must be a multiple of size / gcd(teams, size). A team's numbers of games in any two seats differ
    by one at most, and by none if ``each`` is a multiple of ``size``.
    """
    source = random.Random(teams * 1_000_003 + size)  # noqa: S311 - a search that must repeat itself, not a secret
    by_round = teams <= _SMALL and teams % size == 0
    if teams > _SMALL:
        return _in_rounds([tuple(table) for group in _groups(teams, size, each, source, in_rounds=False) for table in group])
    groups: list[list[list[int]]] = []
    least = -1
    for _ in range(_RUNS):
        found = _groups(teams, size, each, source, in_rounds=by_round)
        if not by_round:
            found = [[table for group in found for table in group]]
        excess = _exchange(found, teams, source)
        if least < 0 or excess < least:
            groups, least = found, excess
        if not least:
            break
    numbers = [number for number, group in enumerate(groups) for _ in group]
    seated = _seated([table for group in groups for table in group], size)
    if not by_round:
        return _in_rounds(seated)
    return tuple(tuple(table for table, own in zip(seated, numbers, strict=True) if own == number) for number in range(len(groups)))


def _groups(teams: int, size: int, each: int, source: random.Random, *, in_rounds: bool) -> list[list[list[int]]]:
    """Groups of tables in which everybody plays equally often: full turns of blocks, then parts of the turn of one more block.

    With g = gcd(teams, size), every g-th table of a turn makes such a part if the block has equally many places in each class modulo g.
    """
    common = gcd(teams, size)
    full, parts = divmod(each, size)
    parts = parts * common // size
    differences = [0] * teams
    groups = []
    blocks = full + (parts > 0)
    tries = 1 + _BLOCKS * _SMALL // (teams * size * blocks)
    for number in range(blocks):
        is_part = number == full
        block = _block(teams, size, common if in_rounds or is_part else 1, differences, source, tries)
        differences = _with_differences(differences, block)
        groups += [
            [[(place + move) % teams for place in block] for move in range(part, teams, common)]
            for part in range(parts if is_part else common)
        ]
    return groups


def _block(teams: int, size: int, modulus: int, differences: Sequence[int], source: random.Random, tries: int) -> list[int]:
    """The best of several blocks: with its differences, all differences occur as equally often as possible."""
    grown = [_grown(teams, size, modulus, differences, source) for _ in range(tries)]
    return min(grown, key=lambda block: sum(count * count for count in _with_differences(differences, block)))


def _grown(teams: int, size: int, modulus: int, differences: Sequence[int], source: random.Random) -> list[int]:
    """A block that starts at 0 and takes, place by place, one of those whose differences occurred least."""
    block = [0]
    counts = list(differences)
    room = [size // modulus] * modulus
    room[0] -= 1
    while len(block) < size:
        free = [place for place in range(1, teams) if room[place % modulus] and place not in block]
        costs = [sum([counts[place - other] for other in block]) for place in free]
        least = min(costs)
        good = [place for place, cost in zip(free, costs, strict=True) if cost == least]
        place = good[int(source.random() * len(good))]
        for other in block:
            counts[place - other] += 1
            counts[other - place] += 1
        room[place % modulus] -= 1
        block.append(place)
    return block


def _with_differences(differences: Sequence[int], block: Sequence[int]) -> list[int]:
    """How often each difference occurs once a block is added. A negative index is a difference modulo the number of teams."""
    counts = list(differences)
    for a, b in combinations(block, 2):
        counts[a - b] += 1
        counts[b - a] += 1
    return counts


def _exchange(groups: Sequence[Sequence[list[int]]], teams: int, source: random.Random) -> int:
    """Exchange teams between tables of a group until any two teams meet as equally often as possible, or give up. Return the excess.

    Simulated annealing of the sum of squares of how often two teams meet: at first, it also takes some exchanges for the worse.
    """
    meetings = [[0] * teams for _ in range(teams)]
    for table in (table for group in groups for table in group):
        for a, b in combinations(table, 2):
            meetings[a][b] += 1
            meetings[b][a] += 1
    tables = [(group, table) for group in groups if len(group) > 1 for table in group]
    excess = _excess(meetings)
    for attempt in range(_EXCHANGES if tables else 0):
        if not excess:
            break
        group, first = tables[int(source.random() * len(tables))]
        second = group[int(source.random() * len(group))]
        here, there = int(source.random() * len(first)), int(source.random() * len(first))
        a, b = first[here], second[there]
        if a in second or b in first:
            continue
        mates = [place for place in first if place != a]
        others = [place for place in second if place != b]
        of_a, of_b = meetings[a], meetings[b]
        change = sum([of_b[mate] - of_a[mate] + 1 for mate in mates]) + sum([of_a[other] - of_b[other] + 1 for other in others])
        heat = _HEAT * (1 - attempt / _EXCHANGES)
        if change > 0 and source.random() >= exp(-change / heat):
            continue
        first[here], second[there] = b, a
        excess += change
        for places, gone, come in ((mates, a, b), (others, b, a)):
            for place in places:
                _count(meetings, gone, place, -1)
                _count(meetings, come, place, 1)
    return excess


def _count(meetings: list[list[int]], a: int, b: int, times: int) -> None:
    meetings[a][b] += times
    meetings[b][a] += times


def _excess(meetings: Sequence[Sequence[int]]) -> int:
    """Half of what the sum of squares is above that of meetings that are spread evenly."""
    counts = [count for place, row in enumerate(meetings) for count in row[:place]]
    each, more = divmod(sum(counts), len(counts))
    least = (len(counts) - more) * each**2 + more * (each + 1) ** 2
    return (sum(count * count for count in counts) - least) // 2


def _in_rounds(tables: Iterable[Table]) -> tuple[tuple[Table, ...], ...]:
    """Put each table in the first round in which none of its teams plays yet."""
    busy: Counter[int] = Counter()
    found: list[list[Table]] = []
    for table in tables:
        taken = 0
        for team in table:
            taken |= busy[team]
        # The lowest bit that is clear.
        number = (~taken & (taken + 1)).bit_length() - 1
        for team in table:
            busy[team] |= 1 << number
        if number == len(found):
            found.append([])
        found[number].append(table)
    return tuple(map(tuple, found))


def _seated(tables: Sequence[Sequence[int]], size: int) -> list[Table]:
    """Give each table its order of seats, so that a team's numbers of games in any two seats differ by one at most.

    That is a colouring of the edges of a bipartite graph with ``size`` colours, the seats. Its nodes are the tables and the teams, a team
    once for every ``size`` games that it plays. No node has more than ``size`` edges, so there is such a colouring (König).
    """
    seen: Counter[int] = Counter()
    #: By node and seat, the node at the other end: tables are numbered, teams have a number and a count.
    ends: dict[Node, dict[int, Node]] = {}
    for number, table in enumerate(tables):
        for team in table:
            node = (team, seen[team] // size)
            seen[team] += 1
            ours, theirs = ends.setdefault(number, {}), ends.setdefault(node, {})
            seat = next(seat for seat in range(size) if seat not in ours)
            other = next(seat for seat in range(size) if seat not in theirs)
            if seat != other:
                _flip(ends, node, seat, other)
            ours[seat], theirs[seat] = node, number
    found = []
    for number in range(len(tables)):
        table_ends = ends[number]
        found.append(tuple(end[0] for seat in range(size) if isinstance(end := table_ends[seat], tuple)))
    return found


def _flip(ends: dict[Node, dict[int, Node]], node: Node, seat: int, other: int) -> None:
    """Exchange two seats along the path that begins at a node; the path never reaches the table that needs the seat."""
    path = [node]
    at = seat
    while at in ends[path[-1]]:
        path.append(ends[path[-1]][at])
        at = other if at == seat else seat
    for place in path:
        own = ends[place]
        first, second = own.pop(seat, None), own.pop(other, None)
        if first is not None:
            own[other] = first
        if second is not None:
            own[seat] = second
