"""Notices changes of bots' files in a thread of its own, while matches are played and between them."""

from __future__ import annotations

from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, final

from referee.author import bot_files

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.author.bot_files import Stamp
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
        self._named = {file for program in programs for file in bot_files.own_files(program)}
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
        return bot_files.stamps(file for program in self._programs for file in bot_files.files_of(program))

    def _folders(self) -> set[Path]:
        return {folder for program in self._programs for folder in bot_files.folders_of(program)}

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
        return file not in self._named and not bot_files.is_source(file)

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
                    watch_filter=lambda _, path: not bot_files.is_ignored(path.rpartition("/")[2]),
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
