"""Matches of one process that share a supervisor: each leaves nothing to the next, and any doubt ends the supervisor."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest
from conftest import play_match
from sandboxes import HOSTILE, INTRUDERS, UNHURRIED, USER, LevelLauncher, Planted, census, command_of, intrude, match_between, missing, need
from victims import KILLS, Victim

from referee import games
from referee.errors import MatchVoid
from referee.isolation import bubblewrap
from referee.isolation.bot_process import ProgramStart
from referee.isolation.level import Level
from referee.isolation.supervision import Supervision, pack
from referee.players.names import resolve
from referee.replay.events import Listener, StepTaken

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from referee.replay.events import MatchResult


@pytest.fixture
def launcher() -> Iterator[LevelLauncher]:
    kept = LevelLauncher()
    yield kept
    kept.close()


def helpers() -> list[psutil.Process]:
    """The watchdog and the supervisor of this process, and all that is below them."""
    return [
        found
        for child in psutil.Process().children()
        if "supervisor.py" in (command_of(child) or "")
        for found in (child, *child.children(recursive=True))
    ]


def descriptors(processes: list[psutil.Process]) -> list[int]:
    return [len(os.listdir(f"/proc/{process.pid}/fd")) for process in processes]


def test_matches_share_a_supervisor_and_leave_nothing(isolation: Level, planted: Planted, launcher: LevelLauncher) -> None:
    empty = census()
    intrude(INTRUDERS / "daemon.py", planted, isolation, steps=3, launcher=launcher)
    first, idle = helpers(), census()
    used = descriptors(first)
    assert len(first) == 2
    for name in ("daemon", "forks_200", "daemon", "writes_everywhere", "daemon"):
        result = intrude(INTRUDERS / f"{name}.py", planted, isolation, steps=3, launcher=launcher).result
        assert result.steps == 3
        assert helpers() == first
        assert descriptors(first) == used
        assert census() == idle
    assert {name: idle[name] for name in ("groups", "mounts")} == {name: empty[name] for name in ("groups", "mounts")}
    # The copies of the programs.
    assert isinstance(idle["files"], list)
    assert len(idle["files"]) == 1
    launcher.close()
    psutil.wait_procs(first, timeout=60)
    assert census() == empty


def test_a_program_of_another_user_has_no_way_back_and_the_supervisor_has() -> None:
    need(os.geteuid() == 0, "only root starts programs as other users")
    supervision = Supervision()
    try:
        assert supervision.wait_until_ready()
        statuses = []
        for index, user in enumerate((USER, None)):
            read, write = os.pipe()
            start = ProgramStart(("/bin/cat", "/proc/self/status"), {}, "/", user=user)
            supervision.spawn(index, start, (write, write, write))
            os.close(write)
            with open(read) as out:
                statuses.append(dict(line.rstrip("\n").split(":\t", 1) for line in out if ":\t" in line))
    finally:
        supervision.end()
        supervision.close(is_ended=True)
    one, other = ({name: status[name].split() for name in ("Uid", "Gid", "Groups", "CapPrm", "CapEff")} for status in statuses)
    assert one == {"Uid": 4 * [str(USER)], "Gid": 4 * [str(USER)], "Groups": [], "CapPrm": ["0" * 16], "CapEff": ["0" * 16]}
    assert other["Uid"] == other["Gid"] == 4 * ["0"]
    assert other["Groups"] == [str(group) for group in sorted(os.getgroups())]


@pytest.mark.parametrize(("victim", "number"), [(0, signal.SIGKILL), (1, signal.SIGKILL), (0, signal.SIGSTOP)])
def test_an_idle_supervisor_that_is_lost_is_replaced(
    victim: int, number: int, best: Level, planted: Planted, launcher: LevelLauncher
) -> None:
    intrude(INTRUDERS / "daemon.py", planted, best, steps=3, launcher=launcher)
    first = helpers()
    first[victim].send_signal(number)
    if number == signal.SIGKILL:
        psutil.wait_procs([first[victim]] if victim else [], timeout=60)
        while victim == 0 and first[0].status() != psutil.STATUS_ZOMBIE:
            pass
    for _ in range(2):
        assert intrude(INTRUDERS / "daemon.py", planted, best, steps=3, launcher=launcher).result.steps == 3
    if number == signal.SIGKILL:
        psutil.wait_procs(first, timeout=60)
        assert not set(first) & set(helpers())
        assert len(helpers()) == 2
    launcher.close()
    psutil.wait_procs(first, timeout=60)
    assert not helpers()
    assert census()["files"] == []


def test_a_watchdog_that_reads_nothing_blocks_no_match(launcher: LevelLauncher) -> None:
    """Its pipe is full after hundreds of matches: such a supervision isn't renewed."""
    supervision = Supervision()
    assert supervision.wait_until_ready()
    watchdog = psutil.Process(supervision.watchdog)
    watchdog.suspend()
    for _ in range(10_000):
        supervision.note(pack("forget"))
    assert not supervision.is_renewed()
    launcher.idle = supervision
    launcher.close()
    assert not watchdog.is_running()


