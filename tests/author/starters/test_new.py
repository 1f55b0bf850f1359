"""``referee new``: what it writes, what it refuses, and that what it prints works."""

from __future__ import annotations

import errno
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from broken_bots import NAMES, ROLES, need_language

from referee import games
from referee.author.starters import write
from referee.author.starters.compose import choose, languages
from referee.errors import UsageError
from referee.players.languages import LANGUAGES, Language

if TYPE_CHECKING:
    from collections.abc import Callable

    Cli = Callable[..., subprocess.CompletedProcess[str]]

#: The next lines run as they are printed: `referee` is the one of this environment.
SHELL = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}


@pytest.mark.parametrize(("game", "role"), ROLES)
def test_each_seat_has_a_starter_in_every_language(game: str, role: str) -> None:
    chosen = choose(role, None)
    assert chosen.game == game
    assert languages(chosen) == NAMES


def test_each_template_belongs_to_a_language() -> None:
    for game in games.names():
        top = Path(games.folder(games.get(game))) / "starters"
        assert {folder.name for folder in top.iterdir() if folder.is_dir() and folder.name != "__pycache__"} == set(NAMES)
        for path in top.glob("*/*"):
            if "__pycache__" in path.parts:
                continue
            assert path.name.endswith(".template"), path
            assert max(len(line) for line in path.read_text("utf-8").splitlines()) <= 150, path


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_the_suffix_of_the_file_says_the_language(language: Language, referee: Cli, tmp_path: Path) -> None:
    name, suffix = language.name, language.suffix
    done = referee("new", "hunter", f"my_bot{suffix}", "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert (record["language"], record["files"], record["game"], record["seat"]) == (name, [f"my_bot{suffix}"], "evasion", "hunter")
    text = (tmp_path / f"my_bot{suffix}").read_text("utf-8")
    assert "@@" not in text
    assert "MyBot" in text
    assert len(text.splitlines()) < 600


#: The languages with a hunter; and now and then the other roles in one language without tests, and in the one with tests.
FOLDERS = [
    pytest.param(name, *case, marks=[] if case[1] == "hunter" else [pytest.mark.soak])
    for name in NAMES
    for case in ROLES
    if case[1] == "hunter" or name in ("python", "javascript")
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "game", "role"), FOLDERS)
def test_the_folder_plays_its_test_passes_and_its_readme_is_short(name: str, game: str, role: str, referee: Cli, tmp_path: Path) -> None:
    need_language(name)
    done = referee("new", role, "a bot", "--folder", "--lang", name, "--json")
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert record["game"] == game
    folder = tmp_path / "a bot"
    assert sorted(record["files"]) == sorted(f"a bot/{path.name}" for path in folder.iterdir())
    assert len((folder / "README.md").read_text().splitlines()) <= 10
    environment = {**SHELL, "REFEREE_CACHE": str(tmp_path / "cache")}
    assert bool(record["test"]) is (name == "python")
    test = subprocess.run(record["test"] or "true", shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert test.returncode == 0, test.stdout + test.stderr
    played = subprocess.run(
        f"{record['play']} --seed 1 --quiet --json", shell=True, cwd=tmp_path, env=environment, capture_output=True, text=True
    )
    assert [one["fault"] for one in json.loads(played.stdout)["players"].values()] == [None, None], played.stderr


def test_the_python_of_the_test_is_the_one_that_has_the_sdk(referee: Cli, tmp_path: Path) -> None:
    """Python on the path may be the one from which this virtual environment was made: the same file, without its packages."""
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "python").symlink_to(Path(sys.executable).resolve())
    told = json.loads(referee("new", "hunter", "one", "--folder", "--json", env={"PATH": f"{elsewhere}:/usr/bin:/bin"}).stdout)
    assert told["test"] == f"{sys.executable} -m pytest one"
    here = Path(sys.executable).parent
    told = json.loads(referee("new", "hunter", "two", "--folder", "--json", env={"PATH": f"{here}:/usr/bin:/bin"}).stdout)
    assert told["test"] == "python -m pytest two"


