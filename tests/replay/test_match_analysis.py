"""The analysis of a match; what it says of costly moves is checked on the engine."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from recorded_games import steps_of

from referee.games.evasion.board.regions import reachable
from referee.games.evasion.game import GAME
from referee.replay.match_analysis import MatchAnalysis
from sdk import HunterBot, PreyBot
from sdk.testing import play

if TYPE_CHECKING:
    from referee.replay.events import StepTaken

REPLAYS = Path(__file__).parents[1] / "data" / "replays"


class Idle(HunterBot):
    def hunt(self, state: Any) -> None:
        return None


class Rows(HunterBot):
    """Builds every wall that it can, always the same kind, and so shuts itself out."""

    def hunt(self, state: Any) -> Any:
        return self.build("horizontal") if self.can_build_now(state) else None

    @staticmethod
    def can_build_now(state: Any) -> bool:
        return not state.wall_timer and len(state.walls) < state.settings.max_walls


class Sitter(PreyBot):
    def flee(self, state: Any) -> tuple[int, int]:
        return (0, 0)


class Tired(PreyBot):
    """Keeps still for a long time where nobody comes by, and then walks to the hunter's path."""

    def flee(self, state: Any) -> tuple[int, int]:
        if state.step < 3_000:
            return (0, 0)
        return (state.hunter.x > state.prey.x) - (state.hunter.x < state.prey.x), (state.hunter.y > state.prey.y) - (
            state.hunter.y < state.prey.y
        )


def analyzed(path: Path, *, every: bool = False) -> MatchAnalysis:
    found = MatchAnalysis(path, 600.0)
    found.run(every=every, on_judged=lambda position: None)
    assert not found.left_out
    return found


def after(step: StepTaken, seat: str, move: Any) -> Any:
    """The position after a step with another move of a seat."""
    return GAME.step(step.before, {**step.moves, seat: GAME.codec.parse(step.before, seat, move)})[0]


def cells_left(before: Any, state: Any) -> int:
    """The prey's cells, all of the board if the hunter can't get there: counted here once more, from the engine's positions."""
    region = reachable(state.walls, before.prey[:2])
    return len(region) if state.hunter[:2] in region else state.settings.width * state.settings.height


@pytest.mark.parametrize("hunter", [Idle, Rows])
def test_the_hunter_s_costly_moves_are_what_the_engine_gives(hunter: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.replay.jsonl.gz"
    play(hunter, Sitter, seed=1, replay=path, max_steps=700, width=120, height=120, prey=[90, 40], cooldown=10)
    found = analyzed(path)
    (losses,) = found.losses
    assert losses.seat == "hunter"
    assert not losses.is_exact
    assert len(losses.steps) == 5
    assert len(found.points) == 1, "never won or lost in theory"
    steps = steps_of(path)
    numbers = [costly.step for costly in losses.steps]
    assert numbers == sorted(numbers)
    assert all(later - earlier >= 20 for earlier, later in pairwise(numbers))
    for costly in losses.steps:
        step, appraised = steps[costly.step], costly.appraised
        assert costly.played == GAME.codec.move_json(step.moves["hunter"])
        assert appraised.now == cells_left(step.before, step.after)
        better = after(step, "hunter", costly.better)
        assert appraised.instead == cells_left(step.before, better) < appraised.now
        assert appraised.cost == appraised.now - appraised.instead
        assert list(costly.verdicts) == [GAME.analysis.verdict(step.after), GAME.analysis.verdict(better)]
    # Nothing that the hunter could have built in any step would have gained more than the costliest one.
    most = max(costly.appraised.cost for costly in losses.steps)
    for step in steps[::7]:
        for kind in ("horizontal", "vertical"):
            gained = cells_left(step.before, step.after) - cells_left(step.before, after(step, "hunter", {"build": {"kind": kind}}))
            assert gained <= most


def test_the_prey_s_costly_moves_name_a_cell_that_the_hunter_passes_later(tmp_path: Path) -> None:
    path = tmp_path / "m.replay.jsonl.gz"
    play(Idle, Tired, seed=1, replay=path, width=60, height=60, prey=[40, 10], max_walls=0)
    found = analyzed(path)
    (losses,) = found.losses
    assert losses.seat == "prey"
    assert losses.steps
    steps = steps_of(path)
    for costly in losses.steps:
        appraised = costly.appraised
        assert appraised.instead > appraised.now
        for move, steps_left in ((costly.played, appraised.now), (costly.better, appraised.instead)):
            state = after(steps[costly.step], "prey", move)
            # An empty move goes on in the same way.
            assert max(steps_until_caught(state, {"go": [0, 0]}), steps_until_caught(state, {})) == steps_left


def steps_until_caught(state: Any, move: Any) -> int:
    """The steps until the prey is caught if it always makes the same move, at most 60."""
    count = 0
    while not state.ended and count < 60:
        moves = {"prey": GAME.codec.parse(state, "prey", move)} if "prey" in GAME.movers(state) else {}
        state, _ = GAME.step(state, moves)
        count += 1
    return count


def test_a_prey_that_rests_in_a_corner_on_the_hunter_s_path_is_told_to_leave_it(tmp_path: Path) -> None:
    path = tmp_path / "m.replay.jsonl.gz"
    play(Idle, Sitter, seed=1, replay=path, width=100, height=100, prey=[99, 99], max_walls=0)
    (losses,) = analyzed(path).losses
    assert len(losses.steps) == 5
    last = losses.steps[-1]
    assert last.appraised.instead == 60
    assert last.appraised.about.startswith("go to ")
    assert [verdict["verdict"] for verdict in last.verdicts] == ["capture", "evade"]


def test_a_change_far_within_a_long_stretch_is_found(tmp_path: Path) -> None:
    path = tmp_path / "m.replay.jsonl.gz"
    play(Idle, Tired, seed=1, replay=path, width=60, height=60, prey=[40, 10], max_walls=0)
    found = analyzed(path)
    _, last = found.points
    assert last.verdict["verdict"] == "capture"
    assert last.by == "the prey's way"
    steps = steps_of(path)
    assert last.step >= 3_000
    assert GAME.analysis.verdict(steps[last.step].before)["verdict"] == "evade"
    assert GAME.analysis.verdict(steps[last.step].after) == last.verdict


@pytest.mark.parametrize("name", sorted(path.name for path in REPLAYS.glob("evasion*.gz")))
def test_better_moves_are_legal_in_every_rule_set(name: str) -> None:
    for seat in ("hunter", "prey"):
        appraise = GAME.appraisal.appraiser(seat)
        for step in steps_of(REPLAYS / name)[:400]:
            moves = step.moves
            if seat not in moves or (found := appraise(step.before, moves, step.after)) is None:
                continue
            told = GAME.codec.move_json(found.better)
            assert GAME.codec.parse(step.before, seat, told) == found.better
            _, notices = GAME.step(step.before, {**moves, seat: found.better})
            assert not [notice.text for notice in notices if notice.seat == seat and not notice.is_minor]
            assert found.cost > 0
            assert found.about


def test_work_that_would_take_too_long_is_named(tmp_path: Path) -> None:
    path = tmp_path / "m.replay.jsonl.gz"
    play(Idle, Sitter, seed=1, replay=path, max_steps=300)
    found = MatchAnalysis(path, 0.0)
    found.run(every=False, on_judged=lambda position: None)
    assert found.verified["status"] == "good"
    assert any("judged" in text for text in found.left_out)
    assert any("left out the last 300 steps: that would take too long" in text for text in found.left_out)
