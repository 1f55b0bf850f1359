"""What must hold at the level ``limits+user``; ``test_another_user.py`` runs these tests in a setting like a grader's container."""

from __future__ import annotations

import ctypes
import os
import stat
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sandboxes import INTRUDERS, PATIENT, UNHURRIED, LevelLauncher, Planted, census, intrude

from referee.errors import UsageError
from referee.isolation import submission, users
from referee.isolation.choose import choose
from referee.isolation.limits import LIMITS_USER, Limits
from referee.isolation.users import FIRST, LAST
from referee.players.names import resolve
from referee.replay.paths import log_path
from referee.support.words import MIB

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.isolation.level import Level

CHEATS = INTRUDERS / "in_a_container"
RESULTS = '{"score": 1}'
#: The version of Landlock in the kernel, 0 or less if it has none.
LANDLOCK_VERSION = ctypes.CDLL(None).syscall(444, None, ctypes.c_size_t(0), 1)


@pytest.fixture
def level() -> Level:
    return choose(LIMITS_USER, Limits())


@pytest.fixture
def private(planted: Planted) -> Iterator[Planted]:
    """The grader's folder: closed to others, with the results, the rubric's seed and the opponent's files."""
    planted.folder.chmod(0o700)
    results = planted.folder / "results"
    results.mkdir()
    (results / "results.json").write_text(RESULTS)
    (planted.folder / "match.replay.jsonl.gz").write_text("the match before")
    yield planted
    assert (results / "results.json").read_text() == RESULTS
    assert (planted.folder / "secret.txt").read_text() == "secret"
    assert os.listdir(results) == ["results.json"]
    assert stat.S_IMODE(results.stat().st_mode) & 0o022 == 0


def users_processes() -> list[str]:
    return [pid for pid in os.listdir("/proc") if pid.isdigit() and any(users.is_of(int(pid), number) for number in range(FIRST, LAST + 1))]


def test_namespaces_are_refused_here() -> None:
    done = subprocess.run(["unshare", "--user", "true"], capture_output=True, check=False)
    assert done.returncode != 0
    with pytest.raises(UsageError, match="Strict isolation isn't possible"):
        choose("strict", Limits())


@pytest.mark.parametrize(("name", "least"), [("changes_the_results", 15), ("reads_what_is_hidden", 20), ("kills_the_referee", 20)])
def test_a_cheat_gets_nothing_and_the_match_goes_on(name: str, least: int, level: Level, private: Planted) -> None:
    before = census()
    played = intrude(CHEATS / f"{name}.py", private, level)
    assert played.got == []
    assert played.tried >= least
    assert not played.result.faults
    assert played.result.steps == 30
    assert played.result.head["isolation"] == LIMITS_USER
    assert census() == before


@pytest.mark.parametrize("name", ["leaves_daemons", "nests_folders"])
def test_what_a_bot_leaves_behind_is_gone(name: str, level: Level, private: Planted) -> None:
    before = census()
    played = intrude(CHEATS / f"{name}.py", private, level)
    assert "done" in played.log
    assert not played.result.faults
    assert users_processes() == []
    assert census() == before


def test_a_bot_has_no_network_and_leaves_no_notes(level: Level, private: Planted) -> None:
    common = Path("/tmp/open")
    common.mkdir()
    common.chmod(0o777)
    if LANDLOCK_VERSION >= 6:
        (common / "landlock").write_text("")
        (common / "landlock").chmod(0o666)
    before = set(os.listdir("/dev/shm"))
    played = intrude(CHEATS / "reaches_out.py", private, level)
    assert played.got == []
    assert played.tried >= (10 if LANDLOCK_VERSION >= 6 else 6), played.log
    assert not played.result.faults, played.log
    assert set(os.listdir("/dev/shm")) == before
    assert os.listdir(common) == (["landlock"] if LANDLOCK_VERSION >= 6 else [])


def test_one_supervisor_serves_match_after_match(level: Level, private: Planted) -> None:
    launcher = LevelLauncher()
    before = census()["files"]
    try:
        watchdogs = set()
        for _ in range(3):
            played = intrude(CHEATS / "leaves_daemons.py", private, level, launcher=launcher)
            assert not played.result.faults
            assert users_processes() == []
            assert census()["files"] == before
            assert launcher.idle is not None
            watchdogs.add(launcher.idle.watchdog)
        assert len(watchdogs) == 1
    finally:
        launcher.close()


