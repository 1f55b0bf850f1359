"""Old programs as players: behind a relay, in and out of the sandbox, in other languages, and when they fail."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from sandboxes import PATIENT, UNHURRIED, match_between, missing, need

from referee import games
from referee.errors import PlayerError, StartError
from referee.isolation.choose import choose
from referee.isolation.limits import Limits
from referee.players.names import resolve
from referee.replay.reader import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.match.options import TimeControl
    from referee.replay.events import MatchResult

CLIENTS = Path(__file__).parents[1] / "clients"
PYTHON = f"architect: {sys.executable} {CLIENTS / 'architect_client.py'} {{port}} Old"
GAME = games.get("evasion")


def play(
    hunting: str,
    fleeing: str,
    replay: Path,
    *,
    rules: str = "diagonal",
    level: str = "none",
    time: TimeControl | None = None,
    **settings: Any,
) -> MatchResult:
    bots = {seat: resolve(text, seat, "evasion") for seat, text in (("hunter", hunting), ("prey", fleeing))}
    isolation = choose(level, Limits(), [*bots.values()])
    options = UNHURRIED._replace(isolation=isolation)
    checked = GAME.codec.settings(rules, {"max_steps": 200, **settings})
    times = {} if time is None else {"hunter": time}
    result = match_between(GAME, checked, bots, options, seed=1, replay=replay, times=times).run()
    assert verify(replay).problem is None
    return result


@pytest.mark.parametrize("level", ["none", "limits", "strict"])
def test_an_old_hunter_and_an_old_prey(level: str, tmp_path: Path) -> None:
    if level == "strict":
        need(not missing(), missing())
    replay = tmp_path / "game.replay.jsonl.gz"
    result = play(PYTHON, PYTHON, replay, level=level)
    assert not result.faults
    assert result.names == {"hunter": "Old", "prey": "Old"}
    assert len(result.state.walls) > 1
    # The prey is asked in every tick, and heeded in odd ones.
    assert result.times["prey"].answers == result.steps == 200
    assert result.head["players"]["prey"]["dialect"] == "architect"


def test_a_client_in_javascript_hunts_and_flees(tmp_path: Path) -> None:
    need(shutil.which("node") is not None, "node is missing")
    node = f"gameserver: node {CLIENTS / 'gameserver_client.js'} {{port}}"
    level = "auto"
    result = play(
        node,
        node,
        tmp_path / "game.replay.jsonl.gz",
        rules="gameserver",
        level=level,
        max_steps=300,
        prey=(60, 40),
        hunter=(100, 100, 1, 1),
    )
    assert not result.faults
    assert result.names == {"hunter": "node", "prey": "node"}
    assert result.state.next_id > 2, "it has built walls"
    replay = "".join(str(line) for line in verify(tmp_path / "game.replay.jsonl.gz").head.items())
    assert "gameserver" in replay


def test_a_client_in_c_plays_a_bot(tmp_path: Path) -> None:
    need(shutil.which("gcc") is not None, "gcc is missing")
    program = tmp_path / "client"
    subprocess.run(["gcc", "-O1", "-o", program, CLIENTS / "architect_client.c"], check=True)
    result = play(f"architect: {program} {{port}}", "evader", tmp_path / "game.replay.jsonl.gz", level="auto", cooldown=5)
    assert not result.faults
    assert len(result.state.walls) > 2


HEAD = "import socket, sys, time\nport = int(sys.argv[1])\n"
CONNECT = HEAD + "s = socket.create_connection(('127.0.0.1', port))\nf = s.makefile('rw')\n"

FAULTS = {
    "never connects": (
        HEAD + "sys.stdin.read(); time.sleep(60)",
        "late",
        "did not connect to its port and tell its name by the architect protocol",
    ),
    "connects and is silent": (CONNECT + "time.sleep(60)", "late", "did not connect to its port and tell its name"),
    "exits at once": ("raise SystemExit(7)", "crashed", "exited with status 7"),
    "exits in the game": (
        CONNECT + "f.readline(); f.write('me\\n'); f.flush(); f.readline(); f.readline(); sys.exit(5)",
        "crashed",
        "exited with status 5",
    ),
    "localhost": (
        CONNECT.replace("127.0.0.1", "localhost") + "f.readline(); f.write('me\\n'); f.flush(); sys.exit(6)",
        "crashed",
        "exited with status 6",
    ),
    "binary": (CONNECT + "f.readline(); f.write('me\\n\\x00\\n'); f.flush(); time.sleep(60)", "malformed", "is not text"),
    "1 MB": (
        CONNECT + "f.readline(); f.write('me\\n' + 'x' * (1 << 20)); f.flush(); time.sleep(60)",
        "malformed",
        "more than 65,536 bytes",
    ),
    "hangs up and lives on": (
        CONNECT + "f.readline(); f.write('me\\n'); f.flush(); f.close(); s.shutdown(2); s.close(); time.sleep(60)",
        "crashed",
        "closed its connection",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_each_failure_is_told_as_what_it_is(name: str, tmp_path: Path) -> None:
    code, kind, said = FAULTS[name]
    (tmp_path / "old.py").write_text(code)
    time = PATIENT.replace(startup=1.0) if kind == "late" else PATIENT
    result = play(f"architect: {sys.executable} {tmp_path / 'old.py'} {{port}}", "still", tmp_path / "game.replay.jsonl.gz", time=time)
    fault = result.failures["hunter"]
    assert fault.kind == kind, fault
    assert said in fault.text


def test_a_client_knows_its_host_by_name_in_the_sandbox(tmp_path: Path) -> None:
    need(not missing(), missing())
    for name, text in (("architect_client.py", "python {} {{port}}"), ("gameserver_client.js", "node {} {{port}}")):
        if not shutil.which(text.split()[0]):
            continue
        client = tmp_path / name
        client.write_text((CLIENTS / name).read_text().replace("127.0.0.1", "localhost"))
        dialect = "architect" if name.startswith("arch") else "gameserver"
        rules = "diagonal" if dialect == "architect" else "gameserver"
        result = play(f"{dialect}: {text.format(client)}", "still", tmp_path / f"{dialect}.replay.jsonl.gz", rules=rules, level="strict")
        assert not result.faults


def test_files_and_folders_may_have_their_port_after_them(tmp_path: Path) -> None:
    folder = tmp_path / "team"
    folder.mkdir()
    for place in (folder / "hunter.py", tmp_path / "old.py"):
        shutil.copy(CLIENTS / "architect_client.py", place)
    for number, text in enumerate((f"{folder} {{port}}", f"{tmp_path / 'old.py'} {{port}} Named")):
        assert not play(f"Architect: {text}", "still", tmp_path / f"{number}.replay.jsonl.gz", level="auto").faults


def test_two_programs_that_want_one_port(tmp_path: Path, referee: Callable[..., Any]) -> None:
    need(shutil.which("node") is not None, "node is missing")
    shutil.copy(CLIENTS / "gameserver_client.js", tmp_path / "client.js")
    words = ["gameserver: node client.js", "gameserver: node client.js", "--rules", "gameserver", "--max-steps", "40", "-q"]
    done = referee("play", *words, "--isolation", "none")
    assert done.returncode == 2
    assert "Both programs expect a server on port 23000" in done.stderr
    # What can't be had is refused before a page opens.
    live = referee("play", *words, "--isolation", "none", "--live", "--no-browser")
    assert (live.returncode, live.stderr) == (2, done.stderr)
    if not missing():
        assert referee("play", *words).returncode == 0


def test_what_it_prints_is_in_its_log(tmp_path: Path) -> None:
    client = tmp_path / "old.py"
    client.write_text("print('to stdout', flush=True)\n" + (CLIENTS / "architect_client.py").read_text())
    result = play(f"architect: {sys.executable} {client} {{port}}", "still", tmp_path / "game.replay.jsonl.gz")
    assert result.logs["hunter"].read_text() == "to stdout\n"


def test_a_program_that_cant_be_run(tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    broken.write_text("no program")
    broken.chmod(0o755)
    with pytest.raises(StartError, match=r"The hunter .* can't be started"):
        play(f"architect: {broken} {{port}}", "still", tmp_path / "game.replay.jsonl.gz")


@pytest.mark.parametrize(
    ("text", "rules", "why"),
    [
        ("architect: python player.py", "diagonal", r"has no place for its port; write, for example, architect: python player.py \{port\}"),
        ("architect:", "diagonal", "has no program after the dialect"),
        ("architect: human {port}", "diagonal", "no program on the PATH"),
        ("gameserver: human", "gameserver", "is not a program that could speak"),
        ("gameserver: architect: python x.py {port}", "gameserver", "is not a program that could speak"),
        ("architect: python x.py {port}", "gameserver", "the architect dialect is for diagonal and classic"),
        ("gameserver: python x.py {port}", "classic", "the gameserver dialect is for gameserver"),
        ("architekt: python x.py {port}", "diagonal", "has an unknown dialect; known dialects: gameserver, architect"),
        ("architect: nosuchprogram {port}", "diagonal", "is no program on the PATH"),
    ],
)
def test_what_names_no_old_program(text: str, rules: str, why: str) -> None:
    with pytest.raises(PlayerError, match=why):
        resolve(text, "hunter", "evasion", GAME.codec.settings(rules, {}))


def test_on_the_command_line_and_in_a_duel(tmp_path: Path, referee: Callable[..., Any]) -> None:
    shutil.copy(CLIENTS / "architect_client.py", tmp_path / "player.py")
    done = referee(
        "duel", f"architect: {sys.executable} player.py {{port}} A", "random", "--rules", "diagonal", "--max-steps", "100", "-q", "--json"
    )
    assert done.returncode == 0, done.stderr
    assert '"fault": null' in done.stdout
    done = referee("play", "architect: python player.py {port}", "still", "--rules", "gameserver")
    assert done.returncode == 2
    assert "has no words for the rule set gameserver" in done.stderr
