"""Spectators of a game of the 2010 server: they get every state line for a player, and the end.

Players come first: spectators get a small share of the game's time, one after the other. So a crowd sees the game later, and doesn't make it
longer. The lines are kept once for all of them.
"""

from __future__ import annotations

import array
import os
import select
import socket
from collections import Counter, deque
from time import monotonic, perf_counter
from typing import TYPE_CHECKING

from referee.games.evasion.dialects.gameserver import end_line, settings_line, state_line
from referee.games.evasion.game import GAME
from referee.match.events import Listener
from referee.servers.listener import Caller, close_gracefully
from referee.support.descriptors import raise_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.games.evasion.state import State
    from referee.match.events import MatchBegun, MatchEnded, StepTaken

#: The most unsent bytes for a slow spectator.
MOST_UNSENT = 4 << 20
_PATIENCE = 2.0
#: The most spectators of one game, in all and from one address.
MOST_WATCHING = 1_000
MOST_OF_ADDRESS = 200
#: The spectators' share of the time of a game, the most seconds of it at once, and how many are served in every step in any case.
_SHARE, _MOST_SECONDS, _LEAST_SERVED = 0.1, 0.005, 2
#: How many new spectators are let in at once, and how many bytes are sent at once.
_MOST_NEW = 32
_CHUNK = 64 << 10
#: How many refused spectators are reported one by one.
_MOST_TOLD = 10
_FD_BYTES = array.array("i").itemsize


class _Lines:
    """The last lines of a game. A place in them is the number of bytes before it."""

    def __init__(self) -> None:
        self._data = bytearray()
        self.begin = 0

    @property
    def end(self) -> int:
        """The place behind the last line."""
        return self.begin + len(self._data)

    def add(self, line: bytes) -> None:
        """Append a line, and forget those that no spectator may still lack."""
        self._data += line
        if len(self._data) > 2 * MOST_UNSENT:
            self.begin += len(self._data) - MOST_UNSENT
            del self._data[:-MOST_UNSENT]

    def after(self, place: int) -> bytes:
        """Return some bytes from a place on."""
        return bytes(self._data[place - self.begin : place - self.begin + _CHUNK])


class _Watching:
    """A spectator, what is left of the first lines for it, and its place in the lines that follow."""

    def __init__(self, caller: Caller, opening: bytes, place: int) -> None:
        self.caller = caller
        self.opening = opening
        self.place = place

    def is_behind(self, lines: _Lines) -> bool:
        return bool(self.opening) or self.place < lines.end

    def send(self, lines: _Lines) -> None:
        """Send a part of what it lacks. OSError if it has left, BlockingIOError if it doesn't read."""
        if self.opening:
            self.opening = self.opening[self.caller.sock.send(self.opening) :]
        else:
            self.place += self.caller.sock.send(lines.after(self.place))


