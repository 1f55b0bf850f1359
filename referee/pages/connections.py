"""The limit on the open connections of a server, and on the time for the head of a request; all else is uvicorn's, or a proxy's."""

from __future__ import annotations

from typing import TYPE_CHECKING

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from referee.support.descriptors import raise_limit

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable
    from typing import Any

    from h11 import Request
    from starlette.types import ASGIApp

#: How long a connection may take to send the head of a request, in seconds. uvicorn has no limit for it.
HEAD_SECONDS = 10.0
#: The most open connections, the longest message of a page, and the most unread bytes and unheard parts of a socket.
_MOST_PLACES, _MOST_MESSAGE, _MOST_UNREAD, _MOST_UNHEARD = 1_000, 10_000, 192 << 10, 256


class Config(uvicorn.Config):
    """The configuration of a server. The last quarter of its places is for requests for which ``has_token`` returns True."""

    def __init__(self, app: ASGIApp, has_token: Callable[[Any], bool] = lambda _: False) -> None:
        # A quarter of the descriptors stays free for files.
        self.places, self.has_token = min(_MOST_PLACES, raise_limit() * 3 // 4), has_token
        super().__init__(
            app, http=_Http, ws=_WebSocket, log_level="critical", access_log=False, server_header=False, lifespan="off",
            # Connections are never more; requests are, because those whose visitors have left end later.
            limit_concurrency=self.places + 1,
            # asyncio accepts so many connections before it can close one. The queue of the kernel is longer.
            backlog=max(1, self.places // 16),
            ws_max_size=_MOST_MESSAGE,
            # The stream is compressed already; a few compressed bytes could ask for much memory.
            ws_per_message_deflate=False,
            timeout_graceful_shutdown=1,
        )  # fmt: skip


class _Http(H11Protocol):
    config: Config

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._head_due, self._answered = self.loop.call_later(HEAD_SECONDS, transport.abort), self.cycle
        if len(self.connections) > self.config.places:
            transport.abort()

    def handle_events(self) -> None:
        super().handle_events()
        if self.cycle is not self._answered:
            self._answered = self.cycle
            self._take_head()

    def handle_websocket_upgrade(self, event: Request) -> None:
        self._take_head()
        if not self.transport.is_closing():
            super().handle_websocket_upgrade(event)

    def _take_head(self) -> None:
        self._head_due.cancel()
        if len(self.connections) > self.config.places * 3 // 4 and not self.config.has_token(self.scope):
            self.transport.abort()

    def on_response_complete(self) -> None:
        # First, because this may begin to answer the next request.
        self._head_due = self.loop.call_later(HEAD_SECONDS, self.transport.abort)
        super().on_response_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_due.cancel()
        super().connection_lost(exc)


class _WebSocket(WebSocketsSansIOProtocol):
    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        # Pings are answered whether or not the answers are read. Earlier versions of uvicorn join the parts of a message at once.
        parts = self.queue.qsize() + len(getattr(self, "frames", ()))
        if parts > _MOST_UNHEARD or self.transport.get_write_buffer_size() > _MOST_UNREAD:
            self.transport.abort()
