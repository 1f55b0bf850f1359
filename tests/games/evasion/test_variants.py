"""Settings: what is refused, and in which words."""

from __future__ import annotations

from typing import Any

import pytest

from referee.games import get
from referee.games.game import SettingsError

GAME = get("evasion")

REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"prey": (300, 5)}, "prey starts at (300, 5), off the 300 x 300 board"),
    ({"hunter": (-1, 0, 1, 1)}, "hunter starts at (-1, 0), off the"),
    ({"hunter": (0, 0, 1, 0)}, "must head diagonally"),
    ({"hunter": (0, 0, 2, 1)}, "must head diagonally"),
    ({"prey": (2, 2)}, "has caught the prey"),
    ({"prey": (0, 0)}, "has caught the prey"),
    ({"prey": (0, 0), "capture_radius": 0}, "has caught the prey"),
    ({"width": 0}, "width is 0, but must be a whole number from 1 to 10,000"),
    ({"width": 1, "height": 1, "prey": (0, 0)}, "has caught the prey"),
    ({"height": 10_001}, "height is 10001"),
    ({"cooldown": -1}, "cooldown is -1"),
    ({"max_walls": -1}, "max_walls is -1"),
    ({"max_steps": 0}, "max_steps is 0, but must be a whole number from 1"),
    ({"prey_period": 0}, "prey_period is 0"),
    ({"width": "300"}, "width is '300'"),
    ({"width": True}, "width is True"),
    ({"prey": (1,)}, "prey is (1,), but must be 2 whole numbers: x, y"),
    ({"prey": (1.0, 2)}, "must be 2 whole numbers"),
    ({"hunter": "0,0,1,1"}, "must be 4 whole numbers"),
    ({"cooldwon": 3}, "did you mean 'cooldown'?"),
    ({"wings": 3}, "there are width, height"),
]


@pytest.mark.parametrize(("given", "text"), REFUSED)
def test_settings_are_refused_by_name(given: dict[str, Any], text: str) -> None:
    with pytest.raises(SettingsError) as caught:
        GAME.codec.settings("classic", given)
    assert text in str(caught.value)


@pytest.mark.parametrize(
    ("rules", "width", "height", "prey"),
    [
        ("classic", 300, 300, (230, 200)),
        ("classic", 231, 201, (230, 200)),
        ("classic", 230, 1000, (176, 200)),
        ("classic", 100, 100, (76, 66)),
        ("diagonal", 5, 9, (3, 6)),
        ("gameserver", 100, 500, (66, 200)),
    ],
)
def test_the_usual_start_of_the_prey_is_on_every_board(rules: str, width: int, height: int, prey: tuple[int, int]) -> None:
    assert GAME.codec.settings(rules, {"width": width, "height": height}).prey == prey


def test_a_start_that_is_given_is_not_moved() -> None:
    with pytest.raises(SettingsError, match="off the 100 x 100 board"):
        GAME.codec.settings("classic", {"width": 100, "height": 100, "prey": (230, 200)})
    with pytest.raises(SettingsError, match="has caught the prey at"):
        GAME.codec.settings("classic", {"width": 4, "height": 4})


def test_an_unknown_rule_set_is_refused_with_the_good_ones() -> None:
    with pytest.raises(SettingsError, match=r"no rule set 'diagonals'; did you mean 'diagonal'\?$"):
        GAME.codec.settings("diagonals", {})
    with pytest.raises(SettingsError, match=r"no rule set 'cubic'; there are classic, diagonal, gameserver\.$"):
        GAME.codec.settings("cubic", {})


@pytest.mark.parametrize(
    "given",
    [
        {"width": 5000, "height": 5000},
        {"width": 10_000, "height": 10_000, "prey": (9_999, 9_999)},
        {"width": 6, "height": 1, "prey": (5, 0)},
        {"cooldown": 0, "max_walls": 0},
        {"capture_radius": 0, "prey": (1, 0)},
        {"max_steps": 1},
    ],
)
def test_odd_settings_are_played(given: dict[str, Any]) -> None:
    for rules in GAME.info.rule_sets:
        settings = GAME.codec.settings(rules, given)
        state = GAME.start(settings, b"")
        for _ in range(20):
            if GAME.movers(state):
                state, _ = GAME.step(state, {"hunter": GAME.codec.parse(state, "hunter", {"build": {"kind": "vertical"}})})
        assert GAME.codec.settings_json(settings)["width"] == settings.width


def test_defaults_are_those_of_the_rules() -> None:
    settings = GAME.codec.settings(None, {})
    assert GAME.codec.settings_json(settings) == {
        "width": 300,
        "height": 300,
        "hunter": [0, 0, 1, 1],
        "prey": [230, 200],
        "cooldown": 20,
        "max_walls": 10,
        "capture_radius": 4,
        "prey_period": 2,
        "max_steps": 10_000,
    }
