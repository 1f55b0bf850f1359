"""Evasion for one seat as an environment of gymnasium: many games at once, or one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from gymnasium import Env
from gymnasium.error import ClosedEnvironmentError, ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from referee.games.evasion.state import HUNTER, PREY, SEATS
from sdk.env.encoding import Mask, Observation, first_of
from sdk.env.episodes import ERROR, OTHER, Episodes, Opponent, options_of
from sdk.env.pictures import RENDER_MODES, DrawnGame, checked_mode, drawn

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import ArrayLike, NDArray

_METADATA: dict[str, Any] = {"render_modes": list(RENDER_MODES), "render_fps": 30, "name": "evasion_v0"}
_SIGN = {HUNTER: 1.0, PREY: -1.0}


class _OneSeat:
    """Games in which one seat is trained against an opponent."""

    def __init__(self, count: int, seat: str, opponent: str | Callable[..., ArrayLike] | None, given: dict[str, Any]) -> None:
        if seat not in SEATS:
            raise ValueError(f"there is no seat {seat!r:.40}; there are {' and '.join(SEATS)}")
        self.seat = seat
        self.episodes = Episodes(count, options_of(given))
        self.batch = self.episodes.batch
        self.encoding = self.episodes.encoding(seat)
        self.opponent = Opponent(OTHER[seat], opponent, self.episodes)
        self.mask: Mask | None = None

    def step(self, actions: ArrayLike, mode: str = "stay") -> None:
        """Make a step of all games."""
        moves = self.encoding.moves(self.batch.games, actions)
        if self.episodes.options.invalid == ERROR and self.mask is not None:
            self._refuse(actions, self.mask)
        others = self.opponent.moves(self.batch)
        name = self.opponent.name
        if self.seat == HUNTER:
            self.episodes.step(moves, others, prey=name, mode=mode)
        else:
            self.episodes.step(others, moves, hunter=name, mode=mode)

    def _refuse(self, actions: ArrayLike, mask: Mask) -> None:
        wrong = ~self.encoding.allows(mask, actions) & (self.batch.ended == 0)
        if wrong.any():
            game = int(np.flatnonzero(wrong)[0])
            action = np.asarray(actions)[game].tolist()
            raise ValueError(f"game {game}: the action {action} is not in the action space, or its action_mask is 0")

    def observed(self) -> tuple[Observation, Mask]:
        """Return the observations and masks of all games."""
        seen, mask = self.encoding.observe(self.batch.games, self.batch.walls)
        # The caller may change its own mask.
        self.mask = mask.copy() if self.episodes.options.invalid == ERROR else mask
        return seen, mask

    def rewards(self) -> NDArray[np.float64]:
        """Return the rewards of the last step."""
        # The sum makes 0 of -0.
        rewards: NDArray[np.float64] = self.episodes.hunter_rewards * _SIGN[self.seat] + 0.0
        return rewards


class EvasionVectorEnv(VectorEnv[Observation, Any, Any]):
    """``num_envs`` games of Evasion at once, by compiled rules.

    ``seat`` is the player that is trained, ``opponent`` the other one: a name of the kernel, or a function from observations and masks
    to actions. ``autoreset_mode`` is that of gymnasium, also by its name; the other keywords are those of ``sdk.env.episodes.Options``.
    The infos have ``action_mask``, and in the mode SameStep ``final_obs`` and ``final_info``.
    """

    def __init__(
        self,
        num_envs: int = 1,
        *,
        seat: str = HUNTER,
        opponent: str | Callable[..., ArrayLike] | None = None,
        autoreset_mode: AutoresetMode | str = AutoresetMode.NEXT_STEP,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        self.autoreset_mode = _mode(autoreset_mode)
        self.render_mode = checked_mode(render_mode)
        self._players = _OneSeat(num_envs, seat, opponent, options)
        num_envs = self.num_envs = len(self._players.batch)
        self.metadata = {**_METADATA, "autoreset_mode": self.autoreset_mode}
        self.single_observation_space = self._players.encoding.observation_space
        self.single_action_space = self._players.encoding.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def reset(
        self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None
    ) -> tuple[Observation, dict[str, Any]]:
        """Begin all games anew. Game i gets the seed ``seed`` + i. ``options["reset_mask"]`` (num_envs,) chooses some of the games."""
        self._refuse_closed()
        super().reset(seed=seed if isinstance(seed, int) else None)
        if not isinstance(options, dict | None):
            raise TypeError(f"options is {options!r:.40}, but must be a dictionary or None")
        chosen = (options or {}).get("reset_mask")
        if chosen is not None:
            chosen = np.asarray(chosen)
            if chosen.shape != (self.num_envs,) or chosen.dtype != np.bool_ or not chosen.any():
                raise ValueError(f"reset_mask must have the shape ({self.num_envs},), be of booleans and choose at least one game")
        self._players.episodes.begin(seed, chosen)
        seen, mask = self._players.observed()
        return seen, self._infos(mask)

    def step(self, actions: Any) -> tuple[Observation, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Make a step of all games."""
        self._refuse_closed()
        players, episodes = self._players, self._players.episodes
        if self.autoreset_mode is AutoresetMode.DISABLED and (episodes.batch.ended != 0).any():
            raise ResetNeeded("a game has ended; begin it anew with reset(options={'reset_mask': ...})")
        players.step(actions, "next-step" if self.autoreset_mode is AutoresetMode.NEXT_STEP else "stay")
        rewards, terminated, truncated = players.rewards(), episodes.terminated.copy(), episodes.truncated.copy()
        seen, mask = players.observed()
        infos = self._infos(mask)
        over = terminated | truncated
        if self.autoreset_mode is AutoresetMode.SAME_STEP and over.any():
            infos |= self._begin_anew(over, seen, mask)
        return seen, rewards, terminated, truncated, infos

    def _infos(self, mask: Mask) -> dict[str, Any]:
        return {"action_mask": mask, "_action_mask": np.ones(self.num_envs, np.bool_)}

    def _begin_anew(self, over: NDArray[np.bool_], seen: Observation, mask: Mask) -> dict[str, Any]:
        """Begin games anew, write their new observations and masks into the arrays, and return what these were as infos."""
        chosen = np.flatnonzero(over)
        last = np.full(self.num_envs, None, object)
        for game in chosen:
            last[game] = {name: array[game].copy() for name, array in seen.items()} if isinstance(seen, dict) else seen[game].copy()
        last_masks = np.zeros_like(mask)
        last_masks[chosen] = mask[chosen]
        batch = self._players.batch
        self._players.episodes.begin(None, over)
        anew, new_masks = self._players.encoding.observe(batch.games[chosen], batch.walls[chosen])
        if isinstance(seen, dict) and isinstance(anew, dict):
            for name, array in seen.items():
                array[chosen] = anew[name]
        elif not isinstance(seen, dict):
            seen[chosen] = anew
        mask[chosen] = new_masks
        if self._players.mask is not None:
            self._players.mask[chosen] = new_masks
        final_info = {"action_mask": last_masks, "_action_mask": over.copy()}
        return {"final_obs": last, "_final_obs": over.copy(), "final_info": final_info, "_final_info": over.copy()}

    def render(self) -> tuple[NDArray[np.uint8], ...] | None:
        """Return a picture of each game, or None without a render mode."""
        self._refuse_closed()
        if self.render_mode is None:
            return None
        return tuple(drawn([self._players.batch.state(game)]) for game in range(self.num_envs))

    def _refuse_closed(self) -> None:
        if self.closed:
            raise ClosedEnvironmentError("the environment is closed; make another one")


