"""Bots of authors for tests: a good bot with one change each that the checks find, bots that follow a script, and starters that are built once."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import TYPE_CHECKING, NamedTuple

from sandboxes import need

from referee import games
from referee.author.check.run import CHECKS, CheckRequest, Report, run
from referee.author.starters.compose import choose
from referee.author.starters.write import write_file
from referee.isolation.limits import NONE, Limits
from referee.match.options import TimeControl
from referee.players.languages import LANGUAGES, Language

if TYPE_CHECKING:
    from collections.abc import Iterable

GOOD = """
import json, os, signal, subprocess, sys, threading, time

ASKED = []

def put(text):
    sys.stdout.write(text + "\\n")
    sys.stdout.flush()

def ready(start):
    put(json.dumps({"type": "ready", "protocol": 1, "name": "Good"}))

def turn(question):
    state, number = question["state"], question["turn"]
    move = {}
    put(json.dumps({"type": "move", "turn": number, "move": move}))
    ASKED.append(number)

def end(result):
    pass

def other(message):
    pass

def lines():
    return sys.stdin

for line in lines():
    message = json.loads(line)
    {"start": ready, "turn": turn, "end": lambda message: end(message["result"])}.get(message["type"], other)(message)
"""
#: Where the changes go: before the bot reads, into its start, before it makes a move, after it has answered, and its end.
_SETUP, _START, _MOVE, _AFTER, _END = (
    "ASKED = []\n",
    "def ready(start):\n",
    "    move = {}\n",
    "    ASKED.append(number)\n",
    "def end(result):\n",
)
_ANSWER = '{"type": "move", "turn": number, "move": move}'
_READS = "def lines():\n    return sys.stdin\n"


class Broken(NamedTuple):
    """A bot that is broken: ``changes`` of the good bot, and the checks that it doesn't pass: those that fail, and those that warn.

    ``may`` are checks that may say something too, depending on the machine. ``time`` and ``limits`` are those of the check.
    """

    changes: tuple[tuple[str, str], ...]
    fails: frozenset[str] = frozenset()
    warns: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()
    seat: str = "hunter"
    time: TimeControl = TimeControl()
    limits: Limits = Limits()

    @property
    def source(self) -> str:
        """The program."""
        text = GOOD
        for old, new in self.changes:
            assert old in text, old
            text = text.replace(old, new)
        return text


def _bot(place: str, code: str, fails: str = "", warns: str = "", **more: object) -> Broken:
    """A bot with a line of code at a place: indented as it needs there, before the answer is made or after it."""
    new = f"{place}{code}\n"
    may = frozenset(str(more.pop("may", "")).split())
    return Broken(((place, new),), frozenset(fails.split()), frozenset(warns.split()), may, **more)  # type: ignore[arg-type] # the names of fields


def _said(old: str, new: str, fails: str = "", warns: str = "", **more: object) -> Broken:
    """A bot with a change of its text."""
    return _bot(old, "", fails, warns, **more)._replace(changes=((old, new),))


_QUICK = TimeControl(startup=1.0)
#: What a bot with a fixed idea of the time has of it.
_SHORT = TimeControl(move=0.2)

#: A bot for each part of a check, by its name.
BROKEN: dict[str, Broken] = {
    # The start
    "starts": _bot(_SETUP, "raise SystemExit('no settings file')", "starts"),
    "ready": _said('"ready", "protocol": 1', '"ready", "protocol": 2', "ready"),
    "quiet-at-start": _said('"name": "Good"}))', '"name": "Good"}) + "\\nhello")', "only-answers"),
    "unknown-start-fields": _bot(_START, "    assert 'weather' not in start, 'unknown'", "start-messages"),
    "no-limits": _bot(_MOVE, "    question['left']['bank'] - 1", "start-messages"),
    "cpu-clock": _bot(_START, "    assert start['clock']['kind'] != 'cpu'", "start-messages"),
    "seeds": _bot(_START, "    1 / start['seed']", "start-messages"),
    "other-settings": _bot(_START, "    assert start['rules'] != 'classic' or start['settings']['width'] == 300", "other-settings"),
    "rule-sets": _bot(_MOVE, "    state['hunter']['dx']", "", "rule-sets"),
    # The answers
    "answers": _bot(_MOVE, "    if number == 3: return", "answers match", may="same-seed", time=_SHORT),
    "flushes": _said("    sys.stdout.flush()\n", "", "flushes ready", time=_QUICK)._replace(
        changes=(("    sys.stdout.flush()\n", ""), (_SETUP, f"{_SETUP}sys.stdout = open(1, 'w', 1 << 16)\n"))
    ),
    "valid-json": _said(_ANSWER, '{"type": "move", "turn": number, "move": move, "worth": float("nan")}', "well-formed", may="rule-sets"),
    "one-line-answers": _said(_ANSWER + "))", _ANSWER + ", indent=1))", "well-formed"),
    "only-answers": _bot(_MOVE, "    put('debug')", "only-answers"),
    "move-messages": _said('{"type": "move"', '{"type": "answer"', "well-formed", may="rule-sets"),
    "right-turn": _said('"turn": number', '"turn": number + 1', "well-formed"),
    "well-formed-moves": _bot(_MOVE, "    move = {'build': 7}", "well-formed", may="rule-sets"),
    "only-when-asked": _bot(_AFTER, "    put('done')", "only-answers"),
    "known-keys": _bot(_MOVE, "    move = {'biuld': 7}", "", "well-formed"),
    "remarks": _said('"move": move}', '"move": move, "say": "x" * 600}', "", "well-formed"),
    # Positions
    "empty-board": _bot(_MOVE, "    number == 100 and state['walls'][0]", "positions match"),
    "full-board": _bot(_MOVE, "    assert len(state['walls']) != 10", "positions"),
    "last-step": _bot(_MOVE, "    number == 9999 and [][0]", "positions"),
    "long-state": _said("    message = json", "    assert len(line) < 65536\n    message = json", "positions"),
    "edges": _bot(_MOVE, "    assert (state['prey']['x'], state['prey']['y']) != (299, 0)", "positions", may="match rule-sets"),
    "stuck": _bot(_MOVE, "    assert len(state['walls']) != 4", "positions"),
    "about-to-end": _bot(_MOVE, "    assert number != 500 or state['prey']['y'] != state['hunter']['y'] or state['walls']", "positions"),
    # Reading
    "in-pieces": _said(
        _READS,
        "def lines():\n    while data := os.read(0, 1 << 20):\n        yield from data.splitlines()\n",
        "positions",
    ),
    "unknown-fields": _bot(_MOVE, "    assert len(question) == 5", "unknown-fields"),
    "unknown-messages": _said("def other(message):\n    pass", "def other(message):\n    raise ValueError(message)", "unknown-fields"),
    "refusals": _bot(_MOVE, "    assert all(notice['code'] == 'ignored' for notice in question['notices'])", "wire-forms"),
    "unusual-texts": _said("    message = json", "    assert line.isascii()\n    message = json", "wire-forms"),
    "turn-jumps": _bot(_MOVE, "    assert not ASKED or number <= ASKED[-1] + 2", "wire-forms"),
    "no-time-left": _bot(_MOVE, "    limit = question['left']['bank']; limit is None or 1 / limit", "wire-forms"),
    # Time and memory
    "median-time": _bot(_MOVE, "    time.sleep(0.25)", "slow-answers match", may="whole-match", time=_SHORT),
    "slow-answers": _bot(_MOVE, "    number == 40 and time.sleep(0.3)", "slow-answers match", may="whole-match", time=_SHORT),
    "whole-match": _bot(
        _MOVE,
        "    begun = time.process_time()\n    while time.process_time() < begun + 0.003: pass",
        "",
        "whole-match",
        time=TimeControl(bank=10.0),
    ),
    "idle-time": _bot(
        _SETUP,
        "def spin():\n    while True: pass\nthreading.Thread(target=spin, daemon=True).start()",
        "",
        "idle-time",
        may="whole-match slow-answers",
    ),
    "memory": _bot(_SETUP, "KEPT = b'x' * (60 << 20)", "memory", limits=Limits(memory_bytes=48 << 20)),
    "memory-growth": _bot(_MOVE, "    KEPT.append(b'x' * (1 << 19))", "", "memory")._replace(
        changes=((_SETUP, f"{_SETUP}KEPT = []\n"), (_MOVE, f"{_MOVE}    KEPT.append(b'x' * (1 << 19))\n"))
    ),
    "start-time": _bot(_START, "    time.sleep(1.6)", "", "start-time", time=TimeControl(startup=3.0)),
    # The end
    "exits-at-end": _bot(_END, "    time.sleep(60)", "exits-at-end"),
    "exit-status": _bot(_END, "    raise SystemExit(3)", "", "exits-at-end"),
    # Matches
    "match": _bot(_MOVE, "    assert number != 160", "match"),
    "refused-moves": _bot(_MOVE, "    move = {'build': {'kind': 'vertical'}}", "", "match", may="rule-sets"),
    "same-seed": _bot(_MOVE, "    move = {'go': [os.urandom(1)[0] % 3 - 1, 0]}", "", "same-seed", may="rule-sets", seat="prey"),
}
SHELL = """#!/bin/sh
# It answers every message as if it were a question.
while read -r line; do
    case $line in
        *'"type":"start"'*) echo '{"type":"ready","protocol":1,"name":"Shell"}' ;;
        *'"type":"end"'*) exit 0 ;;
        *)
            turn=${line#*'"turn":'}
            echo '{"type":"move","turn":'"${turn%%,*}"',"move":{}}'
            ;;
    esac
done
"""
NODE = """
const input = require("readline").createInterface({ input: process.stdin });
input.on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "start") console.log(JSON.stringify({ type: "ready", protocol: 1, name: "Node" }));
  if (message.type === "turn") console.log(JSON.stringify({ type: "move", turn: message.turn, move: {} }, null, 2));
});
"""
C = r"""
#include <stdio.h>
#include <string.h>
/* It reads into a buffer of a fixed size, and flushes. */
int main(void) {
    static char line[16384];
    while (fgets(line, sizeof line, stdin)) {
        char *turn = strstr(line, "\"turn\":");
        if (strstr(line, "\"type\":\"start\"")) puts("{\"type\":\"ready\",\"protocol\":1,\"name\":\"C\"}");
        else if (turn && strstr(line, "\"left\":")) printf("{\"type\":\"move\",\"turn\":%d,\"move\":{}}\n", (int)strtol(turn + 7, 0, 10));
        fflush(stdout);
    }
    return 0;
}
"""


def check(
    bot: str,
    seats: str | tuple[str, ...] = "hunter",
    only: Iterable[str] = (),
    time: TimeControl | None = None,
    limits: Limits | None = None,
    level: str = NONE,
) -> Report:
    """Check a bot outside of a sandbox: some checks, or all."""
    game = games.get("evasion")
    names = set(only) or {check.name for check in CHECKS}
    request = CheckRequest(
        bot,
        game,
        game.codec.settings(None, {}),
        (seats,) if isinstance(seats, str) else seats,
        level,
        limits or Limits(),
        time or TimeControl(),
        tuple(check for check in CHECKS if check.name in names),
    )
    return run(request)


def named(report: Report, status: str) -> set[str]:
    """Return the checks with a status."""
    return {one.check.name for one in report.results if one.finding.status == status}


def texts(report: Report) -> dict[str, str]:
    """Return the texts of the results, by check."""
    return {one.check.name: one.finding.text for one in report.results}


#: A bot for every game and seat that does nothing, but for what ``special`` says; it writes down what it reads.
BOT = """
import json, sys
seen = open(sys.argv[1], "a") if len(sys.argv) > 1 else None
for line in sys.stdin:
    message = json.loads(line)
    if seen:
        print(line, end="", file=seen, flush=True)
    if message["type"] == "start":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "turn":
        turn, move, extra = message["turn"], {}, {}
        SPECIAL
        print(json.dumps({"type": "move", "turn": turn, "move": move, **extra}), flush=True)
