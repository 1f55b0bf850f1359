"""The randomness of a match: everything is derived from one secret, and nothing reveals the secret.

Source: HMAC (RFC 2104) of the seat and the match under the secret; a plain hash of a small seed could be inverted.
"""

import hashlib
import hmac
import secrets


def secret_of(seed: int | None) -> bytes:
    """The 128-bit secret of a match: drawn by the system, or derived from a number for a match that can be repeated."""
    if seed is None:
        return secrets.token_bytes(16)
    return hashlib.sha256(b"referee seed %d" % seed).digest()[:16]


def new_seed() -> int:
    """Return a new seed from 0 to 2**53 - 1: too many values to try during a match, and exact in every language."""
    return secrets.randbits(53)


def match_id(secret: bytes) -> str:
    """Return an identifier for a match that reveals nothing about the secret."""
    return hmac.digest(secret, b"match", "sha256")[:8].hex()


def seat_seed(secret: bytes, match: str, seat: str) -> int:
    """Return a player's seed, from 0 to 2**53 - 1. No player can derive another player's seed."""
    return int.from_bytes(hmac.digest(secret, f"{match}/{seat}".encode(), "sha256")[:8], "big") >> 11
