"""The pages that lead through a task are followed literally."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from sandboxes import missing, need
from table import bot_class
from walkthroughs import ROOT, Block, blocks, folder, follow, look_for, run, save

from example_bots import BOTS
from referee import games
from sdk.testing import play

#: Long, and part of every whole run.
pytestmark = pytest.mark.slow

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


def test_add_a_game(tmp_path: Path) -> None:
    """The package is made, installed, played, verified, shown and drawn."""
    home, env = folder(tmp_path)
    env["PYTHONPATH"] = f"{home}:{tmp_path}"

    def instead(line: str) -> str | None:
        if not line.startswith("pip install"):
            return None
        # What pip makes of the package's own file, without pip: an index of packages need not be within reach.
        project = tomllib.loads((home / "pyproject.toml").read_text())["project"]
        about = tmp_path / f"nim_game-{project['version']}.dist-info"
        about.mkdir()
        (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
        points = "".join(f"{name} = {point}\n" for name, point in project["entry-points"]["referee.games"].items())
        (about / "entry_points.txt").write_text(f"[referee.games]\n{points}")
        return ""

    commands = follow("docs/add-a-game.md", home, env, instead)
    verbs = {line.split()[1] for line in commands if line.startswith("referee ")}
    assert verbs >= {"games", "explain", "play", "verify", "show", "export"}
    assert "class NimTrack" in (home / "nim.html").read_text()


def test_your_first_bot(tmp_path: Path) -> None:
    """It is written, played, watched and tested; only the installation is taken as done."""
    home, env = folder(tmp_path)

    def instead(line: str) -> str | None:
        is_installation = line.startswith(("python3 -m venv", ". .venv", "pip install"))
        return "" if is_installation else None if "broken.py" not in line else f"{line} || test $? = 3"

    commands = follow("docs/first-bot.md", home, env, instead)
    assert (home / "match.html").exists()
    assert {"play", "show", "export", "explain"} <= {line.split()[1] for line in commands if line.startswith("referee ")}


def test_three_first_results(tmp_path: Path) -> None:
    """A match, a league's report, and marks: only the installation is taken as done."""
    home, env = folder(tmp_path)
    follow("docs/index.md", home, env, lambda line: "" if line.startswith(("python3 -m venv", ". .venv", "pip install")) else None)
    assert (home / "autumn/report.html").stat().st_size > 10_000
    ada, bob = (home / "marks/grades.csv").read_text().splitlines()[1:]
    assert ada.startswith("ada,ada,") and ",ok," in ada
    assert bob.startswith("bob,bob.py,0,")


def test_your_first_league(tmp_path: Path) -> None:
    """A league is played, shown, changed and verified."""
    home, env = folder(tmp_path)
    follow("docs/first-league.md", home, env)
    assert (home / "autumn/report.html").stat().st_size > 10_000
    teams = {line.split(",")[15] for line in (home / "autumn.csv").read_text().splitlines()[1:]}
    assert teams == {"Ada", "Bob", "Cleo", "Example"}


def test_your_first_grading(tmp_path: Path) -> None:
    """The rubric is tried, a class is marked, and a late submission counts."""
    need(not missing(), missing())
    home, env = folder(tmp_path)
    follow("docs/first-grading.md", home, env)
    rows = (home / "marks/grades.csv").read_text().splitlines()
    assert [row.split(",")[3] for row in rows[1:]] == ["87.5", "10", "0", "10"]
    assert "beats random" in (home / "marks/students/ada/report.html").read_text()


def test_the_page_on_arenas_can_be_followed(tmp_path: Path) -> None:
    """Two versions are checked and play; fewer duels decide nothing."""
    home, env = folder(tmp_path)
    commands = follow("docs/arena.md", home, env, lambda line: line.replace("--duels 60", "--duels 2"), shown=lambda _: False)
    assert [line.split()[2] for line in commands] == ["team", "new", "add", "add", "run", "standings"]
    shown = run(["referee", "arena", "standings", "mine"], home, env, "docs/arena.md")
    assert "me v2 (active)" in shown
    assert "Of 2 versions, version " in shown


BETTER = "docs/boxer-to-better.md"


def _short_comparison(line: str) -> str | None:
    """One short duel in place of a comparison: both bots play both roles without a fault, and it decides nothing."""
    if not line.startswith("referee compare "):
        return None
    return f"{line.replace('--max-steps 1000', '--max-steps 100')} --duels 1 > told || test $? = 1; cat told; ! grep -q faults told"


def test_from_boxer_to_better(tmp_path: Path) -> None:
    """Each hunter of the page plays."""
    home, env = folder(tmp_path)
    commands = follow(BETTER, home, env, _short_comparison, shown=lambda _: False)
    assert [line.split()[2] for line in commands if " compare " in line] == [f"step{number}" for number in range(1, 5)]


