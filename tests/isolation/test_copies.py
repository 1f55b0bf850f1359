"""The copies of programs that all matches of one supervisor share."""

from __future__ import annotations

import errno
import os
import subprocess
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import play_match
from sandboxes import UNHURRIED, USER, LevelLauncher, Planted, census, intrude

from referee.errors import CopyUnwritten, MatchVoid, PlayerError, UsageError
from referee.handins.hashes import file_hashes
from referee.isolation import bubblewrap, copies, submission
from referee.isolation.bot import Bot
from referee.isolation.copies import Copies
from referee.isolation.names import own_prefix
from referee.isolation.submission import Piece
from referee.isolation.users import FIRST, LAST
from referee.replay.events import Listener, StepTaken

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.isolation.bot_process import Cleaning
    from referee.isolation.level import Level

#: A prey that tells its log which file it is, and tries to change it.
TELLS = """
import os, sys
from _wire import play_well, ready

ready()
facts = os.stat(__file__)
print("file", facts.st_ino, open(__file__).readline().strip(), file=sys.stderr)
for call in (
    lambda: open(__file__, "a"),
    lambda: os.chmod(__file__, 0o777),
    lambda: os.unlink(__file__),
    lambda: os.rename("/bot", "/tmp/bot"),
    lambda: os.setxattr(__file__, "user.told", b"1"),
    lambda: open("/bot/new", "w"),
):
    try:
        call()
        print("GOT", file=sys.stderr)
    except OSError:
        pass
# This succeeds, but has no effect.
os.utime(__file__)
if os.stat(__file__).st_mtime_ns != facts.st_mtime_ns:
    print("GOT", file=sys.stderr)
play_well(100)
"""


@pytest.fixture
def launcher() -> Iterator[LevelLauncher]:
    kept = LevelLauncher()
    yield kept
    kept.close()


@pytest.fixture
def bot(planted: Planted) -> Path:
    """The source of a prey; ``intrude`` makes a submission of it."""
    path = planted.folder / "tells.py"
    path.write_text(f"# first\n{TELLS}")
    return path


def tops() -> list[Path]:
    """The folders of copies that this process has."""
    return sorted(Path(tempfile.gettempdir()).glob(f"{own_prefix(os.getpid())}-*"))


def contents() -> dict[str, tuple[int, int, int, bytes]]:
    """All copied files by path, with what a bot must not be able to change."""
    found = {}
    for path in sorted(tops()[0].glob("*/bot/**/*")):
        facts = path.stat()
        found[str(path)] = (facts.st_ino, facts.st_mode, facts.st_uid, path.read_bytes() if path.is_file() else b"")
    return found


