"""The pages of a running match, for spectators and for people who play."""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import json
import os
import threading
import traceback
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urljoin

from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.websockets import WebSocketDisconnect, WebSocketState

from referee import games
from referee.errors import ReplayCut
from referee.games.capabilities import HumanPlay
from referee.pages import qr
from referee.pages.app import Site, read_json
from referee.pages.human_session import COUNTDOWN, HumanMove, HumanSession, JudgedWish
from referee.pages.replay_session import RunningReplaySession, Tail, call_in
from referee.pages.security import new_token
from referee.pages.stream import Stream
from referee.replay.replay_index import ReplayIndex
from referee.wire import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from starlette.requests import Request
    from starlette.websockets import WebSocket

    from referee.games.game import Json, Seat
    from referee.pages.human_session import Action

#: The shortest interval between two deliveries to readers, in seconds, and the most bytes of one delivery.
TICK = 1 / 25
DELIVERY_BYTES = 64 << 10
#: How long the end of a match waits for the verdicts, in seconds.
_JUDGING_SECONDS = 4.0
#: A reader that is further behind than this, in bytes of the stream, skips ahead.
FAR_BEHIND = 512 << 10
#: The code with which a socket is closed when another window takes the seat.
TAKEN = 4000
#: The shortest time between two previews of a kind for a seat, in seconds. A newer request replaces one that waits.
_PREVIEW_SECONDS = 0.02
#: The most moves that a page may ask about at once, and how often their answer may wait for the position, at the interval above.
_MOST_OPTIONS = 32
_MOST_WAITS = 100


