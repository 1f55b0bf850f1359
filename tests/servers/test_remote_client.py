"""Bots of ours on other servers: on our own ones, and on such that don't keep to their protocols."""

from __future__ import annotations

import contextlib
import json
import re
import socket
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from referee.replay.reader import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from serving import Server

    Serve = Callable[..., Server]

pytestmark = pytest.mark.slow


def start(server: Server, place: int, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "referee", "connect", "127.0.0.1", str(server.ports[place]), "--isolation", "none", *arguments]
    return subprocess.Popen(command, cwd=server.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_on_the_architect(serve: Serve) -> None:
    server = serve("serve", "architect", "0", "0", "6", "15", "--json", "--max-steps", "1500")
    visits = [
        start(server, 0, "searcher", "evader", "--dialect", "architect", "--json"),
        start(server, 1, "random", "still", "--dialect", "architect", "--name", "dice"),
    ]
    said = [visit.communicate(timeout=100) for visit in visits]
    assert [visit.returncode for visit in visits] == [0, 0], said
    result = server.result()
    assert result["teams"] == {"first": "searcher", "second": "dice"}
    assert all(player["fault"] is None for game in result["games"] for player in game["players"].values())
    assert [game["seat"] for game in json.loads(said[0][0])["games"]] == ["hunter", "prey"]
    assert "not heeded" not in "".join(server.screen)
    # It really plays: the searcher walks and has walls built until it catches a prey that stays. One that walks at random escapes now and then.
    first = result["games"][0]
    assert first["reason"] == "caught"
    replay = verify(server.folder / first["replay"])
    assert replay.problem is None


def test_on_the_gameserver(serve: Serve) -> None:
    server = serve("serve", "gameserver", "--port", "0", "--games", "1", "--max-rounds", "60", "--json")
    visits = [start(server, 0, "random", "--dialect", "gameserver", "--json") for _ in range(2)]
    said = [visit.communicate(timeout=100) for visit in visits]
    assert [visit.returncode for visit in visits] == [0, 0], said
    (game,) = server.result()["games"]
    games = [json.loads(out)["games"][0] for out, _ in said]
    assert sorted(game["seat"] for game in games) == ["hunter", "prey"]
    assert {game["reason"] for game in games} == {game["reason"]}
    assert {game["winner"] for game in games} == {game["winner"]}


def foreign(lines: bytes, *, stays: bool = False) -> tuple[int, threading.Thread]:
    """A server that says its lines to the first client, whatever that answers, and hangs up when the client does."""
    sock = socket.create_server(("127.0.0.1", 0))

    def serve_one() -> None:
        with sock, sock.accept()[0] as caller, contextlib.suppress(ConnectionError):
            caller.sendall(lines)
            if not stays:
                caller.shutdown(socket.SHUT_WR)
            while caller.recv(4096):
                pass

    thread = threading.Thread(target=serve_one)
    thread.start()
    return sock.getsockname()[1], thread


STATE = b"119999 0 0 8 20 300 300 0 0 0 1 1 230 200 0\n"


@pytest.mark.parametrize(
    ("dialect", "lines", "code", "why"),
    [
        ("architect", b"sendname\n", 4, "The server hung up before the game was over"),
        ("architect", b"hello\n", 4, "'hello' comes before the server has told the role; is this the right --dialect?"),
        ("architect", b"hunter\n1 2 3\n", 4, "is no line of the architect's protocol"),
        ("architect", b"sendname\n\xff\xfe\n", 4, "is not text"),
        ("architect", b"x" * (2 << 20), 4, "a line of more than 1,048,576 bytes"),
        ("architect", b"sendname\nhunter\n" + STATE + b"done\n", 0, "the server doesn't tell how"),
        ("architect", b"hunter\n" + STATE.replace(b"230 200", b"1 1"), 4, "tells of a game that can't be"),
        ("architect", b"hunter\n" + STATE.replace(b"230 200 0", b"230 200 1 0 5 0 400"), 4, "has a wall that leaves the board"),
        ("architect", b"sendname\nhunter\n" + STATE.replace(b" 8 20 ", b" 5000 20 ") + b"done\n", 0, "the server doesn't tell how"),
        ("gameserver", b"sendname\n", 4, "is this the right --dialect?"),
        ("gameserver", b"ACCEPTED PREY\n", 4, "hung up"),
        (
            "gameserver",
            b"ACCEPTED PREY\n(50, 50) 6, 25, 1\nYOURTURN 0 H(0, 0, 0, SE), P(30, 20, 0), W[]\n",
            2,
            "made us the prey, which the bot doesn't play",
        ),
    ],
)
def test_a_server_that_speaks_otherwise(dialect: str, lines: bytes, code: int, why: str, referee: Callable[..., Any]) -> None:
    port, thread = foreign(lines)
    bots = ["straight", "still"] if dialect == "architect" else ["straight"]
    done = referee("connect", "127.0.0.1", str(port), *bots, "--dialect", dialect, "--isolation", "none")
    thread.join()
    assert done.returncode == code, done.stderr
    assert why in done.stderr + done.stdout
    assert "Traceback" not in done.stderr


def test_a_bot_that_fails(tmp_path: Any, referee: Callable[..., Any]) -> None:
    (tmp_path / "bad.py").write_text("import sys\nsys.stdin.readline()\nprint('hello', flush=True)\nsys.stdin.readline()\n")
    port, thread = foreign(b"sendname\nhunter\n" + STATE, stays=True)
    done = referee("connect", "127.0.0.1", str(port), "bad.py", "--dialect", "architect", "--isolation", "none")
    thread.join()
    assert done.returncode == 3, "it was never ready"
    assert re.search(r"referee: The hunter's stdout line 1 .*'hello'", done.stderr)


def test_a_bot_that_hangs_holds_nobody_up(tmp_path: Any, referee: Callable[..., Any]) -> None:
    (tmp_path / "slow.py").write_text(
        'import sys, time\nsys.stdin.readline()\nprint(\'{"type":"ready","protocol":1}\', flush=True)\ntime.sleep(600)\n'
    )
    asked = b"ACCEPTED HUNTER\n(500, 500) 6, 25, 1\nYOURTURN 0 H(0, 0, 0, SE), P(330, 200, 0), W[]\n"
    for end, code, why in ((b"GAMEOVER 0 LOSER HUNTER TIMEOUT\n", 0, "has lost in round 0: timeout"), (b"", 4, "hung up")):
        port, thread = foreign(asked + end)
        done = referee("connect", "127.0.0.1", str(port), "slow.py", "--dialect", "gameserver", "--isolation", "none")
        thread.join()
        assert done.returncode == code, done.stderr
        assert why in done.stderr + done.stdout


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["1", "straight", "--dialect", "chess"], "--dialect is 'chess', but must be architect or gameserver"),
        (["1", "straight", "--dialect", "architect"], "is an example that plays hunter, not prey"),
        (["1", "a", "b", "c", "--dialect", "architect"], "3 bots were named"),
        (["1", "human", "--dialect", "gameserver"], "is not a program that speaks the native protocol"),
        (["1", "random", "--dialect", "gameserver"], "There is no server at 127.0.0.1:1"),
    ],
)
def test_what_cant_be_done(words: list[str], why: str, referee: Callable[..., Any]) -> None:
    done = referee("connect", "127.0.0.1", *words)
    assert done.returncode == 2
    assert why in done.stderr
