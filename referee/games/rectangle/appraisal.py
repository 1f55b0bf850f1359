"""Estimates of the cost of a move, by the cells that a player has claimed or painted after the step.

All other robots keep their moves. A ring that a player prepares, and cells that others want, don't count: nobody knows how the players
would have gone on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.games.capabilities import Appraised
from referee.games.rectangle import rules
from referee.games.rectangle.state import LETTERS, STEPS, Orders
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from referee.games.rectangle.state import Cell, Place, Settings, State

#: The measure is an estimate: the players go on after the step.
is_exact = False
#: Turns within which the moves of a player belong to one chance: a robot that turns the wrong way walks there for some turns.
_APART = 5


def measure(seat: str, settings: Settings) -> str:
    """Return what the estimate counts for a player."""
    return f"cells of the {settings.n * settings.n:,} that player {seat} has claimed or painted after the turn"


def apart(_seat: str, _settings: Settings) -> int:
    """Return the turns within which only one move is named."""
    return _APART


def appraiser(seat: str) -> Callable[[State, Mapping[str, Place | Orders], State], Appraised | None]:
    """Return a function that compares the orders of a player with better ones."""
    player = LETTERS.index(seat)

    def appraise(before: State, moves: Mapping[str, Place | Orders], after: State) -> Appraised | None:
        if not before.step:
            # The start cells of robots matter later, and hardly in this step.
            return None
        played, now = tuple(after.moved[player]), _held(after, player)
        best = max(_tries(before, moves, player, played), key=lambda attempt: attempt.held)
        return Appraised(Orders(best.orders), _words(played, best), now, best.held) if best.held > now else None

    return appraise


class _Try(NamedTuple):
    """Orders that a player could have given, with the cells that it would then hold, and those that it would claim in the step."""

    orders: tuple[str, ...]
    held: int
    gained: int


def _tries(before: State, moves: Mapping[str, Place | Orders], player: int, played: tuple[str, ...]) -> Iterator[_Try]:
    """Yield each other order of each robot, with the orders of its player's other robots unchanged; then the best orders of all robots together."""
    together = list(played)
    for robot, cell in enumerate(before.robots[player]):
        orders = [order for order in STEPS if order == played[robot] or _is_possible(before, cell, order)]
        tries = {order: _tried(before, moves, player, (*played[:robot], order, *played[robot + 1 :])) for order in orders}
        # If another order is only as good, the robot keeps its own.
        together[robot] = max(orders, key=lambda order: (tries[order].held, order == played[robot]))
        yield from tries.values()
    yield _tried(before, moves, player, tuple(together))


def _is_possible(state: State, cell: Cell, order: str) -> bool:
    (row, column), (down, along), n = cell, STEPS[order], state.settings.n
    return 0 <= row + down < n and 0 <= column + along < n


def _tried(before: State, moves: Mapping[str, Place | Orders], player: int, orders: tuple[str, ...]) -> _Try:
    after, _ = rules.step(before, {**moves, LETTERS[player]: Orders(orders)})
    return _Try(orders, _held(after, player), after.gained[player])


def _held(state: State, player: int) -> int:
    """Return how many cells a player has claimed or painted."""
    return state.scores[player] + sum(row.bit_count() for row in state.rows[player])


def _words(played: tuple[str, ...], better: _Try) -> str:
    """Return what the better orders change."""
    changed = [(robot, order, other) for robot, (order, other) in enumerate(zip(played, better.orders, strict=True)) if order != other]
    robot, order, other = changed[0]
    which = f"robot {robot} {other} instead of {order}" if len(changed) == 1 else f"other orders for {len(changed)} robots"
    return f"{which}, which claims {counted(better.gained, 'cell')}" if better.gained else which
