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


def test_what_the_referee_wrote_into_a_folder_of_teams_is_no_team(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text("pass\n")
    for name, file in (("matches", "x"), ("out", "league.sqlite"), ("elsewhere", "database.url")):
        (tmp_path / name).mkdir()
        (tmp_path / name / file).touch()
    assert [team.name for team in load(tmp_path).teams] == ["a", "b"]
