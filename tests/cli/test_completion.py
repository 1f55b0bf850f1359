"""What the shell offers: the machinery of the real command, as bash, zsh and fish ask it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import play_match

from example_bots import BOTS
from referee import games

if TYPE_CHECKING:
    from collections.abc import Callable

#: The command under its own name, from which typer takes the name of the variable that a shell sets.
COMMAND = "import sys; sys.argv = ['referee']; from referee.__main__ import main; main()"


def ask(shell: str, line: str, folder: Path, **more: str) -> subprocess.CompletedProcess[str]:
    """Ask as the scripts of ``referee --show-completion`` do."""
    count = len(line.split()) - (not line.endswith(" "))
    words = {"COMP_WORDS": line, "COMP_CWORD": str(count)} if shell == "bash" else {"_TYPER_COMPLETE_ARGS": line}
    environment = {**os.environ, **words, "_REFEREE_COMPLETE": f"complete_{shell}", **more}
    return subprocess.run([sys.executable, "-c", COMMAND], cwd=folder, env=environment, capture_output=True, text=True, timeout=60)


#: Answers many lines: the imports are done once, and each line is answered by a child that is as a command of its own.
MANY = """
import gc, json, os, sys
import commands
commands.import_all()
gc.freeze()
from referee.__main__ import main
found = {}
for line in json.load(sys.stdin):
    outside, inside = os.pipe()
    if not os.fork():
        os.dup2(inside, 1)
        count = len(line.split()) - (not line.endswith(" "))
        os.environ |= {"COMP_WORDS": line, "COMP_CWORD": str(count), "_REFEREE_COMPLETE": "complete_bash"}
        sys.argv = ["referee"]
        try:
            main()
        except SystemExit as end:
            sys.stdout.flush()
            os._exit(end.code)
        os._exit(70)
    os.close(inside)
    with os.fdopen(outside) as file:
        found[line] = file.read().split("\\n")[:-1]
    os.wait()
print(json.dumps(found))
"""


def answer(lines: list[str], folder: Path) -> dict[str, list[str]]:
    """What bash is offered for each line."""
    folders = [str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, folders))}
    done = subprocess.run(
        [sys.executable, "-c", MANY], cwd=folder, env=environment, input=json.dumps(lines), capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return {line: [word for word in words if word] for line, words in json.loads(done.stdout).items()}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files that can be bots, others, and a replay."""
    here = tmp_path_factory.mktemp("folder")
    for name in ("boxes.py", "boat.js", "notes.txt", ".box.py.swp", "bo x.py"):
        (here / name).write_text("")
    (here / "boat.js").chmod(0o755)
    for name in ("bottle.js", "bo.java", "boat.rs", "bo.go", "Makefile.toml"):
        (here / name).write_text("")
    os.mkfifo(here / "box_pipe.py")
    (here / "bot_folder").mkdir()
    (here / "matches/replays").mkdir(parents=True)
    (here / "matches/first.toml").write_text("")
    replay = here / "matches/replays/g.replay.jsonl.gz"
    play_match("straight", "still", replay=replay, max_steps=3)
    shutil.copy(replay, here / "here.replay.jsonl.gz")
    shutil.copy(replay, here / "he re.replay.jsonl.gz")
    return here


REPLAY = "matches/replays/g.replay.jsonl.gz"
ISOLATION = ["auto", "strict", "limits", "none"]
CASES: list[tuple[str, list[str]]] = [
    ("referee play --game ", list(games.names())),
    ("referee play --game m", ["maze"]),
    ("referee games r", ["rectangle"]),
    ("referee bots --game e", ["evasion"]),
    ("referee play --rules ", list(games.info("evasion").rule_sets)),
    ("referee play --preset d", ["diagonal"]),
    ("referee play --game rectangle --rules ", list(games.info("rectangle").rule_sets)),
    ("referee play --game nothing --rules ", []),
    ("referee play --isolation ", ISOLATION),
    ("referee rerun --isolation ", ISOLATION),
    ("referee play --clock ", ["auto", "fair", "cpu", "wall"]),
    ("referee play --match ma", ["matches/first.toml"]),
    ("referee play bo", ["boxer", "boat.js", "bot_folder", "boxes.py"]),
    ("referee play boxer r", ["random", "runner"]),
    ("referee play boxer hu", ["human"]),
    ("referee play --game maze d", ["dasher"]),
    ("referee play --game maze dasher hard-", ["hard-manhattan"]),
    ("referee play --rules gameserver se", []),
    ("referee play matches/x", []),
    ("referee duel sur", ["surveyor"]),
    ("referee compare boxer sur", ["surveyor"]),
    ("referee check --seat ", ["hunter", "prey"]),
    ("referee check --seat prey gh", ["ghost"]),
    ("referee check boxer --seat h", ["hunter"]),
    ("referee verify ", ["here.replay.jsonl.gz", REPLAY]),
    ("referee show matches/", [REPLAY]),
    ("referee watch matches/replays/", [REPLAY]),
    ("referee watch /nowhere/", []),
    (f"referee rerun {REPLAY} boxer --seat ", ["hunter", "prey"]),
    ("referee rerun notes.txt boxer --seat p", ["prey"]),
    (f"referee debug {REPLAY} boxer --seat p", ["prey"]),
    ("referee play --from matches/", [REPLAY]),
    ("referee new h", ["hunter"]),
    ("referee new ", ["hunter", "prey", "thief", "policeman", "painter"]),
    ("referee new --seat p", ["prey", "policeman", "painter"]),
    ("referee new --game rectangle ", ["painter"]),
    ("referee new --game nothing ", []),
    # The shell completes these names itself, because nothing is offered.
    ("referee show ./he", []),
    ("referee play ./bo", []),
    ("referee new --game maze ", ["thief", "policeman"]),
    ("referee new --lang j", ["javascript", "java"]),
    ("referee explain malf", ["malformed"]),
    ("referee maze --difficulty ", ["easy", "hard", "hard-manhattan", "expert"]),
    ("referee serve ", ["architect", "gameserver"]),
    ("referee check", ["check"]),
]


