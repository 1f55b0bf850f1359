"""Checks of time and memory, over many questions. Time in which other programs had the processor doesn't count."""

from __future__ import annotations

from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, NamedTuple

from referee.author.check.check import Check
from referee.author.check.finding import FAILED, THINKING, WARNING, Finding, ok, quoted, seconds_shown, skipped
from referee.replay.faults import LATE
from referee.support.words import counted

if TYPE_CHECKING:
    from referee.author.check.evidence import Evidence
    from referee.author.check.session import CheckSession, Given

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
CLOSE = 0.5


class Course(NamedTuple):
    """Many questions and their answers. ``trouble`` is the answer that ended it.

    ``idle_cpu`` is the processor time that the bot used while it wasn't asked, in seconds.
    """

    given: tuple[Given, ...]
    sent: bytes
    idle_cpu: float
    trouble: Given | None


def take_course(evidence: Evidence) -> Course:
    """Ask many questions in one process. The game continues with the bot's answers.

    If the bot was late for too long, the course is that of its first process.
    """
    if evidence.patience.is_spent:
        seen = evidence.transcript
        answered = tuple(asked.given for asked in seen.questions if asked.given.line is not None)
        trouble = seen.last if seen.last.line is None else None
        return Course(answered, seen.questions[-1].question if seen.questions else seen.start, 0.0, trouble)
    found: list[Given] = []
    trouble, most = None, evidence.subject.isolation.limits.memory_bytes
    with evidence.session() as session:
        evidence.greeted(session)
        begun = perf_counter()
        idle = 0.0
        for given in evidence.play(session, _QUESTIONS):
            if given.line is None or given.has_ended:
                trouble = given
                break
            found.append(given)
            session.listen(0.0)
            if len(found) == 3:
                idle, waited = _idle_cpu(session)
                begun += waited
            # Without isolation a bot could take all memory of the machine.
            if (
                (perf_counter() - begun > _SECONDS and len(found) > 3)
                or session.late >= _LATE
                or session.is_given_up
                or session.peak > most
            ):
                break
        session.io.watch.drain()
        return Course(tuple(found), session.sent, idle, trouble)


def _idle_cpu(session: CheckSession) -> tuple[float, float]:
    """Return the processor time of a bot that isn't asked, and the seconds for which it was watched: longer if it works, but little."""
    begun, used = perf_counter(), session.cpu_seconds()
    idle = 0.0
    for _ in range(_IDLE_ROUNDS):
        session.listen(_IDLE_SECONDS)
        idle = session.cpu_seconds() - used
        if idle > _IDLE_CPU or idle < _IDLE_CPU / 10:
            break
    return idle, perf_counter() - begun


def slow_answers(evidence: Evidence) -> Finding:
    """The longest answer is within the limit: one that is later loses the match. The 99th percentile is well within it."""
    limit, course = evidence.subject.time.move, evidence.once(take_course)
    late = course.trouble
    is_late = late is not None and late.fault is not None and late.fault.kind == LATE and evidence.trouble(late)
    if limit is not None and late is not None and is_late and late.own_seconds > limit:
        came = f"{quoted(late.line)} after {seconds_shown(late.own_seconds)}"
        return Finding(FAILED, f"{late.text} The limit is {limit:g} s.", quoted(course.sent), came, THINKING)
    times = [given.own_seconds for given in course.given]
    if limit is None or not times or max(times) <= limit:
        found = _against_limit(evidence, times)
        return found._replace(text=f"{found.text} The longest takes {seconds_shown(max(times))}.") if times else found
    longest = max(course.given, key=lambda given: given.own_seconds)
    text = (
        f"The longest of {counted(len(times), 'answer')} takes {seconds_shown(longest.own_seconds)}; the limit is {limit:g} s. "
        f"One such answer loses a match. The 99th percentile takes {seconds_shown(_p99(times))}.{_at(course)}"
    )
    came = f"{quoted(longest.line)} after {seconds_shown(longest.own_seconds)}"
    return Finding(FAILED, text, f"{counted(len(times), 'question')}", came, THINKING)


def _at(course: Course) -> str:
    """Return the sentence that says where the bot was when its longest answer was late; "" if that isn't known."""
    place = max(course.given, key=lambda given: given.own_seconds).place
    return f" It was at {place}." if place else ""


def _p99(times: list[float]) -> float:
    return sorted(times)[max(0, -(-99 * len(times) // 100) - 1)]


def _against_limit(evidence: Evidence, times: list[float]) -> Finding:
    limit, course = evidence.subject.time.move, evidence.once(take_course)
    if not times:
        return skipped("It answered no question in time.")
    found = _p99(times)
    text = f"The 99th percentile of the answers takes {seconds_shown(found)}"
    if limit is None:
        return ok(f"{text}.")
    text = f"{text}; the limit is {limit:g} s."
    longest = max(course.given, key=lambda given: given.own_seconds)
    came = f"{quoted(longest.line)} after {seconds_shown(longest.own_seconds)}"
    if found > limit:
        return Finding(FAILED, f"{text}{_at(course)}", f"{counted(len(times), 'question')}", came, THINKING)
    if found > CLOSE * limit:
        return Finding(WARNING, text, f"{counted(len(times), 'question')}", came, THINKING)
    return ok(text)


def whole_match(evidence: Evidence) -> Finding:
    """The time of a whole match at this pace."""
    bank, given = evidence.subject.time.bank, evidence.once(take_course).given
    if bank is None or not given:
        return skipped("There is no limit for a whole match.")
    count = questions_of_match(evidence)
    total = sum(one.own_seconds for one in given) / len(given) * count - evidence.subject.time.increment * count
    text = f"At this pace {counted(count, 'question')}, the longest match, take {seconds_shown(max(0.0, total))}; the bank is {bank:g} s."
    if total > bank:
        remedy = "Think less when the bank gets low: left.bank in the question divided by the steps to come is what a move may take."
        return Finding(
            WARNING, text, f"{counted(len(given), 'question')}", f"{seconds_shown(total / count)} for an answer, on average", remedy
        )
    return ok(text)


def questions_of_match(evidence: Evidence) -> int:
    """Return the most questions that the seat gets in a match."""
    marking = evidence.subject.game.marking
    limit = marking.step_limit(evidence.subject.settings) if marking is not None else None
    if limit is None:
        return _LONG_MATCH
    walk = evidence.positions.walk(evidence.subject.settings, lambda *_: None)
    turns = [turn for turn, _ in islice(walk, 20)]
    every = (turns[-1] - turns[0]) / (len(turns) - 1) if len(turns) > 1 else 1.0
    return max(1, int(limit / max(1.0, every)))


def idle(evidence: Evidence) -> Finding:
    """It rests while it isn't asked."""
    course = evidence.once(take_course)
    if len(course.given) < 3:
        return skipped("It answered too few questions.")
    text = f"While it wasn't asked it used {seconds_shown(course.idle_cpu)} of processor time."
    if course.idle_cpu > _IDLE_CPU:
        remedy = "Wait for the next line in a read that blocks; the referee stops a bot that works out of turn, or bills its time."
        return Finding(WARNING, text, "nothing", "nothing", remedy)
    return ok(text)


CHECKS = (
    Check("slow-answers", GROUP, "Every answer is within the limit of a move, and the 99th percentile well within it.", slow_answers),
    Check("whole-match", GROUP, "At its present speed the bank lasts for the longest match.", whole_match),
    Check("idle-time", GROUP, "It uses no processor time while it isn't asked.", idle),
)
