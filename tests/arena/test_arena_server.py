"""The server of an arena and its client as real processes."""

from __future__ import annotations

import contextlib
import json
import os
import re
import select
import signal
import socket
import struct
import subprocess
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

import psutil
import pytest
import typer
from arenas import begin, done
from leagues import cluster
from seasons import FORM, form
from threadpoolctl import threadpool_info

from referee.arena.arena import open_arena
from referee.arena.store import ArenaStore
from referee.arena.versions import CHECKER, CHECKING
from referee.cli import season, submit
from referee.errors import UsageError
from referee.pages import serve
from referee.support.processes import NICENESS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from commands import Commands, Running

    from referee.arena.client import ArenaClient
    from referee.isolation.level import Level

    Cli = Callable[..., subprocess.CompletedProcess[str]]

WRONG = "syntax error(\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    begin(tmp_path / "arena", 2).close()
    with ArenaStore.open(tmp_path / "arena") as store:
        store.tokens.put([("tada", "Ada"), ("tstaff", None)])
    (tmp_path / "wrong.py").write_text(WRONG)
    (tmp_path / "empty" / "__pycache__").mkdir(parents=True)
    return tmp_path


@contextlib.contextmanager
def served(commands: Commands, folder: Path, *workers: str) -> Iterator[tuple[str, Running]]:
    """A server, and its address."""
    words = workers or ("--slots", "1")
    server = commands.start("arena", "serve", "arena", "--isolation", "none", "--port", "0", *words, cwd=folder)
    try:
        yield server.stdout.readline().strip(), server
    finally:
        is_killed = server.poll() is not None
        if not is_killed:
            server.send_signal(signal.SIGINT)
        out, err = server.communicate(60)
        assert is_killed or (server.returncode, out) == (0, ""), err


def test_a_bot_is_handed_in_checked_and_refused(commands: Commands, referee: Cli, folder: Path) -> None:
    with served(commands, folder) as (address, _):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/", address)
        done = referee("submit", address, "wrong.py", "--note", "my first", "--wait", "--json", env={"REFEREE_TOKEN": "tada"})
        assert done.returncode == 1, done.stderr
        found = json.loads(done.stdout)
        assert {name: found[name] for name in ("team", "status", "note")} == {"team": "Ada", "status": "refused", "note": "my first"}
        assert "SyntaxError" in found["report"]["reason"]
        # A folder: what doesn't belong to a bot stays at home. The same check again.
        bot = folder / "mine"
        (bot / "__pycache__").mkdir(parents=True)
        (bot / "__pycache__" / "x.pyc").write_bytes(b"x")
        (bot / "main.py").write_text(WRONG)
        done = referee("submit", address, "mine", "--token", "tada", "--wait")
        assert done.returncode == 1
        assert re.match(r"Ada: version 2 is refused\. The check starts failed as hunter: .*SyntaxError", done.stdout)
        assert "  hunter: starts: " in done.stdout
        assert str(folder) not in done.stdout
        queued = referee("submit", address, "wrong.py", "--token", "tada")
        assert (queued.returncode, queued.stdout.startswith("Submission 3 is queued.")) == (0, True)
    handed_in = [file for file in (folder / "arena" / "handed-in").glob("*/*") if file.name == "mine.tar.gz"]
    with tarfile.open(handed_in[0]) as archive:
        assert [(entry.name, entry.uname, entry.uid) for entry in archive] == [("main.py", "", 0)]


def test_a_team_uploads_two_files_at_once(commands: Commands, folder: Path) -> None:
    with ArenaStore.open(folder / "arena") as store:
        store.tokens.put([("tada2", "Ada"), ("tada3", "Ada"), ("tbob", "Bob")])
    whole = form(WRONG.encode())
    with served(commands, folder) as (top, _), contextlib.ExitStack() as stack:
        url = urlsplit(top)

        def uploading(headers: str) -> socket.socket:
            """Begin an upload, up to the moment when the server reads it: only then it asks for the body."""
            found = stack.enter_context(socket.create_connection((url.hostname, url.port)))
            kind, size = FORM["content-type"], len(whole)
            for line in (
                "POST /api/submissions HTTP/1.1",
                f"Host: {url.netloc}",
                headers,
                f"Content-Type: {kind}",
                f"Content-Length: {size}",
            ):
                found.sendall(f"{line}\r\n".encode())
            found.sendall(b"Connection: close\r\nExpect: 100-continue\r\n\r\n")
            return found

        def status(headers: str) -> int:
            """Upload an empty file, which takes no version of a day: 422 if the team has a place for it."""
            with uploading(headers) as one, one.makefile("rb") as answer:
                line = answer.readline()
                if b"100 Continue" in line:
                    one.sendall(form(b"").ljust(len(whole)))
                    answer.readline()
                    line = answer.readline()
                said = answer.read()
                assert b"429" not in line or b"Your team is uploading 2 files, which is the limit" in said
                return int(line.split()[1])

        # The tokens and the sessions of a team share its places.
        first, second = (uploading(line) for line in ("Authorization: Bearer tada", "Cookie: arena=tada2"))
        answers = [one.makefile("rb") for one in (first, second)]
        assert [one.readline() for one in answers] == [b"HTTP/1.1 100 Continue\r\n"] * 2
        assert [status(f"Authorization: Bearer {token}") for token in ("tada", "tada3", "tbob")] == [429, 429, 422]
        # One that breaks off frees its place, and so does one that ends.
        first.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        answers[0].close()
        first.close()
        assert any(status("Authorization: Bearer tada3") == 422 for _ in range(10_000))
        second.sendall(whole)
        answers[1].readline()
        assert b"202 Accepted" in answers[1].readline()
        assert any(status("Authorization: Bearer tada3") == 422 for _ in range(10_000))


