"""User IDs for bots of a referee that runs as root: each running bot has its own ID."""

from __future__ import annotations

import contextlib
import grp
import pwd
import random
import socket
from functools import cache

#: Above ordinary accounts, below what distributions and service managers give out, inside what containers map.
FIRST, LAST = 58_000, 58_999


class UserNumber:
    """A user ID that is claimed until ``release``, or the end of this process.

    The claim is a name in the kernel's table of abstract sockets. It leaves no file behind and ends with the process that holds it.

    ``is_spread``: begin at a random number. Containers on one host have separate tables, but the host counts the processes of a user ID
    together. With random numbers two containers seldom get the same ID.
    """

    def __init__(self, *, is_spread: bool = False) -> None:
        count = LAST - FIRST + 1
        begin = random.randrange(count) if is_spread else 0  # noqa: S311 - no secret
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
