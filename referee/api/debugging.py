"""Asks a bot in one turn of a replay."""

from __future__ import annotations

import inspect
import os
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.api import runner
from referee.errors import UsageError
from referee.match.options import checked_isolation
from referee.players.log import Log
from referee.players.spec import resolve
from referee.replay.questions import MOVE, questions
from referee.replay.rehearsal import ask_at, questions_to_turn

if TYPE_CHECKING:
    from pathlib import Path

    from referee.games.game import Json, Seat
    from referee.players.spec import Spec


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
    from sdk.testing import entrant as class_entrant

    checked_isolation(isolation, "isolation")
    asked = questions(path, seat)
    errors: list[Exception | SystemExit] = []
    bot: Any = player
    if inspect.isclass(player):
        entrant = class_entrant(seat, bot, errors)
    else:
        spec = program(os.fspath(player), asked.game.info.name, seat, asked.settings)
        entrant = runner.entrant(seat, spec)
    to_turn = questions_to_turn(asked, turn, entrant.host)
    level = choose(isolation, asked.limits, [] if entrant.program is None else [entrant.program])
    found = ask_at(to_turn, entrant, level, Log(None, asked.limits.stderr_bytes))
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


def program(player: str, game: str, seat: Seat, settings: Any) -> Spec:
    """Return a program as ``resolve`` does. UsageError for a person."""
    spec = resolve(player, seat, game, settings)
    if spec.is_human:
        raise UsageError("Only a program can be asked in a turn of a replay; name its file.")
    return spec
