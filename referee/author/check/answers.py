"""Checks of the answers to the first questions: whether they come, and their form."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from referee.author.check.check import NO_ANSWER, NOT_READY, READY, STARTED, Check, all_of
from referee.author.check.check_result import FAILED, KEEPING, THINKING, WARNING, Finding, no_line, ok, quoted, skipped
from referee.author.check.shared_runs import ONE_LINE, ONLY_ANSWERS
from referee.author.check.starting import quiet_at_start
from referee.support.words import counted
from referee.wire.constants import DRAW_BYTES, MOST_SHAPES, SAY_LENGTH

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.author.check.shared_runs import CheckedBot, QuestionRecord

GROUP = "answers"
#: The reasons why a line isn't JSON, and why it is another message.
_NOT_JSON = ("not-json", "not-utf8", "byte-order-mark", "too-deep", "surrogate", "key-twice", "too-large", "constant", "too-long")
_OTHER_MESSAGE = ("not-an-object", "other-type", "no-key", "wrong-value")


def answers(bot: CheckedBot) -> Finding:
    """Every question gets an answer."""
    seen = bot.transcript
    for record in seen.questions:
        response = record.response
        if response.line is None or response.has_ended:
            if response.reason in ("silent", "unfinished") and seen.held_back:
                text = "It answered only when its input had ended."
                return Finding(FAILED, text, quoted(record.line), "nothing", "See the check flushes.")
            if response.exceeds_memory:
                return Finding(FAILED, response.text, quoted(record.line), "the end of the program", response.remedy or KEEPING)
            if response.place or response.remedy:
                # Its sentence quotes its stderr.
                return Finding(FAILED, response.text, quoted(record.line), "nothing", response.remedy or THINKING)
            remedy = "Read line after line until the input ends, and answer each message of the type turn with one line."
            return Finding(FAILED, response.text, quoted(record.line), no_line(seen.stderr), remedy)
    return ok(f"It answered {len(seen.questions)} of {counted(len(seen.questions), 'question')}.")


def flushes(bot: CheckedBot) -> Finding:
    """No line stays in a buffer."""
    seen = bot.transcript
    if seen.held_back.strip():
        waiting = seen.questions[0].line if seen.questions else seen.start
        remedy = (
            "Flush stdout after each line: print(answer, flush=True) in Python, fflush(stdout) in C, cout << endl in C++, "
            "System.out.flush() in Java, and end the line with a newline."
        )
        text = "What it wrote came only after its input had ended: it stayed in a buffer, or its line has no newline."
        return Finding(FAILED, text, quoted(waiting), quoted(seen.held_back), remedy)
    if not seen.is_ready:
        return skipped(NOT_READY)
    if not seen.answers:
        return skipped(NO_ANSWER)
    return ok("Each line comes at once.")


def only_when_asked(bot: CheckedBot) -> Finding:
    """After an answer nothing comes until the next question."""
    for record in bot.transcript.questions:
        if record.extra.strip() and record.response.reason != "not-json":
            text = f"After its answer in turn {record.turn} it wrote to stdout without being asked."
            remedy = "Answer each question once; print everything else to stderr."
            return Finding(FAILED, text, quoted(record.line), quoted(record.extra), remedy)
    return ok("It writes only when it is asked.")


def known_keys(bot: CheckedBot) -> Finding:
    """The moves have no unknown keys."""
    codec = bot.subject.game.codec
    for record in _read(bot):
        answer = record.response.answer
        if answer is not None and isinstance(answer.move, dict):
            unknown = codec.unknown_keys(record.state, bot.subject.seat, answer.move)
            if unknown:
                text = f"The move has an unknown key: {quoted(unknown[0])}."
                return record.finding(text, "Correct the name of the key, or leave it out.", WARNING)
    return ok("Every key of its moves is known.")


def remarks(bot: CheckedBot) -> Finding:
    """``say`` and ``draw`` are within their limits."""
    for record in _read(bot):
        answer = record.response.answer
        if answer is None:
            continue
        if answer.say is not None and len(answer.say) > SAY_LENGTH:
            text = f"say has {len(answer.say):,} characters; the referee cuts it after {SAY_LENGTH}."
            return record.finding(text, "Say less.", WARNING)
        if answer.draw is not None and (len(answer.draw) > MOST_SHAPES or len(str(answer.draw)) > 2 * DRAW_BYTES):
            text = f"draw has {len(answer.draw):,} shapes; the referee drops more than {MOST_SHAPES} shapes or {DRAW_BYTES:,} bytes."
            return record.finding(text, "Draw less: single cells can be one shape.", WARNING)
    return ok("What it says and draws is within the limits.")


def _read(bot: CheckedBot) -> Iterable[QuestionRecord]:
    return (record for record in bot.transcript.questions if record.response.answer is not None)


def none_of(bot: CheckedBot, reasons: tuple[str, ...], remedy: str, text: str) -> Finding:
    """Return whether no answer was wrong for one of these reasons. ``text`` says what is wrong where the reason itself doesn't."""
    for reason in reasons:
        record = bot.transcript.problems.get(reason)
        if record is not None:
            return record.finding(text or record.response.text, remedy)
    return ok("Every answer has the form of an answer.")


#: The forms of an answer. In each row: the reasons that break it, what the author can do then, and what is wrong where the reason doesn't say it.
_FORMS = (
    (_NOT_JSON, "Write JSON with a library: it escapes texts, and knows no NaN or Infinity.", ""),
    ((ONE_LINE,), "Write JSON without line breaks: no indentation, and no newline inside.", "The answer has several lines."),
    (
        _OTHER_MESSAGE,
        'An answer is {"type":"move","turn":17,"move":{}}, with the turn of its question; say is a text, and draw a list of shapes.',
        "",
    ),
    (("other-turn",), "Copy turn from the question into the answer.", ""),
    (("bad-move", "illegal"), "docs/protocol.md has the form of a move for this game and seat.", ""),
    (("overlong",), "Make the answer shorter: leave out say and draw.", ""),
)

CHECKS = (
    Check("answers", GROUP, "It answers every question.", answers, READY),
    Check("flushes", GROUP, "Its lines come at once, not when its input ends.", flushes, STARTED),
    Check(
        "well-formed",
        GROUP,
        "Every answer is a line of JSON with the turn of its question and a move of the game's form; remarks are within their limits.",
        all_of(*(partial(none_of, reasons=reasons, remedy=remedy, text=text) for reasons, remedy, text in _FORMS), known_keys, remarks),
    ),
    Check(
        "only-answers",
        GROUP,
        "It writes nothing to stdout but its answers.",
        all_of(
            quiet_at_start,
            partial(
                none_of,
                reasons=(ONLY_ANSWERS,),
                remedy="Print to stderr: stdout is only for answers.",
                text="Another text came before the answer.",
            ),
            only_when_asked,
        ),
        READY,
    ),
)
