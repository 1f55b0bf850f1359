"""A league and its folder: the schedule from the league file, the store, the replays, and what is computed from them."""

from __future__ import annotations

import uuid
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from example_bots import BOTS
from referee import games
from referee.errors import UsageError
from referee.league import config, schedule, standings
from referee.league.database import FILE
from referee.league.engine import LeagueState, read_state
from referee.league.store import Store
from referee.replay.paths import make_folder
from referee.support.words import counted
from referee.tournament import address, commitment, keys
from referee.tournament.comparison_store import KIND
from referee.tournament.results import comparisons, duel_result
from referee.tournament.starts import match_seed
from referee.tournament.store import file_name
from referee.tournament.transactions import StoreError, quoted
from referee.tournament.values import MatchTask
from referee.tournament.worker import Terms

if TYPE_CHECKING:
    from collections.abc import Container, Mapping, Sequence
    from pathlib import Path

    from referee.games.game import AnyGame, Json, Seat, Settings
    from referee.league.standings import StandingsRow
    from referee.tournament.ratings import Rating
    from referee.tournament.values import DuelResult, Fixture, PlannedDuel, Record, Team

#: The folder of the replays in that of the league.
REPLAYS = "replays"


class Schedule:
    """What a league plays: implements ``engine.MatchPlan``."""

    has_forfeits = True
    #: True if further duels follow for ever, so that none of them is missing.
    is_endless = False

    def __init__(self, league: config.League, teams: Sequence[Team]) -> None:
        self.league = league
        self.game: AnyGame = games.get(league.game)
        self.teams = {team.name: team for team in teams}
        #: How all matches are played.
        self.terms = Terms(league.game, league.rules, league.options)
        #: The number of matches of each duel.
        self.matches_each = 1 if self.game.pairing is None else 2
        #: The starts of each variant.
        self.starts = tuple(league.starts_of(variant) for variant in range(len(league.variants)))
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

    def tasks(self, duel: PlannedDuel) -> list[MatchTask]:
        """The matches of a duel: both roles, or one match of all."""
        seats = self.game.seats(self.settings(duel))
        orders = [duel.teams] if self.game.pairing is None else [duel.teams, duel.teams[::-1]]
        return [self._task(duel, number, dict(zip(seats, order, strict=True))) for number, order in enumerate(orders)]

    def _task(self, duel: PlannedDuel, number: int, seats: Mapping[Seat, str]) -> MatchTask:
        start = self.starts[duel.variant][duel.start]
        settings, _ = self._settings_of(duel)
        seed = match_seed(start, duel.repeat)
        lineup = {seat: self.teams[name] for seat, name in seats.items()}
        # Teams that meet again in a later round play another match.
        repeat = duel.repeat + duel.round * self.league.repeat if self.plan.format in (config.SWISS, config.TABLES) else duel.repeat
        key = keys.match_key(self.game, self.league.rules, lineup, settings, seed, repeat)
        return MatchTask(key, duel.number, number, seats, settings, seed)

    def settings(self, duel: PlannedDuel) -> Settings:
        """The checked settings of a duel."""
        return self._settings_of(duel)[1]

    def _settings_of(self, duel: PlannedDuel) -> tuple[dict[str, Json], Settings]:
        """The settings of a duel's matches, as JSON and checked; the same for all duels on its start."""
        place = (duel.variant, duel.start)
        if place not in self._settings:
            settings = self.league.match_settings(duel.variant, self.starts[duel.variant][duel.start])
            self._settings[place] = settings, self.game.codec.settings(self.league.rules, settings)
        return self._settings[place]

    def result(
        self,
        duel: PlannedDuel,
        matches: Sequence[tuple[MatchTask, Record | None]],
        forfeits: Container[str],
        *,
        is_stopped: bool,
    ) -> DuelResult | None:
        """The result of a duel; None while one of its matches is missing."""
        if self.plan.format in schedule.ROUND_BY_ROUND:
            # The pairs of later rounds depend on a duel that was played to its end.
            is_whole = bool(matches) and all(record is not None for _, record in matches)
            forfeits = () if is_whole else forfeits
        return duel_result(self.game, self.settings(duel), duel, matches, forfeits, is_stopped=is_stopped)

    def owner(self, team: str) -> str | None:
        """The team itself; None for one of example bots."""
        return None if {bot.name for bot in BOTS}.issuperset(self.teams[team].players.values()) else team

    def stage(self, duel: PlannedDuel) -> int:
        """0: bots are shown nothing that is hidden from their authors."""
        return 0

    def order(self, duel: PlannedDuel) -> tuple[int, ...]:
        """Return the order of duels: start by start, and round by round on each, so that all teams have played about as many duels at any moment.

        In a Swiss league and in an elimination, a round ends before the next one is known, so a round has all its starts.
        """
        return (duel.number,) if self.plan.format in schedule.ROUND_BY_ROUND else (duel.repeat, duel.start, duel.number)


