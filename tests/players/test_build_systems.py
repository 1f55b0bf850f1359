"""What a folder with a project and no ``bot.toml`` is told to write, and that it plays with these very lines."""

from __future__ import annotations

import re
import shutil
from typing import TYPE_CHECKING

import pytest
from conftest import play_match
from sandboxes import UNHURRIED, missing

from referee.errors import PlayerError
from referee.isolation import cgroups
from referee.isolation.level import Isolation
from referee.isolation.limits import ISOLATED, ISOLATED_CGROUP, NONE, Limits
from referee.players import building
from referee.players.spec import resolve

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

JAVA = "sh -c 'javac -d out $(find src/main/java -name \\\"*.java\\\")'"
CMAKE = "sh -c 'cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build'"
MESON = "sh -c 'meson setup build --buildtype=release && meson compile -C build'"
CARGO = "cargo build --release --offline"
#: Files of a project, and the lines for its hunter.
PROJECTS: dict[str, tuple[dict[str, str], str]] = {
    "cargo": ({"Cargo.toml": '[package]\nname = "my-hunter"'}, f'build = "{CARGO}" and run = "./target/release/my-hunter"'),
    "cargo, seats": (
        {"Cargo.toml": '[package]\nname = "team"\n[[bin]]\nname = "prey"\n[[bin]]\nname = "hunter"'},
        f'build = "{CARGO}" and hunter.run = "./target/release/hunter"',
    ),
    "cargo, bin": (
        {"Cargo.toml": '[package]\nname = "team"', "src/bin/prey.rs": "", "src/bin/hunter.rs": ""},
        f'build = "{CARGO}" and hunter.run = "./target/release/hunter"',
    ),
    "cargo, broken": ({"Cargo.toml": "["}, f'build = "{CARGO}" and run = "./target/release/bot"'),
    "go": ({"go.mod": "module example.com/team/v2"}, 'build = "go build -o bot ." and run = "./bot"'),
    "go, beside": ({"go.mod": "module x", "main.go": "package main"}, 'build = "go build -o bot ." and run = "./bot"'),
    "csharp": ({"Ada.csproj": "<Project/>"}, 'build = "dotnet build -c Release -o out" and run = "dotnet out/Ada.dll"'),
    "csharp, named": (
        {"Ada.csproj": "<Project><AssemblyName>Bot</AssemblyName></Project>"},
        'build = "dotnet build -c Release -o out" and run = "dotnet out/Bot.dll"',
    ),
    "maven": (
        {
            "pom.xml": "<project/>",
            "src/main/java/org/ada/Bot.java": "package org.ada;\npublic class Bot { public static void main(String[] a) {} }",
            "src/main/java/org/ada/Board.java": "package org.ada;\nclass Board {}",
        },
        f'build = "{JAVA}" and run = "java -cp out org.ada.Bot"',
    ),
    "gradle": (
        {
            "build.gradle.kts": "",
            "src/main/java/Hunter.java": "class Hunter { static void main() {} }",
            "src/main/java/Aid.java": "class Aid { static void main() {} }",
        },
        f'build = "{JAVA}" and hunter.run = "java -cp out Hunter"',
    ),
    "cmake": (
        {"CMakeLists.txt": "project(ada CXX)\nadd_executable(${PROJECT_NAME} a.cpp)"},
        f'build = "{CMAKE}" and run = "./build/ada"',
    ),
    "cmake, beside": ({"CMakeLists.txt": "ADD_EXECUTABLE( b\n a.cpp)", "bot.cpp": ""}, f'build = "{CMAKE}" and run = "./build/b"'),
    "meson": ({"meson.build": "project('x', 'c')\nexecutable('ada', 'a.c')"}, f'build = "{MESON}" and run = "./build/ada"'),
    "make": ({"Makefile": "CC = gcc\n.PHONY: all\nada: a.c\n\t$(CC) -o ada a.c\nclean:\n\trm ada"}, 'build = "make" and run = "./ada"'),
    "make, all": ({"makefile": "NAME := ada # it\nall: $(NAME)\n$(NAME): a.o\n"}, 'build = "make" and run = "./ada"'),
    "make, odd": ({"Makefile": "all: $(A) 'x;y'\n" + "A=" * 9}, 'build = "make" and run = "./bot"'),
    "npm": ({"package.json": '{"main": "lib/ada.js"}'}, 'run = "node lib/ada.js"'),
    "npm, built": (
        {"package.json": '{"scripts": {"build": "tsc", "start": "node dist/a.js"}}'},
        'build = "npm run build" and run = "node dist/a.js"',
    ),
    "npm, broken": ({"package.json": "[" * 50_000}, 'run = "node index.js"'),
    "python": (
        {"pyproject.toml": '[project.scripts]\nada = "ada.core:main"', "src/ada/core.py": ""},
        'run = "python3 -c \'import sys; sys.path.insert(0, \\"src\\"); from ada.core import main; main()\'"',
    ),
    "python, package": ({"pyproject.toml": "", "hunter/__main__.py": ""}, 'hunter.run = "python3 -m hunter"'),
    "several": ({"Makefile": "lint:\n", "Cargo.toml": ""}, f'build = "{CARGO}" and run = "./target/release/bot"'),
}


