"""Many games of Evasion at once, as arrays, by compiled rules: for learning and for search (extra ``rl``).

A ``Batch`` holds B games with the same settings. One call makes a step of each; every field is what the engine's ``step`` gives. The
rules are in ``referee.games.evasion.kernel``, part by part beside those of the engine.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

try:
    import numba  # noqa: F401 - the kernel needs it; here its absence gets a sentence
    import numpy as np
except ImportError as error:
    from referee.support.packages import install_command

    raise ImportError(
        f"many games at once need the extra rl, but {error.name} can't be imported; install it: {install_command('numba', 'numpy')}"
    ) from None

from referee.games.evasion import variants
from referee.games.evasion.board.walls import KINDS, Wall, Walls
from referee.games.evasion.kernel import loop, opponents, random, threads
from referee.games.evasion.kernel import state as fields
from referee.games.evasion.kernel.state import AXES, ENDS, NOTICES, REASONS, allocated, rules_of
from referee.games.evasion.kernel.stepwise import KEEP, NO_WALL, NONE, OLDEST
from referee.games.evasion.state import Body, State

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import ArrayLike, NDArray

    from referee.games.evasion.kernel.state import Ints
    from referee.games.evasion.state import Settings

#: Players inside the kernel, by seat and name.
HUNTERS = {"straight": opponents.NOTHING, "random": opponents.RANDOM, "boxer": opponents.BOXER}
PREYS = {"still": opponents.NOTHING, "random": opponents.RANDOM, "runner": opponents.RUNNER}
#: What becomes of games that have ended, by name: they stay as they are; the next step begins them anew; or begins them anew and moves.
MODES = {"stay": loop.STAY, "next-step": loop.NEXT_STEP, "at-once": loop.AT_ONCE}
_SEED_BITS = 64
_START = "rows of six numbers, the hunter's x, y, dx, dy and the prey's x, y"
#: The least and the greatest numbers in the columns of moves.
_LEAST, _MOST = -(1 << 31), (1 << 31) - 1
_BUILDS = (NO_WALL, OLDEST, 0, _LEAST, _LEAST), (len(KINDS) - 1, _MOST, 1, _MOST, _MOST)
_GOES = (-1, -1), (KEEP, 1)


class Batch:
    """B games, numbered from 0. Arrays that have one row for each game are views: they show the games as they are now.

    ``starts`` (S, 6) are rows of the hunter's x, y, dx, dy and the prey's x, y; each new game takes one of them with equal chances.
    Without it all games begin where the settings say. The same seed gives the same games, whatever the number of threads.
    Raises SettingsError for wrong settings, and ValueError for a rule set that the kernel doesn't have or for less than one game.
    """

    def __init__(
        self,
        count: int,
        rules: str | None = None,
        *,
        seed: int | np.integer[Any] | Sequence[int] = 0,
        starts: ArrayLike | None = None,
        **settings: Any,
    ) -> None:
        if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
            raise ValueError(f"a batch has {count!r:.40} games, but needs a whole number of them, at least one")
        if count >= threads.FEW:
            # Now, because later the caller may set the number of threads, and numba starts them then.
            threads.start()
        self.settings: Settings = variants.settings(rules, settings)
        self.rules = rules_of(self.settings)
        self.kinds = variants.RULE_SETS[self.settings.rules].kinds
        self.games, self.walls = allocated(count, self.settings.max_walls)
        self.seeds = np.zeros(count, np.uint64)
        self.starts = self._checked_starts(starts)
        #: How many steps were made, by the state of the game after them: it went on, its prey was caught, or its prey has evaded.
        self.ends = np.zeros((count, len(ENDS)), np.int64)
        self._nothing = np.zeros((count, len(opponents.BUILD)), np.int32)
        self._nothing[:, :2] = NO_WALL, NONE
        self._keep = np.full((count, 2), (KEEP, 0), np.int32)
        self._no_marks = np.zeros((0, 1), np.bool_)
        self.reset(seed=seed)

    def __len__(self) -> int:
        return len(self.games)

    def __repr__(self) -> str:
        return f"<Batch of {len(self):,} games of {self.settings.rules}>"

    def _checked_starts(self, starts: ArrayLike | None) -> Ints:
        own = [*self.settings.hunter, *self.settings.prey]
        rows = _array("starts", [own] if starts is None else starts, (None, len(own)), "iu", _START)
        for x, y, dx, dy, prey_x, prey_y in np.unique(rows, axis=0).tolist():
            variants.check_start(self.settings._replace(hunter=(x, y, dx, dy), prey=(prey_x, prey_y)))
        return np.ascontiguousarray(rows, np.int32)

    @property
    def steps(self) -> Ints:
        """The completed steps of each game: (B,)."""
        return self.games[:, fields.STEP]

    @property
    def hunter(self) -> Ints:
        """Each hunter's x, y, dx and dy: (B, 4)."""
        return self.games[:, fields.HUNTER : fields.HUNTER + 4]

    @property
    def prey(self) -> Ints:
        """Each prey's x, y, dx and dy: (B, 4)."""
        return self.games[:, fields.PREY : fields.PREY + 4]

    @property
    def wall_timer(self) -> Ints:
        """The steps until each hunter may build again: (B,)."""
        return self.games[:, fields.TIMER]

    @property
    def wall_count(self) -> Ints:
        """The number of walls that stand in each game: (B,)."""
        return self.games[:, fields.COUNT]

    @property
    def ended(self) -> Ints:
        """0 where a game is running, 1 where the prey is caught, 2 where it has evaded (indices of ``ENDS``): (B,)."""
        return self.games[:, fields.ENDED]

    @property
    def prey_moves(self) -> NDArray[np.bool_]:
        """Whether each prey may move in the step to come: (B,)."""
        moves: NDArray[np.bool_] = (self.steps + 1) % self.settings.prey_period == 0
        return moves

    @property
    def notices(self) -> dict[str, NDArray[np.bool_]]:
        """For each code of a notice, the games that got it in the last step: (B,)."""
        bits = self.games[:, fields.NOTICED]
        return {code: (bits >> bit & 1).astype(np.bool_) for bit, code in enumerate(NOTICES)}

    @property
    def refused(self) -> Ints:
        """The reason why each hunter's wall was refused in the last step (an index of ``REASONS``), 0 where none was: (B,)."""
        return self.games[:, fields.REFUSAL]

    def reset(self, chosen: ArrayLike | None = None, *, seed: int | np.integer[Any] | Sequence[int] | None = None) -> None:
        """Begin the chosen games anew (a mask; None: all). A seed begins the random numbers of all games anew, too.

        A list has a seed for each game; then game i is the first game of a batch with the seed i of the list.
        Raises ValueError for a mask or a list that hasn't a value for each game.
        """
        if isinstance(seed, int | np.integer):
            random.seed(self.seeds, _bits(seed), 0)
        elif seed is not None:
            random.seed_each(
                self.seeds,
                _array(
                    "seed", [_bits(number) for number in np.atleast_1d(np.array(seed, object))], (len(self),), "u", "a number for each game"
                ),
            )
        mask = (
            np.ones(len(self), np.bool_) if chosen is None else _array("chosen", chosen, (len(self),), "b", "True or False for each game")
        )
        loop.reset_all(self.games, self.seeds, self.starts, mask)

    def step(
        self,
        builds: ArrayLike | None = None,
        goes: ArrayLike | None = None,
        *,
        removed: ArrayLike | None = None,
        hunter: str | None = None,
        prey: str | None = None,
        steps: int = 1,
        mode: str = "stay",
    ) -> None:
        """Make some steps of all games.

        ``builds`` (B, 5) are the hunters' moves: the index of a kind of wall in ``KINDS`` or -1; the index of a wall to remove before,
        in building order, -1 for none, -2 for the oldest; 1 for a wall with a span, 0 for the longest; the span's first and last
        coordinate. ``removed`` (B, M) marks several walls to remove, instead of that index. ``goes`` (B, 2) are the preys' directions;
        2 in place of dx keeps the direction. None: nothing is built, and directions are kept.
        ``hunter`` and ``prey`` name players of the kernel instead (``HUNTERS``, ``PREYS``). ``mode`` is a key of ``MODES``.
        Raises ValueError for an array of another shape or type, a kind or a direction that doesn't exist, and a name that isn't known.
        """
        if not isinstance(steps, int | np.integer) or steps < 0:
            raise ValueError(f"steps is {steps!r:.40}, but must be a whole number from 0 on")
        plan = loop.Plan(
            int(steps),
            opponents.GIVEN if hunter is None else _known(hunter, HUNTERS, "hunter"),
            opponents.GIVEN if prey is None else _known(prey, PREYS, "prey"),
            _known(mode, MODES, "mode"),
        )
        rows, directions, marks = self._nothing, self._keep, self._no_marks
        if builds is not None:
            rows = _moves("builds", builds, self._nothing, *_BUILDS)
        if goes is not None:
            directions = _moves("goes", goes, self._keep, *_GOES)
        if removed is not None:
            marks = _array("removed", removed, (len(self), None), "b", "True or False for each game and wall")
        # A hunter of the kernel writes its moves there.
        rows = rows.copy() if plan.hunter != opponents.GIVEN else rows
        given = plan, self.seeds, self.starts, rows, directions, marks, self.ends
        if not threads.are_worth(len(self) * steps):
            loop.advance_some(self.games, self.walls, self.rules, 0, len(self), *given)
            return
        with threads.turn():
            loop.advance(self.games, self.walls, self.rules, *given)

    def discrete(self, actions: ArrayLike) -> Ints:
        """Return discrete actions of hunters as rows for ``step``.

        With K kinds of walls: 0 does nothing; 1 to K build the longest wall of a kind; K + 1 to 2 K remove the oldest wall first; the
        others remove the wall with the index ``action - 2 K - 1``.
        """
        given = _array("actions", actions, (None,), "iu", "a whole number for each game")
        kinds = len(self.kinds)
        rows = np.tile(self._nothing[:1], (len(given), 1))
        builds = (given > 0) & (given <= 2 * kinds)
        rows[builds, 0] = (given[builds] - 1) % kinds
        rows[builds & (given > kinds), 1] = OLDEST
        removes = given > 2 * kinds
        rows[removes, 1] = given[removes] - 2 * kinds - 1
        return rows

    def state(self, number: int) -> State:
        """Return a game as a state of the engine."""
        row = self.games[number]
        hunter, prey = (Body(*map(int, row[at : at + 4])) for at in (fields.HUNTER, fields.PREY))
        walls = [self._wall(number, wall) for wall in range(int(row[fields.COUNT]))]
        return State(
            self.settings,
            int(row[fields.STEP]),
            hunter,
            prey,
            Walls(self.settings.width, self.settings.height, walls),
            int(row[fields.TIMER]),
            int(row[fields.NEXT_ID]),
            ENDS[int(row[fields.ENDED])],
            0,
            int(row[fields.CHANGED]),
        )

    def _wall(self, number: int, wall: int) -> Wall:
        x1, y1, x2, y2, kind, identity, first = self.walls[number, :7, wall].tolist()
        return Wall(identity, KINDS[kind], x1, y1, x2, y2, AXES[first])

    def put(self, state: State, chosen: Sequence[int] | slice = slice(None)) -> None:
        """Set games to a state of the engine, such as the position of a match; ``chosen`` are their numbers, by default all.

        Raises ValueError for a state with other settings than the batch, but for the starts.
        """
        if state.settings._replace(hunter=self.settings.hunter, prey=self.settings.prey) != self.settings:
            raise ValueError("the state has other settings than the batch")
        row = np.zeros(len(fields.FIELDS), np.int32)
        row[[fields.STEP, fields.TIMER, fields.NEXT_ID, fields.CHANGED, fields.COUNT]] = (
            state.step,
            state.wall_timer,
            state.next_id,
            state.changed,
            len(state.walls),
        )
        row[fields.ENDED] = ENDS.index(state.ended)
        row[fields.HUNTER : fields.HUNTER + 4] = state.hunter
        row[fields.PREY : fields.PREY + 4] = state.prey
        self.games[chosen] = row
        for index, wall in enumerate(state.walls):
            stretches = {stretch.line: (stretch.low, stretch.high) for stretch in wall.stretches()}
            kind = KINDS.index(wall.kind)
            main, side = _lines(wall, kind)
            column = [wall.x1, wall.y1, wall.x2, wall.y2, kind, wall.id, AXES.index(wall.first), main]
            self.walls[chosen, :, index] = [*column, *stretches.get(main, (1, 0)), *(stretches.get(side, (1, 0)) if kind > 1 else (1, 0))]


