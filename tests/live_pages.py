"""Commands that serve pages, as processes, and the sockets of their pages."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from typing import TYPE_CHECKING, Any

from serving import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextlib.contextmanager
def served(folder: Path, *arguments: str, descriptors: int | None = None) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A command that serves pages, and the addresses that it prints; it may have no more than so many ``descriptors`` open.

    What it prints later must have no traceback.
    """
    environment = {**os.environ, "TMPDIR": str(folder)}
    command = [sys.executable, "-m", "referee", *arguments, "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        command if descriptors is None else ["prlimit", f"--nofile={descriptors}:{descriptors}", *command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process, addresses(process, 2 if "human" in arguments else 1)
    finally:
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in said, said[:5000]


def addresses(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    found: list[str] = []
    for line in process.stdout:
        found += re.findall(r"http://\S+/", line)
        if len(found) >= count:
            break
    return found


def assert_answers(address: str) -> None:
    """The page answers, once the server has noticed that a crowd has gone and has ended its work for it."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                assert answer.status == 200
                return
        except (OSError, http.client.HTTPException):
            if time.monotonic() > deadline:
                raise


class Socket:
    """A socket of a page: no more than the handshake, and what comes."""

    def __init__(self, address: str) -> None:
        found = re.fullmatch(r"http://([^:/]+):(\d+)/([^/]+)/", address)
        assert found
        self.sock = socket.create_connection((found[1], int(found[2])), PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        self.sock.sendall(
            f"GET /{found[3]}/socket HTTP/1.1\r\nHost: {found[1]}:{found[2]}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.rest = b""
        try:
            while b"\r\n\r\n" not in self.rest:
                chunk = self.sock.recv(4096)
                assert chunk, "it was let in"
                self.rest += chunk
            assert self.rest.startswith(b"HTTP/1.1 101")
        except BaseException:
            self.close()
            raise
        self.rest = self.rest.partition(b"\r\n\r\n")[2]

    def frame(self) -> tuple[int, bytes]:
        """The kind of the next frame (8: it closes) and its data."""
        head = self._take(2)
        size = head[1] & 127
        if size >= 126:
            size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
        return head[0] & 15, self._take(size)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message of at most 125 bytes, masked with zeros."""
        data = json.dumps(message).encode()
        self.sock.sendall(bytes((0x81, 0x80 | len(data), 0, 0, 0, 0)) + data)

    def _take(self, count: int) -> bytes:
        while len(self.rest) < count:
            chunk = self.sock.recv(65_536)
            assert chunk
            self.rest += chunk
        data, self.rest = self.rest[:count], self.rest[count:]
        return data

    def close(self) -> None:
        self.sock.close()
