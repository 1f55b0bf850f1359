"""Duels, and their results from the records of their matches."""

from __future__ import annotations

from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from referee.games.outcome import Outcome

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence

    from referee.games.game import AnyGame, Settings
    from referee.tournament.values import Record, Task


class PlannedDuel(NamedTuple):
    """The unit that is scored: a fixture on one start, in one variant of the settings. ``number`` is its place in the schedule, from 0.

    Two teams play both roles; in a game without roles to swap, the teams of a table play one match.
    """

    number: int
    round: int
    teams: tuple[str, ...]
    start: int = 0
    variant: int = 0
    repeat: int = 0


class DuelResult(NamedTuple):
    """The result of a duel.

    ``points`` are the match points of each team: 1 for a win, 0.5 for a tie, 0 for a loss; at a table, the share of the other teams that
    a team has beaten, a tie counting half. ``totals`` is what breaks ties of points: the steps that a team needed in its own first seat
    (fewer are better), or its score at a table (more is better, ``more_is_better``). ``forfeits`` are teams that could not start.

    A duel that will not be played, because its matches were void too often or because it would repeat another, has a result without points
    (``stopped``), so that no round waits for it. A team has no entry in ``totals`` if it got none.
    """

    duel: PlannedDuel
    points: Mapping[str, float]
    totals: Mapping[str, float]
    forfeits: tuple[str, ...] = ()
    more_is_better: bool = False


class PairedComparison(NamedTuple):
    """Two teams on one start: ``score`` is 1 if ``a`` is better, 0 if ``b`` is, 0.5 for a tie. Comparisons on one start are dependent."""

    a: str
    b: str
    score: float
    start: int = 0


def duel_result(
    game: AnyGame,
    settings: Settings,
    duel: PlannedDuel,
    matches: Sequence[tuple[Task, Record | None]],
    forfeits: Container[str] = (),
    *,
    is_stopped: bool = False,
) -> DuelResult | None:
    """Return the result of a duel; None while one of its matches is missing. A team of ``forfeits`` loses to every team that can start.

    A duel that ``is_stopped`` before all its matches were played counts for nobody.
    """
    failed = {task.names[seat] for task, record in matches if record is not None and not record.started for seat in record.faults}
    out = [team for team in duel.teams if team in forfeits or team in failed]
    played = [(task, record) for task, record in matches if record is not None]
    is_whole = bool(played) and len(played) == len(matches)
    if out and (game.pairing is not None or not is_whole):
        return _forfeited(duel, out, more_is_better=game.pairing is None)
    if not is_whole:
        return stopped(duel) if is_stopped else None
    return _table(duel, *played[0], out) if game.pairing is None else _pair(game, settings, duel, played)


def stopped(duel: PlannedDuel) -> DuelResult:
    """Return the result of a duel that will not be played: it has no points and doesn't count."""
    return DuelResult(duel, {}, {})


def _forfeited(duel: PlannedDuel, out: Sequence[str], *, more_is_better: bool) -> DuelResult:
    """A duel of which some teams could not start: the others have beaten them, and tie with each other."""
    ready = len(duel.teams) - len(out)
    won = (len(out) + (ready - 1) / 2) / (len(duel.teams) - 1)
    shares = {team: 0.0 if team in out else won for team in duel.teams}
    return DuelResult(duel, shares, {}, tuple(out), more_is_better)


def _pair(game: AnyGame, settings: Settings, duel: PlannedDuel, matches: Sequence[tuple[Task, Record]]) -> DuelResult:
    """Both games of a duel; the team that has the first seat in the first game comes first."""
    pairing = game.pairing
    assert pairing is not None
    a, b = duel.teams
    games = [(Outcome(record.reason, record.winner, record.scores, record.text), record.steps) for _, record in matches]
    winner = pairing.winner(games[0], games[1])
    points = {a: 0.5, b: 0.5} if winner is None else {a: float(winner == "a"), b: float(winner == "b")}
    needed = {team: float(pairing.steps_needed(*played, settings)) for team, played in zip((a, b), games, strict=True)}
    return DuelResult(duel, points, needed)


def _table(duel: PlannedDuel, task: Task, record: Record, out: Sequence[str]) -> DuelResult:
    """One match of many: a team's points are the share of the others that it has beaten. Teams in ``out`` could not start."""
    worth = {team: (float("-inf"),) if team in out else _worth(record, seat) for seat, team in task.names.items()}
    points = {}
    for team, mine in worth.items():
        others = [value for other, value in worth.items() if other != team]
        points[team] = sum(1.0 if mine > value else 0.5 if mine == value else 0.0 for value in others) / len(others)
    totals = {team: float(record.scores.get(seat) or 0.0) for seat, team in task.names.items()}
    return DuelResult(duel, points, totals, tuple(out), more_is_better=True)


def _worth(record: Record, seat: str) -> tuple[float, ...]:
    """Return the value that decides a seat's place: the game's own rank if there is one, else the score."""
    if record.ranks is not None:
        return (-record.ranks[seat],)
    score = record.scores.get(seat)
    return (float("-inf") if score is None else score, float(record.winner == seat))


def comparisons(result: DuelResult) -> list[PairedComparison]:
    """Return a duel's result as comparisons of two teams each; none if it was stopped. Nobody is better where neither could start."""
    if not result.points:
        return []
    ranks = {team: -1.0 if team in result.forfeits else result.points.get(team, 0.0) for team in result.duel.teams}
    return [
        PairedComparison(a, b, 0.5 if ranks[a] == ranks[b] else float(ranks[a] > ranks[b]), result.duel.start)
        for a, b in combinations(ranks, 2)
    ]
