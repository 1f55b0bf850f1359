"""Families of starts: each test has its own, drawn from the rubric's seed. Whoever knows the seed can draw them again.

Source of the derivation: HMAC-SHA256 (RFC 2104) under the seed's text, so the starts that a student sees don't reveal the hidden ones.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Any

from referee.league import starts as league_starts

if TYPE_CHECKING:
    from referee.games.game import Game
    from referee.grading.values import Rubric, RubricTest
    from referee.league.values import Start

#: Everybody sees the hash of the seed, so a shorter seed could be found by trying all of them.
_SAFE_LENGTH = 16
_LEAST_DIFFERENT = 4


def new_seed() -> str:
    """Return a new seed with 128 random bits, as 32 hexadecimal digits."""
    return secrets.token_hex(16)


def seed_hash(seed: str) -> str:
    """Return the SHA-256 of the seed's text, to be published with the assignment."""
    return hashlib.sha256(seed.encode()).hexdigest()


def weakness(seed: str) -> str:
    """Return a sentence about a seed that could be guessed from its hash; "" for a good one."""
    if len(seed) >= _SAFE_LENGTH and len(set(seed)) > _LEAST_DIFFERENT:
        return ""
    count = f"{len(seed)} character{'s' * (len(seed) != 1)}"
    why = "it is too simple" if len(seed) >= _SAFE_LENGTH else f"{_SAFE_LENGTH} are the least that is safe"
    return (
        f"The seed has {count}, but {why}: it can be found from its published hash, and with it the hidden starts. "
        f'Take a random one, such as seed = "{new_seed()}".'
    )


def secret(seed: str, test_name: str) -> bytes:
    """Return the secret from which the starts of a test are drawn."""
    return hmac.digest(seed.encode(), b"family/" + test_name.encode(), "sha256")


def starts(game: Game[Any, Any], rubric: Rubric, test: RubricTest) -> tuple[Start, ...]:
    """Return the starts of a test. Start n is hidden if ``is_hidden(test, n)``. Raises SettingsError if there are too few."""
    own = secret(rubric.seed, test.name)
    if test.has_set_start:
        return league_starts.standard(own)
    settings = game.codec.settings(rubric.rules, dict(test.settings))
    return league_starts.starts(game, settings, own, test.starts)


def is_hidden(test: RubricTest, start: int) -> bool:
    """True if this start of a test is hidden: the last ones are."""
    return start >= test.starts - test.hidden
