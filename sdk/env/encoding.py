"""Observations and actions of one seat: positions as arrays, and numbers as moves. Environments and bots share them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

import numpy as np
from gymnasium import spaces

from referee.games.evasion import variants
from referee.games.evasion.batch import Batch
from referee.games.evasion.board.walls import KINDS
from referee.games.evasion.kernel import actions as acting
from referee.games.evasion.kernel import observe, threads
from referee.games.evasion.kernel import state as fields
from referee.games.evasion.kernel.opponents import BUILD
from referee.games.evasion.kernel.state import rules_of
from referee.games.evasion.kernel.stepwise import KEEP, NO_WALL, NONE, OLDEST
from referee.games.evasion.state import HUNTER, PREY, SEATS, Build, HunterMove, PreyMove
from referee.games.values import is_whole

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from referee.games.evasion.kernel.state import Ints
    from referee.games.evasion.state import Settings, State

Seat: TypeAlias = Literal["hunter", "prey"]
#: An array, or with planes a dictionary of two arrays: which one depends on the options.
Observation: TypeAlias = Any
Mask: TypeAlias = "NDArray[np.int8]"

#: Kinds of observations, each with the default number of rows and columns of its planes.
OBSERVATIONS = {"vector": 0, "around": 33, "board": 32}
ACTIONS = ("discrete", "spans")
_MOST_SIZE = 1_000
#: The columns of a player's cell in ``games``, by seat.
_COLUMNS = {HUNTER: fields.HUNTER, PREY: fields.PREY}


class View(NamedTuple):
    """How a policy sees positions and acts.

    ``observation`` is "vector" (numbers), "around" (planes around the player) or "board" (planes of the whole board); ``size`` is the
    number of rows and columns of planes, None for the default. ``actions`` is "discrete" or, for hunters, "spans".
    """

    observation: str = "vector"
    size: int | None = None
    actions: str = "discrete"

    def checked(self) -> View:
        """Return the view with its size. Raises ValueError for a value that isn't allowed."""
        if not isinstance(self.observation, str) or self.observation not in OBSERVATIONS:
            raise ValueError(f"there is no observation {self.observation!r:.40}; there are {', '.join(OBSERVATIONS)}")
        if self.actions not in ACTIONS:
            raise ValueError(f"there are no actions {self.actions!r:.40}; there are {', '.join(ACTIONS)}")
        default = OBSERVATIONS[self.observation]
        if self.size in (None, default):
            return self._replace(size=default)
        if not default:
            raise ValueError("size is the number of rows and columns of planes; a vector has none")
        if not is_whole(self.size) or not 1 <= self.size <= _MOST_SIZE:
            raise ValueError(f"size is {self.size!r:.40}, but must be a whole number from 1 to {_MOST_SIZE:,}")
        if self.observation == "around" and self.size % 2 == 0:
            raise ValueError(f"size is {self.size}, but must be odd: the player is in the middle")
        return self


