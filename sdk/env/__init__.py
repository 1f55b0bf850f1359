"""Environments for learning: many games at once, by compiled rules. Needs the extra ``rl``.

    import gymnasium
    import sdk.env

    hunters = sdk.env.make_vec("evasion", 4096, seat="hunter", opponent="runner")
    both = sdk.env.parallel_env()

The import registers ``referee/Evasion-v0`` with gymnasium. ``docs/environments.md`` describes observations, actions and rewards.
"""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, cast

from referee.support.packages import install_command

if TYPE_CHECKING:
    from sdk.env.encoding import Encoding, View
    from sdk.env.episodes import Rewards
    from sdk.env.parallel import EvasionParallelEnv
    from sdk.env.policy import generator, policy_bot
    from sdk.env.vector import EvasionEnv, EvasionVectorEnv

#: The environments by the name of their game.
IDS = {"evasion": "referee/Evasion-v0"}
#: Names that are loaded when they are first used, with their modules.
_HOMES = {
    "Encoding": "encoding",
    "EvasionEnv": "vector",
    "EvasionParallelEnv": "parallel",
    "EvasionVectorEnv": "vector",
    "Rewards": "episodes",
    "View": "encoding",
    "generator": "policy",
    "policy_bot": "policy",
}

#: The packages of the extra.
_NEEDED = ("gymnasium", "numba", "numpy", "pettingzoo")


def _register() -> None:
    """Register the environments with gymnasium. Raises ImportError if a package of the extra is missing."""
    if missing := [name for name in _NEEDED if find_spec(name) is None]:
        raise ImportError(
            f"sdk.env needs the extra rl, but {' and '.join(missing)} can't be imported; install it: {install_command(*missing)}"
        )
    import gymnasium

    if IDS["evasion"] not in gymnasium.registry:
        gymnasium.register(IDS["evasion"], entry_point="sdk.env.vector:EvasionEnv", vector_entry_point="sdk.env.vector:EvasionVectorEnv")


_register()


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"sdk.env.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOMES})


def _id_of(game: str) -> str:
    if not isinstance(game, str) or game not in IDS:
        raise ValueError(f"there is no environment of the game {game!r:.40}; there is one of {', '.join(IDS)}")
    return IDS[game]


def make_vec(game: str, num_envs: int, **options: Any) -> EvasionVectorEnv:
    """Return ``num_envs`` games at once as a vector environment of gymnasium. The options are those of ``EvasionVectorEnv``."""
    import gymnasium

    made: Any = gymnasium.make_vec(_id_of(game), num_envs, **options)
    return cast("EvasionVectorEnv", made)


def parallel_env(game: str = "evasion", **options: Any) -> EvasionParallelEnv:
    """Return a game with both seats as a parallel environment of PettingZoo. The options are those of ``EvasionParallelEnv``."""
    from sdk.env.parallel import EvasionParallelEnv

    _id_of(game)
    return EvasionParallelEnv(**options)


def env(game: str = "evasion", **options: Any) -> Any:
    """Return the same as ``parallel_env``, but the agents act in turn: an AEC environment of PettingZoo."""
    from pettingzoo.utils.conversions import parallel_to_aec  # type: ignore[import-untyped]  # it has no types

    return parallel_to_aec(parallel_env(game, **options))


__all__ = [
    "IDS",
    "Encoding",
    "EvasionEnv",
    "EvasionParallelEnv",
    "EvasionVectorEnv",
    "Rewards",
    "View",
    "env",
    "generator",
    "make_vec",
    "parallel_env",
    "policy_bot",
]
