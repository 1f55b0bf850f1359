"""One rule for which files belong to a bot, and one hash of them: in teams, replays, copies for sandboxes and packages for clusters."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from leagues import IDLE, move_store

from referee import games
from referee.errors import UsageError
from referee.handins.entry import read as team
from referee.handins.hashes import check_copy
from referee.handins.values import Entry
from referee.isolation import contents, submission
from referee.isolation.bot import Bot
from referee.isolation.submission import Piece
from referee.tournament.package import pack, unpack

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

    from commands import Commands

    Referee = Callable[..., subprocess.CompletedProcess[str]]

#: What a bot does that has seen the files that don't belong to it: it says so, and ends.
LOOKS = f"""
import os, sys
if os.path.exists("__pycache__/mode.txt") or os.path.exists(".git"):
    sys.exit("seen")
{IDLE}"""


def fill(folder: Path, bot: str = IDLE) -> Path:
    """Make a bot's folder with entries of every kind."""
    (folder / "lib").mkdir(parents=True)
    for name in ("hunter.py", "prey.py"):
        (folder / name).write_text(bot)
    (folder / "lib" / "maps.py").write_text("SIZE = 7\n")
    (folder / "same.py").symlink_to("./lib/maps.py")
    (folder / "far.py").symlink_to(folder / "lib" / "maps.py")
    (folder / "more").symlink_to("lib")
    (folder / "tool.sh").write_text("#!/bin/sh\n")
    (folder / "tool.sh").chmod(0o611)
    (folder / "empty").mkdir()
    return folder


def made(folder: Path) -> Entry:
    evasion = games.get("evasion")
    return team("T", str(folder), evasion, evasion.codec.settings(None, {}), folder.parent)


def link(folder: Path, path: str, target: str) -> None:
    (folder / path).unlink()
    (folder / path).symlink_to(target)


def unlink(folder: Path, path: str) -> None:
    data = (folder / path).read_bytes()
    (folder / path).unlink()
    (folder / path).write_bytes(data)


#: A change of a folder, and the entry that is named. The content of every file stays.
CHANGES: dict[str, tuple[Callable[[Path], None], str]] = {
    "may be executed": (lambda folder: (folder / "hunter.py").chmod(0o755), "hunter.py"),
    "may not be executed": (lambda folder: (folder / "tool.sh").chmod(0o644), "tool.sh"),
    "a new empty folder": (lambda folder: (folder / "new").mkdir(), "new"),
    "an empty folder less": (lambda folder: (folder / "empty").rmdir(), "empty"),
    "a link for a file": (lambda folder: link(folder, "hunter.py", "prey.py"), "hunter.py"),
    "a file for a link": (lambda folder: unlink(folder, "same.py"), "same.py"),
    "another target": (lambda folder: link(folder, "more", "empty"), "more"),
}
#: Those that a bot in a copy can see.
SEEN = ("a link for a file", "a file for a link", "another target")


@pytest.mark.parametrize("name", CHANGES)
def test_both_hashes_change_or_none(name: str, tmp_path: Path) -> None:
    folder = fill(tmp_path / "bot")
    before = contents.digest(str(folder), "bot"), made(folder).hash
    change, _ = CHANGES[name]
    change(folder)
    after = contents.digest(str(folder), "bot"), made(folder).hash
    assert before[0] != after[0]
    assert before[1] != after[1]


def test_what_does_not_belong_to_a_bot_changes_no_hash(tmp_path: Path) -> None:
    folder = fill(tmp_path / "bot")
    before = contents.digest(str(folder), "bot"), made(folder).hash
    for place in ("__pycache__", "lib/__pycache__", ".git", "lib/.git"):
        (folder / place).mkdir()
        (folder / place / "mode.txt").write_text("fast")
    assert (contents.digest(str(folder), "bot"), made(folder).hash) == before


