"""Families of starts: the same for everybody who knows the seed, and different for each test."""

from __future__ import annotations

import hashlib
import hmac
from typing import TYPE_CHECKING

import pytest
from rubrics import load, table

from referee import games
from referee.grading import family
from referee.league import starts as league_starts

if TYPE_CHECKING:
    from pathlib import Path


def test_the_secret_is_the_documented_hmac() -> None:
    expected = hmac.new("grün".encode(), "family/läuft".encode(), hashlib.sha256).digest()
    assert family.secret("grün", "läuft") == expected
    assert family.seed_hash("grün") == hashlib.sha256("grün".encode()).hexdigest()


def test_each_test_has_its_own_starts(tmp_path: Path) -> None:
    same = {"seat": '"hunter"', "against": '"runner"', "need": "{ wins = true }", "starts": "5", "hidden": "2"}
    found = load(tmp_path, table(**same) + table(name='"other"', **same))
    game = games.get("evasion")
    first, other = (family.starts(game, found, test) for test in found.tests)
    assert [start.number for start in first] == [0, 1, 2, 3, 4]
    assert [family.is_hidden(found.tests[0], start.number) for start in first] == [False, False, False, True, True]
    drawn = [tuple(map(tuple, start.settings.values())) for start in (*first, *other)]
    assert len(set(drawn)) == len({start.seed for start in (*first, *other)}) == 10
    assert family.starts(game, found, found.tests[0]) == first
    assert family.starts(game, found._replace(seed="x"), found.tests[0]) != first
    # A longer family begins with the shorter one, so a test can be given more starts.
    assert family.starts(game, found, found.tests[0]._replace(starts=6))[:5] == first


def test_starts_on_a_small_board(tmp_path: Path) -> None:
    text = table(
        seat='"hunter"', against='"runner"', need="{ wins = true }", starts="3", settings="{ width = 40, height = 30, max_steps = 50 }"
    )
    found = load(tmp_path, text)
    game = games.get("evasion")
    (test,) = found.tests
    for start in family.starts(game, found, test):
        settings = league_starts.placed(game, game.codec.settings(found.rules, dict(test.settings)), start.settings)
        assert (settings.width, settings.height, settings.max_steps) == (40, 30, 50)
        assert list(settings.prey) == start.settings["prey"]


def test_a_start_in_the_settings_is_the_only_one(tmp_path: Path) -> None:
    found = load(tmp_path, table(seat='"hunter"', against='"runner"', need="{ wins = true }", settings="{ prey = [50, 60] }"))
    (start,) = family.starts(games.get("evasion"), found, found.tests[0])
    assert dict(start.settings) == {}


@pytest.mark.parametrize(("game", "seat", "against"), [("maze", "thief", "easy"), ("rectangle", "a", "idle")])
def test_other_games_draw_their_starts_from_the_seeds(game: str, seat: str, against: str, tmp_path: Path) -> None:
    found = load(tmp_path, table(seat=f'"{seat}"', against=f'"{against}"', need="{ wins = true }", starts="4"), game)
    starts = family.starts(games.get(game), found, found.tests[0])
    assert len({start.seed for start in starts}) == 4
    assert not any(start.settings for start in starts)


def test_weak_seeds_are_told() -> None:
    assert family.weakness(family.new_seed()) == ""
    assert family.weakness("correct horse battery staple") == ""
    for seed in ("7", "123456789012345", "a" * 40):
        assert f"The seed has {len(seed)} character" in family.weakness(seed)
    assert "it is too simple" in family.weakness("a" * 40)
