"""Reads and checks the keys about matches in league and arena files: settings, variants, starts, programs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from pydantic import Field

from referee import games
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.handins.entry import to_add
from referee.handins.names import check_name, file_name
from referee.isolation.limits import IsolationValue, Limits
from referee.match.options import AUTO, BilledTime, MatchOptions, RunOptions, TimeControl, TimeLimits, shown
from referee.match.settings_file import Seed  # noqa: TC001 - pydantic reads it
from referee.support.near_names import nearest_or_all
from referee.support.sections import Section
from referee.tournament import starts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from referee.games.game import AnyGame, Json, Seat, Settings
    from referee.tournament.values import MatchStart


class Variant(NamedTuple):
    """All settings of one variant of each fixture, as JSON. ``name`` is "" for a single variant without a name."""

    name: str
    settings: Mapping[str, Json]


class StartList(NamedTuple):
    """The source of the starts: a number of ``drawn`` ones, or those ``listed``; neither: the standard start."""

    drawn: int = 0
    listed: tuple[MatchStart, ...] = ()


class StartsSection(Section):
    """Drawn starts, or a file of them."""

    count: int | None = Field(default=None, ge=1, le=starts.MOST)
    file: str | None = None


class PlayFile(Section):
    """The keys about matches in a league or arena file. The game checks ``settings``."""

    name: str | None = None
    game: str = games.names()[0]
    rules: str | None = None
    seed: Seed = None
    isolation: IsolationValue = "auto"
    clock: BilledTime = AUTO
    settings: dict[str, object] = Field(default_factory=dict)
    starts: StartsSection = StartsSection()
    time: TimeLimits = TimeLimits()
    run: RunOptions = RunOptions()
    limits: Limits = Limits()


class PlayReader:
    """Checks the keys about matches in a file. Errors name the key; the caller adds the file.

    ``tables`` are the differing settings of the variants, each with its name. Relative paths begin in ``home``.
    """

    def __init__(self, file: PlayFile, home: Path, tables: Sequence[Mapping[str, Json]] = ()) -> None:
        self.file = file
        self.game: AnyGame = games.get(file.game)
        self._home = home
        self._tables = tables
        #: The error in the settings if matches have no drawn or listed start.
        self._unplaced: SettingsError | None = None

    def options(self) -> MatchOptions:
        """Return the options of all matches."""
        file = self.file
        time = TimeControl(**file.time.given, kind=file.clock)
        return MatchOptions(time=time, run=file.run, isolation=file.isolation, limits=file.limits).settled()

    def settings(self, settings: Mapping[str, Json], where: str) -> Settings:
        """Return checked settings; ``where`` names the variant for the message."""
        source = self.game.starts
        try:
            return self.game.codec.settings(self.file.rules, settings)
        except SettingsError as error:
            wrong = SettingsError(f"{where}{error}")
            if source is None or self.file.starts == StartsSection():
                raise wrong from None
        try:
            checked = source.settings(self.file.rules, settings)
        except SettingsError as error:
            raise SettingsError(f"{where}{error}") from None
        # Only the start in the settings is wrong, and it may never be played.
        self._unplaced = wrong
        return checked

    def variants(self, size: int) -> tuple[tuple[Variant, ...], list[Settings]]:
        """Return the variants, and their settings as the game has checked them."""
        option = self.game.info.players_option
        variants: dict[str, Variant] = {}
        checked: list[Settings] = []
        names: dict[str, int] = {}
        for number, table in enumerate(self._tables or [{}], 1):
            overrides = dict(table)
            name = overrides.pop("name", f"variant {number}" if self._tables else "")
            where = f"variants, table {number}: " if self._tables else ""
            if not isinstance(name, str):
                raise UsageError(f"{where}name is {shown(name)}, but must be a text.")
            if where:
                check_name(name, f"The name of variants, table {number}")
            if names.setdefault(file_name(name), number) != number:
                raise UsageError(f"{where}an earlier table also has the name '{name}'; give one of them another name.")
            if option and overrides.get(option, size) != size:
                raise UsageError(f"{where}{option} can't differ between variants; remove it.")
            settings = self.settings({**self.file.settings, **({option: size} if option else {}), **overrides}, where)
            variant = Variant(name, self.game.codec.settings_json(settings))
            twin = next((other for other in variants.values() if other.settings == variant.settings), None)
            if twin is not None:
                raise UsageError(f"{where}its settings are those of '{twin.name}'; remove one of them.")
            variants[name] = variant
            checked.append(settings)
        return tuple(variants.values()), checked

    def starts(self, variants: Sequence[Variant], checked: Sequence[Settings], secret: bytes) -> StartList:
        """Return the source of the starts, checked in all variants."""
        section = self.file.starts
        if section.count is not None and section.file is not None:
            raise UsageError("starts has both count and file; remove one of them.")
        named = [(variant.name, settings) for variant, settings in zip(variants, checked, strict=True)]
        if section.file is not None:
            listed = starts.read(self._home / section.file, self.game, named, secret)
            if self._unplaced is not None and not all(starts.is_placed(self.game, checked[0], start.settings) for start in listed):
                raise self._unplaced
            return StartList(0, listed)
        if section.count is None:
            return StartList()
        for name, settings in named:
            try:
                drawn = starts.starts(self.game, settings, secret, section.count)
            except SettingsError as error:
                raise SettingsError(f"starts.count is {section.count}, but{f' in {name!r}' if name else ''} {error}") from None
            tables: Iterable[Mapping[str, Json]] = (self.file.settings, *self._tables)
            twice = sorted({key for key in drawn[0].settings for table in tables if key in table})
            if twice:
                raise UsageError(f"settings.{twice[0]} names a start, but starts.count draws the starts; remove one of them.")
        return StartList(section.count)

    def spec(self, name: str, row: Mapping[str, Json], settings: Settings, seats: Sequence[Seat] | None = None) -> str | dict[str, str]:
        """Return the program of every seat, or one for each of ``seats`` (None: all of the game). UsageError if one is missing or unknown."""
        # Where there can be any number of players, all seats are alike.
        seat_keys = () if self.game.info.players_option else self.game.seats(settings) if seats is None else tuple(seats)
        programs = {key: value for key, value in row.items() if key != "name"}
        for key, value in programs.items():
            if key not in ("program", *seat_keys):
                raise UsageError(f"the team '{name}' has an unknown key '{key}'; {nearest_or_all(key, ('name', 'program', *seat_keys))}")
            if not isinstance(value, str):
                raise UsageError(f"the team '{name}' has a wrong {key!r}, {shown(value)}; write a text.")
        if "program" in programs:
            every = str(programs["program"])
            return every if len(programs) == 1 else {seat: programs.get(seat, every) for seat in seat_keys}
        missing = [seat for seat in seat_keys if seat not in programs]
        if missing == list(seat_keys):
            ways = "program" + (f", or {' and '.join(seat_keys)}" if seat_keys else "")
            raise UsageError(f"the team '{name}' has no program; add the key {ways}.")
        if missing:
            raise UsageError(f"the team '{name}' has no {missing[0]}. {to_add(missing[0], self.game, settings)}")
        return programs
