"""Asks a bot in one turn of a replay."""

from __future__ import annotations

import inspect
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import UsageError
from referee.match.options import checked_isolation
from referee.players.log import Log
from referee.players.names import is_human, resolve
from referee.players.own_files import published
from referee.players.player import Player, host_of
from referee.replay.questions import MOVE, questions
from referee.replay.rehearsal import ask_at, questions_to_turn

if TYPE_CHECKING:
    from referee.games.game import Json, Seat
    from referee.isolation.bot import Bot


class AskedAnswer(NamedTuple):
    """A bot's answer in one turn of a replay.

    ``move`` is its move as JSON ({} for doing nothing), None if it has failed; ``fault`` is then the sentence about it. ``recorded`` is the
    recorded move, None if it is not in the replay or was a fault. ``same`` and ``different`` count the bot's answers in the turns before.
    """

    move: Json
    fault: str
    recorded: Json
    same: int
    different: int


def ask(path: Path, turn: int, seat: Seat, player: Any, isolation: str) -> AskedAnswer:
    """Ask a bot in a turn of a replay, as ``Replay.ask`` says."""
    from referee.isolation.choose import choose
    from sdk.testing import class_player

    checked_isolation(isolation, "isolation")
    asked = questions(path, seat)
    errors: list[Exception | SystemExit] = []
    bot: Any = player
    if inspect.isclass(player):
        level = choose(isolation, asked.limits)
        subject: Player = class_player(seat, bot, errors)
    else:
        subject = published(program(os.fspath(player), asked.game.info.name, seat, asked.settings), str(Path.cwd()))
        level = choose(isolation, asked.limits, [subject])
    to_turn = questions_to_turn(asked, turn, host_of(subject, seat))
    found = ask_at(to_turn, subject, level, Log(None, asked.limits.stderr_bytes))
    if errors:
        raise errors[0]
    recorded = to_turn.recorded
    is_move = found.has_answered and found.given is not None and found.given.kind == MOVE
    return AskedAnswer(
        found.given.move if is_move and found.given is not None else None,
        "" if is_move or found.given is None else found.given.text,
        recorded.move if recorded is not None and recorded.kind == MOVE else None,
        found.same,
        found.different,
    )


def program(player: str, game: str, seat: Seat, settings: Any) -> Bot:
    """Return a program as ``resolve`` does. UsageError for a person."""
    if is_human(player):
        raise UsageError("Only a program can be asked in a turn of a replay; name its file.")
    return resolve(player, seat, game, settings)
