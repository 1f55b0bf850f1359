"""Time controls, the clock of a player, and the two pure functions that price and judge an answer. Nothing here reads a clock.

Units are seconds; None means no limit. Source: the course's game servers give each player a bank of 120 s for a whole game.

Theory of operation. ``bill`` prices an answer from measurements: its wall time, the processor time of the bot's whole tree, the time in
which the bot or the referee was ready to run and got no processor, the bot's work between two questions, and the work of other bots while it
was asked. The wall clock bills wall time, the cpu clock processor time. The fair clock bills wall time without waits for a processor, but at
least the processor time, so computing is never cheaper. A bot can only gain sleep, by a helper task that waits while it sleeps.

``verdict`` judges one moment of a question. A wait that still lasts isn't counted yet, so while a task of the bot is ready to run, only
processor time makes it late by the fair clock. Where the wall clock doesn't bill, a guard by it ends the wait. At the fair clock's guard the
match is void if the machine explains the wait.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, NamedTuple

from pydantic import BeforeValidator

from referee.errors import UsageError
from referee.isolation.limits import most_cpu_seconds
from referee.replay.events import TimeUsed
from referee.support import delays
from referee.support.sections import Section, option
from referee.wire.constants import CPU as CPU  # noqa: PLC0414 - one of the kinds

if TYPE_CHECKING:
    from referee.games.game import Json

Kind = Literal["wall", "cpu", "fair"]
BilledTime = Literal["auto", "fair", "cpu", "wall"]
WALL: Final = "wall"
FAIR: Final = "fair"
#: The best clock of this machine, which ``TimeControl.settled`` chooses.
AUTO: Final = "auto"

#: The verdict on a question. RESCUED: in time, because lateness of the referee isn't billed. GUARDED: late only by the guard.
Verdict = Literal["in time", "rescued", "wait", "late", "guarded", "void"]
IN_TIME: Final = "in time"
RESCUED: Final = "rescued"
WAIT: Final = "wait"
LATE: Final = "late"
GUARDED: Final = "guarded"
VOID: Final = "void"


def bill(kind: Kind, wall: float, cpu: float, waited: float = 0.0, aside: float = 0.0, beside: float = 0.0) -> float:
    """Return the bill for an answer, in seconds.

    ``wall`` is the time from the first byte of the question to the reading of the whole answer, ``cpu`` the bot's processor time in it,
    ``waited`` the time in which the bot or the referee was ready to run and got no processor. ``aside`` is the bot's work between its last
    answer and this question. ``beside`` is the part of the wall time that other bots used.
    """
    if kind == CPU:
        return aside + cpu
    wall = wall - beside if wall > beside else 0.0
    if kind == FAIR:
        wall = min(wall, max(cpu, wall - waited))
    return aside + wall


def verdict(
    kind: Kind,
    wall: float,
    cpu: float,
    seconds: float,
    limit: float | None,
    guard: float | None,
    *,
    has_answered: bool,
    is_ready: bool = False,
    is_starved: bool = False,
) -> Verdict:
    """Judge a question at one moment: ``seconds`` is its bill so far, ``limit`` that of the bill, ``guard`` that of the wall time.

    ``is_ready``: a task of the bot runs or is ready to run, so a part of its wait may not be counted yet. ``is_starved``: such a task
    hasn't run since the last look.
    """
    if has_answered:
        if limit is not None and seconds > limit:
            return RESCUED if kind == WALL else LATE
        return RESCUED if kind == CPU and guard is not None and wall > guard else IN_TIME
    is_over = limit is not None and (cpu if kind == FAIR else seconds) >= limit
    if is_over:
        return LATE
    if guard is not None and wall >= guard:
        if kind == FAIR:
            return VOID if is_starved or seconds < wall / 2 else LATE
        return GUARDED if kind == CPU else LATE
    return LATE if limit is not None and seconds >= limit and not is_ready else WAIT


_MOST_SECONDS = 1_000_000
NO_FAIR_CLOCK = (
    "The fair clock needs a kernel that counts how long a program waits for a processor (Linux with CONFIG_SCHED_INFO), which this machine lacks. "
    "Write --clock cpu or --clock wall, or clock in a file."
)
#: A limit in seconds. Users write "none" for no limit.
_Limit = Annotated[float | None, BeforeValidator(lambda value: None if value == "none" else value)]


class TimeLimits(Section):
    """The limits of a player, in seconds; None means no limit."""

    startup: _Limit = option(
        10.0, "Until a bot is ready, outside the bank.", unit="seconds", flag="--startup", gt=0, le=_MOST_SECONDS, allow_inf_nan=False
    )
    move: _Limit = option(1.0, "The limit for one answer.", unit="seconds", flag="--move-time", gt=0, le=_MOST_SECONDS, allow_inf_nan=False)
    bank: _Limit = option(
        120.0, "For all answers of a game together.", unit="seconds", flag="--bank", gt=0, le=_MOST_SECONDS, allow_inf_nan=False
    )
    increment: float = option(
        0.0, "Added to the bank after each answer.", unit="seconds", flag="--increment", ge=0, le=_MOST_SECONDS, allow_inf_nan=False
    )


class Guard(NamedTuple):
    """The limits by the wall clock where another clock bills: ``times`` the limit and ``more`` seconds for one answer, and for all answers
    ``bank_times`` the bank and ``bank_more`` seconds.
    """

    times: float
    more: float
    bank_times: float
    bank_more: float

    def of_limit(self, limit: float) -> float:
        """Return the guard of one answer, in seconds."""
        return self.times * limit + self.more

    def of_bank(self, bank: float) -> float:
        """Return the guard of all answers, in seconds."""
        return self.bank_times * bank + self.bank_more


_GUARDS = {CPU: Guard(5.0, 1.0, 3.0, 0.0), FAIR: Guard(20.0, 5.0, 10.0, 60.0)}


class TimeControl(TimeLimits):
    """The limits of a player and the time that is billed: "fair", "cpu", the processor time of all processes of a bot, or "wall"."""

    kind: BilledTime = option(
        AUTO,
        "What the clock bills; fair: wall time without waits for a processor; cpu: processor time of all the bot's processes.",
        flag="--clock",
    )

    def to_json(self) -> dict[str, Any]:
        """The control as the ``start`` message shows it."""
        kind = self.settled(is_strict=False).kind if self.kind == AUTO else self.kind
        return {"kind": kind, "startup": self.startup, "move": self.move, "bank": self.bank, "increment": self.increment}

    @property
    def guard(self) -> Guard | None:
        """The limits by the wall clock, None where it bills."""
        return _GUARDS.get(self.kind)

    @property
    def cpu_seconds(self) -> int | None:
        """A kernel limit on a bot's processor time, in seconds, above all that the clock allows; None if the clock has no limit."""
        if self.startup is None or self.bank is None or self.increment:
            return None
        return most_cpu_seconds(self.startup + self.bank)

    def startup_guard(self) -> float | None:
        """Return the wall-clock limit of the start-up, in seconds. Where the wall clock bills, other bots that work postpone the end up to it."""
        return None if self.startup is None else (self.guard or _GUARDS[CPU]).of_limit(self.startup)

    def settled(self, *, is_strict: bool) -> TimeControl:
        """Return the control with the clock of this machine: the fair one if the kernel counts waits, else processor time in strict matches
        and wall time in others. UsageError if the fair clock is requested but not available.
        """
        if self.kind == FAIR and not delays.is_counted():
            raise UsageError(NO_FAIR_CLOCK)
        if self.kind != AUTO:
            return self
        return self.replace(kind=FAIR if delays.is_counted() else CPU if is_strict else WALL)


