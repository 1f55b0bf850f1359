"""What the shell offers for the words of a command line: games, rule sets, example bots, seats, replays and the values of options.

Each function gets the word so far and returns words, some with an explanation; typer keeps those that begin as the word does. Where a file may
be named too, files of the current folder are among them, and if nothing fits, the shell completes file names itself. A broken
file or game must not disturb a person who is typing, so nothing here raises.
"""

from __future__ import annotations

import os
import re
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer  # noqa: TC002 - typer reads the signatures of these functions

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

Words = list[tuple[str, str]]

#: The most files that are offered, and the most names of a folder that are looked at.
_MOST_FILES, _MOST_LISTED = 200, 10_000
#: Characters that no shell needs quoted. Names with others are left out: typer compares unquoted words, so it can't offer quoted ones.
#: After ``./`` the shell completes them itself.
_SAFE = re.compile(r"[\w./+@%-]+")
#: Folders that hold no bot, and the names of hidden files, backups of editors, compiled Python, replays and logs.
_FOREIGN = frozenset({"__pycache__", "node_modules", "venv", "site-packages"})
_BESIDE = re.compile(r"^\.|~$|\.(bak|orig|tmp|py[cod]|log|replay\.jsonl\.gz)$", re.IGNORECASE)


def game() -> Words:
    """Return the games."""
    from referee import games

    return [(name, ", ".join(_rule_sets(name))) for name in games.all_names()]


def rules(ctx: typer.Context) -> Words:
    """Return the rule sets of the game of this command line."""
    name = _game(ctx)
    return [(each, f"rules of {name}") for each in _rule_sets(name)]


def seat(ctx: typer.Context) -> Words:
    """Return the seats of the game of this command line, or of its replay."""
    return [(each, f"a seat of {_game(ctx)}") for each in _seats(ctx)]


def role(ctx: typer.Context) -> Words:
    """Return the roles for which there are starters, in the game of ``--game`` if it is given, else in all games."""
    from referee import games

    found = []
    for game in games.sound():
        if (starters := game.starters) is not None and ctx.params.get("game") in (None, game.info.name):
            roles = [starters.role] if starters.role else starters.seats
            found += [(each, f"a player of {game.info.name}") for each in roles]
    return found


def player(ctx: typer.Context, incomplete: str) -> Words:
    """Return the players that can take the next seat: example bots, a person, and files that can be bots."""
    return [*_examples(ctx, _next_seat(ctx)), ("human", "you, on a page"), *_bot_files(incomplete)]


def bot(ctx: typer.Context, incomplete: str) -> Words:
    """Return example bots, for the seat of ``--seat`` if it is given, and files that can be bots."""
    wanted = ctx.params.get("seat")
    return [*_examples(ctx, wanted if isinstance(wanted, str) else None), *_bot_files(incomplete)]


def any_bot(ctx: typer.Context, incomplete: str) -> Words:
    """Return the example bots of the game, whatever their seat, and files that can be bots."""
    return [*_examples(ctx, None), *_bot_files(incomplete)]


def language() -> Words:
    """Return the languages of ``referee new``."""
    from referee.players.languages import LANGUAGES

    return [(each.name, each.title) for each in LANGUAGES]


def code() -> list[str]:
    """Return the codes that ``referee explain`` knows."""
    from referee.codes import meanings

    return sorted({meaning.code for meaning in meanings()})


def replay(incomplete: str) -> Words:
    """Return the replays of the folder of the word so far; without a folder, those of the current and of the default one."""
    from referee.replay.paths import FOLDER, SUFFIX

    folder = incomplete.rpartition("/")[0] + "/" if "/" in incomplete else ""
    places = [Path(folder)] if folder else [Path(), FOLDER]
    if folder and f"{FOLDER}/".startswith(folder):
        places.append(FOLDER)
    found = []
    for place in dict.fromkeys(places):
        found += [str(place / name) for name in _names(place) if name.endswith(SUFFIX)]
    return [(name, "replay") for name in _safe(found)]


