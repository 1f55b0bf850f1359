"""A separate program that runs the command of a build: it merges the output, and in a sandbox sends the built files back.

    python -I -S builder.py keep COMMAND [ARGUMENT...]
    python -I -S builder.py send SOURCE COMMAND [ARGUMENT...]

Theory of operation. ``keep`` becomes the command, with all its output on stderr. ``send`` runs in a sandbox: it copies SOURCE to the current
folder, which is in memory, runs the command there, and after its success writes the files of the folder to stdout. So no built file
touches the machine's disk before the referee has counted it. The referee reads the stream as untrusted data (``build_output``), because the command
could have written it.

The stream is a sequence of entries: ``d PATH``, ``f MODE SIZE PATH`` with SIZE bytes behind the line, ``l TARGET PATH``, at last ``end``. MODE is
``x`` for an executable file, else ``-``. Paths and targets are hexadecimal. Other kinds of files, such as sockets, are left out.

The script runs without the rest of the package.
"""

from __future__ import annotations

import os
import shutil
import signal
import stat
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_CHUNK = 1 << 16


def main(argv: list[str]) -> None:
    """Run the command; in a sandbox send back what it built."""
    # Python ignores SIGPIPE; programs expect the default.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.umask(0o022)
    if argv[1] == "keep":
        os.dup2(2, 1)
        become(argv[2:])
    fetch(argv[2])
    if not (child := os.fork()):
        os.dup2(2, 1)
        become(argv[3:])
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code:
        os._exit(code if code > 0 else 128 - code)
    with os.fdopen(1, "wb") as stream:
        send(stream.write)
    os._exit(0)


def fetch(source: str) -> None:
    """Copy the files to the current folder, and let the command change them."""
    for folder, names, files in os.walk(source):
        place = os.path.relpath(folder, source)
        for name in names + files:
            path, target = os.path.join(folder, name), os.path.join(place, name)
            if os.path.islink(path):
                os.symlink(os.readlink(path), target)
            elif name in names:
                os.mkdir(target, 0o755)
            else:
                try:
                    shutil.copyfile(path, target)
                except OSError as error:
                    fail(f"failed to copy the files: {error.strerror}", 1)
                os.chmod(target, 0o755 if os.stat(path).st_mode & 0o100 else 0o644)


def become(command: list[str]) -> None:
    """Replace this process by the command, or print why that fails."""
    try:
        os.execv(command[0], command)  # noqa: S606 - the author of the bot named it
    except OSError as error:
        fail(f"failed to execute {command[0]}: {error.strerror}", 127 if isinstance(error, FileNotFoundError) else 126)


def fail(text: str, status: int) -> None:
    """Print the reason, and exit."""
    os.write(2, f"builder: {text}\n".encode("utf-8", "backslashreplace"))
    os._exit(status)


def send(write: Callable[[bytes], object]) -> None:
    """Write the entries of the current folder, each folder before what is in it."""
    for folder, names, files in os.walk("."):
        names.sort()
        for name in sorted(names + files):
            path = os.path.normpath(os.path.join(folder, name))
            facts = os.lstat(path)
            place = os.fsencode(path).hex()
            if stat.S_ISLNK(facts.st_mode):
                write(f"l {os.fsencode(os.readlink(path)).hex()} {place}\n".encode())
            elif stat.S_ISDIR(facts.st_mode):
                write(f"d {place}\n".encode())
            elif stat.S_ISREG(facts.st_mode):
                write(f"f {'x' if facts.st_mode & 0o111 else '-'} {facts.st_size} {place}\n".encode())
                send_file(path, facts.st_size, write)
    write(b"end\n")


def send_file(path: str, size: int, write: Callable[[bytes], object]) -> None:
    """Write exactly ``size`` bytes: a process that the command left may be changing the file."""
    with open(path, "rb") as file:
        while size > 0:
            data = file.read(min(_CHUNK, size)) or bytes(min(_CHUNK, size))
            write(data)
            size -= len(data)


if __name__ == "__main__":
    main(sys.argv)
