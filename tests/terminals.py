"""What a program writes to a terminal."""

from __future__ import annotations

import os


def read_to_end(terminal: int) -> bytes:
    """Everything that is written to the other side of a terminal until its last writer has gone; the terminal is closed then."""
    written = b""
    while True:
        try:
            chunk = os.read(terminal, 65_536)
        except OSError:
            break
        if not chunk:
            break
        written += chunk
    os.close(terminal)
    return written
