"""The analysis of a recorded match: the steps that changed its verdict, and those that cost the losing side most.

The replay is read several times, and only a bounded number of its positions is kept. So memory doesn't grow with the length of a match.
"""

from __future__ import annotations

import contextlib
import heapq
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.replay.reader import open_game, read_head, read_lines, verify
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from referee.games.capabilities import Analysis, Appraisal, Appraised
    from referee.games.game import Game, Json, Notice, Outcome, Seat
    from referee.replay.reader import Step

#: The most positions of one stretch of a match that are kept while it is read; of many stretches together, eight times as many.
_MOST_KEPT = 256
#: The number of costly steps that are named.
MOST_COSTLY = 5
#: The greatest distance, in steps, that two costly steps can be asked to have.
_MOST_APART = 100
_UNWRITTEN = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)


class Point(NamedTuple):
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

    ``fault`` is what the seat lost by: "a fault in step 7." and the sentence of the fault; "" if it had none.
    """

    seat: Seat
    measure: str
    is_exact: bool
    steps: tuple[Costly, ...]
    fault: str = ""


class _Budget:
    """Processor time of this thread that may be spent, in seconds."""

    def __init__(self, seconds: float) -> None:
        self.left = seconds
        self._begun = 0.0

    def __enter__(self) -> None:
        self._begun = time.thread_time()

    def __exit__(self, *_: object) -> None:
        self.left -= time.thread_time() - self._begun


class _Spent(Exception):
    """The budget is used up."""


class _Done(Exception):
    """The rest of the replay isn't needed in this reading."""


class _Kept:
    """Evenly spaced positions of one stretch of a match, never more than ``most``."""

    def __init__(self, first: int, most: int = _MOST_KEPT) -> None:
        self._first, self._most, self._apart = first, most, 1
        self.states: list[tuple[int, Any]] = []

    def add(self, position: int, state: Any) -> None:
        """Add the next position of the stretch."""
        if (position - self._first) % self._apart:
            return
        self.states.append((position, state))
        if len(self.states) > self._most:
            del self.states[1::2]
            self._apart *= 2


class _Gap(NamedTuple):
    """The verdict changes after the position ``low``, and at ``high`` the verdict ``later`` holds."""

    low: int
    high: int
    before: Json
    later: Mapping[str, Json]

    def narrowed(self, kept: _Kept, verdict_of: Callable[[Any], Mapping[str, Json]]) -> _Gap:
        """Return the gap between two neighbours of the kept positions. Between two changes of walls a verdict changes once at most."""
        low, high, later = self.low, self.high, self.later
        inner = [(position, state) for position, state in kept.states if low < position < high]
        first, last = 0, len(inner)
        while first < last:
            middle = (first + last) // 2
            position, state = inner[middle]
            found = verdict_of(state)
            if found["verdict"] == self.before:
                first, low = middle + 1, position
            else:
                last, high, later = middle, position, found
        return _Gap(low, high, self.before, later)