def _lines(wall: Wall, kind: int) -> tuple[int, int]:
    """Return the numbers of a wall's main line and of its side line."""
    if kind < fields.DIAGONAL:
        line = wall.y1 if kind == fields.HORIZONTAL else wall.x1
        return line, line
    side = 1 if kind == fields.DIAGONAL else -1
    start = wall.y1 - wall.x1 if kind == fields.DIAGONAL else wall.x1 + wall.y1
    main = start - side if wall.first == "x" else start
    return main, main + side


def _array(name: str, given: ArrayLike, shape: tuple[int | None, ...], kinds: str, what: str) -> NDArray[Any]:
    """Return an array of a shape, where None is any length but 0, and of one of numpy's ``kinds`` of types. Raises ValueError for others."""
    try:
        found = np.asarray(given)
    except ValueError:  # rows of different lengths
        found = np.zeros(0)
    fits = [size == wanted or (size > 0 and wanted is None) for size, wanted in zip(found.shape, shape, strict=False)]
    if found.ndim != len(shape) or not all(fits) or found.dtype.kind not in kinds:
        sizes = ", ".join("any" if wanted is None else str(wanted) for wanted in shape)
        raise ValueError(f"{name} has the shape {found.shape} and the type {found.dtype}, but must have the shape ({sizes}): {what}")
    return np.ascontiguousarray(found)