class Spectators(Listener):
    """The spectators of one game. Further spectators arrive over ``channel``, a socket that passes their descriptors."""

    def __init__(self, channel: socket.socket, spectators: list[Caller], say: Callable[[str], None]) -> None:
        self._channel = channel
        self._say = say
        self._new = deque(spectators)
        self._lines = _Lines()
        #: Those who watch; the next one to be served is the first.
        self._watching: deque[_Watching] = deque()
        self._hosts: Counter[str] = Counter()
        self._most = min(MOST_WATCHING, raise_limit() // 2)
        self._refused = 0
        self._state: State | None = None
        #: The seconds that may be spent on spectators now, and since when they grow.
        self._seconds, self._since = _MOST_SECONDS, perf_counter()

    def begun(self, event: MatchBegun) -> None:
        """Send the board and the first position."""
        self._state = event.state
        # Those who have waited miss nothing.
        self._let_in(len(self._new))
        self._serve()

    def stepped(self, event: StepTaken) -> None:
        """Send the position of the next question."""
        self._show(event.after)

    def ticked(self) -> None:
        """Accept new spectators while a player thinks."""
        self._serve()

    def ended(self, event: MatchEnded) -> None:
        """Send the winner's GAMEOVER line."""
        self._let_in(len(self._new) + self._most)
        winner = event.outcome.winner
        if winner is not None:
            self._lines.add(end_line(event.state, winner, winner))
        self._send_rest()
        close_gracefully([one.caller for one in self._watching], 0.2)

    def _show(self, state: State) -> None:
        self._state = state
        if self._watching:
            self._lines.add(_line(state))
        self._serve()

    def _serve(self) -> None:
        """Serve some spectators, and let in new ones, in the share of the time that is theirs."""
        begun = perf_counter()
        self._seconds = min(_MOST_SECONDS, self._seconds + _SHARE * (begun - self._since))
        self._let_in(_MOST_NEW if self._seconds > 0 else _LEAST_SERVED)
        for count in range(len(self._watching)):
            if count >= _LEAST_SERVED and perf_counter() - begun > self._seconds:
                break
            self._serve_next()
        self._since = perf_counter()
        self._seconds -= self._since - begun

    def _serve_next(self) -> None:
        """Send the first spectator what it lacks, and let the next one be the first."""
        one = self._watching.popleft()
        why = ""
        try:
            while one.is_behind(self._lines):
                if not one.opening and one.place < self._lines.begin:
                    break
                one.send(self._lines)
        except BlockingIOError:
            pass
        except OSError:
            why = "has left"
        if self._lines.end - one.place > MOST_UNSENT:
            why = why or "reads too slowly and is sent away"
        if not why:
            self._watching.append(one)
            return
        self._say(f"the spectator {one.caller.address} {why}")
        self._hosts[one.caller.host] -= 1
        one.caller.close()

    def _let_in(self, most: int) -> None:
        """Let in so many new spectators."""
        for _ in range(most):
            caller = self._new.popleft() if self._new else self._next()
            if caller is None or self._state is None:
                return
            if len(self._watching) >= self._most or self._hosts[caller.host] >= MOST_OF_ADDRESS:
                self._refuse(caller)
                continue
            self._hosts[caller.host] += 1
            opening = settings_line(self._state.settings) + _line(self._state)
            # It is served next.
            self._watching.appendleft(_Watching(caller, opening, self._lines.end))

    def _refuse(self, caller: Caller) -> None:
        self._refused += 1
        if self._refused <= _MOST_TOLD or self._refused % 1000 == 0:
            self._say(
                f"the spectator {caller.address} is sent away: {len(self._watching):,} watch this game already, "
                f"{self._hosts[caller.host]:,} of them from its address (the {self._refused:,}. so far)"
            )
        caller.close()

    def _next(self) -> Caller | None:
        try:
            data, handed, _, _ = self._channel.recvmsg(64, socket.CMSG_LEN(_FD_BYTES), socket.MSG_DONTWAIT)
        except OSError:
            return None
        fds = array.array("i")
        for level, kind, content in handed:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds.frombytes(content[:_FD_BYTES])
        return Caller(socket.socket(fileno=fds[0]), os.fsdecode(data)) if fds else None

    def _send_rest(self) -> None:
        deadline = monotonic() + _PATIENCE
        while (left := deadline - monotonic()) > 0:
            for _ in range(len(self._watching)):
                self._serve_next()
            waiting = select.poll()
            behind = [one.caller for one in self._watching if one.is_behind(self._lines)]
            if not behind:
                return
            for caller in behind:
                waiting.register(caller.fileno(), select.POLLOUT)
            waiting.poll(left * 1000)


def _line(state: State) -> bytes:
    """Return the line of the question about a position; empty if nobody is asked."""
    return state_line(state) if GAME.movers(state) else b""


def hand_over(channel: socket.socket, caller: Caller) -> bool:
    """Pass a spectator to the process of a game; False if that has ended."""
    try:
        socket.send_fds(channel, [os.fsencode(caller.address)[:64]], [caller.fileno()])
    except OSError:
        return False
    caller.close()
    return True
