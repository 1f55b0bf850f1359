"""Reads entries: the programs that play under a name, with the hashes of their files."""

from __future__ import annotations

import hashlib
import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from example_bots import BOTS, middling
from referee import games
from referee.errors import PlayerError, UsageError
from referee.handins import hashes
from referee.handins.hashes import PROGRAM
from referee.handins.values import Entry
from referee.players.names import resolve
from referee.players.player import HUMAN, is_human
from referee.support.canonical import canonical
from referee.support.words import the_seat

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from referee.games.game import AnyGame, Json, Seat, Settings
    from referee.isolation.bot import Bot


def read(
    name: str,
    spec: str | Mapping[Seat, str],
    game: AnyGame,
    settings: Settings,
    home: Path | None = None,
    seats: Sequence[Seat] | None = None,
) -> Entry:
    """Return an entry with the hashes of its files. ``spec`` is a program or folder for every seat, or one for each seat.

    ``seats`` are those that it has to play, by default all seats of the game.

    If an example bot plays one role only, an example bot of middling strength plays the other one.
    Relative paths begin in ``home``, by default the current folder; the entry has absolute ones. The UsageError names the team and says
    which seat has no program that could run.
    """
    home = (home or Path.cwd()).absolute()
    seats = game.seats(settings) if seats is None else tuple(seats)
    texts = {seat: partnered(spec, seat, game, settings, home) for seat in seats} if isinstance(spec, str) else dict(spec)
    missing = [seat for seat in seats if seat not in texts]
    if missing:
        raise UsageError(f"The team '{name}' has no program for {missing[0]}. {to_add(missing[0], game, settings)}")
    players: dict[Seat, str] = {}
    marks: dict[Seat, Json] = {}
    files: dict[Seat, dict[str, str]] = {}
    programs: dict[Seat, dict[str, str]] = {}
    hash_cache: dict[Path, dict[str, str]] = {}
    try:
        for seat in seats:
            players[seat] = absolute(texts[seat], game.info.name, home)
            program = _program(players[seat], seat, game, settings)
            marks[seat], files[seat] = hashes.mark(program, hash_cache)
            if "sha256" in program.about:
                programs[seat] = {PROGRAM: str(program.about["sha256"])}
    except PlayerError as error:
        is_one_role = isinstance(spec, str) and any(
            _is_program(text, other, game, settings, home) for other, text in texts.items() if other != seat
        )
        more = f" {to_add(seat, game, settings)}" if is_one_role else ""
        why = str(error).replace(f"{home}/", "")
        raise UsageError(f"The team '{name}' can't play: {why}{more}") from None
    digest = hashlib.sha256(canonical({seat: [marks[seat], files[seat]] for seat in seats}).encode()).hexdigest()
    return Entry(name, players, digest, str(home), {seat: {**files[seat], **programs.get(seat, {})} for seat in seats})


def partnered(spec: str, seat: Seat, game: AnyGame, settings: Settings, home: Path) -> str:
    """Return the program of a seat for a team named by one program. An example bot of another role is replaced by the middle one of this role."""
    bots = [bot for bot in BOTS if bot.game == game.info.name]
    named = [bot for bot in bots if bot.name == spec.strip()]
    if not named or any(bot.plays(seat) for bot in named) or _exists(home / spec.strip()):
        return spec
    return middling(game.info.name, seat, settings.rules) or spec


def _is_program(text: str, seat: Seat, game: AnyGame, settings: Settings, home: Path) -> bool:
    try:
        _program(absolute(text, game.info.name, home), seat, game, settings)
    except PlayerError:
        return False
    return True


def to_add(seat: Seat, game: AnyGame, settings: Settings, rivals: Sequence[str] = ()) -> str:
    """Return what to do about a team that has no program for a seat: the line for its table, or another command.

    ``rivals`` are this team's program and another one that plays the same seat, if both are known.
    """
    here = " ".join(shlex.quote(rival.removeprefix(f"{Path.cwd()}/")) for rival in rivals)
    compare = f": referee compare {here}" if here else "; referee compare lets two of them meet the same opponent"
    return (
        f'Add a program for {seat}, or the line {seat} = "{middling(game.info.name, seat, settings.rules) or "..."}" to its table in the league file, which referee league init writes. '
        f"Bots of one role need no league{compare}."
    )


def check_plays(entry: Entry, game: AnyGame, settings: Settings) -> None:
    """Raise UsageError if a program of the entry can't play with these settings."""
    try:
        for seat, player in entry.players.items():
            _program(player, seat, game, settings)
    except PlayerError as error:
        raise UsageError(f"The team '{entry.name}' can't play: {error}") from None


def absolute(text: str, game: str, home: Path) -> str:
    """Return a player's description with absolute paths in place of those relative to ``home``.

    The name of an example bot stays as it is. PlayerError if it would mean something else in the current folder.
    """
    text = text.strip()
    prefix, colon, rest = text.partition(":")
    if colon and prefix.strip().lower() in (games.get(game).dialects or ()):
        return f"{prefix.strip()}: {_absolute_words(rest.strip(), home, is_dialect=True)}"
    if not text or "\0" in text or text == HUMAN:
        return text
    if text.startswith("~"):
        return text
    if _exists(home / text):
        return str((home / text).absolute())
    try:
        is_one_word = len(shlex.split(text)) == 1
    except ValueError:
        return text
    if not is_one_word:
        return _absolute_words(text, home)
    if "/" in text or "." in text:
        return str((home / text).absolute())
    if _exists(Path(text)):
        raise PlayerError(
            f"'{text}' is a file in the current folder, but there is none in '{home}'; write its path, or run the command elsewhere."
        )
    return text


def _exists(path: Path) -> bool:
    """True if the file exists. False also for a name that no file can have."""
    try:
        return os.path.exists(path)  # noqa: PTH110 - False also if its folder can't be entered
    except ValueError:
        return False


def _absolute_words(text: str, home: Path, *, is_dialect: bool = False) -> str:
    """Return a command line with absolute paths for the files that it names."""
    try:
        words = shlex.split(text)
    except ValueError:
        return text
    rewritten = []
    for number, word in enumerate(words):
        option, equals, rest = word.partition("=")
        parts = (rest if equals else word).split(os.pathsep)
        # The first word is a program on the PATH unless it looks like a file.
        is_file = number > 0 or "/" in word or word.endswith(".py") or (is_dialect and (home / word).is_dir())
        if is_file and all(part and _exists(home / part) for part in parts):
            rewritten.append((option + equals if equals else "") + os.pathsep.join(str((home / part).absolute()) for part in parts))
        else:
            rewritten.append(word)
    return text if rewritten == words else " ".join(_word(word) for word in rewritten)


def _word(word: str) -> str:
    try:
        return word if shlex.split(word) == [word] else shlex.quote(word)
    except ValueError:
        return shlex.quote(word)


def _program(player: str, seat: Seat, game: AnyGame, settings: Settings) -> Bot:
    if is_human(player):
        raise PlayerError(f"{the_seat(seat)} is a person; in a league only programs play.")
    return resolve(player, seat, game.info.name, settings)
