"""What of the machine is shown to a bot, and programs of other languages."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import venv
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from sandboxes import Options, Planted, match_between, need

from referee import games
from referee.errors import PlayerError, StartError
from referee.isolation import bubblewrap, plan, runtime
from referee.isolation.plan import needs, variant_for
from referee.players.names import resolve
from referee.replay.reader import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from referee.isolation.level import Level
    from referee.replay.events import MatchResult

    Cli = Callable[..., subprocess.CompletedProcess[str]]


def test_a_virtual_environment_brings_its_python(tmp_path: Path) -> None:
    made = tmp_path / "env"
    venv.create(made, symlinks=True)
    shown = runtime.needs(str(made / "bin" / "python"))
    assert str(made) in shown
    base = Path(sys.base_prefix).resolve()
    assert base == Path("/usr") or any(base.is_relative_to(path) for path in shown)


def test_a_program_in_somebodys_bin_shows_itself_alone(tmp_path: Path) -> None:
    tool = tmp_path / "bin" / "tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\n")
    (tmp_path / "secret").write_text("")
    assert runtime.needs(str(tool)) == (str(tool),)


@pytest.mark.parametrize("mark", ["release", "lib/node_modules", "conda-meta"])
def test_a_runtime_is_shown_whole(mark: str, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    (tmp_path / mark).mkdir(parents=True)
    assert runtime.needs(str(tmp_path / "bin" / "node")) == (str(tmp_path),)


def test_links_on_the_way_are_shown_too(tmp_path: Path) -> None:
    (tmp_path / "real" / "bin").mkdir(parents=True)
    (tmp_path / "real" / "release").touch()
    (tmp_path / "real" / "bin" / "java").touch()
    (tmp_path / "short").mkdir()
    (tmp_path / "short" / "java").symlink_to(tmp_path / "real" / "bin" / "java")
    assert set(runtime.needs(str(tmp_path / "short" / "java"))) == {str(tmp_path / "short" / "java"), str(tmp_path / "real")}


def test_nothing_of_the_system_is_named() -> None:
    assert runtime.needs("/usr/bin/env") == ()


def test_the_sdk_is_shown_and_nothing_beside_it() -> None:
    shown = needs(plan.bot_plan(resolve("boxer", "hunter", "evasion")))
    packages = [path for path in shown if Path(path).name in ("sdk", "referee")]
    assert len(packages) == 2
    if "site-packages" in packages[0]:
        pytest.skip("the referee is installed from a wheel, in the environment that bots run in")
    assert not any(Path(path) in Path(packages[0]).parents for path in shown)


def play(text: str, isolation: Level, seat: str = "hunter") -> MatchResult:
    players = {"hunter": "straight", "prey": "still", seat: text}
    bots = {name: resolve(player, name, "evasion") for name, player in players.items()}
    game = games.get("evasion")
    options = Options(Options().time.replace(startup=60.0, move=20.0), isolation=isolation)
    return match_between(game, game.codec.settings("classic", {"max_steps": 20}), bots, options, seed=1).run()


NODE = """
const readline = require("node:readline");
const { move } = require("./moves.js");
readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const message = JSON.parse(line);
  if (message.type === "start") console.log(JSON.stringify({ type: "ready", protocol: 1, name: "Node" }));
  else if (message.type === "turn") console.log(JSON.stringify({ type: "move", turn: message.turn, move: move() }));
  else process.exit(0);
});
"""
JAVA = """
import java.util.Scanner;
public class Bot {
  public static void main(String[] arguments) {
    Scanner in = new Scanner(System.in);
    while (in.hasNextLine()) {
      String line = in.nextLine();
      long most = Runtime.getRuntime().maxMemory() >> 20;
      if (line.contains("\\"type\\":\\"start\\"")) System.out.println("{\\"type\\":\\"ready\\",\\"protocol\\":1,\\"name\\":\\"" + most + " MiB\\"}");
      else if (line.contains("\\"type\\":\\"turn\\"")) {
        String turn = line.split("\\"turn\\":")[1].split("[,}]")[0];
        System.out.println("{\\"type\\":\\"move\\",\\"turn\\":" + turn + ",\\"move\\":{}}");
      } else return;
      System.out.flush();
    }
  }
}
"""
C = r"""
#include <stdio.h>
#include <string.h>
#include <stdlib.h>
int main(void) {
  static char line[1 << 20];
  while (fgets(line, sizeof line, stdin)) {
    char *turn = strstr(line, "\"turn\":");
    if (strstr(line, "\"type\":\"start\"")) puts("{\"type\":\"ready\",\"protocol\":1,\"name\":\"C\"}");
    else if (strstr(line, "\"type\":\"turn\"")) printf("{\"type\":\"move\",\"turn\":%d,\"move\":{}}\n", atoi(turn + 7));
    else return 0;
    fflush(stdout);
  }
}
"""


def test_a_folder_in_javascript(isolation: Level, tmp_path: Path) -> None:
    need(shutil.which("node") is not None, "node is missing")
    bot = tmp_path / "node bot"
    bot.mkdir()
    (bot / "bot").write_text("#!/usr/bin/env node\n" + NODE)
    (bot / "bot").chmod(0o755)
    (bot / "moves.js").write_text("exports.move = () => ({});\n")
    result = play(str(bot), isolation)
    assert not result.faults, result.faults
    assert result.names["hunter"] == "Node"


def test_a_command_line_in_java(isolation: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its heap fits into the bot's memory limit."""
    need(shutil.which("javac") is not None, "javac is missing")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Bot.java").write_text(JAVA)
    subprocess.run(["javac", "-d", "classes", "Bot.java"], check=True)
    result = play("java -cp classes:. Bot", isolation)
    assert not result.faults, result.faults
    # Three quarters of the bot's limit, by whatever collector of garbage.
    assert 360 <= int(result.names["hunter"].removesuffix(" MiB")) <= 384


