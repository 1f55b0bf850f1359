"""Servers for tests: those of the old protocols as processes with scripted clients, and requests to an ASGI application."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import threading
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from commands import Commands
    from starlette.types import ASGIApp

#: How long anything may take before a test gives up, in seconds.
PATIENCE = 60.0


class Server:
    """A server command that runs; ``ports`` are those that it says it listens on."""

    def __init__(self, commands: Commands, folder: Path, *arguments: str) -> None:
        self.folder = folder
        self.process = commands.start(*arguments, cwd=folder)
        self.screen: list[str] = [self.process.stderr.readline()]
        self.ports = [int(port) for port in re.findall(r"127\.0\.0\.1:(\d+)", self.screen[0])]
        self._said = threading.Condition()
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self) -> None:
        for line in self.process.stderr:
            with self._said:
                self.screen.append(line)
                self._said.notify_all()
        with self._said:
            self._said.notify_all()

    def wait_for(self, words: str, *, times: int = 1) -> str:
        """Wait until the screen has so many lines with these words; return the last of them."""
        with self._said:
            assert self._said.wait_for(lambda: sum(words in line for line in self.screen) >= times, PATIENCE), (words, self.screen)
            return [line for line in self.screen if words in line][times - 1]

    def finish(self) -> str:
        """Wait until it leaves by itself; its stdout."""
        said = self.process.stdout.read()
        assert self.process.wait(PATIENCE) == 0, self.screen
        self._reader.join()
        return said

    def result(self) -> dict[str, Any]:
        """What it printed, as ``--json``."""
        found: dict[str, Any] = json.loads(self.finish())
        return found

    def close(self) -> None:
        """End it, if it is still there. A server that doesn't end fails the test, with what it wrote."""
        self.process.terminate()
        self._reader.join(PATIENCE)
        if self._reader.is_alive():
            self.process.kill()
            raise AssertionError(f"the server did not end: {self.screen}")
        self.process.communicate(PATIENCE)


class Client:
    """A scripted client: every wait has an end."""

    def __init__(self, port: int, *lines: str) -> None:
        self.sock = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self._reading = self.sock.makefile("r", newline="\n")
        for line in lines:
            self.say(line)

    def say(self, line: str) -> None:
        """Send a line."""
        self.sock.sendall(f"{line}\n".encode())

    def hear(self) -> str:
        """The next line, "" at the end."""
        return self._reading.readline().removesuffix("\n")

    def rest(self) -> list[str]:
        """All lines that still come."""
        return self._reading.read().splitlines()

    def vanish(self) -> None:
        """Hang up; what hasn't been read is thrown away."""
        self._reading.close()
        self.sock.close()


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
