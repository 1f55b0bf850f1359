"""Gives what teams have handed in to ``intake``, one after the other. A check that was cut short by a kill is done again."""

from __future__ import annotations

import time
from types import MappingProxyType
from typing import TYPE_CHECKING

from referee.arena.season_store import BUILDING, CHECKING
from referee.arena.store import ACCEPTED, REFUSED
from referee.errors import UsageError
from referee.isolation.launcher import tell_builds

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.arena.arena import OpenArena
    from referee.games.game import Json, Seat

#: The progress of a check is stored at most so often, in seconds.
_PROGRESS_SECONDS = 0.25


class Checker:
    """Checks submissions of an arena."""

    def __init__(self, arena: OpenArena) -> None:
        self._arena = arena
        self._store = arena.store
        self._number = 0
        self._stored_at = 0.0
        self._lines: list[str] = []
        tell_builds(lambda _: self._put(BUILDING, "building the program"))

    def check_next(self) -> bool:
        """Check the first submission that waits, and store what was found. False if none waits.

        RefereeError if this machine can't check now, for example because its disk is full; the submission waits.
        """
        waiting = self._store.next_submission()
        if waiting is None:
            return False
        self._number = waiting.number
        self._arena.read_versions()
        try:
            self._store.check_admitted(waiting.team)
            identity = (waiting.team, waiting.version, ACCEPTED)
            accepted = next(
                (candidate for candidate in self._arena.versions if (candidate.team, candidate.number, candidate.status) == identity), None
            )
            if accepted is not None:
                # The same files have the same verdict, and which version is active is not for a second look to change.
                self._store.set_submission(waiting.number, accepted.status, accepted.report, accepted.number)
                return True
            self._lines = []
            self._put(CHECKING, "unpacking")
            bot = self._arena.folder / waiting.file
            version, _ = self._arena.take(bot, waiting.team, waiting.note, self._checking, waiting.time)
        except UsageError as error:
            self._store.set_submission(waiting.number, REFUSED, {"reason": str(error)})
        else:
            self._store.set_submission(waiting.number, version.status, version.report, version.number or None)
        return True

    def _checking(self, seat: Seat, check: str, done: int, total: int) -> None:
        self._lines.append(f"{seat}: {check}")
        if time.monotonic() - self._stored_at >= _PROGRESS_SECONDS or not done:
            self._put(CHECKING, f"{done} of {total}  {seat}: {check}", {"done": done, "total": total, "lines": self._lines})

    def _put(self, status: str, text: str, more: Mapping[str, Json] = MappingProxyType({})) -> None:
        """Store how far the check is, for those who wait for it."""
        self._stored_at = time.monotonic()
        self._store.set_submission(self._number, status, {"progress": text, **more})
