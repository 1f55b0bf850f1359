"""The files that a bot is made of, as far as they can be found: whenever one of them changes, ``referee play --watch`` plays again."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.replay.paths import FOLDER, SUFFIX
from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from referee.isolation.program import Program

#: The most files of one bot's folder that are looked at, and the most bytes of a file that are searched for imports.
_MOST_FILES = 10_000
_MOST_BYTES = 1 << 20
#: Folders that hold no code of the bot's author.
_FOREIGN = frozenset({"__pycache__", "node_modules", "venv", "site-packages"})
#: Swap files and backups of editors, compiled Python, replays, logs.
_BESIDE = re.compile(r"^\.|^#.*#$|^4913$|~$|\.(sw[a-p]|swx|bak|orig|tmp|py[cod]|log)$|" + re.escape(SUFFIX) + "$", re.IGNORECASE)
_IMPORT = re.compile(rb"^[ \t]*(?:import[ \t]+([^#\n;]+)|from[ \t]+(\w+)[\w.]*[ \t]+import\b)", re.MULTILINE)
#: Files that people write and bots don't.
_SOURCES = frozenset(
    [
        ".py",
        ".pyx",
        ".js",
        ".mjs",
        ".cjs",
        ".ts",
        ".mts",
        ".java",
        ".kt",
        ".scala",
        ".c",
        ".h",
        ".cc",
        ".cpp",
        ".cxx",
        ".hpp",
        ".hh",
        ".rs",
        ".go",
        ".cs",
        ".fs",
        ".sh",
        ".rb",
        ".lua",
        ".pl",
        ".jl",
        ".hs",
        ".ml",
        ".zig",
        ".toml",
    ]
)


class Stamp(NamedTuple):
    """What changes when somebody writes a file: its time of change in nanoseconds, its size and its number on the disk."""

    changed_ns: int
    size: int
    number: int


def is_ignored(name: str) -> bool:
    """True for the name of a file or folder that doesn't belong to a bot: a replay, a log, an editor's swap file, compiled Python."""
    return name in _FOREIGN or bool(_BESIDE.search(name))


def is_source(path: Path) -> bool:
    """True for a file that people write, by its ending. Any other file in a bot's folder may be its own output."""
    return path.suffix.lower() in _SOURCES


def stamps(files: Iterable[Path]) -> dict[Path, Stamp]:
    """Return the stamp of each file that exists."""
    found = {}
    for file in files:
        try:
            status = file.stat()
        except (OSError, ValueError):
            continue
        found[file] = Stamp(status.st_mtime_ns, status.st_size, status.st_ino)
    return found


def own_files(program: Program) -> set[Path]:
    """Return the files that the command line of a program names; a folder's own are not among them."""
    named = [Path(piece.source) for piece in program.pieces] or [Path(program.argv[0])]
    return {path for path in named if not path.is_dir()}


def files_of(program: Program) -> set[Path]:
    """Return the files of a program.

    They are those that its command line names, and with each of them: for Python the modules that it imports from its folder, for other
    languages the files with the same ending beside it. Of a folder they are all files in it except ignored ones.
    """
    found: set[Path] = set()
    for piece in program.pieces:
        path = Path(piece.source)
        if path.is_dir():
            found.update(_in_folder(path, with_folders=False))
        elif path.suffix == ".py":
            found |= _modules(path)
        else:
            found |= {path, *_alike(path)}
    return found | own_files(program)


def folders_of(program: Program) -> set[Path]:
    """Return the folders in which a change of the program's files, or a new file, is noticed. Links are followed."""
    found = {folder for file in files_of(program) for folder in (file.parent, file.resolve().parent)}
    for piece in program.pieces:
        if Path(piece.source).is_dir():
            found |= {Path(piece.source), *_in_folder(Path(piece.source), with_folders=True)}
    return {folder for folder in found if folder.is_dir()}


def _in_folder(top: Path, *, with_folders: bool) -> Iterator[Path]:
    """Yield the files below a folder, or its folders, without those that are ignored."""
    replays = FOLDER.absolute()
    count = 0
    for place, folders, files in os.walk(top):
        here = Path(place)
        folders[:] = sorted(name for name in folders if not is_ignored(name) and here / name != replays)
        for name in folders if with_folders else sorted(name for name in files if not is_ignored(name)):
            count += 1
            if count > _MOST_FILES:
                return
            yield here / name


def _alike(path: Path) -> Iterator[Path]:
    """Yield the files beside a file that have its ending, if it has one."""
    if path.suffix:
        try:
            yield from (beside for beside in path.parent.glob(f"*{path.suffix}") if not is_ignored(beside.name) and beside.is_file())
        except OSError:
            return


def _modules(path: Path) -> set[Path]:
    """Return a Python file with the modules and packages of its folder that it imports, and those that they import.

    The text is searched, not parsed: a file with an error in it keeps its imports.
    """
    root, found, waiting = path.parent, {path}, [path]
    while waiting and len(found) < _MOST_FILES:
        for name in _imported(waiting.pop()):
            package = root / name
            modules = [package.with_suffix(".py")]
            if package.is_dir():
                modules += (file for file in _in_folder(package, with_folders=False) if file.suffix == ".py")
            new = {module for module in modules if module.is_file()} - found
            found |= new
            waiting += sorted(new)
    return found


def _imported(path: Path) -> set[str]:
    """Return the first part of the name of each module that a file imports."""
    try:
        with open_regular(path) as file:
            text = file.read(_MOST_BYTES)
    except (OSError, ValueError):
        return set()
    names = set()
    for several, one in _IMPORT.findall(text):
        for part in [one] if one else several.split(b","):
            words = part.decode("utf-8", "replace").split()
            if words and (name := words[0].partition(".")[0]).isidentifier():
                names.add(name)
    return names
