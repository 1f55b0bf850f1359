"""Plays a league: gives matches to workers and stores results, until the schedule has no further match.

Only the store decides which matches are done. If this process ends early, a later one continues with the matches that have no result yet.
"""

from __future__ import annotations

import heapq
import itertools
from collections import defaultdict
from typing import TYPE_CHECKING, NamedTuple, Protocol

from referee.errors import BUSY, DISPUTED, SUPERVISOR, RefereeError
from referee.isolation.machine import SHORTAGES
from referee.league.disputes import Disputes
from referee.league.repeats import Repeats
from referee.support.words import counted
from referee.tournament.results import stopped as not_played
from referee.tournament.values import MOST_VOIDS
from referee.tournament.worker import Completed, NotStarted, Void

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping, Sequence

    from referee.league.store import Store
    from referee.tournament.local import Finished, Pool
    from referee.tournament.progress import ProgressListener
    from referee.tournament.values import DuelResult, MatchTask, PlannedDuel, Record

#: How long the engine waits for the end of a match before it shows its progress again, in seconds.
_TICK = 0.5
#: So many duels are planned in one transaction.
_AT_ONCE = 5_000
#: Planning more duels than this takes seconds, so people are told.
_MANY_DUELS = 20_000
#: The run ends after this number of matches in a row, each with other bots, in which the machine failed.
_MOST_FAILURES = 3
#: The store's fact about matches that were void in the last run because the machine failed: the reasons by key.
UNPLAYED = "unplayed"
#: A team can't start if this number of its matches failed before the first step and none began.
_FAILED_STARTS = 2
#: How the note of a duel begins whose matches were void so that nobody could see who is to blame.
_UNDECIDED = "Nobody can see who is to blame:"


class LeagueStopped(RefereeError):
    """No match can be played at present, for example because the disk is full. All results so far are stored."""

    exit_code = 4


class MachineFailed(LeagueStopped):
    """Matches are void because this machine can't give bots what they are promised. The text is a sentence for the staff."""


class MatchPlan(Protocol):
    """What a league plays."""

    def duels(self, results: Sequence[DuelResult]) -> Sequence[PlannedDuel]:
        """All duels that are known after these results, in schedule order; an earlier duel never changes."""

    def tasks(self, duel: PlannedDuel) -> Sequence[MatchTask]:
        """The matches of a duel."""

    def result(
        self,
        duel: PlannedDuel,
        matches: Sequence[tuple[MatchTask, Record | None]],
        forfeits: Container[str],
        *,
        is_stopped: bool,
    ) -> DuelResult | None:
        """The result of a duel from its matches, as ``results.duel_result`` gives it; None while it has none."""

    @property
    def has_forfeits(self) -> bool:
        """True if a team forfeits its other matches after its first matches have failed before the first step; else all matches are played."""

    def owner(self, team: str) -> str | None:
        """Return who answers for a team's programs; None for those of the organizers, who are never to blame."""

    def stage(self, duel: PlannedDuel) -> int:
        """Return the stage of a duel. Its matches begin when no match of an earlier stage is left."""

    def order(self, duel: PlannedDuel) -> tuple[int, ...]:
        """Return the place of a duel in the order in which duels are played."""


