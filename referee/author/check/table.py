"""The table of all checks, in the order in which they are done; each group is shown as a whole.

Those of time, memory and a match come early, because a bot that is late for too long isn't asked any more.
"""

from __future__ import annotations

from referee.author.check import answers, ending, matches, reading, starting, states, timing

CHECKS = (
    *starting.CHECKS,
    *answers.CHECKS,
    *timing.CHECKS,
    *matches.CHECKS,
    *starting.MESSAGES,
    *states.CHECKS,
    *reading.CHECKS,
    *ending.CHECKS,
    # The last one: it looks at all starts before it.
    starting.START_TIME,
)
NAMES = tuple(check.name for check in CHECKS)