"""


def bot(folder: Path, name: str, special: str = "pass") -> str:
    """Write such a bot and return its path."""
    path = folder / f"{name}.py"
    path.write_text(BOT.replace("SPECIAL", special))
    return str(path)


NAMES = [language.name for language in LANGUAGES]
#: Every seat that has starters, with its game.
ROLES = [("evasion", "hunter"), ("evasion", "prey"), ("maze", "thief"), ("maze", "policeman"), ("rectangle", "painter")]


class Built(NamedTuple):
    """A starter that can run: its folder, its command line as words, and the player that stands for it in that folder."""

    folder: Path
    words: list[str]
    player: str


def need_language(name: str) -> Language:
    """Skip a test on a machine without a language; in CI fail."""
    language = next(language for language in LANGUAGES if language.name == name)
    lacking = language.missing()
    need(not lacking, f"{' and '.join(lacking)} missing")
    return language


@cache
def _top() -> Path:
    folder = Path(mkdtemp(prefix="starters-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@cache
def built(name: str, role: str) -> Built:
    """Return the starter of a language for a role, built by the commands that ``referee new`` prints."""
    language = need_language(name)
    folder = _top() / f"{name}-{role}"
    folder.mkdir()
    was = Path.cwd()
    os.chdir(folder)
    try:
        written = write_file(choose(role, None), language, f"my_{role}{language.suffix}")
    finally:
        os.chdir(was)
    if written.build:
        made = subprocess.run(written.build, shell=True, cwd=folder, capture_output=True, text=True)
        assert made.returncode == 0, made.stdout + made.stderr
        assert "warning" not in made.stdout + made.stderr
    words = written.run.split() or [sys.executable, written.player]
    return Built(folder, words, written.player)
