"""Environments for learning, for Evasion: Gymnasium's ``Env`` for one seat, PettingZoo's ``ParallelEnv`` for both. Needs the extra ``rl``.

    import gymnasium
    import sdk.env

    hunter = gymnasium.make("referee/Evasion-v0", seat="hunter")
    both = sdk.env.EvasionParallelEnv()

The import registers ``referee/Evasion-v0`` with Gymnasium. The rules are those of a match: each step is a step of the SDK's forward model.
``docs/environments.md`` describes observations, actions and rewards.
"""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING, ClassVar, Literal, overload

from example_bots.evasion.boxer import Boxer
from example_bots.evasion.runner import Runner
from referee.games.evasion import starts, text, variants
from referee.games.evasion.game import GAME
from referee.games.evasion.state import HUNTER, PREY, SEATS, Build, HunterMove, PreyMove
from referee.support.packages import install_command
from sdk.bot import Conversation, TimeLeft
from sdk.evasion import State, hunter_move, prey_move

try:
    import gymnasium
    import numpy as np
    from gymnasium import spaces
    from gymnasium.error import ResetNeeded
    from gymnasium.utils import seeding
    from pettingzoo import ParallelEnv  # type: ignore[import-untyped]  # it has no types
except ImportError as error:
    needed = install_command("gymnasium", "numpy", "pettingzoo")
    raise ImportError(f"sdk.env needs the extra rl, but {error.name} can't be imported; install it: {needed}") from None

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import SupportsInt

    from numpy.random import Generator
    from numpy.typing import NDArray

    from referee.games.evasion.board.wall import Kind
    from referee.games.evasion.state import Settings
    from referee.games.game import Json
    from sdk.bot import Bot
    from sdk.evasion import Forward

    Observation = NDArray[np.float32]
    Mask = NDArray[np.int8]
    #: What an agent of ``EvasionParallelEnv`` gets: its ``observation`` and ``action_mask``.
    Seen = dict[str, Observation | Mask]

__all__ = ["EvasionEnv", "EvasionParallelEnv", "action_mask", "move", "observation"]

ID = "referee/Evasion-v0"
#: The numbers of an observation that stand before its walls.
_SCALARS = 14
#: The prey's action a moves it by (a // 3 - 1, a % 3 - 1); this one stays.
_DIRECTIONS = 9
_STAY = 4
#: The size of a board that ``render`` returns, in characters.
_COLUMNS, _ROWS = 80, 24
_OTHER = {HUNTER: PREY, PREY: HUNTER}
#: The bot that plays each seat, unless another one is given.
_OPPONENTS: dict[str, type[Bot]] = {HUNTER: Boxer, PREY: Runner}


def _kinds(settings: Settings) -> tuple[Kind, ...]:
    return variants.RULE_SETS[settings.rules].kinds


def _observation_size(settings: Settings) -> int:
    """Return how many numbers an observation has."""
    return _SCALARS + settings.max_walls * _wall_size(len(_kinds(settings)))


def _wall_size(kinds: int) -> int:
    """Return how many numbers an observation has for each wall."""
    return kinds + 4 + (kinds > 2)


def _action_count(settings: Settings, seat: str) -> int:
    return _DIRECTIONS if seat == PREY else 1 + 2 * len(_kinds(settings)) + settings.max_walls


def observation(state: State) -> Observation:
    """Return a position as numbers from -1 to 1, the same for both seats."""
    settings = state.settings
    right, top = max(1, settings.width - 1), max(1, settings.height - 1)
    (hunter_x, hunter_y, hunter_dx, hunter_dy), (prey_x, prey_y, prey_dx, prey_dy) = state.hunter, state.prey
    period = settings.prey_period
    numbers = [
        *(hunter_x / right, hunter_y / top, hunter_dx, hunter_dy),
        *(prey_x / right, prey_y / top, prey_dx, prey_dy),
        *((prey_x - hunter_x) / right, (prey_y - hunter_y) / top),
        state.wall_timer / max(1, settings.cooldown),
        (period - 1 - state.step % period) / period,
        state.step / settings.max_steps,
        len(state.walls) / max(1, settings.max_walls),
    ]
    kinds = _kinds(settings)
    for wall in state.walls:
        numbers += [wall.kind == kind for kind in kinds]
        numbers += [wall.x1 / right, wall.y1 / top, wall.x2 / right, wall.y2 / top]
        if len(kinds) > 2:
            numbers.append({"x": 1, "y": -1}.get(wall.first, 0))
    array = np.zeros(_observation_size(settings), np.float32)
    array[: len(numbers)] = numbers
    return array


