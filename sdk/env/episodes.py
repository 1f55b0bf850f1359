"""Many games at once with rewards: what all environments have in common."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from gymnasium.error import ResetNeeded

from referee.games.evasion import starts as drawn_starts
from referee.games.evasion.batch import HUNTERS, PREYS, Batch
from referee.games.evasion.kernel import state as fields
from referee.games.evasion.state import HUNTER, PREY
from referee.games.values import is_whole
from sdk.env.encoding import Encoding, View

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import ArrayLike, NDArray

    from referee.games.evasion.kernel.state import Ints

#: How many fair starts are drawn for ``starts="random"``.
DRAWN = 1_000
REFUSE, ERROR = INVALID = ("refuse", "error")
#: The opponent of each seat, unless another one is named.
USUAL = {HUNTER: "runner", PREY: "boxer"}
OTHER = {HUNTER: PREY, PREY: HUNTER}
_PLAYERS = {HUNTER: HUNTERS, PREY: PREYS}


class Rewards(NamedTuple):
    """The hunter's rewards; the prey's are the same with the opposite sign.

    ``capture`` is added when the prey is caught. ``evasion`` is taken away when the prey has evaded until the step limit ``max_steps``.
    Shaping: ``step`` is taken away in every step; ``approach`` is added for each cell by which the distance between the players shrank.
    """

    capture: float = 1.0
    evasion: float = 1.0
    step: float = 0.0
    approach: float = 0.0


class Options(NamedTuple):
    """The options of an environment: games, observations, actions and rewards.

    ``starts`` is None for the start of the settings, "random" for fair starts, or rows of the hunter's x, y, dx, dy and the prey's x, y.
    ``max_cycles`` truncates each episode after this number of steps. ``invalid`` says what happens to an action that the mask forbids: "refuse"
    plays it, and the rules refuse it as in a match; "error" raises ValueError. ``settings`` are those of the game; ``rules`` is among them.
    """

    view: View = View()
    rewards: Rewards = Rewards()
    starts: Any = None
    max_cycles: int | None = None
    invalid: str = REFUSE
    settings: Mapping[str, Any] = {}


def options_of(given: Mapping[str, Any]) -> Options:
    """Return the options from keyword arguments of an environment; those with no other meaning are settings of the game.

    Raises ValueError or SettingsError for values that aren't allowed.
    """
    rest = {name: value if name == "starts" else _plain(value) for name, value in given.items()}
    view = View(**{name: rest.pop(name) for name in View._fields if name in rest}).checked()
    rewards = _rewards(rest.pop("rewards", None))
    starts, cycles, invalid = rest.pop("starts", None), rest.pop("max_cycles", None), rest.pop("invalid", REFUSE)
    if cycles is not None and (not is_whole(cycles) or cycles < 1):
        raise ValueError(f"max_cycles is {cycles!r:.40}, but must be a whole number from 1 on, or None")
    if invalid not in INVALID:
        raise ValueError(f"invalid is {invalid!r:.40}, but must be {' or '.join(INVALID)}")
    if rest.get("adjudicate_after"):
        raise ValueError("an environment doesn't adjudicate; adjudicate_after must be 0")
    return Options(view, rewards, starts, cycles, invalid, rest)


def _plain(value: Any) -> Any:
    """Return a number or an array of numpy as numbers and lists of Python."""
    return value.tolist() if isinstance(value, np.generic | np.ndarray) else value


def _rewards(given: Rewards | Mapping[str, float] | None) -> Rewards:
    if given is None or isinstance(given, Rewards):
        found = given or Rewards()
    elif not isinstance(given, dict):
        raise ValueError(f"rewards is {given!r:.40}, but must be a dictionary with some of {', '.join(Rewards._fields)}")
    else:
        unknown = [name for name in given if name not in Rewards._fields]
        if unknown:
            raise ValueError(f"there is no reward {unknown[0]!r:.40}; there are {', '.join(Rewards._fields)}")
        found = Rewards(**{name: _plain(value) for name, value in given.items()})
    for name, value in found._asdict().items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
            raise ValueError(f"the reward {name} is {value!r:.40}, but must be a finite number")
    return found


class Episodes:
    """B games that are played step by step. ``hunter_rewards``, ``terminated`` and ``truncated`` (B,) are those of the last step."""

    def __init__(self, count: int, options: Options) -> None:
        count = _plain(count)
        if not is_whole(count) or count < 1:
            raise ValueError(f"num_envs is {count!r:.40}, but must be a whole number from 1 on")
        given = {name: value for name, value in options.settings.items() if name != "rules"}
        rules = options.settings.get("rules")
        self.options = options
        if isinstance(options.starts, str):
            if options.starts != "random":
                raise ValueError(f"starts is {options.starts!r:.40}, but must be 'random', rows of numbers or None")
            settings = drawn_starts.settings(rules, given)
            given = {**given, "hunter": settings.hunter, "prey": settings.prey}
            rows = [_row(drawn_starts.draw(settings, number.to_bytes(8, "big"))) for number in range(DRAWN)]
        else:
            rows = options.starts
        self.batch = Batch(count, rules, starts=rows, seed=int(np.random.SeedSequence().generate_state(1)[0]), **given)
        self.settings = self.batch.settings
        self.most_steps = min(self.settings.max_steps, options.max_cycles or self.settings.max_steps)
        # A game that is truncated looks like one in which the prey has evaded, with fewer steps than max_steps.
        self.batch.rules = self.batch.rules._replace(max_steps=self.most_steps)
        self.has_begun = False
        self.hunter_rewards = np.zeros(count)
        self.terminated, self.truncated = np.zeros(count, np.bool_), np.zeros(count, np.bool_)

    def encoding(self, seat: str) -> Encoding:
        """Return the encoding of a seat; the actions of a prey are always discrete."""
        return Encoding(self.settings, seat, self.options.view)

    def begin(self, seed: int | Sequence[int | None] | None = None, chosen: NDArray[np.bool_] | None = None) -> None:
        """Begin the chosen games anew (None: all). Game i gets the seed ``seed`` + i, or seed i of a list; with None it continues with its random numbers."""
        if seed is not None:
            self._seed(_seeds(seed, len(self.batch)), chosen)
        self.batch.reset(chosen)
        mask = np.ones(len(self.batch), np.bool_) if chosen is None else chosen
        self.terminated[mask] = self.truncated[mask] = False
        self.has_begun = True

    def _seed(self, seeds: list[int | None], chosen: NDArray[np.bool_] | None) -> None:
        batch = self.batch
        streams = batch.seeds.copy()
        batch.reset(np.zeros(len(batch), np.bool_), seed=[number or 0 for number in seeds])
        kept = np.array([number is None for number in seeds]) | (False if chosen is None else ~chosen)
        batch.seeds[kept] = streams[kept]

    def step(self, builds: Ints | None, goes: Ints | None, hunter: str | None = None, prey: str | None = None, mode: str = "stay") -> None:
        """Make one step of all games; see ``Batch.step``. With the mode "next-step", games that have ended begin anew, without a reward."""
        if not self.has_begun:
            raise ResetNeeded("the first call must be reset()")
        batch, rewards = self.batch, self.options.rewards
        was_over = batch.ended != fields.GOING_ON
        before = self._distances() if rewards.approach else 0.0
        batch.step(builds, goes, hunter=hunter, prey=prey, mode=mode)
        caught, evaded = batch.ended == fields.CAUGHT, batch.ended == fields.EVADED
        is_last = evaded & (batch.steps >= self.settings.max_steps)
        self.terminated, self.truncated = caught | is_last, evaded & ~is_last
        self.hunter_rewards = rewards.capture * caught - rewards.evasion * is_last - rewards.step
        if rewards.approach:
            self.hunter_rewards += rewards.approach * (before - self._distances())
        self.hunter_rewards[was_over] = 0

    def _distances(self) -> NDArray[np.float64]:
        """Return the distance between the players of each game, in cells."""
        apart = self.batch.prey[:, :2] - self.batch.hunter[:, :2]
        distances: NDArray[np.float64] = np.hypot(apart[:, 0], apart[:, 1])
        return distances


def _seeds(given: Any, count: int) -> list[int | None]:
    """Return the seed of each game, None for those that have none. Raises ValueError for anything else."""
    if isinstance(given, int | np.integer):
        found: list[Any] = [int(given) + index for index in range(count)] if given >= 0 else [given]
    else:
        found = list(given) if isinstance(given, Sequence | np.ndarray) and not isinstance(given, str) else [given]
        if len(found) != count and found != [given]:
            raise ValueError(f"there are {len(found)} seeds, but {count} games")
    for seed in found:
        if seed is not None and (not isinstance(seed, int | np.integer) or seed < 0):
            raise ValueError(f"a seed is {seed!r:.40}, but must be a whole number from 0 on")
    return [None if seed is None else int(seed) for seed in found]


def _row(start: Mapping[str, Any]) -> list[int]:
    return [*start["hunter"], *start["prey"]]


class Opponent:
    """The player of the other seat: one of the kernel by its name, or a function from observations and masks (a row for each game) to actions."""

    def __init__(self, seat: str, given: str | Callable[[Any, Any], ArrayLike] | None, episodes: Episodes) -> None:
        self.name: str | None = None
        self.encoding: Encoding | None = None
        if given is None or isinstance(given, str):
            self.name = USUAL[OTHER[seat]] if given is None else given
            if self.name not in _PLAYERS[seat]:
                raise ValueError(
                    f"there is no opponent {self.name!r:.40}; there are {', '.join(_PLAYERS[seat])}, or a function from observations and masks to actions"
                )
        elif callable(given):
            self._policy, self.encoding = given, episodes.encoding(seat)
        else:
            raise TypeError(f"opponent is {given!r:.80}, but must be a name or a function from observations and masks to actions")

    def moves(self, batch: Batch) -> Ints | None:
        """Return the moves of an opponent that is a function; None for one of the kernel."""
        if self.encoding is None:
            return None
        actions = self._policy(*self.encoding.observe(batch.games, batch.walls))
        try:
            return self.encoding.moves(batch.games, actions)
        except ValueError as error:
            raise ValueError(f"opponent: {error}") from None
