"""The name, rule sets and settings of Maze. Commands that need only these load this module without the rules."""

from __future__ import annotations

from referee.games.game import GameInfo, Option

PARITIES = ("even", "any")
_SQUARE = ("row", "column")

OPTIONS = (
    Option("layout", "The maze, a text file: # wall, . free, E exit.", "lines", default_text="the assignment's"),
    Option("parity", "The allowed distances between thief and policeman at the start.", "choice", choices=PARITIES, default=PARITIES[0]),
    Option("exit_start", "Whether the policeman may start on the exit.", "boolean", default_text="only with parity any"),
    Option(
        "apart",
        "The least distance at the start between thief and exit, and between thief and policeman.",
        most=200,
        default=16,
        unit="squares",
    ),
    Option("max_moves", "Moves of the thief after which the game is a draw; 0: no limit.", most=100_000, default=200, unit="moves"),
    Option("thief", "The thief's start, given together with the policeman's.", "integers", parts=_SQUARE, default_text="drawn"),
    Option("policeman", "The policeman's start, given together with the thief's.", "integers", parts=_SQUARE, default_text="drawn"),
)

INFO = GameInfo("maze", 1, ("standard",), OPTIONS)