class Engine:
    """Plays the matches of a plan. ``run`` returns when nothing is left to play.

    ``judged`` returns what counts as the end of a match. After the run, ``unplayed`` has the reasons, by key, of the matches that were void
    because the machine failed; another run plays them.
    """

    def __init__(
        self,
        store: Store,
        pool: Pool,
        plan: MatchPlan,
        watch: ProgressListener,
        judged: Callable[[Finished], Finished] = lambda finished: finished,
    ) -> None:
        self._store = store
        self._judged = judged
        self.unplayed: dict[str, str] = {}
        #: The teams that the machine's failures have hit since the last match that was played.
        self._hit: set[frozenset[str]] = set()
        self._pool = pool
        self._plan = plan
        self._watch = watch
        self._running: dict[str, MatchTask] = {}
        self._repeats = Repeats()
        self._forfeits = store.forfeits()
        self._stopped = set(store.duel_notes())
        self._started: set[str] = set()
        self._failed: defaultdict[str, int] = defaultdict(int)
        self._voids: defaultdict[frozenset[str], int] = defaultdict(int)
        self._disputes = Disputes(store, plan.owner)
        self._duels: dict[int, PlannedDuel] = {}

    def run(self) -> None:
        """Play all matches. LeagueStopped if none can be played at present."""
        self._recall()
        if self._store.fact(UNPLAYED):
            self._store.set_fact(UNPLAYED, {})
        while True:
            new = self._further()
            if len(new) > _MANY_DUELS:
                self._watch.said(f"Planning {counted(len(new), 'duel')}; that takes a while.")
            for first in range(0, len(new), _AT_ONCE):
                batch = new[first : first + _AT_ONCE]
                self._store.put(batch, [task for duel in batch for task in self._plan.tasks(duel)])
                self._watch.tick([])
            self._learn(new)
            for team, reason in self._forfeits.items():
                self._stop((duel for duel in self._duels.values() if team in duel.teams), reason)
            # Those that are unplayed wait for another run.
            pending = [task for task in self._store.pending() if task.key not in self.unplayed]
            if not pending and not new:
                return
            stages = [self._plan.stage(self._duels[task.duel]) for task in pending]
            self._play([task for task, stage in zip(pending, stages, strict=True) if stage == min(stages)])

    def _further(self) -> list[PlannedDuel]:
        """Return the duels that are known now but not stored yet."""
        state = read_state(self._store, self._plan)
        numbers = {duel.number for duel in state.duels}
        return [duel for duel in self._plan.duels(state.results) if duel.number not in numbers]

    def _recall(self) -> None:
        """Learn from the store what earlier runs have found out."""
        self._learn(self._store.duels())
        teams = {}
        for stored in self._store.matches():
            teams[stored.task.key] = self._duels[stored.task.duel].teams
            if stored.record is not None:
                self._note(stored.task, stored.record)
        for key, _ in self._store.voids():
            if key in teams:
                self._voids[frozenset(teams[key])] += 1

    def _learn(self, duels: Sequence[PlannedDuel]) -> None:
        self._duels.update((duel.number, duel) for duel in duels)
        if any(duel.repeat for duel in duels):
            # Without repetitions nothing is compared, and working out the matches takes a while.
            for duel in filter(Repeats.decides, duels):
                self._repeats.expect(duel, len(self._plan.tasks(duel)))

    def _play(self, pending: Sequence[MatchTask]) -> None:
        """Play these matches."""
        queue = Queue(self._plan.order, self._duels)
        for task in pending:
            if not self._is_held(task):
                queue.push(task)
        held = [task for task in pending if self._is_held(task)]
        while queue or self._running or held:
            self._give_out(queue)
            ended = self._take_ended(queue)
            if held and (ended or not (queue or self._running)):
                held = self._release(held, queue)

    def _give_out(self, queue: Queue) -> None:
        """Give a match to every free slot."""
        while queue and self._pool.room > 0:
            task = queue.pop()
            if not self._is_off(task):
                self._running[task.key] = task
                self._pool.submit(task._replace(blamed=tuple(filter(self._disputes.is_blamed, task.seats.values()))))

    def _take_ended(self, queue: Queue) -> bool:
        """Wait a moment for matches to end, and store their results; void matches go back into the queue.

        A slot that is free gets its next match first, unless one of the results can stop matches.
        """
        ended = [self._judged(finished) for finished in self._pool.wait(_TICK)] if self._running else []
        for finished in ended:
            self._running.pop(finished.task.key, None)
        if all(map(_stops_nothing, ended)):
            self._give_out(queue)
        for finished in ended:
            again = self._take(finished)
            if again is not None:
                queue.push(again)
        self._watch.tick(list(self._running.values()) if self._pool.has_workers else None)
        return bool(ended)

    def _is_off(self, task: MatchTask) -> bool:
        """True if a match is not to be played any more."""
        return task.duel in self._stopped or any(team in self._forfeits for team in task.seats.values())

    def _take(self, finished: Finished) -> MatchTask | None:
        """Store the result of a match; return the match if it has to be played again."""
        task, report = finished
        if isinstance(report, Completed):
            self._hit.clear()
            # A match can be played twice on a cluster. The store compares the results, and the first one counts.
            if self._store.finish(report.record):
                self._note(task, report.record)
                self._watch.finished(task, report.record)
            return None
        if isinstance(report, NotStarted):
            self._forfeit(report.team, report.text)
            return None
        return self._take_void(task, report)

    def _note(self, task: MatchTask, record: Record) -> None:
        """Learn from a match whether its teams can start, and whether they are deterministic."""
        self._repeats.note(self._duels[task.duel], task, record)
        for seat, team in task.seats.items():
            if record.started or seat not in record.faults:
                self._started.add(team)
                continue
            self._failed[team] += 1
            if team in self._started or team in self._forfeits:
                continue
            if self._failed[team] == 1:
                self._watch.said(f"{team} did not start: {record.faults[seat]}")
            if self._plan.has_forfeits and self._failed[team] >= _FAILED_STARTS:
                self._forfeit(team, record.faults[seat])

    def _forfeit(self, team: str, reason: str) -> None:
        """A team can't start: its other matches aren't played."""
        if team in self._forfeits:
            return
        # Reports have one line for it, and a compiler's messages have several.
        reason = " / ".join(line.strip() for line in reason.splitlines())
        self._forfeits[team] = reason
        self._store.forfeit(team, reason)
        self._stop((duel for duel in self._duels.values() if team in duel.teams), reason)
        self._watch.said(f"{team} can't start and forfeits its other matches: {reason}")

    def _stop(self, duels: Iterable[PlannedDuel], note: str) -> bool:
        """Don't play the rest of some duels. False if all of them are stopped already."""
        numbers = {duel.number for duel in duels} - self._stopped
        if numbers:
            self._store.stop(sorted(numbers), note)
            self._stopped |= numbers
        return bool(numbers)

    def _take_void(self, task: MatchTask, void: Void) -> MatchTask | None:
        """Note a void; three of them with the same teams stop these teams' duels, until somebody is found to be to blame."""
        if void.is_fatal:
            raise LeagueStopped(f"Play is stopped, and can be resumed: {void.text}")
        if void.reason in SHORTAGES:
            self._set_aside(task, void)
            return None
        teams = self._duels[task.duel].teams
        self._store.void(task.key, void.text, void.host)
        self._voids[frozenset(teams)] += 1
        if void.reason in DISPUTED:
            self._dispute(task, void)
        if self._voids[frozenset(teams)] < MOST_VOIDS:
            return task
        note = f"{MOST_VOIDS} matches of {_names(teams)} were void, so no more of them are played: {void.text}"
        for team in filter(self._disputes.is_blamed, task.seats.values() if void.reason == SUPERVISOR else ()):
            # It leaves nothing that could be judged, for instance because it also ends the worker.
            self._forfeit(team, void.text)
        note = f"{_UNDECIDED} {note}" if void.reason in DISPUTED else note
        if self._stop((duel for duel in self._duels.values() if frozenset(duel.teams) == frozenset(teams)), note):
            self._watch.said(note)
        return None

    def _dispute(self, task: MatchTask, void: Void) -> None:
        """Note a void match for which nobody can see who is to blame. If that shows who is, such matches of that team are played again."""
        for owner, others in self._disputes.add(task.seats.values(), void.teams).items():
            self._watch.said(f"{owner} is to blame for void matches with {_names(others)}, and loses if that happens again: {void.text}")
            mine = {duel.number: frozenset(duel.teams) for duel in self._duels.values() if owner in map(self._plan.owner, duel.teams)}
            notes = self._store.duel_notes()
            again = [number for number in mine if notes.get(number, "").startswith(_UNDECIDED)]
            self._store.go_on(again)
            self._stopped.difference_update(again)
            for pair in mine.values():
                self._voids.pop(pair, None)
        if void.reason == BUSY:
            self._note_failure(void)

    def _set_aside(self, task: MatchTask, void: Void) -> None:
        """Leave a match to another run, since this machine failed. MachineFailed as ``_note_failure``."""
        self.unplayed[task.key] = void.text
        self._store.set_fact(UNPLAYED, self.unplayed)
        self._watch.said(f"{_names(task.seats.values())}: {void.text}")
        self._note_failure(void)

    def _note_failure(self, void: Void) -> None:
        """Note which bots a failure of the machine hit. MachineFailed after several in a row with other bots each."""
        self._hit.add(frozenset(void.teams))
        if len(self._hit) >= _MOST_FAILURES:
            raise MachineFailed(
                f"Play is stopped, since this machine failed in {len(self._hit)} matches in a row with different bots: {void.text}"
            )

    def _is_held(self, task: MatchTask) -> bool:
        """True for a repetition of a pair that may be deterministic: whether it is shows in its first repetition."""
        duel = self._duels[task.duel]
        return duel.repeat > 0 and not Repeats.decides(duel)

    def _release(self, held: Sequence[MatchTask], queue: Queue) -> list[MatchTask]:
        """Put repetitions of pairs into the queue that aren't deterministic; drop those of pairs that are. Return those that must wait."""
        waiting = []
        is_last = not (queue or self._running)
        for task in held:
            duel = self._duels[task.duel]
            is_deterministic = self._repeats.is_deterministic(duel.teams)
            if is_deterministic:
                note = (
                    f"{_names(duel.teams)} play the same game again on the same start, so a repetition would count nothing new: "
                    "each of their duels counts once."
                )
                if self._stop((each for each in self._duels.values() if each.repeat and set(each.teams) == set(duel.teams)), note):
                    self._watch.said(note)
            elif is_deterministic is None and not is_last:
                waiting.append(task)
            elif not self._is_off(task):
                queue.push(task)
        return waiting


