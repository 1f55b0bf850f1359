"""The list of all commands without their modules, and the help of each."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest
import typer

from referee.cli import app as app_module
from referee.cli.main import app

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

PROGRAM: Any = typer.main.get_command(app)
#: Commands for one game: the course's servers and the interactive game of the assignment.
OF_ONE_GAME = ("maze", "serve")
#: Words that only one game has: its seats and some of its example bots.
OWN_WORDS = {"evasion": ("hunter", "prey", "boxer", "evader"), "maze": ("thief", "policeman"), "rectangle": ("painter",)}


def test_the_panels_of_the_list_are_its_readers_with_authors_first(referee: Cli) -> None:
    panels = [app_module.AUTHORS, app_module.GRADERS, app_module.REPLAYS, app_module.PLAYERS, app_module.SERVERS, app_module.INSTRUCTORS]
    assert {command.rich_help_panel for command in PROGRAM.commands.values()} == set(panels)
    lines = referee("--help").stdout.splitlines()
    places = [next(at for at, line in enumerate(lines) if f" {panel} " in line) for panel in panels]
    assert places == sorted(places)
    assert lines[places[0] + 1].split()[1] == "play"


@pytest.mark.parametrize("columns", [40, 80, 137])
def test_the_list_fits_its_columns_and_says_everything(columns: int, referee: Cli) -> None:
    done = referee("--help", env={"COLUMNS": str(columns)})
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= columns
    whole = " ".join(done.stdout.replace("│", " ").split())
    for name, command in PROGRAM.commands.items():
        assert " ".join(command.rich_help_panel.split()[:2]) in whole
        if columns == 137:
            assert f"{name} {' '.join(command.help.split(chr(10) * 2)[0].split())}" in whole


@pytest.mark.parametrize(("words", "status"), [(["--help"], 0), (["-h"], 0), ([], 2), (["--version"], 0)])
def test_the_start_loads_no_package_of_an_extra(words: list[str], status: int) -> None:
    code = (
        "import sys; sys.argv[0] = 'referee'; from referee.__main__ import main\n"
        "try:\n    main()\nfinally:\n    print('\\n', *sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == status, done.stderr
    assert ("You write a bot:" in done.stdout) == ("Play one match" in done.stdout) == (words != ["--version"])
    loaded = done.stderr.splitlines()[-1].split()
    assert "referee.cli.arena" in loaded
    assert not {"numpy", "scipy", "sqlalchemy", "starlette", "fastapi", "jinja2", "distributed"} & set(loaded)
    assert ("rich" in loaded) == (words != ["--version"])


def _commands() -> list[list[str]]:
    return [
        [name, *more] for name, command in PROGRAM.commands.items() for more in ([], *([each] for each in getattr(command, "commands", {})))
    ]


def test_the_help_begins_with_what_three_kinds_of_people_try(referee: Cli) -> None:
    lines = referee("--help", env={"COLUMNS": "80"}).stdout.splitlines()[:24]
    assert max(map(len, lines)) <= 80
    assert [line.strip() for line in lines if line.startswith(" You ")] == [
        "You write a bot:",
        "You hold a competition:",
        "You grade hand-ins:",
    ]
    for line in lines:
        if line.startswith("   referee "):
            words = re.split(r"  +", line.strip())[0].split()[1:]
            assert words[0] in PROGRAM.commands
            if words[0] in ("play", "new"):
                short = ["--max-steps", "5", "--startup", "none"] if words[0] == "play" else []
                assert referee(*words, *short).returncode == 0, line


@pytest.mark.parametrize("is_whole", [True, False], ids=["watch", "install"])
def test_a_match_ends_with_the_one_next_step_that_fits(is_whole: bool, tmp_path: Path) -> None:
    """Where the packages for pages are missing, the step installs them for this Python before it opens the viewer."""
    lacks = "" if is_whole else "from referee.support import packages; packages.WEB['some-package'] = 'no_module_of_this_name'\n"
    code = f"import sys; sys.argv[0] = 'referee'; from referee.__main__ import main\n{lacks}main()"
    patient = ["--startup", "none", "--move-time", "none", "--bank", "none"]
    words = [sys.executable, "-c", code, "play", "straight", "still", "--max-steps", "3", "--out", "a match.replay.jsonl.gz", *patient]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0, done.stderr
    steps = [line for line in done.stdout.splitlines() if line.startswith("Next:")]
    before = "" if is_whole else f"{shlex.quote(sys.executable)} -m pip install some-package && "
    assert len(steps) == 1
    assert re.fullmatch(rf"Next:  {re.escape(before)}\S*referee watch 'a match\.replay\.jsonl\.gz'", steps[0]), steps


@pytest.mark.parametrize("words", _commands(), ids=" ".join)
def test_the_help_of_a_command_can_be_read(words: list[str], referee: Cli) -> None:
    """No help is longer than two screens, and none has lines that don't fit.

    In that of a command for all games a name of one game is an example to all only beside one of another game.
    """
    done = referee(*words, "--help", env={"COLUMNS": "100"})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 85
    assert max(map(len, lines)) <= 100
    named = {name for name, own in OWN_WORDS.items() if any(re.search(rf"\b{word}\b", done.stdout.lower()) for word in own)}
    assert words[0] in OF_ONE_GAME or len(named) != 1, named


def test_there_are_no_more_commands_than_one_can_read() -> None:
    assert len(PROGRAM.commands) <= 26


def test_the_examples_of_a_help_keep_their_lines(referee: Cli) -> None:
    shown = [line.strip() for line in referee("new", "--help").stdout.splitlines()]
    first = shown.index("Try:  referee new hunter my_bot.py")
    assert shown[first + 1 : first + 3] == ["referee new thief my_thief.py", "referee new team my_team"]


def test_version_has_a_short_form(referee: Cli) -> None:
    assert referee("-V").stdout == referee("--version").stdout != ""


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("referee le", ["league"]),
        ("referee play --move", ["--move-time"]),
        ("referee league st", ["starts", "standings"]),
    ],
)
def test_a_shell_completes_commands_and_options(line: str, words: list[str]) -> None:
    """As the scripts of ``referee --show-completion`` ask."""
    code = "import sys; sys.argv = ['referee']; from referee.__main__ import main; main()"
    count = str(len(line.split()) - 1)
    environment = {**os.environ, "COMP_WORDS": line, "COMP_CWORD": count, "_REFEREE_COMPLETE": "complete_bash"}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == words, done.stderr


@pytest.mark.parametrize("words", [[], *[[name] for name, each in PROGRAM.commands.items() if hasattr(each, "commands")]], ids=" ".join)
@pytest.mark.parametrize("rich", ["1", "0"])
def test_a_group_without_a_command_prints_its_help_in_lines(words: list[str], rich: str, tmp_path: Path) -> None:
    """Also where rich doesn't draw the help: then it is the text of an error."""
    environment = {**os.environ, "TYPER_USE_RICH": rich, "COLUMNS": "80"}
    done = subprocess.run([sys.executable, "-m", "referee", *words], cwd=tmp_path, capture_output=True, text=True, env=environment)
    assert (done.returncode, done.stderr, "\\n" in done.stdout) == (2, "", False)
    assert len(done.stdout.splitlines()) > 8
    assert max(map(len, done.stdout.splitlines())) <= 100


