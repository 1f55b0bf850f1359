"""Finds the files of this machine that a bot's program needs: its interpreter and the interpreter's libraries.

These files are visible inside the sandbox, so a hand-in must not influence the choice. This module examines only programs that the
user named or that belong to the system, never the first line of a bot's file.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

from referee.support.files import open_regular

#: Distinguishes a runtime's folder, which may be shown whole, from a home folder that contains a ``bin``.
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
    "pkg/tool",
)
_SYSTEM = ("/usr/", "/bin/", "/sbin/", "/lib/", "/lib64/", "/etc/alternatives/")
_SHIMS = re.compile(r"/shims/python[\d.]*$")


#: The referee's own Python, by a path without "..": a sandbox shows it at this path. Links in its folder's path are resolved. The last link
#: is not, because it leads out of the virtual environment.
OWN_PYTHON = os.path.join(os.path.realpath(os.path.dirname(sys.executable)), os.path.basename(sys.executable))


@cache
def needs(program: str) -> tuple[str, ...]:
    """Return the absolute paths of folders and files that a program needs to start, without those of the system.

    Each step of a chain of links is included, because all must exist inside. A virtual environment includes its base Python.
    """
    paths = [os.path.abspath(program)]
    while os.path.islink(paths[-1]) and len(paths) < 40:
        paths.append(os.path.normpath(os.path.join(os.path.dirname(paths[-1]), os.readlink(paths[-1]))))
    # A folder on the path can be a link, too.
    paths.append(os.path.realpath(program))
    return tuple(dict.fromkeys(need for path in paths if not path.startswith(_SYSTEM) for need in _around(path)))


def _around(path: str) -> list[str]:
    """Return the folder of the runtime to which a program belongs, or only the program."""
    folder = Path(path).parent
    prefix = folder.parent
    if folder.name not in ("bin", "Scripts") or str(prefix) == "/" or not any(any(prefix.glob(mark)) for mark in _MARKS):
        return [path]
    paths = [str(prefix)]
    base = _base_of(prefix / "pyvenv.cfg")
    if base is not None and not f"{base}/".startswith(_SYSTEM):
        paths += needs(base)
    return paths


def is_one(path: str) -> bool:
    """True if a program is an interpreter of this machine and not a user's file."""
    return path.startswith(_SYSTEM) or _around(path) != [path]


def _base_of(config: Path) -> str | None:
    """Return the base interpreter of a virtual environment."""
    try:
        text = config.read_text("utf-8", "replace")
    except OSError:
        return None
    values = dict(re.findall(r"^\s*(\S+)\s*=\s*(.+?)\s*$", text, re.MULTILINE))
    home = values.get("home")
    if home is None:
        return None
    # The file could name any folder. So the folder must contain a Python, and only that Python is shown.
    prefix = Path(home).parent
    if Path(home).name != "bin" or not any(any(prefix.glob(mark)) for mark in ("lib/python3*/os.py", "lib64/python3*/os.py")):
        return None
    names = [os.path.basename(values.get("executable", "")), "python3", "python"]
    return next((str(Path(home, name)) for name in names if name and Path(home, name).is_file()), None)


def first_line(script: str) -> list[str]:
    """Return the words after ``#!`` of a script; empty if it has no such line."""
    try:
        with open_regular(Path(script)) as file:
            first = file.readline(256)
    except OSError:
        return []
    return os.fsdecode(first[2:].strip()).split() if first.startswith(b"#!") else []


def is_binary(program: str) -> bool:
    """True if a file is a program in machine code of Linux."""
    try:
        with open_regular(Path(program)) as file:
            return file.read(4) == b"\x7fELF"
    except OSError:
        return False


def is_of_system(path: str) -> bool:
    """True if a path is in a folder that every sandbox shows."""
    return path.startswith(_SYSTEM)


@cache
def without_shim(program: str) -> str:
    """Return the real program behind a version manager's shim, which needs the manager and its settings: of pyenv, and of rustup."""
    name = os.path.basename(program)
    if os.path.basename(os.path.realpath(program)) == "rustup" and name != "rustup":
        return _said([os.path.join(os.path.dirname(program), "rustup"), "which", name]) or program
    if not _SHIMS.search(program):
        return program
    return _said([program, "-c", "import sys; print(sys.executable)"]) or program


def _said(line: list[str]) -> str:
    """Return the output of a program of this machine, "" if it fails. It runs outside the current folder, whose files could change the result."""
    try:
        result = subprocess.run(line, capture_output=True, text=True, timeout=10, check=True, cwd="/")
    except (OSError, subprocess.SubprocessError):
        return ""
    return result.stdout.strip()


def is_passable(folder: str) -> bool:
    """True if every user of this machine can pass through a folder to a name that they know."""
    real = Path(os.path.realpath(folder))
    return all(place.stat().st_mode & 0o001 for place in (real, *real.parents))


def is_open_to_all(path: str) -> bool:
    """True if every user of this machine can read a file or folder."""
    try:
        mode = os.stat(path).st_mode
        if not mode & 0o004 or (os.path.isdir(path) and not mode & 0o001):
            return False
        return all(parent.stat().st_mode & 0o001 for parent in Path(os.path.realpath(path)).parents)
    except OSError:
        return False