def test_each_bot_is_a_user_without_any_right(level: Level, private: Planted) -> None:
    source = private.folder / "tells.py"
    source.write_text(
        "import os, sys\nfrom _wire import play_well, ready\nready()\n"
        "print(open('/proc/self/status').read(), os.getgroups(), os.environ['TMPDIR'], file=sys.stderr)\n"
        "open(os.environ['TMPDIR'] + '/own', 'w').write('x')\nplay_well(100)\n"
    )
    played = intrude(source, private, level)
    lines = dict(line.split(":\t", 1) for line in played.log.splitlines() if ":\t" in line)
    numbers = {int(word) for word in lines["Uid"].split()} | {int(word) for word in lines["Gid"].split()}
    assert len(numbers) == 1
    assert FIRST <= numbers.pop() <= LAST
    assert {int(lines[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")} == {0}
    assert lines["NoNewPrivs"] == "1"
    assert lines["Groups"].strip() == ""
    assert not played.result.faults


@pytest.mark.parametrize(
    ("name", "cause", "text"),
    [
        ("memory_private", "memory", "used more memory than its limit of 320 MiB"),
        ("memory_in_8_parts", "memory", "used more memory than its limit of 320 MiB"),
        ("dies_of_forks", "processes", "started more processes or threads than its limit of 16"),
        ("dies_of_disk", "disk", "wrote more to disk than its limit of 16 MiB"),
    ],
)
def test_a_limit_ends_a_bot_and_is_named(name: str, cause: str, text: str, level: Level, private: Planted) -> None:
    # Without the right to read more about other users' processes, their shared pages count fully: forks have much memory. The container has
    # enough for what is promised here, else the match would be void.
    limits = Limits(memory_bytes=256 * MIB, processes=16) if cause == "processes" else Limits(memory_bytes=320 * MIB)
    source = CHEATS if cause == "disk" else INTRUDERS
    played = intrude(source / f"{name}.py", private, level._replace(limits=limits))
    fault = played.result.failures["prey"]
    assert fault.kind == "exceeded", fault.text
    assert fault.cause == cause
    assert text in fault.text
    assert users_processes() == []


def test_a_bot_that_is_missing_a_module_is_told_so_by_its_own_paths(level: Level, private: Planted) -> None:
    bot = private.folder / "alone.py"
    bot.write_text("import helper\n")
    (private.folder / "helper.py").write_text("")
    played = intrude(CHEATS / "nests_folders.py", private, level, hunter=str(bot))
    text = played.result.failures["hunter"].text
    assert "No module named 'helper', at" in text
    assert "/referee-" not in text
    assert "alone.py" in text


def test_a_program_in_a_closed_folder_is_refused_with_the_remedy(private: Planted) -> None:
    closed = private.folder / "runtime" / "bin"
    closed.mkdir(parents=True)
    program = closed / "python3"
    program.symlink_to(sys.executable)
    (closed.parent / "pyvenv.cfg").write_text("")
    bot = private.folder / "bot.py"
    bot.write_text("")
    spec = resolve(f"{program} {bot}", "prey", "evasion")
    with pytest.raises(UsageError, match=r"which other users can't read; install the referee in a folder that every user can enter"):
        choose(LIMITS_USER, Limits(), [spec])


def test_a_closed_folder_for_temporary_files_is_refused(private: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(submission, "new_name", lambda: str(private.folder / "copies" / "referee-1"))
    (private.folder / "copies").mkdir()
    with pytest.raises(UsageError, match=r"can't enter .*copies.*name another folder in TMPDIR"):
        choose(LIMITS_USER, Limits())


def test_two_bots_of_a_match_are_two_users(level: Level, private: Planted) -> None:
    line = "import os, sys\nprint('user', os.getuid(), file=sys.stderr)\n"
    opponent = private.folder / "opponent" / "hunter.py"
    opponent.write_text(line + opponent.read_text())
    source = private.folder / "tells.py"
    source.write_text(f"from _wire import play_well, ready\n{line}ready()\nplay_well(100)\n")
    intrude(source, private, level, options=UNHURRIED, time=PATIENT)
    users = {
        line
        for seat in ("hunter", "prey")
        for line in log_path(private.folder / "match.replay.jsonl.gz", seat).read_text().splitlines()
        if line.startswith("user ")
    }
    assert len(users) == 2
