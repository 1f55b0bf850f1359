"""The analysis of a recorded match: the steps that changed its verdict, and those that cost the losing side most."""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING, NamedTuple

from referee.replay.events import PlayersFaulted
from referee.replay.reader import ReplayReader, read_lines
from referee.replay.replay_index import ReplayIndex
from referee.replay.turning_points import Budget, Spent
from referee.support.words import counted

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from referee.games.capabilities import Appraisal, Appraised
    from referee.games.game import Game, Json, Seat
    from referee.replay.events import StepTaken

#: The number of costly steps in a report.
MOST_COSTLY = 5
#: The greatest distance, in steps, that a game may require between two costly steps.
_MOST_APART = 100


class VerdictPoint(NamedTuple):
    """A position from which a verdict holds. ``step`` led to it: the step's own number, 0 for the start of the match.

    ``by`` and ``what`` are the cause and the texts of the step's notices; empty at the start.
    """

    step: int
    verdict: Mapping[str, Json]
    by: str = ""
    what: tuple[str, ...] = ()


class Costly(NamedTuple):
    """A step that cost a seat much: its number, the move that was played, the better one, and the exact verdicts after both.

    ``verdicts`` are empty if the game has none, or no time was left for them.
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


class MatchAnalysis:
    """The analysis of a replay. ``run`` makes it; ``seconds`` of processor time are the most that it spends on top of reading the file.

    ``verified`` is the result of the verification, ``steps`` counts the good steps, ``judged`` the positions with a verdict. ``left_out`` has a
    sentence for all work that would take too long. Raises ReplayError where there is no replay to read.
    """

    def __init__(self, path: Path, seconds: float) -> None:
        self._path = path
        reader = ReplayReader(path)
        self.game, self._settings = reader.game, reader.settings
        self._index = ReplayIndex(None, seconds)
        self.verified: dict[str, Json] = {}
        self.steps = self.judged = 0
        self.left_out = self._index.left_out
        self.points: list[VerdictPoint] = []
        self.losses: list[Losses] = []

    def run(self, *, every: bool, on_judged: Callable[[int], None]) -> None:
        """Read the replay and analyze it; ``every``: points are all changes of walls, not only those that changed the verdict.

        ``on_judged`` is called with each position that is judged.
        """
        index = self._index
        self.verified = index.play(self._path, read_lines(self._path))
        index.compute_verdicts(lambda: on_judged(index.judged[-1][0]))
        self.steps, self.judged = index.steps, len(index.judged)
        # The other half is for the verdicts after costly steps.
        half = index.judging.split()
        before: Json = None
        for position, verdict in index.judged:
            if every or verdict["verdict"] != before:
                self.points.append(self._point(position, verdict))
            before = verdict["verdict"]
        searches, faults = self._searched(half)
        index.judging.join(half)
        self.losses = [search.losses(self._verdict_after, faults.get(search.seat, "")) for search in searches]

    def _point(self, position: int, verdict: Mapping[str, Json]) -> VerdictPoint:
        index, analysis = self._index, self.game.analysis
        if not position or analysis is None:
            return VerdictPoint(0, verdict)
        before, after = index.state_at(position - 1), index.state_at(position)
        what: tuple[str, ...] = ()
        if analysis.invalidates_verdict(before, after):
            what = tuple(notice.text for notice in index.notices(position - 1) if notice.seat is None and not notice.is_minor)
        return VerdictPoint(position - 1, verdict, analysis.cause(before, after), what)

    def _searched(self, budget: Budget) -> tuple[list[_Search], dict[Seat, str]]:
        """Read the replay once more: what the moves of the losing seats cost, and their faults."""
        if self.verified.get("kind") == "unreadable":
            return [], {}
        searches, faults, unsearched = _searched(ReplayReader(self._path), self._index.latest, budget)
        if unsearched:
            self.left_out.append(
                f"The search for better moves left out the last {counted(unsearched, 'step')}: that would take too long on a board like this."
            )
        return searches, faults

    def _verdict_after(self, state: object) -> Mapping[str, Json]:
        try:
            return self._index.verdict_of(state)
        except Spent:
            return {}


def costly_moves(reader: ReplayReader, last: object, seconds: float) -> list[dict[str, Json]]:
    """Return the moves that cost the losing seats most, each with a better one, in JSON for pages.

    ``last`` is the last position. At most so many ``seconds`` of processor time are spent; steps after that are left out.
    """
    searches, _, _ = _searched(reader, last, Budget(seconds))
    return [
        {"seat": search.seat, "turn": costly.step, "played": costly.played, "better": costly.better, "text": costly.appraised.about}
        for search in searches
        for costly in search.losses(lambda _: {}, "").steps
    ]


def _searched(reader: ReplayReader, last: object, budget: Budget) -> tuple[list[_Search], dict[Seat, str], int]:
    """Return the searches through the moves of the losing seats, their faults in words, and the number of steps that the budget left out."""
    game, settings, appraisal = reader.game, reader.settings, reader.game.appraisal
    outcome = game.outcome(last)
    if appraisal is None or outcome is None or outcome.winner is None:
        return [], {}, 0
    searches = [_Search(game, appraisal, seat, settings) for seat in game.seats(settings) if seat != outcome.winner]
    faults: dict[Seat, str] = {}
    unsearched = 0
    for event in reader.events():
        if isinstance(event, PlayersFaulted):
            faults |= {seat: f"a fault in step {event.turn:,}. {fault.text}" for seat, fault in event.faults.items()}
            continue
        unsearched += budget.left <= 0.0
        with budget:
            for search in searches if budget.left > 0.0 else ():
                search.take(event)
    return searches, faults, unsearched


class _Search:
    """Finds the steps that cost a seat most while a replay is read."""

    def __init__(self, game: Game, appraisal: Appraisal, seat: Seat, settings: object) -> None:
        self.seat = seat
        self._game, self._appraisal, self._settings = game, appraisal, settings
        self._appraise = appraisal.appraiser(seat)
        self._apart = max(1, min(_MOST_APART, appraisal.apart(seat, settings)))
        #: The costliest steps so far, the least costly first. A reported step rules out those near it, so this keeps more than the report needs.
        self._worst: list[tuple[float, int, StepTaken, Appraised]] = []

    def take(self, step: StepTaken) -> None:
        """Appraise the seat's move in a step."""
        game = self._game
        if self.seat not in game.movers(step.before):
            return
        appraised = self._appraise(step.before, step.moves, step.after)
        if appraised is None or appraised.cost <= 0:
            return
        entry = (appraised.cost, -step.turn, step, appraised)
        if len(self._worst) < MOST_COSTLY * 2 * self._apart:
            heapq.heappush(self._worst, entry)
        else:
            heapq.heappushpop(self._worst, entry)

    def losses(self, verdict_of: Callable[[object], Mapping[str, Json]], fault: str) -> Losses:
        """Return the costliest steps, each at least as far from the others as the game says. ``fault`` is that of the seat, if it had one."""
        chosen: list[tuple[int, StepTaken, Appraised]] = []
        for _, before, step, appraised in sorted(self._worst, reverse=True, key=lambda entry: entry[:2]):
            if len(chosen) < MOST_COSTLY and all(abs(-before - other) >= self._apart for other, _, _ in chosen):
                chosen.append((-before, step, appraised))
        chosen.sort(key=lambda entry: entry[0])
        appraisal = self._appraisal
        steps = tuple(self._costly(number, step, appraised, verdict_of) for number, step, appraised in chosen)
        return Losses(self.seat, appraisal.measure(self.seat, self._settings), appraisal.is_exact, steps, fault)

    def _costly(self, number: int, step: StepTaken, appraised: Appraised, verdict_of: Callable[[object], Mapping[str, Json]]) -> Costly:
        game, moves = self._game, step.moves
        instead, _ = game.step(step.before, {**moves, self.seat: appraised.better})
        verdicts = verdict_of(step.after), verdict_of(instead)
        move_json = game.codec.move_json
        return Costly(number, move_json(moves[self.seat]), move_json(appraised.better), appraised, verdicts if all(verdicts) else ())
