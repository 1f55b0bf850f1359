"""The file ``arena.toml``: what an arena plays, when it takes versions, and who is always in it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import AwareDatetime, Field

import example_bots
from referee import games
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.handins.entry import read as read_entry
from referee.handins.names import LONGEST_NAME, check_different, check_name
from referee.isolation import submission
from referee.league.config import LeagueFile, LeagueReader
from referee.match import settings_file
from referee.match.options import shown
from referee.support.meant import near_one
from referee.support.sections import Section
from referee.support.times import shown_time
from referee.tournament.play_file import PlayFile, StartsSection
from referee.workshop.build import is_site

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from referee.games.game import AnyGame, Json, Seat, Settings
    from referee.league.config import League
    from referee.tournament.values import Team

FILE = "arena.toml"
#: The value of ``roles`` for versions that play every seat.
BOTH = "both"
#: The value of ``versions`` with which all accepted versions go on playing, not only the active version of each team.
ALL = "all"
#: How many starts are drawn if the file doesn't say it.
_STARTS = 1_000
#: So many pairs of example bots are references of a new arena: a weak, a middling and a strong one. The others stand there as comments.
_REFERENCES = 3


class Period(Section):
    """A time in which the arena takes no versions."""

    begins: AwareDatetime
    ends: AwareDatetime


class Season(Section):
    """When the arena takes versions, and how many. ``placement`` is the number of a new version's first duels."""

    opens: AwareDatetime | None = None
    closes: AwareDatetime | None = None
    frozen: list[Period] = Field(default_factory=list)
    submissions_per_day: int = Field(default=10, ge=1, le=10_000)
    max_bytes: int = Field(default=20 << 20, ge=1, le=submission.MOST_BYTES)
    placement: int = Field(default=10, ge=1, le=1_000)

    def refusal(self, now: datetime) -> str | None:
        """Return why the arena takes no version at this time, as a sentence; None if it does."""
        if self.opens is not None and now < self.opens:
            return f"The season opens at {shown_time(self.opens)}."
        if self.closes is not None and now >= self.closes:
            return f"The season closed at {shown_time(self.closes)}."
        ends = [period.ends for period in self.frozen if period.begins <= now < period.ends]
        return f"The arena is frozen until {shown_time(max(ends))}." if ends else None


class Visibility(Section):
    """Who may see the replays of other teams' matches, and who a bot's log."""

    replays: Literal["all", "own"] = "all"
    logs: Literal["own", "staff"] = "own"


class ArenaFile(PlayFile):
    """An arena's file."""

    versions: Literal["all", "active"] = "active"
    roles: str = BOTH
    against: list[str] = Field(default_factory=list)
    starts: StartsSection = StartsSection(count=_STARTS)
    season: Season = Season()
    visibility: Visibility = Visibility()
    workshop: str = ""
    references: list[dict[str, object]] = Field(default_factory=list)


