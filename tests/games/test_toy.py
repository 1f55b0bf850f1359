"""A game that another package offers is played, verified, shown and exported like one of ours."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

HERE = Path(__file__).parent / "toy"
BOT = """
import json, sys
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "start":
        print(json.dumps({"type": "ready", "protocol": 1, "name": "Adder"}), flush=True)
    elif message["type"] == "turn":
        print(json.dumps({"type": "move", "turn": message["turn"], "move": {"add": 3}}), flush=True)
"""


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    """The command where the toy game is installed: as a package with an entry point."""
    site = tmp_path / "site"
    (site / "counting").mkdir(parents=True)
    shutil.copy(HERE / "counting.py", site / "counting" / "__init__.py")
    for name in ("display.js",):
        shutil.copy(HERE / name, site / "counting" / name)
    _install(site, "counting", "counting = counting:GAME")
    (tmp_path / "adder.py").write_text(BOT)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "PYTHONPATH": str(site)}
        return subprocess.run(
            [sys.executable, "-m", "referee", *arguments], cwd=tmp_path, env=env, capture_output=True, text=True, timeout=120
        )

    return run


@pytest.mark.slow
def test_a_game_of_another_package_is_at_home(cli: Cli, tmp_path: Path) -> None:
    options = ["--game", "counting", "--set", "goal=20", "--isolation", "none", "--out", "one.replay.jsonl.gz", "--json", "--quiet"]
    done = cli("play", "adder.py", "adder.py", *options)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert (told["winner"], told["steps"], told["scores"]) == ("first", 7, {"first": 1.0, "second": 0.0})
    replay = "one.replay.jsonl.gz"
    assert cli("verify", replay).returncode == 0
    shown = cli("show", replay)
    assert "(first) wins at 21." in shown.stdout, shown.stderr
    command = [sys.executable, "-m", "referee", "watch", replay, "--no-browser", "--port", "0"]
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    with subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as viewer:
        try:
            address = viewer.stdout.readline().strip() if viewer.stdout else ""
            with urllib.request.urlopen(f"{address}games/counting/display.js", timeout=60) as drawing:
                assert b"class CountingTrack" in drawing.read()
        finally:
            viewer.terminate()
    exported = cli("export", replay, "--html", "--out", "page.html")
    assert exported.returncode == 0, exported.stderr
    assert '"steps": 7' in (tmp_path / "page.html").read_text()
    assert "class CountingTrack" in (tmp_path / "page.html").read_text()
    nothing = cli("analyze", replay)
    assert nothing.returncode == 2
    assert "can't be analyzed" in nothing.stderr
    settings = cli("games", "counting").stdout
    assert "goal" in settings
    assert "play --game counting first.py second.py" in settings
    assert "There are no example bots of counting." in cli("bots", "--game", "counting").stdout
    assert "counting" in cli("games").stdout
    duel = cli("duel", "adder.py", "adder.py", "--game", "counting")
    assert duel.returncode == 2
    assert "no" in duel.stderr


def test_its_mistakes_are_named_like_ours(cli: Cli) -> None:
    wrong = cli("play", "adder.py", "adder.py", "--game", "counting", "--set", "gaol=20")
    assert wrong.returncode == 2
    assert "did you mean 'goal'?" in wrong.stderr
    alone = cli("play", "--game", "counting", "adder.py")
    assert alone.returncode == 2
    assert "but 1 was named; for instance: " in alone.stderr
    assert "referee play --game counting adder.py second.py" in alone.stderr
    assert "there are evasion, rectangle, maze, counting." in cli("games", "chess").stderr


def _install(site: Path, package: str, points: str) -> None:
    """Write a package's facts, with entry points for games."""
    about = site / f"{package}-0.1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 0.1\n")
    (about / "entry_points.txt").write_text(f"[referee.games]\n{points}\n")


