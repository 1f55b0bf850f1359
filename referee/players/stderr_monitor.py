"""Watches what happens besides answers: every player's stderr, the supervisor, and how players end."""

from __future__ import annotations

import math
import os
import select
from time import perf_counter
from typing import TYPE_CHECKING

from referee.errors import MatchVoid
from referee.isolation.supervision import PATIENCE
from referee.players.faults import CRASHED, Fault
from referee.players.process import SUPERVISOR_KILLED

if TYPE_CHECKING:
    from collections.abc import Container, Iterable

    from referee.players.process import BotProcesses, ProcessPlayer

#: How long to wait for the exit status of a bot that has closed its stdout, in seconds.
_PARTING = 0.5


class StderrMonitor:
    """Watches the players of one match beside their answers; ``players`` are those that are still in it.

    ``has_logged`` is set whenever a player's stderr was read.
    """

    def __init__(self, bots: BotProcesses) -> None:
        self.players = list(bots.players.values())
        self.has_logged = False
        self._bots = bots
        self._by_stderr = {player.stderr: player for player in self.players if player.stderr >= 0}
        self._pollers: list[select.poll] = []
        self._passing: select.poll | None = None

    def poller(self, seats: Iterable[str], *, is_passing: bool = False) -> select.poll:
        """Return a poll for the stdout of some seats, every player's stderr and the supervisor. With ``is_passing`` it is valid until the
        next such call.
        """
        poller = select.poll()
        for seat in seats:
            poller.register(self._bots.players[seat].stdout, select.POLLIN)
        # Include players that have failed: their remaining stderr is read to its end.
        for fd in self._by_stderr:
            poller.register(fd, select.POLLIN)
        if self._bots.status_fd >= 0 and not self._bots.is_lost:
            poller.register(self._bots.status_fd, select.POLLIN)
        if is_passing:
            self._passing = poller
        else:
            self._pollers.append(poller)
        return poller

    def people_beside(self, pending: Container[str]) -> list[ProcessPlayer]:
        """Return the people who aren't asked now but may leave."""
        return [
            player
            for player in self.players
            if not player.is_process and player.seat not in pending and not player.has_left and not player.lines.is_full
        ]

    def drain(self) -> None:
        """Read every player's stderr once, without waiting."""
        self.has_logged = True
        for fd, player in list(self._by_stderr.items()):
            if not player.drain_stderr():
                self._close(fd, player)

    def read(self, ready: set[int]) -> None:
        """Read the stderr of the players whose descriptors are ready."""
        for fd in ready & self._by_stderr.keys():
            self.has_logged = True
            player = self._by_stderr[fd]
            if not player.drain_stderr():
                self._close(fd, player)

    def _close(self, fd: int, player: ProcessPlayer) -> None:
        for poller in self._pollers:
            poller.unregister(fd)
        if self._passing is not None:
            self._passing.unregister(fd)
        del self._by_stderr[fd]
        os.close(fd)
        player.stderr = -1

    def ended(self, player: ProcessPlayer) -> Fault:
        """Return the fault of a player whose stdout has ended, with its exit status if that arrives within half a second."""
        if not player.is_process:
            return self.crash(player)
        # Only the end of the sandbox itself closes its pipes, so that news of it is certain to come.
        deadline = perf_counter() + (PATIENCE if player.sandbox.is_sandbox else _PARTING)
        waiting = select.poll()
        waiting.register(self._bots.status_fd, select.POLLIN)
        while player.status is None and not self._bots.is_lost:
            if not waiting.poll(max(0.0, deadline - perf_counter()) * 1000) or not self._bots.take_reports():
                break
        self.drain()
        return self.crash(player)

    def crash(self, player: ProcessPlayer) -> Fault:
        """Return the fault of a player that has ended. MatchVoid if its sandbox failed."""
        if player.is_process and self._bots.is_lost and player.status is None:
            if player.sandbox.is_sandbox:
                raise MatchVoid(SUPERVISOR_KILLED)
            text = f"The supervisor process of the match was killed while the {player.seat} ({player.shown_label()}) was asked; only a bot of the match could have done that."
            return Fault(CRASHED, text)
        if player.is_lost():
            raise MatchVoid(player.sandbox_failure())
        return player.fault(f"The {player.seat} ({player.shown_label()}) {player.ending()}.")

    def unreachable(self, player: ProcessPlayer) -> Fault:
        """Return the fault of a player that has closed its input."""
        fault = self.ended(player)
        if player.is_process and player.status is None and not self._bots.is_lost:
            return Fault(CRASHED, f"The {player.seat} ({player.shown_label()}) closed its stdin, so it can't be asked.")
        return fault

    def see_off(self, leaving: Iterable[ProcessPlayer], left: float) -> None:
        """Wait up to ``left`` seconds for players to exit; read and drop their output."""
        poller = select.poll()
        poller.register(self._bots.status_fd, select.POLLIN)
        for fd in self._by_stderr:
            poller.register(fd, select.POLLIN)
        by_stdout = {player.stdout: player for player in leaving if player.stdout >= 0 and player.status is None}
        for fd in by_stdout:
            poller.register(fd, select.POLLIN)
        for fd, _ in poller.poll(math.ceil(left * 1000)):
            if fd == self._bots.status_fd:
                self._bots.take_reports()
            elif fd in by_stdout:
                if not by_stdout[fd].read_stdout():
                    os.close(fd)
                    by_stdout[fd].stdout = -1
            elif not self._by_stderr[fd].drain_stderr():
                self._close(fd, self._by_stderr[fd])