def test_an_executable_plays_in_the_sandbox(isolation: Level, tmp_path: Path) -> None:
    need(shutil.which("gcc") is not None, "gcc is missing")
    (tmp_path / "bot.c").write_text(C)
    subprocess.run(["gcc", "-o", tmp_path / "bot", tmp_path / "bot.c"], check=True)
    result = play(str(tmp_path / "bot"), isolation)
    assert not result.faults, result.faults
    assert result.names["hunter"] == "C"


def test_a_command_line_finds_its_files_inside(best: Level, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "moves.txt").write_text("moves")
    (tmp_path / "secret.txt").write_text("secret")
    (tmp_path / "bot.py").write_text(
        "import sys\nfrom pathlib import Path\nfrom sdk import HunterBot\n"
        "assert Path(sys.argv[1].partition('=')[2]).read_text() == 'moves'\n"
        "assert Path('data/moves.txt').exists()\nassert not Path('secret.txt').exists()\n"
        "class Reads(HunterBot):\n    def hunt(self, state):\n        pass\nReads.main()\n"
    )
    result = play(f"{sys.executable} bot.py --book=data/moves.txt", best)
    assert not result.faults, result.faults


def test_a_module_beside_a_file_is_missed(best: Level, tmp_path: Path) -> None:
    (tmp_path / "tricks.py").write_text("")
    (tmp_path / "bot.py").write_text("import tricks\n")
    result = play(str(tmp_path / "bot.py"), best)
    assert "No module named 'tricks'" in result.failures["hunter"].text
    (tmp_path / "bot.py").write_text(
        "import tricks\nfrom sdk import HunterBot\nclass Knows(HunterBot):\n    def hunt(self, state):\n        pass\nKnows.main()\n"
    )
    assert not play(str(tmp_path), best).faults


def test_an_interpreter_that_is_not_there_inside(best: Level, tmp_path: Path) -> None:
    bot = tmp_path / "bot"
    bot.write_text("#!/nowhere/python\n")
    bot.chmod(0o755)
    with pytest.raises((StartError, PlayerError)) as raised:
        play(str(bot), best)
    assert raised.value.exit_code in (2, 3)
    assert "bot" in str(raised.value)


def test_an_interpreter_that_only_root_may_read(best: Level, planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    need(os.access("/usr/bin/python3", os.X_OK), "/usr/bin/python3 is missing")
    if os.geteuid() != 0:
        pytest.skip("an ordinary user's sandbox has the rights of that user")
    closed = planted.folder / "closed" / "bin"
    closed.mkdir(parents=True)
    python = closed / "python3"
    shutil.copy(os.path.realpath("/usr/bin/python3"), python)
    (closed.parent / "lib" / "python3.99").mkdir(parents=True)
    (closed.parent / "lib" / "python3.99" / "os.py").touch()
    (planted.folder / "bot.py").write_text("")
    monkeypatch.chdir(planted.folder)
    python.chmod(0o700)
    with pytest.raises(StartError, match="may not be run by this user"):
        play(f"{python} bot.py", best)
    closed.parent.chmod(0o700)
    with pytest.raises(PlayerError, match="which the sandbox's user can't read; try: chmod -R a"):
        play(f"{python} bot.py", best)


def test_root_enters_by_another_user_and_by_the_way_that_the_interpreter_allows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    assert variant_for([]) == plan.ORDINARY
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setattr(plan, "has_user_namespaces", lambda: True)
    assert variant_for(["/usr"]) == plan.VARIANT_A
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o700)
    assert variant_for([str(closed)]) == plan.VARIANT_B
    monkeypatch.setattr(plan, "has_user_namespaces", lambda: False)
    assert variant_for(["/usr"]) == plan.VARIANT_B


