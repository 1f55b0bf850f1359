"""What ``bot.toml`` may say, and what is said of what it may not."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest

from referee import games
from referee.errors import PlayerError
from referee.isolation.plan import bot_plan
from referee.players import bot_toml
from referee.players.names import resolve


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    made = tmp_path / "my_bot"
    made.mkdir()
    return made


def write(folder: Path, text: str | bytes, **files: str) -> Path:
    data = text if isinstance(text, bytes) else text.encode()
    (folder / "bot.toml").write_bytes(data)
    for name, content in files.items():
        (folder / name).write_text(content)
        (folder / name).chmod(0o755)
    return folder


def test_a_program_on_the_path_runs_in_the_folder(folder: Path) -> None:
    write(folder, "run = \"sh -c 'echo hello' more\"")
    program = resolve("my_bot", "prey", "evasion")
    assert os.path.isabs(program.argv[0])
    assert program.argv == bot_plan(program).inside == (program.argv[0], "-c", "echo hello", "more")
    assert program.folder == str(folder)
    assert not program.build


def test_a_file_in_the_folder_runs_by_its_path_in_the_sandbox(folder: Path) -> None:
    write(folder, 'run = "./play --fast"', play="#!/bin/sh\n")
    program = resolve("my_bot", "prey", "evasion")
    assert program.argv == (f"{folder}/play", "--fast")
    assert bot_plan(program).inside == ("/bot/play", "--fast")
    # The file may be named without "./" unless a program on the PATH has its name.
    write(folder, 'run = "play"')
    assert bot_plan(resolve("my_bot", "prey", "evasion")).inside == ("/bot/play",)


def test_a_python_file_runs_on_the_referees_python(folder: Path) -> None:
    write(folder, 'run = "./play.py 7"', **{"play.py": "pass"})
    program = resolve("my_bot", "prey", "evasion")
    assert program.argv == (sys.executable, f"{folder}/play.py", "7")
    assert bot_plan(program).inside == (sys.executable, "/bot/play.py", "7")


def test_a_seat_can_have_commands_of_its_own(folder: Path) -> None:
    write(folder, 'build = "sh all"\nrun = "./both"\n[hunter]\nrun = "./one"\n[prey]\nbuild = "sh it"\n')
    hunter, prey = (resolve("my_bot", seat, "evasion") for seat in ("hunter", "prey"))
    assert (bot_plan(hunter).inside, hunter.build[1:]) == (("/bot/one",), ("all",))
    assert (bot_plan(prey).inside, prey.build[1:]) == (("/bot/both",), ("it",))


def test_without_run_the_program_is_found_by_its_name(folder: Path) -> None:
    write(folder, 'build = "sh -c true"', **{"hunter.py": "pass"})
    program = resolve("my_bot", "hunter", "evasion")
    assert bot_plan(program).inside == (sys.executable, "/bot/hunter.py")
    assert program.build[1:] == ("-c", "true")
    # An empty file says nothing, and is not itself the program "bot.*".
    write(folder, "")
    spec = resolve("my_bot", "hunter", "evasion")
    assert not spec.build
    assert spec.about["file"] == "hunter.py"


def test_the_hash_is_that_of_the_whole_folder(folder: Path) -> None:
    write(folder, 'run = "./play"', play="#!/bin/sh\n")
    first = resolve("my_bot", "prey", "evasion").about
    assert first["file"] == "my_bot"
    (folder / "__pycache__").mkdir()
    (folder / "__pycache__" / "x.pyc").write_text("x")
    assert resolve("my_bot", "prey", "evasion").about == first
    (folder / "map.txt").write_text("x")
    second = resolve("my_bot", "prey", "evasion").about["sha256"]
    assert second != first["sha256"]
    (folder / "map.txt").chmod(0o755)
    assert resolve("my_bot", "prey", "evasion").about["sha256"] not in (first["sha256"], second)


def test_a_dialect_gets_its_words(folder: Path) -> None:
    write(folder, 'run = "./play --port"', play="#!/bin/sh\n")
    assert bot_plan(resolve("architect: my_bot {port}", "hunter", "evasion")).inside == ("/bot/play", "--port", "{port}")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
@pytest.mark.parametrize(
    "run",
    [
        "'.\\bin\\go --fast'",
        '".\\\\bin\\\\go --fast"',
        '"bin/go --fast"',
    ],
)
def test_it_may_be_written_as_on_windows(folder: Path, run: str, encoding: str) -> None:
    (folder / "bin").mkdir()
    write(folder, f"# é\r\nrun = {run}\r\n".encode(encoding), **{"bin/go": "#!/bin/sh\n"})
    assert bot_plan(resolve("my_bot", "prey", "evasion")).inside == ("/bot/bin/go", "--fast")


def test_backslashes_in_quotes_are_those_of_the_command(folder: Path) -> None:
    write(folder, r"""run = 'sh -c "echo \$HOME a\b" x'""")
    assert bot_plan(resolve("my_bot", "prey", "evasion")).inside[1:] == ("-c", r"echo \$HOME a\b", "x")


@pytest.mark.parametrize("name", ["Bot.toml", "BOT.TOML", "bot.toml.txt", "Bot.TOML.txt", "bot.toml.toml"])
def test_a_file_that_is_meant_to_be_it_is_named(folder: Path, name: str) -> None:
    (folder / name).write_text('run = "sh"')
    (folder / "main.py").write_text("")
    with pytest.raises(PlayerError, match=f"has a file '{name}', which must be called bot.toml; rename it."):
        resolve("my_bot", "prey", "evasion")
    write(folder, 'run = "sh"')
    assert resolve("my_bot", "prey", "evasion").argv[0].endswith("sh")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("build = 'make'\nrun 3", "that is not TOML: Expected '=' after a key in a key/value pair (at line 2, column 5)"),
        (b'run = "\xff"', "that is not UTF-8 (at line 1); save it in the encoding UTF-8."),
        ('run = "sh"'.encode("utf-16-le"), "that has null characters, as text in UTF-16 does; save it in the encoding UTF-8."),
        ('run = ".\\\\bin\\run.sh"', 'with a single backslash in double quotes, in the line run = ".\\\\bin\\run.sh"; write / between'),
        ('rules = ["classic"]\r\n  build="sh tools\\build.sh" # x\r\n', 'in the line build="sh tools\\build.sh" # x; write /'),
        ('biuld = "make"', "with an unknown key 'biuld'; did you mean 'build'?"),
        ('time = 600\nrun = "sh"', "with an unknown key 'time'; there are build, run, rules."),
        ("[limits]\nbuild_seconds = 9999", "with an unknown table 'limits'; a table has the name of a seat: there are prey, hunter"),
        ('[hnter]\nrun = "sh"', "with an unknown table 'hnter'; a table has the name of a seat: did you mean 'hunter'?"),
        ('[hunter]\nbuidl = "sh"', "with an unknown key 'hunter.buidl'; did you mean 'build'?"),
        ("[hunter]\nrun = 3", "with a wrong 'hunter.run', 3: it must be a command line in quotes"),
        ('build = ["gcc", "bot.c"]', "with a wrong 'build', ['gcc', 'bot.c']: it must be a command line in quotes"),
        ("[build]\nrun = 'sh'", "with a wrong 'build', {'run': 'sh'}: it must be"),
        ("run = true", "with a wrong 'run', True: it must be"),
        ('run = ""', "with a wrong 'run': it is empty"),
        ("run = \"''\"", "with a wrong 'run': it is empty"),
        ('run = "sh \'a"', "with a wrong 'run', 'sh 'a': it has a quote that is never closed."),
        ('run = "sh \\u0000"', "with a wrong 'run': a command line has at most 4,000 characters and no null character."),
        (f'run = "{"x" * 4001}"', "with a wrong 'run': a command line has at most 4,000 characters"),
        ('build = "cd src && make"', "no shell reads it, so '&&' has no meaning; put the commands into a script, such as build.sh."),
        ('run = "cd src"', "so 'cd' has no meaning"),
        ("run = \u201cpython3 bot.py\u201d", 'write straight quotes (") in place of typographic ones.'),
        ("#" * 70_000, "of more than 64 KiB"),
        ("a" * 3000 + "." * 3000, "that is not TOML"),
        ("[" * 50_000, "that is not TOML"),
        ('run = "/bin/sh"', "whose 'run' starts with '/bin/sh', which is outside the folder"),
        ('run = "../other/bot"', "whose 'run' starts with '../other/bot', which is outside the folder"),
        ('run = "./x/../../bot"', "whose 'run' starts with './x/../../bot', which is outside the folder"),
        ('run = "~/bot"', "whose 'run' starts with '~/bot', which is outside the folder"),
        ('run = "./nothing"', "whose 'run' starts with './nothing', which is no file in the folder."),
        ('run = "nothing-here"', "which is no program on the PATH and no file in the folder."),
        ('run = "./bot.toml"', "is not executable; try: chmod +x my_bot/bot.toml"),
        ('build = "./nothing"\nrun = "./x"', "whose 'build' starts with './nothing', which is no file in the folder."),
        ('build = "true"', 'there should be prey.*, main.* or bot.* in it, or a line in its bot.toml: run = "./prey".'),
    ],
)
def test_each_mistake_has_its_own_sentence(folder: Path, text: str | bytes, told: str) -> None:
    write(folder, text)
    with pytest.raises(PlayerError) as caught:
        resolve("my_bot", "prey", "evasion")
    said = str(caught.value)
    assert said.startswith("The prey 'my_bot' ")
    assert told in said
    assert said.isprintable()


def test_what_the_file_may_be(folder: Path, tmp_path: Path) -> None:
    os.mkfifo(folder / "bot.toml")
    with pytest.raises(PlayerError, match=r"has a bot\.toml that is not an ordinary file"):
        resolve("my_bot", "prey", "evasion")
    (folder / "bot.toml").unlink()
    (folder / "bot.toml").mkdir()
    with pytest.raises(PlayerError, match=r"has a bot\.toml that is not an ordinary file"):
        resolve("my_bot", "prey", "evasion")
    (folder / "bot.toml").rmdir()
    (tmp_path / "other.toml").write_text('run = "sh"')
    (folder / "bot.toml").symlink_to(tmp_path / "other.toml")
    with pytest.raises(PlayerError, match=r"has a bot\.toml outside its folder"):
        resolve("my_bot", "prey", "evasion")


def test_a_program_may_not_be_a_link_that_leaves_the_folder(folder: Path) -> None:
    write(folder, 'run = "./play"')
    (folder / "play").symlink_to("/bin/sh")
    with pytest.raises(PlayerError, match="a link that leaves the folder"):
        resolve("my_bot", "prey", "evasion")


def test_a_missing_program_is_named(folder: Path) -> None:
    write(folder, 'build = "no-such-compiler bot"\nrun = "./x"')
    with pytest.raises(PlayerError, match=r"'no-such-compiler', which is no program on the PATH and no file in the folder\.$"):
        resolve("my_bot", "prey", "evasion")
    with pytest.raises(PlayerError, match=r"'no-such-compiler', which is no program on the PATH and no file\.$"):
        resolve("no-such-compiler bot.x", "prey", "evasion")


def test_seats_of_all_games_are_known(folder: Path) -> None:
    write(folder, "[a]\nrun = 'sh'\n[d]\nrun = 'sh'\n[thief]\nrun = 'sh'\n[prey]\nrun = 'sh -x'\n")
    found = bot_toml.read(folder, "prey", "The prey 'my_bot'")
    assert found is not None
    assert found.run == ("sh", "-x")


def test_a_bot_is_refused_under_rules_that_it_does_not_name(folder: Path) -> None:
    evasion = games.get("evasion")
    classic, gameserver = (evasion.codec.settings(rules, {}) for rules in ("classic", "gameserver"))
    write(folder, 'run = "sh bot.sh"\nrules = ["classic", "diagonal"]\n[prey]\nrules = ["gameserver"]')
    assert resolve("my_bot", "hunter", "evasion", classic).argv[1:] == ("bot.sh",)
    with pytest.raises(
        PlayerError, match=r"plays the rules classic and diagonal, as its bot.toml says, not gameserver; try: --rules classic"
    ):
        resolve("my_bot", "hunter", "evasion", gameserver)
    assert resolve("my_bot", "prey", "evasion", gameserver)
    with pytest.raises(PlayerError, match="plays the rules gameserver"):
        resolve("my_bot", "prey", "evasion", classic)
    # Which rules will be played isn't known everywhere.
    assert resolve("my_bot", "hunter", "evasion")


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('rules = "classic"', "a wrong 'rules', 'classic': it must be a list of rule sets, such as"),
        ("rules = []", "a wrong 'rules', []: it must be a list"),
        ("rules = [1]", "a wrong 'rules', [1]: it must be a list"),
        ('rules = ["clasic"]', "whose 'rules' has the rule set 'clasic', which no game has; did you mean 'classic'?"),
        ('[prey]\nrules = ["no"]', "whose 'prey.rules' has the rule set 'no', which no game has; there are classic"),
    ],
)
def test_what_rules_may_be_is_said(line: str, said: str, folder: Path) -> None:
    write(folder, f'run = "sh"\n{line}')
    with pytest.raises(PlayerError, match=re.escape(said)):
        resolve("my_bot", "prey", "evasion")
