"""Reads a player's first message: that it is ready, and its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.dialects.dialect import DialectError
from referee.match import sentences
from referee.wire import decode

if TYPE_CHECKING:
    from referee.dialects.dialect import Host
    from referee.match.clock import TimeControl
    from referee.players.faults import Fault
    from referee.players.player import Player, Reply


def read_ready(player: Player, host: Host | None, reply: Reply, time: TimeControl) -> str | Fault:
    """Return the player's own name, "" if it gives none, or the fault if it isn't ready."""
    if reply.failure is not None:
        return sentences.not_ready(player, reply.failure, host, time)
    if reply.line is None:
        # Another player has left, which ends the match before its first step.
        return ""
    if host is not None:
        try:
            return host.take_name(reply.line)
        except DialectError as error:
            return sentences.refused_line(player.seat, error, reply.line)
    name = decode.ready(reply.line)
    return name if isinstance(name, str) else sentences.malformed(player.seat, name, reply.line)
