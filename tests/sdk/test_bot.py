"""The bot's side of the protocol."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest
from conftest import play_match

from referee import games
from sdk import HunterBot, HunterMove, PreyBot, PreyMove, State
from sdk.bot import Conversation

START = {
    "type": "start",
    "protocol": 1,
    "game": "evasion",
    "version": 1,
    "rules": "classic",
    "seat": "hunter",
    "settings": {**games.get("evasion").codec.settings_json(games.get("evasion").codec.settings(None, {})), "from_the_future": 1},
    "clock": {"kind": "fair", "startup": 10, "move": 1, "bank": 120, "increment": 0},
    "seed": 7,
    "match": "abc",
    "new_field": True,
}
TURN: dict[str, Any] = {
    "type": "turn",
    "turn": 0,
    "state": {
        **json.loads(
            games.get("evasion").codec.view_text(games.get("evasion").start(games.get("evasion").codec.settings(None, {}), b""), None)
        ),
        "weather": "fine",
    },
    "notices": [],
    "left": {"move": 1.0, "bank": 120.0},
    "mood": None,
}


class Both(HunterBot, PreyBot):
    name = "Both"

    def hunt(self, state: State) -> HunterMove | None:
        return self.build("vertical", (0, 5), remove=[3])

    def flee(self, state: State) -> PreyMove | None:
        return self.go(1, -1)


def converse(bot: type[HunterBot | PreyBot], *messages: dict[str, Any]) -> list[Any]:
    conversation = Conversation(bot)
    answers = [conversation.answer(json.dumps(message).encode()) for message in messages]
    return [answer and json.loads(answer) for answer in answers]


def test_a_class_may_play_both_seats() -> None:
    assert converse(Both, START, TURN) == [
        {"type": "ready", "protocol": 1, "name": "Both"},
        {"type": "move", "turn": 0, "move": {"build": {"kind": "vertical", "span": [0, 5]}, "remove": [3]}},
    ]
    assert converse(Both, {**START, "seat": "prey"}, TURN)[1]["move"] == {"go": [1, -1]}


def test_unknown_fields_and_message_types_break_nothing() -> None:
    assert converse(Both, START, {"type": "weather", "state": 3}, TURN)[1] is None


def test_what_a_bot_knows() -> None:
    seen: list[Any] = []

    class Curious(HunterBot):
        def begin(self) -> None:
            seen.append((self.seat, self.rules, self.seed, self.match, self.settings.width))

        def hunt(self, state: State) -> None:
            now = self.left.now()
            seen.append((self.turn, self.notices, self.left.move, self.left.bank, now is not None and 0 < now <= 1))

        def finish(self, result: dict[str, Any]) -> None:
            seen.append(result["reason"])

    converse(Curious, START, {**TURN, "turn": 4, "notices": [{"code": "x", "text": "y"}]}, {"type": "end", "result": {"reason": "evaded"}})
    assert seen == [("hunter", "classic", 7, "abc", 300), (4, [{"code": "x", "text": "y"}], 1.0, 120.0, True), "evaded"]


@pytest.mark.parametrize("rules", [("classic",), ["diagonal", "classic"], "classic", ""])
def test_a_class_names_its_rule_sets_and_a_bot_knows_that_of_its_match(rules: Any) -> None:
    class Mine(HunterBot):
        def begin(self) -> None:
            assert self.rules == "classic"

    Mine.rules = rules
    assert Conversation(Mine).answer(json.dumps(START).encode())
    if rules:
        with pytest.raises(SystemExit, match=r"Mine plays the rules .*, but was asked to play gameserver"):
            Conversation(Mine).answer(json.dumps({**START, "rules": "gameserver"}).encode())


@pytest.mark.parametrize("rules", [5, None, {"classic": True}])
def test_rules_that_are_no_names_are_refused(rules: Any) -> None:
    with pytest.raises(TypeError, match=r"Mine\.rules is .*; it must name rule sets, such as rules = \(\"classic\",\)"):
        type("Mine", (HunterBot,), {"rules": rules})


def test_settings_are_attributes_and_keys() -> None:
    class Keys(HunterBot):
        def hunt(self, state: State) -> None:
            assert self.settings.width == state.settings.width == 300
            # As bots did when the settings were a dict.
            old: Any = self.settings
            assert old["width"] == old.get("width") == dict(old.items())["width"] == 300
            assert old["from_the_future"] == 1
            assert old.get("nothing") is None
            assert "width" in old
            assert "nothing" not in old
            assert self.settings == state.settings

    ready, answer = converse(Keys, START, TURN)
    assert ready["type"] == "ready"
    assert answer == {"type": "move", "turn": 0, "move": {}}


def test_randomness_comes_from_the_seed() -> None:
    class Roller(HunterBot):
        def hunt(self, state: State) -> None:
            self.say(str(self.random.random()))

    first, again = converse(Roller, START, TURN)[1], converse(Roller, START, TURN)[1]
    other = converse(Roller, {**START, "seed": 8}, TURN)[1]
    assert first == again != other


def test_remarks_and_their_limits(capsys: pytest.CaptureFixture[str]) -> None:
    class Painter(HunterBot):
        def hunt(self, state: State) -> None:
            if self.turn == 0:
                self.say("x" * 600)
                self.draw.line((0, 0), (1, 1), "red")
                self.draw.rect((0, 0), (1, 1))
                self.draw.text((0, 0), "hello")
                self.draw.cells([(1, 2)])
            elif self.turn == 1:
                self.say("\ud800 alone")
                self.draw.cells([(x, y) for x in range(100) for y in range(100)])

    answers = converse(Painter, START, TURN, {**TURN, "turn": 1}, {**TURN, "turn": 2})
    assert len(answers[1]["say"]) == 500
    assert [shape["shape"] for shape in answers[1]["draw"]] == ["line", "rect", "text", "cells"]
    assert answers[2] == {"type": "move", "turn": 1, "move": {}, "say": "? alone"}
    assert answers[3] == {"type": "move", "turn": 2, "move": {}}
    warned = capsys.readouterr().err
    assert "say was cut" in warned
    assert "draw was dropped" in warned


@pytest.mark.parametrize("answer", ["north", (2, 0), (1,), 3])
def test_a_wrong_return_value_is_explained(answer: Any) -> None:
    class Wrong(PreyBot):
        def flee(self, state: State) -> Any:
            return answer

    with pytest.raises(TypeError, match="must be None or"):
        converse(Wrong, {**START, "seat": "prey"}, TURN)


def test_a_method_that_is_missing_is_named() -> None:
    class Lazy(HunterBot):
        pass

    with pytest.raises(TypeError, match="Lazy must define hunt"):
        converse(Lazy, START, TURN)


def write(tmp_path: Path, body: str) -> str:
    path = tmp_path / "bot.py"
    path.write_text("from sdk import HunterBot\n" + textwrap.dedent(body))
    return str(path)


def test_an_exception_ends_the_bot_with_its_traceback_and_a_fault(tmp_path: Path) -> None:
    bot = write(
        tmp_path,
        """
        class Buggy(HunterBot):
            def hunt(self, state):
                return [][state.step - 3]

        Buggy.main()
        """,
    )
    result = play_match(bot, "still", replay=tmp_path / "x.gz")
    assert f"exited with status 1: IndexError: list index out of range, at {bot}:5 in hunt." in result.failures["hunter"].text
    log = result.logs["hunter"].read_text()
    assert "Traceback" in log
    assert "return [][state.step - 3]" in log


def test_a_bot_asked_to_play_the_other_seat_says_so(tmp_path: Path) -> None:
    bot = write(tmp_path, "HunterBot.main()\n")
    result = play_match("straight", bot)
    assert not result.started
    assert "HunterBot plays hunter, but was asked to play prey" in result.failures["prey"].text


@pytest.mark.parametrize(
    ("name", "plays"),
    [
        ("evasion/boxer.py", "Boxer is a bot that plays hunter."),
        ("evasion/still.py", "Still is a bot that plays prey."),
        ("maze/dasher.py", "Dasher is a bot that plays thief."),
        ("rectangle/team.py", "Team is a bot that plays rectangle."),
    ],
)
def test_by_hand_on_a_terminal_it_explains_itself(name: str, plays: str, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "REFEREE_PROTOCOL"}
    bot = Path(__file__).parents[2] / "example_bots" / name
    outside, inside = pty.openpty()
    done = subprocess.run(
        [sys.executable, str(bot)], stdin=inside, stdout=inside, stderr=subprocess.PIPE, text=True, env=environment, timeout=60
    )
    os.close(inside)
    os.close(outside)
    assert done.returncode == 2
    assert plays in done.stderr
    # The command that it names plays a match of its game.
    command = done.stderr.partition("Try:  referee ")[2].split()
    assert str(bot) in command
    command = [sys.executable, "-m", "referee", *command, "--isolation", "none", "--out", "one.gz", "--quiet"]
    played = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env=environment, timeout=120)
    assert played.returncode == 0, played.stderr


def test_from_a_pipe_without_a_referee_it_still_speaks_the_protocol() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "REFEREE_PROTOCOL"}
    bot = Path(__file__).parents[2] / "example_bots" / "evasion" / "straight.py"
    lines = json.dumps(START) + "\n" + json.dumps(TURN) + "\n"
    done = subprocess.run([sys.executable, str(bot)], input=lines, capture_output=True, text=True, env=environment, timeout=60, check=True)
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == ["ready", "move"]


def test_an_init_of_the_author_s_own_needs_no_super(tmp_path: Path) -> None:
    bot = tmp_path / "own.py"
    bot.write_text(
        "from sdk import HunterBot\n"
        "class Own(HunterBot):\n"
        "    def __init__(self):\n        self.count = 0\n"
        "    def hunt(self, state):\n        self.count += 1\n        self.say(f'step {self.count}')\n"
        "        self.draw.text((1, 1), 'here')\n        self.random.random()\n"
        "Own.main()\n"
    )
    result = play_match(str(bot), "still", max_steps=5)
    assert not result.faults
    assert result.steps == 5
