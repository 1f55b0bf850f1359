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


class Stopping:
    """Stops the bots of one match between their turns, unless ``enabled`` is False.

    ``ponderers`` are those that are stopped in every turn of others: all that a freezer holds, and those that
    were found at work out of turn.
    """

    def __init__(self, processes: list[BotProcess], *, enabled: bool) -> None:
        self.enabled = enabled
        self.processes = processes
        self.ponderers = [process for process in processes if process.sandbox.holds] if enabled else []

    def look_for_work(self) -> None:
        """Find bots that work out of turn, and stop them in every turn from now on."""
        if self.enabled:
            self.ponderers += [one for one in self.processes if one not in self.ponderers and one.ponders(CHECK_EVERY)]

    def wait_for_frozen(self, asked: BotProcess) -> float:
        """Wait until all stopped bots stand still. Return the seconds of the asked bot's time that they used until then.

        This is called only if there is no quick answer, because a check before each question would cost too much.
        """
        taken = 0.0
        for other in self.ponderers:
            if other is not asked and other.is_stopped and other.sandbox.is_moving():
                other.sandbox.stand_still()
                taken += max(0.0, other.sandbox.seconds() - other.used_before) if other.sandbox.is_exact else math.inf
        # Going to sleep takes a little time and isn't work.
        return taken if taken > UNBILLED else 0.0

    def stop_others(self, asked: Container[BotProcess | None]) -> None:
        """Stop everybody who isn't asked."""
        if self.enabled:
            for process in self.processes:
                if process not in asked and not process.is_stopped:
                    process.stop()

    def forget(self, process: BotProcess) -> None:
        """Leave a bot alone that was ended: its process number may belong to another process now."""
        for processes in (self.processes, self.ponderers):
            if process in processes:
                processes.remove(process)
