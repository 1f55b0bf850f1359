"""``referee.duel``: two games in which two teams swap the roles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from referee import api, games
from referee.errors import UsageError
from referee.handins.values import Entry
from referee.support.packages import watch_command
from referee.support.words import of_unit
from referee.tournament.here import HerePool
from referee.tournament.keys import new_task, terms_hash
from referee.tournament.many import GamesPlan
from referee.tournament.plan import NoStore, play
from referee.wire.seeds import new_seed

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping

    from referee.games.capabilities import Pairing
    from referee.games.game import Json, Seat
    from referee.match.request import MatchRequest
    from referee.replay.events import MatchResult
    from referee.tournament.values import Task


class Duel:
    """Two games in which two teams swap the roles. ``winner`` is "a", "b" or None for a tie; ``games`` are by the team in the first seat."""

    def __init__(self, pairing: Pairing, lead: Seat, teams: Mapping[str, str], results: Mapping[str, MatchResult]) -> None:
        first, second = ((each.outcome, each.steps) for each in results.values())
        self.teams = dict(teams)
        self.winner: str | None = pairing.winner(first, second)
        self.scores = {team: each.scores[lead] for team, each in results.items()}
        self.games = dict(results)
        #: What a team does in the first seat.
        self.verb = pairing.verb

    @property
    def difference(self) -> float | None:
        """The difference of the scores; None where a team has none."""
        ours, theirs = self.scores["a"], self.scores["b"]
        return None if ours is None or theirs is None else abs(ours - theirs)

    def to_json(self) -> dict[str, Json]:
        """The same as ``referee duel --json`` prints, without the result file."""
        return {
            "teams": self.teams,
            "winner": self.winner,
            "scores": self.scores,
            "difference": self.difference,
            "games": {f"{team} {self.verb}": result.to_json() for team, result in self.games.items()},
        }

    @property
    def text(self) -> str:
        """The result as a sentence: which team won."""
        a, b = self.teams.values()
        loser = "b" if self.winner == "a" else "a"
        return f"{a} and {b} tie" if self.winner is None else f"{self.teams[self.winner]} beats {self.teams[loser]}"

    def __repr__(self) -> str:
        return f"<Duel: {self.text}>"

    def _repr_html_(self) -> str:
        """A notebook shows who beats whom, and both games in the viewer, the second one folded."""
        from referee.notebook import shown_duel

        games = [(f"{self.teams[team]} {self.verb}", game.text, game.replay) for team, game in self.games.items()]
        return shown_duel(f"{self.text}.", games)


def duel(
    team_a: api.Player,
    team_b: api.Player,
    *,
    game: str = games.names()[0],
    rules: str | None = None,
    seed: int | None = None,
    time: api.Time | None = None,
    isolation: str = "auto",
    out: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Duel:
    """Play two games in which two teams swap the roles; a team is a player that can fill both seats. ``out`` is a folder.

    Options are those of ``play``. Raises UsageError for a game without roles to swap, and what ``play`` raises.
    """
    file = api.path_text(out)
    folder = None if file is None else file.rstrip("/") + "/"
    match, _ = api.request((team_a, team_b), game=game, rules=rules, seed=seed, time=time, isolation=isolation, out=folder, **settings)
    return play_pair(match, {"a": team_a, "b": team_b}, api.run)


def play_pair(
    request: MatchRequest, teams: Mapping[str, api.Player], play_one: Callable[[MatchRequest, Mapping[Seat, api.Player]], MatchResult]
) -> Duel:
    """Play the two games of a pair by ``play_one``. The second one uses the seed after the first one's, or the same start where the game says so."""
    game, settings = request.game_object, request.checked_settings
    if game.pairing is None:
        raise UsageError(f"A duel is for games of two roles; {game.info.name} has none to swap: referee play --game {game.info.name}")
    tasks = _games(request, game.pairing)

    def play_task(task: Task) -> MatchResult:
        return play_one(request.replace(seed=task.seed), {seat: teams[name] for seat, name in task.names.items()})

    pool = HerePool(play_task)
    play(GamesPlan(tasks.values(), len(tasks)), NoStore(), pool)
    first, results = game.seats(settings)[0], {team: pool.results[task.key] for team, task in tasks.items()}
    return Duel(game.pairing, first, {team: api.label(player) for team, player in teams.items()}, results)


def _games(request: MatchRequest, pairing: Pairing) -> dict[str, Task]:
    """Return both games of a pair, by the team in the first seat."""
    game, settings = request.game_object, request.checked_settings
    terms, plain = terms_hash(game, settings.rules, request.options), game.codec.settings_json(settings)
    seed = new_seed() if request.seed is None else request.seed
    seeds = (seed, seed if pairing.shares_start else seed + 1)
    return {
        pair[0]: new_task(
            terms, {seat: Entry(team, {}) for seat, team in zip(game.seats(settings), pair, strict=True)}, plain, seeds[number]
        )
        for number, pair in enumerate((("a", "b"), ("b", "a")))
    }


def duel_lines(report: Mapping[str, Any], verb: str, unit: str) -> list[str]:
    """Return a duel's report as lines for people: who won, the games, and what to do next. ``unit`` is that of the scores."""
    teams, winner = report["teams"], report["winner"]
    names = {team: f"{team.upper()} ({name})" for team, name in teams.items()}
    loser = "b" if winner == "a" else "a"
    lines = [f"{names[winner]} beats {names[loser]}." if winner else f"{names['a']} and {names['b']} tie."]
    for team, score in report["scores"].items():
        game = report["games"][f"{team} {verb}"]
        lines.append(f"  {team.upper()} {verb}  {'no score' if score is None else of_unit(score, unit)}: {game['text']}")
        lines += [f"    fault  {player['fault']['text']}" for player in game["players"].values() if player["fault"]]
    lines.append(f"  sandbox  {report['games'][f'a {verb}']['isolation']}")
    if report["difference"] is not None:
        lines.append(f"  difference  {of_unit(report['difference'], unit)}")
    lines += [f"  replay   {game['replay']}" for game in report["games"].values()]
    lines.append(f"  result   {report['result_file']}")
    return [*lines, f"Next:  {watch_command(report['games'][f'a {verb}']['replay'])}"]
