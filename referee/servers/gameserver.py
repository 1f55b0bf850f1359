"""The 2010 game server: pairs clients in the order in which they join, and plays several games at once.

Theory of operation. One process listens for clients and never plays. When the players of a game are complete, it forks a child process,
which inherits their connections and plays the game. So a game is an ordinary match, games use all cores, and games can't affect each
other. A pipe returns the result; when it is closed without one, the game has failed.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import re
import signal
from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import PlayerError, RefereeError, UsageError
from referee.games.dialect import DialectError
from referee.games.evasion.dialects.gameserver import GameserverHost, accepted, end_line, read_join, settings_line, state_line
from referee.games.evasion.game import GAME
from referee.games.evasion.state import COMPASS
from referee.players.names import resolve
from referee.players.player import is_human
from referee.replay.events import Listener
from referee.servers.listener import Reception, Remarks, close_gracefully, wait_for
from referee.support.escape import is_blank
from referee.support.signals import ENDING, blocked_signals

if TYPE_CHECKING:
    import socket
    from collections.abc import Callable, Mapping
    from multiprocessing.connection import Connection
    from multiprocessing.context import ForkProcess

    from referee.games.evasion.state import State
    from referee.games.game import Json
    from referee.players import player
    from referee.replay.events import MatchBegun, MatchResult, StepTaken
    from referee.servers.listener import Caller

    #: Plays a game: takes the visitors by seat and further listeners; returns the game's ``--json`` object.
    Play = Callable[[Mapping[str, player.Connection], list[Listener]], dict[str, Json]]

#: The most spectators, and the most clients for each seat, that wait for a game.
MOST_WAITING = 100
_FORK = multiprocessing.get_context("fork")


class ServerOptions(NamedTuple):
    """The server's options. ``seats`` are those of clients; ``games`` None: no limit; ``opponent`` is our own bot, if any."""

    play: Play
    seats: tuple[str, ...]
    games: int | None
    opponent: str
    at_once: int


class _Client(NamedTuple):
    """A caller that has joined, or a spectator, whose ``seat`` is empty."""

    caller: Caller
    name: str
    seat: str


class _RunningGame(NamedTuple):
    """A game that is being played, in its own process."""

    process: ForkProcess
    report: Connection


class Spectators(Listener):
    """The spectators of one game."""

    def __init__(self, callers: list[Caller], report: Callable[[str], None]) -> None:
        self._callers = callers
        self._say = report

    def begun(self, event: MatchBegun) -> None:
        """Send the board and the first position."""
        self._send(settings_line(event.state.settings) + _line(event.state))

    def stepped(self, event: StepTaken) -> None:
        """Send the position of the next question."""
        self._send(_line(event.after))

    def ended(self, event: MatchResult) -> None:
        """Send the winner's GAMEOVER line."""
        winner = event.outcome.winner
        if winner is not None:
            self._send(end_line(event.state, winner, winner))
        close_gracefully(self._callers, 0.2)

    def _send(self, line: bytes) -> None:
        """Send a line to all. A spectator whose connection doesn't take the whole line is disconnected."""
        for caller in list(self._callers):
            with contextlib.suppress(OSError):
                if caller.sock.send(line) == len(line):
                    continue
            self._say(f"the spectator {caller.address} has left, or reads too slowly and is sent away")
            self._callers.remove(caller)
            caller.close()


