"""TCP connections: a listening socket, and a caller with its lines so far."""

from __future__ import annotations

import contextlib
import os
import socket
from time import monotonic
from typing import TYPE_CHECKING, Generic, TypeVar

from referee.errors import UsageError
from referee.games.dialect import DialectError
from referee.games.evasion.dialects.text import MOST_BYTES
from referee.players.player import Connection
from referee.replay.events import Listener
from referee.support.escape import quoted
from referee.support.poll import readable
from referee.wire.lines import LineBuffer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from _typeshed import HasFileno

    from referee.games.dialect import Host
    from referee.replay.events import PlayersFaulted, StepTaken

#: Notices that are printed, and the most ignored answers that are printed of one game. The replay has all of them.
_PRINTED = ("wall-refused", "invalid-command")
_MOST_IGNORED = 5
#: How long a caller may take for its first line, in seconds, and how many callers without one a port keeps.
FIRST_LINE_SECONDS = 60.0
MOST_SILENT = 100

First = TypeVar("First")


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

    def fileno(self) -> int:
        """Its descriptor, -1 when it is closed."""
        return self.sock.fileno()

    def hear(self) -> str:
        """Read the available bytes; return why the caller has to go, "" if it may stay."""
        if self.lines.is_full:
            return "sends too much before the game and is sent away"
        try:
            chunk = self.sock.recv(65_536)
        except BlockingIOError:
            return ""
        except OSError:
            chunk = b""
        self.lines.feed(chunk)
        return "" if chunk else "has left before the game"

    def tell(self, data: bytes) -> None:
        """Send a short line. A failure is noticed at the next read."""
        with contextlib.suppress(OSError):
            self.sock.send(data)

    def visitor(self, name: str, host: Host, overdue: bytes = b"") -> Connection:
        """Return the player of a game that uses this connection. The caller itself stays open."""
        fd = self.sock.fileno()
        about = {"program": f"client of the {host.dialect} protocol, {self.address}", "dialect": host.dialect}
        return Connection(name, os.dup(fd), os.dup(fd), lines=self.lines, overdue=overdue, host=host, about=about)

    def close(self) -> None:
        """Close the connection at once."""
        self.sock.close()


class Reception(Generic[First]):
    """The callers of one port that have not sent their first line yet.

    ``read`` parses that line, and raises DialectError for a bad one. ``greeting`` is sent to each caller.
    """

    def __init__(self, sock: socket.socket, read: Callable[[bytes], First], report: Callable[[str], None], greeting: bytes = b"") -> None:
        self._sock = sock
        self._read = read
        self._say = report
        self._greeting = greeting
        self._callers: list[Caller] = []

    @property
    def sources(self) -> list[socket.socket | Caller]:
        """The port and the callers: what has something to read when a caller comes or sends something."""
        return [self._sock, *self._callers]

    def take(self) -> Iterator[tuple[Caller, First]]:
        """Accept callers, and yield those that have sent their first line. Disconnect those that leave, send a bad one, or send none."""
        with contextlib.suppress(OSError):
            while True:
                theirs, address = self._sock.accept()
                self._callers.append(Caller(theirs, f"{address[0]}:{address[1]}"))
                self._callers[-1].tell(self._greeting)
                if len(self._callers) > MOST_SILENT:
                    # Many may come: they aren't reported.
                    self._callers.pop(0).close()
        for caller in list(self._callers):
            why = caller.hear()
            line = caller.lines.take()
            if line is None and not why and monotonic() - caller.since > FIRST_LINE_SECONDS:
                why = f"is sent away: it has sent no line within {FIRST_LINE_SECONDS:g} s"
            if line is not None:
                try:
                    if caller.lines.is_overlong:
                        raise DialectError("is too long")
                    first = self._read(line)
                except DialectError as error:
                    why = f"is sent away: its first line {error} ({quoted(line, 60)})"
                else:
                    self._callers.remove(caller)
                    yield caller, first
                    continue
            if why:
                self._callers.remove(caller)
                self._say(f"{caller.address} {why}")
                caller.close()

    def close(self) -> None:
        """Close the port and disconnect the callers."""
        for source in self.sources:
            source.close()


class Remarks(Listener):
    """Prints refused walls, invalid commands, ignored answers and faults of a game. ``place`` names a turn in the words of its protocol."""

    def __init__(self, report: Callable[[str], None], place: Callable[[int], str]) -> None:
        self._say, self._place = report, place
        self._ignored = 0

    def stepped(self, event: StepTaken) -> None:
        """Print notices and ignored answers."""
        for notice in event.notices:
            if notice.code in _PRINTED:
                self._say(f"{self._place(event.turn)}: {notice.text}")
        for seat, answer in event.answers.items():
            for warning in answer.remark.warnings if answer.remark is not None else ():
                self._ignored += 1
                if self._ignored <= _MOST_IGNORED:
                    more = "; the replay has further ones" if self._ignored == _MOST_IGNORED else ""
                    self._say(f"{self._place(event.turn)}: the {seat}'s answer {warning.text}{more}")

    def faulted(self, event: PlayersFaulted) -> None:
        """Print faults."""
        for fault in event.faults.values():
            self._say(f"{self._place(event.turn)}: {fault.text}")


def close_gracefully(callers: list[Caller], seconds: float = 1.0) -> None:
    """Close connections so that callers can read the last lines: closing a socket with unread input could discard sent data."""
    for caller in callers:
        with contextlib.suppress(OSError):
            caller.sock.shutdown(socket.SHUT_WR)
    deadline = monotonic() + seconds
    for caller in callers:
        with contextlib.suppress(OSError):
            while (left := deadline - monotonic()) > 0:
                caller.sock.settimeout(left)
                if not caller.sock.recv(65_536):
                    break
        caller.close()


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket. UsageError says what is wrong with the address."""
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        sock = socket.create_server(address, family=family)
    except (socket.gaierror, UnicodeError) as error:
        raise UsageError(f"There is no address {host!r:.80} to listen on ({error}).") from None
    except (OSError, OverflowError) as error:
        raise UsageError(
            f"Port {port} of {host} isn't available ({getattr(error, 'strerror', None) or error}); name another one, or 0 for any that is free."
        ) from None
    sock.setblocking(False)
    return sock


def wait_for(sources: Iterable[HasFileno], seconds: float) -> None:
    """Wait until a connection has something to read, or for ``seconds``."""
    readable(source.fileno() for source in sources).poll(seconds * 1000)


def shown_address(sock: socket.socket) -> str:
    """Return a listening socket's address as text."""
    host, port = sock.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