class Standing(NamedTuple):
    """A team's line in the standings, with its rating. ``is_decided``: its rank is certain at 95 %.

    ``forfeit`` says why the team can't start.
    """

    row: StandingsRow
    rating: Rating
    is_decided: bool
    forfeit: str | None


class OpenLeague:
    """A league's folder with its store. ``close`` it after use."""

    #: The teams that don't play because the staff says so; nobody does in a league.
    disqualified: Sequence[str] = ()

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder = folder
        self.store = store
        facts = store.fact("league")
        if facts is None:
            raise UsageError(f"{folder} holds a league that was never begun: referee league run FILE --out {folder}")
        self.league = config.from_json(facts)
        self.schedule = Schedule(self.league, store.teams())

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    @property
    def replays(self) -> Path:
        """The folder of the replays."""
        return self.folder / REPLAYS

    def check_whole(self) -> None:
        """Raise StoreError if the store has lost a team, a duel or a match. The replays are not looked at."""
        self.store.check_teams(self.schedule.teams)
        if numbers := self.store.lost(self.schedule.matches_each):
            raise StoreError(
                f"The store {quoted(self.store.where)} has lost matches of {counted(len(numbers), 'duel')}. See what is missing: referee "
                f"league verify {quoted(self.folder)}   Restore the file from a copy."
            )

    def state(self) -> LeagueState:
        """The state of the league. StoreError if the store has lost matches."""
        self.check_whole()
        return read_state(self.store, self.schedule)

    def standings(self, results: Sequence[DuelResult], *, resamples: int = 1000) -> list[Standing]:
        """The standings with ratings."""
        from referee.tournament.ratings import decided_places, intervals

        all_comparisons = [comparison for result in results for comparison in comparisons(result)]
        rated = intervals(all_comparisons, self.schedule.plan.teams, seed=self.league.resampling_seed, resamples=resamples)
        ratings = {rating.team: rating for rating in rated}
        decided = set(decided_places(rated)) if all_comparisons else set()
        forfeits = self.store.forfeits()
        return [
            Standing(row, rating, rating.best_rank == rating.worst_rank in decided, forfeits.get(row.team))
            for row in self.rows(results)
            for rating in [ratings[row.team]]
        ]

    def notes(self, results: Sequence[DuelResult]) -> list[str]:
        """Return sentences about the whole league: how ties of an elimination were decided, why duels were not played.

        The reasons of teams that can't start are left out.
        """
        forfeit_reasons = set(self.store.forfeits().values())
        ties = [line.tie for line in self.bracket(results) if line.tie]
        return [*dict.fromkeys([*ties, *sorted(note for note in self.store.duel_notes().values() if note not in forfeit_reasons)])]

    def rows(self, results: Sequence[DuelResult]) -> tuple[StandingsRow, ...]:
        """The standings without ratings."""
        plan = self.schedule.plan
        fixtures = self.schedule.fixtures(results) if plan.format in schedule.ROUND_BY_ROUND else ()
        return standings.table(
            results,
            plan.teams,
            byes=schedule.byes(fixtures),
            duels_each=plan.duels_each,
            stages=schedule.survived(plan, results) if plan.format == config.ELIMINATION else None,
            more_is_better=self.schedule.game.pairing is None,
            has_buchholz=plan.format == config.SWISS,
            is_live=plan.format != config.ELIMINATION and self.is_live(),
        )

    def contradicted(self, results: Sequence[DuelResult]) -> list[str]:
        """Return a sentence for everything else in the folder that results from the replays alone don't give: a wrong commitment."""
        try:
            commitment.check_place(self.league.commitment, self.folder)
        except UsageError as error:
            return [str(error)]
        return []

    def is_live(self) -> bool:
        """True while matches are missing."""
        return self.store.counts().planned > 0

    def bracket(self, results: Sequence[DuelResult]) -> list[schedule.BracketLine]:
        """The fixtures of an elimination so far; empty for another format."""
        return schedule.bracket(self.schedule.plan, results) if self.schedule.plan.format == config.ELIMINATION else []