def _mode(given: AutoresetMode | str) -> AutoresetMode:
    try:
        return AutoresetMode(given)
    except ValueError:
        raise ValueError(f"there is no autoreset_mode {given!r:.40}; there are {', '.join(mode.value for mode in AutoresetMode)}") from None


class EvasionEnv(DrawnGame, Env[Observation, Any]):
    """One game of Evasion; the keywords are those of ``EvasionVectorEnv``. The infos have ``action_mask``."""

    metadata = _METADATA

    def __init__(
        self,
        *,
        seat: str = HUNTER,
        opponent: str | Callable[..., ArrayLike] | None = None,
        render_mode: str | None = None,
        **options: Any,
    ) -> None:
        super().__init__(render_mode)
        self._players = _OneSeat(1, seat, opponent, options)
        self.observation_space = self._players.encoding.observation_space
        self.action_space = self._players.encoding.action_space

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, dict[str, Any]]:
        """Begin the game anew."""
        self._refuse_closed()
        super().reset(seed=seed)
        self._players.episodes.begin(seed)
        self.trail = []
        return self._observed()

    def step(self, action: Any) -> tuple[Observation, float, bool, bool, dict[str, Any]]:
        """Make a step. ResetNeeded if the game has ended."""
        self._refuse_closed()
        players, episodes = self._players, self._players.episodes
        if players.batch.ended[0]:
            raise ResetNeeded("the game has ended; call reset()")
        players.step(players.encoding.row(action))
        seen, infos = self._observed()
        return seen, float(players.rewards()[0]), bool(episodes.terminated[0]), bool(episodes.truncated[0]), infos

    def _observed(self) -> tuple[Observation, dict[str, Any]]:
        seen, mask = self._players.observed()
        self._follow(self._players.batch)
        return first_of(seen), {"action_mask": self._players.encoding.split(mask[0])}
