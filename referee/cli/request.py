"""Build a match request from options and a match file. Flags override the file."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from referee import games
from referee.cli.options import LIMITS, MatchFlags
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.match.options import MatchOptions, checked, declared
from referee.match.play import MatchRequest, continued, settings_of
from referee.match.start import options_of
from referee.players.names import HUMAN
from referee.support.files import open_regular
from referee.support.meant import near_one
from referee.support.sections import Section

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from referee.games.game import Game, Json, Option
    from referee.match.start import Start
    from referee.replay.recorded_match import RecordedMatch


def with_file(flags: MatchFlags) -> MatchFlags:
    """Return the flags with the values of their match file below them."""
    if flags.match is None:
        return flags
    from referee.match import settings_file

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
    for option, value in recorded_settings.items():
        if settings[option] != value:
            raise UsageError(
                f"{option} is {settings[option]!r:.40}, but {value!r:.40} in the match of the replay, which keeps its settings."
            )
    sections = {name: value.given for name, value in options_of(recorded) if isinstance(value, Section)}
    return continued(recorded, start, _options(flags.replace(options=sections)), notes, flags.out)


#: The most characters of a layout file, far more than any layout has.
_LONGEST_LAYOUT = 100_000


def _settings(flags: MatchFlags, game: Game[Any, Any]) -> dict[str, Any]:
    """Return the game settings of the flags. The game itself refuses settings that it doesn't have."""
    options = {option.name: option for name in games.names() for option in games.info(name).options}
    options |= {option.name: option for option in game.info.options}
    values = flags.model_extra or {}
    settings: dict[str, Any] = {} if flags.size is None else _size(flags.size, game.info.size_options)
    for name, option in options.items():
        if name in values:
            value = values[name]
            if option.kind == "lines":
                settings[name] = _layout(value)
            else:
                settings[name] = _whole_numbers(name, option.parts, value) if option.kind == "integers" else value
    return {**settings, **_extra(flags.set, game.info.options)}


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


def example(game: Game[Any, Any], settings: Any) -> str:
    """Return the arguments of a match, from ``play`` on: with the strongest example bot of each seat, or with a file for each seat if there are none."""
    from example_bots import BOTS

    name, seats = game.info.name, game.seats(settings)
    bots = [bot for bot in BOTS if bot.game == name and (not bot.rules or settings.rules in bot.rules)]
    if game.info.players_option and bots:
        chosen = [bot.name for bot in bots[-2:]]
    else:
        chosen = [next((bot.name for bot in reversed(bots) if bot.plays(seat)), f"{seat}.py") for seat in seats]
    return " ".join(["play", *([] if name == games.names()[0] else ["--game", name]), *chosen])
