"""The table of all checks, in the order in which they are done and shown."""

from __future__ import annotations

from referee.botcheck import answers, ending, matches, reading, starting, states, timing

CHECKS = (
    *starting.CHECKS,
    *answers.CHECKS,
    *states.CHECKS,
    *reading.CHECKS,
    *timing.CHECKS,
    *ending.CHECKS,
    *matches.CHECKS,
    # The last one: it looks at all starts before it.
    starting.START_TIME,
)
NAMES = tuple(check.name for check in CHECKS)
