"""A mutable position with ``step`` and ``undo``: the engine's rules for a search through many futures.

``GAME.step`` returns a new state and notices for every step. This module changes one position in place, records how to undo the step,
and makes no notices. Both give the same positions.
"""

from __future__ import annotations

from referee.games.evasion import variants
from referee.games.evasion.board.regions import is_captured, is_within, reachable
from referee.games.evasion.board.walls import COLUMN, FALLING, HORIZONTAL, RISING, ROW, VERTICAL, Wall, Walls
from referee.games.evasion.rules.stepwise import can_build
from referee.games.evasion.rules.turnwise import new_wall, parts_the_players
from referee.games.evasion.state import AddWall, Body, Build, HunterMove, RemoveWall, State
from referee.support.record import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.games.evasion.board.bounce import Motion

    Direction = tuple[int, int]

#: What a cell holds: nothing, an obstacle off which a body bounces sideways, or one off which it bounces up and down.
_FREE, _UPRIGHT, _LEVEL = 0, 1, 2


class _Cells:
    """The board as bytes, with a border. It has the queries of ``Walls``, in constant time."""

    __slots__ = ("bytes", "columns", "height", "wide", "width")

    def __init__(self, walls: Walls) -> None:
        self.width, self.height = walls.width, walls.height
        self.wide = wide = walls.width + 2
        high = walls.height + 2
        self.bytes = bytearray(wide * high)
        self.bytes[::wide] = self.bytes[wide - 1 :: wide] = bytes([_UPRIGHT]) * high
        self.bytes[:wide] = self.bytes[-wide:] = bytes([_LEVEL]) * wide
        #: The same cells column by column, for searches along a column.
        self.columns = bytearray(wide * high)
        for wall in walls:
            self.put(wall, is_there=True)
        self._turn()

    def _turn(self) -> None:
        high = self.height + 2
        for x in range(self.wide):
            self.columns[x * high : (x + 1) * high] = self.bytes[x :: self.wide]

    def put(self, wall: Wall, *, is_there: bool) -> None:
        """Set up a wall or take one down."""
        wide, high = self.wide, self.height + 2
        mark = (_LEVEL if wall.kind == HORIZONTAL else _UPRIGHT) if is_there else _FREE
        for family, line, low, end in wall.stretches():
            count = end - low + 1
            x, y, right, up = {
                ROW: (low, line, 1, 0),
                COLUMN: (line, low, 0, 1),
                RISING: (low, low + line, 1, 1),
                FALLING: (low, line - low, 1, -1),
            }[family]
            row_wise, column_wise = up * wide + right, right * high + up
            _mark(self.bytes, (y + 1) * wide + x + 1, row_wise, count, mark)
            _mark(self.columns, (x + 1) * high + y + 1, column_wise, count, mark)

    def is_free(self, x: int, y: int) -> bool:
        """As ``Walls.is_free``; bodies are never more than two cells off the board."""
        return 0 <= x < self.width and 0 <= y < self.height and not self.bytes[(y + 1) * self.wide + x + 1]

    def is_horizontal(self, x: int, y: int) -> bool:
        """As ``Walls.is_horizontal``."""
        return y < 0 or y >= self.height or (0 <= x < self.width and self.bytes[(y + 1) * self.wide + x + 1] == _LEVEL)


def _mark(cells: bytearray, start: int, step: int, count: int, mark: int) -> None:
    """Set every ``step``-th byte, ``count`` times; steps may go down."""
    last = start + (count - 1) * step
    if step < 0:
        start, last, step = last, start, -step
    cells[start : last + 1 : step] = bytes([mark]) * count


