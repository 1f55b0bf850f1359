"""Checks matches of the engine's store against their replays."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import TYPE_CHECKING, Protocol

from referee.errors import ReplayError
from referee.league.database import PLANNED, STOPPED
from referee.league.engine import StateReader
from referee.league.standings import table
from referee.support.words import counted
from referee.tournament.replays import COMPARED, Check, record_of
from referee.tournament.values import Task
from referee.tournament.worker import replay_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from referee.league.config import League
    from referee.league.league_schedule import Schedule
    from referee.league.standings import StandingsRow
    from referee.league.store import Store, StoredMatch
    from referee.tournament.replays import Progress
    from referee.tournament.values import DuelResult, MatchTask, Record


class CheckedMatches(Protocol):
    """Matches that can be checked: those of a league, or others of its kind."""

    @property
    def folder(self) -> Path:
        """The folder in which the paths of replays begin."""

    @property
    def replays(self) -> Path:
        """The folder of the replays."""

    @property
    def store(self) -> Store:
        """The store."""

    @property
    def schedule(self) -> Schedule:
        """What is played."""

    @property
    def league(self) -> League:
        """How it is played."""

    @property
    def disqualified(self) -> Sequence[str]:
        """The teams that don't play because the staff says so."""

    @property
    def contradicted(self) -> Callable[[Sequence[DuelResult]], list[str]]:
        """Returns a sentence for everything else in the folder that results from the replays alone don't give."""


def verify_league(opened: CheckedMatches, progress: Progress | None = None) -> Check:
    """Simulate every replay again and compare it with the store; compute the standings from the replays alone and compare them.

    The league may be running: matches that end meanwhile are not checked.
    """
    return _LeagueCheck(opened, progress).run()


