"""The positions in which bots are checked."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from referee import games
from referee.author.check.positions import Positions
from referee.games import capabilities
from referee.games.capabilities import EMPTY, LAST, LONG

if TYPE_CHECKING:
    from referee.games.game import Seat

KINDS = {getattr(capabilities, name) for name in ["EMPTY", "FULL", "LAST", "LONG", "EDGE", "STUCK", "DECISIVE", "SETTINGS"]}
CASES = [(name, rules) for name in games.names() for rules in games.info(name).rule_sets]


@pytest.mark.parametrize(("name", "rules"), CASES)
def test_every_position_can_be_asked(name: str, rules: str) -> None:
    game = games.get(name)
    samples = game.samples
    assert samples is not None
    settings = game.codec.settings(rules, {})
    for seat in game.seats(settings)[:2]:
        kinds = set()
        for position in samples.positions(settings, seat):
            kinds.add(position.kind)
            where = (seat, position.about)
            assert seat in game.movers(position.state), where
            assert position.state.step == position.turn, where
            # A bot may check the settings as the referee does.
            assert game.codec.settings(rules, game.codec.settings_json(position.settings)) == position.settings, where
            assert game.codec.view_text(position.state, seat).startswith("{"), where
            game.codec.parse(position.state, seat, samples.move(position.state, seat))
        assert kinds <= KINDS
        assert len(kinds) >= 6


def test_the_longest_state_of_evasion_has_64_kib() -> None:
    game = games.get("evasion")
    (position,) = Positions(game, game.codec.settings(None, {}), "hunter").of(LONG)
    assert len(game.codec.view_text(position.state, "hunter")) > 64_000


@pytest.mark.parametrize(("name", "seat"), [("evasion", "prey"), ("rectangle", "b"), ("maze", "policeman")])
def test_a_game_without_samples_gives_positions_of_a_match(name: str, seat: Seat) -> None:
    game = games.get(name)
    positions = Positions(game, game.codec.settings(None, {}), seat)
    positions.samples = None
    (first,), (last,) = positions.of(EMPTY), positions.of(LAST)
    assert first.turn < last.turn
    assert seat in game.movers(last.state)
    assert not positions.of(LONG)


def test_a_match_is_walked_with_the_moves_of_the_bot() -> None:
    game = games.get("evasion")
    settings = game.codec.settings(None, {"max_steps": 9})
    positions = Positions(game, settings, "prey")
    walked = list(positions.walk(settings, lambda *_: None))
    assert [turn for turn, _ in walked] == [1, 3, 5, 7]
    moved = list(positions.walk(settings, lambda turn, state: game.codec.parse(state, "prey", {"go": [1, 0]})))
    assert [state.prey.x for _, state in moved] == [230, 231, 232, 233]