def folder_of(place: Path, files: dict[str, str]) -> Path:
    folder = place / "team"
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def told(folder: Path) -> str:
    with pytest.raises(PlayerError) as caught:
        resolve(str(folder), "hunter", "evasion")
    return str(caught.value)


@pytest.mark.parametrize("name", PROJECTS)
def test_a_project_is_told_the_lines_of_its_bot_file(name: str, tmp_path: Path) -> None:
    files, lines = PROJECTS[name]
    folder = folder_of(tmp_path, files)
    begin = r"there should be hunter\.\*, main\.\* or bot\.\* in it, or|is a folder with source that must be built; write"
    found = re.search(rf"(?:{begin}) a bot\.toml for '(.*?)' with the (lines?) (.*)\.$", told(folder))
    assert found, told(folder)
    assert found[1] in files
    assert found[2] == ("lines" if " and " in lines else "line")
    assert found[3] == lines


@pytest.mark.parametrize("files", [{"README.md": ""}, {"pyproject.toml": "[project]"}, {"Cargo.toml/x": ""}])
def test_a_folder_without_a_project_is_told_what_it_has(files: dict[str, str], tmp_path: Path) -> None:
    assert "bot.toml for" not in told(folder_of(tmp_path, files))


def test_no_file_outside_a_folder_is_read(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text('[package]\nname = "secret"')
    folder = folder_of(tmp_path, {"README.md": ""})
    (folder / "Cargo.toml").symlink_to(tmp_path / "secret")
    assert "secret" not in told(folder)


C = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static char line[1 << 20];
int main(void) {
    while (fgets(line, sizeof line, stdin)) {
        char *turn = strstr(line, "\"turn\":");
        if (strstr(line, "\"type\":\"start\"")) puts("{\"type\":\"ready\",\"protocol\":1}");
        else if (turn) printf("{\"type\":\"move\",\"turn\":%d,\"move\":{}}\n", atoi(turn + 7));
        fflush(stdout);
    }
}
"""
RUST = r"""
use std::io::BufRead;
fn main() {
    for line in std::io::stdin().lock().lines().map(|line| line.unwrap()) {
        if line.contains("\"type\":\"start\"") { println!("{{\"type\":\"ready\",\"protocol\":1}}"); }
        else if let Some((_, rest)) = line.split_once("\"turn\":") {
            let turn: String = rest.chars().take_while(|c| c.is_ascii_digit()).collect();
            println!("{{\"type\":\"move\",\"turn\":{},\"move\":{{}}}}", turn);
        }
    }
}
"""
GO = r"""
package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

func main() {
	in := bufio.NewReaderSize(os.Stdin, 1<<20)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			return
		}
		if strings.Contains(line, `"type":"start"`) {
			fmt.Println(`{"type":"ready","protocol":1}`)
		} else if at := strings.Index(line, `"turn":`); at >= 0 {
			var turn int
			fmt.Sscanf(line[at+7:], "%d", &turn)
			fmt.Printf("{\"type\":\"move\",\"turn\":%d,\"move\":{}}\n", turn)
		}
	}
}
"""
JAVA_BOT = r"""
package org.ada;
import java.util.Scanner;
public class Bot {
    public static void main(String[] words) {
        Scanner in = new Scanner(System.in);
        while (in.hasNextLine()) {
            String line = in.nextLine();
            int at = line.indexOf("\"turn\":");
            if (line.contains("\"type\":\"start\"")) System.out.println("{\"type\":\"ready\",\"protocol\":1}");
            else if (at > 0) System.out.println("{\"type\":\"move\",\"turn\":" + line.substring(at + 7).split("[,}]")[0] + ",\"move\":{}}");
        }
    }
}
"""
NODE = r"""
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
    const question = JSON.parse(line);
    if (question.type === "start") console.log(JSON.stringify({ type: "ready", protocol: 1 }));
    if (question.type === "turn") console.log(JSON.stringify({ type: "move", turn: question.turn, move: {} }));
});
"""
PYTHON = """
import json, sys

