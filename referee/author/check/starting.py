"""Checks of the start: the program, its first message, and what the ``start`` message may hold."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any

from referee.author.check.check import READY, STARTED, Check
from referee.author.check.finding import FAILED, OK, WARNING, Finding, mend, ok, quoted, seconds_shown, skipped
from referee.author.check.positions import Positions
from referee.games.capabilities import SETTINGS
from referee.games.game import SettingsError
from referee.wire.constants import NAME_LENGTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.author.check.evidence import Evidence
    from referee.author.check.session import CheckSession, Given
    from referee.games.game import Json

GROUP = "start"
#: The part of the start-up limit from which on a start is slow.
_SLOW = 0.5
#: The largest seed, exact in every language.
_LARGEST_SEED = 2**53 - 1
#: How many questions are asked under each other rule set.
_QUESTIONS = 5
_UNKNOWN: Mapping[str, Any] = {"weather": "fine", "extra": {"list": [1, None, True], "text": "ü"}}
_START_REMEDY = "Read only the fields that you need from the start message, and give every other value a default."


def starts(evidence: Evidence) -> Finding:
    """The program runs until it is asked for a move."""
    seen = evidence.transcript
    if seen.ready.has_ended or seen.ready.reason == "deaf":
        remedy = "Run the program by hand and paste the start message into its input: its error appears there."
        if seen.ready.place:
            # Its sentence says what is in its stderr.
            return Finding(FAILED, seen.ready.text, "the start message", "nothing", mend(seen.ready.place))
        if seen.status == 0:
            remedy = 'Read the start message and answer it before the program ends; with the SDK, let the file end with a call such as "MyBot.main()".'
        return Finding(FAILED, seen.ready.text, quoted(seen.start), _stderr(seen.stderr), remedy)
    return ok("The program starts.")


def is_ready(evidence: Evidence) -> Finding:
    """It answers ``start`` with ``ready``."""
    seen = evidence.transcript
    if not seen.ready.reason:
        return ok(f"It was ready after {seconds_shown(seen.startup_seconds)}.")
    if seen.ready.has_ended:
        return starts(evidence)
    remedy = 'Answer the start message with one line: {"type":"ready","protocol":1,"name":"MyBot"}, and flush it.'
    if seen.ready.place:
        remedy = "Answer the start message first; the start-up limit ends what comes before that."
    return Finding(FAILED, seen.ready.text, quoted(seen.start), quoted(seen.ready.line), remedy)


def names_itself(evidence: Evidence) -> Finding:
    """``ready`` has a name that spectators can read."""
    seen = evidence.transcript
    name = seen.ready.name
    remedy = f'Give a short name in the ready message: "name":"MyBot", at most {NAME_LENGTH} characters.'
    if not name.strip():
        return Finding(WARNING, "The ready message has no name.", quoted(seen.start), quoted(seen.ready.line), remedy)
    if len(name) > NAME_LENGTH:
        text = f"The name has {len(name)} characters; the referee cuts it after {NAME_LENGTH}."
        return Finding(WARNING, text, quoted(seen.start), quoted(seen.ready.line), remedy)
    if not name.isprintable():
        return Finding(WARNING, "The name has characters that can't be shown.", quoted(seen.start), quoted(seen.ready.line), remedy)
    return ok(f"It calls itself {quoted(name)}.")


def start_time(evidence: Evidence) -> Finding:
    """The fastest of all starts is within the limit. A busy machine can slow down the others."""
    limit = evidence.subject.time.startup
    best = min(evidence.startups, default=evidence.transcript.startup_seconds)
    count = len(evidence.startups)
    text = f"The fastest of {count} start{'s' * (count != 1)} took {seconds_shown(best)}"
    if limit is None:
        return ok(f"{text}.")
    text = f"{text}; the limit is {limit:g} s."
    remedy = "Load less before you answer the start message: read large files and import large libraries when they are first needed."
    if best > limit:
        return Finding(FAILED, text, quoted(evidence.transcript.start), f"ready after {seconds_shown(best)}", remedy)
    if best > _SLOW * limit:
        return Finding(WARNING, text, quoted(evidence.transcript.start), f"ready after {seconds_shown(best)}", remedy)
    return ok(text)


def quiet_at_start(evidence: Evidence) -> Finding:
    """Between ``ready`` and the first question it writes nothing to stdout."""
    seen = evidence.transcript
    if not seen.unasked:
        return ok("It waits for the first question without a word.")
    remedy = "Print to stderr: stdout is for answers alone, one for each question."
    return Finding(FAILED, "It wrote to stdout before the first question.", quoted(seen.start), quoted(seen.unasked), remedy)


def unknown_fields_in_start(evidence: Evidence) -> Finding:
    """Fields that a later version may add."""
    with evidence.session() as session:
        line = session.start_line(more=_UNKNOWN)
        return _after(evidence, session, line, "With unknown fields in the start message", _START_REMEDY)


def no_limits(evidence: Evidence) -> Finding:
    """A clock without limits: null in place of each number."""
    with evidence.session() as session:
        clock: dict[str, Json] = {"kind": "wall", "startup": None, "move": None, "bank": None, "increment": 0.0}
        remedy = "Treat null in clock and in left as: there is no such limit."
        found = _begun(evidence, session, session.start_line(clock=clock), "With a clock without limits", remedy)
        if found is not None:
            return found
        walk = evidence.positions.walk(session.settings, lambda *_: None)
        for turn, state in walk:
            given = session.ask(turn, state, session.question(turn, state, move=None, bank=None))
            if evidence.trouble(given):
                return evidence.complaint(given, session, "With a clock without limits", remedy)
            break
        return ok("It plays without limits of time.")


def seeds(evidence: Evidence) -> Finding:
    """The smallest and the largest seed."""
    for seed in (0, _LARGEST_SEED):
        with evidence.session() as session:
            remedy = "The seed is a whole number from 0 to 2**53 - 1: use 64 bits, and treat 0 like any other seed."
            found = _after(evidence, session, session.start_line(seed=seed), f"With the seed {seed}", remedy)
            if found.status != OK:
                return found
    return ok("It plays with the seeds 0 and 2**53 - 1.")


def cpu_clock(evidence: Evidence) -> Finding:
    """The other kind of clock."""
    with evidence.session() as session:
        clock = {**evidence.subject.time.to_json(), "kind": "cpu", "increment": 0.5}
        remedy = 'Accept both kinds of clock, "wall" and "cpu", and an increment.'
        return _after(evidence, session, session.start_line(clock=clock), "With a clock of processor time", remedy)


def other_settings(evidence: Evidence) -> Finding:
    """Other values of the settings, such as the size of the board."""
    positions = evidence.positions.of(SETTINGS)
    for position in positions:
        with evidence.session(position.settings) as session:
            remedy = "Take sizes and limits from the settings of the start message, never from a constant."
            text = f"With other settings ({position.about})"
            found = _begun(evidence, session, session.start_line(), text, remedy)
            if found is not None:
                return found
            given = session.ask(position.turn, position.state)
            if evidence.trouble(given):
                return evidence.complaint(given, session, text, remedy)
    return ok(f"It plays with {len(positions)} other settings.") if positions else skipped("The game offers no other settings to try.")


def rule_sets(evidence: Evidence) -> Finding:
    """The other rule sets of the game."""
    subject = evidence.subject
    others = [name for name in subject.game.info.rule_sets if name != subject.settings.rules]
    if not others:
        return skipped("The game has one rule set.")
    found = {name: _under(evidence, name) for name in others}
    refused = [name for name, result in found.items() if result is None]
    good = [name for name, result in found.items() if result is not None and result.status == OK]
    for result in found.values():
        if result is not None and result.status != OK:
            return result._replace(remedy=_name_rule_sets((subject.settings.rules, *good)))
    if not good:
        return skipped(f"It plays no other rule set; there are {', '.join(refused)}.")
    return ok(f"It plays under the rules {', '.join(good)} too." + (f" It refuses {', '.join(refused)}." if refused else ""))


def _name_rule_sets(names: tuple[str, ...]) -> str:
    """Return what to add to a bot that isn't meant for all rule sets."""
    words = ", ".join(f'"{name}"' for name in names)
    return f"If it isn't meant for these rules, add rules = ({words}{',' * (len(names) == 1)}) to its class, or rules = [{words}] to its bot.toml."