def _hunters(home: Path, env: dict[str, str]) -> None:
    """Make the folders of the page, with the files that each step copies from the one before."""
    for block in blocks(BETTER):
        if block.file:
            save(block, home)
        elif block.language == "sh":
            for line in block.text.splitlines():
                if not line.startswith("referee "):
                    run(["bash", "-c", line], home, env, BETTER)


@pytest.mark.soak
@pytest.mark.long
def test_the_hunters_of_the_page_are_in_order_of_strength(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps that they need over six starts, where no capture counts as the step limit."""
    home, env = folder(tmp_path)
    _hunters(home, env)
    game = games.get("evasion")
    given: dict[str, Any] = {"max_walls": 3, "cooldown": 30}
    prey = bot_class(next(bot for bot in BOTS if (bot.game, bot.name) == ("evasion", "evader")))
    assert game.starts is not None
    starts = [game.starts.draw(game.starts.settings(None, given), b"start %d" % number) for number in range(6)]
    needed = []
    for number in range(5):
        monkeypatch.syspath_prepend(home / f"step{number}")
        hunter = runpy.run_path(str(home / f"step{number}/hunter.py"))["Hunter"]
        needed.append(sum(play(hunter, prey, seed=1, max_steps=1000, **given, **start).steps for start in starts))
    boxer, alone, inside, removing, ahead = needed
    assert alone > inside > removing > ahead, needed
    assert alone > boxer > removing, needed
    told = (ROOT / BETTER).read_text().replace("\n", " ")
    assert all(f"{number:,}" in told for number in needed), needed


@pytest.mark.slow
@pytest.mark.long
def test_a_comparison_of_the_page_ends_as_printed(tmp_path: Path) -> None:
    home, env = folder(tmp_path)
    lines = [line for block in blocks(BETTER) if block.language == "sh" for line in block.text.splitlines()]
    _hunters(home, env)
    printed = run(["bash", "-c", next(line for line in lines if "step2 step1" in line)], home, env, BETTER)
    assert "step2 is better than step1." in printed


TUNING = "python tune.py 100 1000"


def _shorter(line: str) -> str | None:
    """Long commands of the recipes with fewer games; two duels decide nothing."""
    if line.startswith("referee compare "):
        return f"{line} --duels 2 || test $? = 1"
    if line == TUNING:
        # It has a test of its own.
        return ""
    return line.replace("--games 100", "--games 4") if "--games 100" in line else None


def test_the_recipes_can_be_followed(tmp_path: Path) -> None:
    home, env = folder(tmp_path)
    commands = follow("docs/recipes.md", home, env, _shorter)
    assert len(commands) > 6


@pytest.mark.slow
def test_the_long_commands_of_the_recipes(tmp_path: Path) -> None:
    home, env = folder(tmp_path)
    lines = [line for block in blocks("docs/recipes.md") if block.language == "sh" for line in block.text.splitlines() if _shorter(line)]
    assert len(lines) == 2
    for line in lines:
        run(["bash", "-c", line], home, env, "docs/recipes.md")


@pytest.mark.soak
def test_optuna_tunes_the_numbers_of_the_recipe(tmp_path: Path) -> None:
    """With three trials, and two duels at the end. The first trial has the numbers of the bot."""
    pytest.importorskip("optuna")
    home, env = folder(tmp_path)
    for block in blocks("docs/recipes.md"):
        if block.file in ("tuned.py", "tune.py"):
            save(block, home)
    assert any(block.language == "sh" and block.text == f"{TUNING}\n" for block in blocks("docs/recipes.md"))
    printed = run(["bash", "-c", "python tune.py 3 2"], home, env, "docs/recipes.md")
    assert [f"Trial {number} finished" in printed for number in range(4)] == [True, True, True, False], printed
    assert "{'near': 40, 'pause': 30}" in printed
    assert re.search(
        r"^best: \{'near': \d+, 'pause': \d+\}\nUndecided after 2 duels: .* Share 0\.\d+, from 0\.00 to 1\.00\.$", printed, re.MULTILINE
    ), printed


def test_a_line_that_is_not_printed_is_found() -> None:
    look_for("a\n...\nc\n", "a\nb\nc\n", "page", bool)
    with pytest.raises(AssertionError, match="shows 'c'"):
        look_for("a\nc\n", "c\na\n", "page", bool)


def test_files_are_written_and_extended(tmp_path: Path) -> None:
    save(Block("python", "a\n", "one/two.py", is_added=False), tmp_path)
    save(Block("python", "b\n", "one/two.py", is_added=True), tmp_path)
    assert (tmp_path / "one/two.py").read_text() == "a\nb\n"
    with pytest.raises((AssertionError, FileNotFoundError)):
        save(Block("python", "b\n", "three.py", is_added=True), tmp_path)


def test_the_pages_are_there() -> None:
    assert len(list(blocks("docs/add-a-game.md"))) > 10
    assert (ROOT / "docs/add-a-game.md").exists()
