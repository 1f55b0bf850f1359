"""The 2017 architect: two clients on two ports play games with alternating roles."""

from __future__ import annotations

import select
from time import monotonic
from typing import TYPE_CHECKING, NamedTuple

from referee.dialects.dialect import DialectError
from referee.games.evasion.dialects.architect import ASK_NAME, DONE, ArchitectHost
from referee.games.evasion.game import GAME
from referee.games.evasion.state import HUNTER, PREY
from referee.match.events import Listener, PlayersFaulted, StepTaken
from referee.players.faults import LATE
from referee.servers.listener import Caller, Visitor, close_gracefully, let_in
from referee.support.escape import escape, is_blank, quoted
from referee.support.words import of_unit

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping, Sequence

    from referee.match.loop import Result

#: How long a client may take to send its name, in seconds.
NAME_SECONDS = 60.0
#: How many callers without a name a port keeps; for one more, the first is disconnected.
MOST_SILENT = 100
#: The two teams, by port.
TEAMS = ("first", "second")


class Team(NamedTuple):
    """A client that has sent its name."""

    caller: Caller
    name: str


class TeamPorts:
    """The two ports, until each has a team.

    Every caller is asked for its name at once, and the first that sends a name is the team. So silent callers delay nobody. While a port
    has its team, further callers wait in the port's queue.
    """

    def __init__(self, socks: tuple[socket.socket, socket.socket], say: Callable[[str], None]) -> None:
        self._socks = socks
        self._say = say
        #: The callers of both ports, each with the place of its port.
        self._callers: dict[Caller, int] = {}
        self._teams: dict[int, Team] = {}

    def wait(self) -> tuple[Team, Team]:
        """Wait for both teams and their names."""
        while len(self._teams) < 2:
            waiting: list[socket.socket | Caller] = [sock for place, sock in enumerate(self._socks) if place not in self._teams]
            ready, _, _ = select.select(waiting + list(self._callers), [], [], 1.0)
            for caller, place in list(self._callers.items()):
                self._look_after(place, caller, is_ready=caller in ready)
            for place, sock in enumerate(self._socks):
                if sock in ready:
                    self._let_in(place, sock)
        teams = self._teams[0], self._teams[1]
        for sock in self._socks:
            sock.close()
        for caller in self._callers.keys() - {team.caller for team in teams}:
            caller.close()
        return teams

    def _let_in(self, place: int, sock: socket.socket) -> None:
        caller = let_in(sock)
        if caller is None:
            return
        others = [other for other, at in self._callers.items() if at == place]
        if len(others) >= MOST_SILENT:
            self._send_away(place, others[0], f"is sent away: {MOST_SILENT} callers say nothing, and it is the first of them")
        self._say(f"{caller.address} comes to the {TEAMS[place]} port")
        self._callers[caller] = place
        caller.tell(ASK_NAME)

    def _send_away(self, place: int, caller: Caller, why: str) -> None:
        self._say(f"{caller.address} {why}")
        caller.close()
        del self._callers[caller]
        if place in self._teams and self._teams[place].caller is caller:
            del self._teams[place]

    def _look_after(self, place: int, caller: Caller, *, is_ready: bool) -> None:
        """Read a caller's name. Disconnect a caller that leaves, is silent for too long or sends an invalid name."""
        is_there = caller.hear() if is_ready else True
        team = self._teams.get(place)
        why = ""
        if team is not None:
            # Other callers are read only when the port has no team.
            if team.caller is caller and not is_there:
                why = "has left before the game"
            if caller.lines.is_full:
                why = "sends too much before the game and is sent away"
        elif (line := caller.lines.take()) is not None:
            why = self._read(place, caller, line)
        elif monotonic() - caller.since > NAME_SECONDS:
            why = f"is sent away: it has not told its name in {NAME_SECONDS:g} s"
        if not is_there and not why and (place not in self._teams or self._teams[place].caller is not caller):
            why = "has left without telling its name"
        if why:
            self._send_away(place, caller, why)

    def _read(self, place: int, caller: Caller, line: bytes) -> str:
        try:
            if caller.lines.is_overlong:
                raise DialectError("is too long")
            name = ArchitectHost(HUNTER).take_name(line)
        except DialectError as error:
            return f"is sent away: its name {error} ({quoted(line, 60)})"
        self._teams[place] = team = Team(caller, TEAMS[place] if is_blank(name) else escape(name, 160))
        self._say(f"{caller.address} is {team.name}, the {TEAMS[place]} team")
        return ""


def visitors(teams: tuple[Team, Team], number: int, owing: Mapping[str, bytes]) -> tuple[dict[str, Visitor], str]:
    """Return the players of a game by seat (games count from 0), and the name of the hunting team ("first" or "second").

    Lines that a team has sent since the previous game are dropped. ``owing`` has, by the team's name, the prefix of an answer that was
    too late in that game and may still arrive.
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
    """Return the prefixes of answers that were too late in a game, by team: they may arrive in the next game."""
    found = {}
    for seat, fault in result.faults.items():
        if fault.kind == LATE:
            found[TEAMS[number % 2 if seat == HUNTER else 1 - number % 2]] = b"%d %d " % (number, result.steps)
    return found


def finish(teams: tuple[Team, Team]) -> None:
    """Send "done" to both teams and close the connections."""
    for team in teams:
        team.caller.tell(DONE)
    close_gracefully([team.caller for team in teams])


def judge(first: Result, second: Result) -> str | None:
    """Return the winning team of a pair of games, of which the first team hunts in the first; None for a tie."""
    winner = GAME.pairing.winner((first.outcome, first.steps), (second.outcome, second.steps))
    return None if winner is None else TEAMS["ab".index(winner)]


#: The most ignored answers that are told of one game. The replay records all of them.
_MOST_TOLD = 5


class GameRemarks(Listener):
    """Tells of ignored answers and faults in game ``number`` of a session."""

    def __init__(self, number: int, say: Callable[[str], None]) -> None:
        self._number, self._say = number, say
        self._told = 0

    def stepped(self, event: StepTaken) -> None:
        """Tell of ignored parts of answers."""
        for seat, answer in event.answers.items():
            for warning in answer.remark.warnings if answer.remark is not None else ():
                self._told += 1
                if self._told <= _MOST_TOLD:
                    more = "; more of the kind is in the replay" if self._told == _MOST_TOLD else ""
                    self._say(f"game {self._number}, tick {event.turn}: the {seat}'s answer {warning.text}{more}")

    def faulted(self, event: PlayersFaulted) -> None:
        """Tell of faults."""
        for fault in event.faults.values():
            self._say(f"game {self._number}, tick {event.turn}: {fault.text}")


def winners(played: Sequence[tuple[str, Result]]) -> list[str | None]:
    """Return the winner of each pair of games, TEAM_1, TEAM_2 or None; each game is the team that hunts and the result."""
    return [judge(one, other) for (_, one), (_, other) in zip(played[::2], played[1::2], strict=False)]


def session_lines(names: Mapping[str, str], played: Sequence[tuple[str, Result]]) -> list[str]:
    """Return the results of a session for people. ``names`` are those of the teams."""
    lines = []
    for number, (hunting, one) in enumerate(played):
        score = one.outcome.scores[HUNTER]
        lines.append(f"game {number}  {names[hunting]} hunts: {'no score' if score is None else of_unit(score, 'steps')}")
    for winner in winners(played):
        loser = TEAMS[1] if winner == TEAMS[0] else TEAMS[0]
        lines.append(f"{names[winner]} beats {names[loser]}." if winner else f"{names[TEAMS[0]]} and {names[TEAMS[1]]} tie.")
    return lines