class MatchSite(Site):
    """The pages of one match. ``pipes`` are its server's ends by seat: for questions, for answers, and for the reason of a departure.

    ``join`` is the spectators' address that the projector's page shows to phones, None if other machines can't open it.
    """

    def __init__(
        self,
        path: Path,
        config: Mapping[str, Json],
        tokens: Mapping[str, Seat | None],
        logs: Mapping[Seat, Path],
        pipes: Mapping[Seat, tuple[int, int, int]],
        pace: float | None,
        *,
        is_timed: bool,
        join: str | None = None,
        is_here: bool = True,
    ) -> None:
        self._changed = asyncio.Event()
        self.recorded = ReplayIndex(on_begin=lambda: call_in(self._loop, self._changed.set))
        running = RunningReplaySession(path, self.recorded, self._changed.set)
        super().__init__(running, config, tokens, logs, is_here=is_here, is_public=True)
        self._played = running.played
        head = config.get("settings")
        game = games.get(head["game"]) if head else None
        play = (None if game is None else game.human_play) or HumanPlay()
        self.session = HumanSession(pipes, pace, is_timed=is_timed, set_up=play.set_up, countdown=COUNTDOWN, refusal=self.recorded.refusal)
        self._join = join
        #: Addresses that work once, by which one player invites the others: only the seat's own address lets somebody play on.
        self._invitations = {new_token(): seat for seat in pipes} if len(pipes) > 1 else {}
        self.tail = Tail(path)
        self._pipes = dict(pipes)
        self._streams = {False: Stream()}
        if pipes:
            self._streams[True] = Stream(hides_remarks=True)
        self._wakened = asyncio.Event()
        self._is_over = False
        self._how_ended = ""
        self._is_tired = False
        self._sockets: set[WebSocket] = set()
        self._delivered: set[WebSocket] = set()
        self._seated: dict[Seat, WebSocket] = {}
        #: Seats whose page somebody has opened: an invitation to one is void.
        self._arrived: set[Seat] = set()
        #: Messages to send, by socket and kind. Only the newest of each kind is kept, so that it can't grow.
        self._words: dict[WebSocket, dict[str, str]] = {}
        #: The newest request of each seat and kind.
        self._previews: dict[tuple[Seat, str], dict[str, Json]] = {}
        self._previewed: dict[tuple[Seat, str], float] = {}
        self._pending: dict[Seat, bytes] = dict.fromkeys(pipes, b"")
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        #: Set when a reader has left or has received everything.
        self._moved = asyncio.Event()
        self._kept_name = path

    def may_know(self, seat: Seat | None) -> bool:
        """Return whether the visitor may see everything: players only after the match."""
        return seat is None or self._is_over

    def config_for(self, seat: Seat | None) -> dict[str, Json]:
        """A seat's page is made for the seat."""
        return {**self.config, "mode": "live"} if seat is None else {**self.config, "mode": "seat", "seat": seat}

    def more_routes(self) -> list[Route]:
        """The projector's page, and the way of invited players to their seats."""
        return [Route("/join/{invitation}", self._invited), Route("/{token}/projector", self._with_access(self._projector))]

    async def _invited(self, request: Request) -> Response:
        """Send whoever opens an invitation first to its seat."""
        word = request.path_params["invitation"]
        chosen = [invitation for invitation in self._invitations if hmac.compare_digest(invitation.encode(), word.encode())]
        if not chosen:
            return PlainTextResponse("Somebody has used this invitation already. Ask for another address.\n", 404)
        seat = self._invitations.pop(chosen[0])
        return RedirectResponse(f"/{next(token for token, owner in self.tokens.items() if owner == seat)}/", 303)

    def _invitation(self, seat: Seat) -> dict[str, Json]:
        """Return what the page of a seat shows to invite the next player who has not come yet; empty without one."""
        for word, other in self._invitations.items():
            if other != seat and other not in self._arrived:
                path = f"/join/{word}"
                shared = None if self._join is None else urljoin(self._join, path)
                return {"invitation": {"seat": other, "path": path, "address": shared, "picture": qr.picture(shared) if shared else ""}}
        return {}

    async def _projector(self, request: Request, seat: Seat | None) -> Response:
        from referee.pages import render

        config = {"live": True, "pace": self.config.get("pace"), **qr.join(self._join if seat is None else None)}
        return Response(render.served("projector", config), media_type="text/html; charset=utf-8")

    def close(self) -> None:
        """Release all resources after the match."""
        super().close()
        for stream in self._streams.values():
            stream.close()

    async def _replay(self, request: Request, seat: Seat | None) -> Response:
        """Refuse: the file contains secrets. Spectators get the stream."""
        return PlainTextResponse("A match that is shown live is not handed out as a file.\n", 403)

    def follow(self) -> None:
        """Start to read the replay and the questions to people."""
        threading.Thread(target=self._read, daemon=True).start()
        self.replay.start_verdicts()
        for seat, (questions, _, _) in self._pipes.items():
            os.set_blocking(questions, False)
            self._loop.add_reader(questions, self._hear, seat)
        self._loop.create_task(self._tick())

    def _read(self) -> None:
        """The reading thread: passes lines to the spectators' stream, then to the engine."""

        def lines() -> Iterator[bytes]:
            for batch in self.tail.batches():
                for stream in self._streams.values():
                    stream.write(batch)
                call_in(self._loop, self._changed.set)
                yield from batch

        source = lines()
        try:
            self.recorded.play(Path(self._kept_name.name), source)
        except ReplayCut:
            pass
        except Exception as error:  # noqa: BLE001 - whatever goes wrong here, everybody gets to see the match to its end
            traceback.print_exc()
            text = f"The referee failed while it played along ({type(error).__name__}): an error of its own, please report it."
            self.recorded.give_up(text)
        for _ in source:
            pass
        for stream in self._streams.values():
            stream.finish()
        call_in(self._loop, self._ended)

    def _ended(self) -> None:
        verdict = self.recorded.verdict or {}
        self._is_over = True
        # Wait only if a few verdicts are missing.
        self._loop.call_later(_JUDGING_SECONDS, self._give_up_judging)
        self._how_ended = {"cut": "the match was stopped early", "unreadable": "the match did not begin"}.get(verdict.get("kind", ""), "")
        self._changed.set()
        self._played.set()

    def _give_up_judging(self) -> None:
        self._is_tired = True
        self._changed.set()

    async def wait_until_delivered(self, most_seconds: float) -> None:
        """Wait until all connected readers have everything, at most the given time."""
        deadline = self._loop.time() + most_seconds
        await self._played.wait()
        while (left := deadline - self._loop.time()) > 0 and self._sockets - self._delivered:
            self._moved.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._moved.wait(), left)

    async def _tick(self) -> None:
        """Wake the readers when there is more, at limited frequency."""
        while True:
            await self._changed.wait()
            self._changed.clear()
            wakened, self._wakened = self._wakened, asyncio.Event()
            wakened.set()
            await asyncio.sleep(TICK)

    async def _socket(self, socket: WebSocket) -> None:
        is_known, seat = self.seat_of(socket.path_params["token"])
        if not is_known:
            await socket.close(1008, "The address is not complete.")
            return
        await socket.accept()
        self._sockets.add(socket)
        self._words[socket] = {}
        if seat is not None:
            await self._seat(seat, socket)
        sender = asyncio.create_task(self._serve(socket, seat))
        try:
            await self._listen(socket, seat)
        finally:
            sender.cancel()
            with contextlib.suppress(asyncio.CancelledError, WebSocketDisconnect, RuntimeError):
                await sender
            self._sockets.discard(socket)
            self._delivered.discard(socket)
            self._moved.set()
            self._words.pop(socket, None)
            if seat is not None and self._seated.get(seat) is socket:
                del self._seated[seat]
                self.session.depart(seat, self._loop.time())
                self._update([])

    async def _serve(self, socket: WebSocket, seat: Seat | None) -> None:
        """Send one reader the data that it lacks, as fast as it reads."""
        stream = self._streams[seat is not None]
        start = socket.query_params.get("from", "0")
        offset = int(start) if start.isascii() and start.isdigit() and len(start) < 16 else 0
        offset = min(offset, stream.size)
        is_fresh = has_ended = False
        measured = judged = 0
        while True:
            wakened = self._wakened
            skipped = await self._skip(socket, stream, offset)
            if skipped is not None:
                offset, is_fresh = skipped, True
            last = stream.size if not is_fresh or stream.end is None else stream.end
            words, self._words[socket] = self._words.get(socket, {}), {}
            for word in words.values():
                await socket.send_text(word)
            metrics = self.recorded.metrics[measured : measured + 500]
            if metrics:
                measured += len(metrics)
                await socket.send_text(json.dumps({"type": "metrics", "values": metrics}))
            points = self.recorded.judged[judged : judged + 500] if self.may_know(seat) else []
            if points:
                await socket.send_text(json.dumps({"type": "judged", "from": judged, "points": points}))
                judged += len(points)
            if offset < last:
                data = stream.read(offset, min(DELIVERY_BYTES, last - offset))
                offset += len(data)
                await socket.send_bytes(data)
            elif not has_ended and self._is_over and measured == len(self.recorded.metrics) and (self.recorded.is_judged or self._is_tired):
                over = {"type": "over", "text": self._how_ended, "check": self.recorded.verdict}
                # A player may share the match now, but never the address of the own seat.
                spectators = {} if seat is None else {"spectators": next(token for token, owner in self.tokens.items() if owner is None)}
                await socket.send_text(json.dumps({**over, **spectators}))
                has_ended = True
                self._delivered.add(socket)
                self._moved.set()
            elif not self._words.get(socket):
                await wakened.wait()

    async def _skip(self, socket: WebSocket, stream: Stream, offset: int) -> int | None:
        """Let a reader that is far behind skip ahead, unless it has asked for everything; return the new position, or None."""
        if socket.query_params.get("all") == "1":
            return None
        point = stream.point
        if stream.size - offset < FAR_BEHIND or point.offset - offset < FAR_BEHIND // 2 or self.recorded.steps < point.turn:
            return None
        recorded = self.recorded
        state = recorded.state_at(point.turn)
        if state is None or recorded.game is None:
            return None
        view = json.loads(recorded.game.codec.view_text(state, None))
        await socket.send_text(json.dumps({"type": "skip", "offset": point.offset, "turn": point.turn, "state": view}))
        return point.offset

    def _say(self, seat: Seat, message: dict[str, Json]) -> None:
        socket = self._seated.get(seat)
        if socket is not None:
            words = self._words[socket]
            words.pop(message["type"], None)
            words[message["type"]] = json.dumps(message)
            self._changed.set()

    def _say_question(self, seat: Seat) -> None:
        """Send a page its question, if there is one, without the position, which the page gets from the stream."""
        person = self.session.people[seat]
        if person.asked is not None:
            question = {key: person.asked.get(key) for key in ("turn", "notices", "left")}
            self._say(seat, {"type": "asked", **question, "waits": person.due is None})

    def _tell_session(self) -> None:
        for seat in self._seated:
            self._say(seat, {**self.session.to_json(self._loop.time()), **self._invitation(seat)})

    async def _seat(self, seat: Seat, socket: WebSocket) -> None:
        """Connect a page to a seat; a previous window of that seat gets a message."""
        before = self._seated.pop(seat, None)
        self._seated[seat] = socket
        if before is not None and before.client_state is WebSocketState.CONNECTED:
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                await before.close(TAKEN, "This seat was opened in another window, which continues with it.")
        self.session.arrive(seat)
        self._arrived.add(seat)
        self._invitations = {word: other for word, other in self._invitations.items() if other != seat}
        self._say_question(seat)
        self._update([])

    async def _listen(self, socket: WebSocket, seat: Seat | None) -> None:
        """Read one page's messages until it closes; those of spectators are ignored."""
        while True:
            try:
                message = read_json(await socket.receive_text())
            except (WebSocketDisconnect, KeyError, RuntimeError):
                return
            if message is None or seat is None or self._seated.get(seat) is not socket:
                continue
            kind = message.get("type")
            if kind in ("preview", "options"):
                self._preview((seat, kind), message)
            else:
                self._update(self.session.take(seat, message, self._loop.time()))

    def _preview(self, key: tuple[Seat, str], message: dict[str, Json]) -> None:
        """Answer a page's request for a preview or for its options: only the newest of each, and at limited frequency."""
        if key not in self._previews:
            self._loop.call_at(self._previewed.get(key, 0.0) + _PREVIEW_SECONDS, self._answer_preview, key, 0)
        self._previews[key] = message

    def _answer_preview(self, key: tuple[Seat, str], waited: int) -> None:
        seat, kind = key
        message = self._previews[key]
        turn = message.get("turn")
        if kind == "options" and isinstance(turn, int) and self.recorded.steps < turn and waited < _MOST_WAITS:
            # The question came before the step that led to it.
            self._loop.call_later(_PREVIEW_SECONDS, self._answer_preview, key, waited + 1)
            return
        del self._previews[key]
        self._previewed[key] = self._loop.time()
        move, moves, number = message.get("move"), message.get("moves"), message.get("id")
        if not isinstance(number, int):
            return
        with contextlib.suppress(RecursionError, ValueError):
            if kind == "preview" and isinstance(move, dict):
                preview = self.recorded.preview(seat, move)
                self._say(seat, {"type": kind, "id": number, "move": move, "refused": bool(self.recorded.refusal_in(preview)), **preview})
            elif kind == "options" and isinstance(moves, list):
                previews = [self.recorded.preview(seat, move if isinstance(move, dict) else {}) for move in moves[:_MOST_OPTIONS]]
                self._say(seat, {"type": kind, "id": number, "reasons": [self.recorded.refusal_in(preview) for preview in previews]})

    def _hear(self, seat: Seat) -> None:
        questions = self._pipes[seat][0]
        try:
            data = os.read(questions, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self._loop.remove_reader(questions)
            self.session.gone(seat, self._loop.time())
            self._update([])
            return
        *lines, self._pending[seat] = (self._pending[seat] + data).split(b"\n")
        for line in lines:
            question = decode.question(line)
            if question is None:
                # The start message; or the end, when it changes nothing.
                self.session.greeted(seat)
            else:
                self.session.ask(seat, question, self._loop.time())
                self._say_question(seat)
        self._update(self.session.due(self._loop.time()))

    def _update(self, actions: list[Action]) -> None:
        """Pass answers to the match, send the session to its pages, and schedule the next timed event."""
        self._do(actions)
        self._tell_session()
        self._schedule()

    def _do(self, actions: list[Action]) -> None:
        for action in actions:
            _, answers, words = self._pipes[action.seat]
            if isinstance(action, JudgedWish):
                self._say(action.seat, action.to_json())
            elif isinstance(action, HumanMove):
                # The match reads before it asks again, so a line always fits.
                with contextlib.suppress(BrokenPipeError):
                    os.write(answers, action.line)
                if action.turn is not None:
                    self._say(action.seat, {"type": "answered", "turn": action.turn, "id": action.move_id})
            elif answers >= 0:
                with contextlib.suppress(OSError):
                    os.write(words, f"{action.reason}\n".encode())
                os.close(words)
                os.close(answers)
                self._pipes[action.seat] = (self._pipes[action.seat][0], -1, -1)

    def _schedule(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        due = self.session.next_due()
        self._timer = None if due is None else self._loop.call_at(due, self._come_back)

    def _come_back(self) -> None:
        self._do(self.session.due(self._loop.time()))
        if any(person.away_since is not None for person in self.session.people.values()):
            self._tell_session()
        self._schedule()
