"""Many games of the same players: ``referee.play_many`` and ``referee play --games``."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import statistics
import sys
from collections import Counter
from typing import TYPE_CHECKING, Any

import psutil
import pytest
from leagues import PretendPool, first_interrupted, not_started, play

import referee as api
from referee.errors import MatchVoid, PlayerError, StartError, UsageError
from referee.handins.values import Entry
from referee.isolation.limits import Limits
from referee.replay.reader import verify
from referee.tournament.local import checked_slots
from referee.tournament.many import played
from referee.tournament.plan import MOST_VOIDS
from referee.tournament.summary import summarize, wilson
from referee.tournament.values import Record, Task
from sdk import PreyBot, State

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable
    from pathlib import Path

    from commands import Commands

    Referee = Callable[..., subprocess.CompletedProcess[str]]

QUICK: dict[str, Any] = {"isolation": "none", "width": 60, "height": 60, "prey": (40, 25), "max_steps": 40, "slots": 2}
FLAGS = ("--isolation", "none", "--size", "60x60", "--prey", "40,25", "--max-steps", "40")


class Still(PreyBot):
    def flee(self, state: State) -> None:
        return None


class Broken(PreyBot):
    def flee(self, state: State) -> None:
        raise ZeroDivisionError("of mine")


@pytest.fixture(autouse=True)
def _here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def facts(game: api.ManyGame) -> tuple[Any, ...]:
    """What a seed decides."""
    return (game.number, dict(game.start), game.seed, game.winner, game.reason, game.steps, game.scores)


def test_games_come_in_order_with_varied_starts_and_a_seed_gives_them_again(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    games = list(
        api.play_many("straight", "random", games=6, seed=5, out=tmp_path / "out", progress=lambda *far: seen.append(far), **QUICK)
    )
    assert [game.number for game in games] == list(range(6))
    assert seen == [(number, 6) for number in range(1, 7)]
    assert len({json.dumps(dict(game.start)) for game in games}) == 6
    assert len({game.seed for game in games}) == 6
    assert sorted(path.name for path in (tmp_path / "out").iterdir() if path.name.endswith(".gz")) == [
        f"{number}.replay.jsonl.gz" for number in range(1, 7)
    ]
    for game in games:
        found = verify(game.replay)
        assert found.problem is None
        assert found.head["seed"] == game.seed
        assert {name: found.head["settings"][name] for name in game.start} == dict(game.start)
    again = api.play_many("straight", "random", games=6, seed=5, out=tmp_path / "again", **{**QUICK, "slots": 1})
    assert [facts(game) for game in again] == [facts(game) for game in games]


def test_classes_play_here_on_the_same_starts_as_programs(tmp_path: Path) -> None:
    options = {name: value for name, value in QUICK.items() if name != "slots"}
    here = list(api.play_many("straight", Still, games=3, seed=5, out=tmp_path / "here", **options))
    there = list(api.play_many("straight", "still", games=3, seed=5, out=tmp_path / "there", **QUICK))
    assert [facts(game) for game in here] == [facts(game) for game in there]
    assert [game.replay.name for game in here] == [game.replay.name for game in there]
    broken = list(api.play_many("straight", Broken, games=2, seed=5, out=tmp_path / "broken", **options))
    assert ["ZeroDivisionError" in game.faults["prey"] for game in broken] == [True, True]


def test_an_iterator_that_is_closed_early_leaves_nothing(tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    games = api.play_many("straight", "still", games=500, seed=5, out=tmp_path / "out", **QUICK)
    assert next(games).number == 0
    assert set(psutil.Process().children(recursive=True)) > before
    games.close()  # type: ignore[attr-defined]  # an iterator for its users, a generator in fact
    left = [process for process in set(psutil.Process().children(recursive=True)) - before if process.status() != psutil.STATUS_ZOMBIE]
    assert left == []
    assert not (tmp_path / "out" / "matches").exists()


@pytest.mark.parametrize(
    ("players", "options", "told"),
    [
        (("straight", "still"), {"games": 0}, "from 1 to 1,000,000"),
        (("straight", "still"), {"slots": 0}, "--slots is 0"),
        (("straight", "nobody.py"), {}, "nobody.py"),
        (("human", "still"), {}, "A person plays one game at a time"),
    ],
)
def test_bad_input_is_refused_at_once(players: tuple[str, ...], options: dict[str, Any], told: str) -> None:
    with pytest.raises((UsageError, PlayerError), match=told):
        api.play_many(*players, **{**QUICK, "games": 2, **options})
    assert os.listdir() == []


@pytest.mark.slow
@pytest.mark.parametrize("columns", ["40", "120"])
def test_the_command_sums_up_what_json_lists(columns: str, referee: Referee, commands: Commands, tmp_path: Path) -> None:
    line = ("play", "straight", "random", "--games", "5", "--slots", "2", "--seed", "5", *FLAGS)
    plain = commands.run(*line, "--out", "plain", cwd=tmp_path, env={"COLUMNS": columns})
    assert plain.returncode == 0, plain.stderr
    for told in ("5 games of straight and random", "won      hunter", "steps    mean", "endings  ", "seed     5", "replays  plain/"):
        assert told in plain.stdout
    assert [line.split()[1] for line in plain.stdout.splitlines() if line.startswith("  game ")] == ["1", "2", "3", "4", "5"]
    if columns == "120":
        return
    found = json.loads(referee(*line, "--out", "json", "--json").stdout)
    assert (found["seed"], found["games"], len(found["results"])) == (5, 5, 5)
    assert found["endings"] == dict(Counter(game["reason"] for game in found["results"]).most_common())
    steps = [game["steps"] for game in found["results"]]
    assert found["steps"]["mean"] == pytest.approx(statistics.fmean(steps))
    assert found["steps"]["spread"] == pytest.approx(statistics.stdev(steps))
    wins = sum(game["winner"] == "prey" for game in found["results"])
    assert found["won"]["prey"] == {"games": wins, "share": wins / 5, "interval": wilson(wins, 5)}


def interrupted(commands: Commands, tmp_path: Path, *more: str, number: int = signal.SIGINT, times: int = 1) -> tuple[int, str, str]:
    """The exit status, stdout and stderr of 50 games that a signal ends once three of them have ended."""
    bots = ("straight", "random", "--games", "50", "--slots", "2", "--seed", "5", "--out", "out", *FLAGS, "--max-steps", "4000")
    running = commands.start("play", *bots, *more, cwd=tmp_path)
    while len(list((tmp_path / "out").glob("*.replay.jsonl.gz"))) < 3:
        assert running.poll() is None
        select.select([], [], [], 0.02)
    for _ in range(times):
        running.send_signal(number)
    told, problems = running.communicate(60)
    return running.wait(60), told, problems


@pytest.mark.parametrize(
    ("number", "times", "status"),
    [
        (signal.SIGINT, 1, 130),
        # As timeout sends it: to its child and to the group.
        (signal.SIGINT, 20, 130),
        pytest.param(signal.SIGTERM, 20, 143, marks=pytest.mark.slow),
    ],
)
def test_games_that_are_interrupted_are_summed_up(commands: Commands, tmp_path: Path, number: int, times: int, status: int) -> None:
    code, told, problems = interrupted(commands, tmp_path, number=number, times=times)
    assert code == status, problems
    assert "Traceback" not in problems
    first, *lines = told.splitlines()
    kept = sorted(path.name for path in (tmp_path / "out").glob("*.replay.jsonl.gz"))
    count = int(first.partition(" of 50 games of straight and random: hunter won ")[0])
    # The signal may come just before a replay that was kept is counted. Games that ended out of order count, too.
    assert max(2, len(kept) - 1) <= count <= len(kept) < 50
    listed = [line.split()[-1] for line in lines if line.startswith("  game ")]
    assert len(listed) == min(count, 20)
    assert set(listed) <= set(kept)
    assert "  replays  out/" in lines
    assert not (tmp_path / "out" / "matches").exists()


def test_interrupted_games_are_one_json_object(commands: Commands, tmp_path: Path) -> None:
    code, told, problems = interrupted(commands, tmp_path, "--json")
    assert code == 130, problems
    found = json.loads(told)
    kept = sorted(path.name for path in (tmp_path / "out").glob("*.replay.jsonl.gz"))
    assert (found["error"], found["exit_code"], found["planned"]) == ("Interrupted.", 130, 50)
    assert found["games"] == len(found["results"]) >= 2
    assert {game["replay"] for game in found["results"]} <= {f"out/{name}" for name in kept}


@pytest.mark.parametrize("has_folder", [True, False])
def test_games_that_are_interrupted_before_the_first_result_say_so(commands: Commands, tmp_path: Path, has_folder: bool) -> None:
    words = ("--games", "50", "--slots", "1", "--seed", "5", *FLAGS)
    code, told, problems = first_interrupted(commands, tmp_path, "play", *words, *(("--out", "out") if has_folder else ()))
    assert code == 130, problems
    first, seed, folder = told.splitlines()
    assert (first, seed) == ("0 of 50 games of waits.py and evader", "  seed     5")
    assert re.fullmatch(r"  replays  out/ has none yet" if has_folder else r"  replays  matches/replays/[\w-]+/ has none yet", folder)
    assert problems.endswith("referee: Interrupted.\n")


def test_a_first_game_that_is_interrupted_is_one_json_object(commands: Commands, tmp_path: Path) -> None:
    code, told, _ = first_interrupted(commands, tmp_path, "play", "--games", "50", "--seed", "5", "--json", *FLAGS)
    assert code == 130
    assert json.loads(told) == {"error": "Interrupted.", "exit_code": 130, "planned": 50, "seed": 5, "games": 0, "results": []}


def a_game(number: int, steps: int, faults: dict[str, str] | None = None) -> api.ManyGame:
    """A game of so many steps."""
    seconds = {"hunter": 0.1, "prey": 0.1}
    return api.ManyGame(number, {}, 1, "hunter", "caught", "", {"hunter": steps}, steps, faults or {}, seconds, None, True)  # type: ignore[arg-type]  # no replay


@pytest.mark.parametrize("count", [2, 3, 4, 5, 8, 15, 30, 100, 1000])
def test_the_interval_of_the_mean_is_students(count: int) -> None:
    from scipy import stats

    steps = [number % 7 for number in range(count)]
    summary = summarize([a_game(number, value) for number, value in enumerate(steps)])
    error = statistics.stdev(steps) / count**0.5
    low, high = stats.t.interval(0.95, count - 1, loc=statistics.fmean(steps), scale=error)
    assert summary["scores"]["hunter"]["interval"] == pytest.approx([low, high], abs=2e-3 * error)
    assert summary["steps"] == summary["scores"]["hunter"]


def test_one_game_has_no_interval_and_faults_are_counted() -> None:
    assert summarize([a_game(0, 5)])["steps"] == {"games": 1, "mean": 5.0, "spread": 0.0, "least": 5, "most": 5, "interval": None}
    games = [a_game(0, 5, {"prey": "crashed"}), a_game(1, 5), a_game(2, 5, {"prey": "late", "hunter": "late"})]
    assert summarize(games)["faults"] == {"hunter": 1, "prey": 2}


@pytest.mark.parametrize(("count", "total"), [(0, 10), (5, 10), (10, 10), (81, 263), (1, 1)])
def test_the_interval_of_a_share_is_wilsons(count: int, total: int) -> None:
    from scipy import stats

    exact = stats.binomtest(count, total).proportion_ci(0.95, method="wilson")
    assert wilson(count, total) == pytest.approx([exact.low, exact.high], abs=1e-6)


def test_the_number_of_slots_needs_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    """``referee play --games`` works with what ``make play`` installs."""
    monkeypatch.setitem(sys.modules, "psutil", None)
    assert checked_slots(None, Limits()) == len(os.sched_getaffinity(0))


def games_of(count: int) -> list[Task]:
    """The tasks of so many games."""
    entries = {"hunter": Entry("T0", {}), "prey": Entry("T1", {})}
    return [Task(str(number), entries, {}, number) for number in range(count)]


@pytest.mark.parametrize("slots", [1, 3])
def test_a_game_is_handed_on_when_its_slot_plays_again(slots: int) -> None:
    pool = PretendPool(play, slots)
    begun = [len(pool.begun) for ended, _ in played(games_of(8), pool, 8) if ended]
    assert begun == [min(8, ended + slots) for ended in range(1, 9)]


def test_games_that_ended_before_an_error_are_handed_on() -> None:
    """The game after the error isn't begun."""
    pool = PretendPool(lambda task: not_started(task, "T1", "It is missing.") if task.key == "2" else play(task), 1)
    handed_on: list[str] = []
    with pytest.raises(StartError, match="It is missing"):
        for ended, _ in played(games_of(4), pool, 4):
            handed_on += (task.key for task, _ in ended)
    assert handed_on == ["0", "1"]
    assert [task.key for task in pool.begun] == ["0", "1", "2"]


def test_games_wait_for_one_that_is_slow() -> None:
    pool = PretendPool(play, 1)
    moments = played(games_of(10), pool, 3)
    next(moments)
    assert [task.key for task in pool.begun] == ["0"]
    records = [record.key for _, in_turn in moments for record in in_turn]
    assert records == [str(number) for number in range(10)]


def test_a_game_that_is_void_three_times_ends_play() -> None:
    pool = PretendPool(lambda task: Record(task.key, host="here", void="The machine failed.") if task.key == "1" else play(task), 2)
    with pytest.raises(MatchVoid, match="The machine failed"):
        for _ in played(games_of(4), pool, 4):
            pass
    assert [task.key for task in pool.begun].count("1") == MOST_VOIDS
