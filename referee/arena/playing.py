"""What an arena plays at this moment. The process that plays stores it every half second, and pages show it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from referee.tournament.store import Store


class RunningMatch(BaseModel):
    """A match that is played: its key, the version in each seat, and since when, in seconds since the epoch."""

    model_config = ConfigDict(frozen=True)

    key: str
    seats: dict[str, str]
    since: float


class PlayingNow(BaseModel):
    """What is played at a ``time``, in seconds since the epoch, on which host, and how many matches it plays at once."""

    model_config = ConfigDict(frozen=True)

    row: int = 0
    time: float
    host: str
    slots: int
    matches: list[RunningMatch]


class PlayingRow:
    """The row of a store."""

    def __init__(self, store: Store) -> None:
        self._rows = store.table(PlayingNow, "playing")

    def put(self, now: PlayingNow) -> None:
        """Store what is played now."""
        self._rows.put(now)

    def read(self) -> PlayingNow | None:
        """Return what was stored last; None before the first match."""
        return self._rows.get(0)
