"""Where a late bot was: a Python bot that uses the SDK is asked for its stack before it is ended.

Theory of operation. The SDK lets Python's faulthandler write the stacks of all threads to stderr at SIGURG. The referee sends that signal
to a late bot that catches it, and reads the bot's stderr for a moment. Programs that know nothing of it ignore SIGURG, so
no exit status changes. All answers of the step are in by then and no clock runs; the bot is killed next in any case.

A bot that was stopped for the others' turns goes on for that moment. Whatever it does then, it is over after ``_PATIENCE`` seconds, or
``_GRACE`` seconds after the kernel has delivered the signal: a loaded machine can keep a bot off the processor for much longer than the
few milliseconds that the stack takes.
"""

from __future__ import annotations

import signal
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING

from referee.isolation.supervisor import descendants, send_signal
from referee.players.crash_report import dumped_frames, working_place
from referee.players.faults import LATE
from referee.players.pipes import readable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from referee.players.faults import Fault
    from referee.players.process import ProcessPlayer

_PATIENCE = 1.0
_GRACE = 0.1
#: How often to look whether the signal was delivered, in seconds.
_LOOK = 0.01
#: How many processes of a bot are looked at for the first one that catches the signal: behind a shell script, Python is its child.
_MOST_PROCESSES = 8
_MASK = 1 << (signal.SIGURG - 1)


def places(faults: Mapping[str, Fault], players: Mapping[str, ProcessPlayer], *, stop_idle: bool) -> dict[str, str]:
    """Return, for each late bot whose stack is readable, the file and line where it was.

    With ``stop_idle`` the other bots are stopped first, so they gain no time.
    """
    late = [seat for seat, fault in faults.items() if fault.kind == LATE]
    if stop_idle and late:
        for seat, other in players.items():
            if seat not in faults and other.process.sandbox.holds and not other.process.is_stopped:
                other.process.stop()
    found = {}
    for seat in late:
        player = players.get(seat)
        if player is None or player.process.status is not None or player.pipes.stderr < 0:
            continue
        place = working_place(dumped_frames(_stack(player)), own := player.process.own_files())
        if place is not None:
            found[seat] = place.shown(own)
    return found


def _stack(player: ProcessPlayer) -> str:
    """Ask a bot for its stack and return what it writes to stderr; "" if no process of the bot handles SIGURG."""
    first = player.process.sandbox.first_pid()
    if first <= 0:
        return ""
    processes = [first, *descendants(first)][:_MOST_PROCESSES]
    pid = next((pid for pid in processes if _has_signal(pid, ("SigCgt",), unknown=True)), None)
    if pid is None:
        return ""
    # What is in the pipe already, which is a pipe's worth at most, came before.
    player.pipes.drain_stderr()
    before = player.log.total
    send_signal(pid, signal.SIGURG)
    if player.process.is_stopped:
        player.process.go_on()
    _listen(player, before, pid)
    return player.log.tail(before)


def _listen(player: ProcessPlayer, before: int, pid: int) -> None:
    """Take in what a bot writes to stderr, until its stack is there or its time is up."""
    begun = perf_counter()
    end, is_delivered = begun + _PATIENCE, False
    waiting = readable([player.pipes.stderr])
    while (now := perf_counter()) < end:
        if waiting.poll(_LOOK * 1000) and (not player.pipes.drain_stderr() or _is_whole(player.log.tail(before))):
            return
        if not is_delivered and not _has_signal(pid, ("SigPnd", "ShdPnd"), unknown=False):
            is_delivered = True
            end = min(end, now + _GRACE)


def _is_whole(text: str) -> bool:
    """Whether the stack of the main thread has come, down to the line of the program that is outermost."""
    frames = dumped_frames(text)
    return bool(frames) and frames[-1].function == "<module>" and text.endswith("\n")


def _has_signal(pid: int, sets: Iterable[str], *, unknown: bool) -> bool:
    """Whether SIGURG is in one of a process's sets of signals; ``unknown`` where the system has no /proc."""
    try:
        fields = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text("utf-8", "replace").splitlines() if ":" in line)
        return any(int(fields[name], 16) & _MASK for name in sets)
    except (KeyError, ValueError):
        return False
    except OSError:
        return unknown and not Path("/proc/self").is_dir()
