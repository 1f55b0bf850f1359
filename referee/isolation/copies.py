"""The copies of programs that all matches of one supervisor share, so that each program is copied only once.

Theory of operation. A copy serves one bot at a time. It is read-only in the sandbox, and outside it belongs to the referee's user, so no bot
can change it for the next match. Around each copy is a folder that only the referee's user can enter. Where root runs the referee, the
folder is opened to the user ID of the bot that has the copy, and closed when the match has ended. A program that fills several seats of
a match has a copy for each. The supervisor removes all copies at its end, even if a sandbox failed or the referee was killed. Bots without a
sandbox run where their files are and have no copies.
"""

from __future__ import annotations

import contextlib
import os
import time
from typing import TYPE_CHECKING

from referee.errors import CopyUnwritten
from referee.isolation import submission
from referee.isolation.bot_process import Cleaning

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.isolation.bot import Bot

    #: Called with a bot and the folder of its new copy; raises an error if the copy must not be used.
    Check = Callable[[Bot, str], None]

#: Limits of all copies that no bot has at the moment.
MOST_FILES = 10 * submission.MOST_FILES
MOST_BYTES = submission.MOST_BYTES
#: The longest use of a copy, in seconds: many systems remove old temporary files.
_MOST_SECONDS = 86_400.0


class Copy:
    """The copy of a bot's files, for one bot until ``give_back``. ``folder`` holds the files."""

    def __init__(self, owner: Copies, bot: Bot, around: str, copied: submission.CopiedFiles) -> None:
        self.sources = bot.files
        self.folder, self.files, self.bytes = copied
        self.around = around
        self.made = time.monotonic()
        self._owner = owner

    def open_to(self, user: int | None) -> None:
        """Also let a user ID enter; None: only this user."""
        if user is not None:
            os.chown(self.around, -1, user)
            os.chmod(self.around, 0o710)

    def give_back(self) -> None:
        """Keep the copy for the next bot; the processes of this one must be gone."""
        # The supervisor may have removed it.
        with contextlib.suppress(FileNotFoundError):
            os.chmod(self.around, 0o700)
            self._owner.keep(self)


class Copies:
    """The copies for the matches of one supervisor.

    ``announce`` is called with the folder of all copies before it is created, ``check`` with each new copy.
    """

    def __init__(self, announce: Callable[[Cleaning], None], check: Check | None = None) -> None:
        self.announce = announce
        self._check = check
        self._folder = ""
        self._made = 0
        #: The copies that no bot uses, the most recently used last.
        self._idle: list[Copy] = []

    def take(self, bot: Bot, user: int | None) -> Copy:
        """Return a copy of a bot's files for this user ID, None for this user's own.

        Raises what ``submission.copy`` and the check raise.
        """
        copy = next((copy for copy in self._idle if copy.sources == bot.files), None)
        if copy is not None:
            self._idle.remove(copy)
        else:
            try:
                copy = self._make(bot)
            except CopyUnwritten:
                if not self._idle:
                    raise
                # The disk is full, perhaps with unused copies.
                self._shrink(0, 0)
                copy = self._make(bot)
        copy.open_to(user)
        return copy

    def keep(self, copy: Copy) -> None:
        """Keep a returned copy, and remove the least recently used ones while there are too many."""
        if time.monotonic() - copy.made > _MOST_SECONDS:
            submission.remove(copy.around)
            return
        self._idle.append(copy)
        self._shrink(MOST_FILES, MOST_BYTES)

    def new_folder(self) -> str:
        """Make a folder for one copy, or for the files of one bot, and return its path; whoever asked for it removes it."""
        if not self._folder:
            self._folder = submission.new_name(is_for_others=True)
            self.announce(Cleaning(trees=(self._folder,)))
            os.mkdir(self._folder)
            # Bots' users can pass through it, but can't list it.
            os.chmod(self._folder, 0o711)
        self._made += 1
        folder = os.path.join(self._folder, str(self._made))
        os.mkdir(folder, 0o700)
        return folder

    def _make(self, bot: Bot) -> Copy:
        around = self.new_folder()
        try:
            copied = submission.copy(bot.files, bot.label, os.path.join(around, "bot"), is_open=True)
            if self._check is not None:
                self._check(bot, copied.folder)
        except BaseException:
            submission.remove(around)
            raise
        return Copy(self, bot, around, copied)

    def _shrink(self, most_files: int, most_bytes: int) -> None:
        """Remove the least recently used copies until the rest is within the limits."""
        files, size = sum(copy.files for copy in self._idle), sum(copy.bytes for copy in self._idle)
        while self._idle and (files > most_files or size > most_bytes):
            copy = self._idle.pop(0)
            files, size = files - copy.files, size - copy.bytes
            submission.remove(copy.around)
