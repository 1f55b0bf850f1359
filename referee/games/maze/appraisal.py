"""The exact cost of a move: the plies until its player loses if both play perfectly, after the move and after a best one.

A draw and a win have numbers above all losses, so that a lost win costs more than a lost draw, and that more than an earlier loss. The
move limit of a game is ignored, as in the solution.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.capabilities import Appraised
from referee.games.maze.solver import solution
from referee.games.maze.state import POLICEMAN, THIEF, Go

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.games.maze.layouts import Layout
    from referee.games.maze.solver import Value
    from referee.games.maze.state import Settings, State

#: The measure follows from the rules.
is_exact = True
_AIM = {THIEF: "escapes", POLICEMAN: "catches the thief"}


def measure(seat: str, settings: Settings) -> str:
    """Return what is counted for a seat."""
    draw, win = _worths(settings.layout)
    other = POLICEMAN if seat == THIEF else THIEF
    return f"plies until the {other} {_AIM[other]} if both play perfectly, {draw:,} where nobody can win, {win:,} where the {seat} wins"


def apart(_seat: str, _settings: Settings) -> int:
    """Return 1: a position is judged as it is, so every move is a chance of its own."""
    return 1


def appraiser(seat: str) -> Callable[[State, Mapping[str, Go], State], Appraised | None]:
    """Return a function that compares a move of the seat with a best one."""

    def appraise(before: State, _moves: Mapping[str, Go], after: State) -> Appraised | None:
        layout, is_thiefs = before.settings.layout, before.is_thiefs
        solved = solution(layout)
        order = solved.best(before.thief, before.policeman, is_thiefs=is_thiefs)[0]
        place = layout.neighbours[before.thief if is_thiefs else before.policeman][order]
        thief, policeman = (place, before.policeman) if is_thiefs else (before.thief, place)
        value = solved.value(after.thief, after.policeman, is_thiefs=not is_thiefs)
        best = solved.value(thief, policeman, is_thiefs=not is_thiefs)
        now, instead = _worth(value, seat, layout), _worth(best, seat, layout)
        if instead <= now:
            return None
        return Appraised(Go(order), f"then {_words(best)}", now, instead, "" if value.winner not in ("", seat) else _words(value))

    return appraise


def _worths(layout: Layout) -> tuple[int, int]:
    """Return the numbers of a draw and of a win: round ones, above the number of plies of any loss."""
    draw = 1_000
    while draw < solution(layout).most:
        draw *= 10
    return draw, 2 * draw


def _worth(value: Value, seat: str, layout: Layout) -> int:
    draw, win = _worths(layout)
    return win if value.winner == seat else draw if not value.winner else value.plies


def _words(value: Value) -> str:
    """Return a value as a clause."""
    if not value.winner:
        return "nobody can win"
    plies = "ply" if value.plies == 1 else "plies"
    return f"the {value.winner} {_AIM[value.winner]} {f'in {value.plies:,} {plies}' if value.plies else 'at once'}"
