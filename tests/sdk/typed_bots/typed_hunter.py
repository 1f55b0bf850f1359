"""A typed hunter: every member that a hunter touches, with its type."""

from __future__ import annotations

from random import Random
from typing import Any, Literal

from typing_extensions import assert_type

from sdk import Body, BuildCheck, HunterBot, HunterMove, Region, Settings, State, TimeLeft, Wall
from sdk.evasion import Forward, Heading, Kind, Rules, Verdict


class Typed(HunterBot):
    name = "Typed"

    def begin(self) -> None:
        assert_type(self.settings, Settings)
        assert_type(self.settings.cooldown, int)
        assert_type(self.settings.hunter, tuple[int, int, int, int])
        assert_type(self.rules, Rules | tuple[Rules, ...])
        assert_type(self.settings.rules, Rules)
        assert_type(self.seat, Literal["hunter", "prey"])
        assert_type(self.seed, int)
        assert_type(self.match, str)
        assert_type(self.random, Random)
        self.oldest: list[int] = []

    def hunt(self, state: State) -> HunterMove | None:
        assert_type(state.step, int)
        assert_type(state.hunter, Body)
        assert_type(state.prey.dx, int)
        assert_type(list(state.walls), list[Wall])
        assert_type([wall.kind for wall in state.walls], list[Kind])
        assert_type(state.wall_timer, int)
        assert_type(state.prey_moves, bool)
        assert_type(state.heading, Heading)
        assert_type(state.kinds(), tuple[Kind, ...])
        assert_type(state.can_build("vertical", (0, 9), remove=[1]), BuildCheck)
        assert_type(state.can_build("vertical").wall, Wall | None)
        assert_type(state.buildable(), dict[Kind, BuildCheck])
        assert_type(state.after(self.build("horizontal"), (1, 0)), State)
        assert_type(state.without([1]), State)
        assert_type(state.hunter_path(3), list[Body])
        assert_type(state.reach("prey"), Region)
        assert_type(state.area((3, 4)), int)
        assert_type(state.distance(), float)
        assert_type(state.is_clear(), bool)
        assert_type(state.is_free(1, 2), bool)
        assert_type(state.verdict(), Verdict)
        assert_type(state.safe_cells(), Region)
        assert_type(state.forward(), Forward)
        assert_type(state.forward().state(), State)
        assert_type(self.turn, int)
        assert_type(self.notices, list[dict[str, str]])
        assert_type(self.left, TimeLeft)
        assert_type(self.left.now(), float | None)
        self.say("typed")
        self.draw.line((0, 0), (1.5, 2), "red")
        self.draw.cells([(1, 2)])
        self.oldest = [wall.id for wall in state.walls][:1]
        return self.build("vertical", remove=self.oldest) if state.can_build("vertical", remove=self.oldest) else None

    def finish(self, result: dict[str, Any]) -> None:
        assert_type(result["reason"], Any)


if __name__ == "__main__":
    Typed.main()
