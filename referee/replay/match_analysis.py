"""The analysis of a recorded match: the steps that changed its verdict, and those that cost the losing side most.

The replay is read several times, and only a bounded number of its positions is kept. So memory doesn't grow with the length of a match.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from referee.replay.events import PlayersFaulted, StepTaken
from referee.replay.reader import UNWRITTEN, ReplayReader, unwritten
from referee.replay.turning_points import Budget, Spent, change_between
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    from referee.games.capabilities import Appraisal, Appraised
    from referee.games.game import Game, Json, Outcome, Seat

#: The most positions of one stretch of a match that are kept.
_MOST_KEPT = 1_000
#: The number of costly steps that are named.
MOST_COSTLY = 5
#: The greatest distance, in steps, that two costly steps can be asked to have.
_MOST_APART = 100


class VerdictPoint(NamedTuple):
    """A position from which a verdict holds. ``step`` led to it: the step's own number, 0 for the start of the match.

    ``by``, ``what`` and ``best`` are the cause, the texts of the step's notices and the suggestion; empty at the start.
    """

    step: int
    verdict: Mapping[str, Json]
    by: str = ""
    what: tuple[str, ...] = ()
    best: Mapping[str, Json] = {}


class Costly(NamedTuple):
    """A step that cost a seat much: its number, the move that was played, the better one, and the exact verdicts after both.

    ``verdicts`` are empty where the game has none, or no time was left for them.
    """

    step: int
    played: Json
    better: Json
    appraised: Appraised
    verdicts: tuple[Mapping[str, Json], ...]


class Losses(NamedTuple):
    """The ``steps`` that cost a ``seat`` most, in the order of the match. ``measure`` names what their costs count.

    ``fault`` is the fault by which the seat lost: "a fault in step 7." and the sentence of the fault; "" if it had none.
    """

    seat: Seat
    measure: str
    is_exact: bool
    steps: tuple[Costly, ...]
    fault: str = ""


class _Stretch:
    """Evenly spaced positions of one stretch of a match, never more than ``_MOST_KEPT``, and its last two positions."""

    def __init__(self, path: Path, budget: Budget, first: int, state: object) -> None:
        self._path, self._budget, self.first, self._apart = path, budget, first, 1
        self._states = {first: state}
        self.last, self._ends = first, (state, state)

    def add(self, state: object) -> None:
        """Add the next position of the stretch."""
        self.last += 1
        self._ends = self._ends[1], state
        if (self.last - self.first) % self._apart:
            return
        self._states[self.last] = state
        if len(self._states) > _MOST_KEPT:
            self._apart *= 2
            self._states = {position: state for position, state in self._states.items() if not (position - self.first) % self._apart}

    def state_at(self, position: int) -> object:
        """Return one of the positions that are kept."""
        return self._ends[position - self.last + 1] if self.last - position < 2 else self._states[position]

    def between(self, low: int, high: int) -> int:
        """Return the number of a position that is kept, in the middle between two others. If there is none, the replay is read again."""
        inner = [position for position in self._states if low < position < high]
        if not inner:
            apart = (high - low) // _MOST_KEPT + 1
            self._states = {}

            with self._budget:
                for step in _steps(self._path):
                    position = step.turn + 1
                    if position >= high:
                        break
                    if position > low and not (position - low) % apart:
                        self._states[position] = step.after
            inner = list(self._states)
        return inner[len(inner) // 2]


def _steps(path: Path) -> Iterator[StepTaken]:
    """Yield the steps of a replay."""
    return (event for event in ReplayReader(path).events() if isinstance(event, StepTaken))


class MatchAnalysis:
    """The analysis of a replay. ``run`` makes it; ``seconds`` of processor time are the most that it spends on top of reading the file.

    ``verified`` says whether the replay holds, ``steps`` counts its good steps, ``judged`` the positions with a verdict. ``left_out`` has a
    sentence for all work that would take too long. Raises ReplayError where there is no replay to read.
    """

    def __init__(self, path: Path, seconds: float) -> None:
        self.path = path
        self._reader = ReplayReader(path)
        self.game, self._settings = self._reader.game, self._reader.settings
        self._analysis, self._appraisal = self.game.analysis, self.game.appraisal
        self.budget = Budget(seconds)
        self.verified: dict[str, Json] = {}
        self.steps = self.judged = 0
        self.outcome: Outcome | None = None
        self.left_out: list[str] = []
        self.points: list[VerdictPoint] = []
        self.losses: list[Losses] = []
        self._faults: dict[Seat, str] = {}

    def run(self, *, every: bool, on_judged: Callable[[int], None]) -> None:
        """Read the replay and analyze it; ``every``: points are all changes of walls, not only those that changed the verdict.

        ``on_judged`` is called with each position that is judged.
        """
        judge = _Judge(self, every=every, on_judged=on_judged)
        self._read_first(judge)
        self.judged = judge.judged
        if judge.is_spent:
            self.left_out.append(f"Not everything after step {judge.last:,} was judged: that would take too long on a board like this.")
        self._explain(judge.points, _losers(self.outcome, self.game.seats(self._settings)))

    def verdict_of(self, state: object) -> Mapping[str, Json]:
        """Return the verdict of a position. Raises Spent if no time is left for it."""
        assert self._analysis is not None
        if self.budget.left <= 0.0:
            raise Spent
        with self.budget:
            return self._analysis.verdict(state)

    def _read_first(self, judge: _Judge) -> None:
        """Read the replay, judge its positions, and note whether it holds and how the match ended."""
        try:
            for event in self._reader.events():
                if isinstance(event, PlayersFaulted):
                    self._faults |= {seat: f"a fault in step {event.turn:,}. {fault.text}" for seat, fault in event.faults.items()}
                    continue
                if not self.steps:
                    judge.begin(event.before)
                self.steps += 1
                judge.take(event)
            replay = self._reader.verified()
        except UNWRITTEN as error:
            self.verified = unwritten(self.steps, error)
        else:
            self.verified = replay.verdict()
            self.outcome = self.game.outcome(replay.final)
            if not self.steps:
                judge.begin(replay.final)
        judge.finish()

    def _explain(self, verdicts: dict[int, dict[str, Json]], losers: tuple[Seat, ...]) -> None:
        """Read the replay once more: the cause and the suggestion of each point, and what the moves of the losing seats cost."""
        if 0 in verdicts:
            self.points.append(VerdictPoint(0, verdicts.pop(0)))
        searches = [] if self._appraisal is None else [_Search(self.game, self._appraisal, seat, self._settings) for seat in losers]
        # The other half is for the suggestions, and for the verdicts after costly steps.
        half = Budget(self.budget.left / 2)
        self.budget.left -= half.left
        unsearched = 0
        for step in _steps(self.path) if verdicts or searches else ():
            if step.turn + 1 in verdicts:
                self.points.append(self._point(step, verdicts.pop(step.turn + 1)))
            if half.left <= 0.0:
                unsearched += bool(searches)
            with half:
                for search in searches if half.left > 0.0 else ():
                    search.take(step)
            if not verdicts and not searches:
                break
        self.budget.left += max(0.0, half.left)
        if unsearched:
            self.left_out.append(
                f"The search for better moves left out the last {counted(unsearched, 'step')}: that would take too long on a board like this."
            )
        if self._analysis is not None and self.budget.left <= 0.0 and any(point.step and not point.best for point in self.points):
            self.left_out.append(f"A turning point without a {self._analysis.suggestion_name} was not searched for one.")
        self.losses = [
            search.losses(self._verdict_after)._replace(fault=self._faults.get(seat, ""))
            for seat, search in zip(losers, searches, strict=False)
        ]

    def _point(self, step: StepTaken, verdict: dict[str, Json]) -> VerdictPoint:
        analysis = self._analysis
        assert analysis is not None
        what: tuple[str, ...] = ()
        if analysis.invalidates_verdict(step.before, step.after):
            what = tuple(notice.text for notice in step.notices if notice.seat is None and not notice.is_minor)
        best: Mapping[str, Json] = {}
        if self.budget.left > 0.0:
            with self.budget:
                best = analysis.suggestion(step.before)
        return VerdictPoint(step.turn, verdict, analysis.cause(step.before, step.after), what, best)

    def _verdict_after(self, state: object) -> Mapping[str, Json]:
        try:
            return {} if self._analysis is None else self.verdict_of(state)
        except Spent:
            return {}


def _losers(outcome: Outcome | None, seats: tuple[Seat, ...]) -> tuple[Seat, ...]:
    """Return the seats that lost; none after a draw, or if the match has no end."""
    if outcome is None or outcome.winner is None:
        return ()
    return tuple(seat for seat in seats if seat != outcome.winner)


class _Judge:
    """Judges positions while a replay is read: every one after a change of walls, and the last one before it."""

    def __init__(self, analysis: MatchAnalysis, *, every: bool, on_judged: Callable[[int], None]) -> None:
        self._of, self._every, self._on_judged = analysis, every, on_judged
        self.is_spent = False
        self.judged = self.last = 0
        #: Positions from which a verdict holds.
        self.points: dict[int, dict[str, Json]] = {}
        self._stretch: _Stretch | None = None
        self._before: Json = None
        self._verdict: Mapping[str, Json] = {}

    def begin(self, state: object) -> None:
        """Judge the start."""
        self._guarded(self._open, 0, state)

    def take(self, step: StepTaken) -> None:
        """Take the next step."""
        analysis = self._of.game.analysis
        if self.is_spent or analysis is None or self._stretch is None:
            return
        if analysis.invalidates_verdict(step.before, step.after):
            self._guarded(self.close)
            self._guarded(self._open, step.turn + 1, step.after)
        else:
            self._stretch.add(step.after)

    def finish(self) -> None:
        """Judge the end of the match."""
        self._guarded(self.close)

    def _guarded(self, work: Callable[..., None], *arguments: object) -> None:
        if not self.is_spent and self._of.game.analysis is not None:
            try:
                work(*arguments)
            except Spent:
                self.is_spent = True

    def _open(self, first: int, state: object) -> None:
        self._stretch = _Stretch(self._of.path, self._of.budget, first, state)
        self._verdict = self._of.verdict_of(state)
        if self._verdict:
            self.last = first
            self._add(first, self._verdict, is_point=self._every or self._verdict["verdict"] != self._before)
            self._on_judged(first)

    def close(self) -> None:
        """Judge the end of a stretch."""
        stretch = self._stretch
        if stretch is not None and self._verdict:
            change = change_between(stretch.first, stretch.last, self._verdict, stretch.state_at, self._of.verdict_of, stretch.between)
            if change is not None:
                self._add(*change, is_point=True)

    def _add(self, position: int, verdict: Mapping[str, Json], *, is_point: bool) -> None:
        self.judged += 1
        self._before = verdict["verdict"]
        if is_point:
            self.points[position] = dict(verdict)


class _Search:
    """Finds the steps that cost a seat most while a replay is read."""

    def __init__(self, game: Game, appraisal: Appraisal, seat: Seat, settings: object) -> None:
        self._game, self._appraisal, self._seat, self._settings = game, appraisal, seat, settings
        self._appraise = appraisal.appraiser(seat)
        self._apart = max(1, min(_MOST_APART, appraisal.apart(seat, settings)))
        #: The costliest steps so far, the least costly first. A step that is named rules out those near it, so more are kept than are named.
        self._worst: list[tuple[float, int, StepTaken, Appraised]] = []

    def take(self, step: StepTaken) -> None:
        """Appraise the seat's move in a step."""
        game = self._game
        if self._seat not in game.movers(step.before):
            return
        appraised = self._appraise(step.before, step.moves, step.after)
        if appraised is None or appraised.cost <= 0:
            return
        entry = (appraised.cost, -step.turn, step, appraised)
        if len(self._worst) < MOST_COSTLY * 2 * self._apart:
            heapq.heappush(self._worst, entry)
        else:
            heapq.heappushpop(self._worst, entry)

    def losses(self, verdict_of: Callable[[object], Mapping[str, Json]]) -> Losses:
        """Return the costliest steps, each at least as far from the others as the game says."""
        chosen: list[tuple[int, StepTaken, Appraised]] = []
        for _, before, step, appraised in sorted(self._worst, reverse=True, key=lambda entry: entry[:2]):
            if len(chosen) < MOST_COSTLY and all(abs(-before - other) >= self._apart for other, _, _ in chosen):
                chosen.append((-before, step, appraised))
        chosen.sort(key=lambda entry: entry[0])
        appraisal = self._appraisal
        steps = tuple(self._costly(number, step, appraised, verdict_of) for number, step, appraised in chosen)
        return Losses(self._seat, appraisal.measure(self._seat, self._settings), appraisal.is_exact, steps)

    def _costly(self, number: int, step: StepTaken, appraised: Appraised, verdict_of: Callable[[object], Mapping[str, Json]]) -> Costly:
        game, moves = self._game, step.moves
        instead, _ = game.step(step.before, {**moves, self._seat: appraised.better})
        verdicts = verdict_of(step.after), verdict_of(instead)
        move_json = game.codec.move_json
        return Costly(number, move_json(moves[self._seat]), move_json(appraised.better), appraised, verdicts if all(verdicts) else ())
