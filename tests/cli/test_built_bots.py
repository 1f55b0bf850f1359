"""Bots that are built, in every command that plays programs."""

from __future__ import annotations

import json
import shutil
import subprocess
from html import unescape
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from leagues import IDLE, SHORT

if TYPE_CHECKING:
    from collections.abc import Callable

    Referee = Callable[..., subprocess.CompletedProcess[str]]

QUICK = ("--isolation", "none", "--startup", "60")
ERRORS = "bot.x:1: error: this is no program"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("REFEREE_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


def write(folder: Path, build: str = "cp source made.py", comment: str = "") -> Path:
    """A folder with a bot that its build makes."""
    folder.mkdir(parents=True)
    (folder / "bot.toml").write_text('build = "sh build.sh"\nrun = "./made.py"\n')
    (folder / "build.sh").write_text(f"{build} {comment}\n")
    (folder / "source").write_text(IDLE)
    return folder


@pytest.fixture
def bots(tmp_path: Path) -> Path:
    """A bot that can be built and two that can't, in one folder."""
    write(tmp_path / "bots" / "good")
    write(tmp_path / "bots" / "wrong", f"echo '{ERRORS}' >&2; exit 1")
    write(tmp_path / "bots" / "endless", "while :; do sleep 1; done")
    return tmp_path / "bots"


def test_play_builds_once_and_says_so(bots: Path, referee: Referee) -> None:
    done = referee("play", "bots/good", "still", *QUICK, "--max-steps", "5", "--out", "out.replay.jsonl.gz")
    assert done.returncode == 0, done.stderr
    assert "Building bots/good:  sh build.sh\n" in done.stderr
    again = referee("play", "bots/good", "still", *QUICK, "--max-steps", "5")
    assert again.returncode == 0, again.stderr
    assert "Building" not in again.stderr
    assert sorted(path.name for path in (bots / "good").iterdir()) == ["bot.toml", "build.sh", "source"]
    # The replay names the folder, and the bot's answers can be compared with it.
    same = referee("rerun", "out.replay.jsonl.gz", "bots/good", "--seat", "hunter", "--isolation", "none", "--json")
    assert same.returncode == 0, same.stderr
    assert json.loads(same.stdout)["is_same_file"] is True
    (bots / "good" / "more").write_text("")
    other = referee("rerun", "out.replay.jsonl.gz", "bots/good", "--seat", "hunter", "--isolation", "none", "--json")
    assert json.loads(other.stdout)["is_same_file"] is False


def test_the_compilers_errors_end_the_command(bots: Path, referee: Referee) -> None:
    done = referee("play", "bots/wrong", "still", *QUICK, "--out", "out/")
    assert done.returncode == 3
    assert f"referee: The hunter (bots/wrong) can't be built: 'sh build.sh' ended with exit status 1.\n  {ERRORS}\n" in done.stderr
    assert not list(Path(bots.parent, "out").glob("*"))
    done = referee("play", "bots/wrong", "still", *QUICK, "--json", "--quiet")
    assert json.loads(done.stdout)["exit_code"] == 3
    assert ERRORS in json.loads(done.stdout)["error"]


@pytest.mark.slow
def test_the_limit_of_a_build_can_be_set(bots: Path, referee: Referee) -> None:
    done = referee("play", "bots/endless", "still", *QUICK, "--limit", "build_seconds=1")
    assert done.returncode == 3
    assert "did not end within 1 s, the limit of a build" in done.stderr
    (bots.parent / "match.toml").write_text('players = ["bots/endless", "still"]\n[limits]\nbuild_seconds = 1\n[run]\nisolation = "none"\n')
    done = referee("play", "--match", "match.toml")
    assert "did not end within 1 s, the limit of a build" in done.stderr
    done = referee("play", "bots/good", "still", "--limit", "build_seconds=9999")
    assert done.returncode == 2
    assert "--limit build_seconds is '9999', but must be a whole number from 1 to 3,600 seconds." in done.stderr


@pytest.mark.parametrize("command", [("play", "--games", "2"), ("duel",), ("compare", "--duels", "1")], ids=lambda command: command[0])
def test_series_of_games_are_played(bots: Path, referee: Referee, command: tuple[str, ...]) -> None:
    write(bots / "other", comment="# other")
    second = "bots/other" if command[0] != "play" else "still"
    more = ("--width", "30", "--height", "30", "--hunter", "0,0,1,1", "--prey", "20,12", "--max-steps", "20")
    done = referee(*command[:1], "bots/good", second, *command[1:], *QUICK, *(more if command[0] != "compare" else ("--max-steps", "20")))
    assert done.returncode in (0, 1), done.stderr
    assert "can't be" not in done.stderr
    done = referee(*command[:1], "bots/good", "bots/wrong", *command[1:], *QUICK)
    assert done.returncode == 3, done.stderr
    assert ERRORS in done.stderr


@pytest.mark.slow
def test_a_team_that_is_not_built_forfeits(bots: Path, referee: Referee) -> None:
    write(bots / "other", comment="# other")
    (bots.parent / "league.toml").write_text(
        f'name = "test"\nseed = 7\nisolation = "none"\n[limits]\nbuild_seconds = 2\n[settings]\n{SHORT}\n'
        + "".join(f'[[teams]]\nname = "{name}"\nprogram = "bots/{name}"\n' for name in ("good", "wrong", "endless", "other"))
    )
    done = referee("league", "run", "league.toml", "--out", "league")
    assert done.returncode == 0, done.stderr
    assert "wrong can't start and forfeits its other matches: The " in done.stderr
    assert "can't be built: 'sh build.sh' ended with exit status 1" in done.stderr
    assert ERRORS in done.stderr
    assert "did not end within 2 s" in done.stderr
    standings = referee("league", "standings", "league", "--json")
    played = {row["team"]: row for row in json.loads(standings.stdout)["standings"]}
    assert set(played) == {"good", "wrong", "endless", "other"}
    report = referee("league", "report", "league")
    assert report.returncode == 0, report.stderr
    assert ERRORS in "".join(path.read_text() for path in Path(bots.parent, "league").rglob("*.html"))


RUBRIC = f"""
name = "Homework"
game = "evasion"
seed = "0123456789abcdef0123456789abcdef"
isolation = "none"
[limits]
build_seconds = 2
[settings]
{SHORT}
[[tests]]
name = "flees"
seat = "prey"
against = "straight"
points = 8
need = {{ survive = 1 }}
"""


def test_a_submission_that_is_not_built_is_marked_with_its_errors(bots: Path, referee: Referee) -> None:
    (bots.parent / "rubric.toml").write_text(RUBRIC)
    shutil.make_archive(str(bots / "zipped"), "zip", bots / "good")
    done = referee("grade", "run", "bots", "--out", "grades", "--json")
    assert done.returncode == 0, done.stderr
    rows = {row["student"]: row for row in json.loads(done.stdout)["students"]}
    assert set(rows) == {"good", "wrong", "endless", "zipped"}
    assert rows["good"]["points"] == rows["zipped"]["points"] == 8
    assert rows["wrong"]["points"] == rows["endless"]["points"] == 0
    assert ERRORS in rows["wrong"]["reason"]
    assert "did not end within 2 s" in rows["endless"]["reason"]
    page = (bots.parent / "grades" / "students" / "wrong" / "report.html").read_text()
    assert f"ended with exit status 1. / {ERRORS}" in unescape(page)


@pytest.mark.slow
def test_a_wrong_file_is_the_submissions_fault(bots: Path, referee: Referee) -> None:
    (bots.parent / "rubric.toml").write_text(RUBRIC)
    (bots / "wrong" / "bot.toml").write_text("biuld = 1")
    done = referee("grade", "run", "bots", "--out", "grades", "--json")
    rows = {row["student"]: row for row in json.loads(done.stdout)["students"]}
    assert rows["wrong"]["status"] == "refused"
    assert "has a bot.toml with an unknown key 'biuld'; did you mean 'build'?" in rows["wrong"]["reason"]
