"""The league file: the definition of a league, checked before the first match. A folder of teams is a league, too."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import Field

from referee import games
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.handins.entry import check_plays
from referee.handins.entry import read as read_entry
from referee.handins.names import check_different, check_name
from referee.handins.values import Entry
from referee.league import schedule
from referee.league.team_folder import FILE, teams_of, unpacked, write_copy
from referee.match import settings_file
from referee.match.options import MatchOptions, shown
from referee.players.names import named_files
from referee.support.near_names import nearest_or_all
from referee.tournament.commitment import LEAGUE, PRIVATE, Commitment, StartFamily, new_secret, resampling_seed, root
from referee.tournament.play_file import PlayFile, PlayReader, StartList, Variant
from referee.tournament.values import MatchStart

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from referee.games.game import AnyGame, Json, Seat, Settings

    SeedOf = Callable[[str], int | str]

ROUND_ROBIN, SWISS, ELIMINATION, TABLES = FORMATS = schedule.FORMATS
_MOST_BYTES = 16 << 20
_MOST_TEAMS = 100_000


class Format(NamedTuple):
    """The format, which decides which teams meet. ``rounds`` are those of "swiss" and "tables", ``table_size`` that of "tables"."""

    kind: str = ROUND_ROBIN
    rounds: int = 0
    table_size: int = 2


class League(NamedTuple):
    """A checked league. ``seed`` is the number in the file, or a drawn secret. ``home`` is the folder of its file, ``slots`` the number of
    matches at once (None: as the machine allows).
    """

    name: str
    game: str
    rules: str
    format: Format
    seed: int | str
    variants: tuple[Variant, ...]
    teams: tuple[Entry, ...]
    starts: StartList = StartList()
    repeat: int = 1
    options: MatchOptions = MatchOptions()
    slots: int | None = None
    home: str = ""

    @property
    def secret(self) -> bytes:
        """The secret from which everything random in the league is derived."""
        return root(self.seed)

    @property
    def resampling_seed(self) -> int:
        """The seed of the resamples from which intervals of ratings come: the same league always has the same ones."""
        return resampling_seed(self.seed)

    @property
    def shown_seed(self) -> int | None:
        """The seed that its organizer chose; None for a secret, which must stay secret."""
        return self.seed if isinstance(self.seed, int) else None

    @property
    def programs(self) -> list[Path]:
        """The files and folders of the teams."""
        return [path for team in self.teams for player in team.players.values() for path in named_files(player)]

    @property
    def commitment(self) -> Commitment:
        """All that decides the starts."""
        families = tuple(StartFamily(variant.settings, self.starts.drawn) for variant in self.variants)
        version = games.get(self.game).info.version
        return Commitment(LEAGUE, self.game, version, self.rules, self.seed, families, self.starts.listed, self.repeat)

    def to_json(self) -> dict[str, Json]:
        """Return the league as plain data; ``from_json`` reads it."""
        plain = self._asdict()
        del plain["options"]
        return {
            **plain,
            "format": self.format._asdict(),
            "variants": [variant._asdict() for variant in self.variants],
            "teams": [team._asdict() for team in self.teams],
            "starts": {"drawn": self.starts.drawn, "listed": [start._asdict() for start in self.starts.listed]},
            **self.options.to_json(),
        }


def from_json(data: Mapping[str, Json]) -> League:
    """Return the league that ``League.to_json`` wrote. UsageError if it is the data of something else."""
    try:
        fields = dict(data)
        form, listed = dict(fields.pop("format")), fields.pop("starts")
        if form["kind"] not in FORMATS:
            raise ValueError(f"the format {form['kind']!r:.60}")
        return League(
            format=Format(**form),
            variants=tuple(Variant(**variant) for variant in fields.pop("variants")),
            teams=tuple(Entry(**team) for team in fields.pop("teams")),
            starts=StartList(listed["drawn"], tuple(MatchStart(**start) for start in listed["listed"])),
            options=MatchOptions.model_validate({name: fields.pop(name) for name in MatchOptions.model_fields}),
            **fields,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"This is not a league of this version of the referee ({error}); restore its store from a copy.") from None


class LeagueFile(PlayFile):
    """A league file. The game checks ``variants``, too."""

    format: str = ROUND_ROBIN
    rounds: int | None = Field(default=None, ge=1, le=10_000)
    table_size: int | None = Field(default=None, ge=2, le=1_000)
    repeat: int = Field(default=1, ge=1, le=100_000)
    slots: int | None = Field(default=None, ge=1, le=1024)
    variants: list[dict[str, object]] = Field(default_factory=list)
    teams: list[dict[str, object]] = Field(default_factory=list)


def load(path: Path, seed_of: SeedOf = lambda _: new_secret()) -> League:
    """Return the league of a league file or a folder, as ``prepared`` does, without options of a command."""
    return prepared(path, seed_of).league


class LeagueSource(NamedTuple):
    """A league with its effective file. ``is_changed``: options have changed the file, or archives were unpacked."""

    league: League
    file: LeagueFile
    is_changed: bool

    def copy(self, folder: Path) -> Path:
        """Return the path of the changed file in the league's folder."""
        return folder.resolve() / PRIVATE / FILE

    def write(self, folder: Path) -> None:
        """Write the changed file into the league's folder, if the file is changed."""
        if not self.is_changed:
            return
        league, values = self.league, {"name": self.league.name, **self.file.replace(name=self.league.name).model_dump(exclude_unset=True)}
        if "file" in values.get("starts", {}):
            values["starts"]["file"] = str(Path(league.home) / values["starts"]["file"])
        are_alike = bool(games.get(league.game).info.players_option)
        programs = [{"program": next(iter(team.players.values()))} if are_alike else team.players for team in league.teams]
        values["teams"] = [{"name": team.name, **players} for team, players in zip(league.teams, programs, strict=True)]
        write_copy(values, self.copy(folder))


