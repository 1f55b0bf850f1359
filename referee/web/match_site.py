"""The pages of a match that is running: spectators who follow it, and people who play in it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import threading
import traceback
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any

from starlette.responses import PlainTextResponse
from starlette.websockets import WebSocketDisconnect, WebSocketState

from referee import games
from referee.errors import ReplayCut
from referee.games.capabilities import HumanPlay
from referee.support.descriptors import raise_limit
from referee.web.app import Kept, Site, read_json
from referee.web.human_session import Answer, Farewell, Table
from referee.web.replay_session import Recorded
from referee.web.stream import Stream

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.websockets import WebSocket

    from referee.games.game import Json, Seat

#: How often readers are served at most, in seconds; and how much at once, in bytes.
TICK = 1 / 25
_CHUNK = 64 << 10
#: How long the end of a match waits for what was certain when, in seconds.
_JUDGING_SECONDS = 4.0
#: A reader that is so far behind goes on from a later place, in bytes of the stream.
FAR_BEHIND = 512 << 10
_MOST_SOCKETS = 1_000
#: Codes with which a socket is closed: 4000 another window took the seat, 4001 no more room.
TAKEN, FULL = 4000, 4001
#: How long a preview waits for a newer wish, in seconds.
_PREVIEW_SECONDS = 0.02


class Tail:
    """The lines of a replay that is being written, as they come. Read in a thread; ``more`` says from the loop that there may be some."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._changed = threading.Condition()
        self._count = 0
        self._has_ended = False

    def more(self) -> None:
        """The file has grown."""
        with self._changed:
            self._count += 1
            self._changed.notify()

    def end(self) -> None:
        """The file will not grow any more."""
        with self._changed:
            self._has_ended = True
            self._changed.notify()

    def batches(self) -> Iterator[list[bytes]]:
        """Whole lines, as many as there are at a time."""
        inflate = zlib.decompressobj(31)
        rest = b""
        seen = 0
        with self._changed:
            # Until the match has begun, another file may stand there.
            self._changed.wait_for(lambda: self._count or self._has_ended)
            if not self._count:
                return
        with self._path.open("rb") as file:
            while True:
                data = file.read(1 << 20)
                if data:
                    *lines, rest = (rest + inflate.decompress(data)).split(b"\n")
                    if lines:
                        yield [line + b"\n" for line in lines]
                    continue
                with self._changed:
                    if self._count == seen:
                        if self._has_ended:
                            return
                        self._changed.wait()
                    seen = self._count


class _Running(Kept):
    """The replay of the match that is running, which is played again as it grows; what came of it is known when it is over."""

    def __init__(self, path: Path, recorded: Recorded) -> None:
        super().__init__(path, recorded)
        self.played = asyncio.Event()
        #: Called when more is known of what is certain.
        self.on_judged: Callable[[], None] = lambda: None

    def begin(self) -> None:
        """It has begun with the match."""

    def _tell(self) -> None:
        super()._tell()
        self.on_judged()

    async def verdict(self) -> dict[str, Any]:
        """Whether it is whole and true, when the match is over."""
        await self.played.wait()
        return await super().verdict()


