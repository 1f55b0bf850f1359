"""Leagues whose processes are killed, interrupted or short of room: they go on, and nothing is lost, repeated or left behind."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import select
import shlex
import signal
import sqlite3
import subprocess
import sys
from time import monotonic
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from commands import MARK
from leagues import IDLE, write_league
from sandboxes import command_of, need

from referee.league.league import open_league
from referee.tournament.local import LocalPool
from referee.tournament.store import Store
from referee.tournament.values import Record, Task
from referee.tournament.worker import Terms

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from commands import Commands, Running

    Referee = Callable[..., subprocess.CompletedProcess[str]]

#: Many matches, none of which is long.
MANY = "[starts]\ncount = 20\n"
FIELD = "width = 60\nheight = 60\nmax_steps = 300\n"


def marked(mark: str) -> list[psutil.Process]:
    """The processes that a command with this mark has started, directly or not."""
    found = []
    for process in psutil.process_iter():
        try:
            if process.environ().get(MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue
    return found


def nothing_is_left(mark: str) -> None:
    """All of a command's workers, supervisors and bots end; how long that takes is not measured."""
    _, alive = psutil.wait_procs(marked(mark), timeout=60)
    assert [command_of(process) for process in alive] == []
    assert marked(mark) == []


def results(referee: Referee, folder: Path) -> tuple[Any, Any]:
    """The standings and all matches, but for their times."""
    table = json.loads(referee("league", "standings", folder, "--json").stdout)["standings"]
    matches = json.loads(referee("league", "export", folder, "--json").stdout)["matches"]
    for match in matches:
        for name in ("seconds", "replay_sha256"):
            del match[name]
    return table, matches


def done_matches(folder: Path) -> int:
    """How many matches of a league are done; 0 before there is a store."""
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(f"file:{folder}/league.sqlite?mode=ro", uri=True)) as store,
        store,
    ):
        return int(store.execute("select count(*) from records where counts and replay <> ''").fetchone()[0])
    return 0


def is_killed(process: Running, folder: Path, seconds: float, matches: int) -> bool:
    """Kill a league after some seconds, or once so many more matches are done; False if it has ended before."""
    deadline = monotonic() + seconds
    wanted = done_matches(folder) + matches if matches else sys.maxsize
    while monotonic() < deadline and done_matches(folder) < wanted:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.02)
            return False
    process.send_signal(signal.SIGKILL)
    return True


@pytest.mark.slow
@pytest.mark.parametrize(("most_kills", "starts"), [(2, 2), pytest.param(20, 10, marks=pytest.mark.soak)])
def test_kills_lose_and_repeat_nothing(most_kills: int, starts: int, commands: Commands, referee: Referee, tmp_path: Path) -> None:
    """A league that is killed at random moments ends with the standings of one that wasn't."""
    file = write_league(tmp_path / "in", 2, extra=f"[starts]\ncount = {starts}\n", settings=FIELD)
    teams = "".join(
        f'[[teams]]\nname = "E{number}"\nhunter = "{hunter}"\nprey = "{prey}"\n'
        for number, (hunter, prey) in enumerate([("straight", "runner"), ("boxer", "evader"), ("boxer", "still")])
    )
    file.write_text(file.read_text() + teams)
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    done = referee("league", "run", file, "--out", whole, timeout=1200)
    assert done.returncode == 0, done.stderr
    lots = random.Random(5)
    kills = 0
    mark = f"{os.getpid()}-kills"
    command = ["run", str(file), "--out", str(broken)]
    while True:
        process = commands.start("league", *command, cwd=tmp_path, env={MARK: mark})
        if kills >= most_kills:
            _, told = process.communicate(timeout=1200)
        elif is_killed(process, broken, *((lots.uniform(0.1, 1.5), 0) if kills % 2 else (600, lots.randrange(1, 15)))):
            process.communicate(60)
            kills += 1
            nothing_is_left(mark)
            if command[0] == "run" and (broken / "league.sqlite").exists():
                command = ["resume", str(broken)]
            continue
        else:
            _, told = process.communicate(60)
        if process.returncode == 0:
            break
        # It was killed before it had stored its first line: it is begun again.
        assert command[0] == "resume", told
        assert "was never begun" in told or "has no league" in told
        command = ["run", str(file), "--out", str(broken)]
    assert kills == most_kills
    nothing_is_left(mark)
    assert results(referee, broken) == results(referee, whole)
    with contextlib.closing(sqlite3.connect(broken / "league.sqlite")) as store, store:
        assert store.execute("select count(*) from records where counts and replay <> ''").fetchone() == (20 * starts,)
        assert store.execute("select count(*) from records where not counts and void = ''").fetchone() == (0,)
    assert referee("league", "verify", broken, timeout=600).returncode == 0


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_ends_a_league_that_can_go_on(commands: Commands, tmp_path: Path, number: int, status: int) -> None:
    file = write_league(tmp_path / "in", 4, extra=MANY, settings=FIELD)
    out = tmp_path / "out"
    mark = f"{os.getpid()}-{number}"
    running = commands.start("league", "run", file, "--out", out, "--slots", "2", cwd=tmp_path, env={MARK: mark})
    # A note about the seed comes first.
    assert "test: 4 teams" in running.stderr.readline() + running.stderr.readline()
    view = open_league(out).view
    running.until(lambda: view.state().counts.done >= 3)
    running.send_signal(number)
    _, told = running.communicate(60)
    assert running.wait(60) == status
    found = view.state().counts
    assert found.planned > 100
    assert f"{found.done:,} of 240 matches are done and stored. Go on:  " in told
    assert f"league resume {out}" in told
    assert "Traceback" not in told
    nothing_is_left(mark)


