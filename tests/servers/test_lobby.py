"""The 2010 server: whole games over TCP, two hundred at once, spectators, and clients that behave badly."""

from __future__ import annotations

import contextlib
import json
import re
import selectors
import signal
import socket
import struct
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from serving import PATIENCE

from referee import games
from referee.replay.reader import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from serving import Client, Server

    Serve = Callable[..., Server]
    Call = Callable[..., Client]

GAME = games.get("evasion")
COMMAND = ("serve", "gameserver", "--port", "0", "--json")


def paired(server: Server, call: Call) -> tuple[Client, Client]:
    """Two clients whose game has begun."""
    hunter = call(server.ports[0], "JOIN Ada")
    assert hunter.hear() == "ACCEPTED HUNTER"
    prey = call(server.ports[0], "JOIN Bob")
    assert prey.hear() == "ACCEPTED PREY"
    return hunter, prey


def test_a_whole_game_to_the_letter(serve: Serve, call: Call) -> None:
    server = serve(
        *COMMAND,
        "--size",
        "60x50",
        "--hunter",
        "10,10,SE",
        "--prey",
        "20,16",
        "--max-walls",
        "3",
        "--wall-cooldown",
        "2",
        "--prey-cooldown",
        "0",
        "--games",
        "1",
    )
    hunter, prey = paired(server, call)
    assert [client.hear() for client in (hunter, prey)] == ["(60, 50) 3, 2, 0"] * 2
    assert hunter.hear() == "YOURTURN 0 H(10, 10, 0, SE), P(20, 16, 0), W[]"
    hunter.say("ADD 7 (0, 5), (9, 5)")
    assert prey.hear() == "YOURTURN 0 H(11, 11, 2, SE), P(20, 16, 0), W[(7, 0, 5, 9, 5)]"
    prey.say("W")
    # The hunter cools down for two turns and isn't asked.
    assert prey.hear() == "YOURTURN 1 H(12, 12, 1, SE), P(19, 16, 0), W[(7, 0, 5, 9, 5)]"
    prey.say("18, 16")
    assert prey.hear() == "YOURTURN 2 H(13, 13, 0, SE), P(18, 16, 0), W[(7, 0, 5, 9, 5)]"
    prey.say("jump")
    assert hunter.hear() == "YOURTURN 3 H(13, 13, 0, SE), P(18, 16, 0), W[(7, 0, 5, 9, 5)]"
    hunter.say("REMOVE 8")
    assert prey.hear() == "YOURTURN 3 H(14, 14, 2, SE), P(18, 16, 0), W[(7, 0, 5, 9, 5)]"
    prey.say("W")
    assert hunter.rest() == ["GAMEOVER 4 WINNER HUNTER CAUGHT"]
    assert prey.rest() == ["GAMEOVER 4 LOSER PREY CAUGHT"]
    (game,) = server.result()["games"]
    assert (game["number"], game["reason"], game["scores"]) == (1, "caught", {"hunter": 4})
    assert {seat: player["name"] for seat, player in game["players"].items()} == {"hunter": "Ada", "prey": "Bob"}
    assert verify(server.folder / game["replay"]).problem is None
    screen = "".join(server.screen)
    assert "game 1, round 2: invalid command of the prey: jump" in screen
    assert "game 1, round 3: invalid command of the hunter: no wall has the id 8" in screen


def test_trapped_and_a_refused_wall(serve: Serve, call: Call) -> None:
    server = serve(*COMMAND, "--size", "40x40", "--hunter", "5,5,SE", "--prey", "30,30", "--wall-cooldown", "0", "--games", "1")
    hunter, prey = paired(server, call)
    for client in (hunter, prey):
        client.hear()
    hunter.hear()
    hunter.say("ADD 1 (0, 50), (9, 50)")
    prey.hear()
    prey.say("PASS")
    hunter.hear()
    hunter.say("ADD 2 (0, 20), (39, 20)")
    assert hunter.rest() == ["GAMEOVER 1 LOSER HUNTER TRAPPED"]
    assert prey.rest() == ["GAMEOVER 1 WINNER PREY TRAPPED"]
    server.finish()
    assert "wall refused: it leaves the board" in "".join(server.screen)


GAMES = 200
ROUNDS = 12


