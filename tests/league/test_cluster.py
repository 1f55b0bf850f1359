"""Leagues on a real Dask scheduler with worker processes that are killed, frozen, late or of another version."""

from __future__ import annotations

import importlib
import os
import re
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from leagues import IDLE, PAGE, Cluster, Notes, certificates, cluster, open_new, write_league
from sandboxes import missing, need

from referee.errors import UsageError
from referee.league import config
from referee.league.league import begin
from referee.league.playing import LeaguePlay
from referee.tournament.cluster import ClusterPool
from referee.tournament.local import LocalPool
from referee.tournament.plan import PlayStopped
from referee.tournament.progress import ProgressLines

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable, Collection, Iterator
    from pathlib import Path

    from referee.league.league import OpenLeague
    from referee.tournament.local import Pool
    from referee.tournament.values import Record, Task

    Referee = Callable[..., subprocess.CompletedProcess[str]]

pytestmark = pytest.mark.slow


class Actor(Notes):
    """Does something when so many matches are done."""

    def __init__(self, count: int, act: Callable[[], object]) -> None:
        super().__init__()
        self._count = count
        self._act = act

    def finished(self, task: Task, record: Record) -> None:
        """Count a match."""
        super().finished(task, record)
        if len(self.finished_keys) == self._count:
            self._act()


#: It has no types.
dask: Any = importlib.import_module("dask")


def connect(opened: OpenLeague, address: str, on_level: Callable[[str], None] = lambda _: None, **seconds: float) -> ClusterPool:
    """The workers of a cluster for a league, with other times than those of the pool."""
    kind: Any = type("Pool", (ClusterPool,), dict(seconds))
    pool: ClusterPool = kind(opened.schedule.terms, opened.schedule.teams, opened.replays, address, on_level=on_level)
    return pool


def play(opened: OpenLeague, pool: Pool, notes: Notes | None = None) -> Notes:
    """Play a league to its end."""
    notes = notes or Notes()
    try:
        LeaguePlay(opened, pool).run(notes)
    finally:
        pool.close()
    return notes


def standings(opened: OpenLeague) -> object:
    """The standings, and what each match came to."""
    steps = {stored.task.key: stored.record and (stored.record.steps, stored.record.position) for stored in opened.view.matches()}
    return opened.standings(opened.view.state(), resamples=50), steps


@pytest.fixture
def league(tmp_path: Path) -> Iterator[OpenLeague]:
    """A league of 30 matches."""
    opened = open_new(tmp_path / "league", teams=6)
    yield opened
    opened.close()


def test_a_killed_and_a_frozen_worker_change_nothing(league: OpenLeague, tmp_path: Path) -> None:
    local = open_new(tmp_path / "local", teams=6)
    play(local, LocalPool(local.schedule.terms, local.schedule.teams, local.replays, 2))
    levels: list[str] = []
    with cluster(tmp_path / "cluster", 3) as nodes:

        def harm() -> None:
            nodes.workers[0].kill()
            nodes.workers[1].freeze()

        pool = connect(league, nodes.address, late_seconds=3.0, batch_seconds=0.1, on_level=levels.append)
        assert pool.slots == 3
        notes = play(league, pool, Actor(6, harm))
    assert (len(notes.finished_keys), len(set(notes.finished_keys)), notes.sentences) == (30, 30, [])
    assert league.view.state().counts._asdict() == {"planned": 0, "done": 30, "stopped": 0, "voids": 0}
    assert league.store.disagreements() == []
    assert standings(league) == standings(local)
    for stored in league.view.matches(done=True):
        assert stored.record is not None
        assert (league.folder / stored.record.replay).is_file()
    assert levels == ["none"]
    local.close()


