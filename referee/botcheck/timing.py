"""Checks of time and memory, over many questions. Time in which other programs had the processor doesn't count."""

from __future__ import annotations

import os
import subprocess
import sys
from contextlib import contextmanager
from itertools import islice
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple

from referee import games
from referee.botcheck.check import Check
from referee.botcheck.finding import FAILED, WARNING, Finding, ok, quoted, seconds_shown, skipped
from referee.isolation.limits import size_text
from referee.players.faults import LATE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.botcheck.evidence import Evidence
    from referee.botcheck.session import Given, Session

GROUP = "time and memory"
#: What to do about late answers.
REMEDY = "Look at the clock while you think, and answer with the best move so far; left in the question says how much time there is."
#: The most questions of the row, and the seconds after which it ends.
_QUESTIONS, _SECONDS = 120, 6.0
#: The number of questions after which the memory is measured for the first time.
_WARM = 15
#: How many questions are asked beside busy programs.
_UNDER_LOAD = 12
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
#: The part of the move limit that an answer's own processor time must reach before a late answer beside busy programs is the bot's own.
_OWN_PART = 0.25
_BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(100_000):\n        pass\n"


class Course(NamedTuple):
    """Many questions, their answers, and the memory of the bot in bytes: after a few questions and at the end.

    ``idle_cpu`` is the processor time that it used while it wasn't asked, in seconds.
    """

    given: tuple[Given, ...]
    sent: bytes
    first_memory: int
    last_memory: int
    grown_over: int
    stderr_bytes: int
    idle_cpu: float
    trouble: Given | None


def take_course(evidence: Evidence) -> Course:
    """Ask many questions in one process. The game continues with the bot's answers."""
    found: list[Given] = []
    trouble = None
    first = warm = 0
    with evidence.session() as session:
        evidence.greeted(session)
        moves: dict[int, Any] = {}
        begun = perf_counter()
        idle = 0.0
        for turn, state in islice(evidence.positions.walk(session.settings, lambda turn, _: moves.get(turn)), _QUESTIONS):
            given = session.ask(turn, state)
            moves[turn] = given.move
            if given.line is None or given.has_ended:
                trouble = given
                break
            found.append(given)
            session.listen(0.0)
            if len(found) == 3:
                idle, waited = _idle_cpu(session)
                begun += waited
            if len(found) == _WARM:
                first, warm = session.memory(), len(found)
            if perf_counter() - begun > _SECONDS and len(found) > 3:
                break
        session.io.watch.drain()
        last = session.memory()
        return Course(tuple(found), session.sent, first, last, len(found) - warm if first else 0, session.log.total, idle, trouble)


def _idle_cpu(session: Session) -> tuple[float, float]:
    """Return the processor time of a bot that isn't asked, and the seconds for which it was watched: longer if it works, but little."""
    begun, used = perf_counter(), session.cpu_seconds()
    idle = 0.0
    for _ in range(_IDLE_ROUNDS):
        session.listen(_IDLE_SECONDS)
        idle = session.cpu_seconds() - used
        if idle > _IDLE_CPU or idle < _IDLE_CPU / 10:
            break
    return idle, perf_counter() - begun


def median_time(evidence: Evidence) -> Finding:
    """Half of the answers take less."""
    times = [given.seconds for given in evidence.once(take_course).given]
    return _against_limit(evidence, times, "The median answer", median)


