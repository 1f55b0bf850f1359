"""League files: every key, every mistake, folders, and the JSON form."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from referee import games
from referee.errors import UsageError
from referee.isolation.limits import Limits
from referee.league.config import FORMATS, Format, League, LeagueFile, from_json, load
from referee.match.options import MatchOptions, TimeControl
from referee.match.settings_file import keys

EXAMPLES = Path(__file__).parents[2] / "example_bots"
PAGE = Path(__file__).parents[2] / "docs" / "leagues.md"
TEAMS = '[[teams]]\nname = "A"\nprogram = "random"\n[[teams]]\nname = "B"\nhunter = "boxer"\nprey = "runner"\n'
TABLES = 'game = "rectangle"\n{}\n' + "".join(f'[[teams]]\nname = "{name}"\nprogram = "{name}"\n' for name in ("idle", "looper", "blocker"))


def read(folder: Path, text: str) -> League:
    (folder / "autumn.toml").write_text(text)
    return load(folder / "autumn.toml")


def test_a_short_file_has_the_defaults(tmp_path: Path) -> None:
    league = read(tmp_path, TEAMS)
    assert (league.name, league.game, league.rules, league.format) == ("autumn", "evasion", "classic", Format())
    assert (league.options, league.repeat, league.slots) == (MatchOptions().settled(), 1, None)
    assert [(team.name, dict(team.players)) for team in league.teams] == [
        ("A", {"hunter": "random", "prey": "random"}),
        ("B", {"hunter": "boxer", "prey": "runner"}),
    ]
    (variant,) = league.variants
    assert variant.name == ""
    assert variant.settings["prey"] == [230, 200]
    (start,) = league.commitment.starts(0)
    assert league.commitment.match_settings(0, start) == variant.settings
    assert re.fullmatch("[0-9a-f]{32}", str(league.seed))
    assert read(tmp_path, TEAMS).seed != league.seed


FULL = """
name = "autumn cup"
game = "evasion"
rules = "diagonal"
format = "swiss"
rounds = 1
seed = 7
isolation = "strict"
clock = "cpu"
repeat = 2
slots = 3
[settings]
max_steps = 3000
[[variants]]
name = "small"
width = 60
height = 60
[[variants]]
cooldown = 8
[starts]
count = 4
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
"""


def test_a_full_file(tmp_path: Path) -> None:
    league = read(tmp_path, FULL + TEAMS)
    assert (league.name, league.rules, league.seed, league.options.isolation) == ("autumn cup", "diagonal", 7, "strict")
    assert league.format == Format("swiss", rounds=1)
    assert league.options.time == TimeControl(startup=9.0, move=None, bank=50.0, increment=0.5, kind="cpu")
    assert league.options.run.given == {"cores": 1, "idle": "run", "on_malformed": "pass", "max_lateness": 0.5}
    assert league.options.limits == Limits(memory_bytes=256 << 20, processes=8)
    assert (league.repeat, league.slots, league.home) == (2, 3, str(tmp_path))
    assert [variant.name for variant in league.variants] == ["small", "variant 2"]
    for number, width in enumerate((60, 300)):
        starts = league.commitment.starts(number)
        assert [start.number for start in starts] == [0, 1, 2, 3]
        for start in starts:
            settings = league.commitment.match_settings(number, start)
            assert (settings["width"], settings["max_steps"]) == (width, 3000)
            assert (settings["hunter"], settings["prey"]) == (start.settings["hunter"], start.settings["prey"])
    assert read(tmp_path, FULL + TEAMS) == league


@pytest.mark.parametrize("text", [TEAMS, FULL + TEAMS, TABLES.format('format = "tables"'), '[starts]\nfile = "s.jsonl"\n' + TEAMS])
def test_the_json_form_comes_back(text: str, tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text('{"prey": [9, 9]}\n{"settings": {}, "seed": 3}\n')
    league = read(tmp_path, text)
    written = json.dumps(league.to_json(), allow_nan=False)
    again = from_json(json.loads(written))
    assert again == league
    assert json.dumps(again.to_json()) == written
    # The league no longer needs its file.
    (tmp_path / "s.jsonl").unlink()
    assert [again.commitment.starts(number) for number in range(len(again.variants))] == [
        league.commitment.starts(n) for n in range(len(league.variants))
    ]


@pytest.mark.parametrize("data", [{}, {"name": "x"}, {"format": {"kind": "swiss"}, "starts": {}}, {"format": 3, "starts": 3}])
def test_other_data_is_no_league(data: Any) -> None:
    with pytest.raises(UsageError, match="This is not a league of this version"):
        from_json(data)


def test_rectangle_is_played_at_tables(tmp_path: Path) -> None:
    three = read(tmp_path, TABLES.format('format = "tables"\ntable_size = 3\nrounds = 5'))
    assert three.format == Format("tables", 5, 3)
    assert three.variants[0].settings["players"] == 3
    assert read(tmp_path, TABLES.format('format = "tables"\n[settings]\nplayers = 3')).format == Format("tables", 1, 3)
    two = read(tmp_path, TABLES.format('rules = "large"'))
    assert two.format.kind == "round-robin"
    assert two.variants[0].settings["players"] == 2
    assert two.teams[0].players.keys() == {"a", "b"}


def test_maze_draws_its_starts_from_the_seeds(tmp_path: Path) -> None:
    names = "".join(f'[[teams]]\nname = "{name}"\nprogram = "{name}"\n' for name in ("random", "expert"))
    league = read(tmp_path, f'game = "maze"\nseed = 1\n[starts]\ncount = 3\n{names}')
    game = games.get("maze")
    states = []
    for start in league.commitment.starts(0):
        settings = game.codec.settings(league.rules, league.commitment.match_settings(0, start))
        states.append(game.start(settings, b"%d" % start.seed))
    assert len({(state.thief, state.policeman) for state in states}) == 3


WRONG = [
    ("formt = 'swiss'", "has an unknown key 'formt'; did you mean 'format'?"),
    ("cooldown = 3", "did you mean 'settings.cooldown'?"),
    ("count = 3", "did you mean 'starts.count'?"),
    ("[time]\nclock = 'cpu'", "unknown key 'time.clock'; did you mean 'clock'?"),
    ("[run]\nisolation = 'strict'", "unknown key 'run.isolation'; did you mean 'isolation'?"),
    ("[starts]\nfil = 'x'", "unknown key 'starts.fil'; did you mean 'file'?"),
    ("[settings]\ncooldwon = 3", "did you mean 'cooldown'?"),
    ("format = 'swis'", "format is 'swis'; did you mean 'swiss'?"),
    ("format = 'chess'", "format is 'chess'; there are round-robin, swiss, elimination, tables."),
    ("game = 'chess'", "there is no game 'chess'"),
    ("rules = 'chess'", "no rule set 'chess'"),
    ("seed = 'seven'", "has a wrong 'seed', 'seven': must be a whole number."),
    ("seed = true", "has a wrong 'seed', True"),
    ("seed = 0x" + "f" * 40, "has a wrong 'seed', a huge number"),
    ("repeat = 0", "has a wrong 'repeat', 0: must be at least 1."),
    ("slots = 0", "has a wrong 'slots', 0"),
    ("isolation = 'loose'", "has a wrong 'isolation', 'loose'"),
    ("clock = 'sand'", "has a wrong 'clock', 'sand'"),
    ("[starts]\ncount = 0", "has a wrong 'starts.count', 0"),
    ("[starts]\ncount = 2\nfile = 'x'", "starts has both count and file; remove one of them"),
    ("[starts]\nfile = 'x'", "The starts file"),
    ("[starts]\ncount = 2\n[settings]\nprey = [9, 9]", "settings.prey names a start, but starts.count draws the starts"),
    ("[starts]\ncount = 2\n[settings]\nwidth = 9\nheight = 9", "starts.count is 2, but no fair start can be drawn on the 9 x 9 board"),
    ("rounds = 2", "rounds is for the formats"),
    ("format = 'swiss'\nrounds = 2", "2 teams have met everybody after 1"),
    ("table_size = 2", "table_size is for the format"),
    ("format = 'tables'", "is for games of many players"),
    ("name = ''", "The league's name is empty"),
    ('name = "a\\u001b"', "control character"),
    ("[time]\nmove = 0", "has a wrong 'time.move', 0: must be above 0"),
    ("[limits]\nmemory_bytes = '1KiB'", "has a wrong 'limits.memory_bytes'"),
    ("[settings]\nprey = [1, 1]", "has caught the prey"),
    ("[[variants]]\nname = 'x'\ncooldwon = 3", "variants, table 1: Evasion has no setting 'cooldwon'"),
    ("[[variants]]\nname = 'x'\n[[variants]]\nname = 'X'\ncooldown = 3", "variants, table 2: an earlier table also has the name 'X'"),
    ("[[variants]]\ncooldown = 20\n[[variants]]\nmax_walls = 10", "variants, table 2: its settings are those of 'variant 1'"),
    ("[[variants]]\nname = 3", "variants, table 1: name is 3, but must be a text"),
    ("[[teams]]\nname = 'b'\nprogram = 'random'", "Two teams have the same name, 'b' and 'B'"),
    ("[[teams]]\nname = 'B'\nprogram = 'random'", "Two teams have the same name, 'B' and 'B'"),
    ("[[teams]]\nprogram = 'random'", "teams, table 1: the key 'name' is missing"),
    ("[[teams]]\nname = 3", "teams, table 1: the key 'name' is 3, but must be a text"),
    ("[[teams]]\nname = 'C'", "the team 'C' has no program; add the key program, or hunter and prey."),
    (
        "[[teams]]\nname = 'C'\nhunter = 'boxer'",
        "the team 'C' has no prey. Add a program for prey, or the line prey = \"evader\" to its table in the league file.",
    ),
    ("[[teams]]\nname = 'C'\nhuntr = 'boxer'", "the team 'C' has an unknown key 'huntr'; did you mean 'hunter'?"),
    ("[[teams]]\nname = 'C'\nprogram = 3", "the team 'C' has a wrong 'program', 3"),
    ("[[teams]]\nname = 'C'\nprogram = 'rnadom'", "The team 'C' can't play: The hunter 'rnadom' is neither a file nor an example bot"),
    ("[[teams]]\nname = 'C'\nhunter = 'boxer'\nprey = 'boxer'", "The prey 'boxer' is an example that plays hunter, not prey"),
    ("rules = 'gameserver'", "is an example that plays classic and diagonal, not gameserver"),
    ("this is not toml", "is not TOML"),
]


@pytest.mark.parametrize(("text", "sentence"), WRONG, ids=[re.sub(r"\s", " ", text) for text, _ in WRONG])
def test_a_wrong_file_names_the_file_and_the_key(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, f"{text}\n{TEAMS}")
    assert sentence in str(caught.value)
    assert "autumn.toml" in str(caught.value)
    assert str(caught.value).isprintable()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "there are no teams, but a league needs two or more"),
        ('[[teams]]\nname = "A"\nprogram = "random"', "there is one team, but a league needs two or more"),
        (TABLES.format('format = "tables"\ntable_size = 2\nrounds = 3'), "give rounds = 4"),
        (TABLES.format('format = "tables"\ntable_size = 4'), "there are 3 teams, but a table has 4 players"),
        (TABLES.format('format = "tables"\ntable_size = 27'), "Rectangle is for 2 to 26 players"),
        (TABLES.format("[settings]\nplayers = 3"), 'settings.players is 3, but in the format "round-robin" two teams meet'),
        (TABLES.format('format = "tables"\ntable_size = 3\n[settings]\nplayers = 2'), "settings.players is 2, but table_size is 3"),
        (TABLES.format('format = "tables"\n[[variants]]\nplayers = 3'), "variants, table 1: players can't differ"),
        (
            'game = "rectangle"\n[[teams]]\nname = "A"\na = "idle"\n[[teams]]\nname = "B"\nprogram = "idle"',
            "unknown key 'a'; there are name, program.",
        ),
    ],
)
def test_other_wrong_files(text: str, sentence: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text)
    assert sentence in str(caught.value)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"The league file .*none\.toml can't be read: No such file"):
        load(tmp_path / "none.toml")


def folder_of_teams(folder: Path) -> None:
    (folder / "alpha").mkdir(parents=True)
    shutil.copy(EXAMPLES / "evasion" / "straight.py", folder / "alpha" / "hunter.py")
    shutil.copy(EXAMPLES / "evasion" / "still.py", folder / "alpha" / "prey.py")
    shutil.copy(EXAMPLES / "evasion" / "random_moves.py", folder / "beta.py")
    (folder / ".git").mkdir()


def test_a_folder_of_teams_is_a_league(tmp_path: Path) -> None:
    folder = tmp_path / "Spring"
    folder_of_teams(folder)
    league = load(folder)
    assert (league.name, league.format) == ("Spring", Format())
    assert [(team.name, team.players["prey"]) for team in league.teams] == [
        ("alpha", str(folder / "alpha")),
        ("beta", str(folder / "beta.py")),
    ]
    (folder / "alpha" / "prey.py").unlink()
    with pytest.raises(UsageError, match=r"In the folder .*, where each file and folder is a team: The team 'alpha' can't play"):
        load(folder)
    shutil.copy(EXAMPLES / "evasion" / "still.py", folder / "alpha" / "prey.py")
    shutil.copytree(folder / "alpha", folder / "Beta")
    with pytest.raises(UsageError, match="Two teams have the same name, 'Beta' and 'beta'"):
        load(folder)


def test_a_folder_with_a_league_file_is_that_league(tmp_path: Path) -> None:
    folder = tmp_path / "spring"
    folder_of_teams(folder)
    teams = '[[teams]]\nname = "A"\nprogram = "alpha"\n[[teams]]\nname = "B"\nhunter = "beta.py"\nprey = "still"\n'
    (folder / "league.toml").write_text('seed = 1\n[starts]\nfile = "starts.jsonl"\n' + teams)
    (folder / "starts.jsonl").write_text('{"prey": [99, 99]}')
    league = load(folder)
    assert league == load(folder / "league.toml")
    assert league.name == "spring"
    assert league.teams[0].players["hunter"] == str(folder / "alpha")
    assert league.commitment.match_settings(0, league.commitment.starts(0)[0])["prey"] == [99, 99]
    with pytest.raises(UsageError, match="there are no teams"):
        (tmp_path / "empty").mkdir()
        load(tmp_path / "empty")


def test_a_thousand_teams_are_read(tmp_path: Path) -> None:
    folder_of_teams(tmp_path)
    text = "".join(f'[[teams]]\nname = "team {number}"\nprogram = "beta.py"\n' for number in range(1000))
    assert len(read(tmp_path, text).teams) == 1000


def test_the_page_names_every_key_and_its_example_is_a_league(tmp_path: Path) -> None:
    page = PAGE.read_text()
    section = page.partition("## The league file")[2].partition("\n## ")[0]
    rows = set(re.findall(r"`([a-z_.]+)`", "\n".join(line.split("|")[1] for line in section.splitlines() if line.startswith("|"))))
    tables = [name for name in keys(LeagueFile) if name in ("starts", "time", "run", "limits")]
    wanted = {*keys(LeagueFile)} - {*tables} | {f"{table}.{key}" for table in tables for key in keys(LeagueFile, [table])}
    assert wanted <= rows
    assert all(f"`{name}`" in section for name in FORMATS)
    (example,) = re.findall(r"```toml\n(.*?)```", section, re.DOTALL)
    assert len(read(tmp_path, example).teams) >= 2


def test_listed_starts_replace_the_standard_one_on_a_small_board(tmp_path: Path) -> None:
    """A start that doesn't say where the prey is has it where a match without listed starts has it."""
    file = tmp_path / "league.toml"
    file.write_text(
        '[settings]\nwidth = 60\nheight = 60\n[starts]\nfile = "starts.jsonl"\n'
        '[[teams]]\nname = "A"\nprogram = "random"\n[[teams]]\nname = "B"\nprogram = "random"\n'
    )
    (tmp_path / "starts.jsonl").write_text('{"hunter": [0, 0, 1, 1], "prey": [40, 25]}\n')
    assert load(file).starts.listed[0].settings == {"hunter": [0, 0, 1, 1], "prey": [40, 25]}
    for line in ('{"hunter": [0, 0, 1, 1]}', '{"seed": 7}'):
        (tmp_path / "starts.jsonl").write_text(line)
        league = load(file)
        assert league.commitment.match_settings(0, league.commitment.starts(0)[0])["prey"] == [46, 40]
    (tmp_path / "starts.jsonl").write_text('{"prey": [60, 25]}')
    with pytest.raises(UsageError, match="off the 60 x 60 board"):
        load(file)


def test_a_folder_with_too_few_teams_says_what_to_put_into_it(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("")
    with pytest.raises(UsageError, match="there is one team, but a league needs two or more; put a program"):
        load(tmp_path)


def test_what_the_referee_wrote_into_a_folder_of_teams_is_no_team(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("pass\n")
    for name, file in (("matches", "x"), ("out", "league.sqlite"), ("elsewhere", "database.url")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).touch()
    assert [team.name for team in load(tmp_path).teams] == ["a", "b"]
