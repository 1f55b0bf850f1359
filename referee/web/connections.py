"""The connections of a server: how many of whom it keeps at any moment, and how long each may take.

Every connection is in exactly one group at every moment: it owes a request, its request is being answered, it is a socket of a spectator, or
it belongs to a player. The groups share the descriptors of the process, so no crowd takes the places of the players or the files. When a
group is full, the address that has most of its connections gives one up, so no address keeps others out.
"""

from __future__ import annotations

import asyncio
import ipaddress
from typing import TYPE_CHECKING, Any, NamedTuple

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from referee.support.descriptors import raise_limit

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import ASGIApp, Receive, Scope, Send
    from websockets.http11 import Request

#: How long a connection may take to send the head of a request, or to leave once it is told to, in seconds. Further bytes win no time.
REQUEST_SECONDS = 10.0
#: How long a reader whose buffer is full may read nothing, in seconds.
READING_SECONDS = 30.0
#: The most unread bytes of a socket whose page sends pings, each of which is answered.
MOST_UNREAD = 256 << 10
#: The most messages, and parts of one message, that a socket may send before they are read. A page sends a few at a time.
_MOST_UNHEARD = 256
#: The longest message that a page may send, in bytes.
_MOST_MESSAGE = 10_000
#: The most connections of each group; fewer if there are few descriptors.
_MOST_SILENT, _MOST_GUESTS, _MOST_PLAYERS = 200, 1_000, 200
#: How often overdue connections are looked for.
SWEEP_SECONDS = 1.0
#: Keys of a scope's state: the task that answers the request, and whether there are too many spectators for a socket.
_TASK, IS_FULL = "task", "is_full"

#: The groups: a connection owes a request; its request is being answered; a spectator's socket; a player's connection of any kind.
_SILENT, _ASKING, _WATCHING, _PLAYING = range(4)


