"""Finds the templates of a starter and puts them together."""

from __future__ import annotations

import keyword
import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee import games
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.players.languages import LANGUAGES
from referee.support.near_names import did_you_mean

if TYPE_CHECKING:
    from referee.games.capabilities import Starter
    from referee.games.game import Seat
    from referee.players.languages import Language

_FRAMES = Path(__file__).parent
#: A place in a template. A place that is a whole line takes a whole part.
_PLACE = re.compile(r"@@(\w+)@@")
#: The templates that stand for every seat of a game.
ANY = "any"


class Chosen(NamedTuple):
    """A chosen starter: its game, the seat that it takes in its first match, and the name of its templates."""

    game: str
    seat: Seat
    seats: tuple[Seat, ...]
    template: str
    starter: Starter
    role: str


def choose(seat: str, game: str | None) -> Chosen:
    """Return the starter of a seat, in the named game or in the only game that has the seat. UsageError names the starters that exist."""
    try:
        candidates = games.loadable() if game is None else [games.get(game)]
    except SettingsError as error:
        raise UsageError(str(error)) from None
    choices: list[Chosen] = []
    offered: list[str] = []
    for game_object in candidates:
        name, starters = game_object.info.name, game_object.starters
        if starters is None:
            continue
        seats = tuple(game_object.seats(game_object.codec.settings(None, {})))
        template = seat if seat in starters.seats else ANY if ANY in starters.seats and seat in (*seats, starters.role) else ""
        offered += [starters.role] if ANY in starters.seats else starters.seats
        if template:
            own_seat = seat if seat in seats else seats[0]
            choices.append(Chosen(name, own_seat, seats, template, starters.seats[template], starters.role or seat))
    if len(choices) == 1:
        return choices[0]
    if choices:
        raise UsageError(f"The seat {seat!r:.40} is in {' and '.join(choice.game for choice in choices)}; name one of them with --game.")
    if game is not None and not offered:
        raise UsageError(f"The game {game} has no starters; games with starters: {', '.join(_with_starters())}.")
    of_game = f" of {game}" if game is not None else ""
    hint = did_you_mean(seat, offered) or f"there are starters for {', '.join(offered)}."
    raise UsageError(f"There is no starter{of_game} for the seat {seat!r:.40}; {hint}")


def choose_team(game: str | None) -> list[Chosen]:
    """Return the starters that play every seat together: one for each role of a game, by default the first game. UsageError as ``choose``."""
    try:
        game_object = games.get(games.names()[0] if game is None else game)
    except SettingsError as error:
        raise UsageError(str(error)) from None
    choices = [choose(seat, game_object.info.name) for seat in game_object.seats(game_object.codec.settings(None, {}))]
    return list({chosen.template: chosen for chosen in reversed(choices)}.values())[::-1]


def _with_starters() -> list[str]:
    return [game.info.name for game in games.loadable() if game.starters is not None]


def _folder(game: str) -> Path:
    return Path(games.folder(games.get(game))) / "starters"


def languages(chosen: Chosen) -> list[str]:
    """Return the names of the languages in which there is this starter."""
    return [language.name for language in LANGUAGES if _template(chosen, language, chosen.template).is_file()]


def _template(chosen: Chosen, language: Language, name: str) -> Path:
    return _folder(chosen.game) / language.name / f"{name}{language.suffix}.template"


def lineup(chosen: Chosen, player: str) -> list[str]:
    """Return the players of the first match in the order of the seats: ``player``, and the example bots that it meets."""
    return [player if seat == chosen.seat else chosen.starter.opponent for seat in chosen.seats]


def first_match(chosen: Chosen, player: str) -> str:
    """Return the arguments of ``referee play`` for the first match of a bot, as a shell takes them."""
    return shlex.join([*_named_game(chosen), *lineup(chosen, player)])


def check_words(chosen: Chosen, player: str) -> str:
    """Return the arguments of ``referee check`` for a bot, as a shell takes them: a starter plays one seat, if seats differ."""
    seat = [] if chosen.template == ANY else ["--seat", chosen.seat]
    return shlex.join([*_named_game(chosen), player, *seat])


