"""Plays our bot on another server: translates between the server's dialect and the native protocol.

The server applies the rules and the clock. This module only checks that both sides follow their protocols.
"""

from __future__ import annotations

import contextlib
import select
import socket
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.dialects.dialect import Ask, Begin, DialectError, Over, Send
from referee.errors import MatchVoid, UsageError
from referee.games.evasion.game import GAME
from referee.games.game import IllegalMove, MalformedMove
from referee.isolation.choose import choose
from referee.match import judgement
from referee.match.conversation import Conversation, Entrant, Manner
from referee.match.options import TimeControl
from referee.match.seeds import match_id, seat_seed, secret_of
from referee.players.building import all_built
from referee.players.faults import Fault
from referee.players.log import Log
from referee.support.escape import escape, quoted
from referee.wire import decode, encode
from referee.wire.lines import LineBuffer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from referee.dialects.dialect import Guest
    from referee.games.game import Json, Seat
    from referee.isolation.limits import Limits
    from referee.players.spec import Spec

#: How long connecting to a server may take, in seconds, and the longest line of a server, in bytes.
_REACH = 10.0
_MOST_LINE = 1 << 20
#: The server measures the bot's time; only the start-up has a limit here.
_TIME = TimeControl(startup=10.0, move=None, bank=None)


class Bots(NamedTuple):
    """The bots by seat, and their isolation."""

    specs: Mapping[Seat, Spec]
    isolation: str
    limits: Limits


class BotFailed(Exception):
    """Our bot has failed; the text says how. ``has_begun``: it was ready before."""

    def __init__(self, text: str, *, has_begun: bool) -> None:
        super().__init__(text)
        self.has_begun = has_begun


class ServerSpoke(Exception):
    """The server has sent another line before our bot answered, so it no longer waits for the answer."""


class RemoteClient:
    """One connection to a server, from the first line to the last. ``games`` holds what the server said of each."""

    def __init__(self, guest: Guest, bots: Bots, say: Callable[[str], None]) -> None:
        self.games: list[dict[str, Json]] = []
        self._guest = guest
        self._bots = bots
        self._say = say
        self._lines = LineBuffer(_MOST_LINE)
        self._playing: _Playing | None = None
        self._is_over = False

    def run(self, host: str, port: int) -> None:
        """Connect and play until the server has no more games.

        Raises UsageError if the server can't be reached, MatchVoid if it doesn't keep to the protocol, BotFailed, and StartError if a
        bot can't be built.
        """
        for seat, spec in self._bots.specs.items():
            # Not during a game: a server may wait no longer than half a minute for a first answer.
            all_built({seat: spec.program}, choose(self._bots.isolation, self._bots.limits, [spec.program]))
        try:
            sock = socket.create_connection((host, port), _REACH)
        except (OSError, UnicodeError) as error:
            raise UsageError(f"There is no server at {host}:{port} ({error}).") from None
        with sock:
            sock.settimeout(None)
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._say(f"Connected to {host}:{port}.")
            try:
                sock.sendall(self._guest.on_connect)
                while not self._is_over:
                    self._take(sock, self._next(sock))
            except (ConnectionError, TimeoutError) as error:
                raise MatchVoid(f"The connection to the server broke off ({error.strerror or error}).") from None
            finally:
                if self._playing is not None:
                    self._playing.close()

    def _next(self, sock: socket.socket) -> bytes:
        """The next line of the server; meanwhile the bot's log is read."""
        while (line := self._lines.take()) is None:
            log = self._playing.player.pipes.stderr if self._playing is not None else -1
            ready, _, _ = select.select([sock.fileno(), log] if log >= 0 else [sock.fileno()], [], [])
            if self._playing is not None and log in ready:
                self._playing.read_log()
            if sock.fileno() in ready:
                chunk = sock.recv(65_536)
                if not chunk:
                    raise MatchVoid("The server hung up before the game was over.")
                self._lines.feed(chunk)
        if self._lines.is_overlong:
            raise MatchVoid(f"The server sent a line of more than {_MOST_LINE:,} bytes.")
        return line

    def _take(self, sock: socket.socket, line: bytes) -> None:
        try:
            events = self._guest.hear(line)
        except DialectError as error:
            raise MatchVoid(f"The server's line {quoted(line)} {error}; is this the right --dialect?") from None
        for event in events:
            if isinstance(event, Send):
                sock.sendall(event.data)
            elif isinstance(event, Begin):
                self._playing = _Playing(self._bots, event.seat, event.settings)
                self._say(f"We play the {event.seat} as {self._playing.label}.")
            elif isinstance(event, Ask):
                assert self._playing is not None
                try:
                    move = self._playing.ask(event, sock)
                except ServerSpoke:
                    # The server sent a line or closed the connection; the next read shows which.
                    continue
                sock.sendall(self._guest.answer(move))
            else:
                self._end(event)

    def _end(self, over: Over) -> None:
        if self._playing is not None:
            self.games.append({"seat": self._playing.seat, **over.result})
            self._say(str(over.result["text"]))
            self._playing.dismiss(over.result)
            self._playing = None
        self._is_over = over.is_last


