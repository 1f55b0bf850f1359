"""What a bot did in the processes that several checks share. Each part is gathered when a check first asks for it."""

from __future__ import annotations

import json
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple, TypeVar, cast

from referee.author.check.check_result import FAILED, Finding, no_line, quoted
from referee.author.check.interview import Interview, LateBudget, Response, Subject
from referee.author.check.positions import Positions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    from referee.games.capabilities import Position
    from referee.games.game import Json, Settings

    T = TypeVar("T")

#: How many questions the first process is asked, and after how many late answers it isn't asked any more.
_QUESTIONS, _LATE = 8, 1
#: How long a bot is watched for output that nobody asked for, in seconds: at first, and after each further answer.
_QUIET, _MOMENT = 0.25, 0.02
#: How long output that was held back may take once the bot's input has ended, in seconds.
_HELD_BACK = 2.0
#: How long a bot may take to exit before it counts as one that stays, in seconds. A match waits for one second.
EXIT_PATIENCE = 5.0
#: The end of a match that nobody has won or lost.
RESULT: dict[str, Json] = {"reason": "stopped", "winner": None, "scores": {}, "text": "The match was stopped.", "steps": 8}

_AS_USUAL: Mapping[str, Json] = {}
ONE_LINE, ONLY_ANSWERS = "several-lines", "other-text"


class QuestionRecord(NamedTuple):
    """A question of the first process, and what came. ``extra`` is what the bot wrote after its answer without being asked."""

    line: bytes
    turn: int
    state: object
    response: Response
    extra: bytes = b""

    def finding(self, text: str, remedy: str, status: str = FAILED) -> Finding:
        """Return what is wrong with the answer."""
        return Finding(status, text, quoted(self.line), quoted(self.response.line), remedy)


class Transcript:
    """The first process of the bot: from its start to its end.

    ``start`` is the start message, and ``ready`` came for it. ``unasked`` came between ``ready`` and the first question, ``held_back`` only
    after the bot's input had ended. ``problems`` are the reasons that answers were wrong for, each with an example. ``left_after`` is the time
    until it ended after the end of the match, in seconds, ``status`` how it ended. ``memory`` is its memory at the peak, in bytes.
    """

    def __init__(self, bot: CheckedBot, interview: Interview) -> None:
        self._bot, self._interview = bot, interview
        self.ready = bot.greeted(interview)
        self.start = interview.sent
        self.startup_seconds = interview.startup_seconds
        self.questions: list[QuestionRecord] = []
        self.problems: dict[str, QuestionRecord] = {}
        self.unasked = self.held_back = b""
        if self.is_ready:
            self.unasked = interview.listen(_QUIET)
            self._ask()
        first = self.questions[0].response if self.questions else self.ready
        if first.reason in ("silent", "unfinished") and not first.place:
            interview.link.close_one("stdin")
            self.held_back = (first.line or b"") + interview.listen(_HELD_BACK)
        self.left_after: float | None = None
        if self.last.reason == "silent" and not self.held_back:
            # It would only be waited for once more.
            self._locate()
        else:
            self.left_after = interview.dismiss(None if interview.link.stdin < 0 else RESULT, EXIT_PATIENCE)
        interview.exchange.drain()
        self.stderr = tuple(line.decode("utf-8", "replace") for line in interview.log.last_lines())
        self.status, self.memory = interview.process.status, interview.peak

    @property
    def is_ready(self) -> bool:
        """True if it was ready for the match."""
        return not self.ready.reason

    def fails_like(self, other: Transcript) -> bool:
        """True if both were not ready for the same reason."""
        ours, theirs = self.ready, other.ready
        return (ours.reason, ours.line, self.stderr, self.status) == (theirs.reason, theirs.line, other.stderr, other.status)

    @property
    def is_noisy(self) -> bool:
        """True if it writes to stdout without being asked."""
        return (
            bool(self.unasked)
            or any(record.extra for record in self.questions)
            or not self.problems.keys().isdisjoint((ONE_LINE, ONLY_ANSWERS))
        )

    @property
    def last(self) -> Response:
        """What came last: for a question, else for the start message."""
        return self.questions[-1].response if self.questions else self.ready

    @property
    def is_played(self) -> bool:
        """True if it answered all that it was asked, so that its end shows how it ends a match."""
        return self.is_ready and self.last.line is not None and not self.last.has_ended and not self.held_back

    @property
    def answers(self) -> bool:
        """True if it answered its first question, well or badly."""
        return self.is_ready and bool(self.questions) and self.questions[0].response.line is not None

    def _locate(self) -> None:
        """Look where a bot is that gives no answer."""
        if not self.questions:
            self.ready = self._interview.locate(self.ready)
            return
        last = self.questions[-1] = self.questions[-1]._replace(response=self._interview.locate(self.questions[-1].response))
        self.problems[last.response.reason] = last

    def _ask(self) -> None:
        def asking(_: Interview, turn: int, state: object) -> Response:
            self.questions.append(self._one_question(turn, state, _MOMENT if self.questions else _QUIET))
            return self.questions[-1].response

        for response in self._bot.play(self._interview, _QUESTIONS, asking):
            if response.reason:
                self.problems.setdefault(response.reason, self.questions[-1])
            if response.has_ended or response.line is None or self._interview.late > _LATE:
                return

    def _one_question(self, turn: int, state: object, quiet: float) -> QuestionRecord:
        interview = self._interview
        response = interview.ask(turn, state)
        if response.reason == "early":
            # It was written after the answer before, or after ready, but came late.
            if self.questions:
                last = self.questions[-1]
                self.questions[-1] = last._replace(extra=last.extra + (response.line or b""))
            else:
                self.unasked += response.line or b""
            interview.listen(_MOMENT)
            response = interview.ask(turn, state)
        question = interview.sent
        extra = b"" if response.has_ended or response.line is None else interview.listen(quiet)
        if response.reason == "not-json" and extra:
            whole = (response.line or b"") + b"\n" + extra
            if _is_object(whole):
                return QuestionRecord(question, turn, state, response._replace(line=whole, reason=ONE_LINE))
            for line in extra.splitlines():
                reread = interview.read(response._replace(line=line, reason="", fault=None), turn, state)
                if not reread.reason:
                    record = QuestionRecord(question, turn, state, reread._replace(line=whole))
                    self.problems.setdefault(ONLY_ANSWERS, record)
                    return record
        return QuestionRecord(question, turn, state, response, extra)