@pytest.mark.slow
def test_a_test_of_python_passes_inside_another_project(referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = --import-mode=importlib -m nothing\n")
    record = json.loads(referee("new", "hunter", "mine", "--folder", "--json").stdout)
    test = subprocess.run(record["test"], shell=True, cwd=tmp_path, capture_output=True, text=True)
    assert test.returncode == 0, test.stdout + test.stderr
    assert "passed" in test.stdout


@pytest.mark.parametrize(("role", "name"), [("painter", "painter"), ("b", "painter"), ("thief", "thief"), ("prey", "prey")])
def test_without_a_name_the_bot_is_called_after_its_role(role: str, name: str, referee: Cli, tmp_path: Path) -> None:
    assert json.loads(referee("new", role, "--json").stdout)["files"] == [f"{name}.py"]
    assert json.loads(referee("new", role, "--folder", "--json").stdout)["player"] == name
    assert (tmp_path / name / "bot.toml").is_file()


def test_the_starters_in_python_and_their_tests_pass_a_strict_type_checker(tmp_path: Path) -> None:
    for _, role in ROLES:
        write.write_folder([choose(role, None)], LANGUAGES[0], str(tmp_path / role))
        # Each file gets a name of its own, so that one process checks them all.
        (tmp_path / role / "bot.py").rename(tmp_path / f"{role}_bot.py")
        test = (tmp_path / role / "test_bot.py").read_text()
        (tmp_path / f"test_{role}.py").write_text(test.replace("from bot import", f"from {role}_bot import"))
    root = Path(__file__).parents[3]
    files = sorted(map(str, tmp_path.glob("*.py")))
    assert len(files) == 2 * len(ROLES)
    command = [sys.executable, "-m", "mypy", f"--config-file={root / 'pyproject.toml'}", f"--cache-dir={root / '.mypy_cache'}", *files]
    done = subprocess.run(command, capture_output=True, text=True, cwd=root)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(
    "words", ["hunter 'my bot.js'", "prey ./my_bot.cpp", "policeman sub/x.py", "a --game rectangle --lang cpp", "--seat thief t.py"]
)
def test_the_next_line_works_as_printed(words: str, referee: Cli, tmp_path: Path) -> None:
    for name in ("javascript", "cpp"):
        need_language(name)
    (tmp_path / "sub").mkdir()
    done = referee("new", *shlex.split(words))
    assert done.returncode == 0, done.stderr
    (line,) = re.findall(r"^Next:  (.*)", done.stdout, re.MULTILINE)
    line = re.sub(r"\S+ -m referee|\S*__main__\.py", "referee", line)
    limit = "" if "maze" in line or "rectangle" in line else "--max-steps 30"
    played = subprocess.run(f"{line} --json --quiet {limit}", shell=True, cwd=tmp_path, env=SHELL, capture_output=True, text=True)
    assert played.returncode == 0, played.stderr
    assert '"kind"' not in played.stdout


REFUSED = [
    ("hunter there.py", "there already"),
    ("hunter link.py", "there already"),
    ("hunter pipe.py", "there already"),
    ("hunter full --folder", "not an empty folder"),
    ("hunter plain --folder", "not an empty folder"),
    ("hunter there.py --folder", "try --lang python and the folder 'there'"),
    ("hunter my.bot.cpp --folder", "try --lang cpp and the folder 'my.bot'"),
    ("hunter foo.py --folder --lang cpp", "--folder writes a folder"),
    ("hunter missing/bot.py", "does not exist"),
    ("huntr bot.py", "did you mean 'hunter'"),
    ("hunter bot.py --lang pyton", "did you mean 'python'"),
    ("hunter bot.py --lang cobol", "; there are python, "),
    ("hunter bot.xyz", "--lang"),
    ("hunter bot.py --lang go", "doesn't end in .go"),
    ("hunter bot.py --game maze", "; there are starters for thief, policeman"),
    ("hunter bot.py --game mace", "there is no game"),
    ("hunter bot.py --seat prey", "give one of them"),
    ("hunter bot.cc", "doesn't end in .cpp"),
    ("hunter 'a;b.py'", "can't be used"),
    ("hunter '..'", "can't be used"),
    ("'' bot.py", "no starter"),
    ("", "Name the seat"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=[words for words, _ in REFUSED])
def test_what_is_refused_changes_nothing(words: str, said: str, referee: Cli, tmp_path: Path) -> None:
    (tmp_path / "there.py").write_text("mine")
    (tmp_path / "plain").write_text("mine")
    (tmp_path / "link.py").symlink_to("nowhere.py")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "mine").write_text("mine")
    os.mkfifo(tmp_path / "pipe.py")
    before = sorted(tmp_path.rglob("*"))
    done = referee("new", *shlex.split(words), "--json")
    assert done.returncode == 2, done.stdout
    assert said in json.loads(done.stdout)["error"]
    assert sorted(tmp_path.rglob("*")) == before
    assert (tmp_path / "there.py").read_text() == "mine"


def test_a_language_that_is_not_there_is_named(referee: Cli, tmp_path: Path) -> None:
    done = referee("new", "prey", "bot.rs", env={"PATH": str(tmp_path)})
    assert done.returncode == 0
    assert done.stderr == "note: Rust needs rustc, which is not on the PATH.\n"
    assert (tmp_path / "bot.rs").exists()
    done = referee("new", "prey", "bot2.java", "--json", env={"PATH": str(tmp_path)})
    assert json.loads(done.stdout)["missing"] == ["javac", "java"]


def test_a_folder_that_can_not_be_written_whole_is_not_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.open

    def fail(path: Path, flags: int, *arguments: int, **options: int) -> int:
        if Path(path).name == "README.md":
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))
        return real(path, flags, *arguments, **options)

    monkeypatch.setattr(os, "open", fail)
    (tmp_path / "empty").mkdir()
    for name in ("new", "empty"):
        with pytest.raises(UsageError, match=r"README\.md' can't be written: No space left"):
            write.write_folder([choose("hunter", None)], LANGUAGES[0], str(tmp_path / name))
    assert list(tmp_path.rglob("*")) == [tmp_path / "empty"]


