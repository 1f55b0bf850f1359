"""The people of one match: connections, questions, wishes, chosen moves, pace and pause.

This module does no input or output and has no clock: the caller passes times in seconds, so that everything can be tested. ``due``
returns the data to send: answers to the match, and farewells.

A *wish* is a move that the rules may refuse. It waits here until they allow it, so a match never gets one that they refuse.

Pace and pause hold for all people. The pace is the host's; everybody who plays may pause and continue.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from referee.wire import encode

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from referee.games.game import Json, Seat

#: Seconds that a person has to return after closing the window.
PATIENCE = 60.0
#: Seconds between the last person's "ready" and the first step of a match whose steps don't wait for people.
COUNTDOWN = 3.0
#: Seconds for which a wish may be too early: an older one is not played. At a pace, this is counted in steps where the steps are slow.
WISH_SECONDS = 0.5
#: The shortest time between two questions to the rules about the wishes of a seat, in seconds.
_RETRY_SECONDS = 0.02
#: Reasons for a person's departure, for messages.
GAVE_UP = "gave up"
LEFT = f"closed the window and did not come back within {PATIENCE:g} s"


class HumanMove(NamedTuple):
    """A line for the match from a seat. ``turn`` is None if it answers the start message.

    ``move_id`` is the page's number for the last move that it had sent by then; None if it had sent none.
    """

    seat: Seat
    line: bytes
    turn: int | None = None
    move_id: int | None = None


class Farewell(NamedTuple):
    """A seat leaves the match, with the reason as the middle of a sentence."""

    seat: Seat
    reason: str


class JudgedWish(NamedTuple):
    """What the page of a seat is told about its wish with the number ``wish_id``.

    It is "chosen" as the move of ``turn``; or "waits" for a later turn, because the rules refuse it in this one, as ``why`` says; or is
    "late": made too long before ``turn``, so it is dropped. ``first_turn`` is the first turn whose question came after it or was open then.
    """

    seat: Seat
    wish_id: int
    move: Json
    first_turn: int
    turn: int
    status: str
    why: str

    def to_json(self) -> dict[str, Json]:
        """The message to the page."""
        return {"type": "wish", "id": self.wish_id, **{key: getattr(self, key) for key in self._fields[2:]}}


#: What a session sends.
Action = HumanMove | Farewell | JudgedWish


@dataclass
class _Wish:
    """``combined`` takes the place of ``move`` while the seat's move is the one with the number ``after``, to which it adds something."""

    number: int
    move: Json
    made_at: float
    made_in: int
    after: Json
    combined: Json
    first_turn: int | None = None
    judged_turn: int | None = None
    why: str = ""


class _Person:
    def __init__(self) -> None:
        self.is_here = False
        self.is_greeted = False
        self.is_ready = False
        self.has_answered_start = False
        self.has_left = False
        self.why_left = ""
        self.name = ""
        self.away_since: float | None = None
        self.asked: dict[str, Json] | None = None
        self.asked_at = 0.0
        self.wish: _Wish | None = None
        #: When the rules were asked about a wish last, and when they are asked again; None if they needn't be.
        self.judged_at = -math.inf
        self.retry_at: float | None = None
        self.due: float | None = None
        self.pending_move: Json = None
        self.move_id: int | None = None
        self.last: tuple[int, float] | None = None

    def choose(self, message: dict[str, Json], now: float, turn: int) -> None:
        """Take a move, or a wish for one, in the match's turn."""
        move, number = message.get("move"), message.get("id")
        if not isinstance(move, dict):
            return
        if message["type"] == "wish":
            if isinstance(number, int):
                self.wish = _Wish(number, move, now, turn, message.get("after"), message.get("combined"))
            return
        self.pending_move, self.move_id = move, number if isinstance(number, int) else None


