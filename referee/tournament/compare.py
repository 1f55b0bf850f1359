"""Compares two bots by duels on drawn starts, with a sequential test after each one."""

from __future__ import annotations

import contextlib
import math
from collections import deque
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import StartError, UsageError
from referee.handins.entry import read as read_entry
from referee.support.words import counted, cut, signed
from referee.tournament.duels import PlannedDuel, duel_result
from referee.tournament.keys import new_task, terms_hash
from referee.tournament.local import LocalPool, checked_slots
from referee.tournament.plan import NoStore, check_played, playing
from referee.tournament.roles import role_of
from referee.tournament.sequential import Comparing
from referee.tournament.starts import drawn, match_seed
from referee.tournament.worker import Terms
from referee.wire.seeds import new_seed, secret_of

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator, Mapping, Sequence

    from referee.games.game import Json, Seat, Settings
    from referee.handins.values import Entry
    from referee.match.request import MatchRequest
    from referee.tournament.duels import DuelResult
    from referee.tournament.sequential import Compared
    from referee.tournament.store import Store
    from referee.tournament.values import MatchStart, Record, Task

MOST_DUELS = 1_000_000


class SequentialTest(NamedTuple):
    """The sequential test: the hypotheses ``p0`` and ``p1`` on A's share, the error rates, and the most duels."""

    p0: float = 0.5
    p1: float = 0.6
    alpha: float = 0.05
    beta: float = 0.05
    duels: int = 1000


STANDARD = SequentialTest()


class TeamFault(NamedTuple):
    """A team's fault in a match of a duel. ``is_start``: it failed before the first step."""

    team: str
    text: str
    is_start: bool


class ComparedDuel(NamedTuple):
    """A duel and its matches: those of one pair of bots after the other. ``number`` counts from 0."""

    number: int
    settings: Settings
    tasks: tuple[Task, ...]


