"""How many duels the matchmaking of an arena needs: 200 versions of known strength play until the order of their ratings is nearly the true one.

Duels each until the rank correlation (Spearman's) of the ratings with the truth is 0.95: with the arena's matchmaking, with pairs drawn at
random, and with the rounds of a Swiss league. All three are rated in the same way, after each batch. The floor is the better one of the
others. Every figure is a count, so no machine changes it.

python benchmarks/arena_matchmaking.py [--rounds 5] [--versions 200] [--json]
"""

from __future__ import annotations

import argparse
import random
import statistics
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
from harness import Figure, run
from scipy.stats import spearmanr

from referee.arena.matchmaking import Candidate, Matchmaker
from referee.arena.state import Pairs
from referee.tournament.elo import POINTS
from referee.tournament.ratings import rate
from referee.tournament.duels import PairedComparison

#: The standard deviation of the strengths, in log-odds: 200 Elo.
SPREAD = 200 / POINTS
GOAL = 0.95
PLACEMENT = 10
#: No way of pairing needs so many duels.
MOST_DUELS_EACH = 400

Pairing = Callable[["Season"], Sequence[tuple[int, int]]]


class Season:
    """The duels so far of versions whose true strengths are known. Version n is called by its number with four digits."""

    def __init__(self, versions: int, seed: int) -> None:
        self.lots = random.Random(seed)
        self.truth = [self.lots.gauss(0, SPREAD) for _ in range(versions)]
        self.names = [f"{number:04}" for number in range(versions)]
        self.comparisons: list[PairedComparison] = []
        self.met: Counter[frozenset[int]] = Counter()
        self.played = [0] * versions
        self.last = [0] * versions
        self.points = [0.0] * versions
        self.strengths = dict.fromkeys(self.names, 0.0)

    def play(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Play duels, and rate all versions."""
        for a, b in pairs:
            won = float(self.lots.random() < 1 / (1 + np.exp(self.truth[b] - self.truth[a])))
            for version, points in ((a, won), (b, 1 - won)):
                self.played[version] += 1
                self.last[version] = len(self.comparisons)
                self.points[version] += points
            self.met[frozenset((a, b))] += 1
            self.comparisons.append(PairedComparison(self.names[a], self.names[b], won, len(self.comparisons)))
        self.strengths = {name: elo / POINTS for name, elo in rate(self.comparisons, self.names).items()}

    def correlation(self) -> float:
        """The rank correlation of the ratings with the truth."""
        return float(spearmanr([self.strengths[name] for name in self.names], self.truth).statistic)


def arena(season: Season) -> list[tuple[int, int]]:
    """Return a batch of the arena's matchmaking."""
    candidates = [Candidate(name, number, season.played[number], season.last[number]) for number, name in enumerate(season.names)]
    met = np.array(sorted((*sorted(pair), count) for pair, count in season.met.items()), dtype=np.int64).reshape(-1, 3)
    known = Pairs(*met.T, games=met[:, 2].astype(np.float64), wins=met[:, 2] / 2)
    chooser = Matchmaker(candidates, np.array(list(season.strengths.values())), known, len(season.comparisons), PLACEMENT, 1_000)
    pairs = [chooser.next() for _ in range(len(season.names) // 2)]
    return [(int(pair[0]), int(pair[1])) for pair in pairs if pair is not None]


def at_random(season: Season) -> list[tuple[int, int]]:
    """Return a round in which everybody plays, drawn by lot."""
    order = list(range(len(season.names)))
    season.lots.shuffle(order)
    return list(zip(order[::2], order[1::2], strict=False))


def swiss(season: Season) -> list[tuple[int, int]]:
    """Return a round of a Swiss league: neighbours by points who haven't met yet, if there are such."""
    order = list(range(len(season.names)))
    season.lots.shuffle(order)
    order.sort(key=lambda version: -season.points[version])
    pairs = []
    while len(order) > 1:
        first = order.pop(0)
        fewest = min(season.met[frozenset((first, other))] for other in order[:20])
        place = next(place for place, other in enumerate(order) if season.met[frozenset((first, other))] == fewest)
        pairs.append((first, order.pop(place)))
    return pairs


PAIRINGS: dict[str, Pairing] = {"arena": arena, "random pairs": at_random, "Swiss rounds": swiss}


def duels_each(pairing: Pairing, versions: int, seed: int) -> float:
    """Return how many duels each version has played when the ratings are as good as ``GOAL``."""
    season = Season(versions, seed)
    while len(season.comparisons) * 2 <= MOST_DUELS_EACH * versions:
        season.play(pairing(season))
        if season.correlation() >= GOAL:
            break
    return 2 * len(season.comparisons) / versions


def everything(options: argparse.Namespace) -> list[Figure]:
    """The duels each of all ways of pairing, beside pairs drawn at random in the same seasons."""
    seeds = range(options.rounds)
    duels = {name: [duels_each(pairing, options.versions, seed) for seed in seeds] for name, pairing in PAIRINGS.items()}
    others = min((values for name, values in duels.items() if name != "arena"), key=statistics.median)
    return [
        Figure("duels each, arena", "duels", duels["arena"], others, "ratio", 1.0),
        *(Figure(f"duels each, {name}", "duels", values) for name, values in duels.items() if name != "arena"),
    ]


if __name__ == "__main__":
    run(__doc__, everything, rounds=(5, "seasons that are simulated"), versions=(200, "versions that play"))