class LongWait(NamedTuple):
    """The time that the referee waits for an answer in place of the clock's limits, in seconds; None: forever.

    ``reason`` follows the limit in the sentence of a late answer: "that a check waits", for instance.
    """

    seconds: float | None = None
    reason: str = ""


class Clock:
    """The time that one player has left and has used. ``limit`` is that of the next answer: the smaller of move limit and bank.

    ``used`` is measured by the clock that bills, ``other`` by the wall clock or, where that bills, by processor time. ``guard`` is the limit
    of the next answer by the wall clock, None where that bills. With ``wait`` the clock bills and shows what is left, but ``wait`` limits the
    answers. ``bank`` is what is left and ``answers`` the number of answers so far, by default those at the beginning of a match.
    """

    __slots__ = ("_guards", "_wait", "answers", "bank", "control", "guard", "limit", "longest", "other", "used")

    def __init__(self, control: TimeControl, *, wait: LongWait | None = None, bank: float | None = None, answers: int = 0) -> None:
        self.control = control
        self._guards = control.guard if wait is None else None
        self._wait = wait
        self.bank = control.bank if bank is None else bank
        self.used = self.other = 0.0
        self.longest = 0.0
        self.answers = answers
        self.limit = self.match_limit if wait is None else wait.seconds
        self.guard = self._guard()

    @property
    def match_limit(self) -> float | None:
        """The limit of the next answer in a match."""
        move, bank = self.control.move, self.bank
        if move is None or bank is None:
            return bank if move is None else move
        return move if move < bank else bank

    def _guard(self) -> float | None:
        guard = self._guards
        if guard is None:
            return None
        guards = [] if self.control.move is None else [guard.of_limit(self.limit or 0.0)]
        if self.control.bank is not None:
            guards.append(guard.of_bank(self.control.bank + self.control.increment * self.answers) - self.other)
        return min(guards, default=None)

    def spend(self, seconds: float, other: float = 0.0) -> None:
        """Bill an answer; ``other`` is its time by the clock that isn't billed. Units are seconds."""
        self.used += seconds
        self.other += other
        self.answers += 1
        if seconds > self.longest:
            self.longest = seconds
        if self.bank is not None:
            bank = self.bank - seconds
            self.bank = bank = (bank if bank > 0.0 else 0.0) + self.control.increment
            if self._wait is None:
                move = self.control.move
                self.limit = bank if move is None or bank < move else move
        if self.guard is not None:
            self.guard = self._guard()

    def limit_values(self, *, is_guard: bool = False) -> dict[str, Json]:
        """Return the limit that ends the next answer, as a value of a fault (``replay.faults``); with ``is_guard`` the wall-clock guard."""
        move, bank = self.control.move, self.bank
        if self._wait is not None and self._wait.seconds is not None:
            return {"name": "wait", "seconds": self._wait.seconds, "why": self._wait.reason}
        if is_guard:
            return {"name": "guard", "seconds": max(0.0, self.guard or 0.0), "rule": list(self.control.guard or ())}
        if move is not None and (bank is None or move <= bank):
            return {"name": "move", "seconds": move, "clock": self.control.kind}
        return {"name": "bank", "seconds": self.control.bank, "clock": self.control.kind}

    def time(self) -> TimeUsed:
        """Return the time used so far."""
        wall, cpu = (self.used, self.other) if self.control.kind == WALL else (self.other, self.used if self.control.kind == CPU else None)
        return TimeUsed(self.used, wall, cpu, self.answers, self.longest, self.bank)
