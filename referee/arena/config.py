"""The file ``arena.toml``: the game, the season in which teams hand in, and the references."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Literal, NamedTuple

from pydantic import AwareDatetime, Field

import example_bots
from referee import games
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.handins.entry import read as read_entry
from referee.handins.names import LONGEST_NAME, check_different, check_name
from referee.isolation import submission
from referee.match import settings_file
from referee.match.options import shown
from referee.support.near_names import nearest_or_all
from referee.support.sections import Section
from referee.support.times import shown_time
from referee.tournament import starts as start_lists
from referee.tournament.commitment import new_secret, resampling_seed, root
from referee.tournament.play_file import PlayFile, PlayReader, StartsSection
from referee.workshop.build import is_site

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from pathlib import Path

    from referee.games.game import AnyGame, Json, Seat, Settings
    from referee.handins.values import Entry
    from referee.match.options import MatchOptions
    from referee.tournament.play_file import Variant
    from referee.tournament.values import MatchStart

FILE = "arena.toml"
#: The value of ``roles`` for versions that play every seat.
BOTH = "both"
#: The value of ``versions`` with which all accepted versions go on playing, not only the active version of each team.
ALL = "all"
#: The default number of drawn starts.
_STARTS = 1_000
#: The number of pairs of example bots that are references of a new arena: a weak, a middling and a strong one. The others are comments.
_REFERENCES = 3


class Period(Section):
    """A time in which submissions are closed."""

    begins: AwareDatetime
    ends: AwareDatetime


class Season(Section):
    """The time and the limits of submissions. ``placement`` is the number of a new version's first duels."""

    opens: AwareDatetime | None = None
    closes: AwareDatetime | None = None
    frozen: list[Period] = Field(default_factory=list)
    submissions_per_day: int = Field(default=10, ge=1, le=10_000)
    max_bytes: int = Field(default=20 << 20, ge=1, le=submission.MOST_BYTES)
    placement: int = Field(default=10, ge=1, le=1_000)

    def refusal(self, now: datetime) -> str | None:
        """Return a sentence about why submissions are closed at this time; None if they are open."""
        if self.opens is not None and now < self.opens:
            return f"The season opens at {shown_time(self.opens)}."
        if self.closes is not None and now >= self.closes:
            return f"The season closed at {shown_time(self.closes)}."
        ends = [period.ends for period in self.frozen if period.begins <= now < period.ends]
        return f"Submissions are closed until {shown_time(max(ends))}." if ends else None


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
    """A checked file. ``seed`` is the number in the file, or a secret that was drawn. ``plain`` are all settings as JSON, and ``starts`` replace
    some of them; ``settings`` are the checked ones of the first start.

    ``seat`` is the one seat that versions play, None for all; then ``against`` are the references that fill the other seats. They play no
    duels of their own. ``variants`` are the names of what duels differ in: there is one for each of these references, or one without a name.
    ``workshop`` is the folder of the workshop that the server shows, None for none.
    """

    file: ArenaFile
    name: str
    rules: str
    seed: int | str
    options: MatchOptions
    plain: Mapping[str, Json]
    starts: tuple[MatchStart, ...]
    variants: tuple[str, ...]
    settings: Settings
    versions: str
    seat: Seat | None
    against: tuple[Entry, ...]
    references: tuple[Entry, ...]
    season: Season
    visibility: Visibility
    workshop: Path | None

    @property
    def game(self) -> AnyGame:
        """The game."""
        return games.get(self.file.game)

    @property
    def resampling_seed(self) -> int:
        """The seed of the resamples from which intervals of ratings come."""
        return resampling_seed(self.seed)

    def match_settings(self, start: MatchStart) -> dict[str, Json]:
        """Return all settings of the matches on a start, as JSON."""
        return _placed(self.game, self.rules, self.plain, start)

    @property
    def seats(self) -> tuple[Seat, ...]:
        """The seats that a version has to play."""
        return self.game.seats(self.settings) if self.seat is None else (self.seat,)

    @property
    def terms(self) -> dict[str, Json]:
        """Everything except the programs and the seed that determines results, by names for people."""
        options, drawn = self.options.to_json(), self.file.starts.count if self.file.starts.file is None else None
        return {
            "game": self.file.game,
            "rules": self.rules,
            "settings": [{"name": name, "settings": dict(self.plain)} for name in self.variants],
            "starts": {"drawn": drawn} if drawn else {"listed": [start._asdict() for start in self.starts]},
            **{name: options[name] for name in ("time", "run", "limits")},
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
    reader = PlayReader(file, folder)
    name = folder.resolve().name[:LONGEST_NAME] if file.name is None else file.name
    check_name(name, "The arena's name")
    (variant,), (checked,) = reader.variants(_players(reader))
    seed = new_secret() if file.seed is None else file.seed
    starts = _starts(reader, variant, checked, root(seed))
    seats = reader.game.seats(checked)
    if file.season.opens is not None and file.season.closes is not None and file.season.opens >= file.season.closes:
        raise UsageError("season.closes is not after season.opens; change one of them.")
    if any(period.begins >= period.ends for period in file.season.frozen):
        raise UsageError("season.frozen has a period that ends before it begins; change it.")
    if file.roles != BOTH and (reader.game.pairing is None or file.roles not in seats):
        good = (BOTH,) if reader.game.pairing is None else (BOTH, *seats)
        raise UsageError(f"roles is {shown(file.roles)}; {nearest_or_all(file.roles, good)}")
    seat = None if file.roles == BOTH else file.roles
    if (seat is None) == bool(file.against):
        wrong = "against is for one role" if seat is None else f'roles is "{seat}"'
        remedy = "remove against, or name a seat in roles" if seat is None else "name in against the references that play the other seat"
        raise UsageError(f"{wrong}; {remedy}.")
    references = _references(file, reader, checked, seat, folder)
    for other in file.against:
        if other not in references:
            raise UsageError(f"against names {shown(other)}, which is not a reference; {nearest_or_all(other, list(references))}")
    against = tuple(references.pop(name) for name in dict.fromkeys(file.against))
    # A variant for each of them, so that a duel names its opponent.
    variants = tuple(f"against {team.name}" for team in against) or ("",)
    settings = reader.game.codec.settings(checked.rules, _placed(reader.game, checked.rules, variant.settings, starts[0]))
    workshop = folder / file.workshop if file.workshop else None
    if workshop is not None and not is_site(workshop):
        raise UsageError(f"workshop is {shown(file.workshop)}, a folder without a workshop. Build one: referee workshop build FOLDER")
    play = (file, name, checked.rules, seed, reader.options(), variant.settings, starts, variants, settings)
    return ArenaConfig(*play, file.versions, seat, against, tuple(references.values()), file.season, file.visibility, workshop)


def _players(reader: PlayReader) -> int:
    """Return how many versions meet in a match, which is two. UsageError if the settings say something else."""
    option, game = reader.game.info.players_option, reader.game
    count: Json = reader.file.settings.get(option) if option else len(game.seats(reader.settings({}, "")))
    if count not in (None, 2):
        remedy = f"remove settings.{option}, or make it 2" if option else "take another game"
        raise UsageError(f"{game.info.name} has {shown(count)} players here, but in an arena two versions meet; {remedy}.")
    return 2


def _starts(reader: PlayReader, variant: Variant, checked: Settings, secret: bytes) -> tuple[MatchStart, ...]:
    source = reader.starts([variant], [checked], secret)
    if source.listed:
        return source.listed
    return start_lists.starts(reader.game, checked, secret, source.drawn) if source.drawn else start_lists.standard(secret)


def _placed(game: AnyGame, rules: str, plain: Mapping[str, Json], start: MatchStart) -> dict[str, Json]:
    """Return settings on a start, as JSON."""
    return game.codec.settings_json(start_lists.placed(game, game.codec.settings(rules, dict(plain)), start.settings))


def _references(file: ArenaFile, reader: PlayReader, settings: Settings, seat: Seat | None, folder: Path) -> dict[str, Entry]:
    """Return the references by their names, those of ``against`` with programs for the other seats."""
    references: dict[str, Entry] = {}
    seats = reader.game.seats(settings)
    for number, row in enumerate(file.references, 1):
        name = row.get("name")
        if not isinstance(name, str):
            raise UsageError(f"references, table {number}: the key 'name' is missing, or is no text.")
        check_name(name, f"The name of reference {number}", LONGEST_TEAM)
        played_seats = seats if seat is None else tuple(candidate for candidate in seats if (candidate == seat) != (name in file.against))
        spec = reader.spec(name, row, settings, played_seats)
        references[name] = read_entry(name, spec, reader.game, settings, folder, played_seats)
    check_different([str(row["name"]) for row in file.references])
    return references


#: The longest name of a team in an arena, in characters: names of its versions end in " v" and a number.
LONGEST_TEAM = LONGEST_NAME - 8


def template(game: AnyGame, rules: str, seat: Seat | None = None) -> str:
    """Return the file of a new arena, with example bots of the game as references. ``seat`` is the one that versions play, None for all."""
    seats = game.seats(game.codec.settings(rules, {game.info.players_option: 2} if game.info.players_option else {}))
    if seat is not None and (game.pairing is None or seat not in seats):
        raise UsageError(
            f"--seat is {shown(seat)}; {nearest_or_all(seat, seats) if game.pairing is not None else 'all seats of this game play alike.'}"
        )
    against = {} if seat is None else _opponents(game, rules, seats, seat)
    rows = _example_teams(game, rules, seats if seat is None else (seat,))
    most = len(rows) - 1
    chosen = {round(most * place / (_REFERENCES - 1)) for place in range(_REFERENCES)} if most > 0 else {0}
    tables = []
    for number, (name, programs) in enumerate(rows):
        lines = ["[[references]]", f'name = "{name}"', *(f'{key} = "{value}"' for key, value in programs.items())]
        tables.append("\n".join(lines if number in chosen else [f"# {line}" for line in lines]) + "\n")
    tables += [f'[[references]]\nname = "{name}"\n{other} = "{program}"\n' for name, (other, program) in against.items()]
    roles = f'roles = "{seat or BOTH}"' + (f"\nagainst = {json.dumps(list(against))}" if against else "")
    return _TEMPLATE.format(
        game=game.info.name, rules=rules, seat=seat or seats[0], roles=roles, most=_STARTS, references="\n".join(tables)
    )


def _opponents(game: AnyGame, rules: str, seats: Sequence[Seat], seat: Seat) -> dict[str, tuple[Seat, str]]:
    """Return the references that versions of one seat meet, by name: an example bot of middling strength and the strongest one of the other seat."""
    other = next(each for each in seats if each != seat)
    bots = [bot for bot in example_bots.BOTS if bot.game == game.info.name and bot.plays(other) and (not bot.rules or rules in bot.rules)]
    chosen = dict.fromkeys(bot.name for bot in (bots[len(bots) // 2], bots[-1]))
    return {f"{other} {name}": (other, name) for name in chosen}


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
{roles}

# "strict" plays in a sandbox or not at all; "none" has no sandbox.
isolation = "auto"

[settings]
# The settings of the game: referee games {game}

[starts]
# The number of starts to draw; or file = "starts.jsonl".
count = {most}

[time]
# Seconds, or "none": startup, move, bank, increment.

[season]
# When submissions are open, with the offset from UTC.
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

# References always play.

{references}"""
