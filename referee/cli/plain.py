"""The help of commands as plain text: options by their groups, in lines that fit the terminal."""

from __future__ import annotations

import re
import shutil
import sys
from itertools import pairwise
from textwrap import wrap
from typing import TYPE_CHECKING, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from referee.support.escape import printable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

#: The section of options that the help leaves out. A shell completes them all the same.
HIDDEN = "hidden"
#: Parts a section from the games to whose options it belongs.
_OF_GAMES = " of the games "
#: The narrowest and the widest lines of a help.
_NARROWEST, _WIDEST = 30, 120
#: The widest names of options; the text of an option with a longer name begins in the next line.
_WIDEST_NAME = 28
#: The names of types, which typer adds where a command names no value, and what stands for a value of them.
_TYPE = re.compile(r" <(\w+)[^>]*>")
_VALUES = {"int": " N", "float": " N", "path": " PATH", "str": " TEXT"}


def named_game() -> str:
    """Return the game that this command line names by --game; "" if it names none."""
    words = sys.argv[1:]
    following = (value for word, value in pairwise(words) if word == "--game")
    return next((word.removeprefix("--game=") for word in words if word.startswith("--game=")), next(following, ""))


def of_games(section: str, games: Iterable[str]) -> str:
    """Return the section of an option that the help shows only if the command line names one of these games."""
    return f"{section}{_OF_GAMES}{' '.join(games)}"


def _section(parameter: Any) -> str:
    """Return the section in which the help shows a parameter."""
    place = {"argument": "Arguments", "option": "Options"}[parameter.param_type_name]
    section, mark, games = (getattr(parameter, "rich_help_panel", None) or place).partition(_OF_GAMES)
    return section if not mark or named_game() in games.split() else HIDDEN


def _by_panel(rows: Iterable[tuple[str, tuple[str, str]]], formatter: Any) -> None:
    """Write rows of names and texts in sections, in the order in which the sections first occur."""
    sections: dict[str, list[tuple[str, str]]] = {}
    for panel, row in rows:
        sections.setdefault(panel, []).append(row)
    for title, found in sections.items():
        with formatter.section("\n".join(wrap(title, formatter.width - 1))):
            formatter.write_dl(found, col_max=min(_WIDEST_NAME, formatter.width // 3))


def _fit(formatter: Any) -> None:
    """Let lines be as wide as the terminal, which may be narrower than a formatter expects."""
    formatter.width = max(_NARROWEST, min(shutil.get_terminal_size().columns, _WIDEST) - 2)


def _short(parameter: Any, name: str, text: str) -> tuple[str, str]:
    """Return the row of a parameter with a short word for its value."""
    is_option = parameter.param_type_name == "option"
    return _TYPE.sub(lambda found: _VALUES.get(found[1], "") if is_option else "", name), text


#: Every wrong use of a command line is of this class. Typer exports only its subclass, and newer versions don't need the package click.
WRONG_USE = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])


class _Parsing:
    """Parses words as its base class does; the message about a wrong word has everything unprintable escaped."""

    def make_context(self, *given: Any, **options: Any) -> Any:
        """Return the context of the parsed words."""
        try:
            return super().make_context(*given, **options)  # type: ignore[misc]
        except WRONG_USE as error:
            error.message = printable(error.message)
            raise


class Command(_Parsing, TyperCommand):
    """A command whose options stand in the sections that they name."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help as wide as the terminal."""
        _fit(formatter)
        super().format_help(ctx, formatter)

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Write the arguments, then the options by section."""
        found = [(parameter, record) for parameter in self.get_params(ctx) if (record := parameter.get_help_record(ctx)) is not None]
        rows = [(_section(parameter), _short(parameter, *record)) for parameter, record in found]
        shown = [row for row in rows if row[0] != HIDDEN]
        _by_panel(sorted(shown, key=lambda row: row[0] not in ("Arguments", "Options")), formatter)


class CommandGroup(_Parsing, TyperGroup):
    """A group of commands, which stand in the sections that they name."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help as wide as the terminal."""
        _fit(formatter)
        super().format_help(ctx, formatter)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands by section."""
        commands = [(name, self.get_command(ctx, name)) for name in self.list_commands(ctx)]
        shown = [(name, one) for name, one in commands if one is not None and not one.hidden]
        wide = formatter.width - 6 - max((len(name) for name, _ in shown), default=0)
        rows = [(getattr(one, "rich_help_panel", None) or "Commands", (name, one.get_short_help_str(max(wide, 40)))) for name, one in shown]
        _by_panel(rows, formatter)


class Program(typer.Typer):
    """An application, or a group of commands below it, with plain help."""

    def __init__(self, **options: Any) -> None:
        settings = {"help_option_names": ["-h", "--help"], "max_content_width": _WIDEST}
        super().__init__(cls=CommandGroup, no_args_is_help=True, rich_markup_mode=None, context_settings=settings, **options)

    def command(self, name: str | None = None, **options: Any) -> Callable[[Any], Any]:
        """Register a command, as typer does."""
        return super().command(name, **{"cls": Command, **options})
