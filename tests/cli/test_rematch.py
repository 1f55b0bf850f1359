"""referee play --watch, as an author uses it: real bots, real changes of their files, and lines that are waited for."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from serving import PATIENCE

from referee.author.bot_watcher import files_of, folders_of
from referee.author.watch_mode import KEPT
from referee.players.spec import resolve

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commands import Commands, Running

    Cli = Callable[..., subprocess.CompletedProcess[str]]

STAY = "from sdk import PreyBot\nclass Stay(PreyBot):\n    def flee(self, state):\n        return None\nStay.main()\n"
FLEE = STAY.replace("return None", "return (1, 1)")
#: Short matches without a sandbox: it is proved elsewhere.
SHORT = ("--max-steps", "30", "--isolation", "none")


def save(path: Path, text: str) -> None:
    """Write a file as many editors do: under another name, which then takes the place of the old one."""
    other = path.with_name(f".{path.name}.new")
    other.write_text(text)
    other.replace(path)


class Screen:
    """A command that runs, line by line."""

    def __init__(self, process: Running) -> None:
        self.process = process
        self._lines: dict[str, queue.SimpleQueue[str | None]] = {"stdout": queue.SimpleQueue(), "stderr": queue.SimpleQueue()}
        self._readers = [threading.Thread(target=self._read, args=(name,), daemon=True) for name in self._lines]
        for reader in self._readers:
            reader.start()

    def _read(self, name: str) -> None:
        for line in getattr(self.process, name):
            self._lines[name].put(line.rstrip("\n"))
        self._lines[name].put(None)

    def line(self, name: str = "stdout") -> str:
        """The next line."""
        found = self._lines[name].get(timeout=PATIENCE)
        assert found is not None, "the command has ended"
        return found

    def wait_for(self, words: str, name: str = "stderr") -> str:
        """The next line with these words."""
        while words not in (line := self.line(name)):
            pass
        return line

    def told(self) -> dict[str, Any]:
        """The next line, which is JSON."""
        found: dict[str, Any] = json.loads(self.line())
        return found

    def interrupt(self) -> list[str]:
        """Press Ctrl-C; the rest of stdout."""
        self.process.send_signal(signal.SIGINT)
        rest = []
        while (line := self._lines["stdout"].get(timeout=PATIENCE)) is not None:
            rest.append(line)
        assert self.process.wait(PATIENCE) == 130
        return rest

    def close(self) -> None:
        """End it."""
        self.process.kill()
        for reader in self._readers:
            reader.join(PATIENCE)
        self.process.communicate(PATIENCE)


@pytest.fixture
def watch(commands: Commands, tmp_path: Path) -> Iterator[Callable[..., Screen]]:
    """Starts ``referee play --watch`` and ends what is left of it."""
    screens: list[Screen] = []

    def start(*words: str | Path) -> Screen:
        screens.append(Screen(commands.start("play", *words, "--watch", cwd=tmp_path)))
        return screens[-1]

    yield start
    for screen in screens:
        screen.close()


def test_a_change_plays_again_and_tells_the_difference(watch: Callable[..., Screen], tmp_path: Path) -> None:
    prey = tmp_path / "prey.py"
    prey.write_text(STAY)
    screen = watch("straight", "prey.py", "--seed", "5", "--isolation", "none", "--prey", "40,40", "--max-steps", "60")
    assert "seed 5" in screen.line("stderr")
    first = screen.line()
    assert first.startswith("  1  hunter Straight wins (caught)  ")
    assert "  hunter 0." in first
    assert first.endswith("-straight-prey.replay.jsonl.gz")
    save(prey, FLEE)
    second = screen.line()
    assert second.startswith("  2  prey Stay wins (evaded)  60 steps  [prey now wins, +")
    rest = screen.interrupt()
    assert rest[1].startswith("2 matches: hunter won 1, prey won 1; ")
    assert rest[1].endswith(" to 60 steps")
    assert "Next: " in rest[2]


def test_a_fault_of_the_author_is_a_line_and_the_next_change_plays(watch: Callable[..., Screen], tmp_path: Path) -> None:
    prey = tmp_path / "prey.py"
    prey.write_text(STAY + ")")
    screen = watch("straight", "prey.py", *SHORT)
    line = screen.line()
    assert line.startswith("  1  no match: The prey (prey.py) exited with status 1: SyntaxError")
    prey.unlink()
    assert screen.line().startswith("  2  no match: The prey 'prey.py' does not exist")
    save(prey, STAY)
    third = screen.line()
    assert third.startswith("  3  prey Stay wins (evaded)  30 steps  ")
    assert "[" not in third, "there is no match to compare with"
    assert screen.interrupt()[1] == "1 match: prey won 1; 30 to 30 steps; 2 not played"


def test_a_match_that_could_not_be_played_has_no_result_in_json(watch: Callable[..., Screen], tmp_path: Path) -> None:
    prey = tmp_path / "prey.py"
    prey.write_text(STAY + ")")
    screen = watch("straight", "prey.py", "--json", *SHORT)
    told = screen.told()
    assert told.pop("error").startswith("The prey (prey.py) exited with status 1: SyntaxError")
    assert told == {"number": 1, "changed": [], "exit_code": 3}
    prey.write_bytes(b"\0\1\2")
    told = screen.told()
    assert told.pop("error")
    assert told == {"number": 2, "changed": ["prey.py"], "exit_code": told["exit_code"]}
    assert told["exit_code"] in (2, 3)
    (rest,) = screen.interrupt()
    assert json.loads(rest)["summary"] | {"seconds": 0} == {
        "played": 0, "stopped": 0, "failed": 2, "won": {}, "least_steps": None, "most_steps": None, "seconds": 0,
    }  # fmt: skip


def test_json_is_one_object_a_line(watch: Callable[..., Screen], tmp_path: Path) -> None:
    (tmp_path / "prey.py").write_text("import helper\n" + STAY)
    (tmp_path / "helper.py").write_text("")
    (tmp_path / "notes.py").write_text("")
    screen = watch("straight", "prey.py", "--json", *SHORT)
    first = screen.told()
    assert (first["number"], first["steps"], first["changed"], first["change"]) == (1, 30, [], None)
    (tmp_path / "notes.py").write_text("# no part of the bot\n")
    (tmp_path / ".helper.py.swp").write_text("an editor's")
    save(tmp_path / "helper.py", "x = 1\n")
    second = screen.told()
    assert (second["number"], second["changed"]) == (2, ["helper.py"])
    assert second["change"] == {"winner": False, "reason": False, "steps": 0, "scores": {}}
    assert second["seed"] == first["seed"]
    assert second["replay"] != first["replay"]
    (last,) = screen.interrupt()
    summary = json.loads(last)["summary"]
    assert {key: summary[key] for key in ("played", "stopped", "failed", "won")} == {
        "played": 2,
        "stopped": 0,
        "failed": 0,
        "won": {"prey": 2},
    }


def test_a_change_during_a_match_ends_it_and_leaves_no_file(watch: Callable[..., Screen], tmp_path: Path) -> None:
    prey = tmp_path / "prey.py"
    prey.write_text(STAY.replace("return None", "import sys, signal; print('waits', file=sys.stderr); signal.pause()"))
    screen = watch("straight", "prey.py", "--stderr", "--move-time", "none", "--bank", "none", *SHORT)
    assert re.fullmatch(r"prey \d+\| waits", screen.wait_for("waits"))
    save(prey, STAY)
    assert screen.line().startswith("  1  stopped at step ")
    second = screen.line()
    assert second.startswith("  2  prey Stay wins (evaded)")
    assert [str(path.relative_to(tmp_path)) for path in (tmp_path / "matches/replays").iterdir()] == [second.split("  ")[-1]]
    assert screen.interrupt()[1] == "1 match: prey won 1; 30 to 30 steps; 1 stopped"


@pytest.mark.skipif(os.geteuid() == 0, reason="root's bots can't write beside themselves")
def test_what_a_bot_writes_itself_does_not_play_again(watch: Callable[..., Screen], tmp_path: Path) -> None:
    folder = tmp_path / "team"
    folder.mkdir()
    main = folder / "prey.py"
    main.write_text("open('memory.txt', 'a').write('more')\n" + STAY)
    screen = watch("straight", "team", "--json", *SHORT)
    assert screen.told()["number"] == 1
    assert "team/memory.txt changed during the match" in screen.wait_for("note: ")
    (folder / "new").mkdir()
    (folder / "new" / "part.py").write_text("")
    found = screen.told()
    assert (found["number"], found["changed"]) == (2, ["team/new/part.py"])
    save(folder / "new" / "part.py", "x = 1\n")
    found = screen.told()
    assert (found["number"], found["changed"]) == (3, ["team/new/part.py"])
    screen.interrupt()


def test_a_folder_with_a_build_is_built_again(watch: Callable[..., Screen], tmp_path: Path) -> None:
    folder = tmp_path / "team"
    folder.mkdir()
    (folder / "bot.toml").write_text('build = "cp source.txt made.py"\nrun = "python3 made.py"\n')
    source = folder / "source.txt"
    bot = (
        'import sys\nprint(\'{"type": "ready", "protocol": 1, "name": "First"}\', flush=True)\nimport json\n'
        "for line in sys.stdin:\n    question = json.loads(line)\n    if question['type'] == 'turn':\n"
        "        print(json.dumps({'type': 'move', 'turn': question['turn'], 'move': {}}), flush=True)\n"
    )
    source.write_text(bot.replace("import sys\n", "import sys; sys.stdin.readline()\n"))
    screen = watch("straight", "team", "--json", *SHORT)
    assert screen.told()["players"]["prey"]["name"] == "First"
    save(source, bot.replace("First", "Second").replace("import sys\n", "import sys; sys.stdin.readline()\n"))
    found = screen.told()
    assert (found["number"], found["changed"], found["players"]["prey"]["name"]) == (2, ["team/source.txt"], "Second")
    save(folder / "bot.toml", 'build = "false"\nrun = "python3 made.py"\n')
    found = screen.told()
    assert (found["number"], found["changed"]) == (3, ["team/bot.toml"])
    assert "The prey (team) can't be built: 'false' ended with exit status 1" in found["error"]
    screen.interrupt()


def test_a_signal_that_does_not_wake_the_wait_ends_it() -> None:
    # The kernel may give a signal to any thread, or just before the main thread waits; neither wakes it.
    code = (
        "import signal, sys, threading, traceback\nfrom referee.author.bot_watcher import BotWatcher\n"
        # A shell starts what it runs in the background with this signal ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "main = threading.get_ident()\n"
        "def place():\n    return [frame.f_lasti for frame, _ in traceback.walk_stack(sys._current_frames()[main])]\n"
        "def interrupt():\n"
        "    seen, times = [], 0\n"
        "    while times < 2000:\n"
        "        now = place()\n        times = times + 1 if now == seen and len(now) > 3 else 0\n        seen = now\n"
        "    signal.pthread_kill(threading.get_ident(), signal.SIGINT)\n"
        "watcher, thread = BotWatcher([]), threading.Thread(target=interrupt)\n"
        "try:\n    thread.start()\n    watcher.wait()\nexcept KeyboardInterrupt:\n    print('interrupted')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=PATIENCE)
    assert (done.stdout, done.stderr) == ("interrupted\n", "")


def test_the_latest_replays_are_kept(watch: Callable[..., Screen], tmp_path: Path) -> None:
    prey = tmp_path / "prey.py"
    prey.write_text(STAY)
    screen = watch("straight", "prey.py", "--json", "--max-steps", "3", "--isolation", "none")
    replays = [screen.told()["replay"]]
    for number in range(KEPT + 1):
        save(prey, f"{STAY}# {number}\n")
        replays.append(screen.told()["replay"])
    screen.interrupt()
    assert {f"matches/replays/{path.name}" for path in (tmp_path / "matches/replays").iterdir()} == set(replays[-KEPT:])


def test_several_games_are_played_one_after_another_at_each_change(watch: Callable[..., Screen], tmp_path: Path) -> None:
    prey = tmp_path / "prey.py"
    prey.write_text(STAY)
    screen = watch("straight", "prey.py", "--json", "--games", "3", "--seed", "1", *SHORT)
    first = [screen.told() for _ in range(3)]
    assert [(one["number"], one["game_number"], one["games"], one["change"]) for one in first] == [(at, at, 3, None) for at in (1, 2, 3)]
    assert len({one["seed"] for one in first}) == 3
    save(prey, FLEE)
    again = [screen.told() for _ in range(3)]
    assert [(one["number"], one["game_number"], one["changed"]) for one in again] == [(4, 1, ["prey.py"]), (5, 2, []), (6, 3, [])]
    assert [one["seed"] for one in again] == [one["seed"] for one in first]
    assert all(one["change"] is not None for one in again)
    assert len({one["replay"] for one in first + again}) == 6
    screen.interrupt()


REFUSED = [
    (["human", "still", "--watch"], "--watch plays by itself at every change"),
    (["straight", "still", "--watch", "--games", "3", "--slots", "2"], "--slots plays games at the same time; with --live and --watch"),
    (["straight", "still", "--live", "--pace", "wait"], "--pace wait is for a match with a person"),
    (["human", "still", "--live", "--games", "2"], "A person plays one game at a time"),
    (["straight", "still", "--watch", "--live"], "--watch plays again and again and serves no page; it can't be used with --live"),
    (["straight", "missing.py", "--watch"], "The prey 'missing.py' does not exist"),
    (["straight", "still", "--stderr", "--games", "3"], "--stderr shows one match"),
]


@pytest.mark.parametrize(("words", "said"), REFUSED, ids=[" ".join(words) for words, _ in REFUSED])
def test_what_makes_no_sense_is_refused(words: list[str], said: str, referee: Cli) -> None:
    done = referee("play", *words)
    assert done.returncode == 2
    assert said in done.stderr


def test_without_watchfiles_the_message_says_what_to_install(tmp_path: Path) -> None:
    code = (
        "import sys\nimport importlib.util as u; real = u.find_spec\n"
        "u.find_spec = lambda name, *rest: None if name == 'watchfiles' else real(name, *rest)\n"
        "sys.argv = ['referee', *sys.argv[1:]]\nfrom referee.__main__ import main\nmain()\n"
    )
    command = [sys.executable, "-c", code, "play", "straight", "still", "--watch"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 2
    assert "referee play --watch needs watchfiles; install what is missing: " in done.stderr
    assert done.stderr.rstrip().removesuffix(".").endswith("-m pip install watchfiles")


def files(tmp_path: Path, name: str) -> set[str]:
    return {str(path.relative_to(tmp_path)) for path in files_of(resolve(name, "prey", "evasion").program)}


def test_the_files_of_a_bot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in {
        "bot.py": "import os, helper as h\nfrom pack.inner import x\nimport other.thing; )(\n",
        "helper.py": "from . import nothing\nimport deep\n",
        "deep.py": "import bot\n",
        "unused.py": "",
        "pack/__init__.py": "",
        "pack/inner.py": "import shared\n",
        "pack/__pycache__/inner.cpython-311.pyc": "",
        "shared.py": "",
        "bot.js": "",
        "util.js": "",
        "bot.jar": "",
        "team/prey.py": "",
        "team/data/weights.json": "",
        "team/game.replay.jsonl.gz": "",
        "team/bot.log": "",
        "team/.prey.py.swp": "",
        "team/prey.py~": "",
        "team/#prey.py#": "",
        "team/4913": "",
        "team/__pycache__/x.pyc": "",
        "team/.git/index": "",
        "team/node_modules/a/index.js": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert files(tmp_path, "bot.py") == {"bot.py", "helper.py", "deep.py", "pack/__init__.py", "pack/inner.py", "shared.py"}
    assert files(tmp_path, "sh bot.js") == {"bot.js", "util.js"}
    assert files(tmp_path, "sh -x bot.jar bot.js") == {"bot.jar", "bot.js", "util.js"}
    assert files(tmp_path, "team") == {"team/prey.py", "team/data/weights.json"}
    folders = folders_of(resolve("team", "prey", "evasion").program)
    assert {str(path.relative_to(tmp_path)) for path in folders} == {"team", "team/data"}


def test_replays_below_a_bot_that_is_the_whole_folder_are_ignored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "matches/replays").mkdir(parents=True)
    (tmp_path / "matches/replays/notes.txt").write_text("")
    (tmp_path / "prey.py").write_text("")
    assert files(tmp_path, ".") == {"prey.py"}
