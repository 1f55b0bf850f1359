from __future__ import annotations

import gzip
import json
import shlex
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from recorded_games import steps_of
from table import bot_class

from example_bots import BOTS
from referee.games.evasion.game import GAME
from referee.replay.reader import verify
from sdk.testing import play

if TYPE_CHECKING:
    Cli = Any


@pytest.fixture(scope="module")
def match(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A match in which capture becomes certain by a wall."""
    path = tmp_path_factory.mktemp("analysis") / "m.replay.jsonl.gz"
    by_name = {bot.name: bot_class(bot) for bot in BOTS if bot.name in ("searcher", "evader")}
    play(by_name["searcher"], by_name["evader"], seed=1, replay=path)
    return path


def test_turning_points_are_listed_with_their_cause(match: Path, referee: Cli) -> None:
    done = referee("analyze", str(match), "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    points = found["points"]
    replay = verify(match)
    states = [*(step.before for step in steps_of(match)), replay.final]
    assert found["steps"] == replay.turns
    assert (points[0]["step"], points[0]["verdict"]) == (0, "evade")
    assert len(points) >= 2
    for before, point in pairwise(points):
        # That very step made the verdict another one.
        assert point["verdict"] != before["verdict"]
        assert GAME.analysis.verdict(states[point["step"] + 1])["verdict"] == point["verdict"]
        assert GAME.analysis.verdict(states[point["step"]])["verdict"] == before["verdict"]
        assert point["by"] in ("walls", "the prey's way")
    won = points[-1]
    assert won["verdict"] == "capture"
    assert won["within"] >= replay.turns - won["step"] - 1, "the prey did no better than the best prey"
    if won["by"] == "walls":
        assert any("wall" in text for text in won["what"])


def test_show_and_its_json_tell_the_verdict(match: Path, referee: Cli) -> None:
    text = " ".join(referee("show", str(match), "--events", "0").stdout.split())
    assert "at the start the prey can evade forever;" in text
    assert "capture is certain within 1 step" in text
    certain = json.loads(referee("show", str(match), "--json").stdout)["certain"]
    assert [point["verdict"] for point in certain] == ["evade", "capture"]


def test_a_replay_that_is_cut_is_analyzed_as_far_as_it_goes(match: Path, referee: Cli, tmp_path: Path) -> None:
    lines = gzip.decompress(match.read_bytes()).splitlines(keepends=True)
    (tmp_path / "cut.gz").write_bytes(gzip.compress(b"".join(lines[:101])))
    done = referee("analyze", "cut.gz")
    assert done.returncode == 1
    assert done.stdout.startswith("step      0  the prey can evade forever")
    assert "cut short" in done.stderr


def test_the_losing_side_reads_its_costly_steps_and_how_to_see_them(referee: Cli, tmp_path: Path) -> None:
    settings = ["--size", "120", "--prey", "90,40", "--max-steps", "600", "--isolation", "none", "--out", "lost game.gz"]
    assert referee("play", "straight", "still", *settings).returncode == 0
    found = json.loads(referee("analyze", "lost game.gz", "--json").stdout)
    (costly,) = found["costly"]
    assert (costly["seat"], costly["is_estimate"]) == ("hunter", True)
    assert len(costly["steps"]) == 5
    text = referee("analyze", "lost game.gz").stdout
    assert "The hunter lost. Its 5 steps that cost most, by an estimate." in text
    for step in costly["steps"]:
        assert step["now"] - step["instead"] == step["cost"] > 0
        assert step["played"] == {}
        assert step["better"]["build"]["kind"] in step["text"]
        assert step["command"].endswith(f"show 'lost game.gz' --step {step['step']}")
        assert step["command"] in text
        assert {one["verdict"] for one in step["verdicts"].values()} <= {"evade", "capture"}
    shown = costly["steps"][0]
    arguments = shlex.split(shown["command"])
    better = json.loads(referee(*arguments[arguments.index("show") :], "--json").stdout)["better"]
    assert better["hunter"] == {"move": shown["better"], "now": shown["now"], "instead": shown["instead"]}
    told = " ".join(referee(*arguments[arguments.index("show") :]).stdout.split())
    assert f"{shown['instead']:,} instead of {shown['now']:,}" in told


@pytest.mark.parametrize(
    ("replay", "is_estimate"),
    [
        ("maze-patient-expert", False),
        ("maze-move-limit", False),
        ("rectangle-small-goes-on-after-a-fault", True),
        ("rectangle-large-four-players", True),
    ],
)
def test_the_moves_of_every_game_have_a_measure(replay: str, is_estimate: bool, referee: Cli) -> None:
    file = Path(__file__).parents[1] / f"data/replays/{replay}.replay.jsonl.gz"
    found = json.loads(referee("analyze", file, "--json").stdout)
    assert (found["points"], found["left_out"], found["verified"]["status"]) == ([], [], "good")
    for costly in found["costly"]:
        assert costly["is_estimate"] == is_estimate
        for step in costly["steps"]:
            assert step["cost"] == step["instead"] - step["now"] > 0
            shown = json.loads(referee("show", file, "--step", str(step["step"]), "--json").stdout)["better"]
            assert shown[costly["seat"]] == {"move": step["better"], "now": step["now"], "instead": step["instead"]}


def test_a_match_that_a_fault_lost_is_told_as_that(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "raises.py").write_text(
        "from sdk import HunterBot\nclass B(HunterBot):\n    def hunt(self, state): raise ValueError(7)\nB.main()\n"
    )
    assert referee("play", "raises.py", "still", "--isolation", "none", "--out", "m.gz").returncode == 0
    lines = referee("analyze", "m.gz").stdout.splitlines()
    (told,) = (line for line in lines if line.startswith("The hunter lost"))
    assert told.startswith(
        "The hunter lost by a fault in step 0. The hunter (raises.py) exited with status 1: ValueError: 7, at raises.py:3"
    )
    assert " No better move was found for it in any step, by an estimate." in told


def test_a_failure_is_told_to_machines_too(referee: Cli) -> None:
    done = referee("analyze", "nope.gz", "--json")
    assert done.returncode == 2
    assert json.loads(done.stdout) == {"error": "nope.gz can't be read: No such file or directory.", "exit_code": 2}
