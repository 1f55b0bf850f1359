"""Builds bots from source code: folders with a ``build`` in their ``bot.toml``.

Theory of operation. The build is an untrusted program, like a bot: it runs in the sandbox of the match's isolation level, below a
supervisor, with limits of its own and without a network, on a copy of the folder. The copy after the build is the bot. In a sandbox the
copy is in memory, and the built files come back through a pipe. Elsewhere the copy is a folder of this referee, and the built files are
copied from it when every process of the build is gone. So a build in a sandbox can change neither its author's folder nor a file of the
referee.

The result is kept in the user's cache under the hash of everything that it depends on. A match uses a copy for this process only, so a bot
that changes its files doesn't change the cache.
"""

from __future__ import annotations

import errno
import hashlib
import os
import re
import threading
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import CopyUnwritten, MatchVoid, PlayerError, StartError, of_seat
from referee.isolation import build_cache, contents, machine, scripts
from referee.isolation.bot import HOME
from referee.isolation.bubblewrap import SOURCE
from referee.isolation.build_folders import BuildFolders, identity
from referee.isolation.build_output import BuildOutput
from referee.isolation.file_names import file_names
from referee.isolation.limits import NONE
from referee.isolation.log import Log
from referee.isolation.plan import BUILDER, build_plan
from referee.isolation.plan_launcher import PlanLauncher
from referee.isolation.submission import Piece
from referee.replay.faults import exceeded
from referee.support.escape import escape
from referee.support.poll import readable
from referee.support.words import counted, size_text, who

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.isolation.bot import Bot
    from referee.isolation.bot_process import BotProcess
    from referee.isolation.copies import Check
    from referee.isolation.level import Level
    from referee.isolation.plan import Plan

#: The version of the build environment and its output; entries of another version in the cache are useless.
_VERSION = 1
#: The bytes of a build's output that are kept, from its beginning, and the lines that a message shows.
_OUTPUT_BYTES = 1 << 18
_SHOWN_LINES, _SHOWN_BEFORE, _SHOWN_WIDTH = 24, 8, 200
#: The interval between two measurements of a build's folder without a limit of its file system, in seconds.
_LOOK_SECONDS = 0.5
#: The longest time between two checks of the other limits, in seconds.
_WAIT_SECONDS = 0.1
#: The most built copies that this process keeps.
_MOST_BUILT = 64
_ERROR = re.compile(r"\berror\b|\bError\b|\bException\b|: undefined|cannot find|can't|syntax", re.IGNORECASE)
#: The exit status of the sandbox's own programs if they can't set a limit or a rule.
_NOT_PREPARED = 125
_SEAT = "build"
_LOST = "The supervisor process of a build was killed: the match is void."


class _Built(NamedTuple):
    """The folders with a built program, and the traits of the sources that it was built from."""

    folders: BuildFolders
    traits: object


class _Refused(Exception):
    """A build failed; the text goes on after "can't be built: ". ``is_doubtful`` is as for StartError."""

    def __init__(self, text: str, *, is_doubtful: bool = False) -> None:
        super().__init__(text)
        self.is_doubtful = is_doubtful


_lock = threading.RLock()
_built: dict[tuple[object, ...], _Built] = {}
_refused: dict[tuple[str, int], str] = {}
#: All that were made, also those of older sources, from which bots may still run.
_all_folders: list[BuildFolders] = []


def forget() -> None:
    """Remove the built copies of this process, and forget failed builds; the end of a process does so, too."""
    while _all_folders:
        _all_folders.pop().remove()
    _built.clear()
    _refused.clear()


def all_built(
    bots: Mapping[str, Bot], level: Level, check: Check | None = None, on_build: Callable[[Bot], None] = lambda _: None
) -> dict[str, Bot]:
    """Return the bots of a match by seat, each built if it needs to be.

    ``check`` examines each copy of sources, as in ``Copies``; ``on_build`` is called before each build. StartError with the seat if a build
    fails, PlayerError for files that can't be copied, MatchVoid if the referee itself fails.
    """
    built = {}
    for seat, bot in bots.items():
        if bot.build:
            try:
                with of_seat(seat):
                    built[seat] = _as_built(bot, level, check, on_build)
            except _Refused as refusal:
                text = f"{who(seat, bot.label)} can't be built: {refusal}"
                raise StartError(text, seat, is_doubtful=refusal.is_doubtful) from None
            except MatchVoid as void:
                void.seats = (seat,) if void.reason in machine.SHORTAGES else void.seats
                raise
        else:
            built[seat] = bot
    return built


def _as_built(bot: Bot, level: Level, check: Check | None, on_build: Callable[[Bot], None]) -> Bot:
    """Return a bot whose files are a built copy."""
    with _lock:
        memo = (bot.files, bot.build, level.name, os.getpid())
        traits = contents.traits(bot.folder)
        memo_entry = _built.pop(memo, None)
        if memo_entry is None or traits is None or memo_entry.traits != traits or not memo_entry.folders.exists():
            if memo_entry is not None and level.copies_files:
                memo_entry.folders.remove()
            memo_entry = _Built(_make(bot, level, check, on_build), traits)
        # The one used last is at the end.
        _built[memo] = memo_entry
        if len(_built) > _MOST_BUILT:
            _built.pop(next(iter(_built))).folders.remove()
        return _moved(bot, memo_entry.folders.built)


