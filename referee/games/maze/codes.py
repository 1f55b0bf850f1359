"""Explanations of Maze's codes."""

from __future__ import annotations

from referee.games.capabilities import NOTICE, OUTCOME, CodeText

_FAULT = "The fault says why: `referee explain crashed`, for instance. A third illegal order loses, too."

CODES = (
    CodeText(
        "illegal-order",
        NOTICE,
        "The order leads into a wall or is none of U, D, L and R. The referee took the first legal order instead; with the third such order the player loses.",
        "Choose among `state.neighbours(state.here)`.",
    ),
    CodeText("escaped", OUTCOME, "The thief reached the exit.", "As the policeman: stand between the thief and the exit."),
    CodeText(
        "caught",
        OUTCOME,
        "The policeman and the thief stood on the same square.",
        "As the thief: `state.value(order)` tells whether an order still wins.",
    ),
    CodeText(
        "move-limit", OUTCOME, "The thief made as many moves as `max_moves` allows: a draw.", "As the thief: go for the exit earlier."
    ),
    CodeText("thief-timeout", OUTCOME, "The thief was late; the policeman wins.", "See `referee explain late`."),
    CodeText("thief-fault", OUTCOME, "The thief failed; the policeman wins.", _FAULT),
    CodeText("policeman-timeout", OUTCOME, "The policeman was late; the thief wins.", "See `referee explain late`."),
    CodeText("policeman-fault", OUTCOME, "The policeman failed; the thief wins.", _FAULT),
)
