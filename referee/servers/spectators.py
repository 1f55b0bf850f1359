"""Spectators of a game of the 2010 server: they get every state line for a player, and the end."""

from __future__ import annotations

import array
import os
import select
import socket
from time import monotonic
from typing import TYPE_CHECKING

from referee.games.evasion import GAME
from referee.games.evasion.dialects.gameserver import end_line, settings_line, state_line
from referee.match.events import Listener
from referee.servers.listener import Caller, close_gracefully

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.games.evasion.state import State
    from referee.match.events import MatchBegun, MatchEnded, StepTaken

#: The most unsent bytes for a slow spectator.
MOST_UNSENT = 4 << 20
_PATIENCE = 2.0
_FD_BYTES = array.array("i").itemsize


class Spectators(Listener):
    """The spectators of one game. Further spectators arrive over ``channel``, a socket that passes their descriptors."""

    def __init__(self, channel: socket.socket, spectators: list[Caller], say: Callable[[str], None]) -> None:
        self._channel = channel
        self._say = say
        self._new = spectators
        self._unsent: dict[Caller, bytearray] = {}
        self._state: State | None = None

    def begun(self, event: MatchBegun) -> None:
        """Send the board and the first position."""
        self._show(event.state)

    def stepped(self, event: StepTaken) -> None:
        """Send the position of the next question."""
        self._show(event.after)

    def ticked(self) -> None:
        """Accept new spectators while a player thinks."""
        self._let_in()
        self._send(b"")

    def ended(self, event: MatchEnded) -> None:
        """Send the winner's GAMEOVER line."""
        self._let_in()
        winner = event.outcome.winner
        if winner is not None:
            self._send(end_line(event.state, winner, winner))
        self._send_rest()
        close_gracefully(list(self._unsent), 0.2)

    def _show(self, state: State) -> None:
        self._state = state
        if self._unsent:
            self._send(_line(state))
        self._let_in()

    def _let_in(self) -> None:
        new, self._new = self._new, []
        while (caller := self._next()) is not None:
            new.append(caller)
        if new and self._state is not None:
            opening = settings_line(self._state.settings) + _line(self._state)
            self._unsent |= {caller: bytearray(opening) for caller in new}
            self._send(b"")

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

    def _send(self, data: bytes) -> None:
        for caller, unsent in list(self._unsent.items()):
            unsent.extend(data)
            try:
                while unsent:
                    del unsent[: caller.sock.send(unsent)]
            except BlockingIOError:
                if len(unsent) <= MOST_UNSENT:
                    continue
                self._say(f"the spectator {caller.address} reads too slowly and is sent away")
            except OSError:
                self._say(f"the spectator {caller.address} has left")
            else:
                continue
            caller.close()
            del self._unsent[caller]

    def _send_rest(self) -> None:
        deadline = monotonic() + _PATIENCE
        while (left := deadline - monotonic()) > 0:
            self._send(b"")
            waiting = select.poll()
            behind = [caller for caller, unsent in self._unsent.items() if unsent]
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