def _moved(bot: Bot, folder: str) -> Bot:
    """Return a bot without a build whose files are in another folder."""
    argv = tuple(_below(folder, bot.folder, word) for word in bot.argv)
    return bot._replace(argv=argv, folder=folder, files=(Piece(folder, ""),), build=(), origin=bot.folder)


def _below(folder: str, old: str, word: str) -> str:
    """Return a path with its old folder replaced by another; a word that isn't a path below the old folder is unchanged."""
    return folder + word.removeprefix(old) if word.startswith(f"{old}/") else word


def _make(bot: Bot, level: Level, check: Check | None, on_build: Callable[[Bot], None]) -> BuildFolders:
    """Return new folders with the built program: from the cache, or by the build."""
    place = BuildFolders()
    _all_folders.append(place)
    try:
        place.take_sources(bot.files, bot.label)
        if check is not None:
            check(bot, place.source)
        scripts.repair(place.source, bot.build, bot.argv)
        key = _key(bot, place.source, level)
        if not build_cache.recall(key, bot.label, place.built):
            # A build that can't succeed isn't tried again for each match of a league.
            failure = (key, level.limits.build_seconds)
            if failure in _refused:
                raise _Refused(_refused[failure])
            on_build(bot)
            try:
                _build(bot, level, place)
            except _Refused as refusal:
                if not refusal.is_doubtful:
                    _refused[failure] = str(refusal)
                raise
            build_cache.keep(key, bot.label, place.built)
        place.clear(is_for_others=level.starts_as_users and not level.copies_files)
    except BaseException:
        place.remove()
        raise
    return place


def _key(bot: Bot, source: str, level: Level) -> str:
    """Return the name of a build's result: a hash of everything that it depends on."""
    words = build_plan(bot).inside
    parts = [str(_VERSION), contents.digest(source, bot.label), level.name, *words, "", *identity(words[0])]
    return hashlib.sha256("\0".join(parts).encode("utf-8", "surrogateescape")).hexdigest()


def _build(bot: Bot, level: Level, place: BuildFolders) -> None:
    """Run the build and copy what it built. _Refused if it fails."""
    limits = level.limits.for_build()
    build = build_plan(bot)
    run = _Run(bot, level._replace(limits=limits), limits.build_seconds)
    if level.has_sandbox:
        build = build._replace(script=(BUILDER, "send", SOURCE))
        folder = bot.folder
        run.output_files = BuildOutput(place.made, bot.label)
    else:
        place.make_scratch(bot.label, is_for_others=level.starts_as_users)
        run.place = place
        argv = tuple(_below(place.home, bot.folder, word) for word in build.argv)
        build = build._replace(argv=argv, env={**build.env, "TMPDIR": place.temporary})
        folder = place.home
    run.to_end(build._replace(bot=bot._replace(folder=folder, files=(Piece(place.source, ""),), origin=bot.folder)))
    try:
        place.finish(place.made if level.has_sandbox else place.home, bot.label)
    except PlayerError as error:
        raise _Refused(f"{run.command} left what can't be used. {error}") from None


class _BuildLog(Log):
    """The output of a build: its beginning is kept, too, because a compiler's first error explains most."""

    def __init__(self) -> None:
        super().__init__(None, 0)
        self.begin = b""

    def take(self, data: bytes) -> None:
        """Keep the bytes that came."""
        super().take(data)
        self.begin += data[: max(0, _OUTPUT_BYTES - len(self.begin))]


