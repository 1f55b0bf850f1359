"""A folder of teams as a league: what is a team, what is left out, the league file for it, and options that win over the file."""

from __future__ import annotations

import re
import shutil
import zipfile
from typing import TYPE_CHECKING

import pytest
import tomli
from leagues import IDLE

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

QUICK = ("--max-steps", "4", "--isolation", "none")


@pytest.fixture
def teams(tmp_path: Path) -> Path:
    """A folder with a file, a folder, a folder in a folder, an archive, and what is no bot."""
    folder = tmp_path / "teams"
    (folder / "bob").mkdir(parents=True)
    (folder / "cleo" / "hw3").mkdir(parents=True)
    for place in ("ada.py", "bob/main.py", "cleo/hw3/bot.py"):
        (folder / place).write_text(IDLE)
    with zipfile.ZipFile(folder / "dan.zip", "w") as archive:
        archive.writestr("dan/bot.py", IDLE)
    with zipfile.ZipFile(folder / "notes.zip", "w") as archive:
        archive.writestr("notes.txt", "nothing")
    (folder / "README.md").write_text("# Teams")
    (folder / "pictures").mkdir()
    (folder / "pictures" / "one.png").write_bytes(b"png")
    return folder


def test_what_is_no_bot_is_left_out_with_a_note_and_archives_and_nested_folders_are_teams(
    teams: Path, referee: Cli, tmp_path: Path
) -> None:
    (teams / "a.out").write_bytes(b"\x7fELF")
    (teams / "a.out").chmod(0o755)
    (teams / "__init__.py").touch()
    (teams / "bot.js").write_text("")
    (teams / "tools").mkdir()
    (teams / "tools" / "util.py").write_text("")
    done = referee("league", "run", "teams", "--out", "out", *QUICK)
    assert done.returncode == 0, done.stderr
    for team, why in (("bot", "name its interpreter"), ("tools", "a folder without a program for it")):
        assert re.search(f"note: left out: The team '{team}' can't play: .*{why}", done.stderr), done.stderr
    assert "note: left out, because no program is in it: README.md, a.out, pictures\n" in done.stderr
    assert "note: the team 'notes' is left out: The hand-in 'notes.zip' has no program for the hunter" in done.stderr
    assert {line.split()[1] for line in done.stdout.splitlines() if line.strip()[:1].isdigit()} == {"ada", "bob", "cleo", "dan"}
    assert [path.parts[-2:] for path in (tmp_path / "out" / "handed-in").glob("*/*/*")] == [("dan", "bot.py")]
    for words in (("run", "teams", "--out", "out", *QUICK), ("resume", "out"), ("run", "out")):
        again = referee("league", *words)
        assert (again.returncode, again.stdout) == (0, done.stdout), again.stderr


def test_a_file_for_the_teams_of_a_folder_is_written_once(teams: Path, referee: Cli) -> None:
    done = referee("league", "init", "teams")
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "teams/league.toml"
    assert done.stdout.endswith("league run teams\n")
    text = (teams / "league.toml").read_text()
    assert [row["name"] for row in tomli.loads(text)["teams"]] == ["ada", "bob", "cleo", "dan"]
    again = referee("league", "init", "teams")
    assert (again.returncode, "exists already" in again.stderr) == (2, True)
    assert (teams / "league.toml").read_text() == text
    played = referee("league", "run", "teams", "--out", "out", "--starts", "1", *QUICK)
    assert played.returncode == 0, played.stderr


def test_a_league_that_is_refused_leaves_no_unpacked_archive(teams: Path, referee: Cli, tmp_path: Path) -> None:
    done = referee("league", "run", "teams", "--out", "out", "--format", "bogus")
    assert (done.returncode, "format is 'bogus'" in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "out").exists()


def test_a_folder_beside_its_archive_is_one_team_too_many(teams: Path, referee: Cli) -> None:
    (teams / "dan").mkdir()
    (teams / "dan" / "bot.py").write_text(IDLE)
    done = referee("league", "run", "teams", "--out", "out")
    assert (done.returncode, "teams/dan and teams/dan.zip are both the team 'dan'" in done.stderr) == (2, True), done.stderr


