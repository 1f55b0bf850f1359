"""Rectangle for bots: the base class, and a state with helpers."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, cast

from referee.games.rectangle import variants
from referee.games.rectangle.game import GAME
from referee.games.rectangle.rings import Ring, claim, closed
from referee.games.rectangle.state import LETTERS, STEPS, Order, Orders, Rules, Settings
from referee.games.rectangle.state import State as EngineState
from sdk.bot import Bot

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from referee.games.game import Json

    Cell = tuple[int, int]
    Words = str | Sequence[Order] | Mapping[int, Order]

#: The orders that move a robot: all except ``-``.
DIRECTIONS: tuple[Order, ...] = ("N", "S", "E", "W")

__all__ = ["DIRECTIONS", "Order", "RectangleBot", "Ring", "Rules", "Settings", "State"]


class State(EngineState):
    """A position. ``seat`` is the bot's own letter; ``turn``, ``scores``, ``robots`` (a tuple of cells for each player) and
    ``settings`` are the game's. Cells are (row, column), row 0 in the north. It never changes: ``after`` gives a new one.
    """

    seat: str

    @property
    def mine(self) -> tuple[Cell, ...]:
        """Where the bot's own robots are."""
        return self.robots[LETTERS.index(self.seat)] if self.robots else ()

    def at(self, cell: Cell) -> str:
        """Return a cell's content: ``.``, ``#``, or the letter of the player whose colour it has."""
        code = chr(self.cells[cell[0] * self.settings.n + cell[1]])
        return code if code == "." or code.islower() else "#"

    def neighbours(self, cell: Cell) -> dict[Order, Cell]:
        """Return the cells next to a cell, by the order that leads there, without cells off the board."""
        n = self.settings.n
        row, column = cell
        cells: dict[Order, Cell] = {"N": (row - 1, column), "S": (row + 1, column), "W": (row, column - 1), "E": (row, column + 1)}
        return {order: (row, column) for order, (row, column) in cells.items() if 0 <= row < n and 0 <= column < n}

    def after(self, orders: Words, others: Mapping[str, Words] | None = None) -> State:
        """Return the position one turn later, after these orders. Other players' robots stay unless ``others`` has orders for them.

        Orders have any of the forms that ``RectangleBot.orders`` returns. ValueError if the match is over, before the set-up,
        or for an unknown player; TypeError for words that aren't orders.
        """
        if not self.step:
            raise ValueError("no robots are placed yet")
        all_orders = {**(others or {}), self.seat: orders}
        if not all_orders.keys() <= set(self.seats):
            raise ValueError(f"there is no player {', '.join(sorted(all_orders.keys() - set(self.seats)))!r:.40}")
        moves = {seat: Orders(tuple(_words(words, self.settings.robots))) for seat, words in all_orders.items()}
        state, _ = GAME.step(self, moves)
        return seen_state(state, self.seat)

    def closes(self, cell: Cell, seat: str = "") -> tuple[list[Ring], int]:
        """Return the rectangles that a cell completes if it gets a player's colour (by default the bot's own), and the number of cells won.

        Rectangles inside others between the same two lines may be left out; they win nothing more. Raises ValueError off the board.
        """
        row, column = cell
        if not (0 <= row < self.settings.n and 0 <= column < self.settings.n):
            raise ValueError(f"the cell {cell} is off the board")
        player = LETTERS.index(seat or self.seat)
        if self.at(cell) in ("#", LETTERS[player]):
            return [], 0
        rows, columns = list(self.rows[player]), list(self.columns[player])
        rows[row] |= 1 << column
        columns[column] |= 1 << row
        closed_rings = closed(player, tuple(rows), tuple(columns), [cell])
        rings = sorted(ring for ring in closed_rings if any(ring.inside & ~self.spent[at] for at in range(ring.top + 1, ring.bottom)))
        won = sum(bits.bit_count() for _, _, bits in claim(rings, self.spent)[1])
        return rings, won

    def next_wins(self) -> list[tuple[int, Order, int]]:
        """Return the cells that each of the bot's robots can win by itself with its next step: (robot, order, cells), the most first."""
        steps = ((robot, order, to) for robot, cell in enumerate(self.mine) for order, to in self.neighbours(cell).items())
        wins = ((robot, order, self.closes(to)[1]) for robot, order, to in steps)
        return sorted((win for win in wins if win[2]), key=lambda win: -win[2])

    def unfinished(self, seat: str = "", missing: int = 2, longest: int = 8) -> Iterator[tuple[Ring, list[Cell]]]:
        """Return rectangles of a player (by default the bot's own) that lack at most ``missing`` cells, with those cells.

        Sides are at most ``longest`` cells long. A rectangle that can't be completed, or with nothing to win, is left out.
        """
        n = self.settings.n
        player = LETTERS.index(seat or self.seat)
        rows, spent = self.rows[player], self.spent
        for top in range(n - 2):
            for bottom in range(top + 2, min(n, top + longest)):
                sides = range(top + 1, bottom)
                both = [sum(not rows[row] >> column & 1 for row in sides) for column in range(n)]
                for left in range(n - 2):
                    if both[left] > missing:
                        continue
                    for right in range(left + 2, min(n, left + longest)):
                        if both[left] + both[right] > missing:
                            continue
                        side = (2 << right) - (1 << left)
                        lacking = both[left] + both[right] + (side & ~rows[top]).bit_count() + (side & ~rows[bottom]).bit_count()
                        ring = Ring(player, top, left, bottom, right)
                        if 0 < lacking <= missing and any(ring.inside & ~spent[row] for row in sides):
                            cells = [cell for cell in _cells(ring) if not rows[cell[0]] >> cell[1] & 1]
                            if not any(spent[row] >> column & 1 for row, column in cells):
                                yield ring, cells

    def way(self, start: Cell, end: Cell) -> Sequence[Order]:
        """Return orders that lead from one cell to another, as one text: first to the row, then to the column."""
        down, along = end[0] - start[0], end[1] - start[1]
        return cast("Sequence[Order]", ("S" if down > 0 else "N") * abs(down) + ("E" if along > 0 else "W") * abs(along))

    def draws(self, start: Cell, top: int, left: int, bottom: int, right: int) -> Sequence[Order]:
        """Return orders that lead from a cell to the nearest cell of a ring, and then once around the ring.

        ValueError if the corners don't form a ring.
        """
        if bottom - top < 1 or right - left < 1:
            raise ValueError(f"from ({top}, {left}) to ({bottom}, {right}) there is no ring")
        around = _cells(Ring(0, top, left, bottom, right))
        first = min(range(len(around)), key=lambda place: abs(around[place][0] - start[0]) + abs(around[place][1] - start[1]))
        path = [start, *around[first:], *around[: first + 1]]
        return cast("Sequence[Order]", "".join(order for here, there in itertools.pairwise(path) for order in self.way(here, there)))


