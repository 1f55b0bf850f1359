"""The files of a team as they travel to other machines."""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
from leagues import IDLE

from referee.errors import PlayerError
from referee.players.names import resolve
from referee.tournament.package import Package, pack, unpack
from referee.tournament.values import Team


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
    (home / "weights=1.bin").write_text("1")
    return home


def packed(home: Path, text: str) -> Package:
    """The package of a team with one player."""
    return pack(Team("Team", {"hunter": text}, "", str(home)))


#: A player as the league file has it, the player in the package, and the files in the package.
CASES = [
    ("bot.py", "./bot.py", {"bot.py"}),
    ("my bot.py", "./my bot.py", {"my bot.py"}),
    ("'my bot.py'", "./my bot.py", {"my bot.py"}),
    ("lib", "./lib", {"lib/hunter.py", "lib/deep/x"}),
    ("../beside/far.py", "./elsewhere/0/far.py", {"elsewhere/0/far.py"}),
    ("{home}/bot.py", "./bot.py", {"bot.py"}),
    ("python3 bot.py --fast", "python3 ./bot.py --fast", {"bot.py"}),
    ("python3 'my bot.py' -n 3", "python3 './my bot.py' -n 3", {"my bot.py"}),
    ("python3 bot.py --weights=lib/deep/x", "python3 ./bot.py --weights=./lib/deep/x", {"bot.py", "lib/deep/x"}),
    ("java -cp lib:lib/deep Main", "java -cp ./lib:./lib/deep Main", {"lib/hunter.py", "lib/deep/x"}),
    ("./run fast", "./run fast", {"run"}),
    ("{home}/../home/run fast", "./run fast", {"run"}),
    ("/bin/sh run", "/bin/sh ./run", {"run"}),
    ("architect: python3 bot.py {port}", "architect: python3 ./bot.py '{port}'", {"bot.py"}),
    ("architect : bot.py {port}", "architect: ./bot.py '{port}'", {"bot.py"}),
    ("boxer", "boxer", set()),
    ("node 'unclosed", "node 'unclosed", set()),
]


@pytest.mark.parametrize(("text", "expected", "files"), CASES)
def test_a_player_gets_the_paths_of_the_package(home: Path, text: str, expected: str, files: set[str]) -> None:
    package = packed(home, text.replace("{home}", str(home)))
    assert package.players == {"hunter": expected}
    place = unpack(package, home.parent / "worker")
    assert {str(path.relative_to(place)) for path in place.rglob("*") if path.is_file()} == files


@pytest.mark.parametrize("text", ["bot.py", "my bot.py", "lib", "../beside/far.py", "python3 'my bot.py' -n 3", "./run fast"])
def test_an_unpacked_player_can_be_started(home: Path, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    package = packed(home, text)
    monkeypatch.chdir(unpack(package, home.parent / "worker"))
    assert resolve(package.players["hunter"], "hunter", "evasion").argv


def test_executable_files_stay_executable_and_owners_and_times_go(home: Path) -> None:
    os.utime(home / "run", (1, 1))
    place = unpack(packed(home, "run"), home.parent / "worker")
    assert os.access(place / "run", os.X_OK)
    assert subprocess.run([place / "run"], input=b"x", capture_output=True, check=True).stdout == b"x"
    assert not os.access(unpack(packed(home, "bot.py"), home.parent / "worker") / "bot.py", os.X_OK)


def test_the_same_files_make_the_same_package_and_are_unpacked_once(home: Path) -> None:
    first = packed(home, "lib")
    for path in home.rglob("*"):
        os.utime(path, (2, 2))
    assert packed(home, "lib") == first
    place = unpack(first, home.parent / "worker")
    (place / "mark").touch()
    assert unpack(first, home.parent / "worker") == place
    assert (place / "mark").exists()
    assert [path.name for path in place.parent.iterdir()] == [first.hash]
    (home / "lib" / "hunter.py").write_text("other")
    assert packed(home, "lib").hash != first.hash


def test_equal_files_at_other_places_are_another_package(home: Path) -> None:
    """A copy of a bot has the same hash as a team, and still needs its own paths."""
    (home / "copies").mkdir()
    (home / "copies" / "bot.py").write_text(IDLE)
    for text in ("bot.py", "copies/bot.py"):
        package = packed(home, text)
        assert (unpack(package, home.parent / "worker") / package.players["hunter"]).is_file()


def test_links_inside_stay_and_links_that_are_named_are_followed(home: Path) -> None:
    (home / "lib" / "near").symlink_to("deep/x")
    (home / "lib" / "whole").symlink_to(home / "lib" / "deep")
    os.link(home / "lib" / "hunter.py", home / "lib" / "twin.py")
    (home / "linked.py").symlink_to("../beside/far.py")
    place = unpack(pack(Team("Team", {"hunter": "lib", "prey": "linked.py"}, "", str(home))), home.parent / "worker")
    assert (place / "lib" / "near").readlink() == Path("deep/x")
    assert (place / "lib" / "whole" / "x").read_text() == IDLE
    assert (place / "lib" / "twin.py").read_text() == IDLE
    assert not (place / "linked.py").is_symlink()
    assert (place / "linked.py").read_text() == IDLE


@pytest.mark.parametrize(("target", "why"), [("../bot.py", "outside its folder; put a copy there"), ("gone", "does not exist; remove it")])
def test_links_that_lead_out_or_nowhere_are_refused(home: Path, target: str, why: str) -> None:
    (home / "lib" / "link").symlink_to(target)
    with pytest.raises(PlayerError, match=f"The team Team can't be sent to other machines: the link 'link' points to '{target}'.*{why}"):
        packed(home, "lib")


def test_what_is_no_file_of_the_bot_stays_here(home: Path) -> None:
    for name in ("__pycache__", ".git"):
        (home / "lib" / name).mkdir()
        (home / "lib" / name / "x").write_text("x")
    os.mkfifo(home / "lib" / "fifo")
    place = unpack(packed(home, "lib"), home.parent / "worker")
    assert {path.name for path in place.rglob("*")} == {"lib", "hunter.py", "deep", "x"}


def test_a_folder_of_the_team_can_have_the_name_of_ours(home: Path) -> None:
    (home / "elsewhere" / "0").mkdir(parents=True)
    (home / "elsewhere" / "0" / "far.py").write_text("own")
    package = pack(Team("Team", {"hunter": "../beside/far.py", "prey": "elsewhere/0/far.py"}, "", str(home)))
    place = unpack(package, home.parent / "worker")
    assert [(place / path).read_text() for path in package.players.values()] == [IDLE, "own"]


def test_large_files_are_refused(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (home / "noise").write_bytes(os.urandom(3 << 20))
    monkeypatch.setattr("referee.tournament.package.MOST_BYTES", 2 << 20)
    with pytest.raises(PlayerError, match="has more than 2 MiB of files"):
        packed(home, f"{sys.executable} noise")


def test_old_versions_of_python_unpack_without_filters(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Python 3.10.11 and earlier don't know the argument."""
    plain = tarfile.TarFile.extractall

    def extract(self: tarfile.TarFile, path: Path) -> None:
        # This Python would warn that a filter is missing.
        plain(self, path, filter="fully_trusted")

    monkeypatch.delattr(tarfile, "data_filter")
    monkeypatch.setattr(tarfile.TarFile, "extractall", extract)
    package = packed(home, "lib")
    assert (unpack(package, home.parent / "worker") / package.players["hunter"] / "hunter.py").is_file()
