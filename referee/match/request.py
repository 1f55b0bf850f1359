"""A match as a user asks for it: flags of a command line, which override the values of a match file or of a replay."""

from __future__ import annotations

import io
import re
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field, InstanceOf

from referee import games
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.isolation.file_names import published
from referee.isolation.limits import Limits
from referee.match import settings_file
from referee.match.options import MatchOptions, checked, declared, limits_of
from referee.match.spec import MatchSpec
from referee.match.start import Start
from referee.players.player import HUMAN
from referee.replay.paths import SUFFIX, reserve, why_unreadable
from referee.replay.reader import RecordedMatch
from referee.support.files import open_regular
from referee.support.near_names import nearest_or_all
from referee.support.outputs import check_not_input
from referee.support.sections import Section, option
from referee.wire.seeds import new_seed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from typing_extensions import Self

    from referee.games.game import Game, Json, Option, Seat
    from referee.isolation.bot import Bot
    from referee.match.options import TimeControl
    from referee.players.player import Player

#: The limits of a bot by their names in --limit, with the fields of ``Limits``.
LIMITS = {field.removesuffix("_bytes"): field for field in Limits.model_fields}
#: The most characters of a layout file, far more than any layout has.
_LONGEST_LAYOUT = 100_000
#: No player has its own time control.
_ALIKE: Mapping[Seat, TimeControl] = {}
#: Fields that change neither the game nor its settings nor the options.
_BESIDE = frozenset({"seed", "out", "force", "quiet", "as_json", "inputs", "start"})


