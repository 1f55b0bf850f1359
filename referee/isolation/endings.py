"""Finds why a program ended, by its exit status and its last lines, and whether the machine may be to blame."""

from __future__ import annotations

import contextlib
import re
import signal
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: The causes of a bot's end, for graders.
TIME, MEMORY, PROCESSES, DISK, CRASH, REFUSAL = "time", "memory", "processes", "disk", "crash", "refusal"

#: Messages of programs that exceeded a limit without a kernel counter, and of bots for another seat or other rules.
_LAST_WORDS = (
    (
        MEMORY,
        re.compile(rb"MemoryError|OutOfMemoryError|std::bad_alloc|heap out of memory|Cannot allocate memory|out of memory", re.IGNORECASE),
    ),
    (PROCESSES, re.compile(rb"Resource temporarily unavailable|can't start new thread|unable to create (new )?native thread")),
    (DISK, re.compile(rb"No space left on device|File too large|Disk quota exceeded|ENOSPC|EFBIG")),
    (REFUSAL, re.compile(rb"plays [^\n]{1,200}, but was asked to play ")),
)
_BY_SIGNAL = {signal.SIGXCPU: TIME, signal.SIGXFSZ: DISK}
#: How many of the last lines are searched for such messages.
_LINES = 20
#: Signals from outside a program: from another program, or from the kernel without memory or with a full disk (SIGBUS).
_FROM_OUTSIDE = frozenset((signal.SIGKILL, signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGBUS))


class Excess(NamedTuple):
    """A limit that a program exceeded: a cause, or "files" in /tmp and /dev/shm; ``most`` is its value, a number or bytes.

    ``shared_bytes`` may be in /dev/shm, as part of a limit on the disk.
    """

    limit: str
    most: int
    shared_bytes: int = 0


def cause_of(status: int | None, words: Iterable[bytes]) -> str:
    """Return the cause of a program's end by its exit status, negative for a signal, and its last lines."""
    if status is not None and status < 0 and -status in _BY_SIGNAL:
        return _BY_SIGNAL[signal.Signals(-status)]
    if status != 0:
        text = b"\n".join(list(words)[-_LINES:])
        for cause, pattern in _LAST_WORDS:
            if pattern.search(text):
                return cause
    return CRASH


def is_doubtful(status: int | None, cause: str) -> bool:
    """True if the machine may be to blame for an end that the bot's own counters don't explain: a signal from outside, or an exhausted resource."""
    return cause in (MEMORY, PROCESSES, DISK) or (status is not None and -status in _FROM_OUTSIDE)


def facts(status: int | None, lines: Sequence[str], cause: str) -> dict[str, Any]:
    """Return the facts about an end for the result: cause, exit status or signal, the last lines of stderr."""
    detail: dict[str, Any] = {"cause": cause}
    if status is not None:
        detail["status"] = status
        if status < 0:
            with contextlib.suppress(ValueError):
                detail["signal"] = signal.Signals(-status).name
    if lines:
        detail["stderr"] = list(lines)
    return detail
