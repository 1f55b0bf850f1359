"""The Elo scale: a difference of 400 points means odds of ten to one.

Source: A. Elo, The Rating of Chessplayers, Past and Present (1978), with the logistic curve of its chapter 8.
"""

from __future__ import annotations

import math

#: Elo points per unit of log-odds.
POINTS = 400 / math.log(10)


def elo_of_share(share: float) -> float:
    """Return the Elo difference at which a team wins ``share`` of the points; minus or plus infinity for 0 and 1.

    Raises ValueError if the share is not between 0 and 1.
    """
    if not 0 <= share <= 1:
        raise ValueError(f"A share lies between 0 and 1; {share} does not.")
    if share in (0, 1):
        return math.copysign(math.inf, share - 0.5)
    return POINTS * (math.log(share) - math.log1p(-share))
