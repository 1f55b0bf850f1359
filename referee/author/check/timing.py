"""Checks of time and memory, over many questions. Time in which other programs had the processor doesn't count."""

from __future__ import annotations

from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from referee.author.check.check import NOT_READY, STARTED, Check
from referee.author.check.check_result import FAILED, KEEPING, THINKING, WARNING, Finding, ok, quoted, seconds_shown, skipped
from referee.replay.faults import LATE
from referee.support.words import counted, size_text

if TYPE_CHECKING:
    from referee.author.check.interview import Interview, Response
    from referee.author.check.shared_runs import CheckedBot

GROUP = "time and memory"
#: The most questions of the row, the seconds after which it ends, and the late answers after which it ends.
_QUESTIONS, _SECONDS, _LATE = 120, 6.0, 3
#: How long a bot is watched while it isn't asked, in seconds, and the processor time that it may use meanwhile: for collecting garbage, say.
_IDLE_SECONDS, _IDLE_CPU = 0.6, 0.15
#: How often a bot that works meanwhile is observed: on a busy machine it gets little of the processor.
_IDLE_ROUNDS = 4
#: The assumed number of questions of a match whose length the game doesn't limit.
_LONG_MATCH = 10_000
#: The part of a limit from which on a value is close to it.
_CLOSE = 0.5
#: Growth of memory that is the measure's own noise, in bytes.
_NOISE = 4 << 20
_FORGET = (
    "A list, a dict or a cache grows with each move; give it an end. In Python: collections.deque(maxlen=1000) in place of a list, "
    "@functools.lru_cache(maxsize=10_000) in place of a dict."
)


class Course(NamedTuple):
    """Many questions and their answers. ``trouble`` is the answer that ended it.

    ``idle_cpu`` is the processor time that the bot used while it wasn't asked, in seconds.
    """

    responses: tuple[Response, ...]
    sent: bytes
    idle_cpu: float
    trouble: Response | None


def take_course(bot: CheckedBot) -> Course:
    """Ask many questions in one process. The game continues with the bot's answers.

    If the bot was late for too long, the course is that of its first process.
    """
    if bot.late_budget.is_spent:
        seen = bot.transcript
        answered = tuple(record.response for record in seen.questions if record.response.line is not None)
        trouble = seen.last if seen.last.line is None else None
        return Course(answered, seen.questions[-1].line if seen.questions else seen.start, 0.0, trouble)
    responses: list[Response] = []
    trouble, most = None, bot.subject.launcher.level.limits.memory_bytes
    with bot.interview() as interview:
        bot.greeted(interview)
        begun = perf_counter()
        idle = 0.0
        for response in bot.play(interview, _QUESTIONS):
            if response.line is None or response.has_ended:
                trouble = response
                break
            responses.append(response)
            interview.listen(0.0)
            if len(responses) == 3:
                idle, waited = _idle_cpu(interview)
                begun += waited
            # Without isolation a bot could take all memory of the machine.
            if (
                (perf_counter() - begun > _SECONDS and len(responses) > 3)
                or interview.late >= _LATE
                or interview.is_given_up
                or interview.peak > most
            ):
                break
        interview.exchange.drain()
        return Course(tuple(responses), interview.sent, idle, trouble)


def _idle_cpu(interview: Interview) -> tuple[float, float]:
    """Return the processor time of a bot that isn't asked, and the seconds for which it was watched: longer if it works, but little."""
    begun, used = perf_counter(), interview.cpu_seconds()
    idle = 0.0
    for _ in range(_IDLE_ROUNDS):
        interview.listen(_IDLE_SECONDS)
        idle = interview.cpu_seconds() - used
        if idle > _IDLE_CPU or idle < _IDLE_CPU / 10:
            break
    return idle, perf_counter() - begun


def slow_answers(bot: CheckedBot) -> Finding:
    """The longest answer is within the limit: one that is later loses the match. The 99th percentile is well within it."""
    limit, course = bot.subject.time.move, bot.once(take_course)
    late = course.trouble
    is_late = late is not None and late.fault is not None and late.fault.kind == LATE and bot.trouble(late)
    if limit is not None and late is not None and is_late and late.own_seconds > limit:
        came = f"{quoted(late.line)} after {seconds_shown(late.own_seconds)}"
        return Finding(FAILED, f"{late.text} The limit is {limit:g} s.", quoted(course.sent), came, THINKING)
    if not course.responses:
        return skipped("It answered no question in time.")
    longest = max(course.responses, key=lambda response: response.own_seconds)
    p99 = _p99([response.own_seconds for response in course.responses])
    count = len(course.responses)
    came = f"{quoted(longest.line)} after {seconds_shown(longest.own_seconds)}"
    if limit is not None and longest.own_seconds > limit:
        place = f" It was at {longest.place}." if longest.place else ""
        text = (
            f"The longest of {counted(count, 'answer')} takes {seconds_shown(longest.own_seconds)}; the limit is {limit:g} s. "
            f"One such answer loses a match. The 99th percentile takes {seconds_shown(p99)}.{place}"
        )
        return Finding(FAILED, text, counted(count, "question"), came, THINKING)
    limit_text = "" if limit is None else f"; the limit is {limit:g} s"
    text = f"The 99th percentile of the answers takes {seconds_shown(p99)}{limit_text}. The longest takes {seconds_shown(longest.own_seconds)}."
    if limit is not None and p99 > _CLOSE * limit:
        return Finding(WARNING, text, counted(count, "question"), came, THINKING)
    return ok(text)


