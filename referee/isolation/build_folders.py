"""The folders of one build on this machine: the sources, the folder of a build without a sandbox, and the built program.

::

    TOP/source         a copy of the author's folder
    TOP/scratch/bot    the same for a build without a sandbox, which may change it
    TOP/scratch/tmp    its temporary files
    TOP/made           what the build in a sandbox sent back
    TOP/built          the bot: a copy of what was built
"""

from __future__ import annotations

import atexit
import contextlib
import os

from referee.isolation import submission
from referee.isolation.submission import Piece

#: The most files and folders that a build without a sandbox may make.
_MOST_FILES = 2 * submission.MOST_FILES


class BuildFolders:
    """The folders of one build, removed by ``remove`` or at the end of this process."""

    def __init__(self) -> None:
        self.top = submission.new_name(is_for_others=True)
        self.source, self.made, self.built = (os.path.join(self.top, name) for name in ("source", "made", "built"))
        self.scratch = os.path.join(self.top, "scratch")
        self.home, self.temporary = os.path.join(self.scratch, "bot"), os.path.join(self.scratch, "tmp")
        os.mkdir(self.top, 0o700)
        atexit.register(_remove_own, self.top, os.getpid())

    def take_sources(self, pieces: tuple[Piece, ...], label: str) -> None:
        """Copy the author's files. PlayerError as ``submission.copy``."""
        submission.copy(pieces, label, self.source)

    def make_scratch(self, label: str, *, is_for_others: bool) -> None:
        """Make the folders of a build without a sandbox. ``is_for_others``: another user may go through the folder above them."""
        os.mkdir(self.scratch, 0o700)
        os.mkdir(self.temporary, 0o700)
        submission.copy((Piece(self.source, ""),), label, self.home)
        for folder, _, files in os.walk(self.home):
            for name in files:
                path = os.path.join(folder, name)
                if not os.path.islink(path):
                    os.chmod(path, 0o700 if os.stat(path).st_mode & 0o100 else 0o600)
        if is_for_others:
            os.chmod(self.top, 0o711)

    def is_within(self, most_bytes: int) -> bool:
        """True while the build without a sandbox has written no more than that, and not too many files."""
        size = files = 0
        for folder, names, names_of_files in os.walk(self.scratch):
            files += len(names) + len(names_of_files)
            for name in names_of_files:
                with contextlib.suppress(OSError):
                    size += os.lstat(os.path.join(folder, name)).st_blocks * 512
            if size > most_bytes or files > _MOST_FILES:
                return False
        return True

    def finish(self, folder: str, label: str) -> None:
        """Copy the built files from one of these folders. PlayerError as ``submission.copy``."""
        submission.copy((Piece(folder, ""),), label, self.built)

    def clear(self, *, is_for_others: bool) -> None:
        """Remove everything but the built program. ``is_for_others``: other users run it where it is."""
        for folder in (self.source, self.scratch, self.made):
            submission.remove(folder)
        if is_for_others:
            submission.open_to_all(self.built)
        os.chmod(self.top, 0o711 if is_for_others else 0o700)

    def exists(self) -> bool:
        """True if the built program is still there: many systems remove old temporary files."""
        return os.path.isdir(self.built)

    def remove(self) -> None:
        """Remove everything."""
        submission.remove(self.top)


def _remove_own(folder: str, pid: int) -> None:
    """Remove a folder at the end of the process that made it, but not at the end of its child processes."""
    if os.getpid() == pid:
        submission.remove(folder)


def identity(program: str) -> list[str]:
    """Return the identity of a version of a compiler: its path, time and size; empty if it is missing."""
    path = os.path.realpath(program)
    try:
        facts = os.stat(path)
    except OSError:
        return []
    return [path, str(facts.st_mtime_ns), str(facts.st_size)]
