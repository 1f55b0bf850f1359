"""referee games, and flags, match files and docs that follow from the same table of options."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import typer

from referee import games
from referee.cli.main import app
from referee.games.description import settings_table
from referee.match.request import MatchRequest

if TYPE_CHECKING:
    from collections.abc import Callable
    from subprocess import CompletedProcess

    Cli = Callable[..., CompletedProcess[str]]

DOCS = Path(__file__).parents[2] / "docs"
WORDS = {option.name: option for name in games.names() for option in games.info(name).options}


@pytest.mark.parametrize("name", games.names())
def test_the_settings_of_a_game_are_told(name: str, referee: Cli) -> None:
    told = json.loads(referee("games", name, "--json").stdout)
    game = games.get(name)
    assert told["seats"] == list(game.seats(game.codec.settings(None, {})))
    assert [option["name"] for option in told["options"]] == [option.name for option in game.info.options]
    for option in told["options"]:
        for rules, value in option["defaults"].items():
            assert game.codec.settings_json(game.codec.settings(rules, {})).get(option["name"], value) == value
    done = referee("games", name, env={"COLUMNS": "40"})
    assert all(option.name.replace("_", "-") in done.stdout for option in game.info.options)
    assert max(map(len, done.stdout.splitlines()[:-1])) <= 40


@pytest.mark.parametrize("name", games.names())
def test_the_page_has_the_table(name: str) -> None:
    lines = ["| setting | values | default | meaning |", "|---|---|---|---|"]
    lines += [f"| `{name}` | {allowed} | {default} | {meaning} |" for name, allowed, default, meaning in settings_table(games.get(name))]
    assert "\n".join(lines) + "\n" in (DOCS / "games.md").read_text()


def test_every_setting_is_a_hidden_flag_that_its_game_lists(referee: Cli) -> None:
    commands: Any = typer.main.get_command(app)
    for name in ("play", "duel", "compare"):
        options = {flag: option for option in commands.commands[name].params for flag in option.opts}
        for setting in WORDS:
            if setting != "players":
                assert options[f"--{setting.replace('_', '-')}"].hidden, (name, setting)
    for game in games.names():
        words = referee("games", game).stdout.split()
        names = {setting.name: setting for setting in games.info(game).options}
        assert [name for name in names if name != "players" and f"--{name.replace('_', '-')}" not in words] == []
    assert "--cooldown" not in referee("play", "--help").stdout


def test_flags_reach_the_game(referee: Cli, tmp_path: Path) -> None:
    options = ["--width", "60", "--capture-radius", "5", "--prey", "40,30", "--max-steps", "5", "--isolation", "none", "--json", "--quiet"]
    done = referee("play", "straight", "still", *options)
    assert done.returncode == 0, done.stderr
    told = json.loads(referee("show", json.loads(done.stdout)["replay"], "--json").stdout)
    settings = told["head"]["settings"]
    assert (settings["width"], settings["capture_radius"], settings["prey"]) == (60, 5, [40, 30])


SET = [
    ("evasion", "prey=50,60", [50, 60]),
    ("evasion", "prey = [50, 60]", [50, 60]),
    ("evasion", "max_steps=50", 50),
    ("maze", "parity=any", "any"),
    ("maze", 'parity="any"', "any"),
    ("maze", "exit_start=true", True),
    ("rectangle", "sharing=2003", "2003"),
]


@pytest.mark.parametrize(("game", "pair", "value"), SET, ids=[pair for _, pair, _ in SET])
def test_set_takes_a_value_as_the_flag_does(game: str, pair: str, value: object) -> None:
    settings = MatchRequest(game=game, set=[pair]).checked_settings
    assert games.get(game).codec.settings_json(settings)[pair.partition("=")[0].strip()] == value


def test_bots_are_listed_by_game_in_any_width(referee: Cli) -> None:
    for columns in ("40", "120"):
        done = referee("bots", env={"COLUMNS": columns})
        assert done.returncode == 0
        assert max(map(len, done.stdout.splitlines()[:-1])) <= int(columns)
        assert [line for line in done.stdout.splitlines() if line.endswith(":") and not line.startswith(" ")] == [
            "evasion:",
            "rectangle:",
            "maze:",
        ]
    games = [bot["game"] for bot in json.loads(referee("bots", "--json").stdout)]
    assert games == sorted(games, key=["evasion", "rectangle", "maze"].index)
    only = json.loads(referee("bots", "--game", "maze", "--json").stdout)
    assert {bot["game"] for bot in only} == {"maze"}
    assert referee("bots", "--game", "mase").returncode == 2