class MatchRequest(BaseModel):
    """One match as a user asks for it in a command line, a match file or a call of ``referee.play``.

    Each field has the name of its flag. Settings of a game, and the options of ``MatchOptions`` by the names of their flags, are additional
    fields, as texts. ``settings``, ``time``, ``run`` and ``limits`` are the tables of a match file; flags override them.
    ``seed`` None: a seed is drawn and stored in the replay. ``out`` is a file or a folder for the replay, None for matches/replays/.
    With ``force``, the replay and the logs may replace any file except ``inputs``, which may be folders. With ``draws_starts`` the settings
    need not say where the game starts. ``start`` is the start of the match, in ``recorded`` or in a new game; None: the start of the game under
    ``seed``.
    """

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    match: Path | None = option(None, "A match file; flags override it.", flag="--match", metavar="FILE.toml")
    game: str | None = option(None, f"The game: {', '.join(games.names())}.  (default: {games.names()[0]})", flag="--game", metavar="GAME")
    seed: int | None = option(
        None, "Repeat the matches of this number: the same starts, and the same seeds of the bots.", flag="--seed", metavar="N"
    )
    rules: str | None = option(None, "The rule set.  (default: the first in referee games)", flag="--rules", metavar="RULES")
    size: str | None = option(None, "The board: WIDTHxHEIGHT, or one number for a square.", flag="--size", metavar="WxH")
    set: list[str] = option([], "A setting of the game, with a value as for its flag; may be repeated.", flag="--set", metavar="NAME=VALUE")
    limit: list[str] = option(
        [],
        f"A limit of each bot, such as memory=1GiB; may be repeated. Names: {', '.join(LIMITS)}.",
        flag="--limit",
        metavar="NAME=VALUE",
    )
    players: list[str] = Field(default_factory=list)
    out: str | None = None
    force: bool = False
    quiet: bool = False
    as_json: bool = False
    settings: dict[str, Any] = Field(default_factory=dict)
    time: dict[str, Any] = Field(default_factory=dict)
    run: dict[str, Any] = Field(default_factory=dict)
    limits: dict[str, Any] = Field(default_factory=dict)
    inputs: tuple[Path, ...] = ()
    draws_starts: bool = False
    recorded: InstanceOf[RecordedMatch] | None = None
    start: InstanceOf[Start] | None = None

    def flags(self) -> dict[str, Any]:
        """Return the values of the flags that are present, by name."""
        names = [name for name, field in MatchRequest.model_fields.items() if field.json_schema_extra and name in self.model_fields_set]
        return {**{name: getattr(self, name) for name in names}, **(self.model_extra or {})}

    def replace(self, **values: object) -> Self:
        """Return a copy with these values, except those that are None."""
        copy = self.model_copy(update={name: value for name, value in values.items() if value is not None})
        if not _BESIDE.issuperset(values):
            for name in ("game_object", "checked_settings", "options"):
                copy.__dict__.pop(name, None)
        return copy

    def with_file(self) -> Self:
        """Return the request with the values of its match file, which its own values override."""
        if self.match is None:
            return self
        file = settings_file.read(self.match, settings_file.MatchFile, "match file")
        below = {name: value.given if isinstance(value, Section) else value for name, value in file.given.items()}
        below["as_json"] = bool(below.pop("json_", False))
        return self.model_validate({**below, **{name: getattr(self, name) for name in self.model_fields_set}, **(self.model_extra or {})})

    def checked(self) -> Self:
        """Return the request itself. Raises UsageError or SettingsError for a wrong value."""
        try:
            self.checked_settings  # noqa: B018 - it raises the error
        except SettingsError as error:
            if self.match is None:
                raise
            raise UsageError(f"With the match file {self.match}: {error}") from None
        if self.seed is not None and not -(2**63) <= self.seed < 2**63:
            raise UsageError(f"--seed is {self.seed}, but must be from -2^63 to 2^63 - 1.")
        self.options  # noqa: B018 - the same
        return self

    @cached_property
    def game_object(self) -> Game[Any, Any]:
        """The game as an object. SettingsError for an unknown name."""
        return self.recorded.game if self.recorded is not None else games.get(self.game or games.names()[0])

    @cached_property
    def checked_settings(self) -> Any:
        """The checked settings of the match. Raises UsageError or SettingsError for a wrong value."""
        if self.recorded is not None:
            return self.recorded.settings
        game_object = self.game_object
        settings = {**self.settings, **_settings(self, game_object)}
        if game_object.info.players_option and self.players:
            settings.setdefault(game_object.info.players_option, len(self.players))
        if HUMAN in self.players:
            settings = {**(game_object.human_play.settings if game_object.human_play is not None else {}), **settings}
        source = game_object.starts if self.draws_starts else None
        return (source or game_object.codec).settings(self.rules, settings)

    @property
    def flag_settings(self) -> dict[str, Any]:
        """The settings of the game in flags, not yet checked."""
        return _settings(self, self.game_object)

    @cached_property
    def options(self) -> MatchOptions:
        """The options of the match. UsageError names the wrong flag or key."""
        data: dict[str, Any] = {"time": {"kind" if name == "clock" else name: value for name, value in self.time.items()}}
        data["run"] = {name: value for name, value in self.run.items() if name != "isolation"}
        data["limits"] = dict(self.limits)
        if "isolation" in self.run:
            data["isolation"] = self.run["isolation"]
        names: dict[str, str] = {}
        values = self.model_extra or {}
        for each in declared():
            if each.flag and each.parameter in values:
                (data[each.section] if each.section else data)[each.name] = values[each.parameter]
                names[each.key] = each.flag
        for name, field, value in _limits(self.limit):
            data["limits"][field] = value
            names[f"limits.{field}"] = f"--limit {name}"
        # Flags are texts; a file and Python have values of the right type.
        return checked(data, lambda key: names.get(key, key.removeprefix("run.")), converts=bool(names))

    def bot(self, name: str, seat: Seat) -> Bot:
        """Return the bot of a name. Its replay, texts and log don't show folders of this machine."""
        from referee.players.names import resolve

        return published(resolve(name, seat, self.game_object.info.name, self.checked_settings), str(Path.cwd()))

    def with_inputs(self, players: Iterable[str]) -> Self:
        """Return the request with the files that no output may replace. Without ``out``, all outputs have new names."""
        from referee.players.names import named_files

        programs = [each for player in players for each in named_files(player)]
        files = [Path(path) for path in (self.match, self.flags().get("layout")) if path is not None]
        return self if self.out is None else self.replace(inputs=(*programs, *files))

    def with_start(self) -> Self:
        """Return the request with its start."""
        if self.start is not None:
            return self
        return self.replace(start=Start.of(self.game_object, self.checked_settings, new_seed() if self.seed is None else self.seed))

    def reserve(self, names: Iterable[str], seats: Sequence[Seat] = ()) -> Path:
        """Make the empty file of the replay. ``names`` go into its name; ``seats`` have a log beside it."""
        return reserve(self.out, list(names), seats, self.inputs, force=self.force)

    def spec(self, players: Mapping[Seat, Player], replay: Path | None = None, times: Mapping[Seat, TimeControl] = _ALIKE) -> MatchSpec:
        """Return the match of these players; ``replay`` is the file of its replay, None for none.

        ``times`` are the players' own time controls, where they differ from that of the match.
        """
        start = self.with_start().start
        assert start is not None
        return MatchSpec(self.game_object, self.checked_settings, players, start, self.options, replay, times)

    def resumed(self, text: str, players: Sequence[Any]) -> tuple[Self, dict[Seat, Any]]:
        """Return the request for a match that begins in a replay, at ``REPLAY@TURN``, and the player of each seat that still plays.

        ``players`` are as ``lineup.lineup`` takes them. The time, the limits and the run options are those of the replay where
        the request doesn't set them. UsageError for a value that contradicts the replay, or if the new replay would overwrite that one.
        """
        from referee.match.lineup import lineup, options_of, split

        path, turn = split(text)
        recorded = RecordedMatch.read(path)
        start = Start.at(recorded, turn)
        self._check_against(recorded)
        for name in () if self.out is None else (self.out, self.out + SUFFIX):
            check_not_input(Path(name), (recorded.path,))
        options = options_of(recorded)
        time = self.time if "time" in self.model_fields_set else options.time.given
        tables = {"time": time, "run": {**options.run.given, **self.run}, "limits": {**options.limits.given, **self.limits}}
        request = self.replace(recorded=recorded, start=start, **tables)
        limits, higher = request.options.limits, request.options.limits.above(Limits())
        chosen, notes = lineup(recorded, start, players, text)
        if higher and limits == limits_of(recorded.head):
            notes += (f"The limits are those of the match in the replay, which are higher than the default ones: {', '.join(higher)}.",)
        return request.replace(start=replace(start, notes=(*start.notes, *notes))), dict(chosen)

    def _check_against(self, recorded: RecordedMatch) -> None:
        """Raise UsageError for a flag that contradicts a replay."""
        game, rules = recorded.game, recorded.settings.rules
        for value, flag, why in (
            (self.seed, "--seed", "the bots have the seeds of the recorded match"),
            (self.match, "--match", "the settings are those of the replay"),
        ):
            if value is not None:
                raise UsageError(f"{flag} can't be used with --from: {why}.")
        for flag, name, recorded_name in (("--game", self.game, game.info.name), ("--rules", self.rules, rules)):
            if name not in (None, recorded_name):
                raise UsageError(f"{flag} is {name!r:.40}, but the match of the replay has {recorded_name!r}, which it keeps.")
        changes = _settings(self, game)
        recorded_settings: dict[str, Json] = game.codec.settings_json(recorded.settings)
        settings: dict[str, Any] = {**recorded_settings, **changes}
        try:
            settings = game.codec.settings_json(game.codec.settings(rules, settings)) if changes else recorded_settings
        except SettingsError:
            if settings.keys() != recorded_settings.keys() or settings == recorded_settings:
                raise
        for name, value in recorded_settings.items():
            if settings[name] != value:
                raise UsageError(
                    f"{name} is {settings[name]!r:.40}, but {value!r:.40} in the match of the replay, which keeps its settings."
                )


