"""Evasion for both seats as a parallel environment of PettingZoo."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from pettingzoo import ParallelEnv  # type: ignore[import-untyped]  # it has no types

from referee.games.evasion.state import HUNTER, PREY, SEATS
from sdk.env.encoding import first_of
from sdk.env.episodes import ERROR, Episodes, options_of
from sdk.env.pictures import RENDER_MODES, DrawnGame


class EvasionParallelEnv(DrawnGame, ParallelEnv):  # type: ignore[misc]  # as above
    """One game of Evasion. The agents are hunter and prey; both act in every step.

    An observation is a dictionary: ``observation`` and ``action_mask``, which is in the infos, too. In a step in which the prey can't
    move, its mask allows only the action that stands for waiting. The keywords are those of ``sdk.env.episodes.Options``.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "render_modes": list(RENDER_MODES),
        "render_fps": 30,
        "name": "evasion_v0",
        "is_parallelizable": True,
    }

    def __init__(self, *, render_mode: str | None = None, **options: Any) -> None:
        super().__init__(render_mode)
        self._episodes = Episodes(1, options_of(options))
        self._encodings = {seat: self._episodes.encoding(seat) for seat in SEATS}
        self.possible_agents = list(SEATS)
        self.agents: list[str] = []
        self.observation_spaces = {seat: self._space(seat) for seat in SEATS}
        self.action_spaces = {seat: encoding.action_space for seat, encoding in self._encodings.items()}
        self._masks: dict[str, Any] = {}

    def _space(self, seat: str) -> spaces.Dict:
        encoding = self._encodings[seat]
        parts = encoding.split(np.ones(encoding.mask_size, np.int8))
        mask: spaces.Space[Any] = (
            spaces.Tuple([spaces.Box(0, 1, part.shape, np.int8) for part in parts])
            if isinstance(parts, tuple)
            else spaces.Box(0, 1, parts.shape, np.int8)
        )
        return spaces.Dict({"observation": encoding.observation_space, "action_mask": mask})

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's observations, the same object at every call."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Return the space of an agent's actions, the same object at every call."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """Begin the game anew. The options have no meaning."""
        self._refuse_closed()
        self._episodes.begin(seed)
        self.agents = list(SEATS)
        self.trail = []
        return self._observed()

    def step(
        self, actions: Mapping[str, Any]
    ) -> tuple[dict[str, Any], dict[str, float], dict[str, bool], dict[str, bool], dict[str, dict[str, Any]]]:
        """Make a step. ``actions`` has an action for each agent. Without agents, when the game has ended, nothing happens."""
        self._refuse_closed()
        if not self._episodes.has_begun:
            raise ResetNeeded("the first call must be reset()")
        if not self.agents:
            return {}, {}, {}, {}, {}
        if not isinstance(actions, Mapping) or set(actions) != set(SEATS):
            named = ", ".join(map(str, actions)) or "nobody" if isinstance(actions, Mapping) else f"the type {type(actions).__name__}"
            raise ValueError(f"there are actions of {named}, but they must be those of hunter and prey")
        episodes = self._episodes
        rows = {seat: encoding.row(actions[seat]) for seat, encoding in self._encodings.items()}
        moves = {seat: encoding.moves(episodes.batch.games, rows[seat]) for seat, encoding in self._encodings.items()}
        if episodes.options.invalid == ERROR:
            for seat, encoding in self._encodings.items():
                if not encoding.allows(self._masks[seat], rows[seat])[0]:
                    raise ValueError(f"{seat}: the action {actions[seat]} is not in the action space, or its action_mask is 0")
        episodes.step(moves[HUNTER], moves[PREY])
        reward = float(episodes.hunter_rewards[0])
        seen, infos = self._observed()
        terminated, truncated = bool(episodes.terminated[0]), bool(episodes.truncated[0])
        if terminated or truncated:
            self.agents = []
        return seen, {HUNTER: reward, PREY: 0.0 - reward}, dict.fromkeys(SEATS, terminated), dict.fromkeys(SEATS, truncated), infos

    def _observed(self) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        batch = self._episodes.batch
        self._follow(batch)
        seen, infos = {}, {}
        for seat, encoding in self._encodings.items():
            found, mask = encoding.observe(batch.games, batch.walls)
            self._masks[seat] = mask.copy()
            seen[seat] = {"observation": first_of(found), "action_mask": encoding.split(mask[0])}
            infos[seat] = {"action_mask": encoding.split(mask[0].copy())}
        return seen, infos