class HumanSession:
    """The people of one match. ``pace`` is in steps a second; None waits for every move. ``is_timed``: they have clocks as bots do.

    In the first ``set_up`` turns the match always waits for every move. ``countdown`` is in seconds. It comes before the match, because a
    step may need no answer of a person, and clocks run from the first question on. After a set-up it comes with the first question that
    follows a pace.

    ``refusal`` returns why the rules refuse a seat's move in the turn that is asked: "" if they don't, None while they don't know its
    position. By default they refuse nothing.
    """

    def __init__(
        self,
        seats: Iterable[Seat],
        pace: float | None,
        *,
        is_timed: bool = False,
        set_up: int = 0,
        countdown: float = 0.0,
        refusal: Callable[[Seat, int, Json], str | None] = lambda _seat, _turn, _move: "",
    ) -> None:
        self.pace = None if is_timed else pace
        self._set_up = set_up
        self.is_paused = False
        self.is_timed = is_timed
        self._countdown = countdown
        #: The last turn in which anybody was asked.
        self._turn = 0
        self._refusal = refusal
        #: Whether the countdown comes before the match.
        self._holds_start = is_timed or (pace is not None and not set_up and countdown > 0)
        #: The end of the countdown; None before it begins.
        self._starts_at: float | None = None
        self.people = {seat: _Person() for seat in seats}

    def greeted(self, seat: Seat) -> None:
        """The match has sent ``start``."""
        self.people[seat].is_greeted = True

    def ask(self, seat: Seat, question: dict[str, Json], now: float) -> None:
        """The match asks for a move."""
        person = self.people[seat]
        person.asked, person.asked_at = question, now
        self._turn = turn = question["turn"]
        if self._starts_at is None and self.pace is not None and turn >= self._set_up:
            self._starts_at = now + self._countdown
        person.due = self._due(person, turn, now)

    def _due(self, person: _Person, turn: int, now: float) -> float | None:
        """Return when a question is answered with the move chosen by then; None: not before a move is chosen."""
        if self.pace is None or turn < self._set_up:
            return None
        starts_at = now if self._starts_at is None else self._starts_at
        if person.last is None or now < starts_at:
            return max(now, starts_at) + 1 / self.pace
        steps = turn - person.last[0]
        return max(now, person.last[1] + steps / self.pace)

    def arrive(self, seat: Seat) -> None:
        """The seat's page is open."""
        person = self.people[seat]
        person.is_here, person.away_since = True, None

    def depart(self, seat: Seat, now: float) -> None:
        """The seat's page is closed."""
        person = self.people[seat]
        person.is_here, person.away_since = False, now

    def take(self, seat: Seat, message: dict[str, Json], now: float) -> list[Action]:
        """Handle a page's message and return its immediate effects. Invalid messages are ignored."""
        person = self.people[seat]
        kind = message.get("type")
        if kind == "ready" and person.is_greeted and not person.is_ready:
            name = message.get("name")
            person.name = " ".join(name.split())[:40] if isinstance(name, str) else ""
            person.is_ready = True
            self._settle(now)
            return self.due(now)
        if kind in ("move", "wish"):
            # Between two questions the next turn has begun.
            person.choose(message, now, self._turn + all(other.asked is None for other in self.people.values()))
        elif kind == "resign":
            farewells = self._leave(seat, GAVE_UP)
            self._settle(now)
            return [*farewells, *self.due(now)]
        elif kind == "pause" and isinstance(message.get("paused"), bool) and not person.has_left:
            self._pause(now, is_paused=message["paused"])
        return self.due(now)

    def gone(self, seat: Seat, now: float) -> None:
        """Remove a seat that the match has ended: it isn't asked any more."""
        self.people[seat].has_left = True
        self._settle(now)

    def _settle(self, now: float) -> None:
        """Begin the countdown when all people who are still in the match are ready."""
        if self._holds_start and self._starts_at is None and all(person.is_ready for person in self.people.values() if not person.has_left):
            self._starts_at = now + self._countdown

    def _pause(self, now: float, *, is_paused: bool) -> None:
        if self.is_timed or is_paused == self.is_paused:
            return
        self.is_paused = is_paused
        for person in self.people.values():
            person.last = None
            if person.asked is not None:
                person.due = self._due(person, person.asked["turn"], now)

    def due(self, now: float) -> list[Action]:
        """Return what must be sent now."""
        actions: list[Action] = []
        for seat, person in self.people.items():
            if person.has_left:
                continue
            actions += self._judge(seat, now)
            if person.is_ready and not person.has_answered_start and (not self._holds_start or now >= self._start_time()):
                person.has_answered_start = True
                actions.append(HumanMove(seat, encode.ready(person.name)))
            if person.away_since is not None and person.is_ready and now >= person.away_since + PATIENCE:
                actions += self._leave(seat, LEFT)
                self._settle(now)
            elif person.asked is not None and person.is_here and not self.is_paused and person.retry_at is None:
                is_late = person.due is not None and now >= person.due
                if is_late or (person.due is None and person.pending_move is not None):
                    actions.append(self._answer(seat, now))
        return actions

    def _judge(self, seat: Seat, now: float) -> list[JudgedWish]:
        """Let the rules judge a seat's wish for the turn that is asked. No answer is given while they don't know the position."""
        person = self.people[seat]
        person.retry_at = None
        wish = person.wish
        if wish is None or person.asked is None or wish.judged_turn == person.asked["turn"]:
            return []
        if now < person.judged_at + _RETRY_SECONDS:
            person.retry_at = person.judged_at + _RETRY_SECONDS
            return []
        person.judged_at = now
        turn = person.asked["turn"]
        wish.first_turn = turn if wish.first_turn is None else wish.first_turn
        is_addition = person.pending_move is not None and wish.after == person.move_id and isinstance(wish.combined, dict)
        move = wish.combined if is_addition else wish.move
        status, why = "late", wish.why
        # A slow machine makes no wish old: what counts is how early it came, in steps.
        if person.asked_at - wish.made_at <= WISH_SECONDS or turn - wish.made_in <= WISH_SECONDS * (self.pace or 0):
            judged = self._refusal(seat, turn, move)
            if judged is None:
                person.retry_at = now + _RETRY_SECONDS
                return []
            status, why = "waits" if judged else "chosen", judged
            wish.judged_turn, wish.why = turn, judged
        if status == "chosen":
            person.pending_move, person.move_id = move, wish.number
        if status != "waits":
            person.wish = None
        return [JudgedWish(seat, wish.number, move, wish.first_turn, turn, status, why)]

    def _start_time(self) -> float:
        return math.inf if self._starts_at is None else self._starts_at

    def _answer(self, seat: Seat, now: float) -> HumanMove:
        person = self.people[seat]
        assert person.asked is not None
        turn = person.asked["turn"]
        move = person.pending_move if person.pending_move is not None else {}
        # Count from the due time and not from now. Otherwise every step would be a little late.
        person.last = (turn, now if person.due is None else max(person.due, now - 0.1))
        person.asked = person.pending_move = person.due = None
        return HumanMove(seat, encode.move(turn, move), turn, person.move_id)

    def _leave(self, seat: Seat, reason: str) -> list[Action]:
        if self.people[seat].has_left:
            return []
        self.people[seat].has_left = True
        self.people[seat].why_left = reason
        return [Farewell(seat, reason)]

    def next_due(self) -> float | None:
        """Return the time of the next event; None if there is none."""
        times = []
        for person in self.people.values():
            if person.has_left:
                continue
            if person.away_since is not None and person.is_ready:
                times.append(person.away_since + PATIENCE)
            if self._starts_at is not None and person.is_ready and not person.has_answered_start:
                times.append(self._starts_at)
            if person.retry_at is not None:
                times.append(person.retry_at)
            elif person.asked is not None and person.is_here and not self.is_paused and person.due is not None:
                times.append(person.due)
        return min(times, default=None)

    def to_json(self, now: float) -> dict[str, Json]:
        """The session as its pages show it."""
        seats = {
            seat: {
                "is_greeted": person.is_greeted,
                "is_ready": person.is_ready,
                "name": person.name,
                "away_seconds": None if person.away_since is None or not person.is_ready else max(0.0, person.away_since + PATIENCE - now),
            }
            for seat, person in self.people.items()
            if not person.has_left
        }
        counts = self._starts_at is not None and now < self._starts_at and (self.is_timed or self.pace is not None)
        starts_in = self._start_time() - now if counts else None
        left = {seat: person.why_left for seat, person in self.people.items() if person.why_left}
        return {"type": "session", "paused": self.is_paused, "pace": self.pace, "starts_in": starts_in, "seats": seats, "left": left}
