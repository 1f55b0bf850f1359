"""What rerun says to people: where a bot's answers differ from the recorded ones."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.support.words import counted

if TYPE_CHECKING:
    from referee.replay.rerun import Difference, Rerun

_CLOCK = "A bot that looks at the clock, or at random numbers that don't come from its seed, can answer differently although it is the same program."


def rerun_lines(found: Rerun) -> list[str]:
    """Return the result as lines."""
    lines = [_sentence(difference) for difference in found.differences]
    if len(found.differences) < found.differing:
        lines.append(f"... and {found.differing - len(found.differences):,} more")
    lines.append(rerun_verdict(found))
    if found.is_same_file is not None:
        is_not = "has the hash that" if found.is_same_file else "is not the one whose hash"
        lines.append(f"The bot's file {is_not} the replay names.")
    return [*lines, *found.notes, *([] if found.ok else [_CLOCK])]


def _sentence(difference: Difference) -> str:
    where = "before the first step" if difference.step is None else f"step {difference.step:,}"
    recorded = "it was ready" if difference.recorded is None else str(difference.recorded)
    new = "it was ready" if difference.new is None else str(difference.new)
    return f"{where}: recorded {recorded}; now {new}"


def rerun_verdict(found: Rerun) -> str:
    """Return the result in a sentence."""
    count = counted(found.answers, "answer")
    if found.ok:
        return f"{'all ' if found.answers > 1 else ''}{count} equal: this bot played this match"
    if not found.equal + found.differing:
        return f"none of {count} compared: the bot failed before its first question"
    more = f"; {found.unasked:,} were not asked, because the bot failed" if found.unasked else ""
    return f"{found.differing:,} of {count} differ{'s' * (found.differing == 1)}{more}"
