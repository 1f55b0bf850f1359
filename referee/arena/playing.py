"""The running matches of an arena. The process that plays stores them every half second, and pages show them."""

from __future__ import annotations

from pydantic import BaseModel


class RunningMatch(BaseModel, frozen=True):
    """A running match: its key, the version in each seat, and its beginning in seconds since the epoch."""

    key: str
    seats: dict[str, str]
    since: float


class PlayingNow(BaseModel, frozen=True):
    """What is played at a ``time``, in seconds since the epoch, on which host, and how many matches it plays at once."""

    row: int = 0
    time: float
    host: str
    slots: int
    matches: list[RunningMatch]
