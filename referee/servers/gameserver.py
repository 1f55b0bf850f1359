"""The 2010 game server: pairs clients in the order in which they join, and plays several games at once.

A client that gives no first answer makes its game void, since a stranger waits for it. From then on its address plays with itself alone.

Theory of operation. One process listens for clients and never plays. When the players of a game are complete, it forks a child process,
which inherits their connections and plays the game. So a game is an ordinary match, games use all cores, and games can't affect each
other. A socket pair connects the child to the server: the server passes spectators over it, and the child returns the result. When the
socket is closed, the child has ended.
"""

from __future__ import annotations

import contextlib
import json
import os
import selectors
import signal
import socket
import sys
import traceback
from collections import Counter
from time import monotonic
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.dialects.dialect import DialectError
from referee.errors import MatchVoid, RefereeError
from referee.games.evasion.dialects.gameserver import GameserverHost, accepted, read_join, void_line
from referee.games.evasion.game import GAME
from referee.games.evasion.state import HUNTER, PREY, SEATS
from referee.match.events import Listener
from referee.servers.listener import Caller, Visitor, close_gracefully, let_in
from referee.servers.spectators import Spectators, hand_over
from referee.support.descriptors import raise_limit
from referee.support.escape import is_blank, quoted

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from referee.games.evasion.state import State
    from referee.match.events import MatchBegun, PlayersFaulted, StepTaken

    #: Plays a game: takes the visitors by seat and further listeners; returns the game's ``--json`` object.
    Play = Callable[[Mapping[str, Visitor], list[Listener]], dict[str, Any]]

#: How long a client may take to send its first line, in seconds; how many clients may wait at once; how many of one address may be silent.
JOIN_SECONDS = 60.0
MOST_WAITING = 1_000
MOST_SILENT = 100
#: How long a client may take for its first answer, in seconds: the default of ``--first-answer``.
FIRST_ANSWER_SECONDS = 30.0
#: The default of ``--at-once``; each game is a process of about 7 MB.
AT_ONCE = 32
#: Beyond that limit there is one place for so many of its places, for addresses that play in no game.
_SPARE = 4
_TICK = 1.0
#: Signals that end the server.
_ENDING = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
_TOLD = ("wall-refused", "invalid-command")
_REPORT_BYTES = 1 << 16
#: How many disconnections of callers that made room are reported one by one.
_MOST_TOLD = 10


class ServerOptions(NamedTuple):
    """The server's options. ``seats`` are those of clients; ``games`` None: no limit; ``opponent`` is our own bot, if any.

    ``first_answer`` are the seconds in which a client must give its first answer; None: no limit but the bank.
    """

    play: Play
    seats: tuple[str, ...] = SEATS
    games: int | None = None
    opponent: str = ""
    at_once: int = AT_ONCE
    first_answer: float | None = FIRST_ANSWER_SECONDS


class _Joined(NamedTuple):
    caller: Caller
    name: str
    seat: str


class _Running(NamedTuple):
    """A game that is being played, in its own process. ``hosts`` are the addresses of its clients, by seat."""

    number: int
    hosts: Mapping[str, str]
    pid: int
    line: socket.socket
    report: bytearray


class Screen(Listener):
    """Prints refused walls, invalid commands and faults in the server's terminal."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self._say = say

    def stepped(self, event: StepTaken) -> None:
        """Print refused walls and invalid commands."""
        for notice in event.notices:
            if notice.code in _TOLD:
                self._say(f"round {event.turn // 2}: {notice.text}")

    def faulted(self, event: PlayersFaulted) -> None:
        """Print which player failed, and how."""
        for fault in event.faults.values():
            self._say(f"round {event.turn // 2}: {fault.text}")


class NoFirstAnswer(MatchVoid):
    """A client gave no first answer, so the game is void. ``seat`` is the client's."""

    def __init__(self, text: str, seat: str) -> None:
        super().__init__(text)
        self.seat = seat


class FirstAnswers(Listener):
    """Raises NoFirstAnswer if a client takes more than ``seconds`` for its first answer. ``names`` are the clients' names, by seat."""

    def __init__(self, names: Mapping[str, str], seconds: float, clock: Callable[[], float] = monotonic) -> None:
        self._names = dict(names)
        self._seconds = seconds
        self._clock = clock
        self._asked: tuple[str, ...] = ()
        self._since = 0.0

    def begun(self, event: MatchBegun) -> None:
        """Start the clock of the first question."""
        self._ask(event.state)

    def stepped(self, event: StepTaken) -> None:
        """Count the answers of a step, and start the clock of the next question."""
        if self._names:
            for seat in self._asked:
                self._names.pop(seat, None)
            self._ask(event.after)

    def ticked(self) -> None:
        """Raise NoFirstAnswer if the time is over."""
        silent = next((seat for seat in self._asked if seat in self._names), None)
        if silent is not None and self._clock() - self._since > self._seconds:
            raise NoFirstAnswer(f"{self._names[silent]} ({silent}) has given no first answer within {self._seconds:g} s", silent)

    def _ask(self, state: State) -> None:
        self._asked, self._since = GAME.movers(state), self._clock()


