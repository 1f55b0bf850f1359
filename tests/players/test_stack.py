"""Where a late Python bot was, in its fault and in its log."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import pytest
from conftest import PATIENT, play_match
from sandboxes import Options, match_between

from referee import games
from referee.isolation.level import Level
from referee.isolation.limits import LIMITS, Limits
from referee.match import match
from referee.match.options import RunOptions
from referee.players import stack
from referee.players.names import resolve

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee.players.player import RunningPlayer
    from referee.replay.faults import Fault

LOOPS = """\
import sys, time
from sdk import HunterBot, PreyBot
class Loops(HunterBot, PreyBot):
    def begin(self):
        if "begin" in sys.argv:
            self.search()
    def hunt(self, state):
        if state.step == 2:
            return self.search()
    def search(self):
        while True:
            if "busy" not in sys.argv: time.sleep(60)
if "load" in sys.argv:
    while True:
        time.sleep(60)
Loops.main()
"""
SHORT = PATIENT.replace(move=1.0)


@pytest.fixture
def loops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A bot that loops forever in its third turn, in the current folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loops.py").write_text(LOOPS)
    return tmp_path


def check(folder: Path, isolation: Level, bot: str = "loops.py") -> None:
    replay = folder / "x.replay.jsonl.gz"
    result = play_match(bot, "still", options=Options(SHORT, RunOptions(max_lateness=60.0), isolation=isolation), replay=replay)
    fault = result.failures["hunter"]
    assert (fault.kind, fault.cause, result.steps) == ("late", "time", 2)
    sentence, _, place = fault.text.partition(" It was at ")
    assert sentence == f"The hunter ({bot}) gave no answer within the move limit of 1 s."
    assert place in ("loops.py:11 in search.", "loops.py:12 in search.")
    log = result.logs["hunter"].read_text()
    assert log.count("Current thread 0x") == 1
    assert "in search" in log


def test_a_loop_in_a_sandbox(isolation: Level, loops: Path) -> None:
    check(loops, isolation, bot=f"{sys.executable} loops.py busy")


@pytest.mark.parametrize("level", ["none", LIMITS])
def test_a_loop_without_walls(loops: Path, level: str) -> None:
    check(loops, Level(level, Limits()))


@pytest.mark.slow
def test_a_loop_before_the_first_turn(loops: Path) -> None:
    # Python must have loaded the SDK by then, on a busy machine too.
    options = Options(PATIENT.replace(startup=5.0), RunOptions(max_lateness=60.0))
    result = play_match(f"{sys.executable} loops.py begin", f"{sys.executable} loops.py load", options=options)
    assert not result.started
    for seat, places in (("hunter", (":12 in search.", ":13 in search.")), ("prey", (":15.", ":16."))):
        text = result.failures[seat].text
        assert "gave no answer to the start message within the start-up limit of 5 s." in text
        assert text.endswith(tuple(f" It was at loops.py{place}" for place in places))


def test_the_program_behind_a_shell_script(loops: Path) -> None:
    script = loops / "script"
    script.write_text(f"#!/bin/sh\n{sys.executable} loops.py\nexit 3\n")
    script.chmod(0o755)
    assert " in search." in play_match("./script", "still", options=Options(SHORT, RunOptions(max_lateness=60.0))).failures["hunter"].text


HOSTILE_ONES = {
    "its own handler, which says nothing": "signal.signal(signal.SIGURG, lambda *_: None)\nlate()",
    "blocks the signal": "signal.signal(signal.SIGURG, lambda *_: None)\nsignal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGURG])\nlate()",
    "stops itself": "signal.signal(signal.SIGURG, lambda *_: None)\nos.kill(os.getpid(), signal.SIGSTOP)",
    "writes without end": "faulthandler.register(signal.SIGURG)\nwhile True:\n    os.write(2, b'x' * 1000)",
    "answers then": 'signal.signal(signal.SIGURG, lambda *_: os.write(1, b\'{"type":"move","turn":0,"move":{}}\\n\'))\nlate()',
    "leaves then": "signal.signal(signal.SIGURG, lambda *_: os._exit(9))\nlate()",
    "closes its stderr": "signal.signal(signal.SIGURG, lambda *_: os.close(2))\nlate()",
    "tells of a place with escapes": (
        "text = b'Current thread 0x0 (most recent call first):\\n  File \"\\x1b[2J<b>\", line 7 in <module>\\n'\n"
        "signal.signal(signal.SIGURG, lambda *_: os.write(2, text))\nlate()"
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", HOSTILE_ONES)
def test_a_bot_gains_nothing_by_the_signal(name: str, tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.write_text(
        "import faulthandler, json, os, signal, sys, time\ndef late():\n    while True:\n        time.sleep(60)\n"
        "sys.stdin.readline()\nprint(json.dumps({'type': 'ready', 'protocol': 1}), flush=True)\nsys.stdin.readline()\n" + HOSTILE_ONES[name]
    )
    result = play_match(str(bot), "still", options=Options(SHORT, RunOptions(max_lateness=60.0)))
    fault = result.failures["hunter"]
    assert fault.kind == "late"
    assert result.steps == 0
    sentence = f"The hunter ({bot}) gave no answer within the move limit of 1 s."
    assert fault.text == sentence + (" It was at \\x1b[2J<b>:7." if "escapes" in name else " Did it flush its output?")


def test_the_others_stand_still_meanwhile(isolation: Level, loops: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Looks at the opponent while the late bot is asked for its stack: it must not gain time."""
    seen: list[bool] = []

    def asked(faults: Mapping[str, Fault], players: Mapping[str, RunningPlayer], *, stop_idle: bool) -> dict[str, stack.Whereabouts]:
        def looks(pid: int, number: int) -> None:
            other = players["prey"].process
            assert other is not None
            seen.append(other.is_stopped or not other.holds)
            kill(pid, number)

        kill = os.kill
        monkeypatch.setattr(os, "kill", looks)
        return stack.places(faults, players, stop_idle=stop_idle)

    monkeypatch.setattr(match, "places", asked)
    result = play_match("loops.py", "still", options=Options(SHORT, RunOptions(max_lateness=60.0), isolation=isolation))
    assert " in search." in result.failures["hunter"].text
    assert seen == [True]