def _stops_nothing(finished: Finished) -> bool:
    """True for the result of a match that all teams have begun: no team forfeits by it, and no match is void."""
    return isinstance(finished.report, Completed) and finished.report.record.started


def _names(teams: Iterable[str]) -> str:
    return " and ".join(teams)


class LeagueState(NamedTuple):
    """The state of a league: its duels, and the results that count."""

    duels: Sequence[PlannedDuel]
    results: Sequence[DuelResult]


class StateReader:
    """Calculates the state of a league from its matches, duel by duel.

    Repetitions of deterministic pairs don't count.
    Duels in ``stopped`` aren't played to the end, and teams in ``forfeits`` can't start.
    """

    def __init__(self, plan: MatchPlan, duels: Sequence[PlannedDuel], stopped: Container[int], forfeits: Container[str]) -> None:
        self._plan = plan
        self._duels = duels
        self._by_number = {duel.number: duel for duel in duels}
        self._stopped = stopped
        self._forfeits = forfeits
        self._repeats = Repeats()
        self._results: dict[int, DuelResult] = {}

    def put(self, number: int, matches: Sequence[tuple[MatchTask, Record | None]]) -> None:
        """Add the matches of a duel. Matches of an unknown duel don't count."""
        duel = self._by_number.get(number)
        if duel is None:
            return
        self._repeats.expect(duel, len(matches))
        for task, record in matches:
            if record is not None:
                self._repeats.note(duel, task, record)
        result = self._plan.result(duel, matches, self._forfeits, is_stopped=number in self._stopped)
        if result is not None:
            self._results[number] = result

    def state(self) -> LeagueState:
        """Return the state of the league by all matches that were put."""
        results = self._results
        for number, result in results.items():
            if result.duel.repeat and self._repeats.is_deterministic(result.duel.teams):
                results[number] = not_played(result.duel)
        return LeagueState(self._duels, [results[number] for number in sorted(results)])