def _settings(request: MatchRequest, game: Game[Any, Any]) -> dict[str, Any]:
    """Return the game settings in the flags. The game itself refuses unknown settings."""
    options = {option.name: option for name in games.names() for option in games.info(name).options}
    options |= {option.name: option for option in game.info.options}
    values = request.model_extra or {}
    settings: dict[str, Any] = {} if request.size is None else _size(request.size, game.info.size_options)
    for name, setting in options.items():
        if name in values:
            value = values[name]
            if setting.kind == "lines":
                settings[name] = _layout(value)
            else:
                settings[name] = _whole_numbers(name, setting.parts, value) if setting.kind == "integers" else value
    return {**settings, **_extra(request.set, game.info.options)}


def _layout(path: str) -> list[str]:
    try:
        with io.TextIOWrapper(open_regular(Path(path)), encoding="utf-8-sig") as file:
            text = file.read(_LONGEST_LAYOUT + 1)
    except (OSError, ValueError) as error:
        why = why_unreadable(error, Path(path)) if isinstance(error, OSError) else "it is not text."
        raise UsageError(f"--layout {path!r:.200} can't be read: {why}") from None
    if len(text) > _LONGEST_LAYOUT:
        raise UsageError(f"--layout {path!r:.200} is too long: it holds more than {_LONGEST_LAYOUT:,} characters.")
    return text.rstrip("\n").splitlines()