class Gameserver:
    """Serves games until all are played, or until it is interrupted. ``results`` holds their results, by number."""

    def __init__(self, sock: socket.socket, plan: ServerOptions, say: Callable[[str], None]) -> None:
        self.results: dict[int, dict[str, Any]] = {}
        self._sock = sock
        self._plan = plan
        self._say = say
        self._selector = selectors.DefaultSelector()
        self._selector.register(sock, selectors.EVENT_READ, self._open)
        self._strangers: list[Caller] = []
        #: Groups of clients that will play together, in the order of joining. Only the last group is incomplete, unless a client has left.
        self._groups: list[list[_Joined]] = []
        self._sent_away = 0
        self._spectators: list[Caller] = []
        self._running: dict[int, _Running] = {}
        self._begun = 0
        self._void = 0
        #: Addresses of clients that gave no first answer.
        self._idle_hosts: set[str] = set()
        self._most_waiting = min(MOST_WAITING, raise_limit() // 2)

    def serve(self) -> None:
        """Serve."""
        try:
            while self._is_open or self._running:
                for key, _ in self._selector.select(_TICK):
                    # An earlier event may have closed this connection; another one may have its descriptor now.
                    if self._selector.get_map().get(key.fd) is key:
                        key.data()
                for caller in [caller for caller in self._strangers if monotonic() - caller.since > JOIN_SECONDS]:
                    self._forget(caller, f"is sent away: it has said nothing in {JOIN_SECONDS:g} s")
        finally:
            self._stop()

    @property
    def _is_open(self) -> bool:
        """True if further games will begin; if not, spectators can still watch running games."""
        return self._begun - self._void != self._plan.games

    @property
    def _waiting(self) -> list[Caller]:
        """The callers that are in no game."""
        return [*self._strangers, *self._spectators, *(joined.caller for group in self._groups for joined in group)]

    def _open(self) -> None:
        while (caller := let_in(self._sock)) is not None:
            if self._has_room_for(caller):
                self._strangers.append(caller)
                self._selector.register(caller, selectors.EVENT_READ, lambda caller=caller: self._hear(caller))
            else:
                self._say(f"{caller.address} is sent away: {self._most_waiting:,} wait already")
                caller.close()

    def _has_room_for(self, caller: Caller) -> bool:
        """Make room for a caller if the server is full or the caller's address has too many silent callers; True if there is room.

        The address with the most callers gives up a place, so that no address can keep others out: its first silent caller, else its last
        one that waits for a game.
        """
        host = caller.host
        silent = [other for other in self._strangers if other.host == host]
        if len(silent) >= min(MOST_SILENT, self._most_waiting):
            return self._dismiss_silent(silent)
        waiting = self._waiting
        if len(waiting) < self._most_waiting:
            return True
        counts = Counter(other.host for other in (*waiting, caller))
        greediest = host if counts[host] == max(counts.values()) else counts.most_common(1)[0][0]
        if self._dismiss_silent([other for other in self._strangers if other.host == greediest]):
            return True
        if greediest == host:
            return False
        self._dismiss(next(other for other in reversed(waiting) if other.host == greediest))
        return True

    def _dismiss_silent(self, silent: list[Caller]) -> bool:
        """Disconnect the first silent one of some callers; False if none is silent."""
        caller = next((caller for caller in silent if not caller.has_line()), None)
        if caller is not None:
            self._dismiss(caller)
        return caller is not None

    def _dismiss(self, caller: Caller) -> None:
        """Disconnect a caller to make room. If there are very many, report only some."""
        self._sent_away += 1
        is_told = self._sent_away <= _MOST_TOLD or self._sent_away % 1000 == 0
        self._forget(caller, f"is sent away to make room (the {self._sent_away:,}. so far)" if is_told else None)

    def _hear(self, caller: Caller) -> None:
        is_there = caller.hear()
        if caller in self._strangers and (line := caller.lines.take()) is not None:
            self._admit(caller, line)
        elif not is_there:
            self._forget(caller, "has left before a game")
        elif caller not in self._strangers and caller.lines.is_full:
            self._forget(caller, "sends too much before a game and is sent away")

    def _admit(self, caller: Caller, line: bytes) -> None:
        try:
            if caller.lines.is_overlong:
                raise DialectError("is too long")
            word, name = read_join(line)
            if word == "JOIN" and is_blank(name):
                raise DialectError("joins by a name that shows nothing")
        except DialectError as error:
            self._forget(caller, f"is sent away: its first line {error} ({quoted(line, 60)})")
            return
        if word == "SPECTATE":
            self._strangers.remove(caller)
            self._seat_spectator(caller, name)
            return
        seats = self._plan.seats
        complete = sum(len(group) == len(seats) for group in self._groups)
        if not self._is_open or (self._plan.games is not None and self._begun - self._void + complete >= self._plan.games):
            self._forget(caller, "is sent away: all games have begun")
            return
        self._strangers.remove(caller)
        partners = next((group for group in self._groups if len(group) < len(seats) and self._may_play(caller, group)), [])
        seat = next(seat for seat in seats if seat not in [joined.seat for joined in partners])
        self._say(f"{caller.address} joins as {name}, {seat}")
        group = self._place(_Joined(caller, name, seat))
        caller.tell(accepted(seat))
        if len(group) == len(seats):
            self._begin_games()
            if group in self._groups:
                names = " and ".join(one.name for one in group)
                self._say(f"{names} wait: {len(self._running)} games are being played (--at-once)")

    def _may_play(self, caller: Caller, group: list[_Joined]) -> bool:
        """True if a caller may be paired with others: a client of an idle address plays with its own address alone."""
        hosts = {caller.host, *(joined.caller.host for joined in group)}
        return len(hosts) == 1 or hosts.isdisjoint(self._idle_hosts)

    def _place(self, joined: _Joined) -> list[_Joined]:
        """Add a client to the first group that lacks its seat and may play with it, else to a new group; return the group."""
        for group in self._groups:
            if joined.seat not in [other.seat for other in group] and self._may_play(joined.caller, group):
                group.append(joined)
                return group
        self._groups.append([joined])
        return self._groups[-1]

    def _set_apart(self, host: str) -> None:
        """Pair the clients of an address with each other alone from now on, those that wait included; they keep their seats."""
        self._idle_hosts.add(host)
        waiting = [joined for group in self._groups for joined in group]
        self._groups = []
        for joined in waiting:
            self._place(joined)

    def _seat_spectator(self, caller: Caller, number: str) -> None:
        """Let a spectator watch the game of the given number, else the newest one, else the next one."""
        games = [game for game in self._running.values() if not game.report and (not number or game.number == int(number))]
        for game in reversed(games):
            self._selector.unregister(caller)
            if hand_over(game.line, caller):
                self._say(f"{caller.address} looks on at game {game.number}")
                return
            self._selector.register(caller, selectors.EVENT_READ, lambda: self._hear(caller))
        if number or not self._is_open:
            self._forget(caller, f"is sent away: no game {number or 'more'} is played")
            return
        self._spectators.append(caller)
        self._say(f"{caller.address} will look on at the next game")

    def _forget(self, caller: Caller, why: str | None) -> None:
        """Disconnect a caller that is in no game. Without a reason this isn't reported."""
        if why is not None:
            found = [joined.name for group in self._groups for joined in group if joined.caller is caller]
            name = f" ({found[0]})" if found else ""
            self._say(f"{caller.address}{name} {why}")
        self._selector.unregister(caller)
        if caller in self._strangers:
            self._strangers.remove(caller)
        self._spectators = [other for other in self._spectators if other is not caller]
        # Its partner keeps its place and waits for another client.
        groups = [[joined for joined in group if joined.caller is not caller] for group in self._groups]
        self._groups = [group for group in groups if group]
        caller.close()

    def _begin_games(self) -> None:
        """Begin games up to the limit: first those of addresses that play in the fewest games, of these the one that has waited longest.

        Some places beyond the limit are for addresses that play in no game, so no address keeps others waiting.
        """
        while self._is_open:
            counts = Counter(host for game in self._running.values() for host in set(game.hosts.values()))
            found = [(_games_of(group, counts), group) for group in self._groups if len(group) == len(self._plan.seats)]
            games, group = min(found, key=lambda one: one[0], default=(0, None))
            if group is None:
                return
            spare = 0 if games else max(1, self._plan.at_once // _SPARE)
            if len(self._running) >= self._plan.at_once + spare:
                return
            self._groups.remove(group)
            self._begin(sorted(group, key=lambda joined: self._plan.seats.index(joined.seat)))

    def _begin(self, joined: list[_Joined]) -> None:
        spectators, self._spectators = self._spectators, []
        callers = [*(one.caller for one in joined), *spectators]
        for caller in callers:
            self._selector.unregister(caller)
        number = self._begun + 1
        names = {seat: one.name for seat, one in zip(self._plan.seats, joined, strict=True)}
        players = [f"{name} ({seat})" for seat, name in names.items()] + [self._plan.opponent] * bool(self._plan.opponent)
        self._say(f"game {number}: {' against '.join(players)}")
        sys.stdout.flush()
        sys.stderr.flush()
        # Signals wait until the fork is over: what their handlers raise would be lost in the functions that Python calls around a fork.
        unblocked = signal.pthread_sigmask(signal.SIG_BLOCK, _ENDING)
        try:
            ours, theirs = socket.socketpair()
            pid = os.fork()
        except OSError as error:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
            self._say(f"game {number} can't begin ({error.strerror}); those who joined are sent away")
            for caller in callers:
                caller.close()
            return
        self._begun = number
        if not pid:
            self._run_child(number, ours, theirs, joined, spectators, unblocked)
        theirs.close()
        for caller in callers:
            caller.close()
        ours.setblocking(False)
        game = _Running(number, {one.seat: one.caller.host for one in joined}, pid, ours, bytearray())
        self._running[number] = game
        self._selector.register(ours, selectors.EVENT_READ, lambda: self._listen(game))
        signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)

    def _run_child(
        self,
        number: int,
        ours: socket.socket,
        theirs: socket.socket,
        joined: list[_Joined],
        spectators: list[Caller],
        unblocked: Iterable[int],
    ) -> None:
        """The process of one game; never returns."""
        status = 4
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, unblocked)
            # Ctrl-C reaches every process of a terminal; the server ends its games itself, once.
            signal.signal(signal.SIGINT, signal.SIG_IGN)
            # Close everything that belongs to the server or to other games.
            self._selector.close()
            for caller in self._waiting:
                caller.close()
            for sock in (self._sock, ours, *(game.line for game in self._running.values())):
                sock.close()

            def say(text: str) -> None:
                self._say(f"game {number}, {text}")

            report = self._play(joined, [Screen(say), Spectators(theirs, spectators, say)])
            # Send the report before ``close_gracefully``, which takes time, so that the server passes no more spectators.
            theirs.sendall(json.dumps(report).encode())
            close_gracefully([one.caller for one in joined])
            status = 0
        except SystemExit:
            status = 143
        except RefereeError as error:
            self._say(f"game {number}: {error}")
        except BaseException:  # noqa: BLE001 - the server continues
            traceback.print_exc()
        finally:
            with contextlib.suppress(BaseException):
                sys.stderr.flush()
            os._exit(status)

    def _play(self, joined: list[_Joined], listeners: list[Listener]) -> dict[str, Any]:
        """Play a game; return its ``--json`` object, or ``{"void": why, "seat": seat}`` if a client gave no first answer."""
        visitors = {}
        for caller, name, seat in joined:
            about = {"program": f"client of the gameserver protocol, {caller.address}", "dialect": "gameserver"}
            visitors[seat] = Visitor(name, about, caller.connection(), GameserverHost(seat, has_joined=True))
        if self._plan.first_answer is not None:
            names = {one.seat: one.name for one in joined}
            listeners = [*listeners, FirstAnswers(names, self._plan.first_answer)]
        try:
            return self._plan.play(visitors, listeners)
        except NoFirstAnswer as silence:
            for one in joined:
                one.caller.tell(void_line(one.seat))
            return {"void": str(silence), "seat": silence.seat}

    def _listen(self, game: _Running) -> None:
        try:
            data = game.line.recv(_REPORT_BYTES)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        game.report.extend(data)
        if data:
            return
        self._selector.unregister(game.line)
        game.line.close()
        del self._running[game.number]
        with contextlib.suppress(ChildProcessError):
            os.waitpid(game.pid, 0)
        if game.report:
            result = json.loads(game.report)
            if "void" in result:
                host = game.hosts[result["seat"]]
                self._void += 1
                self._set_apart(host)
                self._say(f"game {game.number}: void, because {result['void']}; clients of {host} now play with each other alone")
            else:
                self._say(f"game {game.number}: {result['text']}  {result['replay']}")
        else:
            result = {"error": "the game was stopped early"}
            self._say(f"game {game.number}: stopped early, it counts for nobody")
        self.results[game.number] = {"number": game.number, **result}
        self._begin_games()

    def _stop(self) -> None:
        for game in self._running.values():
            with contextlib.suppress(ProcessLookupError):
                os.kill(game.pid, signal.SIGTERM)
        for game in self._running.values():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(game.pid, 0)
            game.line.close()
        for caller in self._waiting:
            caller.close()
        self._selector.close()
        self._sock.close()


def _games_of(group: list[_Joined], counts: Mapping[str, int]) -> int:
    """Return in how many games the address of a group plays; of two addresses, the one with fewer games."""
    return min(counts[joined.caller.host] for joined in group)


def seats_for(role: str | None) -> tuple[str, ...]:
    """Return the clients' seats if our own bot plays ``role``; None: clients play both seats."""
    return {None: SEATS, HUNTER: (PREY,), PREY: (HUNTER,)}[role]
