"""The options that all commands share which play matches."""

from __future__ import annotations

import functools
import inspect
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from referee import games
from referee.errors import UsageError
from referee.isolation.limits import WISHES
from referee.match.clock import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.games.game import Option

RULES_HELP = "GAME SETTINGS"
CLOCK_HELP = "TIME, in seconds or none"
RUN_HELP = "HOW THE MATCH IS RUN"
WALLS_HELP = "ISOLATION, for programs that nobody has read"

Game = Annotated[
    str | None, typer.Option("--game", help=f"The game: {', '.join(games.names())}.  (default: {games.names()[0]})", show_default=False)
]
Out = Annotated[
    str | None,
    typer.Option(
        "--out", metavar="PATH", help="Where the replay goes: a file or a folder.  (default: matches/replays/)", show_default=False
    ),
]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but the result.")]


def _option(
    kind: Any,
    name: str,
    text: str,
    panel: str | None = None,
    *others: str,
    metavar: str | None = None,
    least: int | None = None,
    most: int | None = None,
) -> Any:
    """An option that may be left out."""
    shown = typer.Option(name, *others, metavar=metavar, help=text, rich_help_panel=panel, show_default=False, min=least, max=most)
    return Annotated[kind | None, shown]


def _rule(name: str, text: str, *others: str, kind: Any = str, metavar: str | None = None) -> Any:
    return _option(kind, name, text, RULES_HELP, *others, metavar=metavar)


def _seconds(name: str, text: str) -> Any:
    return _option(str, name, text, CLOCK_HELP, metavar="SECONDS")


def _cap(name: str, text: str, metavar: str = "SIZE") -> Any:
    return _option(str, name, text, WALLS_HELP, metavar=metavar)


def _game_options() -> dict[str, Any]:
    """A flag for each setting of our games. Settings of one name share a flag; counting the players is left to their names."""
    found: dict[str, list[tuple[str, Option]]] = {}
    for name in games.names():
        info = games.info(name)
        for option in info.options:
            if option.name != info.players_option:
                found.setdefault(option.name, []).append((name, option))
    return {name: _flag(name, uses) for name, uses in found.items()}


def _flag(name: str, uses: list[tuple[str, Option]]) -> Any:
    """The flag of one setting; a name other than the default game's is told."""
    texts = [
        f"{'' if game == games.names()[0] else game.capitalize() + ': '}{option.meaning}  (default: {option.shown_default})"
        for game, option in uses
        if option.default is not None or option.default_text
    ] or [option.meaning for _, option in uses]
    option = uses[0][1]
    dashed = name.replace("_", "-")
    flag = f"--{dashed}/--no-{dashed}" if option.kind == "boolean" else f"--{dashed}"
    kind, metavar = {
        "integer": (int, None),
        "boolean": (bool, None),
        "choice": (str, "|".join(option.choices)),
        "integers": (str, ",".join(option.parts)),
        "lines": (str, "FILE"),
    }[option.kind]
    return _rule(flag, " ".join(texts), *([f"-{option.short}"] if option.short else []), kind=kind, metavar=metavar)


#: The options by the names of their flags, in the order in which help shows them.
_OPTIONS: dict[str, Any] = {
    "match": _option(Path, "--match", "A match file; flags win over it.", metavar="FILE.toml"),
    "seed": _option(int, "--seed", "Play the same match again: bots get the same seeds.", least=-(2**63), most=2**63 - 1),
    "rules": _rule("--rules", "The rule set.  (default: the first that referee games names)"),
    "preset": _rule("--preset", "The same as --rules."),
    "size": _rule("--size", "The board: WIDTHxHEIGHT, or one number where it is square.", metavar="WxH"),
    **_game_options(),
    "set": _rule(
        "--set", "Any other setting of the game, such as capture_radius=5; may be repeated.", kind=list[str], metavar="NAME=VALUE"
    ),
    "move_time": _seconds("--move-time", "The limit for one answer.  (default: 1)"),
    "bank": _seconds("--bank", "For all answers of a game together.  (default: 120)"),
    "increment": _seconds("--increment", "Added to the bank after each answer.  (default: 0)"),
    "startup": _seconds("--startup", "Until a bot is ready, outside the bank.  (default: 10)"),
    "cores": _option(int, "--cores", "Cores that the match claims for itself; 0: not pinned.  (default: 1)", RUN_HELP, least=0),
    "ask": _option(str, "--ask", "How bots that owe a move at once are asked.  (default: in-turn)", RUN_HELP, metavar="in-turn|together"),
    "idle": _option(str, "--idle", "What bots do between their turns.  (default: stop)", RUN_HELP, metavar="stop|run"),
    "on_malformed": _option(str, "--on-malformed", "What a malformed answer means.  (default: forfeit)", RUN_HELP, metavar="forfeit|pass"),
    "clock": _option(
        str,
        "--clock",
        "What is billed; cpu: the processor time of all that a bot runs, so that a busy machine costs it nothing.  (default: wall)",
        CLOCK_HELP,
        metavar="wall|cpu",
    ),
    "isolation": _cap(
        "--isolation",
        "auto: a sandbox where there can be one; strict: a sandbox or no match; limits: caps alone.  (default: auto)",
        "auto|strict|limits|none",
    ),
    "max_memory": _cap("--max-memory", "For all that a bot runs.  (default: 512MiB)"),
    "max_processes": _cap("--max-processes", "Processes and threads.  (default: 64)", "N"),
    "max_scratch": _cap("--max-scratch", "What a bot may write to its own /tmp.  (default: 16MiB)"),
    "max_open_files": _cap("--max-open-files", "Descriptors of one process.  (default: 64)", "N"),
    "max_line": _cap("--max-line", "The longest answer.  (default: 64KiB)"),
    "max_stderr": _cap("--max-stderr", "What is kept of a bot's log.  (default: 1MiB)"),
    "max_remarks": _cap("--max-remarks", "What the replay keeps of a bot's say and draw.  (default: 8MiB)"),
}

_CHOICES = {
    "ask": ("in-turn", "together"),
    "idle": ("stop", "run"),
    "on_malformed": ("forfeit", "pass"),
    "clock": KINDS,
    "isolation": WISHES,
}


def with_match_options(function: Callable[..., None]) -> Callable[..., None]:
    """Give a command the shared options; it gets what was written for them as ``flags``, checked where few values are good."""
    own = [parameter for parameter in inspect.signature(function, eval_str=True).parameters.values() if parameter.name != "flags"]
    shared = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind in _OPTIONS.items()]

    @functools.wraps(function)
    def wrapped(**given: Any) -> None:
        flags = {name: given.pop(name) for name in _OPTIONS}
        for name, good in _CHOICES.items():
            if flags[name] is not None and flags[name] not in good:
                raise UsageError(f"--{name.replace('_', '-')} is {flags[name]!r}, but must be {', '.join(good[:-1])} or {good[-1]}.")
        function(**given, flags=flags)

    wrapped.__signature__ = inspect.Signature([*own, *shared])  # type: ignore[attr-defined]
    wrapped.__annotations__ = {parameter.name: parameter.annotation for parameter in (*own, *shared)}
    return wrapped
