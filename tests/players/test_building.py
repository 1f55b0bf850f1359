"""Builds of bots: with real compilers at each level, and kept in the cache."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import play_match
from sandboxes import UNHURRIED, LevelLauncher, census, need

from referee.errors import StartError, UsageError
from referee.isolation import build_cache, building, cgroups, contents, launcher
from referee.isolation.level import Level
from referee.isolation.limits import ISOLATED, ISOLATED_CGROUP, LIMITS, NONE, Limits
from referee.players.names import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator

    from referee.isolation.bot import Bot

LEVELS = ("strict", LIMITS, NONE)
#: A hunter in the language of the shell: it answers and does nothing.
SHELL = r"""#!/bin/sh
while read -r line; do
    case $line in
        *'"type":"start"'*) echo '{"type":"ready","protocol":1}' ;;
        *'"type":"turn"'*) turn=${line#*'"turn":'}; echo "{\"type\":\"move\",\"turn\":${turn%%,*},\"move\":{}}" ;;
    esac
done
"""


def at(level: str) -> Level:
    """A level of isolation, "strict" for the best sandbox that there is."""
    if level != "strict":
        return Level(level, Limits())
    from sandboxes import missing

    need(not missing(), missing())
    trees = cgroups.find()
    return Level(ISOLATED_CGROUP if trees.has_caps else ISOLATED, Limits(), trees)


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of its own; nothing is remembered, and no copy is left."""
    monkeypatch.setenv("REFEREE_CACHE", str(tmp_path / "cache"))
    building.forget()
    yield tmp_path / "cache"
    building.forget()


@pytest.fixture
def builds() -> list[str]:
    """The labels of the programs that were really built."""
    found: list[str] = []
    launcher.on_builds(lambda program: found.append(program.label))
    return found


def folder_of(tmp_path: Path, build: str, run: str = "./bot", **files: str) -> Path:
    """A bot whose build is the script ``build.sh``."""
    folder = tmp_path / "my_bot"
    folder.mkdir(exist_ok=True)
    (folder / "bot.toml").write_text(f'build = "sh build.sh"\nrun = "{run}"\n')
    for name, text in {"build.sh": build, **files}.items():
        (folder / name).write_text(text)
    return folder


def built(folder: Path, isolation: Level) -> Bot:
    return LevelLauncher(isolation).build({"hunter": resolve(str(folder), "hunter", "evasion")})["hunter"]


COMPILED = {
    "gcc": (
        'build = "gcc -O1 -o bot bot.c"\nrun = "./bot"',
        "bot.c",
        r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char line[1 << 20];
int main(void) {
    while (fgets(line, sizeof line, stdin)) {
        if (strstr(line, "\"type\":\"start\"")) puts("{\"type\":\"ready\",\"protocol\":1}");
        else if (strstr(line, "\"type\":\"turn\"")) printf("{\"type\":\"move\",\"turn\":%d,\"move\":{}}\n", atoi(strstr(line, "\"turn\":") + 7));
        fflush(stdout);
    }
}
""",
    ),
    "g++": (
        'build = "g++ -o bot bot.cpp"\nrun = "./bot"',
        "bot.cpp",
        r"""
#include <iostream>
#include <string>
int main() {
    for (std::string line; std::getline(std::cin, line);) {
        auto turn = line.find("\"turn\":");
        if (line.find("\"type\":\"start\"") != std::string::npos) std::cout << R"({"type":"ready","protocol":1})" << std::endl;
        else if (turn != std::string::npos) std::cout << R"({"type":"move","turn":)" << std::stoi(line.substr(turn + 7)) << R"(,"move":{}})" << std::endl;
    }
}
""",
    ),
    "javac": (
        'build = "javac -d classes src/Bot.java"\nrun = "java -cp classes Bot"',
        "src/Bot.java",
        r"""
import java.util.Scanner;
public class Bot {
    public static void main(String[] words) {
        Scanner lines = new Scanner(System.in);
        while (lines.hasNextLine()) {
            String line = lines.nextLine();
            int turn = line.indexOf("\"turn\":");
            if (line.contains("\"type\":\"start\"")) System.out.println("{\"type\":\"ready\",\"protocol\":1}");
            else if (turn > 0) System.out.println("{\"type\":\"move\",\"turn\":" + line.substring(turn + 7).split("[,}]")[0] + ",\"move\":{}}");
        }
    }
}
""",
    ),
    "go": (
        'build = "go build -o bot bot.go"\nrun = "./bot"',
        "bot.go",
        r"""
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
)

func main() {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<20)
	for lines.Scan() {
		var question struct {
			Type string
			Turn int
		}
		json.Unmarshal(lines.Bytes(), &question)
		switch question.Type {
		case "start":
			fmt.Println(`{"type":"ready","protocol":1}`)
		case "turn":
			fmt.Printf("{\"type\":\"move\",\"turn\":%d,\"move\":{}}\n", question.Turn)
		}
	}
}
""",
    ),
    "rustc": (
        'build = "rustc -o bot bot.rs"\nrun = "./bot"',
        "bot.rs",
        r"""
use std::io::BufRead;
fn main() {
    for line in std::io::stdin().lock().lines() {
        let line = line.unwrap();
        if line.contains("\"type\":\"start\"") {
            println!("{{\"type\":\"ready\",\"protocol\":1}}");
        } else if let Some(at) = line.find("\"turn\":") {
            let turn: String = line[at + 7..].chars().take_while(|c| c.is_ascii_digit()).collect();
            println!("{{\"type\":\"move\",\"turn\":{},\"move\":{{}}}}", turn);
        }
    }
}
""",
    ),
}


def compiled(tmp_path: Path, compiler: str) -> Path:
    """A bot in the language of a compiler; the test is skipped where that is missing, and fails in CI."""
    need(shutil.which(compiler) is not None, f"{compiler} is missing")
    table, name, source = COMPILED[compiler]
    folder = tmp_path / "my_bot"
    (folder / name).parent.mkdir(parents=True)
    (folder / "bot.toml").write_text(table)
    (folder / name).write_text(source)
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("level", [pytest.param(level, marks=[] if level == "strict" else [pytest.mark.soak]) for level in LEVELS])
@pytest.mark.parametrize("compiler", list(COMPILED))
def test_a_compiled_bot_plays(tmp_path: Path, compiler: str, level: str, builds: list[str]) -> None:
    folder = compiled(tmp_path, compiler)
    before = sorted(path for path in folder.rglob("*"))
    for _ in range(2):
        result = play_match(str(folder), "runner", options=UNHURRIED._replace(isolation=at(level)), max_steps=20)
        assert not result.faults
        assert result.steps == 20
    assert len(builds) == 1
    assert sorted(path for path in folder.rglob("*")) == before, "the author's folder is as it was"


@pytest.mark.slow
@pytest.mark.parametrize(("compiler", "told"), [("gcc", "bot.c:"), ("javac", "Bot.java:"), ("rustc", "bot.rs:"), ("go", "bot.go:")])
def test_the_compilers_errors_are_told(tmp_path: Path, compiler: str, told: str) -> None:
    folder = compiled(tmp_path, compiler)
    source = folder / COMPILED[compiler][1]
    source.write_text(source.read_text() + "\nthis is no program\n")
    with pytest.raises(StartError) as caught:
        built(folder, at("strict"))
    first, *lines = str(caught.value).split("\n")
    assert first.startswith(f"The hunter ({folder}) can't be built: '{compiler} ")
    assert "ended with exit status" in first
    assert any(told in line for line in lines), lines


@pytest.mark.parametrize("level", LEVELS)
def test_a_build_makes_the_program_in_a_copy(tmp_path: Path, level: str, builds: list[str]) -> None:
    folder = folder_of(
        tmp_path,
        "echo x >> changed; mkdir -p out/deep; cp hunter.txt out/deep/bot; chmod +x out/deep/bot; ln -s out link",
        "./link/deep/bot",
        **{"hunter.txt": SHELL, "changed": "1"},
    )
    result = play_match(str(folder), "runner", options=UNHURRIED._replace(isolation=at(level)), max_steps=20)
    assert (result.faults, result.steps) == ({}, 20)
    assert (folder / "changed").read_text() == "1"
    assert not (folder / "out").exists()
    assert builds == [str(folder)]


def test_the_next_referee_takes_it_from_the_cache(tmp_path: Path, cache: Path, shared_folder: Path) -> None:
    folder = folder_of(tmp_path, "echo made >> $REFEREE_TEST_COUNT; cp hunter.txt bot; chmod +x bot", **{"hunter.txt": SHELL})
    count = shared_folder / "count"
    play = [sys.executable, "-m", "referee", "play", str(folder), "runner", "--isolation", "none", "--max-steps", "5", "--startup", "60"]
    environment = {**os.environ, "REFEREE_TEST_COUNT": str(count)}
    for _ in range(2):
        done = subprocess.run([*play, "--out", f"{tmp_path}/out/"], env=environment, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr
    assert count.read_text() == "made\n"
    assert len(list((cache / "builds").iterdir())) == 1


def test_two_referees_build_at_once(tmp_path: Path, cache: Path) -> None:
    folder = folder_of(tmp_path, "cp hunter.txt bot; chmod +x bot", **{"hunter.txt": SHELL})
    play = [sys.executable, "-m", "referee", "play", str(folder), "runner", "--isolation", "none", "--max-steps", "5", "--startup", "60"]
    running = [subprocess.Popen([*play, "--out", f"{tmp_path}/out/"], stderr=subprocess.PIPE, text=True) for _ in range(3)]
    for process in running:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
    assert len(list((cache / "builds").iterdir())) == 1


def test_what_the_result_depends_on(tmp_path: Path, builds: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path, "cp hunter.txt bot; chmod +x bot", **{"hunter.txt": SHELL})

    def is_built_anew(isolation: Level | None = None, *, forgetting: bool = True) -> bool:
        builds.clear()
        if forgetting:
            building.forget()
        built(folder, isolation or Level())
        return bool(builds)

    assert is_built_anew()
    assert not is_built_anew()
    assert not is_built_anew(forgetting=False)
    assert is_built_anew(Level(LIMITS))
    (folder / "more").write_text("1")
    assert is_built_anew(forgetting=False)
    (folder / "more").write_text("2")
    assert is_built_anew(forgetting=False)
    (folder / "__pycache__").mkdir()
    assert not is_built_anew(forgetting=False)
    (folder / "bot.toml").write_text('build = "sh build.sh again"\nrun = "./bot"')
    assert is_built_anew(forgetting=False)
    monkeypatch.setattr(building, "identity", lambda program: ["another compiler"])
    assert is_built_anew()


def test_what_a_bot_does_to_its_files_changes_no_later_match(tmp_path: Path, builds: list[str]) -> None:
    folder = folder_of(
        tmp_path, "cp hunter.txt bot; chmod +x bot", **{"hunter.txt": SHELL.replace("while", "rm -f bot build.sh\nwhile", 1)}
    )
    for _ in range(2):
        building.forget()
        assert not play_match(str(folder), "runner", max_steps=5).faults
    assert len(builds) == 1


@pytest.fixture
def entry(tmp_path: Path, cache: Path, builds: list[str]) -> Iterator[Path]:
    """The entry of a bot in the cache; at the end the test has to have made it useless, so that the bot is built again."""
    folder = folder_of(tmp_path, "cp hunter.txt bot; chmod +x bot", **{"hunter.txt": SHELL})
    built(folder, Level())
    (found,) = (cache / "builds").iterdir()
    yield found
    building.forget()
    program = built(folder, Level())
    assert len(builds) == 2
    assert Path(program.argv[0]).read_text() == SHELL


def test_a_changed_entry_is_not_used(entry: Path) -> None:
    (entry / "files" / "bot").unlink()
    (entry / "files" / "bot").write_text("#!/bin/sh\necho other\n")


def test_an_incomplete_entry_is_not_used(entry: Path) -> None:
    (entry / "facts.json").unlink()


def test_an_entry_that_others_can_write_to_is_not_used(entry: Path) -> None:
    entry.chmod(0o777)


def test_an_entry_below_a_folder_that_others_can_write_to_is_not_used(entry: Path) -> None:
    entry.parent.chmod(0o777)


def test_an_entry_behind_a_link_is_not_used(entry: Path, tmp_path: Path) -> None:
    entry.rename(tmp_path / "elsewhere")
    entry.symlink_to(tmp_path / "elsewhere")


def test_an_entry_of_another_user_is_not_used(entry: Path) -> None:
    need(os.geteuid() == 0, "only root can give files away")
    os.chown(entry, 57_999, 57_999)


def test_an_entry_that_is_no_folder_is_not_used(entry: Path) -> None:
    shutil.rmtree(entry)
    os.mkfifo(entry)


def test_the_cache_is_bounded(tmp_path: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = folder_of(tmp_path, "cp hunter.txt bot; chmod +x bot", **{"hunter.txt": SHELL})
    monkeypatch.setattr(build_cache, "MOST_ENTRIES", 2)
    for number in range(4):
        (folder / "number").write_text(str(number))
        built(folder, Level())
    assert len(list((cache / "builds").iterdir())) == 2
    monkeypatch.setattr(build_cache, "MOST_BYTES", 10)
    (folder / "number").write_text("last")
    built(folder, Level())
    assert len(list((cache / "builds").iterdir())) == 1


@pytest.mark.parametrize("where", ["", "/dev/null/cache"])
def test_it_works_without_a_cache(tmp_path: Path, where: str, builds: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFEREE_CACHE", where)
    folder = folder_of(tmp_path, "cp hunter.txt bot; chmod +x bot", **{"hunter.txt": SHELL})
    for _ in range(2):
        assert not play_match(str(folder), "runner", max_steps=5).faults
    assert len(builds) == 1


def test_a_failed_build_is_not_tried_for_each_match(tmp_path: Path, builds: list[str]) -> None:
    folder = folder_of(tmp_path, "echo 'my.x:3: error: no' >&2; exit 2")
    for _ in range(3):
        with pytest.raises(StartError, match=r"'sh build.sh' ended with exit status 2\.\n  my\.x:3: error: no"):
            built(folder, Level())
    assert len(builds) == 1
    (folder / "build.sh").write_text("echo fixed > bot; chmod +x bot")
    assert built(folder, Level())
    assert len(builds) == 2


def test_the_sources_are_checked_as_copies_are(tmp_path: Path, builds: list[str]) -> None:
    folder = folder_of(tmp_path, "true")
    program = resolve(str(folder), "hunter", "evasion")

    def refuse(checked: Bot, copy: str) -> None:
        assert checked == program
        assert contents.digest(copy, "x") == contents.digest(str(folder), "x")
        raise UsageError("changed")

    with pytest.raises(UsageError, match="changed"):
        LevelLauncher(check=refuse).build({"hunter": program})
    assert not builds


def test_nothing_is_left(tmp_path: Path) -> None:
    """The copies of a referee are gone when it ends."""
    folder = folder_of(tmp_path, "cp hunter.txt bot; chmod +x bot", **{"hunter.txt": SHELL})
    code = f"""
import os
from referee.isolation.launcher import open_launcher
from referee.isolation.limits import Limits
from referee.players.names import resolve
found = open_launcher("none", Limits()).build({{"hunter": resolve({str(folder)!r}, "hunter", "evasion")}})
print(os.path.dirname(found["hunter"].folder))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not Path(done.stdout.strip()).exists()


def test_a_build_leaves_no_process(tmp_path: Path) -> None:
    before = census()
    built(folder_of(tmp_path, "sleep 600 & setsid sleep 600 & echo x > bot; chmod +x bot"), Level())
    after = census()
    assert after["processes"] == before["processes"]
    assert after["descriptors"] == before["descriptors"]
