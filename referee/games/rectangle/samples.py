"""Positions of Rectangle with which ``referee check`` tests bots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.capabilities import DECISIVE, EDGE, EMPTY, FULL, LAST, LONG, SETTINGS, STUCK, Position, Samples
from referee.games.rectangle.game import GAME
from referee.games.rectangle.state import LETTERS, SPENT, Place, Settings, State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.games.game import Json, Seat

#: The largest match: its state has about 64 KiB.
_LARGEST: dict[str, Json] = {"n": 200, "players": 26, "robots": 100}


def positions(settings: Settings, seat: Seat) -> list[Position]:
    """Return positions in which the seat is asked, for the settings of a match."""
    samples = (*_usual(settings, seat), *_other_settings(settings))
    return [Position(kind, about, state.settings, state, state.step) for kind, about, state in samples]


def move(state: State, seat: Seat) -> Json:
    """Return a move that leaves the robots where they are."""
    if not state.step:
        n, first = state.settings.n, LETTERS.index(seat) * state.settings.robots
        return {"place": [[(first + robot) // n % n, (first + robot) % n] for robot in range(state.settings.robots)]}
    return {"orders": "-" * state.settings.robots}


def _usual(settings: Settings, seat: Seat) -> Iterable[tuple[str, str, State]]:
    """Positions that a match with these settings can reach."""
    n = settings.n
    start = GAME.start(settings)
    placed = _placed(start)
    yield EMPTY, "the set-up, an empty board", start
    yield EMPTY, "the first turn", placed
    full = placed._replace(cells=bytes([SPENT]) * (n * n), spent=((1 << n) - 1,) * n, step=n)
    yield FULL, "no cell can be painted any more", full
    yield LAST, "the last turn before the match ends", placed._replace(stagnation=settings.stagnation - 1, step=settings.stagnation)
    for about, cells in (
        ("all robots in the corners", [(0, 0), (0, n - 1), (n - 1, 0), (n - 1, n - 1)]),
        ("all robots along an edge", [(0, column) for column in range(n)]),
    ):
        yield EDGE, about, _put(placed, cells)._replace(step=n)
    yield STUCK, "all robots on one cell", _put(placed, [(n // 2, n // 2)])._replace(step=n)
    yield STUCK, "all robots on cells that can't be painted", _put(full, [(n // 2, n // 2), (0, 0)])
    others = frozenset(other for other in placed.seats if other != seat)
    yield DECISIVE, "all other players have failed", placed._replace(failed=others, step=n)


def _other_settings(settings: Settings) -> Iterable[tuple[str, str, State]]:
    """A long state, and the first positions of matches with other settings."""
    yield LONG, "200 x 200 cells, 26 players with 100 robots each", _placed(GAME.start(settings._replace(**_LARGEST)))
    changed: tuple[tuple[str, dict[str, Json]], ...] = (
        ("the smallest board, 3 x 3", {"n": 3, "robots": 1}),
        ("a board of 50 x 50", {"n": 50, "robots": 8}),
        ("26 players", {"n": 30, "players": 26, "robots": 1}),
    )
    for about, values in changed:
        yield SETTINGS, about, _placed(GAME.start(settings._replace(**values)))


def _placed(start: State) -> State:
    """Return the position after a set-up in which all players place their robots row by row."""
    moves = {seat: GAME.codec.parse(start, seat, move(start, seat)) for seat in start.seats}
    return GAME.step(start, {seat: places for seat, places in moves.items() if isinstance(places, Place)})[0]


def _put(state: State, cells: list[tuple[int, int]]) -> State:
    """Return the position with all robots on these cells in turn."""
    robots = [[cells[(player + robot) % len(cells)] for robot in range(state.settings.robots)] for player in range(state.settings.players)]
    return state._replace(robots=tuple(map(tuple, robots)))


SAMPLES = Samples(positions, move, frozenset({"placed-by-lot", "ignored"}))
