"""The starts of a league: drawn ones, and those of a file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from referee import games
from referee.errors import UsageError
from referee.games.game import SettingsError
from referee.tournament import starts
from referee.wire.seeds import secret_of

if TYPE_CHECKING:
    from pathlib import Path

    from referee.tournament.values import MatchStart

EVASION, MAZE = games.get("evasion"), games.get("maze")
STANDARD = EVASION.codec.settings(None, {})
SECRET = secret_of(7)


def test_starts_are_reproducible_and_a_longer_list_begins_with_a_shorter_one() -> None:
    few, many = (starts.starts(EVASION, STANDARD, SECRET, count) for count in (3, 10))
    assert few == many[:3]
    assert [start.number for start in many] == list(range(10))
    assert len({json.dumps(dict(start.settings)) for start in many}) == 10
    assert len({start.seed for start in many}) == 10
    assert few != starts.starts(EVASION, STANDARD, secret_of(8), 3)
    assert all(0 <= start.seed < 2**53 for start in many)


def test_no_position_is_drawn_twice_and_too_many_are_refused() -> None:
    assert EVASION.starts is not None
    small = EVASION.starts.settings(None, {"width": 2, "height": 1, "capture_radius": 0})
    # Two orders of the players, with four headings each.
    assert len({json.dumps(dict(start.settings)) for start in starts.starts(EVASION, small, SECRET, 8)}) == 8
    with pytest.raises(SettingsError, match="hardly more than 8 different starts"):
        starts.starts(EVASION, small, SECRET, 9)


@pytest.mark.parametrize("name", ["maze", "rectangle"])
def test_games_that_draw_their_start_from_the_seed_have_different_seeds(name: str) -> None:
    game = games.get(name)
    found = starts.starts(game, game.codec.settings(None, {}), SECRET, 5)
    assert [dict(start.settings) for start in found] == [{}] * 5
    assert len({start.seed for start in found}) == 5


def test_repetitions_have_seeds_of_their_own() -> None:
    (start,) = starts.standard(SECRET)
    seeds = [starts.match_seed(start, repeat) for repeat in range(5)]
    assert seeds[0] == start.seed
    assert len(set(seeds)) == 5


def read(tmp_path: Path, text: str, *variants: tuple[str, dict[str, Any]]) -> tuple[MatchStart, ...]:
    file = tmp_path / "starts.jsonl"
    file.write_text(text)
    made = [(name, EVASION.codec.settings(None, given)) for name, given in variants or (("", {}),)]
    return starts.read(file, EVASION, made, SECRET)


def test_a_file_has_settings_or_settings_with_a_seed(tmp_path: Path) -> None:
    found = read(tmp_path, '{"hunter": [1, 2, 1, 1], "prey": [90, 90]}\n\n{"settings": {"prey": [9, 9]}, "seed": 7}\n{"seed": -3}\n')
    assert [dict(start.settings) for start in found] == [{"hunter": [1, 2, 1, 1], "prey": [90, 90]}, {"prey": [9, 9]}, {}]
    assert [start.seed for start in found][1:] == [7, -3]
    assert found[0].seed == starts.standard(SECRET)[0].seed
    assert EVASION.codec.settings_json(starts.placed(EVASION, STANDARD, found[0].settings))["prey"] == [90, 90]


WRONG = [
    ('{"prey": [400, 0]}', "line 1: prey starts at (400, 0), off the 300 x 300 board"),
    ('{"prey": [5, 5]}\n{"pray": [5, 6]}', "line 2: Evasion has no setting 'pray'; did you mean 'prey'?"),
    ('{"prey": [1, 1]}', "line 1: hunter at (0, 0) has caught the prey at (1, 1)"),
    ('{"prey": [9, 9]}\n{"prey": [9, 9]}', "line 2: this is the same start as in line 1; remove one of them."),
    ("[1]", "line 1: this is not a JSON object"),
    ("{", "line 1: this line is not JSON."),
    ('{"settings": [], "seed": 1}', "'settings' must be an object"),
    ('{"seed": true}', "'seed' must be a whole number"),
    ('{"seed": 1e30}', "'seed' must be a whole number"),
    ('{"prey": [9, 9], "seed": 1}', "'prey' stands beside 'settings' or 'seed'; put it into 'settings'"),
    ("", "has no start"),
]


@pytest.mark.parametrize(("text", "sentence"), WRONG, ids=[sentence for _, sentence in WRONG])
def test_a_wrong_start_names_file_and_line(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert str(caught.value).startswith("The starts file ")
    assert "starts.jsonl" in str(caught.value)
    assert sentence in str(caught.value)


def test_a_start_is_tried_in_every_variant(tmp_path: Path) -> None:
    variants: tuple[tuple[str, dict[str, Any]], ...] = ("large", {}), ("small", {"width": 100, "height": 100, "prey": [60, 60]})
    assert len(read(tmp_path, '{"prey": [90, 90]}', *variants)) == 1
    with pytest.raises(UsageError, match=r"line 1: prey starts at \(200, 90\), off the 100 x 100 board.* \(in the variant 'small'\)\.$"):
        read(tmp_path, '{"prey": [200, 90]}', *variants)


def test_a_start_can_not_change_the_players(tmp_path: Path) -> None:
    game = games.get("rectangle")
    file = tmp_path / "starts.jsonl"
    file.write_text('{"players": 3}')
    with pytest.raises(UsageError, match="a start can't change the number of players"):
        starts.read(file, game, [("", game.codec.settings(None, {}))], SECRET)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"none\.jsonl can't be read: No such file"):
        starts.read(tmp_path / "none.jsonl", EVASION, [("", STANDARD)], SECRET)