@pytest.mark.parametrize(
    ("words", "same"),
    [
        (["help"], ["--help"]),
        (["version"], ["--version"]),
        (["help", "play"], ["play", "--help"]),
        (["help", "league", "run"], ["league", "run", "--help"]),
        (["league", "help"], ["league", "--help"]),
        (["league", "help", "run"], ["league", "run", "--help"]),
    ],
)
def test_help_and_version_are_words_too(words: list[str], same: list[str], referee: Cli) -> None:
    done, other = referee(*words), referee(*same)
    assert (done.returncode, done.stdout) == (0, other.stdout), done.stderr


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["play", "a", "b", "--debug"], ""),
        (["league", "run", "x", "--verbose"], ""),
        (["play", "a", "b", "--max-stpes", "3"], "--max-steps"),
    ],
)
def test_a_wrong_option_is_told_only_those_that_are_like_it(words: list[str], hint: str, referee: Cli) -> None:
    done = referee(*words)
    assert (done.returncode, "Possible options" in done.stderr, hint in done.stderr) == (2, bool(hint), True), done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ["play", "a", "b", "--idle"],
        ["league", "run", "x", "--out"],
        ["check", "x", "--only"],
        ["grade", "run", "x", "--rubric"],
        ["serve", "gameserver", "--port"],
        ["play", "a", "b", "--quiet=1"],
    ],
)
def test_an_option_without_its_value_is_a_mistake_in_use(words: list[str], referee: Cli) -> None:
    done = referee(*words)
    assert (done.returncode, "Traceback" in done.stderr, words[-1].split("=")[0] in done.stderr) == (2, False, True), done.stderr
