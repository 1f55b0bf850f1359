"""Positions of Maze with which ``referee check`` tests bots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.games.capabilities import DECISIVE, EDGE, EMPTY, LAST, LONG, SETTINGS, STUCK, Position, Samples
from referee.games.maze.game import GAME
from referee.games.maze.layouts import EXIT, FREE, MOST, WALL, Layout
from referee.games.maze.state import MOST_ILLEGAL, SEATS, THIEF, Settings, State

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.games.game import Json, Seat

#: The largest layout: one long corridor, so that programs that solve a maze have little to solve.
_CORRIDOR = (FREE * (MOST - 1) + EXIT, *[FREE + WALL * (MOST - 1)] * (MOST - 1))
_SMALL = ("...E", ".#..", "..#.", "....")
#: A layout with a dead end on the left.
_DEAD_END = ("########", "....####", "###....E", "###.##.#", "###....#", "########", "########", "########")


def positions(settings: Settings, seat: Seat) -> list[Position]:
    """Return positions in which the seat is asked, for the settings of a match."""
    samples = []
    for kind, about, state in (*_usual(settings, seat), *_other_settings(settings)):
        step = state.step + (GAME.movers(state) != (seat,))
        samples.append(Position(kind, about, state.settings, state._replace(step=step), step))
    return samples


def move(state: State, seat: Seat) -> Json:
    """Return the first legal order."""
    return {"go": next(iter(state.settings.layout.neighbours[state.thief if seat == THIEF else state.policeman]))}


def _usual(settings: Settings, seat: Seat) -> Iterable[tuple[str, str, State]]:
    """Positions that a match with these settings can reach."""
    start = GAME.start(settings)
    layout = settings.layout
    last = len(layout.squares) - 1
    yield EMPTY, "the start", start
    yield LAST, "the last move before the draw", start._replace(step=max(0, 2 * settings.max_moves - 2))
    yield EDGE, "both in corners", start._replace(thief=0, policeman=last, step=20)
    yield EDGE, "the policeman beside the exit", start._replace(policeman=next(iter(layout.neighbours[layout.exit].values())), step=20)
    dead_end = _with_layout(settings, _DEAD_END)
    yield STUCK, "the thief in a dead end", State(dead_end, 10, 0, 3, thief_from=1)
    yield STUCK, "the policeman in a dead end", State(dead_end, 10, 3, 0, policeman_from=1)
    beside = next(iter(layout.neighbours[layout.exit].values()))
    yield DECISIVE, "the thief beside the exit", start._replace(thief=beside, policeman=0, step=20)
    yield (
        DECISIVE,
        "the policeman beside the thief",
        start._replace(thief=last, policeman=next(iter(layout.neighbours[last].values())), step=20),
    )
    illegal = tuple(MOST_ILLEGAL - 1 if other == seat else 0 for other in SEATS)
    yield DECISIVE, "one more illegal order loses", start._replace(illegal=(illegal[0], illegal[1]), step=20)


def _other_settings(settings: Settings) -> Iterable[tuple[str, str, State]]:
    """A long state, and the first positions of matches with other settings."""
    corridor = _with_layout(settings, _CORRIDOR)
    yield LONG, f"the largest layout, {MOST} x {MOST}", State(corridor, 20, 5, len(corridor.layout.squares) - 3)
    small = _with_layout(settings, _SMALL)
    yield SETTINGS, "a layout of 4 x 4", GAME.start(small)
    yield SETTINGS, "no limit of moves", GAME.start(settings._replace(max_moves=0))
    yield SETTINGS, "a start in the settings", GAME.start(_given(settings))


def _with_layout(settings: Settings, rows: tuple[str, ...]) -> Settings:
    """Return the settings with another layout, on which almost any start is allowed."""
    return settings._replace(layout=Layout(rows), thief=None, policeman=None, apart=1, parity="any", exit_start=True)


def _given(settings: Settings) -> Settings:
    """Return the settings with a start, if they have none."""
    start = GAME.start(settings)
    squares = settings.layout.squares
    return settings._replace(thief=squares[start.thief], policeman=squares[start.policeman])


SAMPLES = Samples(positions, move, frozenset({"illegal-order"}))
