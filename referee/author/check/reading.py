"""Checks of how a bot reads: questions that come in pieces or together, and messages with unusual content."""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any

from referee.author.check.check import Check
from referee.author.check.finding import FAILED, WARNING, Finding, ok, quoted
from referee.author.check.session import with_fields

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.author.check.evidence import Evidence
    from referee.author.check.session import CheckSession, Given

    #: Sends a question in a certain way, and returns what came.
    Asking = Callable[[CheckSession, int, Any], Given]

GROUP = "reading"
#: How long a bot is watched after a part of a question, in seconds.
_PAUSE = 0.1
#: How long a bot may take to read a part of a question, in seconds.
_READING = 2.0
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


def _asked(evidence: Evidence, text: str, remedy: str, asking: Asking, *, questions: int = 2, status: str = FAILED) -> Finding:
    """Ask the first questions of a match in a certain way."""
    with evidence.session() as session:
        given = evidence.greeted(session)
        moves: dict[int, Any] = {}
        walk = evidence.positions.walk(session.settings, lambda turn, _: moves.get(turn))
        for turn, state in islice(walk, questions):
            if given.reason:
                break
            given = asking(session, turn, state)
            moves[turn] = given.move
        if evidence.trouble(given):
            return evidence.complaint(given, session, text, remedy, status)
    return ok(f"{text} it answers.")