def _moves(name: str, given: ArrayLike, rows: Ints, lows: Sequence[int], highs: Sequence[int]) -> Ints:
    """Return moves as an array like ``rows``. Raises ValueError for another shape, and for a number that is out of its column's bounds."""
    found = _array(name, given, rows.shape, "iu", "whole numbers")
    for column, (low, high) in enumerate(zip(lows, highs, strict=True)):
        least, most = found[:, column].min(), found[:, column].max()
        if least < low or most > high:
            raise ValueError(f"{name} has {least if least < low else most} in column {column}, but it must be from {low} to {high}")
    return np.ascontiguousarray(found, np.int32)


def _bits(seed: int | np.integer[Any]) -> np.uint64:
    """Return the lowest 64 bits of a seed."""
    if not isinstance(seed, int | np.integer):
        raise TypeError(f"a seed is {seed!r:.40}, but must be a whole number")
    return np.uint64(int(seed) % (1 << _SEED_BITS))


def _known(name: str, table: dict[str, int], what: str) -> int:
    if not isinstance(name, str) or name not in table:
        raise ValueError(f"there is no {what} {name!r:.40}; there are {', '.join(table)}")
    return table[name]


__all__ = ["ENDS", "HUNTERS", "KINDS", "MODES", "NOTICES", "PREYS", "REASONS", "Batch"]
