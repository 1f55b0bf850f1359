"""The comparison with fastchess, with a stand-in for its binary: questions are counted exactly, and what is missing is said in a sentence."""

from __future__ import annotations

import argparse
import importlib
import re
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from sandboxes import need

from referee.support import delays

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "fastchess.py"

#: Talks to the engines as fastchess does. It knows no chess: it plays as many moves as it is told, and writes all of them to a file.
STAND_IN = """#!{python} -S
import subprocess, sys
words = sys.argv[1:]
if words == ["-version"]:
    print("stand-in 1.0")
    sys.exit()
def after(flag):
    return words[words.index(flag) + 1]
def ask(engine, text, wanted):
    engine.stdin.write((text + "\\n").encode())
    line = b""
    while not line.startswith(wanted):
        line = engine.stdout.readline()
        assert line
    return line.decode().split()
assert after("-each") == "tc=100000" and after("-concurrency") == "1", words
names = [word[5:] for word in words if word.startswith("name=")]
assert len(names) == len(set(names)) == 2
commands = [word[4:] for word in words if word.startswith("cmd=")]
engines = [subprocess.Popen([command], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0) for command in commands]
for engine in engines:
    ask(engine, "uci", b"uciok")
games = open({games!r}, "a")
for game in range(int(after("-rounds")) * int(after("-games"))):
    for engine in engines:
        ask(engine, "ucinewgame\\nisready", b"readyok")
    moves = []
    for ply in range({plies}):
        engine = engines[(game + ply) % 2]
        ask(engine, "isready", b"readyok")
        ask(engine, "position startpos" + " moves " * bool(moves) + " ".join(moves) + "\\nisready", b"readyok")
        moves.append(ask(engine, "go wtime 100000000 btime 100000000", b"bestmove")[1])
    print(*moves, file=games)
    print("Finished game", game + 1)
for engine in engines:
    engine.stdin.write(b"quit\\n")
    assert engine.wait() == 0
sys.exit({status})
"""


@pytest.fixture(scope="module")
def script() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(SCRIPT.parent))
        return importlib.import_module("fastchess")


