"""Finds the programs that played in a recorded match.

A replay is an untrusted file, and its author may know the hashes of published programs. So this module never starts a command line that a replay
has, or a file outside the current folder.
"""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import PlayerError, UsageError
from referee.isolation.bot import PORT
from referee.players.names import resolve
from referee.players.player import HUMAN
from referee.replay.reader import RecordedMatch
from referee.support.words import the_seat

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.game import Json, Seat

#: The name of a player that means the program in the replay.
SAME = "-"


class RecordedBot(NamedTuple):
    """The program of a seat in a replay: its name for ``resolve``, and a sentence if it differs from the recorded one, else ""."""

    text: str
    change: str = ""


def recorded_bot(recorded: RecordedMatch, seat: Seat, hint: str, *, is_beside: bool = False) -> RecordedBot:
    """Return the program of a seat in a replay. ``is_beside``: a file of this name beside the replay is accepted, too.

    PlayerError if the program isn't here; ``hint`` ends the message and says how to name one.
    """
    game, about = recorded.game.info.name, recorded.head["players"][seat]
    text = about.get("program")
    quoted = f"'{text!s:.120}'"
    if not isinstance(text, str) or not text:
        raise PlayerError(f"The replay doesn't name the program of {the_seat(seat, begins=False)}; {hint}.")
    # Read it as resolve does: the program that is judged here must be the one that is started.
    text = text.strip()
    if text == HUMAN:
        raise PlayerError(f"{the_seat(seat)} in the replay was a person; {hint}.")
    is_file, folder = _is_file(text), Path.cwd()
    if is_beside and Path(text).name and not (_is_below(text, folder) if is_file else _is_example(text, game)):
        beside = str(recorded.path.parent / Path(text).name)
        if _is_file(beside):
            text, is_file, folder = beside, True, recorded.path.parent
    if not is_file and not _is_example(text, game):
        kind = "is a command line, which a replay must not start" if " " in text or PORT in text else "isn't found here"
        raise PlayerError(f"{the_seat(seat)} in the replay was {quoted}, which {kind}; {hint}.")
    if is_file and not _is_below(text, folder):
        raise PlayerError(
            f"{the_seat(seat)} in the replay was {quoted}, a file outside this folder, which a replay must not start; {hint}."
        )
    bot = resolve(text, seat, game, recorded.settings)
    if bot.dialect is not None:
        raise PlayerError(f"{the_seat(seat)} in the replay was {quoted}, which is a command line, which a replay must not start; {hint}.")
    digest = bot.about.get("sha256")
    if digest and digest == about.get("sha256"):
        return RecordedBot(text)
    if _is_example(text, game) and not _is_file(text):
        return RecordedBot(text, f"The example bot '{text:.120}' is not the one that played in the replay: it has another hash")
    return RecordedBot(text, f"{the_seat(seat)} '{text:.120}' is not the file that played in the replay: it has another hash")


def unchanged_program(recorded: RecordedMatch, seat: Seat, hint: str) -> str:
    """Return the name of the recorded program of a seat. PlayerError if it isn't here, or has changed."""
    bot = recorded_bot(recorded, seat, hint, is_beside=True)
    if bot.change:
        raise PlayerError(f"{bot.change}; {hint}.")
    return bot.text


def seat_of(path: Path, program: str | None, again: str) -> Seat:
    """Return the seat of a replay that ``program`` played; without ``program``, that of the only player that is an unchanged file here.

    UsageError lists the players if there is no such seat, or more than one. ``again`` is the beginning of a command that names one.
    """
    recorded = RecordedMatch.read(path)
    players: Mapping[Seat, Mapping[str, Json]] = recorded.head["players"]
    named = next(iter(players))
    if program is not None:
        seats = [seat for seat, about in players.items() if str(about.get("program")).strip() == program.strip()]
        why = f"'{program:.120}' played {'more than one' if seats else 'none'}"
    else:
        bots = {seat: bot for seat in players if (bot := _bot_or_none(recorded, seat)) is not None}
        count = sum(not bot.change for bot in bots.values())
        files = {seat: bot for seat, bot in bots.items() if _is_file(bot.text)}
        seats = [seat for seat, bot in files.items() if not bot.change]
        why = f"{'more than one' if count > 1 else 'one' if count else 'none'} of them is found here with the recorded hash"
        if files and not seats:
            named, (text, _) = next(iter(files.items()))
            again = f"{again} {shlex.quote(text)}"
            why = f"'{text:.120}' has changed since the match"
    if len(seats) == 1:
        return seats[0]
    names = ", ".join(f"{seat} '{about.get('program')!s:.120}'" for seat, about in players.items())
    raise UsageError(f"The players of {path} are {names}; {why}: name the seat, as in {again} --seat {named}")


def _bot_or_none(recorded: RecordedMatch, seat: Seat) -> RecordedBot | None:
    try:
        return recorded_bot(recorded, seat, "", is_beside=True)
    except PlayerError:
        return None


def _is_file(text: str) -> bool:
    try:
        return os.path.exists(Path(text).expanduser())  # noqa: PTH110 - False also if its folder can't be entered
    except (RuntimeError, ValueError):
        return False


def _is_below(text: str, folder: Path) -> bool:
    return Path(text).expanduser().resolve().is_relative_to(folder.resolve())


def _is_example(text: str, game: str) -> bool:
    import example_bots

    return "/" not in text and any(bot.game == game and bot.name == text for bot in example_bots.BOTS)
