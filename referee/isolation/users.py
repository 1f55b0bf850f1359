"""User IDs for programs of a referee that runs as root: one for each running bot, and one for a browser."""

from __future__ import annotations

import contextlib
import grp
import os
import pwd
import re
import signal
import socket
import sys
from functools import cache
from typing import TYPE_CHECKING

from referee.isolation import bubblewrap, supervisor

if TYPE_CHECKING:
    from collections.abc import Iterator

#: Above ordinary accounts, below the ranges of distributions and service managers, inside the range that containers map.
FIRST, LAST = 58_000, 58_999
_SHARED_MEMORY = "/dev/shm"


class UserNumber:
    """A user ID that is claimed until ``release``, or the end of this process.

    The claim is a name in the kernel's table of abstract sockets. It leaves no file behind and ends with the process that holds it.

    ``is_spread``: begin at a random number. Containers on one host have separate tables, but the host counts the processes of a user ID
    together. With random numbers two containers seldom get the same ID.
    """

    def __init__(self, *, is_spread: bool = False) -> None:
        count = LAST - FIRST + 1
        begin = int.from_bytes(os.urandom(4), "big") if is_spread else 0
        for number in (FIRST + (begin + step) % count for step in range(count)):
            if _is_of_account(number):
                continue
            claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            try:
                claim.bind(f"\0referee-user-{number}")
            except OSError:
                claim.close()
                continue
            self.number, self._claim = number, claim
            return
        raise OSError(0, f"all user numbers from {FIRST} to {LAST} are taken")

    def release(self) -> None:
        """Release the user ID; its processes must be gone."""
        self._claim.close()


@cache
def _is_of_account(number: int) -> bool:
    """True if the machine has a user or a group of this number. A search takes a millisecond, so a process searches once."""
    with contextlib.suppress(KeyError):
        pwd.getpwuid(number)
        return True
    with contextlib.suppress(KeyError):
        # The number is the bot's group, too.
        grp.getgrgid(number)
        return True
    return False


def are_needed() -> bool:
    """True if programs of this referee would run as root without a user of their own."""
    return os.geteuid() == 0 and sys.platform.startswith("linux")


@contextlib.contextmanager
def other_user() -> Iterator[int]:
    """Claim a user ID. In the end, kill all its processes and remove its shared memory."""
    user = UserNumber(is_spread=True)
    try:
        yield user.number
    finally:
        end_all_of(user.number)
        clear_shared_memory(user.number)
        user.release()


def become(number: int, *, gains_none: bool = True) -> tuple[str, ...]:
    """Return the command that makes a program one of that user, without groups and capabilities; with ``gains_none``, without a way to gain them."""
    setpriv = bubblewrap.tool("setpriv") or "setpriv"
    user = ("--reuid", str(number), "--regid", str(number), "--clear-groups")
    bounds = ("--bounding-set=-all", "--no-new-privs") if gains_none else ()
    return (setpriv, *user, "--inh-caps=-all", "--ambient-caps=-all", *bounds, "--")


def end_all_of(number: int) -> None:
    """Kill every process of a user ID and wait until none is left, including those that the supervisor doesn't know."""
    for _ in range(1000):
        pids = [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if is_of(pid, number)]
        if not pids:
            return
        for pid in pids:
            supervisor.send_signal(pid, signal.SIGKILL)
            supervisor.attempt(os.waitpid, pid, os.WNOHANG)


def is_of(pid: int, number: int) -> bool:
    """True if a live process belongs to a user ID. Its folder in /proc may belong to root although the process doesn't."""
    match = re.search(rb"^State:\s+(\w).*?^Uid:\s+(\d+)", supervisor.read(f"/proc/{pid}/status"), re.MULTILINE | re.DOTALL)
    return match is not None and match[1] not in b"ZX" and int(match[2]) == number


def clear_shared_memory(number: int) -> None:
    """Remove what a user left in shared memory: the bot of the next match could read it."""
    with contextlib.suppress(OSError), os.scandir(_SHARED_MEMORY) as entries:
        for entry in entries:
            with contextlib.suppress(OSError):
                if entry.stat(follow_symlinks=False).st_uid == number:
                    if entry.is_dir(follow_symlinks=False):
                        supervisor.remove_tree(entry.path)
                    else:
                        os.unlink(entry.path)