class MatchAnalysis:
    """The analysis of a replay. ``run`` makes it; ``seconds`` of processor time are the most that it spends on top of reading the file.

    ``verified`` says whether the replay holds, ``steps`` counts its good steps, ``judged`` the positions with a verdict. ``left_out`` has a
    sentence for all work that would take too long. Raises ReplayError where there is no replay to read.
    """

    def __init__(self, path: Path, seconds: float) -> None:
        self.path = path
        head, _ = read_head(path, read_lines(path))
        self.game: Game[Any, Any]
        self.game, self._settings = open_game(path, head)
        self._analysis: Analysis[Any] | None = self.game.analysis
        self._appraisal: Appraisal[Any] | None = self.game.appraisal
        self._budget = _Budget(seconds)
        self.verified: dict[str, Json] = {}
        self.steps = self.judged = 0
        self.outcome: Outcome | None = None
        self.left_out: list[str] = []
        self.points: list[Point] = []
        self.losses: list[Losses] = []
        self._faults: dict[Seat, str] = {}

    def run(self, *, every: bool, on_judged: Callable[[int], None]) -> None:
        """Read the replay and analyze it; ``every``: points are all changes of walls, not only those that changed the verdict.

        ``on_judged`` is called with each position that is judged.
        """
        judge = _Judge(self._analysis, self._verdict_of, every=every, on_judged=on_judged)
        self._read_first(judge)
        while judge.gaps and not judge.is_spent:
            refiner = _Refiner(judge.gaps)
            self._read(refiner.take)
            judge.gaps = []
            refiner.narrow(judge)
        self.judged = judge.judged
        if judge.is_spent:
            self.left_out.append(f"Not everything after step {judge.last:,} was judged: that would take too long on a board like this.")
        self._explain(dict(sorted(judge.points)), _losers(self.outcome, self.game.seats(self._settings)))

    def _verdict_of(self, state: Any) -> Mapping[str, Json]:
        assert self._analysis is not None
        if self._budget.left <= 0.0:
            raise _Spent
        with self._budget:
            return self._analysis.verdict(state)

    def _read_first(self, judge: _Judge) -> None:
        """Read the replay, judge its positions, and note whether it holds and how the match ended."""

        def take(step: Step) -> None:
            if not self.steps:
                judge.begin(step.before)
            self.steps += 1
            judge.take(step)

        try:
            replay = verify(self.path, take)
        except _UNWRITTEN as error:
            # An untrusted file can contain anything.
            text = f"After {counted(self.steps, 'step')} it holds what no referee writes ({type(error).__name__})."
            self.verified = {"status": "bad", "kind": "unreadable", "text": text, "steps": self.steps}
        else:
            good = {"status": "good", "text": f"Played again: every one of {counted(replay.turns, 'step')} is as the moves give it."}
            self.verified = {**(good if replay.problem is None else {"status": "bad", **replay.problem.to_json()}), "steps": replay.turns}
            self.outcome = self.game.outcome(replay.final)
            for record in replay.faults:
                told = {seat: str(fault.get("text", "")) for seat, fault in record["faults"].items()}
                self._faults |= {seat: f"a fault in step {record['turn']:,}. {text}" for seat, text in told.items()}
            if not self.steps:
                judge.begin(replay.final)
        judge.finish()

    def _read(self, on_step: Callable[[Step], None]) -> None:
        """Read the replay again, until ``on_step`` raises _Done."""
        with contextlib.suppress(_Done):
            verify(self.path, on_step)

    def _explain(self, wanted: dict[int, dict[str, Json]], losers: tuple[Seat, ...]) -> None:
        """Read the replay once more: the cause and the suggestion of each point, and what the moves of the losing seats cost."""
        if 0 in wanted:
            self.points.append(Point(0, wanted.pop(0)))
        searches = [] if self._appraisal is None else [_Search(self.game, self._appraisal, seat, self._settings) for seat in losers]
        # The other half is for the suggestions, and for the verdicts after costly steps.
        own = _Budget(self._budget.left / 2)
        self._budget.left -= own.left
        unsearched = 0

        def take(step: Step) -> None:
            nonlocal unsearched
            position = step.record["turn"] + 1
            if position in wanted:
                self.points.append(self._point(step, wanted.pop(position)))
            if own.left <= 0.0:
                unsearched += bool(searches)
            with own:
                for search in searches if own.left > 0.0 else ():
                    search.take(step)
            if not wanted and not searches:
                raise _Done

        if wanted or searches:
            self._read(take)
        self._budget.left += max(0.0, own.left)
        if unsearched:
            self.left_out.append(
                f"The search for better moves left out the last {counted(unsearched, 'step')}: that would take too long on a board like this."
            )
        if self._analysis is not None and self._budget.left <= 0.0 and any(point.step and not point.best for point in self.points):
            self.left_out.append(f"A turning point without a {self._analysis.suggestion_name} was not searched for one.")
        self.losses = [
            search.losses(self._verdict_after)._replace(fault=self._faults.get(seat, ""))
            for seat, search in zip(losers, searches, strict=False)
        ]

    def _point(self, step: Step, verdict: dict[str, Json]) -> Point:
        analysis = self._analysis
        assert analysis is not None
        what: tuple[str, ...] = ()
        if analysis.invalidates_verdict(step.before, step.after):
            what = tuple(notice.text for notice in step.notices if _is_told(notice))
        best: Mapping[str, Json] = {}
        if self._budget.left > 0.0:
            with self._budget:
                best = analysis.suggestion(step.before)
        return Point(step.record["turn"], verdict, analysis.cause(step.before, step.after), what, best)

    def _verdict_after(self, state: Any) -> Mapping[str, Json]:
        try:
            return {} if self._analysis is None else self._verdict_of(state)
        except _Spent:
            return {}


