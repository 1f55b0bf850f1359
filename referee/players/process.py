"""A bot as a process in its sandbox: stopping it, measuring it, and why it ended."""

from __future__ import annotations

import errno
import math
import os
from typing import TYPE_CHECKING

from referee.errors import MatchVoid
from referee.isolation import machine, supervisor
from referee.isolation.endings import facts
from referee.players.own_files import OwnFiles, own_files
from referee.replay.faults import Failure
from referee.support.escape import escape
from referee.support.words import who

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.isolation.bot import Bot
    from referee.isolation.sandbox import Sandbox
    from referee.players.log import Log
    from referee.players.pipes import Pipes

#: Messages of the wrapper programs, by exit status, when they can't set what the bot needs, and when they can't start the bot.
_NOT_PREPARED = {125: (b"relay: ", b"landlock: "), 1: (b"prlimit: failed to set ",)}
_NOT_STARTED = (b"prlimit: failed to execute", b"setpriv: failed to execute", b"relay: failed to execute", b"landlock: failed to execute")

#: Processor time that a bot may use for each question without being billed, in seconds: to wake up and to go to sleep.
UNBILLED = 0.0002

#: An answer is quick up to this time, in seconds; and the number of quick answers in a row after which all processes are read.
_HURRIED, _MOST_HURRIED = 0.001, 64


class BotProcess:
    """A running program of the match, in its sandbox: stopped between its turns, and measured.

    ``status`` is its exit status once it has one, negative for a signal. ``billed`` are its seconds by the wall clock so far.
    ``is_watched``: it isn't stopped for short waits as long as its processor time doesn't show work out of turn. ``aside`` is its work out
    of turn so far, in seconds; it is infinite until the first question. ``is_doubtful``: the machine may be to blame for its end.
    """

    def __init__(self, bot: Bot | None, sandbox: Sandbox) -> None:
        self.bot = bot
        self.sandbox = sandbox
        self.pid = 0
        self.status: int | None = None
        self.is_stopped = False
        self.is_watched = False
        self.is_doubtful = False
        self.aside = math.inf
        self.billed = 0.0
        self._seen: tuple[float, float] | None = None
        self._own_files: OwnFiles | None = None
        #: The highest reading of its processor time so far, and the processor time of its last answer, in seconds.
        self.used_before = self.last_used = 0.0
        #: Where there is no account: the last reading of its first process, and how many answers since all processes were read.
        self.own_before, self._hurried = 0.0, 0
        #: Return its processor time so far, by the cheapest available call; OSError after its end.
        self.read_clock: Callable[[], float] = sandbox.quick_seconds

    def be_held(self) -> None:
        """A freezer holds it: watch it, if its processor time is exact."""
        self.is_watched = self.sandbox.is_exact

    def add_aside(self, seconds: float) -> bool:
        """Add to its work out of turn; the first call only begins the sum. True if that is too much: then it is no longer watched."""
        self.aside = 0.0 if math.isinf(self.aside) else max(0.0, self.aside + seconds)
        if self.aside > UNBILLED:
            self.is_watched = False
        return self.aside > UNBILLED

    def ponders(self, questions: int) -> bool:
        """True if it has worked out of turn since the last call, ``questions`` questions ago.

        It has worked out of turn if its processor time grew by more than its billed time. It counts as working if it has child processes
        whose time isn't measured. The first call only records the starting values.
        """
        used = self.sandbox.quick_seconds()
        seen, self._seen = self._seen, (used, self.billed)
        if seen is None:
            return False
        unbilled = (used - seen[0]) - (self.billed - seen[1])
        return unbilled > questions * UNBILLED or (not self.sandbox.is_exact and bool(supervisor.children(self.pid)))

    def newly_used(self, thoroughly: bool = False) -> float:  # noqa: FBT001, FBT002 - one call a question
        """Return its processor time since the last call, in seconds. ``thoroughly`` includes all its processes, even if each must be read.

        Reading all processes can miss one that ends in the meantime, so a later reading can be lower. Only time above the highest
        reading is returned. Otherwise the referee would bill the same time twice.
        """
        if thoroughly:
            self._hurried = 0
            self.own_before = self.own_seconds()
        used = self.last_used = self.uses(thoroughly)
        self.used_before += used
        return used

    def used_for(self, seconds: float) -> float:
        """Return its processor time for an answer that took ``seconds`` by the wall clock, and since its last answer.

        If the kernel keeps no account, then after a quick answer only the first process is read, because reading all of them would
        take longer than the answer. After ``_MOST_HURRIED`` such answers, or after one that isn't quick, the time of the others is billed.
        """
        if self.sandbox.is_exact or seconds > _HURRIED or self._hurried == _MOST_HURRIED:
            return self.newly_used(thoroughly=True)
        self._hurried += 1
        now = self.own_seconds()
        used = self.last_used = now - self.own_before
        self.own_before = now
        self.used_before += used
        return used

    def own_seconds(self) -> float:
        """The processor time that one reading tells: of all its processes, or without an account of the first. After its end, the last reading."""
        try:
            return self.read_clock()
        except OSError:
            return self.own_before

    def uses(self, thoroughly: bool = False) -> float:  # noqa: FBT001, FBT002 - as above
        """Processor time since ``newly_used`` was last called, in seconds."""
        return max(0.0, (self.sandbox.seconds() if thoroughly else self.sandbox.quick_seconds()) - self.used_before)

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

    def __init__(self, seat: str, label: str, log: Log, pipes: Pipes, process: BotProcess) -> None:
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
        words, own = self.log.last_lines(), self.process.own_files()
        shown = [own.named(word.decode("utf-8", "replace")) for word in words]
        cause = sandbox.cause(status, words)
        self.process.is_doubtful = sandbox.is_doubtful(status, cause)
        return Failure("ended", detail=facts(status, shown, cause))

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
