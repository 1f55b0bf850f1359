"""Every starter keeps to the protocol: it flushes, leaves aside what it doesn't know, and exits when the match or its input ends."""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest
from broken_bots import NAMES, ROLES, built

from referee import games

#: Long, and part of every whole run.
pytestmark = pytest.mark.slow

START: dict[str, Any] = {
    "type": "start",
    "protocol": 1,
    "game": "evasion",
    "version": 1,
    "seat": "hunter",
    "clock": {"kind": "fair", "startup": 10.0, "move": None, "bank": 120.5, "increment": 0.0, "new": [1]},
    "seed": 9007199254740991,
    "match": "2c9b8e5f7a1d4c60",
    "later": {"a": [None, True, False, -1.5e3, {"b": []}, '\u00e9\u4e2d\\"\n\t\ud83d\ude00']},
}


def start(rules: str) -> dict[str, Any]:
    """A start message of a later protocol, with fields that no bot knows."""
    codec = games.get("evasion").codec
    return {**START, "rules": rules, "settings": {**codec.settings_json(codec.settings(rules, {})), "later": {"x": "}"}}}


def turn(number: int, **state: Any) -> dict[str, Any]:
    """A question with the prey right ahead of the hunter, with fields that no bot knows."""
    position = {
        "later": [[{}]],
        "step": number,
        "hunter": {"x": 50, "y": 50, "dx": 1, "dy": 1, "z": 0},
        "prey": {"x": 60, "y": 50, "dx": 0, "dy": 0, "z": {}},
        "walls": [{"id": 4, "kind": "vertical", "x1": 10, "y1": 0, "x2": 10, "y2": 299, "color": "red"}],
        "wall_timer": 0,
        "prey_moves": False,
    }
    notices = [{"code": "wall-refused", "text": 'a "quoted" \\u text', "later": 1}]
    left = {"move": 1.0, "bank": None, "later": 1}
    return {"type": "turn", "later": 1, "turn": number, "state": {**position, **state}, "notices": notices, "left": left}


class Conversation:
    """A starter that runs, with its pipes."""

    def __init__(self, name: str) -> None:
        bot = built(name, "hunter")
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
        self.process = subprocess.Popen(
            bot.words, cwd=bot.folder, text=True, encoding="utf-8", env={**os.environ, "REFEREE_PROTOCOL": "1"}, **pipes
        )  # type: ignore[call-overload]

    def send(self, message: dict[str, Any], *, is_ascii: bool = True) -> None:
        self.process.stdin.write(json.dumps(message, ensure_ascii=is_ascii, separators=(",", ":")) + "\n")
        self.process.stdin.flush()

    def ask(self, message: dict[str, Any], **how: Any) -> dict[str, Any]:
        """Its answer, which comes though its input is open: it has flushed."""
        self.send(message, **how)
        line = self.process.stdout.readline()
        assert line, self.rest()
        found: dict[str, Any] = json.loads(line)
        return found

    def rest(self) -> tuple[str, str, int]:
        """What it still writes, and its exit status."""
        out, err = self.process.communicate()
        return out, err, self.process.returncode


@pytest.mark.parametrize(("name", "how"), [(name, how) for name in NAMES for how in ("end", "eof") if (name, how) != ("python", "end")])
def test_a_hunter_of_a_later_protocol(name: str, how: str) -> None:
    """A bot of the SDK reads until the referee closes its input, so it has no case that ends before."""
    bot = Conversation(name)
    ready = bot.ask(start("classic"))
    assert (ready["type"], ready["protocol"], ready["name"]) == ("ready", 1, "MyHunter")
    bot.send({"type": "hello", "later": [1, {"turn": 3}]})
    answer = bot.ask(turn(7), is_ascii=False)
    assert (answer["type"], answer["turn"], answer["move"]["build"]) == ("move", 7, {"kind": "vertical"})
    assert answer["move"].get("remove", []) == []
    assert bot.ask(turn(8, wall_timer=3))["move"] in ({}, {"remove": []})
    bot.send({"type": "weather"})
    if how == "end":
        bot.send(
            {"type": "end", "later": 1, "result": {"reason": "caught", "winner": "hunter", "scores": {"hunter": 9}, "text": "", "steps": 9}}
        )
        # It leaves though its input is open.
        assert bot.process.wait(60) == 0
    assert bot.rest() == ("", "", 0)


@pytest.mark.parametrize("name", NAMES)
def test_a_hunter_refuses_rules_that_it_does_not_play(name: str) -> None:
    bot = Conversation(name)
    bot.send(start("gameserver"))
    rules = "the rules " if name == "python" else ""
    out, err, status = bot.rest()
    assert (out, status) == ("", 1)
    # The log of Go begins each line with the time.
    assert err.endswith(f"MyHunter plays {rules}classic and diagonal, but was asked to play gameserver\n")
    assert len(err.splitlines()) == 1


@pytest.mark.parametrize("role", [role for _, role in ROLES])
def test_go_is_formatted_as_gofmt_does(role: str) -> None:
    bot = built("go", role)
    done = subprocess.run(["gofmt", "-d", "."], cwd=bot.folder, capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")
