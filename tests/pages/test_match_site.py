"""The pages of a running match, with sockets that are made up: readers, slow readers, people."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import zlib
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

import pytest
from conftest import play_match
from serving import asked

from referee.games.evasion.game import GAME
from referee.pages import match_site
from referee.pages.match_site import MatchSite
from referee.pages.stream import Stream
from referee.replay.reader import read_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, MutableMapping
    from pathlib import Path


class Reader:
    """A page that has opened a socket. It takes what is sent only while ``takes`` is set."""

    def __init__(self, token: str, offset: int = 0, **query: str) -> None:
        self._scope: dict[str, Any] = {
            "type": "websocket",
            "path": f"/{token}/socket",
            "query_string": urlencode({"from": offset, **query}).encode(),
            "headers": [(b"host", b"127.0.0.1"), (b"origin", b"http://127.0.0.1")],
            "subprotocols": [],
            "state": {},
        }
        self.takes = asyncio.Event()
        self.takes.set()
        self.data: list[bytes] = []
        self.words: list[dict[str, Any]] = []
        self.closed: tuple[int, str] | None = None
        self.says: asyncio.Queue[str | None] = asyncio.Queue()
        self._is_connected = False

    def visit(self, site: MatchSite) -> asyncio.Task[None]:
        """Open the socket; the task ends when it is closed."""
        self.task = asyncio.create_task(self._visit(site))
        return self.task

    async def _visit(self, site: MatchSite) -> None:
        await site.app()(self._scope, self._receive, self._send)

    async def _receive(self) -> dict[str, Any]:
        if not self._is_connected:
            self._is_connected = True
            return {"type": "websocket.connect"}
        said = await self.says.get()
        return {"type": "websocket.disconnect", "code": 1000} if said is None else {"type": "websocket.receive", "text": said}

    async def _send(self, message: MutableMapping[str, Any]) -> None:
        if message["type"] == "websocket.close":
            self.closed = message["code"], message.get("reason", "")
            self.says.put_nowait(None)
        elif message["type"] == "websocket.send":
            await self.takes.wait()
            if message.get("bytes") is not None:
                self.data.append(message["bytes"])
            else:
                self.words.append(json.loads(message["text"]))

    def say(self, **message: Any) -> None:
        self.says.put_nowait(json.dumps(message))

    def of_type(self, kind: str) -> list[dict[str, Any]]:
        return [word for word in self.words if word["type"] == kind]


async def until(condition: Callable[[], Any]) -> None:
    """Let the loop run until something is so; ``run`` ends a test that waits in vain."""
    while not condition():  # noqa: ASYNC110 - anything may be waited for
        # Asking without a pause would keep the core from what is waited for.
        await asyncio.sleep(0.001)


def run(main: Callable[[], Coroutine[Any, Any, None]]) -> None:
    asyncio.run(asyncio.wait_for(main(), 60))


@pytest.fixture(scope="module")
def replay(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("site") / "match.gz"
    play_match("straight", "runner", replay=path, max_steps=300)
    return path


async def finish(site: MatchSite, *readers: Reader) -> None:
    """The match is over, and everybody leaves."""
    for reader in readers:
        reader.says.put_nowait(None)
    site.tail.end()
    await until(lambda: site.may_know("prey"))
    await asyncio.gather(*(reader.task for reader in readers))
    site.close()


def site_of(path: Path, pipes: dict[str, tuple[int, int, int]] | None = None, pace: float | None = None) -> MatchSite:
    tokens = {"spectator": None, **{f"{seat}-token": seat for seat in pipes or {}}}
    return MatchSite(path, {}, tokens, {}, pipes or {}, pace, is_timed=False)


async def watched_to_its_end(site: MatchSite) -> tuple[Reader, asyncio.Task[None], dict[str, Any]]:
    """A spectator who was there from the start; and what it is told at the end."""
    site.follow()
    reader = Reader("spectator")
    task = reader.visit(site)
    site.tail.more()
    site.tail.end()
    await until(lambda: reader.of_type("over"))
    (over,) = reader.of_type("over")
    return reader, task, over


@pytest.mark.parametrize("path", ["check", "judged?from=0"])
def test_a_question_about_a_running_match_has_a_deadline(path: str, replay: Path) -> None:
    async def main() -> None:
        site = site_of(replay)
        site.patience = 0.0
        app = site.app()
        for _ in range(2):
            status, headers, body = await asked(app, f"/spectator/{path}")
            assert (status, headers["retry-after"], body) == (202, "5", b"The answer takes longer. Ask again.\n")
        site.patience = 60.0
        reader, task, _ = await watched_to_its_end(site)
        status, headers, body = await asked(app, f"/spectator/{path}")
        assert (status, "retry-after" in headers) == (200, False)
        assert json.loads(body)["status" if path == "check" else "is_all"]
        await finish(site, reader)
        await task

    run(main)


def test_a_question_that_waits_for_its_turn_has_a_deadline(replay: Path) -> None:
    async def main() -> None:
        site = site_of(replay)
        site.patience = 0.0
        async with site.thinking:
            assert (await asked(site.app(), "/spectator/overlay?turn=0"))[0] == 202
        site.patience = 60.0
        assert (await asked(site.app(), "/spectator/overlay?turn=0"))[0] == 200
        site.close()

    run(main)


def test_a_spectator_gets_the_whole_replay_and_the_end(replay: Path) -> None:
    async def main() -> None:
        site = site_of(replay)
        site.follow()
        reader = Reader("spectator")
        task = reader.visit(site)
        site.tail.more()
        await until(lambda: reader.data)
        site.tail.end()
        await until(lambda: reader.of_type("over"))
        text = zlib.decompress(b"".join(reader.data), 31)
        assert text.count(b"\n") == 299
        assert [value for word in reader.of_type("metrics") for value in word["values"]] == [[0, {"area": 90_000}]]
        (over,) = reader.of_type("over")
        assert (over["text"], over["check"]["status"]) == ("", "good")
        # What was certain when comes before the end, in its order.
        points = [point for word in reader.of_type("judged") for point in word["points"]]
        assert points[0] == [0, {"verdict": "evade", "within": None, "separated": False}]
        assert points[-1][1]["verdict"] == "capture"
        assert reader.of_type("judged")[0]["from"] == 0
        assert reader.words[-1] is over
        await site.wait_until_delivered(10)
        assert (await site.replay.verdict())["status"] == "good"
        await finish(site, reader)
        await task

    run(main)


def test_a_match_that_breaks_off_says_so(replay: Path, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gz"
    cut.write_bytes(replay.read_bytes()[:-100])

    async def main() -> None:
        site = site_of(cut)
        reader, task, over = await watched_to_its_end(site)
        assert (over["text"], over["check"]["status"]) == ("the match was stopped early", "bad")
        await finish(site, reader)
        await task

    run(main)


def test_an_error_of_our_own_keeps_nobody(replay: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    def fail(before: Any, state: Any) -> dict[str, Any]:
        if before is not None:
            raise MemoryError
        return {"area": 1}

    monkeypatch.setattr(GAME.metrics, "measure", fail)

    async def main() -> None:
        site = site_of(replay)
        reader, task, over = await watched_to_its_end(site)
        assert over["check"]["status"] == "unknown"
        assert "The referee failed while it played along (MemoryError)" in over["check"]["text"]
        # All the same the match was seen to its end.
        assert zlib.decompress(b"".join(reader.data), 31).count(b"\n") == 299
        await site.wait_until_delivered(10)
        await finish(site, reader)
        await task

    run(main)
    assert "MemoryError" in capfd.readouterr().err


def test_a_reader_that_comes_back_gets_the_rest(replay: Path) -> None:
    async def main() -> None:
        site = site_of(replay)
        site.follow()
        site.tail.more()
        site.tail.end()
        first = Reader("spectator")
        tasks = [first.visit(site)]
        await until(lambda: first.of_type("over"))
        whole = b"".join(first.data)
        again = Reader("spectator", 500)
        tasks.append(again.visit(site))
        await until(lambda: again.of_type("over"))
        assert b"".join(again.data) == whole[500:]
        await finish(site, first, again)
        await asyncio.gather(*tasks)

    run(main)


def test_a_slow_spectator_skips_ahead_and_keeps_nobody(replay: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A tenth of what is far in earnest, and places to go on from so often that there is one.
    monkeypatch.setattr(match_site, "FAR_BEHIND", 1000)
    monkeypatch.setattr(match_site, "DELIVERY_BYTES", 200)
    streams: list[Stream] = []

    def made(*, hides_remarks: bool = False) -> Stream:
        streams.append(Stream(hides_remarks=hides_remarks, point_every=300))
        return streams[-1]

    monkeypatch.setattr(match_site, "Stream", made)

    async def main() -> None:
        site = site_of(replay)
        (stream,) = streams
        slow, quick, patient = Reader("spectator"), Reader("spectator"), Reader("spectator", all="1")
        tasks = [reader.visit(site) for reader in (slow, quick, patient)]
        slow.takes.clear()
        patient.takes.clear()
        # The match as it is written, a few steps at a time.
        told = list(read_lines(replay))

        def batches() -> Any:
            for at in range(0, len(told), 20):
                yield told[at : at + 20]

        monkeypatch.setattr(site.tail, "batches", batches)
        site.follow()
        await until(lambda: quick.of_type("over"))
        assert slow.data == []
        slow.takes.set()
        await until(lambda: slow.of_type("over"))
        # Once, or again where it was told of something else in between.
        skip = slow.of_type("skip")[-1]
        assert skip["turn"] == skip["state"]["step"] > 20
        # What came before the skip is a beginning; what comes after it starts with the step it names.
        index = next(at for at in range(len(slow.data) + 1) if len(b"".join(slow.data[at:])) == stream.end - skip["offset"])
        rest = zlib.decompressobj(-15).decompress(b"".join(slow.data[index:]))
        turns = [json.loads(line)["turn"] for line in rest.splitlines()[:-1]]
        assert turns == list(range(skip["turn"], 297))
        # A reader who has asked for everything gets it, however late.
        patient.takes.set()
        await until(lambda: patient.of_type("over"))
        assert patient.of_type("skip") == []
        assert len(zlib.decompressobj(31).decompress(b"".join(patient.data)).splitlines()) == len(told)
        await finish(site, slow, quick, patient)
        await asyncio.gather(*tasks)

    run(main)


def is_here(site: MatchSite) -> bool:
    return site.session.people["prey"].is_here


class Seat:
    """The match's ends of the pipes to one person."""

    def __init__(self) -> None:
        ends = [os.pipe() for _ in range(3)]
        self.questions, self.answers, self.words = ends[0][1], ends[1][0], ends[2][0]
        self.theirs = (ends[0][0], ends[1][1], ends[2][1])
        for fd in (self.answers, self.words):
            os.set_blocking(fd, False)
        self.heard = self.told = b""

    def ask(self, **message: Any) -> None:
        os.write(self.questions, json.dumps(message).encode() + b"\n")

    def answered(self) -> list[dict[str, Any]]:
        try:
            self.heard += os.read(self.answers, 65_536)
        except BlockingIOError:
            pass
        return [json.loads(line) for line in self.heard.splitlines()]

    def last_words(self) -> bytes:
        with contextlib.suppress(BlockingIOError):
            self.told += os.read(self.words, 1000)
        return self.told

    def end(self) -> None:
        """The match asks nothing more."""
        os.close(self.questions)
        self.questions = -1

    def close(self) -> None:
        for fd in (self.questions, self.answers, self.words):
            if fd >= 0:
                os.close(fd)