class Scripted:
    """One of many clients: it checks every line that it gets, and waits with its first answer until it is told."""

    def __init__(self, port: int, number: int) -> None:
        self.number = number
        self.sock = socket.create_connection(("127.0.0.1", port))
        self.sock.sendall(b"JOIN player%d\r\n" % number)
        self.rest = b""
        self.lines: list[str] = []
        self.waiting = ""
        self.is_over = False

    @property
    def seat(self) -> str:
        return self.lines[0].split()[1]

    def read(self) -> None:
        data = self.sock.recv(65_536)
        *lines, self.rest = (self.rest + data).split(b"\n")
        self.lines += [line.decode() for line in lines]
        if not data:
            self.is_over = True
        elif self.lines and self.lines[-1].startswith("YOURTURN"):
            self.waiting = self.lines[-1]

    def answer(self) -> None:
        """A wall whose place and id tell whose it is."""
        found = re.match(r"YOURTURN (\d+) ", self.waiting)
        assert found
        turn = int(found[1])
        self.waiting = ""
        if self.seat == "PREY":
            self.sock.sendall(b"E\r\n" if self.number % 4 == 1 else b"W\n")
        else:
            x = 100 + self.number
            self.sock.sendall(f"ADD {self.number + turn} ({x}, {100 + turn}), ({x}, {100 + turn})\n".encode())


@pytest.mark.soak
def test_two_hundred_games_at_once(serve: Serve) -> None:
    """All begin before any goes on; each client sees its own game, whole and in order."""
    server = serve(
        *COMMAND,
        "--wall-cooldown",
        "0",
        "--prey-cooldown",
        "0",
        "--max-walls",
        "50",
        "--max-rounds",
        str(ROUNDS),
        "--size",
        "600x500",
        "--games",
        str(GAMES),
        "--at-once",
        str(GAMES),
    )
    selector = selectors.DefaultSelector()
    clients = []
    for number in range(2 * GAMES):
        client = Scripted(server.ports[0], number)
        # In the order of their numbers, so that each knows its pair.
        client.read()
        selector.register(client.sock, selectors.EVENT_READ, client)
        clients.append(client)
    is_begun = False
    while not all(client.is_over for client in clients):
        for key, _ in selector.select():
            key.data.read()
            if key.data.is_over:
                selector.unregister(key.data.sock)
        is_begun = is_begun or all(len(client.lines) >= 2 + (client.seat == "HUNTER") for client in clients)
        for client in clients:
            if is_begun and client.waiting:
                client.answer()
    games = server.result()["games"]
    assert len(games) == GAMES
    for hunter, prey in zip(clients[::2], clients[1::2], strict=True):
        walls = [
            f"({hunter.number + turn}, {100 + hunter.number}, {100 + turn}, {100 + hunter.number}, {100 + turn})" for turn in range(ROUNDS)
        ]
        way = 1 if prey.number % 4 == 1 else -1
        for seat, client in (("HUNTER", hunter), ("PREY", prey)):
            is_prey = seat == "PREY"
            expected = [f"ACCEPTED {seat}", "(600, 500) 50, 0, 0"]
            for turn in range(ROUNDS):
                at = turn + is_prey
                expected.append(f"YOURTURN {turn} H({at}, {at}, 0, SE), P({330 + way * turn}, 200, 0), W[{', '.join(walls[:at])}]")
            expected.append(f"GAMEOVER {ROUNDS} {'WINNER' if is_prey else 'LOSER'} {seat} EVADED")
            assert client.lines == expected
        client.sock.close()
        hunter.sock.close()
    assert {game["players"]["hunter"]["name"]: game["players"]["prey"]["name"] for game in games} == {
        f"player{n}": f"player{n + 1}" for n in range(0, 2 * GAMES, 2)
    }
    assert all(verify(server.folder / game["replay"]).problem is None for game in games[::50])


def leave_by_reset(client: Client) -> None:
    client.sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.vanish()


BAD: dict[str, tuple[Callable[[Client], Any], str]] = {
    "vanishes": (lambda client: client.vanish(), "closed its connection"),
    "resets": (leave_by_reset, "closed its connection"),
    "1 MB line": (lambda client: client.sock.sendall(b"x" * (1 << 20) + b"\n"), "more than 4,096 bytes"),
    "1 MB without an end": (lambda client: client.sock.sendall(b"x" * (1 << 20)), "more than 4,096 bytes"),
    "binary": (lambda client: client.sock.sendall(bytes(range(256)) + b"\n"), "is not text"),
    "nul": (lambda client: client.say("PASS\0"), "is not text"),
    "silence": (lambda client: None, "gave no answer within what was left of its bank of 2 s"),
    "half a line": (lambda client: client.sock.sendall(b"PAS"), "wrote an answer without the newline"),
}


