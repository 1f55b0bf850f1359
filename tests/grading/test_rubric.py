"""Rubric files: every key, every mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from gradings import HEAD, load, table, write

import example_bots
from referee import games
from referee.errors import UsageError
from referee.grading import needs, rubric
from referee.grading.rubric import NeedTable, RubricFile, RubricTestTable
from referee.grading.values import Need
from referee.isolation.limits import Limits
from referee.match.options import MatchOptions, TimeControl
from referee.match.settings_file import keys
from referee.players.names import resolve

PAGE = Path(__file__).parents[2] / "docs" / "rubric.md"
GOOD = table(seat='"hunter"', against='"runner"', need="{ wins = true }")
FULL = """
rules = "diagonal"
isolation = "limits"
clock = "wall"
[settings]
max_steps = 500
[time]
startup = 9.0
move = "none"
bank = 50
increment = 0.5
[run]
cores = 1
idle = "run"
on_malformed = "pass"
max_lateness = 0.5
[limits]
memory_bytes = "256MiB"
processes = 8
[[tests]]
name = "catches"
seat = "hunter"
against = "runner"
starts = 6
hidden = 2
points = 20
need = { mean_seconds_below = 0.05, catch_within = 400 }
when = "after_due"
settings = { width = 60, height = 60 }
[[tests]]
name = "duel"
points = 2.5
need = { beats = "boxer" }
"""


def test_a_short_rubric_has_the_defaults(tmp_path: Path) -> None:
    found = load(tmp_path, GOOD)
    assert (found.name, found.game, found.rules, found.seed, found.is_seed_drawn) == (
        "Homework",
        "evasion",
        "classic",
        "0123456789abcdef0123456789abcdef",
        False,
    )
    assert found.options == MatchOptions(isolation="strict").settled()
    assert (found.home, found.text) == (str(tmp_path), (tmp_path / "rubric.toml").read_text())
    (test,) = found.tests
    assert test == (0, "t", "hunter", "runner", (Need("wins", True),), 10.0, 1, 0, "always", test.settings, False)
    assert found.maximum == 10


def test_a_full_rubric(tmp_path: Path) -> None:
    found = load(tmp_path, FULL)
    assert (found.rules, found.options.isolation, found.maximum) == ("diagonal", "limits", 22.5)
    assert found.options.time == TimeControl(startup=9.0, move=None, bank=50.0, increment=0.5, kind="wall")
    assert found.options.run.given == {"cores": 1, "idle": "run", "on_malformed": "pass", "max_lateness": 0.5}
    assert found.options.limits == Limits(memory_bytes=256 << 20, processes=8)
    first, second = found.tests
    assert (first.starts, first.hidden, first.when, first.points) == (6, 2, "after_due", 20.0)
    assert first.needs == (Need("catch_within", 400), Need("mean_seconds_below", 0.05))
    assert (first.settings["width"], first.settings["max_steps"], second.settings["width"]) == (60, 500, 300)
    assert (second.seat, second.against) == (None, "boxer")
    assert rubric.roles(found)[0] == ("hunter", "prey")
    assert [rubric.opponent_seats(found, test) for test in found.tests] == [("prey",), ("hunter", "prey")]


def test_the_seed_is_text_a_number_or_drawn(tmp_path: Path) -> None:
    path = tmp_path / "rubric.toml"
    path.write_text(HEAD.format(game="evasion").replace('"0123456789abcdef0123456789abcdef"', "-17") + GOOD)
    assert rubric.load(path).seed == "-17"
    path.write_text(re.sub("seed = .*", "", HEAD.format(game="evasion")) + GOOD)
    drawn = rubric.load(path)
    assert drawn.is_seed_drawn
    assert re.fullmatch("[0-9a-f]{32}", drawn.seed)
    assert rubric.load(path).seed != drawn.seed


def test_all_seats_are_alike_where_there_can_be_any_number_of_players(tmp_path: Path) -> None:
    text = table(against='"idle"', need="{ score_at_least = 5 }", settings="{ players = 3 }")
    found = load(tmp_path, text + table(name='"duel"', need='{ beats = "looper" }'), "rectangle")
    assert [test.seat for test in found.tests] == ["a", None]
    assert [rubric.opponent_seats(found, test) for test in found.tests] == [("b", "c"), ("b",)]
    assert rubric.roles(found)[0] == ("a",)


def test_settings_can_name_the_start(tmp_path: Path) -> None:
    (test,) = load(tmp_path, GOOD + "settings = { prey = [99, 98] }").tests
    assert test.has_set_start
    assert (test.settings["prey"], test.settings["hunter"]) == ([99, 98], [0, 0, 1, 1])


def refused(folder: Path, text: str, sentence: str, game: str = "evasion") -> None:
    path = write(folder, text, game)
    with pytest.raises(UsageError) as caught:
        rubric.load(path)
    assert sentence.replace("{}", str(path)) in str(caught.value)
    assert str(path) in str(caught.value)
    assert str(caught.value).isprintable()


def test_a_folder_with_the_opponents_seat_alone_is_an_opponent(tmp_path: Path) -> None:
    (tmp_path / "enemy").mkdir()
    (tmp_path / "enemy" / "prey.py").write_text("")
    assert load(tmp_path, GOOD.replace('"runner"', '"enemy"')).tests[0].against == "enemy"
    refused(tmp_path, table(need='{ beats = "enemy" }'), "need.beats: The hunter")


@pytest.mark.parametrize("game", games.names())
def test_every_example_bot_that_can_play_is_an_example_hand_in(game: str, tmp_path: Path) -> None:
    seat, against, opposite = {
        "evasion": ("hunter", "runner", "boxer"),
        "maze": ("thief", "easy", "easy"),
        "rectangle": ("a", "idle", "idle"),
    }[game]
    one = load(tmp_path, table(seat=f'"{seat}"', against=f'"{against}"', need="{ wins = true }"), game)
    fitting = [bot.name for bot in example_bots.BOTS if bot.game == game and bot.plays(seat)]
    assert [name for name, _ in rubric.example_hand_ins(one)] == fitting
    both = load(tmp_path, table(need=f'{{ beats = "{opposite}" }}'), game)
    found = rubric.example_hand_ins(both)
    assert len({name for name, _ in found}) == len(found) == sum(bot.game == game for bot in example_bots.BOTS)
    for _, players in found:
        assert tuple(players) == rubric.roles(both)[0]
        assert all(resolve(player, each, game) for each, player in players.items())


def test_example_hand_ins_play_the_rule_set(tmp_path: Path) -> None:
    other = load(tmp_path, 'rules = "gameserver"\n' + GOOD)
    assert [name for name, _ in rubric.example_hand_ins(other)] == ["straight", "random"]


def test_the_page_names_every_key_and_its_example_is_a_rubric(tmp_path: Path) -> None:
    page = PAGE.read_text()
    rows = set(
        re.findall(r"`([a-z_.]+)(?: = [^`]*)?`", "\n".join(line.split("|")[1] for line in page.splitlines() if line.startswith("|")))
    )
    tables = ("time", "run", "limits")
    wanted = {*keys(RubricFile)} - {*tables} | {f"{name}.{key}" for name in tables for key in keys(RubricFile, [name])}
    assert wanted | {*keys(RubricTestTable)} | {*keys(NeedTable)} <= rows
    assert {*keys(NeedTable)} == {*needs.KINDS}
    (example,) = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    (tmp_path / "rubric.toml").write_text(example)
    found = rubric.load(tmp_path / "rubric.toml")
    assert found.maximum == 60
