"""What an arena plays, as a plan of ``tournament.plan``: a batch of duels follows when all earlier ones are over.

The plan remembers nothing but its table of duels. A batch is stored in the transaction that stores its matches, and a score in the one that
delivers its records, so a plan that begins after a kill asks for the open duels again and gets the records that there are. Which duels a
batch has is decided by ``Chooser``, which knows the results of all earlier duels, and nothing else.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, NamedTuple, Protocol

from pydantic import BaseModel, ConfigDict

from referee.arena.ratings import DuelOutcome
from referee.tournament.keys import new_task, terms_hash
from referee.tournament.results import comparisons, duel_result
from referee.tournament.starts import match_seed
from referee.tournament.values import MatchTask, PlannedDuel

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.arena.config import ArenaConfig
    from referee.arena.schedule import ArenaSchedule
    from referee.games.game import Json, Settings
    from referee.handins.values import Entry
    from referee.tournament.store import Store
    from referee.tournament.values import MatchStart, Record, Task

#: A version can't start if it could not start in this number of duels and played none.
_FAILED_STARTS = 2
#: Who of a duel could not start: 1 for ``a``, 2 for ``b``.
_A, _B = 1, 2


class ArenaDuel(BaseModel):
    """A duel of two versions on a start, in a variant, by their names. ``keys`` are those of its matches.

    ``points`` are twice those of ``a``; -1 if the duel counts for nobody, None while it is open. ``absent`` says which of them could not
    start: 1 for ``a``, 2 for ``b``, 3 for both.
    """

    model_config = ConfigDict(frozen=True)

    number: int
    a: str
    b: str
    start: int
    variant: int
    keys: list[str]
    points: int | None = None
    absent: int = 0

    @property
    def planned(self) -> PlannedDuel:
        """The duel without its result."""
        return PlannedDuel(self.number, 0, (self.a, self.b), self.start, self.variant)


class Chooser(Protocol):
    """Chooses the duels of an arena by the results of all earlier ones."""

    def batch(self, first: int) -> Sequence[PlannedDuel]:
        """Return the next duels, whose numbers begin with ``first``; none if play ends."""

    def take(self, duel: ArenaDuel) -> None:
        """Take the result of a duel. They come in the order of their numbers."""


class ScheduleChooser:
    """The duels that matchmaking chooses. Implements ``Chooser``."""

    def __init__(self, schedule: ArenaSchedule) -> None:
        self._schedule = schedule

    def batch(self, first: int) -> Sequence[PlannedDuel]:
        """Return the next duels."""
        return self._schedule.chosen()

    def take(self, duel: ArenaDuel) -> None:
        """Take the result of a duel."""
        assert duel.points is not None
        a, b = (self._schedule.state.positions[name] for name in (duel.a, duel.b))
        self._schedule.take(DuelOutcome(duel.number, a, b, duel.start, duel.variant, duel.points, duel.absent))


class ArenaMatches:
    """Makes tasks of duels. ``entries`` are the programs of all accepted versions and references by their names."""

    def __init__(self, config: ArenaConfig, entries: Mapping[str, Entry]) -> None:
        league = config.league
        self.game = config.game
        self._config = config
        self._league = league
        self._entries = {**entries, **{entry.name: entry for entry in config.against}}
        self._terms = terms_hash(self.game, league.rules, league.options)
        self._starts = tuple(league.starts_of(variant) for variant in range(len(league.variants)))
        self._settings: dict[tuple[int, int], _StartSettings] = {}

    def settings(self, duel: PlannedDuel) -> Settings:
        """Return the checked settings of a duel."""
        return self._of(duel).checked

    def _of(self, duel: PlannedDuel) -> _StartSettings:
        place = (duel.variant, duel.start)
        if place not in self._settings:
            start = self._starts[duel.variant][duel.start]
            plain = self._league.match_settings(duel.variant, start)
            self._settings[place] = _StartSettings(plain, self.game.codec.settings(self._league.rules, plain), start)
        return self._settings[place]

    def tasks(self, duel: PlannedDuel) -> list[Task]:
        """Return the matches of a duel: both roles, or the same role against one reference."""
        here = self._of(duel)
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
            new_task(self._terms, {place: self._entries[name] for place, name in lineup.items()}, here.plain, seed) for lineup in lineups
        ]


class _StartSettings(NamedTuple):
    """The settings of the matches on a start, as JSON and checked."""

    plain: Mapping[str, Json]
    checked: Settings
    start: MatchStart


class ArenaPlan:
    """Batches of duels. Implements ``tournament.plan.Plan``. Results of duels that were played count, whatever comes later."""

    def __init__(self, matches: ArenaMatches, store: Store, chooser: Chooser) -> None:
        self._matches = matches
        self._duels = store.table(ArenaDuel, "arena_duels", [["points"]])
        self._chooser = chooser
        self._open: deque[tuple[ArenaDuel, Sequence[Task]]] = deque()
        self._count = 0
        #: In how many duels each version could not start; the versions that have played one.
        self._failed: dict[str, int] = {}
        self._began: set[str] = set()

    @property
    def forfeits(self) -> set[str]:
        """The versions that can't start."""
        return {name for name, count in self._failed.items() if count >= _FAILED_STARTS and name not in self._began}

    def next(self, records: Sequence[Record]) -> list[Sequence[Task]]:
        """Take the records of the first open duel; return the matches of the next batch once none is open."""
        if records:
            duel, tasks = self._open.popleft()
            self._take(duel, list(zip(tasks, records, strict=True)))
        else:
            self._recall()
        if self._open:
            return []
        rows = self._duels.all(points=None) or self._batch()
        self._open.extend((row, self._matches.tasks(row.planned)) for row in rows)
        self._count += len(rows)
        return [tasks for _, tasks in self._open]

    def wants(self, task: Task) -> bool:
        """False for a match of a version that can't start."""
        return self.forfeits.isdisjoint(task.names.values())

    def _recall(self) -> None:
        """Take the results of earlier runs."""
        for duel in self._duels.after(-1):
            if duel.points is None:
                return
            self._count += 1
            self._learn(duel)

    def _batch(self) -> list[ArenaDuel]:
        """Choose and store the next duels."""
        new = self._chooser.batch(self._count)
        rows = []
        for duel in new:
            a, b = duel.teams
            keys = [task.key for task in self._matches.tasks(duel)]
            rows.append(ArenaDuel(number=duel.number, a=a, b=b, start=duel.start, variant=duel.variant, keys=keys))
        self._duels.put(*rows)
        return rows

    def _take(self, duel: ArenaDuel, played: Sequence[tuple[Task, Record]]) -> None:
        """Store the result of a duel. One with a match that was given up counts for nobody, unless one of the two can't start."""
        matches = [
            (MatchTask(task.key, duel.number, number, task.names, task.settings, task.seed), None if record.void else record)
            for number, (task, record) in enumerate(played)
        ]
        forfeits = self.forfeits if any(record is None for _, record in matches) else set()
        planned = duel.planned
        result = duel_result(self._matches.game, self._matches.settings(planned), planned, matches, forfeits, is_stopped=True)
        assert result is not None, "a duel that is stopped has a result"
        points = [round(2 * comparison.score) for comparison in comparisons(result)] or [-1]
        absent = (duel.a in result.forfeits) * _A + (duel.b in result.forfeits) * _B
        scored = duel.model_copy(update={"points": points[0], "absent": absent})
        self._duels.put(scored)
        self._learn(scored)

    def _learn(self, duel: ArenaDuel) -> None:
        for name, bit in ((duel.a, _A), (duel.b, _B)):
            if duel.absent & bit:
                self._failed[name] = self._failed.get(name, 0) + 1
            else:
                self._began.add(name)
        self._chooser.take(duel)
