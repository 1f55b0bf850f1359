"""An arena's folder: its file, its store, the copies of versions, and the standings."""

from __future__ import annotations

import time
import uuid
from datetime import datetime, timezone
from typing import TYPE_CHECKING, NamedTuple

from referee import games
from referee.arena import config, intake
from referee.arena.choice import DuelChoice
from referee.arena.rater import Rater
from referee.arena.season import SeasonState
from referee.arena.state import ArenaState
from referee.arena.store import FILE, ArenaStore
from referee.arena.versions import ACCEPTED, REFUSED, Version, named
from referee.errors import PlayerError, UsageError
from referee.handins.names import check_different, check_name
from referee.support.canonical import canonical
from referee.support.times import moment
from referee.support.words import counted
from referee.tournament import address

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from referee.games.game import Json
    from referee.handins.values import Entry
    from referee.tournament.progress import MatchCounts
    from referee.tournament.ratings import Rating


#: The folder of the replays in the arena's folder.
REPLAYS = "replays"
#: From this certainty on, a version is called the best.
_CERTAIN = 0.95


class VersionStanding(NamedTuple):
    """A version's line in the standings. ``rank`` is the rank of its rating; ``forfeit`` says why it doesn't play any more, else it is None."""

    rank: int
    version: Version
    rating: Rating
    duels: int
    forfeit: str | None

    def to_json(self) -> dict[str, Json]:
        """Return the line as ``--json`` prints it."""
        version, rating = self.version, self.rating
        return {
            "rank": self.rank,
            "team": version.team,
            "version": version.number,
            "rating": round(rating.elo, 2),
            "low": round(rating.low, 2),
            "high": round(rating.high, 2),
            "best_rank": rating.best_rank,
            "worst_rank": rating.worst_rank,
            "duels": self.duels,
            "is_reference": version.is_reference,
            "is_active": version.is_active,
            "submitted": moment(version.submitted),
            "forfeit": self.forfeit,
        }


class Examined(NamedTuple):
    """A version after its check, with its ``program`` if it was accepted. ``is_known``: the team has the same version already, accepted."""

    version: Version
    program: Entry | None = None
    is_known: bool = False