@pytest.mark.slow
def test_ctrl_c_at_a_terminal_ends_a_local_cluster_quietly(tmp_path: Path) -> None:
    """The terminal sends the signal to the whole process group, so the workers must not take it for themselves."""
    pytest.importorskip("distributed")
    file, out = write_league(tmp_path / "in", 4, extra=MANY, settings=FIELD), tmp_path / "out"
    mark = f"{os.getpid()}-ctrl-c"
    command = [sys.executable, "-m", "referee", "league", "run", str(file), "--out", str(out), "--cluster", "local:2"]
    running = subprocess.Popen(
        command,
        cwd=tmp_path,
        env={**os.environ, MARK: mark},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while done_matches(out) < 3:
        assert running.poll() is None
        select.select([], [], [], 0.05)
    os.killpg(running.pid, signal.SIGINT)
    _, told = running.communicate(timeout=120)
    assert running.returncode == 130, told
    assert "of 240 matches are done and stored. Go on:  " in told
    assert "Traceback" not in told, told
    nothing_is_left(mark)


#: Ends its worker while it is asked for a move, as often as its file says; then it plays.
KILLER = IDLE.replace(
    "import json, sys",
    """import json, os, pathlib, signal, sys
left = pathlib.Path(__file__).with_name("left")
def kill():
    count = int(left.read_text())
    if not count:
        return
    left.write_text(str(count - 1))
    pid = os.getpid()
    while pid == os.getpid() or b"supervisor.py" in pathlib.Path(f"/proc/{pid}/cmdline").read_bytes():
        pid = int(pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    os.kill(pid, signal.SIGNAL)
""",
).replace('message["type"] == "turn":', 'message["type"] == "turn":\n        kill()')


def hostile_league(tmp_path: Path, times: int, number: str = "SIGKILL") -> Path:
    """A league of three teams, the first of which ends workers so many times."""
    file = write_league(tmp_path / "in", 3)
    (tmp_path / "in" / "bot0.py").write_text(KILLER.replace("SIGNAL", number))
    (tmp_path / "in" / "left").write_text(f"{times}")
    return file


@pytest.mark.usefixtures("same_user")
def test_a_killed_worker_makes_its_match_void_and_it_is_played_again(referee: Referee, tmp_path: Path) -> None:
    done = referee("league", "run", hostile_league(tmp_path, 2), "--out", "out", "--slots", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["matches"] == {"planned": 0, "done": 6, "stopped": 0, "voids": 2, "total": 6}
    with Store.open("league", tmp_path / "out") as store:
        assert {record.void.partition(";")[0] for record in store.others()} == {"Its worker process has ended (SIGKILL)"}


@pytest.mark.slow
@pytest.mark.usefixtures("same_user")
def test_who_kills_workers_against_two_opponents_and_goes_on_forfeits(referee: Referee, tmp_path: Path) -> None:
    done = referee("league", "run", hostile_league(tmp_path, 1000), "--out", "out", "--slots", "1", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # Three of a pair, one that shows whose fault it is, and three more.
    assert found["matches"] == {"planned": 0, "done": 2, "stopped": 4, "voids": 7, "total": 6}
    assert {row["team"]: row["points"] for row in found["standings"]} == {"T0": 0.0, "T1": 1.5, "T2": 1.5}
    assert re.search(
        r"Nobody can see who is to blame: 3 matches of T\d and T\d were void.*a bot without a sandbox can do that", done.stderr
    )
    assert "T0 is to blame for void matches with T1 and T2" in done.stderr


@pytest.mark.slow
@pytest.mark.usefixtures("same_user")
def test_a_stopped_worker_goes_on(referee: Referee, tmp_path: Path) -> None:
    done = referee("league", "run", hostile_league(tmp_path, 2, "SIGSTOP"), "--out", "out", "--slots", "1", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["matches"] == {"planned": 0, "done": 6, "stopped": 0, "voids": 0, "total": 6}


#: Kills its supervisor while it is asked for a move.
SUPERVISOR_KILLER = IDLE.replace("import json, sys", "import json, os, signal, sys").replace(
    'message["type"] == "turn":', 'message["type"] == "turn":\n        os.kill(os.getppid(), signal.SIGKILL); signal.pause()'
)


@pytest.mark.parametrize("level", ["none", "limits"])
@pytest.mark.usefixtures("same_user")
def test_a_bot_that_kills_its_supervisor_against_two_opponents_loses(referee: Referee, level: str, tmp_path: Path) -> None:
    file = write_league(tmp_path / "in", 3)
    file.write_text(file.read_text().replace('"none"', f'"{level}"'))
    (tmp_path / "in" / "bot0.py").write_text(SUPERVISOR_KILLER)
    done = referee("league", "run", file, "--out", "out", "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    # Three of a pair, which are played again once another pair has shown who it is.
    assert found["matches"] == {"planned": 0, "done": 6, "stopped": 0, "voids": 4, "total": 6}
    assert {row["team"]: row["points"] for row in found["standings"]} == {"T0": 0.0, "T1": 1.5, "T2": 1.5}
    assert re.search(r"Nobody can see who is to blame: 3 matches of T\d and T\d were void", done.stderr)
    assert "T0 is to blame for void matches with T1 and T2, and loses if that happens again" in done.stderr
    assert referee("league", "verify", "out").returncode == 0


@pytest.mark.usefixtures("same_user")
def test_between_two_teams_nobody_loses_by_a_killed_supervisor_and_both_are_named(referee: Referee, tmp_path: Path) -> None:
    file = write_league(tmp_path / "in", 2)
    (tmp_path / "in" / "bot0.py").write_text(SUPERVISOR_KILLER)
    done = referee("league", "run", file, "--out", "out", "--json")
    found = json.loads(done.stdout)
    assert found["matches"] == {"planned": 0, "done": 0, "stopped": 2, "voids": 3, "total": 2}
    assert {row["points"] for row in found["standings"]} == {0.0}
    assert re.search("Nobody can see who is to blame: 3 matches of T(0 and T1|1 and T0) were void", done.stderr)


@pytest.mark.usefixtures("same_user")
def test_against_an_example_bot_the_first_repeat_is_the_other_teams_fault(referee: Referee, tmp_path: Path) -> None:
    file = write_league(tmp_path / "in", 1)
    (tmp_path / "in" / "bot0.py").write_text(SUPERVISOR_KILLER)
    file.write_text(f'{file.read_text()}[[teams]]\nname = "ours"\nhunter = "straight"\nprey = "still"\n')
    done = referee("league", "run", file, "--out", "out", "--json")
    found = json.loads(done.stdout)
    assert found["matches"] == {"planned": 0, "done": 2, "stopped": 0, "voids": 2, "total": 2}
    assert {row["team"]: row["points"] for row in found["standings"]} == {"T0": 0.0, "ours": 1.0}


def test_a_pool_replaces_a_killed_worker(tmp_path: Path) -> None:
    mark = f"{os.getpid()}-pool"
    before = set(psutil.Process().children())
    pool = LocalPool(Terms("evasion"), {}, tmp_path, 2)
    try:
        workers = set(psutil.Process().children()) - before
        assert len(workers) == 2
        task = Task("key", {}, {}, 1)
        for worker in workers:
            worker.kill()
        pool.submit(task)
        (finished,) = pool.wait(60)
        assert finished == Record("key", void="Its worker process has ended (SIGKILL).")
        assert pool.room == 2
    finally:
        pool.close()
    assert set(psutil.Process().children()) == before
    assert marked(mark) == []


@pytest.mark.slow
@pytest.mark.parametrize("kibibytes", [30, pytest.param(250, marks=pytest.mark.soak)])
def test_a_full_disk_stops_the_league_and_it_resumes(kibibytes: int, tmp_path: Path) -> None:
    need(os.geteuid() == 0, "only root can make a small disk", of_kernel=True)
    file = write_league(tmp_path / "in", 4, extra="[starts]\ncount = 3\n", settings=FIELD.replace("300", "40"))
    disk = tmp_path / "disk"
    disk.mkdir()
    line = shlex.join([sys.executable, "-m", "referee", "league"])
    quoted = shlex.quote(str(disk))
    script = f"""
mount -t tmpfs -o size={kibibytes}k none {quoted}
{line} run {shlex.quote(str(file))} --out {quoted}/out --quiet; echo first $?
mount -o remount,size=50m {quoted}
{line} resume {quoted}/out --json --quiet || {line} run {shlex.quote(str(file))} --out {quoted}/out --json --quiet; echo second $?
"""
    done = subprocess.run(["unshare", "--mount", "sh", "-c", script], capture_output=True, text=True, timeout=300)
    assert "first 4" in done.stdout or "first 2" in done.stdout, done
    assert done.stdout.endswith("second 0\n"), done
    assert "Traceback" not in done.stderr
    # A league that begins says so first.
    first = next(line for line in done.stderr.splitlines() if line.startswith("referee: "))
    assert re.search("No space left on device|the disk is full|disk I/O error", first), done.stderr
    assert kibibytes < 100 or f"Go on afterwards:  {line.removesuffix(' league')} league resume" in first, done.stderr
    found = json.loads(done.stdout.splitlines()[-2])
    assert found["matches"]["done"] == 36