def test_a_void_match_leaves_no_supervisor_to_the_next(
    best: Level, planted: Planted, launcher: LevelLauncher, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = census()
    intrude(INTRUDERS / "daemon.py", planted, best, steps=3, launcher=launcher)
    with monkeypatch.context() as patch:
        patch.setattr(bubblewrap, "command", lambda _: ("/bin/sh", "-c", "echo no namespace >&2; exit 1"))
        with pytest.raises(MatchVoid):
            intrude(INTRUDERS / "daemon.py", planted, best, steps=3, launcher=launcher)
    assert census() == before
    intrude(INTRUDERS / "daemon.py", planted, best, steps=3, launcher=launcher)
    assert len(helpers()) == 2


class Failing(Listener):
    def stepped(self, event: StepTaken) -> None:
        raise OSError(28, "No space left on device")


def test_a_match_that_fails_leaves_no_supervisor_to_the_next(best: Level, planted: Planted, launcher: LevelLauncher) -> None:
    before = census()
    with pytest.raises(OSError, match="No space"):
        intrude(INTRUDERS / "daemon.py", planted, best, steps=3, launcher=launcher, listeners=[Failing()])
    assert census() == before


def test_a_bot_that_exceeded_a_cap_leaves_no_supervisor_to_the_next(planted: Planted, launcher: LevelLauncher) -> None:
    need(not missing(), missing())
    before = census()
    without_groups = Level("isolated", Level().limits)
    result = intrude(INTRUDERS / "many_files.py", planted, without_groups, steps=100_000, launcher=launcher).result
    assert result.failures["prey"].kind == "exceeded"
    assert census() == before


def play_unguarded(prey: str, level: str, launcher: LevelLauncher, listeners: Sequence[Listener] = ()) -> MatchResult:
    """Play a short match whose bots run as the referee's own user."""
    game = games.get("evasion")
    bots = {seat: resolve(name, seat, "evasion") for seat, name in (("hunter", "straight"), ("prey", prey))}
    options = UNHURRIED._replace(isolation=Level(level))
    return match_between(
        game, game.codec.settings("classic", {"max_steps": 5}), bots, options, listeners=listeners, seed=1, launcher=launcher
    ).run()


#: Bots that do something to the supervisor or leave something: whether the match is void, and whether the next one gets another supervisor.
MISCHIEF = {
    "leaves_a_daemon": (False, False),
    "daemon_holds_stdout": (False, False),
    "opens_descriptors": (False, False),
    "stops_the_supervisor": (False, True),
    "kills_the_supervisor": (True, True),
    "limits_the_supervisor": (False, True),
    "limits_the_watchdog": (False, True),
    "idles_the_supervisor": (False, True),
    "offers_the_supervisor_to_the_kernel": (False, True),
    "traces_the_supervisor": (False, True),
}


@pytest.mark.usefixtures("same_user")
@pytest.mark.parametrize("level", ["none", "limits"])
@pytest.mark.parametrize(("name", "is_void", "is_replaced"), [(name, *rest) for name, rest in MISCHIEF.items()])
def test_outside_a_sandbox_no_bot_touches_the_next_match(
    name: str, is_void: bool, is_replaced: bool, level: str, launcher: LevelLauncher
) -> None:
    empty = census()
    assert play_unguarded("still", level, launcher).faults == {}
    first, idle = helpers(), census()
    used = descriptors(first)
    assert len(first) == 2
    with pytest.raises(MatchVoid) if is_void else contextlib.nullcontext():
        assert play_unguarded(str(HOSTILE / f"{name}.py"), level, launcher).faults == {}
    assert helpers() == ([] if is_replaced else first)
    for _ in range(2):
        assert play_unguarded("still", level, launcher).faults == {}
        assert len(helpers()) == 2
        assert descriptors(helpers()) == used
        assert len(census()["processes"]) == len(idle["processes"])  # type: ignore[arg-type]
    assert (helpers() == first) is not is_replaced
    assert len(census()["descriptors"]) == len(idle["descriptors"])  # type: ignore[arg-type]
    launcher.close()
    psutil.wait_procs(first, timeout=60)
    assert census() == empty


def test_no_line_but_the_secret_word_says_that_the_next_match_can_begin(launcher: LevelLauncher, monkeypatch: pytest.MonkeyPatch) -> None:
    renew = Supervision.renew

    def forged(supervision: Supervision, word: bytes) -> None:
        # As a process that a bot has left would, just before its end.
        Path(f"/proc/{helpers()[1].pid}/fd/1").write_bytes(b"\n")
        renew(supervision, word)

    with monkeypatch.context() as patch:
        patch.setattr(Supervision, "renew", forged)
        assert play_unguarded("still", "none", launcher).faults == {}
    assert not helpers()
    assert play_unguarded("still", "none", launcher).steps == 5


def test_a_match_that_fails_outside_a_sandbox_leaves_no_supervisor_to_the_next(launcher: LevelLauncher) -> None:
    before = census()
    with pytest.raises(OSError, match="No space"):
        play_unguarded("still", "none", launcher, [Failing()])
    assert census() == before


@pytest.mark.usefixtures("same_user")
def test_sandboxed_bots_never_share_a_supervisor_with_others(best: Level, planted: Planted, launcher: LevelLauncher) -> None:
    play_unguarded("still", "none", launcher)
    first = helpers()
    intrude(INTRUDERS / "daemon.py", planted, best, steps=3, launcher=launcher)
    second = helpers()
    play_unguarded("still", "none", launcher)
    assert len({*first, *second, *helpers()}) == 6


def test_an_ordinary_match_ends_its_supervisor(best: Level) -> None:
    play_match("straight", "still", options=UNHURRIED._replace(isolation=best), max_steps=3)
    assert not helpers()


@pytest.mark.slow
def test_whatever_is_killed_in_a_later_match_the_rest_leaves_nothing(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    need(not missing(), missing())
    victims = {names: Victim(tmp_path / "-".join(names), "strict", short_matches=2) for names in KILLS}
    for victim in victims.values():
        request.addfinalizer(victim.close)
    parts = {}
    for names, victim in victims.items():
        victim.wait_for_steps()
        parts[names] = victim.helpers()
        assert len(parts[names]) == 2
        assert len(victim.kill(names)) == len(names)
    for names, victim in victims.items():
        said = victim.end(0.0 if names == ("watchdog",) else 60.0)
        victim.wait_for_helpers(parts[names])
        assert victim.left() == [], names
        if "supervisor" in names and "referee" not in names:
            assert victim.process.returncode == 4, said


@pytest.mark.slow
@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.soak)])
def test_whatever_is_killed_between_matches_the_rest_leaves_nothing(kills: int, tmp_path: Path) -> None:
    """Short matches without a pause, so that kills meet all moments of an end and of the next start."""
    need(not missing(), missing())
    for number in range(kills):
        victim = Victim(tmp_path / str(number), "strict", short_matches=1000)
        # The sandbox is checked before the first match, for as long as the machine needs.
        while victim.process.poll() is None and not any((victim.replays / "first").glob("*.gz")):
            with contextlib.suppress(subprocess.TimeoutExpired):
                victim.process.wait(0.01)
        with contextlib.suppress(subprocess.TimeoutExpired):
            victim.process.wait(0.2 + 0.028 * number)
        found = victim.helpers()
        names = KILLS[number % len(KILLS)]
        victim.kill(names)
        victim.end()
        victim.wait_for_helpers(found)
        assert victim.left() == [], (number, names)
