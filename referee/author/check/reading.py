"""Checks of how a bot reads messages with unusual content."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from referee.author.check.check import Check, all_of
from referee.author.check.check_result import Finding, ok
from referee.author.check.interview import Response, with_fields
from referee.match import judge
from referee.replay.faults import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from referee.author.check.interview import Interview
    from referee.author.check.shared_runs import CheckedBot
    from referee.games.game import Json

    #: Sends a question in a certain way, and returns what came.
    Asking = Callable[[Interview, int, object], Response]
    #: Yields the forms of a question in which it is asked, one after the other.
    Mutation = Callable[[Interview, int, object], Iterator[bytes]]

GROUP = "reading"
#: How long a bot is watched after a message that needs no answer, in seconds.
_PAUSE = 0.1
_UNKNOWN_FIELDS = {"weather": "fine", "more": {"list": [1, 2.5, None, True], "text": "new in a later version"}}
_UNKNOWN_MESSAGE = {"type": "weather", "turn": 1, "forecast": ["sun", None, {"rain": 0.3}], "move": {}}
#: Texts that trip programs which look for characters instead of reading JSON.
_TEXTS = (
    'a "quoted" word, a \\ and a {brace}, a [bracket]: done',
    "Größe, 大小, 😀 and \u2028",
    '"turn":99,"type":"end"',
    "tab\tand\nnewline",
)
#: Turn numbers that don't follow one another.
_JUMPS = (0, 7, 8, 4000, 999_999)


def ask_in_form(bot: CheckedBot, way: str, asking: Asking, remedy: str, questions: int = 2) -> Finding:
    """Ask the first questions of a match in a certain way; ``way`` names it at the beginning of a sentence."""
    failure = bot.tried(way, remedy, lambda interview: bot.play(interview, questions, asking))
    return failure or ok(f"{way} it answers.")


def unknown_message(interview: Interview, turn: int, state: object) -> Response:
    """Ask after a message of an unknown type, which gets no answer."""
    interview.write(_line(_UNKNOWN_MESSAGE))
    said = interview.listen(_PAUSE)
    if said:
        return Response(said, reason="early", fault=judge.fault(interview.player, Failure("early", said.strip())))
    response = interview.ask(turn, state)
    if response.has_ended:
        interview.sent = _line(_UNKNOWN_MESSAGE)
    return response


def turn_jump(interview: Interview, _: int, state: object) -> Response:
    """Ask with a turn that doesn't follow the one before, because a seat isn't asked in every step."""
    turn = _JUMPS[interview.questions]
    return interview.ask(turn, state, interview.question(turn, state))


def _each(mutation: Mutation) -> Asking:
    """Ask each form of a question, until an answer is wrong."""

    def asking(interview: Interview, turn: int, state: object) -> Response:
        for line in mutation(interview, turn, state):
            response = interview.ask(turn, state, line)
            if response.reason:
                break
        return response

    return asking


def _with_unknown_fields(interview: Interview, turn: int, state: object) -> Iterator[bytes]:
    message = json.loads(interview.question(turn, state))
    message["left"] = {**message["left"], **_UNKNOWN_FIELDS}
    if isinstance(message["state"], dict):
        message["state"] = {**message["state"], **_UNKNOWN_FIELDS}
    yield with_fields(_line(message), _UNKNOWN_FIELDS)


def _with_refusals(interview: Interview, turn: int, state: object) -> Iterator[bytes]:
    samples = interview.subject.game.samples
    codes = [*sorted(samples.refusals if samples is not None else ()), "malformed", "ignored", "code-of-a-later-version"]
    yield interview.question(turn, state, [{"code": code, "text": "the last move was refused"} for code in codes])


def _with_texts(interview: Interview, turn: int, state: object) -> Iterator[bytes]:
    question = interview.question(turn, state, [{"code": "ignored", "text": text} for text in _TEXTS])
    yield question
    # The same without escapes: UTF-8 as other referees may write it.
    yield json.dumps(json.loads(question), separators=(",", ":"), ensure_ascii=False).encode() + b"\n"


def _without_time(interview: Interview, turn: int, state: object) -> Iterator[bytes]:
    yield interview.question(turn, state, left=(0.001, 0.001))
    yield interview.question(turn, state, left=(0.5, 0.0))


def _line(message: dict[str, Json]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def _form(way: str, asking: Asking, remedy: str, *, questions: int = 2) -> Callable[[CheckedBot], Finding]:
    return partial(ask_in_form, way=way, asking=asking, remedy=remedy, questions=questions)


#: Forms in which messages come. In each row: how the bot is asked, and what its author can do if it doesn't answer.
_FORMS = (
    _form(
        "With notices of refused moves,",
        _each(_with_refusals),
        "Answer after a notice as after none, whatever its code; log its text to stderr.",
    ),
    _form(
        "With unusual texts in notices,",
        _each(_with_texts),
        "Read JSON with a library, in UTF-8; a text may contain quotation marks, brackets, escapes and words of the protocol.",
    ),
    _form(
        "When turn numbers jump,",
        turn_jump,
        "Take the turn from the question; don't count questions yourself.",
        questions=len(_JUMPS),
    ),
    _form(
        "With no time left,",
        _each(_without_time),
        "With little time left answer at once with a plain move; the time left may be 0.",
    ),
)
CHECKS = (
    Check(
        "unknown-fields",
        GROUP,
        "It ignores unknown fields in questions and states, and messages of unknown types.",
        all_of(
            _form(
                "With unknown fields in a question,",
                _each(_with_unknown_fields),
                "Take the fields that you know, and ignore all others.",
            ),
            _form(
                "After a message of an unknown type,",
                unknown_message,
                "Look at type first; ignore a message whose type isn't start, turn or end.",
            ),
        ),
    ),
    Check(
        "wire-forms",
        GROUP,
        "It reads notices of all kinds, any text, turns that jump, and a clock without time.",
        all_of(*_FORMS),
    ),
)
