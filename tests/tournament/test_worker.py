"""A worker copies each program once; what it copies is what the league began with, and nothing of it stays."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from leagues import IDLE, Notes, task_of, write_league
from sandboxes import command_of, missing, need

from referee import games
from referee.errors import MatchVoid
from referee.handins.entry import read as team
from referee.isolation import choose, submission
from referee.isolation.names import PREFIX
from referee.isolation.supervision import Supervision
from referee.league import config
from referee.league.league import begin
from referee.league.playing import LeaguePlay
from referee.match.options import MatchOptions, RunOptions, TimeControl
from referee.replay.reader import read_head, read_lines
from referee.tournament.local import LocalPool
from referee.tournament.many import play_many
from referee.tournament.plan import PlayStopped
from referee.tournament.values import FATAL
from referee.tournament.worker import Terms, Worker, replay_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.handins.values import Entry
    from referee.isolation.level import Level
    from referee.tournament.values import Task

TERMS = Terms(
    "evasion",
    None,
    MatchOptions(time=TimeControl(startup=60.0, move=30.0, bank=None), run=RunOptions(max_lateness=3600.0), isolation="strict"),
)
#: A bot in a folder whose answers come from its module, so that another module is another bot.
IMPORTS = f"import words\nprint(words.TEXT, file=__import__('sys').stderr, flush=True)\n{IDLE}"


@pytest.fixture(autouse=True)
def sandbox() -> None:
    need(not missing(), missing())


@pytest.fixture
def teams(tmp_path: Path) -> dict[str, Entry]:
    """Two teams; A is a folder."""
    folder = tmp_path / "a"
    (folder / "words").mkdir(parents=True)
    (folder / "bot.py").write_text(IMPORTS)
    (folder / "words" / "__init__.py").write_text("TEXT = 'first'\n")
    (folder / "same.py").symlink_to("bot.py")
    (folder / "again").symlink_to(folder / "words")
    (tmp_path / "b.py").write_text(IDLE)
    game = games.get("evasion")
    settings = game.codec.settings("classic", {})
    return {name: team(name, program, game, settings, tmp_path) for name, program in (("A", "a"), ("B", "b.py"))}


@pytest.fixture
def worker(teams: dict[str, Entry], tmp_path: Path) -> Iterator[Worker]:
    found = Worker(TERMS, teams, tmp_path / "replays")
    yield found
    found.close()


def task(number: int, hunter: str = "A", prey: str = "B", steps: int = 2) -> Task:
    return task_of(f"{number:032x}", {"hunter": hunter, "prey": prey}, {"max_steps": steps}, number)


def copies_of(pid: int) -> list[Path]:
    return [path for top in Path(tempfile.gettempdir()).glob(f"{PREFIX}{pid}-*") for path in top.glob("*/bot")]


def said(tmp_path: Path, number: int) -> str:
    """What team A wrote to its log in a match."""
    replay = replay_path(tmp_path / "replays", task(number).key)
    return replay.with_name(replay.name.removesuffix(".replay.jsonl.gz") + ".hunter.stderr.log").read_text()


def test_a_worker_tests_its_sandbox_again_after_a_match_that_ended_its_supervisor(worker: Worker, monkeypatch: pytest.MonkeyPatch) -> None:
    tested, choosing = [], choose.choose

    def counted(*wanted: Any) -> Level:
        tested.append(wanted)
        return choosing(*wanted)

    monkeypatch.setattr("referee.isolation.launcher.choose", counted)
    for number, times in ((1, 1), (2, 1)):
        assert worker.play(task(number)).replay
        assert len(tested) == times
    with monkeypatch.context() as patch:
        # Something of the match is left.
        patch.setattr(Supervision, "is_renewed", lambda _: False)
        assert worker.play(task(3)).replay
    assert len(tested) == 1
    for number, times in ((4, 2), (5, 2)):
        assert worker.play(task(number)).replay
        assert len(tested) == times


def test_a_change_in_the_middle_of_a_league_is_not_played(worker: Worker, tmp_path: Path) -> None:
    assert worker.play(task(1)).replay
    first = {path: path.stat().st_ino for path in copies_of(os.getpid())}
    assert len(first) == 2
    (tmp_path / "a" / "words" / "__init__.py").write_text("TEXT = 'second'\n")
    # The copy is still that of the first match.
    assert worker.play(task(2)).replay
    assert {path: path.stat().st_ino for path in copies_of(os.getpid())} == first
    assert said(tmp_path, 1) == said(tmp_path, 2) == "first\n"
    replays = [replay_path(tmp_path / "replays", task(number).key) for number in (1, 2)]
    heads = [read_head(replay, read_lines(replay))[0] for replay in replays]
    assert heads[0]["players"] == heads[1]["players"]
    # A worker that must copy it anew stops the league.
    worker.close()
    found = worker.play(task(3))
    assert found.cause == FATAL
    assert found.void == (
        "The files of the team 'A' have changed since they were first read (hunter: 'words/__init__.py' has changed); restore them."
    )
    assert copies_of(os.getpid()) == []
    (tmp_path / "a" / "words" / "__init__.py").write_text("TEXT = 'first'\n")
    # What the hashes of teams leave out may change.
    (tmp_path / "a" / "__pycache__").mkdir()
    (tmp_path / "a" / "__pycache__" / "bot.pyc").write_text("new")
    assert worker.play(task(4)).replay


def test_a_program_that_is_gone_plays_on(worker: Worker, tmp_path: Path) -> None:
    program = tmp_path / "b.py"
    assert worker.play(task(1)).replay
    program.unlink()
    assert worker.play(task(2)).replay


def test_both_roles_of_a_folder_share_a_copy(worker: Worker) -> None:
    for number, seats in enumerate((("A", "B"), ("B", "A"), ("A", "B"))):
        assert worker.play(task(number, *seats)).replay
        assert len(copies_of(os.getpid())) == 2


@pytest.mark.slow
@pytest.mark.parametrize("with_helpers", [False, True])
def test_a_killed_worker_leaves_no_copies(with_helpers: bool, teams: dict[str, Entry], tmp_path: Path) -> None:
    pool = LocalPool(TERMS, teams, tmp_path / "replays", 1)
    try:
        pool.submit(task(1))
        while not (ended := pool.wait(60.0)):
            pass
        assert ended[0].replay
        [process] = [process for process in psutil.Process().children() if "referee.tournament.local" in (command_of(process) or "")]
        assert len(copies_of(process.pid)) == 2
        helpers = process.children(recursive=True)
        assert len(helpers) == 2
        for victim in (*(helpers if with_helpers else ()), process):
            victim.kill()
        psutil.wait_procs(helpers, timeout=60)
        pool.close()
        # Nobody is left who could remove them: the next referee does it.
        assert len(copies_of(process.pid)) == (2 if with_helpers else 0)
        submission.sweep()
        assert not list(Path(tempfile.gettempdir()).glob(f"{PREFIX}{process.pid}-*"))
    finally:
        pool.close()


def test_a_league_stops_when_a_teams_files_change(tmp_path: Path) -> None:
    file = write_league(tmp_path / "in", teams=3)
    file.write_text(file.read_text().replace('isolation = "none"', 'isolation = "strict"'))
    opened = begin(config.load(file), tmp_path / "out")
    program = tmp_path / "in" / "bot2.py"
    program.write_text(program.read_text() + "# changed\n")
    pool = LocalPool(opened.schedule.terms, opened.schedule.teams, opened.replays, 1)
    try:
        with pytest.raises(PlayStopped, match=r"'T2' have changed since .* 'bot2.py' has changed\); restore them"):
            LeaguePlay(opened, pool).run(Notes())
    finally:
        pool.close()
        opened.close()


def test_many_games_stop_when_a_file_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    program = tmp_path / "bot.py"
    program.write_text(IDLE)
    found = play_many(str(program), "still", games=2, slots=1, isolation="strict", out=tmp_path / "out", max_steps=2)
    program.write_text(IDLE + "# changed\n")
    with pytest.raises(MatchVoid, match=r"The files of the team 'hunter' have changed .* 'bot.py' has changed"):
        next(found)
