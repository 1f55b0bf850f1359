"""Watches everything besides answers: every player's stderr, the supervisor, and the ends of players."""

from __future__ import annotations

import math
import select
from time import perf_counter
from typing import TYPE_CHECKING

from referee.isolation.supervision import PATIENCE
from referee.players.pipes import readable
from referee.replay.faults import Failure

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

    from referee.players.pipes import Pipes
    from referee.players.player import RunningPlayer
    from referee.players.process import ProcessPlayer
    from referee.players.processes import BotProcesses

#: How long to wait for the exit status of a bot that has closed its stdout, in seconds.
_PARTING = 0.5


class PlayersWatch:
    """Watches the players of one match beside their answers. ``reads`` counts how often a player's stderr was read."""

    def __init__(self, pipes: Iterable[Pipes], bots: BotProcesses) -> None:
        self.reads = 0
        self._bots = bots
        self._by_stderr = {one.stderr: one for one in pipes if one.stderr >= 0}
        self._pollers: list[select.poll] = []
        self._passing: select.poll | None = None

    def poller(self, asked: Iterable[Pipes], *, is_passing: bool = False) -> select.poll:
        """Return a poll for the stdout of some players, every player's stderr and the supervisor. With ``is_passing`` it is valid until
        the next such call. One that stays is always ready once the supervisor is lost.
        """
        # Include the stderr of players that have failed: it is read to its end.
        poller = readable((*(pipes.stdout for pipes in asked), *self._by_stderr))
        if self._bots.status_fd >= 0 and not (is_passing and self._bots.is_lost):
            poller.register(self._bots.status_fd, select.POLLIN)
        if is_passing:
            self._passing = poller
        else:
            self._pollers.append(poller)
        return poller

    def drain(self) -> None:
        """Read every player's stderr once, without waiting."""
        self.read(self._by_stderr.keys())

    def read(self, ready: Collection[int]) -> None:
        """Read the stderr of the players whose descriptors are ready."""
        for fd in self._by_stderr.keys() & ready:
            self.reads += 1
            if self._by_stderr[fd].drain_stderr():
                continue
            for poller in self._pollers:
                poller.unregister(fd)
            if self._passing is not None:
                self._passing.unregister(fd)
            self._by_stderr.pop(fd).close_one("stderr")

    def ended(self, player: RunningPlayer) -> Failure:
        """Return the failure of a player whose stdout has ended, with its exit status if that arrives within half a second.

        MatchVoid if the supervisor was killed.
        """
        process = player.process
        if process is None:
            return player.failure()
        begun, patience = perf_counter(), _PARTING
        waiting = readable([self._bots.status_fd])
        while process.status is None and not self._bots.is_lost and (left := begun + patience - perf_counter()) > 0:
            if waiting.poll(left * 1000):
                self._bots.take_reports()
            elif process.sandbox.is_sandbox and process.sandbox.is_ending():
                # The news has a longer way from there: on a busy machine it comes later.
                patience = PATIENCE
        self.drain()
        if self._bots.is_lost and process.status is None:
            raise self._bots.supervisor_killed()
        return player.failure()

    def unreachable(self, player: RunningPlayer) -> Failure:
        """Return the failure of a player that has closed its input."""
        failure = self.ended(player)
        if player.process is not None and player.process.status is None and not self._bots.is_lost:
            return Failure("deaf")
        return failure

    def see_off(self, leaving: Iterable[ProcessPlayer], left: float) -> None:
        """Wait up to ``left`` seconds for bots to exit; read and drop their output."""
        by_stdout = {one.pipes.stdout: one.pipes for one in leaving if one.pipes.stdout >= 0 and one.process.status is None}
        poller = readable((self._bots.status_fd, *self._by_stderr, *by_stdout))
        ready = {fd for fd, _ in poller.poll(math.ceil(left * 1000))}
        if self._bots.status_fd in ready:
            self._bots.take_reports()
        for fd in ready & by_stdout.keys():
            if not by_stdout[fd].read():
                by_stdout[fd].close_one("stdout")
        self.read(ready)
