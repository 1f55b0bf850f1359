"""A server on a port of this machine: for one replay in this process, for a running match in a process of its own.

The match must never wait for its pages, so the pages have their own process. That process gets the pipes to the people and one pipe on
which the match reports new data, and nothing else. When the match's process has ended for any reason, it ends, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import os
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import uvicorn

from referee.errors import UsageError
from referee.pages import page
from referee.pages.app import Site
from referee.pages.connections import Config
from referee.pages.replay_session import ReplaySession

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from starlette.types import ASGIApp, Scope

    from referee.games.game import Json
    from referee.pages.match_site import MatchSite

#: The first port to try, and the number of ports after it.
PORT = 8300
_PORTS = 100
#: Messages from the match over its pipe.
GROWN, ENDED, STAY = b".", b"E", b"S"
#: How long readers are served after the end without --stay, in seconds.
_FAREWELL = 5.0
#: The kernel's queue of connections that aren't accepted yet.
_BACKLOG = 1024


def bind(host: str, port: int | None) -> socket.socket:
    """Return a listening socket on the given port or the next free one. UsageError if the host isn't an address of this machine."""
    first = PORT if port is None else port
    try:
        family, _, _, _, address = socket.getaddrinfo(host, first, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
    except (OSError, UnicodeError):
        raise UsageError(f"--host is {host!r:.60}, which names no address; try 127.0.0.1.") from None
    last_error: OSError | None = None
    for number in [first] if first == 0 else range(first, min(first + _PORTS, 65_536)):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections inherit this. asyncio sets it for sockets that name their protocol, and these don't: an answer in two parts took 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            listener.bind((address[0], number, *address[2:]))
            listener.listen(_BACKLOG)
        except OSError as error:
            listener.close()
            last_error = error
            if error.errno not in (errno.EADDRINUSE, errno.EACCES):
                break
        else:
            return listener
    raise UsageError(f"Nothing can listen on {host} from port {first} on: {last_error.strerror if last_error else 'no port is free'}.")


def names_of(host: str, more: Iterable[str] = ()) -> tuple[list[str], bool]:
    """Return the host names that requests to a server on this host may have, and whether IP addresses are allowed."""
    if host in ("127.0.0.1", "localhost", "::1"):
        return list(more), False
    return [host, socket.gethostname(), socket.getfqdn(), *more], True


#: Hosts that mean all interfaces, each with an address that is documented as nobody's (RFC 5737, RFC 3849).
_EVERYWHERE = {"0.0.0.0": (socket.AF_INET, "192.0.2.1"), "::": (socket.AF_INET6, "2001:db8::1")}  # noqa: S104 - compared, not bound


def shown_host(host: str) -> str:
    """Return the host for an address that other machines can open.

    A host that means all interfaces is replaced by this machine's address in its network. Few networks know its name, which is the last
    resort.
    """
    if host in _EVERYWHERE:
        host = _own_address(*_EVERYWHERE[host]) or (_own_address(*_EVERYWHERE["0.0.0.0"]) if host == "::" else "") or socket.gethostname()  # noqa: S104
    return f"[{host}]" if ":" in host else host


def is_for_others(host: str) -> bool:
    """True if other machines can reach a server on this host."""
    return not (host == "localhost" or host.startswith("127.") or host == "::1")


def _own_address(family: socket.AddressFamily, elsewhere: str) -> str:
    """Return this machine's address on the way to another one, "" if there is none. Connecting a datagram socket sends nothing."""
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((elsewhere, 9))
            address = str(probe.getsockname()[0])
    except OSError:
        return ""
    return "" if address.startswith("127.") or address in ("::1", "::", "0.0.0.0") else address  # noqa: S104 - compared, not bound


class PageServer(uvicorn.Server):
    """A server that doesn't handle signals and reports when it listens."""

    def __init__(self, config: uvicorn.Config, on_start: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_start = on_start

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave signals alone: the command handles them."""
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Listen, and report that."""
        await super().startup(sockets=sockets)
        for listener in sockets or ():
            # asyncio has shortened it to the number that it accepts at once.
            listener.listen(_BACKLOG)
        # The browser takes longer to start than the page's files to be joined.
        threading.Thread(target=page.prepare, daemon=True).start()
        self._on_start()


def serve_replay(
    path: Path,
    logs: Mapping[str, Path],
    token: str,
    listener: socket.socket,
    names: tuple[list[str], bool],
    on_start: Callable[[], None],
    *,
    is_copy: bool = False,
) -> None:
    """Serve the viewer of one replay until the process is interrupted; ``names`` as ``names_of`` gives them.

    ``is_copy``: the file is a copy that no command should name.
    """

    def site() -> Site:
        session = ReplaySession(path, turn=asyncio.Lock(), is_copy=is_copy)
        return Site(session, {"mode": "watch", "name": path.name, "server": True}, {token: None}, logs)

    serve_site(site, listener, names, on_start)


class ServedSite(Protocol):
    """Pages of a server."""

    def app(self, names: Iterable[str] = (), *, takes_addresses: bool = False) -> ASGIApp:
        """Return the ASGI application; ``names`` and ``takes_addresses`` as for ``SecurityMiddleware``."""

    def has_token(self, scope: Scope) -> bool:
        """Return whether a request has the token of a player or of a team. The last places of the server are for these."""

    def close(self) -> None:
        """End all work on them."""


def serve_site(
    make: Callable[[], ServedSite], listener: socket.socket, names: tuple[list[str], bool], on_start: Callable[[], None]
) -> None:
    """Serve a site, which is made in the server's loop, until the process is interrupted; ``names`` as ``names_of`` gives them.

    Outside the main thread it serves until the process ends.
    """

    async def run() -> None:
        site = make()
        server = PageServer(Config(site.app(names[0], takes_addresses=names[1]), site.has_token), on_start)
        if threading.current_thread() is threading.main_thread():
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(signal.SIGINT, _leave, server)
            loop.add_signal_handler(signal.SIGTERM, _leave, server)
        try:
            await server.serve(sockets=[listener])
        finally:
            site.close()

    asyncio.run(run())


def _leave(server: uvicorn.Server) -> None:
    server.should_exit = True
    server.force_exit = True


def _serve_match(handover: dict[str, Json]) -> None:
    """The process of a running match's pages; ``handover`` is what the match hands over."""
    from referee.pages.match_site import MatchSite

    listener = socket.socket(fileno=handover["listener"])

    async def run() -> None:
        is_here = _enter(handover["folder"])
        site = MatchSite(
            Path(handover["replay"]),
            handover["config"],
            handover["tokens"],
            {seat: Path(path) for seat, path in handover["logs"].items()},
            {seat: (fds[0], fds[1], fds[2]) for seat, fds in handover["pipes"].items()},
            handover["pace"],
            is_timed=handover["config"]["timed"],
            join=handover["join"],
            is_here=is_here,
        )
        app = site.app(handover["names"], takes_addresses=handover["takes_addresses"])
        server = PageServer(Config(app, site.has_token), lambda: _announce(handover["announce"]))
        news = _MatchNews(handover["news"], site, server)
        site.follow()
        try:
            await server.serve(sockets=[listener])
        finally:
            news.close()
            site.close()

    asyncio.run(run())


def _enter(folder: str) -> bool:
    """Change to the folder in which the match was started, from which its programs are named. False if that isn't possible.

    The modules of this process still come from where it began.
    """
    try:
        os.chdir(folder)
    except OSError:
        return False
    # Every file is below that folder.
    return folder != os.sep


def _announce(fd: int) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(fd, b"!")
    os.close(fd)


class _MatchNews:
    """Reads the match's messages: the replay has grown, the match is over, stay, or exit (the end of the pipe)."""

    def __init__(self, news: int, site: MatchSite, server: uvicorn.Server) -> None:
        self._news = news
        self._site = site
        self._server = server
        self._loop = asyncio.get_running_loop()
        self._tasks: set[asyncio.Task[None]] = set()
        os.set_blocking(news, False)
        self._loop.add_reader(news, self._hear)

    def close(self) -> None:
        """Stop to read."""
        self._loop.remove_reader(self._news)

    async def _leave(self) -> None:
        await self._site.wait_until_delivered(_FAREWELL)
        _leave(self._server)

    def _hear(self) -> None:
        try:
            data = os.read(self._news, 1 << 16)
        except BlockingIOError:
            return
        if GROWN in data:
            self._site.tail.more()
        if ENDED in data or not data:
            self._site.tail.more()
            self._site.tail.end()
        if ENDED in data and STAY not in data:
            self._tasks.add(self._loop.create_task(self._leave()))
        if not data:
            self._loop.remove_reader(self._news)
            if not self._tasks:
                _leave(self._server)


if __name__ == "__main__":
    # Ctrl-C is for the match; this process ends with the match.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _serve_match(json.loads(sys.stdin.readline()))
