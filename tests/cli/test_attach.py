"""referee debug --attach: a real debugger stops a bot in a turn of a replay."""

from __future__ import annotations

import json
import re
import socket
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import play_match
from debug_client import DebugClient

from referee.author.debugger import PORT

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Iterator

    from commands import Commands, Running

    Cli = Callable[..., subprocess.CompletedProcess[str]]

#: Long, and part of every whole run.
pytestmark = pytest.mark.slow

PREY = """\
from sdk import PreyBot


class Prey(PreyBot):
    def flee(self, state):
        step = (1, 0)
        return step


Prey.main()
"""
ROOT = Path(__file__).parents[2]
#: The line of the breakpoint.
LINE = PREY.splitlines().index("        return step") + 1


@pytest.fixture
def replay(tmp_path: Path) -> str:
    play_match("straight", "runner", replay=tmp_path / "game.gz", max_steps=20)
    (tmp_path / "prey.py").write_text(PREY)
    return "game.gz"


@pytest.fixture
def start(commands: Commands, tmp_path: Path) -> Iterator[Callable[..., Running]]:
    running = []

    def begin(*arguments: str) -> Running:
        running.append(commands.start(*arguments, cwd=tmp_path))
        return running[-1]

    yield begin
    for one in running:
        one.terminate()
        one.wait(60)
        one.stdout.close()
        one.stderr.close()


def attached(running: Running, folder: Path, condition: str) -> DebugClient:
    """Connect to the bot of a command, and set a breakpoint as an editor does."""
    for line in running.stderr:
        if found := re.search(r"debugpy waits for a debugger on 127\.0\.0\.1:(\d+)", line):
            break
    else:
        raise AssertionError("the bot doesn't wait")
    client = DebugClient(int(found[1]))
    client.ask("initialize", clientID="test", adapterID="debugpy", pathFormat="path", linesStartAt1=True, columnsStartAt1=True)
    attach = client.send("attach", justMyCode=True)
    client.event("initialized")
    source = {"path": str(folder / "prey.py")}
    set_there = client.ask("setBreakpoints", source=source, breakpoints=[{"line": LINE, "condition": condition}])
    assert set_there["breakpoints"][0]["verified"]
    client.ask("configurationDone")
    client.answer(attach)
    return client


def test_a_debugger_stops_the_bot_in_the_turn_and_changes_its_answer(replay: str, start: Callable[..., Running], tmp_path: Path) -> None:
    running = start("debug", replay, "--seat", "prey", "--turn", "11", "prey.py", "--attach", "--port", "0", "--json")
    client = attached(running, tmp_path, "self.turn == 11")
    stopped = client.event("stopped")
    assert stopped["reason"] == "breakpoint"
    (frame, *_) = client.ask("stackTrace", threadId=stopped["threadId"])["stackFrames"]
    assert (frame["name"], frame["line"]) == ("flee", LINE)
    assert client.ask("evaluate", expression="self.turn, state.step", frameId=frame["id"], context="watch")["result"] == "(11, 11)"
    client.ask("evaluate", expression="step = (0, 1)", frameId=frame["id"], context="repl")
    client.ask("continue", threadId=stopped["threadId"])
    client.event("terminated")
    stdout, _ = running.communicate(120)
    assert running.returncode == 0
    found = json.loads(stdout)
    assert found["new"]["move"] == {"go": [0, 1]}
    assert found["earlier"]["different"] > 0
    client.close()


def test_the_debugger_stays_while_the_match_is_played_on(replay: str, start: Callable[..., Running], tmp_path: Path) -> None:
    running = start(
        "debug",
        replay,
        "--seat",
        "prey",
        "--turn",
        "11",
        "prey.py",
        "--attach",
        "--port",
        "0",
        "--play-on",
        "--against",
        "straight",
        "--json",
    )
    client = attached(running, tmp_path, "self.turn in (9, 15)")
    turns = []
    for _ in range(2):
        stopped = client.event("stopped")
        (frame, *_) = client.ask("stackTrace", threadId=stopped["threadId"])["stackFrames"]
        turns.append(client.ask("evaluate", expression="self.turn", frameId=frame["id"], context="watch")["result"])
        client.ask("continue", threadId=stopped["threadId"])
    client.event("terminated")
    stdout, _ = running.communicate(120)
    assert turns == ["9", "15"]
    found = json.loads(stdout)
    assert found["match"]["steps"] == 20
    assert not found["match"]["players"]["prey"]["fault"]
    client.close()


def test_the_page_and_the_command_name_the_same_configuration(replay: str, start: Callable[..., Running]) -> None:
    """The port aside, which is a free one here."""
    page = (ROOT / "docs/debugging.md").read_text()
    ((printed,),) = [json.loads(text)["configurations"] for text in re.findall(r"```json\n(.*?)```", page, re.DOTALL)]
    (line,) = [line for line in re.findall(r"```console\n(.*?)```", page, re.DOTALL) if "--attach" in line]
    words = line.replace("my_hunter.py", "straight").replace("game.replay.jsonl.gz", replay).split()
    running = start(*words[1:], "--port", "0")
    told = next(json.loads(line) for line in running.stderr if line.startswith("  {"))
    assert printed["connect"]["port"] == PORT
    for each in (printed, told):
        each["connect"]["port"] = each["name"] = None
    assert printed == told


def test_ctrl_c_ends_a_bot_that_waits(replay: str, start: Callable[..., Running]) -> None:
    running = start("debug", replay, "--seat", "prey", "prey.py", "--attach", "--port", "0")
    assert any("debugpy waits" in line for line in running.stderr)
    running.send_signal(2)
    assert running.wait(60) == 130


def test_what_cannot_be_attached_is_refused(replay: str, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "bot.sh").write_text("#!/bin/sh\n")
    (tmp_path / "bot.sh").chmod(0o755)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        for words, text in (
            (("./bot.sh", "--attach"), "--attach is for Python bots"),
            ((f"{sys.executable} -c pass", "--attach"), "--attach is for Python bots"),
            (("prey.py", "--attach", "--port", port), f"Port {port} can't be used"),
            (("prey.py", "--attach", "--isolation", "strict"), "a debugger can't reach into a sandbox"),
            (("prey.py", "--port", "5678"), "use it with --attach"),
        ):
            done = referee("debug", replay, "--seat", "prey", *words)
            assert done.returncode == 2, done.stderr
            assert text in done.stderr


def test_a_python_without_debugpy_is_told_how_to_get_it(replay: str, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "python3").write_text(f'#!/bin/sh\nexec {sys.executable} -S "$@"\n')
    (tmp_path / "python3").chmod(0o755)
    done = referee("debug", replay, "--seat", "prey", "./python3 prey.py", "--attach")
    assert done.returncode == 2
    assert "--attach needs debugpy in the bot's own Python; install it: " in done.stderr
    assert done.stderr.rstrip().endswith("-m pip install debugpy")
