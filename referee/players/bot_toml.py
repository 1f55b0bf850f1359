"""Reads ``bot.toml``: how the program in a folder is built and run.

::

    build = "javac Bot.java"
    run = "java -cp . Bot"
    rules = ["classic"]             # the rule sets that it plays; without this line, all

    [hunter]                        # a seat with a different program
    run = "java -cp . Hunter"

The commands are command lines without a shell. Their limits are the referee's; the file can't change them.
"""

from __future__ import annotations

import contextlib
import re
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from referee import games
from referee.errors import PlayerError
from referee.games.game import SettingsError
from referee.isolation import submission
from referee.support.near_names import nearest_or_all
from referee.support.plain_text import plain, toml

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee.games.game import Seat

NAME = "bot.toml"
_MOST_BYTES = 1 << 16
_RULES = "rules"
_KEYS = ("build", "run", _RULES)
#: The longest command line, in characters.
_LONGEST = 4_000
#: Variants of the name by editors and people on Windows.
#: Operators of a shell, which would be arguments of the program.
_OF_SHELL = ("&&", "||", "|", ";", ">", "&")
_MEANT = re.compile(r"bot\.toml(?:\.txt|\.toml)?", re.IGNORECASE)
#: A command line with a single backslash in double quotes, which TOML reads as the beginning of an escape sequence.
_ESCAPED = re.compile(r'^[ \t]*(?:build|run)[ \t]*=[ \t]*"(?!"")(?:[^"\\\n]|\\[\\"])*\\(?!u[0-9a-fA-F]{4})[^\\"].*', re.MULTILINE)


class BotToml(NamedTuple):
    """The values for a seat: the words of the two commands, and the rule sets that the bot plays. A missing value is empty."""

    build: tuple[str, ...] = ()
    run: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()


def is_bot_toml(name: str) -> bool:
    """True for the file's name and for obvious variants of it, such as ``Bot.toml`` and ``bot.toml.txt``."""
    return _MEANT.fullmatch(name) is not None


def _meant(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if is_bot_toml(path.name))


def normalize_name(copy: Path) -> None:
    """Rename the file in a copy of a folder that has a variant of its name. PlayerError if there are several."""
    names = _meant(copy)
    if NAME in names or not names:
        return
    if len(names) > 1:
        raise PlayerError(f"The hand-in has no {NAME}, but {' and '.join(map(repr, names))}; keep one, and call it {NAME}.")
    (copy / names[0]).rename(copy / NAME)


def read(folder: Path, seat: Seat, whose: str) -> BotToml | None:
    """Return the commands for a seat of a folder's ``bot.toml``, None without such a file.

    ``whose`` begins the sentence of the PlayerError ("The hunter 'my_bot'"), which says what is wrong and where.
    """
    path = folder.absolute() / NAME
    if not path.is_file():
        if path.is_symlink() or path.exists():
            raise PlayerError(f"{whose} has a {NAME} that is not an ordinary file.")
        if others := _meant(folder):
            raise PlayerError(f"{whose} has a file '{others[0]}', which must be called {NAME}; rename it.")
        return None
    if not path.resolve().is_relative_to(folder.resolve()):
        raise PlayerError(f"{whose} has a {NAME} outside its folder: it is a link to '{path.resolve()}'.")
    try:
        with submission.open_file(str(path), str(path)) as file:
            data = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise PlayerError(f"{whose} has a {NAME} that can't be read: {error.strerror or error}.") from None
    if len(data) > _MOST_BYTES:
        raise PlayerError(
            f"{whose} has a {NAME} of more than {_MOST_BYTES >> 10} KiB; it holds two command lines and the names of rule sets."
        )
    return parse(data, seat, f"{whose} has a {NAME}")


def parse(data: bytes, seat: Seat, whose: str) -> BotToml:
    """Return the commands for a seat from the bytes of a file. PlayerError begins with ``whose`` ("The hunter 'my_bot' has a bot.toml")."""
    if escaped := _ESCAPED.search(plain(data).decode("utf-8", "replace")):
        line = escaped[0].strip()
        raise PlayerError(f"{whose} with a single backslash in double quotes, in the line {line:.120}; write / between folders.")
    try:
        table = toml(data)
    except ValueError as error:
        raise PlayerError(f"{whose} that {error}") from None
    tables = {key: value for key, value in table.items() if isinstance(value, dict) and key not in _KEYS}
    words_by_key = _commands({key: value for key, value in table.items() if key not in tables}, "", whose)
    seats = list(dict.fromkeys([seat, *_seats()])) if tables else []
    for name, table_of_seat in tables.items():
        if name not in seats:
            raise PlayerError(f"{whose} with an unknown table '{name:.80}'; a table has the name of a seat: {nearest_or_all(name, seats)}")
        commands = _commands(table_of_seat, f"{name}.", whose)
        if name == seat:
            words_by_key |= commands
    return BotToml(**words_by_key)


def _commands(table: Mapping[str, Any], before: str, whose: str) -> dict[str, tuple[str, ...]]:
    """Return the commands of one table; ``before`` is its name in messages."""
    for key in table:
        if key not in _KEYS:
            raise PlayerError(f"{whose} with an unknown key '{before + key:.80}'; {nearest_or_all(key, _KEYS)}")
    return {key: (_rule_sets if key == _RULES else _words)(before + key, value, whose) for key, value in table.items()}


def _rule_sets(key: str, value: object, whose: str) -> tuple[str, ...]:
    """Return the rule sets that a list names."""
    names = value if isinstance(value, list) else []
    if not names or not all(isinstance(name, str) for name in names):
        raise PlayerError(f"{whose} with a wrong '{key:.80}', {value!r:.60}: it must be a list of rule sets, such as [\"classic\"].")
    rule_sets = list(dict.fromkeys(name for game in games.loadable() for name in game.info.rule_sets))
    for name in names:
        if name not in rule_sets:
            raise PlayerError(
                f"{whose} whose '{key:.80}' has the rule set '{name:.40}', which no game has; {nearest_or_all(name, rule_sets)}"
            )
    return tuple(names)


def _words(key: str, value: object, whose: str) -> tuple[str, ...]:
    """Return the words of a command line."""
    wrong = f"{whose} with a wrong '{key:.80}'"
    if not isinstance(value, str):
        raise PlayerError(f'{wrong}, {value!r:.60}: it must be a command line in quotes, such as "make".')
    if "\0" in value or len(value) > _LONGEST:
        raise PlayerError(f"{wrong}: a command line has at most {_LONGEST:,} characters and no null character.")
    if not {"'", '"'} & set(value):
        # A path as on Windows. A shell would drop these backslashes.
        value = re.sub(r"\\(?=[\w.])", "/", value)
    try:
        words = tuple(shlex.split(value))
    except ValueError:
        raise PlayerError(f"{wrong}, '{value:.120}': it has a quote that is never closed.") from None
    if not words or not words[0]:
        raise PlayerError(f"{wrong}: it is empty; write a command line, or leave the key out.")
    if word := next((word for word in words if word in _OF_SHELL), "cd" if words[0] == "cd" else ""):
        raise PlayerError(f"{wrong}: no shell reads it, so '{word}' has no meaning; put the commands into a script, such as build.sh.")
    return words


def _seats() -> list[Seat]:
    """Return the seats of all games, with as many players as they can have."""
    seats: list[Seat] = []
    for game in games.loadable():
        most = {option.name: option.most for option in game.info.options if option.name == game.info.players_option}
        # Settings of a game of another package may have no defaults.
        with contextlib.suppress(SettingsError):
            seats += game.seats(game.codec.settings(None, most))
    return list(dict.fromkeys(seats))
