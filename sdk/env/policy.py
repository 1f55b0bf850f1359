"""Makes a bot from a policy, which maps observations to actions, so that it can play matches.

from sdk.env import policy_bot

def policy(observation, mask):
return int((weights @ observation + (mask - 1) * 1e9).argmax())

if __name__ == "__main__":
policy_bot(policy, seat="hunter").main()
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from referee.games.evasion.game import GAME
from referee.games.evasion.state import HUNTER, PREY
from sdk.evasion import HunterBot, PreyBot

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.games.evasion.state import HunterMove, PreyMove
    from sdk.bot import Bot
    from sdk.env.encoding import Encoding
    from sdk.evasion import State

_BASES: dict[str, type[Bot]] = {HUNTER: HunterBot, PREY: PreyBot}
_KERNEL = "referee.games.evasion.kernel.compiled"


def policy_bot(
    policy: Callable[..., Any], *, seat: str | None = None, observation: str = "vector", size: int | None = None, actions: str = "discrete"
) -> type[Bot]:
    """Return a bot class that plays the actions of a policy. Without a seat it plays both.

    The policy is called with an observation; with the observation and the action mask, if it takes two arguments; or with these and a
    ``numpy.random.Generator``, if it takes three. That generator is ``generator(seed, seat)`` in a match with ``--seed``. It returns an
    action of the environment. ``observation``, ``size`` and ``actions`` must be those of the environment in which it was trained.

    Raises ValueError for a seat or a view that doesn't exist, and TypeError for something that can't be called with these arguments.
    """
    if seat not in (None, *_BASES):
        raise ValueError(f"there is no seat {seat!r:.40}; there are {' and '.join(_BASES)}")
    count = _argument_count(policy)
    load()
    from sdk.env.encoding import Encoding, View

    view = View(observation, size, actions).checked()
    bases = tuple(_BASES.values()) if seat is None else (_BASES[seat],)

    class PolicyBot(*bases):  # type: ignore[misc]  # the bases depend on the seat
        """Plays the actions of the policy."""

        name = getattr(policy, "__name__", type(policy).__name__)

        def begin(self) -> None:
            with np.errstate(over="ignore"):
                self.encoding: Encoding = Encoding(self.settings, self.seat, view)
                # The first call takes longest; it belongs to the start-up.
                self.encoding.encode(GAME.start(self.settings))
            self.generator = np.random.default_rng(self.seed)

        def hunt(self, state: State) -> HunterMove | PreyMove:
            seen, mask = self.encoding.encode(state)
            return self.encoding.decode(policy(*(seen, mask, self.generator)[:count]), state)

        flee = hunt

    return PolicyBot


def _argument_count(policy: Callable[..., Any]) -> int:
    """Return how many arguments a policy takes, from 1 to 3; one whose arguments can't be told gets the observation."""
    import inspect

    if not callable(policy):
        raise TypeError(f"a policy is a function of an observation, but {policy!r:.60} can't be called")
    try:
        parameters = inspect.signature(policy).parameters.values()
    except ValueError:
        return 1
    needed = [each for each in parameters if each.kind in (each.POSITIONAL_ONLY, each.POSITIONAL_OR_KEYWORD) and each.default is each.empty]
    if len(needed) > 3:
        names = ", ".join(each.name for each in needed)
        raise TypeError(f"a policy takes an observation, a mask and a generator, but {policy!r:.60} needs more: {names}")
    return max(1, len(needed))


def load() -> None:
    """Load the rules for a bot under a referee: uncompiled, because a bot has no time to compile, and encodes one position at a time.

    Anywhere else, and if the bot has loaded them itself, they are compiled.
    """
    from sdk import _guard

    if _KERNEL in sys.modules or not _guard.is_under_referee():
        return
    import numba

    # The standard switch of numba: functions that are defined meanwhile stay plain Python. The policy may compile functions of its own.
    switches = vars(numba.config)
    before = switches["DISABLE_JIT"]
    switches["DISABLE_JIT"] = 1
    try:
        import_module("sdk.env.encoding")
    finally:
        switches["DISABLE_JIT"] = before


def generator(seed: int, seat: str) -> np.random.Generator:
    """Return the random numbers that a policy gets as a bot in the match ``referee play --seed SEED``.

    Raises TypeError for a seed that isn't a whole number, and ValueError for a seat that doesn't exist.
    """
    from referee.match.seeds import match_id, seat_seed, secret_of

    if seat not in tuple(_BASES):
        raise ValueError(f"there is no seat {seat!r:.40}; there are {' and '.join(_BASES)}")
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
        raise TypeError(f"the seed is {seed!r:.40}, but must be a whole number, as for --seed")
    secret = secret_of(int(seed))
    return np.random.default_rng(seat_seed(secret, match_id(secret), seat))


__all__ = ["generator", "policy_bot"]
