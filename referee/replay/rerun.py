"""Asks a bot the questions of a replay again and compares its answers with the recorded ones.

Every question is made from the replay: the same position, notices and time left. A position follows from the recorded moves, so a
different answer changes no later question. The bot has more time than the match gave it, because another machine may be slower.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from referee.players.player import host_of
from referee.replay.faults import LATE
from referee.replay.questions import Interview, read_questions
from referee.replay.recorded import remark_of, start_line
from referee.support.words import counted
from referee.wire import encode

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.games.game import Json, Seat
    from referee.isolation.bot import Bot
    from referee.isolation.level import Isolation
    from referee.replay.answers import Remark
    from referee.replay.questions import Given, Question, Questions

#: The bot's limit is a multiple of that of the match, plus a number of seconds. Without a limit in the match it is ``_UNLIMITED``.
_TIMES, _MORE, _UNLIMITED = 5.0, 5.0, 60.0


class Difference(NamedTuple):
    """An answer that differs. ``step`` is None if the bot failed before its first question."""

    step: int | None
    recorded: Given | None
    new: Given | None

    def to_json(self) -> dict[str, Json]:
        """The difference as ``--json`` prints it."""
        return {
            "step": self.step,
            "recorded": None if self.recorded is None else self.recorded.to_json(),
            "new": None if self.new is None else self.new.to_json(),
        }


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


def rerun(
    asked: Questions,
    bot: Bot,
    isolation: Isolation,
    *,
    patience: float | None = None,
    most: int = 5,
    on_progress: Callable[[int, int], None] | None = None,
) -> Rerun:
    """Ask a bot all questions again. ``patience`` is its limit for each answer, in seconds; ``most`` limits the differences that are kept.

    ``on_progress`` gets the number of questions so far and of all questions. Raises StartError if the program can't be started.
    """
    run = _Rerun(asked, bot, isolation, patience, most, on_progress)
    try:
        return run.run()
    finally:
        run.interview.close()


class _Over(Exception):
    """The bot can't be asked any more."""


class _Rerun:
    def __init__(
        self,
        asked: Questions,
        bot: Bot,
        isolation: Isolation,
        patience: float | None,
        most: int,
        on_progress: Callable[[int, int], None] | None,
    ) -> None:
        head, seat = asked.replay.head, asked.seat
        self.line = start_line(asked.game, asked.settings, head, seat)
        self.control = asked.control
        limit = _patience(self.control.move) if patience is None else patience
        self.asked, self.bot, self.most, self.on_progress = asked, bot, most, on_progress
        self.host = host_of(bot, seat)
        self.interview = Interview(asked, bot, isolation, limit)
        self.differences: list[Difference] = []
        self.equal = self.differing = self.remarks = 0

    def run(self) -> Rerun:
        asked = self.asked
        failed = self.interview.greet(self.line, _patience(self.control.startup))
        if failed is not None or asked.start is not None:
            self.compare(None, asked.start, failed, 0.0, self.control.startup)
        else:
            try:
                read_questions(asked, self.ask)
            except _Over:
                pass
            else:
                self.dismiss()
        total = len(asked.answers) + (asked.start is not None)
        unasked = max(0, total - self.equal - self.differing)
        return Rerun(
            asked.seat, total, self.equal, self.differing, unasked, tuple(self.differences), self.is_same_file(), tuple(self.notes(unasked))
        )

    def dismiss(self) -> None:
        """Send the last message, as the match did, and wait for the bot to leave."""
        replay, game = self.asked.replay, self.asked.game
        outcome = game.outcome(replay.final)
        if outcome is not None:
            end = encode.end({**outcome.to_json(), "steps": replay.turns})
            self.interview.dismiss(end if self.host is None else self.host.closing(replay.final, outcome))

    def ask(self, question: Question) -> None:
        """Ask the bot and compare its answer."""
        recorded, record = question.recorded, question.record
        limit = self.interview.asker.match_limit
        new = self.interview.asker.ask(question)
        if new is not None:
            if recorded is not None:
                self.compare(question.turn, recorded, new.given, new.judged.seconds, limit)
                # A record of faults has no remarks.
                self.remarks += "type" not in record and _shown(remark_of(record, self.asked.seat)) != _shown(new.judged.remark)
            if not new.given.is_answer or (recorded is not None and not recorded.is_answer):
                raise _Over
        if self.on_progress is not None:
            self.on_progress(self.equal + self.differing, len(self.asked.answers))

    def compare(self, turn: int | None, recorded: Given | None, new: Given | None, seconds: float, limit: float | None) -> None:
        """Count an answer as equal or differing. ``limit`` was its limit in the match."""
        is_late_again = recorded is not None and recorded.kind == LATE and turn is not None and limit is not None and seconds > limit
        if is_late_again or (recorded is not None and new is not None and recorded.is_as(new)):
            self.equal += 1
            return
        # A bot that isn't ready has answered nothing: none of the recorded answers was compared.
        self.differing += 1 if recorded is not None else 0
        if len(self.differences) < self.most or recorded is None:
            self.differences.append(Difference(turn, recorded, new))

    def is_same_file(self) -> bool | None:
        """True if the bot's file is the recorded one by its hash; None if one of them has none."""
        recorded, own = self.asked.replay.head["players"][self.asked.seat].get("sha256"), self.bot.about.get("sha256")
        return recorded == own if isinstance(recorded, str) and isinstance(own, str) else None

    def notes(self, unasked: int) -> list[str]:
        """Return remarks on what was not compared."""
        replay, found = self.asked.replay, []
        if replay.problem is not None:
            found.append(f"The replay is {replay.problem.text.rstrip('.')}; only these were compared.")
        if self.asked.unrecorded:
            steps = ", ".join(map(str, sorted(self.asked.unrecorded)))
            found.append(f"The answer in step {steps} is not in the replay, because the match ended there by another player's fault.")
        if self.remarks and not unasked:
            found.append(f"What the bot says or draws differs in {counted(self.remarks, 'answer')}; remarks don't count.")
        return found


def _patience(limit: float | None) -> float:
    return _UNLIMITED if limit is None else _TIMES * limit + _MORE


def _shown(remark: Remark | None) -> tuple[Json, Json] | None:
    return None if remark is None or remark[:2] == (None, None) else remark[:2]
