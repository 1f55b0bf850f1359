"""Maze for bots: the base classes, and a state with helpers."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

from referee.games.maze import variants
from referee.games.maze.layouts import STEPS, Layout, Order
from referee.games.maze.state import POLICEMAN, THIEF, Go, Settings
from referee.games.maze.state import State as EngineState
from sdk.bot import Bot

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Literal

    from referee.games.game import Json
    from referee.games.maze.solver import Solution, Value

    Square = tuple[int, int]
    Role = Literal["thief", "policeman"]

__all__ = ["Layout", "Order", "PolicemanBot", "Settings", "State", "ThiefBot", "Value"]


class State:
    """A position. ``thief``, ``policeman``, ``exit``, ``thief_from`` and ``policeman_from`` (the previous squares, None before the first
    move) are squares (row, column) from 1. ``moves_left`` are the thief's, None without a limit. ``seat`` is the bot's own. It never
    changes.
    """

    __slots__ = ("_engine", "exit", "layout", "moves_left", "policeman", "policeman_from", "seat", "step", "thief", "thief_from")

    def __init__(self, settings: Settings, seat: Role, view: dict[str, Json]) -> None:
        self.layout = layout = settings.layout
        self.seat = seat
        self.step: int = view["step"]
        self.thief: Square = tuple(view["thief"])
        self.policeman: Square = tuple(view["policeman"])
        self.thief_from: Square | None = None if view["thief_from"] is None else tuple(view["thief_from"])
        self.policeman_from: Square | None = None if view["policeman_from"] is None else tuple(view["policeman_from"])
        self.moves_left: int | None = view["moves_left"]
        self.exit: Square = layout.squares[layout.exit]
        thief_from = -1 if self.thief_from is None else layout.index[self.thief_from]
        policeman_from = -1 if self.policeman_from is None else layout.index[self.policeman_from]
        self._engine = EngineState(settings, self.step, layout.index[self.thief], layout.index[self.policeman], thief_from, policeman_from)

    @property
    def here(self) -> Square:
        """The bot's own square."""
        return self.thief if self.seat == THIEF else self.policeman

    def neighbours(self, square: Square) -> dict[Order, Square]:
        """Return the free squares next to a square, by the order that leads there. ValueError for a square that isn't free."""
        layout = self.layout
        return {order: layout.squares[place] for order, place in layout.neighbours[self._place(square)].items()}

    def distance(self, start: Square, end: Square) -> int:
        """Return the length of the shortest path between two squares. ValueError for a square that isn't free."""
        return _distances(self.layout, self._place(end))[self._place(start)]

    def _place(self, square: Square) -> int:
        """Return the index of a free square. ValueError if the square isn't free."""
        place = self.layout.index.get(square) if isinstance(square, tuple) else None
        if place is None:
            raise ValueError(f"{square!r:.40} is no free square of this maze; squares are (row, column), from 1")
        return place

    def path(self, start: Square, end: Square) -> Sequence[Order]:
        """Return orders for a shortest path from one square to another, as one text."""
        orders: list[Order] = []
        while start != end:
            ways = self.neighbours(start)
            orders.append(min(ways, key=lambda way: self.distance(ways[way], end)))
            start = ways[orders[-1]]
        return cast("Sequence[Order]", "".join(orders))

    def value(self, order: Order | Literal[""] = "") -> Value:
        """Return the winner under perfect play ("" for a draw) and the number of plies, for this position or the one after an order.

        Raises ValueError for an order that leads into a wall.
        """
        state = self._engine
        thief, policeman, is_thiefs = state.thief, state.policeman, state.is_thiefs
        if order:
            ways = self.layout.neighbours[thief if is_thiefs else policeman]
            if order not in ways:
                raise ValueError(f"{order!r:.40} leads nowhere from here; the orders that do are {', '.join(ways)}")
            here = ways[order]
            thief, policeman, is_thiefs = (here, policeman, False) if is_thiefs else (thief, here, True)
        return _solution(self.layout).value(thief, policeman, is_thiefs=is_thiefs)

    def best(self) -> list[Order]:
        """Return the orders of perfect play: they win as soon as possible, lose as late as possible, or keep the draw."""
        state = self._engine
        return _solution(self.layout).best(state.thief, state.policeman, is_thiefs=state.is_thiefs)


def seen_state(state: EngineState, seat: Role) -> State:
    """Return a state of the engine as the bot in a seat gets it."""
    import json

    from referee.games.maze.game import GAME

    return State(state.settings, seat, json.loads(GAME.codec.view_text(state, seat)))


def engine_state(state: object) -> EngineState | None:
    """Return a bot's state, or one of a replay, as a state of the engine; None for a state of another game."""
    engine = state._engine if isinstance(state, State) else state
    return engine if isinstance(engine, EngineState) else None


#: The kind of move that ``sdk.testing.ask`` returns, by seat.
MOVES = {THIEF: Go, POLICEMAN: Go}


_known_distances: dict[tuple[Layout, int], list[int]] = {}


def _distances(layout: Layout, end: int) -> list[int]:
    if (layout, end) not in _known_distances:
        _known_distances[layout, end] = layout.distances(end)
    return _known_distances[layout, end]


def _solution(layout: Layout) -> Solution:
    """Return the solution of a layout. Bots that don't ask for it don't load the solver."""
    from referee.games.maze.solver import solution

    return solution(layout)


def __getattr__(name: str) -> object:
    if name != "Value":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from referee.games.maze.solver import Value

    return Value


class _MazeBot(Bot):
    """The common part of both seats: calls the method for a question and encodes its answer."""

    seat: Role
    rules: Literal["standard"] | tuple[Literal["standard"], ...]
    settings: Settings
    layout: Layout
    _game = "maze"
    _variants = variants

    def solve(self) -> None:
        """Solve the layout now. Call this in ``begin``: then it counts towards the start-up limit and not towards the first move."""
        _solution(self.layout)

    def _responder(self, start: dict[str, Json]) -> Callable[[dict[str, Json]], str]:
        decide = getattr(self, self._seats[start["seat"]])
        self.layout = self.settings.layout

        def respond(view: dict[str, Json]) -> str:
            order = decide(State(self.settings, self.seat, view))
            if not isinstance(order, str) or order not in STEPS:
                raise TypeError(f"an order is {order!r:.80}; it must be U, D, L or R")
            return f'{{"go":"{order}"}}'

        return respond


class ThiefBot(_MazeBot):
    """A thief: override ``escape``."""

    _seats = {THIEF: "escape"}
    _trial = "referee play --game maze {} easy"

    def escape(self, state: State) -> Order:
        """Where to go: U, D, L or R."""
        raise TypeError(f"{type(self).__name__} must define escape(self, state)")


class PolicemanBot(_MazeBot):
    """A policeman: override ``chase``."""

    _seats = {POLICEMAN: "chase"}
    _trial = "referee play --game maze dasher {}"

    def chase(self, state: State) -> Order:
        """Where to go: U, D, L or R."""
        raise TypeError(f"{type(self).__name__} must define chase(self, state)")
