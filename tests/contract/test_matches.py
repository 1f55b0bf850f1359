"""Random and hostile matches of every game through the match loop: nothing raises, every replay verifies, every repeat is the same."""

from __future__ import annotations

import random
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any, Literal

import pytest
from table import bot_class

from contract.contract import Case, Failing, Player, check_outcome, check_replay, every_case, every_game, match_of, timeless
from example_bots import BOTS
from sdk.testing import play


def fuzz(
    case: Case, count: int, seed: int, folder: Path, *, hostility: float = 0.0, on_malformed: Literal["forfeit", "pass"] = "forfeit"
) -> Counter[str]:
    """Play random matches; every tenth is played twice. The kinds of the faults in them."""
    draw, kinds = random.Random(seed), Counter[str]()
    for played in range(count):
        setup = case.setup(draw)
        paths = [folder / "a.gz", folder / "b.gz"][: 2 if played % 10 == 0 else 1]
        for path in paths:
            players = {seat: Player(f"{seed}-{played}-{seat}", hostility) for seat in setup.seats}
            result = match_of(setup, players, path, seed=played, on_malformed=on_malformed)
            check_replay(path, result)
            check_outcome(setup, result.state)
        if len(paths) == 2:
            assert timeless(paths[0]) == timeless(paths[1])
        kinds.update(fault.kind for fault in result.failures.values())
        kinds["steps"] += result.steps
    return kinds


@every_case
def test_replays_of_random_matches_verify(case: Case, tmp_path: Path) -> None:
    kinds = fuzz(case, 5, 1, tmp_path)
    assert kinds["steps"] > 20
    assert kinds.keys() == {"steps"}, "the samples answer well"


@every_case
@pytest.mark.parametrize(("on_malformed", "hostility"), [("forfeit", 0.1), ("pass", 0.5)])
def test_replays_of_hostile_matches_verify(case: Case, on_malformed: Literal["forfeit", "pass"], hostility: float, tmp_path: Path) -> None:
    kinds = fuzz(case, 8, 2, tmp_path, hostility=hostility, on_malformed=on_malformed)
    assert sum(kinds.values()) > kinds["steps"], "some bots fail"


@pytest.mark.soak
@every_case
@pytest.mark.parametrize(("on_malformed", "hostility"), [("forfeit", 0.0), ("forfeit", 0.05), ("pass", 0.5)])
def test_a_hundred_matches(case: Case, on_malformed: Literal["forfeit", "pass"], hostility: float, tmp_path: Path) -> None:
    fuzz(case, 100, 3, tmp_path, hostility=hostility, on_malformed=on_malformed)


@every_case
@pytest.mark.parametrize("turn", [-1, 0, 1])
def test_a_fault_in_every_seat_and_in_all_at_once(case: Case, turn: int, tmp_path: Path) -> None:
    """The players fail in their greeting (-1), in the first step or as soon as they are asked after it."""
    draw = random.Random(turn)
    seats = case.setup(draw).seats
    for who, kind in product([*((seat,) for seat in seats), seats], ["crashed", "malformed"]):
        # Games in which nobody of them is asked in time, and those with other seats, are passed over.
        for _ in range(50):
            setup = case.setup(draw)
            if setup.seats != seats:
                continue
            players = {seat: Failing(seat, turn, kind) if seat in who else Player(seat) for seat in seats}
            result = match_of(setup, players, tmp_path / "fault.gz")
            if result.faults:
                break
        check_replay(tmp_path / "fault.gz", result)
        check_outcome(setup, result.state)
        assert result.faults, "nobody has failed"
        assert result.faults.keys() <= set(who)
        assert {fault.kind for fault in result.failures.values()} == {kind}
        assert result.started == (turn >= 0)
        if turn < 0:
            assert result.faults.keys() == set(who), "everybody is greeted"
        if len(who) == 1 and setup.game.outcome(setup.game.fault(setup.start(draw), dict.fromkeys(who, kind))) is not None:
            assert result.outcome.winner not in who


@every_game
def test_random_example_bots_play_to_the_end(game: Any, tmp_path: Path) -> None:
    """The same through the SDK, with the example bots called random."""
    name: str = game.info.name
    (example,) = (bot for bot in BOTS if bot.game == name and bot.name == "random")
    for rules in game.info.rule_sets:
        bots = [bot_class(example)] * len(game.seats(game.codec.settings(rules, {})))
        short: dict[str, Any] = {"evasion": {"max_steps": 100}, "rectangle": {"cap": 30}}.get(name, {})
        result = play(*bots, game=name, rules=rules, seed=4, replay=tmp_path / "random.gz", **short)
        assert not result.faults
        assert result.steps > 3
        check_replay(tmp_path / "random.gz", result)