def read_state(store: Store, plan: MatchPlan) -> LeagueState:
    """Read the state of a league from its store."""
    duels, stopped, forfeits = store.duels(), store.duel_notes(), store.forfeits()
    reader = StateReader(plan, duels, stopped, forfeits)
    begun = set()
    for number, group in itertools.groupby(store.matches(begun=True), key=lambda stored: stored.task.duel):
        begun.add(number)
        reader.put(number, [(stored.task, stored.record) for stored in group])
    for duel in duels:
        # None of the matches of these was played. Most leagues have no such duel that counts.
        if duel.number not in begun and (duel.number in stopped or any(team in forfeits for team in duel.teams)):
            reader.put(duel.number, [])
    return reader.state()


class Queue:
    """The waiting matches. They are taken in the order of their duels, which ``place`` returns."""

    def __init__(self, place: Callable[[PlannedDuel], tuple[int, ...]], duels: Mapping[int, PlannedDuel]) -> None:
        self._place = place
        self._duels = duels
        self._heap: list[tuple[tuple[int, ...], int, int, MatchTask]] = []
        self._numbers = itertools.count()

    def __len__(self) -> int:
        return len(self._heap)

    def push(self, task: MatchTask) -> None:
        """Add a match."""
        heapq.heappush(self._heap, (self._place(self._duels[task.duel]), task.game_number, next(self._numbers), task))

    def pop(self) -> MatchTask:
        """Take the next match."""
        return heapq.heappop(self._heap)[-1]