def test_what_does_not_belong_to_a_bot_is_not_copied(tmp_path: Path) -> None:
    folder = tmp_path / "bot"
    for name in ("__pycache__/mode.txt", ".git/HEAD", "lib/__pycache__/deep.txt", "lib/maps.py", "only/__pycache__/x.pyc", "prey.py"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("")
    (folder / "empty").mkdir()
    (folder / "lib" / ".git").write_text("gitdir: elsewhere")
    (folder / "prey.py").chmod(0o700)
    program = Bot("bot", (), str(folder), (Piece(str(folder), ""),))
    hashed = set(file_hashes(program))
    made = Copies(lambda cleaning: None)
    copy = made.take(program, None)
    found = {str(path.relative_to(copy.folder)): path.stat().st_mode & 0o777 for path in sorted(Path(copy.folder).rglob("*"))}
    submission.remove(copy.around)
    os.rmdir(Path(copy.around).parent)
    assert found == {"lib": 0o755, "lib/maps.py": 0o555, "prey.py": 0o555}
    # A hash tells a folder with an empty one from a folder without it; a bot can't.
    assert hashed == {"lib/maps.py", "prey.py", "empty", "only"}


def test_a_program_is_copied_once_and_no_bot_changes_the_copy(
    bot: Path, isolation: Level, planted: Planted, python: str, launcher: LevelLauncher
) -> None:
    said = set()
    first: dict[str, tuple[int, int, int, bytes]] = {}
    for number in range(3):
        played = intrude(bot, planted, isolation, steps=2, launcher=launcher, python=python)
        assert played.got == []
        assert played.result.steps == 2
        said.add(played.log)
        first = first or contents()
        assert contents() == first
        bot.write_text(f"# changed {number}\n{TELLS}")
    # Each match ran the same file, whose content is that of the first match.
    assert len(said) == 1
    assert said.pop().endswith("# first\n" if not python else f"#!{python}\n")
    assert len(first) == 4
    assert {mode & 0o222 for _, mode, _, data in first.values() if data} == {0}
    assert {owner for _, _, owner, _ in first.values()} == {os.geteuid()}
    launcher.close()
    assert tops() == []


def test_outside_a_sandbox_only_the_bots_own_number_can_read_a_copy(
    bot: Path, best: Level, planted: Planted, launcher: LevelLauncher
) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives bots numbers of their own")

    def can(user: int, command: str) -> bool:
        numbers = ["--reuid", str(user), "--regid", str(user), "--clear-groups"]
        return subprocess.run(["setpriv", *numbers, "sh", "-c", command], stderr=subprocess.DEVNULL).returncode == 0

    class Looking(Listener):
        def __init__(self) -> None:
            self.users: list[int] = []

        def stepped(self, event: StepTaken) -> None:
            copied = {path.parents[1]: path for path in tops()[0].glob("*/bot/*.py") if path.name in ("hunter.py", "prey.py")}
            users = {around: around.stat().st_gid for around in copied}
            assert len(set(users.values())) == 2
            for around, path in copied.items():
                assert around.stat().st_mode & 0o777 == 0o710
                for user in (*users.values(), USER):
                    assert can(user, f"test -r {path}") == (user == users[around])
                    assert not can(user, f"ls {around} || ls {around.parent} || echo >> {path} || mv {around}/bot {around}/other")
            self.users = list(users.values())

    for _ in range(2):
        looking = Looking()
        intrude(bot, planted, best, steps=1, launcher=launcher, listeners=[looking])
        assert all(FIRST <= user <= LAST for user in looking.users)
        # Between matches nobody but root enters.
        for around in tops()[0].iterdir():
            assert around.stat().st_mode & 0o777 == 0o700
            assert not can(looking.users[0], f"ls {around}/bot")


def test_a_program_in_both_seats_has_two_copies(best: Level, launcher: LevelLauncher, planted: Planted) -> None:
    folder = planted.folder / "both"
    folder.mkdir()

    for name in ("hunter", "prey"):
        kind, call = ("HunterBot", "hunt") if name == "hunter" else ("PreyBot", "flee")
        (folder / f"{name}.py").write_text(
            f"from sdk import {kind}\nclass Quiet({kind}):\n    def {call}(self, state):\n        pass\nQuiet.main()\n"
        )
    for _ in range(3):
        options = UNHURRIED._replace(isolation=best)
        assert play_match(str(folder), str(folder), options=options, max_steps=2, launcher=launcher).steps == 2
        assert len(list(tops()[0].iterdir())) == 2


def test_after_a_void_programs_are_copied_anew(
    bot: Path, best: Level, planted: Planted, launcher: LevelLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = census()
    intrude(bot, planted, best, steps=1, launcher=launcher)
    bot.write_text(f"# second\n{TELLS}")
    with monkeypatch.context() as patch:
        patch.setattr(bubblewrap, "command", lambda _: ("/bin/sh", "-c", "echo no namespace >&2; exit 1"))
        with pytest.raises(MatchVoid):
            intrude(bot, planted, best, steps=1, launcher=launcher)
    assert census() == before
    assert intrude(bot, planted, best, steps=1, launcher=launcher).log.endswith("# second\n")


@pytest.mark.usefixtures("same_user")
def test_a_match_without_a_sandbox_ends_the_copies(bot: Path, best: Level, planted: Planted, launcher: LevelLauncher) -> None:
    before = census()
    intrude(bot, planted, best, steps=1, launcher=launcher)
    assert len(tops()) == 1
    play_match("straight", "still", options=UNHURRIED, max_steps=2, launcher=launcher)
    assert tops() == []
    launcher.close()
    assert census() == before


def test_a_copy_that_fails_the_check_is_not_used(bot: Path, best: Level, planted: Planted) -> None:
    seen = []

    def refuse(program: Bot, folder: str) -> None:
        seen.append(sorted(os.listdir(folder)))
        if len(seen) == 2:
            raise UsageError(f"{program.label} has changed.")

    before = census()
    with pytest.raises(UsageError, match="has changed"):
        intrude(bot, planted, best, steps=1, launcher=LevelLauncher(check=refuse))
    assert seen == [["hunter.py"], ["_tries.py", "_wire.py", "prey.py"]]
    assert census() == before


class Made:
    """Copies without a match."""

    def __init__(self, folder: Path) -> None:
        self.announced: list[Cleaning] = []
        self.folder = folder
        self.copies = Copies(self.announced.append)

    def program(self, name: str, text: str = "x") -> Bot:
        path = self.folder / name
        path.write_text(text)
        return Bot(name, ("/usr/bin/true",), "/", (Piece(str(path), name),))

    def use(self, program: Bot) -> int:
        """Take a copy and give it back; its inode."""
        copy = self.copies.take(program, None)
        number = os.stat(copy.folder).st_ino
        copy.give_back()
        return number


@pytest.fixture
def made(tmp_path: Path) -> Iterator[Made]:
    found = Made(tmp_path)
    yield found
    for cleaning in found.announced:
        for tree in cleaning.trees:
            submission.remove(tree)


def test_copies_used_longest_ago_are_removed(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "MOST_FILES", 2)
    programs = [made.program(name) for name in "abc"]
    first = [made.use(program) for program in programs[:2]]
    assert [made.use(program) for program in programs[:2]] == first
    held = made.copies.take(programs[0], None)
    made.use(programs[2])
    assert sorted(os.listdir(held.folder)) == ["a"]
    held.give_back()
    # Of a, b and c, b was used longest ago.
    assert [sorted(path.name for path in Path(made.announced[0].trees[0]).glob("*/bot/*"))] == [["a", "c"]]
    monkeypatch.setattr(copies, "MOST_BYTES", 10)
    made.use(made.program("large", "x" * 11))
    assert list(Path(made.announced[0].trees[0]).iterdir()) == []
    assert len(made.announced) == 1


def test_an_old_copy_is_made_anew(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    program = made.program("a")
    first = made.copies.take(program, None)
    first.made -= 90_000
    first.give_back()
    assert list(Path(made.announced[0].trees[0]).iterdir()) == []
    made.use(program)


def test_a_full_disk_is_no_fault_of_the_program(made: Made, monkeypatch: pytest.MonkeyPatch) -> None:
    program, other = made.program("a"), made.program("b")
    made.use(program)
    real = os.open
    failures = [1]

    def fail(path: str, flags: int, *arguments: int, **options: int) -> int:
        if flags & os.O_CREAT and os.path.basename(path) in "ab":
            failures[0] -= 1
            if failures[0] >= 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)
        return real(path, flags, *arguments, **options)

    monkeypatch.setattr(os, "open", fail)
    # There is room once the copies that no bot has are gone.
    made.use(other)
    assert [path.name for path in Path(made.announced[0].trees[0]).glob("*/bot/*")] == ["b"]
    failures[0] = 3
    with pytest.raises(CopyUnwritten, match=r"can't be copied to .*: No space left on device; make room"):
        made.use(program)
    with pytest.raises(PlayerError, match="can't be copied"):
        made.use(program._replace(files=(Piece("/nowhere/at/all", "a"),)))