def in_pieces(evidence: Evidence) -> Finding:
    """A question that arrives in three parts."""

    def asking(session: CheckSession, turn: int, state: Any) -> Given:
        question = session.question(turn, state)
        for start, end in ((0, 1), (1, len(question) // 2)):
            session.write(question[start:end])
            session.wait_until_read(_READING)
            early = session.listen(_PAUSE)
            if early:
                return _early(session, question[:end], early)
        given = session.ask(turn, state, question[len(question) // 2 :])
        session.sent = question
        return given

    remedy = "Read up to the newline: one read from a pipe may return a part of a line."
    return _asked(evidence, "When a question comes in pieces,", remedy, asking)


def _early(session: CheckSession, sent: bytes, early: bytes) -> Given:
    from referee.author.check.session import Given
    from referee.players.faults import MALFORMED, Fault

    session.sent = sent
    text = f"It answered before its question had ended: {quoted(early)}."
    return Given(early, reason="early", fault=Fault(MALFORMED, text))


def together(evidence: Evidence) -> Finding:
    """A message that needs no answer and a question, in one write."""

    def asking(session: CheckSession, turn: int, state: Any) -> Given:
        return session.ask(turn, state, _line(_UNKNOWN_MESSAGE) + session.question(turn, state))

    remedy = "Split what you read at its newlines: one read from a pipe may return several lines."
    unknown = _asked(evidence, "Alone", "", _after_unknown)
    if unknown.status == FAILED:
        return Finding("skipped", "It doesn't ignore unknown messages; see the check unknown-messages.")
    return _asked(evidence, "When two messages come at once,", remedy, asking)


def _after_unknown(session: CheckSession, turn: int, state: Any) -> Given:
    session.write(_line(_UNKNOWN_MESSAGE))
    session.listen(_PAUSE)
    return session.ask(turn, state)


def unknown_fields(evidence: Evidence) -> Finding:
    """Unknown fields in the question, in its state and in the time left."""

    def asking(session: CheckSession, turn: int, state: Any) -> Given:
        message = json.loads(session.question(turn, state))
        message["left"] = {**message["left"], **_UNKNOWN_FIELDS}
        if isinstance(message["state"], dict):
            message["state"] = {**message["state"], **_UNKNOWN_FIELDS}
        return session.ask(turn, state, with_fields(_line(message), _UNKNOWN_FIELDS))

    return _asked(evidence, "With unknown fields in a question,", "Take the fields that you know, and ignore all others.", asking)


def unknown_messages(evidence: Evidence) -> Finding:
    """A message of an unknown type, which gets no answer."""

    def asking(session: CheckSession, turn: int, state: Any) -> Given:
        session.write(_line(_UNKNOWN_MESSAGE))
        said = session.listen(_PAUSE)
        if said:
            return _early(session, _line(_UNKNOWN_MESSAGE), said)
        given = session.ask(turn, state)
        if given.has_ended:
            session.sent = _line(_UNKNOWN_MESSAGE)
        return given

    remedy = "Look at type first; ignore a message whose type is none of start, turn and end."
    return _asked(evidence, "After a message of an unknown type,", remedy, asking)


def other_spelling(evidence: Evidence) -> Finding:
    """The same JSON with spaces, and with its keys in another order."""

    def asking(session: CheckSession, turn: int, state: Any) -> Given:
        message = json.loads(session.question(turn, state))
        turned = {key: message[key] for key in reversed(message)}
        return session.ask(turn, state, json.dumps(turned, separators=(" , ", " : ")).encode() + b"\n")

    remedy = "Read JSON with a library, or skip spaces and look up each key by its name: the order of keys means nothing."
    return _asked(evidence, "With spaces and other order in the JSON,", remedy, asking, status=WARNING)


def refusals(evidence: Evidence) -> Finding:
    """Notices about a refused move, with known and unknown codes."""
    samples = evidence.positions.samples
    codes = [*sorted(samples.refusals if samples is not None else ()), "malformed", "ignored", "code-of-a-later-version"]
    notices = [{"code": code, "text": "the last move was refused"} for code in codes]

    def asking(session: CheckSession, turn: int, state: Any) -> Given:
        return session.ask(turn, state, session.question(turn, state, notices))

    remedy = "Answer after a notice as after none, whatever its code; log its text to stderr."
    return _asked(evidence, "With notices of refused moves,", remedy, asking)


def texts(evidence: Evidence) -> Finding:
    """Texts with quotation marks, brackets, escapes and characters of other scripts."""

    def asking(session: CheckSession, turn: int, state: Any) -> Given:
        notices = [{"code": "ignored", "text": text} for text in _TEXTS]
        given = session.ask(turn, state, session.question(turn, state, notices))
        if given.reason:
            return given
        # The same without escapes: UTF-8 as other referees may write it.
        message = json.loads(session.question(turn, state, notices))
        return session.ask(turn, state, json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode() + b"\n")

    remedy = "Read JSON with a library, in UTF-8; a text may contain quotation marks, brackets, escapes and words of the protocol."
    return _asked(evidence, "With unusual texts in notices,", remedy, asking)


def jumps(evidence: Evidence) -> Finding:
    """Turn numbers that don't follow one another, because a seat isn't asked in every step."""
    turns = iter(_JUMPS)

    def asking(session: CheckSession, _: int, state: Any) -> Given:
        return session.ask(turn := next(turns), state, session.question(turn, state))

    remedy = "Take the turn from the question; don't count questions yourself."
    return _asked(evidence, "When turn numbers jump,", remedy, asking, questions=len(_JUMPS))


def little_time(evidence: Evidence) -> Finding:
    """Almost no time left, and a bank of exactly 0."""

    def asking(session: CheckSession, turn: int, state: Any) -> Given:
        given = session.ask(turn, state, session.question(turn, state, move=0.001, bank=0.001))
        return given if given.reason else session.ask(turn, state, session.question(turn, state, move=0.5, bank=0.0))

    remedy = "With little time left answer at once with a plain move; the time left may be 0."
    return _asked(evidence, "With no time left,", remedy, asking)


def _line(message: dict[str, Any]) -> bytes:
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


CHECKS = (
    Check("in-pieces", GROUP, "It answers a question that arrives in pieces.", in_pieces),
    Check("several-at-once", GROUP, "It answers when two messages arrive together.", together),
    Check("unknown-fields", GROUP, "It ignores unknown fields in questions and states.", unknown_fields),
    Check("unknown-messages", GROUP, "It ignores messages of unknown types.", unknown_messages),
    Check("other-spelling", GROUP, "It reads JSON with spaces and with keys in another order.", other_spelling),
    Check("refusals", GROUP, "It continues after notices that a move was refused, whatever their codes.", refusals),
    Check("unusual-texts", GROUP, "It reads texts with quotation marks, brackets, escapes and any script.", texts),
    Check("turn-jumps", GROUP, "It answers with the turn of the question when turn numbers jump.", jumps),
    Check("no-time-left", GROUP, "It answers when the clock says that no time is left.", little_time),
)
