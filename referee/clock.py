"""Time controls: what a player may use, and what it has left. Units are seconds; None is no limit.

Source: the course's game servers give each player a bank of 120 s for a whole game.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from referee.game import SettingsError


class TimeControl(NamedTuple):
    """The limits of one match: ``startup`` until a bot is ready (outside the bank), one ``move``, the ``bank`` for the whole game.

    ``increment`` is added to the bank after every answer.
    """

    startup: float | None = 10.0
    move: float | None = 1.0
    bank: float | None = 120.0
    increment: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """The control as the ``start`` message shows it. Time is measured by the wall clock."""
        return {"kind": "wall", **self._asdict()}

    def checked(self) -> TimeControl:
        """Itself, if every limit makes sense; else SettingsError names the one that doesn't."""
        for name in ("startup", "move", "bank"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and 0 < value <= 1e6):
                raise SettingsError(f"the {name} time is {value}, but must be above 0 and at most 1,000,000 seconds, or none for no limit.")
        if not (math.isfinite(self.increment) and 0 <= self.increment <= 1e6):
            raise SettingsError(f"the increment is {self.increment}, but must be from 0 to 1,000,000 seconds.")
        return self


class Clock:
    """What one player has left and has used. ``limit`` is for the next answer: the lesser of the move limit and the bank."""

    __slots__ = ("asked", "bank", "control", "limit", "longest", "used")

    def __init__(self, control: TimeControl) -> None:
        self.control = control
        self.bank = control.bank
        self.used = 0.0
        self.longest = 0.0
        self.asked = 0
        self.limit = self._limit()

    def _limit(self) -> float | None:
        move, bank = self.control.move, self.bank
        if move is None or bank is None:
            return bank if move is None else move
        return move if move < bank else bank

    def spend(self, seconds: float) -> None:
        """Bill an answer."""
        self.used += seconds
        self.asked += 1
        if seconds > self.longest:
            self.longest = seconds
        if self.bank is not None:
            bank = self.bank - seconds
            self.bank = bank = (bank if bank > 0.0 else 0.0) + self.control.increment
            move = self.control.move
            self.limit = bank if move is None or bank < move else move

    def limit_name(self) -> str:
        """Which limit the next answer would meet first, for a sentence."""
        move, bank = self.control.move, self.bank
        if move is not None and (bank is None or move <= bank):
            return f"the move limit of {move:g} s"
        return f"what was left of its bank of {self.control.bank:g} s"

    def to_json(self) -> dict[str, Any]:
        """Time used, for the result."""
        mean = self.used / self.asked if self.asked else 0.0
        return {
            "used_seconds": round(self.used, 6),
            "answers": self.asked,
            "mean_seconds": round(mean, 6),
            "longest_seconds": round(self.longest, 6),
            "bank_left_seconds": None if self.bank is None else round(self.bank, 6),
        }
