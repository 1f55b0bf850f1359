"""A batch of an arena's duels, as a plan of ``tournament.plan``.

A batch is chosen when all earlier duels have results. It is stored in the transaction that stores its matches, and a score in the one that
delivers its records. So a process that was killed is followed by one that asks for the open duels again, and gets the records that there are.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import TYPE_CHECKING, NamedTuple

from referee.arena.duels import ArenaDuel
from referee.errors import DISPUTED, SUPERVISOR
from referee.tournament.duels import comparisons, duel_result
from referee.tournament.export import DONE, PLANNED, STOPPED, match_row
from referee.tournament.keys import new_task, terms_hash
from referee.tournament.starts import match_seed

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from referee.arena.arena import OpenArena
    from referee.arena.blame import Blame
    from referee.arena.config import ArenaConfig
    from referee.arena.state import ArenaState
    from referee.arena.store import ArenaStore
    from referee.games.game import Json, Settings
    from referee.handins.values import Entry
    from referee.tournament.duels import PlannedDuel
    from referee.tournament.values import MatchStart, Record, Task

#: A version can't start if this number of its matches failed before the first step and none began.
_FAILED_STARTS = 2
#: The bits for the versions of a duel that could not start: 1 for ``a``, 2 for ``b``.
_A, _B = 1, 2


class ArenaMatches:
    """Makes tasks of duels, and results of records. ``entries`` are the programs of all accepted versions and references by their names."""

    def __init__(self, config: ArenaConfig, entries: Mapping[str, Entry]) -> None:
        self.game = config.game
        self._config = config
        self._entries = entries
        self._terms = terms_hash(self.game, config.rules, config.options)
        self._settings: dict[int, _StartSettings] = {}

    def _of(self, start: int) -> _StartSettings:
        if start not in self._settings:
            plain = self._config.match_settings(self._config.starts[start])
            checked = self.game.codec.settings(self._config.rules, plain)
            self._settings[start] = _StartSettings(plain, checked, self._config.starts[start])
        return self._settings[start]

    def tasks(self, duel: PlannedDuel, blamed: Sequence[str] = ()) -> list[Task]:
        """Return the matches of a duel: both roles, or the same role against one reference."""
        here = self._of(duel.start)
        seats, seat = self.game.seats(here.checked), self._config.seat
        if seat is None:
            orders = [duel.teams] if self.game.pairing is None else [duel.teams, duel.teams[::-1]]
            lineups = [dict(zip(seats, order, strict=True)) for order in orders]
        else:
            other = self._config.against[duel.variant].name
            # The first match is the one in which the first version's side of the duel has the first seat.
            order = duel.teams if seat == seats[0] else duel.teams[::-1]
            lineups = [{each_seat: name if each_seat == seat else other for each_seat in seats} for name in order]
        seed = match_seed(here.start, duel.repeat)
        # Two versions meet once on each start and variant, so no key comes twice.
        return [
            new_task(self._terms, {place: self._entries[name] for place, name in lineup.items()}, here.plain, seed, blamed=tuple(blamed))
            for lineup in lineups
        ]

    def row(self, duel: PlannedDuel, blamed: Sequence[str] = ()) -> ArenaDuel:
        """Return a duel as it is stored while it is open."""
        keys = [task.key for task in self.tasks(duel, blamed)]
        a, b = duel.teams
        second = keys[1] if len(keys) > 1 else ""
        return ArenaDuel(
            number=duel.number, a=a, b=b, start=duel.start, variant=duel.variant, first=keys[0], second=second, blamed=list(blamed)
        )

    def scored(self, duel: ArenaDuel, matches: Sequence[tuple[Task, Record | None]], out: Collection[str] = ()) -> ArenaDuel:
        """Return a duel with its result. One whose matches were not all played counts for nobody, unless one of the two is ``out``.

        A duel that was played counts, whatever came later.
        """
        out = out if any(record is None for _, record in matches) else ()
        planned = duel.planned
        result = duel_result(self.game, self._of(duel.start).checked, planned, matches, out, is_stopped=True)
        assert result is not None, "a duel that is stopped has a result"
        points = [round(2 * comparison.score) for comparison in comparisons(result)] or [-1]
        absent = (duel.a in result.forfeits) * _A + (duel.b in result.forfeits) * _B
        return duel.model_copy(update={"points": points[0], "absent": absent})


class _StartSettings(NamedTuple):
    """The settings of the matches on a start, as JSON and checked."""

    plain: Mapping[str, Json]
    checked: Settings
    start: MatchStart


class _Unexplained(NamedTuple):
    """A duel with its matches; those that were void have no record."""

    duel: ArenaDuel
    matches: Sequence[tuple[Task, Record | None]]


class ArenaPlan:
    """The open duels of a store, or if there are none, a ``batch`` of new ones. Implements ``tournament.plan.Plan``.

    A version forfeits its other matches once it can't be started, or once two of its matches failed before the first step and none began.
    If a match ends so that nobody can see who is to blame, and others show who is, its duel is asked for again, as one in which that version
    is blamed. The reader takes ``sentences``, which are remarks for people, and ``results``, which have no gap, once both are stored.
    """

    def __init__(self, matches: ArenaMatches, store: ArenaStore, state: ArenaState, blame: Blame, batch: Sequence[PlannedDuel]) -> None:
        self._matches = matches
        self._store = store
        #: The number of the first duel without a result.
        self._first = len(state)
        self._blame = blame
        self._batch = batch
        self._open: deque[tuple[ArenaDuel, Sequence[Task]]] = deque()
        #: The duels with a result, while an earlier duel has none.
        self._early: dict[int, ArenaDuel] = {}
        #: The duels of which a match was void so that nobody can see who is to blame, while others may show it.
        self._unexplained: list[_Unexplained] = []
        #: The versions that don't play any more: they can't start, or their teams are disqualified.
        self._out = store.versions.forfeits()
        self._failed: Counter[str] = Counter(dict(zip(state.names, state.absent.tolist(), strict=True)))
        self._began = {
            name
            for name, planned, absent in zip(state.names, state.planned.tolist(), state.absent.tolist(), strict=True)
            if planned > absent
        }
        self.sentences: deque[str] = deque()
        self.results: deque[ArenaDuel] = deque()

    def next(self, records: Sequence[Record]) -> list[Sequence[Task]]:
        """Take the records of the first open duel. At the beginning, return the matches of all duels; later, those that are asked for again."""
        if records:
            self._take(*self._open.popleft(), records)
            return self._explained()
        rows = self._store.duels.since(self._first)
        if not rows:
            rows = [self._matches.row(duel, self._blame.culprits(duel.teams)) for duel in self._batch]
            self._store.duels.rows.put(*rows)
        self._early = {row.number: row for row in rows if row.points is not None}
        return [self._asked(row) for row in rows if row.points is None]

    def wants(self, task: Task) -> bool:
        """Return False for a match of a version that doesn't play any more, and for one that is asked for again."""
        names = task.names.values()
        return self._out.keys().isdisjoint(names) and (bool(task.blamed) or not self._blame.culprits(names))

    def _asked(self, row: ArenaDuel) -> Sequence[Task]:
        tasks = self._matches.tasks(row.planned, row.blamed)
        self._open.append((row, tasks))
        return tasks

    def _take(self, duel: ArenaDuel, tasks: Sequence[Task], records: Sequence[Record]) -> None:
        """Learn from the records of a duel, and store its result, unless it may be asked for again."""
        for task, record in zip(tasks, records, strict=True):
            self._learn(task, record)
        matches = [(task, None if record.void else record) for task, record in zip(tasks, records, strict=True)]
        causes = {record.cause for record in records if record.void}
        teams = duel.planned.teams
        if (
            causes
            and not duel.blamed
            and self._out.keys().isdisjoint(teams)
            and (self._blame.culprits(teams) or not causes.isdisjoint(DISPUTED))
        ):
            self._unexplained.append(_Unexplained(duel, matches))
        else:
            self._score(duel, matches)

    def _explained(self) -> list[Sequence[Task]]:
        """Ask again for the duels of which it is known now who is to blame. At the end of the batch the others count for nobody."""
        left, groups = [], []
        for each in self._unexplained:
            if culprits := self._blame.culprits(each.duel.planned.teams):
                row = self._matches.row(each.duel.planned, culprits)
                self._store.duels.rows.put(row)
                groups.append(self._asked(row))
            else:
                left.append(each)
        self._unexplained = left
        if not self._open:
            self._unexplained = []
            for each in left:
                self._score(each.duel, each.matches)
        return groups

    def _score(self, duel: ArenaDuel, matches: Sequence[tuple[Task, Record | None]]) -> None:
        scored = self._matches.scored(duel, matches, self._out)
        self._store.duels.rows.put(scored)
        self._early[scored.number] = scored
        while (row := self._early.pop(self._first, None)) is not None:
            self.results.append(row)
            self._first += 1

    def _learn(self, task: Task, record: Record) -> None:
        """Update from a match which versions can start, and which are to blame for void matches."""
        if record.void:
            if record.cause in DISPUTED:
                self.sentences.extend(self._blame.add(task, record))
            if record.cause == SUPERVISOR:
                for name in task.blamed:
                    # The bot leaves nothing that could be judged, for example because it also kills the worker.
                    self._forfeit(name, record.void)
            return
        for seat, name in task.names.items():
            if record.started or seat not in record.faults:
                self._began.add(name)
                continue
            self._failed[name] += 1
            if not record.is_startable or (self._failed[name] >= _FAILED_STARTS and name not in self._began):
                self._forfeit(name, record.faults[seat])

    def _forfeit(self, name: str, reason: str) -> None:
        """Store that a version can't start, so that its other matches aren't played."""
        if name in self._out:
            return
        # A compiler's messages have several lines, but the standings have room for one.
        self._out[name] = " / ".join(line.strip() for line in reason.splitlines())
        self._store.versions.forfeit(name, self._out[name])
        self.sentences.append(f"{name} can't start and forfeits its other matches: {self._out[name]}")


def export_rows(arena: OpenArena) -> Iterator[dict[str, Json]]:
    """Yield every match as a flat JSON object; results are missing where there are none yet."""
    matches = ArenaMatches(arena.config, arena.entries)
    for duel, played in arena.store.duels.all_matches():
        variant, records = arena.config.variants[duel.variant], {match.game_number: match.record for match in played}
        left = PLANNED if duel.points is None else STOPPED
        for number, task in enumerate(matches.tasks(duel.planned, duel.blamed)):
            yield match_row(duel.planned, number, variant, task, DONE if number in records else left, records.get(number))