def main():
    for line in sys.stdin:
        question = json.loads(line)
        if question["type"] == "start":
            print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
        elif question["type"] == "turn":
            print(json.dumps({"type": "move", "turn": question["turn"], "move": {}}), flush=True)
"""
#: Whole projects by the programs that they need.
WHOLE: dict[tuple[str, ...], dict[str, str]] = {
    ("cargo",): {"Cargo.toml": '[package]\nname = "ada"\nversion = "0.1.0"\nedition = "2021"\n', "src/main.rs": RUST},
    ("go",): {"go.mod": "module ada\n\ngo 1.18\n", "main.go": GO},
    ("javac", "java"): {"pom.xml": "<project/>", "src/main/java/org/ada/Bot.java": JAVA_BOT},
    ("cmake", "make", "gcc"): {
        "CMakeLists.txt": "cmake_minimum_required(VERSION 3.10)\nproject(ada C)\nadd_executable(ada src/ada.c)\n",
        "src/ada.c": C,
    },
    ("meson", "ninja", "gcc"): {"meson.build": "project('ada', 'c')\nexecutable('ada', 'ada.c')\n", "ada.c": C},
    ("make", "gcc"): {"Makefile": "all: ada\nada: ada.c\n\tgcc -O2 -o $@ $<\n", "ada.c": C},
    ("npm", "node"): {
        "package.json": '{"scripts": {"build": "mkdir dist && cp ada.js dist", "start": "node dist/ada.js"}}',
        "ada.js": NODE,
    },
    ("node",): {"package.json": '{"main": "ada.js"}', "ada.js": NODE},
    ("python3",): {"pyproject.toml": '[project.scripts]\nada = "ada.core:main"\n', "src/ada/core.py": PYTHON, "src/ada/__init__.py": ""},
    ("python3", "sh"): {"pyproject.toml": "", "src/ada/core.py": PYTHON, "src/ada/__main__.py": "from .core import main\nmain()\n"},
    ("dotnet",): {
        "Ada.csproj": '<Project Sdk="Microsoft.NET.Sdk"><PropertyGroup><OutputType>Exe</OutputType><TargetFramework>net8.0</TargetFramework></PropertyGroup></Project>',
        "Ada.cs": """
using System;
string line;
while ((line = Console.ReadLine()) != null) {
    int turn = line.IndexOf("\\"turn\\":");
    if (line.Contains("\\"type\\":\\"start\\"")) Console.WriteLine("{\\"type\\":\\"ready\\",\\"protocol\\":1}");
    else if (turn > 0) Console.WriteLine("{\\"type\\":\\"move\\",\\"turn\\":" + line.Substring(turn + 7).Split(',', '}')[0] + ",\\"move\\":{}}");
}
""",
    },
}


@pytest.fixture
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("REFEREE_CACHE", str(tmp_path / "cache"))
    building.forget()
    yield
    building.forget()


@pytest.mark.slow
@pytest.mark.usefixtures("_own_cache")
@pytest.mark.parametrize("level", ["strict", NONE])
@pytest.mark.parametrize("tools", WHOLE)
def test_a_project_plays_with_the_lines_that_it_was_told(tools: tuple[str, ...], level: str, tmp_path: Path) -> None:
    lacking = [tool for tool in tools if shutil.which(tool) is None]
    if lacking or (level == "strict" and missing()):
        pytest.skip(f"this machine lacks {', '.join(lacking) or missing()}")
    folder = folder_of(tmp_path, WHOLE[tools])
    _, _, lines = told(folder).rstrip(".").partition(" with the line")
    lines = lines.removeprefix("s").strip()
    (folder / "bot.toml").write_text(lines.replace(" and run =", "\nrun ="))
    isolation = Isolation(NONE, Limits())
    if level == "strict":
        trees = cgroups.find()
        isolation = Isolation(ISOLATED_CGROUP if trees.has_caps else ISOLATED, Limits(), trees)
    result = play_match(str(folder), "runner", options=UNHURRIED._replace(isolation=isolation), max_steps=20)
    assert not result.faults
    assert result.steps == 20