def seen_state(state: EngineState, seat: str) -> State:
    """Return a state of the engine as the bot in a seat gets it."""
    made = State(*state)
    made.seat = seat
    return made


def engine_state(state: object) -> EngineState | None:
    """Return a bot's state, or one of a replay, as a state of the engine; None for a state of another game."""
    return state if isinstance(state, EngineState) else None


#: The kind of move that ``sdk.testing.ask`` returns, by seat.
MOVES = dict.fromkeys(LETTERS, Orders)


def _cells(ring: Ring) -> list[Cell]:
    """The cells of a ring, clockwise from its upper left corner."""
    _, top, left, bottom, right = ring
    top_side = [(top, column) for column in range(left, right)]
    right_side = [(row, right) for row in range(top, bottom)]
    bottom_side = [(bottom, column) for column in range(right, left, -1)]
    return top_side + right_side + bottom_side + [(row, left) for row in range(bottom, top, -1)]


class _Reader:
    """Converts a question's state to a ``State``; only changed cells are read again."""

    def __init__(self, settings: Settings, seat: str) -> None:
        self.settings = settings
        self.seat = seat
        n, players = settings.n, settings.players
        self.texts = ["." * n] * n
        self.rows = [[0] * n for _ in range(players)]
        self.columns = [[0] * n for _ in range(players)]
        self.spent = [0] * n

    def read(self, view: dict[str, Json]) -> State:
        for row, (was, now) in enumerate(zip(self.texts, view["board"], strict=True)):
            if was != now:
                self._change(row, was, now)
        self.texts = view["board"]
        seats = LETTERS[: self.settings.players]
        robots = tuple(tuple((row, column) for row, column in view["robots"][seat]) for seat in seats) if view["robots"] else ()
        state = EngineState(
            self.settings,
            view["turn"] + 1,
            "".join(self.texts).encode(),
            tuple(map(tuple, self.rows)),
            tuple(map(tuple, self.columns)),
            tuple(self.spent),
            robots,
            tuple(view["scores"][seat] for seat in seats),
            tuple(view["gained"][seat] for seat in seats),
            view["stagnation"],
            tuple(view["orders"].get(seat, "") for seat in seats),
            failed=frozenset(view["failed"]),
        )
        return seen_state(state, self.seat)

    def _change(self, row: int, was: str, now: str) -> None:
        for column, (old, new) in enumerate(zip(was, now, strict=True)):
            if old == new:
                continue
            if old in LETTERS:
                self.rows[LETTERS.index(old)][row] &= ~(1 << column)
                self.columns[LETTERS.index(old)][column] &= ~(1 << row)
            if new in LETTERS:
                self.rows[LETTERS.index(new)][row] |= 1 << column
                self.columns[LETTERS.index(new)][column] |= 1 << row
            elif new == "#":
                self.spent[row] |= 1 << column