def test_a_person_is_asked_answers_and_gives_up(replay: Path) -> None:
    async def main() -> None:
        seat = Seat()
        site = site_of(replay, {"prey": seat.theirs})
        site.follow()
        page = Reader("prey-token")
        task = page.visit(site)
        seat.ask(type="start", turn=0)
        await until(lambda: site.session.people["prey"].is_greeted)
        page.say(type="ready", name="Ada")
        await until(seat.answered)
        assert seat.answered() == [{"type": "ready", "protocol": 1, "name": "Ada"}]
        seat.ask(type="turn", turn=1, notices=[{"code": "x", "text": "told"}])
        await until(lambda: page.of_type("asked"))
        assert page.of_type("asked") == [
            {"type": "asked", "turn": 1, "notices": [{"code": "x", "text": "told"}], "left": None, "waits": True}
        ]
        page.says.put_nowait("[not an object")
        page.says.put_nowait("[]")
        page.say(type="move", move={"go": [0, 1]})
        await until(lambda: len(seat.answered()) == 2)
        assert seat.answered()[1] == {"type": "move", "turn": 1, "move": {"go": [0, 1]}}
        page.say(type="resign")
        await until(seat.last_words)
        assert seat.last_words() == b"gave up\n"
        # Players may know the spectators' address when the match is over, and not before: it shows everything.
        assert b"spectator" not in (await asked(site.app(), "/prey-token/"))[2]
        site.tail.more()
        site.tail.end()
        await until(lambda: page.of_type("over"))
        assert [word for word in page.words if "spectator" in json.dumps(word)] == page.of_type("over")
        assert page.of_type("over")[0]["spectators"] == "spectator"
        await finish(site, page)
        await task
        seat.close()

    run(main)


