"""A client of the Debug Adapter Protocol, as an editor is one: just enough to stop a bot at a breakpoint."""

from __future__ import annotations

import json
import socket
from typing import Any


class DebugClient:
    """A debugger that is connected to debugpy on a port of this machine."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=120)
        self._file = self._socket.makefile("rb")
        self._number = 0
        self._kept: list[dict[str, Any]] = []

    def send(self, command: str, **arguments: Any) -> int:
        """Send a request, and return its number."""
        self._number += 1
        body = json.dumps({"seq": self._number, "type": "request", "command": command, "arguments": arguments}).encode()
        self._socket.sendall(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        return self._number

    def _read(self) -> dict[str, Any]:
        length = 0
        while line := self._file.readline().strip():
            name, _, value = line.partition(b":")
            if name.lower() == b"content-length":
                length = int(value)
        assert length, "the adapter has closed the connection"
        found: dict[str, Any] = json.loads(self._file.read(length))
        return found

    def event(self, name: str) -> dict[str, Any]:
        """Wait for an event, and return its body."""
        while True:
            message = next((one for one in self._kept if one.get("event") == name), None)
            if message is not None:
                self._kept.remove(message)
                body: dict[str, Any] = message.get("body", {})
                return body
            self._kept.append(self._read())

    def answer(self, number: int) -> dict[str, Any]:
        """Wait for the response to a request, and return its body."""
        while True:
            message = next((one for one in self._kept if one.get("request_seq") == number), None)
            if message is not None:
                self._kept.remove(message)
                assert message["success"], message
                body: dict[str, Any] = message.get("body", {})
                return body
            self._kept.append(self._read())

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        """Send a request, and return the body of its response."""
        return self.answer(self.send(command, **arguments))

    def close(self) -> None:
        """Hang up."""
        self._file.close()
        self._socket.close()
