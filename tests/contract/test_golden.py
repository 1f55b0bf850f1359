"""Recorded games: whatever is moved or rewritten, the same moves must give the same games, to the byte.

``tests/data/replays`` holds whole replays of every rule set and of special ends. A replay holds only what each step changed, so
``views.json`` pins the questions, notices and outcomes by a hash for each file. ``tests/data/maze.jsonl`` holds games of Maze; the first
ones were worked out by hand from the rules.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from recorded_games import read_closely, steps_of

from contract.contract import Case, StepTaken, VerifiedReplay, every_case, exact, games, verify

DATA = Path(__file__).parents[1] / "data"
REPLAYS = sorted((DATA / "replays").glob("*.replay.jsonl.gz"))
VIEWS: dict[str, str] = json.loads((DATA / "replays" / "views.json").read_text())
MAZE: list[dict[str, Any]] = [json.loads(line) for line in (DATA / "maze.jsonl").read_text().splitlines()]


def digest(replay: VerifiedReplay, steps: list[StepTaken]) -> str:
    """The SHA-256 of what players and spectators are told in a game: every view, every notice, the outcome."""
    game = games.get(replay.head["game"])
    told = [game.codec.view_text(steps[0].before, None)]
    for step in steps:
        told.append(game.codec.view_text(step.after, None))
        told += [exact(notice.to_json()) for notice in step.notices]
    outcome = game.outcome(replay.final)
    assert outcome is not None
    told += [exact(outcome.to_json()), outcome.unit]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()


@pytest.mark.parametrize("path", REPLAYS, ids=[path.name.partition(".")[0] for path in REPLAYS])
def test_old_replays_verify_and_tell_the_same(path: Path) -> None:
    quick = verify(path)
    assert quick.problem is None, quick.problem
    steps, closely = steps_of(path), read_closely(path)
    assert closely.problem is None, closely.problem
    assert quick.result is not None
    assert quick.turns == closely.turns == len(steps) == quick.result["steps"] > 0
    assert digest(closely, steps) == VIEWS[path.name.partition(".")[0]]


def test_every_replay_is_pinned() -> None:
    assert {path.name.partition(".")[0] for path in REPLAYS} == set(VIEWS)


@every_case
def test_every_rule_set_has_a_recorded_game(case: Case) -> None:
    with contextlib.ExitStack() as files:
        heads = [json.loads(files.enter_context(gzip.open(path)).readline()) for path in REPLAYS]
    assert (case.game.info.name, case.rules) in {(head["game"], head["rules"]) for head in heads}, (
        f"record a match of {case.name} into tests/data/replays and its digest into views.json"
    )


@pytest.mark.parametrize("record", MAZE, ids=[f"{number}-{'-'.join(record['players'])}" for number, record in enumerate(MAZE, 1)])
def test_recorded_games_of_maze(record: dict[str, Any]) -> None:
    game = games.get("maze")
    names = ("layout", "parity", "exit_start", "apart", "max_moves", "thief", "policeman")
    state = game.start(game.codec.settings(None, {name: record[name] for name in names if name in record}), b"")
    layout = game.codec.settings_json(state.settings)["layout"]
    for number, (order, thief, policeman, illegal) in enumerate(record["plies"]):
        assert game.outcome(state) is None
        before = json.loads(game.codec.view_text(state, None))
        (seat,) = game.movers(state)
        assert seat == ("thief", "policeman")[number % 2]
        state, _ = game.step(state, {seat: game.codec.parse(state, seat, {"go": order} if order else {})})
        view = json.loads(game.codec.view_text(state, None))
        assert view["step"] == number + 1
        assert (view["thief"], view["policeman"], list(view["illegal"].values())) == (thief, policeman, illegal), f"ply {number}"
        # What the rules ask of any ply, apart from the third illegal order: one square, and no wall.
        if max(illegal) < 3:
            assert sum(abs(new - old) for new, old in zip(view[seat], before[seat], strict=True)) == 1
        assert layout[view[seat][0] - 1][view[seat][1] - 1] != "#"
    outcome = game.outcome(state)
    assert outcome is not None
    assert (outcome.reason, outcome.winner, outcome.scores) == (record["over"], record["winner"], record["scores"])


def test_the_recorded_games_of_maze_are_of_all_kinds() -> None:
    assert {record["over"] for record in MAZE} == {"escaped", "caught", "move-limit", "thief-fault"}
    assert {record["players"][1] for record in MAZE} == {"by hand", "easy", "hard", "hard-manhattan", "expert"}
    assert {record["parity"] for record in MAZE} == {"any", "even"}
