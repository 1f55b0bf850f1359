"""Decides which bots to stop while another one is asked. ``players.io`` says when and why."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from referee.players.process import UNBILLED

if TYPE_CHECKING:
    from collections.abc import Container

    from referee.players.process import BotProcess

#: If a bot used less processor time than this for its last answer, in seconds, the referee doesn't wait for its freeze at once.
LITTLE = 0.0003
#: After this many questions the bots' processor time is compared with their billed time.
CHECK_EVERY = 256
#: Processor time that a bot may use after each answer to go to sleep, in seconds.
GOING_TO_SLEEP = 0.0001
#: The same for a bot that is frozen in every turn of others, whose threads all have to wake up once more for the freeze.
BEING_FROZEN = 0.001


class Stopping:
    """Stops the bots of one match between their turns, unless ``enabled`` is False.

    ``held`` are those that a freezer holds. ``ponderers`` are those that are stopped in every turn of others: bots that were found at work
    out of turn, and held bots whose work out of turn isn't measured.
    """

    def __init__(self, processes: list[BotProcess], *, enabled: bool) -> None:
        self.enabled = enabled
        self.processes = processes
        self.held = [process for process in processes if process.sandbox.holds] if enabled else []
        self.ponderers = [process for process in self.held if not process.sandbox.is_exact]
        self._unchecked = 1
        for process in self.held:
            process.be_held()

    def prepare(self, process: BotProcess) -> float:
        """Stop the ponderers and continue the bot that is asked next. Return the seconds that it owes for work out of turn."""
        self._unchecked -= 1
        if not self._unchecked:
            self._unchecked = CHECK_EVERY
            self.look_for_work()
        if self.ponderers:
            # The others first: the kernel rewrites its own code whenever the last frozen group is thawed or the first one frozen,
            # which takes fifteen times as long as the rest.
            for other in self.ponderers:
                if other is not process and not other.is_stopped:
                    other.stop()
                    if other.last_used > LITTLE:
                        other.sandbox.stand_still()
        if process.is_stopped:
            process.go_on()
        if process.is_watched:
            try:
                aside = process.read_clock() - process.used_before - GOING_TO_SLEEP
            except OSError:
                aside = 0.0
            return self.add_aside(process, aside) if aside > 0.0 or process.aside else 0.0
        return self.worked_until_frozen(process) if self.ponderers and process in self.ponderers else 0.0

    def look_for_work(self) -> None:
        """Find bots that work out of turn, and stop them in every turn from now on."""
        if self.enabled:
            self.ponderers += [one for one in self.processes if one not in self.ponderers and one.ponders(CHECK_EVERY)]

    def add_aside(self, process: BotProcess, seconds: float) -> float:
        """Add a watched bot's work since its last answer to what it has worked out of turn, above ``GOING_TO_SLEEP`` for each question.

        If the sum shows that it works out of turn, stop it in every turn of others from now on, and return the sum, which it owes. Else
        return 0. What it did before its first question doesn't count.
        """
        if not process.add_aside(seconds):
            return 0.0
        self.ponderers.append(process)
        return process.aside

    def worked_until_frozen(self, process: BotProcess) -> float:
        """Return the seconds of processor time, above ``BEING_FROZEN``, that a bot found at work has used since its last answer.

        A freeze reaches a thread when it leaves the kernel. Until then the bot can let the kernel work, for example give it memory.
        """
        return max(0.0, self._used(process) - BEING_FROZEN) if process.sandbox.is_exact else 0.0

    def freeze_others(self, asked: BotProcess, *, is_long: bool) -> float:
        """Freeze the held bots and wait until none of them runs. Return the seconds of the asked bot's time that they used until then.

        Unless ``is_long``, a watched bot that hasn't worked out of turn isn't frozen: freezing and continuing it would cost more time than it
        could use.
        """
        taken = 0.0
        for other in self.held:
            if other is asked or (other.is_stopped and not other.sandbox.is_moving()):
                continue
            if not other.is_stopped:
                if not is_long and other.is_watched and self._used(other) <= UNBILLED:
                    continue
                other.stop()
            other.sandbox.stand_still()
            taken += self._used(other)
        # Going to sleep takes a little time and isn't work.
        return taken if taken > UNBILLED else 0.0

    def used_beside(self, asked: BotProcess) -> float:
        """Return the seconds of the asked bot's time that bots used which aren't frozen."""
        taken = sum(self._used(other) for other in self.held if other is not asked and not other.is_stopped)
        return taken if taken > UNBILLED else 0.0

    def _used(self, process: BotProcess) -> float:
        """The processor time of a bot since its last answer, in seconds; infinite if that isn't measured."""
        return max(0.0, process.sandbox.seconds() - process.used_before) if process.sandbox.is_exact else math.inf

    def stop_others(self, asked: Container[BotProcess | None]) -> None:
        """Stop all bots that aren't asked."""
        if self.enabled:
            for process in self.processes:
                if process not in asked and not process.is_stopped:
                    process.stop()

    def forget(self, process: BotProcess) -> None:
        """Leave an ended bot alone: its process number may belong to another process now."""
        for processes in (self.processes, self.held, self.ponderers):
            if process in processes:
                processes.remove(process)
