"""The store of an arena: its tables side by side in one database. What is written within ``database.write`` is one transaction."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from sqlalchemy.exc import SQLAlchemyError

from referee.arena import audit, bells, playing, ratings, season, tokens, versions
from referee.arena.matches import Matches
from referee.errors import RefereeError, UsageError
from referee.league import database as league_tables
from referee.league.store import Store
from referee.tournament.database import reason
from referee.tournament.transactions import Database, quoted
from referee.version import __version__

if TYPE_CHECKING:
    from pathlib import Path

    from typing_extensions import Self

FILE = "arena.sqlite"
_METAS = (league_tables.meta, season.meta, versions.meta, ratings.meta, tokens.meta, audit.meta, playing.meta)


class ArenaStore:
    """An open store. ``close`` it, or use it as a context manager. Errors of the database are raised as StoreError with a sentence."""

    def __init__(self, database: Database, folder: Path) -> None:
        self.database = database
        #: The file, or the address without its password.
        self.where = database.where
        self._folder = folder
        self.season = season.SeasonRow(database)
        self.versions = versions.Versions(database, self.wake)
        self.ratings = ratings.Ratings(database)
        self.tokens = tokens.Tokens(database)
        self.audit = audit.Audit(database)
        self.playing = playing.PlayingRow(database)
        self.matches = Matches(database)
        #: The duels and matches as the engine writes them.
        self.duels = Store(database)

    @classmethod
    def open(cls, folder: Path, url: str | None = None, *, create: bool = False) -> Self:
        """Open the store of an arena's folder: its SQLite file, or the PostgreSQL database of a URL. ``create`` makes the tables.

        UsageError where there is no arena, where it is that of an older or newer version, or where its file can't be used.
        """
        path = folder / FILE
        if url is None and not create and not path.is_file():
            raise UsageError(f"{quoted(folder)} is not the folder of an arena: it has no {FILE}. Begin one: referee arena new DIR")
        store = cls(Database.open(path, url, create=create), folder)
        try:
            store._check(folder, create=create)
        except RefereeError:
            store.close()
            raise
        except SQLAlchemyError as error:
            store.close()
            raise UsageError(f"The store {quoted(store.where)} can't be opened: {reason(error, store.where)}.") from None
        return store

    def _check(self, folder: Path, *, create: bool) -> None:
        tables = self.database.tables()
        if season.meta.tables.keys() <= tables:
            state = self.season.read()
            if state is not None and state.tables_version != season.TABLES_VERSION:
                raise UsageError(
                    f"{quoted(folder)} was written by another version of the referee ({quoted(state.referee)}), and this is version "
                    f"{__version__}: go on with the version that wrote it."
                )
        elif "versions" in tables:
            raise UsageError(
                f"{quoted(folder)} was written by a referee before version 2.0, and this is version {__version__}: go on with the version "
                "that wrote it, or begin anew in another folder."
            )
        elif tables or not create:
            raise UsageError(f"{quoted(self.where)} is the database of something else: it has no arena's tables.")
        if create:
            # A process that made them may have been killed between two of them.
            for meta in _METAS:
                self.database.create(meta)

    def wake(self, listener: str) -> None:
        """Ring the bell of a process, once the transaction of this thread is stored."""
        self.database.after_write(partial(bells.ring, self._folder, listener))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self.database.close()
