"""Greets the players of a match or of a recording: the ``start`` messages and what they answer."""

from __future__ import annotations

from time import sleep
from typing import TYPE_CHECKING, Any

from referee.errors import StartError
from referee.match.collector import ends_match, read_ready
from referee.players.connection import ConnectedPlayer
from referee.replay.faults import Fault
from referee.support.escape import escape, is_blank
from referee.wire.constants import NAME_LENGTH

if TYPE_CHECKING:
    from collections.abc import Mapping

    from referee.games.dialect import Host
    from referee.games.game import Game, Seat
    from referee.players.clock import Clock
    from referee.players.exchange import Exchange


def greet(
    exchange: Exchange, hosts: Mapping[Seat, Host], game: Game[Any, Any], state: Any, questions: Mapping[Seat, tuple[bytes, Clock]]
) -> dict[Seat, str | Fault]:
    """Send ``start`` to the players and read their ``ready``, or the equivalent in a dialect.

    ``questions`` are the start messages by seat, with the players' clocks. Return the name that each player gives itself, safe to show, "" where
    it gives none, or its fault. Raises StartError if the system refused to start a program.
    """
    lines = {seat: (hosts[seat].on_connect if seat in hosts else line, clock) for seat, (line, clock) in questions.items()}
    waiting = {seat: line for seat, line in lines.items() if seat not in hosts or hosts[seat].awaits_name}
    names: dict[Seat, str | Fault] = dict.fromkeys(lines, "")
    for seat, reply in exchange.ask_all(waiting, ends_match(game, state), is_start=True).items():
        if reply.failure is not None:
            _raise_refusal(exchange, seat)
        player, name = exchange.players[seat], read_ready(exchange.players[seat], hosts.get(seat), reply, lines[seat][1].control)
        if isinstance(name, str):
            name = "" if is_blank(name) else escape(name[:NAME_LENGTH], 4 * NAME_LENGTH)[:NAME_LENGTH]
            if name and isinstance(player, ConnectedPlayer):
                player.introduce(name)
        names[seat] = name
    for seat, name in names.items():
        if seat in hosts and not isinstance(name, Fault):
            exchange.tell(seat, hosts[seat].opening(state))
    pause(hosts)
    return names


def pause(hosts: Mapping[Seat, Host]) -> None:
    """Let the players of a dialect read the line that they were sent last, if the dialect wants it."""
    sleep(max((host.pause for host in hosts.values()), default=0.0))


def _raise_refusal(exchange: Exchange, seat: Seat) -> None:
    bot = exchange.bots.get(seat)
    refusal = None if bot is None else bot.process.start_refusal()
    if bot is not None and refusal is not None:
        inside = "; inside the sandbox there are its own files and the system's alone" if bot.process.is_sandbox else ""
        raise StartError(f"{refusal}{inside}.", seat, is_doubtful=True)