class _Run:
    """One run of a build. ``build_output`` takes the files that a sandbox sends; without a sandbox the size of ``place`` is measured."""

    def __init__(self, bot: Bot, level: Level, seconds: int) -> None:
        self.command = f"'{' '.join([Path(bot.build[0]).name, *bot.build[1:]])}'"
        self.output_files: BuildOutput | None = None
        self.place: BuildFolders | None = None
        self._level = level
        self._seconds = seconds
        self._log = _BuildLog()
        self._refusal: str | None = None
        self._is_doubtful = False
        self._next_look = 0.0

    def to_end(self, build: Plan) -> None:
        """Run it until its first process has ended, then end the others. _Refused if it fails."""
        launcher, level = PlanLauncher(), self._level
        try:
            process = launcher.launch_plans({_SEAT: build}, level, {_SEAT: self._log}, level.limits.build_cpu_seconds)[_SEAT]
            launcher.wait()
            process.close_stdin()
            self._follow(launcher, process)
            refusal = self._refusal or self._failure(launcher, process)
        except StartError as error:
            raise _Refused(f"{self.command}: {error}", is_doubtful=error.is_doubtful) from None
        finally:
            launcher.close()
            if self.output_files is not None:
                self.output_files.close()
        if refusal is not None:
            raise _Refused(refusal + self._important_lines(build), is_doubtful=self._is_doubtful)

    def _follow(self, launcher: PlanLauncher, process: BotProcess) -> None:
        """Read the output until the build ends, is stopped by a limit, or has sent its files."""
        deadline = perf_counter() + self._seconds
        # In a sandbox the files come until the end. Elsewhere a process that the build left may hold its output open.
        while process.status is None or (self.output_files is not None and process.stdout >= 0):
            now = perf_counter()
            self._refusal = self._refusal or self._excess(launcher, now, deadline)
            if self._refusal is not None:
                return
            fds = [fd for fd in (process.stdout, process.stderr, launcher.reports) if fd >= 0]
            for fd, _ in readable(fds).poll(min(_WAIT_SECONDS, deadline - now) * 1000):
                if fd == launcher.reports:
                    if not launcher.take_reports():
                        raise MatchVoid(_LOST)
                elif fd == process.stdout:
                    self._take_in(process)
                else:
                    process.log_stderr()
        # The rest is still in the pipe.
        while process.log_stderr():
            pass

    def _excess(self, launcher: PlanLauncher, now: float, deadline: float) -> str | None:
        """Return which of the referee's limits the build has reached, as the rest of a sentence."""
        if now >= deadline:
            return (
                f"{self.command} did not end within {self._seconds} s, the limit of a build, and was killed with all its processes; "
                "--limit build_seconds=N, or build_seconds in [limits], sets another limit."
            )
        if self.place is None or self._level.name == NONE:
            return None
        # The supervisor and its watchdog count, too. This includes processes whose parents have ended, which the build's own list lacks.
        most = self._level.limits.processes
        if len(launcher.pids()) > most + 2:
            return f"{self.command} started more processes or threads than its limit of {most}, and was killed."
        if now >= self._next_look:
            most = self._level.limits.scratch_bytes
            if not self.place.is_within(most):
                return f"{self.command} wrote more to disk than its limit of {size_text(most)}, or too many files, and was killed."
            self._next_look = perf_counter() + _LOOK_SECONDS
        return None

    def _take_in(self, process: BotProcess) -> None:
        """Read the files that the build sends back."""
        data = process.read_stdout()
        if not data or self.output_files is None:
            return
        try:
            self.output_files.take(data)
        except PlayerError as error:
            self._refusal = f"{self.command} left what can't be used. {error}"
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise CopyUnwritten(f"The disk has no room for a built program: {error.strerror}; make room and try again.") from None
            self._refusal = f"{self.command} left what can't be used: {error.strerror}."

    def _failure(self, launcher: PlanLauncher, process: BotProcess) -> str | None:
        """Return why the build failed, as the rest of a sentence; None if it succeeded. MatchVoid if the referee itself failed."""
        status = process.status
        if process.has_failed:
            raise MatchVoid(process.sandbox_failure())
        if process.is_starved():
            raise machine.starved(self.command, process.limits)
        if launcher.is_lost or status is None:
            raise MatchVoid(_LOST)
        if status == 0:
            is_whole = self.output_files is None or self.output_files.is_whole
            return None if is_whole else f"{self.command} ended before its files were sent back."
        if self._level.name != NONE:
            # This also covers other machines of a cluster, which refuse nothing before the first match.
            for low in machine.low_limits("builds", self._level.limits, self._level.limits.build_cpu_seconds).values():
                raise machine.void(f"{self.command} failed, and {low.seen}", machine.LIMIT, ())
        cause = process.cause(status, self._log.last_lines())
        self._is_doubtful = process.may_be_innocent(status, cause) or status == _NOT_PREPARED
        if (excess := process.excess(cause)) is not None:
            return f"{self.command} {exceeded(*excess)}."
        return f"{self.command} was ended by signal {-status}." if status < 0 else f"{self.command} ended with exit status {status}."

    def _important_lines(self, build: Plan) -> str:
        """Return the important lines of the output: from the first error on, or the last lines."""
        files = file_names(build.bot, is_sandbox=self.place is None, home=HOME)
        text = files.named(self._log.begin.decode("utf-8", "replace"))
        lines = [escape(line.expandtabs(4), _SHOWN_WIDTH) for line in text.splitlines() if line.strip()]
        if not lines:
            return " It printed nothing."
        first = next((number for number, line in enumerate(lines) if _ERROR.search(line)), None)
        # The lines before it may have its place, such as the name of the function.
        first = max(0, len(lines) - _SHOWN_LINES if first is None else first - _SHOWN_BEFORE)
        if len(lines) <= _SHOWN_LINES:
            first = 0
        excerpt = lines[first : first + _SHOWN_LINES]
        left = len(lines) - first - len(excerpt)
        more = [f"... and {counted(left, 'more line')}"] if left else []
        return "".join(f"\n  {line}" for line in [*excerpt, *more])
