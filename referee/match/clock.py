"""Time controls: a player's limits and the time that it has left. Units are seconds; None means no limit.

Source: the course's game servers give each player a bank of 120 s for a whole game.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from referee.games.game import SettingsError
from referee.support.compiling import mypyc_attr

WALL, CPU = "wall", "cpu"
KINDS = (WALL, CPU)

#: The wall-clock guard: ``GUARD_MOVE`` times the move limit plus ``GUARD_MORE`` seconds, and ``GUARD_BANK`` times the bank.
GUARD_MOVE, GUARD_MORE, GUARD_BANK = 5.0, 1.0, 3.0


class TimeControl(NamedTuple):
    """The limits of one match: ``startup`` until a bot is ready (outside the bank), one ``move``, the ``bank`` for the whole game.

    ``increment`` is added to the bank after every answer. ``kind`` is the time that is billed: "wall", or "cpu", the processor time of
    all processes of a bot. With "cpu", a wall-clock guard catches a bot that sleeps: five times the limit plus one second for a move, and
    three times the bank for a match.
    """

    startup: float | None = 10.0
    move: float | None = 1.0
    bank: float | None = 120.0
    increment: float = 0.0
    kind: str = WALL

    def to_json(self) -> dict[str, Any]:
        """The control as the ``start`` message shows it."""
        limits = self._asdict()
        return {"kind": limits.pop("kind"), **limits}

    def startup_guard(self) -> float | None:
        """Return the wall-clock limit of the start-up when processor time is billed, in seconds."""
        return None if self.startup is None else GUARD_MOVE * self.startup + GUARD_MORE

    def checked(self) -> TimeControl:
        """Return itself if every limit is valid; else SettingsError names the invalid one."""
        # They come from users: their types are checked here, and not by a compiler.
        given: dict[str, Any] = self._asdict()
        for name in ("startup", "move", "bank"):
            value = given[name]
            if value is not None and not (_is_number(value) and 0 < value <= 1e6):
                raise SettingsError(
                    f"the {name} time is {value!r:.40}, but must be above 0 and at most 1,000,000 seconds, or none for no limit."
                )
        kind, increment = given["kind"], given["increment"]
        if kind not in KINDS:
            raise SettingsError(f"the clock is {kind!r:.20}, but must be {' or '.join(KINDS)}.")
        if not (_is_number(increment) and 0 <= increment <= 1e6):
            raise SettingsError(f"the increment is {increment!r:.40}, but must be from 0 to 1,000,000 seconds.")
        return self


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)


@mypyc_attr(allow_interpreted_subclasses=True)
class Clock:
    """The time that one player has left and has used. ``limit`` is that of the next answer: the smaller of move limit and bank.

    ``used`` is measured by the clock that bills, ``other`` by the other one. When processor time is billed, ``guard`` is the wall-clock
    limit of the next answer; else it is None.
    """

    __slots__ = ("asked", "bank", "control", "guard", "limit", "longest", "other", "used")

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self.bank = control.bank
        self.used = self.other = 0.0
        self.longest = 0.0
        self.asked = 0
        self.limit = self._limit()
        self.guard = self._guard()

    def _limit(self) -> float | None:
        move, bank = self.control.move, self.bank
        if move is None or bank is None:
            return bank if move is None else move
        return move if move < bank else bank

    def _guard(self) -> float | None:
        if self.control.kind != CPU:
            return None
        guards = [] if self.control.move is None else [GUARD_MOVE * (self.limit or 0.0) + GUARD_MORE]
        if self.control.bank is not None:
            guards.append(GUARD_BANK * (self.control.bank + self.control.increment * self.asked) - self.other)
        return min(guards, default=None)

    def spend(self, seconds: float, other: float = 0.0) -> None:
        """Bill an answer; ``other`` is its time by the clock that isn't billed. Units are seconds."""
        self.used += seconds
        self.other += other
        self.asked += 1
        if seconds > self.longest:
            self.longest = seconds
        if self.bank is not None:
            bank = self.bank - seconds
            self.bank = bank = (bank if bank > 0.0 else 0.0) + self.control.increment
            move = self.control.move
            self.limit = bank if move is None or bank < move else move
        if self.guard is not None:
            self.guard = self._guard()

    def limit_name(self, *, is_guard: bool = False) -> str:
        """Return the limit that ends the next answer, as words for a message; with ``is_guard`` the wall-clock guard."""
        if is_guard:
            guard = max(0.0, self.guard or 0.0)
            return f"the wall-clock guard of {guard:.3g} s ({GUARD_MOVE:g} times the move limit and {GUARD_MORE:g} s more, or the rest of {GUARD_BANK:g} times the bank), though its limit is by processor time"
        if self.control.kind == CPU:
            return self._plain_name() + " of processor time"
        return self._plain_name()

    def _plain_name(self) -> str:
        move, bank = self.control.move, self.bank
        if move is not None and (bank is None or move <= bank):
            return f"the move limit of {move:g} s"
        return f"what was left of its bank of {self.control.bank:g} s"

    def to_json(self) -> dict[str, Any]:
        """Return the time used, for the result."""
        mean = self.used / self.asked if self.asked else 0.0
        wall, cpu = (self.other, self.used) if self.control.kind == CPU else (self.used, self.other)
        return {
            "used_seconds": round(self.used, 6),
            "wall_seconds": round(wall, 6),
            "cpu_seconds": round(cpu, 6),
            "answers": self.asked,
            "mean_seconds": round(mean, 6),
            "longest_seconds": round(self.longest, 6),
            "bank_left_seconds": None if self.bank is None else round(self.bank, 6),
        }


class PatientClock(Clock):
    """A clock that bills and shows what is left, but limits no answer."""

    __slots__ = ()

    def __init__(self, control: TimeControl) -> None:
        super().__init__(control)
        self.limit = self.guard = None

    def spend(self, seconds: float, other: float = 0.0) -> None:
        """Bill an answer."""
        super().spend(seconds, other)
        self.limit = self.guard = None
