"""The store of an arena: that of the core with tables of several modules side by side. What is written within ``step`` is one transaction."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from referee.arena import audit, bells, blame, duels, playing, ratings, season, tokens, versions
from referee.tournament.store import Store, file_name

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self

#: What a store of an arena is called, and its file.
KIND = "arena"
FILE = file_name(KIND)


class ArenaStore:
    """An open store. ``close`` it, or use it as a context manager. Errors of the database are raised as StoreError with a sentence."""

    def __init__(self, core: Store, folder: Path) -> None:
        #: The tasks and records.
        self.core = core
        self.database = core.database
        #: The file, or the address without its password.
        self.where = core.where
        self._folder = folder
        self.season = season.SeasonRow(core)
        self.duels = duels.Duels(core)
        self.versions = versions.Versions(core, self.season, self.duels, self.wake)
        self.ratings = ratings.Ratings(core)
        self.disputed = blame.disputed_matches(core)
        self.tokens = tokens.Tokens(core)
        self.audit = audit.Audit(core)
        self.playing = core.table(playing.PlayingNow, "playing")

    @classmethod
    def open(cls, folder: Path, url: str | None = None, *, create: bool = False) -> Self:
        """Open the store of an arena's folder: its SQLite file, or the PostgreSQL database of a URL. ``create`` makes the tables.

        UsageError where there is no arena, where it is that of an older or newer version, or where its file can't be used.
        """
        core = Store.open(KIND, folder, url, create=create)
        try:
            return cls(core, folder)
        except BaseException:
            core.close()
            raise

    def wake(self, listener: str) -> None:
        """Ring the bell of a process, once the transaction of this thread is stored."""
        self.database.after_write(partial(bells.ring, self._folder, listener))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.core.close()
