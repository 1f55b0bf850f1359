"""The state's helpers, against what the engine then does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recorded_games import steps_of

from referee.games import get
from referee.games.evasion.board import regions
from referee.games.evasion.board.walls import Walls
from referee.replay.reader import verify
from sdk import Build, HunterBot, HunterMove, PreyBot, PreyMove, State, Wall
from sdk.evasion import AddWall, Region, Step, To
from sdk.testing import play

if TYPE_CHECKING:
    from pathlib import Path

GAME = get("evasion")


def state(rules: str = "classic", **changes: object) -> State:
    return State(*GAME.start(GAME.codec.settings(rules, changes), b""))


@given(st.sampled_from(["classic", "diagonal"]), st.integers(0, 40), st.integers(0, 40), st.integers(1, 60))
@settings(max_examples=30, deadline=None)
def test_the_hunters_path_is_the_one_it_takes(rules: str, x: int, y: int, steps: int) -> None:
    now = state(rules, width=41, height=41, hunter=[x, y, 1, -1], prey=[(x + 20) % 41, (y + 20) % 41], capture_radius=0).after(
        HunterMove(Build("vertical"))
    )
    path = now.hunter_path(steps)
    for expected in path:
        if now.is_over:
            break
        now = now.after()
        assert now.hunter == expected
    assert len(path) == steps


def test_after_is_what_the_engine_gives() -> None:
    before = state()
    move = HunterMove(Build("vertical", (0, 3)))
    assert before.after(move, PreyMove((1, 0))) == GAME.step(before, {"hunter": move, "prey": PreyMove((1, 0))})[0]
    assert before.after(Build("vertical", (0, 3))) == before.after(move)
    assert before.after().after(None, (1, 0)).prey[:2] == (231, 200)
    assert isinstance(before.after(), State)
    assert before.step == 0


def test_which_walls_can_be_built_and_why_not() -> None:
    now = state("diagonal", hunter=[10, 20, 1, 1], prey=[10, 200])
    checks = now.buildable()
    assert set(checks) == set(now.kinds()) == {"horizontal", "vertical", "diagonal", "counter-diagonal"}
    assert not checks["vertical"]
    assert checks["vertical"].reason == "prey"
    assert "cover the prey" in checks["vertical"].why
    assert checks["horizontal"].wall == Wall(0, "horizontal", 0, 20, 299, 20)
    built = now.after(Build("horizontal"))
    assert built.walls.all == (checks["horizontal"].wall,)
    assert built.can_build("vertical").reason == "cooldown"
    assert now.can_build("vertical", (15, 25)).wall == Wall(0, "vertical", 10, 15, 10, 25)


def test_a_wall_that_is_removed_first_is_not_in_the_way() -> None:
    now = state(cooldown=0, max_walls=1).after(Build("vertical"))
    assert now.can_build("vertical").reason == "max-walls"
    assert now.can_build("vertical", remove=[0])


def test_distance_sight_and_area() -> None:
    now = state(hunter=[10, 10, 1, 1], prey=[13, 14])
    assert now.distance() == 5.0
    assert now.distance((0, 0), (0, 2)) == 2.0
    assert now.is_clear()
    assert now.area("prey") == now.area("hunter") == 90_000
    walled = now.after(Build("vertical"))
    assert walled.area("prey") == (299 - 10) * 300
    assert walled.area((0, 0)) == 10 * 300
    assert (0, 0) not in walled.reach("prey")
    assert not walled.is_free(10, 5)
    assert not walled.is_clear((5, 5), (15, 5))


def test_a_finished_game_goes_no_further() -> None:
    over = state(max_steps=1).after()
    assert over.is_over
    assert over.ended == "evaded"
    with pytest.raises(ValueError, match="over"):
        over.after()


def test_states_are_frozen() -> None:
    with pytest.raises(AttributeError):
        state().step = 3  # type: ignore[misc]
    with pytest.raises(AttributeError):
        state().anything = 3  # type: ignore[attr-defined]


def test_ids_of_new_walls_go_on_from_those_seen() -> None:
    from sdk.testing import play

    class Builder(HunterBot):
        def hunt(self, now: State) -> HunterMove | None:
            foreseen = now.after(self.build("vertical", remove=[wall.id for wall in now.walls]))
            seen.append((now.next_id, [wall.id for wall in foreseen.walls]))
            return self.build("vertical", remove=[wall.id for wall in now.walls])

    from sdk import PreyBot

    class Quiet(PreyBot):
        def flee(self, now: State) -> None:
            return None

    seen: list[tuple[int, list[int]]] = []
    play(Builder, Quiet, cooldown=0, max_steps=4)
    assert seen == [(0, [0]), (1, [1]), (2, [2]), (3, [3])]


def test_what_no_answer_could_ask_for_is_refused_where_it_is_written() -> None:
    now = state("diagonal")
    for wrong in ((5, 5), (True, 0), "north", (1,), (0.5, 0)):
        with pytest.raises(TypeError, match="each -1, 0 or 1"):
            now.after(None, wrong)  # type: ignore[arg-type]
    for kind, span in (("Vertical", None), ("vertical", (0, 5, 6)), ("vertical", (0,)), ("vertical", (0.0, 5.0))):
        with pytest.raises(ValueError, match=r"no kind of wall|a span is"):
            now.can_build(kind, span)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=r"no kind of wall|a span is"):
            now.after(HunterMove(Build(kind, span)))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a hunter's move is 'left'"):
        now.after("left")  # type: ignore[arg-type]


def test_the_commands_of_gameserver() -> None:
    now = state("gameserver")
    assert now.heading == "SE"
    built = now.after(AddWall(7, 100, 0, 100, 400))
    assert [(wall.id, wall.kind, wall.y2) for wall in built.walls] == [(7, "vertical", 400)]
    assert built.wall_timer == 25
    assert built.after(None, (1, 0)).prey[:2] == (331, 200)
    assert built.after(None, PreyMove((1, -1))) == built.after(None, Step("NE")) == built.after(None, To(331, 199))
    assert built.after(None, (0, 0)) == built.after()
    assert built.after().prey_timer == 0
    assert built.after(None, Step("N")).prey_timer == 1
    for wrong in (HunterMove(Build("vertical")), Build("vertical"), HunterMove(None, (1, 2)), "PASS"):
        with pytest.raises(TypeError, match="under gameserver"):
            now.after(wrong)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"a Step or To of sdk\.evasion"):
        now.after(None, (2, 0))
    assert now.is_free(499, 499)


class Fencer(HunterBot):
    def hunt(self, state: State) -> AddWall | HunterMove | None:
        if self.turn == 0:
            return self.add(3, (100, 10), (100, 90))
        if state.walls and state.wall_timer == 0:
            return self.remove(3)
        return None


class Walker(PreyBot):
    def flee(self, state: State) -> Any:
        return [(1, 0), Step("S"), To(state.prey.x, state.prey.y - 1), None, self.go(-1, 1)][self.turn // 4 % 5]


def test_bots_of_gameserver_see_what_the_engine_has(tmp_path: Path) -> None:
    seen = []

    class Watching(Walker):
        def flee(self, state: State) -> Any:
            seen.append(state)
            return super().flee(state)

    result = play(Fencer, Watching, rules="gameserver", max_steps=120, replay=tmp_path / "r.gz")
    assert result.outcome.reason == "evaded"
    replay = verify(tmp_path / "r.gz")
    assert replay.problem is None
    states = [step.before for step in steps_of(tmp_path / "r.gz")]
    for state_ in seen:
        # Only the ids to come, and when walls changed, are unknown to who sees no more than the walls that stand.
        assert state_._replace(next_id=0, changed=0) == states[state_.step]._replace(next_id=0, changed=0)
    assert any(state_.walls for state_ in seen)
    assert not states[-1].walls


def test_a_state_tells_what_is_certain() -> None:
    seen: list[tuple[Any, ...]] = []

    class Asks(HunterBot):
        def hunt(self, state: State) -> Any:
            if state.step % 10 == 0:
                verdict, safe = state.verdict(), state.safe_cells()
                assert (verdict.kind == "evade") == ((state.prey.x, state.prey.y) in safe)
                assert safe <= state.free_cells()
                assert (safe & state.reach("prey")) | (safe - state.reach("prey")) == safe
                assert state.verdict(budget=10).kind == "undecided"
                assert not len(state.safe_cells(budget=10))
                forward = state.forward()
                forward.step()
                assert State.of(forward) == state.after()._replace(changed=forward.changed)
                forward.undo()
                assert State.of(forward) == forward.state() == state
                assert type(State.of(forward)) is type(forward.state()) is State
                seen.append((verdict.kind, verdict.steps))
            return None

    class Stays(PreyBot):
        def flee(self, state: State) -> Any:
            return (0, 0)

    result = play(Asks, Stays, width=60, height=3, hunter=(0, 0, 1, 1), prey=(50, 1))
    assert result.outcome.reason == "caught"
    assert {kind for kind, _ in seen} == {"capture"}
    # A prey that stands still is caught no later than the best one.
    assert result.steps <= seen[0][1]


def test_regions_are_sets_of_cells() -> None:
    walls = Walls(9, 5)
    free = regions.free_cells(walls)
    one = Region(1 << free.stride * 2 + 4, free.stride)
    around = one.spread(free)
    assert set(around) == {(x, y) for x in (3, 4, 5) for y in (1, 2, 3)}
    assert one <= around <= free
    assert not around <= one
    assert len(around - one) == 8
    assert around & one == one
    assert (around - one) | one == around
    assert len({around, one.spread(free)}) == 1
    assert around != "a region"
    assert len(free) == 45
    assert around.rows(5) == [0, 0b111000, 0b111000, 0b111000, 0]
