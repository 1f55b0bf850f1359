"""A bot that closes its stdout and lives on has failed, at every level, without any limit of time."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING

import pytest
from conftest import play_match
from sandboxes import Options, busy

from referee.isolation import bubblewrap
from referee.isolation.level import Level
from referee.isolation.limits import LIMITS, NONE, Limits
from referee.match.options import RunOptions, TimeControl

if TYPE_CHECKING:
    from pathlib import Path

ENDLESS = Options(TimeControl(startup=None, move=None, bank=None), RunOptions(max_lateness=3600.0))

BOT = """
import json, os, sys, time

def close():
    {way}
    while True:
        time.sleep(60)

for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        {start}
        print('{{"type":"ready","protocol":1}}', flush=True)
    elif message["type"] == "turn":
        {turn}
        print(json.dumps({{"type": "move", "turn": message["turn"], "move": {{}}}}), flush=True)
"""
#: How it closes its pipes, and what the fault says then.
WAYS = {
    "closes": ("os.close(1)", "closed its stdout"),
    "executes": ("os.set_inheritable(1, False); os.execv('/bin/sleep', ['sleep', '600'])", "closed its stdout"),
    "has_a_child": ("os.close(1); os.fork() and os.close(0)", "closed its stdout"),
    "closes_both": ("os.close(0); os.close(1); os.close(2)", "closed its stdout"),
    "deaf": ('os.close(0); print(\'{"type":"move","turn":1,"move":{}}\', flush=True)', "closed its stdin, so it can't be asked"),
    "ends": ("os._exit(3)", "exited with status 3"),
    "is_killed": ("os.kill(os.getpid(), 9)", "was killed by SIGKILL"),
}


def bot(folder: Path, way: str, moment: str) -> str:
    """The program that ends its conversation in one of these ways, at the start or in a turn."""
    program = folder / f"{way}.py"
    calls = {"start": "pass", "turn": "pass", moment: "close()" if moment == "start" else "close() if message['turn'] == 1 else None"}
    program.write_text(BOT.format(way=WAYS[way][0], **calls))
    return str(program)


def check(isolation: Level, folder: Path, way: str, moment: str) -> None:
    folder.chmod(0o755)
    result = play_match(bot(folder, way, moment), "still", options=ENDLESS._replace(isolation=isolation), max_steps=5)
    assert list(result.faults) == ["hunter"]
    assert WAYS[way][1] in result.failures["hunter"].text
    assert result.started == (moment == "turn")


CASES = [case for case in itertools.product(WAYS, ("start", "turn")) if case != ("deaf", "start")]


@pytest.mark.parametrize(("way", "moment"), CASES)
def test_it_is_noticed_in_a_sandbox(way: str, moment: str, isolation: Level, tmp_path: Path) -> None:
    check(isolation, tmp_path, way, moment)


@pytest.mark.parametrize("level", [NONE, LIMITS])
@pytest.mark.parametrize("way", ["executes", "has_a_child", "ends"])
def test_it_is_noticed_at_other_levels(way: str, level: str, tmp_path: Path) -> None:
    check(Level(level, Limits()), tmp_path, way, "turn")


def test_the_shell_puts_the_pipes_in_place_where_there_are_no_rules(best: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bubblewrap, "perl_path", lambda: None)
    check(best, tmp_path, "closes", "turn")


def test_how_it_ended_is_known_on_a_busy_machine(best: Level, tmp_path: Path) -> None:
    with busy(4):
        check(best, tmp_path, "ends", "turn")


def test_a_bot_has_its_three_descriptors_alone(best: Level, tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    program = tmp_path / "lists.py"
    program.write_text("import os, sys\nsys.exit(100 + sum(os.path.exists(f'/proc/self/fd/{number}') for number in range(64)))\n")
    result = play_match(str(program), "still", options=ENDLESS._replace(isolation=best), max_steps=5)
    assert "exited with status 103" in result.failures["hunter"].text