class Encoding:
    """Makes observations and masks of one seat, and its moves from actions.

    ``observation_space`` and ``action_space`` are spaces of gymnasium for one game; ``mask_size`` is the length of a mask.
    Raises ValueError for a seat, a view or a rule set that it doesn't have.
    """

    def __init__(self, settings: Settings, seat: str, view: View | None = None) -> None:
        if seat not in SEATS:
            raise ValueError(f"there is no seat {seat!r:.40}; there are {' and '.join(SEATS)}")
        self.settings, self.seat, self.view = settings, seat, (view or View()).checked()
        self.rules = rules_of(settings)
        self.kinds = variants.RULE_SETS[settings.rules].kinds
        self.has_spans = seat == HUNTER and self.view.actions == "spans"
        self._which = observe.PREY_MASK if seat == PREY else observe.SPANS_MASK if self.has_spans else observe.HUNTER_MASK
        self._columns = len(observe.SCALARS)
        if self.view.observation == "vector":
            self._columns += settings.max_walls * observe.wall_columns(self.rules)
        self.observation_space = self._observation_space()
        self.action_space = self._action_space()
        self.mask_size = int(np.sum(self.action_space.nvec)) if isinstance(self.action_space, spaces.MultiDiscrete) else self.action_space.n
        self._batch: Batch | None = None

    def _observation_space(self) -> spaces.Space[Any]:
        scalars = spaces.Box(-1, 1, (self._columns,), np.float32)
        if self.view.observation == "vector":
            return scalars
        return spaces.Dict({"planes": spaces.Box(0, observe.MARK, self._plane_shape(), np.uint8), "scalars": scalars})

    def _plane_shape(self) -> tuple[int, int, int]:
        """Return the number of planes of one game and their rows and columns."""
        size = self.view.size or 0
        return len(observe.AROUND if self.view.observation == "around" else observe.BOARD), size, size

    def _action_space(self) -> spaces.Discrete | spaces.MultiDiscrete:
        if self.seat == PREY:
            return spaces.Discrete(acting.DIRECTIONS)
        kinds, walls = len(self.kinds), self.settings.max_walls
        if self.has_spans:
            longest = max(self.settings.width, self.settings.height)
            return spaces.MultiDiscrete([1 + kinds, 2 + walls, 2, longest, longest])
        return spaces.Discrete(1 + 2 * kinds + walls)

    def observe(self, games: Ints, walls: Ints) -> tuple[Observation, Mask]:
        """Return new arrays with the observations and the masks of games, a row for each; the arguments are the arrays of a ``Batch``."""
        count = len(games)
        scalars, mask = np.empty((count, self._columns), np.float32), np.empty((count, self.mask_size), np.int8)
        is_threaded = threads.are_worth(count)
        if is_threaded:
            with threads.turn():
                observe.vectors(games, walls, self.rules, self._which, scalars, mask)
        else:
            observe.some_vectors(games, walls, self.rules, 0, count, self._which, scalars, mask)
        if self.view.observation == "vector":
            return scalars, mask
        planes = np.empty((count, *self._plane_shape()), np.uint8)
        player = _COLUMNS[self.seat] if self.view.observation == "around" else 0
        if is_threaded:
            with threads.turn():
                observe.planes_of(games, walls, self.rules, player, planes)
        else:
            observe.some_planes(games, walls, self.rules, 0, count, player, planes)
        return {"planes": planes, "scalars": scalars}, mask

    def moves(self, games: Ints, actions: ArrayLike) -> Ints:
        """Return the actions of many games as moves: rows for ``Batch.step``, its ``builds`` or its ``goes``.

        Raises ValueError for an array of the wrong shape or type. A number that is no action does nothing; a prey keeps its direction.
        """
        count = len(games)
        given = np.asarray(actions)
        wanted = (count, *(self.action_space.shape or ()))
        if given.shape != wanted or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions have the shape {given.shape} and the type {given.dtype}, but must be whole numbers of the shape {wanted}"
            )
        numbers = np.ascontiguousarray(given, np.int64)
        if self.seat == PREY:
            goes = np.empty((count, 2), np.int32)
            acting.preys_go(numbers, goes)
            return goes
        builds = np.zeros((count, len(BUILD)), np.int32)
        if self.has_spans:
            acting.hunters_span(games, self.rules, numbers, builds)
        else:
            acting.hunters_do(self.rules, numbers, builds)
        return builds

    def row(self, action: Any) -> NDArray[Any]:
        """Return the action of one game as an array with one row, for ``moves``. Raises ValueError for an action of the wrong shape or type."""
        given, shape = np.asarray(action), self.action_space.shape or ()
        if given.shape != shape or given.dtype.kind not in "iu":
            wanted = f"an array of {shape[0]} whole numbers" if shape else "a whole number"
            raise ValueError(f"the action is {action!r:.60}, but must be {wanted}")
        return given[None]

    def allows(self, mask: Mask, actions: ArrayLike) -> NDArray[np.bool_]:
        """Return for each game whether its action is in the action space and the mask allows it: (B,)."""
        numbers = np.asarray(actions, np.int64).reshape(len(mask), -1)
        sizes = np.atleast_1d(self.action_space.nvec if isinstance(self.action_space, spaces.MultiDiscrete) else self.action_space.n)
        is_known = (numbers >= 0) & (numbers < sizes)
        places = np.where(is_known, numbers, 0) + np.concatenate([[0], np.cumsum(sizes)[:-1]])
        allowed: NDArray[np.bool_] = (is_known & (np.take_along_axis(mask, places, 1) == 1)).all(axis=1)
        return allowed

    def split(self, mask: Mask) -> Any:
        """Return the mask of one game as ``action_space.sample(mask)`` takes it: with spans a tuple of arrays, one for each part."""
        if not isinstance(self.action_space, spaces.MultiDiscrete):
            return mask
        return tuple(np.split(mask, np.cumsum(self.action_space.nvec)[:-1]))

    def encode(self, state: State) -> tuple[Observation, Mask]:
        """Return the observation and the mask of one position, such as the state that a bot gets: without a row for each game."""
        games, walls = self._placed(state)
        seen, mask = self.observe(games, walls)
        return first_of(seen), mask[0]

    def decode(self, action: Any, state: State) -> HunterMove | PreyMove:
        """Return an action in a position as a move of the engine and of bots."""
        games, _ = self._placed(state)
        row = self.moves(games, self.row(action))[0].tolist()
        if self.seat == PREY:
            return PreyMove(None if row[0] == KEEP else (row[0], row[1]))
        kind, removed, has_span, first, last = row
        ids = [wall.id for wall in state.walls]
        index = 0 if removed == OLDEST else removed
        return HunterMove(
            None if kind == NO_WALL else Build(KINDS[kind], (first, last) if has_span else None),
            (ids[index],) if removed != NONE and index < len(ids) else (),
        )

    def _placed(self, state: State) -> tuple[Ints, Ints]:
        """Return the arrays of one game in a position."""
        if self._batch is None:
            self._batch = batch_of(1, self.settings)
        self._batch.put(state)
        return self._batch.games, self._batch.walls


def first_of(seen: Observation) -> Observation:
    """Return the observation of the first game."""
    return {name: array[0] for name, array in seen.items()} if isinstance(seen, dict) else seen[0]


def batch_of(count: int, settings: Settings, **options: Any) -> Batch:
    """Return a batch of games with the settings of a match."""
    names = variants.RULE_SETS[settings.rules].names
    return Batch(count, settings.rules, **options, **{name: getattr(settings, name) for name in names})