class Forward:
    """A game that goes on from a state: ``step`` plays, ``undo`` takes back.

    ``hunter`` and ``prey`` are (x, y, dx, dy), ``walls`` those that stand, in building order; ``ended`` is as in ``State``.
    ``looked_at`` counts the steps played, those that were taken back included.
    """

    __slots__ = (
        "_before", "_bounce", "_is_turnwise", "_rules", "_squares", "cells", "changed", "ended", "hunter", "looked_at", "next_id", "prey", "prey_timer",
        "settings", "step_count", "wall_timer", "walls",
    )  # fmt: skip

    def __init__(self, state: State) -> None:
        self.settings = settings = state.settings
        self._rules = variants.RULE_SETS[settings.rules]
        self._is_turnwise = self._rules.is_turnwise
        self._bounce = self._rules.bounce
        self._squares = settings.capture_radius**2
        self.cells = _Cells(state.walls)
        self.hunter: Motion = tuple(state.hunter)  # type: ignore[assignment]
        self.prey: Motion = tuple(state.prey)  # type: ignore[assignment]
        self.walls: tuple[Wall, ...] = state.walls.all
        self.step_count = state.step
        self.wall_timer, self.prey_timer = state.wall_timer, state.prey_timer
        self.next_id = state.next_id
        self.ended = state.ended
        self.changed = state.changed
        self.looked_at = 0
        self._before: list[tuple[Motion, Motion, tuple[Wall, ...], int, int, int, str, int]] = []

    def state(self) -> State:
        """The position as the engine has it."""
        walls = Walls(self.settings.width, self.settings.height, self.walls)
        return State(
            self.settings,
            self.step_count,
            Body(*self.hunter),
            Body(*self.prey),
            walls,
            self.wall_timer,
            self.next_id,
            self.ended,
            self.prey_timer,
            self.changed,
        )

    def step(self, hunter: HunterMove | Build | AddWall | RemoveWall | None = None, prey: Direction | None = None) -> None:
        """One time step, one turn of ``gameserver``: a wall or none, a direction of the prey (None: on as it goes, there: pass).

        Raises ValueError if the game is over.
        """
        if self.ended:
            raise ValueError(f"the game is over: {self.ended}")
        self._before.append((self.hunter, self.prey, self.walls, self.wall_timer, self.prey_timer, self.next_id, self.ended, self.changed))
        self.looked_at += 1
        if self._is_turnwise:
            self._turn(hunter, prey)
        else:
            self._time_step(hunter, prey)
        self.step_count += 1
        if not self.ended and self.step_count >= self.settings.max_steps:
            self.ended = "evaded"

    def undo(self) -> None:
        """Take the last step back. Raises IndexError if there is none."""
        if not self._before:
            raise IndexError("there is no step to take back")
        walls = self.walls
        self.hunter, self.prey, self.walls, self.wall_timer, self.prey_timer, self.next_id, self.ended, self.changed = self._before.pop()
        self.step_count -= 1
        if walls is not self.walls:
            self._rebuild(walls, self.walls)

    def _rebuild(self, old: tuple[Wall, ...], new: tuple[Wall, ...]) -> None:
        """Bring the cells up to date with other walls."""
        for wall in old:
            if wall not in new:
                self.cells.put(wall, is_there=False)
        for wall in new:
            if wall not in old:
                self.cells.put(wall, is_there=True)

    def _time_step(self, move: object, go: Direction | None) -> None:
        """Source: rules of Evasion, section "S1"."""
        cells = self.cells
        data, wide = cells.bytes, cells.wide
        x, y, dx, dy = self.hunter
        build = None
        if move is not None:
            build, remove = (move, ()) if isinstance(move, Build) else (move.build, move.remove)  # type: ignore[attr-defined]
            if remove:
                self._take_down(remove)
        if data[(y + dy + 1) * wide + x + dx + 1]:
            self.hunter = self._bounce(cells, x, y, dx, dy)  # type: ignore[arg-type]
        else:
            self.hunter = (x + dx, y + dy, dx, dy)
        if build is not None:
            self._build(build, x, y)
        hx, hy, _, _ = self.hunter
        px, py, pdx, pdy = self.prey
        if (self.step_count + 1) % self.settings.prey_period == 0:
            if go is not None:
                pdx, pdy = go
            if data[(py + pdy + 1) * wide + px + pdx + 1]:
                self.prey = px, py, _, _ = self._bounce(cells, px, py, pdx, pdy)  # type: ignore[arg-type]
            else:
                self.prey = (px := px + pdx, py := py + pdy, pdx, pdy)
        if (hx - px) * (hx - px) + (hy - py) * (hy - py) <= self._squares and is_captured(
            cells,  # type: ignore[arg-type]
            self.settings.capture_radius,
            (hx, hy),
            (px, py),
        ):
            self.ended = "caught"
        if self.wall_timer:
            self.wall_timer -= 1

    def _take_down(self, ids: tuple[int, ...]) -> None:
        left = tuple(wall for wall in self.walls if wall.id not in ids)
        if len(left) < len(self.walls):
            self._rebuild(self.walls, left)
            self._stand(left)

    def _stand(self, walls: tuple[Wall, ...]) -> None:
        self.walls = walls
        self.changed = self.step_count + 1

    def _build(self, build: Build, x: int, y: int) -> None:
        walls = Walls(self.settings.width, self.settings.height, self.walls)
        here, prey = self.hunter[:2], self.prey[:2]
        wall = can_build(walls, self._rules.kinds, build, self.wall_timer, self.settings, (x, y), here, prey, self.next_id)
        if isinstance(wall, Wall):
            self.cells.put(wall, is_there=True)
            self._stand((*self.walls, wall))
            self.next_id += 1
            self.wall_timer = self.settings.cooldown

    def _turn(self, command: object, go: Direction | None) -> None:
        """Source: rules of Evasion, section "S2"."""
        settings, cells = self.settings, self.cells
        if self.step_count % 2 == 0:
            if self.wall_timer:
                self.wall_timer -= 1
            elif isinstance(command, (AddWall, RemoveWall)):
                self._command(command)
                self.wall_timer = settings.cooldown
            if self.ended:
                return
            x, y, dx, dy = self.hunter
            self.hunter = self._bounce(cells, x, y, dx, dy)  # type: ignore[arg-type]
            if self.hunter[:2] == (x, y):
                self.ended = "trapped"
                return
        elif self.prey_timer:
            self.prey_timer -= 1
        elif go is not None and go != (0, 0):
            px, py, pdx, pdy = self.prey
            if cells.is_free(px + go[0], py + go[1]):
                self.prey = (px + go[0], py + go[1], pdx, pdy)
            self.prey_timer = settings.prey_cooldown
        if is_within(cells, settings.capture_radius, self.hunter[:2], self.prey[:2]):  # type: ignore[arg-type]
            self.ended = "caught"

    def _command(self, command: AddWall | RemoveWall) -> None:
        """Build or remove a wall of ``gameserver``; an invalid command changes nothing."""
        walls = Walls(self.settings.width, self.settings.height, self.walls)
        if isinstance(command, RemoveWall):
            self._take_down((command.id,))
        else:
            wall = new_wall(walls, self.settings, self.hunter, self.prey, command)
            if isinstance(wall, Wall):
                self.cells.put(wall, is_there=True)
                self._stand((*self.walls, wall))
                self.next_id = max(self.next_id, wall.id + 1)
        if walls.all is not self.walls and parts_the_players(Walls(walls.width, walls.height, self.walls), self.hunter, self.prey):
            self.ended = "trapped"


