"""Waiting for descriptors."""

from __future__ import annotations

import select
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def readable(fds: Iterable[int]) -> select.poll:
    """Return a poll that waits for bytes on any of the descriptors."""
    poller = select.poll()
    for fd in fds:
        poller.register(fd, select.POLLIN)
    return poller