class Gameserver:
    """Serves games until all are played, or until it is interrupted. ``results`` holds their results, by number.

    ``report`` gets what happens, and ``progress`` at least once a second how many games are being played.
    """

    def __init__(self, sock: socket.socket, plan: ServerOptions, report: Callable[[str], None], progress: Callable[[str], None]) -> None:
        self.results: dict[int, dict[str, Json]] = {}
        self._reception = Reception(sock, _first_line, report)
        self._plan = plan
        self._say = report
        self._progress = progress
        #: The players and spectators that are in no game, in the order of joining.
        self._waiting: list[_Client] = []
        self._running: dict[int, _RunningGame] = {}
        self._begun = 0

    def serve(self) -> None:
        """Serve."""
        try:
            while self._begun != self._plan.games or self._running:
                sources = (*self._reception.sources, *(client.caller for client in self._waiting))
                wait_for((*sources, *(game.report for game in self._running.values())), 1.0)
                for caller, (word, name) in self._reception.take():
                    self._admit(caller, name, is_spectator=word == "SPECTATE")
                for client in list(self._waiting):
                    if why := client.caller.hear():
                        self._waiting.remove(client)
                        self._dismiss(client, why)
                for number in list(self._running):
                    self._collect(number)
                waiting = len(self._waiting)
                self._progress(f"games played now: {len(self._running)}, ended: {len(self.results)}; clients that wait: {waiting}")
        finally:
            self._stop()

    def _admit(self, caller: Caller, name: str, *, is_spectator: bool) -> None:
        """Let a caller play, in the seat for which fewest clients wait, or watch the next game."""
        waiting = Counter(client.seat for client in self._waiting)
        seat = "" if is_spectator else min(self._plan.seats, key=waiting.__getitem__)
        client, begun = _Client(caller, name, seat), self._begun + (waiting[seat] if seat else 0)
        if self._plan.games is not None and begun >= self._plan.games:
            self._dismiss(client, "is sent away: all games have begun")
        elif waiting[seat] >= MOST_WAITING:
            self._dismiss(client, f"is sent away: {MOST_WAITING} {f'for the {seat}' if seat else 'spectators'} wait already")
        elif is_spectator:
            self._waiting.append(client)
            self._say(f"{caller.address} will look on at the next game")
        else:
            self._waiting.append(client)
            self._say(f"{caller.address} joins as {name}, {seat}")
            caller.tell(accepted(seat))
            self._begin_games()
            if client in self._waiting and len(self._running) >= self._plan.at_once:
                self._say(f"{name} waits: {len(self._running)} games are being played (--at-once)")

    def _dismiss(self, client: _Client, why: str) -> None:
        """Disconnect a client that is in no game. The other players keep their seats."""
        self._say(f"{client.caller.address}{f' ({client.name})' * bool(client.name)} {why}")
        client.caller.close()

    def _begin_games(self) -> None:
        """Begin games up to the limit, each with the players that have waited longest for their seats."""
        while self._begun != self._plan.games and len(self._running) < self._plan.at_once:
            first = {client.seat: client for client in reversed(self._waiting) if client.seat}
            if len(first) < len(self._plan.seats):
                return
            joined = [first[seat] for seat in self._plan.seats]
            spectators = [client.caller for client in self._waiting if not client.seat]
            self._waiting = [client for client in self._waiting if client.seat and client not in joined]
            self._begin(joined, spectators)

    def _begin(self, joined: list[_Client], spectators: list[Caller]) -> None:
        number = self._begun + 1
        players = [f"{client.name} ({client.seat})" for client in joined] + [self._plan.opponent] * bool(self._plan.opponent)
        self._say(f"game {number}: {' against '.join(players)}")
        ours, theirs = _FORK.Pipe(duplex=False)
        process = _FORK.Process(target=self._play, args=(number, joined, spectators, theirs), daemon=True)
        # Signals wait until the fork is over: what their handlers raise would be lost in the functions that Python calls around a fork.
        with blocked_signals():
            try:
                process.start()
            except OSError as error:
                self._say(f"game {number} can't begin ({error.strerror}); those who joined are sent away")
                ours.close()
            else:
                self._begun = number
                self._running[number] = _RunningGame(process, ours)
        theirs.close()
        for caller in (*(client.caller for client in joined), *spectators):
            caller.close()

    def _play(self, number: int, joined: list[_Client], spectators: list[Caller], report: Connection) -> None:
        """The process of one game: play it, and send its ``--json`` object."""
        # Ctrl-C reaches every process of a terminal; the server ends its games itself, once.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        # What belongs to the server or to other games is closed, so that those who wait notice when they are sent away.
        self._reception.close()
        for client in self._waiting:
            client.caller.close()
        visitors = {client.seat: client.caller.visitor(client.name, GameserverHost(client.seat, has_joined=True)) for client in joined}
        remarks = Remarks(self._say, lambda turn: f"game {number}, round {turn // 2}")
        try:
            report.send(self._plan.play(visitors, [remarks, Spectators(spectators, self._say)]))
        except RefereeError as error:
            self._say(f"game {number}: {error}")
        close_gracefully([client.caller for client in joined])

    def _collect(self, number: int) -> None:
        """Store the result of a game if it is over."""
        report = self._running[number].report
        if not report.poll():
            return
        try:
            result = report.recv()
            self._say(f"game {number}: {result['text']}  {result['replay']}")
        except EOFError:
            result = {"error": "the game was stopped early"}
            self._say(f"game {number}: stopped early, it counts for nobody")
        self.results[number] = {"number": number, **result}
        self._end(number)
        self._begin_games()

    def _end(self, number: int) -> None:
        game = self._running.pop(number)
        game.process.join()
        game.process.close()
        game.report.close()

    def _stop(self) -> None:
        for game in self._running.values():
            game.process.terminate()
        for number in list(self._running):
            self._end(number)
        self._reception.close()
        for client in self._waiting:
            client.caller.close()


def _first_line(line: bytes) -> tuple[str, str]:
    word, name = read_join(line)
    if word == "JOIN" and is_blank(name):
        raise DialectError("joins by a name that shows nothing")
    return word, name


def _line(state: State) -> bytes:
    """Return the line of the question about a position; empty if nobody is asked."""
    return state_line(state) if GAME.movers(state) else b""


def heading(text: str) -> str:
    """Return "x,y,dx,dy" from "x,y,HEADING", the notation of the course. Raises UsageError for any other text."""
    match = re.fullmatch(r"\s*(\d{1,9})\s*,\s*(\d{1,9})\s*,\s*(NE|NW|SE|SW)\s*", text, re.IGNORECASE)
    if not match:
        raise UsageError(f"--hunter is {text!r:.80}, but must be x,y,HEADING with NE, NW, SE or SW, as in 0,0,SE.")
    dx, dy = COMPASS[match[3].upper()]
    return f"{match[1]},{match[2]},{dx},{dy}"


def seat_of(bot: str, settings: Any) -> str:
    """Return the seat of the bot of --opponent: the prey, or the hunter if it can't play the prey. PlayerError if it can play neither."""
    if is_human(bot):
        raise UsageError("--opponent is a person; name a bot.")
    try:
        resolve(bot, "prey", "evasion", settings)
    except PlayerError:
        resolve(bot, "hunter", "evasion", settings)
        return "hunter"
    return "prey"
