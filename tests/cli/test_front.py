"""The list of all commands without their modules, and the help of each."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

import pytest

from referee import games
from referee.cli import app, front

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    Cli = Callable[..., subprocess.CompletedProcess[str]]

NAMES = [name for _, name, _ in front.commands()]
for _name in NAMES:
    import_module(f"referee.cli.{front.module_of(_name)}")
GROUPS = {str(group.typer_instance.info.name): group for group in app.app.registered_groups if group.typer_instance is not None}
_TYPERS = {name: group.typer_instance for name, group in GROUPS.items() if group.typer_instance is not None}
#: Commands for one game: the course's servers and the interactive game of the assignment.
OF_ONE_GAME = ("maze", "serve")
#: Words that only one game has: its seats and some of its example bots.
OWN_WORDS = {"evasion": ("hunter", "prey", "boxer", "evader"), "maze": ("thief", "policeman"), "rectangle": ("painter",)}
FUNCTIONS = {name: function for name in NAMES if (function := app.command_named(name)) is not None}


def test_the_table_is_what_the_modules_register() -> None:
    registered = {(info.name or info.callback.__name__): info for info in app.app.registered_commands if info.callback is not None}
    assert sorted([*registered, *GROUPS]) == sorted(NAMES)
    for panel, name, text in front.commands():
        info: Any = GROUPS.get(name) or registered[name]
        help_text = info.typer_instance.info.help if name in GROUPS else info.callback.__doc__
        assert (info.rich_help_panel, " ".join(help_text.split("\n\n")[0].split())) == (panel, text), name


def test_every_command_is_in_its_module() -> None:
    for name, function in FUNCTIONS.items():
        assert function.__module__ == f"referee.cli.{front.module_of(name)}", name
    assert front.module_of("plya") is None


@pytest.mark.parametrize("columns", [40, 80, 137])
def test_the_list_fits_its_columns_and_says_everything(columns: int, referee: Cli) -> None:
    done = referee("--help", env={"COLUMNS": str(columns)})
    assert done.returncode == 0, done.stderr
    assert max(map(len, done.stdout.splitlines())) <= columns
    whole = " ".join(done.stdout.replace("│", " ").split())
    for panel, name, text in front.commands():
        assert " ".join(panel.split()[:2]) in whole
        if columns == 137:
            assert f"{name} {text}" in whole


@pytest.mark.parametrize(("words", "status"), [(["--help"], 0), (["-h"], 0), ([], 2), (["--version"], 0)])
def test_the_front_needs_no_command(words: list[str], status: int) -> None:
    code = (
        "import sys; sys.argv[0] = 'referee'; from referee.__main__ import main\n"
        "try:\n    main()\nfinally:\n    print('\\n', *sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == status, done.stderr
    assert ("Play one match" in done.stdout) == ("-h" in words or "--help" in words)
    assert ("You write a bot:" in done.stdout) == (not words)
    loaded = done.stderr.splitlines()[-1].split()
    assert {name for name in loaded if name.startswith("referee.cli.")} <= {"referee.cli.app", "referee.cli.front", "referee.cli.models"}
    assert ("rich" in loaded) == ("-h" in words or "--help" in words)


def _commands() -> list[list[str]]:
    groups = {
        name: [str(info.name or getattr(info.callback, "__name__", "")) for info in group.registered_commands]
        for name, group in _TYPERS.items()
    }
    return [[name, *more] for name in NAMES for more in ([[], *([each] for each in groups[name])] if name in groups else [[]])]


def test_the_referee_alone_says_within_a_screen_what_three_kinds_of_people_try(referee: Cli) -> None:
    done = referee()
    lines = done.stdout.splitlines()
    assert len(lines) <= 22
    assert max(map(len, lines)) <= 80
    assert [line for line in lines if line.startswith("You ")] == ["You write a bot:", "You hold a competition:", "You grade submissions:"]
    for line in lines:
        if line.startswith("  referee "):
            words = re.split(r"  +", line.strip())[0].split()[1:]
            assert words[0] in NAMES
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
    """No help is longer than two screens, and none has lines that don't fit."""
    done = referee(*words, "--help", env={"COLUMNS": "100"})
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert len(lines) <= 85
    assert max(map(len, lines)) <= 100


def test_the_help_of_play_shows_the_settings_of_the_game_that_is_named() -> None:
    def shown(*words: str) -> set[str]:
        done = subprocess.run([sys.executable, "-m", "referee", "play", *words, "--help"], capture_output=True, text=True, timeout=60)
        return set(done.stdout.replace("/", " ").split())

    own = {name: {f"--{option.name.replace('_', '-')}" for option in games.info(name).options} - {"--players"} for name in games.names()}
    plain, maze = shown(), shown("--game=maze")
    assert not set().union(*own.values()) & plain
    assert own["evasion"] <= shown("--game", "evasion")
    assert own["maze"] <= maze
    assert "--cooldown" not in maze


def test_there_are_no_more_commands_than_one_can_read() -> None:
    assert len(NAMES) <= 26


@pytest.mark.parametrize("words", [words for words in _commands() if words[0] not in OF_ONE_GAME], ids=" ".join)
def test_the_help_of_commands_for_all_games_gives_no_example_of_one_game_alone(words: list[str], referee: Cli) -> None:
    """A name of one game is an example to all only beside one of another game."""
    text = referee(*words, "--help").stdout.lower()
    named = {name for name, own in OWN_WORDS.items() if any(re.search(rf"\b{word}\b", text) for word in own)}
    assert len(named) != 1, named


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
