"""The 2017 architect over TCP: recorded sessions, and clients that behave badly."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import shutil
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sandboxes import need

from referee.replay.reader import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from serving import Client, Server

    Serve = Callable[..., Server]
    Call = Callable[..., Client]

pytestmark = pytest.mark.slow

DATA = Path(__file__).parents[1] / "data"
CLIENTS = Path(__file__).parents[1] / "clients"


def follow(client: Client, script: list[list[str]], wrong: list[Any]) -> None:
    """Play a recorded client; every line must be the recorded one, but for the time left."""
    for way, text in script:
        if way == ">":
            client.say(text)
            continue
        heard, expected = client.hear(), text
        if len(text.split()) > 5:
            left, heard = heard.split(" ", 1)
            assert 0 <= int(left) <= 120_000
            expected = text.split(" ", 1)[1]
        if heard != expected:
            wrong.append((heard, expected))
            client.vanish()
            return
    wrong += client.rest()


def test_a_recorded_session(serve: Serve, call: Call) -> None:
    session = json.loads((DATA / "architect-session-1.json").read_text())
    server = serve("serve", "architect", "0", "0", str(session["max_walls"]), str(session["cooldown"]), "--json")
    wrong: list[Any] = []
    threads = [
        threading.Thread(target=follow, args=(call(port), script, wrong))
        for port, script in zip(server.ports, session["clients"], strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
    result = server.result()
    assert result["teams"] == {"first": "alpha", "second": "beta"}
    assert [game["hunting"] for game in result["games"]] == ["first", "second"]
    assert [game["scores"]["hunter"] for game in result["games"]] == [198, 198]
    assert result["winners"] == [None]
    for game in result["games"]:
        assert verify(server.folder / game["replay"]).problem is None


def play(client: Client, answers: Callable[[str, list[str]], str | None]) -> list[str]:
    """Answer every state line; the roles that were told and the last line. None as an answer: hang up."""
    told = []
    role = ""
    while line := client.hear():
        words = line.split()
        if len(words) < 5:
            told.append(line)
            role = line if line in ("hunter", "prey") else role
            if line == "sendname":
                client.say("team")
            continue
        answer = answers(role, words)
        if answer is None:
            client.vanish()
            break
        if answer:
            client.say(answer)
    return told


def quietly(role: str, words: list[str]) -> str:
    return f"{words[1]} {words[2]} 0" + " 0" * (role == "prey")


def session(
    server: Server, call: Call, first: Callable[[str, list[str]], str | None], second: Callable[[str, list[str]], str | None]
) -> list[list[str]]:
    """Play a session; what each client was told beside states."""
    clients = [call(port) for port in server.ports]
    told: list[list[str]] = [[], []]

    def run(place: int) -> None:
        told[place] = play(clients[place], (first, second)[place])

    threads = [threading.Thread(target=run, args=(place,)) for place in (0, 1)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


def test_both_roles_and_who_beats_whom(serve: Serve, call: Call) -> None:
    server = serve("serve", "architect", "0", "0", "4", "10", "--prey", "12,9", "--max-steps", "40", "--walls", "hv")

    def away(role: str, words: list[str]) -> str:
        return f"{words[1]} {words[2]} 0" if role == "hunter" else f"{words[1]} {words[2]} 1 -7"

    told = session(server, call, quietly, away)
    assert told == [["sendname", "hunter", "prey", "done"], ["sendname", "prey", "hunter", "done"]]
    said = server.finish()
    assert re.search(r"game 0  team hunts: no score\ngame 1  team hunts: \d+ steps\nteam beats team\.\n", said)
    assert len(list(server.folder.glob("matches/replays/*.gz"))) == 2


def vanish_late(role: str, words: list[str]) -> str | None:
    return None if words[1:3] == ["0", "5"] else quietly(role, words)


def be_silent(role: str, words: list[str]) -> str | None:
    return "" if words[1] == "0" and int(words[2]) >= 5 else quietly(role, words)


def send_binary(role: str, words: list[str]) -> str | None:
    return "\0\1\2" if words[1:3] == ["0", "5"] else quietly(role, words)


def send_much(role: str, words: list[str]) -> str | None:
    return "1" * (1 << 20) if words[1:3] == ["0", "5"] else quietly(role, words)


@pytest.mark.parametrize(
    ("bad", "bank", "said"),
    [
        (vanish_late, "60", "closed its connection"),
        # The server gives both clients the same bank: enough for the other one's answers on a busy machine, too.
        (be_silent, "4", "its bank of 4 s"),
        (send_binary, "60", "is not text"),
        (send_much, "60", "more than 4,096 bytes"),
    ],
)
def test_a_prey_that_fails_ends_its_game_alone(
    bad: Callable[[str, list[str]], str | None], bank: str, said: str, serve: Serve, call: Call
) -> None:
    """The score is the tick at which it failed, the other is told, and the next game is played as far as it goes."""
    server = serve("serve", "architect", "0", "0", "4", "10", "--bank", bank, "--max-steps", "20", "--json")
    told = session(server, call, quietly, bad)
    assert told[0] == ["sendname", "hunter", "prey", "done"]
    assert said in server.wait_for("game 0, tick ")
    first, second = server.result()["games"]
    assert first["scores"] == {"hunter": 5}
    assert first["winner"] == "hunter"
    assert second["winner"] == "prey"
    assert verify(server.folder / first["replay"]).problem is None


def test_an_answer_that_comes_after_its_game_does_not_put_the_next_one_out_of_step(serve: Serve, call: Call) -> None:
    server = serve("serve", "architect", "0", "0", "4", "10", "--bank", "3", "--max-steps", "12", "--json")
    clients = [call(port) for port in server.ports]
    held = threading.Event()

    def late(role: str, words: list[str]) -> str:
        if words[1:3] == ["0", "5"]:
            # Until the other one is in the next game.
            assert held.wait(60)
        return f"{words[1]} {words[2]} 0" if role == "hunter" else f"{words[1]} {words[2]} -1 0"

    def other(role: str, words: list[str]) -> str:
        if words[1] == "1":
            held.set()
        return quietly(role, words)

    threads = [threading.Thread(target=play, args=pair) for pair in ((clients[0], other), (clients[1], late))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first, second = server.result()["games"]
    assert first["scores"] == {"hunter": 5}
    assert second["reason"] == "evaded"
    assert "not heeded" not in "".join(server.screen)


def test_who_sends_a_flood_before_the_game_is_sent_away(serve: Serve, call: Call) -> None:
    server = serve("serve", "architect", "0", "0", "4", "10")
    flood = call(server.ports[0], "name")
    server.wait_for("is name, the first team")
    with contextlib.suppress(ConnectionError):
        flood.sock.sendall(b"0 0 0\n" * 100_000)
    server.wait_for("sends too much before the game and is sent away")
    assert call(server.ports[0]).hear() == "sendname"


def test_answers_with_other_numbers_are_not_heeded_and_told_of(serve: Serve, call: Call) -> None:
    server = serve("serve", "architect", "0", "0", "4", "10", "--max-steps", "10", "--games", "1", "--json")

    def wrong(role: str, words: list[str]) -> str:
        return f"{words[1]} {int(words[2]) + 1} 1 1"

    session(server, call, quietly, wrong)
    (game,) = server.result()["games"]
    assert game["reason"] == "evaded"
    assert "is for game 0, tick 1 and not heeded" in "".join(server.screen)
    assert "the replay has further ones" in "".join(server.screen)


def test_who_is_no_team_makes_room(serve: Serve, call: Call) -> None:
    server = serve("serve", "architect", "0", "0", "4", "10", "--max-steps", "4", "--games", "1")
    early = call(server.ports[0])
    assert early.hear() == "sendname"
    early.vanish()
    server.wait_for("has left before the game")
    odd = call(server.ports[0])
    odd.sock.sendall(b"\xff\xfe\n")
    server.wait_for("is sent away: its first line is not text")
    named = call(server.ports[0], "left")
    server.wait_for("is left, the first team")
    named.vanish()
    server.wait_for("has left before the game", times=2)
    waiting = call(server.ports[1])
    assert waiting.hear() == "sendname"
    extra = call(server.ports[1])
    for byte in b"a team\r\n":
        waiting.sock.sendall(bytes([byte]))
    server.wait_for("is a team, the second team")
    first = threading.Thread(target=play, args=(call(server.ports[0]), quietly))
    first.start()
    assert play(waiting, quietly) == ["prey", "done"]
    first.join()
    with contextlib.suppress(ConnectionResetError):
        assert extra.rest() in ([], ["sendname"])
    assert "a team" in server.finish() + "".join(server.screen)


def test_a_client_in_c_and_one_in_python(serve: Serve, tmp_path: Path) -> None:
    need(shutil.which("gcc") is not None, "gcc is missing")
    program = tmp_path / "client"
    subprocess.run(["gcc", "-O1", "-Wall", "-Werror", "-o", program, CLIENTS / "architect_client.c"], check=True)
    server = serve("serve", "architect", "0", "0", "6", "12", "--json", "--max-steps", "1500")
    commands = [
        [str(program), str(server.ports[0]), "in C"],
        [sys.executable, str(CLIENTS / "architect_client.py"), str(server.ports[1]), "Python"],
    ]
    clients = [subprocess.Popen(command) for command in commands]
    assert [client.wait() for client in clients] == [0, 0]
    result = server.result()
    assert result["teams"] == {"first": "in C", "second": "Python"}
    for game in result["games"]:
        assert all(player["fault"] is None for player in game["players"].values())
        assert verify(server.folder / game["replay"]).problem is None
    built = "".join(server.screen)
    assert "not heeded" not in built


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["0", "0", "-1", "20"], "No such option"),
        (["0", "0", "4", "9999999"], "cooldown is 9999999"),
        (["0", "0", "4", "10", "--walls", "d"], "--walls is 'd', but must be all or hv"),
        (["0", "0", "4", "10", "--prey", "1,1"], "has caught the prey"),
    ],
)
def test_what_cant_be_served(words: list[str], why: str, referee: Callable[..., Any]) -> None:
    done = referee("serve", "architect", *words)
    assert done.returncode == 2
    assert why in done.stderr


def test_live_pages_of_a_session(serve: Serve, call: Call) -> None:
    server = serve("serve", "architect", "0", "0", "4", "10", "--max-steps", "20", "--live", "--no-browser")
    session(server, call, quietly, quietly)
    server.finish()
    assert sum(line.startswith("Spectators watch at ") for line in server.screen) == 2


def test_the_second_port_frees_the_first_when_it_is_taken(referee: Callable[..., Any]) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = referee("serve", "architect", "0", str(taken.getsockname()[1]), "8", "20")
    assert done.returncode == 2


def test_callers_without_a_name_keep_nobody_waiting(serve: Serve, call: Call) -> None:
    """Each of them cost the next one six seconds."""
    server = serve("serve", "architect", "0", "0", "4", "10", "--max-steps", "4", "--games", "1")
    squatters = [call(port) for port in server.ports for _ in range(150)]
    threads = [threading.Thread(target=play, args=(call(port), quietly)) for port in server.ports]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    server.finish()
    assert all(squatter.rest() in ([], ["sendname"]) for squatter in squatters[100:150])


@pytest.mark.parametrize(("options", "limit"), [([], 1_000_000), (["--max-steps", "7"], 7)])
def test_no_step_limit_unless_one_is_set(options: list[str], limit: int, serve: Serve, call: Call) -> None:
    """The course's server has none: a recorded game of 12,534 ticks would have been cut at 10,000."""
    server = serve("serve", "architect", "0", "0", "4", "10", "--games", "1", "--json", *options)
    first, second = call(server.ports[0], "Ada"), call(server.ports[1], "Bob")
    assert first.hear() == second.hear() == "sendname"
    assert first.hear() == "hunter"
    first.vanish()
    second.rest()
    (game,) = server.result()["games"]
    with gzip.open(server.folder / game["replay"]) as replay:
        assert json.loads(replay.readline())["settings"]["max_steps"] == limit
