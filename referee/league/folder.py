"""The store of a league: its row and its teams beside the tasks and records of the core, and what follows from them.

The store has nothing that follows from records. The results here are those of the league's plan after it got all existing records.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel

from referee.league.plan import LeaguePlan
from referee.tournament.export import DONE, PLANNED, STOPPED
from referee.tournament.plan import settle
from referee.tournament.progress import MatchCounts
from referee.tournament.store import Store, file_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from referee.league.league_schedule import Schedule
    from referee.tournament.duels import DuelResult, PlannedDuel
    from referee.tournament.plan import Turns
    from referee.tournament.rows import ModelTable
    from referee.tournament.values import Record, Task

#: The kind of a store of leagues, and its file.
KIND = "league"
FILE = file_name(KIND)
#: The number of duels that are read at once.
_AT_ONCE = 250


class LeagueRow(BaseModel, frozen=True):
    """The league as its file was read, with its secret, its teams and their files; its id; and the path of the file, "" without one."""

    number: int = 0
    id: str
    league: dict[str, Any]
    file: str = ""


class LeagueMatch(NamedTuple):
    """A match of a duel, with its ``number`` from 0; ``record`` is None until it is done."""

    duel: PlannedDuel
    number: int
    task: Task
    status: str
    record: Record | None


class LeagueState(NamedTuple):
    """The state of a league by its records so far: the results of duels in schedule order, and the number of matches by status.

    ``forfeits`` are the teams that can't start, ``notes`` the duels that aren't played to the end by their numbers, each with the reason.
    """

    results: Sequence[DuelResult]
    forfeits: Mapping[str, str]
    notes: Mapping[int, str]
    counts: MatchCounts

    @property
    def is_live(self) -> bool:
        """True while matches are missing."""
        return self.counts.planned > 0


def state_of(plan: LeaguePlan, early: int, voids: int) -> LeagueState:
    """Return the state of a plan after its records. ``early`` is the number of results before their turn, ``voids`` that of void attempts."""
    done, out = plan.done + early, plan.skipped + plan.forfeited
    counts = MatchCounts(max(0, plan.total - done - out), done, out, voids)
    return LeagueState(plan.sorted_results, plan.forfeits, plan.notes, counts)


def open_store(folder: Path, url: str | None = None, *, create: bool = False) -> Store:
    """Open the store of a league's folder, or the PostgreSQL database of a URL. UsageError as ``Store.open``."""
    return Store.open(KIND, folder, url, create=create)


def league_rows(store: Store) -> ModelTable[LeagueRow]:
    """Return the table of a league: it has one row, or none if the league was never begun."""
    return store.table(LeagueRow, "league")


class LeagueView:
    """A view of a league: the plan of its schedule after all existing records. It is cached until there are new records."""

    def __init__(self, store: Store, schedule: Schedule) -> None:
        self._store = store
        self._schedule = schedule
        self._settled: tuple[object, LeaguePlan, Turns] | None = None

    def _read(self) -> tuple[LeaguePlan, Turns]:
        counts = self._store.counts()
        if self._settled is None or self._settled[0] != counts:
            plan = LeaguePlan(self._schedule)
            self._settled = counts, plan, settle(plan, self._store)
        return self._settled[1:]

    def state(self) -> LeagueState:
        """The state of the league."""
        plan, turns = self._read()
        return state_of(plan, sum(record.has_result for record in turns.records.values()), self._store.counts().voids)

    def unplayed(self) -> dict[str, str]:
        """The reasons, by key, of the matches that were void because the machine failed."""
        return self._read()[0].unplayed

    def duels(self) -> list[PlannedDuel]:
        """All duels that are known so far, in schedule order."""
        return self._schedule.duels(self._read()[0].sorted_results)

    def matches(self, *, done: bool = False) -> Iterator[LeagueMatch]:
        """All matches in schedule order, or those that are done."""
        duels = iter(self.duels())
        while some := [*islice(duels, _AT_ONCE)]:
            for match in self._matches(some):
                if match.status == DONE or not done:
                    yield match

    def _matches(self, duels: Sequence[PlannedDuel]) -> Iterator[LeagueMatch]:
        plan, _ = self._read()
        tasks = {duel.number: plan.tasks(duel) for duel in duels}
        records = self._store.lookup([task for each in tasks.values() for task in each])
        for duel in duels:
            for number, task in enumerate(tasks[duel.number]):
                record = records.get(task.key)
                is_done = record is not None and record.has_result and task.key not in plan.left_out
                is_over = duel.number in plan.results and not is_done
                status = DONE if is_done else STOPPED if is_over else PLANNED
                yield LeagueMatch(duel, number, task, status, record if is_done else None)
