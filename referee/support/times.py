"""Times in words, for people. Files and ``--json`` have them in the form of RFC 3339."""

from __future__ import annotations

import time
from datetime import datetime, timezone

from referee.support.words import counted

_UNITS = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def moment(seconds: float) -> str:
    """Return a time in seconds since the epoch in the form of RFC 3339."""
    return datetime.fromtimestamp(seconds, timezone.utc).isoformat(timespec="seconds")


def shown_time(moment: float | str | datetime) -> str:
    """Return a time to the minute: "2026-11-27 16:40 UTC".

    ``moment`` is in seconds since the epoch, in the form of RFC 3339, or a time with an offset from UTC. A time with an offset keeps it.
    """
    if isinstance(moment, str):
        moment = datetime.fromisoformat(moment)
    if not isinstance(moment, datetime):
        moment = datetime.fromtimestamp(moment, timezone.utc)
    offset = moment.utcoffset()
    zone = "" if offset is None else f" {timezone(offset)}"
    return f"{moment:%Y-%m-%d %H:%M}{zone}"


def shown_span(seconds: float) -> str:
    """Return a span of time to the second, or from an hour on to the minute: "48 s", "1 min 05 s", "2 h 05 min"."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"


def shown_age(moment: float | str, now: float | None = None) -> str:
    """Return how long ago a time was, in the largest unit: "just now", "5 minutes ago", "3 days ago". ``now`` is the time of the clock by default."""
    then = datetime.fromisoformat(moment).timestamp() if isinstance(moment, str) else moment
    seconds = (time.time() if now is None else now) - then
    for unit, size in _UNITS:
        if seconds >= size:
            return f"{counted(int(seconds // size), unit)} ago"
    return "just now"