def test_the_first_player_invites_the_other_once(replay: Path) -> None:
    async def main() -> None:
        seats = {"hunter": Seat(), "prey": Seat()}
        site = site_of(replay, {name: seat.theirs for name, seat in seats.items()})
        site.follow()
        first = Reader("hunter-token")
        first.visit(site)
        await until(lambda: first.of_type("session"))
        invitation = first.of_type("session")[-1]["invitation"]
        assert (invitation["seat"], invitation["address"]) == ("prey", None), "this server is for its own machine"
        assert "prey-token" not in json.dumps(first.words)
        status, headers, _ = await asked(site.app(), invitation["path"])
        assert (status, headers["location"]) == (303, "/prey-token/")
        assert (await asked(site.app(), invitation["path"]))[0] == 404
        second = Reader("prey-token")
        second.visit(site)
        await until(lambda: "invitation" not in first.of_type("session")[-1] and second.of_type("session"))
        assert "invitation" not in second.of_type("session")[-1]
        await finish(site, first, second)
        for seat in seats.values():
            seat.close()

    run(main)


def test_a_wish_waits_until_its_position_is_known(replay: Path) -> None:
    """The question may come before the step that led to it."""

    async def main() -> None:
        seat = Seat()
        site = site_of(replay, {"hunter": seat.theirs}, pace=30)
        site.follow()
        page = Reader("hunter-token")
        task = page.visit(site)
        hunter = site.session.people["hunter"]
        await until(lambda: hunter.is_here)
        page.say(type="wish", id=5, move={"build": {"kind": "vertical"}})
        await until(lambda: hunter.wish is not None)
        seat.ask(type="turn", turn=1)
        await until(lambda: hunter.retry_at is not None)
        # However late it gets.
        assert site.session.due(asyncio.get_running_loop().time() + 9) == []
        assert not seat.answered()
        site.tail.more()
        await until(seat.answered)
        assert seat.answered() == [{"type": "move", "turn": 1, "move": {"build": {"kind": "vertical"}}}]
        await until(lambda: page.of_type("answered"))
        (said,) = page.of_type("wish")
        assert said == {
            "type": "wish",
            "id": 5,
            "move": {"build": {"kind": "vertical"}},
            "first_turn": 1,
            "turn": 1,
            "status": "chosen",
            "why": "",
        }
        assert page.words.index(said) < page.words.index(page.of_type("answered")[0])
        await finish(site, page)
        await task
        seat.close()

    run(main)


