"""The 2017 architect: two clients on two ports, and games between them in changing roles."""

from __future__ import annotations

import select
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.dialect import DialectError
from referee.games.evasion.dialects.architect import ASK_NAME, DONE, ArchitectHost
from referee.games.evasion.state import HUNTER, PREY
from referee.servers.door import Caller, Visitor, let_in, part
from referee.wire.shown import plain, shown

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

#: How long a client may take to tell its name, in seconds.
NAME_SECONDS = 60.0
#: The two teams, by the ports that they come to.
TEAMS = ("first", "second")


class Team(NamedTuple):
    """A client that has told its name."""

    caller: Caller
    name: str


class Doors:
    """The two ports, until a client is at each; whoever is one too many is sent away."""

    def __init__(self, socks: tuple[socket.socket, socket.socket], say: Callable[[str], None]) -> None:
        self._socks = socks
        self._say = say
        self._callers: dict[int, Caller] = {}
        self._names: dict[int, str] = {}

    def wait(self) -> tuple[Team, Team]:
        """Wait for both teams and their names."""
        while len(self._names) < 2:
            waiting = select.poll()
            for fd in (*(sock.fileno() for sock in self._socks), *(caller.fileno() for caller in self._callers.values())):
                waiting.register(fd, select.POLLIN)
            ready = {fd for fd, _ in waiting.poll(1000)}
            for place, caller in list(self._callers.items()):
                self._look_after(place, caller, is_ready=caller.fileno() in ready)
            for place, sock in enumerate(self._socks):
                if sock.fileno() in ready:
                    self._let_in(place, sock)
        for sock in self._socks:
            sock.close()
        first, second = (Team(self._callers[place], self._names[place]) for place in (0, 1))
        return first, second

    def _let_in(self, place: int, sock: socket.socket) -> None:
        caller = let_in(sock)
        if caller is None:
            return
        if place in self._callers:
            self._say(f"{caller.address} is sent away: the {TEAMS[place]} port has its client")
            caller.close()
            return
        self._say(f"{caller.address} comes to the {TEAMS[place]} port")
        self._callers[place] = caller
        caller.tell(ASK_NAME)

    def _look_after(self, place: int, caller: Caller, *, is_ready: bool) -> None:
        """Read a client's name; who leaves, says nothing or what is no name makes room for another."""
        is_there = caller.hear() if is_ready else True
        if place in self._names:
            why = "" if is_there else "has left before the game"
        else:
            why = self._wait_on(caller) if (line := caller.lines.take()) is None else self._read(place, caller, line)
            if not is_there and place not in self._names and not why:
                why = "has left without telling its name"
        if why:
            self._say(f"{caller.address} {why}")
            caller.close()
            del self._callers[place]
            self._names.pop(place, None)

    def _wait_on(self, caller: Caller) -> str:
        """Nothing has been said yet."""
        if monotonic() - caller.since > NAME_SECONDS:
            return f"is sent away: it has not told its name in {NAME_SECONDS:g} s"
        return ""

    def _read(self, place: int, caller: Caller, line: bytes) -> str:
        try:
            if caller.lines.is_overlong:
                raise DialectError("is too long")
            name = ArchitectHost(HUNTER).take_name(line)
        except DialectError as error:
            return f"is sent away: its name {error} ({shown(line, 60)})"
        self._names[place] = plain(name, 160)
        self._say(f"{caller.address} is {self._names[place]}, the {TEAMS[place]} team")
        return ""


def visitors(teams: tuple[Team, Team], number: int) -> tuple[dict[str, Visitor], str]:
    """Who plays which seat in a game, counted from 0, and the name of the hunting team ("first" or "second")."""
    hunting = number % 2
    found = {}
    for seat, team in ((HUNTER, teams[hunting]), (PREY, teams[1 - hunting])):
        about = {"program": f"client of the architect's protocol, {team.caller.address}", "dialect": "architect"}
        found[seat] = Visitor(team.name, about, team.caller.connection(), ArchitectHost(seat, number=number, is_known=True))
    return found, TEAMS[hunting]


def finish(teams: tuple[Team, Team]) -> None:
    """Tell both that there are no more games, and hang up."""
    for team in teams:
        team.caller.tell(DONE)
    part([team.caller for team in teams])


def judge(scores: Mapping[str, int | None]) -> str | None:
    """Which team beats the other, by the steps that their hunters needed; None for a tie.

    Source: rules of Evasion, section "How a game ends".
    """
    ranked: dict[str, Any] = {team: float("inf") if score is None else score for team, score in scores.items()}
    return None if len(set(ranked.values())) == 1 else min(ranked, key=ranked.__getitem__)
