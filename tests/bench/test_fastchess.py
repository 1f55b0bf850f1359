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

from referee.errors import RefereeError, UsageError
from referee.support import delays

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"

#: Talks to the engines as fastchess does. It knows no chess: it plays as many moves as it is told, and writes all of them to a file.
STAND_IN = """#!{python} -S
import subprocess, sys
words = sys.argv[1:]
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


@pytest.fixture
def script(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    return importlib.import_module("fastchess")


def fastchess(script: Any, folder: Path, plies: int, status: int = 0) -> Any:
    """A stand-in that plays so many plies a game and ends with this status."""
    need(shutil.which("gcc") is not None, "gcc is missing")
    path = folder / "stand-in"
    path.write_text(STAND_IN.format(python=sys.executable, games=str(folder / "games"), plies=plies, status=status))
    path.chmod(0o755)
    return script.Fastchess(path, folder, script.LINE)


def test_the_game_has_moves_of_one_length(script: Any) -> None:
    # The engine finds its move by the length of the question.
    assert (len(script.LINE), len(script.LONG_LINE)) == (120, 300)
    assert all(re.fullmatch("([a-h][1-8]){2}", move) for move in (*script.LINE, *script.LONG_LINE))


def test_each_question_is_counted_once(script: Any, tmp_path: Path) -> None:
    questions, nanoseconds = fastchess(script, tmp_path, len(script.LINE)).tournament(4)
    assert questions == 4 * len(script.LINE)
    assert nanoseconds > 0
    # Both engines have played the whole game, with either colour.
    assert (tmp_path / "games").read_text().splitlines() == [" ".join(script.LINE)] * 4


@pytest.mark.parametrize(("plies", "status", "asked"), [(119, 0, 238), (120, 3, 240)])
def test_a_tournament_of_other_games_or_one_that_fails_is_refused(script: Any, plies: int, status: int, asked: int, tmp_path: Path) -> None:
    sentence = f"asked {asked} questions in 2 games of 120, and ended with exit status {status}. Its last line was: Finished game 2"
    with pytest.raises(RefereeError, match=re.escape(sentence)):
        fastchess(script, tmp_path, plies, status).tournament(2)


def test_more_games_must_take_longer(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in = fastchess(script, tmp_path, 1)
    monkeypatch.setattr(stand_in, "tournament", lambda games: (games * 120, 1000))
    with pytest.raises(RefereeError, match="200 games took no longer than 2: try more --games"):
        stand_in.question(200)


def test_a_path_of_no_program_is_refused(script: Any, tmp_path: Path) -> None:
    (tmp_path / "text").write_text("text")
    for name in ("nothing", ".", "text"):
        with pytest.raises(UsageError, match="is no program that can be run; give the path of the fastchess binary"):
            script.Fastchess(tmp_path / name, tmp_path, script.LINE)


def test_a_missing_compiler_is_named(script: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UsageError, match="There is neither gcc nor cc on the PATH"):
        script.compiled(tmp_path, "bot", script.BOT)


@pytest.mark.soak
@pytest.mark.alone
def test_a_whole_run_gives_a_ratio_for_each_kind_of_match(script: Any, tmp_path: Path) -> None:
    fastchess(script, tmp_path, len(script.LINE))
    options = argparse.Namespace(fastchess=tmp_path / "stand-in", rounds=1, games=4, steps=200, isolation=["none"])
    figures = script.everything(options)
    clocks = (["fair"] if delays.is_counted() else []) + ["cpu", "wall"]
    assert [figure.name for figure in figures] == [f"none, {clock} clock" for clock in clocks]
    for figure in figures:
        assert figure.measured == figure.values[0] / figure.floors[0] > 0
        assert (figure.compared, figure.budget) == ("ratio", 0.75)
    # Two games to try the binary, then two and four that are measured.
    assert len((tmp_path / "games").read_text().splitlines()) == 8
