"""Decides which bots run while one is asked. A turn is a context manager around a question.

Theory of operation. The referee stops bots between their turns. A stop costs more than a quick answer, because it wakes the bot twice without
need. So a bot is stopped for a short wait only if it worked out of turn before. In a long wait the referee stops all others.

In a sandbox with a freezer, a bot can't undo the stop. In a long wait, the asked bot isn't billed until the freezer has reached all others,
because work inside the kernel goes on until then. After a millisecond of a short wait the referee already freezes those that have worked
meanwhile. If an answer has come when the referee wakes up after more than a millisecond, the asked bot isn't billed for what the others
have worked meanwhile. Before each question it reads how much processor time the bot has used since its last answer. If that is more than a
bot needs to go to sleep, then the bot is billed for it, and from then on it is frozen in every turn of others. It is then billed for what
it works in the kernel before a freeze reaches it. After an answer that took little processor time, the referee waits for that freeze only
if the next bot thinks for longer than a millisecond. So quick steps don't pay for the wait.

Without a freezer a bot can undo the stop, and its processor time isn't exact. Every 256 questions to a bot the referee compares its processor
time with its billed time.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from referee.players.clock import CPU
from referee.players.meter import UNBILLED

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from typing_extensions import Self

    from referee.players.meter import BotMeter

#: If a bot used less processor time than this for its last answer, in seconds, the referee doesn't wait for its freeze at once.
LITTLE = 0.0003
#: After this many questions a bot's processor time is compared with its billed time.
CHECK_EVERY = 256
#: Processor time that a bot may use after each answer to go to sleep, in seconds.
GOING_TO_SLEEP = 0.0001
#: The same for a bot that is frozen in every turn of others, whose threads all have to wake up once more for the freeze.
BEING_FROZEN = 0.001


class BotTurn:
    """The turn of one bot: ``with`` it stops the ponderers and continues the bot. ``aside`` are the seconds that it then owes for work out
    of turn; by the cpu clock none, because processor time includes that.

    ``is_watched``: the bot isn't stopped for short waits while its processor time shows no work out of turn.
    """

    __slots__ = ("_turns", "_unchecked", "_worked_aside", "aside", "is_watched", "meter", "process")

    def __init__(self, turns: Turns, meter: BotMeter) -> None:
        self._turns = turns
        self.meter = meter
        self.process = meter.process
        self.aside = 0.0
        self.is_watched = turns.is_enabled and self.process.holds and self.process.is_exact
        self._unchecked = 1
        #: Its work out of turn since its first question, in seconds.
        self._worked_aside = math.inf

    def __enter__(self) -> Self:
        turns, process = self._turns, self.process
        self._unchecked -= 1
        if not self._unchecked:
            self._unchecked = CHECK_EVERY
            if turns.is_enabled and self not in turns.ponderers and self.meter.ponders(CHECK_EVERY):
                turns.ponderers.append(self)
        self.aside = 0.0
        if turns.ponderers:
            turns.stop_ponderers(self)
        if process.is_stopped:
            process.go_on()
        if self.is_watched:
            aside = self.meter.worked_aside() - GOING_TO_SLEEP
            if aside > 0.0 or self._worked_aside:
                self.aside = self._add_aside(aside)
        elif turns.ponderers and self in turns.ponderers:
            self.aside = self._worked_until_frozen()
        return self

    def __exit__(self, *_: object) -> None:
        """Don't stop the bot for a short wait: that would wake it twice without need."""

    def freeze_workers(self) -> float:
        """After a short wait: freeze the bots that have worked meanwhile. Return the seconds of this turn that they used until then.

        A watched bot that hasn't worked out of turn isn't frozen: freezing and continuing it would cost more time than it could use.
        """
        return self._turns.freeze_others(self, is_long=False)

    def last_long(self) -> float:
        """For a long wait: stop all others, and freeze those that a freezer holds. Return the seconds of this turn that they used until then."""
        seconds = self._turns.freeze_others(self, is_long=True)
        self._turns.stop_others((self,))
        return seconds

    def used_beside(self) -> float:
        """Return the seconds of this turn that bots without a freeze used."""
        return self._turns.used_beside(self)

    def stop_others(self) -> None:
        """Stop all bots that aren't asked."""
        self._turns.stop_others((self,))

    def end(self, turn: BotTurn) -> None:
        """Note that a bot has answered while others still think."""

    def _add_aside(self, seconds: float) -> float:
        """Add its work since its last answer to what it has worked out of turn, above ``GOING_TO_SLEEP`` for each question.

        If the sum shows that it works out of turn, stop it in every turn of others from now on, and return the sum to bill. Otherwise
        return 0. Its work before the first question doesn't count.
        """
        self._worked_aside = 0.0 if math.isinf(self._worked_aside) else max(0.0, self._worked_aside + seconds)
        if self._worked_aside <= UNBILLED:
            return 0.0
        self.is_watched = False
        self._turns.ponderers.append(self)
        return self._billed(self._worked_aside)

    def _billed(self, seconds: float) -> float:
        return 0.0 if self.meter.kind == CPU else seconds

    def _worked_until_frozen(self) -> float:
        """Return the seconds of processor time, above ``BEING_FROZEN``, that a bot found at work has used since its last answer.

        A freeze reaches a thread when it leaves the kernel. Until then the kernel can work for the bot, for example allocate memory.
        """
        return self._billed(max(0.0, self.meter.used_exactly() - BEING_FROZEN)) if self.process.is_exact else 0.0


