"""A bot as a process in its sandbox: stopping it, and why it ended."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

from referee.errors import MatchVoid
from referee.isolation import machine
from referee.isolation.endings import facts
from referee.players.own_files import OwnFiles, own_files
from referee.replay.faults import Failure
from referee.support.escape import escape
from referee.support.words import who

if TYPE_CHECKING:
    from referee.isolation.bot import Bot
    from referee.isolation.sandbox import Sandbox
    from referee.players.link import Link
    from referee.players.log import Log

#: Messages of the wrapper programs, by exit status, when they can't set what the bot needs, and when they can't start the bot.
_NOT_PREPARED = {125: (b"relay: ", b"landlock: "), 1: (b"prlimit: failed to set ",)}
_NOT_STARTED = (b"prlimit: failed to execute", b"setpriv: failed to execute", b"relay: failed to execute", b"landlock: failed to execute")


class BotProcess:
    """A running program of the match, in its sandbox.

    ``status`` is its exit status once it has one, negative for a signal. ``is_doubtful``: the machine may be to blame for its end.
    """

    def __init__(self, bot: Bot | None, sandbox: Sandbox) -> None:
        self.bot = bot
        self.sandbox = sandbox
        self.pid = 0
        self.status: int | None = None
        self.is_stopped = False
        self.is_doubtful = False
        self._own_files: OwnFiles | None = None

    def stop(self) -> None:
        """Stop it between its turns."""
        self.is_stopped = True
        self.sandbox.stop()

    def go_on(self) -> None:
        """Continue it."""
        self.is_stopped = False
        self.sandbox.go_on()

    def own_files(self) -> OwnFiles:
        """The files of its program, with the paths that its author knows."""
        if self._own_files is None:
            bot, sandbox = self.bot, self.sandbox
            self._own_files = OwnFiles() if bot is None else own_files(bot, is_sandbox=sandbox.is_sandbox, home=sandbox.home)
        return self._own_files


class ProcessPlayer:
    """A player that is a program of the match."""

    def __init__(self, seat: str, label: str, log: Log, pipes: Link, process: BotProcess) -> None:
        self.seat = seat
        self.label = label
        self.log = log
        self.pipes = pipes
        self.process = process

    def failure(self) -> Failure:
        """Return how the program ended, with the known facts. MatchVoid if its sandbox failed, or if the machine ran out of memory."""
        sandbox, status = self.process.sandbox, self.process.status
        if sandbox.has_failed:
            raise MatchVoid(self.sandbox_failure())
        if sandbox.is_starved():
            raise machine.starved(who(self.seat, self.label), sandbox.limits, (self.seat,))
        words, files = self.log.last_lines(), self.process.own_files()
        lines = [files.named(word.decode("utf-8", "replace")) for word in words]
        cause = sandbox.cause(status, words)
        self.process.is_doubtful = sandbox.is_doubtful(status, cause)
        return Failure("ended", detail=facts(status, lines, cause))

    def start_refusal(self) -> str | None:
        """Return why its program could not be started in its sandbox; None if it was started."""
        words, status = self.log.last_lines(), self.process.status
        if words and words[-1].startswith(_NOT_PREPARED.get(status or 0, ())):
            return f"{who(self.seat, self.label)} can't be started: {escape(words[-1].partition(b': ')[2], 200)}"
        if status in (126, 127) and words and words[-1].startswith(_NOT_STARTED):
            number = errno.ENOENT if status == 127 else errno.EACCES
            if b"format" in words[-1]:
                number = errno.ENOEXEC
            return f"{who(self.seat, self.label)} can't be started: {start_error(number)}"
        return None

    def sandbox_failure(self, why: str = "it ended without a word") -> str:
        """Return the message for a failed sandbox, which makes the match void. ``why`` is used if the sandbox printed nothing."""
        words = self.log.last_lines()
        said = escape(words[-1], 200) if words else why
        return f"The sandbox of {who(self.seat, self.label, begins=False)} failed: {said} - the match is void and nobody loses; try: referee doctor"


def start_error(number: int) -> str:
    """Return why the system refused to start a program, by the number of its error."""
    if number == errno.ENOEXEC:
        return "it is neither a program of this machine nor a script whose first line names one (#!/usr/bin/env python3, for instance)"
    if number == errno.ENOENT:
        return "the file, or the interpreter that its first line names, does not exist"
    if number == errno.EACCES:
        return "the file, or the interpreter that its first line names, may not be run by this user"
    text = os.strerror(number)
    return text[:1].lower() + text[1:]