def match_file() -> Words:
    """Return the match files of the current folder and of ``matches``."""
    found = [str(place / name) for place in (Path(), Path("matches")) for name in _names(place) if name.endswith(".toml")]
    return [(name, "match file") for name in _safe(found)]


def one_of(values: Sequence[str]) -> Callable[[], list[str]]:
    """Return the function for an option with these values."""

    def complete() -> list[str]:
        return list(values)

    return complete


def isolation() -> Words:
    """Return the values of ``--isolation``."""
    return [
        ("auto", "a sandbox if this machine supports it"),
        ("strict", "a sandbox or no match"),
        ("limits", "caps only"),
        ("none", "no separation"),
    ]


def called_command() -> str:
    """Return the command of the line that a shell asks about; "" if that isn't typed yet."""
    typed = os.environ.get("COMP_WORDS", os.environ.get("_TYPER_COMPLETE_ARGS", ""))
    found = [word for word in typed.split()[1:] if not word.startswith("-")]
    # The last word may be a part of another command's name.
    is_whole = len(found) > 1 or typed.endswith((" ", "\n")) or os.environ.get("COMP_CWORD", "1") != "1"
    return found[0] if found and is_whole else ""


def _rule_sets(game: str) -> tuple[str, ...]:
    from referee import games
    from referee.games.game import SettingsError

    try:
        return tuple(games.info(game).rule_sets)
    except SettingsError:
        # There is no such game, or its package is broken; the command itself will say so.
        return ()


def _game(ctx: typer.Context) -> str:
    from referee import games

    given = ctx.params.get("game")
    if isinstance(given, str):
        return given
    head = _head(ctx)
    return str(head.get("game")) if head else games.names()[0]


def _head(ctx: typer.Context) -> dict[str, Any]:
    """Return the head of the replay that the command line names; {} if there is none."""
    file = ctx.params.get("file")
    if file is None:
        return {}
    from referee.errors import RefereeError
    from referee.replay.reader import read_head, read_lines

    try:
        return read_head(Path(file), read_lines(Path(file)))[0]
    except (RefereeError, OSError):
        return {}


def _seats(ctx: typer.Context) -> list[str]:
    head = _head(ctx)
    if head:
        return list(head.get("players", {}))
    return _seats_of(_game(ctx))


def _seats_of(game: str) -> list[str]:
    from referee import games
    from referee.games.game import SettingsError

    try:
        found = games.get(game)
        return list(found.seats(found.codec.settings(None, {})))
    except SettingsError:
        return []


def _next_seat(ctx: typer.Context) -> str | None:
    """Return the seat of the player that is being typed; None if all are named."""
    named, seats = len(ctx.params.get("players") or ()), _seats(ctx)
    return seats[named] if named < len(seats) else None


def _examples(ctx: typer.Context, seat: str | None) -> Iterator[tuple[str, str]]:
    from example_bots import BOTS

    name, rules = _game(ctx), ctx.params.get("rules") or ctx.params.get("preset")
    for example in BOTS:
        fits = example.game == name and (seat is None or example.plays(seat)) and (not rules or not example.rules or rules in example.rules)
        if fits:
            yield example.name, example.idea


def _bot_files(incomplete: str) -> Words:
    """Return the files and folders of the current folder that can be bots. The shell completes paths with a folder in them.

    A file can be a bot if it is a Python program or executable; a source of another language is built first.
    """
    if "/" in incomplete:
        return []
    found = []
    for name in _names(Path()):
        path = Path(name)
        if name in _FOREIGN or _BESIDE.search(name) or not name.startswith(incomplete):
            continue
        if path.is_dir() or (path.is_file() and (path.suffix == ".py" or os.access(path, os.X_OK))):
            found.append(name)
    return [(name, "folder" if Path(name).is_dir() else "file") for name in _safe(found)]


def _names(folder: Path) -> list[str]:
    try:
        return sorted(path.name for path in islice(folder.iterdir(), _MOST_LISTED))
    except OSError:
        return []


def _safe(names: list[str]) -> list[str]:
    return [name for name in names if _SAFE.fullmatch(name)][:_MOST_FILES]