def action_mask(state: State, seat: str) -> Mask:
    """Return for each action of a seat whether it has its effect in the next step: 1 or 0."""
    mask = np.zeros(_action_count(state.settings, seat), np.int8)
    if seat == PREY:
        mask[_STAY] = 1
        if state.prey_moves:
            mask[:] = 1
        return mask
    kinds, walls = _kinds(state.settings), state.walls.all
    mask[0] = 1
    if not state.wall_timer:
        mask[1 : 1 + len(kinds)] = [bool(state.can_build(kind)) for kind in kinds]
        oldest = [wall.id for wall in walls[:1]]
        mask[1 + len(kinds) : 1 + 2 * len(kinds)] = [bool(state.can_build(kind, remove=oldest)) for kind in kinds]
    mask[1 + 2 * len(kinds) : 1 + 2 * len(kinds) + len(walls)] = 1
    return mask


@overload
def move(state: State, seat: Literal["hunter"], action: SupportsInt) -> HunterMove: ...
@overload
def move(state: State, seat: Literal["prey"], action: SupportsInt) -> PreyMove: ...
@overload
def move(state: State, seat: str, action: SupportsInt) -> HunterMove | PreyMove: ...
def move(state: State, seat: str, action: SupportsInt) -> HunterMove | PreyMove:
    """Return an action as a move of a bot. ValueError for a number that is no action of the seat."""
    number = int(action)
    if not 0 <= number < _action_count(state.settings, seat):
        raise ValueError(f"the {seat}'s action is {action!r:.40}, but must be from 0 to {_action_count(state.settings, seat) - 1}")
    if seat == PREY:
        return PreyMove((number // 3 - 1, number % 3 - 1))
    kinds, ids = _kinds(state.settings), [wall.id for wall in state.walls]
    index = number - 1 - 2 * len(kinds)
    if index >= 0:
        return HunterMove(None, tuple(ids[index : index + 1]))
    if not number:
        return HunterMove()
    is_replacing, kind = divmod(number - 1, len(kinds))
    return HunterMove(Build(kinds[kind]), tuple(ids[:1]) if is_replacing else ())


class _Opponent:
    """A bot of the SDK that plays a seat in this process, without limits of time. It gets no notices: the forward model makes none."""

    def __init__(self, bot: type[Bot], seat: str, settings: Settings, seed: int) -> None:
        conversation = Conversation(bot)
        settings_json = GAME.codec.settings_json(settings)
        conversation.prepare({"seat": seat, "rules": settings.rules, "settings": settings_json, "seed": seed, "match": "environment"})
        self._bot = conversation.bot
        self._decide = getattr(self._bot, self._bot._seats[seat])
        self._bot.begin()

    def move(self, state: State) -> object:
        """Return the bot's move, None if it has none."""
        bot = self._bot
        bot.turn, bot.left, bot.notices = state.step, TimeLeft(None, None, perf_counter()), []
        answer = self._decide(state)
        # What it says and draws is for spectators.
        bot._said = None
        bot.draw.take()
        return answer


class _Game:
    """One game that is played step by step: the part that both environments share."""

    def __init__(self, rules: str, settings: Mapping[str, Json], render_mode: str | None, *, random_starts: bool) -> None:
        if render_mode not in (None, "ansi"):
            raise ValueError(f"there is no render_mode {render_mode!r:.40}; there is ansi")
        self.settings = starts.settings(rules, settings) if random_starts else variants.settings(rules, settings)
        if variants.RULE_SETS[self.settings.rules].is_turnwise:
            raise ValueError(f"environments have the rule sets classic and diagonal, but not {rules}")
        if self.settings.adjudicate_after:
            raise ValueError("an environment doesn't adjudicate; adjudicate_after must be 0")
        self.observation_space = spaces.Box(-1, 1, (_observation_size(self.settings),), np.float32)
        self.action_spaces = {seat: spaces.Discrete(_action_count(self.settings, seat)) for seat in SEATS}
        self._random_starts = random_starts
        self._forward: Forward | None = None
        self._state: State | None = None

    @property
    def state(self) -> State:
        """The position. Raises ResetNeeded if no game has begun."""
        if self._state is None:
            raise ResetNeeded("the first call must be reset()")
        return self._state

    def begin(self, chance: Generator) -> None:
        """Begin a game, from a fair start drawn at random if the option says so."""
        settings = self.settings
        if self._random_starts:
            settings = variants.settings(settings.rules, {**GAME.codec.settings_json(settings), **starts.draw(settings, chance.bytes(16))})
        self._state = State(*GAME.start(settings))
        self._forward = self._state.forward()

    def step(self, moves: Mapping[str, object]) -> float:
        """Make a step with the moves of bots and return the hunter's reward. Raises ResetNeeded if the game is over or hasn't begun."""
        if self.state.ended or self._forward is None:
            raise ResetNeeded("the game has ended; call reset()")
        hunter, prey = hunter_move(moves.get(HUNTER)), prey_move(moves.get(PREY))
        self._forward.step(hunter, None if prey is None else prey.go)
        self._state = State.of(self._forward)
        return {"caught": 1.0, "evaded": -1.0}.get(self._state.ended, 0.0)

    def text(self) -> str:
        """Return the position as text: what stands beside the board, and the board."""
        status = ", ".join(f"{name} {value}" for name, value in text.status_fields(self.state).items())
        return "\n".join([status, *text.board_lines(self.state, _COLUMNS, _ROWS)])


class EvasionEnv(gymnasium.Env["Observation", "np.int64"]):
    """One seat of Evasion, trained against a bot of the SDK; the infos have ``action_mask``.

    ``opponent`` is a class of bots for the other seat, by default the example bot ``runner`` for a hunter and ``boxer`` for a prey. With
    ``random_starts`` each game begins in a fair start drawn at random. ``render_mode`` is None or "ansi". ``settings`` are those of the
    game. Raises ValueError or SettingsError for values that aren't allowed, TypeError for an opponent that doesn't play the other seat.
    """

    metadata = {"render_modes": ["ansi"], "render_fps": 30}

    def __init__(
        self,
        seat: str = HUNTER,
        opponent: type[Bot] | None = None,
        rules: str = "classic",
        render_mode: str | None = None,
        *,
        random_starts: bool = False,
        **settings: Json,
    ) -> None:
        if seat not in SEATS:
            raise ValueError(f"there is no seat {seat!r:.40}; there are {' and '.join(SEATS)}")
        self.seat, other = seat, _OTHER[seat]
        self.opponent = _OPPONENTS[other] if opponent is None else opponent
        if other not in getattr(self.opponent, "_seats", ()):
            raise TypeError(f"the opponent is {opponent!r:.80}, but must be a class of bots that plays the {other}")
        self.render_mode = render_mode
        self._game = _Game(rules, settings, render_mode, random_starts=random_starts)
        self._opponent: _Opponent | None = None
        self.observation_space = self._game.observation_space
        self.action_space = self._game.action_spaces[seat]

    def reset(self, *, seed: int | None = None, options: dict[str, Json] | None = None) -> tuple[Observation, dict[str, Mask]]:
        """Begin a new game with a new opponent. The options have no meaning."""
        super().reset(seed=seed)
        self._game.begin(self.np_random)
        self._opponent = _Opponent(self.opponent, _OTHER[self.seat], self._game.state.settings, int(self.np_random.integers(2**32)))
        return self._observed()

    def step(self, action: SupportsInt) -> tuple[Observation, float, bool, bool, dict[str, Mask]]:
        """Make a step. Raises ResetNeeded if the game is over or hasn't begun, ValueError for a number that is no action."""
        state = self._game.state
        moves: dict[str, object] = {self.seat: move(state, self.seat, action)}
        # A prey is asked only in the steps in which it can move, as in a match.
        if self._opponent is not None and (self.seat == PREY or state.prey_moves):
            moves[_OTHER[self.seat]] = self._opponent.move(state)
        reward = self._game.step(moves)
        seen, infos = self._observed()
        return seen, reward if self.seat == HUNTER else 0.0 - reward, bool(self._game.state.ended), False, infos

    def render(self) -> str | None:
        """Return the board as text, or None without a render mode."""
        return None if self.render_mode is None else self._game.text()

    def _observed(self) -> tuple[Observation, dict[str, Mask]]:
        state = self._game.state
        return observation(state), {"action_mask": action_mask(state, self.seat)}


class EvasionParallelEnv(ParallelEnv):  # type: ignore[misc]  # PettingZoo has no types
    """Both seats of Evasion. The agents are ``hunter`` and ``prey``; both act in every step.

    An observation is a dictionary of ``observation`` and ``action_mask``. The keywords are those of ``EvasionEnv``.
    """

    metadata: ClassVar[dict[str, object]] = {"render_modes": ["ansi"], "render_fps": 30, "name": "evasion_v0", "is_parallelizable": True}

    def __init__(self, rules: str = "classic", render_mode: str | None = None, *, random_starts: bool = False, **settings: Json) -> None:
        self.render_mode = render_mode
        self._game = _Game(rules, settings, render_mode, random_starts=random_starts)
        self._chance, _ = seeding.np_random()
        self.possible_agents = list(SEATS)
        self.agents: list[str] = []
        self.action_spaces = self._game.action_spaces
        self.observation_spaces = {
            seat: spaces.Dict({"observation": self._game.observation_space, "action_mask": spaces.Box(0, 1, (space.n,), np.int8)})
            for seat, space in self.action_spaces.items()
        }

    def observation_space(self, agent: str) -> spaces.Dict:
        """Return the space of an agent's observations, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """Return the space of an agent's actions, the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Json] | None = None) -> tuple[dict[str, Seen], dict[str, dict[str, Mask]]]:
        """Begin a new game. The options have no meaning."""
        if seed is not None:
            self._chance, _ = seeding.np_random(seed)
        self._game.begin(self._chance)
        self.agents = list(SEATS)
        return self._observed(), {seat: {} for seat in SEATS}

    def step(
        self, actions: Mapping[str, SupportsInt]
    ) -> tuple[dict[str, Seen], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Mask]]]:
        """Make a step with an action of each agent. Without agents, when the game has ended, nothing happens."""
        state = self._game.state
        if not self.agents:
            return {}, {}, {}, {}, {}
        if {*actions} != {*SEATS}:
            raise ValueError(f"there are actions of {', '.join(map(str, actions)) or 'nobody'}, but they must be those of hunter and prey")
        reward = self._game.step({seat: move(state, seat, actions[seat]) for seat in SEATS})
        is_over = bool(self._game.state.ended)
        if is_over:
            self.agents = []
        rewards = {HUNTER: reward, PREY: 0.0 - reward}
        return self._observed(), rewards, dict.fromkeys(SEATS, is_over), dict.fromkeys(SEATS, False), {seat: {} for seat in SEATS}

    def render(self) -> str | None:
        """Return the board as text, or None without a render mode."""
        return None if self.render_mode is None else self._game.text()

    def _observed(self) -> dict[str, Seen]:
        state = self._game.state
        seen = observation(state)
        return {seat: {"observation": seen.copy(), "action_mask": action_mask(state, seat)} for seat in SEATS}


gymnasium.register(ID, entry_point="sdk.env:EvasionEnv")
