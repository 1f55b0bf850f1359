"""The ladder of the example bots holds, and the top hunter catches the preys that escape the others."""

from __future__ import annotations

from pathlib import Path

import pytest
from hard_preys import PREYS, RULES, example, steps
from ladder import BEGIN, END, README, RUNGS, SHARE, STARTS, Result, Rung, climb, row

from example_bots import BOTS


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
    table = README.read_text().partition(BEGIN)[2].partition(END)[0]
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
