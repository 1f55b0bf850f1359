"""The ladder of the example bots holds, and the top hunter catches the preys that escape the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from ladder import RUNGS, STARTS, Result, Rung, climb, row
from table import README, bot_class

from example_bots import BOTS
from sdk import Body, PreyBot, PreyMove, State
from sdk.testing import play

#: The least part of the points that the upper bot of a rung must win.
SHARE = 0.75


def test_each_rung_names_two_bots_of_its_seat_and_stands_on_the_one_below() -> None:
    plays = {(bot.game, bot.name, seat) for bot in BOTS for seat in bot.seats or ("program",)}
    tops: dict[tuple[str, str], str] = {}
    for rung in RUNGS:
        assert {(rung.game, rung.lower, rung.seat), (rung.game, rung.upper, rung.seat)} <= plays
        assert not rung.other or (rung.game, rung.other, rung.other_seat) in plays
        seat = rung.game, rung.seat
        assert rung.lower == tops.get(seat, rung.lower)
        tops[seat] = rung.upper


def test_the_readme_shows_every_rung() -> None:
    table = README.read_text().partition("<!-- ladder -->")[2].partition("<!-- end of ladder -->")[0]
    rows = [line for line in table.splitlines() if line.endswith("% |")]
    assert len(rows) == len(RUNGS)
    for rung, line in zip(RUNGS, rows, strict=True):
        assert line.startswith(row(rung, Result(0, 0, 1)).rpartition("| 0 : 1 ")[0])
        assert int(line.split("|")[-2].strip(" %")) >= 100 * SHARE


def test_a_tie_is_half_a_point() -> None:
    assert Result(won=2, tied=1, played=4).share == 0.625


@pytest.mark.soak
@pytest.mark.long
@pytest.mark.parametrize("rung", RUNGS, ids=lambda rung: rung.name)
def test_the_upper_bot_of_a_rung_wins_three_quarters_of_the_points(rung: Rung, tmp_path: Path) -> None:
    result = climb(rung, STARTS, tmp_path)
    assert result.played == STARTS
    assert result.share >= SHARE
    assert row(rung, result) in README.read_text()


Way = tuple[int, int]
WAYS = [(dx, dy) for dx in (-1, 0, 1) for dy in (-1, 0, 1)]
RULES = ("classic", "diagonal")


def run(state: State, path: list[Body], ways: list[Way], moves: int) -> list[float]:
    """The distances to the hunter on its path if the prey goes these ways, one in each of its moves, the last one until ``moves`` are made."""
    x, y = state.prey.x, state.prey.y
    done = 0
    distances = []
    for step, hunter in enumerate(path, state.step + 1):
        if step % 2 == 0 and done < moves:
            dx, dy = ways[min(done, len(ways) - 1)]
            done += 1
            if state.is_free(x + dx, y + dy):
                x, y = x + dx, y + dy
        distances.append(state.distance((hunter.x, hunter.y), (x, y)))
    return distances


def to(state: State, way: Way) -> Way:
    """The prey's next cell."""
    x, y = state.prey.x + way[0], state.prey.y + way[1]
    return (x, y) if state.is_free(x, y) else (state.prey.x, state.prey.y)


class Far(PreyBot):
    """Keeps far from the hunter's path."""

    def flee(self, state: State) -> PreyMove:
        path = state.hunter_path(150)
        return self.go(*max(WAYS, key=lambda way: self.worth(state, path, way)))

    def worth(self, state: State, path: list[Body], way: Way) -> tuple[float, float]:
        """How near the hunter comes soon, then how far its whole path is from the next cell."""
        x, y = to(state, way)
        later = min(max(abs(hunter.x - x), abs(hunter.y - y)) + step / 30 for step, hunter in enumerate(path))
        return min(6.0, *run(state, path[:30], [way], 15)), later


class TwoAhead(PreyBot):
    """Looks two moves ahead: tries each pair of directions, keeps the second, and stays where the hunter comes least near."""

    def flee(self, state: State) -> PreyMove:
        path = state.hunter_path(60)
        pairs = [(way, then) for way in WAYS for then in WAYS]
        best = max(pairs, key=lambda pair: min(near + step / 6 for step, near in enumerate(run(state, path, list(pair), 16))))
        return self.go(*best[0])


class Slipper(PreyBot):
    """Slips past wall ends: runs to the nearest end of a wall and around it; without walls it follows the hunter."""

    def flee(self, state: State) -> PreyMove:
        path = state.hunter_path(30)
        prey, hunter = state.prey, state.hunter
        ends = [(x + dx, y + dy) for wall in state.walls for x, y in ((wall.x1, wall.y1), (wall.x2, wall.y2)) for dx, dy in WAYS]
        free = [end for end in ends if state.is_free(*end)] or [(hunter.x - 20 * hunter.dx, hunter.y - 20 * hunter.dy)]
        x, y = min(free, key=lambda end: max(abs(end[0] - prey.x), abs(end[1] - prey.y)))

        def worth(way: Way) -> tuple[float, int]:
            near = to(state, way)
            return min(6.5, *run(state, path, [way], 12)), -max(abs(near[0] - x), abs(near[1] - y))

        return self.go(*max(WAYS, key=worth))


class Passed(PreyBot):
    """Stays behind the hunter: runs to be passed by it as soon as possible, along both axes."""

    def flee(self, state: State) -> PreyMove:
        path = state.hunter_path(40)
        hunter = state.hunter

        def worth(way: Way) -> tuple[float, int]:
            x, y = to(state, way)
            ahead = (x - hunter.x) * hunter.dx, (y - hunter.y) * hunter.dy
            return min(5.5, *run(state, path, [way], 20)), -max(ahead[0], -10) - max(ahead[1], -10)

        return self.go(*max(WAYS, key=worth))


def example(name: str, seat: str) -> type[PreyBot]:
    """An example bot of Evasion by its name."""
    found: type = bot_class(next(bot for bot in BOTS if (bot.name, bot.game) == (name, "evasion") and seat in bot.seats))
    return found


PREYS: dict[str, type[PreyBot]] = {
    "evader": example("evader", "prey"),
    "far": Far,
    "two ahead": TwoAhead,
    "slipper": Slipper,
    "passed": Passed,
    "shadow": example("shadow", "prey"),
}


def steps(hunter: type, prey: type[PreyBot], rules: str, cooldown: int, max_walls: int, max_steps: int = 3_000) -> int | None:
    """The steps until capture from the standard start, or None."""
    played = play(hunter, prey, rules=rules, cooldown=cooldown, max_walls=max_walls, max_steps=max_steps)
    return played.outcome.scores["hunter"]  # type: ignore[return-value] # a score of Evasion is a number of steps or None


@pytest.mark.slow
def test_the_trapper_catches_a_prey_that_stays_behind_it() -> None:
    hunter = example("trapper", "hunter")
    assert steps(hunter, PREYS["shadow"], "classic", cooldown=30, max_walls=3) is not None


@pytest.mark.soak
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("prey", PREYS)
def test_the_trapper_catches_every_opponent_in_the_hardest_settings(prey: str, rules: str) -> None:
    hunter = example("trapper", "hunter")
    for cooldown in (1, 100):
        assert steps(hunter, PREYS[prey], rules, cooldown, max_walls=3) is not None
