"""A cache on disk between runs, in files of this user. It may vanish at any time: no result depends on it."""

from __future__ import annotations

import os

#: The environment variable for the cache folder, which replaces the one in the user's home; empty: no cache.
VARIABLE = "REFEREE_CACHE"


def folder() -> str:
    """Return the path of the cache folder, "" for no cache. The folder may not exist yet.

    Source: XDG Base Directory Specification, "Environment variables" (a path that isn't absolute is ignored).
    """
    path = os.environ.get(VARIABLE)
    if path is not None:
        try:
            return path and os.path.abspath(path)
        except OSError:
            # The path is relative, and the current folder is gone.
            return ""
    base = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(base):
        base = os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "referee") if os.path.isabs(base) else ""
