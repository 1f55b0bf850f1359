"""Checks of the start: the program, its first message, and what the ``start`` message may hold."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from referee.author.check.check import READY, STARTED, Check, all_of
from referee.author.check.check_result import FAILED, KEEPING, OK, WARNING, Finding, no_line, ok, quoted, seconds_shown, skipped
from referee.author.check.matches import fault_under
from referee.games.capabilities import SETTINGS
from referee.games.game import SettingsError
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.author.check.interview import Interview, Response
    from referee.author.check.shared_runs import CheckedBot
    from referee.games.game import Json

    #: Arguments of ``Interview.start_line`` that differ from those of a usual match.
    Change = Mapping[str, Json]
    #: The time that a question says is left: for the move and in the bank.
    Left = tuple[float | None, float | None]

GROUP = "start"
#: The part of the start-up limit from which on a start is slow.
_SLOW = 0.5
#: The largest seed, exact in every language.
_LARGEST_SEED = 2**53 - 1
#: How many questions are asked under each other rule set.
_QUESTIONS = 5


def starts(bot: CheckedBot) -> Finding:
    """The program runs until it is asked for a move."""
    seen = bot.transcript
    if seen.ready.has_ended or seen.ready.reason == "deaf":
        remedy = "Run the program by hand and paste the start message into its input: its error appears there."
        if seen.ready.remedy:
            # Its sentence says what is in its stderr.
            return Finding(FAILED, seen.ready.text, "the start message", "nothing", seen.ready.remedy)
        if seen.ready.exceeds_memory:
            remedy = KEEPING
        elif seen.status == 0:
            remedy = 'Read the start message and answer it before the program ends; with the SDK, let the file end with a call such as "MyBot.main()".'
        return Finding(FAILED, seen.ready.text, quoted(seen.start), no_line(seen.stderr), remedy)
    return ok("The program starts.")


def is_ready(bot: CheckedBot) -> Finding:
    """It answers ``start`` with ``ready``."""
    seen = bot.transcript
    if not seen.ready.reason:
        return ok(f"It was ready after {seconds_shown(seen.startup_seconds)}.")
    if seen.ready.has_ended:
        return starts(bot)
    remedy = 'Answer the start message with one line: {"type":"ready","protocol":1,"name":"MyBot"}, and flush it.'
    if seen.ready.place:
        remedy = "Answer the start message first; the start-up limit ends what comes before that."
    return Finding(FAILED, seen.ready.text, quoted(seen.start), quoted(seen.ready.line), remedy)


def start_time(bot: CheckedBot) -> Finding:
    """The fastest of all starts is within the limit. A busy machine can slow down the others."""
    limit = bot.subject.time.startup
    best = min(bot.startups, default=bot.transcript.startup_seconds)
    count = len(bot.startups)
    text = f"The fastest of {counted(count, 'start')} took {seconds_shown(best)}"
    if limit is None:
        return ok(f"{text}.")
    text = f"{text}; the limit is {limit:g} s."
    remedy = "Load less before you answer the start message: read large files and import large libraries when they are first needed."
    if best > limit:
        return Finding(FAILED, text, quoted(bot.transcript.start), f"ready after {seconds_shown(best)}", remedy)
    if best > _SLOW * limit:
        return Finding(WARNING, text, quoted(bot.transcript.start), f"ready after {seconds_shown(best)}", remedy)
    return ok(text)


def quiet_at_start(bot: CheckedBot) -> Finding:
    """Between ``ready`` and the first question it writes nothing to stdout."""
    seen = bot.transcript
    if not seen.unasked:
        return ok("It waits for the first question without a word.")
    remedy = "Print to stderr: stdout is only for answers, one for each question."
    return Finding(FAILED, "It wrote to stdout before the first question.", quoted(seen.start), quoted(seen.unasked), remedy)


def started(bot: CheckedBot, text: str, starts: tuple[Change, ...], remedy: str, left: Left | None) -> Finding:
    """Start the bot with each change of the ``start`` message, and ask it once. ``text`` names the change, with its values in braces."""

    def asking(interview: Interview, turn: int, state: object) -> Response:
        return interview.ask(turn, state, interview.question(turn, state, left=left))

    for change in starts:
        if failure := bot.tried(
            text.format(**change), remedy, lambda interview: bot.play(interview, 1, asking), start=change, is_of_start=True
        ):
            return failure
    return ok(" ".join(f"{text.format(**change)} it plays." for change in starts))


def other_settings(bot: CheckedBot) -> Finding:
    """Other values of the settings, such as the size of the board."""
    positions = bot.positions.of(SETTINGS)
    remedy = "Take sizes and limits from the settings of the start message, never from a constant."
    for position in positions:
        if failure := bot.tried_at(position, f"With other settings ({position.about})", remedy, is_of_start=True):
            return failure
    return ok(f"It plays with {len(positions)} other settings.") if positions else skipped("The game offers no other settings to try.")


def rule_sets(bot: CheckedBot) -> Finding:
    """The other rule sets of the game."""
    subject = bot.subject
    others = [name for name in subject.game.info.rule_sets if name != subject.settings.rules]
    if not others:
        return skipped("The game has one rule set.")
    results = {name: _under(bot, name) for name in others}
    refused = [name for name, result in results.items() if result is None]
    good = [name for name, result in results.items() if result is not None and result.status == OK]
    for result in results.values():
        if result is not None and result.status != OK:
            return result._replace(remedy=_name_rule_sets((subject.settings.rules, *good)))
    if not good:
        return skipped(f"It plays no other rule set; there are {', '.join(refused)}.")
    return ok(f"It plays a match under the rules {', '.join(good)} too." + (f" It refuses {', '.join(refused)}." if refused else ""))


def _name_rule_sets(names: tuple[str, ...]) -> str:
    """Return what to add to a bot that isn't meant for all rule sets."""
    words = ", ".join(f'"{name}"' for name in names)
    return f"If it isn't meant for these rules, add rules = ({words}{',' * (len(names) == 1)}) to its class, or rules = [{words}] to its bot.toml."


