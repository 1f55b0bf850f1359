"""Where the randomness of a match comes from: one secret, from which nothing else can be told.

Source: HMAC (RFC 2104) of the seat and the match under the secret; a plain hash of a small seed could be inverted.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets


def secret_of(seed: int | None) -> bytes:
    """The 128-bit secret of a match: drawn by the system, or derived from a number for a match that can be repeated."""
    if seed is None:
        return secrets.token_bytes(16)
    return hashlib.sha256(b"referee seed %d" % seed).digest()[:16]


def new_seed() -> int:
    """A number to play a match again with, from 0 to 2**53 - 1: too many to try them all during a match, and exact in every language."""
    return secrets.randbits(53)


def match_id(secret: bytes) -> str:
    """An opaque name for a match, which gives nothing of the secret away."""
    return hmac.digest(secret, b"match", "sha256")[:8].hex()


def seat_seed(secret: bytes, match: str, seat: str) -> int:
    """A player's own seed, from 0 to 2**53 - 1; no player can derive another's."""
    return int.from_bytes(hmac.digest(secret, f"{match}/{seat}".encode(), "sha256")[:8], "big") >> 11
