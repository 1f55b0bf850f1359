"""Reads a player's first message: that it is ready, and its name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.dialects.dialect import DialectError
from referee.players.faults import LATE, MALFORMED, Fault
from referee.wire.escape import escape, quoted

if TYPE_CHECKING:
    from referee.dialects.dialect import Host
    from referee.games.game import Seat
    from referee.match.clock import TimeControl
    from referee.players.reply import Reply


def read_ready(seat: Seat, label: str, host: Host | None, reply: Reply, time: TimeControl) -> str | Fault:
    """Return the player's own name, "" if it gives none, or the fault if it isn't ready."""
    if reply.fault is not None:
        return _failure(seat, label, host, reply.fault, time)
    if reply.line is None:
        # Another player has left, which ends the match before its first step.
        return ""
    if host is not None:
        try:
            return host.take_name(reply.line)
        except DialectError as error:
            return Fault(MALFORMED, f"The {seat}'s first line {error}: {quoted(reply.line)}", quoted(reply.line, 500))
    from referee.wire import messages

    try:
        return messages.read_ready(reply.line).name or ""
    except messages.Malformed as error:
        return Fault(MALFORMED, f"The {seat}'s stdout line 1 {error}.", quoted(reply.line, 500))


def _failure(seat: Seat, label: str, host: Host | None, fault: Fault, time: TimeControl) -> Fault:
    """Return a fault at the start, with advice."""
    limit = f"within the start-up limit of {time.startup:g} s" if time.startup is not None else ""
    if host is not None:
        if fault.kind != LATE:
            return fault
        who = f"The {seat} ({escape(label, 80)})"
        return fault._replace(text=f"{who} did not connect to its port and tell its name by the {host.dialect} protocol {limit}.")
    if (fault.detail or {}).get("status") == 0:
        return fault._replace(text=f"{fault.text[:-1]} before it was ready: does it call main(), or answer the start message?")
    if fault.kind == LATE:
        return fault._replace(text=f"{fault.text} to the start message {limit}. Did it flush its output?")
    return fault