def test_matches_are_played_meanwhile_and_a_killed_server_leaves_nothing_running(commands: Commands, folder: Path) -> None:
    with served(commands, folder) as (_, server), ArenaStore.open(folder / "arena") as store:
        server.until(lambda: store.core.tally().played)
        # A version that is active already is made active: that changes nothing, and no more than a batch of 16 matches is planned.
        active = next(version for version in store.versions.all() if version.is_active)
        store.versions.activate(active.team, active.name)
        count = store.core.tally().played
        server.until(lambda: store.core.tally().played > count + 16)
        # Readers go first: what checks and plays has a lower priority than what answers them.
        low = min(os.getpriority(os.PRIO_PROCESS, server.pid) + NICENESS, 19)
        server.until(lambda: [one.nice() for one in psutil.Process(server.pid).children()] == [low, low])
        server.send_signal(signal.SIGKILL)
        server.wait(60)
        # The process that plays ends with it, and gives back its claim.
        while store.database.is_claimed():
            select.select([], [], [], 0.02)
        hand_in = store.versions.hand_in("Ada", "", "missing")
        assert store.versions.move(CHECKER, hand_in, CHECKING, {}) is not None
    with served(commands, folder) as (_, server), ArenaStore.open(folder / "arena") as store:
        # What was being checked is taken up again.
        server.until(lambda: (found := store.versions.handed_in(hand_in.number)) is not None and found.state != CHECKING)
        assert (found := store.versions.handed_in(hand_in.number)) is not None
        assert found.state == "refused"
    with contextlib.closing(open_arena(folder / "arena")) as arena:
        numbers = [(match.duel, match.game_number) for match in done(arena)]
        assert len(numbers) == len(set(numbers)) > 0


@pytest.mark.slow
def test_a_killed_worker_of_a_cluster_stops_no_season(commands: Commands, folder: Path) -> None:
    workers = cluster(folder / "cluster", 2)
    with workers as nodes, served(commands, folder, "--cluster", nodes.address) as (_, server), ArenaStore.open(folder / "arena") as store:

        def wait_for(count: int) -> None:
            while store.core.tally().played < count:
                assert server.poll() is None
                select.select([], [], [], 0.1)

        wait_for(4)
        nodes.workers[0].kill()
        # More than both workers can have had at the time.
        wait_for(store.core.tally().played + 20)
    with contextlib.closing(open_arena(folder / "arena")) as arena:
        assert arena.store.core.disagreements() == []
        records = [match.record for match in done(arena)]
        assert all((arena.folder / record.replay).is_file() for record in records)
        assert len({record.key for record in records}) == len(records) >= 24


def test_an_arena_that_can_not_be_written_is_not_played(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with contextlib.closing(open_arena(folder / "arena")) as arena:
        season.check_playable(arena)
        with arena.store.database.claim(), pytest.raises(UsageError, match=r"Another process plays the arena .* already\. End it first"):
            season.check_playable(arena)
        monkeypatch.setattr(os, "access", lambda *_: False)
        with pytest.raises(UsageError, match=r"arena is not writable\. The arena stores"):
            season.check_playable(arena)


class _Other(BaseHTTPRequestHandler):
    """A server that is no arena."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        text = (
            b"<html>" if self.path.startswith("/page") else b'{"id": 1}' if self.path.startswith("/odd") else b'{"error": "No.\\u001b[1m"}'
        )
        self.send_response(200 if text != b'{"error": "No.\\u001b[1m"}' else 400)
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture
def other() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), _Other) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


@pytest.mark.parametrize("kind", ["page", "odd", "no"])
def test_a_server_that_is_no_arena_is_refused(kind: str, other: str, referee: Cli, folder: Path) -> None:
    done = referee("submit", f"{other}/{kind}", "wrong.py", "--token", "t")
    assert (done.returncode, done.stdout, done.stderr.count("\n"), "\x1b" in done.stderr) == (2, "", 1, False), done.stderr


def test_without_a_sandbox_the_server_says_what_is_missing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def missing(requested: str, *_: object) -> Level:
        assert requested == "strict"
        raise UsageError("No sandbox: user namespaces are missing.")

    monkeypatch.setattr("referee.isolation.launcher.choose", missing)
    with pytest.raises(typer.Exit) as ended:
        season.serve(folder=folder / "arena")
    assert ended.value.exit_code == 2
    assert capsys.readouterr().err == "referee: No sandbox: user namespaces are missing.\n"


def test_the_wait_for_a_check_outlasts_a_server_that_is_started_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submit, "_PAUSE", 0.0)
    answers: list[dict[str, Any] | None] = [None, {"status": "checking", "report": {}}, None, {"status": "accepted", "report": {}}]

    class Restarted:
        def submission(self, number: int) -> dict[str, Any]:
            assert number == 7
            if (found := answers.pop(0)) is None:
                raise UsageError("The server can't be reached.")
            return found

    server = cast("ArenaClient", Restarted())
    assert submit._waited(server, 7, "http://a/")["status"] == "accepted"
    monkeypatch.setattr(submit, "_PATIENCE", -1.0)
    answers.append(None)
    with pytest.raises(UsageError, match=r"can't be reached\. Submission 7 was received; see its result later at http://a/submissions/7$"):
        submit._waited(server, 7, "http://a/")


def test_what_pages_compute_leaves_the_cores_to_the_matches(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    def looks(_: object, listener: socket.socket, *__: object) -> None:
        listener.close()
        seen.extend(one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas")

    monkeypatch.setattr(serve, "serve_site", looks)
    season.serve(folder=folder / "arena", isolation="none")
    assert set(seen) == {1}
