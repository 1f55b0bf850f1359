"""What a league plays: the duels of its fixtures, and the matches of each duel."""

from __future__ import annotations

from typing import TYPE_CHECKING

from example_bots import BOTS
from referee import games
from referee.league import config, schedule
from referee.tournament import keys
from referee.tournament.starts import match_seed
from referee.tournament.worker import Terms

if TYPE_CHECKING:
    from collections.abc import Sequence

    from referee.games.game import AnyGame, Json, Settings
    from referee.handins.values import Entry
    from referee.league.schedule import Fixture
    from referee.tournament.duels import DuelResult, PlannedDuel
    from referee.tournament.values import Task


class Schedule:
    """What a league plays."""

    def __init__(self, league: config.League, teams: Sequence[Entry]) -> None:
        self.league = league
        self.game: AnyGame = games.get(league.game)
        self.teams = {team.name: team for team in teams}
        #: How all matches are played.
        self.terms = Terms(league.game, league.rules, league.options)
        self._terms_hash = keys.terms_hash(self.game, league.rules, league.options)
        #: The number of matches of each duel.
        self.matches_each = 1 if self.game.pairing is None else 2
        self._commitment = league.commitment
        #: The starts of each variant: the same for all teams and both roles.
        self.starts = tuple(map(self._commitment.starts, range(len(league.variants))))
        form = league.format
        self.plan = schedule.FixturePlan(
            form.kind,
            tuple(self.teams),
            rounds=form.rounds or None if form.kind in (config.SWISS, config.TABLES) else None,
            table_size=form.table_size if form.kind == config.TABLES else None,
            duels_each=len(self.starts[0]) * len(league.variants) * league.repeat,
            secret=league.secret,
        )
        self._settings: dict[tuple[int, int], tuple[dict[str, Json], Settings]] = {}

    def fixtures(self, results: Sequence[DuelResult]) -> Sequence[Fixture]:
        """All fixtures that are known after these results."""
        return schedule.known_fixtures(self.plan, results)

    def duels(self, results: Sequence[DuelResult]) -> list[PlannedDuel]:
        """All duels that are known after these results, in schedule order."""
        return list(schedule.duels(self.fixtures(results), len(self.starts[0]), len(self.league.variants), self.league.repeat))

    def tasks(self, duel: PlannedDuel, blamed: tuple[str, ...] = ()) -> tuple[Task, ...]:
        """The matches of a duel: both roles, or one match of all. A team in ``blamed`` loses if nobody else can be to blame."""
        settings, checked = self._settings_of(duel)
        seed = match_seed(self.starts[duel.variant][duel.start], duel.repeat)
        # Teams that meet again in a later round play another match.
        repeat = duel.repeat + duel.round * self.league.repeat if self.plan.format in (config.SWISS, config.TABLES) else duel.repeat
        orders = [duel.teams] if self.game.pairing is None else [duel.teams, duel.teams[::-1]]
        return tuple(
            keys.new_task(
                self._terms_hash,
                {seat: self.teams[name] for seat, name in zip(self.game.seats(checked), order, strict=True)},
                settings,
                seed,
                repeat=repeat,
                blamed=blamed,
            )
            for order in orders
        )

    def settings(self, duel: PlannedDuel) -> Settings:
        """The checked settings of a duel."""
        return self._settings_of(duel)[1]

    def _settings_of(self, duel: PlannedDuel) -> tuple[dict[str, Json], Settings]:
        """The settings of a duel's matches, as JSON and checked; the same for all duels on its start."""
        place = (duel.variant, duel.start)
        if place not in self._settings:
            settings = self._commitment.match_settings(duel.variant, self.starts[duel.variant][duel.start])
            self._settings[place] = settings, self.game.codec.settings(self.league.rules, settings)
        return self._settings[place]

    def owner(self, team: str) -> str | None:
        """The team itself; None for one of example bots."""
        return None if {bot.name for bot in BOTS}.issuperset(self.teams[team].players.values()) else team

    def order(self, duel: PlannedDuel) -> tuple[int, ...]:
        """Return the order of duels: start by start, and round by round on each, so that all teams have played about as many duels at any moment.

        In a Swiss league and in an elimination, a round ends before the next one is known, so a round has all its starts.
        """
        return (duel.number,) if self.plan.format in schedule.ROUND_BY_ROUND else (duel.repeat, duel.start, duel.number)
