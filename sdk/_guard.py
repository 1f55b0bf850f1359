"""Reserves stdout for answers.

When a referee runs the bot, stdin and stdout carry the protocol. Importing ``sdk`` moves descriptors 0 and 1 to other numbers. Then
everything that ``print``, C code or a child process writes to stdout goes to stderr, the bot's log, and no other code can read the
questions.

From then on the bot also writes the stacks of its threads to stderr when the referee sends it SIGURG, which it does when an answer is
late. Python's faulthandler doesn't wait for the interpreter, so it also works in an endless loop.
"""

import faulthandler
import os
import sys

_SIGURG = 16 if sys.platform == "darwin" else 23


_channel: tuple[int, int] | None = None


def is_under_referee() -> bool:
    """True if a referee started this program."""
    return bool(os.environ.get("REFEREE_PROTOCOL"))


def guard() -> tuple[int, int]:
    """Move the protocol's descriptors to numbers that no other code uses, and return these. Later calls return the same numbers."""
    global _channel  # noqa: PLW0603 - there is one stdout
    if _channel is None:
        _channel = os.dup(0), os.dup(1)
        nothing = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nothing, 0)
        os.close(nothing)
        os.dup2(2, 1)
        reconfigure = getattr(sys.stdout, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(line_buffering=True)
        # The number is that of <signal.h>: the module signal takes long to import. Other programs ignore this signal.
        faulthandler.register(_SIGURG, file=2, all_threads=True)
    return _channel
