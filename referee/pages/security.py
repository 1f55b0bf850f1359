"""Checks every request (its host and origin) and sets the security headers of every response.

A page's address contains a token. A visitor needs only this address, and strangers don't know it. The name in ``Host`` must be one of
this server's names. Otherwise another site could point its own name to this server (DNS rebinding), and its page would count as one of
ours. A browser names the requesting page in ``Origin``; only this server's own pages may open a socket or send data.
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import secrets
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from referee.pages.page import POLICY

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
)
_UNFRAMED = (b"x-frame-options", b"DENY")
_ALONE = ((b"content-security-policy", POLICY.encode()), (b"referrer-policy", b"no-referrer"), _UNFRAMED)
#: For pages with forms. Without a referrer, a browser names no origin when it sends a form. They may hold pages of this server in frames.
_WITH_FORMS = (
    (b"content-security-policy", POLICY.replace("form-action 'none'", "form-action 'self'; frame-src 'self'").encode()),
    (b"referrer-policy", b"same-origin"),
    _UNFRAMED,
)
#: For pages that another page of this server may hold in a frame.
_FRAMED = (
    (b"content-security-policy", POLICY.replace("frame-ancestors 'none'", "frame-ancestors 'self'").encode()),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"SAMEORIGIN"),
)
#: For pages that hold a stricter policy of their own, which can't say who may frame them.
_WITH_POLICY = ((b"content-security-policy", b"frame-ancestors 'none'"), (b"referrer-policy", b"no-referrer"), _UNFRAMED)
#: The most bytes of an answer that are passed on at once, so that a reader who is slow holds few of them in memory.
_PART_BYTES = 64 << 10
_LOCAL = ("127.0.0.1", "localhost", "::1")


def new_token() -> str:
    """Return a random part of an address: 128 bits, which can't be guessed."""
    return secrets.token_urlsafe(16)


class SecurityMiddleware:
    """Refuses requests under a foreign name or from a foreign page, and sets the headers of every response.

    ``names`` are the allowed host names, besides those that mean only this machine. ``takes_addresses`` also allows IP addresses, for a
    server that is open to others; DNS rebinding doesn't work with IP addresses. ``has_forms`` lets pages send forms here, ``is_framed`` lets a
    page of this server hold these pages in a frame, and pages with ``has_policy`` bring their own security policy.
    """

    def __init__(
        self,
        app: ASGIApp,
        names: Iterable[str] = (),
        *,
        takes_addresses: bool = False,
        has_forms: bool = False,
        is_framed: bool = False,
        has_policy: bool = False,
    ) -> None:
        self._app = app
        self._headers = (*(_WITH_FORMS if has_forms else _FRAMED if is_framed else _WITH_POLICY if has_policy else _ALONE), *HEADERS)
        self._names = frozenset((*_LOCAL, *(name.lower() for name in names)))
        self._takes_addresses = takes_addresses

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or refuse it."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name, []).append(value)
        refusal = self._refusal(scope, headers)
        if refusal is not None:
            await _refuse(scope, send, refusal)
            return

        async def guarded(message: Message) -> None:
            if message["type"] in ("http.response.start", "websocket.http.response.start"):
                message["headers"] = [*message.get("headers", ()), *self._headers]
            # Each part waits until the reader has room for it.
            while message["type"] == "http.response.body" and len(message.get("body", b"")) > _PART_BYTES:
                await send({"type": message["type"], "body": message["body"][:_PART_BYTES], "more_body": True})
                message["body"] = message["body"][_PART_BYTES:]
            await send(message)

        await self._app(scope, receive, guarded)

    def _refusal(self, scope: Scope, headers: dict[bytes, list[bytes]]) -> str | None:
        hosts = headers.get(b"host", [])
        if len(hosts) != 1 or not self._is_ours(hosts[0].decode("latin-1")):
            return "This server is not called by that name; use the address that the referee printed."
        changes = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        origins = headers.get(b"origin", [])
        # A client that isn't a browser sends no origin; it needs the token in any case.
        is_foreign = origins not in ([], [b"http://" + hosts[0]], [b"https://" + hosts[0]])
        if changes and (is_foreign or headers.get(b"sec-fetch-site", [b"same-origin"]) != [b"same-origin"]):
            return "Another page can't ask this."
        return None

    def _is_ours(self, host: str) -> bool:
        name = None
        with contextlib.suppress(ValueError):
            name = urlsplit(f"//{host}").hostname
            if name is not None and self._takes_addresses:
                ipaddress.ip_address(name)
                return True
        return name is not None and name.lower() in self._names


async def _refuse(scope: Scope, send: Send, text: str) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 1008, "reason": text})
        return
    is_api = scope.get("path", "").startswith("/api/")
    kind, body = (b"application/json", json.dumps({"error": text})) if is_api else (b"text/plain; charset=utf-8", f"{text}\n")
    headers = [(b"content-type", kind), (b"connection", b"close"), *_ALONE, *HEADERS]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body.encode()})
