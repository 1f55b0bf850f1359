"""Checks a bot at every seat that it plays."""

from __future__ import annotations

from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, NamedTuple

from referee.author.check import answers, ending, matches, reading, starting, states, timing
from referee.author.check.check import ANSWERING, LATE, NO_ANSWER, NOT_READY, READY, Check, CheckResult
from referee.author.check.check_result import FAILED, STATUSES, WARNING, Finding, quoted, skipped
from referee.author.check.interview import LateBudgetSpent, Subject
from referee.author.check.shared_runs import CheckedBot
from referee.errors import MatchVoid, PlayerError, StartError
from referee.isolation.launcher import open_launcher
from referee.isolation.limits import Limits
from referee.match.options import TimeControl
from referee.players.names import resolve
from referee.players.player import is_human

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from referee.games.game import Game, Json, Seat, Settings

    #: Called before each check with the seat, the check, and the number of checks done and to do.
    Progress = Callable[[Seat, Check, int, int], None]


#: All checks, in the order in which they are done; each group is shown as a whole. Those of time, memory and a match come early, because a bot
#: that is late for too long isn't asked any more.
CHECKS = (
    *starting.CHECKS,
    *answers.CHECKS,
    *timing.CHECKS,
    *matches.CHECKS,
    *starting.MESSAGES,
    *states.CHECKS,
    *reading.CHECKS,
    *ending.CHECKS,
    # The last one: it looks at all starts before it.
    starting.START_TIME,
)
#: The reason why a silent program is not ready.
_SILENT = ("silent", "unread", "unfinished")
#: The end of the sentence that says why a seat isn't checked.
NEVERTHELESS = " (--seat {} checks it nevertheless)."
#: How long a program is waited for to find out which game it plays, in seconds.
_START_SECONDS = 3.0
#: The checks that say why others are skipped: the bot ends or isn't ready, or gives no answer.
_CAUSES = ("starts", "ready", "answers")
#: What to do about a program that can't be started, and about one that can't be built.
_START = "Run it by hand from its folder. Make it executable (chmod +x), and give a script a first line such as #!/usr/bin/env python3."
_BUILD = "Run the build of its bot.toml by hand in its folder, and mend what the compiler says."


class CheckRequest(NamedTuple):
    """What to check: a bot as on the command line, at some seats; how its program is isolated."""

    bot: str
    game: Game
    settings: Settings
    seats: Sequence[Seat]
    isolation: str
    limits: Limits = Limits()
    time: TimeControl = TimeControl()
    checks: Sequence[Check] = CHECKS


class Report(NamedTuple):
    """All results. ``not_checked`` are the seats that the bot doesn't play, each with the reason. ``refused`` says why it can't be started at all."""

    results: tuple[CheckResult, ...]
    not_checked: dict[Seat, str]
    isolation: str
    notes: tuple[str, ...]
    refused: str = ""

    @property
    def ok(self) -> bool:
        """True if no check failed."""
        return not self.refused and not any(result.finding.status == FAILED for result in self.results)

    @property
    def counts(self) -> dict[str, int]:
        """The number of results of each status."""
        return {status: sum(result.finding.status == status for result in self.results) for status in STATUSES}

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats that were checked."""
        return tuple(dict.fromkeys(result.seat for result in self.results))

    def to_json(self) -> dict[str, Json]:
        """The report as ``--json`` prints it."""
        return {
            "ok": self.ok,
            "isolation": self.isolation,
            "counts": self.counts,
            "seats": {seat: [result.to_json() for result in self.results if result.seat == seat] for seat in self.seats},
            "not_checked": self.not_checked,
            "notes": list(self.notes),
            "refused": self.refused,
        }


def run(request: CheckRequest, on_progress: Progress = lambda *_: None) -> Report:
    """Check the bot at the seats that it plays. PlayerError if it can play none of them by its name."""
    with _CheckRun(request) as check_run:
        return check_run.run(on_progress)


def find_game(requests: Iterable[CheckRequest]) -> CheckRequest:
    """Return the request whose game the bot plays; each request is for another game or rule set. If the bot plays none, return the first.

    A program exits if it is asked to play a game, a rule set or a seat that it doesn't know. A program that stays, or that can't be started, belongs
    to the first game: the checks then say what is wrong with it.
    """
    first: CheckRequest | None = None
    for request in requests:
        with _CheckRun(request) as check_run:
            if check_run.plays(is_first=first is None):
                return request
        first = first or request
    assert first is not None, "there are no requests"
    return first


def seats_refused(request: CheckRequest) -> dict[Seat, str]:
    """Return the seats that the bot doesn't play, each with the reason: it has no program there, or it exits before it is ready.

    Empty for a program that is ready at no seat, because nothing is known of it. PlayerError if it can play no seat by its name; StartError
    if it can't be built.
    """
    with _CheckRun(request) as check_run:
        return check_run.seats_refused()


class _NotBuiltError(StartError):
    """The build of the program failed; the text has the compiler's errors."""


