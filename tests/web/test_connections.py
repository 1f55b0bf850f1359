"""The connections of a server: crowds of them, of one address and of several, and those that send, read or leave slowly."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import socket
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from live_pages import Socket, served
from sandboxes import need
from serving import PATIENCE

from referee.web import connections
from referee.web.connections import Config, Crowd, Limits
from referee.web.serve import PageServer, bind

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

#: One after the other on one connection; the answer to the last one isn't awaited.
CROWDS = {
    "a byte after an answer": ("OPTIONS /x HTTP/1.1\r\nHost: {host}\r\n\r\n", "G"),
    "a question about a match that still runs": ("GET /{token}/check HTTP/1.1\r\nHost: {host}\r\n\r\n",),
    "half a request": ("GET /{token}/ HTTP/1.1\r\nHost: {host}",),
    "a body that doesn't come": ("POST /{token}/check HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000\r\n\r\n", "a"),
}
_DESCRIPTORS = 128


@pytest.mark.parametrize("crowd", CROWDS)
def test_a_crowd_of_one_address_takes_no_descriptor_of_a_player(crowd: str, tmp_path: Path) -> None:
    need(shutil.which("prlimit") is not None, "prlimit is missing")
    *before, last = CROWDS[crowd]
    with served(tmp_path, "play", "human", "still", "--isolation", "none", descriptors=_DESCRIPTORS) as (_, found):
        own, public = sorted(found, key=lambda address: address != found[0])
        host = urllib.request.Request(public).host
        token = public.rstrip("/").rpartition("/")[2]
        name, _, port = host.partition(":")
        with contextlib.ExitStack() as stack:
            for _ in range(2 * _DESCRIPTORS):
                # A server that is choked doesn't answer.
                sock = stack.enter_context(socket.create_connection((name, int(port)), 10))
                with contextlib.suppress(ConnectionError):
                    for text in before:
                        sock.sendall(text.format(host=host, token=token).encode())
                        assert sock.recv(4096)
                    sock.sendall(last.format(host=host, token=token).encode())
            for address in (own, public):
                with urllib.request.urlopen(address, timeout=10) as answer:
                    assert answer.status == 200
            player = Socket(own)
            assert player.frame()[0] in (1, 2)
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
        REQUEST[:-2] + b"Content-Length: 9999999\r\n\r\n",
        b"GET /x HTTP/1.1\r\nUpgrade: websocket\r\n",
    ],
)
def test_further_bytes_win_no_time(begin: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "REQUEST_SECONDS", 0.3)
    monkeypatch.setattr(connections, "SWEEP_SECONDS", 0.05)

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


def test_a_reader_who_reads_nothing_is_dropped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "READING_SECONDS", 0.2)
    monkeypatch.setattr(connections, "SWEEP_SECONDS", 0.05)
    ended = asyncio.Event()

    async def much(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            while True:
                await send({"type": "http.response.body", "body": bytes(1 << 16), "more_body": True})
        finally:
            ended.set()

    async def main() -> None:
        async with serving(much) as (_, connect):
            _, writer = await connect()
            writer.write(REQUEST)
            await ended.wait()
            writer.close()

    within(main)


def test_a_request_whose_visitor_has_left_is_no_more_worked_on() -> None:
    begun, ended = asyncio.Event(), asyncio.Event()

    async def waits(scope: Scope, receive: Receive, send: Send) -> None:
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    async def main() -> None:
        async with serving(waits) as (_, connect):
            _, writer = await connect()
            writer.write(REQUEST)
            await begun.wait()
            writer.close()
            await ended.wait()

    within(main)


class Line:
    """A connection that is made up."""

    def __init__(self, address: str) -> None:
        self.address = address
        self.is_there = True

    def get_extra_info(self, name: str) -> tuple[str, int]:
        return self.address, 1

    def is_closing(self) -> bool:
        return not self.is_there

    def abort(self) -> None:
        self.is_there = False


def crowded(act: Callable[[Crowd], None]) -> None:
    async def main() -> None:
        act(Crowd(Limits(silent=4, watching=4, playing=4, guests=12), lambda path: path.removeprefix("/seat-") if "seat" in path else None))

    within(main)


def entered(crowd: Crowd, address: str, path: str | None = None, kind: str = "answer") -> Line:
    line = Line(address)
    place = crowd.enter(line)  # type: ignore[arg-type]
    if path is not None:
        getattr(crowd, kind)(place, path)
    return line


@pytest.mark.parametrize("path", [None, "/page"])
def test_the_address_with_the_most_gives_way(path: str | None) -> None:
    def act(crowd: Crowd) -> None:
        mine = entered(crowd, "10.0.0.1", path)
        theirs = [entered(crowd, "10.0.0.2", path) for _ in range(50)]
        assert mine.is_there
        assert sum(line.is_there for line in theirs) in (3, 5)
        assert theirs[-1].is_there
        assert not theirs[0].is_there

    crowded(act)


def test_sockets_of_spectators_give_way_to_another_address_only() -> None:
    def act(crowd: Crowd) -> None:
        theirs = [entered(crowd, "10.0.0.2", "/page", "watch") for _ in range(4)]
        assert not crowd.watch(crowd.enter(Line("10.0.0.2")), "/page")  # type: ignore[arg-type]
        assert all(line.is_there for line in theirs)
        assert crowd.watch(crowd.enter(Line("10.0.0.1")), "/page")  # type: ignore[arg-type]
        assert [line.is_there for line in theirs] == [True, True, True, False]

    crowded(act)


def test_neither_spectators_nor_another_seat_take_the_place_of_a_player() -> None:
    def act(crowd: Crowd) -> None:
        mine = entered(crowd, "10.0.0.1", "/seat-hunter", "watch")
        for kind in ("answer", "watch"):
            for path in (None, "/page", "/seat-prey"):
                for _ in range(50):
                    entered(crowd, "10.0.0.1", path, kind)
        assert mine.is_there

    crowded(act)


def test_one_machine_with_many_ipv6_addresses_counts_as_one() -> None:
    def act(crowd: Crowd) -> None:
        mine = entered(crowd, "2001:db8:1::1")
        for number in range(50):
            entered(crowd, f"2001:db8:2::{number:x}")
        assert mine.is_there

    crowded(act)


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