class SharedTurn:
    """The turn of bots that are asked at once: ``with`` it continues them. A bot that has answered is stopped while others still think."""

    __slots__ = ("_current", "_turns")

    def __init__(self, turns: Turns, current: tuple[BotTurn, ...]) -> None:
        self._turns, self._current = turns, current

    def __enter__(self) -> Self:
        for turn in self._current:
            if turn.process.is_stopped:
                turn.process.go_on()
        return self

    def __exit__(self, *_: object) -> None:
        """Nobody is stopped for a short wait."""

    def stop_others(self) -> None:
        """Stop all bots that aren't asked."""
        self._turns.stop_others(self._current)

    def end(self, turn: BotTurn) -> None:
        """Stop a bot that has answered while others still think."""
        self._current = tuple(other for other in self._current if other is not turn)
        if self._turns.is_enabled:
            turn.process.stop()


class Turns:
    """Stops and continues the bots of a match. Bots are stopped between their turns unless ``is_enabled`` is False.

    ``held`` are those with a freezer. ``ponderers`` are stopped in every turn of others: bots that worked
    out of turn before, and held bots whose work out of turn isn't measured.
    """

    def __init__(self, meters: Mapping[str, BotMeter], *, is_enabled: bool) -> None:
        self.is_enabled = is_enabled
        self._turns = {seat: BotTurn(self, meter) for seat, meter in meters.items()}
        self.held = [turn for turn in self._turns.values() if turn.process.holds] if is_enabled else []
        self.ponderers = [turn for turn in self.held if not turn.process.is_exact]

    def of(self, seat: str) -> BotTurn:
        """Return the turn of a bot."""
        return self._turns[seat]

    def shared(self, seats: Iterable[str]) -> SharedTurn:
        """Return the turn of all bots among some seats that are asked at once."""
        return SharedTurn(self, tuple(self._turns[seat] for seat in seats if seat in self._turns))

    def stop_ponderers(self, current: BotTurn) -> None:
        """Stop the bots that work out of turn, but not the asked one, which is continued afterwards.

        The others come first: the kernel rewrites its own code whenever the last frozen group is thawed or the first one frozen, which
        takes fifteen times as long as the rest.
        """
        for turn in self.ponderers:
            process = turn.process
            if turn is not current and not process.is_stopped:
                process.stop()
                if turn.meter.last_used > LITTLE:
                    process.stand_still()

    def freeze_others(self, current: BotTurn, *, is_long: bool) -> float:
        """Freeze the held bots and wait until none of them runs. Return the seconds of the asked bot's time that they used until then."""
        taken = 0.0
        for turn in self.held:
            process = turn.process
            if turn is current or (process.is_stopped and not process.is_moving()):
                continue
            if not process.is_stopped:
                if not is_long and turn.is_watched and turn.meter.used_exactly() <= UNBILLED:
                    continue
                process.stop()
            process.stand_still()
            taken += turn.meter.used_exactly()
        # Going to sleep takes a little time and isn't work.
        return taken if taken > UNBILLED else 0.0

    def used_beside(self, current: BotTurn) -> float:
        """Return the seconds of the asked bot's time that bots without a freeze used."""
        taken = sum(turn.meter.used_exactly() for turn in self.held if turn is not current and not turn.process.is_stopped)
        return taken if taken > UNBILLED else 0.0

    def stop_others(self, current: tuple[BotTurn, ...]) -> None:
        """Stop all bots that aren't asked."""
        if self.is_enabled:
            for turn in self._turns.values():
                if turn not in current and not turn.process.is_stopped:
                    turn.process.stop()

    def forget(self, seat: str) -> None:
        """Never stop an ended bot: its process number may belong to another process now."""
        turn = self._turns.pop(seat)
        for turns in (self.held, self.ponderers):
            if turn in turns:
                turns.remove(turn)
