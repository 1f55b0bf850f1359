"""Checks by whole matches, and by comparing several processes of the bot."""

from __future__ import annotations

import shlex
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from example_bots import middling
from referee import games
from referee.author.check.check import Check, all_of
from referee.author.check.check_result import FAILED, KEEPING, THINKING, WARNING, Finding, ok, quoted, seconds_shown, skipped
from referee.author.check.interview import own_time, patience, waited
from referee.errors import MatchVoid, PlayerError, UsageError
from referee.isolation.endings import MEMORY
from referee.match.match import Match
from referee.match.options import MatchOptions, RunOptions
from referee.match.spec import MatchSpec
from referee.match.start import Start
from referee.players.names import resolve
from referee.players.player import Function
from referee.replay.events import Listener
from referee.replay.faults import LATE
from referee.support.words import counted
from referee.wire import encode
from referee.wire.decode import is_start, question

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.author.check.interview import Interview
    from referee.author.check.shared_runs import CheckedBot
    from referee.games.game import Game, Notice, Seat, Settings
    from referee.players.player import Player
    from referee.replay.events import MatchBegun, PlayersFaulted, StepTaken
    from referee.replay.faults import Fault

GROUP = "matches"
#: The most steps of a match, and the seconds after which it ends; under other rules than those of the check it ends earlier.
_STEPS, _SECONDS, _OTHER_SECONDS = 1_500, 8.0, 4.0
#: The part of its moves that may be refused.
_REFUSED = 0.2
_COMPARED = 10


class Late(NamedTuple):
    """An answer of the bot over the limit of a move: its turn and the bot's own time, in seconds."""

    turn: int
    seconds: float


class _PlayedEnough(Exception):
    """The match has been played long enough."""


class CheckMatch(Listener):
    """A match of the bot: its steps, the moves of the bot, the notices about refused moves, its fault, and its first late answer.

    ``waited`` returns the seconds for which the bot and the referee have waited for a processor so far. ``text`` is the outcome of a match
    that came to its end; ``void`` says why there was no match.
    """

    def __init__(self, seat: str, refusals: frozenset[str], limit: float | None, waited: Callable[[], float], seconds: float) -> None:
        self.opponents = self.text = self.void = ""
        self.steps = self.moves = 0
        self.refused: list[Notice] = []
        self.fault: Fault | None = None
        self.late: Late | None = None
        self._seat, self._refusals, self._limit = seat, refusals, limit
        self._waited = waited
        self._waited_before = 0.0
        self._deadline = monotonic() + seconds

    def begun(self, event: MatchBegun) -> None:
        """Note the time at which the first question is sent."""
        self._waited_before = self._waited()

    def stepped(self, event: StepTaken) -> None:
        """Count a step, and end the match if it has been played for long enough."""
        self.steps += 1
        self._judge(event)
        if self.late is not None:
            raise _PlayedEnough
        self.moves += self._seat in event.answers
        self.refused += [notice for notice in event.notices if notice.seat == self._seat and notice.code in self._refusals]
        if self.steps >= _STEPS or monotonic() > self._deadline:
            raise _PlayedEnough

    def faulted(self, event: PlayersFaulted) -> None:
        """Note a fault of the bot."""
        self.fault = event.faults.get(self._seat, self.fault)
        self._judge(event)

    def _judge(self, event: StepTaken | PlayersFaulted) -> None:
        """Note an answer over the limit. The time in which others had the processor is left out."""
        waited = self._waited()
        lost, self._waited_before = max(0.0, waited - self._waited_before), waited
        answer = event.answers.get(self._seat)
        seconds = 0.0 if answer is None else own_time(answer.seconds, answer.other or 0.0, lost)
        if self.late is None and self._limit is not None and seconds > self._limit:
            self.late = Late(event.turn, seconds)


def play(bot: CheckedBot) -> CheckMatch:
    """Play a match against example bots of middle strength; against the simplest players where a game has no examples."""
    return _played(bot, bot.subject.settings, _SECONDS)


def _played(bot: CheckedBot, settings: Settings, seconds: float) -> CheckMatch:
    """Return a match as ``play`` plays it, with these settings, that ends after these seconds."""
    bot.late_budget.check()
    subject = bot.subject
    players: dict[str, Player] = {}
    others = []
    for seat in subject.game.seats(settings):
        if seat == subject.seat:
            players[seat] = subject.bot._replace(about={"program": "checked"})
        else:
            players[seat] = _opponent(subject.game.info.name, seat, settings)
            others.append(players[seat].label)
    samples = bot.positions.samples
    refusals = samples.refusals if samples is not None else frozenset()
    played = CheckMatch(subject.seat, refusals, subject.time.move, lambda: _waited(running, subject.seat), seconds)
    played.opponents = ", ".join(dict.fromkeys(others))
    options = MatchOptions(run=RunOptions(cores=0).replace(max_lateness=float("inf")), time=subject.time)
    # The start message has the limits of a match, but the players have more time: the check judges the bot's own time afterwards.
    start = Start.of(subject.game, settings, 1)
    spec = MatchSpec(subject.game, settings, players, start, options, wait=patience(subject.time))
    running = Match(spec, [played], subject.launcher)
    try:
        played.text = running.run().outcome.text
    except _PlayedEnough:
        pass
    except (MatchVoid, UsageError) as error:
        played.void = str(error)
    if played.late is not None:
        bot.late_budget.spend(played.late.seconds)
    return played


