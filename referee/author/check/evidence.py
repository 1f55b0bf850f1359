"""What a bot did in the processes that several checks share. Each part is gathered when a check first asks for it."""

from __future__ import annotations

import json
import select
from functools import cached_property
from itertools import islice
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from referee.author.check.finding import FAILED, Finding, no_line, quoted
from referee.author.check.patience import Patience
from referee.author.check.positions import Positions
from referee.author.check.session import CheckSession, Given, Subject
from referee.isolation.supervisor import descendants

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from referee.games.capabilities import Position

    T = TypeVar("T")

#: How many questions the first process is asked, and after how many late answers it isn't asked any more.
_QUESTIONS, _LATE = 8, 1
#: How long a bot is watched for output that nobody asked for, in seconds: at first, and after each further answer.
_QUIET, _MOMENT = 0.25, 0.02
#: How long output that was held back may take once the bot's input has ended, in seconds.
_HELD_BACK = 2.0
#: How long a bot may take to exit before it counts as one that stays, in seconds. A match waits for one second.
EXIT_PATIENCE = 5.0
#: How long the processes of a bot may run after its own end before they count as left behind, in seconds.
_LEAVING = 1.0
#: The end of a match that nobody has won or lost.
RESULT: dict[str, Any] = {"reason": "stopped", "winner": None, "scores": {}, "text": "The match was stopped.", "steps": 8}

_AS_USUAL: Mapping[str, Any] = {}
ONE_LINE, ONLY_ANSWERS = "several-lines", "other-text"


class AskedQuestion(NamedTuple):
    """A question of the first process, and what came. ``extra`` is what the bot wrote after its answer without being asked."""

    question: bytes
    turn: int
    state: Any
    given: Given
    extra: bytes = b""

    def finding(self, text: str, remedy: str, status: str = FAILED) -> Finding:
        """Return what is wrong with the answer."""
        return Finding(status, text, quoted(self.question), quoted(self.given.line), remedy)


class Transcript(NamedTuple):
    """The first process of the bot: from its start to its end.

    ``unasked`` came between ``ready`` and the first question, ``held_back`` came only after the bot's input had ended. ``problems`` are
    the reasons that answers were wrong for, each with an example. ``left_after`` is the time until it ended after the end of the match, in
    seconds. ``memory`` is its memory at the peak, in bytes.
    """

    start: bytes
    ready: Given
    startup_seconds: float
    unasked: bytes
    questions: tuple[AskedQuestion, ...]
    problems: dict[str, AskedQuestion]
    held_back: bytes
    stderr: tuple[str, ...]
    left_after: float | None
    status: int | None
    children: tuple[int, ...]
    memory: int

    @property
    def is_ready(self) -> bool:
        """True if it was ready for the match."""
        return not self.ready.reason

    def fails_like(self, other: Transcript) -> bool:
        """True if both were not ready for the same reason."""
        own, theirs = self.ready, other.ready
        return (own.reason, own.line, self.stderr, self.status) == (theirs.reason, theirs.line, other.stderr, other.status)

    @property
    def is_noisy(self) -> bool:
        """True if it writes to stdout without being asked."""
        return (
            bool(self.unasked) or any(one.extra for one in self.questions) or not self.problems.keys().isdisjoint((ONE_LINE, ONLY_ANSWERS))
        )

    @property
    def last(self) -> Given:
        """What came last: for a question, else for the start message."""
        return self.questions[-1].given if self.questions else self.ready

    @property
    def is_played(self) -> bool:
        """True if it answered all that it was asked, so that its end shows how it ends a match."""
        return self.is_ready and self.last.line is not None and not self.last.has_ended and not self.held_back

    @property
    def answers(self) -> bool:
        """True if it answered its first question, well or badly."""
        return self.is_ready and bool(self.questions) and self.questions[0].given.line is not None


