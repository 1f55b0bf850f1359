"""What an arena plays: the duels so far, and batches of further ones. Implements ``league.engine.MatchPlan``."""

from __future__ import annotations

import math
import time
from itertools import cycle, islice
from typing import TYPE_CHECKING

from referee.arena.config import ALL
from referee.arena.ratings import DuelOutcome, RatingPoint, Strengths
from referee.arena.versions import ACTIVE, PLACING
from referee.league.league_schedule import Schedule
from referee.support.words import counted
from referee.tournament.values import PlannedDuel

if TYPE_CHECKING:
    from collections.abc import Collection, Container, Sequence

    from referee.arena.config import ArenaConfig
    from referee.arena.state import ArenaState
    from referee.arena.store import ArenaStore
    from referee.arena.versions import Version
    from referee.tournament.ratings import Floats, Rating
    from referee.tournament.values import DuelResult, MatchTask, Record, Team

#: The least and the most duels of a batch. Within a batch no rating changes; its end waits for the last match.
_LEAST, _MOST = 8, 64
#: The resamples for intervals that are recorded over time, and for those that are shown.
_QUICK, RESAMPLES = 200, 1000
#: From so many duels on, 1,000 resamples take many seconds, so that 200 are shown too.
_MANY = 100_000
#: The chance that an arena that plays until the best is certain ends with a wrong best, over all looks together.
_WRONG_END = 0.05
#: The number of duels grows by this factor from one look at whether the best is certain to the next.
_LOOK_FACTOR = 1.25
#: The number of duels grows by this factor at least from one record of known versions to the next.
_RECORD_FACTOR = 1.001
#: While a batch is played, computing the ratings of now takes a tenth of the time at most.
_SPARE = 9