def _is_told(notice: Notice) -> bool:
    return notice.seat is None and not notice.is_minor


def _losers(outcome: Outcome | None, seats: tuple[Seat, ...]) -> tuple[Seat, ...]:
    """Return the seats that lost; none after a draw, or if the match has no end."""
    if outcome is None or outcome.winner is None:
        return ()
    return tuple(seat for seat in seats if seat != outcome.winner)


class _Judge:
    """Judges positions while a replay is read: every one after a change of walls, and the last one before it."""

    def __init__(
        self,
        analysis: Analysis[Any] | None,
        verdict_of: Callable[[Any], Mapping[str, Json]],
        *,
        every: bool,
        on_judged: Callable[[int], None],
    ) -> None:
        self._analysis, self.verdict_of, self._every, self._on_judged = analysis, verdict_of, every, on_judged
        self.is_spent = analysis is None
        self.judged = self.last = 0
        #: Positions from which a verdict holds.
        self.points: list[tuple[int, dict[str, Json]]] = []
        self.gaps: list[_Gap] = []
        self._kept = _Kept(0)
        self._before: Json = None
        self._verdict: Mapping[str, Json] = {}
        self._position = 0
        self._ends: tuple[Any, Any] = (None, None)

    def begin(self, state: Any) -> None:
        """Judge the start."""
        if not self.is_spent:
            self._ends = (state, state)
            self._guarded(self._open, 0, state)

    def take(self, step: Step) -> None:
        """Take the next step."""
        if self.is_spent:
            return
        self._position = step.record["turn"] + 1
        assert self._analysis is not None
        if self._analysis.invalidates_verdict(step.before, step.after):
            self._guarded(self._close, self._position - 1, step.before)
            self._guarded(self._open, self._position, step.after)
        else:
            self._kept.add(self._position, step.after)
        self._ends = (step.before, step.after)

    def finish(self) -> None:
        """Judge the end of the match."""
        before, last = self._ends
        self._guarded(self._close, self._position, last, before)
        if self._analysis is None:
            self.is_spent = False

    def _guarded(self, work: Callable[..., None], *given: Any) -> None:
        if not self.is_spent:
            try:
                work(*given)
            except _Spent:
                self.is_spent = True

    def _open(self, first: int, state: Any) -> None:
        self._kept = _Kept(first)
        self._kept.add(first, state)
        self._verdict = self.verdict_of(state)
        if self._verdict:
            self.add(first, self._verdict)

    def _close(self, last: int, state: Any, before: Any = None) -> None:
        """Judge the end of a stretch. ``before`` is the position before it, which counts if the match ended there without a verdict."""
        first = self._kept.states[0][0] if self._kept.states else last
        if not self._verdict or last <= first:
            return
        later = self.verdict_of(state)
        if not later and before is not None and last - 1 > first:
            last -= 1
            later = self.verdict_of(before)
        if later and later["verdict"] != self._verdict["verdict"]:
            self._before = later["verdict"]
            self.place(_Gap(first, last, self._verdict["verdict"], later), self._kept)

    def place(self, gap: _Gap, kept: _Kept) -> None:
        """Narrow a gap; note it as a point if nothing is left between its ends, else for the next reading."""
        found = gap.narrowed(kept, self.verdict_of)
        if found.high - found.low > 1:
            self.gaps.append(found)
        else:
            self.points.append((found.high, dict(found.later)))
            self.judged += 1

    def narrow(self, gap: _Gap, kept: _Kept) -> None:
        """The same after a further reading."""
        self._guarded(self.place, gap, kept)

    def add(self, position: int, verdict: Mapping[str, Json]) -> None:
        """Note the verdict of a position after a change of walls."""
        self.judged += 1
        self.last = position
        if self._every or verdict["verdict"] != self._before:
            self.points.append((position, dict(verdict)))
        self._before = verdict["verdict"]
        self._on_judged(position)


