"""The build systems of projects: what ``bot.toml`` should say in a folder that has a project but no such file."""

from __future__ import annotations

import json
import re
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

#: The most bytes of a project's file that are read.
_MOST_BYTES = 1 << 18
#: Names of programs and modules that an advice may contain.
_NAME = re.compile(r"[\w][\w.+/-]*")
_JAVA_MAIN = re.compile(r"\b(?:static\s+)?void\s+main\s*\(")
_PACKAGE = re.compile(r"^[ \t]*package[ \t]+([\w.]+)", re.MULTILINE)
_ASSIGNED = re.compile(r"^(\w+)[ \t]*[:?]?=(.{,200})", re.MULTILINE)
_RULE = re.compile(r"^([^\s.#:=%][^:=\n%]*):(?!=)(.*)$", re.MULTILINE)
_NO_PROGRAMS = frozenset({"all", "clean"})


class Project(NamedTuple):
    """A project: the name of its file, the command that builds it ("" for none), and the commands that run its programs, by name.

    A project must have a command that runs it.
    """

    file: str
    build: str
    runs: dict[str, str]

    def lines(self, seat: str) -> str:
        """Return the lines of a ``bot.toml`` for a seat, as a part of a sentence. A program with the seat's name is for that seat alone."""
        key, run = (f"{seat}.run", self.runs[seat]) if seat in self.runs else ("run", next(iter(self.runs.values())))
        lines = {"build": self.build, key: run}
        return " and ".join(f"{name} = {json.dumps(line, ensure_ascii=False)}" for name, line in lines.items() if line)


def advice(folder: Path, seat: str) -> str:
    """Return the bot.toml that a folder with a project lacks, as the end of a sentence; "" if it has no file of a known build system."""
    project = find(folder)
    if project is None:
        return ""
    lines = project.lines(seat)
    return f"a bot.toml for '{project.file}' with the line{'s' * bool(project.build)} {lines}"


def find(folder: Path) -> Project | None:
    """Return the project in a folder; None if it has no file of a known build system."""
    for pattern, read in _SYSTEMS.items():
        for path in sorted(folder.glob(pattern)):
            text = _text(path, folder)
            if text is not None and (project := read(path, text)).runs:
                return project
    return None


def _text(path: Path, folder: Path) -> str | None:
    """Return the beginning of an ordinary file; None for other ones, since a stranger may have made the folder."""
    try:
        with open_regular(path, folder) as file:
            return file.read(_MOST_BYTES).decode(errors="replace")
    except OSError:
        return None


def _project(path: Path, build: str, run: str, names: Iterable[object], default: str = "bot") -> Project:
    """Return a project whose programs have these names; {} stands for the name in ``run``."""
    sound = [name for name in names if isinstance(name, str) and _NAME.fullmatch(name)] or [default]
    return Project(path.name, build, {name.rpartition("/")[2]: run.replace("{}", name) for name in sound})


def _cargo(path: Path, text: str) -> Project:
    table = _toml(text)
    bins = table.get("bin")
    names = [one.get("name") for one in bins if isinstance(one, dict)] if isinstance(bins, list) else []
    names += sorted(file.stem for file in path.parent.glob("src/bin/*.rs"))
    return _project(path, "cargo build --release --offline", "./target/release/{}", [*names, _table(table, "package").get("name")])


def _go(path: Path, _: str) -> Project:
    return _project(path, "go build -o bot .", "./bot", ())


def _csharp(path: Path, text: str) -> Project:
    return _project(path, "dotnet build -c Release -o out", "dotnet out/{}.dll", re.findall(r"<AssemblyName>([^<\s]+)<", text), path.stem)


def _java(path: Path, _: str) -> Project:
    """Maven and Gradle: both would download their plugins, so the compiler is called without them."""
    folder = path.parent
    top = next((top for top in ("src/main/java", "src") if (folder / top).is_dir()), ".")
    names = []
    for file in sorted((folder / top).rglob("*.java")):
        text = _text(file, folder) or ""
        if _JAVA_MAIN.search(text):
            package = _PACKAGE.search(text)
            names.append(f"{package[1]}.{file.stem}" if package else file.stem)
    build = f"sh -c 'javac -d out $(find {top} -name \"*.java\")'"
    found = _project(path, build, "java -cp out {}", names, "Main")
    return found._replace(runs={name.rpartition(".")[2].lower(): run for name, run in found.runs.items()})