def check_new(folder: Path, database: str | None = None) -> None:
    """Raise UsageError if a folder has a league already, or a comparison. It begins nothing."""
    if (folder / file_name(KIND)).exists():
        raise UsageError(f"{folder} holds the duels of a comparison; name another folder with --out.")
    stored = address.read(folder)
    if (stored is not None and stored.url != database) or (database is not None and (folder / FILE).exists()):
        raise UsageError(_already_there(str(folder), folder))
    if database is None and (folder / FILE).exists():
        with Store.open(folder, create=True) as store:
            _check_free(store, folder)


def begin(league: config.League, folder: Path, database: str | None = None) -> OpenLeague:
    """Begin a league in a folder. UsageError if there is one already.

    A league that was killed before its first line was stored is begun again.
    """
    check_new(folder, database)
    if database is None:
        make_folder(folder)
    store = Store.open(folder, database, create=True)
    try:
        with store.claim():
            _check_free(store, folder)
            commitment.check_place(league.commitment, folder)
            make_folder(folder)
            number = uuid.uuid4().hex
            facts = {"league": league.to_json(), "id": number}
            if database is None:
                address.write_id(folder, number)
            else:
                address.write(folder, address.Address(database, number))
            store.begin(facts, league.teams)
            # After the store: a league that was killed before has no secret that anybody could need.
            commitment.write(league.commitment, folder)
        return OpenLeague(folder, store)
    except BaseException:
        store.close()
        raise


def _check_free(store: Store, folder: Path) -> None:
    """Raise UsageError if a store holds a league."""
    if store.fact("league") is not None:
        raise UsageError(_already_there(store.where, folder))


def _already_there(where: str, folder: Path) -> str:
    return f"There is a league in {where} already. Go on with it: referee league resume {folder}"


def open_league(folder: Path) -> OpenLeague:
    """Open the league of a folder. UsageError if there is none, or if its database holds another league."""
    stored = address.read(folder)
    if stored is None and (folder / file_name(KIND)).exists():
        raise UsageError(f"{folder} holds no league, but the duels of a comparison, which referee compare continues.")
    store = Store.open(folder, None if stored is None else stored.url)
    try:
        opened = OpenLeague(folder, store)
        if stored is not None and store.fact("id") != stored.id:
            raise UsageError(f"{store.where} holds another league ({opened.league.name}) than the one of {folder}.")
        if stored is None and address.read_id(folder) not in (None, store.fact("id")):
            raise UsageError(
                f"{store.where} is the file of another league ({opened.league.name}) than the one of "
                f"{folder}. Put this league's own {FILE} there."
            )
        return opened
    except BaseException:
        store.close()
        raise


def first(names: Sequence[str], most: int = 5) -> str:
    """Some names for a sentence."""
    text = ", ".join(islice(names, most))
    return text if len(names) <= most else f"{text} and {len(names) - most:,} more"