def slow_answers(evidence: Evidence) -> Finding:
    """The longest answer is within the limit: one that is later loses the match. The 99th percentile is well within it."""
    limit, course = evidence.subject.time.move, evidence.once(take_course)
    late = course.trouble
    is_late = late is not None and late.fault is not None and late.fault.kind == LATE and evidence.trouble(late)
    if limit is not None and late is not None and is_late and late.own_seconds > limit:
        came = f"{quoted(late.line)} after {seconds_shown(late.own_seconds)}"
        return Finding(FAILED, f"{late.text} The limit is {limit:g} s.", quoted(course.sent), came, REMEDY)
    times = [given.own_seconds for given in course.given]
    if limit is None or not times or max(times) <= limit:
        found = _against_limit(evidence, times, "The 99th percentile of the answers", _p99)
        return found._replace(text=f"{found.text} The longest takes {seconds_shown(max(times))}.") if times else found
    longest = max(course.given, key=lambda given: given.own_seconds)
    text = (
        f"The longest of {len(times)} answers takes {seconds_shown(longest.own_seconds)}; the limit is {limit:g} s. "
        f"One such answer loses a match. The 99th percentile takes {seconds_shown(_p99(times))}."
    )
    came = f"{quoted(longest.line)} after {seconds_shown(longest.own_seconds)}"
    return Finding(FAILED, text, f"{len(times)} questions", came, REMEDY)


