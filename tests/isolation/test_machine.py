"""What a machine must have for bots: found before matches where it is known, and by known good bots where a bot has failed."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import HOSTILE, UNHURRIED, play_match

from referee.errors import MatchVoid, PlayerError, StartError, UsageError
from referee.grading.grade_class import Selection, grade_class
from referee.isolation import cgroups, diagnosis, known_good, machine
from referee.isolation.building import forget
from referee.isolation.level import Level
from referee.isolation.limits import LIMITS, NONE, Limits, most_cpu_seconds
from referee.league import config, league
from referee.league.plan import LeaguePlan
from referee.players.names import resolve
from referee.support.words import MIB
from referee.tournament import local
from referee.tournament.values import Record

if TYPE_CHECKING:
    from referee.replay.events import MatchResult

#: The resource limits that bots are given, with an option of ``ulimit``, and what bots and builds are given with the default limits.
GIVEN = {
    "fsize": ("f", 16 * MIB, 512 * MIB),
    "nproc": ("u", 65, 257),
    "memlock": ("l", 65_536, 65_536),
    "data": ("d", 512 * MIB, 2048 * MIB),
    "as": ("v", 512 * MIB, 2048 * MIB),
    "nofile": ("n", 64, 1024),
    "cpu": ("t", 40, most_cpu_seconds(120)),
}
#: Less than a bot uses to start, so that known good bots take nothing of note.
LITTLE = Limits(memory_bytes=48 * MIB, processes=4, scratch_bytes=MIB, open_files=32)


def lacking(level: str = LIMITS, limits: Limits = Limits(), bots: int = 2) -> list[machine.Shortage]:  # noqa: B008 - it never changes
    return list(machine.shortages(level, limits, bots, cpu_seconds=40))


@pytest.mark.parametrize("name", GIVEN)
def test_a_hard_limit_below_that_of_bots_or_builds_is_refused_with_its_name(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    letter, for_bots, for_builds = GIVEN[name]
    number = getattr(resource, f"RLIMIT_{name.upper()}")
    hard = {number: for_builds}
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (-1, hard.get(kind, resource.RLIM_INFINITY)))
    monkeypatch.setattr(cgroups, "free_memory", lambda: None)
    assert lacking() == []
    for given, whose in ((for_bots, "bots"), *([(for_builds, "builds")] if for_builds > for_bots else [])):
        hard[number] = given - 1
        (found,) = lacking()
        assert f"(ulimit -{letter})" in found.seen
        assert f"but {whose} are given" in found.seen
    assert lacking(NONE) == []
    with pytest.raises(UsageError, match=f"ulimit -{letter}"):
        machine.refuse(LIMITS, Limits(), 2)


def test_a_folder_of_copies_without_programs_is_refused_at_every_level(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def statvfs(path: str) -> os.statvfs_result:
        return os.statvfs_result((*range(8), os.ST_NOEXEC if str(path).startswith(str(tmp_path)) else 0, 255))

    monkeypatch.setattr(os, "statvfs", statvfs)
    assert lacking(NONE) == []
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path))
    (found,) = lacking(NONE)
    assert "noexec" in found.seen
    assert "TMPDIR" in found.remedy


@pytest.fixture
def noexec(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A folder on a disk that is mounted with noexec."""
    folder, access = tmp_path / "disk", os.access
    folder.mkdir()
    monkeypatch.setattr(machine, "forbids_programs", lambda path: Path(path).is_relative_to(folder))
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.X_OK and access(path, mode))
    return folder


def test_a_program_on_a_disk_without_programs_is_not_said_to_lack_its_mode(noexec: Path) -> None:
    bot = noexec / "bot"
    bot.write_text("#!/bin/sh\n")
    with pytest.raises(PlayerError, match=r"chmod \+x"):
        resolve(str(bot), "prey", "evasion")
    bot.chmod(0o755)
    (noexec / "bot.toml").write_text('run = "./bot"\n')
    for name in (bot, noexec, f"{bot} word"):
        with pytest.raises(PlayerError, match=r"noexec.*copy it to another disk") as raised:
            resolve(str(name), "prey", "evasion")
        assert "chmod" not in str(raised.value)


