"""Asks a bot all questions of a replay again and compares its answers with the recorded ones.

The bot has more time than the match gave it, because another machine may be slower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.author.repeat import Repeat
from referee.players.player import host_of
from referee.replay.faults import LATE
from referee.replay.records import start_line
from referee.support.words import counted
from referee.wire import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.author.repeat import RepeatedAnswer
    from referee.games.game import Json, Seat
    from referee.isolation.bot import Bot
    from referee.isolation.process import Launcher
    from referee.replay.answers import Remark
    from referee.replay.questions import ComparedAnswer, RecordedSeat, RepeatQuestion

#: The bot's limit is a multiple of that of the match, plus a number of seconds. Without a limit in the match it is ``_UNLIMITED``.
_TIMES, _MORE, _UNLIMITED = 5.0, 5.0, 60.0
_CLOCK = "A bot that looks at the clock, or at random numbers that don't come from its seed, can answer differently although it is the same program."


class Difference(NamedTuple):
    """An answer that differs. ``step`` is None if the bot failed before its first question."""

    step: int | None
    recorded: ComparedAnswer | None
    new: ComparedAnswer | None

    def to_json(self) -> dict[str, Json]:
        """The difference as ``--json`` prints it."""
        return {
            "step": self.step,
            "recorded": None if self.recorded is None else self.recorded.to_json(),
            "new": None if self.new is None else self.new.to_json(),
        }

    def __str__(self) -> str:
        """The difference in a sentence."""
        where = "before the first step" if self.step is None else f"step {self.step:,}"
        recorded, new = (answer or "it was ready" for answer in (self.recorded, self.new))
        return f"{where}: recorded {recorded}; now {new}"


class Rerun(NamedTuple):
    """The result of asking a bot again.

    ``answers`` is the number of recorded answers, ``equal`` and ``differing`` count those that were compared. ``unasked`` questions came
    after a failure of the bot. ``differences`` are the first ones. ``is_same_file`` tells whether the bot's file has the hash that the
    replay names, None if it names none. ``notes`` are remarks on what could not be compared.
    """

    seat: Seat
    answers: int
    equal: int
    differing: int
    unasked: int
    differences: tuple[Difference, ...]
    is_same_file: bool | None
    notes: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True if every answer is equal."""
        return not self.differing and not self.unasked

    def to_json(self) -> dict[str, Json]:
        """The result as ``--json`` prints it."""
        return {
            "ok": self.ok,
            **self._asdict(),
            "differences": [difference.to_json() for difference in self.differences],
            "notes": list(self.notes),
        }

    @property
    def verdict(self) -> str:
        """The result in a sentence."""
        count = counted(self.answers, "answer")
        if self.ok:
            return f"{'all ' if self.answers > 1 else ''}{count} equal: this bot played this match"
        if not self.equal + self.differing:
            return f"none of {count} compared: the bot failed before its first question"
        more = f"; {self.unasked:,} were not asked, because the bot failed" if self.unasked else ""
        return f"{self.differing:,} of {count} differ{'s' * (self.differing == 1)}{more}"

    def lines(self) -> list[str]:
        """Return the result for people."""
        lines = list(map(str, self.differences))
        if len(self.differences) < self.differing:
            lines.append(f"... and {self.differing - len(self.differences):,} more")
        lines.append(self.verdict)
        if self.is_same_file is not None:
            is_not = "has the hash that" if self.is_same_file else "is not the one whose hash"
            lines.append(f"The bot's file {is_not} the replay names.")
        return [*lines, *self.notes, *([] if self.ok else [_CLOCK])]