def test_a_folder_has_the_same_hash_on_another_machine(tmp_path: Path) -> None:
    folder = fill(tmp_path / "home" / "bot")
    (folder / "__pycache__").mkdir()
    teams, archive = pack([Entry("T", {"hunter": "bot"}, "", str(tmp_path / "home"))], "evasion")
    there = Path(unpack(teams, archive, tmp_path / "there")["T"].home) / "bot"
    assert contents.digest(str(there), "bot") == contents.digest(str(folder), "bot")
    assert made(there).hash == made(folder).hash


@pytest.mark.parametrize("name", CHANGES)
def test_a_copy_of_changed_files_is_refused_if_a_bot_can_see_the_change(name: str, tmp_path: Path) -> None:
    """In a copy every file may be executed, and there are no empty folders."""
    folder = fill(tmp_path / "bot")
    program = Bot("bot", (), str(folder), (Piece(str(folder), ""),))
    before = made(folder)

    def checked(number: int) -> None:
        copied = submission.copy(program.files, "bot", str(tmp_path / f"copy{number}"), is_open=True)
        check_copy(before, "hunter", program, copied.folder)

    checked(1)
    change, entry = CHANGES[name]
    change(folder)
    if name in SEEN:
        with pytest.raises(UsageError, match=f"{entry}' has changed"):
            checked(2)
    else:
        checked(2)


def write_league(folder: Path, isolation: str, bot: str = IDLE) -> Path:
    fill(folder / "first", bot)
    fill(folder / "second", f"{bot}\n# another one\n")
    (folder / "league.toml").write_text(
        f'name = "folders"\nseed = 7\nslots = 1\nisolation = "{isolation}"\nstarts.count = 1\n[settings]\nmax_steps = 3\n'
        '[[teams]]\nname = "First"\nprogram = "first"\n[[teams]]\nname = "Second"\nprogram = "second"\n'
    )
    return folder / "out"


@pytest.fixture(scope="module")
def played(commands: Commands, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The home of a league that is played once."""
    home = tmp_path_factory.mktemp("played")
    out = write_league(home, "none")
    assert commands.run("league", "run", home, "--out", out, "--quiet", cwd=home).returncode == 0
    return home


@pytest.mark.parametrize("name", CHANGES)
def test_resume_names_what_has_changed(name: str, referee: Referee, played: Path, tmp_path: Path) -> None:
    shutil.copytree(played, tmp_path, symlinks=True, dirs_exist_ok=True)
    out = tmp_path / "out"
    move_store(out / "league.sqlite", played, tmp_path)
    for folder in (tmp_path / "first", tmp_path / "second"):
        link(folder, "far.py", str(folder / "lib" / "maps.py"))
    assert referee("league", "resume", out, "--quiet").returncode == 0
    change, entry = CHANGES[name]
    change(tmp_path / "first")
    done = referee("league", "resume", out)
    assert (done.returncode, "First: " in done.stderr, f"'{entry}'" in done.stderr) == (2, True, True), done.stderr


def test_what_no_hash_contains_reaches_no_match_and_changes_no_check(referee: Referee, tmp_path: Path) -> None:
    """A bot that would behave differently under the same hash: its league is run, goes on and verifies."""
    out = write_league(tmp_path, "strict", LOOKS)
    first = tmp_path / "first"

    def put(text: str) -> None:
        for place in ("__pycache__", ".git"):
            (first / place).mkdir(exist_ok=True)
            (first / place / "mode.txt").write_text(text)

    def run(*words: object, code: int = 0) -> str:
        done = referee(*map(str, words))
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done.stdout

    put("slow")
    run("league", "run", tmp_path, "--out", out, "--quiet")
    standings = run("league", "standings", out, "--csv")
    put("fast")
    run("league", "verify", out)
    run("league", "resume", out, "--quiet")
    assert run("league", "standings", out, "--csv") == standings
    shutil.rmtree(first / "__pycache__")
    (first / ".git" / "mode.txt").unlink()
    put("other")
    assert "2 replays checked, 0 problems." in run("league", "verify", out)
    logs = [path.read_text() for path in out.rglob("*.stderr.log")]
    assert not any("seen" in log for log in logs)
    assert "seen" not in run("league", "export", out, "--csv")