class ArenaConfig(NamedTuple):
    """A checked file. ``league`` has no teams: it says how matches are played.

    ``seat`` is the one seat that versions play, None for all; then ``against`` are the references that fill the other seats. They play no
    duels of their own. ``settings`` are the checked ones of the first start. ``workshop`` is the folder of the workshop that the server shows, None for none.
    """

    league: League
    settings: Settings
    versions: str
    seat: Seat | None
    against: tuple[Team, ...]
    references: tuple[Team, ...]
    season: Season
    visibility: Visibility
    workshop: Path | None

    @property
    def game(self) -> AnyGame:
        """The game."""
        return games.get(self.league.game)

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats that a version has to play."""
        return self.game.seats(self.settings) if self.seat is None else (self.seat,)

    @property
    def terms(self) -> dict[str, Json]:
        """Everything that decides results but the programs and the seed, by names that people know."""
        facts = self.league.to_json()
        return {
            **{name: facts[name] for name in ("game", "rules")},
            "settings": facts["variants"],
            **{name: facts[name] for name in ("starts", "time", "run", "limits")},
            "roles": self.seat or BOTH,
            "against": [[team.name, team.hash] for team in self.against],
        }


def load(folder: Path, seed: int | str | None = None) -> ArenaConfig:
    """Return the checked file of an arena's folder. ``seed`` is that of the store, for a file without one.

    The UsageError names the file, the key and what to do.
    """
    path = folder / FILE
    if not path.is_file():
        raise UsageError(f"{folder} is not the folder of an arena: it has no {FILE}. Begin one: referee arena new DIR")
    file = settings_file.read(path, ArenaFile, "arena file")
    if file.seed is None:
        file = file.replace(seed=seed)
    try:
        return _checked(file, folder)
    except (UsageError, SettingsError) as error:
        raise UsageError(f"In the arena file {path}: {error}") from None


def _checked(file: ArenaFile, folder: Path) -> ArenaConfig:
    shared = {name: getattr(file, name) for name in PlayFile.model_fields}
    reader = LeagueReader(LeagueFile.model_construct(**shared), folder, folder.resolve().name[:LONGEST_NAME])
    league, checked, _ = reader.without_teams()
    seats = reader.game.seats(checked[0])
    if file.season.opens is not None and file.season.closes is not None and file.season.opens >= file.season.closes:
        raise UsageError("season.closes is not after season.opens; change one of them.")
    if any(period.begins >= period.ends for period in file.season.frozen):
        raise UsageError("season.frozen has a period that ends before it begins; change it.")
    if file.roles != BOTH and (reader.game.pairing is None or file.roles not in seats):
        good = (BOTH,) if reader.game.pairing is None else (BOTH, *seats)
        raise UsageError(f"roles is {shown(file.roles)}; {near_one(file.roles, good)}")
    seat = None if file.roles == BOTH else file.roles
    if (seat is None) == bool(file.against):
        wrong = "against is for one role" if seat is None else f'roles is "{seat}"'
        remedy = "remove against, or name a seat in roles" if seat is None else "name in against the references that play the other seat"
        raise UsageError(f"{wrong}; {remedy}.")
    references = _references(file, reader, checked[0], seat, folder)
    for name in file.against:
        if name not in references:
            raise UsageError(f"against names {shown(name)}, which is no reference; {near_one(name, list(references))}")
    against = tuple(references.pop(name) for name in dict.fromkeys(file.against))
    if against:
        # A variant for each of them, so that a duel says whom it is against.
        league = league._replace(variants=tuple(league.variants[0]._replace(name=f"against {team.name}") for team in against))
    settings = reader.game.codec.settings(league.rules, league.match_settings(0, league.starts_of(0)[0]))
    workshop = folder / file.workshop if file.workshop else None
    if workshop is not None and not is_site(workshop):
        raise UsageError(f"workshop is {shown(file.workshop)}, a folder without a workshop. Build one: referee workshop build FOLDER")
    rest = (file.season, file.visibility, workshop)
    return ArenaConfig(league, settings, file.versions, seat, against, tuple(references.values()), *rest)


def _references(file: ArenaFile, reader: LeagueReader, settings: Settings, seat: Seat | None, folder: Path) -> dict[str, Team]:
    """Return the references by their names, those of ``against`` with programs for the other seats."""
    references: dict[str, Team] = {}
    seats = reader.game.seats(settings)
    for number, row in enumerate(file.references, 1):
        name = row.get("name")
        if not isinstance(name, str):
            raise UsageError(f"references, table {number}: the key 'name' is missing, or is no text.")
        check_name(name, f"The name of reference {number}", LONGEST_TEAM)
        played_seats = seats if seat is None else tuple(candidate for candidate in seats if (candidate == seat) != (name in file.against))
        spec = reader.play.spec(name, row, settings, played_seats)
        references[name] = read_entry(name, spec, reader.game, settings, folder, played_seats)
    check_different([str(row["name"]) for row in file.references])
    return references


#: The longest name of a team in an arena, in characters: names of its versions end in " v" and a number.
LONGEST_TEAM = LONGEST_NAME - 8


def template(game: AnyGame, rules: str) -> str:
    """Return the file of a new arena, with example bots of the game as references."""
    seats = game.seats(game.codec.settings(rules, {game.info.players_option: 2} if game.info.players_option else {}))
    rows = _example_teams(game, rules, seats)
    most = len(rows) - 1
    chosen = {round(most * place / (_REFERENCES - 1)) for place in range(_REFERENCES)} if most > 0 else {0}
    tables = []
    for number, (name, programs) in enumerate(rows):
        lines = ["[[references]]", f'name = "{name}"', *(f'{key} = "{value}"' for key, value in programs.items())]
        tables.append("\n".join(lines if number in chosen else [f"# {line}" for line in lines]) + "\n")
    seat = seats[0]
    return _TEMPLATE.format(game=game.info.name, rules=rules, seat=seat, most=_STARTS, references="\n".join(tables))


def _example_teams(game: AnyGame, rules: str, seats: Sequence[Seat]) -> list[tuple[str, Mapping[str, str]]]:
    """Return teams of example bots, weak to strong: the weakest of each seat together, and so on to the strongest."""
    bots = [bot for bot in example_bots.BOTS if bot.game == game.info.name and (not bot.rules or rules in bot.rules)]
    if game.info.players_option:
        return [(bot.name, {"program": bot.name}) for bot in bots]
    by_seat = [[bot.name for bot in bots if bot.plays(seat)] for seat in seats]
    count = min(map(len, by_seat))
    programs = {}
    for number in range(count):
        names = [seat_bots[round(number * (len(seat_bots) - 1) / max(1, count - 1))] for seat_bots in by_seat]
        programs["-".join(dict.fromkeys(names))] = dict(zip(seats, names, strict=True))
    return list(programs.items())


_TEMPLATE = """\
# An arena: add versions of bots with "referee arena add", and play with "referee arena run".

game = "{game}"
rules = "{rules}"

# "all": every accepted version goes on playing, which shows whether the newest is the best.
# "active": only the active version of each team plays on, after the first duels of each version.
versions = "all"

# "both": a version plays every seat. With one seat, such as "{seat}", versions are compared in it:
# both meet the same reference on the same start. Then name references: against = ["..."]. Each reference has one program then:
# those in against for the other seat, all others for this seat.
roles = "both"

# "strict" plays in a sandbox or not at all; "none" has no sandbox.
isolation = "auto"

[settings]
# The settings of the game: referee games {game}

[starts]
# So many starts are drawn; or file = "starts.jsonl".
count = {most}

[time]
# Seconds, or "none": startup, move, bank, increment.

[season]
# When the arena takes versions, with the offset from UTC.
# opens = 2030-09-01T08:00:00+02:00
# closes = 2030-12-20T18:00:00+01:00
# frozen = [{{ begins = 2030-10-14T00:00:00Z, ends = 2030-10-15T00:00:00Z }}]
# The first duels of a new version are against opponents of all strengths.
placement = 10
# For teams that hand in by themselves:
submissions_per_day = 10
max_bytes = 20_971_520

[visibility]
# Who sees the replays of other teams: "all" or "own" (each team its own).
replays = "all"
# Who sees the log of a bot: "own" (its team) or "staff".
logs = "own"

# References are always in the pool.

{references}"""
