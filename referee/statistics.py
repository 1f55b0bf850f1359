"""The calculators of docs/statistics.md, for the results of other matches: a sequential test and Elo ratings. They need the extra ``league``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from referee.tournament.sequential import Sprt

__all__ = ["ratings", "sprt"]


def sprt(counts: Sequence[float], *, p0: float = 0.5, p1: float = 0.6, alpha: float = 0.05, beta: float = 0.05) -> Sprt:
    """Test whether A's share of the points is ``p1`` (H1) or ``p0`` (H0): return ``llr``, ``lower`` and ``upper``.

    ``counts`` says how often each score occurred, from the lowest to the highest: losses, ties, wins of A; five counts are those of pairs of
    duels. H1 is accepted if the log-likelihood ratio ``llr`` has reached ``upper``, H0 if it has fallen to ``lower``. ``alpha`` is the
    chance to accept H1 though H0 is true, ``beta`` the chance to accept H0 though H1 is true. Raises ValueError for values without a meaning.
    """
    from referee.support.packages import need_statistics

    need_statistics("referee.statistics")
    from referee.tournament import sequential

    return sequential.sprt(counts, p0, p1, alpha, beta)


def ratings(rows: Iterable[tuple[str, str, float]]) -> dict[str, float]:
    """Return the Elo rating of each team from rows of two teams and the score of the first one: 1 for a win, 0.5 for a tie, 0 for a loss.

    Raises ValueError for a score that does not lie from 0 to 1, and for a team that plays against itself.
    """
    from referee.support.packages import need_statistics

    need_statistics("referee.statistics")
    from referee.tournament.duels import PairedComparison
    from referee.tournament.ratings import rate

    return rate(PairedComparison(a, b, score, 0) for a, b, score in rows)
