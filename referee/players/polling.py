"""Waits for bytes on all descriptors of a match: answers, every player's stderr, and the supervisor's reports. It doesn't know limits."""

from __future__ import annotations

import math
import select
from time import perf_counter
from typing import TYPE_CHECKING

from referee.replay.faults import Failure
from referee.support.poll import readable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping

    from referee.isolation.process import Launcher
    from referee.players.link import Link
    from referee.players.player import RunningPlayer


class Polling:
    """The descriptors of one match. ``stderr_reads`` counts how often a player's stderr was read.

    ``people`` are the players without a process. They may leave while they aren't asked: ``departed`` are those that have
    left since ``take_departed`` was called.
    """

    def __init__(self, links: Mapping[str, Link], launcher: Launcher) -> None:
        self.stderr_reads = 0
        self.people = {seat: link for seat, link in links.items() if seat not in launcher.processes}
        self.departed: list[str] = []
        self._left: set[str] = set()
        self._launcher = launcher
        self._by_stderr = {link.stderr: link for link in links.values() if link.stderr >= 0}
        self._pollers: list[select.poll] = []
        #: The poll of a long wait, with the seats that it waits for; None if another one is needed.
        self._long: tuple[select.poll, tuple[str, ...]] | None = None

    def poller(self, links: Iterable[Link]) -> select.poll:
        """Return a poll for the stdout of some players, every player's stderr and the supervisor. It is always ready once the supervisor is lost."""
        poller = self._new_poller(links)
        if self._launcher.reports >= 0:
            poller.register(self._launcher.reports, select.POLLIN)
        self._pollers.append(poller)
        return poller

    def _new_poller(self, links: Iterable[Link]) -> select.poll:
        # Include players that have failed: their stderr is read to its end.
        return readable((*(link.stdout for link in links), *self._by_stderr))

    def wait(self, links: Mapping[str, Link], seconds: float) -> list[str] | None:
        """Wait for answers of these players, and read all other output meanwhile. Return the seats that have written or ended.

        None if nothing arrives within this time.
        """
        seats = tuple(links)
        if self._long is None or self._long[1] != seats:
            self._long = self._poller_for(links), seats
        poller = self._long[0]
        events = poller.poll(math.ceil(max(0.0, seconds) * 1000))
        ready = {fd for fd, _ in events}
        self.read(ready)
        if self._launcher.reports in ready and not self._launcher.take_reports():
            self._long = None
        self._hear_people(links, ready)
        for link in links.values():
            if link.unsent and link.stdin in ready and (not link.send(b"") or not link.unsent):
                poller.unregister(link.stdin)
        if not events:
            return None
        return [seat for seat, link in links.items() if link.stdout in ready or self.is_gone(seat)]

    @property
    def long_poller(self) -> select.poll | None:
        """The poll of the present long wait."""
        return None if self._long is None else self._long[0]

    def end_wait(self) -> None:
        """Forget the poll of a long wait: the next one may wait for other descriptors."""
        self._long = None

    def _poller_for(self, links: Mapping[str, Link]) -> select.poll:
        """Return a poll for a long wait, with the stdin of players that haven't read their question and the people who may leave."""
        poller = self._new_poller([*links.values(), *self._people_beside(links).values()])
        if self._launcher.reports >= 0 and not self._launcher.is_lost:
            poller.register(self._launcher.reports, select.POLLIN)
        for link in links.values():
            if link.unsent:
                poller.register(link.stdin, select.POLLOUT)
        return poller

    def _people_beside(self, links: Mapping[str, Link]) -> dict[str, Link]:
        """Return the people who aren't asked now but may leave."""
        return {seat: link for seat, link in self.people.items() if seat not in links and seat not in self._left and not link.lines.is_full}

    def _hear_people(self, links: Mapping[str, Link], ready: Collection[int]) -> None:
        """Read from the people who aren't asked; note departures."""
        for seat, link in self._people_beside(links).items():
            if link.stdout not in ready:
                continue
            if not link.receive():
                self._left.add(seat)
                self.departed.append(seat)
                self._long = None
            elif link.lines.is_full:
                self._long = None

    def note_departure(self, seat: str) -> None:
        """Note that one of the people has left while it was asked."""
        self.departed.append(seat)

    def take_departed(self) -> list[str]:
        """Return the people who have left since the last call."""
        departed, self.departed = self.departed, []
        return departed

    def has_left(self, seat: str) -> bool:
        """True if a person has left without being asked."""
        return seat in self._left

    def is_gone(self, seat: str) -> bool:
        """True if a player can't send anything more."""
        process = self._launcher.processes.get(seat)
        return process is not None and (process.status is not None or self._launcher.is_lost)

    def drain(self) -> None:
        """Read every player's stderr once, without waiting."""
        self.read(self._by_stderr.keys())

    def read(self, ready: Collection[int]) -> None:
        """Read the stderr of the players whose descriptors are ready."""
        for fd in self._by_stderr.keys() & ready:
            self.stderr_reads += 1
            if self._by_stderr[fd].drain_stderr():
                continue
            for poller in self._pollers:
                poller.unregister(fd)
            self._long = None
            self._by_stderr.pop(fd).close_one("stderr")

    def forget(self, seat: str) -> None:
        """Stop waiting for a player that has failed."""
        self._long = None
        link = self.people.pop(seat, None)
        if link is not None and not link.is_remote:
            # The page's server then knows that the seat is empty. A remote program still receives the result.
            link.close_one("stdin")

    def ended(self, player: RunningPlayer) -> Failure:
        """Return the failure of a player whose stdout has ended, with its exit status if that arrives within half a second.

        MatchVoid if the supervisor was killed.
        """
        process = player.process
        if process is None:
            return player.failure()
        self._launcher.await_end(process)
        self.drain()
        if self._launcher.is_lost and process.status is None:
            raise self._launcher.supervisor_killed()
        return player.failure()

    def unreachable(self, player: RunningPlayer) -> Failure:
        """Return the failure of a player that has closed its input."""
        failure = self.ended(player)
        if player.process is not None and player.process.status is None and not self._launcher.is_lost:
            return Failure("deaf")
        return failure

    def listen(self, seat: str, link: Link, seconds: float) -> bytes:
        """Return what a player writes to stdout within a time without being asked; return early once something has come."""
        deadline = perf_counter() + seconds
        lines = link.lines
        while link.stdout >= 0:
            left = deadline - perf_counter()
            has_written = bool(self.wait({seat: link}, left))
            if (has_written and not link.receive()) or self._launcher.is_lost:
                break
            if left <= 0 or lines.is_full or (lines.has_bytes and not has_written):
                break
            if lines.has_bytes:
                deadline = min(deadline, perf_counter() + 0.05)
        self.end_wait()
        return lines.clear()

    def see_off(self, leaving: Iterable[RunningPlayer], seconds: float) -> None:
        """Wait up to some seconds for one of these bots to exit; read and drop their output."""
        links = [bot.link for bot in leaving if bot.link is not None and not self.is_gone(bot.seat)]
        by_stdout = {link.stdout: link for link in links if link.stdout >= 0}
        poller = readable((self._launcher.reports, *self._by_stderr, *by_stdout))
        ready = {fd for fd, _ in poller.poll(math.ceil(seconds * 1000))}
        if self._launcher.reports in ready:
            self._launcher.take_reports()
        for fd in ready & by_stdout.keys():
            if not by_stdout[fd].read():
                by_stdout[fd].close_one("stdout")
        self.read(ready)
