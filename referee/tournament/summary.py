"""The summary of many games of the same players: shares with their intervals, scores and steps."""

from __future__ import annotations

import math
import statistics
from collections import Counter
from typing import TYPE_CHECKING

from referee.support.words import aligned, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.games.game import Json
    from referee.tournament.many import ManyGame

#: The two-sided 95 % quantile of the normal distribution.
_Z = 1.959964
#: The most single games that are listed.
_MOST_LISTED = 20


def summarize(played: Sequence[ManyGame]) -> dict[str, Json]:
    """Return the summary of many games: wins, scores and steps with mean, spread (standard deviation) and interval, endings, faults."""
    seats = list(played[0].seconds)
    won = {}
    for seat in seats:
        count = sum(game.winner == seat for game in played)
        won[seat] = {"games": count, "share": count / len(played), "interval": wilson(count, len(played))}
    scores = {seat: _spread([score for game in played if (score := game.scores.get(seat)) is not None]) for seat in seats}
    return {
        "games": len(played),
        "won": won,
        "scores": {seat: score for seat, score in scores.items() if score["games"]},
        "steps": _spread([game.steps for game in played]),
        "endings": dict(Counter(game.reason for game in played).most_common()),
        "faults": {seat: count for seat in seats if (count := sum(seat in game.faults for game in played))},
    }


def score(played: Sequence[ManyGame]) -> str:
    """Return the games that each seat has won and the means of the scores, as the end of a sentence."""
    summary = summarize(played)
    won = [f"{seat} won {share['games']:,}" for seat, share in summary["won"].items()]
    return ", ".join([*won, *(f"mean score of {seat} {each['mean']:,.1f}" for seat, each in summary["scores"].items())])


def summary_lines(played: Sequence[ManyGame]) -> list[str]:
    """Return the summary of many games for people, with a line for each of the first games."""
    summary, lines = summarize(played), []
    for seat, share in summary["won"].items():
        low, high = share["interval"]
        lines.append(f"  won      {seat} {share['games']:,} ({share['share']:.1%}; {low:.1%} to {high:.1%})")
    for seat, score in summary["scores"].items():
        if score["games"]:
            ends = (
                ""
                if score["interval"] is None
                else f", 95 % interval of the mean {score['interval'][0]:,.1f} to {score['interval'][1]:,.1f}"
            )
            missing = f"; no score in {counted(len(played) - score['games'], 'game')}" if score["games"] < len(played) else ""
            lines.append(
                f"  score    {seat} mean {score['mean']:,.1f}, spread {score['spread']:,.1f}, {score['least']:,} to {score['most']:,}{ends}{missing}"
            )
    lines.append(
        f"  steps    mean {summary['steps']['mean']:,.1f}, spread {summary['steps']['spread']:,.1f}, {summary['steps']['least']:,} to {summary['steps']['most']:,}"
    )
    lines.append("  endings  " + ", ".join(f"{reason} {count:,}" for reason, count in summary["endings"].items()))
    for seat, kinds in summary["faults"].items():
        lines.append(f"  faults   {seat} {kinds:,}")
    return lines + _listed(played)


def _listed(played: Sequence[ManyGame]) -> list[str]:
    """A line for each game: who won, why, after how many steps, and the name of its replay; of many games the first ones."""
    rows = [
        (game.number + 1, f"{game.winner} won" if game.winner else "no winner", game.reason, counted(game.steps, "step"), game.replay.name)
        for game in played[:_MOST_LISTED]
    ]
    lines = [f"  game     {line}" for line in aligned(rows, left=range(5))]
    left = len(played) - len(rows)
    return lines + ([f"           and {left:,} more; --json lists all"] if left else [])


def _spread(values: Sequence[float]) -> dict[str, Json]:
    """Mean, standard deviation, and the 95 % interval of the mean (None for fewer than two values)."""
    if not values:
        return {"games": 0}
    mean = statistics.fmean(values)
    spread = statistics.stdev(values) if len(values) > 1 else 0.0
    half = _student(len(values) - 1) * spread / math.sqrt(len(values))
    interval = [mean - half, mean + half] if len(values) > 1 else None
    return {"games": len(values), "mean": mean, "spread": spread, "least": min(values), "most": max(values), "interval": interval}


def _student(freedom: int) -> float:
    """The two-sided 95 % quantile of Student's t, by its expansion around the normal distribution; exact values for the smallest samples.

    Source: M. Abramowitz and I. Stegun, Handbook of Mathematical Functions, 26.7.5.
    """
    exact = {0: 0.0, 1: 12.706205, 2: 4.302653, 3: 3.182446, 4: 2.776445, 5: 2.570582, 6: 2.446912}
    if freedom in exact:
        return exact[freedom]
    z = _Z
    first = (z**3 + z) / 4
    second = (5 * z**5 + 16 * z**3 + 3 * z) / 96
    third = (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / 384
    return z + first / freedom + second / freedom**2 + third / freedom**3


def wilson(count: float, total: int) -> list[float]:
    """The 95 % interval of a share. Source: E. Wilson, Probable inference..., Journal of the American Statistical Association 22 (1927)."""
    share, z2 = count / total, _Z * _Z
    centre = (share + z2 / (2 * total)) / (1 + z2 / total)
    half = _Z * math.sqrt(share * (1 - share) / total + z2 / (4 * total * total)) / (1 + z2 / total)
    return [max(0.0, centre - half), min(1.0, centre + half)]
