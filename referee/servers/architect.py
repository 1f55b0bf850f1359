"""The 2017 architect: two clients on two ports, and games between them in changing roles."""

from __future__ import annotations

import select
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from referee.dialect import DialectError
from referee.faults import LATE
from referee.games.evasion import GAME
from referee.games.evasion.dialects.architect import ASK_NAME, DONE, ArchitectHost
from referee.games.evasion.state import HUNTER, PREY
from referee.servers.door import Caller, Visitor, let_in, part
from referee.wire.shown import plain, shown

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping

    from referee.result import Result

#: How long a client may take to tell its name, in seconds.
NAME_SECONDS = 60.0
#: The two teams, by the ports that they come to.
TEAMS = ("first", "second")


class Team(NamedTuple):
    """A client that has told its name."""

    caller: Caller
    name: str


class Doors:
    """The two ports, until a client is at each."""

    def __init__(self, socks: tuple[socket.socket, socket.socket], say: Callable[[str], None]) -> None:
        self._socks = socks
        self._say = say
        self._callers: dict[int, Caller] = {}
        self._names: dict[int, str] = {}

    def wait(self) -> tuple[Team, Team]:
        """Wait for both teams and their names."""
        while len(self._names) < 2:
            waiting = select.poll()
            for place, sock in enumerate(self._socks):
                # Who comes while another one is there waits in the line of the port.
                found = self._callers.get(place)
                waiting.register(sock.fileno() if found is None else found.fileno(), select.POLLIN)
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
        self._say(f"{caller.address} comes to the {TEAMS[place]} port")
        self._callers[place] = caller
        caller.tell(ASK_NAME)

    def _look_after(self, place: int, caller: Caller, *, is_ready: bool) -> None:
        """Read a client's name; who leaves, says nothing or what is no name makes room for another."""
        is_there = caller.hear() if is_ready else True
        if place in self._names:
            why = "" if is_there else "has left before the game"
            if caller.lines.is_full:
                why = "sends too much before the game and is sent away"
        else:
            why = self._wait_on(place, caller) if (line := caller.lines.take()) is None else self._read(place, caller, line)
            if not is_there and place not in self._names and not why:
                why = "has left without telling its name"
        if why:
            self._say(f"{caller.address} {why}")
            caller.close()
            del self._callers[place]
            self._names.pop(place, None)

    def _wait_on(self, place: int, caller: Caller) -> str:
        """Nothing has been said yet."""
        limit = NAME_SECONDS if not self._is_wanted(place) else NAME_SECONDS / 10
        if monotonic() - caller.since > limit:
            return f"is sent away: it has not told its name in {limit:g} s"
        return ""

    def _is_wanted(self, place: int) -> bool:
        """Whether somebody waits in the line of a port."""
        waiting = select.poll()
        waiting.register(self._socks[place].fileno(), select.POLLIN)
        return bool(waiting.poll(0))

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


def visitors(teams: tuple[Team, Team], number: int, owing: Mapping[str, bytes]) -> tuple[dict[str, Visitor], str]:
    """Who plays which seat in a game, counted from 0, and the name of the hunting team ("first" or "second").

    What a team has said since the game before is forgotten. ``owing`` has, by the team's name, how an answer begins that was too late
    then and may still come.
    """
    hunting = number % 2
    found = {}
    for seat, place in ((HUNTER, hunting), (PREY, 1 - hunting)):
        team = teams[place]
        if number:
            team.caller.hear()
            team.caller.lines.clear()
        about = {"program": f"client of the architect's protocol, {team.caller.address}", "dialect": "architect"}
        connection = team.caller.connection()._replace(overdue=owing.get(TEAMS[place], b""))
        found[seat] = Visitor(team.name, about, connection, ArchitectHost(seat, number=number, is_known=True))
    return found, TEAMS[hunting]


def late_answers(number: int, result: Result) -> dict[str, bytes]:
    """How the answers begin that were too late in a game, by team: they may come in the next one."""
    found = {}
    for seat, fault in result.faults.items():
        if fault.kind == LATE:
            found[TEAMS[number % 2 if seat == HUNTER else 1 - number % 2]] = b"%d %d " % (number, result.steps)
    return found


def finish(teams: tuple[Team, Team]) -> None:
    """Tell both that there are no more games, and hang up."""
    for team in teams:
        team.caller.tell(DONE)
    part([team.caller for team in teams])


def judge(first: Result, second: Result) -> str | None:
    """Which team beats the other in a pair of games, of which the first team hunts in the first; None for a tie."""
    winner = GAME.pair_winner((first.outcome, first.steps), (second.outcome, second.steps))
    return None if winner is None else TEAMS["ab".index(winner)]