@pytest.mark.slow
@pytest.mark.parametrize("who", ["hunter", "prey"])
def test_who_breaks_the_protocol_loses_and_the_server_goes_on(who: str, serve: Serve, call: Call) -> None:
    """All of them at once on one server, then two who play well."""
    server = serve(*COMMAND, "--bank", "2", "--games", str(len(BAD) + 1), "--prey-cooldown", "0")
    other = "prey" if who == "hunter" else "hunter"
    games = []
    for do, _ in BAD.values():
        players = dict(zip(("hunter", "prey"), paired(server, call), strict=True))
        for client in players.values():
            client.hear()
        players["hunter"].hear()
        if who == "prey":
            players["hunter"].say("PASS")
            players["prey"].hear()
        do(players[who])
        games.append(players)
    for number, (players, (name, (_, said))) in enumerate(zip(games, BAD.items(), strict=True), 1):
        assert players[other].rest() == [f"GAMEOVER 0 WINNER {other.upper()} TIMEOUT"], name
        assert said in server.wait_for(f"game {number}, round 0: "), name
        if name not in ("vanishes", "resets"):
            assert players[who].rest() == [f"GAMEOVER 0 LOSER {who.upper()} TIMEOUT"], name
    hunter, prey = paired(server, call)
    assert hunter.hear() == prey.hear() == "(500, 500) 6, 25, 0"
    hunter.vanish()
    assert prey.rest() == ["GAMEOVER 0 WINNER PREY TIMEOUT"]
    *broken, last = server.result()["games"]
    assert [game["winner"] for game in broken] == [other] * len(BAD)
    assert last["winner"] == "prey"
    assert all(verify(server.folder / game["replay"]).problem is None for game in broken)


def test_who_leaves_while_the_other_thinks_has_lost_at_once(serve: Serve, call: Call) -> None:
    server = serve(*COMMAND, "--games", "1")
    hunter, prey = paired(server, call)
    hunter.hear()
    assert hunter.hear().startswith("YOURTURN 0")
    prey.vanish()
    assert hunter.rest() == ["GAMEOVER 0 WINNER HUNTER TIMEOUT"]
    (game,) = server.result()["games"]
    assert game["reason"] == "prey-fault"
    assert verify(server.folder / game["replay"]).problem is None


