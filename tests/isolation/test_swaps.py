"""A submission whose owner swaps its parts while the referee copies it."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from referee.errors import PlayerError
from referee.isolation import submission
from referee.isolation.submission import Piece
from referee.players.names import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

#: Owns the submissions where root runs the tests; no account has the number.
OWNER = 57_998
SECRET = "only the referee's user may read this"

#: Exchanges two names forever, and says when it has begun and, at its end, how often it did.
SWAPS = """
import ctypes, os, signal, sys
libc = ctypes.CDLL(None, use_errno=True)
one, two = (os.fsencode(name) for name in sys.argv[1:])
count = 0
told = []
signal.signal(signal.SIGTERM, lambda *_: told.append(1))
print("begun", flush=True)
while not told and os.getppid() == int(os.environ["PARENT"]):
    if libc.renameat2(-100, one, -100, two, 2):
        raise OSError(ctypes.get_errno(), "renameat2")
    count += 1
print(count, flush=True)
"""


@contextlib.contextmanager
def swapping(one: Path, two: Path) -> Iterator[None]:
    """Let the owner exchange two names while the block runs."""
    identity: dict[str, Any] = {"user": OWNER, "group": OWNER, "extra_groups": []} if os.geteuid() == 0 else {}
    python = "/usr/bin/python3" if identity and os.access("/usr/bin/python3", os.X_OK) else sys.executable
    command = [python, "-S", "-c", SWAPS, str(one), str(two)]
    swapper = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd="/", env={"PARENT": str(os.getpid())}, **identity)
    assert swapper.stdout is not None
    assert swapper.stdout.readline() == "begun\n"
    try:
        yield
    finally:
        swapper.terminate()
        said = swapper.communicate(timeout=60)[0]
        assert int(said) > 100, "it did swap"


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """A submission in its owner's folder, and beside it a file that the owner can't read."""
    (tmp_path / "root-only").mkdir(mode=0o700)
    (tmp_path / "root-only" / "key.txt").write_text(SECRET)
    (tmp_path / "root-only" / "bot.py").write_text(SECRET)
    for folder in (tmp_path, *(parent for parent in tmp_path.parents if parent.owner() == tmp_path.owner() and "pytest" in str(parent))):
        folder.chmod(0o755)
    folder = tmp_path / "home" / "bot"
    (folder / "data").mkdir(parents=True)
    (folder / "bot.py").write_text("print('bot')")
    for number in range(20):
        (folder / "data" / f"{number}.txt").write_text("x" * 2000)
    (folder / "data" / "key.txt").write_text("mine")
    give(tmp_path / "home")
    return folder


def give(top: Path) -> None:
    if os.geteuid() == 0:
        for path in (top, *top.rglob("*")):
            os.lchown(path, OWNER, OWNER)


def copies(pieces: tuple[Piece, ...], tries: int, look: Callable[[Path], None]) -> tuple[int, int]:
    """Copy often, look at each copy; how many were made and how many refused."""
    made = refused = 0
    for _ in range(tries):
        try:
            target = Path(submission.copy(pieces, "bot").folder)
        except PlayerError:
            refused += 1
            continue
        made += 1
        try:
            look(target)
        finally:
            submission.remove(str(target))
    return made, refused


def holds_no_secret(target: Path) -> None:
    for path in target.rglob("*"):
        if path.is_file() and not path.is_symlink():
            assert SECRET not in path.read_text(), path


@pytest.mark.parametrize("what", ["a folder inside", "the folder itself", "a folder above"])
def test_a_swapped_folder_lets_nothing_out(what: str, bot: Path) -> None:
    """Before this was mended, 14 of 78 tries brought a file of root along."""
    if os.geteuid() != 0 and what != "a folder inside":
        pytest.skip("a link of this user's own is followed: only root can be fooled by somebody else's")
    outside = bot.parents[1] / "root-only"
    swapped = {"a folder inside": bot / "data", "the folder itself": bot, "a folder above": bot.parent / "course"}[what]
    if what == "a folder above":
        (bot.parent / "course").mkdir()
        (bot.parent / "course" / "bot.py").write_text("print('bot')")
    link = bot.parent / "link"
    link.symlink_to(outside)
    give(bot.parent)
    pieces = (Piece(str(swapped / "bot.py"), "bot.py"),) if what == "a folder above" else (Piece(str(bot), ""),)
    with swapping(swapped, link):
        made, refused = copies(pieces, 150, holds_no_secret)
        assert made + refused == 150
        # On a busy machine what swaps may have had no turn so far.
        more = 20 if os.geteuid() == 0 else 0
        while not refused and more:
            more -= 1
            refused = copies(pieces, 150, holds_no_secret)[1]
    if os.geteuid() == 0:
        assert refused, "a swap was met"


def test_a_swapped_file_cannot_beat_the_cap(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "MOST_BYTES", 1 << 20)
    small, large = bot / "data" / "0.txt", bot.parent / "large"
    large.write_bytes(bytes(3 << 20))
    give(bot.parent)

    def fits(target: Path) -> None:
        assert sum(path.stat().st_size for path in target.rglob("*") if path.is_file()) <= 1 << 20

    with swapping(small, large):
        made, refused = copies((Piece(str(bot), ""),), 60, fits)
    assert made + refused == 60


def test_a_file_that_grows_while_it_is_read_cannot_beat_the_cap(bot: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """/proc has files that tell no size, as one that grows tells a size that is too small."""
    monkeypatch.setattr(submission, "MOST_BYTES", 1000)
    (bot.parent / "grows").mkdir()
    size = len(Path("/proc/self/smaps").read_bytes())
    assert size > 1000
    assert os.stat("/proc/self/smaps").st_size == 0
    with pytest.raises(PlayerError, match="has more than 0 MiB"):
        submission.copy((Piece("/proc/self/smaps", "smaps"),), "bot", None)


def test_a_link_of_another_user_on_the_way_leads_to_its_own_alone(bot: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root can make links of another user")
    (bot.parent / "there").symlink_to(bot.parents[1] / "root-only")
    (bot.parent / "here").symlink_to(bot)
    give(bot.parent)
    with pytest.raises(PlayerError, match=r"is reached through the link '.*there', which belongs to another user"):
        submission.copy((Piece(str(bot.parent / "there" / "bot.py"), "bot.py"),), "bot", None)
    target = Path(submission.copy((Piece(str(bot.parent / "here" / "bot.py"), "bot.py"),), "bot").folder)
    assert (target / "bot.py").read_text() == "print('bot')"
    submission.remove(str(target))


def test_links_on_the_way_are_followed_as_the_kernel_does(tmp_path: Path) -> None:
    """``..`` in a link leaves the folder that was really entered, not the one that the path names."""
    (tmp_path / "data" / "deep" / "dir").mkdir(parents=True)
    for place, text in (("data/deep/other", "right"), ("other", "wrong")):
        (tmp_path / place).mkdir()
        (tmp_path / place / "main.py").write_text(text)
    (tmp_path / "l").symlink_to(tmp_path / "data" / "deep" / "dir")
    (tmp_path / "data" / "deep" / "dir" / "m").symlink_to("../other")
    source = tmp_path / "l" / "m" / "main.py"
    assert source.read_text() == "right"
    target = Path(submission.copy((Piece(str(source), "main.py"),), "bot").folder)
    assert (target / "main.py").read_text() == "right"
    submission.remove(str(target))
    with submission.open_file(str(source), "bot") as file:
        assert file.read() == b"right"
    # A folder that is a link of one's own, and a path with "..".
    (tmp_path / "mine").symlink_to("data/deep/other")
    for path in (tmp_path / "mine", tmp_path / "l" / ".." / "other"):
        target = Path(submission.copy((Piece(str(path), ""),), "bot").folder)
        assert (target / "main.py").read_text() == "right"
        submission.remove(str(target))


@pytest.mark.parametrize("named", ["folder", "file"])
def test_naming_a_submission_reads_nothing_of_others(named: str, bot: Path) -> None:
    """The hash of a bot's file goes into the replay."""
    outside = bot.parents[1] / "root-only"
    link, player = bot.parent / "link", bot if named == "folder" else bot / "bot.py"
    link.symlink_to(outside if named == "folder" else outside / "bot.py")
    give(bot.parent)
    own = hashlib.sha256((bot / "bot.py").read_bytes()).hexdigest()
    seen = set()
    with swapping(player, link):
        for _ in range(300):
            try:
                seen.add(resolve(str(player), "hunter", "evasion").about["sha256"])
            except PlayerError:
                continue
    if os.geteuid() == 0:
        assert seen <= {own}


def test_a_fifo_in_the_place_of_a_program_keeps_nobody_waiting(bot: Path) -> None:
    os.mkfifo(bot.parent / "fifo")
    give(bot.parent)
    program = bot / "bot.py"
    with swapping(program, bot.parent / "fifo"):
        for _ in range(300):
            with contextlib.suppress(PlayerError):
                resolve(str(program), "hunter", "evasion")


def test_nothing_stays_open_after_a_refusal(bot: Path) -> None:
    # What other tests have left to the garbage collector may close in the meantime.
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    (bot.parent / "folder").mkdir()
    give(bot.parent)
    with swapping(bot / "data" / "0.txt", bot.parent / "folder"):
        copies((Piece(str(bot), ""),), 60, lambda _: None)
    assert len(os.listdir("/proc/self/fd")) == before
