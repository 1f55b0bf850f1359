"""referee debug and show --step."""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from broken_bots import bot
from conftest import play_match
from sandboxes import missing

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

#: It builds a wall in step 5, which is refused: no wall may have a single cell.
WALL = 'move = {"build": {"kind": "horizontal", "span": [0, 0]}} if turn == 5 else {}'


PAGE = (Path(__file__).parents[2] / "docs/debugging.md").read_text()
DEBUGGERS = [line for text in re.findall(r"```text\n(.*?)```", PAGE, re.DOTALL) for line in text.splitlines()]
#: Stands for each debugger: it writes its arguments to stderr, and runs the program.
DEBUGGER = """#!{python}
import os, sys
print(*sys.argv[1:], file=sys.stderr, flush=True)
os.execv({python!r}, [{python!r}, "my_hunter.py"])
"""


@pytest.fixture
def replay(tmp_path: Path) -> str:
    """A match of 20 steps, in which the prey is asked in the odd ones."""
    play_match("straight", "runner", replay=tmp_path / "game.gz", max_steps=20)
    return "game.gz"


@pytest.mark.parametrize("columns", [60, 160])
def test_it_fits_the_terminal(columns: int, referee: Cli, replay: str) -> None:
    for words in (("debug", replay, "--seat", "prey", "still"), ("show", replay, "--step", "11")):
        done = referee(*words, env={"COLUMNS": str(columns)})
        assert max(len(line) for line in done.stdout.splitlines() if not line.startswith("Next:")) <= columns


def test_the_engine_says_what_it_refuses(referee: Cli, replay: str, tmp_path: Path) -> None:
    bot(tmp_path, "builder", WALL)
    found = json.loads(referee("debug", replay, "--seat", "hunter", "--turn", "5", "builder.py", "--json").stdout)
    assert found["recorded"] == {"kind": "move", "move": {}, "accepted": True, "refused": []}
    assert found["new"]["move"] == {"build": {"kind": "horizontal", "span": [0, 0]}}
    assert found["new"]["accepted"] is False
    assert "wall" in found["new"]["refused"][0]
    assert (found["same"], found["turn"], found["isolation"]) == (False, 5, "none")
    assert found["position"]["step"] == 5
    done = referee("debug", replay, "--seat", "hunter", "--turn", "5", "builder.py", env={"COLUMNS": "200"})
    assert f"refused: {found['new']['refused'][0]}" in done.stdout


def test_notices_come_with_the_question(referee: Cli, tmp_path: Path) -> None:
    path = bot(tmp_path, "builder", WALL)
    play_match(path, "still", replay=tmp_path / "game.gz", max_steps=20)
    found = json.loads(referee("debug", "game.gz", "--seat", "hunter", "--turn", "6", "builder.py", "--json").stdout)
    assert found["notices"][0]["code"] == "wall-refused"
    done = referee("debug", "game.gz", "--seat", "hunter", "--turn", "6", "builder.py")
    assert "told       " in done.stdout
    assert "notice to it: " in referee("show", "game.gz", "--step", "5").stdout


def test_the_stderr_of_the_bot_is_shown_with_the_turn(referee: Cli, replay: str, tmp_path: Path) -> None:
    bot(tmp_path, "talks", "print('\\x1b[31mI am', turn, file=sys.stderr, flush=True)")
    done = referee("debug", replay, "--seat", "prey", "--turn", "5", "talks.py")
    assert done.stderr.splitlines() == [f"turn {turn}  \\x1b[31mI am {turn}" for turn in (1, 3, 5)]


@pytest.mark.parametrize(
    ("special", "status", "words"),
    [
        ("if turn == 3: sys.exit(4)", 1, "the bot failed in turn 3, so it was not asked here"),
        ("if turn == 11: sys.exit(4)", 1, "now        failed, crashed: "),
        ("move = [] if turn == 11 else {}", 1, "now        failed, malformed: "),
        ("move = [] if turn == 3 else {}", 0, "In turn 3 a match would end or warn: "),
    ],
)
def test_a_bot_that_fails(special: str, status: int, words: str, referee: Cli, replay: str, tmp_path: Path) -> None:
    bot(tmp_path, "bot", special)
    done = referee("debug", replay, "--seat", "prey", "--turn", "11", "bot.py", env={"COLUMNS": "400"})
    assert done.returncode == status, done.stderr
    assert words in done.stdout
    found = json.loads(referee("debug", replay, "--seat", "prey", "--turn", "11", "bot.py", "--json").stdout)
    assert (found["failed"] is None) == (status == 0)


