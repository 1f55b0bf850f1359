"""games, bots, new and explain: what there is to play, a bot to begin with, and what codes mean."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee import games as registry
from referee.cli import completion
from referee.cli.app import JsonFlag, app, columns, command, note, put, put_json, say
from referee.cli.front import AUTHORS
from referee.cli.request import example
from referee.errors import UsageError
from referee.support.words import program, wrapped

if TYPE_CHECKING:
    from collections.abc import Iterable

    from referee.codes.table import Meaning
    from referee.games.game import Game, Option


@app.command(rich_help_panel=AUTHORS)
@command
def games(
    name: Annotated[
        str | None, typer.Argument(metavar="[GAME]", help="A game, to see its settings.", autocompletion=completion.game)
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """List the games, or the settings of one."""
    if name is not None:
        game = registry.get(name)
        if as_json:
            put_json(described(game))
        else:
            put(*_lines(game, columns(100)))
    elif as_json:
        put_json([described(game) for game in registry.sound(note)])
    else:
        for game in registry.sound(note):
            put(f"{game.info.name:<12} {', '.join(game.info.rule_sets)}")
        put("", f"Try:  {program()} games {registry.names()[0]}")


def described(game: Game[Any, Any]) -> dict[str, Any]:
    """Return a game as JSON data: its name, version, rule sets, seats, and its settings with the default of each rule set."""
    info, defaults = game.info, _defaults(game)
    options = []
    for option in info.options:
        own = {rules: defaults[rules].get(option.name, option.default) for rules in info.rule_sets if _has(option, rules)}
        options.append({**option.to_json(), "defaults": {} if option.kind == "lines" else own})
    seats = list(game.seats(game.codec.settings(None, {})))
    return {"name": info.name, "version": info.version, "rule_sets": list(info.rule_sets), "seats": seats, "options": options}


def _defaults(game: Game[Any, Any]) -> dict[str, dict[str, Any]]:
    return {rules: game.codec.settings_json(game.codec.settings(rules, {})) for rules in game.info.rule_sets}


def _has(option: Option, rules: str) -> bool:
    return not option.rules or rules in option.rules


def table(game: Game[Any, Any]) -> list[tuple[str, str, str, str]]:
    """Return the rows of a game's table of settings: name, allowed values, default by rule set, meaning."""
    rows = []
    info, defaults = game.info, _defaults(game)
    for option in info.options:
        shown = {rules: _default(option, defaults[rules]) for rules in info.rule_sets if _has(option, rules)}
        texts = list(dict.fromkeys(shown.values()))
        default = texts[0] if len(texts) == 1 else ", ".join(f"{rules} {text}" for rules, text in shown.items())
        only = f" Only in {' and '.join(option.rules)}." if option.rules else ""
        unit = f" {option.unit}" if option.unit else ""
        rows.append((option.name, option.allowed + unit, default, option.meaning + only))
    return rows


def _default(option: Option, settings: dict[str, Any]) -> str:
    return option.default_text or option._replace(default=settings.get(option.name, option.default)).shown_default


def _lines(game: Game[Any, Any], wide: int) -> list[str]:
    from example_bots import BOTS

    info = game.info
    lines = [f"{info.name}: {', '.join(info.rule_sets)}", f"seats: {', '.join(game.seats(game.codec.settings(None, {})))}", ""]
    for name, allowed, default, meaning in table(game):
        lines += wrapped(f"  {name}", 18, f"{meaning}  [{allowed}; default: {default}]", wide)
    has_bots = any(bot.game == info.name for bot in BOTS)
    tried = f"bots --game {info.name}" if has_bots else example(game, game.codec.settings(None, {}))
    return [*lines, "", f"Try:  {program()} {tried}"]


#: The word for all roles of a game together, and the default name of their folder.
_TEAM = "team"


