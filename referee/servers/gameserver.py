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
import socket
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.errors import PlayerError, RefereeError, UsageError
from referee.games.dialect import DialectError
from referee.games.evasion.dialects.gameserver import GameserverHost, accepted, end_line, read_join, settings_line, state_line
from referee.games.evasion.game import GAME
from referee.games.evasion.state import COMPASS, SEATS
from referee.players.names import resolve
from referee.players.player import is_human
from referee.replay.events import Listener
from referee.servers.listener import Reception, Remarks, close_gracefully, wait_for
from referee.support.escape import is_blank
from referee.support.signals import ENDING, blocked_signals

if TYPE_CHECKING:
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

#: The most spectators of one game, and the bytes that the system may keep for each.
MOST_SPECTATORS = 50
_UNSENT_BYTES = 1 << 20
#: The most games that wait.
MOST_GROUPS = 100
#: The default of ``--at-once``; each game is a process of about 7 MB.
AT_ONCE = 32
_FORK = multiprocessing.get_context("fork")


class ServerOptions(NamedTuple):
    """The server's options. ``seats`` are those of clients; ``games`` None: no limit; ``opponent`` is our own bot, if any."""

    play: Play
    seats: tuple[str, ...] = SEATS
    games: int | None = None
    opponent: str = ""
    at_once: int = AT_ONCE


class _Joined(NamedTuple):
    caller: Caller
    name: str
    seat: str


class _RunningGame(NamedTuple):
    """A game that is being played, in its own process."""

    number: int
    process: ForkProcess
    report: Connection