class _LeagueCheck:
    """One check. Both standings are computed from one reading of the matches: one from the store's results, one from the replays."""

    def __init__(self, opened: CheckedMatches, progress: Progress | None) -> None:
        store = opened.store
        self._opened = opened
        self._plan = opened.schedule
        self._progress = progress
        self._total = store.counts().done
        self._count = 0
        self._problems: list[str] = []
        self._forfeits = store.forfeits()
        self._stopped = store.duel_notes()
        self._statuses: Counter[str] = Counter()
        #: How many replays show that a team started, and that it did not.
        self._started: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()

    def run(self) -> Check:
        """Check everything."""
        self._opened.store.check_teams(self._plan.teams)
        store, plan = self._opened.store, self._plan
        tasks, numbers = _lost_matches(self._opened)
        if tasks or numbers:
            return self._check_rest(tasks, numbers)
        theirs = StateReader(plan, duels := store.duels(), self._stopped, self._forfeits)
        ours = StateReader(plan, duels, self._stopped, self._forfeits)
        duels_by_number = {duel.number: duel for duel in duels}
        for number, group in itertools.groupby(store.matches(), key=lambda stored: stored.task.duel):
            if number not in duels_by_number:
                # Its round was planned after the duels were read.
                continue
            expected = {task.key: task for task in plan.tasks(duels_by_number[number])}
            matches = list(group)
            theirs.put(number, [(stored.task, stored.record) for stored in matches])
            ours.put(number, [(stored.task, self._checked(stored, expected.get(stored.task.key))) for stored in matches])
        state = ours.state()
        left, count = _unplanned(self._opened, theirs.state().results)
        self._problems += self._lost(left)
        if self._table(state.results) != self._table(theirs.state().results) and not self._problems:
            self._problems.append("The standings from the replays alone differ from those of the store.")
        if not self._problems:
            self._problems += self._opened.contradicted(state.results)
        return Check(
            self._count,
            self._problems,
            [*self._check_forfeits(), *self._left(0 if self._plan.is_endless else count)],
        )

    def _check_rest(self, tasks: Sequence[MatchTask], numbers: Sequence[int]) -> Check:
        """Name what the store has lost, and check the replays of all other matches. There are no standings without the lost ones."""
        plan, duels = self._plan, {duel.number: duel for duel in self._opened.store.duels()}
        self._problems += self._lost(tasks)
        for number, group in itertools.groupby(self._opened.store.matches(), key=lambda stored: stored.task.duel):
            expected = {task.key: task for task in plan.tasks(duels[number])} if number in duels else None
            for stored in group:
                self._checked(stored, stored.task if expected is None else expected.get(stored.task.key))
        self._problems += [f"The duel {number + 1}: the store has lost it." for number in numbers]
        return Check(self._count, self._problems, self._left(0))

    def _lost(self, tasks: Sequence[MatchTask]) -> list[str]:
        problems = []
        for task in tasks:
            path = replay_path(self._opened.replays, task.key)
            its = "its replay is there" if path.exists() else "its replay is missing, too"
            problems.append(f"The match {_named(task)}, replay {path}: the store has lost it; {its}.")
        return problems

    def _table(self, results: Sequence[DuelResult]) -> Sequence[StandingsRow]:
        return table(results, self._plan.plan.teams, more_is_better=self._plan.game.pairing is None)

    def _checked(self, stored: StoredMatch, expected: MatchTask | None) -> Record | None:
        """The record of a match by its replay alone; None without one."""
        self._statuses[stored.status] += 1
        if stored.record is None:
            return None
        record = self._record(stored.task, stored.record, expected)
        self._count += 1
        if self._progress is not None:
            self._progress(self._count, self._total)
        if record is not None:
            for seat, team in stored.task.seats.items():
                is_failed = not record.started and seat in record.faults
                (self._failed if is_failed else self._started)[team] += 1
        return record

    def _record(self, task: MatchTask, stored: Record, expected: MatchTask | None) -> Record | None:
        """The record of a match's replay; what is wrong is added to the problems."""
        opened, problems = self._opened, self._problems
        path = opened.folder / stored.replay
        where = f"The match {_named(task)}, replay {path}"
        if task != expected:
            problems.append(f"{where}: the league's schedule has no such match.")
        if not path.exists():
            problems.append(f"{where}: the file is missing.")
            return None
        try:
            its = Task(task.key, {seat: opened.schedule.teams[team] for seat, team in task.seats.items()}, task.settings, task.seed)
            record = record_of(path, opened.folder, its, opened.schedule.game)
        except (ReplayError, OSError) as error:
            problems.append(f"{where}: {str(error).rstrip('.')}.")
            return None
        if record.replay_hash != stored.replay_hash:
            problems.append(f"{where}: the file has changed since the match.")
        differing = [name.replace("_", " ") for name in COMPARED if getattr(record, name) != getattr(stored, name)]
        problems += [f"{where}: its {name} differs from the store's." for name in differing]
        return record

    def _check_forfeits(self) -> list[str]:
        """Notes about forfeits that no replay shows. A forfeit of a team that has started is a problem."""
        notes = []
        for team, why in self._forfeits.items():
            if self._failed[team] or team in self._opened.disqualified:
                continue
            statement = f"The store says that {team} can't start ({why.rstrip('.')})"
            if self._started[team]:
                replays = counted(self._started[team], "replay")
                self._problems.append(
                    f"{statement}, so it loses all its duels, but {replays} of it {'show' if self._started[team] > 1 else 'shows'} that it started."
                )
            else:
                notes.append(f"{statement}; there is no replay of it, so nothing but the store shows that.")
        return notes

    def _left(self, unplanned: int) -> list[str]:
        """Notes about matches that have no replay, and about duels that the store doesn't have yet."""
        total = sum(self._statuses.values())
        planned, stopped = self._statuses[PLANNED], self._statuses[STOPPED]
        notes = [f"{counted(unplanned, 'duel')} of the schedule {'is' if unplanned == 1 else 'are'} not planned yet."] if unplanned else []
        if planned:
            notes.append(f"{planned:,} of {counted(total, 'match')} {'is' if planned == 1 else 'are'} not played yet.")
        if stopped:
            notes.append(
                f"{stopped:,} of {counted(total, 'match')} {'is' if stopped == 1 else 'are'} not to be played; only the store says why."
            )
        return notes


def _lost_matches(opened: CheckedMatches) -> tuple[list[MatchTask], list[int]]:
    """Return the matches that the store has lost, and the numbers of the duels that it has lost. No duel after the last known one counts."""
    store, plan = opened.store, opened.schedule
    numbers = store.lost(plan.matches_each)
    if not numbers:
        return [], []
    duels = {duel.number: duel for duel in store.duels()}
    keys = store.keys()
    tasks = [task for number in numbers if number in duels for task in plan.tasks(duels[number]) if task.key not in keys]
    return tasks, [number for number in numbers if number not in duels]


def _unplanned(opened: CheckedMatches, results: Sequence[DuelResult]) -> tuple[list[MatchTask], int]:
    """Return the matches of duels after the last known one that have a replay, and the number of all these duels.

    ``results`` are those of a store that has lost nothing before the last known duel.
    """
    numbers = {duel.number for duel in opened.store.duels()}
    new = [duel for duel in opened.schedule.duels(results) if duel.number not in numbers]
    tasks = [task for duel in new for task in opened.schedule.tasks(duel)]
    return [task for task in tasks if replay_path(opened.replays, task.key).exists()], len(new)


def _named(task: MatchTask) -> str:
    return f"{task.key} ({' - '.join(task.seats.values())})"
