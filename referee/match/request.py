"""A match as a user asks for it: flags of a command line, and below them the values of a match file or of a replay."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from referee import games
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.isolation.limits import Limits
from referee.match import settings_file
from referee.match.options import MatchOptions, checked, declared
from referee.match.play import MatchRequest, continued, settings_of
from referee.match.start import options_of
from referee.players.names import HUMAN
from referee.replay.paths import why_unreadable
from referee.support.files import open_regular
from referee.support.meant import near_one
from referee.support.sections import Section, option

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from typing_extensions import Self

    from referee.games.game import Game, Json, Option
    from referee.match.start import Start
    from referee.replay.recorded_match import RecordedMatch

#: The limits of a bot by their names in --limit, with the fields of ``Limits``.
LIMITS = {field.removesuffix("_bytes"): field for field in Limits.model_fields}
#: The most characters of a layout file, far more than any layout has.
_LONGEST_LAYOUT = 100_000


class MatchFlags(BaseModel):
    """The flags of a match, each by its name, and below them the values of a match file or of a replay.

    Settings of a game by their own names, and the options of ``MatchOptions`` by the names of their flags, are further fields.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    match: Path | None = option(None, "A match file; flags override it.", flag="--match", metavar="FILE.toml")
    game: str | None = option(None, f"The game: {', '.join(games.names())}.  (default: {games.names()[0]})", flag="--game", metavar="GAME")
    seed: int | None = option(None, "Play the same match again: bots get the same seeds.", flag="--seed", metavar="N")
    rules: str | None = option(None, "The rule set.  (default: the first that referee games names)", flag="--rules", metavar="RULES")
    size: str | None = option(None, "The board: WIDTHxHEIGHT, or one number for a square.", flag="--size", metavar="WxH")
    set: list[str] = option(
        [], "A setting of the game, with the value as its flag takes it; may be repeated.", flag="--set", metavar="NAME=VALUE"
    )
    limit: list[str] = option(
        [],
        f"A limit of each bot, such as memory=1GiB; may be repeated. Names: {', '.join(LIMITS)}.",
        flag="--limit",
        metavar="NAME=VALUE",
    )
    players: list[str] = Field(default_factory=list)
    out: str | None = None
    quiet: bool = False
    as_json: bool = False
    #: The settings and the values of ``MatchOptions`` of a match file or of a replay; flags override them.
    settings: dict[str, Any] = Field(default_factory=dict)
    options: dict[str, Any] = Field(default_factory=dict)

    def flags(self) -> dict[str, Any]:
        """Return the values of the flags that are present, by name."""
        names = {name for name, field in MatchFlags.model_fields.items() if field.json_schema_extra} & self.model_fields_set
        return {**{name: getattr(self, name) for name in MatchFlags.model_fields if name in names}, **(self.model_extra or {})}

    def replace(self, **values: object) -> Self:
        """Return a copy in which these values replace others, but for None."""
        return self.model_copy(update={name: value for name, value in values.items() if value is not None})


def with_file(flags: MatchFlags) -> MatchFlags:
    """Return the flags with the values of their match file below them."""
    if flags.match is None:
        return flags
    file = settings_file.read(flags.match, settings_file.MatchFile, "match file")
    values = {name: value for name, value in file.given.items() if name in ("game", "rules", "players", "seed", "out", "quiet")}
    below = {**values, "as_json": bool(file.json_), "settings": file.settings, "options": file.options()}
    return MatchFlags.model_validate(
        {**below, **{name: getattr(flags, name) for name in flags.model_fields_set}, **(flags.model_extra or {})}
    )


def build(flags: MatchFlags, *, draws_starts: bool = False) -> MatchRequest:
    """Return the match that flags ask for. Raises UsageError or SettingsError for a wrong value.

    With ``draws_starts`` the settings need not say where the game starts.
    """
    game = games.get(flags.game or games.names()[0])
    settings = {**flags.settings, **_settings(flags, game)}
    if game.info.players_option and flags.players:
        settings.setdefault(game.info.players_option, len(flags.players))
    if HUMAN in flags.players:
        settings = {**(game.human_play.settings if game.human_play is not None else {}), **settings}
    try:
        checked_settings = settings_of(game, draws_starts=draws_starts)(flags.rules, settings)
    except SettingsError as error:
        if flags.match is None:
            raise
        raise UsageError(f"With the match file {flags.match}: {error}") from None
    if flags.seed is not None and not -(2**63) <= flags.seed < 2**63:
        raise UsageError(f"--seed is {flags.seed}, but must be from -2^63 to 2^63 - 1.")
    return MatchRequest(game, checked_settings, _options(flags), flags.seed, flags.out)