class OpenArena:
    """An open arena. ``close`` it after use.

    New references in the file become versions, and so do references whose files have changed. UsageError if the file demands other
    matches than those so far.
    """

    def __init__(self, folder: Path, store: ArenaStore) -> None:
        self.folder = folder
        self.store = store
        season = store.season.read()
        if season is None:
            raise UsageError(f"{folder} contains an incomplete arena. Begin it again: referee arena new {folder}")
        self.config = config.load(folder, season.seed)
        self._check_terms()
        self._take_references()
        #: The results of all duels.
        self.results = ArenaState(store)
        #: The number of duels with a result when the arena was opened.
        self.over = len(self.results)
        self.plan()

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    @property
    def replays(self) -> Path:
        """The folder of the replays."""
        return self.folder / REPLAYS

    def plan(self, most: int | None = None, *, until_decided: bool = False) -> DuelChoice:
        """Read the versions, and return a choice of further duels: at most ``most``, or until the best version is certain."""
        self.read_versions()
        self.results.catch_up()
        self.entries = {entry.name: entry for entry in self._entries()}
        self.rater = Rater(self.config, self.store, self.results, self.versions)
        who = self.rater, self.versions, self._mark
        self.choice = DuelChoice(self.config, self.store, self.results, *who, most=most, until_decided=until_decided)
        return self.choice

    def owner(self, name: str) -> str | None:
        """Return the team of a version; None for a reference."""
        return self._owners.get(name)

    def read_versions(self) -> None:
        """Read the versions from the store, after the counter by which later changes are noticed."""
        self._mark, self.versions = self.store.season.changes(), self.store.versions.all()
        self._owners = {version.name: version.team for version in self.versions if not version.is_reference}

    def isolate(self, level: str) -> None:
        """Check and play with this level of isolation instead of the file's."""
        self.config = self.config._replace(options=self.config.options.replace(isolation=level))
        self.plan()

    def _entries(self) -> list[Entry]:
        """Return the programs of all accepted versions that were read, and of references, with paths of this machine."""
        fresh = {(team.name, team.hash): team for team in self.config.references}
        names = {version.name: version for version in self.versions}
        programs = []
        for entry in (stored for stored in self.store.versions.programs() if stored.name in names):
            home, version = self.folder / entry.home, names[entry.name]
            if not version.is_reference:
                programs.append(entry._replace(home=str(home), players={seat: str(home / path) for seat, path in entry.players.items()}))
            else:
                programs.append(fresh.get((version.team, version.hash), entry)._replace(name=entry.name))
        return [*programs, *self.config.against]

    def _check_terms(self) -> None:
        now, then = {"seed": self.config.seed, **self.config.terms}, self.store.season.now.terms
        if canonical(now) == canonical(then):
            return
        if then is not None and self.store.duels.count():
            other = ", ".join(name for name in now if canonical(now[name]) != canonical(then.get(name))).replace("time", "time or clock")
            raise UsageError(
                f"{self.folder / config.FILE} differs from the file with which the arena's matches were played, in: {other}. "
                "Change it back, or begin another arena: referee arena new DIR"
            )
        self.store.season.change(terms=now)

    def _take_references(self) -> None:
        """Store new and changed references. References that are no longer in the file stop playing."""
        versions = self.store.versions.all()
        active = {version.team: version for version in versions if version.is_reference and version.is_active}
        for team in self.config.references:
            same = [version for version in versions if version.team == team.name and version.hash == team.hash]
            if any(version.team == team.name and not version.is_reference for version in versions):
                raise UsageError(f"The arena has a team {team.name}. Give the reference in {config.FILE} another name.")
            if not same:
                self.store.versions.put(Version(team=team.name, hash=team.hash, state=ACCEPTED, is_reference=True), team)
            elif not same[0].is_active:
                self.store.versions.activate(team.name, same[0].name)
        for name in active.keys() - {team.name for team in self.config.references}:
            self.store.versions.activate(name)

    def standings(self, *, resamples: int = 1000) -> list[VersionStanding]:
        """Return the versions that play, the best first, with their ratings."""
        playing = {version.name: version for version in self.choice.playing()}
        # A version that can't start any more keeps its rank.
        forfeits = self.store.versions.forfeits()
        playing |= {version.name: version for version in self.versions if version.is_active and version.name in forfeits}
        duels = {name: int(self.results.counted[self.results.positions[name]]) for name in playing}
        rated = self.rater.rated(among=playing, resamples=resamples)
        return [
            VersionStanding(rank, playing[rating.team], rating, duels[rating.team], forfeits.get(rating.team))
            for rank, rating in enumerate(rated, 1)
        ]

    def sentence(self) -> str:
        """Return a sentence that says which version is the best, and how certain that is."""
        names = self.choice.rivals()
        if len(names) < 2 or not self.results.counted.any():
            return "It is not known yet which version is the best."
        pairs = self.results.pairs
        played = counted(int(self.results.counted.sum()) // 2, "duel")
        if (2 * pairs.wins == pairs.games).all():
            return f"None of {len(names):,} versions leads: after {played} all pairs are even."
        best, certainty = self.rater.best(names)
        version = next(candidate for candidate in self.versions if candidate.name == best)
        sure = f"{min(certainty, 0.999):.1%}".replace(".0%", "%").replace("%", " %")
        leader = f"version {version.number} of {version.team}"
        if certainty >= _CERTAIN:
            return f"The best of {len(names):,} versions is {leader}; that is {sure} certain."
        conclusion = f"that is {sure} certain" if certainty else "another one may be as good"
        return f"Of {len(names):,} versions, {leader} leads, but {played} can't tell yet that it is the best: {conclusion}."

    def counts(self) -> MatchCounts:
        """Return the number of matches by status."""
        return self.store.duels.counts(len(self.results))

    def add(
        self, bot: Path, team: str, note: str = "", on_progress: intake.Progress = lambda *_: None, *, logs: bool = False
    ) -> tuple[Version, bool]:
        """Check and store a version of a team; return it, and whether the team had these files already. ``logs``: add it to the audit log.

        A version that was accepted before is not checked again. An accepted one becomes the active version of its team. UsageError if
        submissions are closed, if the name is impossible, or if this machine lacks the isolation for the check.
        """
        if (why := self.frozen()) is not None:
            raise UsageError(why)
        examined = self.examine(bot, team, note, on_progress, time.time())
        with self.store.database.write():
            version = self.keep(examined)
            if logs:
                self.log_command("add", team=team, version=version.number or None, status=version.status)
        return version, examined.is_known

    def log_command(self, action: str, **details: Json) -> None:
        """Add an action of the command line to the audit log."""
        self.store.audit.put(action, {**details, "by": "command line"})

    def examine(self, bot: Path, team: str, note: str, on_progress: intake.Progress, submitted: float) -> Examined:
        """Return a bot after copying and checking it. It was ``submitted`` at a time in seconds since the epoch. Only the copy is stored."""
        self.check_names([("--team", team)])
        try:
            taken = intake.take(bot, self.folder, self.config)
        except PlayerError as error:
            return Examined(Version(team=team, hash="", state=REFUSED, note=note, report={"reason": str(error)}))
        earlier = next((version for version in self.versions if (version.team, version.hash) == (team, taken.hash)), None)
        if earlier is not None and earlier.status == ACCEPTED:
            return Examined(earlier, is_known=True)
        try:
            program = intake.entry_of(taken, team, self.folder, self.config)
        except UsageError as error:
            verdict = intake.CheckVerdict(str(error), {})
        else:
            try:
                verdict = intake.check(taken, self.config, on_progress)
            except PlayerError as error:
                verdict = intake.CheckVerdict(str(error), {})
        state = REFUSED if verdict.reason else ACCEPTED
        report = {"reason": verdict.reason, **verdict.report}
        version = Version(team=team, hash=taken.hash, state=state, note=note, report=report, submitted=submitted)
        return Examined(version, None if verdict.reason else program)

    def keep(self, examined: Examined) -> Version:
        """Store an examined version, and return it. An accepted one becomes the active version of its team."""
        version = examined.version
        if not version.hash:
            # Without files, there is no program to store.
            return version
        if examined.is_known:
            self.store.versions.activate(version.team, version.name)
            return version.model_copy(update={"is_active": True})
        return self.store.versions.put(version, examined.program)

    def activate(self, team: str, number: int, *, admits: bool = True) -> Version:
        """Make an accepted version the active one of its team, as ``Versions.activate``; return it. UsageError if there is no such version."""
        mine = named(self.versions, team)
        chosen = next((version for version in mine if version.number == number and version.status == ACCEPTED), None)
        if chosen is None:
            good = ", ".join(str(version.number) for version in mine if version.status == ACCEPTED)
            raise UsageError(f"{team} has no accepted version {number}; {f'it has {good}' if good else 'it has none'}.")
        self.store.versions.activate(team, chosen.name, admits=admits)
        return chosen.model_copy(update={"is_active": True})

    def frozen(self, *, is_public: bool = False) -> str | None:
        """Return a sentence about why submissions are closed, without the folder if it ``is_public``; None if they are open."""
        if self.store.season.now.is_frozen:
            return "Submissions are closed." if is_public else f"Submissions are closed. Open them: referee arena thaw {self.folder}"
        return self.config.season.refusal(datetime.now(timezone.utc))

    def check_names(self, names: Sequence[tuple[str, str]]) -> None:
        """Raise UsageError for a wrong name of a team. ``names`` are pairs of the beginning of the message and the name."""
        references = [team.name for team in (*self.config.references, *self.config.against)]
        for what, name in names:
            check_name(name, what, config.LONGEST_TEAM)
            if name in references:
                raise UsageError(f"{what}, '{name}', is a reference of the arena; give the team another name.")
        taken = dict.fromkeys([*references, *(version.team for version in self.versions), *self.store.tokens.teams()])
        if any(name not in taken for _, name in names):
            check_different(list(taken | dict.fromkeys(name for _, name in names)))


def new(folder: Path, game: str | None, rules: str | None, database: str | None = None, seat: str | None = None) -> OpenArena:
    """Begin an arena: write its file, unless it exists, and its store. UsageError if the folder has an arena already.

    ``seat`` is the one seat that versions play, None for all.
    """
    definition = games.get(game or games.names()[0])
    rule_set = rules or definition.info.rule_sets[0]
    if rule_set not in definition.info.rule_sets:
        raise UsageError(f"--rules is {rule_set!r:.40}; {definition.info.name} has {', '.join(definition.info.rule_sets)}.")
    file = folder / config.FILE
    there = f"{folder} has an arena already. Go on with it: referee arena add, run, standings."
    stored = address.read(folder)
    if (folder / FILE).exists() or stored is not None:
        with ArenaStore.open(folder, None if stored is None else stored.url, create=True) as store:
            if store.season.read() is not None:
                raise UsageError(there)
    text = config.template(definition, rule_set, seat)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"The folder {folder} can't be written: {error.strerror or error}. Name another one.") from None
    read = config.load(folder)
    store = ArenaStore.open(folder, database, create=True)
    try:
        with store.database.claim():
            if store.season.read() is not None:
                raise UsageError(f"{store.where} contains an arena or a league already; name another database.")
            number = uuid.uuid4().hex
            if database is not None:
                address.write(folder, address.Address(database, number))
            store.season.begin(SeasonState(id=number, seed=read.seed))
        return OpenArena(folder.resolve(), store)
    except BaseException:
        store.close()
        raise


def open_arena(folder: Path) -> OpenArena:
    """Open the arena of a folder. UsageError if the folder has no arena, or a wrong file."""
    stored = address.read(folder)
    if not (folder / config.FILE).is_file() or (stored is None and not (folder / FILE).is_file()):
        raise UsageError(
            f"{folder} is not the folder of an arena. Begin one: referee arena new {folder if not folder.is_file() else 'DIR'}"
        )
    store = ArenaStore.open(folder.resolve(), None if stored is None else stored.url)
    try:
        if stored is not None and getattr(store.season.read(), "id", None) != stored.id:
            raise UsageError(f"{store.where} contains another arena than {folder}.")
        return OpenArena(folder.resolve(), store)
    except BaseException:
        store.close()
        raise