def executable(folder: Path, first_line: str, body: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "prey").write_text(f"{first_line}\n{body}")
    (folder / "prey").chmod(0o755)
    return folder


def test_a_bot_that_names_what_it_wants_to_see_is_shown_nothing(best: Level, tmp_path: Path) -> None:
    """A submission that looks like a virtual environment made from a Python in the folder of its choice."""
    bot = tmp_path / "bot"
    (tmp_path / "secrets").mkdir()
    (bot / "bin").mkdir(parents=True)
    (bot / "bin" / "python3").write_text("#!/usr/bin/python3\n")
    (bot / "bin" / "python3").chmod(0o755)
    (bot / "pyvenv.cfg").write_text(f"home = {tmp_path}\nexecutable = /x/secrets\n")
    executable(bot, f"#!{bot}/bin/python3")
    assert plan.needs(plan.bot_plan(resolve(str(bot), "prey", "evasion"))) == ()
    with pytest.raises(StartError, match="which is not shown in the sandbox; write #!/usr/bin/env python3"):
        play(str(bot), best, "prey")
    # Named by the person at the keyboard it is an interpreter, but what it was made from must be a Python.
    assert runtime.needs(str(bot / "bin" / "python3")) == (str(bot),)


@pytest.mark.parametrize("line", ["#!//nowhere/python3", "#!python3", "#!/nonexistent/python3", "#!", "#! ", "#!/tmp/../nowhere/python3"])
def test_first_lines_that_name_nothing(line: str, isolation: Level, tmp_path: Path) -> None:
    with pytest.raises(StartError, match="does not exist; write #!/usr/bin/env python3"):
        play(str(executable(tmp_path / "bot", line)), isolation, "prey")


BY_HAND = (
    "import json, sys\nfor line in sys.stdin:\n    message = json.loads(line)\n"
    "    if message['type'] == 'end':\n        break\n"
    "    print(json.dumps({'type': 'ready', 'protocol': 1} if message['type'] == 'start'"
    " else {'type': 'move', 'turn': message['turn'], 'move': {}}), flush=True)\n"
)


@pytest.mark.parametrize("line", ["#!//usr/bin/python3", "#!/tmp/../usr/bin/python3", "#!/usr/bin/env python3", "#! /usr/bin/python3"])
def test_first_lines_in_odd_spellings(line: str, isolation: Level, tmp_path: Path) -> None:
    need(os.access("/usr/bin/python3", os.X_OK), "/usr/bin/python3 is missing")
    result = play(str(executable(tmp_path / "bot", line, BY_HAND)), isolation, "prey")
    assert not result.faults, result.faults


def test_an_executable_in_python_has_the_sdk(best: Level, tmp_path: Path) -> None:
    body = "from sdk import PreyBot\nclass Still(PreyBot):\n    def flee(self, state):\n        pass\nStill.main()\n"
    assert not play(str(executable(tmp_path / "bot", "#!/usr/bin/env python3", body)), best, "prey").faults


def test_parents_end_at_the_root() -> None:
    assert bubblewrap.parents_of("/a/b/c") == ["/a", "/a/b"]
    assert bubblewrap.parents_of("//a/b") == ["/a"]
    assert bubblewrap.parents_of("relative") == []
    assert not runtime.is_open_to_all("//nowhere")


def test_a_huge_program_is_refused_before_it_is_read(tmp_path: Path) -> None:
    bot = tmp_path / "bot.py"
    bot.touch()
    os.truncate(bot, 100 << 30)
    with pytest.raises(PlayerError, match="is larger than 256 MiB"):
        resolve(str(bot), "prey", "evasion")


@pytest.mark.parametrize("body", ["raise SystemExit(3)", "import sys; sys.exit('I was told EAGAIN')"])
def test_an_end_that_was_no_limit_is_a_crash(body: str, best: Level, tmp_path: Path) -> None:
    (tmp_path / "bot.py").write_text(body)
    fault = play(str(tmp_path / "bot.py"), best).failures["hunter"]
    assert (fault.kind, fault.cause) == ("crashed", "crash")


def test_a_referee_run_by_a_winding_path(best: Level, planted: Planted) -> None:
    """As ``../.venv/bin/python -m referee`` from a folder of a project."""
    (planted.folder / "deep").mkdir()
    winding = Path(os.path.relpath(Path(sys.executable).parent, planted.folder / "deep")) / Path(sys.executable).name
    command = [str(winding), "-m", "referee", "play", "straight", "still", "--isolation", "strict", "--max-steps", "3", "--quiet"]
    done = subprocess.run(
        [*command, "--out", str(planted.folder) + "/"], cwd=planted.folder / "deep", capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    (replay,) = planted.folder.glob("*.replay.jsonl.gz")
    assert verify(replay).turns == 3