@app.command(rich_help_panel=AUTHORS)
@command
def new(
    role: Annotated[
        str | None,
        typer.Argument(
            metavar="ROLE",
            help="The role that the bot plays: hunter, prey, thief, policeman or painter; team for a folder with a bot for each.",
            autocompletion=completion.role,
        ),
    ] = None,
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="The file to write; with --folder and for a team, the folder.")] = None,
    game: Annotated[
        str | None, typer.Option("--game", metavar="NAME", help="The game, if several games have the seat.", autocompletion=completion.game)
    ] = None,
    seat: Annotated[
        str | None, typer.Option("--seat", metavar="SEAT", help="The seat, in place of ROLE.", autocompletion=completion.role)
    ] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            "--lang",
            metavar="LANGUAGE",
            autocompletion=completion.language,
            help="python, javascript, typescript, java, cpp, c, rust, go, csharp or shell.  (default: by the suffix of FILE, else python)",
        ),
    ] = None,
    folder: Annotated[bool, typer.Option("--folder", help="Write a folder: the bot, bot.toml, a README and a test.")] = False,
    as_json: JsonFlag = False,
) -> None:
    """Write a bot that already plays, for you to change. Nothing is overwritten.

    Try:  referee new hunter my_bot.py
          referee new thief my_thief.py
          referee new team my_team
    """
    from referee.starters.compose import check_words, choose, choose_team, first_match
    from referee.starters.write import language_of, write_file, write_folder

    if seat is not None and role is not None:
        if file is None:
            role, file = seat, role
        elif role != seat:
            raise UsageError(f"ROLE is {role!r:.40}, but --seat is {seat!r:.40}; give one of them.")
    wanted = seat if role is None else role
    if wanted is None:
        raise UsageError(f"Name the seat that the bot plays; try:  {program()} new --help")
    roles = choose_team(game) if wanted == _TEAM else [choose(wanted, game)]
    folder |= wanted == _TEAM
    language = language_of("" if folder or file is None else file, lang)
    written = (
        write_folder(roles, language, file or (_TEAM if wanted == _TEAM else "")) if folder else write_file(roles[0], language, file or "")
    )
    missing = language.missing()
    play = " && ".join(f"{program()} play {first_match(chosen, written.player)}" for chosen in roles)
    check = " && ".join(f"{program()} check {check_words(chosen, written.player)}" for chosen in roles)
    if as_json:
        put_json(
            {
                "files": [str(path) for path in written.files],
                "folder": None if written.folder is None else str(written.folder),
                "game": roles[0].game,
                "seat": wanted,
                "language": language.name,
                "build": written.build,
                "run": written.run,
                "player": written.player,
                "play": play,
                "check": check,
                "test": written.test,
                "missing": [tool._asdict() for tool in missing],
            }
        )
    else:
        for path in written.files:
            put(str(path))
    for tool in missing:
        say(
            f"note: {language.title} needs {tool.program}, which is not on this machine. Debian and Ubuntu have it in the package {tool.package}."
        )
    if not as_json:
        build = f"{written.build} && " if written.build and not folder else ""
        put("", f"Next:  {build}{play}")
        put(f"Check: {check}")
        if written.test:
            put(f"Test:  {written.test}")


#: The widest line of text: longer ones are hard to read.
_WIDEST = 110
_ANY = "any"


@app.command(rich_help_panel=AUTHORS)
@command
def explain(
    code: Annotated[
        str | None,
        typer.Argument(
            metavar="[CODE]",
            help="A fault, notice, outcome or other code, such as late.  (default: list all)",
            show_default=False,
            autocompletion=completion.code,
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Explain a code of a result, a notice or a replay: what it means, its usual causes, and what to do."""
    from referee.codes import table

    if code is not None:
        found = table.find(code, note)
        if as_json:
            put_json(_described(code, found))
        else:
            put(*meaning_lines(found, min(columns(100), _WIDEST)))
        return
    known = table.meanings(note)
    if as_json:
        codes = dict.fromkeys(meaning.code for meaning in known)
        put_json([_described(each, [meaning for meaning in known if meaning.code == each]) for each in codes])
        return
    wide = min(columns(100), _WIDEST)
    for title, group in table.sections(known).items():
        put(f"{title}:")
        for meaning in group:
            put(*wrapped(f"  {meaning.code}", 18, _first_sentence(meaning.text), wide))
        put("")
    put(f"Try:  {program()} explain {known[0].code}")


def _described(code: str, found: Iterable[Meaning]) -> dict[str, Any]:
    return {"code": code, "meanings": [meaning.to_json() for meaning in found]}


def _first_sentence(text: str) -> str:
    first, dot, _ = text.partition(". ")
    return f"{first}." if dot else text


def meaning_lines(found: list[Meaning], wide: int) -> list[str]:
    """Return what codes mean, as lines of at most ``wide`` characters."""
    lines: list[str] = []
    for meaning in found:
        if lines:
            lines.append("")
        lines += [meaning.title, *_paragraph(meaning.text, wide)]
        if meaning.causes:
            lines += ["", "Usual causes"]
            width = 2 + max(len(language or _ANY) for language, _ in meaning.causes)
            for language, cause in meaning.causes:
                lines += wrapped(f"  {language or _ANY}", width, cause, wide)
        lines += ["", "What to do", *_paragraph(meaning.remedy, wide)]
    return lines


def _paragraph(text: str, wide: int) -> list[str]:
    return wrapped("", 1, text, wide)


@app.command(rich_help_panel=AUTHORS)
@command
def bots(
    game: Annotated[
        str | None,
        typer.Option("--game", metavar="GAME", help="List only the bots of this game.  (default: all)", autocompletion=completion.game),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """List the example bots by game, weak to strong. Use their names as players."""
    from example_bots import BOTS
    from referee import games

    chosen = games.get(game or games.names()[0])
    found = sorted((bot for bot in BOTS if game in (None, bot.game)), key=lambda bot: games.names().index(bot.game))
    if as_json:
        put_json([{"name": bot.name, "game": bot.game, "seats": bot.seats, "idea": bot.idea, "file": str(bot.path)} for bot in found])
        return
    for name, group in groupby(found, key=lambda bot: bot.game):
        put(f"{name}:")
        for bot in group:
            text = f"{' and '.join(bot.seats) or 'any seat'}: {bot.idea}"
            put(*wrapped(f"  {bot.name}", 17, text, columns(100)))
    if not found:
        put(f"There are no example bots of {game}.")
    put("", f"Try:  {program()} {example(chosen, chosen.codec.settings(None, {}))}")
