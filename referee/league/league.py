"""A league and its folder: the schedule from the league file, the store, the replays, and the standings."""

from __future__ import annotations

import uuid
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError
from referee.league import config, schedule, standings
from referee.league.folder import FILE, LeagueRow, LeagueView, league_rows, open_store
from referee.league.league_schedule import Schedule
from referee.pages.folder_listing import ShownPlace, ShownStandings
from referee.replay.paths import make_folder
from referee.tournament import address, commitment
from referee.tournament.comparison_store import KIND
from referee.tournament.duels import comparisons
from referee.tournament.export import match_row
from referee.tournament.store import file_name

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from referee.games.game import Json
    from referee.league.folder import LeagueState
    from referee.league.standings import StandingsRow
    from referee.tournament.ratings import Rating
    from referee.tournament.store import Store

#: The folder of the replays in that of the league.
REPLAYS = "replays"


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

    def __init__(self, folder: Path, store: Store) -> None:
        self.folder = folder
        row = league_rows(store).get(0)
        if row is None:
            raise UsageError(f"{folder} holds a league that was never begun: referee league run FILE --out {folder}")
        self.league = config.from_json(row.league)
        #: The path of its file, or of its folder of teams; "" if it has none.
        self.file = row.file
        self.schedule = Schedule(self.league, self.league.teams)
        self.store = store
        self.view = LeagueView(store, self.schedule)

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    @property
    def replays(self) -> Path:
        """The folder of the replays."""
        return self.folder / REPLAYS

    def standings(self, state: LeagueState, *, resamples: int = 1000) -> list[Standing]:
        """The standings with ratings."""
        from referee.tournament.ratings import decided_places, intervals

        all_comparisons = [comparison for result in state.results for comparison in comparisons(result)]
        rated = intervals(all_comparisons, self.schedule.plan.teams, seed=self.league.resampling_seed, resamples=resamples)
        ratings = {rating.team: rating for rating in rated}
        decided = set(decided_places(rated)) if all_comparisons else set()
        return [
            Standing(row, rating, rating.best_rank == rating.worst_rank in decided, state.forfeits.get(row.team))
            for row in self.rows(state)
            for rating in [ratings[row.team]]
        ]

    def notes(self, state: LeagueState) -> list[str]:
        """Return sentences about the whole league: how ties of an elimination were decided, why duels were not played.

        The reasons of teams that can't start are left out.
        """
        forfeit_reasons = set(state.forfeits.values())
        ties = [line.tie for line in self.bracket(state) if line.tie]
        return [*dict.fromkeys([*ties, *sorted(note for note in state.notes.values() if note not in forfeit_reasons)])]

    def faults(self) -> list[str]:
        """Return a line with the number of faults of each team that has any; no line if none has."""
        records = ((stored.task, stored.record) for stored in self.view.matches(done=True) if stored.record is not None)
        counts = Counter(task.names[seat] for task, record in records for seat in record.faults)
        return [f"faults: {', '.join(f'{team} {count:,}' for team, count in counts.most_common())}"] if counts else []

    def rows(self, state: LeagueState) -> tuple[StandingsRow, ...]:
        """The standings without ratings."""
        plan, results = self.schedule.plan, state.results
        fixtures = self.schedule.fixtures(results) if plan.format in schedule.ROUND_BY_ROUND else ()
        return standings.table(
            results,
            plan.teams,
            byes=schedule.byes(fixtures),
            duels_each=plan.duels_each,
            stages=schedule.survived(plan, results) if plan.format == config.ELIMINATION else None,
            more_is_better=self.schedule.game.pairing is None,
            has_buchholz=plan.format == config.SWISS,
            is_live=plan.format != config.ELIMINATION and state.is_live,
        )

    def rows_of_matches(self) -> Iterator[dict[str, Json]]:
        """Yield every match as a flat JSON object; results are missing where there are none yet."""
        for match in self.view.matches():
            variant = self.league.variants[match.duel.variant].name
            yield match_row(match.duel, match.number, variant, match.task, match.status, match.record)

    def shown(self) -> ShownStandings:
        """The standings for the projector's page: without ratings, so that it can show them between matches."""
        state = self.view.state()
        rows = [ShownPlace(row.place, row.team, row.points, row.played) for row in self.rows(state)]
        return ShownStandings(self.league.name, state.counts.done, state.counts.done + state.counts.planned, rows)

    def contradicted(self) -> list[str]:
        """Return a sentence for each contradiction between the folder and the league: a wrong commitment."""
        try:
            commitment.check_place(self.league.commitment, self.folder)
        except UsageError as error:
            return [str(error)]
        return []

    def bracket(self, state: LeagueState) -> list[schedule.BracketLine]:
        """The fixtures of an elimination so far; empty for another format."""
        return schedule.bracket(self.schedule.plan, state.results) if self.schedule.plan.format == config.ELIMINATION else []


def check_new(folder: Path, database: str | None = None) -> None:
    """Raise UsageError if a folder has a league already, or a comparison. It begins nothing."""
    if (folder / file_name(KIND)).exists():
        raise UsageError(f"{folder} holds the duels of a comparison; name another folder with --out.")
    stored = address.read(folder)
    if (stored is not None and stored.url != database) or (database is not None and (folder / FILE).exists()):
        raise UsageError(_already_there(str(folder), folder))
    if database is None and (folder / FILE).exists():
        with open_store(folder, create=True) as store:
            _check_free(store, folder)


def begin(league: config.League, folder: Path, database: str | None = None, file: str = "") -> OpenLeague:
    """Begin a league in a folder, of a file at this path. UsageError if there is one already.

    A league that was killed before its first line was stored is begun again.
    """
    check_new(folder, database)
    if database is None:
        make_folder(folder)
    store = open_store(folder, database, create=True)
    try:
        with store.claim():
            _check_free(store, folder)
            commitment.check_place(league.commitment, folder)
            make_folder(folder)
            number = uuid.uuid4().hex
            if database is None:
                address.write_id(folder, number)
            else:
                address.write(folder, address.Address(database, number))
            league_rows(store).put(LeagueRow(id=number, league=league.to_json(), file=file))
            # After the store: a league that was killed before that has no secret to publish.
            commitment.write(league.commitment, folder)
        return OpenLeague(folder, store)
    except BaseException:
        store.close()
        raise


def _check_free(store: Store, folder: Path) -> None:
    """Raise UsageError if a store holds a league."""
    if league_rows(store).get(0) is not None:
        raise UsageError(_already_there(store.where, folder))


def _already_there(where: str, folder: Path) -> str:
    return f"There is a league in {where} already. Go on with it: referee league resume {folder}"


def open_league(folder: Path) -> OpenLeague:
    """Open the league of a folder. UsageError if it has none, or if its database has another league."""
    stored = address.read(folder)
    if stored is None and (folder / file_name(KIND)).exists():
        raise UsageError(f"{folder} holds no league, but the duels of a comparison, which referee compare continues.")
    store = open_store(folder, None if stored is None else stored.url)
    try:
        opened = OpenLeague(folder, store)
        row = league_rows(store).get(0)
        number = None if row is None else row.id
        if stored is not None and number != stored.id:
            raise UsageError(f"{store.where} holds another league ({opened.league.name}) than the one of {folder}.")
        if stored is None and address.read_id(folder) not in (None, number):
            raise UsageError(
                f"{store.where} is the file of another league ({opened.league.name}) than the one of "
                f"{folder}. Put this league's own {FILE} there."
            )
        return opened
    except BaseException:
        store.close()
        raise


def first(names: Sequence[str]) -> str:
    """Return at most five names for a sentence."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")