def _p99(times: list[float]) -> float:
    return sorted(times)[max(0, -(-99 * len(times) // 100) - 1)]


def whole_match(bot: CheckedBot) -> Finding:
    """The time of a whole match at this pace."""
    bank, responses = bot.subject.time.bank, bot.once(take_course).responses
    if bank is None or not responses:
        return skipped("There is no limit for a whole match.")
    count = questions_of_match(bot)
    total = sum(response.own_seconds for response in responses) / len(responses) * count - bot.subject.time.increment * count
    text = f"At this pace {counted(count, 'question')}, the longest match, take {seconds_shown(max(0.0, total))}; the bank is {bank:g} s."
    if total > bank:
        remedy = "Think less when the bank gets low: left.bank in the question divided by the steps to come is what a move may take."
        return Finding(
            WARNING, text, f"{counted(len(responses), 'question')}", f"{seconds_shown(total / count)} for an answer, on average", remedy
        )
    return ok(text)


def questions_of_match(bot: CheckedBot) -> int:
    """Return the most questions that the seat gets in a match."""
    marking = bot.subject.game.marking
    limit = marking.step_limit(bot.subject.settings) if marking is not None else None
    if limit is None:
        return _LONG_MATCH
    walk = bot.positions.walk(bot.subject.settings)
    turns = [turn for turn, _ in islice(walk, 20)]
    every = (turns[-1] - turns[0]) / (len(turns) - 1) if len(turns) > 1 else 1.0
    return max(1, int(limit / max(1.0, every)))


def idle(bot: CheckedBot) -> Finding:
    """It rests while it isn't asked."""
    course = bot.once(take_course)
    if len(course.responses) < 3:
        return skipped("It answered too few questions.")
    text = f"While it wasn't asked it used {seconds_shown(course.idle_cpu)} of processor time."
    if course.idle_cpu > _IDLE_CPU:
        remedy = "Wait for the next line in a read that blocks; the referee stops a bot that works out of turn, or bills its time."
        return Finding(WARNING, text, "nothing", "nothing", remedy)
    return ok(text)


def memory(bot: CheckedBot) -> Finding:
    """The memory of all its processes at their peaks, also at the end of the longest match: that of the later answers shows how it grows."""
    seen, limit = bot.transcript, bot.subject.launcher.level.limits.memory_bytes
    if not seen.is_ready and not seen.ready.exceeds_memory:
        return skipped(NOT_READY)
    readings, trouble = [seen.memory], seen.last
    if seen.answers:
        course = bot.once(take_course)
        readings, trouble = [seen.ready.memory, *(response.memory for response in course.responses)], course.trouble or seen.ready
    peak = max(seen.memory, trouble.memory, *readings)
    middle = len(readings) // 2
    growth = (readings[-1] - readings[middle]) / max(1, len(readings) - 1 - middle) if readings[-1] - readings[middle] > _NOISE else 0.0
    grows = f" Its memory grows by {size_text(int(growth))} a move." if growth else ""
    remedy, questions = _FORGET if growth else KEEPING, counted(max(1, len(readings) - 1), "question")
    if trouble.exceeds_memory:
        when = f"in question {len(readings)}" if seen.is_ready else "before it was ready"
        text = f"It used more memory than its limit of {size_text(limit)} {when}, and was ended.{grows}"
        return Finding(FAILED, text, questions, "the end of the program", remedy)
    if not peak:
        return skipped("This system doesn't tell the memory of a process.")
    text = f"It used up to {size_text(peak)}; the limit is {size_text(limit)}.{grows}"
    if peak > limit:
        # Without isolation the limit isn't kept.
        return Finding(FAILED, text, questions, size_text(peak), remedy)
    count = questions_of_match(bot) if growth else 0
    if readings[-1] + growth * count > limit:
        after = len(readings) + int((limit - readings[-1]) / growth)
        return Finding(
            WARNING, f"{text} It meets the limit after about {after:,} of up to {count:,} moves.", questions, size_text(peak), remedy
        )
    return Finding(WARNING, text, questions, size_text(peak), remedy) if peak > _CLOSE * limit else ok(text)


CHECKS = (
    Check("slow-answers", GROUP, "Every answer is within the limit of a move, and the 99th percentile well within it.", slow_answers),
    Check("whole-match", GROUP, "At its present speed the bank lasts for the longest match.", whole_match),
    Check("idle-time", GROUP, "It uses no processor time while it isn't asked.", idle),
    Check("memory", GROUP, "Its memory is well within the limit, and doesn't grow from question to question.", memory, STARTED),
)
