"""The options that commands share: of a match, and of where many matches are played."""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee import games
from referee.cli.models import Options
from referee.cli.request import LIMITS
from referee.league.workers import Workers, check_place
from referee.match.options import declared

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.games.game import Option

    _Decorator = Callable[[Callable[..., None]], Callable[..., None]]

RULES_HELP = "GAME SETTINGS, all of them: add --game GAME, or referee games GAME"
CLOCK_HELP = "TIME, in seconds, or none for no limit"
RUN_HELP = "HOW THE MATCH IS RUN"
WALLS_HELP = "ISOLATION, for programs that you don't trust"

Game = Annotated[
    str | None,
    typer.Option(
        "--game",
        metavar="GAME",
        help=f"The game: {', '.join(games.names())}.  (default: {games.names()[0]})",
    ),
]
Out = Annotated[
    str | None, typer.Option("--out", metavar="PATH", help="The replay's file, or a folder for it.  (default: matches/replays/)")
]
Force = Annotated[bool, typer.Option("--force", help="Replace an existing file that this command did not write.")]
ReplayFile = Annotated[Path, typer.Argument(metavar="REPLAY", help="A replay file.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")]
#: The arguments and options of commands that ask one bot.
bot_argument = functools.partial(typer.Argument, metavar="BOT", help="The program: a player as in referee play.")
seat_option = functools.partial(typer.Option, "--seat", metavar="SEAT")
isolation_option = functools.partial(typer.Option, "--isolation", metavar="auto|strict|limits|none")
BotIsolation = Annotated[str, isolation_option(help="As for referee play.")]
SLOTS_HELP = "How many matches to play at once.  (default: as many as cores and memory allow)"
Slots = Annotated[int | None, typer.Option("--slots", metavar="N", help=SLOTS_HELP)]


def _option(name: str, text: str, *others: str, kind: Any = str, panel: str | None = None, **more: Any) -> Any:
    """Return the annotation of an optional option; its value is None if it is not given."""
    return Annotated[kind | None, typer.Option(name, *others, help=text, rich_help_panel=panel, **more)]


_rule = functools.partial(_option, panel=RULES_HELP)
_cap = functools.partial(_option, panel=WALLS_HELP, metavar="SIZE")


def _game_options() -> dict[str, Any]:
    """Return a flag for each setting of our games and of the game that is named, but not for the number of players.

    Settings with the same name share a flag. The help shows those of the game that is named.
    """
    named = _named_game()
    found: dict[str, list[tuple[str, Option]]] = {}
    for game in games.sound() if named and named not in games.names() else map(games.get, games.names()):
        name = game.info.name
        for option in game.info.options if name in (*games.names(), named) else ():
            if option.name != game.info.players_option:
                found.setdefault(option.name, []).append((name, option))
    return {name: _flag(name, uses, named) for name, uses in found.items()}


def _named_game() -> str:
    """Return the game that this command line names by --game; "" if it names none."""
    words = sys.argv[1:]
    following = (value for word, value in pairwise(words) if word == "--game")
    return next((word.removeprefix("--game=") for word in words if word.startswith("--game=")), next(following, ""))


def _flag(name: str, uses: list[tuple[str, Option]], named: str) -> Any:
    """Return the flag of one setting. Its help names the game if several games have the setting. The help of another game hides it."""
    texts = [
        f"{f'{game.capitalize()}: ' if len(uses) > 1 else ''}{option.meaning}  (default: {option.shown_default})"
        for game, option in uses
        if option.default is not None or option.default_text
    ] or [option.meaning for _, option in uses]
    option = uses[0][1]
    dashed = name.replace("_", "-")
    flag = f"--{dashed}/--no-{dashed}" if option.kind == "boolean" else f"--{dashed}"
    kind, metavar = {
        "integer": (int, "N"),
        "boolean": (bool, None),
        "choice": (str, "|".join(option.choices)),
        "integers": (str, ",".join(option.parts)),
        "lines": (str, "FILE"),
    }[option.kind]
    return _rule(
        flag,
        " ".join(texts),
        *([f"-{option.short}"] if option.short else []),
        kind=kind,
        metavar=metavar,
        hidden=named not in [game for game, _ in uses],
    )


def _match_options(section: str, panel: str) -> dict[str, Any]:
    """Return the flags of one section of the options of a match."""
    found = {}
    for each in declared():
        if each.section == section and each.flag:
            is_count = each.field.annotation is int
            found[each.parameter] = _option(
                each.flag,
                f"{each.field.description}  (default: {each.shown_default})",
                kind=int if is_count else str,
                panel=panel,
                metavar="LEVEL" if each.name == "isolation" else "N" if is_count else "|".join(each.choices) or each.unit.upper(),
            )
    return found


#: The options by parameter name, in the order of the help.
_OPTIONS: dict[str, Any] = {
    "match": _option("--match", "A match file; flags override it.", kind=Path, metavar="FILE.toml"),
    "seed": _option("--seed", "Play the same match again: bots get the same seeds.", metavar="N", kind=int),
    "rules": _rule("--rules", "The rule set.  (default: the first that referee games names)", metavar="RULES"),
    "size": _rule("--size", "The board: WIDTHxHEIGHT, or one number for a square.", metavar="WxH"),
    **_game_options(),
    "set": _rule(
        "--set",
        "A setting of the game, with the value as its flag takes it; may be repeated.",
        kind=list[str],
        metavar="NAME=VALUE",
    ),
    **_match_options("time", CLOCK_HELP),
    **_match_options("run", RUN_HELP),
    **_match_options("", WALLS_HELP),
    "limit": _cap(
        "--limit",
        f"A limit of each bot, such as memory=1GiB; may be repeated. Names: {', '.join(LIMITS)}.",
        kind=list[str],
        metavar="NAME=VALUE",
    ),
}


def words(flags: Mapping[str, Any]) -> list[str]:
    """Return shared options as words of a command line, from their values by name; None means not given."""
    found = []
    for name, value in flags.items():
        for each in value if isinstance(value, list) else () if value is None else (value,):
            found += [f"--{name.replace('_', '-')}", str(each)]
    return found


def with_options(parameter: str, options: Mapping[str, Any], collect: Callable[[dict[str, Any]], Any]) -> _Decorator:
    """Return a decorator that gives a command these options in place of its argument ``parameter``.

    ``options`` are annotations by name; an option that is not given is None. The command receives what ``collect`` makes of the values.
    """

    def decorate(function: Callable[..., None]) -> Callable[..., None]:
        shared = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind in options.items()]
        own = inspect.signature(function, eval_str=True).parameters.values()
        merged = [one for part in own for one in (shared if part.name == parameter else [part])]

        @functools.wraps(function)
        def wrapped(**given: Any) -> None:
            values = {name: given.pop(name) for name in options}
            function(**given, **{parameter: collect(values)})

        wrapped.__signature__ = inspect.Signature(merged)  # type: ignore[attr-defined]
        wrapped.__annotations__ = {one.name: one.annotation for one in merged}
        return wrapped

    return decorate


#: Gives a command the options of a match, as the argument ``flags``.
with_match_options = with_options("flags", _OPTIONS, dict)


class WorkerOptions(Options):
    """Where many matches are played."""

    slots: Slots = None
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="Play on the workers of a Dask scheduler, tcp://HOST:8786, or on local:N worker processes of this machine.",
            rich_help_panel="Many machines",
        ),
    ] = None

    def place(self) -> Workers:
        """Return where the matches are played. Raises UsageError for a number of slots or an address that can't be."""
        check_place(self.slots, self.cluster)
        return Workers(self.slots, self.cluster)
