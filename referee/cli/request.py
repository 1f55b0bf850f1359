"""Build a match request from options and a match file. Flags override the file."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee import games
from referee.api.runner import MatchRequest, continued, settings_of
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.isolation.limits import Limits
from referee.match.options import MatchOptions, checked, declared
from referee.match.start import options_of
from referee.players.names import HUMAN
from referee.support.files import open_regular
from referee.support.meant import near_one
from referee.support.sections import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from referee.games.game import Game, Option
    from referee.match.start import Start
    from referee.replay.recorded_match import RecordedMatch


class Request(NamedTuple):
    """A requested match, and the match file's values for players and output."""

    match: MatchRequest
    players: list[str] | None
    quiet: bool
    as_json: bool


def build(flags: Mapping[str, Any], *, draws_starts: bool = False) -> Request:
    """Return a request from flags by name; None means not given. Raises UsageError or SettingsError for a wrong value.

    With ``draws_starts`` the settings need not say where the game starts.
    """
    match_file: Path | None = flags.get("match")
    file: dict[str, Any] = {}
    options: dict[str, Any] = {}
    if match_file is not None:
        from referee.api import settings_file

        found = settings_file.read(match_file, settings_file.MatchFile, "match file")
        file, options = found.given, found.options()
    given = {name: value for name, value in flags.items() if value is not None}
    game = games.get(given.get("game", file.get("game", games.names()[0])))
    wished = {**file.get("settings", {}), **_settings(given, game), **_extra(given.get("set", []), game.info.options)}
    names = given.get("players") or file.get("players")
    if game.info.players_option and names:
        wished.setdefault(game.info.players_option, len(names))
    if names and HUMAN in names:
        wished = {**(game.human_play.settings if game.human_play is not None else {}), **wished}
    try:
        settings = settings_of(game, draws_starts=draws_starts)(given.get("rules", file.get("rules")), wished)
    except SettingsError as error:
        if match_file is None:
            raise
        raise UsageError(f"With the match file {match_file}: {error}") from None
    seed = given.get("seed", file.get("seed"))
    if seed is not None and not -(2**63) <= seed < 2**63:
        raise UsageError(f"--seed is {seed}, but must be from -2^63 to 2^63 - 1.")
    match = MatchRequest(game, settings, _options(options, given), seed, given.get("out", file.get("out")))
    return Request(match, file.get("players"), bool(file.get("quiet")), bool(file.get("json_")))


def resumed(recorded: RecordedMatch, start: Start[Any], notes: Sequence[str], flags: Mapping[str, Any]) -> Request:
    """Return the request for a match that begins in a replay. UsageError for a flag that contradicts the replay.

    The time, the limits and the way in which the match is run are those of the replay where no flag sets them.
    """
    given = {name: value for name, value in flags.items() if value is not None}
    game, rules = recorded.game, recorded.settings.rules
    name = game.info.name
    for flag, why in (
        ("seed", "the bots have the seeds of the recorded match"),
        ("match", "the settings are those of the replay"),
        ("games", "it begins one match"),
    ):
        if flag in given:
            raise UsageError(f"--{flag} can't be used with --from: {why}.")
    for flag, value, kept_value in (("game", given.get("game"), name), ("rules", given.get("rules"), rules)):
        if value not in (None, kept_value):
            raise UsageError(f"--{flag} is {value!r:.40}, but the match of the replay has {kept_value!r}, which it keeps.")
    wished = {**_settings(given, game), **_extra(given.get("set", []), game.info.options)}
    recorded_settings: dict[str, Any] = game.codec.settings_json(recorded.settings)
    try:
        asked = game.codec.settings_json(game.codec.settings(rules, {**recorded_settings, **wished})) if wished else recorded_settings
    except SettingsError:
        asked = {**recorded_settings, **wished}
        if asked.keys() != recorded_settings.keys() or asked == recorded_settings:
            raise
    for option, value in recorded_settings.items():
        if asked[option] != value:
            raise UsageError(f"{option} is {asked[option]!r:.40}, but {value!r:.40} in the match of the replay, which keeps its settings.")
    sections = {name: value.given for name, value in options_of(recorded) if isinstance(value, Section)}
    match = continued(recorded, start, _options(sections, given), notes, given.get("out"))
    return Request(match, None, quiet=False, as_json=False)


#: The most characters of a layout file, far more than any layout has.
_LONGEST_LAYOUT = 100_000


def _settings(given: Mapping[str, Any], game: Game[Any, Any]) -> dict[str, Any]:
    """Return the game settings given by their own flags. The game itself refuses settings that it doesn't have."""
    options = {option.name: option for name in games.names() for option in games.info(name).options}
    options |= {option.name: option for option in game.info.options}
    settings: dict[str, Any] = {}
    if "size" in given:
        settings |= _size(given["size"], game.info.size_options)
    for name, option in options.items():
        if name in given and name != "players":
            value = given[name]
            whole = option.kind == "integers"
            settings[name] = _layout(value) if option.kind == "lines" else _whole_numbers(name, option.parts, value) if whole else value
    return settings


def _layout(path: str) -> list[str]:
    try:
        with io.TextIOWrapper(open_regular(Path(path)), encoding="utf-8-sig") as file:
            text = file.read(_LONGEST_LAYOUT + 1)
    except (OSError, ValueError) as error:
        from referee.replay.paths import why_unreadable

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


#: The limits of a bot by their names in --limit, with the fields of ``Limits``.
LIMITS = {field.removesuffix("_bytes"): field for field in Limits.model_fields}


def _options(others: Mapping[str, Any], given: Mapping[str, Any]) -> MatchOptions:
    """Return the options given by flags; all others are ``others``, values of ``MatchOptions``. UsageError names the wrong flag."""
    data: dict[str, Any] = {"time": {}, "run": {}, "limits": {}} | {
        name: dict(value) if isinstance(value, dict) else value for name, value in others.items()
    }
    names: dict[str, str] = {}
    for each in declared():
        if each.flag and given.get(each.parameter) is not None:
            (data[each.section] if each.section else data)[each.name] = given[each.parameter]
            names[each.key] = each.flag
    for name, field, value in _limits(given):
        data["limits"][field] = value
        names[f"limits.{field}"] = f"--limit {name}"
    return checked(data, lambda key: names.get(key, key), converts=True)


def _limits(given: Mapping[str, Any]) -> Iterator[tuple[str, str, str]]:
    """Yield the limits given by --limit: the name as the user wrote it, the field of ``Limits`` and the value."""
    for pair in given.get("limit", ()):
        name, equals, value = (part.strip() for part in pair.partition("="))
        field = LIMITS.get(name.replace("-", "_"))
        if not equals or field is None:
            hint = near_one(name if field is None else "", LIMITS)
            raise UsageError(f"--limit is {pair!r:.80}, but must be NAME=VALUE, as in memory=1GiB; {hint}")
        yield name, field, value


def example(game: Game[Any, Any], settings: Any) -> str:
    """Return the arguments of a match, from ``play`` on: with the strongest example bot of each seat, or with a file for each seat if there are none."""
    from example_bots import BOTS

    name, seats = game.info.name, game.seats(settings)
    own = [bot for bot in BOTS if bot.game == name and (not bot.rules or settings.rules in bot.rules)]
    if game.info.players_option and own:
        chosen = [bot.name for bot in own[-2:]]
    else:
        chosen = [next((bot.name for bot in reversed(own) if bot.plays(seat)), f"{seat}.py") for seat in seats]
    return " ".join(["play", *([] if name == games.names()[0] else ["--game", name]), *chosen])
