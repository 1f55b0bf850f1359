"""The check of the end: how a bot exits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.author.check.check import Check, all_of
from referee.author.check.check_result import FAILED, WARNING, Finding, ok, quoted, seconds_shown, skipped
from referee.author.check.shared_runs import EXIT_PATIENCE, RESULT
from referee.wire import encode

if TYPE_CHECKING:
    from referee.author.check.shared_runs import CheckedBot

GROUP = "end"
#: Seconds that a match gives a bot to exit after ``end``. A bot is given more here, because the machine may be busy.
_GRACE = 1.0
_NOT_PLAYED = "It did not answer all questions before the end."
_READ_ON = "Leave the loop that reads lines when the input ends, and let the program end; end threads and other processes with it."


def at_end(bot: CheckedBot) -> Finding:
    """After ``end`` and the end of its input it exits."""
    seen = bot.transcript
    if not seen.is_played:
        return skipped(_NOT_PLAYED)
    if seen.left_after is None:
        return Finding(
            FAILED, f"It still ran {EXIT_PATIENCE:g} s after the end of the match.", "end, then the end of its input", "nothing", _READ_ON
        )
    if seen.left_after > 2 * _GRACE:
        text = f"It ended {seconds_shown(seen.left_after)} after the end of the match; the referee ends it after {_GRACE:g} s."
        return Finding(WARNING, text, "end, then the end of its input", "its exit", _READ_ON)
    return ok("It ends after the message end.")


def exit_status(bot: CheckedBot) -> Finding:
    """It exits with status 0."""
    seen = bot.transcript
    if seen.status is None or not seen.is_played:
        return skipped(_NOT_PLAYED)
    if seen.status != 0:
        how = f"status {seen.status}" if seen.status > 0 else f"signal {-seen.status}"
        came = f"{how}; stderr: {quoted(seen.stderr[-1])}" if seen.stderr else how
        return Finding(
            WARNING, f"It ended with {how} after the message end.", quoted(encode.end(RESULT)), came, "Look at the last line of its stderr."
        )
    return ok("It exits with status 0.")


CHECKS = (Check("exits-at-end", GROUP, "It exits with status 0 after the message end, when its input ends.", all_of(at_end, exit_status)),)