def _size(text: str, names: tuple[str, ...]) -> dict[str, int]:
    if not names:
        raise UsageError("--size has no meaning in this game: the layout decides the size.")
    match = re.fullmatch(r"([0-9]{1,9})(?:[xX]([0-9]{1,9}))?", text)
    sides = [int(side) for side in match.groups() if side is not None] if match else []
    if len(names) == 1 and sides and len(set(sides)) == 1:
        return {names[0]: sides[0]}
    if len(names) == 1:
        raise UsageError(f"--size is {text!r:.40}, but must be one number, as in 30: the board is square.")
    if not sides:
        raise UsageError(f"--size is {text!r:.40}, but must be WIDTHxHEIGHT, as in 300x300, or one number for a square board.")
    return {names[0]: sides[0], names[1]: sides[-1]}


def _whole_numbers(name: str, parts: Sequence[str], text: str) -> list[int]:
    words = [word.strip() for word in text.split(",")]
    if len(words) != len(parts) or not all(re.fullmatch(r"[+-]?[0-9]{1,9}", word) for word in words):
        raise UsageError(f"--{name} is {text!r:.80}, but must be {len(parts)} whole numbers: {','.join(parts)}.")
    return [int(word) for word in words]


def _extra(pairs: list[str], options: Sequence[Option]) -> dict[str, Any]:
    """Return the settings given as ``--set name=value``. Each value is written as for the setting's flag, or as a TOML literal."""
    kinds = {option.name: option for option in options}
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = (part.strip() for part in pair.partition("="))
        if not equals or not re.fullmatch(r"\w+", name):
            raise UsageError(f"--set is {pair!r:.80}, but must be name=value, as in capture_radius=5.")
        settings[name] = _value(kinds.get(name), name, text)
    return settings


def _value(option: Option | None, name: str, text: str) -> Any:
    import tomli

    try:
        value = tomli.loads(f"value = {text}")["value"]
    except (ValueError, RecursionError):
        value = text
        if option is not None and option.kind == "integers":
            return _whole_numbers(f"set {name}", option.parts, text)
        if option is not None and option.kind == "lines":
            return _layout(text)
    # A choice may look like a number, as 2003 does.
    return text if option is not None and option.kind == "choice" and not isinstance(value, str) else value


def _limits(pairs: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the limits given by --limit: the name as the user wrote it, the field of ``Limits`` and the value."""
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        field = LIMITS.get(name.replace("-", "_"))
        if not equals or field is None:
            hint = nearest_or_all(name if field is None else "", LIMITS)
            raise UsageError(f"--limit is {pair!r:.80}, but must be NAME=VALUE, as in memory=1GiB; {hint}")
        yield name, field, value