class _Slot:
    """The place of one connection. ``due`` is when it must have sent its request or have left, ``read_due`` when it must have read."""

    def __init__(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self.address = _address(transport)
        self.group = -1
        #: Whose it is, in its group: an address or a seat.
        self.owner = ""
        self.due: float | None = None
        self.read_due: float | None = None


class _OwnerGroup:
    """The connections of one group, of each owner the oldest first."""

    def __init__(self) -> None:
        self.size = 0
        self._owners: dict[str, dict[_Slot, None]] = {}

    def add(self, place: _Slot) -> None:
        self._owners.setdefault(place.owner, {})[place] = None
        self.size += 1

    def remove(self, place: _Slot) -> None:
        places = self._owners[place.owner]
        del places[place]
        if not places:
            del self._owners[place.owner]
        self.size -= 1

    def count(self, owner: str) -> int:
        """Return how many connections an owner has."""
        return len(self._owners.get(owner, ()))

    def greediest(self) -> list[_Slot]:
        """Return the connections of the owner with the most, the oldest first."""
        return list(self._owners[max(self._owners, key=self.count)])


class Limits(NamedTuple):
    """The most connections of each group, for a process with so many descriptors; a request may need one more for its file."""

    silent: int
    watching: int
    playing: int
    #: The descriptors of all spectators together.
    guests: int

    @classmethod
    def of(cls, descriptors: int) -> Limits:
        """Return the limits. More than a quarter of the descriptors stays free for files, pipes, and connections that are being closed."""
        part = max(4, descriptors // 16)
        return cls(min(_MOST_SILENT, part), min(_MOST_GUESTS, descriptors // 2), min(_MOST_PLAYERS, part), descriptors * 5 // 8)

    def asking(self, watching: int) -> int:
        """Return the most requests of spectators beside so many sockets of spectators."""
        return min(_MOST_GUESTS, (self.guests - watching) // 2)

    @property
    def accepted_at_once(self) -> int:
        """How many connections are accepted before their first bytes are read: few, so that no rush replaces them unread."""
        return max(1, self.silent // 4)


class Crowd:
    """All connections of a server. ``seat_of`` returns the seat to which a request's path belongs; None for spectators and strangers."""

    def __init__(self, limits: Limits, seat_of: Callable[[str], str | None]) -> None:
        self.limits = limits
        self._seat_of = seat_of
        self._places: dict[asyncio.Transport, _Slot] = {}
        self._groups = [_OwnerGroup() for _ in range(4)]
        self._is_sweeping = False

    def enter(self, transport: asyncio.Transport) -> _Slot:
        """Return the place of a new connection, which owes a request."""
        place = self._places[transport] = _Slot(transport)
        self.silence(place)
        if not self._is_sweeping:
            self._is_sweeping = True
            asyncio.get_running_loop().call_later(SWEEP_SECONDS, self._sweep)
        return place

    def place_of(self, transport: asyncio.Transport) -> _Slot:
        """Return the place of a connection that has become a socket."""
        return self._places.get(transport) or _Slot(transport)

    def leave(self, place: _Slot) -> None:
        """Give up a place."""
        if self._places.pop(place.transport, None) is not None:
            self._groups[place.group].remove(place)

    def silence(self, place: _Slot) -> None:
        """Take a connection as one that owes a request, or its leave. One of a player keeps its place."""
        place.due = asyncio.get_running_loop().time() + REQUEST_SECONDS
        if place.group != _PLAYING:
            self._move(place, _SILENT, place.address)

    def answer(self, place: _Slot, path: str) -> None:
        """Take a connection as one whose request is being answered."""
        seat = self._seat_of(path)
        place.due = None
        self._move(place, *((_ASKING, place.address) if seat is None else (_PLAYING, seat)))

    def watch(self, place: _Slot, path: str) -> bool:
        """Take a connection as the socket of a page; False if there are too many spectators.

        The address with the most spectators gives up its newest one to another address.
        """
        seat = self._seat_of(path)
        if seat is None:
            watching = self._groups[_WATCHING]
            if watching.size >= self.limits.watching:
                greediest = watching.greediest()
                if watching.count(place.address) + 1 >= len(greediest):
                    self.silence(place)
                    return False
                self._drop(greediest[-1])
        place.due = None
        self._move(place, *((_WATCHING, place.address) if seat is None else (_PLAYING, seat)))
        return True

    def _move(self, place: _Slot, group: int, owner: str) -> None:
        if place.transport not in self._places:
            return
        if place.group >= 0:
            self._groups[place.group].remove(place)
        place.group, place.owner = group, owner
        self._groups[group].add(place)
        limits = self.limits
        for at, most in ((_SILENT, limits.silent), (_ASKING, limits.asking(self._groups[_WATCHING].size)), (_PLAYING, limits.playing)):
            while self._groups[at].size > most:
                greediest = self._groups[at].greediest()
                self._drop(next((other for other in greediest if other.due is not None), greediest[0]))

    def _drop(self, place: _Slot) -> None:
        self.leave(place)
        place.transport.abort()

    def _sweep(self) -> None:
        """Drop the connections whose time is over."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        for place in list(self._places.values()):
            if place.transport.is_closing() and place.due is None:
                # It is closed when it has read what is left.
                place.due = now + REQUEST_SECONDS
            if any(due is not None and due <= now for due in (place.due, place.read_due)):
                self._drop(place)
        self._is_sweeping = bool(self._places)
        if self._is_sweeping:
            loop.call_later(SWEEP_SECONDS, self._sweep)


class Config(uvicorn.Config):
    """The configuration of a server with a crowd; ``seat_of`` as for ``Crowd``."""

    def __init__(self, app: ASGIApp, seat_of: Callable[[str], str | None] = lambda _: None) -> None:
        self.crowd = Crowd(Limits.of(raise_limit()), seat_of)
        super().__init__(
            _with_task(app),
            http=_Http,
            ws=_WebSocket,
            log_level="critical",
            access_log=False,
            server_header=False,
            lifespan="off",
            # asyncio accepts so many connections before it reads. The queue of the kernel is longer.
            backlog=self.crowd.limits.accepted_at_once,
            ws_max_size=_MOST_MESSAGE,
            # The stream is compressed already; a few compressed bytes could ask for much memory.
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=1,
        )


class _Http(H11Protocol):
    """A connection in the crowd. When it is lost, the work on its request ends."""

    config: Config
    _place: _Slot

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._place = self.config.crowd.enter(transport)
        self._answered: object = None

    def handle_events(self) -> None:
        super().handle_events()
        if self.cycle is not None and self.cycle is not self._answered and not self.cycle.response_complete:
            self._answered = self.cycle
            self.config.crowd.answer(self._place, self.scope["path"])

    def on_response_complete(self) -> None:
        # First, because this may begin to answer the next request.
        self.config.crowd.silence(self._place)
        super().on_response_complete()

    def pause_writing(self) -> None:
        super().pause_writing()
        self._place.read_due = self.loop.time() + READING_SECONDS

    def resume_writing(self) -> None:
        super().resume_writing()
        self._place.read_due = None

    def connection_lost(self, exc: Exception | None) -> None:
        self.config.crowd.leave(self._place)
        super().connection_lost(exc)
        if self.cycle is not None and not self.cycle.response_complete:
            task = self.scope["state"].get(_TASK)
            if task is not None:
                task.cancel()


class _WebSocket(WebSocketsSansIOProtocol):
    """A socket in the crowd. It is dropped if it doesn't read what it asks for, or asks for more than is read."""

    config: Config
    _place: _Slot

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._place = self.config.crowd.place_of(self.transport)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if not self.close_sent:
            self.scope["state"][IS_FULL] = not self.config.crowd.watch(self._place, self.scope["path"])

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # Earlier versions of uvicorn join the parts at once.
        if self.queue.qsize() > _MOST_UNHEARD or len(getattr(self, "frames", ())) > _MOST_UNHEARD:
            self.transport.abort()

    def handle_ping(self) -> None:
        if self.transport.is_closing():
            return
        super().handle_ping()
        if self.transport.get_write_buffer_size() > MOST_UNREAD:
            self.transport.abort()

    async def send(self, message: Any) -> None:
        await super().send(message)
        if self.close_sent:
            self.config.crowd.silence(self._place)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._place.read_due = self.loop.time() + READING_SECONDS

    def resume_writing(self) -> None:
        super().resume_writing()
        self._place.read_due = None

    def connection_lost(self, exc: Exception | None) -> None:
        self.config.crowd.leave(self._place)
        super().connection_lost(exc)


def _with_task(app: ASGIApp) -> ASGIApp:
    """Note the task of each request, so that it can be ended."""

    async def noted(scope: Scope, receive: Receive, send: Send) -> None:
        scope["state"][_TASK] = asyncio.current_task()
        await app(scope, receive, send)

    return noted


def _address(transport: asyncio.Transport) -> str:
    """Return the address of the other side; for IPv6 its network, because one machine has all addresses of such a network."""
    peer = transport.get_extra_info("peername")
    text = str(peer[0]) if isinstance(peer, tuple) and peer else ""
    try:
        address = ipaddress.ip_address(text.partition("%")[0])
    except ValueError:
        return text
    if isinstance(address, ipaddress.IPv4Address):
        return text
    return str(address.ipv4_mapped or ipaddress.ip_network((int(address), 64), strict=False))