class RectangleBot(Bot):
    """A player of Rectangle: override ``place`` and ``orders``.

    ``placed`` has the first cells of all robots, by letter. ``history`` has the orders of all players, turn by turn.
    """

    _game = "rectangle"
    _seats = dict.fromkeys(LETTERS, "orders")
    _trial = "referee play --game rectangle {} random"
    _variants = variants

    rules: Rules | tuple[Rules, ...]
    settings: Settings

    def __init__(self) -> None:
        super().__init__()
        self.placed: dict[str, tuple[Cell, ...]] = {}
        self.history: list[dict[str, str]] = []

    def place(self, state: State) -> Iterable[Cell]:
        """Return a start cell (row, column) for each robot. The referee draws missing cells at random."""
        return ()

    def orders(self, state: State) -> Words:
        """Return a word for each robot, N, S, E, W or ``-``: one text, a list, or a dict by the robot's number (the other robots stay)."""
        raise TypeError(f"{type(self).__name__} must define orders(self, state)")

    def _responder(self, start: dict[str, Json]) -> Callable[[dict[str, Json]], str]:
        reader = _Reader(self.settings, self.seat)

        def respond(view: dict[str, Json]) -> str:
            state = reader.read(view)
            if not state.step:
                return f'{{"place":[{",".join(["[%d,%d]" % _cell(cell) for cell in self.place(state)])}]}}'
            if state.turn:
                self.history.append(dict(view["orders"]))
            else:
                self.placed = dict(zip(state.seats, state.robots, strict=True))
            return f'{{"orders":"{_words(self.orders(state), state.settings.robots)}"}}'

        return respond


def _cell(cell: object) -> Cell:
    if not isinstance(cell, (tuple, list)) or len(cell) != 2 or not all(isinstance(part, int) for part in cell):
        raise TypeError(f"a cell is {cell!r:.80}; it must be (row, column)")
    return cell[0], cell[1]


def _words(orders: object, robots: int) -> str:
    """A bot's orders as a text; TypeError says what is wrong with them."""
    if isinstance(orders, dict):
        if not all(isinstance(robot, int) and 0 <= robot < robots for robot in orders):
            raise TypeError(f"orders are for the robots {list(orders)!r:.80}; there are {robots}, from 0")
        orders = [orders.get(robot, "-") for robot in range(robots)]
    if not isinstance(orders, (str, list, tuple)) or len(orders) > robots or not all(order in STEPS for order in orders):
        raise TypeError(f"orders are {orders!r:.80}; they must be N, S, E, W or - for each of {robots} robots")
    return "".join(orders)
