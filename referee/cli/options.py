"""The options that commands share: of a match, of its pages, and of where many matches are played."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar

import typer
from pydantic import ConfigDict, Field

from referee import games
from referee.cli.app import JsonFlag
from referee.cli.models import CommandModel, option
from referee.match.options import declared
from referee.match.request import MatchRequest
from referee.tournament.workers import Workers, check_place

if TYPE_CHECKING:
    import inspect
    from collections.abc import Iterator, Mapping

    from referee.games.game import Option

RULES_HELP = "GAME SETTINGS: referee games GAME lists the options for all of them"
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
FirstRules = Annotated[str | None, typer.Option("--rules", metavar="RULES", help="The rule set.  (default: the first one of the game)")]
Database = Annotated[
    str | None, typer.Option("--database", metavar="URL", help="Keep the results in PostgreSQL: postgresql://user@host/name")
]
#: The arguments and options of commands that ask one bot.
bot_argument = functools.partial(typer.Argument, metavar="BOT", help="The program: a player as in referee play.")
seat_option = functools.partial(typer.Option, "--seat", metavar="SEAT")
isolation_option = functools.partial(typer.Option, "--isolation", metavar="auto|strict|limits|none")
BotIsolation = Annotated[str, isolation_option(help="As for referee play.")]
SLOTS_HELP = "How many matches to play at once.  (default: as many as cores and memory allow)"
Slots = Annotated[int | None, typer.Option("--slots", metavar="N", help=SLOTS_HELP)]


class CommandFlags(MatchRequest, CommandModel):
    """A request for a match, whose fields are options of a command."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)
    panels: ClassVar[Mapping[str, str]] = {"rules": RULES_HELP, "size": RULES_HELP, "set": RULES_HELP, "limit": WALLS_HELP}

    @classmethod
    def parameters(cls) -> Iterator[inspect.Parameter]:
        """Yield the options: the fields, the settings of our games, and those of ``MatchOptions``."""
        fields = {parameter.name: parameter for parameter in super().parameters()}
        limit = fields.pop("limit")
        yield from (*fields.values(), *_settings(), *_match_options(), limit)


_league = functools.partial(typer.Option, rich_help_panel="IN PLACE OF THE LEAGUE FILE")


class LeagueFlags(CommandFlags):
    """The options of a league that override its file: those of its schedule, and the settings of the game."""

    format: Annotated[
        str | None, _league("--format", metavar="FORMAT", help="round-robin, swiss, elimination or tables.  (default: round-robin)")
    ] = None
    rounds: Annotated[int | None, _league("--rounds", metavar="N", min=1, help="The rounds of swiss and tables.")] = None
    starts: Annotated[
        int | None, _league("--starts", metavar="N", min=1, help="Draw this number of starts.  (default: the standard start)")
    ] = None
    repeat: Annotated[int | None, _league("--repeat", metavar="N", min=1, help="Play each duel N times.  (default: 1)")] = None
    isolation: Annotated[str | None, isolation_option(help="As for referee play.", rich_help_panel="IN PLACE OF THE LEAGUE FILE")] = None

    @classmethod
    def parameters(cls) -> Iterator[inspect.Parameter]:
        """Yield the options."""
        parameters = {parameter.name: parameter for parameter in super(MatchRequest, cls).parameters()}
        names = ("format", "starts", "rounds", "repeat", "isolation", "game", "rules", "seed", "size", "set")
        yield from (*(parameters[name] for name in names), *_settings())

    def changes(self, game: str, slots: int | None) -> dict[str, Any]:
        """Return the values that override those of a league file for ``game``. ``slots`` is the value of another option."""
        names = ("format", "rounds", "repeat", "isolation", "game", "rules", "seed")
        values = {name: value for name in names if (value := getattr(self, name)) is not None}
        values |= {} if slots is None else {"slots": slots}
        values |= {} if self.starts is None else {"starts": {"count": self.starts}}
        settings = self.replace(game=self.game or game).flag_settings
        return {**values, **({"settings": settings} if settings else {})}


def _settings() -> Iterator[inspect.Parameter]:
    """Yield a hidden option for each setting of our games except the number of players. Settings of the same name share one."""
    settings: dict[str, Option] = {}
    for info in map(games.info, games.names()):
        for setting in info.options:
            if setting.name != info.players_option:
                settings.setdefault(setting.name, setting)
    for name, setting in settings.items():
        kind = {"integer": int, "boolean": bool}.get(setting.kind, str)
        yield option(name, Annotated[kind | None, typer.Option(*flags_of(setting), hidden=True)])


def flags_of(setting: Option) -> list[str]:
    """Return the flags of a setting of one of our games."""
    dashed = setting.name.replace("_", "-")
    return [f"--{dashed}/--no-{dashed}" if setting.kind == "boolean" else f"--{dashed}", *([f"-{setting.short}"] if setting.short else [])]


def _match_options() -> Iterator[inspect.Parameter]:
    """Yield an option for each one of ``MatchOptions`` that has a flag."""
    panels = {"time": CLOCK_HELP, "run": RUN_HELP, "": WALLS_HELP}
    for each in declared():
        if each.flag:
            is_count = each.field.annotation is int
            info = typer.Option(
                each.flag,
                metavar="LEVEL" if each.name == "isolation" else "N" if is_count else "|".join(each.choices) or each.unit.upper(),
                help=f"{each.field.description}  (default: {each.shown_default})",
                rich_help_panel=panels[each.section],
            )
            yield option(each.parameter, Annotated[int | None if is_count else str | None, info])


PAGE_HELP = "ON A PAGE, for spectators and human players"
page_option = functools.partial(typer.Option, rich_help_panel=PAGE_HELP)
Browser = Annotated[bool, page_option("--browser/--no-browser", help="Open the page in a browser here.")]


class ListenOptions(CommandModel):
    """The address at which a server of pages listens, and the host names that it accepts."""

    host: Annotated[
        str, page_option("--host", metavar="ADDRESS", help="The address of the page's server; 0.0.0.0 admits other machines.")
    ] = "127.0.0.1"
    port: Annotated[int | None, page_option("--port", min=0, max=65_535, help="Its port, or the next free one.  (default: 8300)")] = None
    name: Annotated[
        list[str], page_option("--name", metavar="HOST", help="Another host name for requests, such as a proxy's; may be repeated.")
    ] = Field(default_factory=list)


class PageOptions(ListenOptions):
    """Where pages are served, and whether a browser is opened."""

    browser: Browser = True


class WorkerOptions(CommandModel):
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
        """Return where the matches are played. Raises UsageError for an impossible number of slots or a wrong address."""
        check_place(self.slots, self.cluster)
        return Workers(self.slots, self.cluster)


class OutputOptions(CommandModel):
    """What is printed."""

    quiet: Quiet = False
    as_json: JsonFlag = False


class SeriesOptions(OutputOptions, WorkerOptions):
    """How many matches are played, and what is printed meanwhile and afterwards."""