def _p99(times: list[float]) -> float:
    return sorted(times)[max(0, -(-99 * len(times) // 100) - 1)]


def _against_limit(evidence: Evidence, times: list[float], what: str, of: Any) -> Finding:
    limit, course = evidence.subject.time.move, evidence.once(take_course)
    if not times:
        return skipped("It answered no question in time.")
    found = of(times)
    text = f"{what} takes {seconds_shown(found)}"
    if limit is None:
        return ok(f"{text}.")
    text = f"{text}; the limit is {limit:g} s."
    longest = max(course.given, key=lambda given: given.own_seconds)
    came = f"{quoted(longest.line)} after {seconds_shown(longest.own_seconds)}"
    if found > limit:
        return Finding(FAILED, text, f"{len(times)} questions", came, REMEDY)
    if found > _CLOSE * limit:
        return Finding(WARNING, text, f"{len(times)} questions", came, REMEDY)
    return ok(text)


def whole_match(evidence: Evidence) -> Finding:
    """The time of a whole match at this pace."""
    bank, given = evidence.subject.time.bank, evidence.once(take_course).given
    if bank is None or not given:
        return skipped("There is no limit for a whole match.")
    count = _questions_of_match(evidence)
    total = sum(one.own_seconds for one in given) / len(given) * count - evidence.subject.time.increment * count
    text = f"At this pace {count:,} questions, the longest match, take {seconds_shown(max(0.0, total))}; the bank is {bank:g} s."
    if total > bank:
        remedy = "Think less when the bank gets low: left.bank in the question divided by the steps to come is what a move may take."
        return Finding(WARNING, text, f"{len(given)} questions", f"{seconds_shown(total / count)} for an answer, on average", remedy)
    return ok(text)


def _questions_of_match(evidence: Evidence) -> int:
    """Return the most questions that the seat gets in a match."""
    marking = games.marking_of(evidence.subject.game.info.name)
    limit = marking.step_limit(evidence.subject.settings) if marking is not None else None
    if limit is None:
        return _LONG_MATCH
    walk = evidence.positions.walk(evidence.subject.settings, lambda *_: None)
    turns = [turn for turn, _ in islice(walk, 20)]
    every = (turns[-1] - turns[0]) / (len(turns) - 1) if len(turns) > 1 else 1.0
    return max(1, int(limit / max(1.0, every)))


def under_load(evidence: Evidence) -> Finding:
    """Beside one busy program for each processor, a bot has half of one."""
    limit = evidence.subject.time.move
    if limit is None:
        return skipped("There is no limit for an answer.")
    late: list[Given] = []
    longest = 0.0
    count = 0
    with evidence.session() as session:
        evidence.greeted(session)
        moves: dict[int, Any] = {}
        with _busy_programs():
            for turn, state in islice(evidence.positions.walk(session.settings, lambda turn, _: moves.get(turn)), _UNDER_LOAD):
                given = session.ask(turn, state)
                moves[turn] = given.move
                count += 1
                longest = max(longest, given.seconds)
                if given.seconds > limit and given.cpu > _OWN_PART * limit:
                    late.append(given)
                if given.line is None or given.has_ended or len(late) > 2:
                    break
        sent = session.sent
    if late:
        text = (
            f"Beside busy programs {len(late)} of {count} answers were later than {limit:g} s; the longest took {seconds_shown(longest)}."
        )
        came = f"{quoted(late[0].line)} after {seconds_shown(late[0].seconds)}, {seconds_shown(late[0].cpu)} of it at work"
        remedy = "Look at the clock while you think instead of counting on a free processor."
        return Finding(WARNING, text, quoted(sent), came, remedy)
    return ok(f"Beside busy programs the longest answer took {seconds_shown(longest)}.")


@contextmanager
def _busy_programs() -> Iterator[None]:
    """Keep each processor busy with a program."""
    programs: list[subprocess.Popen[bytes]] = []
    try:
        command = [sys.executable, "-S", "-c", _BUSY]
        programs += [subprocess.Popen(command, stdin=subprocess.DEVNULL) for _ in range(os.cpu_count() or 1)]
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


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


def memory(evidence: Evidence) -> Finding:
    """The memory of all its processes at their peaks."""
    course, limit = evidence.once(take_course), evidence.subject.isolation.limits.memory_bytes
    if not course.last_memory:
        return skipped("This system doesn't tell the memory of a process.")
    text = f"It used up to {size_text(course.last_memory)}; the limit is {size_text(limit)}."
    remedy = "Keep less: a game tree or a cache needs a limit of its own."
    if course.last_memory > limit:
        # Without isolation the limit isn't kept.
        return Finding(FAILED, text, f"{len(course.given)} questions", size_text(course.last_memory), remedy)
    if course.last_memory > _CLOSE * limit:
        return Finding(WARNING, text, f"{len(course.given)} questions", size_text(course.last_memory), remedy)
    return ok(text)


def memory_growth(evidence: Evidence) -> Finding:
    """The memory doesn't grow from question to question."""
    course, limit = evidence.once(take_course), evidence.subject.isolation.limits.memory_bytes
    if not course.first_memory or course.grown_over < _WARM:
        return skipped("It answered too few questions to tell.")
    grown = course.last_memory - course.first_memory
    count = _questions_of_match(evidence)
    expected = course.last_memory + grown / course.grown_over * count
    text = f"Its memory grew by {size_text(max(0, grown))} over {course.grown_over} questions."
    if grown > _NOISE and expected > limit:
        more = f"{text} At this pace it needs {size_text(int(expected))} for {count:,} questions; the limit is {size_text(limit)}."
        return Finding(
            WARNING,
            more,
            f"{course.grown_over} questions",
            f"{size_text(grown)} more",
            "Forget old positions: a list or a cache grows with each question.",
        )
    return ok(text)


def stderr_amount(evidence: Evidence) -> Finding:
    """The log has room for what it writes to stderr in a match."""
    course, most = evidence.once(take_course), evidence.subject.isolation.limits.stderr_bytes
    if not course.given:
        return skipped("It answered no question.")
    count = _questions_of_match(evidence)
    expected = course.stderr_bytes / len(course.given) * count
    text = f"It wrote {size_text(course.stderr_bytes)} to stderr in {len(course.given)} questions."
    if expected > most:
        more = f"{text} A whole match has {count:,}; the log keeps the first {size_text(most)}."
        return Finding(
            WARNING,
            more,
            f"{len(course.given)} questions",
            size_text(course.stderr_bytes),
            "Log less: not in each turn, or a line instead of a board.",
        )
    return ok(text)


CHECKS = (
    Check("median-time", GROUP, "The median answer is well within the limit of a move.", median_time),
    Check("slow-answers", GROUP, "Every answer is within the limit of a move, and the 99th percentile well within it.", slow_answers),
    Check("under-load", GROUP, "It answers in time beside busy programs.", under_load),
    Check("whole-match", GROUP, "At its present speed the bank lasts for the longest match.", whole_match),
    Check("idle-time", GROUP, "It uses no processor time while it isn't asked.", idle),
    Check("memory", GROUP, "Its memory is well within the limit.", memory),
    Check("memory-growth", GROUP, "Its memory doesn't grow from question to question.", memory_growth),
    Check("stderr-amount", GROUP, "The log has room for what it writes to stderr in a whole match.", stderr_amount),
)