class Spectators(Listener):
    """The spectators of one game."""

    def __init__(self, callers: list[Caller], report: Callable[[str], None]) -> None:
        self._callers = callers
        self._say = report

    def begun(self, event: MatchBegun) -> None:
        """Send the board and the first position."""
        for caller in self._callers:
            with contextlib.suppress(OSError):
                caller.sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _UNSENT_BYTES)
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

    def __init__(
        self, sock: socket.socket, plan: ServerOptions, report: Callable[[str], None], progress: Callable[[str], None] = lambda _: None
    ) -> None:
        self.results: dict[int, dict[str, Json]] = {}
        self._reception = Reception(sock, _first_line, report)
        self._plan = plan
        self._say = report
        self._progress = progress
        #: Groups of clients that will play together, by seat, in the order of joining.
        self._groups: list[dict[str, _Joined]] = []
        self._spectators: list[Caller] = []
        self._running: dict[int, _RunningGame] = {}
        self._begun = 0

    def serve(self) -> None:
        """Serve."""
        try:
            while self._is_open or self._running:
                wait_for((*self._reception.sources, *self._waiting, *(game.report for game in self._running.values())), 1.0)
                for caller, (word, name) in self._reception.take():
                    if word == "SPECTATE":
                        self._admit_spectator(caller)
                    else:
                        self._join(caller, name)
                for caller in self._waiting:
                    if why := caller.hear():
                        self._dismiss(caller, why)
                for game in list(self._running.values()):
                    self._collect(game)
                if self._running:
                    self._progress(f"games played now: {len(self._running)}, ended: {len(self.results)}")
        finally:
            self._stop()

    @property
    def _is_open(self) -> bool:
        """True if further games will begin; if not, spectators can still watch running games."""
        return self._begun != self._plan.games

    @property
    def _waiting(self) -> list[Caller]:
        """The clients and spectators that are in no game."""
        return [*self._spectators, *(client.caller for group in self._groups for client in group.values())]

    def _join(self, caller: Caller, name: str) -> None:
        seats = self._plan.seats
        group: dict[str, _Joined] = next((group for group in self._groups if len(group) < len(seats)), {})
        if not group and self._plan.games is not None and self._begun + len(self._groups) >= self._plan.games:
            self._dismiss(caller, "is sent away: all games have begun")
            return
        if len(self._groups) >= MOST_GROUPS:
            self._dismiss(caller, f"is sent away: {MOST_GROUPS} games wait already")
            return
        seat = next(seat for seat in seats if seat not in group)
        self._say(f"{caller.address} joins as {name}, {seat}")
        caller.tell(accepted(seat))
        if not group:
            self._groups.append(group)
        group[seat] = _Joined(caller, name, seat)
        self._begin_games()
        if group in self._groups and len(group) == len(seats):
            names = " and ".join(client.name for client in group.values())
            self._say(f"{names} wait: {len(self._running)} games are being played (--at-once)")

    def _admit_spectator(self, caller: Caller) -> None:
        """Let a spectator watch the next game."""
        self._spectators.append(caller)
        if not self._is_open:
            self._dismiss(caller, "is sent away: all games have begun")
        elif len(self._spectators) > MOST_SPECTATORS:
            self._dismiss(caller, f"is sent away: {MOST_SPECTATORS} spectators wait already")
        else:
            self._say(f"{caller.address} will look on at the next game")

    def _dismiss(self, caller: Caller, why: str) -> None:
        """Disconnect a caller that is in no game. Its partner keeps its seat and waits for another client."""
        names = [client.name for group in self._groups for client in group.values() if client.caller is caller]
        groups = [{seat: client for seat, client in group.items() if client.caller is not caller} for group in self._groups]
        self._groups = [group for group in groups if group]
        self._spectators = [spectator for spectator in self._spectators if spectator is not caller]
        self._say(f"{caller.address}{''.join(f' ({name})' for name in names)} {why}")
        caller.close()

    def _begin_games(self) -> None:
        """Begin games up to the limit."""
        seats = self._plan.seats
        while self._is_open and len(self._running) < self._plan.at_once:
            group = next((group for group in self._groups if len(group) == len(seats)), None)
            if group is None:
                return
            self._groups.remove(group)
            self._begin([group[seat] for seat in seats])

    def _begin(self, joined: list[_Joined]) -> None:
        spectators, self._spectators = self._spectators, []
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
                self._running[number] = _RunningGame(number, process, ours)
        theirs.close()
        for caller in (*(client.caller for client in joined), *spectators):
            caller.close()

    def _play(self, number: int, joined: list[_Joined], spectators: list[Caller], report: Connection) -> None:
        """The process of one game: play it, and send its ``--json`` object."""
        # Ctrl-C reaches every process of a terminal; the server ends its games itself, once.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        # What belongs to the server or to other games is closed, so that those who wait notice when they are sent away.
        self._reception.close()
        for caller in self._waiting:
            caller.close()

        def say(text: str) -> None:
            self._say(f"game {number}, {text}")

        remarks = Remarks(say, lambda turn: f"round {turn // 2}")
        try:
            visitors = {client.seat: client.caller.visitor(client.name, GameserverHost(client.seat, has_joined=True)) for client in joined}
            report.send(self._plan.play(visitors, [remarks, Spectators(spectators, say)]))
        except RefereeError as error:
            self._say(f"game {number}: {error}")
        close_gracefully([client.caller for client in joined])

    def _collect(self, game: _RunningGame) -> None:
        """Store the result of a game if it is over."""
        if not game.report.poll():
            return
        try:
            result = game.report.recv()
            self._say(f"game {game.number}: {result['text']}  {result['replay']}")
        except EOFError:
            result = {"error": "the game was stopped early"}
            self._say(f"game {game.number}: stopped early, it counts for nobody")
        self._end(game)
        self.results[game.number] = {"number": game.number, **result}
        self._begin_games()

    def _end(self, game: _RunningGame) -> None:
        game.process.join()
        game.process.close()
        game.report.close()
        del self._running[game.number]

    def _stop(self) -> None:
        for game in self._running.values():
            game.process.terminate()
        for game in list(self._running.values()):
            self._end(game)
        self._reception.close()
        for caller in self._waiting:
            caller.close()


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


def opponents(bot: str | None, settings: Any) -> dict[str, str]:
    """Return the local bot by its seat: the prey, or the hunter if the bot can't play the prey. Empty without --opponent."""
    if bot is None:
        return {}
    if is_human(bot):
        raise UsageError("--opponent is a person; name a bot.")
    refusals = []
    for seat in ("prey", "hunter"):
        try:
            resolve(bot, seat, "evasion", settings)
        except PlayerError as error:
            refusals.append(error)
            continue
        return {seat: bot}
    raise refusals[-1]