def test_words_are_offered(folder: Path) -> None:
    found = answer([line for line, _ in CASES], folder)
    assert {line: sorted(words) for line, words in found.items()} == {line: sorted(wanted) for line, wanted in CASES}


def test_every_example_bot_is_offered_for_its_seats(tmp_path: Path) -> None:
    for game in games.names():
        names = ask("bash", f"referee play --game {game} ", tmp_path).stdout.split()
        first = games.get(game).seats(games.get(game).codec.settings(None, {}))[0]
        assert set(names) == {bot.name for bot in BOTS if bot.game == game and bot.plays(first)} | {"human"}


def test_zsh_gets_words_with_explanations_or_completes_files(folder: Path) -> None:
    done = ask("zsh", "referee play bo", folder)
    assert done.stdout.startswith("_arguments '*: :((")
    assert '"boxer":"cuts the prey' in done.stdout
    assert '"boxes.py":"file"' in done.stdout
    assert ask("zsh", "referee play matches/x", folder).stdout.strip() == "_files"


def test_fish_gets_words_with_explanations_or_completes_files(folder: Path) -> None:
    done = ask("fish", "referee play run", folder, _TYPER_COMPLETE_FISH_ACTION="get-args")
    assert done.stdout.strip() == ""
    done = ask("fish", "referee play boxer run", folder, _TYPER_COMPLETE_FISH_ACTION="get-args")
    assert done.stdout.startswith("runner\truns straight away")
    assert ask("fish", "referee play boxer run", folder, _TYPER_COMPLETE_FISH_ACTION="is-args").returncode == 0
    assert ask("fish", "referee play matches/x", folder, _TYPER_COMPLETE_FISH_ACTION="is-args").returncode == 1


def test_bash_itself_completes(folder: Path, tmp_path: Path) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("bash is missing")
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin" / "referee"
    program.write_text(f"#!{sys.executable}\nfrom referee.__main__ import main\nmain()\n")
    program.chmod(0o755)
    script = (
        'eval "$(_REFEREE_COMPLETE=source_bash referee)"\nCOMP_WORDS=(referee play boxer ev)\nCOMP_CWORD=3\n'
        '_referee_completion referee\nprintf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    environment = {**os.environ, "PATH": f"{program.parent}:{os.environ['PATH']}"}
    done = subprocess.run([bash, "--norc", "-c", script], cwd=folder, env=environment, capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("evader\n", "")


def test_the_page_names_the_options_that_install_it(referee: Callable[..., subprocess.CompletedProcess[str]]) -> None:
    page = (Path(__file__).parents[2] / "docs/playing.md").read_text()
    shown = referee("--help").stdout
    options = re.findall(r"^referee (--\S+)$", page, re.MULTILINE)
    assert options == ["--install-completion", "--show-completion"]
    assert all(option in shown for option in options)


def test_what_is_typed_loads_only_its_own_command(tmp_path: Path) -> None:
    """Nobody waits for the other commands, or for what draws and serves pages."""
    code = COMMAND.replace("main()", "import atexit; atexit.register(lambda: print(*sorted(sys.modules), file=sys.stderr)); main()")
    words = {"COMP_WORDS": "referee play bo", "COMP_CWORD": "2", "_REFEREE_COMPLETE": "complete_bash"}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env={**os.environ, **words}, capture_output=True, text=True, timeout=60
    )
    loaded = set(done.stderr.split())
    assert "boxer" in done.stdout.split()
    assert "referee.cli.play" in loaded
    assert (
        not {"referee.cli.grade", "referee.cli.league", "referee.match.loop", "referee.players.process", "numpy", "sqlalchemy", "starlette"}
        & loaded
    )