class BotComparison:
    """The comparison of A with B: against each other, or against the same opponents. It is the plan of its matches.

    ``run`` plays them and yields the state of the comparison after each duel that counts.

    A duel is played on one start in both roles. If ``seat`` is given, or A and B don't both play all roles, they are compared in one role:
    then a duel is a match of A and one of B in that role, on one start against the same opponent. Duels count in the order of the schedule,
    not of arrival, because short games end first.

    Raises UsageError, SettingsError and PlayerError for what can't be played, StartError and MatchVoid as a match does.
    """

    def __init__(
        self,
        request: MatchRequest,
        a: str,
        b: str,
        against: Sequence[str] = (),
        test: SequentialTest = STANDARD,
        slots: int | None = None,
        seat: Seat | None = None,
    ) -> None:
        if not 1 <= test.duels <= MOST_DUELS:
            raise UsageError(f"--duels is {test.duels:,}, but must be from 1 to {MOST_DUELS:,}.")
        self.request = request
        self.test = test
        self.seed = new_seed() if request.seed is None else request.seed
        self._game = request.game_object
        programs = _named([a, b, *against])
        first = self._game.codec.settings(
            request.checked_settings.rules, {**self._game.codec.settings_json(request.checked_settings), **self.first_start}
        )
        role = role_of(self._game, request.options, first, programs, seat)
        #: The only role in the comparison, None for all.
        self.seat = role.seat
        #: A sentence for each bot that doesn't play all roles.
        self.why = role.why
        #: The requested programs, by name: A, B and their opponents.
        self.programs = _named([a, b, *against, *role.opponents])
        self.a, self.b, *self.against = self.programs
        self.teams: dict[str, Entry] = {
            name: read_entry(name, dict.fromkeys(seats, text), self._game, request.checked_settings, seats=seats)
            for name, text in self.programs.items()
            for seats in [self._seats_of(name)]
        }
        # Several results of one start make a fraction; so does the difference of two.
        try:
            self._comparing = Comparing(test.p0, test.p1, test.alpha, test.beta, has_fractions=len(self.pairs) > 1)
        except ValueError as error:
            raise UsageError(str(error)) from None
        self._slots = min(checked_slots(slots, request.options.limits), 4 * test.duels)
        self._duels = islice(drawn(self._game, request.checked_settings, secret_of(self.seed)), test.duels)
        self._numbers: dict[int, int] = {}
        self._numbering = drawn(self._game, request.checked_settings, secret_of(self.seed))
        #: The duels that wait for their records, and how many of them may.
        self._open: deque[ComparedDuel] = deque()
        self._ahead = 4 * self._slots + 4
        #: Results and sentences that ``run`` has not delivered yet.
        self._states: deque[Compared] = deque()
        self._sentences: deque[str] = deque()
        self._counted = 0
        #: The keys of the matches that ended before their turn, and of those counted since the last step.
        self._early: set[str] = set()
        self._just_counted: set[str] = set()
        self._failures: list[TeamFault] = []
        #: The bots that have started in a match.
        self._started: set[str] = set()

    @property
    def matches(self) -> int:
        """The matches played so far, including those that do not count."""
        return self._counted + len(self._early)

    def _seats_of(self, name: str) -> tuple[Seat, ...]:
        """Return the seats that a bot has to play."""
        seats = self._game.seats(self.request.checked_settings)
        if self.seat is None:
            return seats
        return (self.seat,) if name in (self.a, self.b) else tuple(seat for seat in seats if seat != self.seat)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The two teams of each duel on a start: A and B, or one of them and an opponent in both roles."""
        if self.seat is not None:
            return [(self.a, self.b)] * len(self.against)
        if not self.against:
            return [(self.a, self.b)]
        return [(team, opponent) for opponent in self.against for team in (self.a, self.b)]

    @property
    def first_start(self) -> Mapping[str, Json]:
        """The settings that the first start replaces."""
        return next(drawn(self._game, self.request.checked_settings, secret_of(self.seed))).settings

    def number_of(self, seed: int) -> int:
        """Return the number of the duel whose matches have this seed."""
        while seed not in self._numbers:
            start = next(self._numbering)
            self._numbers[match_seed(start)] = start.number
        return self._numbers[seed]

    def compared(self) -> Compared:
        """The state of the comparison so far."""
        return self._comparing.compared()

    def failures(self) -> dict[str, list[TeamFault]]:
        """The faults in the duels that count, by team."""
        by_team: dict[str, list[TeamFault]] = {}
        for failure in self._failures:
            by_team.setdefault(failure.team, []).append(failure)
        return by_team

    def next(self, records: Sequence[Record]) -> list[list[Task]]:
        """Count a duel, and continue until the test has decided. StartError if an opponent has never started."""
        if records:
            duel = self._open.popleft()
            if self.wants(duel.tasks[0]):
                self._count(duel, records)
        if not self.wants_more:
            return []
        duels = [self._planned(start) for start in islice(self._duels, self._ahead - len(self._open))]
        self._open += duels
        return [[*duel.tasks] for duel in duels]

    def wants(self, task: Task) -> bool:
        """False once the test has decided."""
        return self.wants_more

    @property
    def wants_more(self) -> bool:
        """True while the test has not decided."""
        return self._comparing.decision == "undecided"

    def _count(self, duel: ComparedDuel, records: Sequence[Record]) -> None:
        """Score a duel whose matches have all been played."""
        failures: list[TeamFault] = []
        for task, record in zip(duel.tasks, records, strict=True):
            check_played(record)
            self._early.discard(record.key)
            self._just_counted.add(record.key)
            self._counted += 1
            if record.started:
                self._started.update(task.names.values())
            failures += (TeamFault(task.names[seat], text, not record.started) for seat, text in record.faults.items())
        for failure in failures:
            self._note(failure)
            self._failures.append(failure)
        self._comparing.add(self._score(duel, records, failures))
        self._states.append(self.compared())

    def _note(self, failure: TeamFault) -> None:
        """Report once that a team did not start. StartError if an opponent has never started."""
        if not failure.is_start:
            return
        if failure.team in self.against and failure.team not in self._started:
            raise StartError(f"The opponent {failure.team} did not start, so nothing can be compared: {failure.text}")
        if not any(earlier.is_start and earlier.team == failure.team for earlier in self._failures):
            how = "the duel counts as a tie" if failure.team in self.against else "it loses the duel"
            self._sentences.append(f"{failure.team} did not start, so {how}: {failure.text}")

    @property
    def facts(self) -> dict[str, Json]:
        """All facts that decide the results, by readable names. The number of duels isn't one of them: it may grow later."""
        request, test = self.request, self.test
        return {
            "the game": [self._game.info.name, self._game.info.version, request.checked_settings.rules],
            "the settings": self._game.codec.settings_json(request.checked_settings),
            "seed": self.seed,
            "the bots": [self.a, self.b, *self.against],
            "the role": self.seat,
            "the time control": repr(request.options.time),
            "the isolation": request.options.isolation,
            "the limits": repr(request.options.limits),
            "the options of the match": repr(sorted(request.options.run.given.items())),
            "the test": [test.p0, test.p1, test.alpha, test.beta],
        }

    def run(
        self,
        folder: Path,
        on_match: Callable[[], None] = lambda: None,
        on_note: Callable[[str], None] = lambda _: None,
        store: Store | None = None,
    ) -> Generator[Compared, None, None]:
        """Play until the test decides, or to the last duel; yield the state of the comparison after each duel that counts.

        ``folder`` is for the replays. ``on_note`` is called once for each team that does not start. ``store`` has the records of
        earlier runs, whose matches aren't played again, and keeps those of this one.
        """
        request = self.request
        terms = Terms(self._game.info.name, request.checked_settings.rules, request.options)
        with contextlib.closing(LocalPool(terms, self.teams, folder / "replays", self._slots)) as pool:
            for moment in playing(self, store or NoStore(), pool):
                for _, record in moment.ended:
                    if not record.is_startable:
                        raise StartError(record.text)
                    if not record.void:
                        self._early |= {record.key} - self._just_counted
                        on_match()
                self._just_counted.clear()
                while self._sentences:
                    on_note(self._sentences.popleft())
                while self._states:
                    yield self._states.popleft()

    @property
    def _games(self) -> int:
        """The matches of two teams on one start."""
        return 1 if self._game.pairing is None else 2

    def _planned(self, start: MatchStart) -> ComparedDuel:
        """Return a duel with its matches."""
        request = self.request
        rules, base = request.checked_settings.rules, self._game.codec.settings_json(request.checked_settings)
        settings = {**base, **start.settings}
        terms = terms_hash(self._game, rules, request.options)
        tasks = [
            new_task(terms, {seat: self.teams[name] for seat, name in lineup.items()}, settings, match_seed(start))
            for place, pair in enumerate(self.pairs)
            for lineup in self._lineups(start.number, place, pair)
        ]
        return ComparedDuel(start.number, self._game.codec.settings(rules, settings), tuple(tasks))

    def _lineups(self, number: int, place: int, pair: tuple[str, str]) -> list[dict[Seat, str]]:
        """Return the players of all seats in the matches of a duel. The first team of the pair has the first seat in the first match, or its opponent has."""
        seats = self._game.seats(self.request.checked_settings)
        if self.seat is not None:
            order = pair if self.seat == seats[0] else pair[::-1]
            return [{seat: name if seat == self.seat else self.against[place] for seat in seats} for name in order]
        # Where roles can't be swapped, seats can: from start to start.
        orders = [pair, pair[::-1]] if self._game.pairing is not None else [pair[:: 1 if number % 2 == 0 else -1]]
        return [dict(zip(seats, order, strict=True)) for order in orders]

    def _score(self, planned: ComparedDuel, records: Sequence[Record], failures: Sequence[TeamFault]) -> float:
        """A's score of a start, from 0 to 1."""
        if any(failure.is_start and failure.team in self.against for failure in failures):
            return 0.5
        results, played = [], [*zip(planned.tasks, records, strict=True)]
        for place, pair in enumerate(self.pairs):
            matches = played[place * self._games : (place + 1) * self._games]
            result = duel_result(self._game, planned.settings, PlannedDuel(planned.number, 0, pair), matches)
            assert result is not None
            results.append(result)
        if self.seat is not None or not self.against:
            return sum(self._worth(result, self.a) for result in results) / len(results)
        mine = [self._worth(result, self.a) for result in results[::2]]
        others = [self._worth(result, self.b) for result in results[1::2]]
        difference = (sum(mine) - sum(others)) / len(mine)
        return (1 + difference) / 2

    def _worth(self, result: DuelResult, team: str) -> float:
        """What a duel is worth for a team, from 0 to 1."""
        if set(result.duel.teams) <= set(result.forfeits):
            return 0.5
        return result.points[team]

    def sentence(self, *, is_whole: bool = True, more: str = "--duels ") -> str:
        """Return the result so far as a sentence. ``is_whole``: the comparison has ended. ``more`` is the option for more duels."""
        state, test = self.compared(), self.test
        a, b = cut(self.a, 60), cut(self.b, 60)
        if state.decision == "better":
            return f"{a} is better than {b}."
        if state.decision == "worse":
            return f"{a} is worse than {b}."
        if state.decision == "no-difference":
            return f"There is no difference between {a} and {b} beyond a share of {test.p1:g}."
        if not is_whole:
            return f"Undecided after {state.duels:,} of at most {counted(test.duels, 'duel')}: the comparison has not come to its end."
        return (
            f"Undecided after {counted(state.duels, 'duel')}: too few for a chance of error of {test.alpha:.1%}; "
            f"more of them: {more}{4 * max(state.duels, 250)}"
        )

    def setting(self) -> Iterator[str]:
        """Yield a sentence about the compared role, if it isn't all roles."""
        if self.seat is not None:
            yield f"{self.a} and {self.b} are compared as {self.seat}, each against {' and '.join(self.against)} on the same starts."

    def lines(self, *, is_whole: bool) -> list[str]:
        """Return the result so far, for people. ``is_whole``: the comparison has ended."""
        state = self.compared()
        played = f"{state.duels:,} ({counted(self.matches, 'match')}): {state.wins:,} won, {state.ties:,} tied, {state.losses:,} lost"
        return [
            self.sentence(is_whole=is_whole),
            f"  duels    {played}",
            f"  share    {state.share:.3f}  ({state.low:.3f} to {state.high:.3f}, valid at every moment)",
            f"  Elo      {signed(state.elo)}  ({signed(state.elo_low)} to {signed(state.elo_high)})",
            f"  LLR      better {state.llr:+.2f}, worse {state.llr_worse:+.2f}; bounds {state.lower:+.2f} and {state.upper:+.2f}",
            *self._fault_lines(),
            f"  seed     {self.seed}",
        ]

    def _fault_lines(self) -> list[str]:
        """A line for each team that failed."""
        lines = []
        for team, failures in self.failures().items():
            starts = [failure for failure in failures if failure.is_start]
            begun = f"it did not start in {counted(len(starts), 'match')}" if starts else "it always started"
            text = (starts or failures)[0].text
            lines.append(f"  faults   {team} in {counted(len(failures), 'match')}; {begun}: {text}")
        return lines

    def to_json(self) -> dict[str, Json]:
        """The state of the comparison as one JSON object; infinite ratings are None."""
        failures = self.failures()
        state = {
            name: None if isinstance(value, float) and math.isinf(value) else value for name, value in self.compared()._asdict().items()
        }
        return {
            "a": self.a,
            "b": self.b,
            "against": self.against,
            "seat": self.seat,
            "seed": self.seed,
            "matches": self.matches,
            **self.test._asdict(),
            **state,
            "faults": {team: len(team_failures) for team, team_failures in failures.items()},
            "not_started": {
                team: count for team, team_failures in failures.items() if (count := sum(each.is_start for each in team_failures))
            },
        }


def _named(programs: Sequence[str]) -> dict[str, str]:
    """Return programs by the names of their teams: as given, with numbers if two are equal."""
    by_name: dict[str, str] = {}
    for program in programs:
        short = cut(Path(program).stem if "/" in program or program.endswith(".py") else program, 40)
        chosen, number = short, 2
        while chosen in by_name:
            chosen, number = f"{short} ({number})", number + 1
        by_name[chosen] = program
    return by_name