def _waited(match: Match, seat: str) -> float:
    """Return the seconds for which a bot and the referee have waited for a processor so far."""
    process = match.process_of(seat)
    return 0.0 if process is None else waited(process.first_pid())


def _opponent(game: str, seat: str, settings: Settings) -> Player:
    name = middling(game, seat, settings.rules)
    if name:
        try:
            return resolve(name, seat, game, settings)
        except PlayerError:
            # A file of this name in the current folder, which can't play.
            pass
    return Function("a player of plain moves", _plain, about={"program": "plain"})


def play_words(game: Game, settings: Settings, bots: Mapping[Seat, str]) -> str:
    """Return the arguments of ``referee play`` for a match of some bots, as a shell takes them; example bots fill the other seats."""
    name, rules = game.info.name, settings.rules
    words = [] if name == games.names()[0] else ["--game", name]
    words += [] if rules == game.info.rule_sets[0] else ["--rules", rules]
    words += [bots.get(seat) or middling(name, seat, rules) or "OTHER" for seat in game.seats(settings)]
    return shlex.join(words)


def _plain(line: bytes) -> bytes | None:
    if is_start(line):
        return encode.ready("plain")
    message = question(line)
    return None if message is None else encode.move(message["turn"], {})


def match(bot: CheckedBot) -> Finding:
    """A match without a fault."""
    played = bot.once(play)
    if played.void:
        return skipped(f"No match could be played: {quoted(played.void)}")
    if played.fault is not None:
        seen, subject = bot.transcript, bot.subject
        if played.fault.kind == "malformed" and (seen.problems or seen.is_noisy):
            return skipped("Its answers are malformed, as other checks say.")
        if played.fault.kind == LATE and played.late is None:
            return skipped("Other programs had the processor: no answer came in time. Run fewer programs beside the check.")
        command = f"referee play {play_words(subject.game, subject.settings, {subject.seat: subject.bot.label})}"
        remedy = f"Play it again and look at the last step: {command}"
        if played.fault.cause == MEMORY:
            remedy = KEEPING
        return Finding(FAILED, played.fault.text, f"a match against {played.opponents}", quoted(played.fault.line), remedy)
    if played.late is not None:
        turn, seconds = played.late
        limit = f"{bot.subject.time.move:g} s"
        text = f"Its answer in turn {turn} takes {seconds_shown(seconds)}; the limit is {limit}. One such answer loses a match."
        return Finding(FAILED, text, f"a match against {played.opponents}", f"an answer after {seconds_shown(seconds)}", THINKING)
    end = played.text or f"After {counted(played.steps, 'step')} the check ends it."
    return ok(f"It plays {counted(played.steps, 'step')} against {played.opponents} without a fault. {end}")


def fault_under(bot: CheckedBot, settings: Settings) -> Finding | None:
    """Return the fault of the bot in a match with other rules; None without one, and for a late answer, which other checks report."""
    played = _played(bot, settings, _OTHER_SECONDS)
    if played.fault is None or played.fault.kind == LATE:
        return None
    text = f"Under the rules {settings.rules} it fails after {counted(played.steps, 'step')}: {played.fault.text}"
    return Finding(WARNING, text, f"a match against {played.opponents}", quoted(played.fault.line))


def refused_moves(bot: CheckedBot) -> Finding:
    """Most of its moves are allowed."""
    played = bot.once(play)
    if bot.positions.samples is None or not played.moves:
        return skipped("There are no moves to count.")
    count = len(played.refused)
    text = f"Of {counted(played.moves, 'move')} {count:,} were refused."
    if count > max(2, _REFUSED * played.moves):
        remedy = "Test a move by the rules before you send it; notices in the next question say why it was refused."
        return Finding(WARNING, text, f"a match against {played.opponents}", quoted(played.refused[0].text), remedy)
    return ok(text)


def same_seed(bot: CheckedBot) -> Finding:
    """Two processes with the same seed and the same questions."""
    runs = []
    for _ in range(2):
        with bot.interview() as interview:
            runs.append(_moves(bot, interview))
    for (sent, first), (_, second) in zip(*runs, strict=False):
        if first != second:
            text = "The same questions with the same seed got different answers."
            remedy = (
                "Take all random numbers from the seed of the start message. A bot that looks at the clock can differ too; "
                "then a match can't be repeated exactly."
            )
            return Finding(WARNING, text, quoted(sent), f"{quoted(first)} and {quoted(second)}", remedy)
    return ok(f"Two processes with the same seed gave the same moves: {counted(len(runs[0]), 'answer')} each.")


def _moves(bot: CheckedBot, interview: Interview) -> list[tuple[bytes, str]]:
    """Return the first questions, and the moves as text."""
    moves: list[tuple[bytes, str]] = []
    bot.greeted(interview)
    for response in bot.play(interview, _COMPARED):
        if response.has_ended:
            break
        moves.append((interview.sent, str(response.answer.move) if response.answer is not None else response.reason))
    return moves


CHECKS = (
    Check(
        "match",
        GROUP,
        "It plays a match at its seat without a fault, every answer within the limit of a move, and few of its moves are refused.",
        all_of(match, refused_moves),
    ),
    Check("same-seed", GROUP, "The same seed and the same questions give the same answers.", same_seed),
)