def test_the_bot_is_the_one_that_the_replay_names(referee: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret").write_text("")
    bot(tmp_path, "mine", f"import os\n        print('sees', os.path.exists({str(tmp_path / 'secret')!r}), file=sys.stderr, flush=True)")
    play_match("mine.py", "still", replay=tmp_path / "game.gz", max_steps=20)
    done = referee("debug", "game.gz", "--seat", "hunter", "--turn", "3")
    assert done.returncode == 0, done.stderr
    assert "The hunter is 'mine.py', as in the replay; its files have the recorded hash.\n" in done.stderr
    assert "now        the same: " in done.stdout
    # A replay may come from a stranger: what it names can't read other files, unless its user wants that.
    assert ("sees False" in done.stderr, "sees True" in done.stderr) == (not missing(), bool(missing()))
    assert "sees True" in referee("debug", "game.gz", "--seat", "hunter", "--turn", "3", "--isolation", "none").stderr
    assert json.loads(referee("debug", "game.gz", "--seat", "hunter", "--json").stdout)["bot"] == "mine.py"
    done = referee("rerun", "game.gz", "--seat", "hunter")
    assert (done.returncode, "all 20 answers equal: this bot played this match" in done.stdout) == (0, True), done.stderr


def test_the_seat_is_that_of_the_bot_where_the_replay_makes_it_clear(referee: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = bot(tmp_path, "mine")
    shutil.copy(path, tmp_path / "theirs.py")
    play_match("mine.py", "still", replay=tmp_path / "game.gz", max_steps=20)
    play_match("mine.py", "theirs.py", replay=tmp_path / "both.gz", max_steps=20)
    for command in ("debug", "rerun"):
        done = referee(command, "game.gz")
        assert done.returncode == 0, done.stderr
        assert "The hunter is 'mine.py', as in the replay; its files have the recorded hash.\n" in done.stderr
        done = referee(command, "game.gz", "still", "--json")
        assert done.returncode == 0, done.stderr
        assert "'still' plays the prey, as in the replay.\n" in done.stderr
    assert referee("debug", "game.gz", "mine.py", "--turn", "3").stdout.startswith("debug      turn 3 of game.gz: the hunter is asked\n")
    done = referee("debug", "both.gz")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert (
        "The players of both.gz are hunter 'mine.py', prey 'theirs.py'; more than one of them is found here with the recorded hash"
        in done.stderr
    )
    assert ": name the seat, as in " in done.stderr
    assert done.stderr.endswith("referee debug both.gz --seat hunter\n")
    done = referee("debug", "game.gz", "other.py")
    assert "'other.py' played none: name the seat, as in " in done.stderr
    with open(path, "a", encoding="utf-8") as file:
        file.write("# another hash\n")
    done = referee("rerun", "game.gz")
    assert (done.returncode, "; 'mine.py' has changed since the match: name the seat, as in " in done.stderr) == (2, True)
    assert done.stderr.endswith("referee rerun game.gz mine.py --seat hunter\n")
    assert referee("rerun", "game.gz", "mine.py", "--seat", "hunter").returncode == 0
    assert referee("debug", "game.gz", "mine.py", "--turn", "3").returncode == 0
    (tmp_path / "mine.py").unlink()
    done = referee("rerun", "game.gz")
    assert "; one of them is found here with the recorded hash: name the seat, as in" in done.stderr


def test_a_bot_beside_the_replay_is_found(referee: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    bot(tmp_path, "mine")
    play_match("mine.py", "still", replay=tmp_path / "game.gz", max_steps=20)
    (tmp_path / "below").mkdir()
    for file in (tmp_path / "mine.py", tmp_path / "game.gz"):
        file.rename(tmp_path / "below" / file.name)
    for words in (("debug",), ("rerun",), ("rerun", "--seat", "hunter")):
        done = referee(*words, "below/game.gz")
        assert done.returncode == 0, done.stderr
        assert "The hunter is 'below/mine.py', as in the replay; its files have the recorded hash.\n" in done.stderr
    # A link out of the replay's folder is none of its files.
    (tmp_path / "below" / "mine.py").rename(tmp_path / "other.py")
    (tmp_path / "below" / "mine.py").symlink_to(tmp_path / "other.py")
    done = referee("rerun", "below/game.gz", "--seat", "hunter")
    assert (done.returncode, "a file outside this folder, which a replay must not start" in done.stderr) == (2, True)


def test_a_bot_that_has_changed_since_is_not_taken_from_the_replay(referee: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = bot(tmp_path, "mine")
    play_match("mine.py", "still", replay=tmp_path / "game.gz", max_steps=20)
    play_match(path, "still", replay=tmp_path / "elsewhere.gz", max_steps=20)
    with open(path, "a", encoding="utf-8") as file:
        file.write("# another hash\n")
    (tmp_path / "below").mkdir()
    (tmp_path / "elsewhere.gz").rename(tmp_path / "below" / "elsewhere.gz")
    for command in ("debug", "rerun"):
        done = referee(command, "game.gz", "--seat", "hunter")
        assert (done.returncode, done.stderr.count("\n")) == (2, 1)
        assert "The hunter 'mine.py' is not the file that played in the replay: it has another hash; name the bot: " in done.stderr
        assert f"referee {command} game.gz BOT --seat hunter" in done.stderr
        assert referee(command, "game.gz", "mine.py", "--seat", "hunter").returncode == 0
    monkeypatch.chdir(tmp_path / "below")
    done = referee("debug", "elsewhere.gz", "--seat", "hunter", cwd=tmp_path / "below")
    assert (done.returncode, "a file outside this folder, which a replay must not start; name the bot: " in done.stderr) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("special", ["move = {'go': [1, 0]} if turn == 11 else {}", "if turn == 11: sys.exit(4)"])
def test_a_test_pins_the_answer(special: str, referee: Cli, replay: str, tmp_path: Path) -> None:
    (tmp_path / "bots").mkdir()
    (tmp_path / "tests").mkdir()
    bot(tmp_path / "bots", "mine", special)
    words = ("debug", replay, "--seat", "prey", "--turn", "11", "bots/mine.py", "--as-test", "tests/test_turn.py")
    done = referee(*words)
    assert "test       tests/test_turn.py, with test_turn.replay.jsonl.gz beside it" in done.stdout
    # The test needs no other file of the match.
    (tmp_path / replay).rename(tmp_path / "gone.gz")

    def run() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_turn.py"]
        return subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)

    assert run().returncode == 0, run().stdout
    bot(tmp_path / "bots", "mine", "move = {'go': [0, 1]}")
    failed = run()
    assert failed.returncode == 1
    assert "Answer(move={'go': [0, 1]}" in failed.stdout
    (tmp_path / "gone.gz").rename(tmp_path / replay)
    again = referee(*words)
    assert again.returncode == 2
    assert "tests/test_turn.py exists already; name another file." in again.stderr


def test_a_bot_that_was_not_asked_pins_nothing(referee: Cli, replay: str, tmp_path: Path) -> None:
    bot(tmp_path, "fails", "if turn == 3: sys.exit(4)")
    done = referee("debug", replay, "--seat", "prey", "--turn", "11", "fails.py", "--as-test", "test_a.py")
    assert done.returncode == 1
    assert "The test was not written, because the bot was not asked in turn 11." in done.stderr
    assert not (tmp_path / "test_a.py").exists()


def test_a_folder_is_built_first(referee: Cli, replay: str, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    # Builds of the same files are kept from an earlier run of the test.
    bot(tmp_path / "mine", "source", f"pass  # {tmp_path} {time.time_ns()}")
    (tmp_path / "mine" / "bot.toml").write_text('build = "cp source.py built.py"\nrun = "python3 built.py"\n')
    for told in ("Building mine:  cp source.py built.py\n", ""):
        done = referee("debug", replay, "--seat", "prey", "--turn", "11", "mine")
        assert (done.returncode, done.stderr) == (0, told)
        assert "now        {}, accepted" in done.stdout


@pytest.mark.parametrize("level", ["auto", "limits"])
def test_it_may_be_isolated(level: str, referee: Cli, replay: str) -> None:
    done = referee("debug", replay, "--seat", "prey", "--turn", "11", "runner", "--isolation", level)
    assert done.returncode == 0, done.stderr
    assert "now        the same: " in done.stdout


def test_positions_are_counted_from_the_end_too(referee: Cli, replay: str) -> None:
    for text, step in (("-1", 20), ("-21", 0), ("0", 0), ("20", 20), ("-2", 19)):
        shown = json.loads(referee("show", replay, "--step", text, "--json").stdout)
        assert (shown["step"], shown["position"]["step"]) == (step, step)
        assert (shown["outcome"] is not None) == (step == 20)


@pytest.mark.parametrize("line", DEBUGGERS, ids=lambda line: shlex.split(shlex.split(line)[-1])[0])
def test_a_debugger_starts_the_bot_as_the_page_shows(line: str, referee: Cli, tmp_path: Path) -> None:
    """The debuggers are no dependencies, so a program of the same name stands for each."""
    play_match("straight", "still", replay=tmp_path / "game.replay.jsonl.gz", max_steps=20)
    bot(tmp_path, "my_hunter", "move = {}")
    words = shlex.split(line)
    program, *arguments = shlex.split(words[-1])
    assert words[:2] == ["referee", "debug"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / program).write_text(DEBUGGER.format(python=sys.executable))
    (tmp_path / "bin" / program).chmod(0o755)
    done = referee(*words[1:], env={"PATH": f"{tmp_path / 'bin'}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr
    assert " ".join(arguments) in done.stderr + done.stdout
