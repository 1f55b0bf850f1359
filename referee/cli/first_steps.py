"""games, bots, new and explain: list games and example bots, write a first bot, and explain codes."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Annotated, Any

import typer

from example_bots import BOTS
from referee import codes
from referee import games as registry
from referee.cli.app import AUTHORS, JsonFlag, app, columns, command, note, put, put_json, say
from referee.cli.options import flags_of
from referee.cli.run import example
from referee.errors import UsageError
from referee.games.description import describe, settings_table
from referee.support.words import program, wrapped

if TYPE_CHECKING:
    from referee.games.game import Game


@app.command(rich_help_panel=AUTHORS)
@command
def games(
    name: Annotated[str | None, typer.Argument(metavar="[GAME]", help="A game, to see its settings.")] = None,
    as_json: JsonFlag = False,
) -> None:
    """List the games, or the settings of one."""
    if name is not None:
        game = registry.get(_lower(name))
        if as_json:
            put_json(describe(game))
        else:
            put(*_lines(game, columns(100)))
    elif as_json:
        put_json([describe(game) for game in registry.loadable(note)])
    else:
        for game in registry.loadable(note):
            put(f"{game.info.name:<12} {', '.join(game.info.rule_sets)}")
        put("", f"Try:  {program()} games {registry.names()[0]}")


def _lower(name: str) -> str:
    """Return a game's name in lower case if it is one of our games, else unchanged."""
    return name.lower() if name.lower() in registry.names() else name


def _lines(game: Game[Any, Any], wide: int) -> list[str]:
    info = game.info
    lines = [f"{info.name}: {', '.join(info.rule_sets)}", f"seats: {', '.join(game.seats(game.codec.settings(None, {})))}", ""]
    is_ours = info.name in registry.names()
    if is_ours:
        lines += [
            *wrapped("", 0, "Options of referee play, duel and compare; match files and Python name them with _ in place of -:", wide)
        ]
    for option, (name, allowed, default, meaning) in zip(info.options, settings_table(game), strict=True):
        # The settings of other packages' games have no flags.
        flags = (
            " ".join(flag.partition("/")[0] for flag in flags_of(option))
            if is_ours and name != info.players_option
            else name
            if is_ours
            else f"--set {name}="
        )
        lines += wrapped(f"  {flags}", 22, f"{meaning}  [{allowed}; default: {default}]", wide)
    has_bots = any(bot.game == info.name for bot in BOTS)
    tried = f"bots {info.name}" if has_bots else example(game, game.codec.settings(None, {}))
    return [*lines, "", f"Try:  {program()} {tried}"]


#: The ROLE that stands for all roles of a game, and the default name of its folder.
_TEAM = "team"