def test_the_options_of_a_league_may_name_another_game_than_its_file(teams: Path, referee: Cli, tmp_path: Path) -> None:
    (teams / "league.toml").write_text('game = "evasion"\nrules = "classic"\n[settings]\nwidth = 60\n')
    with (teams / "league.toml").open("a") as file:
        file.writelines(f'[[teams]]\nname = "{name}"\nthief = "dasher"\npoliceman = "{name}"\n' for name in ("easy", "hard"))
    done = referee("league", "run", "teams", "--out", "out", "--game", "maze")
    assert done.returncode == 0, done.stderr
    copy = tomli.loads((tmp_path / "out" / "private" / "league.toml").read_text())
    assert (copy["game"], copy.get("rules"), copy["settings"]) == ("maze", None, {})


def test_init_reads_a_folder_as_run_does(teams: Path, referee: Cli) -> None:
    (teams / "ada").mkdir()
    (teams / "ada" / "bot.py").write_text(IDLE)
    (teams / "ada" / "bot.toml").write_text('rules = ["classic"]\n')
    (teams / "ada.py").unlink()
    done = referee("league", "init", "teams", "--rules", "bogus")
    assert (done.returncode, "no rule set 'bogus'" in done.stderr) == (2, True), done.stderr
    for name in ("bob", "cleo", "dan.zip"):
        shutil.rmtree(teams / name) if (teams / name).is_dir() else (teams / name).unlink()
    (teams / "eve.py").write_text(IDLE)
    done = referee("league", "init", "teams", "--game", "maze")
    assert (done.returncode, "try: --game evasion --rules classic" in done.stderr) == (2, True), done.stderr
    assert not (teams / "league.toml").exists()


def test_options_win_over_the_file_and_stand_in_the_copy(teams: Path, referee: Cli, tmp_path: Path) -> None:
    for name in ("cleo", "pictures"):
        shutil.rmtree(teams / name)
    for name in ("dan.zip", "notes.zip"):
        (teams / name).unlink()
    (teams / "league.toml").write_text(
        'format = "elimination"\n[starts]\ncount = 9\n[settings]\nmax_steps = 500\ncooldown = 30\n'
        + "".join(f'[[teams]]\nname = "{name}"\nprogram = "{program}"\n' for name, program in (("A", "ada.py"), ("B", "bob")))
    )
    done = referee("league", "run", "teams", "--out", "out", "--format", "swiss", "--starts", "2", "--seed", "7", "--slots", "3", *QUICK)
    assert done.returncode == 0, done.stderr
    copy = tomli.loads((tmp_path / "out" / "private" / "league.toml").read_text())
    assert (copy["format"], copy["starts"], copy["seed"], copy["isolation"], copy["slots"]) == ("swiss", {"count": 2}, 7, "none", 3)
    assert copy["settings"] == {"max_steps": 4, "cooldown": 30}
    assert [row["name"] for row in copy["teams"]] == ["A", "B"]
    assert copy["teams"][0]["prey"] == str(teams / "ada.py")
    other = referee("league", "run", "teams", "--out", "out", "--format", "swiss", "--starts", "1", "--seed", "7", *QUICK)
    assert (other.returncode, "because the league has changed (starts.drawn is 1, was 2)" in other.stderr) == (2, True), other.stderr
    assert tomli.loads((tmp_path / "out" / "private" / "league.toml").read_text()) == copy
    # The folder of the results stands for the file, with the same options.
    other = referee("league", "run", "out", "--max-steps", "5")
    assert (other.returncode, "(settings.max_steps is 5, was 4)" in other.stderr) == (2, True), other.stderr
    assert referee("league", "run", "out", "--slots", "1").returncode == 0
    copy = {**copy, "slots": 1}
    assert tomli.loads((tmp_path / "out" / "private" / "league.toml").read_text()) == copy
    wrong = referee("league", "run", "teams", "--out", "other", "--format", "swis")
    assert (wrong.returncode, "format is 'swis'; did you mean 'swiss'?" in wrong.stderr) == (2, True), wrong.stderr