def _under(evidence: Evidence, rules: str) -> Finding | None:
    """Ask a few questions under a rule set. Return None if the bot refuses it."""
    subject = evidence.subject
    try:
        settings = subject.game.codec.settings(rules, {})
    except SettingsError:
        return None
    if not evidence.plays(settings):
        return None
    with evidence.session(settings) as session:
        given = evidence.greeted(session)
        if given.has_ended:
            return None
        moves: dict[int, Any] = {}
        walk = Positions(subject.game, settings, subject.seat).walk(settings, lambda turn, _: moves.get(turn))
        for turn, state in islice(walk, _QUESTIONS):
            if given.reason:
                break
            given = session.ask(turn, state)
            moves[turn] = given.move
        if evidence.trouble(given):
            return evidence.complaint(given, session, f"Under the rules {rules}", "", WARNING)
    return ok(f"Under the rules {rules} it plays.")


def _begun(evidence: Evidence, session: CheckSession, line: bytes, text: str, remedy: str) -> Finding | None:
    """Start the bot with a ``start`` message. Return the finding if it isn't ready."""
    given = evidence.greeted(session, line)
    if given.reason:
        return evidence.complaint(given, session, text, remedy)
    return None


def _after(evidence: Evidence, session: CheckSession, line: bytes, text: str, remedy: str) -> Finding:
    """Start the bot with a ``start`` message, and ask it once."""
    found = _begun(evidence, session, line, text, remedy)
    if found is not None:
        return found
    for turn, state in evidence.positions.walk(session.settings, lambda *_: None):
        given: Given = session.ask(turn, state)
        if evidence.trouble(given):
            return evidence.complaint(given, session, f"{text} it was ready, but then", remedy)
        break
    return ok(f"{text} it plays.")


def _stderr(lines: tuple[str, ...]) -> str:
    return f"nothing; stderr: {quoted(lines[-1])}" if lines else "nothing"


CHECKS = (
    Check("starts", GROUP, "The program starts and doesn't end before it is asked.", starts, STARTED),
    Check("ready", GROUP, "It answers the start message with a good ready message, in time.", is_ready, STARTED),
    Check("names-itself", GROUP, "The ready message has a name of at most 40 characters.", names_itself, READY),
    Check("quiet-at-start", GROUP, "It writes nothing to stdout between ready and the first question.", quiet_at_start, READY),
)
#: What the start message may hold.
MESSAGES = (
    Check("unknown-start-fields", GROUP, "It ignores unknown fields in the start message.", unknown_fields_in_start),
    Check("no-limits", GROUP, "It plays when all limits of the clock are null.", no_limits),
    Check("cpu-clock", GROUP, "It plays with a clock of processor time and an increment.", cpu_clock),
    Check("seeds", GROUP, "It plays with the smallest and the largest seed.", seeds),
    Check("other-settings", GROUP, "It plays with other settings, such as another size of the board.", other_settings),
    Check("rule-sets", GROUP, "It plays under the other rule sets of the game, or refuses them before it is ready.", rule_sets),
)
START_TIME = Check("start-time", "time and memory", "The fastest of all starts is well within the start-up limit.", start_time, READY)