class _CheckRun(ExitStack):
    """One check of a bot. In the end, its launchers are closed: each seat has one."""

    def __init__(self, request: CheckRequest) -> None:
        super().__init__()
        self.request = request
        self.not_checked: dict[Seat, str] = {}
        self.notes: list[str] = []
        self.level = ""

    def run(self, on_progress: Progress) -> Report:
        request = self.request
        bots: dict[Seat, CheckedBot] = {}
        error: PlayerError | None = None
        for seat in request.seats:
            silent = next((other for other, bot in bots.items() if bot.transcript.ready.reason in _SILENT), "")
            if silent:
                self.not_checked[seat] = f"It isn't ready as {silent}; mend that first{NEVERTHELESS.format(seat)}"
                continue
            try:
                bots[seat] = self._checked_bot(seat)
                # The first process shows whether the bot plays this seat.
                _ = bots[seat].transcript
            except PlayerError as problem:
                error = error or problem
                self.not_checked[seat] = str(problem)
            except StartError as problem:
                return self._refused(str(problem), _BUILD if isinstance(problem, _NotBuiltError) else _START)
        if error is not None and not bots:
            raise error
        self._leave_out(bots)
        results: list[CheckResult] = []
        total = len(bots) * len(request.checks)
        for seat, bot in bots.items():
            has_failed, first = False, len(results)
            for check in request.checks:
                on_progress(seat, check, len(results), total)
                result = skipped(NOT_READY) if has_failed else finding(check, bot)
                results.append(CheckResult(check, seat, result))
                has_failed = has_failed or (check.name == CHECKS[0].name and result.status == FAILED)
            results[first:first] = _cause(results[first:], bot)
        return Report(tuple(results), self.not_checked, self.level, tuple(self.notes))

    def plays(self, *, is_first: bool) -> bool:
        """Return whether the bot is ready at a seat; for the first game, whether it doesn't exit before that."""
        for seat in self.request.seats:
            try:
                with self._checked_bot(seat).interview() as interview:
                    response = interview.greet(limit=_START_SECONDS)
            except PlayerError:
                continue
            except (StartError, MatchVoid):
                return is_first
            if not response.reason or (is_first and not response.has_ended):
                return True
        return False

    def seats_refused(self) -> dict[Seat, str]:
        """Return the seats that the bot doesn't play, each with the reason."""
        request = self.request
        absent: dict[Seat, PlayerError] = {}
        for seat in request.seats:
            try:
                resolve(request.bot, seat, request.game.info.name, request.settings)
            except PlayerError as error:  # noqa: PERF203 - a few seats
                absent[seat] = error
        left = [seat for seat in request.seats if seat not in absent]
        if not left:
            raise next(iter(absent.values()))
        exits = {seat: text for seat in left if (text := self._exit(seat))} if len(left) > 1 else {}
        return {seat: str(error) for seat, error in absent.items()} | (exits if len(exits) < len(left) else {})

    def _exit(self, seat: Seat) -> str:
        """Return how the bot exits before it is ready at a seat; "" if it doesn't exit, or can't be asked."""
        try:
            with self._checked_bot(seat).interview() as interview:
                response = interview.greet(limit=_START_SECONDS)
        except _NotBuiltError:
            raise
        except (PlayerError, StartError, MatchVoid):
            return ""
        return response.text if response.has_ended else ""

    def _checked_bot(self, seat: Seat) -> CheckedBot:
        request = self.request
        game = request.game.info.name
        if is_human(request.bot) or (bot := resolve(request.bot, seat, game, request.settings)).dialect is not None:
            raise PlayerError("Only a program that speaks the referee's own protocol can be checked; name its file or command.")
        launcher = self.enter_context(closing(open_launcher(request.isolation, request.limits, [bot])))
        self.level = launcher.level.name
        self.notes += [note for note in launcher.level.notes if note not in self.notes]

        try:
            bot = launcher.build({seat: bot})[seat]
        except StartError as error:
            raise _NotBuiltError(str(error)) from None

        def plays(settings: Settings) -> bool:
            try:
                resolve(request.bot, seat, game, settings)
            except PlayerError:
                return False
            return True

        subject = Subject(request.game, request.settings, seat, bot, request.time, launcher)
        return CheckedBot(subject, plays, 1 / len(request.seats))

    def _leave_out(self, bots: dict[Seat, CheckedBot]) -> None:
        """Remove the seats that the bot doesn't play: a program exits if it is asked to play such a seat.

        If it is ready at no seat, remove those at which it fails as at the first one.
        """
        if not any(bot.transcript.is_ready for bot in bots.values()):
            first, *others = bots
            for seat in others:
                if bots[seat].transcript.fails_like(bots[first].transcript):
                    del bots[seat]
                    self.not_checked[seat] = f"It fails as at the seat {first}{NEVERTHELESS.format(seat)}"
            return
        for seat, bot in list(bots.items()):
            if bot.transcript.ready.has_ended:
                del bots[seat]
                said = bot.transcript.stderr
                why = f"It exits before it is ready{': ' + quoted(said[-1]) if said else ''}"
                self.not_checked[seat] = f"{why}{NEVERTHELESS.format(seat)}"

    def _refused(self, why: str, remedy: str) -> Report:
        """Return the report on a program that can't be started."""
        seat, results = self.request.seats[0], []
        for check in dict.fromkeys((CHECKS[0], *self.request.checks)):
            is_start = check.name == CHECKS[0].name
            result = Finding(FAILED, why, "nothing", "nothing", remedy) if is_start else skipped("It can't be started.")
            results.append(CheckResult(check, seat, result))
        return Report(tuple(results), self.not_checked, self.level, tuple(self.notes), why)


