"""referee conformance and bench."""

from __future__ import annotations

import gzip
import json
import math
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from sandboxes import missing, need
from typer.testing import CliRunner

from referee.bench.grading import gradings
from referee.bench.league import MATCHES, PRETENDED, leagues
from referee.bench.measures import Figure
from referee.cli import develop  # noqa: F401 - its commands belong to the command line once it is imported
from referee.cli.app import app

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

GAME = '{"rules":"classic","width":%d,"height":300,"max_walls":10,"cooldown":20,"hunter":[0,0,1,1],"prey":[230,200],"steps":[%s]}'

DATA = Path(__file__).parents[1] / "data"


def test_recorded_games_agree(referee: Cli) -> None:
    done = referee("conformance", DATA / "evasion-classic.jsonl", DATA / "evasion-diagonal.jsonl")
    assert done.returncode == 0
    assert done.stdout == "28 games and 11,185 steps agree.\n"


def test_compressed_files_are_read(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "games.jsonl.gz").write_bytes(gzip.compress((DATA / "evasion-classic.jsonl").read_bytes()))
    assert json.loads(referee("conformance", "games.jsonl.gz", "--json").stdout) == {"ok": True, "games": 14, "steps": 5591, "positions": 0}


def test_the_first_difference_is_named_in_full(referee: Cli, tmp_path: Path) -> None:
    lines = (DATA / "evasion-classic.jsonl").read_text().splitlines()
    game = json.loads(lines[2])
    game["steps"][7][5] += 1
    (tmp_path / "bad.jsonl").write_text("\n".join([*lines[:2], json.dumps(game), *lines[3:]]))
    done = referee("conformance", "bad.jsonl")
    assert done.returncode == 1
    right = game["steps"][7][5] - 1
    assert done.stderr == f"referee: bad.jsonl, line 3, step 7, field hunter.y: expected {right + 1}, got {right}.\n"
    assert json.loads(referee("conformance", "--json", "bad.jsonl").stdout)["field"] == "hunter.y"


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "is not a file of recorded games"),
        ("[]", "line 1 is not a recorded game"),
        ('{"rules":"cubic","steps":[]}', "not a recorded game that this version knows (rules 'cubic')"),
        ('{"rules":"classic","steps":[[]]}', "line 1: the game has no width"),
        (GAME % (300, "[]"), "line 1: step 0 must be a list"),
        (GAME % (0, ""), "width is 0"),
        (GAME % (300, "[0,3,0,0,1,1,1,1,230,200,0,0]"), "no readable moves"),
        (GAME % (300, "[0,[],5,0,1,1,1,1,230,200,0,0]"), "no readable moves"),
        ("[" * 100_000, "is not a file of recorded games"),
    ],
)
def test_a_wrong_file_exits_2(content: str, sentence: str, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "wrong.jsonl").write_text(content + "\n")
    done = referee("conformance", "wrong.jsonl")
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1
    assert referee("conformance", "missing.jsonl").returncode == 2


@pytest.mark.slow
def test_the_bench_prints_every_figure_beside_its_budget(referee: Cli) -> None:
    done = referee("bench", "--rounds", "1", "--steps", "1000", "--json")
    assert done.returncode == 0, done.stderr
    figures = {figure["name"]: figure for figure in json.loads(done.stdout)}
    assert len(figures) == 12
    for figure in figures.values():
        assert figure["value"] > 0
        assert isinstance(figure["met"], bool)
        assert figure["build"] in ("compiled", "pure Python")
    assert figures["match step, trivial bots"]["floor"] > 0
    assert figures["replay"]["met"]


@pytest.mark.slow
def test_the_bench_shows_what_many_matches_cost() -> None:
    need(not missing(), missing())
    figures = leagues(1, 50, matches=40, pretended=2_000)
    assert [figure.budget for figure in figures] == [2.0, 1.1, 92.0, math.inf, 20.0]
    assert all(figure.value > 0 for figure in figures[:-1])
    assert figures[0].floor is not None
    assert figures[-1].is_met


@pytest.mark.slow
def test_the_bench_grades_a_class_beside_a_league_of_its_matches() -> None:
    need(not missing(), missing())
    whole, before, after = gradings(1, 20, submissions=2, matches=2)
    assert whole.name == "2 submissions x 2 matches"
    assert (len(whole.values), len(whole.floors or ()), whole.budget) == (1, 1, 1.3)
    assert 0 < before.value + after.value < whole.value


