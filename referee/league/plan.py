"""A league as a plan of the core: duel after duel of the schedule, forfeits, repetitions, void matches and the teams to blame for them.

Theory of operation. The plan learns from a record when its duel's turn comes, as if the matches were played one after the other. So the
same league has the same duels and the same results with any number of workers, after kills, and in a reader that plays no matches.

A team forfeits once its program can't be started, or once two of its matches failed before the first step and none began. A match that was
void too often stops its teams' later duels, until somebody is found to be to blame (``disputes``): then their duels are asked for again, as
matches in which that team is blamed. Repetitions of a fixture wait for the first one on the first start, which shows whether the teams always
play the same game.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import DISPUTED, SUPERVISOR
from referee.isolation.machine import SHORTAGES
from referee.league.schedule import ROUND_BY_ROUND, later_fixtures
from referee.tournament import disputes
from referee.tournament.disputes import blamed, dispute_of
from referee.tournament.duels import duel_result, stopped
from referee.tournament.plan import MOST_VOIDS, NOT_WANTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from referee.league.league_schedule import Schedule
    from referee.tournament.disputes import Dispute
    from referee.tournament.duels import DuelResult, PlannedDuel
    from referee.tournament.plan import GivesUp
    from referee.tournament.values import Record, Task

#: The most open duels.
_AHEAD = 1_000
#: A team can't start if this number of its matches failed before the first step and none began.
_FAILED_STARTS = 2
#: The beginning of the note of a duel with void matches without a visible culprit.
_UNDECIDED = "Nobody can see who is to blame:"


class AskedDuel(NamedTuple):
    """A duel that waits for the records of its matches."""

    duel: PlannedDuel
    tasks: tuple[Task, ...]
    #: The records that came so far, in the order of the tasks.
    records: list[Record]


class LeaguePlan:
    """The plan of a league. ``results`` are those of the duels so far by their numbers, ``notes`` says why duels were not played to the end.

    ``forfeits`` are the teams that can't start, with the reason; ``unplayed`` are the reasons, by key, of the matches that were void because
    the machine failed, and have no result. ``sentences`` are remarks for people, which the reader takes.
    """

    def __init__(self, schedule: Schedule) -> None:
        self._schedule = schedule
        self._is_round_by_round = schedule.plan.format in ROUND_BY_ROUND
        self._source = self._duels()
        #: The keys of the matches that nobody wanted when their turn came, and the matches of duels that were asked for again.
        self.left_out: set[str] = set()
        self.again: dict[int, tuple[Task, ...]] = {}
        self._again: deque[PlannedDuel] = deque()
        self._open: deque[AskedDuel] = deque()
        #: The keys of the matches of open duels.
        self.open_keys: set[str] = set()
        #: All duels that are known.
        self._known: list[PlannedDuel] = []
        self.results: dict[int, DuelResult] = {}
        self.notes: dict[int, str] = {}
        self.forfeits: dict[str, str] = {}
        self.unplayed: dict[str, str] = {}
        self.sentences: deque[str] = deque()
        #: How many matches have a result that was delivered, and how many will have none.
        self.done = self.skipped = 0
        #: How many matches will have none once their turn comes, because a team of theirs forfeits.
        self.forfeited = 0
        #: The pairs whose later duels aren't played, with the reason.
        self._stopped: dict[frozenset[str], str] = {}
        self._disputes: list[Dispute] = []
        self._blamed: set[str] = set()
        #: The numbers of the open duels that are asked for again, since it is known who is to blame.
        self._unblamed: set[int] = set()
        #: How many matches were played of the duels that have a note, by their numbers.
        self._played: dict[int, int] = {}
        self._began: set[str] = set()
        self._failed: Counter[str] = Counter()
        #: The games of the duels that decide whether the teams of a fixture are deterministic, by fixture and repetition.
        self._games: dict[tuple[int, frozenset[str], int], list[tuple[str, int, str]]] = {}
        #: Whether the teams of a fixture are deterministic, and the numbers of the duels that count nothing therefore.
        self._is_deterministic: dict[tuple[int, frozenset[str]], bool] = {}
        self._repeated: set[int] = set()
        #: The match of each table, which a later forfeit scores anew.
        self._tables: dict[int, tuple[Task, Record]] = {}

    def next(self, records: Sequence[Record]) -> list[list[Task]]:
        """Take the record of the next match of the first open duel; return the matches that follow, each for itself.

        So no further match of a pair is begun that the first one has stopped.
        """
        for record in records:
            self._take(self._open[0], record)
        groups: list[list[Task]] = []
        while len(self._open) < _AHEAD and (duel := self._again.popleft() if self._again else next(self._source, None)) is not None:
            tasks = self._asked(duel)
            if any(task.blamed for task in tasks):
                self.again[duel.number] = tasks
            self._open.append(AskedDuel(duel, tasks, []))
            self.open_keys.update(task.key for task in tasks)
            groups += [[task] for task in tasks]
        return groups

    def wants(self, task: Task) -> bool:
        """False for the matches of a team that forfeits, and for those of teams whose duels are stopped or will be asked for with blame."""
        names = frozenset(task.names.values())
        if not names.isdisjoint(self.forfeits):
            return False
        return bool(task.blamed) or not (names in self._stopped or self._culprits(names))

    def _forfeits(self, duel: PlannedDuel) -> bool:
        """Whether a team of a duel forfeits."""
        return not self.forfeits.keys().isdisjoint(duel.teams)

    def _culprits(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return those of some teams that are to blame for void matches."""
        return tuple(name for name in names if self._schedule.owner(name) in self._blamed) if self._blamed else ()

    @property
    def total(self) -> int:
        """The number of matches of all duels, those of rounds to come included."""
        plan = self._schedule.plan
        later = later_fixtures(plan, self._known[-1].round + 1 if self._known else 0, len(self.forfeits))
        return (len(self._known) + later * plan.duels_each) * self._schedule.matches_each

    @property
    def sorted_results(self) -> list[DuelResult]:
        """The results in the order of the schedule."""
        return [self.results[number] for number in sorted(self.results)]

    def _duels(self) -> Iterator[PlannedDuel | None]:
        """Yield the duels in the order in which they are played; None while those that follow depend on open ones."""
        while True:
            new = self._schedule.duels(self.sorted_results)[len(self._known) :]
            self._known += new
            self.forfeited += self._schedule.matches_each * sum(map(self._forfeits, new))
            held = []
            for duel in sorted(new, key=self._schedule.order):
                if duel.repeat and not _decides(duel):
                    held.append(duel)
                else:
                    yield duel
            for duel in held:
                while _fixture(duel) not in self._is_deterministic and self._open:
                    yield None
                if self._is_deterministic.get(_fixture(duel)):
                    self._repeat(duel)
                    self.skipped += self._schedule.matches_each
                    self.forfeited -= self._schedule.matches_each * self._forfeits(duel)
                else:
                    yield duel
            is_over = not (new or self._open or self._again)
            while self._open or self._again:
                yield None
            if is_over:
                return

    def tasks(self, duel: PlannedDuel) -> tuple[Task, ...]:
        """Return the matches of a duel, as they were asked for at last."""
        return self.again.get(duel.number) or self._asked(duel)

    def _asked(self, duel: PlannedDuel) -> tuple[Task, ...]:
        return self._schedule.tasks(duel, self._culprits(duel.teams))

    def _take(self, open_duel: AskedDuel, record: Record) -> None:
        """Take the record of the next match of a duel, and score the duel after its last one."""
        duel, tasks, records = open_duel
        task = tasks[len(records)]
        self.forfeited -= self._forfeits(duel)
        records.append(record)
        self.open_keys.discard(task.key)
        if record.void:
            self._take_void(duel, task, record)
        else:
            self._note_start(task, record)
        self.done += record.has_result
        self.skipped += not record.has_result and task.key not in self.unplayed
        if len(records) < len(tasks):
            return
        self._open.popleft()
        played = sum(record.has_result for record in records)
        if duel.number in self._unblamed:
            self._unblamed.remove(duel.number)
            self._ask_again(duel, played)
        self._score(duel, [(task, None if record.void else record) for task, record in zip(tasks, records, strict=True)])
        if duel.number in self.notes:
            self._played[duel.number] = played
        if _decides(duel):
            self._compare(duel, records)

    def _score(self, duel: PlannedDuel, matches: Sequence[tuple[Task, Record | None]]) -> None:
        """Note the result of a duel, unless it is played again or its matches have no result because the machine failed."""
        if duel in self._again or any(task.key in self.unplayed for task, _ in matches):
            return
        is_whole = all(record is not None for _, record in matches)
        # The pairs of later rounds depend on a duel that was played to its end.
        forfeits = {} if is_whole and self._is_round_by_round else self.forfeits
        result = duel_result(self._schedule.game, self._schedule.settings(duel), duel, matches, forfeits, is_stopped=True)
        assert result is not None
        self.results[duel.number] = result
        if not is_whole and duel.number not in self.notes:
            reasons = [self.forfeits[team] for team in duel.teams if team in self.forfeits]
            self.notes[duel.number] = reasons[0] if reasons else self._stopped.get(frozenset(duel.teams), "")
        if is_whole and self._schedule.game.pairing is None:
            [(task, record)] = matches
            assert record is not None
            self._tables[duel.number] = task, record

    def _note_start(self, task: Task, record: Record) -> None:
        """Note whether the teams of a match can start."""
        for seat, team in task.names.items():
            if record.started or seat not in record.faults:
                if record.started or record.is_startable:
                    self._began.add(team)
                continue
            self._failed[team] += 1
            if team in self.forfeits:
                continue
            if not record.is_startable:
                self._forfeit(team, record.faults[seat])
                continue
            if team in self._began:
                continue
            if self._failed[team] == 1:
                self.sentences.append(f"{team} did not start: {record.faults[seat]}")
            if self._failed[team] >= _FAILED_STARTS:
                self._forfeit(team, record.faults[seat])

    def _forfeit(self, team: str, reason: str) -> None:
        """Note that a team can't start: its other matches aren't played, and it loses all its duels."""
        if team in self.forfeits:
            return
        # Reports have one line for it, and a compiler's messages have several.
        reason = " / ".join(line.strip() for line in reason.splitlines())
        taken = {each.duel.number: len(each.records) for each in self._open}
        for duel in self._known:
            if team in duel.teams and duel.number not in self.results and not self._forfeits(duel):
                self.forfeited += self._schedule.matches_each - taken.get(duel.number, 0)
        self.forfeits[team] = reason
        self.sentences.append(f"{team} can't start and forfeits its other matches: {reason}")
        if self._is_round_by_round:
            return
        game = self._schedule.game
        for number, result in self.results.items():
            if team in result.duel.teams and number not in self._repeated:
                out = {*self.forfeits, *result.forfeits}
                table = [self._tables[number]] if number in self._tables else []
                again = duel_result(game, self._schedule.settings(result.duel), result.duel, table, out)
                assert again is not None
                self.results[number] = again

    def _take_void(self, duel: PlannedDuel, task: Task, record: Record) -> None:
        """Take a match without a result. An abandoned one stops the later duels of its teams, until somebody is to blame."""
        culprits = self._culprits(duel.teams)
        if record.void == NOT_WANTED:
            self.left_out.add(task.key)
            if culprits and not task.blamed and self.forfeits.keys().isdisjoint(duel.teams):
                self._unblamed.add(duel.number)
            return
        names = " and ".join(duel.teams)
        if record.cause in SHORTAGES:
            self.unplayed[task.key] = record.void
            self.sentences.append(f"{names}: {record.void}")
            return
        if record.cause in DISPUTED:
            self._dispute(duel, task, record)
        culprits = self._culprits(duel.teams)
        if culprits and not task.blamed:
            # The culprit is known now.
            self._unblamed.add(duel.number)
            return
        if record.cause == SUPERVISOR:
            for team in culprits:
                # There is no evidence to judge, for example because the bot also ended the worker.
                self._forfeit(team, record.void)
        note = f"{MOST_VOIDS} matches of {names} were void, so no more of them are played: {record.void}"
        if record.cause in DISPUTED:
            note = f"{_UNDECIDED} {note}"
        if frozenset(duel.teams) not in self._stopped:
            self._stopped[frozenset(duel.teams)] = note
            self.sentences.append(note)
        self.notes[duel.number] = note

    def _dispute(self, duel: PlannedDuel, task: Task, record: Record) -> None:
        """Note a match without a visible culprit. If it reveals the culprit, such matches of that team are played again.

        Those of an earlier round stay as they are if the pairs of this one follow from it.
        """
        first_round = duel.round if self._is_round_by_round else 0
        # The attempts before were the same.
        names = tuple(task.names.values())
        self._disputes += [dispute_of(names, record.hit or names, self._schedule.owner)] * 2
        for culprit in sorted(blamed(self._disputes) - self._blamed):
            self._blamed.add(culprit)
            others = sorted({team for dispute in self._disputes if culprit in dispute.teams for team in dispute.teams - {culprit}})
            self.sentences.append(
                f"{culprit} is to blame for void matches with {' and '.join(others)}, and loses if that happens again: {record.void}"
            )
            for number, note in [*self.notes.items()]:
                result = self.results.get(number)
                if result is None or result.duel.round < first_round:
                    continue
                if culprit in result.duel.teams and note.startswith(_UNDECIDED):
                    self._ask_again(result.duel, self._played.pop(number))
                    del self.notes[number], self.results[number]
            self._stopped = {pair: note for pair, note in self._stopped.items() if culprit not in pair or not note.startswith(_UNDECIDED)}

    def _ask_again(self, duel: PlannedDuel, played: int) -> None:
        """Ask for a duel again, and count its matches no more, of which so many were played."""
        self._again.append(duel)
        self.done -= played
        self.skipped -= self._schedule.matches_each - played
        self.forfeited += self._schedule.matches_each * self._forfeits(duel)

    def _compare(self, duel: PlannedDuel, records: Sequence[Record]) -> None:
        """Find out whether the teams of a fixture always play the same games. An incomplete duel shows nothing."""
        if self._schedule.league.repeat < 2:
            return
        if not any(record.void or not record.started for record in records):
            games = [(record.position, record.steps, record.reason) for record in records]
            self._games[(*_fixture(duel), duel.repeat)] = games
        if not duel.repeat or duel in self._again:
            return
        first, second = (self._games.pop((*_fixture(duel), repeat), None) for repeat in (0, 1))
        self._is_deterministic[_fixture(duel)] = first is not None and first == second
        if self._is_deterministic[_fixture(duel)]:
            self._repeat(duel)
            self.sentences.append(self.notes[duel.number])

    def _repeat(self, duel: PlannedDuel) -> None:
        """Note that a repetition counts nothing new."""
        self._repeated.add(duel.number)
        self.results[duel.number] = stopped(duel)
        self.notes[duel.number] = (
            f"{' and '.join(duel.teams)} play the same game again on the same start, so a repetition would count nothing new: "
            "each of their duels counts once."
        )


def patience(schedule: Schedule) -> GivesUp:
    """Return what decides when a match is given up. If the machine lacks something, the match is left to another run at once."""
    gives_up = disputes.patience(schedule.owner)
    return lambda task, record: record.cause in SHORTAGES or gives_up(task, record)


def _decides(duel: PlannedDuel) -> bool:
    """True for the duels that show whether the teams of a fixture always play the same game."""
    return duel.repeat < 2 and duel.start == 0 and duel.variant == 0


def _fixture(duel: PlannedDuel) -> tuple[int, frozenset[str]]:
    return duel.round, frozenset(duel.teams)