def prepared(
    path: Path,
    seed_of: SeedOf = lambda _: new_secret(),
    changes: Callable[[str], Mapping[str, Any]] = lambda _: {},
    handed_in: Callable[[str], Path] | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> LeagueSource:
    """Return the league of a league file or a folder, and its file. Paths in the file begin in its folder.

    A folder without a league file is a league of all programs, folders and archives in it, with default settings; ``tell`` gets what is left
    out. ``seed_of`` returns the seed of a league of a name that has none in its file. ``changes`` returns, for the name of the file's game,
    values that override the file's. Archives are unpacked into the folder that ``handed_in`` returns for the league's name; None: none is.
    The UsageError names the file, the key and what to do.
    """
    has_file = not path.is_dir() or (path / FILE).exists()
    if not has_file:
        file, home, name = LeagueFile(teams=teams_of(path, tell)), path.resolve(), path.resolve().name
        where = f"In the folder {path}, where each file and folder is a team"
    else:
        path = path / FILE if path.is_dir() else path
        file, home = settings_file.read(path, LeagueFile, "league file", _MOST_BYTES), path.parent.resolve()
        name, where = home.name if path.name == FILE else path.stem, f"In the league file {path}"
    try:
        values, before = dict(changes(file.game)), file
        if values:
            given = {**file.given, "settings": file.settings}
            if values.get("game", file.game) != file.game:
                # These are of the file's game.
                given = {name: value for name, value in given.items() if name not in ("rules", "settings", "variants", "table_size")}
            settings = {**given.get("settings", {}), **values.pop("settings", {})}
            file = settings_file.checked({**given, **values, "settings": settings}, LeagueFile, "This option:")
        if handed_in is not None:
            rows = [*unpacked(file.teams, home, _seats(file, home), partial(handed_in, file.name or name), tell)]
            rows = rows if has_file else LeagueReader(file, home, name).able(rows, tell)
            file = file if rows == file.teams else file.replace(teams=rows)
        return LeagueSource(LeagueReader(file, home, name, seed_of).league(), file, file is not before)
    except (UsageError, SettingsError) as error:
        raise UsageError(f"{where}: {error}") from None


def _seats(file: LeagueFile, home: Path) -> tuple[Seat, ...]:
    """Return the seats for which a team needs a program: one where all are alike."""
    reader = PlayReader(file, home)
    seats = reader.game.seats(reader.settings(file.settings, ""))
    return seats[:1] if reader.game.info.players_option else tuple(seats)


class LeagueReader:
    """Turns the content of a league file into a league. Its errors name the key; the caller adds the file."""

    def __init__(self, file: LeagueFile, home: Path, name: str, seed_of: SeedOf = lambda _: new_secret()) -> None:
        self.file = file
        self.home = home
        self._seed_of = seed_of
        self.name = name if file.name is None else file.name
        self.play = PlayReader(file, home, file.variants)
        self.game: AnyGame = self.play.game

    def league(self) -> League:
        """Return the league. Raises UsageError or SettingsError."""
        names = self._names()
        league, checked, size = self.without_teams()
        return league._replace(format=self._format(len(names), size), teams=self._teams(names, checked))

    def without_teams(self) -> tuple[League, list[Settings], int]:
        """Return the league without its teams and its format, the checked settings of its variants, and how many teams meet in a match.

        Raises UsageError or SettingsError.
        """
        file = self.file
        check_name(self.name, "The league's name")
        seed = self._seed_of(self.name) if file.seed is None else file.seed
        size = self._table_size()
        variants, checked = self.play.variants(size)
        league = League(
            name=self.name,
            game=file.game,
            rules=checked[0].rules,
            format=Format(),
            seed=seed,
            variants=variants,
            teams=(),
            starts=self.play.starts(variants, checked, root(seed)),
            repeat=file.repeat,
            options=self.play.options(),
            slots=file.slots,
            home=str(self.home),
        )
        return league, checked, size

    # Settings.

    def _table_size(self) -> int:
        """Return how many teams meet in a match."""
        file, info = self.file, self.game.info
        if file.format not in FORMATS:
            raise UsageError(f"format is '{file.format}'; {nearest_or_all(file.format, FORMATS)}")
        if file.table_size is not None and file.format != TABLES:
            raise UsageError(f'table_size is for the format "{TABLES}", but the format is "{file.format}"; remove table_size.')
        if file.format == TABLES and self.game.pairing is not None:
            raise UsageError(f'format "{TABLES}" is for games of many players; in {info.name} two teams meet, so take "{ROUND_ROBIN}".')
        if info.players_option:
            player_count: Json = self.file.settings.get(info.players_option)
            size = file.table_size or (player_count if file.format == TABLES else 2)
            if player_count is not None and size != player_count:
                why = f"table_size is {size}" if file.format == TABLES else f'in the format "{file.format}" two teams meet'
                raise UsageError(f"settings.{info.players_option} is {shown(player_count)}, but {why}; remove one of them.")
            if size is not None:
                return size
        size = len(self.game.seats(self.play.settings({}, "")))
        if file.table_size not in (None, size):
            raise UsageError(f"table_size is {file.table_size}, but {info.name} has {size} players; remove table_size.")
        if file.format != TABLES and size != 2:
            raise UsageError(f'format is "{file.format}", but {info.name} has {size} players; take "{TABLES}".')
        return size

    # Teams.

    def _names(self) -> list[str]:
        """Return the names of the teams, checked."""
        rows = self.file.teams
        if len(rows) < 2:
            raise UsageError(
                f"there {'is one team' if rows else 'are no teams'}, but a league needs two or more; "
                "add a table [[teams]] with name and program for each."
            )
        if len(rows) > _MOST_TEAMS:
            raise UsageError(f"there are {len(rows):,} teams; the limit is {_MOST_TEAMS:,}.")
        names = []
        for number, row in enumerate(rows, 1):
            name = row.get("name")
            if not isinstance(name, str):
                wrong = "is missing" if name is None else f"is {shown(name)}, but must be a text"
                raise UsageError(f"teams, table {number}: the key 'name' {wrong}.")
            names.append(name)
        for number, name in enumerate(names, 1):
            check_name(name, f"The name of team {number}")
        check_different(names)
        return names

    def _teams(self, names: Sequence[str], checked: Sequence[Settings]) -> tuple[Entry, ...]:
        return tuple(self._team(name, row, checked) for name, row in zip(names, self.file.teams, strict=True))

    def _team(self, name: str, row: Mapping[str, object], checked: Sequence[Settings]) -> Entry:
        team = read_entry(name, self.play.spec(name, row, checked[0]), self.game, checked[0], self.home)
        for settings in checked[1:]:
            check_plays(team, self.game, settings)
        return team

    def able(self, rows: Sequence[Mapping[str, object]], tell: Callable[[str], None]) -> list[Mapping[str, object]]:
        """Return the rows of teams that can play, and report the others; all rows if fewer than two can, so that the error says why.

        For a folder without a league file: it has no place to say how a program is started.
        """
        _, checked = self.play.variants(self._table_size())
        reasons = [self._why_not(row, checked) for row in rows]
        if reasons.count("") < 2:
            return list(rows)
        for reason in filter(None, reasons):
            tell(f"note: left out: {reason}")
        return [row for row, reason in zip(rows, reasons, strict=True) if not reason]

    def _why_not(self, row: Mapping[str, object], checked: Sequence[Settings]) -> str:
        try:
            self._team(str(row["name"]), row, checked)
        except UsageError as error:
            return str(error)
        return ""

    # The format.

    def _format(self, teams: int, size: int) -> Format:
        file = self.file
        if file.format == TABLES and teams < size:
            raise UsageError(f"there are {teams} teams, but a table has {size} players; add teams or take smaller tables.")
        if file.rounds is not None and file.format not in (SWISS, TABLES):
            raise UsageError(f'rounds is for the formats "{SWISS}" and "{TABLES}", but the format is "{file.format}"; remove rounds.')
        return Format(file.format, self._rounds(teams, size), size)

    def _rounds(self, teams: int, size: int) -> int:
        """Return the number of rounds: by default, as many as find the best of a Swiss league, or let everybody meet at tables."""
        file = self.file
        if file.format == SWISS:
            # With an odd number of teams, each has no opponent in one of the rounds.
            most = teams - 1 + teams % 2
            if file.rounds is not None and file.rounds > most:
                raise UsageError(
                    f"rounds is {file.rounds}, but {teams} teams have met everybody after {most}; take at most {most}, or the format "
                    f'"{ROUND_ROBIN}".'
                )
            return file.rounds or schedule.default_rounds(teams)
        if file.format == TABLES:
            schedule.check_tables(teams, size, file.rounds or 0)
            return file.rounds or schedule.tables_each(teams, size)
        return 0
