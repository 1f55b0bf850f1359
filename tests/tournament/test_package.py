"""The files of a team as they travel to other machines."""

from __future__ import annotations

import io
import os
import subprocess
import tarfile
from pathlib import Path

import pytest
from leagues import IDLE

from referee.errors import PlayerError
from referee.handins.values import Entry
from referee.players.names import resolve
from referee.tournament.package import pack, unpack


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of a team, with some files in it and beside it."""
    home = tmp_path / "home"
    for folder in (home / "lib" / "deep", home / "__pycache__", tmp_path / "beside"):
        folder.mkdir(parents=True)
    for path in (home / "bot.py", home / "my bot.py", home / "lib" / "hunter.py", home / "lib" / "deep" / "x", tmp_path / "beside/far.py"):
        path.write_text(IDLE)
    (home / "run").write_text("#!/bin/sh\nexec cat\n")
    (home / "run").chmod(0o755)
    return home


def packed(home: Path, **players: str) -> tuple[Entry, bytes]:
    """A team as it travels."""
    (team,), archive = pack([Entry("Team", players, "", str(home))], "evasion")
    return team, archive


def unpacked(package: tuple[Entry, bytes], folder: Path) -> Path:
    """The home of the team there."""
    team, archive = package
    return Path(unpack([team], archive, folder)["Team"].home)


#: A player as a team has it, the player in the package, and the files in the package.
CASES = [
    ("bot.py", "bot.py", {"bot.py"}),
    ("{home}/my bot.py", "./my bot.py", {"my bot.py"}),
    ("{home}/lib", "./lib", {"lib/hunter.py", "lib/deep/x"}),
    ("../beside/far.py", "../beside/far.py", {"../beside/far.py"}),
    ("{home}/../beside/far.py", "./../beside/far.py", {"../beside/far.py"}),
    ("{home}/bot.py", "./bot.py", {"bot.py"}),
    ("python3 {home}/bot.py --fast", "python3 ./bot.py --fast", {"bot.py"}),
    ("python3 '{home}/my bot.py' -n 3", "python3 './my bot.py' -n 3", {"my bot.py"}),
    ("python3 {home}/bot.py --weights={home}/lib/deep/x", "python3 ./bot.py --weights=./lib/deep/x", {"bot.py", "lib/deep/x"}),
    ("python3 -cp {home}/lib:{home}/lib/deep Main", "python3 -cp ./lib:./lib/deep Main", {"lib/hunter.py", "lib/deep/x"}),
    ("./run fast", "./run fast", {"run"}),
    ("{home}/../home/run fast", "./run fast", {"run"}),
    ("/bin/sh {home}/run", "/bin/sh ./run", {"run"}),
    ("architect: python3 {home}/bot.py {port}", "architect: python3 ./bot.py {port}", {"bot.py"}),
    ("architect : {home}/bot.py {port}", "architect : ./bot.py {port}", {"bot.py"}),
]


@pytest.mark.parametrize(("text", "expected", "files"), CASES)
def test_a_player_gets_the_paths_of_the_package(home: Path, text: str, expected: str, files: set[str]) -> None:
    package = packed(home, hunter=text.replace("{home}", str(home)))
    assert package[0].players == {"hunter": expected}
    place = unpacked(package, home.parent / "worker")
    assert {os.path.relpath(path, place) for path in (home.parent / "worker").rglob("*") if path.is_file()} == files


def test_an_example_bot_stays_one(home: Path) -> None:
    assert packed(home, hunter="boxer")[0].players == {"hunter": "boxer"}


def test_the_home_of_the_user_is_another_one_there(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(home))
    assert packed(home, hunter="~/bot.py")[0].players == {"hunter": "./bot.py"}


@pytest.mark.parametrize("text", ["bot.py", "my bot.py", "lib", "../beside/far.py", "python3 'my bot.py' -n 3", "./run fast"])
def test_an_unpacked_player_can_be_started(home: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = packed(home, hunter=text)
    monkeypatch.chdir(unpacked(package, home.parent / "worker"))
    assert resolve(package[0].players["hunter"], "hunter", "evasion").argv


def test_executable_files_stay_executable_and_owners_and_times_go(home: Path) -> None:
    os.utime(home / "run", (1_000, 1_000))
    place = unpacked(packed(home, hunter="./run"), home.parent / "worker")
    assert os.access(place / "run", os.X_OK)
    assert (place / "run").stat().st_mtime == 0
    assert subprocess.run([place / "run"], input=b"x", capture_output=True, check=True).stdout == b"x"
    assert not os.access(unpacked(packed(home, hunter="bot.py"), home.parent / "worker") / "bot.py", os.X_OK)


def test_links_inside_stay_and_links_that_are_named_are_followed(home: Path) -> None:
    (home / "lib" / "near").symlink_to("deep/x")
    (home / "lib" / "whole").symlink_to(home / "lib" / "deep")
    os.link(home / "lib" / "hunter.py", home / "lib" / "twin.py")
    (home / "linked.py").symlink_to("../beside/far.py")
    (home.parent / "way").symlink_to("home")
    package = packed(home.parent / "way", hunter="lib", prey=f"{home.parent}/way/linked.py")
    place = unpacked(package, home.parent / "worker")
    assert (place / "lib" / "near").readlink() == Path("deep/x")
    assert (place / "lib" / "whole" / "x").read_text() == IDLE
    assert (place / "lib" / "twin.py").read_text() == IDLE
    assert package[0].players["prey"] == "./linked.py"
    assert not (place / "linked.py").is_symlink()
    assert (place / "linked.py").read_text() == IDLE


@pytest.mark.parametrize("target", ["../bot.py", "gone"])
def test_links_that_lead_out_or_nowhere_are_refused(home: Path, target: str) -> None:
    (home / "lib" / "link").symlink_to(target)
    with pytest.raises(
        PlayerError,
        match=f"The team Team can't be sent to other machines: the link 'link' points to '{target}', which isn't a file in its folder",
    ):
        packed(home, hunter="lib")


def test_what_is_no_file_of_the_bot_stays_here(home: Path) -> None:
    for name in ("__pycache__", ".git"):
        (home / "lib" / name).mkdir()
        (home / "lib" / name / "x").write_text("x")
    os.mkfifo(home / "lib" / "fifo")
    place = unpacked(packed(home, hunter="lib"), home.parent / "worker")
    assert {path.name for path in place.rglob("*")} == {"lib", "hunter.py", "deep", "x"}


def test_teams_share_what_is_sent(home: Path) -> None:
    teams, archive = pack([Entry(name, {"hunter": str(home / "lib")}, "", str(home)) for name in ("One", "Two")], "evasion")
    with tarfile.open(fileobj=io.BytesIO(archive)) as files:
        assert sum(name.endswith("hunter.py") for name in files.getnames()) == 1
    there = unpack(teams, archive, home.parent / "worker")
    assert list(there) == ["One", "Two"]
    assert there["One"].home == there["Two"].home


def test_old_versions_of_python_unpack_without_filters(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.10.11 and earlier don't know the argument."""
    monkeypatch.delattr(tarfile, "data_filter")
    package = packed(home, hunter="lib")
    assert (unpacked(package, home.parent / "worker") / package[0].players["hunter"] / "hunter.py").is_file()
