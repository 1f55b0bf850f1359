"""How many duels the matchmaking of an arena needs: 200 versions of known strength play until the order of their ratings is nearly the true one.

Duels each until the rank correlation (Spearman's) of the ratings with the truth is 0.95: with the arena's matchmaking, with pairs drawn at
random, and with the rounds of a Swiss league. All three are rated in the same way, after each batch. The medians of several runs count;
every figure is a count, so no machine changes it.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from scipy.stats import spearmanr

from referee.arena.matchmaking import Candidate, Matchmaker
from referee.arena.state import Pairs
from referee.tournament.elo import POINTS
from referee.tournament.ratings import rate
from referee.tournament.values import PairedComparison

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
    found = [Candidate(name, number, season.played[number], season.last[number]) for number, name in enumerate(season.names)]
    met = np.array(sorted((*sorted(pair), count) for pair, count in season.met.items()), dtype=np.int64).reshape(-1, 3)
    known = Pairs(*met.T, games=met[:, 2].astype(np.float64), wins=met[:, 2] / 2)
    chooser = Matchmaker(found, np.array(list(season.strengths.values())), known, len(season.comparisons), PLACEMENT, 1_000)
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
    while season.correlation() < GOAL if season.comparisons else True:
        season.play(pairing(season))
        if len(season.comparisons) * 2 > MOST_DUELS_EACH * versions:
            break
    return 2 * len(season.comparisons) / versions


def main() -> int:
    """Print the duels each of all ways of pairing. Exit status 1 if the arena doesn't need the fewest."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--versions", type=int, default=200, metavar="N", help="how many versions play (default: 200)")
    parser.add_argument("--runs", type=int, default=5, metavar="N", help="how many seasons are simulated (default: 5)")
    wanted = parser.parse_args()
    print(f"Duels each until the rank correlation is {GOAL}: {wanted.versions} versions, median of {wanted.runs} runs")
    medians = {}
    for name, pairing in PAIRINGS.items():
        found = [duels_each(pairing, wanted.versions, seed) for seed in range(wanted.runs)]
        medians[name] = statistics.median(found)
        print(f"  {name:<14}{medians[name]:7.1f}   {min(found):.1f} to {max(found):.1f}", flush=True)
    return int(min(medians, key=medians.__getitem__) != "arena")


if __name__ == "__main__":
    sys.exit(main())