class _Playing:
    """Our bot in one game."""

    def __init__(self, bots: Bots, seat: Seat, settings: Any) -> None:
        self.seat = seat
        if seat not in bots.specs:
            raise UsageError(
                f"The server made us the {seat}, which the bot doesn't play; try again when another client waits, or name another bot."
            )
        spec = bots.specs[seat]
        self.label = escape(spec.label, 80)
        isolation = choose(bots.isolation, bots.limits, [spec.program])
        log = Log(None, bots.limits.stderr_bytes)
        entrant, manner = Entrant(spec.label, {}, spec.program), Manner(on_tick=self._look)
        self._conversation = Conversation({seat: entrant}, isolation, {seat: log}, manner)
        self._sock: socket.socket | None = None
        try:
            self._conversation.start()
            self.player = self._conversation.bots.players[seat]
            self._greet(settings)
        except BaseException:
            self._conversation.close()
            raise

    def read_log(self) -> None:
        """Read its stderr, so that it never waits for a reader."""
        if not self.player.pipes.drain_stderr():
            self.player.pipes.close_one("stderr")

    def _greet(self, settings: Any) -> None:
        secret = secret_of(None)
        match = match_id(secret)
        seed = seat_seed(secret, match, self.seat)
        given, clock = GAME.codec.settings_json(settings), _TIME.to_json()
        start = encode.start(GAME.info, settings.rules, self.seat, given, clock=clock, seed=seed, match=match)
        name = self._conversation.greet(GAME, GAME.start(settings), {self.seat: start}, {self.seat: _TIME})[self.seat]
        if isinstance(name, Fault):
            raise BotFailed(name.text, has_begun=False)

    def _look(self) -> None:
        """Raise ServerSpoke if the server has sent something while the bot thinks."""
        if self._sock is not None and select.select([self._sock], [], [], 0)[0]:
            raise ServerSpoke

    def ask(self, asked: Ask, sock: socket.socket) -> Any:
        """The bot's move. ServerSpoke if the server doesn't wait for it."""
        view = GAME.codec.view_text(asked.state, self.seat)
        question = encode.turn(asked.turn, view, [], encode.limit(None), asked.bank)
        self._sock = sock
        try:
            reply = self._conversation.io.ask(self.seat, question, None)
        finally:
            self._sock = None
        if reply.failure is not None:
            raise BotFailed(judgement.fault(self.player, reply.failure).text, has_begun=True)
        assert reply.line is not None
        answer = decode.move(reply.line, asked.turn)
        if isinstance(answer, decode.Problem):
            raise BotFailed(judgement.malformed(self.seat, answer, reply.line, asked.turn).text, has_begun=True)
        try:
            return GAME.codec.parse(asked.state, self.seat, answer.move)
        except (MalformedMove, IllegalMove) as error:
            raise BotFailed(judgement.refused_move(self.seat, error, reply.line, asked.turn).text, has_begun=True) from None

    def dismiss(self, result: Mapping[str, Json]) -> None:
        """Send the bot the result and let it exit."""
        self._conversation.dismiss({self.seat: encode.end(result)})
        self.close()

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self._conversation.close()
