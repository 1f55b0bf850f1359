"""TCP connections: a listening socket, and a caller with its lines so far."""

from __future__ import annotations

import contextlib
import os
import select
import socket
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError
from referee.games.evasion.dialects.text import MOST_BYTES
from referee.players.connection import Connection
from referee.wire.lines import LineBuffer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.dialects.dialect import Host
    from referee.games.game import Json

#: How many connections the kernel queues.
_BACKLOG = 1024
#: How long a disconnected caller may take to read its last lines, in seconds.
PARTING = 1.0


class Visitor(NamedTuple):
    """A remote program that plays a seat: its name, its entry in the replay's head, its connection and its dialect."""

    name: str
    about: Mapping[str, Json]
    connection: Connection
    host: Host


class Caller:
    """An accepted connection. No method blocks."""

    def __init__(self, sock: socket.socket, address: str) -> None:
        self.sock = sock
        self.address = address
        self.lines = LineBuffer(MOST_BYTES, keeps_blank=True)
        self.since = monotonic()
        sock.setblocking(False)
        with contextlib.suppress(OSError):
            # Send each line at once: the other side waits for it.
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)

    @property
    def host(self) -> str:
        """The caller's IP address."""
        return self.address.rpartition(":")[0]

    def fileno(self) -> int:
        """Its descriptor, -1 when it is closed."""
        return self.sock.fileno()

    def hear(self) -> bool:
        """Read the available bytes; False if the caller has left."""
        if self.lines.is_full:
            return True
        try:
            chunk = self.sock.recv(65_536)
        except BlockingIOError:
            return True
        except OSError:
            return False
        self.lines.feed(chunk)
        return bool(chunk)

    def has_line(self) -> bool:
        """True if an unread line is complete."""
        try:
            return b"\n" in self.sock.recv(MOST_BYTES, socket.MSG_PEEK)
        except OSError:
            return False

    def tell(self, data: bytes) -> None:
        """Send a short line. A failure is noticed at the next read."""
        with contextlib.suppress(OSError):
            self.sock.send(data)

    def connection(self) -> Connection:
        """Return the match's ends of the connection; the caller itself stays open."""
        fd = self.sock.fileno()
        return Connection(os.dup(fd), os.dup(fd), lines=self.lines)

    def close(self) -> None:
        """Close the connection at once."""
        self.sock.close()


def close_gracefully(callers: list[Caller], seconds: float = PARTING) -> None:
    """Close connections so that callers can read the last lines: closing a socket with unread input could discard sent data."""
    waiting = select.poll()
    by_fd = {}
    for caller in callers:
        with contextlib.suppress(OSError):
            caller.sock.shutdown(socket.SHUT_WR)
            waiting.register(caller.fileno(), select.POLLIN)
            by_fd[caller.fileno()] = caller
    deadline = monotonic() + seconds
    while by_fd and (left := deadline - monotonic()) > 0:
        for fd, _ in waiting.poll(left * 1000):
            try:
                is_there = bool(by_fd[fd].sock.recv(65_536))
            except BlockingIOError:
                continue
            except OSError:
                is_there = False
            if not is_there:
                waiting.unregister(fd)
                del by_fd[fd]
    for caller in callers:
        caller.close()


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. UsageError says what is wrong with the address."""
    try:
        family, kind, number, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        sock = socket.socket(family, kind, number)
    except (OSError, UnicodeError) as error:
        raise UsageError(f"There is no address {host!r:.80} to listen on ({error}).") from None
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind(address)
        sock.listen(_BACKLOG)
    except (OSError, OverflowError) as error:
        sock.close()
        raise UsageError(
            f"Port {port} of {host} isn't available ({getattr(error, 'strerror', None) or error}); name another one, or 0 for any that is free."
        ) from None
    sock.setblocking(False)
    return sock


def let_in(sock: socket.socket) -> Caller | None:
    """Return the next caller; None if there is none."""
    try:
        theirs, address = sock.accept()
    except OSError:
        return None
    return Caller(theirs, f"{address[0]}:{address[1]}")


def shown_address(sock: socket.socket) -> str:
    """Return a listening socket's address as text."""
    host, port = sock.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
