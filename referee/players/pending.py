"""A question without an answer so far: its measurements, and the reply and the verdict that follow from them by ``players.clock``."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from referee.errors import BUSY, MatchVoid
from referee.players.clock import CPU, FAIR, LATE, RESCUED, VOID, WAIT, WALL, Kind, Verdict, bill, verdict
from referee.players.fair_meter import LOOK
from referee.players.player import Reply
from referee.replay.faults import NO_ANSWER, Failure
from referee.support.words import the_seat

if TYPE_CHECKING:
    from referee.players.link import Link
    from referee.players.meter import Meter
    from referee.players.player import RunningPlayer


class PendingQuestion:
    """A question without an answer. ``deadline`` is when its limit can be reached, by the performance counter.

    ``limit`` is that of the bill, ``guard`` that of the wall time, in seconds. ``aside`` are the seconds billed for work out of turn.
    ``is_start``: the programs start at the same time, and the processor time of the others postpones a deadline of the wall clock up
    to the guard.
    """

    __slots__ = ("_aside", "_beside", "_guard", "_sent_at", "deadline", "is_start", "limit", "link", "meter", "player", "seat")

    def __init__(
        self,
        player: RunningPlayer,
        link: Link,
        meter: Meter,
        sent_at: float,
        limit: float | None,
        guard: float | None,
        *,
        aside: float = 0.0,
        is_start: bool = False,
    ) -> None:
        self.player, self.seat, self.link, self.meter = player, player.seat, link, meter
        self.limit, self.is_start = limit, is_start
        self._sent_at, self._aside, self._beside = sent_at, aside, 0.0
        self._guard = guard if is_start or meter.kind != WALL else None
        if meter.kind == CPU:
            self.deadline = math.inf if guard is None else sent_at + guard
        else:
            self.deadline = math.inf if limit is None else sent_at - aside + limit

    @property
    def sent_at(self) -> float:
        """The time at which its first byte was sent, by the performance counter."""
        return self._sent_at

    def give_back(self, seconds: float, now: float) -> None:
        """Don't bill these seconds until now, in which other bots worked."""
        seconds = min(seconds, now - self._sent_at - self._beside)
        self._beside += seconds
        self.deadline += seconds

    def note_beside(self, seconds: float) -> None:
        """Note the processor time of other programs since they were started with this one."""
        self._beside = seconds

    def next_look(self, now: float) -> float:
        """Return when to look at the player again at the latest."""
        return min(self.deadline, self.meter.next_look(self._sent_at, now, self.limit))

    def _price(self, now: float, cpu: float, waited: float, kind: Kind) -> float:
        return bill(kind, now - self._sent_at, cpu, waited, self._aside, self._beside)

    def verdict(self, now: float) -> Verdict:
        """Judge a player that hasn't answered by its deadline, and postpone the deadline if it may continue. MatchVoid if a verdict isn't possible."""
        meter, limit = self.meter, self.limit
        wall = now - self._sent_at - (0.0 if self.is_start else self._beside)
        cpu, waited = meter.measure(wall)
        is_ready, is_starved = meter.states()
        seconds = self._price(now, cpu, waited, meter.kind)
        judged = verdict(meter.kind, wall, cpu, seconds, limit, self._guard, has_answered=False, is_ready=is_ready, is_starved=is_starved)
        if judged == VOID:
            raise _too_busy(self.seat, f"for {max(0.0, wall - seconds):.1f} of the {wall:.1f} s in which it was asked")
        if judged == WAIT and limit is not None:
            left = limit - seconds
            postponed = now + (left if left > 0.0 else LOOK)
            self.deadline = postponed if self._guard is None else min(postponed, max(self._sent_at + self._guard, now))
        return judged

    def reply(self, now: float, line: bytes | None, failure: Failure | None, referee_waited: float = 0.0) -> Reply:
        """Return the reply, with the bill and the time by the clock that isn't billed. ``referee_waited`` is the referee's own lateness."""
        meter, limit, kind = self.meter, self.limit, self.meter.kind
        wall = self._price(now, 0.0, 0.0, WALL)
        cpu, waited = meter.finish(wall - self._aside, referee_waited)
        seconds = self._price(now, cpu, waited + referee_waited, kind)
        other = wall if meter.records_wall else cpu
        judged = verdict(kind, wall - self._aside, cpu, seconds, limit, self._guard, has_answered=line is not None)
        if line is not None and judged == LATE:
            line, failure = None, late(self.link)
        is_rescued = line is not None and judged == RESCUED
        if kind == CPU or limit is None:
            return Reply(line, seconds, failure, is_rescued, other)
        if kind == FAIR:
            is_rescued = line is not None and self._price(now, cpu, waited, FAIR) > limit
            if failure is not None and failure.reason in NO_ANSWER:
                seconds = limit
        return Reply(line, min(seconds, limit), failure, is_rescued, other)


def late(link: Link, *, is_guard: bool = False) -> Failure:
    """Return the failure of a player whose time is up; the guard is that of the wall clock, where processor time is billed."""
    detail = {"cause": "time", "guard": True} if is_guard else None
    return Failure("unread" if link.unsent else "unfinished" if link.lines.has_bytes else "silent", detail=detail)


def out_of_time(player: RunningPlayer, link: Link, meter: Meter, limit: float | None) -> Failure:
    """Return the failure of a player that has no time left for a question: its ``limit`` and its guard, if it has one, are used up.

    MatchVoid if a bot has used up the guard of the whole match by the fair clock.
    """
    is_guard = limit is None or limit > 0.0
    if is_guard and meter.kind == FAIR:
        raise _too_busy(player.seat, "for most of the time in which it was asked in this match")
    return late(link, is_guard=is_guard)


def _too_busy(seat: str, when: str) -> MatchVoid:
    """Return the error of a match in which a bot got too little of the processor to be judged; ``when`` ends the clause about it."""
    text = (
        f"{the_seat(seat)} was ready to run and had no processor {when}: the machine is too busy. The match is void and nobody loses. "
        "Run fewer programs beside it."
    )
    return MatchVoid(text, BUSY, (seat,))
