"""What of this machine a bot's program needs to run: its interpreter, with the libraries that belong to it.

What is found here is shown inside the sandbox, so nothing that lies in a submission may have a say: only programs that the person
at the keyboard named, or that the system has, are looked at, never the first line of a bot's own file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from referee.support.files import open_regular

#: What tells a runtime's own folder, which may be shown whole, from somebody's home that happens to have a bin.
_MARKS = (
    "pyvenv.cfg",
    "lib/python3*/os.py",
    "lib64/python3*/os.py",
    "release",
    "lib/node_modules",
    "include/node",
    "lib/ruby",
    "conda-meta",
    "lib/rustlib",
)
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/etc/alternatives/")
_SHIMS = re.compile(r"/shims/python[\d.]*$")


#: The referee's own Python, by a path without "..": a sandbox shows it at that place. Its folder's links are followed, its own isn't, since
#: that would leave its virtual environment.
OWN_PYTHON = os.path.join(os.path.realpath(os.path.dirname(sys.executable)), os.path.basename(sys.executable))


@cache
def needs(program: str) -> tuple[str, ...]:
    """Folders and files, by absolute path, without which a program can't start; those of the system are left out.

    A link is followed step by step, since each step must be there. A virtual environment brings the Python that it was made from.
    """
    found: dict[str, None] = {}
    path = os.path.abspath(program)
    for _ in range(40):
        if not path.startswith(_SYSTEM):
            for need in _around(path):
                found[need] = None
        if not os.path.islink(path):
            break
        path = os.path.normpath(os.path.join(os.path.dirname(path), os.readlink(path)))
    # What a folder on the way is called may be a link, too.
    real = os.path.realpath(program)
    if not real.startswith(_SYSTEM):
        found |= dict.fromkeys(_around(real))
    return tuple(found)


def _around(path: str) -> list[str]:
    """The folder of a runtime that a program belongs to, or the program alone."""
    folder = Path(path).parent
    prefix = folder.parent
    if folder.name not in ("bin", "Scripts") or not any(any(prefix.glob(mark)) for mark in _MARKS):
        return [path]
    if str(prefix) == "/":
        return [path]
    found = [str(prefix)]
    base = _base_of(prefix / "pyvenv.cfg")
    if base is not None and not f"{base}/".startswith(_SYSTEM):
        found += needs(base)
    return found


def is_one(path: str) -> bool:
    """Whether a program is an interpreter of this machine rather than somebody's own file."""
    return path.startswith(_SYSTEM) or _around(path) != [path]


def _base_of(config: Path) -> str | None:
    """The interpreter that a virtual environment was made from."""
    try:
        text = config.read_text("utf-8", "replace")
    except OSError:
        return None
    values = dict(re.findall(r"^\s*(\S+)\s*=\s*(.+?)\s*$", text, re.MULTILINE))
    home = values.get("home")
    if home is None:
        return None
    # Whoever writes such a file could name any folder: it must be one that has a Python, and nothing but that is shown of it.
    prefix = Path(home).parent
    if Path(home).name != "bin" or not any(any(prefix.glob(mark)) for mark in ("lib/python3*/os.py", "lib64/python3*/os.py")):
        return None
    names = [os.path.basename(values.get("executable", "")), "python3", "python"]
    return next((str(Path(home, name)) for name in names if name and Path(home, name).is_file()), None)


def first_line(script: str) -> list[str]:
    """The words after ``#!`` of a script, none if it has no such line."""
    try:
        with open_regular(Path(script)) as file:
            first = file.readline(256)
    except OSError:
        return []
    return os.fsdecode(first[2:].strip()).split() if first.startswith(b"#!") else []


def is_of_system(path: str) -> bool:
    """Whether a path lies in the folders that every sandbox shows."""
    return path.startswith(_SYSTEM)


@cache
def without_shim(program: str) -> str:
    """The real interpreter behind a version manager's stand-in, which is a script that needs the manager."""
    if not _SHIMS.search(program):
        return program
    try:
        asked = subprocess.run([program, "-c", "import sys; print(sys.executable)"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return program
    return asked.stdout.strip() or program


def is_open_to_all(path: str) -> bool:
    """Whether any user of this machine can reach a file or folder and read it."""
    try:
        mode = os.stat(path).st_mode
        if not mode & 0o004 or (os.path.isdir(path) and not mode & 0o001):
            return False
        path = os.path.realpath(path)
        while path != "/":
            path = os.path.dirname(path)
            if not os.stat(path).st_mode & 0o001:
                return False
    except OSError:
        return False
    return True