class Evidence:
    """The bot at one seat, with everything that was observed about it.

    ``plays`` tells whether the bot can be asked with other settings, such as those of another rule set. ``share`` is this seat's part of the
    time for late answers.
    """

    def __init__(self, subject: Subject, plays: Callable[[Any], bool] = lambda _: True, share: float = 1.0) -> None:
        self.subject = subject
        self.plays = plays
        self.patience = Patience(subject.time, share)
        self.positions = Positions(subject.game, subject.settings, subject.seat)
        #: The time from the start of each process until it was ready, in seconds.
        self.startups: list[float] = []
        self._gathered: dict[object, Any] = {}

    def session(self, settings: Any = None) -> CheckSession:
        """Start the bot in a process of its own. Spent if it has been late for too long."""
        self.patience.check()
        # Until the first process is recorded nothing is known.
        is_noisy = "transcript" in self.__dict__ and self.transcript.is_noisy
        return CheckSession(self.subject, settings, self.patience, is_noisy=is_noisy)

    def greeted(self, session: CheckSession, line: bytes | None = None) -> Given:
        """Send ``start`` and return what came, with the time noted."""
        given = session.greet(line)
        if not given.reason:
            self.startups.append(session.startup_seconds)
        return given

    def play(
        self, session: CheckSession, questions: int, asking: Callable[[CheckSession, int, Any], Given] = CheckSession.ask
    ) -> Iterator[Given]:
        """Ask the first questions of a match, which goes on with the bot's moves, and yield what came for each.

        ``asking`` asks one question: that of a turn and its position.
        """
        moves: dict[int, Any] = {}
        for turn, state in islice(self.positions.walk(session.settings, lambda turn, _: moves.get(turn)), questions):
            given = asking(session, turn, state)
            moves[turn] = given.move
            yield given

    def trouble(self, given: Given) -> bool:
        """True if an answer is wrong in a way that the first process has not shown: each problem is reported by one check."""
        known = self.transcript.problems.keys()
        if given.reason == "not-json" and not known.isdisjoint((ONE_LINE, ONLY_ANSWERS)):
            return False
        return bool(given.reason) and given.reason not in known

    def complaint(self, given: Given, session: CheckSession, text: str, remedy: str, status: str = FAILED) -> Finding:
        """Return the result for an answer that is wrong."""
        text = text.rstrip(",")
        session.io.watch.drain()
        came = quoted(given.line) if given.line else no_line([line for line in session.log.last_lines()[-1:] if line])
        return Finding(status, f"{text}: {given.text}" if given.text else text, quoted(session.sent), came, remedy)

    def tried(
        self,
        way: str,
        remedy: str,
        asking: Callable[[CheckSession], Iterable[Given]],
        *,
        settings: Any = None,
        start: Mapping[str, Any] = _AS_USUAL,
        status: str = FAILED,
        is_of_start: bool = False,
    ) -> Finding | None:
        """Start the bot and ask it; ``way`` says how, at the beginning of a sentence. Return what is wrong, None if nothing is.

        ``asking`` yields what came for each question. ``start`` are changes of the start message, as arguments of ``start_line``.
        ``is_of_start``: a bot that isn't ready is wrong, even if the first process failed in the same way later.
        """
        with self.session(settings) as session:
            given = self.greeted(session, session.start_line(**start))
            if given.reason:
                return self.complaint(given, session, way, remedy, status) if is_of_start or self.trouble(given) else None
            for given in asking(session):
                if given.reason:
                    return self.complaint(given, session, way, remedy, status) if self.trouble(given) else None
        return None

    def tried_at(self, position: Position, way: str, remedy: str, **told: Any) -> Finding | None:
        """Ask the bot in one position, as ``tried`` does."""
        return self.tried(way, remedy, lambda session: [session.ask(position.turn, position.state)], settings=position.settings, **told)

    @cached_property
    def transcript(self) -> Transcript:
        """The first process."""
        with self.session() as session:
            return _Recorder(self, session).record()

    def once(self, gather: Callable[[Evidence], T]) -> T:
        """Return what a function gathers, which is called once."""
        if gather not in self._gathered:
            self._gathered[gather] = gather(self)
        found: T = self._gathered[gather]
        return found


