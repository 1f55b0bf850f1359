"""Attacks on the server of a running match: the match goes on, the server's memory stays small, and it answers again when they end."""

from __future__ import annotations

import contextlib
import socket
import threading
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from served_pages import Socket, assert_answers, served

from referee.replay.reader import verify
from referee.support.descriptors import raise_limit

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

_SILENT = 4_000


@contextlib.contextmanager
def silent_connections(address: str) -> Iterator[None]:
    """Very many connections that say nothing; those that the server closes are opened again."""
    name, _, port = urllib.request.Request(address).host.partition(":")
    is_over = threading.Event()
    held: list[socket.socket] = []

    def attack() -> None:
        while not is_over.is_set():
            if len(held) == _SILENT:
                held.pop(0).close()
            with contextlib.suppress(OSError):
                held.append(socket.create_connection((name, int(port)), 1))

    with attacking(attack, is_over):
        yield
    for sock in held:
        sock.close()


@contextlib.contextmanager
def unread_pings(address: str) -> Iterator[None]:
    """Sockets of spectators that send pings and read no answer; those that the server closes are opened again."""
    ping = b"\x89\xfd\0\0\0\0" + 125 * b"x"
    is_over = threading.Event()

    def attack() -> None:
        while not is_over.is_set():
            with contextlib.suppress(OSError, AssertionError), contextlib.closing(Socket(address)) as page:
                page.sock.settimeout(1)
                while not is_over.is_set():
                    page.sock.sendall(1_000 * ping)

    with contextlib.ExitStack() as stack:
        for _ in range(8):
            stack.enter_context(attacking(attack, is_over))
        yield


@contextlib.contextmanager
def attacking(attack: Callable[[], None], is_over: threading.Event) -> Iterator[None]:
    thread = threading.Thread(target=attack)
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def peak(process: psutil.Process) -> int:
    """Return the most memory that the server of this command's pages has had, in bytes."""
    server = next(child for child in process.children(recursive=True) if "referee.pages.serve" in child.cmdline())
    status = Path(f"/proc/{server.pid}/status").read_text()
    return 1024 * int(status.partition("VmHWM:")[2].split()[0])


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("attack", [silent_connections, unread_pings], ids=["silent connections", "unread pings"])
def test_a_match_goes_on_under_attack(attack: Callable[[str], AbstractContextManager[None]], tmp_path: Path) -> None:
    if raise_limit() < _SILENT + 200:
        pytest.skip("this user may not have so many descriptors")
    path = tmp_path / "match.gz"
    command = ("play", "straight", "still", "--isolation", "none", "--seed", "1", "--max-steps", "240", "--out", str(path))
    with served(tmp_path, *command, "--live", "--pace", "30", "--stay") as (process, (address, *_)):
        assert process.stdout is not None
        with attack(address):
            said = next(line for line in process.stdout if "replay" in line)
        assert "match.gz" in said
        assert peak(psutil.Process(process.pid)) < 300 << 20
        assert_answers(address)
    assert verify(path).problem is None
