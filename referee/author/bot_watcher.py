"""Notices changes of bots' files in a thread of its own, while matches are played and between them."""

from __future__ import annotations

import os
import re
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, NamedTuple, final

from referee.replay.paths import FOLDER, SUFFIX
from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from referee.isolation.program import Program


#: How long the system's news of a change are collected, and after how long without news the files are looked at, in milliseconds.
_DEBOUNCE_MS, _STEP_MS, _LOOK_MS = 800, 60, 1_000


@final
class BotWatcher:
    """Watches the files of programs until it is closed; use it in a ``with`` statement.

    Some files belong to a bot only because they are in its folder. If such a file, not a source file, changes during a match, the change
    counts as the bots' own output. ``taken`` holds the names of such files.
    """

    def __init__(self, programs: Sequence[Program]) -> None:
        self._programs = programs
        self._named = {file for program in programs for file in own_files(program)}
        self._seen = self._stamps()
        self._changed: set[Path] = set()
        self._is_playing = False
        self.taken: set[Path] = set()
        self._lock = Lock()
        self._news, self._closing = Event(), Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> BotWatcher:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._closing.set()
        self._news.set()
        self._thread.join()

    @property
    def has_changed(self) -> bool:
        """True if a file has changed since ``begin``."""
        return self._news.is_set()

    def begin(self) -> list[Path]:
        """A match begins. Return the files that have changed since the match before began."""
        with self._lock:
            changed, self._changed = sorted(self._changed), set()
            self._is_playing = True
            self._news.clear()
        return changed

    def end(self) -> None:
        """The match is over: treat the files that were written during it as the bots' own output.

        Other changes are left to the thread. It waits until the author's editor has finished writing.
        """
        with self._lock:
            now = self._stamps()
            for file in {file for file in now.keys() | self._seen.keys() if now.get(file) != self._seen.get(file)}:
                if self._may_be_output(file):
                    self._accept(file, now)
            self._is_playing = False

    def wait(self) -> None:
        """Wait until a file changes, if none has changed since ``begin``.

        A signal that arrives just before a wait doesn't end it: Python's handler, and so Ctrl-C, has its turn between two waits.
        """
        while not self._news.wait(_LOOK_MS / 1000):
            pass

    def _stamps(self) -> dict[Path, Stamp]:
        return stamps(file for program in self._programs for file in files_of(program))

    def _folders(self) -> set[Path]:
        return {folder for program in self._programs for folder in folders_of(program)}

    def _look(self) -> None:
        """Compare the files with what they were."""
        with self._lock:
            now = self._stamps()
            changed = {file for file in now.keys() | self._seen.keys() if now.get(file) != self._seen.get(file)}
            self._seen = now
            for file in changed:
                if self._is_playing and self._may_be_output(file):
                    self.taken.add(file)
                else:
                    self._changed.add(file)
                    self._news.set()

    def _may_be_output(self, file: Path) -> bool:
        return file not in self._named and not is_source(file)

    def _accept(self, file: Path, now: Mapping[Path, Stamp]) -> None:
        """Count a file as output, as it is now."""
        self.taken.add(file)
        if file in now:
            self._seen[file] = now[file]
        else:
            self._seen.pop(file, None)

    def _watch(self) -> None:
        from watchfiles import watch

        while not self._closing.is_set():
            folders = self._folders()
            if not folders:
                # All are gone for the moment, as while a repository changes its branch.
                self._closing.wait(_LOOK_MS / 1000)
                self._look()
                continue
            try:
                # Folder by folder, so that folders without the bots' files, as that of the replays, cost nothing.
                for changes in watch(
                    *folders,
                    watch_filter=lambda _, path: not is_ignored(path.rpartition("/")[2]),
                    debounce=_DEBOUNCE_MS,
                    step=_STEP_MS,
                    stop_event=self._closing,
                    rust_timeout=_LOOK_MS,
                    yield_on_timeout=True,
                    raise_interrupt=False,
                    recursive=False,
                    ignore_permission_denied=True,
                ):
                    if not changes and self._is_playing:
                        # To look without news would take processor time from the match.
                        continue
                    self._look()
                    if self._folders() != folders:
                        break
            except OSError:
                # A folder has vanished between the two calls, or the system has no more watches: look again a little later.
                self._closing.wait(_LOOK_MS / 1000)
                self._look()


#: The most files of one bot's folder that are looked at, and the most bytes of a file that are searched for imports.
_MOST_FILES = 10_000
_MOST_BYTES = 1 << 20
#: Folders that hold no code of the bot's author.
_FOREIGN = frozenset({"__pycache__", "node_modules", "venv", "site-packages"})
#: Swap files and backups of editors, compiled Python, replays, logs.
_BESIDE = re.compile(r"^\.|^#.*#$|^4913$|~$|\.(sw[a-p]|swx|bak|orig|tmp|py[cod]|log)$|" + re.escape(SUFFIX) + "$", re.IGNORECASE)
_IMPORT = re.compile(rb"^[ \t]*(?:import[ \t]+([^#\n;]+)|from[ \t]+(\w+)[\w.]*[ \t]+import\b)", re.MULTILINE)
#: Files that people write and bots don't.
_SOURCE = re.compile(
    r"\.(pyx?|[cm]?js|m?ts|java|kt|scala|c|h|cc|cpp|cxx|hpp|hh|rs|go|cs|fs|sh|rb|lua|pl|jl|hs|ml|zig|toml)$", re.IGNORECASE
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
    return bool(_SOURCE.fullmatch(path.suffix))


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