def test_a_grading_on_a_disk_without_programs_does_not_begin(noexec: Path, tmp_path: Path) -> None:
    out = noexec / "deep" / "marks"
    with pytest.raises(UsageError, match=r"marks is on a disk that is mounted with noexec"):
        grade_class(out, None, Selection(tmp_path), lambda _: None, print, after_due=False)
    assert not out.parent.exists()
    machine.refuse_disk(tmp_path / "other")


def group(folder: Path, **files: int | str) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for name, value in files.items():
        (folder / name.replace("__", ".")).write_text(f"{value}\n")


def test_the_memory_of_a_container_is_the_least_of_all_groups_above(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("0::/a/b\n")
    group(tmp_path / "a" / "b", memory__max="max", memory__current=300 * MIB, memory__stat="anon 5")
    assert cgroups.free_memory(str(tmp_path), str(own)) is None
    stat = f"inactive_file {20 * MIB}\nactive_file {10 * MIB}\nshmem 7"
    group(tmp_path / "a", memory__max=500 * MIB, memory__current=400 * MIB, memory__stat=stat)
    assert cgroups.free_memory(str(tmp_path), str(own)) == 130 * MIB
    # The group of a container is the root of what it sees.
    group(tmp_path, memory__max=500 * MIB, memory__current=490 * MIB)
    assert cgroups.free_memory(str(tmp_path), str(own)) == 10 * MIB


def test_the_memory_of_a_container_with_groups_of_version_1(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("4:memory:/docker/1\n1:cpu:/\n")
    unlimited = 9223372036854771712
    group(tmp_path / "memory", cgroup__procs="", memory__limit_in_bytes=unlimited, memory__usage_in_bytes=MIB)
    assert cgroups.free_memory(str(tmp_path), str(own)) is None
    stat = f"inactive_file 0\ntotal_inactive_file {MIB}"
    group(tmp_path / "memory", memory__limit_in_bytes=3 * MIB, memory__usage_in_bytes=2 * MIB, memory__stat=stat)
    assert cgroups.free_memory(str(tmp_path), str(own)) == 2 * MIB


def test_slots_have_memory_for_their_bots(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "free_memory", lambda: 2100 * MIB)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: range(8))
    assert local.checked_slots(None, Limits()) == 2
    assert lacking(bots=4) == []
    (found,) = lacking(bots=6)
    assert "6 bots with 512 MiB each need 3 GiB, but this container has 2.051 GiB left" in found.seen
    assert lacking(NONE, bots=6) == []


# Known good bots in the place of others.


def in_place_of(isolation: Level, *programs: str) -> tuple[str, str] | None:
    specs = {str(number): resolve(program, "prey", "evasion") for number, program in enumerate(programs)}
    return known_good.shortage(specs, isolation)


@pytest.mark.parametrize("limits", [Limits(), LITTLE])
@pytest.mark.parametrize("level", [LIMITS, NONE])
def test_known_good_bots_hold_what_is_promised(level: str, limits: Limits) -> None:
    assert in_place_of(Level(level, limits), "runner", "runner") is None


@pytest.mark.parametrize("limits", [Limits(), LITTLE, Limits(memory_bytes=16 * MIB, processes=30_000)])
def test_known_good_bots_hold_what_is_promised_in_a_sandbox(isolation: Level, limits: Limits) -> None:
    assert in_place_of(isolation._replace(limits=limits), "runner", "runner") is None


def test_known_good_bots_say_what_is_missing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    found = in_place_of(Level(LIMITS, LITTLE.replace(open_files=hard + 1)), "runner")
    assert found is not None
    assert found[0] == machine.LIMIT
    script = tmp_path / "bot"
    script.write_text(f"#!{sys.executable}\nimport os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n")
    monkeypatch.setattr(known_good, "_SCRIPT", script)
    assert in_place_of(Level(NONE), "runner") == (machine.MEMORY, "the kernel killed one that was within its memory limit")


def test_a_disk_from_which_no_program_starts_is_no_limit(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    script = tmp_path / "bot"
    script.write_text(f"#!{sys.executable}\nraise SystemExit(126)\n")
    monkeypatch.setattr(known_good, "_SCRIPT", script)
    found = in_place_of(Level(NONE), "runner")
    assert found is not None
    assert found[0] == machine.LIMIT
    monkeypatch.setattr(machine, "forbids_programs", lambda _: True)
    found = in_place_of(Level(NONE), "runner")
    assert found is not None
    assert found[0] == machine.DISK
    assert "noexec" in found[1]


#: Bots that end in a way for which the machine can be to blame, and others, with the kind of their fault.
DOUBTFUL = {
    "import os, signal; os.kill(os.getpid(), signal.SIGKILL)": "crashed",
    "import os, signal; os.kill(os.getpid(), signal.SIGBUS)": "crashed",
    "raise MemoryError": "exceeded",
    'raise OSError(28, "No space left on device")': "exceeded",
}
CERTAIN = {
    "raise SystemExit(5)": "crashed",
    "raise ValueError": "crashed",
    "import os; os.abort()": "crashed",
    "print('no JSON', flush=True)": "malformed",
}


def against(source: str, tmp_path: Path) -> MatchResult:
    """Play against a bot that does this instead of an answer."""
    bot = tmp_path / "bot.py"
    bot.write_text(f"""input()
print('{{"type":"ready","protocol":1}}', flush=True)
input()
{source}
input()
""")
    return play_match("straight", str(bot), options=UNHURRIED._replace(isolation=Level(LIMITS, LITTLE)), max_steps=5)


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """The seats of bots in whose place known good bots were tried; the machine has no memory for these."""
    found: list[tuple[str, ...]] = []

    def shortage(programs: dict[str, object], *_: object) -> tuple[str, str]:
        found.append(tuple(programs))
        return machine.MEMORY, "none is left"

    monkeypatch.setattr(known_good, "shortage", shortage)
    return found


@pytest.mark.parametrize("source", DOUBTFUL)
def test_a_machine_that_can_not_keep_its_promise_voids_the_match(source: str, tried: list[tuple[str, ...]], tmp_path: Path) -> None:
    with pytest.raises(MatchVoid, match="Known good bots") as raised:
        against(source, tmp_path)
    assert (raised.value.reason, raised.value.seats, raised.value.exit_code) == (machine.MEMORY, ("prey",), 4)
    assert tried == [("hunter", "prey")]


@pytest.mark.parametrize("source", DOUBTFUL)
def test_a_bot_can_not_make_its_lost_match_void(source: str, tmp_path: Path) -> None:
    assert against(source, tmp_path).failures["prey"].kind == DOUBTFUL[source]


@pytest.mark.parametrize("source", CERTAIN)
def test_a_bot_that_ends_by_itself_is_judged_at_once(source: str, tried: list[tuple[str, ...]], tmp_path: Path) -> None:
    assert against(source, tmp_path).failures["prey"].kind == CERTAIN[source]
    assert tried == []


def test_a_start_that_the_system_refuses_can_be_the_fault_of_the_machine(tried: list[tuple[str, ...]], tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    bot.write_bytes(b"\x7fELF of no machine")
    bot.chmod(0o755)
    with pytest.raises(MatchVoid):
        play_match("straight", str(bot))
    assert tried == [("hunter", "prey")]


def test_a_start_that_the_system_refuses_is_that_of_the_bot_where_others_start(tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    bot.write_bytes(b"\x7fELF of no machine")
    bot.chmod(0o755)
    with pytest.raises(StartError):
        play_match("straight", str(bot), options=UNHURRIED._replace(isolation=Level(NONE, LITTLE)))


def test_a_build_that_was_killed_is_not_built_wrong(tried: list[tuple[str, ...]], tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('build = "sh -c \'kill -9 $$\'"\nrun = "./bot"\n')
    with pytest.raises(MatchVoid):
        play_match("straight", str(tmp_path))
    assert tried == [("prey",)]


@pytest.mark.parametrize("source", ["exit 1", "exit 125"])
def test_a_build_that_the_sandbox_could_not_begin_is_not_built_wrong(source: str, tried: list[tuple[str, ...]], tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text(f'build = "sh -c \'{source}\'"\nrun = "./bot"\n')
    with pytest.raises(MatchVoid if source == "exit 125" else StartError):
        play_match("straight", str(tmp_path))
    assert tried == ([("prey",)] if source == "exit 125" else [])


@pytest.mark.parametrize("name", ["nofile", "cpu", "fsize"])
def test_a_build_that_fails_below_its_hard_limits_makes_the_match_void(name: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "bot.toml").write_text('build = "false"\nrun = "./bot"\n')
    options = UNHURRIED._replace(isolation=Level(LIMITS, LITTLE))
    with pytest.raises(StartError):
        play_match("straight", str(tmp_path), options=options)
    letter, _, needed = GIVEN[name]
    number, real = getattr(resource, f"RLIMIT_{name.upper()}"), resource.getrlimit
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (needed - 1, needed - 1) if kind == number else real(kind))
    forget()
    with pytest.raises(MatchVoid, match=f"ulimit -{letter}") as raised:
        play_match("straight", str(tmp_path), options=options)
    assert (raised.value.reason, raised.value.seats) == (machine.LIMIT, ("prey",))


def test_memory_that_a_bot_did_not_get_is_the_machines_fault(best: Level, monkeypatch: pytest.MonkeyPatch) -> None:
    """The kernel has killed the bot for memory, and the bot's own group has not met its limit."""
    if not best.trees.has_caps:
        pytest.skip("there are no control groups")
    monkeypatch.setattr(cgroups.BotGroups, "memory_kills", lambda _: 1)
    with pytest.raises(MatchVoid, match="killed for lack of memory") as raised:
        play_match("straight", str(HOSTILE / "exits_mid_match.py"), options=UNHURRIED._replace(isolation=best))
    assert raised.value.reason == machine.MEMORY
    # The counter was changed for both bots, and either can be found first.
    assert raised.value.seats in (("hunter",), ("prey",))


# Commands with a limit of their own.


def limited(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run a command of the referee that can write files of at most 10 MiB."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (10 * MIB, 10 * MIB))
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)

    return subprocess.run(
        [sys.executable, "-m", "referee", *words], preexec_fn=limit, cwd=tmp_path, capture_output=True, text=True, check=False
    )


def test_a_match_and_a_league_say_what_the_shell_lacks(tmp_path: Path) -> None:
    played = limited(tmp_path, "play", "boxer", "runner", "--isolation", "limits", "--max-steps", "20")
    assert played.returncode == 4, played.stderr
    assert "nobody loses" in played.stderr
    (tmp_path / "teams").mkdir()
    for name in "ab":
        (tmp_path / "teams" / f"{name}.py").write_text("raise SystemExit\n")
    begun = limited(tmp_path, "league", "run", "teams", "--out", "out")
    assert begun.returncode == 2
    assert "the hard limit on the size of a file (ulimit -f) is 10 MiB, but bots are given 16 MiB" in begun.stderr
    assert not (tmp_path / "out").exists()


def test_the_doctor_says_what_bots_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "free_memory", lambda: 500 * MIB)
    found = diagnosis.diagnose()
    assert any("this container has 500 MiB left" in line for line in found.lines())
    assert found.to_json()["checks"][-1]["name"] == "memory"


@pytest.mark.parametrize(("seconds", "whose"), [(20, "bots"), (most_cpu_seconds(130) - 1, "bots"), (most_cpu_seconds(130), "")])
def test_the_doctor_names_processor_time(seconds: int, whose: str) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))

    command = [sys.executable, "-m", "referee", "doctor"]
    told = subprocess.run(command, preexec_fn=limit, capture_output=True, text=True, check=False).stdout
    assert (f"(ulimit -t) is {seconds:,} s, but {whose} are given {most_cpu_seconds(130):,} s" in told) == bool(whose)
    assert "try: referee doctor" not in told


def test_the_same_command_goes_on_where_the_machine_failed(tmp_path: Path) -> None:
    text = 'name = "l"\nisolation = "none"\nsettings.max_steps = 20\n[starts]\ncount = 1\n'
    file, out = tmp_path / "l.toml", tmp_path / "out"
    file.write_text(text + "".join(f'[[teams]]\nname = "{name}"\nhunter = "boxer"\nprey = "runner"\n' for name in "AB"))
    with contextlib.closing(league.begin(config.load(file), out)) as opened:
        tasks = LeaguePlan(opened.schedule).tasks(opened.schedule.duels(())[0])
        for task in tasks:
            opened.store.add(Record(task.key, void="No memory is left.", cause=machine.MEMORY), counts=True)
        assert opened.view.state().counts[:3] == (2, 0, 0)
    command = [sys.executable, "-m", "referee", "league", "run", str(file), "--out", str(out), "--json", "-q"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["matches"] == {"planned": 0, "done": 2, "stopped": 0, "voids": 2, "total": 2}
