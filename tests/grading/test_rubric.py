"""Rubric files: every key, every mistake."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rubrics import HEAD, load, table, write

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


WRONG = [
    ("nmae = 'x'", "has an unknown key 'nmae'; did you mean 'name'?"),
    ("max_steps = 3", "did you mean 'settings.max_steps'?"),
    ("[settings]\nmax_step = 3", "In the rubric {}: Evasion has no setting 'max_step'; did you mean 'max_steps'?"),
    ("[time]\nclock = 'cpu'", "unknown key 'time.clock'; did you mean 'clock'?"),
    ("[run]\nisolation = 'strict'", "unknown key 'run.isolation'; did you mean 'isolation'?"),
    ("[time]\nmove = 0", "has a wrong 'time.move', 0: must be above 0"),
    ("[limits]\nmemory_bytes = '1KiB'", "has a wrong 'limits.memory_bytes'"),
    ("isolation = 'loose'", "has a wrong 'isolation', 'loose'"),
    ("clock = 'sand'", "has a wrong 'clock', 'sand'"),
    ("rules = 'chess'", "no rule set 'chess'"),
    ("tests = 3", "has a wrong 'tests', 3"),
    ("this is not toml", "The rubric {} is not TOML"),
]


@pytest.mark.parametrize(("text", "sentence"), WRONG, ids=[text for text, _ in WRONG])
def test_a_wrong_file_names_the_file_and_the_key(text: str, sentence: str, tmp_path: Path) -> None:
    refused(tmp_path, text if "tests" in text else f"{text}\n{GOOD}", sentence)


def refused(folder: Path, text: str, sentence: str, game: str = "evasion") -> None:
    path = write(folder, text, game)
    with pytest.raises(UsageError) as caught:
        rubric.load(path)
    assert sentence.replace("{}", str(path)) in str(caught.value)
    assert str(path) in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("name = ''", "The rubric's name is empty"),
        (r'name = "a\u001b"', "has a control character"),
        (f"name = '{'x' * 81}'", "has 81 characters; the limit is 80"),
        ("name = '==='", "no letter and no digit"),
        ("name = 3", "has a wrong 'name', 3"),
        ("game = 'chess'", "there is no game 'chess'; there are evasion"),
        ("seed = true", "seed is True, but must be a text or a whole number."),
        ("seed = 1.5", "seed is 1.5, but must be a text or a whole number."),
        ("seed = ''", "seed is '', but must be a text of 1 to 1,000 visible characters; remove it to have one drawn."),
        (r'seed = "a\u0007"', "seed is 'a\\x07'"),
    ],
)
def test_a_wrong_head(line: str, sentence: str, tmp_path: Path) -> None:
    head = re.sub(rf"(?m)^{line.split(maxsplit=1)[0]} = .*$", "", HEAD.format(game="evasion"))
    path = tmp_path / "rubric.toml"
    path.write_text(f"{line}\n{head}\n{GOOD}")
    with pytest.raises(UsageError) as caught:
        rubric.load(path)
    assert sentence in str(caught.value)


def test_missing_keys_and_tests_are_named(tmp_path: Path) -> None:
    path = tmp_path / "rubric.toml"
    path.write_text('game = "evasion"')
    with pytest.raises(UsageError, match="has no key 'name'"):
        rubric.load(path)
    refused(tmp_path, "", "there are no tests; add a table [[tests]]")
    with pytest.raises(UsageError, match=r"The rubric .*none\.toml can't be read: No such file"):
        rubric.load(tmp_path / "none.toml")


WRONG_TESTS = [
    ({"ponts": "3"}, "tests, table 2 has an unknown key 'ponts'; did you mean 'points'?"),
    ({"catch_within": "3"}, "tests, table 2 has an unknown key 'catch_within'; did you mean 'need.catch_within'?"),
    ({"need": "{ catch_witin = 3 }"}, "unknown key 'need.catch_witin'; did you mean 'catch_within'?"),
    ({"name": "3"}, "tests, table 2 has a wrong 'name', 3"),
    ({"name": "''"}, "The name of tests, table 2 is empty"),
    ({"name": '"a\\nb"'}, "The name of tests, table 2, 'a\\nb', has a control character"),
    ({"name": '"T"'}, "tests, table 2: table 1 has the name 't', too; give one of them another name."),
    ({"seat": "'huntr'"}, "tests, table 2: seat is 'huntr'; did you mean 'hunter'?"),
    ({"seat": None}, "tests, table 2: the key 'seat' is missing; there are hunter, prey."),
    ({"against": None}, "tests, table 2: the key 'against' is missing"),
    ({"against": "'runer'"}, "tests, table 2: against: The prey 'runer' is neither a file nor an example bot"),
    ({"against": "'boxer'"}, "The prey 'boxer' is an example that plays hunter, not prey"),
    ({"against": "'human'"}, "tests, table 2: against: the prey is a person; only programs play in a grading."),
    ({"against": "''"}, "tests, table 2: against: The prey has an empty name"),
    ({"against": '"run\\u001bner"'}, "against is 'run\\x1bner', which has a control character"),
    ({"starts": "0"}, "has a wrong 'starts', 0: must be at least 1."),
    ({"starts": "100000"}, "has a wrong 'starts', 100000"),
    ({"hidden": "2"}, "tests, table 2: hidden is 2, but starts is 1; hidden starts are among the starts."),
    ({"hidden": "-1"}, "has a wrong 'hidden', -1"),
    ({"points": "0"}, "has a wrong 'points', 0: must be"),
    ({"points": "nan"}, "has a wrong 'points', nan: must be a finite number"),
    ({"points": "inf"}, "has a wrong 'points', inf"),
    ({"points": None}, "tests, table 2 has no key 'points'; add it."),
    ({"need": None}, "tests, table 2 has no key 'need'; add it."),
    ({"need": "{}"}, "tests, table 2: need is empty; write need = { wins = true }, for instance."),
    ({"need": "'wins'"}, "has a wrong 'need', 'wins'"),
    ({"need": "{ wins = false }"}, "need.wins is false, which asks for nothing; write true, or remove it."),
    ({"need": "{ wins = 1 }"}, "has a wrong 'need.wins', 1"),
    ({"need": "{ catch_within = 0 }"}, "has a wrong 'need.catch_within', 0: must be at least 1."),
    ({"need": "{ catch_within = 2.5 }"}, "has a wrong 'need.catch_within', 2.5"),
    ({"need": "{ catch_within = 10001 }"}, "need.catch_within is 10,001, but with these settings a match has at most 10,000 steps"),
    ({"need": "{ catch_within = 51 }", "settings": "{ max_steps = 50 }"}, "take at most 50."),
    ({"need": "{ survive = 5 }"}, "need.survive means nothing for hunter in evasion; it is for prey."),
    ({"need": "{ score_at_least = 5 }"}, "need.score_at_least is for games in which more points are better"),
    ({"need": "{ mean_seconds_below = 0 }"}, "has a wrong 'need.mean_seconds_below', 0"),
    (
        {"need": "{ beats = 'searcher' }"},
        "tests, table 2: a test with need.beats is a duel, in which the hand-in plays every seat; remove seat.",
    ),
    ({"need": "{ beats = 'searcher' }", "seat": None}, "a duel against the player that it names; remove against."),
    ({"need": "{ beats = 'serch' }", "seat": None, "against": None}, "tests, table 2: need.beats: The hunter 'serch' is neither"),
    ({"need": "{ beats = 'human' }", "seat": None, "against": None}, "need.beats: the hunter is a person"),
    ({"need": "{ beats = 'boxer', wins = true }", "seat": None, "against": None}, "need.wins can't stand beside need.beats"),
    ({"when": "'never'"}, "has a wrong 'when', 'never'"),
    ({"settings": "{ widht = 9 }"}, "tests, table 2: Evasion has no setting 'widht'; did you mean 'width'?"),
    ({"starts": "2", "settings": "{ prey = [99, 99] }"}, "starts is 2, but settings.prey names the start"),
    ({"settings": "{ width = 9, height = 9 }"}, "tests, table 2: starts is 1, but no fair start can be drawn on the 9 x 9 board"),
    ({"starts": "9999", "settings": "{ width = 13, height = 13 }"}, "tests, table 2: starts is 9,999, but these settings have hardly more"),
]


@pytest.mark.parametrize(("changes", "sentence"), WRONG_TESTS, ids=[str(changes) for changes, _ in WRONG_TESTS])
def test_a_wrong_test_names_its_table(changes: dict[str, str | None], sentence: str, tmp_path: Path) -> None:
    good = {"name": '"u"', "seat": '"hunter"', "against": '"runner"', "need": "{ wins = true }"}
    rows = {key: value for key, value in {"points": "10", **good, **changes}.items() if value is not None}
    refused(tmp_path, GOOD + "[[tests]]\n" + "".join(f"{key} = {value}\n" for key, value in rows.items()), sentence)


@pytest.mark.parametrize(
    ("game", "need", "sentence"),
    [
        ("rectangle", "{ catch_within = 5 }", "need.catch_within means nothing for a in rectangle."),
        ("rectangle", "{ survive = 5 }", "need.survive means nothing for a in rectangle."),
        ("maze", "{ survive = 401 }", "a match has at most 400 steps; take at most 400."),
    ],
)
def test_needs_depend_on_the_game(game: str, need: str, sentence: str, tmp_path: Path) -> None:
    seat, against = {"maze": ("thief", "easy"), "rectangle": ("a", "idle")}[game]
    refused(tmp_path, table(seat=f'"{seat}"', against=f'"{against}"', need=need), sentence, game)


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