class ArenaSchedule(Schedule):
    """The schedule of an arena: a batch of duels follows when all earlier ones have results. ``teams`` are all accepted versions.

    ``duels`` returns no new ones when ``most`` of them were planned here (None: no limit), when the best is certain and ``until_decided``,
    or when versions were added or activated since their ``mark`` was read.
    """

    is_endless = True

    def __init__(
        self,
        config: ArenaConfig,
        store: ArenaStore,
        state: ArenaState,
        versions: Sequence[Version],
        mark: int,
        teams: Sequence[Team],
        *,
        most: int | None = None,
        until_decided: bool = False,
    ) -> None:
        super().__init__(config.league, teams)
        self._config = config
        self._store = store
        self.state = state
        self._versions = versions
        #: ``changes`` of the season's row as of this schedule. Once it is another, another schedule has to go on.
        self.mark = mark
        self._accepted = tuple(version.name for version in versions if version.name in self.teams)
        #: How many duels are still to be planned; None: no limit.
        self.left = most
        self._until_decided = until_decided
        self._looked_at = 0
        #: True once the ratings before this batch are recorded. Those of known versions are from so many duels on.
        self._is_recorded, self._next_record = True, 0
        #: True if matches have ended since ``tell`` has stored something, which it does again at this time.
        self._is_untold, self._due = False, 0.0
        #: Why no more duels are planned, as a sentence; empty if that has another reason.
        self.ending = ""

    def owner(self, team: str) -> str | None:
        """The team of a version; None for a reference."""
        return next((version.team for version in self._versions if version.name == team and not version.is_reference), None)

    def order(self, duel: PlannedDuel) -> tuple[int, ...]:
        """Return the order of duels: that in which they were chosen."""
        return (duel.number,)

    def tasks(self, duel: PlannedDuel) -> list[MatchTask]:
        """The matches of a duel: both roles, or the same role against one reference."""
        seat, seats = self._config.seat, self.game.seats(self.settings(duel))
        if seat is None:
            return super().tasks(duel)
        other = self._config.against[duel.variant].name
        # The first match is the one in which the first team's side of the duel has the first seat.
        order = duel.teams if seat == seats[0] else duel.teams[::-1]
        lineups = [{each_seat: name if each_seat == seat else other for each_seat in seats} for name in order]
        return [self._task(duel, number, lineup) for number, lineup in enumerate(lineups)]

    def result(
        self, duel: PlannedDuel, matches: Sequence[tuple[MatchTask, Record | None]], forfeits: Container[str], *, is_stopped: bool
    ) -> DuelResult | None:
        """The result of a duel; None while one of its matches is missing. A duel that was played counts whatever happened later."""
        is_whole = bool(matches) and all(record is not None for _, record in matches)
        return super().result(duel, matches, () if is_whole else forfeits, is_stopped=is_stopped)

    def duels(self, results: Sequence[DuelResult] = ()) -> list[PlannedDuel]:
        """The next batch of duels, without storing anything; none while an earlier duel has no result. The results are those of the store."""
        return [] if self.state.settle(self, stores=False) else self._next(self.state.strengths())

    def further(self) -> list[PlannedDuel]:
        """The next batch of duels, as ``duels``, for the process that plays: it stores the results so far, and calls ``record`` afterwards."""
        open_duels = self.state.settle(self)
        self._is_recorded = False
        if open_duels:
            if self.left is not None:
                self.left = max(0, self.left - open_duels)
            return []
        return self.chosen()

    def take(self, outcome: DuelOutcome) -> None:
        """Take and store the result of the next duel; one that was taken already changes nothing."""
        if outcome.duel >= len(self.state):
            self.state.take(outcome)

    def chosen(self) -> list[PlannedDuel]:
        """Return the next batch of duels by all results that were taken, and store what decides it."""
        self._move_on()
        strengths = self.state.strengths()
        self._store.ratings.put_strengths(Strengths(duels=len(self.state), of=tuple(strengths.tolist())))
        return self._next(strengths)

    def record(self) -> None:
        """Record the ratings that have changed since the last time. Many teams need a second for it, so workers play meanwhile."""
        if self._is_recorded:
            return
        self._is_recorded = True
        total, due = len(self.state), self.state.due()
        if not due or (total < self._next_record and all(name in self.state.rated for name in due)):
            return
        self._next_record = math.ceil(_RECORD_FACTOR * total)
        rated = self.rated(self.known_at(total), resamples=_QUICK)
        now, names = time.time(), set(due)
        points = [RatingPoint(rating.team, total, now, rating.elo, rating.low, rating.high) for rating in rated if rating.team in names]
        self._store.ratings.put(points)
        self.state.note(points)

    def tell(self, *, ended: bool) -> None:
        """Store the results of complete duels and the strengths of now, so that pages need not wait for the end of the batch.

        ``ended``: matches have ended since the last call. The next batch depends on none of these strengths.
        """
        begun = time.monotonic()
        self._is_untold |= ended
        if not self._is_untold or begun < self._due:
            return
        before = len(self.state)
        self.state.settle(self, is_playing=True)
        if len(self.state) > before:
            now = tuple(self.state.strengths().tolist())
            self._store.ratings.put_strengths(self._store.ratings.strengths().model_copy(update={"now": now}))
        ended_at = time.monotonic()
        self._is_untold, self._due = False, ended_at + _SPARE * (ended_at - begun)

    def _next(self, strengths: Floats) -> list[PlannedDuel]:
        if self._store.season.changes() != self.mark or self.left == 0:
            return []
        if self._until_decided and (why := self.decided()) is not None:
            self.ending = why
            return []
        new = self._batch(strengths)
        if self.left is not None:
            self.left -= len(new)
        if not new:
            self.ending = "All versions that play have met on every start."
        return new

    def playing(self) -> list[Version]:
        """Return the versions that go on playing."""
        able = self._able()
        return [version for version in self._versions if version.name in able and self._goes_on(version)]

    def _able(self) -> set[str]:
        """Return the accepted versions that can start and whose teams are not disqualified."""
        return self.teams.keys() - self._store.duels.forfeits().keys()

    def _goes_on(self, version: Version) -> bool:
        """True if a version plays on after its placement."""
        return version.is_active or (self._config.versions == ALL and not version.is_reference)

    def _due_state(self, version: Version) -> str:
        """Return the state that a version has to have after the duels so far."""
        place = self.state.positions.get(version.name)
        duels = 0 if place is None else int(self.state.planned[place])
        return version.due(duels, self._config.season.placement, goes_on=self._goes_on(version))

    def _move_on(self) -> None:
        """Let versions join, end their placement or retire, between two batches."""
        able = self._able()
        due = {version.name: self._due_state(version) for version in self._versions if version.name in able}
        moved = [(version, due[version.name]) for version in self._versions if due.get(version.name, version.state) != version.state]
        if moved:
            self._store.versions.play(moved)
            self._versions = [version._replace(state=due.get(version.name, version.state)) for version in self._versions]

    def _batch(self, strengths: Floats) -> list[PlannedDuel]:
        """Return the next duels."""
        from referee.arena.matchmaking import Candidate, Matchmaker

        state, first, placement = self.state, len(self.state), self._config.season.placement
        able = self._able()
        playing = {version.name for version in self._versions if version.name in able and self._goes_on(version)}
        size = min(max(_LEAST, len(playing) // 2), _MOST, *(() if self.left is None else (self.left,)))
        entries = []
        for version in self._versions:
            place = state.positions.get(version.name)
            if place is not None and version.name in able and self._due_state(version) in (PLACING, ACTIVE):
                count, last = int(state.planned[place]), int(state.last[place])
                entries.append(Candidate(version.name, place, count, version.first_duel if last < 0 else last, version.name in playing))
        places = [(start.number, variant) for start in self.starts[0] for variant in range(len(self.league.variants))]
        chooser = Matchmaker(entries, strengths, state.pairs, first, placement, len(places))
        new: list[PlannedDuel] = []
        met: dict[frozenset[str], set[tuple[int, int]]] = {}
        while len(new) < size and (pair := chooser.next()) is not None:
            number = first + len(new)
            key = frozenset(pair)
            if key not in met:
                met[key] = state.met_on(*(state.positions[name] for name in pair))
            start, variant = next(place for place in islice(cycle(places), number % len(places), None) if place not in met[key])
            # Where a duel swaps no roles, the next duel of the two does.
            teams = pair if len(met[key]) % 2 == 0 else pair[::-1]
            met[key].add((start, variant))
            new.append(PlannedDuel(number, 0, teams, start, variant))
        return new

    @property
    def _resamples(self) -> int:
        return RESAMPLES if len(self.state) < _MANY else _QUICK

    def rated(
        self, versions: Sequence[str] | None = None, among: Collection[str] | None = None, resamples: int = RESAMPLES
    ) -> list[Rating]:
        """Return the ratings of all accepted versions, or of some, the best first. ``versions`` are the versions that there were, all by default."""
        from referee.tournament import ratings

        accepted = self._accepted if versions is None else versions
        return ratings.intervals(
            self.state.comparisons(), accepted, seed=self.league.resampling_seed, resamples=min(resamples, self._resamples), among=among
        )

    def best(self, among: Collection[str]) -> tuple[str, float]:
        """Return the best of some versions, two or more, and how certain that is, from 0 to 1."""
        from referee.tournament import ratings

        return ratings.best_of(self.state.comparisons(), self._accepted, among, seed=self.league.resampling_seed, resamples=self._resamples)

    def known_at(self, duels: int) -> tuple[str, ...]:
        """Return the accepted versions whose ratings are those after so many duels: those that were there before the last of them."""
        return tuple(version.name for version in self._versions if version.name in self._accepted and version.first_duel < duels)

    def decided(self) -> str | None:
        """Return the sentence that the best version is certain, at the looks at which that is asked; None otherwise.

        All looks share the error probability.
        """
        names, total = self.rivals(), len(self.state)
        first = _LOOK_FACTOR * max(2, len(names))
        look = 1 + int(math.log(max(1.0, total / first), _LOOK_FACTOR)) if total >= first else 0
        if look <= self._looked_at or len(names) < 2:
            return None
        self._looked_at = look
        best, certainty = self.best(names)
        error = _WRONG_END * 6 / (math.pi * look) ** 2
        return f"{best} is the best of {len(names):,}: that is certain after {counted(total, 'duel')}." if certainty >= 1 - error else None

    def rivals(self) -> list[str]:
        """Return the versions of which one is to be found the best: those of the teams, or all if there is only one."""
        playing = self.playing()
        entrants = [version.name for version in playing if not version.is_reference]
        return entrants if len(entrants) > 1 else [version.name for version in playing]