def test_a_seat_that_the_match_has_ended_is_no_more_in_the_session(replay: Path) -> None:
    async def main() -> None:
        seats = {name: Seat() for name in ("hunter", "prey")}
        site = site_of(replay, {name: seat.theirs for name, seat in seats.items()}, pace=4)
        site.follow()
        page = Reader("hunter-token")
        task = page.visit(site)
        seats["prey"].end()
        await until(lambda: any(word["seats"].keys() == {"hunter"} for word in page.of_type("session")))
        await finish(site, page)
        await task
        for seat in seats.values():
            seat.close()

    run(main)


def test_a_page_that_never_reads_makes_nothing_grow(replay: Path) -> None:
    async def main() -> None:
        seat = Seat()
        site = site_of(replay, {"prey": seat.theirs})
        site.follow()
        page = Reader("prey-token")
        page.takes.clear()
        task = page.visit(site)
        await until(lambda: is_here(site))
        for number in range(2000):
            page.say(type="preview", id=number, move={"go": [1, 0]})
            page.say(type="pace")
            page.say(type="pause", paused=True)
        page.say(type="preview", id=1, move={"go": ["[" * 9000]})
        await until(page.says.empty)
        page.takes.set()
        await finish(site, page)
        await task
        # Only the newest message of each kind was kept for it.
        assert len(json.dumps(page.words)) < 20_000
        seat.close()

    run(main)


def test_a_spectator_can_not_speak_for_a_player(replay: Path) -> None:
    async def main() -> None:
        seat = Seat()
        site = site_of(replay, {"prey": seat.theirs})
        site.follow()
        stranger, nobody = Reader("spectator"), Reader("guessed")
        tasks = [reader.visit(site) for reader in (stranger, nobody)]
        await until(lambda: nobody.closed)
        assert nobody.closed is not None
        assert nobody.closed[0] == 1008
        seat.ask(type="start", turn=0)
        await until(lambda: site.session.people["prey"].is_greeted)
        stranger.say(type="ready")
        stranger.say(type="resign")
        await finish(site, stranger)
        await asyncio.gather(*tasks)
        assert seat.answered() == []
        assert seat.last_words() == b""
        seat.close()

    run(main)


def test_a_second_window_takes_the_seat_over(replay: Path) -> None:
    async def main() -> None:
        seat = Seat()
        site = site_of(replay, {"prey": seat.theirs})
        site.follow()
        first, second = Reader("prey-token"), Reader("prey-token")
        tasks = [first.visit(site)]
        await until(lambda: is_here(site))
        tasks.append(second.visit(site))
        await until(lambda: first.closed)
        assert first.closed is not None
        assert first.closed[0] == match_site.TAKEN
        await tasks[0]
        assert is_here(site)
        await finish(site, second)
        await tasks[1]
        assert not is_here(site)
        seat.close()

    run(main)
