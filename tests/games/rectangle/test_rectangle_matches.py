"""Rectangle: whole matches, of bots that fail, and by the command line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest
from conftest import HOSTILE
from recorded_games import Walker

from referee.replay.reader import verify
from sdk.testing import play

if TYPE_CHECKING:
    from sdk.rectangle import State as SdkState


class Crasher(Walker):
    def orders(self, state: SdkState) -> str:
        if state.turn == 3:
            raise RuntimeError("boom")
        return super().orders(state)


def test_who_fails_keeps_its_score_and_the_others_play_on(tmp_path: Path) -> None:
    replay = tmp_path / "game.replay.jsonl.gz"
    result = play(Walker, Crasher, Walker, game="rectangle", players=3, cap=10, replay=replay, reraise=False)
    assert result.outcome.reason == "cap"
    assert result.steps == 11
    assert result.failures["b"].kind == "crashed"
    assert result.state.failed == {"b"}
    assert result.times["a"].answers == 11
    assert result.times["b"].answers == 5
    assert verify(replay).problem is None


def test_real_programs_that_fail_one_after_the_other(tmp_path: Path, referee: Any) -> None:
    (tmp_path / "early.py").write_text("raise SystemExit(3)")
    (tmp_path / "late.py").write_text(
        "from sdk import RectangleBot\nimport os\nclass Late(RectangleBot):\n    def orders(self, state):\n        if state.turn == 4:\n            os._exit(5)\n        return '--'\nLate.main()\n"
    )
    done = referee(
        "play",
        "--game",
        "rectangle",
        "early.py",
        "late.py",
        "random",
        "looper",
        "--cap",
        "30",
        "--out",
        "game",
        "--json",
        "-q",
        "--seed",
        "3",
    )
    assert done.returncode == 3, "one could not start"
    result = json.loads(done.stdout)
    assert result["reason"] == "cap"
    assert result["steps"] == 31
    assert {seat: player["fault"]["kind"] if player["fault"] else None for seat, player in result["players"].items()} == {
        "a": "crashed",
        "b": "crashed",
        "c": None,
        "d": None,
    }
    assert set(result["ranks"]) == set("abcd")
    assert result["players"]["d"]["time"]["answers"] == 31
    assert verify(tmp_path / "game.replay.jsonl.gz").problem is None
    with gzip.open(tmp_path / "game.replay.jsonl.gz", "rt") as lines:
        faults = [json.loads(line) for line in lines if '"type":"fault"' in line]
    assert [(record["turn"], list(record["faults"])) for record in faults] == [(0, ["a"]), (5, ["b"])]


#: Fails in the greeting, and has something to say when it is ended.
GARBAGE = """
import sys
sys.stdin.readline()
print("last words", file=sys.stderr, flush=True)
print("garbage", flush=True)
sys.stdin.read()
"""


#: Takes its time, says something in each turn, and leaves in the fourth.
NOISY = """
import json, sys, time
sys.stdin.readline()
print('{"type":"ready","protocol":1,"name":"noisy"}', flush=True)
for count, line in enumerate(sys.stdin):
    message = json.loads(line)
    if message["type"] != "turn" or count == 3:
        sys.exit(4)
    print("noise", count, file=sys.stderr, flush=True)
    time.sleep(0.03)
    move = {"place": [[0, 0], [1, 1]]} if count == 0 else {"orders": "--"}
    print(json.dumps({"type": "move", "turn": message["turn"], "move": move}), flush=True)