def _named_game(chosen: Chosen) -> list[str]:
    return [] if chosen.game == games.names()[0] else ["--game", chosen.game]


def class_name(stem: str, texts: str) -> str:
    """Return a name for the bot's class: the words of its file's name, as ``MyHunter``, but different from all names in the templates."""
    words = re.findall(r"[A-Za-z0-9]+", stem)
    name = "".join(word[0].upper() + word[1:] for word in words) or "Bot"
    if name[0].isdigit():
        name = f"Bot{name}"
    while keyword.iskeyword(name) or re.search(rf"\b{name}\b", texts):
        name += "Bot"
    return name


def compose(chosen: Chosen, language: Language, file: str, player: str, folder: str = "") -> tuple[str, str]:
    """Return the text of a bot and the name of its class. ``player`` is the bot as a player of ``referee play``, ``folder`` its folder's name.

    The class is named after the file or the folder; in a language that looks for classes in files of their name, always after the file.
    UsageError if the game has no starter in the language.
    """
    parts = _parts(chosen, language)
    stem = file.removesuffix(language.suffix)
    text = "\n".join(parts.values())
    name = class_name(stem if stem[0].isupper() else folder or stem, text)
    words = _words(chosen, language, file, name, player, in_folder=bool(folder))
    return _filled(parts["frame"], parts, {**words, "title": class_name(folder or stem, "")}), name


def compose_test(chosen: Chosen, language: Language, module: str, name: str) -> str:
    """Return a test of a bot in a language that has a template for tests; an empty text for others."""
    path = _template(chosen, language, f"test_{chosen.template}")
    return _filled(path.read_text("utf-8"), {}, {"module": module, "name": name}) if path.is_file() else ""


def _parts(chosen: Chosen, language: Language) -> dict[str, str]:
    seat = _template(chosen, language, chosen.template)
    if not seat.is_file():
        there = languages(chosen)
        others = f"there are starters in {', '.join(there)}" if there else "there is none in any language"
        raise UsageError(f"There is no starter in {language.title} for {chosen.role} in {chosen.game}; {others}.")
    parts = {"seat": seat.read_text("utf-8")}
    game = _template(chosen, language, "game")
    parts["game"] = game.read_text("utf-8") if game.is_file() else ""
    home = _FRAMES / language.name
    for name in ("frame", "json"):
        path = home / f"{name}{language.suffix}.template"
        parts[name] = path.read_text("utf-8") if path.is_file() else ""
    return parts


def _words(chosen: Chosen, language: Language, file: str, name: str, player: str, *, in_folder: bool) -> dict[str, str]:
    build, _ = language.commands(file, name)
    play = f"referee play {first_match(chosen, player)}"
    built = "the referee builds it, as bot.toml says" if in_folder else build
    how = [f"Build:  {built}"] * bool(build) + [f"Play:   {play}"]
    article = "An" if chosen.role[0] in "aeiou" else "A"
    return {
        "name": name,
        "what": f"{article} {chosen.role} that {chosen.starter.idea}.",
        "how": "\n".join(how),
        "role": chosen.seat,
        # A line that begins with @@only@@ is left out of a bot that plays every seat.
        "only": "" if chosen.template == ANY else "\n",
    }


def _filled(text: str, parts: dict[str, str], words: dict[str, str]) -> str:
    """Return a template with its places filled. A word of several lines repeats what stands before it in its line."""
    lines: list[str] = []
    for line in text.splitlines():
        whole = _PLACE.fullmatch(line.strip())
        if whole and whole[1] in parts:
            indent = line[: len(line) - len(line.lstrip())]
            lines += [indent + part if part else "" for part in _filled(parts[whole[1]], parts, words).splitlines()]
            continue
        place = _PLACE.search(line)
        for value in words[place[1]].splitlines() if place else [""]:
            lines.append(_PLACE.sub(lambda mark: words[mark[1]], line.replace(place[0], value) if place else line))
    return "\n".join(lines) + "\n"