def test_a_worker_that_joins_later_gets_the_files_and_plays_on_alone(league: OpenLeague, tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster", 1) as nodes:

        def replace() -> None:
            nodes.add_worker().wait()
            nodes.workers[0].kill()

        notes = play(league, connect(league, nodes.address, batch_seconds=0.1), Actor(5, replace))
    assert len(notes.finished_keys) == 30


class Watched(ProgressLines):
    """The progress as a person sees it. After five matches the cluster loses its workers; once that was told, there is a new one."""

    def __init__(self, played: LeaguePlay, nodes: Cluster) -> None:
        super().__init__(played.counts, print)
        self._nodes = nodes
        self._done = 0
        self.waiting: list[str] = []

    def finished(self, task: Task, record: Record) -> None:
        super().finished(task, record)
        self._done += 1
        if self._done == 5:
            self._nodes.workers[0].kill()

    def tick(self, running: Collection[Task] | None) -> None:
        super().tick(running)
        if running is None:
            self.waiting.append(self.line())
            if len(self.waiting) == 2:
                self._nodes.add_worker().wait()


def test_without_workers_no_time_is_told_and_a_new_one_plays_on(league: OpenLeague, tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster", 1) as nodes:
        pool = connect(league, nodes.address, batch_seconds=0.1)
        played = LeaguePlay(league, pool)
        watched = Watched(played, nodes)
        try:
            played.run(watched)
        finally:
            pool.close()
    assert len(watched.waiting) >= 2
    assert {line.partition(", ")[2] for line in watched.waiting} == {"waiting for workers"}
    assert re.fullmatch(r"30 of 30 matches, [\d,.]+ a minute", watched.line())


def test_a_worker_of_another_version_is_refused(league: OpenLeague, tmp_path: Path) -> None:
    other = tmp_path / "other.py"
    other.write_text("import referee.version\nreferee.version.__version__ = '0.0.1'\n")
    with cluster(tmp_path / "cluster", 1) as nodes:

        def join() -> None:
            # It leaves again.
            worker = nodes.add_worker("--preload", str(other))
            worker.wait()
            worker.process.wait()

        notes = play(league, connect(league, nodes.address, batch_seconds=0.1), Actor(2, join))
        assert len(notes.finished_keys) == 30
        assert any("it has version 0.0.1" in line for line in nodes.workers[1].lines)
    told = r"can't play: it has version 0\.0\.1 of the referee, the coordinator has .*; install one on all"
    with cluster(tmp_path / "again", 1, ["--preload", str(other)]) as nodes, pytest.raises(UsageError, match=told):
        connect(league, nodes.address)


def test_nothing_is_left_behind_when_a_worker_is_killed(tmp_path: Path) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    # Root's bots are users of their own.
    fifo.chmod(0o666)
    # The bot says that it runs, and never answers.
    bot = f"import time\nopen({str(fifo)!r}, 'w').close()\nwhile True:\n    time.sleep(1)\n"
    opened = open_new(tmp_path / "league", teams=2, bot=bot)
    with cluster(tmp_path / "cluster", 1) as nodes:
        pool = connect(opened, nodes.address)
        (duel,) = opened.schedule.duels(())
        task = opened.schedule.tasks(duel)[0]
        pool.submit(task)
        assert pool.wait(0.0) == []
        fifo.open().close()
        below = psutil.Process(nodes.workers[0].process.pid).children(recursive=True)
        assert len(below) >= 3
        nodes.workers[0].kill()
        assert psutil.wait_procs(below, timeout=60)[1] == []
        pool.close()
    opened.close()


def test_nothing_is_left_on_a_worker_after_the_league(league: OpenLeague, tmp_path: Path) -> None:
    with cluster(tmp_path / "cluster", 1) as nodes:
        worker = psutil.Process(nodes.workers[0].process.pid)
        below: list[psutil.Process] = []
        play(league, connect(league, nodes.address), Actor(3, lambda: below.extend(worker.children(recursive=True))))
        assert below
        assert psutil.wait_procs(below, timeout=60)[1] == []
        assert list((tmp_path / "cluster").rglob("referee-matches-*")) == []


def test_a_scheduler_that_ends_stops_the_league_which_resumes_elsewhere(league: OpenLeague, tmp_path: Path) -> None:
    told = r"can be resumed: The connection to the Dask scheduler at .* is lost"
    with cluster(tmp_path / "cluster", 1) as nodes, pytest.raises(PlayStopped, match=told):
        play(league, connect(league, nodes.address, batch_seconds=0.1), Actor(3, nodes.scheduler.kill))
    done = league.view.state().counts.done
    assert 3 <= done < 30
    notes = play(league, LocalPool(league.schedule.terms, league.schedule.teams, league.replays, 2))
    assert len(notes.finished_keys) == 30 - done


def test_no_scheduler_and_no_workers_are_sentences(league: OpenLeague, tmp_path: Path) -> None:
    nodes = Cluster(tmp_path / "cluster")
    try:
        with pytest.raises(UsageError, match=r"has no workers\. Start some: dask worker"):
            connect(league, nodes.address, connect_seconds=1.0)
    finally:
        nodes.close()
    with pytest.raises(UsageError, match=r"No Dask scheduler answers at .* Start one: dask scheduler"):
        connect(league, nodes.address, connect_seconds=1.0)


def test_tls_is_for_both_sides(league: OpenLeague, tmp_path: Path) -> None:
    good, other = (certificates(tmp_path / name) for name in ("good", "other"))
    options = [word for name in ("ca", "cert", "key") for word in (f"--tls-{name}-file" if name == "ca" else f"--tls-{name}", good[name])]
    # Dask reads its variables once, when it is loaded: these are the same settings.
    settings = [name.lower().replace("__", ".") for name in re.findall(r"export DASK_(\w+)=", PAGE)]
    ours, theirs = (dict(zip(settings, (files["ca"], files["cert"], files["key"]), strict=True)) for files in (good, other))
    with cluster(tmp_path / "cluster", 1, options, "tls") as nodes:
        assert nodes.address.startswith("tls://")
        plain = nodes.address.replace("tls://", "tcp://")
        # The scheduler refuses a certificate of somebody else, and so does the coordinator; neither speaks without.
        mixed = {**theirs, settings[0]: ours[settings[0]]}
        for files, address in ((theirs, nodes.address), (mixed, nodes.address), (ours, plain)):
            with dask.config.set(files), pytest.raises(UsageError, match="No Dask scheduler answers at"):
                connect(league, address, connect_seconds=2.0)
        for name in ours:
            with (
                dask.config.set({**ours, name: None}),
                pytest.raises(UsageError, match="Check the three variables DASK_DISTRIBUTED__COMM__TLS"),
            ):
                connect(league, nodes.address)
        with dask.config.set(ours):
            notes = play(league, connect(league, nodes.address))
    assert len(notes.finished_keys) == 30


def test_workers_prove_their_own_sandbox(tmp_path: Path) -> None:
    need(not missing(), missing())
    file = write_league(tmp_path / "in", 2)
    file.write_text(file.read_text().replace('isolation = "none"', 'isolation = "strict"'))
    opened = begin(config.load(file), tmp_path / "out")
    levels: list[str] = []
    blind = tmp_path / "blind.py"
    blind.write_text(
        "from referee.errors import UsageError\nfrom referee.isolation import choose\n"
        "def refuse(*_):\n    raise UsageError('No sandbox works here.')\nchoose.choose = refuse\n"
    )
    with cluster(tmp_path / "cluster", 1) as nodes:
        notes = play(opened, connect(opened, nodes.address, on_level=levels.append))
        assert len(notes.finished_keys) == 2
        assert [level.partition("+")[0] for level in levels] == ["isolated"]
        nodes.add_worker("--preload", str(blind)).wait()
        with pytest.raises(UsageError, match=r"The worker tcp://\S+ can't play: No sandbox works here"):
            connect(opened, nodes.address)
    opened.close()


#: A league of files, folders, command lines and example bots; the folder is that of the league file.
MIXED = """
name = "mixed"
seed = 7
isolation = "none"
[settings]
width = 30
height = 30
hunter = [0, 0, 1, 1]
prey = [20, 12]
max_steps = 20
[[teams]]
name = "File"
program = "my bot.py"
[[teams]]
name = "Folder"
program = "folder"
[[teams]]
name = "Command"
program = "python3 ./sub/run.py --weights=data/weights.txt"
[[teams]]
name = "Example"
hunter = "boxer"
prey = "runner"
[[teams]]
name = "Outside"
program = "../outside.py"
[[teams]]
name = "Copy"
program = "copies/my bot.py"
"""


def test_teams_of_all_kinds_play_as_on_this_machine(tmp_path: Path, referee: Referee) -> None:
    home = tmp_path / "in"
    for folder in ("folder", "sub", "data", "copies"):
        (home / folder).mkdir(parents=True)
    for name in ("my bot.py", "copies/my bot.py", "folder/hunter.py", "../outside.py"):
        (home / name).write_text(IDLE)
    (home / "folder" / "prey.py").write_text("import brain\n")
    (home / "folder" / "brain.py").write_text(IDLE)
    (home / "data" / "weights.txt").write_text("1")
    (home / "sub" / "run.py").write_text(f"import sys\nassert open(sys.argv[1].partition('=')[2]).read() == '1'\n{IDLE}")
    (home / "league.toml").write_text(MIXED)
    local = begin(config.load(home / "league.toml"), tmp_path / "local")
    play(local, LocalPool(local.schedule.terms, local.schedule.teams, local.replays, 2))
    with cluster(tmp_path / "cluster", 2) as nodes:
        done = referee("league", "run", home / "league.toml", "--out", tmp_path / "out", "--cluster", nodes.address, "--json")
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr
    from referee.league.league import open_league

    opened = open_league(tmp_path / "out")
    assert opened.view.state().forfeits == {}
    assert standings(opened) == standings(local)
    assert referee("league", "verify", tmp_path / "out").stdout == "30 replays checked, 0 problems.\n"
    for one in (local, opened):
        one.close()
