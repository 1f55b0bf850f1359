"""The connections of a server: crowds of them, and those that send slowly or read nothing."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from sandboxes import need
from served_pages import Socket, assert_answers, served
from serving import PATIENCE

from referee.pages import connections
from referee.pages.connections import Config
from referee.pages.serve import PageServer, bind

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

_DESCRIPTORS = 128
#: What each connection of a crowd sends.
CROWDS = {
    "nothing": "",
    "half a request": "GET /{token}/ HTTP/1.1\r\nHost: {host}",
    "a question about a match that still runs": "GET /{token}/check HTTP/1.1\r\nHost: {host}\r\n\r\n",
}


@pytest.mark.parametrize("crowd", [*list(CROWDS)[:2], pytest.param(list(CROWDS)[2], marks=pytest.mark.slow)])
def test_a_crowd_takes_no_descriptor_of_a_player_and_is_forgotten_when_it_ends(crowd: str, tmp_path: Path) -> None:
    need(shutil.which("prlimit") is not None, "prlimit is missing")
    with served(tmp_path, "play", "human", "still", "--isolation", "none", descriptors=_DESCRIPTORS) as (_, found):
        own, public = sorted(found, key=lambda address: address != found[0])
        host = urllib.request.Request(public).host
        token = public.rstrip("/").rpartition("/")[2]
        name, _, port = host.partition(":")
        player = Socket(own)
        while b'"is_greeted": true' not in player.frame()[1]:
            # The match doesn't ask yet whether the player is ready.
            pass
        with contextlib.ExitStack() as stack:
            for _ in range(2 * _DESCRIPTORS):
                sock = stack.enter_context(socket.create_connection((name, int(port)), 10))
                with contextlib.suppress(ConnectionError):
                    sock.sendall(CROWDS[crowd].format(host=host, token=token).encode())
            player.send({"type": "ready", "name": "Ada"})
            while b"Ada" not in player.frame()[1]:
                # The seat is taken before the match has begun.
                pass
        for address in (own, public):
            assert_answers(address)
        player.close()


def test_a_spectator_who_sends_pings_and_reads_nothing_is_dropped(tmp_path: Path) -> None:
    with served(tmp_path, "play", "human", "still", "--isolation", "none") as (_, found):
        page = Socket(found[1])
        ping = b"\x89\xfd\0\0\0\0" + 125 * b"x"
        with pytest.raises(ConnectionError):
            # The kernel keeps some MB on the way.
            for _ in range(500):
                page.sock.sendall(1_000 * ping)
        page.close()


def within(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(main(), PATIENCE))


@contextlib.asynccontextmanager
async def serving(app: ASGIApp) -> Any:
    """A server in this process; its configuration and a function that connects to it."""
    listener = bind("127.0.0.1", 0)
    config, started = Config(app), asyncio.Event()
    server = PageServer(config, started.set)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    await started.wait()
    port = listener.getsockname()[1]
    try:
        yield config, lambda: asyncio.open_connection("127.0.0.1", port, limit=1 << 12)
    finally:
        server.should_exit = server.force_exit = True
        await task


async def _hello(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"hi"})


REQUEST = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"


@pytest.mark.parametrize(
    "begin",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: ",
        REQUEST,
        b"GET /x HTTP/1.1\r\nUpgrade: websocket\r\n",
    ],
)
def test_further_bytes_win_no_time(begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.3)

    async def main() -> None:
        async with serving(_hello) as (_, connect):
            reader, writer = await connect()
            writer.write(begin)
            with contextlib.suppress(ConnectionError):
                while not reader.at_eof():
                    writer.write(b"a")
                    await writer.drain()
                    with contextlib.suppress(asyncio.TimeoutError):
                        await asyncio.wait_for(reader.read(1000), 0.02)
            writer.close()

    within(main)


@contextlib.asynccontextmanager
async def small_server() -> Any:
    """A server with eight places; players ask for an address that begins with /seat."""
    async with serving(_hello) as (config, connect):
        config.places, config.has_token = 8, lambda scope: scope["path"].startswith("/seat")
        yield connect


async def is_closed(reader: asyncio.StreamReader) -> bool:
    try:
        return await reader.read(1) == b""
    except ConnectionError:
        return True


def test_beyond_the_number_of_connections_a_new_one_is_closed_at_once() -> None:
    async def main() -> None:
        async with small_server() as connect:
            held = [await connect() for _ in range(8)]
            reader, writer = await connect()
            assert await is_closed(reader)
            # The others stay, and a place that is given up is free.
            held[0][1].write(b"GET /seat HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert (await held[0][0].readline()).startswith(b"HTTP/1.1 200")
            held[1][1].close()
            await held[1][1].wait_closed()
            again, more = await connect()
            more.write(b"GET /seat HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert (await again.readline()).startswith(b"HTTP/1.1 200")
            for _, one in (*held, (reader, writer), (again, more)):
                one.close()

    within(main)


@pytest.mark.parametrize("upgrade", [b"", b"Connection: Upgrade\r\nUpgrade: websocket\r\n"], ids=["a request", "a socket"])
def test_the_last_quarter_of_the_places_is_for_players(upgrade: bytes) -> None:
    async def main() -> None:
        async with small_server() as connect:
            held = [await connect() for _ in range(6)]
            for path, is_let_in in ((b"/page", False), (b"/seat", True)):
                reader, writer = await connect()
                writer.write(b"GET " + path + b" HTTP/1.1\r\nHost: localhost\r\n" + upgrade + b"\r\n")
                assert await is_closed(reader) == (not is_let_in)
                held.append((reader, writer))
            for _, one in held:
                one.close()

    within(main)


@pytest.mark.parametrize(("begin", "frame"), [(b"", b"\x81\x80\0\0\0\0"), (b"\x01\x80\0\0\0\0", b"\x00\x80\0\0\0\0")])
def test_a_spectator_who_sends_very_many_messages_or_parts_of_one_is_dropped(begin: bytes, frame: bytes, tmp_path: Path) -> None:
    """Each is empty, so no limit of their size holds them."""
    with served(tmp_path, "play", "human", "still", "--isolation", "none") as (_, found):
        page = Socket(found[1])
        page.sock.sendall(begin)
        with pytest.raises(ConnectionError):
            for _ in range(100):
                page.sock.sendall(100_000 * frame)
        page.close()
