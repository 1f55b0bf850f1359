"""Checks of the end: how a bot exits, and what it leaves behind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.author.check.check import Check, all_of
from referee.author.check.check_result import FAILED, WARNING, Finding, ok, quoted, seconds_shown, skipped
from referee.author.check.shared_runs import EXIT_PATIENCE, RESULT
from referee.wire import encode

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.author.check.interview import Interview
    from referee.author.check.shared_runs import CheckedBot
    from referee.games.game import Json

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


def at_end_of_input(bot: CheckedBot) -> Finding:
    """Its input ends in the middle of a match, without ``end``: the referee is gone."""
    with bot.interview() as interview:
        if not _ask_some(bot, interview):
            return skipped(_NOT_PLAYED)
        if interview.dismiss(None, EXIT_PATIENCE) is None:
            text = f"It still ran {EXIT_PATIENCE:g} s after its input had ended without the message end."
            return Finding(FAILED, text, "the end of its input", "nothing", _READ_ON)
    return ok("It ends when its input ends in the middle of a match.")


def any_result(bot: CheckedBot) -> Finding:
    """Every kind of result: won, lost and drawn, with scores that are null, and with reasons that it doesn't know."""
    subject = bot.subject
    seats = subject.game.seats(subject.settings)
    no_scores: dict[str, Json] = dict.fromkeys(seats)
    results: list[dict[str, Json]] = [
        {**RESULT, "winner": seats[0], "scores": {**no_scores, seats[0]: 1}, "reason": "won-in-a-new-way", "steps": 1_000_000},
        {**RESULT, "winner": seats[-1], "scores": no_scores},
        {**RESULT, "winner": None, "scores": {}, "ranks": dict.fromkeys(seats, 1), "weather": "fine"},
    ]
    for result in results:
        if failure := _ended_with(bot, result, questions=1):
            return failure
    return ok("It takes any result.")


def before_first_question(bot: CheckedBot) -> Finding:
    """The match ends before the first question, because another bot isn't ready."""
    result = {**RESULT, "reason": "other-fault", "steps": 0}
    return _ended_with(bot, result, questions=0) or ok("It takes the end of a match that never began.")


def _ended_with(bot: CheckedBot, result: Mapping[str, Json], questions: int) -> Finding | None:
    """End a match with a result. Return the finding if the bot fails at that; other checks report what it does at each end."""
    usual = bot.transcript
    with bot.interview() as interview:
        if not _ask_some(bot, interview, questions) or interview.has_ended:
            return skipped(_NOT_PLAYED)
        left = interview.dismiss(result, EXIT_PATIENCE)
        status = interview.process.status
        interview.exchange.drain()
        lines = interview.log.last_lines()
        if (left is None and usual.left_after is not None) or (status not in (0, None) and usual.status == 0):
            text = f"It ended with status {status} at this result." if left is not None else "It did not end at this result."
            came = f"stderr: {quoted(lines[-1])}" if lines else "nothing"
            remedy = "Take every part of a result as possible: no winner, scores that are null or missing, and reasons of later versions."
            return Finding(FAILED, text, quoted(interview.sent), came, remedy)
    return None


def no_processes(bot: CheckedBot) -> Finding:
    """Processes that it has started end with it."""
    seen, left = bot.transcript, bot.transcript.children
    if not seen.is_played:
        return skipped(_NOT_PLAYED)
    if left:
        text = f"It left {len(left)} process{'es' * (len(left) != 1)} running after its end; the referee ends them."
        return Finding(
            WARNING,
            text,
            "end, then the end of its input",
            f"process {left[0]} still runs",
            "End the processes that you start, or start none.",
        )
    return ok("It leaves no process behind.")


def _ask_some(bot: CheckedBot, interview: Interview, questions: int = 2) -> bool:
    """Start the bot and ask a few questions. Return whether it answers; the answers are judged elsewhere."""
    if bot.greeted(interview).reason:
        return False
    return not any(response.has_ended or response.line is None for response in bot.play(interview, questions))


CHECKS = (
    Check("exits-at-end", GROUP, "It exits with status 0 after the message end, when its input ends.", all_of(at_end, exit_status)),
    Check("exits-without-end", GROUP, "It exits when its input ends in the middle of a match.", at_end_of_input),
    Check(
        "any-result",
        GROUP,
        "It accepts every result: won, lost, drawn, without scores, with unknown reasons, and before the first question.",
        all_of(any_result, before_first_question),
    ),
    Check("no-processes", GROUP, "It leaves no process behind.", no_processes),
)