def _under(bot: CheckedBot, rules: str) -> Finding | None:
    """Ask a few questions under a rule set, and play a match if it answers them. Return None if the bot refuses it."""
    subject = bot.subject
    try:
        settings = subject.game.codec.settings(rules, {})
    except SettingsError:
        return None
    if not bot.plays(settings):
        return None
    with bot.interview(settings) as interview:
        response = bot.greeted(interview)
        if response.has_ended:
            return None
        if not response.reason:
            for response in bot.play(interview, _QUESTIONS):
                if response.reason:
                    break
        if bot.trouble(response):
            return bot.complaint(response, interview, f"Under the rules {rules}", "", WARNING)
    return fault_under(bot, settings) or ok(f"Under the rules {rules} it plays.")


CHECKS = (
    Check("starts", GROUP, "The program starts and doesn't end before it is asked.", starts, STARTED),
    Check("ready", GROUP, "It answers the start message with a good ready message, in time.", is_ready, STARTED),
)


#: What the start message may hold. In each row: the change in words, the changes of the message, and what the author can do if the bot doesn't play.
_STARTS: tuple[tuple[str, tuple[Change, ...], str, Left | None], ...] = (
    (
        "With unknown fields in the start message",
        ({"more": {"weather": "fine", "extra": {"list": [1, None, True], "text": "ü"}}},),
        "Read only the fields that you need from the start message, and give every other value a default.",
        None,
    ),
    (
        "With a clock without limits",
        ({"clock": {"kind": "wall", "startup": None, "move": None, "bank": None, "increment": 0.0}},),
        "Treat null in clock and in left as: there is no such limit.",
        (None, None),
    ),
    (
        "With a clock of processor time",
        ({"clock": {"kind": "cpu", "increment": 0.5}},),
        'Accept every kind of clock, such as "fair", "wall" and "cpu", and an increment.',
        None,
    ),
    (
        "With the seed {seed}",
        ({"seed": 0}, {"seed": _LARGEST_SEED}),
        "The seed is a whole number from 0 to 2**53 - 1: use 64 bits, and treat 0 like any other seed.",
        None,
    ),
)
MESSAGES = (
    Check(
        "start-messages",
        GROUP,
        "It plays whatever the start message holds: unknown fields, no limits, another clock, any seed.",
        all_of(*(partial(started, text=text, starts=changes, remedy=remedy, left=left) for text, changes, remedy, left in _STARTS)),
    ),
    Check("other-settings", GROUP, "It plays with other settings, such as another size of the board.", other_settings),
    Check("rule-sets", GROUP, "It plays a match under each other rule set of the game, or refuses it before it is ready.", rule_sets),
)
START_TIME = Check("start-time", "time and memory", "The fastest of all starts is well within the start-up limit.", start_time, READY)
