"""The page about gradings: its commands mark the class of the tutorial. Rubrics of other games tell their example bots apart."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sandboxes import missing, need

from referee.grading import rubric

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    Referee = Callable[..., subprocess.CompletedProcess[str]]

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "grading.md").read_text()
TUTORIAL = (ROOT / "docs" / "first-grading.md").read_text()
RUBRICS = ROOT / "tests/data/rubrics"

#: A replay in the page of a student.
HELD = re.compile(r'(<script type="text/plain" id="replay-[^"]+">)[^<]+')


def blocks(language: str, page: str = PAGE) -> list[str]:
    """Every fenced block of a language, also those in lists."""
    return [textwrap.dedent(text) for text in re.findall(rf"^ *```{language}\n(.*?)^ *```", page, re.DOTALL | re.MULTILINE)]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The folder of the tutorial."""
    (text,) = blocks("toml", TUTORIAL)
    (tmp_path / "evasion.toml").write_text(text)
    (roster,) = blocks("csv", TUTORIAL)
    (tmp_path / "roster.csv").write_text(roster)
    bot = blocks("python", TUTORIAL)[0]
    (tmp_path / "submissions" / "ada").mkdir(parents=True)
    (tmp_path / "submissions" / "ada" / "bot.py").write_text(bot)
    (tmp_path / "submissions" / "bob.py").write_text('print("hello")\n')
    (tmp_path / "canvas.csv").write_text("Student,ID,SIS Login ID,Evasion homework (7)\nAda Lovelace,1,ada,\n")
    return tmp_path


@pytest.mark.parametrize("game", ["evasion", "rectangle", "maze"])
def test_the_rubrics_are_valid(game: str, folder: Path) -> None:
    path = folder / f"{game}.toml"
    found = rubric.load(path if path.exists() else RUBRICS / path.name)
    assert (found.game, found.maximum, found.options.isolation) == (game, 100, "strict")


@pytest.mark.slow
@pytest.mark.long
def test_the_commands_of_the_page_mark_the_class(folder: Path, referee: Referee) -> None:
    need(not missing(), missing())
    first, later, gradebook = (text.splitlines() for text in blocks("console"))
    assert (len(first), len(later), len(gradebook)) == (2, 4, 1)
    path = folder / "evasion.toml"
    whole = path.read_text()
    # The first command plays all example bots. The tutorial has the same one, whose test plays it whole: here matches are few and short.
    path.write_text(re.sub(r"(starts|hidden) = \d+", r"\1 = 1", whole.replace("max_steps = 1000", "max_steps = 300")))
    for number, line in enumerate((*first, *later, *gradebook)):
        if number == 1:
            path.write_text(whole)
        # The page shows what a terminal with 120 columns shows.
        done = referee(*shlex.split(line)[1:], env={"COLUMNS": "120"}, timeout=600)
        assert done.returncode == 0, (line, done.stderr)
        # What is marked stays marked.
        assert (" 0 matches to play" in done.stderr) == (number in (2, 3, 5, 6)), (line, done.stderr)
        if number > 0:
            report = (folder / "marks" / "students" / "ada" / "report.html").read_text()
            assert ("beats random" in report) == ("--after-due" in line)
    assert (folder / "marks" / "report.html").exists()
    assert (folder / "marks" / "gradebook-canvas.csv").read_text().splitlines()[1] == "Ada Lovelace,1,ada,57.5"


@pytest.mark.soak
@pytest.mark.parametrize("game", ["rectangle", "maze"])
def test_the_rubrics_of_other_games_tell_example_bots_apart(game: str, referee: Referee) -> None:
    need(not missing(), missing())
    done = referee("grade", "check-rubric", RUBRICS / f"{game}.toml", "--json", timeout=600)
    assert done.returncode == 0, done.stderr
    found = {student["student"]: student["points"] for student in json.loads(done.stdout)["students"]}
    assert len(set(found.values())) > 2
    assert max(found.values()) >= 70 > 40 >= min(found.values())


@pytest.mark.slow
def test_the_same_files_and_the_same_rubric_give_the_same_bytes(folder: Path, referee: Referee) -> None:
    """Two gradings in folders of their own, in the sandbox and by the processor's clock."""
    need(not missing(), missing())
    shutil.copy(ROOT / "example_bots" / "evasion" / "random_moves.py", folder / "submissions")
    for out, slots in (("one", "1"), ("two", "2")):
        done = referee("grade", "run", "submissions", "--rubric", "evasion.toml", "--out", out, "--slots", slots, timeout=600)
        assert done.returncode == 0, done.stderr
    assert (folder / "one" / "grades.csv").read_bytes() == (folder / "two" / "grades.csv").read_bytes()
    # The replays in a page have the times of their answers, which differ; which replays it has doesn't.
    one, two = (
        {path.parent.name: HELD.sub(r"\1", path.read_text()) for path in (folder / out / "students").rglob("report.html")}
        for out in ("one", "two")
    )
    assert len(one) == 3
    assert one.keys() == two.keys()
    differing = [name for name in one if one[name] != two[name]]
    assert not differing