class CheckedBot:
    """The bot at one seat, with everything that was observed about it.

    ``plays`` tells whether the bot can be asked with other settings, such as those of another rule set. ``share`` is this seat's part of the
    time for late answers.
    """

    def __init__(self, subject: Subject, plays: Callable[[Settings], bool] = lambda _: True, share: float = 1.0) -> None:
        self.subject = subject
        self.plays = plays
        self.late_budget = LateBudget(subject.time, share)
        self.positions = Positions(subject.game, subject.settings, subject.seat)
        #: The time from the start of each process until it was ready, in seconds.
        self.startups: list[float] = []
        self._gathered: dict[object, object] = {}

    def interview(self, settings: Settings | None = None) -> Interview:
        """Start the bot in a process of its own. LateBudgetSpent if it has been late for too long."""
        self.late_budget.check()
        # Until the first process is recorded nothing is known.
        is_noisy = "transcript" in self.__dict__ and self.transcript.is_noisy
        return Interview(self.subject, settings, self.late_budget, is_noisy=is_noisy)

    def greeted(self, interview: Interview, line: bytes | None = None) -> Response:
        """Send ``start`` and return what came, with the time noted."""
        response = interview.greet(line)
        if not response.reason:
            self.startups.append(interview.startup_seconds)
        return response

    def play(
        self, interview: Interview, questions: int, asking: Callable[[Interview, int, object], Response] = Interview.ask
    ) -> Iterator[Response]:
        """Ask the first questions of a match, which goes on with the bot's moves, and yield what came for each.

        ``asking`` asks one question: that of a turn and its position.
        """
        moves: dict[int, object] = {}
        for turn, state in islice(self.positions.walk(interview.settings, lambda turn, _: moves.get(turn)), questions):
            response = asking(interview, turn, state)
            moves[turn] = response.move
            yield response

    def trouble(self, response: Response) -> bool:
        """True if an answer is wrong in a way that the first process has not shown: each problem is reported by one check."""
        reported = self.transcript.problems.keys()
        if response.reason == "not-json" and not reported.isdisjoint((ONE_LINE, ONLY_ANSWERS)):
            return False
        return bool(response.reason) and response.reason not in reported

    def complaint(self, response: Response, interview: Interview, text: str, remedy: str, status: str = FAILED) -> Finding:
        """Return the result for an answer that is wrong."""
        text = text.rstrip(",")
        interview.exchange.drain()
        came = quoted(response.line) if response.line else no_line([line for line in interview.log.last_lines()[-1:] if line])
        return Finding(status, f"{text}: {response.text}" if response.text else text, quoted(interview.sent), came, remedy)

    def tried(
        self,
        way: str,
        remedy: str,
        asking: Callable[[Interview], Iterable[Response]],
        *,
        settings: Settings | None = None,
        start: Mapping[str, Json] = _AS_USUAL,
        is_of_start: bool = False,
    ) -> Finding | None:
        """Start the bot and ask it; ``way`` says how, at the beginning of a sentence. Return what is wrong, None if nothing is.

        ``asking`` yields what came for each question. ``start`` are changes of the start message, as arguments of ``start_line``.
        ``is_of_start``: a bot that isn't ready is wrong, even if the first process failed in the same way later.
        """
        with self.interview(settings) as interview:
            response = self.greeted(interview, interview.start_line(**start))
            if response.reason:
                return self.complaint(response, interview, way, remedy) if is_of_start or self.trouble(response) else None
            for response in asking(interview):
                if response.reason:
                    return self.complaint(response, interview, way, remedy) if self.trouble(response) else None
        return None

    def tried_at(self, position: Position, way: str, remedy: str, *, is_of_start: bool = False) -> Finding | None:
        """Ask the bot in one position, as ``tried`` does."""

        def asking(interview: Interview) -> list[Response]:
            return [interview.ask(position.turn, position.state)]

        return self.tried(way, remedy, asking, settings=position.settings, is_of_start=is_of_start)

    @cached_property
    def transcript(self) -> Transcript:
        """The first process."""
        with self.interview() as interview:
            return Transcript(self, interview)

    def once(self, gather: Callable[[CheckedBot], T]) -> T:
        """Return what a function gathers, which is called once."""
        if gather not in self._gathered:
            self._gathered[gather] = gather(self)
        return cast("T", self._gathered[gather])


def _is_object(text: bytes) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
