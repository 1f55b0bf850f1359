"""A bot is brought to a turn of a replay and asked there."""

from __future__ import annotations

import json
import re
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from broken_bots import bot
from conftest import HOSTILE
from recorded_games import edited
from sandboxes import LevelLauncher

import referee as package
from referee import games
from referee.author.debugger import debug, turn_of
from referee.errors import PlayerError, ReplayError, StartError, UsageError
from referee.players.names import resolve
from referee.replay.questions import recorded_seat
from sdk import PreyBot, State

ROOT = Path(__file__).parents[2]
play = partial(package.play, isolation="none", time={"startup": 60.0, "move": 30.0, "bank": 100.0})
#: Spends more processor time than the limits that a test writes into a replay.
SLOW = "import time\n        begun = time.process_time()\n        while time.process_time() < begun + 0.02: pass"


class Counts(PreyBot):
    """Remembers how often it was asked."""

    def begin(self) -> None:
        self.count = 0

    def flee(self, state: State) -> tuple[int, int]:
        self.count += 1
        if self.count == 9:
            raise ZeroDivisionError("of mine")
        return (1, 0) if self.count == 6 else (0, 0)


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match of 40 steps; the prey is asked in the odd ones."""
    return play("boxer", "runner", seed=3, max_steps=40, out=tmp_path_factory.mktemp("source") / "game.gz").replay


@pytest.mark.parametrize(("seat", "turn"), [("hunter", 0), ("hunter", 25), ("prey", 1), ("prey", 39)])
def test_the_recorded_bot_gives_the_recorded_answer(seat: str, turn: int, source: Path) -> None:
    found = package.ask(source, turn, seat, {"hunter": "boxer", "prey": "runner"}[seat])
    assert found.move == found.recorded is not None
    assert (found.fault, found.different) == ("", 0)
    assert found.same == (turn if seat == "hunter" else turn // 2)


@pytest.mark.parametrize("game", ["evasion", "rectangle", "maze"])
def test_the_questions_are_those_of_the_match_to_the_byte(game: str, tmp_path: Path, shared_folder: Path) -> None:
    """The bank aside, which a replay has in microseconds. Refused moves, ignored keys and cut remarks lead to notices."""
    special = {
        "evasion": 'move = {"build": {"kind": "horizontal", "span": [0, 0]}, "new": 1} if turn % 3 else {}\n        extra = {"say": "x" * 999}',
        "rectangle": 'move = {"place": [[turn, i] for i in range(3)], "x": 1} if "place" in line else {}',
        "maze": 'move = {"go": "R", "jump": 1}',
    }[game]
    path = bot(tmp_path, "bot", special)
    other = {"evasion": "runner", "rectangle": "idle", "maze": "hard"}[game]
    settings: dict[str, Any] = {"max_steps": 30} if game == "evasion" else {}
    notes = [shared_folder / "first", shared_folder / "second"]
    replay = play(f"{sys.executable} {path} {notes[0]}", other, game=game, **settings).replay
    seat = games.get(game).seats(games.get(game).codec.settings(None, settings))[0]
    turn = sorted(recorded_seat(replay, seat).answers)[-2]
    package.ask(replay, turn, seat, f"{sys.executable} {path} {notes[1]}")
    first, second = ([re.sub(r'"bank":[\d.]+', '"bank":0', line) for line in note.read_text().splitlines()] for note in notes)
    assert second == first[: len(second)]
    assert json.loads(second[-1])["turn"] == turn
    assert any('"code"' in line for line in second)


def test_no_clock_limits_the_bot(source: Path, tmp_path: Path) -> None:
    for kind in ("wall", "cpu"):
        clock = {"kind": kind, "startup": 0.001, "move": 0.001, "bank": 0.001, "increment": 0.0}
        replay = edited(source, partial(dict.update, clock=clock), tmp_path / "game.gz")
        found = package.ask(replay, 9, "prey", bot(tmp_path, "slow", SLOW))
        assert (found.move, found.fault) == ({}, "")


def test_a_class_is_asked_with_its_memory(source: Path) -> None:
    assert package.ask(source, 11, "prey", Counts).move == {"go": [1, 0]}
    assert package.ask(source, 13, "prey", Counts).move == {"go": [0, 0]}
    with pytest.raises(ZeroDivisionError, match="of mine"):
        package.ask(source, 19, "prey", Counts)
    with pytest.raises(TypeError, match="does not play hunter"):
        package.ask(source, 18, "hunter", Counts)


@pytest.mark.parametrize(
    ("special", "words", "different"),
    [
        ("if turn == 9: sys.exit(3)", "exited with status 3", 4),
        ("if turn == 11: sys.exit(3)", "exited with status 3", 5),
        ("move = [] if turn == 11 else {}", "malformed move|wrong 'move'", 5),
        ("turn = 99 if turn == 11 else turn", "answered turn 99", 5),
        # A match would end at the first malformed answer. Here the bot is still asked.
        ("move = [] if turn < 11 else {}", "", 5),
        ("turn = 99 if turn < 11 else turn", "", 5),
        ("if turn == 7: print('debug')", "'debug' - print to stderr|is not JSON: 'debug'", 4),
    ],
)
def test_a_failure_is_told(special: str, words: str, different: int, source: Path, tmp_path: Path) -> None:
    found = package.ask(source, 11, "prey", bot(tmp_path, "bot", special))
    assert re.search(words, found.fault)
    assert (found.move is None) == bool(words)
    assert found.different >= different - 1


@pytest.mark.parametrize("name", ["exits_at_once", "closes_stdout", "not_json", "line_of_10_mb", "killed_by_signal", "floods_stderr"])
def test_hostile_bots_end(name: str, source: Path) -> None:
    found = package.ask(source, 30, "hunter", HOSTILE / f"{name}.py")
    assert (found.move is None) == bool(found.fault)


def test_a_program_that_cannot_be_started(source: Path, tmp_path: Path) -> None:
    (tmp_path / "odd").write_text("#!/no/such/interpreter\n")
    (tmp_path / "odd").chmod(0o755)
    with pytest.raises(StartError):
        package.ask(source, 11, "prey", "./odd")


@pytest.mark.parametrize("dialect", ["architect", "gameserver"])
def test_programs_of_older_protocols(dialect: str, tmp_path: Path) -> None:
    rules = (games.get("evasion").dialects or {})[dialect].rules[0]
    program = f"{dialect}: {sys.executable} {ROOT}/tests/clients/{dialect}_client.py {{port}}"
    replay = play(program, "random", rules=rules, max_steps=40, seed=1).replay
    found = package.ask(replay, 30, "hunter", program)
    assert found.move == found.recorded
    assert (found.fault, found.different) == ("", 0)
    assert found.same > 5


def test_a_recorded_failure_stands_beside_the_answer(tmp_path: Path) -> None:
    replay = play("straight", bot(tmp_path, "failing", "turn = 99 if turn == 7 else turn"), max_steps=20).replay
    found = package.ask(replay, 7, "prey", "still")
    assert (found.move, found.recorded) == ({}, None)
    # By default the last question: that of the failure.
    assert turn_of(recorded_seat(replay, "prey"), None) == 7
    assert recorded_seat(replay, "hunter").answers[7] is None


def test_a_match_that_began_in_another_replay(source: Path) -> None:
    replay = package.play(from_replay=f"{source}@20", isolation="none").replay
    found = package.ask(replay, 25, "prey", "runner")
    assert (found.move, found.same, found.different) == (found.recorded, 2, 0)
    with pytest.raises(UsageError, match=r"began in turn 20 of another replay, so the prey wasn't asked in turn 11"):
        package.ask(replay, 11, "prey", "runner")


def test_what_cannot_be_asked_is_refused(source: Path, tmp_path: Path) -> None:
    for turn, words in (
        (10, r"The prey wasn't asked in turn 10 of .*; the nearest questions to it were in turn 9 and 11\."),
        (40, r"has no turn 40: the last question to the prey was in turn 39"),
        (-1, r"has no turn -1"),
    ):
        with pytest.raises(UsageError, match=words):
            package.ask(source, turn, "prey", "runner")
    with pytest.raises(UsageError, match="no seat 'thief'"):
        package.ask(source, 11, "thief", "runner")
    with pytest.raises(UsageError, match="Only a program can be asked"):
        package.ask(source, 11, "prey", "human")
    with pytest.raises(PlayerError, match="does not exist"):
        package.ask(source, 11, "prey", "nobody.py")
    with pytest.raises(UsageError, match="isolation is 'some'"):
        package.ask(source, 11, "prey", "runner", isolation="some")
    with pytest.raises(ReplayError, match="can't be read"):
        package.ask(tmp_path / "none.gz", 0, "prey", "runner")


def test_without_a_secret_the_bot_gets_another_seed(source: Path, tmp_path: Path) -> None:
    path = edited(source, lambda head: (head.pop("secret"), head.pop("seed")), tmp_path / "copy.gz")
    found = package.ask(path, 11, "prey", "runner")
    assert found.move == found.recorded
    spec = resolve("runner", "prey", "evasion")
    result = debug(recorded_seat(path, "prey"), 11, spec, LevelLauncher(serves_one=True))
    assert "no secret in its head" in result.notes[0]
