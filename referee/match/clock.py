"""A player's clock: the time that it has used and has left. Units are seconds; None means no limit.

Source: the course's game servers give each player a bank of 120 s for a whole game.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referee.match.options import CPU, WALL

if TYPE_CHECKING:
    from referee.match.options import TimeControl


class Clock:
    """The time that one player has left and has used. ``limit`` is that of the next answer: the smaller of move limit and bank.

    ``used`` is measured by the clock that bills, ``other`` by the wall clock, or where that bills by processor time. ``guard`` is the limit
    of the next answer by the wall clock, None where that bills.
    """

    __slots__ = ("_guards", "asked", "bank", "control", "guard", "limit", "longest", "other", "used")

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self._guards = control.guard
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
        guard = self._guards
        if guard is None:
            return None
        guards = [] if self.control.move is None else [guard.of_limit(self.limit or 0.0)]
        if self.control.bank is not None:
            guards.append(guard.of_bank(self.control.bank + self.control.increment * self.asked) - self.other)
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
            return f"the wall-clock guard of {guard:.3g} s ({self.control.guard}), though its limit is by processor time"
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
        wall, cpu = (self.used, self.other) if self.control.kind == WALL else (self.other, self.used if self.control.kind == CPU else None)
        return {
            "used_seconds": round(self.used, 6),
            "wall_seconds": round(wall, 6),
            "cpu_seconds": None if cpu is None else round(cpu, 6),
            "answers": self.asked,
            "mean_seconds": round(mean, 6),
            "longest_seconds": round(self.longest, 6),
            "bank_left_seconds": None if self.bank is None else round(self.bank, 6),
        }


class PatientClock(Clock):
    """A clock that bills and shows what is left, but waits for an answer as long as ``patience`` says, by default for ever.

    ``who_waits`` ends the words for that limit, such as "that a check waits". ``asked`` answers came before.
    """

    __slots__ = ("patience", "who_waits")

    def __init__(self, control: TimeControl, patience: float | None = None, who_waits: str = "", asked: int = 0) -> None:
        super().__init__(control)
        self.limit = self.patience = patience
        self.guard, self.who_waits, self.asked = None, who_waits, asked

    def spend(self, seconds: float, other: float = 0.0) -> None:
        """Bill an answer."""
        super().spend(seconds, other)
        self.limit, self.guard = self.patience, None

    def limit_name(self, *, is_guard: bool = False) -> str:
        """Return the limit as words for a message."""
        return super().limit_name(is_guard=is_guard) if self.patience is None else f"the {self.patience:g} s {self.who_waits}"