@pytest.mark.slow
@pytest.mark.long
def test_the_bench_measures_many_games_at_once(referee: Cli) -> None:
    done = referee("bench", "--rl", "--rounds", "1", "--steps", "500", "--json", timeout=600)
    assert done.returncode == 0, done.stderr
    figures = {figure["name"]: figure for figure in json.loads(done.stdout)}
    assert len(figures["beside the engine's step"]["values"]) == 7
    assert figures["beside the engine's step"]["measured"] > 10
    assert figures["beside an empty kernel"]["budget"] is None
    assert figures["first step, from the cache"]["value"] < figures["first step, compiled"]["value"]


def test_the_figures_of_many_games_are_shown_beside_their_budgets(monkeypatch: pytest.MonkeyPatch) -> None:
    """A line for each figure, whatever it is compared with, and no budget for a figure that has none."""
    figures = [
        Figure("steps", "steps/s", [2e6, 4e6, 3e6], None, "value", 5e6, at_least=True),
        Figure("beside the engine's step", "steps/s", [6e6], [1e5], "ratio", 30.0, at_least=True),
        Figure("beside an empty kernel", "steps/s", [6e6], [8e6], "ratio", -math.inf, at_least=True),
        Figure("first step, compiled", "s", [12.3], None, "value", 15.0),
    ]
    asked = []

    def batches(rounds: int, steps: int, _: object) -> list[Figure]:
        asked.append((rounds, steps))
        return figures

    monkeypatch.setitem(sys.modules, "referee.bench.rl", SimpleNamespace(batches=batches))
    done = CliRunner().invoke(app, ["bench", "--rl", "--rounds", "3", "--steps", "700"])
    assert done.exit_code == 0, done.output
    assert asked == [(3, 700)]
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert lines[-4:] == [
        "steps 3,000,000 3,000,000.00 steps/s >= 5e+06: MISSED",
        "beside the engine's step 6,000,000 100,000.0 60.00 x floor >= 30: met",
        "beside an empty kernel 6,000,000 8,000,000.0 0.75 x floor",
        "first step, compiled 12.3 12.30 s <= 15: met",
    ]


def test_the_bench_of_leagues_plays_short_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def played(rounds: int, steps: int) -> list[Figure]:
        asked.append((rounds, steps))
        return []

    fake = SimpleNamespace(leagues=played, MATCHES=MATCHES, PRETENDED=PRETENDED)
    monkeypatch.setitem(sys.modules, "referee.bench.league", fake)
    done = CliRunner().invoke(app, ["bench", "--league", "--rounds", "2", "--json"])
    assert (done.exit_code, done.stdout) == (0, "[]\n"), done.output
    assert asked == [(2, 300)]


def test_the_bench_shows_how_a_turn_of_rectangle_grows(referee: Cli) -> None:
    done = referee("bench", "--game", "rectangle", "--rounds", "1", "--steps", "100", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert len(figures) == 9
    assert [figure["budget"] for figure in figures if figure["budget"] is not None] == [3.0]
    assert all(figure["value"] > 0 for figure in figures)
    assert referee("bench", "--game", "chess").returncode == 2


def test_the_bench_takes_no_file_of_the_person_for_a_module(tmp_path: Path) -> None:
    for name in ("bisect", "random", "referee"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a file of the person')")
    command = [str(Path(sys.executable).with_name("referee")), "bench", "--game", "maze", "--rounds", "1", "--json"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert len(json.loads(done.stdout)) == 6


def test_the_bench_shows_what_the_solution_of_a_maze_costs(referee: Cli) -> None:
    done = referee("bench", "--game", "maze", "--rounds", "1", "--json")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert [figure["budget"] for figure in figures] == [1000.0, None] * 3
    assert all(figure["value"] > 0 for figure in figures)


def documented(what: str) -> list[str]:
    """The keys in the table of docs/results.md with that heading, in their order."""
    page = (Path(__file__).parents[2] / "docs" / "results.md").read_text()
    table = page.partition(f"| key of a {what} | meaning |\n")[2].partition("\n\n")[0]
    return [key for line in table.splitlines()[1:] for key in re.findall(r"`(\w+)`", line.split("|")[1])]


def test_the_keys_of_bots_are_those_of_the_page(referee: Cli) -> None:
    bots = json.loads(referee("bots", "--json").stdout)
    assert len(bots) > 10
    for bot in bots:
        assert list(bot) == documented("bot")
        assert Path(bot["file"]).is_file()


def test_the_keys_of_the_bench_are_those_of_the_page(referee: Cli) -> None:
    figures = json.loads(referee("bench", "--game", "maze", "--rounds", "1", "--json").stdout)
    assert len(figures) == 6
    for figure in figures:
        assert list(figure) == documented("figure")
        assert figure["compared"] in ("value", "ratio", "excess")
        assert figure["met"] is True or figure["budget"] is not None
        assert (figure["floor"] is None) == (figure["floors"] is None)