def _cause(results: Sequence[CheckResult], bot: CheckedBot) -> list[CheckResult]:
    """Return the result of the check that says why the others were skipped, if it was not among them: a bot that isn't ready isn't sound."""
    if all(result.finding not in (skipped(NOT_READY), skipped(NO_ANSWER)) for result in results):
        return []
    if any(result.finding.status == FAILED for result in results):
        return []
    seat = results[0].seat
    causes = (CheckResult(check, seat, finding(check, bot)) for check in CHECKS if check.name in _CAUSES)
    return [result for result in causes if result.finding.status == FAILED][:1]


def finding(check: Check, bot: CheckedBot) -> Finding:
    """Do a check. One that needs more than the bot does is skipped."""
    seen = bot.transcript
    if check.needs in (READY, ANSWERING) and not seen.is_ready:
        return skipped(NOT_READY)
    if check.needs == ANSWERING and not seen.answers:
        return skipped(NO_ANSWER)
    try:
        return check.run(bot)
    except LateBudgetSpent:
        return skipped(LATE)
    except StartError as error:
        remedy = "Each check starts the bot again: let it find all of its files each time, and any number of times."
        return Finding(FAILED, f"It can't be started again: {error}", "nothing", "nothing", remedy)
    except MatchVoid as error:
        return Finding(WARNING, f"The check could not be done: {error}", remedy="Do it again; referee doctor tests the sandbox.")