@app.command(rich_help_panel=AUTHORS)
@command
def new(
    role: Annotated[
        str | None,
        typer.Argument(
            metavar="ROLE",
            help="The role that the bot plays: hunter, prey, thief, policeman or painter; team for a folder with a bot for each.",
        ),
    ] = None,
    file: Annotated[str | None, typer.Argument(metavar="FILE", help="The file to write; with --folder and for a team, the folder.")] = None,
    game: Annotated[str | None, typer.Option("--game", metavar="NAME", help="The game, if the seat exists in several games.")] = None,
    seat: Annotated[str | None, typer.Option("--seat", metavar="SEAT", help="The seat, in place of ROLE.")] = None,
    lang: Annotated[
        str | None,
        typer.Option(
            "--lang",
            metavar="LANGUAGE",
            help="python, javascript, java, cpp, rust or go.  (default: by the suffix of FILE, else python)",
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
    from referee.author.starters.compose import check_words, choose, choose_team, first_match
    from referee.author.starters.write import language_of, write_file, write_folder

    if seat is not None and role is not None:
        if file is None:
            role, file = seat, role
        elif role != seat:
            raise UsageError(f"ROLE is {role!r:.40}, but --seat is {seat!r:.40}; give one of them.")
    name = seat if role is None else role
    if name is None:
        raise UsageError(f"Name the seat that the bot plays; try:  {program()} new --help")
    roles = choose_team(game) if name == _TEAM else [choose(name, game)]
    folder |= name == _TEAM
    language = language_of("" if folder or file is None else file, lang)
    if folder:
        written = write_folder(roles, language, file or (_TEAM if name == _TEAM else ""))
    else:
        written = write_file(roles[0], language, file or "")
    missing = language.missing()
    play = " && ".join(f"{program()} play {first_match(starter, written.player)}" for starter in roles)
    check = " && ".join(f"{program()} check {check_words(starter, written.player)}" for starter in roles)
    for tool in missing:
        say(f"note: {language.title} needs {tool}, which is not on the PATH.")
    if as_json:
        about = {"game": roles[0].game, "seat": name, "language": language.name, "play": play, "check": check, "missing": missing}
        files = [str(path) for path in written.files]
        put_json({**written._asdict(), **about, "files": files, "folder": None if written.folder is None else str(written.folder)})
        return
    put(*map(str, written.files), "")
    build = f"{written.build} && " if written.build and not folder else ""
    put(f"Next:  {build}{play}", f"Check: {check}", *([f"Test:  {written.test}"] if written.test else []))


#: The most columns of a line of text, because longer lines are hard to read.
_WIDEST = 110


@app.command(rich_help_panel=AUTHORS)
@command
def explain(
    code: Annotated[
        str | None,
        typer.Argument(
            metavar="[CODE]",
            help="A fault, notice, outcome or other code, such as late.  (default: list all)",
        ),
    ] = None,
    as_json: JsonFlag = False,
) -> None:
    """Explain a code of a result, a notice or a replay: what it means, its usual causes, and what to do."""
    if code is not None:
        meanings = codes.find(code, note)
        if as_json:
            put_json(codes.code_json(code, meanings))
        else:
            put(*codes.meaning_lines(meanings, min(columns(100), _WIDEST)))
        return
    meanings = codes.meanings(note)
    if as_json:
        names = dict.fromkeys(meaning.code for meaning in meanings)
        put_json([codes.code_json(name, [meaning for meaning in meanings if meaning.code == name]) for name in names])
        return
    wide = min(columns(100), _WIDEST)
    for title, group in codes.sections(meanings).items():
        put(f"{title}:")
        for meaning in group:
            put(*wrapped(f"  {meaning.code}", 18, codes.first_sentence(meaning.text), wide))
        put("")
    put(f"Try:  {program()} explain {meanings[0].code}")


@app.command(rich_help_panel=AUTHORS)
@command
def bots(
    game: Annotated[str | None, typer.Argument(metavar="[GAME]", help="List only the bots of this game.")] = None,
    option: Annotated[str | None, typer.Option("--game", hidden=True)] = None,
    as_json: JsonFlag = False,
) -> None:
    """List the example bots by game, weak to strong. Use their names as players."""
    if (game := game or option) is not None:
        game = _lower(game)
    chosen = registry.get(game or registry.names()[0])
    listed = sorted((bot for bot in BOTS if game in (None, bot.game)), key=lambda bot: registry.names().index(bot.game))
    if as_json:
        put_json([{"name": bot.name, "game": bot.game, "seats": bot.seats, "idea": bot.idea, "file": str(bot.path)} for bot in listed])
        return
    for name, group in groupby(listed, key=lambda bot: bot.game):
        put(f"{name}:")
        for bot in group:
            text = f"{' and '.join(bot.seats) or 'any seat'}: {bot.idea}"
            put(*wrapped(f"  {bot.name}", 17, text, columns(100)))
    if not listed:
        put(f"There are no example bots of {game}.")
    put("", f"Try:  {program()} {example(chosen, chosen.codec.settings(None, {}))}")
