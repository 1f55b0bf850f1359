"""A mutable position with ``step`` and ``undo``: the engine's rules for a search through many futures.

``GAME.step`` returns a new state and notices for every step. This module changes one position in place, records how to undo the step,
and makes no notices. Both give the same positions.
"""

from __future__ import annotations

from itertools import accumulate, groupby
from typing import TYPE_CHECKING

from referee.games.evasion import variants
from referee.games.evasion.board.cells import LEVEL, UPRIGHT, Cells
from referee.games.evasion.board.regions import is_clear, is_within, reachable
from referee.games.evasion.board.wall import HORIZONTAL, VERTICAL, Wall
from referee.games.evasion.board.walls import Walls
from referee.games.evasion.rules.stepwise import can_build
from referee.games.evasion.rules.turnwise import new_wall, separates_players
from referee.games.evasion.state import AddWall, Body, Build, HunterMove, RemoveWall, State

if TYPE_CHECKING:
    from referee.games.evasion.board.bounce import Motion

    Direction = tuple[int, int]


class Forward:
    """A mutable game from a state on: ``step`` plays a step, ``undo`` takes the last one back.

    ``hunter`` and ``prey`` are (x, y, dx, dy), ``walls`` the walls in building order; ``ended`` is as in ``State``.
    ``looked_at`` counts all steps played, also those taken back.
    """

    __slots__ = (
        "_before", "_board", "_bounce", "_is_turnwise", "_kind", "_rules", "_squares", "cells", "changed", "ended", "hunter", "looked_at", "next_id", "prey", "prey_timer",
        "settings", "step_count", "wall_timer", "walls",
    )  # fmt: skip

    def __init__(self, state: State) -> None:
        self._kind = type(state)
        self.settings = settings = state.settings
        self._rules = variants.RULE_SETS[settings.rules]
        self._is_turnwise = self._rules.is_turnwise
        self._bounce = self._rules.bounce
        self._squares = settings.capture_radius**2
        self.cells = Cells(state.walls)
        self.hunter: Motion = tuple(state.hunter)  # type: ignore[assignment]
        self.prey: Motion = tuple(state.prey)  # type: ignore[assignment]
        self.walls: tuple[Wall, ...] = state.walls.all
        self._board = state.walls
        self.step_count = state.step
        self.wall_timer, self.prey_timer = state.wall_timer, state.prey_timer
        self.next_id = state.next_id
        self.ended = state.ended
        self.changed = state.changed
        self.looked_at = 0
        self._before: list[tuple[Motion, Motion, tuple[Wall, ...], int, int, int, str, int]] = []

    def state(self) -> State:
        """Return the position as a state of the same class as the one that this model was made from."""
        hunter, prey = Body(*self.hunter), Body(*self.prey)
        state = self._kind(self.settings, self.step_count, hunter, prey, self._walls(), self.wall_timer, self.next_id)
        return state._replace(ended=self.ended, prey_timer=self.prey_timer, changed=self.changed)

    def _walls(self) -> Walls:
        if self._board.all is not self.walls:
            self._board = Walls(self.settings.width, self.settings.height, self.walls)
        return self._board

    def step(self, hunter: HunterMove | Build | AddWall | RemoveWall | None = None, prey: Direction | None = None) -> None:
        """Play one time step, or one turn of ``gameserver``. ``hunter`` is its move, ``prey`` a direction.

        Without a direction the prey keeps its own; in ``gameserver`` it passes. Raises ValueError if the game is over.
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
        """Take the last step back. Raises IndexError if there is no step to take back."""
        if not self._before:
            raise IndexError("there is no step to take back")
        walls = self.walls
        self.hunter, self.prey, self.walls, self.wall_timer, self.prey_timer, self.next_id, self.ended, self.changed = self._before.pop()
        self.step_count -= 1
        if walls is not self.walls:
            self._rebuild(walls, self.walls)

    def _rebuild(self, old: tuple[Wall, ...], new: tuple[Wall, ...]) -> None:
        """Update the cells after a change of the walls."""
        # Removals come first, because a new wall can have cells of a removed one.
        for wall in {*old}.difference(new):
            self.cells.put(wall, is_there=False)
        for wall in {*new}.difference(old):
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
        if (hx - px) * (hx - px) + (hy - py) * (hy - py) <= self._squares and is_clear(cells, (hx, hy), (px, py)):  # type: ignore[arg-type]
            self.ended = "caught"
        if self.wall_timer:
            self.wall_timer -= 1

    def _take_down(self, ids: tuple[int, ...]) -> None:
        left = tuple(wall for wall in self.walls if wall.id not in ids)
        if len(left) < len(self.walls):
            self._replace_walls(left)

    def _replace_walls(self, walls: tuple[Wall, ...]) -> None:
        self._rebuild(self.walls, walls)
        self.walls = walls
        self.changed = self.step_count + 1

    def _build(self, build: Build, x: int, y: int) -> None:
        here, prey = self.hunter[:2], self.prey[:2]
        wall = can_build(self._walls(), self._rules.kinds, build, self.wall_timer, self.settings, (x, y), here, prey, self.next_id)
        if isinstance(wall, Wall):
            self._replace_walls((*self.walls, wall))
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
        before = self.walls
        if isinstance(command, RemoveWall):
            self._take_down((command.id,))
        else:
            wall = new_wall(self._walls(), self.settings, self.hunter, self.prey, command)
            if isinstance(wall, Wall):
                self._replace_walls((*self.walls, wall))
                self.next_id = max(self.next_id, wall.id + 1)
        if before is not self.walls and separates_players(self._walls(), self.hunter, self.prey):
            self.ended = "trapped"


class Room:
    """The cells that the prey can reach, counted by rows and columns, to tell how many of them a wall would leave.

    ``area`` is the number of these cells. A room holds for every step of a ``Forward`` until the walls change.
    """

    __slots__ = ("_above", "_cells", "_column_bytes", "_columns", "_left", "_rows", "area")

    def __init__(self, forward: Forward) -> None:
        settings = forward.settings
        reach = reachable(forward.state().walls, forward.prey[:2])
        self._cells = cells = forward.cells
        self._column_bytes = [cells.bytes[x + 1 :: cells.wide] for x in range(settings.width)]
        self.area = len(reach)
        self._rows = reach.rows(settings.height)
        self._columns = _transposed(self._rows, settings.width)
        # The number of cells in the first rows or columns, by how many rows or columns these are.
        self._above, self._left = ([0, *accumulate(map(int.bit_count, lines))] for lines in (self._rows, self._columns))

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
        data, wide = self._cells.bytes, self._cells.wide
        if forward.wall_timer or len(forward.walls) >= forward.settings.max_walls or not self._rows[y] >> x & 1:
            return None
        bounces = data[(y + dy + 1) * wide + x + dx + 1]
        if kind == HORIZONTAL:
            line, here, at, ahead, prey = data[(y + 1) * wide : (y + 2) * wide], x, y, y - dy if bounces else y + dy, py
            cut, sums = self._rows[y], self._above
        elif kind == VERTICAL:
            line, here, at, ahead, prey = self._column_bytes[x], y, x, x - dx if bounces else x + dx, px
            cut, sums = self._columns[x], self._left
        else:
            return None
        # The hunter's next cell and the prey's cell must be on the same side of the wall, and not on its cells.
        if prey == at or (prey > at) != (ahead > at):
            return None
        first = max(line.rfind(UPRIGHT, 0, here + 1), line.rfind(LEVEL, 0, here + 1))
        last = min(end for end in (line.find(UPRIGHT, here + 1), line.find(LEVEL, here + 1)) if end >= 0) - 2
        if cut & ~((1 << last + 1) - (1 << first)):
            return None
        return self.area - sums[at + 1] if prey > at else sums[at]


def _transposed(rows: list[int], width: int) -> list[int]:
    """Return the columns of some rows, each as a number whose bit y stands for row y."""
    columns = [0] * width
    y = 0
    # Long stretches of rows are equal, so the columns are set for a whole stretch at once.
    for cells, stretch in groupby(rows):
        row, count = cells, len(list(stretch))
        bits = ((1 << count) - 1) << y
        y += count
        while row:
            low = row & -row
            columns[low.bit_length() - 1] |= bits
            row ^= low
    return columns