class MatchSite(Site):
    """The pages of one match. ``pipes`` are, by seat, the server's ends to the people: where questions come from, where answers and last words go."""

    def __init__(
        self,
        path: Path,
        config: Mapping[str, Any],
        tokens: Mapping[str, Seat | None],
        logs: Mapping[Seat, Path],
        pipes: Mapping[Seat, tuple[int, int, int]],
        pace: float | None,
        *,
        is_timed: bool,
    ) -> None:
        recorded = Recorded()
        running = _Running(path, recorded)
        super().__init__(running, config, tokens, logs)
        self.recorded = recorded
        recorded.on_begin = lambda: self._call(self._grown)
        running.on_judged = self._grown
        self._played = running.played
        head = config.get("settings")
        game = games.get(head["game"]) if head else None
        play = (None if game is None else game.human_play) or HumanPlay(is_paced=game is None)
        self.table = Table(pipes, pace, is_timed=is_timed, is_paced=play.is_paced, set_up=play.set_up)
        self.tail = Tail(path)
        self._pipes = dict(pipes)
        self._streams = {False: Stream()}
        if pipes:
            self._streams[True] = Stream(hides_remarks=True)
        self._changed = asyncio.Event()
        self._wakened = asyncio.Event()
        self._is_over = False
        self._how_ended = ""
        self._is_tired = False
        self._sockets: set[WebSocket] = set()
        # Descriptors are left for people, and for whatever else the pages open.
        self._most_spectators = min(_MOST_SOCKETS, raise_limit() // 2)
        self._delivered: set[WebSocket] = set()
        self._seated: dict[Seat, WebSocket] = {}
        #: What is to be told next, by socket and kind; of each kind the newest alone, so that nobody can make it grow.
        self._words: dict[WebSocket, dict[str, str]] = {}
        self._previews: dict[Seat, dict[str, Json]] = {}
        self._pending: dict[Seat, bytes] = dict.fromkeys(pipes, b"")
        self._timer: asyncio.TimerHandle | None = None
        self._loop = asyncio.get_running_loop()
        #: Somebody has left, or has everything.
        self._moved = asyncio.Event()
        self._kept_name = path

    def may_know(self, seat: Seat | None) -> bool:
        """Players see what is not on the board when the match is over."""
        return seat is None or self._is_over

    def config_for(self, seat: Seat | None) -> dict[str, Any]:
        """A seat's page is made for the seat."""
        return {**self.config, "mode": "live"} if seat is None else {**self.config, "mode": "seat", "seat": seat}

    def close(self) -> None:
        """Give everything back; the match is over."""
        super().close()
        for stream in self._streams.values():
            stream.close()

    async def _replay(self, request: Request, seat: Seat | None) -> Response:
        """The file holds what spectators must not know; they have the stream."""
        return PlainTextResponse("A match that is shown live is not handed out as a file.\n", 403)

    # The match.

    def follow(self) -> None:
        """Begin to read the replay and to hear the people's questions."""
        threading.Thread(target=self._read, daemon=True).start()
        self.kept.judge()
        for seat, (questions, _, _) in self._pipes.items():
            os.set_blocking(questions, False)
            self._loop.add_reader(questions, self._hear, seat)
        self._loop.create_task(self._tick())

    def _read(self) -> None:
        """The thread that reads along: first for the spectators, then for what the engine makes of it."""

        def lines() -> Iterator[bytes]:
            for batch in self.tail.batches():
                for stream in self._streams.values():
                    stream.write(batch)
                self._call(self._grown)
                yield from batch

        source = lines()
        try:
            self.recorded.play(Path(self._kept_name.name), source)
        except ReplayCut:
            pass
        except Exception as error:  # noqa: BLE001 - whatever goes wrong here, everybody gets to see the match to its end
            traceback.print_exc()
            text = f"The referee failed while it played along ({type(error).__name__}): an error of its own, please report it."
            self.recorded.verdict = {"status": "unknown", "kind": "failed", "text": text, "steps": self.recorded.steps}
        for _ in source:
            pass
        for stream in self._streams.values():
            stream.finish()
        self._call(self._ended)

    def _call(self, what: Any) -> None:
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(what)

    def _grown(self) -> None:
        self._changed.set()

    def _ended(self) -> None:
        verdict = self.recorded.verdict or {}
        self._is_over = True
        # The verdicts may be a few behind; nobody waits for many.
        self._loop.call_later(_JUDGING_SECONDS, self._give_up_judging)
        self._how_ended = {"cut": "the match was broken off", "unreadable": "the match did not begin"}.get(verdict.get("kind", ""), "")
        self._changed.set()
        self._played.set()

    @property
    def _is_judged(self) -> bool:
        return self.recorded.is_judged or self._is_tired

    def _give_up_judging(self) -> None:
        self._is_tired = True
        self._changed.set()

    async def wait_until_delivered(self, most_seconds: float) -> None:
        """Wait until everybody who is connected has everything, or for so long."""
        deadline = self._loop.time() + most_seconds
        await self._played.wait()
        while (left := deadline - self._loop.time()) > 0 and self._sockets - self._delivered:
            self._moved.clear()
            with contextlib.suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._moved.wait(), left)

    # The readers.

    async def _tick(self) -> None:
        """Wake the readers when there is more, but not oftener than they need."""
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
        # People at the board have their places, whoever looks on.
        if seat is None and len(self._sockets) - len(self._seated) >= self._most_spectators:
            await socket.close(FULL, "There are too many spectators.")
            return
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
                self.table.depart(seat, self._loop.time())
                self._tell_table()
                self._schedule()

    async def _serve(self, socket: WebSocket, seat: Seat | None) -> None:
        """Send one reader what it lacks, as fast as it takes it."""
        stream = self._streams[seat is not None]
        wanted = socket.query_params.get("from", "0")
        offset = int(wanted) if wanted.isascii() and wanted.isdigit() and len(wanted) < 16 else 0
        offset = min(offset, stream.size)
        is_fresh = False
        measured = judged = 0
        while True:
            wakened = self._wakened
            skipped = await self._skip(socket, stream, offset)
            if skipped is not None:
                offset, is_fresh = skipped, True
            last = stream.size if not is_fresh or stream.end is None else stream.end
            for word in self._take_words(socket):
                await socket.send_text(word)
            measures = self.recorded.measures[measured : measured + 500]
            if measures:
                measured += len(measures)
                await socket.send_text(json.dumps({"type": "measures", "values": measures}))
            points = self.recorded.judged[judged : judged + 500] if self.may_know(seat) else []
            if points:
                await socket.send_text(json.dumps({"type": "judged", "from": judged, "points": points}))
                judged += len(points)
            if offset < last:
                data = stream.read(offset, min(_CHUNK, last - offset))
                offset += len(data)
                await socket.send_bytes(data)
            elif self._is_over and measured == len(self.recorded.measures) and self._is_judged:
                await socket.send_text(json.dumps({"type": "over", "text": self._how_ended, "check": self.recorded.verdict}))
                self._delivered.add(socket)
                self._moved.set()
                return
            elif not self._words.get(socket):
                await wakened.wait()

    async def _skip(self, socket: WebSocket, stream: Stream, offset: int) -> int | None:
        """Let a reader that is far behind go on from a later place; the place, or None."""
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

    def _take_words(self, socket: WebSocket) -> list[str]:
        words, self._words[socket] = self._words.get(socket, {}), {}
        return list(words.values())

    def _say(self, seat: Seat, message: dict[str, Json]) -> None:
        """Something for one seat's page, in its turn."""
        socket = self._seated.get(seat)
        if socket is not None:
            words = self._words[socket]
            words.pop(message["type"], None)
            words[message["type"]] = json.dumps(message)
            self._changed.set()

    def _tell_table(self) -> None:
        for seat in self._seated:
            self._say(seat, self.table.to_json(self._loop.time()))

    # The people.

    async def _seat(self, seat: Seat, socket: WebSocket) -> None:
        """Somebody sits down; who sat there before, in another window, is told."""
        before = self._seated.pop(seat, None)
        self._seated[seat] = socket
        if before is not None and before.client_state is WebSocketState.CONNECTED:
            with contextlib.suppress(RuntimeError, WebSocketDisconnect):
                await before.close(TAKEN, "This seat was opened in another window, which goes on with it.")
        self.table.arrive(seat)
        asked = self.table.people[seat].asked
        if asked is not None:
            self._say(seat, _asked(asked))
        self._tell_table()
        self._schedule()

    async def _listen(self, socket: WebSocket, seat: Seat | None) -> None:
        """Hear one page until it closes; spectators have nothing to say."""
        while True:
            try:
                message = read_json(await socket.receive_text())
            except (WebSocketDisconnect, KeyError, RuntimeError):
                return
            if message is None or seat is None or self._seated.get(seat) is not socket:
                continue
            if message.get("type") == "preview":
                self._preview(seat, message)
                continue
            self._do(self.table.take(seat, message, self._loop.time()))
            self._tell_table()
            self._schedule()

    def _preview(self, seat: Seat, message: dict[str, Json]) -> None:
        """A page wants to know what a move would do; the newest wish is answered, and not too often."""
        if seat not in self._previews:
            self._loop.call_later(_PREVIEW_SECONDS, self._answer_preview, seat)
        self._previews[seat] = message

    def _answer_preview(self, seat: Seat) -> None:
        message = self._previews.pop(seat)
        move, number = message.get("move"), message.get("id")
        if isinstance(move, dict) and isinstance(number, int):
            with contextlib.suppress(RecursionError, ValueError):
                self._say(seat, {"type": "preview", "id": number, "move": move, **self.recorded.preview(seat, move)})

    def _hear(self, seat: Seat) -> None:
        """Lines of the match for one seat."""
        questions = self._pipes[seat][0]
        try:
            data = os.read(questions, 1 << 16)
        except BlockingIOError:
            return
        if not data:
            self._loop.remove_reader(questions)
            self.table.gone(seat, self._loop.time())
            self._tell_table()
            self._schedule()
            return
        *lines, self._pending[seat] = (self._pending[seat] + data).split(b"\n")
        for line in lines:
            message = json.loads(line)
            if message["type"] == "start":
                self.table.greeted(seat)
            elif message["type"] == "turn":
                self.table.ask(seat, message, self._loop.time())
                self._say(seat, _asked(message))
        self._tell_table()
        self._do(self.table.due(self._loop.time()))
        self._schedule()

    def _do(self, actions: list[Answer | Farewell]) -> None:
        """Tell the match what the people do."""
        for action in actions:
            _, answers, words = self._pipes[action.seat]
            if isinstance(action, Answer):
                # The match reads before it asks again, so a line always fits.
                with contextlib.suppress(BrokenPipeError):
                    os.write(answers, json.dumps(action.message).encode() + b"\n")
                if action.message["type"] == "move":
                    self._say(action.seat, {"type": "answered", "turn": action.message["turn"]})
            elif answers >= 0:
                with contextlib.suppress(OSError):
                    os.write(words, f"{action.reason}\n".encode())
                os.close(words)
                os.close(answers)
                self._pipes[action.seat] = (self._pipes[action.seat][0], -1, -1)

    def _schedule(self) -> None:
        """Come back when time has something to do."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        due = self.table.next_due()
        if due is not None:
            self._timer = self._loop.call_at(due, self._come_back)

    def _come_back(self) -> None:
        self._do(self.table.due(self._loop.time()))
        if any(person.away_since is not None for person in self.table.people.values()):
            self._tell_table()
        self._schedule()


def _asked(question: dict[str, Json]) -> dict[str, Json]:
    """What a page is told of a question; the position it has from the stream."""
    return {"type": "asked", **{key: question.get(key) for key in ("turn", "notices", "left")}}