def resumed(recorded: RecordedMatch, start: Start, notes: Sequence[str], flags: MatchFlags) -> MatchRequest:
    """Return the request for a match that begins in a replay. UsageError for a flag that contradicts the replay.

    The time, the limits and the way in which the match is run are those of the replay where no flag sets them.
    """
    game, rules = recorded.game, recorded.settings.rules
    for value, flag, why in (
        (flags.seed, "--seed", "the bots have the seeds of the recorded match"),
        (flags.match, "--match", "the settings are those of the replay"),
    ):
        if value is not None:
            raise UsageError(f"{flag} can't be used with --from: {why}.")
    for flag, name, recorded_name in (("--game", flags.game, game.info.name), ("--rules", flags.rules, rules)):
        if name not in (None, recorded_name):
            raise UsageError(f"{flag} is {name!r:.40}, but the match of the replay has {recorded_name!r}, which it keeps.")
    changes = _settings(flags, game)
    recorded_settings: dict[str, Json] = game.codec.settings_json(recorded.settings)
    settings: dict[str, Any] = {**recorded_settings, **changes}
    try:
        settings = game.codec.settings_json(game.codec.settings(rules, settings)) if changes else recorded_settings
    except SettingsError:
        if settings.keys() != recorded_settings.keys() or settings == recorded_settings:
            raise
    for name, value in recorded_settings.items():
        if settings[name] != value:
            raise UsageError(f"{name} is {settings[name]!r:.40}, but {value!r:.40} in the match of the replay, which keeps its settings.")
    sections = {name: value.given for name, value in options_of(recorded) if isinstance(value, Section)}
    return continued(recorded, start, _options(flags.replace(options=sections)), notes, flags.out)


def _settings(flags: MatchFlags, game: Game[Any, Any]) -> dict[str, Any]:
    """Return the game settings of the flags. The game itself refuses settings that it doesn't have."""
    options = {option.name: option for name in games.names() for option in games.info(name).options}
    options |= {option.name: option for option in game.info.options}
    values = flags.model_extra or {}
    settings: dict[str, Any] = {} if flags.size is None else _size(flags.size, game.info.size_options)
    for name, setting in options.items():
        if name in values:
            value = values[name]
            if setting.kind == "lines":
                settings[name] = _layout(value)
            else:
                settings[name] = _whole_numbers(name, setting.parts, value) if setting.kind == "integers" else value
    return {**settings, **_extra(flags.set, game.info.options)}


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
        raise UsageError("--size means nothing in this game: its layout says how large it is.")
    match = re.fullmatch(r"(\d{1,9})(?:[xX](\d{1,9}))?", text)
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
    if len(words) != len(parts) or not all(re.fullmatch(r"[+-]?\d{1,9}", word) for word in words):
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


def _options(flags: MatchFlags) -> MatchOptions:
    """Return the options of the match. UsageError names the wrong flag."""
    data: dict[str, Any] = {"time": {}, "run": {}, "limits": {}} | {
        name: dict(value) if isinstance(value, dict) else value for name, value in flags.options.items()
    }
    names: dict[str, str] = {}
    values = flags.model_extra or {}
    for each in declared():
        if each.flag and each.parameter in values:
            (data[each.section] if each.section else data)[each.name] = values[each.parameter]
            names[each.key] = each.flag
    for name, field, value in _limits(flags.limit):
        data["limits"][field] = value
        names[f"limits.{field}"] = f"--limit {name}"
    return checked(data, lambda key: names.get(key, key), converts=True)


def _limits(pairs: Sequence[str]) -> Iterator[tuple[str, str, str]]:
    """Yield the limits given by --limit: the name as the user wrote it, the field of ``Limits`` and the value."""
    for pair in pairs:
        name, equals, value = (part.strip() for part in pair.partition("="))
        field = LIMITS.get(name.replace("-", "_"))
        if not equals or field is None:
            hint = near_one(name if field is None else "", LIMITS)
            raise UsageError(f"--limit is {pair!r:.80}, but must be NAME=VALUE, as in memory=1GiB; {hint}")
        yield name, field, value
