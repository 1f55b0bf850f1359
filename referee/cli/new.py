"""new: write a starter, a bot that already plays."""

from __future__ import annotations

from typing import Annotated

import typer

from referee.cli import completion
from referee.cli.app import JsonFlag, app, command, program, put, put_json, say
from referee.cli.front import AUTHORS
from referee.errors import UsageError

#: The word for all roles of a game together, and the default name of their folder.
_TEAM = "team"


@app.command(rich_help_panel=AUTHORS)
@command
def new(
    role: Annotated[
        str | None,
        typer.Argument(
            metavar="ROLE",
            help="The seat that the bot plays, such as hunter; team for a folder with a bot for each seat.",
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
        put(f"\nNext:  {build}{play}")
        put(f"Check: {check}")
        if written.test:
            put(f"Test:  {written.test}")