@pytest.mark.slow
def test_a_broken_package_is_named_and_leaves_the_others_alone(cli: Cli, tmp_path: Path) -> None:
    _install(tmp_path / "site", "broken", "lost = nowhere.game:GAME\nempty = counting:NONE\nalias = counting:GAME")
    listed = cli("games")
    assert listed.returncode == 0, listed.stderr
    assert [line.split()[0] for line in listed.stdout.splitlines()[:4]] == ["evasion", "rectangle", "maze", "counting"]
    assert [line for line in listed.stderr.splitlines() if "package 'broken'" in line] == listed.stderr.splitlines()
    assert listed.stderr.count("\n") == 3
    assert len(json.loads(cli("games", "--json").stdout)) == 4
    played = cli("play", "--game", "counting", "adder.py", "adder.py", "--set", "goal=20", "--isolation", "none", "--out", "one.gz", "-q")
    assert played.returncode == 0, played.stderr
    assert cli("export", "one.gz", "--html", "--out", "page.html").returncode == 0
    for name, why in (("lost", "No module named 'nowhere'"), ("empty", "NONE"), ("alias", "calls itself 'counting'")):
        refused = cli("play", "--game", name, "adder.py", "adder.py")
        assert (refused.returncode, refused.stderr.count("\n")) == (2, 1)
        assert f"the game {name!r} of the package 'broken'" in refused.stderr
        assert why in refused.stderr
    assert not (tmp_path / "matches").exists()


def test_a_name_with_a_hyphen_is_drawn(cli: Cli, tmp_path: Path) -> None:
    home = tmp_path / "site" / "counton"
    home.mkdir()
    text = "from counting import INFO, Counting\nclass On(Counting):\n    info = INFO._replace(name='count-on')\nGAME = On()\n"
    (home / "__init__.py").write_text(text)
    shutil.copy(HERE / "display.js", home)
    _install(tmp_path / "site", "counton", "count-on = counton:GAME")
    played = cli("play", "--game", "count-on", "adder.py", "adder.py", "--set", "goal=20", "--isolation", "none", "--out", "one.gz", "-q")
    assert played.returncode == 0, played.stderr
    exported = cli("export", "one.gz", "--html", "--out", "page.html")
    assert exported.returncode == 0, exported.stderr
    drawn = dict(re.findall(r'"([\w-]+)": (game\d)', (tmp_path / "page.html").read_text()))
    assert set(drawn) == {"evasion", "rectangle", "maze", "counting", "count-on"}
    assert f"const {{ display: {drawn['count-on']} }} = " in (tmp_path / "page.html").read_text()


UNIT_TEST = """
from sdk import Bot
from sdk.testing import ask, answer, play, start

class AdderBot(Bot):
    _game, _seats = "counting", {"first": "add", "second": "add"}

    def _responder(self, start):
        return lambda view: '{"add":%d}' % self.add(view["total"])

class Three(AdderBot):
    def add(self, total):
        return 3 if total < 10 else 1

state = start(game="counting", goal=20)
assert (state.total, ask(Three, state), answer(Three, state).move) == (0, 3, 3)
assert play(Three, Three, game="counting").outcome.winner == "second"
"""


def test_bots_of_such_a_game_are_tested_by_questions(cli: Cli, tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": str(tmp_path / "site")}
    done = subprocess.run([sys.executable, "-c", UNIT_TEST], cwd=tmp_path, env=env, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_game_without_newer_capabilities_is_played(cli: Cli, tmp_path: Path) -> None:
    home = tmp_path / "site" / "counting" / "__init__.py"
    lines = home.read_text().splitlines(keepends=True)
    (line,) = [line for line in lines if line.startswith("    dialects = marking")]
    text = "".join(lines).replace(line, "")
    home.write_text(re.sub(r"    codes = .*\n", "", text))
    played = cli("play", "--game", "counting", "adder.py", "adder.py", "--set", "goal=20", "--isolation", "none", "--out", "one.gz", "-q")
    assert played.returncode == 0, played.stderr
    assert cli("explain", "late").returncode == 0


def test_a_bot_of_another_package_s_game_is_checked(cli: Cli) -> None:
    """Without positions of its own, and against players of plain moves."""
    only = ["--only", "ready,answers,positions,other-settings,match,same-seed"]
    done = cli("check", "adder.py", "--game", "counting", "--isolation", "none", "--seat", "first", "--json", *only)
    assert done.returncode == 0, done.stdout + done.stderr
    told = {one["name"]: one["status"] for one in json.loads(done.stdout)["seats"]["first"]}
    assert told.pop("other-settings") == "skipped"
    assert set(told.values()) == {"ok"}