@pytest.mark.parametrize(("game", "roles"), [("evasion", ("hunter", "prey")), ("maze", ("thief", "policeman"))])
def test_a_team_is_a_folder_with_a_bot_for_each_seat(game: str, roles: tuple[str, str], referee: Cli, tmp_path: Path) -> None:
    done = referee("new", "team", "alpha", "--game", game, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["seat"], found["player"], found["folder"]) == ("team", "alpha", "alpha")
    assert {f"{role}.py" for role in roles} <= {path.name for path in (tmp_path / "alpha").iterdir()}
    duel = referee("duel", "--game", game, "alpha", "alpha", "--isolation", "none", "--quiet")
    assert duel.returncode == 0, duel.stderr
    again = referee("new", "team", "alpha", "--game", game)
    assert (again.returncode, "is not an empty folder" in again.stderr) == (2, True)


@pytest.mark.parametrize("name", [pytest.param(name, marks=[] if name in ("python", "cpp") else pytest.mark.slow) for name in NAMES])
def test_a_new_team_of_every_language_plays_and_passes_its_tests(name: str, referee: Cli, tmp_path: Path) -> None:
    need_language(name)
    record = json.loads(referee("new", "team", "alpha", "--lang", name, "--json").stdout)
    toml = (tmp_path / "alpha" / "bot.toml").read_text()
    assert ("[hunter]" in toml, "[prey]" in toml) == ("run = " in toml, "run = " in toml)
    for words in filter(None, (record["test"], *record["play"].split(" && "))):
        done = subprocess.run(words, shell=True, cwd=tmp_path, capture_output=True, text=True, env=SHELL)
        assert (done.returncode, "fault  " in done.stdout) == (0, False), done.stdout + done.stderr


def test_a_game_whose_seats_are_alike_has_one_bot_in_a_team(referee: Cli, tmp_path: Path) -> None:
    assert json.loads(referee("new", "team", "--game", "rectangle", "--json").stdout)["player"] == "team"
    assert (tmp_path / "team" / "bot.py").is_file()


def test_names_become_classes(referee: Cli, tmp_path: Path) -> None:
    for file, name in (("State.java", "StateBot"), ("1st.py", "Bot1st"), ("HunterBot.py", "HunterBotBot"), ("None.py", "NoneBot")):
        assert referee("new", "hunter", file).returncode == 0
        assert f"class {name}" in (tmp_path / file).read_text()


@pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.name)
def test_the_page_lists_each_language_with_its_commands(language: Language) -> None:
    page = Path(__file__).parents[3] / "docs" / "languages.md"
    (row,) = [line for line in page.read_text("utf-8").splitlines() if line.startswith(f"| `{language.name}` |")]
    build, run = language.commands(f"my_bot{language.suffix}", "MyBot")
    assert build in row
    player = f"my_bot{language.suffix}" if language.is_executable else shlex.quote(run).replace("'", '"')
    assert f"`referee play {player} evader`" in row


def test_the_bot_toml_of_the_page_is_the_one_that_is_written(referee: Cli, tmp_path: Path) -> None:
    page = (Path(__file__).parents[3] / "docs" / "languages.md").read_text("utf-8")
    assert referee("new", "hunter", "my_hunter", "--folder", "--lang", "java").returncode == 0
    written = (tmp_path / "my_hunter" / "bot.toml").read_text().splitlines()
    assert re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0].splitlines() == [line for line in written if not line.startswith("#")]
