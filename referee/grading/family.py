"""Families of starts: each test has its own, drawn from the rubric's seed. Whoever knows the seed can draw them again.

Source of the derivation: HMAC-SHA256 (RFC 2104) under the seed's text, so the starts that a student sees don't reveal the hidden ones.

A commitment is what the grader publishes before the deadline. It is the SHA-256 of everything that decides a start, and seven groups of four
digits. Each group belongs to one part, so it says what was changed if the hash is another one. It proves nothing by itself.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from typing import TYPE_CHECKING, Any

from referee import games
from referee.league import starts as league_starts
from referee.league.keys import canonical
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Game, Json
    from referee.grading.values import Rubric, RubricTest
    from referee.league.values import MatchStart

#: Everybody sees the hash of the seed, so a shorter seed could be found by trying all of them.
_SAFE_LENGTH = 16
_LEAST_DIFFERENT = 4
#: The first line of what a commitment is the hash of.
COMMITTED = "referee starts"
#: The digits of a group of a commitment.
_GROUP = 4


def new_seed() -> str:
    """Return a new seed with 128 random bits, as 32 hexadecimal digits."""
    return secrets.token_hex(16)


def seed_hash(seed: str) -> str:
    """Return the SHA-256 of the seed's text. Earlier versions published it, although it covers nothing but the seed."""
    return hashlib.sha256(seed.encode()).hexdigest()


def deciding(rubric: Rubric, version: int | None = None) -> dict[str, Json]:
    """Return all that decides the starts of a rubric, by the name that sentences use. ``version`` is that of the game's rules, by default of this referee's."""
    return {
        "the seed": rubric.seed,
        "the game": rubric.game,
        "the version of the game": games.get(rubric.game).info.version if version is None else version,
        "the rules": rubric.rules,
        "the names of the tests": [test.name for test in rubric.tests],
        "the numbers of starts": [[test.starts, test.hidden] for test in rubric.tests],
        "the settings": [[test.has_set_start, dict(test.settings)] for test in rubric.tests],
    }


def commitment(parts: Mapping[str, Json]) -> str:
    """Return the commitment to what ``deciding`` has returned: 64 hexadecimal digits, and a group of four for each part."""
    # The seed is in every group, so that nobody can guess a part from its group. No seed has a line feed, so that no text of a seed, whose
    # hash earlier versions published, is what is hashed here.
    whole = hashlib.sha256(f"{COMMITTED}\n{canonical(dict(parts))}".encode()).hexdigest()
    groups = [hashlib.sha256(canonical([parts["the seed"], name, value]).encode()).hexdigest()[:_GROUP] for name, value in parts.items()]
    return "-".join([whole, *groups])


def committed(rubric: Rubric) -> str:
    """Return the commitment to the starts of a rubric, to be published with the assignment."""
    return commitment(deciding(rubric))


def differing(parts: Mapping[str, Json], commitment_: str) -> list[str]:
    """Return the names of the parts to which a commitment with groups does not commit. Another seed changes all groups, so it is named alone."""
    pairs = zip(parts, commitment(parts).split("-")[1:], commitment_.split("-")[1:], strict=True)
    found = [name for name, own, other in pairs if own != other]
    return found[:1] if found[:1] == ["the seed"] else found


def weakness(seed: str) -> str:
    """Return a sentence about a seed that could be guessed from its hash; "" for a good one."""
    if len(seed) >= _SAFE_LENGTH and len(set(seed)) > _LEAST_DIFFERENT:
        return ""
    why = "it is too simple" if len(seed) >= _SAFE_LENGTH else f"{_SAFE_LENGTH} are the least that is safe"
    return (
        f"The seed has {counted(len(seed), 'character')}, but {why}: it can be found from its published hash, and with it the hidden starts. "
        f'Take a random one, such as seed = "{new_seed()}".'
    )


def secret(seed: str, test_name: str) -> bytes:
    """Return the secret from which the starts of a test are drawn."""
    return hmac.digest(seed.encode(), b"family/" + test_name.encode(), "sha256")


def starts(game: Game[Any, Any], rubric: Rubric, test: RubricTest) -> tuple[MatchStart, ...]:
    """Return the starts of a test. Start n is hidden if ``is_hidden(test, n)``. Raises SettingsError if there are too few."""
    own = secret(rubric.seed, test.name)
    if test.has_set_start:
        return league_starts.standard(own)
    settings = game.codec.settings(rubric.rules, dict(test.settings))
    return league_starts.starts(game, settings, own, test.starts)


def is_hidden(test: RubricTest, start: int) -> bool:
    """True if this start of a test is hidden: the last ones are."""
    return start >= test.starts - test.hidden