class _Refiner:
    """Keeps positions within gaps while a replay is read again."""

    def __init__(self, gaps: list[_Gap]) -> None:
        self._gaps = sorted(gaps, key=lambda gap: gap.low)
        most = max(4, _MOST_KEPT * 8 // len(gaps))
        self._kept = [_Kept(gap.low + 1, most) for gap in self._gaps]
        self._at = 0

    def take(self, step: Step) -> None:
        """Take the next step."""
        position = step.record["turn"] + 1
        while self._at < len(self._gaps) and position >= self._gaps[self._at].high:
            self._at += 1
        if self._at == len(self._gaps):
            raise _Done
        if position > self._gaps[self._at].low:
            self._kept[self._at].add(position, step.after)

    def narrow(self, judge: _Judge) -> None:
        """Let the judge narrow every gap."""
        for gap, kept in zip(self._gaps, self._kept, strict=True):
            judge.narrow(gap, kept)


class _Search:
    """Finds the steps that cost a seat most while a replay is read."""

    def __init__(self, game: Game[Any, Any], appraisal: Appraisal[Any], seat: Seat, settings: Any) -> None:
        self._game, self._appraisal, self._seat, self._settings = game, appraisal, seat, settings
        self._appraise = appraisal.appraiser(seat)
        self._apart = max(1, min(_MOST_APART, appraisal.apart(seat, settings)))
        #: The costliest steps so far, the least costly first. A step that is named rules out those near it, so more are kept than are named.
        self._worst: list[tuple[float, int, Step, Appraised]] = []

    def take(self, step: Step) -> None:
        """Appraise the seat's move in a step."""
        game = self._game
        if self._seat not in game.movers(step.before):
            return
        found = self._appraise(step.before, self._moves(step), step.after)
        if found is None or found.cost <= 0:
            return
        entry = (found.cost, -step.record["turn"], step, found)
        if len(self._worst) < MOST_COSTLY * 2 * self._apart:
            heapq.heappush(self._worst, entry)
        else:
            heapq.heappushpop(self._worst, entry)

    def _moves(self, step: Step) -> dict[Seat, Any]:
        game, given = self._game, step.record.get("moves") or {}
        return {seat: game.codec.parse(step.before, seat, given.get(seat, {})) for seat in game.movers(step.before)}

    def losses(self, verdict_of: Callable[[Any], Mapping[str, Json]]) -> Losses:
        """Return the costliest steps, each at least as far from the others as the game says."""
        chosen: list[tuple[int, Step, Appraised]] = []
        for _, before, step, found in sorted(self._worst, reverse=True, key=lambda entry: entry[:2]):
            if len(chosen) < MOST_COSTLY and all(abs(-before - other) >= self._apart for other, _, _ in chosen):
                chosen.append((-before, step, found))
        chosen.sort(key=lambda entry: entry[0])
        appraisal = self._appraisal
        steps = tuple(self._costly(number, step, found, verdict_of) for number, step, found in chosen)
        return Losses(self._seat, appraisal.measure(self._seat, self._settings), appraisal.is_exact, steps)

    def _costly(self, number: int, step: Step, found: Appraised, verdict_of: Callable[[Any], Mapping[str, Json]]) -> Costly:
        game, moves = self._game, self._moves(step)
        instead, _ = game.step(step.before, {**moves, self._seat: found.better})
        verdicts = verdict_of(step.after), verdict_of(instead)
        told = game.codec.move_json
        return Costly(number, told(moves[self._seat]), told(found.better), found, verdicts if all(verdicts) else ())