def _cmake(path: Path, text: str) -> Project:
    project = re.search(r"\bproject\s*\(\s*([\w.+-]+)", text, re.IGNORECASE)
    names = [
        name.replace("${PROJECT_NAME}", project[1] if project else "")
        for name in re.findall(r"\badd_executable\s*\(\s*([^\s)]+)", text, re.IGNORECASE)
    ]
    return _project(path, "sh -c 'cmake -B build -DCMAKE_BUILD_TYPE=Release && cmake --build build'", "./build/{}", names)


def _meson(path: Path, text: str) -> Project:
    names = re.findall(r"\bexecutable\s*\(\s*'([^']+)'", text)
    return _project(path, "sh -c 'meson setup build --buildtype=release && meson compile -C build'", "./build/{}", names)


def _make(path: Path, text: str) -> Project:
    values: dict[str, str] = dict(_ASSIGNED.findall(text))

    def full(words: str) -> list[str]:
        return re.sub(r"\$[({](\w+)[)}]", lambda found: values.get(found[1], ""), words.partition("#")[0]).split()

    rules = [(target, full(needs)) for targets, needs in _RULE.findall(text) for target in full(targets)]
    names = next((needs for target, needs in rules if target == "all"), []) or [target for target, _ in rules if target not in _NO_PROGRAMS]
    return _project(path, "make", "./{}", names)


def _node(path: Path, text: str) -> Project:
    try:
        table = json.loads(text)
    except (ValueError, RecursionError):
        table = {}
    table = table if isinstance(table, dict) else {}
    scripts = _table(table, "scripts")
    start = scripts.get("start")
    named = re.fullmatch(r"node (\S+)", start) if isinstance(start, str) else None
    main = named[1] if named else table.get("main")
    return _project(path, "npm run build" if "build" in scripts else "", "node {}", [main], "index.js")


def _python(path: Path, text: str) -> Project:
    """Scripts of the project, else a package that can be run."""
    folder = path.parent
    top = "src" if (folder / "src").is_dir() else "."
    code = "" if top == "." else 'import sys; sys.path.insert(0, "src"); '
    scripts = _table(_table(_toml(text), "project"), "scripts")
    runs = {}
    for name, target in scripts.items():
        if isinstance(target, str) and (parts := re.fullmatch(r"([\w.]+)\s*:\s*(\w+)", target)):
            runs[name] = f"python3 -c {shlex.quote(f'{code}from {parts[1]} import {parts[2]}; {parts[2]}()')}"
    for file in sorted((folder / top).glob("*/__main__.py")):
        package = file.parent.name
        if package.isidentifier():
            line = f'{code}import runpy; runpy.run_module("{package}", run_name="__main__")'
            runs.setdefault(package, f"python3 -m {package}" if top == "." else f"python3 -c {shlex.quote(line)}")
    return Project(path.name, "", runs)


def _toml(text: str) -> dict[str, Any]:
    # Few folders have such a file, and the import takes time at each start.
    import tomli

    try:
        return tomli.loads(text)
    except (ValueError, RecursionError):
        return {}


def _table(table: dict[str, Any], key: str) -> dict[str, Any]:
    found = table.get(key)
    return found if isinstance(found, dict) else {}


#: The build systems by their files. Of several in one folder, the first counts: many projects have a Makefile for other jobs.
_SYSTEMS: dict[str, Callable[[Path, str], Project]] = {
    "Cargo.toml": _cargo,
    "go.mod": _go,
    "*.csproj": _csharp,
    "pom.xml": _java,
    "build.gradle": _java,
    "build.gradle.kts": _java,
    "CMakeLists.txt": _cmake,
    "meson.build": _meson,
    "package.json": _node,
    "pyproject.toml": _python,
    "[Mm]akefile": _make,
}
