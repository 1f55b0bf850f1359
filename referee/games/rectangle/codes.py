"""Explanations of Rectangle's codes."""

from __future__ import annotations

from referee.games.capabilities import NOTICE, OUTCOME, CodeText

CODES = (
    CodeText("rectangle", NOTICE, "A player completed the border of a rectangle and owns the cells inside.", "Nothing to do."),
    CodeText(
        "placed-by-lot",
        NOTICE,
        "Some robots had no possible cell in the set-up. The referee placed them on random cells.",
        "Answer the first question with `place`: a cell (row, column) for each robot, from 0 to `n` - 1.",
    ),
    CodeText(
        "ignored",
        NOTICE,
        "A part of the orders or cells was ignored: too many, too few, or a word that is none of N, S, E, W and -. Robots without an order stay.",
        "Give exactly `robots` words.",
    ),
    CodeText(
        "stagnation", OUTCOME, "Nobody has gained a cell for `stagnation` turns.", "Plan rings that claim new cells, also late in the game."
    ),
    CodeText("cap", OUTCOME, "The last turn that `cap` allows is over.", "Nothing to do: the player with the most cells wins."),
)