def rerun(
    recorded: RecordedSeat,
    bot: Bot,
    launcher: Launcher,
    *,
    patience: float | None = None,
    most: int = 5,
    on_progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Rerun:
    """Ask a bot all questions again. ``patience`` is its limit for each answer, in seconds; ``most`` limits the differences that are kept.

    ``on_progress`` gets the number of questions so far and of all questions. Raises StartError if the program can't be started.
    """
    head, seat, game = recorded.replay.head, recorded.seat, recorded.game
    line = start_line(game, recorded.settings, head, seat)
    assert recorded.clock is not None, "there is a start line"
    host = host_of(bot, seat)
    patience = _patience(recorded.clock.move) if patience is None else patience
    comparison = _Tally(recorded, most)
    with Repeat(recorded, bot, launcher, patience) as repeat:
        failure = repeat.greet(line, _patience(recorded.clock.startup))
        if failure is not None or recorded.not_ready is not None:
            comparison.add(None, recorded.not_ready, failure)
            return comparison.result(bot)
        for question in recorded.questions():
            answer = repeat.ask(question)
            if answer is None:
                continue
            comparison.add_answer(question, answer)
            if not answer.answer.is_answer or (question.answer is not None and not question.answer.is_answer):
                return comparison.result(bot)
            on_progress(comparison.compared, comparison.total)
        outcome = game.outcome(recorded.replay.final)
        if outcome is not None:
            end = encode.end({**outcome.to_json(), "steps": recorded.replay.turns})
            repeat.dismiss(end if host is None else host.closing(recorded.replay.final, outcome))
    return comparison.result(bot)


class _Tally:
    """Counts equal and differing answers."""

    def __init__(self, recorded: RecordedSeat, most: int) -> None:
        self._recorded, self._most = recorded, most
        self.total = sum(answer is not None for answer in recorded.answers.values()) + (recorded.not_ready is not None)
        self._differences: list[Difference] = []
        self._equal = self._differing = self._remarks = 0

    @property
    def compared(self) -> int:
        """The number of answers that were compared."""
        return self._equal + self._differing

    def add_answer(self, question: RepeatQuestion, answer: RepeatedAnswer) -> None:
        """Compare an answer with the recorded one, if the replay holds that. A late answer that is late again by the limit of the match is the same."""
        recorded = question.answer
        if recorded is None:
            return
        is_late_again = recorded.kind == LATE and question.limit is not None and answer.judged.seconds > question.limit
        self.add(question.turn, recorded, recorded if is_late_again else answer.answer)
        if question.step is not None and recorded.is_answer:
            before = question.step.answers.get(self._recorded.seat)
            self._remarks += _said(None if before is None else before.remark) != _said(answer.judged.remark)

    def add(self, turn: int | None, recorded: ComparedAnswer | None, new: ComparedAnswer | None) -> None:
        """Count an answer as equal or differing."""
        if recorded is not None and new is not None and new.is_same(recorded):
            self._equal += 1
            return
        # A bot that isn't ready has answered nothing: none of the recorded answers was compared.
        self._differing += 1 if recorded is not None else 0
        if len(self._differences) < self._most or recorded is None:
            self._differences.append(Difference(turn, recorded, new))

    def result(self, bot: Bot) -> Rerun:
        """Return the result for a program."""
        seat, unasked = self._recorded.seat, max(0, self.total - self.compared)
        before, now = self._recorded.replay.head["players"][seat].get("sha256"), bot.about.get("sha256")
        is_same_file = before == now if isinstance(before, str) and isinstance(now, str) else None
        notes = tuple(self._notes(unasked))
        return Rerun(seat, self.total, self._equal, self._differing, unasked, tuple(self._differences), is_same_file, notes)

    def _notes(self, unasked: int) -> list[str]:
        """Return remarks on what was not compared."""
        problem, notes = self._recorded.replay.problem, []
        if problem is not None:
            notes.append(f"The replay is {problem.text.rstrip('.')}; only these were compared.")
        unrecorded = [turn for turn, answer in self._recorded.answers.items() if answer is None]
        if unrecorded:
            steps = ", ".join(map(str, unrecorded))
            notes.append(f"The answer in step {steps} is not in the replay, because the match ended there by another player's fault.")
        if self._remarks and not unasked:
            notes.append(f"What the bot says or draws differs in {counted(self._remarks, 'answer')}; remarks don't count.")
        return notes


def _patience(limit: float | None) -> float:
    return _UNLIMITED if limit is None else _TIMES * limit + _MORE


def _said(remark: Remark | None) -> tuple[Json, Json] | None:
    return None if remark is None or remark[:2] == (None, None) else remark[:2]
