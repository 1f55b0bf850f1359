"""Requests to an ASGI application without a server."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.types import ASGIApp


async def asked(
    app: ASGIApp,
    path: str,
    host: str = "127.0.0.1:8300",
    body: bytes | None = b"",
    headers: Mapping[str, str] | None = None,
    method: str | None = None,
) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the answer to a request, which is a POST if it has a body; that of None never comes."""
    sent: list[Any] = []
    requests = [] if body is None else [{"type": "http.request", "body": body, "more_body": False}]
    address, _, query = path.partition("?")

    async def receive() -> dict[str, Any]:
        if not requests:
            await asyncio.Event().wait()
        return requests.pop()

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http", "method": method or ("GET" if body == b"" else "POST"), "path": unquote(address), "raw_path": address.encode(), "root_path": "", "scheme": "http",
        "query_string": query.encode(), "headers": [(b"host", host.encode()), *((name.encode(), value.encode("latin-1")) for name, value in (headers or {}).items())],
    }  # fmt: skip
    await app(scope, receive, send)
    found = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], found, b"".join(message.get("body", b"") for message in sent[1:])
