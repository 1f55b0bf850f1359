"""Checks of a bot's memory, measured after each answer even if the bot fails."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.author.check.check import NOT_READY, STARTED, Check, all_of
from referee.author.check.check_result import FAILED, KEEPING, WARNING, Finding, ok, skipped
from referee.author.check.timing import CLOSE, GROUP, questions_of_match, take_course
from referee.support.words import counted, size_text

if TYPE_CHECKING:
    from referee.author.check.shared_runs import CheckedBot

#: The number of answers after which growth is measured, if there are many: a bot fills its tables first.
_WARM = 15
#: Over how many moves growth must be seen before it is extrapolated.
_FEWEST = 6
#: Growth of memory that is the measure's own noise, in bytes.
_NOISE = 4 << 20
#: The part of the growth that the later half of the moves must have, or it was no more than the filling of tables.
_LATER = 0.25
_FORGET = (
    "A list, a dict or a cache grows with each move; give it an end. In Python: collections.deque(maxlen=1000) in place of a list, "
    "@functools.lru_cache(maxsize=10_000) in place of a dict."
)


class Usage(NamedTuple):
    """The memory of a bot in bytes: at its peak, and after the answers between which its growth is measured.

    ``moves`` is the number of moves between these two, ``before`` of those before the first. ``ended`` is the number of the question in which
    the bot went over its limit and was ended; 0 if it wasn't. ``is_over``: it went over its limit, ended for that or not.
    """

    peak: int
    first: int = 0
    last: int = 0
    moves: int = 0
    before: int = 0
    ended: int = 0
    is_steady: bool = False
    is_over: bool = False

    @property
    def each(self) -> float:
        """The growth a move, in bytes."""
        return (self.last - self.first) / self.moves if self.moves else 0.0

    @property
    def may_grow(self) -> bool:
        """True if the growth isn't noise and has not stopped."""
        return self.last - self.first > _NOISE and self.is_steady

    @property
    def is_growing(self) -> bool:
        """True if the growth goes on, too: over enough moves, or to the limit."""
        return self.may_grow and (self.moves >= _FEWEST or self.is_over)

    def words(self, limit: int) -> str:
        """The growth as a sentence: how much a move, and after how many moves it meets the limit."""
        over = f"over {counted(self.moves, 'move')}"
        when = counted(self.ended or max(1, self.before + int((limit - self.first) / self.each)), "move")
        meets = f"it meets the limit of {size_text(limit)} after about {when}."
        if self.is_growing:
            return f"Its memory grows by {size_text(int(self.each))} a move (from {size_text(self.first)} to {size_text(self.last)} {over}); {meets}"
        return f"Its memory grew by {size_text(self.last - self.first)} {over}, too few to tell whether that goes on; if so, {meets}"


def measure(bot: CheckedBot) -> Usage:
    """Return the memory of the bot over many questions; over those of its first process if it answers none."""
    seen = bot.transcript
    if seen.answers:
        course = bot.once(take_course)
        answered, trouble = course.responses, course.trouble
    else:
        answered, trouble = (), seen.last
    readings = [response.memory for response in answered]
    ended = len(readings) + 1 if trouble is not None and trouble.exceeds_memory else 0
    peak = max([seen.memory, *readings, trouble.memory if trouble is not None else 0])
    is_over = ended > 0 or peak > bot.subject.launcher.level.limits.memory_bytes
    before = max(1, min(_WARM, len(readings) // 3))
    if len(readings) <= before + 1 and not (readings and is_over):
        return Usage(peak, before=len(readings), ended=ended)
    if len(readings) <= before + 1:
        # Over its limit so soon, it is compared with its start.
        return Usage(peak, seen.ready.memory, readings[-1], len(readings), 0, ended, is_steady=True, is_over=True)
    first, middle, last = readings[before - 1], readings[(before + len(readings)) // 2 - 1], readings[-1]
    is_steady = last - middle >= _LATER * (last - first)
    return Usage(peak, first, last, len(readings) - before, before, ended, is_steady, is_over)


def _is_unready(bot: CheckedBot) -> bool:
    return not bot.transcript.is_ready and not bot.transcript.ready.exceeds_memory


def memory(bot: CheckedBot) -> Finding:
    """The memory of all its processes at their peaks."""
    limit = bot.subject.launcher.level.limits.memory_bytes
    if _is_unready(bot):
        return skipped(NOT_READY)
    usage = bot.once(measure)
    growth = f" It needs {size_text(int(usage.each))} more with each move." if usage.is_growing else ""
    remedy = _FORGET if growth else KEEPING
    if usage.ended:
        when = f"in question {usage.ended}" if bot.transcript.is_ready else "before it was ready"
        text = f"It used more memory than its limit of {size_text(limit)} {when}, and was ended.{growth}"
        return Finding(FAILED, text, counted(usage.ended, "question"), "the end of the program", remedy)
    if not usage.peak:
        return skipped("This system doesn't tell the memory of a process.")
    text = f"It used up to {size_text(usage.peak)}; the limit is {size_text(limit)}.{growth}"
    questions = counted(usage.before + usage.moves, "question")
    if usage.peak > limit:
        # Without isolation the limit isn't kept.
        return Finding(FAILED, text, questions, size_text(usage.peak), remedy)
    if usage.peak > CLOSE * limit:
        return Finding(WARNING, text, questions, size_text(usage.peak), remedy)
    return ok(text)


def memory_growth(bot: CheckedBot) -> Finding:
    """The memory doesn't grow from question to question."""
    if _is_unready(bot):
        return skipped(NOT_READY)
    usage, limit = bot.once(measure), bot.subject.launcher.level.limits.memory_bytes
    if not usage.first and not usage.ended:
        return skipped("It answered too few questions to tell." if usage.peak else "This system doesn't tell the memory of a process.")
    count = questions_of_match(bot)
    if usage.may_grow and usage.last + usage.each * count > limit:
        status = FAILED if usage.is_over else WARNING
        text = f"{usage.words(limit)} A match has up to {count:,}."
        return Finding(
            status, text, counted(usage.before + usage.moves, "question"), f"{size_text(usage.last - usage.first)} more", _FORGET
        )
    if usage.ended:
        return skipped("It was ended at its limit after too few answers to tell; see the check memory.")
    return ok(f"Its memory grew by {size_text(max(0, usage.last - usage.first))} over {counted(usage.moves, 'move')}.")


CHECKS = (
    Check(
        "memory",
        GROUP,
        "Its memory is well within the limit, and doesn't grow from question to question.",
        all_of(memory_growth, memory),
        STARTED,
    ),
)