class _Recorder:
    """Records the first process."""

    def __init__(self, evidence: Evidence, session: CheckSession) -> None:
        self.evidence = evidence
        self.session = session
        self.questions: list[AskedQuestion] = []
        self.problems: dict[str, AskedQuestion] = {}
        self.unasked = b""

    def record(self) -> Transcript:
        session = self.session
        ready = self.evidence.greeted(session)
        start, held_back = session.sent, b""
        if not ready.reason:
            self.unasked = session.listen(_QUIET)
            self._ask()
        first = self.questions[0].given if self.questions else ready
        if first.reason in ("silent", "unfinished") and not first.place:
            session.player.pipes.close_one("stdin")
            held_back = first.line or b""
            held_back += session.listen(_HELD_BACK)
        children = descendants(session.process.sandbox.first_pid())
        left_after = None
        last = self.questions[-1].given if self.questions else ready
        if last.reason == "silent" and not held_back:
            # It would only be waited for once more.
            ready = self._locate(ready)
        else:
            left_after = session.dismiss(None if session.player.pipes.stdin < 0 else RESULT, EXIT_PATIENCE)
        session.io.watch.drain()
        stderr = tuple(line.decode("utf-8", "replace") for line in session.log.last_lines())
        return Transcript(
            start,
            ready,
            session.startup_seconds,
            self.unasked,
            tuple(self.questions),
            self.problems,
            held_back,
            stderr,
            left_after,
            session.process.status,
            _left_behind(children) if left_after is not None else (),
            session.peak,
        )

    def _locate(self, ready: Given) -> Given:
        """Look where a bot is that gives no answer. Return what came for the start message, with the place if it is that."""
        if not self.questions:
            return self.session.locate(ready)
        last = self.questions[-1] = self.questions[-1]._replace(given=self.session.locate(self.questions[-1].given))
        self.problems[last.given.reason] = last
        return ready

    def _ask(self) -> None:
        def asking(_: CheckSession, turn: int, state: Any) -> Given:
            self.questions.append(self._one_question(turn, state, _MOMENT if self.questions else _QUIET))
            return self.questions[-1].given

        for given in self.evidence.play(self.session, _QUESTIONS, asking):
            if given.reason:
                self.problems.setdefault(given.reason, self.questions[-1])
            if given.has_ended or given.line is None or self.session.late > _LATE:
                return

    def _one_question(self, turn: int, state: Any, quiet: float) -> AskedQuestion:
        session = self.session
        given = session.ask(turn, state)
        if given.reason == "early":
            # It was written after the answer before, or after ready, but came late.
            if self.questions:
                last = self.questions[-1]
                self.questions[-1] = last._replace(extra=last.extra + (given.line or b""))
            else:
                self.unasked += given.line or b""
            session.listen(_MOMENT)
            given = session.ask(turn, state)
        question = session.sent
        extra = b"" if given.has_ended or given.line is None else session.listen(quiet)
        if given.reason == "not-json" and extra:
            whole = (given.line or b"") + b"\n" + extra
            if _is_object(whole):
                return AskedQuestion(question, turn, state, given._replace(line=whole, reason=ONE_LINE))
            for line in extra.splitlines():
                reread = session.read(given._replace(line=line, reason="", fault=None), turn, state)
                if not reread.reason:
                    asked = AskedQuestion(question, turn, state, reread._replace(line=whole))
                    self.problems.setdefault(ONLY_ANSWERS, asked)
                    return asked
        return AskedQuestion(question, turn, state, given, extra)


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def _left_behind(pids: Sequence[int]) -> tuple[int, ...]:
    """Return the processes that still run some time after the bot's end."""
    deadline = perf_counter() + _LEAVING
    left = _alive(pids)
    while left and perf_counter() < deadline:
        select.select([], [], [], 0.02)
        left = _alive(left)
    return tuple(left)


def _alive(pids: Sequence[int]) -> list[int]:
    """Return the processes that still run; those that have ended but were not waited for don't count."""
    found = []
    for pid in pids:
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123 - it may vanish at any moment
                state = file.read().rpartition(b")")[2].split()[:1]
        except OSError:
            continue
        if state not in ([b"Z"], [b"X"]):
            found.append(pid)
    return found