@pytest.fixture(scope="module")
def engine(script: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    need(shutil.which("gcc") is not None, "gcc is missing")
    folder = tmp_path_factory.mktemp("engine")
    found: Path = script.compiled(folder, "engine", script.ENGINE, MOVES=" ".join(script.LINE), COUNTERS=script.COUNTERS)
    return found


def stand_in(folder: Path, plies: int, status: int = 0) -> Path:
    path = folder / "stand-in"
    path.write_text(STAND_IN.format(python=sys.executable, games=str(folder / "games"), plies=plies, status=status))
    path.chmod(0o755)
    return path


def options(binary: str | Path, **given: object) -> argparse.Namespace:
    return argparse.Namespace(**{"fastchess": binary, "rounds": 1, "games": 4, "steps": 200, "isolation": "none", **given})


def refused(capsys: pytest.CaptureFixture[str], action: Any, *arguments: Any) -> str:
    """Return the sentence with which it ended."""
    with pytest.raises(SystemExit) as left:
        action(*arguments)
    assert left.value.code == 2
    sentence: str = capsys.readouterr().err
    assert sentence.startswith("fastchess.py: ") and sentence.count("\n") == 1, sentence
    return sentence.removeprefix("fastchess.py: ").strip()


def test_the_game_has_moves_of_one_length(script: Any) -> None:
    # The engine finds its move by the length of the question.
    assert (len(script.LINE), len(script.LONG_LINE)) == (120, 300)
    assert all(re.fullmatch("([a-h][1-8]){2}", move) for move in (*script.LINE, *script.LONG_LINE))


def test_each_question_is_counted_once(script: Any, engine: Path, tmp_path: Path) -> None:
    fastchess = script.Fastchess(str(stand_in(tmp_path, len(script.LINE))), engine, tmp_path)
    assert fastchess.version() == "stand-in 1.0"
    questions, nanoseconds = fastchess.tournament(4)
    assert questions == 4 * len(script.LINE)
    assert nanoseconds > 0
    # Both engines have played the whole game, with either colour.
    assert (tmp_path / "games").read_text().splitlines() == [" ".join(script.LINE)] * 4


def test_engines_can_be_restarted_and_games_played_side_by_side(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found: list[list[str]] = []

    def run(self: Any, arguments: list[str], _: float) -> int:
        found.append(arguments)
        self.counters.write_bytes(script.SHAPE.pack(4 * len(script.LINE), 1, 8))
        return 0

    monkeypatch.setattr(script.Fastchess, "run", run)
    fastchess = script.Fastchess("fastchess", tmp_path / "engine", tmp_path)
    assert fastchess.tournament(4) == fastchess.tournament(4, 2, restarts=True) == (4 * len(script.LINE), 7)
    assert ["restart=on" in arguments for arguments in found] == [False, True]
    assert [arguments[arguments.index("-concurrency") + 1] for arguments in found] == ["1", "2"]


def test_a_game_of_another_length_is_refused(script: Any, engine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    fastchess = script.Fastchess(str(stand_in(tmp_path, len(script.LINE) - 1)), engine, tmp_path)
    told = refused(capsys, fastchess.tournament, 2)
    assert told == f"{fastchess.binary} asked 238 questions in 2 games, but these games have 240. Its last line was: Finished game 2"


def test_a_binary_that_fails_is_named(script: Any, engine: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    failing = script.Fastchess(str(stand_in(tmp_path, 1, status=3)), engine, tmp_path)
    assert failing.version() == "stand-in 1.0"
    told = refused(capsys, failing.tournament, 2)
    assert told == f"{failing.binary} ended with exit status 3 in a tournament of 2 games. Its last line was: Finished game 2"
    silent = script.Fastchess("/bin/false", engine, tmp_path)
    assert silent.version() == "fastchess"
    assert refused(capsys, silent.tournament, 2).endswith("games. It wrote nothing.")
    waiting = script.Fastchess("/bin/sleep", engine, tmp_path)
    assert refused(capsys, waiting.run, ["600"], 0.01) == "/bin/sleep did not end within 0.01 seconds. It wrote nothing."


#: Asks no engine. It writes what it likes into their counters.
PRETENDER = """#!{python} -S
import os, struct
path = os.environ["FASTCHESS_BENCH_COUNTERS"]
content = {content!r}
open(path, "wb").write(struct.pack("=3q", *content)) if content else os.unlink(path)
"""


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ((240, 5, 5), "asked 240 questions in no time, so that it can't have asked the engines of this script. It wrote nothing."),
        ((240, 0, 5), "asked 240 questions in no time, so that it can't have asked the engines of this script. It wrote nothing."),
        ((), "took away the file in which the engines count their questions. It wrote nothing."),
    ],
)
def test_a_program_that_only_pretends_is_found_out(
    script: Any, content: tuple[int, ...], told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pretender"
    path.write_text(PRETENDER.format(python=sys.executable, content=content))
    path.chmod(0o755)
    assert refused(capsys, script.Fastchess(str(path), tmp_path, tmp_path).tournament, 2) == f"{path} {told}"


def test_more_games_must_take_longer(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fastchess = script.Fastchess("fastchess", tmp_path, tmp_path)
    fastchess.output.write_bytes(b"")
    monkeypatch.setattr(fastchess, "tournament", lambda games: (games * 120, 1000))
    told = refused(capsys, fastchess.question, 200)
    assert told.startswith("fastchess needed no longer for 200 games than for 2: try again with more --games")


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nothing", "{} is missing. Give the path of the fastchess binary."),
        (".", "{} is no file. Give the path of the fastchess binary."),
        ("text", "{0} can't be run: it is not executable. Try:  chmod +x {0}"),
    ],
)
def test_a_path_of_no_program_is_refused(script: Any, name: str, told: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "text").write_text("text")
    path = str(tmp_path / name)
    assert refused(capsys, script.everything, options(path)) == told.format(path)


def test_what_else_is_missing_is_said(
    script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "junk").write_bytes(b"\0junk")
    (tmp_path / "junk").chmod(0o755)
    told = refused(capsys, script.Fastchess(str(tmp_path / "junk"), tmp_path, tmp_path).version)
    assert told == f"{tmp_path}/junk can't be run: Exec format error. Give the path of a fastchess binary for this machine."
    told = refused(capsys, script.everything, options(tmp_path / "junk", isolation="none,strong"))
    assert told == "--isolation is none,strong, but must be none, limits, strict or several of them, separated by commas."
    need(shutil.which("gcc") is not None, "gcc is missing")
    assert "could not compile the program wrong of this benchmark: wrong.c:" in refused(
        capsys, script.compiled, tmp_path, "wrong", "int main("
    )
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refused(capsys, script.compiled, tmp_path, "bot", script.BOT).startswith("there is neither gcc nor cc on the PATH.")


@pytest.mark.soak
@pytest.mark.alone
def test_a_whole_run_gives_a_ratio_for_each_kind_of_match(script: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    need(shutil.which("gcc") is not None, "gcc is missing")
    figures = script.everything(options(stand_in(tmp_path, len(script.LINE))))
    clocks = (["fair"] if delays.is_counted() else []) + ["cpu", "wall"]
    assert [figure.name for figure in figures] == [f"none, {clock} clock" for clock in clocks]
    for figure in figures:
        assert figure.measured == figure.values[0] / figure.floors[0] > 0
        assert (figure.compared, figure.budget) == ("ratio", 0.75)
    # Two games to try the binary, then two and four that are measured.
    assert len((tmp_path / "games").read_text().splitlines()) == 8
    assert "stand-in 1.0, all on core " in capsys.readouterr().err
