"""Finds the line that a late bot was running: asks a Python bot for its stack before ending it.

Theory of operation. The SDK lets Python's faulthandler write the stacks of all threads to stderr at SIGURG. The referee sends that signal
to a late bot that catches it, and reads the bot's stderr for a moment. Other programs ignore SIGURG. A Python bot without the SDK gets
SIGABRT: PYTHONFAULTHANDLER in its environment lets faulthandler write the stacks before that signal ends it. All answers of the step have
arrived by then and no clock runs. The bot is killed afterwards in any case and its fault is known, so its exit status does not count.

If the bot was stopped for the others' turns, it is continued for that moment. The wait ends after ``_PATIENCE`` seconds, or
``_GRACE`` seconds after the kernel has delivered the signal: a loaded machine can keep a bot off the processor for much longer than the
few milliseconds that the stack takes.
"""

from __future__ import annotations

import contextlib
import os
import signal
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from referee.players.crash_report import dumped_frames, working_place
from referee.replay.faults import LATE
from referee.support.poll import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from referee.isolation.bot_process import BotProcess
    from referee.isolation.log import Log
    from referee.players.link import Link
    from referee.players.player import RunningPlayer
    from referee.replay.faults import Fault

_PATIENCE = 1.0
_GRACE = 0.1
#: The interval of checks whether the signal was delivered, in seconds.
_LOOK = 0.01
#: How many processes of a bot are searched for one that catches the signal: behind a shell script, Python is its child.
_MOST_PROCESSES = 8
#: Names of processes that are Python.
_PYTHONS = ("python", "pypy")


class Whereabouts(NamedTuple):
    """The file and line where a late bot was. ``may_wait``: it may have been waiting there for the next question."""

    place: str
    may_wait: bool


def places(faults: Mapping[str, Fault], players: Mapping[str, RunningPlayer], *, stop_idle: bool) -> dict[str, Whereabouts]:
    """Return the place of each late bot whose stack is readable.

    With ``stop_idle`` the other bots are stopped first, so they gain no time.
    """
    late = [seat for seat, fault in faults.items() if fault.kind == LATE]
    if stop_idle and late:
        for seat, other in players.items():
            if seat not in faults and other.process is not None and other.process.holds and not other.process.is_stopped:
                other.process.stop()
    whereabouts_by_seat = {}
    for seat in late:
        player = players.get(seat)
        place = whereabouts(player) if player is not None else None
        if place is not None:
            whereabouts_by_seat[seat] = place
    return whereabouts_by_seat


def whereabouts(player: RunningPlayer, *, may_end: bool = True) -> Whereabouts | None:
    """Return the place of a bot; None if its stack is not readable or its own code is not running.

    Asking ends a Python bot without the SDK. Unless ``may_end``, such a bot is not asked.
    """
    process, link = player.process, player.link
    if process is None or link is None or process.status is not None or link.stderr < 0:
        return None
    text, may_wait = _stack(process, link, may_end=may_end)
    files = process.file_names()
    place = working_place(dumped_frames(text), files)
    return None if place is None else Whereabouts(place.text(files), may_wait)


def _stack(process: BotProcess, link: Link, *, may_end: bool) -> tuple[str, bool]:
    """Ask a bot for its stack and return its stderr; "" if no process of the bot handles one of the signals.

    The second value is true if the bot may have been waiting for a question: without the SDK's part of a stack, a process that isn't
    running may have been.
    """
    first = process.first_pid()
    if first <= 0:
        return "", False
    processes = [first, *process.below()][:_MOST_PROCESSES]
    pid, number, may_wait = next((pid for pid in processes if has_signal(pid, ("SigCgt",), unknown=True)), None), signal.SIGURG, False
    if pid is None and may_end:
        pid, number = next(filter(_is_python, processes), None), signal.SIGABRT
        may_wait = pid is not None and not _is_running(pid)
    if pid is None:
        return "", False
    # The bytes that are in the pipe already, at most one full pipe, came before.
    link.drain_stderr()
    before = process.log.total
    with contextlib.suppress(OSError):
        os.kill(pid, number)
    if process.is_stopped:
        process.go_on()
    _listen(link, process.log, before, pid, number)
    return process.log.tail(before), may_wait


def _listen(link: Link, log: Log, before: int, pid: int, number: signal.Signals) -> None:
    """Read a bot's stderr until its stack is there or its time is up."""
    begun = perf_counter()
    end, is_delivered = begun + _PATIENCE, False
    waiting = readable([link.stderr])
    while (now := perf_counter()) < end:
        if waiting.poll(_LOOK * 1000) and (not link.drain_stderr() or _is_whole(log.tail(before))):
            return
        if not is_delivered and not has_signal(pid, ("SigPnd", "ShdPnd"), number, unknown=False):
            is_delivered = True
            end = min(end, now + _GRACE)


def _is_whole(text: str) -> bool:
    """Whether the stack of the main thread is complete, down to the outermost line of the program."""
    frames = dumped_frames(text)
    return bool(frames) and frames[-1].function == "<module>" and text.endswith("\n")


def has_signal(pid: int, sets: Iterable[str], number: signal.Signals = signal.SIGURG, *, unknown: bool) -> bool:
    """Whether a signal is in one of a process's sets of signals; ``unknown`` where the system has no /proc."""
    try:
        fields = _status(pid)
        return any(int(fields[name], 16) >> (number - 1) & 1 for name in sets)
    except (KeyError, ValueError):
        return False
    except OSError:
        return unknown and not Path("/proc/self").is_dir()


def _is_python(pid: int) -> bool:
    """Whether a process is a Python that writes its stacks when it gets SIGABRT."""
    try:
        return _status(pid)["Name"].strip().startswith(_PYTHONS) and has_signal(pid, ("SigCgt",), signal.SIGABRT, unknown=False)
    except (KeyError, OSError):
        return False


def _is_running(pid: int) -> bool:
    """Whether a process runs or is ready to run."""
    try:
        return _status(pid)["State"].lstrip().startswith("R")
    except (KeyError, OSError):
        return False


def _status(pid: int) -> dict[str, str]:
    """Return the kernel's status of a process, by field. OSError if it is gone or if the system has no /proc."""
    lines = Path(f"/proc/{pid}/status").read_text("utf-8", "replace").splitlines()
    return dict(line.split(":", 1) for line in lines if ":" in line)
