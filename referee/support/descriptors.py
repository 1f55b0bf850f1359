"""The limit on this process's open descriptors."""

from __future__ import annotations

import contextlib

_WANTED = 65_536


def raise_limit() -> int:
    """Raise this process's limit on descriptors to its hard limit, at most 65,536. Return the new limit."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = _WANTED if hard == resource.RLIM_INFINITY else min(hard, _WANTED)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
            soft = limit
    return _WANTED if soft == resource.RLIM_INFINITY else soft
