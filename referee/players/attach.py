"""Runs a Python bot under debugpy and waits for a debugger before the bot's first line. ``under_debugger`` makes its command line.

Run as a program by the bot's own Python: ``attach.py PORT SCRIPT [ARGUMENTS]`` or ``attach.py PORT -m MODULE [ARGUMENTS]``. It imports
nothing of the referee, because that Python need not have it.
"""

from __future__ import annotations

import os
import re
import runpy
import sys
from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from referee.isolation.program import Program

ADDRESS = "127.0.0.1"
#: Options of Python that have no value.
_FLAGS = re.compile(r"-[bBdEiIOPqRsSuvx]+")


def under_debugger(program: Program, port: int) -> Program | None:
    """Return a Python program as one that waits for a debugger on a port of this machine, 0 for a free one; None if it is not Python."""
    python, *words = program.argv
    if not re.fullmatch(r"(python|pypy)[0-9.]*", os.path.basename(python)):  # noqa: PTH119 - this module starts fast
        return None
    count = next((index for index, word in enumerate(words) if not _FLAGS.fullmatch(word)), len(words))
    flags, rest = words[:count], words[count:]
    if not rest or (rest[0].startswith("-") and rest[0] != "-m"):
        return None
    argv = (python, *flags, "-Xfrozen_modules=off", os.path.abspath(__file__), str(port), *rest)  # noqa: PTH100 - as above
    return program._replace(argv=argv, env={**program.env, "PYDEVD_DISABLE_FILE_VALIDATION": "1"})


def main() -> None:
    """Wait for a debugger, then run the bot."""
    port, *words = sys.argv[1:]
    debugpy = import_module("debugpy")
    # The adapter that debugpy starts must not hold the bot's pipes.
    kept = [os.dup(0), os.dup(1)]
    null = os.open(os.devnull, os.O_RDWR)
    for fd in (0, 1):
        os.dup2(null, fd)
    try:
        address, chosen = debugpy.listen((ADDRESS, int(port)))
    finally:
        for fd, old in enumerate(kept):
            os.dup2(old, fd)
            os.close(old)
        os.close(null)
    sys.stderr.write(f"debugpy waits for a debugger on {address}:{chosen}\n")
    sys.stderr.flush()
    debugpy.wait_for_client()
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = os.getcwd()  # noqa: PTH109 - as above
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = words
        sys.path[0] = os.path.dirname(os.path.abspath(words[0]))  # noqa: PTH100, PTH120 - as above
        runpy.run_path(words[0], run_name="__main__")


if __name__ == "__main__":
    main()
