"""``python -m referee`` and the console script ``referee``."""

from __future__ import annotations

import gc
import os
import signal
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import NoReturn


def main() -> None:
    """Run the command line."""
    _open_missing()
    # Until a command runs there is nothing to clean up.
    signal.signal(signal.SIGINT, _leave)
    # What is loaded at the start stays: collecting among it costs a fifth of the start and frees nothing.
    gc.disable()
    # A command has no plugins of pydantic, and a search for them reads the metadata of every package.
    if searches := "PYDANTIC_DISABLE_PLUGINS" not in os.environ:
        os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    from referee.cli.main import run

    if searches:
        # Bots have the environment of the command.
        del os.environ["PYDANTIC_DISABLE_PLUGINS"]
    run(sys.argv[1:])


def _leave(number: int, _frame: object) -> NoReturn:
    sys.exit(128 + number)


def _open_missing() -> None:
    """Give a standard descriptor that was closed to nothing, so that no pipe to a bot gets its number."""
    for fd, name in enumerate(("stdin", "stdout", "stderr")):
        try:
            os.fstat(fd)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, "r" if fd == 0 else "w", encoding="utf-8"))


if __name__ == "__main__":
    main()
