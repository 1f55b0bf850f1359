"""Serves the site of the workshop to the browsers of this machine, with the headers that let a bot be interrupted."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from typing_extensions import override

from referee.errors import UsageError
from referee.support.words import program
from referee.workshop.build import HEADERS, is_site

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

_HOST = "127.0.0.1"


class Handler(SimpleHTTPRequestHandler):
    """Serves files with the headers of the workshop, and prints nothing."""

    @override
    def end_headers(self) -> None:
        """Add the headers of the workshop."""
        for name, value in HEADERS.items():
            self.send_header(name, value)
        super().end_headers()

    @override
    def log_message(self, *_: Any) -> None:
        """Stay silent."""


class _Server(ThreadingHTTPServer):
    @override
    def handle_error(self, *_: Any) -> None:
        """Stay silent: a browser that leaves early is no error."""


def serve(folder: Path, port: int, on_start: Callable[[str], None]) -> None:
    """Serve a workshop until Ctrl-C; ``on_start`` gets its address.

    UsageError if the folder isn't a workshop, or if the port isn't free.
    """
    if not is_site(folder):
        what = "is not a workshop" if folder.exists() else "does not exist"
        raise UsageError(f"{folder} {what}. Build a workshop in a new folder: {program()} workshop build FOLDER")
    try:
        server = _Server((_HOST, port), partial(Handler, directory=str(folder)))
    except OSError as error:
        raise UsageError(f"Nothing can listen on {_HOST}:{port} ({error.strerror}). Name a free port with --port.") from None
    with server, suppress(KeyboardInterrupt):
        on_start(f"http://{_HOST}:{server.server_address[1]}/")
        server.serve_forever()
