"""The process that checks one hand-in after the other from the queue. It repeats a check that a kill interrupted."""

from __future__ import annotations

import time
from types import MappingProxyType
from typing import TYPE_CHECKING

from referee.arena.bells import listening
from referee.arena.versions import ACCEPTED, BUILDING, CHECKER, CHECKING, REFUSED
from referee.errors import UsageError
from referee.isolation.launcher import on_builds
from referee.support.times import shown_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.arena.arena import OpenArena
    from referee.arena.versions import HandIn, Version
    from referee.games.game import Json, Seat

#: The least seconds between two stored progress reports of a check.
_PROGRESS_SECONDS = 0.25
#: Seconds of a check after which the page shows the remaining time.
_MEASURED_SECONDS = 3.0


def check(arena: OpenArena, say: Callable[[str], None]) -> None:
    """Check forever. ``say`` gets each verdict, for the person who runs the server. RefereeError if this machine can't check now, for example because its disk is full."""
    with listening(arena.folder, CHECKER) as bell:
        checker = Checker(arena, say)
        while True:
            if not checker.check_next():
                bell.wait()


class Checker:
    """Checks hand-ins of an arena."""

    def __init__(self, arena: OpenArena, say: Callable[[str], None]) -> None:
        self._arena = arena
        self._say = say
        self._versions = arena.store.versions
        #: The hand-in that is being checked; None after another process has changed its state.
        self._current: HandIn | None = None
        self._begun = self._stored_at = 0.0
        self._lines: list[str] = []
        on_builds(lambda _: self._move(BUILDING, {"progress": "building the program"}))

    def check_next(self) -> bool:
        """Check the first waiting hand-in, and store the result. Return False if none waits.

        RefereeError if this machine can't check now; the hand-in waits.
        """
        hand_in = self._current = self._versions.next()
        if hand_in is None:
            return False
        self._arena.read_versions()
        self._lines, self._begun = [], time.monotonic()
        self._move(CHECKING, {"progress": "unpacking"})
        try:
            self._versions.check_admitted(hand_in.team)
            accepted = self._accepted(hand_in)
            if accepted is None:
                bot = self._arena.folder / hand_in.file
                examined = self._arena.examine(bot, hand_in.team, hand_in.note, self._progress, hand_in.submitted)
                with self._arena.store.database.write():
                    self._decide(self._arena.keep(examined))
            else:
                # The same files have the same verdict. A second check must not change which version is active.
                self._decide(accepted)
        except UsageError as error:
            self._move(REFUSED, {"reason": str(error)}, None, is_last=True)
        return True

    def _accepted(self, hand_in: HandIn) -> Version | None:
        """Return the version as which a hand-in was accepted before; None if it was not."""
        identity = (hand_in.team, hand_in.version, ACCEPTED)
        return next((version for version in self._arena.versions if (version.team, version.number, version.status) == identity), None)

    def _decide(self, version: Version) -> None:
        self._move(version.status, version.report, version.number or None, is_last=True)

    def _progress(self, seat: Seat, check: str, done: int, total: int) -> None:
        """Store the progress of the check for the team's page."""
        self._lines.append(f"{seat}: {check}")
        if time.monotonic() - self._stored_at >= _PROGRESS_SECONDS or not done:
            report = {"progress": f"{done} of {total}  {seat}: {check}", "done": done, "total": total, "lines": self._lines}
            if (seconds := time.monotonic() - self._begun) >= _MEASURED_SECONDS and done:
                report["left"] = round(seconds * (total - done) / done)
            self._move(CHECKING, report)

    def _move(
        self, after: str, report: Mapping[str, Json] = MappingProxyType({}), version: int | None = None, *, is_last: bool = False
    ) -> None:
        """Move the hand-in to its next state, unless another process has changed it. Then it is checked again."""
        self._stored_at = time.monotonic()
        if self._current is not None:
            hand_in = self._current
            self._current = self._versions.move(CHECKER, hand_in, after, report, version, is_last=is_last)
            if is_last:
                verdict = f"is accepted as version {version}" if after == ACCEPTED else f"is refused: {report.get('reason', '')}"
                self._say(f"{shown_time(time.time())}  {hand_in.team}: submission {hand_in.number} {verdict}")