"""


def test_those_who_are_out_are_no_trouble_to_the_others(tmp_path: Path, referee: Any) -> None:
    (tmp_path / "garbage.py").write_text(GARBAGE)
    (tmp_path / "noisy.py").write_text(NOISY)
    players = ["garbage.py", "noisy.py", "looper", "noisy.py"]
    done = referee("play", "--game", "rectangle", *players, "--cap", "12", "--out", "game", "--json", "-q")
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert result["steps"] == 13
    kinds = {seat: (player["fault"] or {}).get("kind") for seat, player in result["players"].items()}
    assert kinds == {"a": "malformed", "b": "crashed", "c": None, "d": "crashed"}
    assert verify(tmp_path / "game.replay.jsonl.gz").problem is None
    # Whole logs, to the last words.
    logs = sorted(tmp_path.rglob("*.log"))
    assert [path.read_text() for path in logs if "looper" not in path.read_text()][:2] == ["last words\n", "noise 0\nnoise 1\nnoise 2\n"]


#: Programs of ``hostile_bots`` that would not let a match be quick, or end it for all.
NOT_HERE = {
    "idles_the_supervisor",
    "kills_the_supervisor",
    "limits_the_watchdog",
    "limits_the_supervisor",
    "offers_the_supervisor_to_the_kernel",
    "stops_the_supervisor",
    "traces_the_supervisor",
    "forks_without_end",
    "lists_descriptors",
    "opens_descriptors",
    "never_ready",
    "_wire",
}


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_many_that_misbehave_at_once(seed: int, tmp_path: Path, referee: Any) -> None:
    dice = Random(seed)
    (tmp_path / "garbage.py").write_text(GARBAGE)
    (tmp_path / "noisy.py").write_text(NOISY)
    hostile = sorted(str(path) for path in HOSTILE.glob("*.py") if path.stem not in NOT_HERE)
    players = [*dice.sample(hostile, 4), "garbage.py", "noisy.py", "looper", "idle"]
    dice.shuffle(players)
    options = {
        "--isolation": ("none", "limits", "auto"),
        "--idle": ("stop", "run"),
        "--clock": ("wall", "cpu"),
        "--on-malformed": ("forfeit", "pass"),
    }
    chosen = [word for name, values in options.items() for word in (name, dice.choice(values))]
    limits = ("--move-time", "0.4", "--bank", "10", "--startup", "10", "--cap", "12")
    done = referee("play", "--game", "rectangle", *players, *chosen, *limits, "--out", "game", "--json", "-q")
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert result["steps"] == 13
    for player, fault in ((players[ord(seat) - ord("a")], told["fault"]) for seat, told in result["players"].items()):
        assert (fault is None) == (player in ("looper", "idle")) or player in hostile
    assert verify(tmp_path / "game.replay.jsonl.gz").problem is None


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["idle"], "for 2 to 26 players, but there is 1"),
        (["idle"] * 27, "for 2 to 26 players, but there are 27"),
        (["idle", "idle", "--size", "2"], "n is 2"),
        (["idle", "idle", "--size", "10x12"], "but must be one number"),
        (["idle", "idle", "--max-walls", "3"], "Rectangle has no setting 'max_walls'"),
        (["idle", "boxer"], "is an example bot of evasion, not of rectangle; add --game evasion"),
        (["idle", "nobody"], "is neither a file nor an example bot"),
        (["idle", "idle", "--rules", "tiny"], "no preset 'tiny'"),
        ([], "needs 2 players (a, b), but none was named; to begin, let two example bots play"),
    ],
)
def test_what_cant_be_played(words: list[str], why: str, referee: Any) -> None:
    done = referee("play", "--game", "rectangle", *words)
    assert done.returncode == 2
    assert why in done.stderr


def test_the_command_line_plays_any_number(referee: Any, tmp_path: Path) -> None:
    words = ["idle", "random", "blocker", "looper", "team", "random"]
    done = referee(
        "play",
        "--game",
        "rectangle",
        *words,
        "--size",
        "20x20",
        "--robots",
        "3",
        "--cap",
        "25",
        "--sharing",
        "2003",
        "--seed",
        "1",
        "--out",
        "g",
    )
    assert done.returncode == 0, done.stderr
    assert "ranks    1 " in done.stdout
    replay = str(tmp_path / "g.replay.jsonl.gz")
    assert referee("verify", replay).returncode == 0
    shown = referee("show", replay)
    assert shown.returncode == 0
    assert "cells" in shown.stdout
    assert referee("export", replay, "--html").returncode == 0


def test_robots_placed_by_lot_are_where_they_were_with_the_same_seed_alone() -> None:
    boards = [play(*[Walker] * 4, game="rectangle", cap=20, seed=seed).state.cells for seed in (9, 9, 10)]
    assert boards[0] == boards[1] != boards[2]