class Room:
    """The prey's room as counts of rows and columns: what a wall across it would leave, without looking at every cell.

    ``area`` is the number of its cells. Made once for a set of walls and good for every step of a ``Forward`` until they change.
    """

    __slots__ = ("_below", "_cells", "_columns", "_left", "_rows", "area")

    def __init__(self, forward: Forward) -> None:
        settings = forward.settings
        cells = reachable(Walls(settings.width, settings.height, forward.walls), forward.prey[:2])
        self._cells = forward.cells
        self.area = len(cells)
        self._rows = cells.rows(settings.height)
        self._columns = _turned(self._rows, settings.width)
        self._below, self._left = _sums(self._rows), _sums(self._columns)

    def holds(self, x: int, y: int) -> bool:
        """Whether a cell belongs to the room."""
        return bool(self._rows[y] >> x & 1)

    def left_by(self, forward: Forward, kind: str) -> int | None:
        """Return an upper bound on the prey's cells after the longest wall of a kind is built in the coming step.

        Returns None for a wall that can't be built, that would shut the hunter out, or that doesn't divide the room. Horizontal and
        vertical walls only.
        """
        x, y, dx, dy = forward.hunter
        px, py, _, _ = forward.prey
        data = self._cells
        if forward.wall_timer or len(forward.walls) >= forward.settings.max_walls or not self._rows[y] >> x & 1:
            return None
        if kind == HORIZONTAL:
            # The hunter's next cell and the prey's cell must be on the same side of the wall, and not on its cells.
            ahead = y + dy if not data.bytes[(y + dy + 1) * data.wide + x + dx + 1] else y - dy
            if py == y or (py > y) != (ahead > y):
                return None
            line, here, cut, sums, at = data.bytes[(y + 1) * data.wide : (y + 2) * data.wide], x, self._rows[y], self._below, y
        elif kind == VERTICAL:
            ahead = x + dx if not data.bytes[(y + dy + 1) * data.wide + x + dx + 1] else x - dx
            if px == x or (px > x) != (ahead > x):
                return None
            high = data.height + 2
            line, here, cut, sums, at = data.columns[(x + 1) * high : (x + 2) * high], y, self._columns[x], self._left, x
        else:
            return None
        before = max(line.rfind(_UPRIGHT, 0, here + 1), line.rfind(_LEVEL, 0, here + 1))
        ends = [end for end in (line.find(_UPRIGHT, here + 1), line.find(_LEVEL, here + 1)) if end >= 0]
        first, last = before, min(ends) - 2
        if cut & ~((1 << last + 1) - (1 << first)):
            return None
        beyond = py > y if kind == HORIZONTAL else px > x
        return self.area - sums[at + 1] if beyond else sums[at]


def _sums(rows: list[int]) -> list[int]:
    """How many cells the first rows hold, for each number of rows."""
    sums = [0]
    for row in rows:
        sums.append(sums[-1] + row.bit_count())
    return sums


def _turned(rows: list[int], width: int) -> list[int]:
    """The columns of some rows."""
    columns = [0] * width
    # Rows of a room are alike for long stretches, so columns are set a stretch at a time.
    start = 0
    for y in range(1, len(rows) + 1):
        if y < len(rows) and rows[y] == rows[start]:
            continue
        stretch = (1 << y) - (1 << start)
        row = rows[start]
        while row:
            low = row & -row
            columns[low.bit_length() - 1] |= stretch
            row ^= low
        start = y
    return columns