def test_a_game_goes_on_without_a_late_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "slow.py").write_text(
        "from sdk import RectangleBot\nclass Slow(RectangleBot):\n    def place(self, state):\n        while True:\n            pass\n"
        "    def orders(self, state):\n        return None\nSlow.main()\n"
    )
    game = games.get("rectangle")
    settings = game.codec.settings(None, {"cap": 3})
    names = dict.fromkeys(game.seats(settings), "idle") | {game.seats(settings)[0]: "slow.py"}
    bots = {seat: resolve(name, seat, "rectangle") for seat, name in names.items()}
    result = match_between(game, settings, bots, Options(SHORT, RunOptions(max_lateness=60.0))).run()
    assert list(result.faults) == [game.seats(settings)[0]]
    assert " It was at slow.py:" in result.failures[game.seats(settings)[0]].text
    assert result.steps > 1


RAW = """\
import json, sys
def search():
    while True: pass
out = open(1, "w", buffering=1 << 16, closefd=False)
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print('{"type":"ready","protocol":1}', flush=True)
    elif "loops" in sys.argv:
        search()
    else:
        out.write('{"type":"move","turn":%d,"move":{}}\\n' % message["turn"])
"""


@pytest.mark.parametrize(
    ("words", "end"),
    [(" loops", "limit of 1 s. It was at raw.py:3 in search."), ("", " s. Did it flush its output? It was at raw.py:5.")],
)
def test_a_loop_without_the_sdk(words: str, end: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "raw.py").write_text(RAW)
    replay = tmp_path / "x.replay.jsonl.gz"
    result = play_match(f"{sys.executable} raw.py{words}", "still", options=Options(SHORT, RunOptions(max_lateness=60.0)), replay=replay)
    fault = result.failures["hunter"]
    assert (fault.kind, fault.text[-len(end) :]) == ("late", end)
    assert "most recent call first" in result.logs["hunter"].read_text()


@pytest.mark.slow
def test_a_loop_before_it_is_ready_gets_no_advice_about_flushing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "raw.py").write_text("while True: pass\n")
    # Python must run the loop by then, on a busy machine too.
    options = Options(PATIENT.replace(startup=5.0), RunOptions(max_lateness=60.0))
    result = play_match(f"{sys.executable} raw.py", "still", options=options)
    assert result.failures["hunter"].text.endswith("within the start-up limit of 5 s. It was at raw.py:1.")


def test_a_program_without_the_sdk_takes_no_signal() -> None:
    assert signal.getsignal(signal.SIGURG) == signal.SIG_DFL
    assert not stack.has_signal(os.getpid(), ("SigCgt",), unknown=True)
