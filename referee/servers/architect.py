"""The 2017 architect: two clients on two ports play games with alternating roles."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, NamedTuple

from referee.games.evasion.dialects.architect import ASK_NAME, DONE, ArchitectHost
from referee.games.evasion.game import GAME
from referee.games.evasion.state import HUNTER, PREY
from referee.replay.faults import LATE
from referee.servers.listener import Reception, close_gracefully, wait_for
from referee.support.escape import escape, is_blank
from referee.support.words import of_unit

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping, Sequence

    from referee.players.player import Connection
    from referee.replay.events import MatchResult
    from referee.servers.listener import Caller

#: The two teams, by port.
TEAMS = ("first", "second")


class ArchitectTeam(NamedTuple):
    """A client that has sent its name."""

    caller: Caller
    name: str


def wait_for_teams(socks: tuple[socket.socket, socket.socket], report: Callable[[str], None]) -> tuple[ArchitectTeam, ArchitectTeam]:
    """Wait on both ports until each has a team: the first caller that sends its name.

    Every caller is asked for its name at once, so silent callers delay nobody. While a port has its team, further callers wait.
    """
    receptions = [Reception(sock, ArchitectHost(HUNTER).take_name, report, ASK_NAME) for sock in socks]
    teams: dict[int, ArchitectTeam] = {}
    while len(teams) < len(TEAMS):
        missing = [reception.sources for place, reception in enumerate(receptions) if place not in teams]
        wait_for([*itertools.chain(*missing), *(team.caller for team in teams.values())], 1.0)
        for place, reception in enumerate(receptions):
            team = teams.get(place)
            if team is not None and (why := team.caller.hear()):
                report(f"{team.caller.address} {why}")
                team.caller.close()
                del teams[place]
            if place not in teams and (visit := next(reception.take(), None)) is not None:
                caller, name = visit
                teams[place] = ArchitectTeam(caller, TEAMS[place] if is_blank(name) else escape(name, 160))
                report(f"{caller.address} is {teams[place].name}, the {TEAMS[place]} team")
    for reception in receptions:
        reception.close()
    return teams[0], teams[1]


def visitors(teams: tuple[ArchitectTeam, ArchitectTeam], number: int, owing: Mapping[str, bytes]) -> tuple[dict[str, Connection], str]:
    """Return the players of a game by seat (games count from 0), and the name of the hunting team ("first" or "second").

    Lines that a team has sent since the previous game are dropped. ``owing`` has, by the team's name, the prefix of an answer that was
    too late in that game and may still arrive.
    """
    hunting = number % 2
    players = {}
    for seat, place in ((HUNTER, hunting), (PREY, 1 - hunting)):
        team = teams[place]
        if number:
            team.caller.hear()
            team.caller.lines.clear()
        host = ArchitectHost(seat, number=number, is_known=True)
        players[seat] = team.caller.visitor(team.name, host, owing.get(TEAMS[place], b""))
    return players, TEAMS[hunting]


def late_answers(number: int, result: MatchResult) -> dict[str, bytes]:
    """Return the prefixes of answers that were too late in a game, by team: they may arrive in the next game."""
    late = [seat for seat, fault in result.failures.items() if fault.kind == LATE]
    return {TEAMS[number % 2 if seat == HUNTER else 1 - number % 2]: b"%d %d " % (number, result.steps) for seat in late}


def finish(teams: tuple[ArchitectTeam, ArchitectTeam]) -> None:
    """Send "done" to both teams and close the connections."""
    for team in teams:
        team.caller.tell(DONE)
    close_gracefully([team.caller for team in teams])


def winners(played: Sequence[tuple[str, MatchResult]]) -> list[str | None]:
    """Return the team that wins each pair of games, None for a tie; each game is the team that hunts and the result."""
    pairs = zip(played[::2], played[1::2], strict=False)
    judged = [GAME.pairing.winner((result.outcome, result.steps), (other.outcome, other.steps)) for (_, result), (_, other) in pairs]
    return [None if winner is None else TEAMS["ab".index(winner)] for winner in judged]


def session_lines(names: Mapping[str, str], played: Sequence[tuple[str, MatchResult]]) -> list[str]:
    """Return the results of a session for people. ``names`` are those of the teams."""
    lines = []
    for number, (hunting, result) in enumerate(played):
        score = result.outcome.scores["hunter"]
        lines.append(f"game {number}  {names[hunting]} hunts: {'no score' if score is None else of_unit(score, 'steps')}")
    for winner in winners(played):
        loser = TEAMS[1] if winner == TEAMS[0] else TEAMS[0]
        lines.append(f"{names[winner]} beats {names[loser]}." if winner else f"{names[TEAMS[0]]} and {names[TEAMS[1]]} tie.")
    return lines