BAD_JOINS = [
    (b"JOIN\n", "without a name"),
    (b"JOIN a b\n", "white space"),
    (b"JOIN " + b"x" * 40 + b"\n", "40 characters"),
    ("JOIN \u3164\u2800\u115f\n".encode(), "shows nothing"),
    (b"HELLO\n", "neither JOIN nor SPECTATE"),
    (b"\xff\xfe\x00\n", "is not text"),
    (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", "neither JOIN nor SPECTATE"),
    (b"JOIN " + b"x" * (1 << 20) + b"\n", "is too long"),
]


def test_who_joins_badly_is_sent_away_and_told_of(serve: Serve, call: Call) -> None:
    server = serve(*COMMAND, "--games", "1")
    for line, why in BAD_JOINS:
        stranger = call(server.ports[0])
        address = "%s:%d" % stranger.sock.getsockname()
        # A long line may be cut off while it is being sent.
        with contextlib.suppress(ConnectionError):
            stranger.sock.sendall(line)
        assert why in server.wait_for(f"{address} is sent away")
    hunter, prey = paired(server, call)
    hunter.vanish()
    assert prey.rest()[-1] == "GAMEOVER 0 WINNER PREY TIMEOUT"
    server.finish()


def test_who_joins_and_leaves_makes_room(serve: Serve, call: Call) -> None:
    server = serve(*COMMAND, "--games", "1")
    early = call(server.ports[0], "JOIN Early")
    assert early.hear() == "ACCEPTED HUNTER"
    silent = call(server.ports[0])
    early.vanish()
    server.wait_for("(Early) has left before the game")
    hunter, _ = paired(server, call)
    assert hunter.hear() == "(500, 500) 6, 25, 1"
    late = call(server.ports[0], "JOIN Late")
    assert "all games have begun" in server.wait_for("is sent away")
    assert late.rest() == []
    hunter.vanish()
    assert silent.rest() == []
    server.finish()


def test_lines_split_at_any_byte_and_lines_ahead(serve: Serve, call: Call) -> None:
    server = serve(*COMMAND, "--games", "1", "--max-rounds", "4", "--wall-cooldown", "0", "--prey-cooldown", "0")
    hunter, prey = call(server.ports[0]), call(server.ports[0])
    for client, line in ((hunter, b"JOIN Ada\r\n"), (prey, b"JOIN Bob\r\n")):
        for byte in line:
            client.sock.sendall(bytes([byte]))
        client.hear()
    # All answers at once, split anywhere, before they are asked.
    for client, lines in ((hunter, b"pass\r\nADD 1 (3, 0), (9, 0)\r\n\r\nPASS\n"), (prey, b"N\r\nE\nS\nW\n")):
        for start in range(0, len(lines), 3):
            client.sock.sendall(lines[start : start + 3])
    assert hunter.rest()[-1] == "GAMEOVER 4 LOSER HUNTER EVADED"
    told = prey.rest()
    assert [re.findall(r"P\(([^)]*)\)", line) for line in told[1:-1]] == [
        ["330, 200, 0"],
        ["330, 199, 0"],
        ["331, 199, 0"],
        ["331, 200, 0"],
    ]
    assert "W[(1, 3, 0, 9, 0)]" in told[2]
    server.finish()
    # A blank line is a command like any other that there isn't.
    assert "game 1, round 2: invalid command of the hunter: \n" in server.screen


def test_spectators_see_every_state_line_and_the_end(serve: Serve, call: Call) -> None:
    server = serve(*COMMAND, "--games", "1", "--max-rounds", "30", "--wall-cooldown", "3", "--prey-cooldown", "2")
    early = call(server.ports[0], "spectate")
    server.wait_for("will look on at the next game")
    hunter, prey = paired(server, call)
    late = call(server.ports[0], "SPECTATE")
    assert "all games have begun" in server.wait_for("is sent away")
    assert late.rest() == []
    opening = hunter.hear()
    assert prey.hear() == opening == "(500, 500) 6, 3, 2"
    asked = []
    for client, answers in ((hunter, ["ADD 1 (9, 9), (9, 20)"] + ["PASS"] * 99), (prey, ["E", "PASS"] * 50)):
        client.say("\n".join(answers))
    for client in (hunter, prey):
        lines = client.rest()
        asked += lines[:-1]
    told = early.rest()
    assert told[0] == opening
    assert sorted(told[1:-1]) == sorted(asked)
    assert told[-1] == "GAMEOVER 30 WINNER PREY EVADED"
    server.finish()


def test_a_bot_of_ours_as_the_opponent(serve: Serve, call: Call) -> None:
    server = serve(*COMMAND, "--opponent", "runner", "--games", "2", "--max-rounds", "20")
    for name in ("Ada", "Eve"):
        hunter = call(server.ports[0], f"JOIN {name}")
        assert hunter.hear() == "ACCEPTED HUNTER"
        hunter.say("\n".join(["PASS"] * 20))
        assert hunter.rest()[-1] == "GAMEOVER 20 LOSER HUNTER EVADED"
    games = server.result()["games"]
    assert [game["players"]["prey"]["program"] for game in games] == ["runner", "runner"]
    assert games[0]["players"]["prey"]["time"]["answers"] == 10


def test_an_opponent_that_only_hunts(serve: Serve, call: Call) -> None:
    server = serve(*COMMAND, "--opponent", "straight", "--games", "1", "--max-rounds", "5")
    prey = call(server.ports[0], "JOIN Bob")
    assert prey.hear() == "ACCEPTED PREY"
    prey.say("\n".join(["PASS"] * 5))
    assert prey.rest()[-1] == "GAMEOVER 5 WINNER PREY EVADED"
    server.finish()


@pytest.mark.parametrize("words", [(), ("--games", "2")], ids=["server", "games"])
def test_ctrl_c_ends_everything(words: tuple[str, ...], serve: Serve, call: Call) -> None:
    """It is the ordinary end of a server, but not of a number of games."""
    server = serve("serve", "gameserver", "--port", "0", "--json", *words)
    hunter, prey = paired(server, call)
    assert prey.hear() == hunter.hear()
    hunter.hear()
    server.process.send_signal(signal.SIGINT)
    assert prey.rest() == []
    assert server.process.wait(PATIENCE) == (0 if words == () else 130)
    assert json.loads(server.process.stdout.read()) == {"games": []}
    (replay,) = (server.folder / "matches" / "replays").iterdir()
    assert verify(replay).problem is not None, "it is cut short, and says so"


@pytest.mark.parametrize(
    ("options", "why"),
    [
        (["--hunter", "1,2,N"], "--hunter is '1,2,N', but must be x,y,HEADING"),
        (["--hunter", "400,400,SE", "--size", "300x300"], "hunter starts at (400, 400), off the 300 x 300 board"),
        (["--opponent", "human"], "--opponent is a person"),
        (["--opponent", "nosuchbot"], "is neither a file nor an example bot"),
        (["--opponent", "architect: python x.py {port}"], "the architect dialect is for diagonal and classic"),
        (["--opponent", "searcher"], "is an example that plays classic and diagonal, not gameserver"),
        (["--out", "/proc/nowhere"], "which is not writable"),
        (["--bank", "soon"], "--bank is 'soon', but must be above 0"),
        (["--host", "no.such.host.invalid"], "There is no address 'no.such.host.invalid'"),
    ],
)
def test_what_cant_be_served(options: list[str], why: str, referee: Callable[..., Any]) -> None:
    done = referee("serve", "gameserver", "--port", "0", *options)
    assert done.returncode == 2, done.stderr
    assert why in done.stderr
    assert done.stderr.count("\n") == 1


def test_more_callers_than_descriptors_do_no_harm(serve: Serve, call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    server = serve(*COMMAND, "--games", "1")
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (130, 130))
    crowd = [call(server.ports[0]) for _ in range(150)]
    for stranger in crowd:
        stranger.vanish()
    hunter, prey = paired(server, call)
    hunter.vanish()
    assert prey.rest()[-1] == "GAMEOVER 0 WINNER PREY TIMEOUT"
    server.finish()
    assert resource.getrlimit(resource.RLIMIT_NOFILE) == before


def test_a_port_in_use_is_named(referee: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        for command in (["serve", "gameserver", "--port", port], ["serve", "architect", "0", port, "8", "20"]):
            done = referee(*command)
            assert done.returncode == 2
            assert f"Port {port} of 127.0.0.1 isn't available" in done.stderr


def test_it_listens_on_this_machine_alone_unless_told(serve: Serve) -> None:
    server = serve(*COMMAND)
    assert f"127.0.0.1:{server.ports[0]}" in server.screen[0]
    listening = Path("/proc/net/tcp").read_text() if Path("/proc/net/tcp").exists() else ""
    assert not listening or f"0100007F:{server.ports[0]:04X} 00000000:0000 0A" in listening


def test_silent_callers_keep_nobody_out(serve: Serve, call: Call) -> None:
    """A thousand of them shut the server for a minute before each made room for the next."""
    server = serve(*COMMAND, "--games", "1")
    for number in range(1_100):
        stranger = call(server.ports[0])
        if number % 2:
            # Half a line is no word either.
            with contextlib.suppress(ConnectionError):
                stranger.sock.sendall(b"J")
    hunter, prey = paired(server, call)
    hunter.vanish()
    assert prey.rest()[-1] == "GAMEOVER 0 WINNER PREY TIMEOUT"
    server.finish()
    assert len(server.screen) < 10


def test_games_beyond_the_cap_wait_and_are_told_of(serve: Serve, call: Call) -> None:
    server = serve(*COMMAND, "--games", "4", "--at-once", "2")
    pairs = [paired(server, call) for _ in range(4)]
    server.wait_for("Bob waits: 2 games are being played (--at-once)")
    children = psutil.Process(server.process.pid).children()
    assert len(children) == 2
    # A waiting hunter leaves: the hunter behind it comes up, and the next who joins plays last.
    pairs[2][0].vanish()
    server.wait_for("(Ada) has left before the game")
    new = call(server.ports[0], "JOIN New")
    assert new.hear() == "ACCEPTED HUNTER"
    for hunter, prey in (*pairs[:2], (pairs[3][0], pairs[2][1]), (new, pairs[3][1])):
        assert prey.hear() == hunter.hear() == "(500, 500) 6, 25, 1"
        hunter.vanish()
        assert prey.rest()[-1] == "GAMEOVER 0 WINNER PREY TIMEOUT"
    games = server.result()["games"]
    assert [game["number"] for game in games] == [1, 2, 3, 4]
    assert [game["players"]["hunter"]["name"] for game in games] == ["Ada", "Ada", "Ada", "New"]


#: A server that is told to end while it forks: Python calls such functions around a fork, and loses what a handler raises in them.
ENDED_IN_A_FORK = """
import os, signal, sys
from referee.cli.main import run
os.register_at_fork(after_in_parent=lambda: os.kill(os.getpid(), signal.SIGTERM))
sys.argv = ["referee", "serve", "gameserver", "--port", "0"]
run(sys.argv[1:])
"""


def test_a_server_that_is_ended_while_a_game_begins_ends(call: Call, tmp_path: Path) -> None:
    with subprocess.Popen([sys.executable, "-c", ENDED_IN_A_FORK], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            port = int(re.findall(r":(\d+)", server.stderr.readline())[0])
            players = [call(port, f"JOIN {name}") for name in ("Ada", "Bob")]
            assert server.wait(PATIENCE) == 128 + signal.SIGTERM
            assert "Exception ignored" not in server.stderr.read()
            assert players
        finally:
            server.kill()
