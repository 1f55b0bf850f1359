"""The languages of bots: the names of their files, the programs that build and run them, and advice for source that can't be started."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

from referee.errors import UsageError
from referee.isolation import runtime
from referee.support.files import open_regular
from referee.support.near_names import did_you_mean


class Language(NamedTuple):
    """A language. ``tools`` are the programs that it needs. ``build`` and ``run`` are command lines with places for the names: see ``commands``.

    Without ``run`` the referee starts the file itself. ``names`` are other names and suffixes for it. ``comment`` begins a comment of
    one line. ``stem`` is the name of the file in a folder.
    """

    name: str
    title: str
    suffix: str
    tools: tuple[str, ...] = ()
    build: str = ""
    run: str = ""
    names: tuple[str, ...] = ()
    comment: str = "//"
    stem: str = "bot"
    is_executable: bool = False

    def commands(self, path: str, class_name: str) -> tuple[str, str]:
        """Return the command lines that build and run a file; an empty text where none is needed.

        In ``build`` and ``run``, {file} is the file, {stem} the same without its suffix, {program} that as a program of a command line,
        {folder} the folder of the file and {class} the class.
        """
        stem = path.removesuffix(self.suffix)
        folder = stem.rpartition("/")[0] or ("/" if "/" in stem else ".")
        named = {"file": path, "stem": stem, "program": stem if "/" in stem else f"./{stem}", "folder": folder, "class": class_name}
        words = {key: shlex.quote(value) for key, value in named.items()}
        return self.build.format_map(words), self.run.format_map(words)

    def missing(self) -> list[str]:
        """Return the programs that are not on the PATH."""
        return [tool for tool in self.tools if shutil.which(tool) is None]


LANGUAGES = (
    Language("python", "Python", ".py", names=("py", "python3"), comment="#", is_executable=True),
    Language("javascript", "JavaScript", ".js", ("node",), "", "node {file}", ("js", "node"), is_executable=True),
    Language(
        "java",
        "Java",
        ".java",
        ("javac", "java"),
        "javac {file}",
        "java -cp {folder} {class}",
        stem="Bot",
    ),
    Language("cpp", "C++", ".cpp", ("g++",), "g++ -std=c++17 -O2 -o {stem} {file}", "{program}", ("c++", "cc", "cxx")),
    Language("rust", "Rust", ".rs", ("rustc",), "rustc --edition 2021 -O -o {stem} {file}", "{program}", ("rs",)),
    Language("go", "Go", ".go", ("go",), "go build -o {stem} {file}", "{program}", ("golang",)),
)
#: The names that ``--lang`` takes, as its help shows them.
NAMES = tuple(language.name for language in LANGUAGES)


def named(name: str) -> Language:
    """Return the language of that name. UsageError names the languages that exist."""
    lowered = name.strip().lower()
    for language in LANGUAGES:
        if lowered in (language.name, *language.names):
            return language
    others = [other for language in LANGUAGES for other in language.names]
    hint = did_you_mean(lowered, [*NAMES, *others]) or f"there are {', '.join(NAMES)}."
    raise UsageError(f"--lang is {name!r:.40}; {hint}")


def of_suffix(suffix: str) -> Language | None:
    """Return the language of a file's suffix such as ".py"; None for an unknown suffix."""
    lowered = suffix.lower()
    return next((language for language in LANGUAGES if lowered == language.suffix or lowered.removeprefix(".") in language.names), None)


#: How the referee's other programs are run, by suffix: {file} is the file, {stem} its name without the suffix, {folder} its folder.
_RUN_BY = {
    ".mjs": "node {file}",
    ".cjs": "node {file}",
    ".jar": "java -jar {file}",
    ".class": "java -cp {folder} {stem}",
    ".sh": "bash {file}",
    ".rb": "ruby {file}",
    ".pl": "perl {file}",
    ".php": "php {file}",
    ".lua": "lua {file}",
}
_CLASS = re.compile(r"\bclass\s+(\w+)")
_MAIN = re.compile(r"\bmain\s*\(")
_MOST_SOURCE = 1 << 20


def how_to_run(path: Path) -> str:
    """Return the command line of a file that an interpreter runs, such as "node bot.js"; "" for an unknown suffix."""
    line = _RUN_BY.get(path.suffix.lower())
    language = of_suffix(path.suffix) if path.suffix else None
    if line is None and language is not None and not language.build:
        line = language.run
    if not line:
        return ""
    words = {"file": str(path), "stem": path.stem, "folder": str(path.parent)}
    return line.format_map({name: shlex.quote(word) for name, word in words.items()})


def compiled_source(path: Path) -> Language | None:
    """Return the language of a file that must be compiled, by its suffix. None for others, such as programs and scripts with a line ``#!``."""
    language = of_suffix(path.suffix) if path.suffix else None
    if language is None or not language.build or runtime.first_line(str(path)) or runtime.is_binary(str(path)):
        return None
    return language


def how_to_build(path: Path, place: str) -> tuple[str, str]:
    """Return the command lines that build and run a file of ``compiled_source``. ``place`` is its path in the message."""
    language = compiled_source(path)
    assert language is not None, "the caller has asked for the language"
    return language.commands(place, _class_name(path) if "{class}" in language.run else "")


def in_bot_file(build: str, run: str) -> str:
    """Return the lines of a ``bot.toml`` with two command lines, as a part of a sentence."""
    return f"build = {json.dumps(build, ensure_ascii=False)} and run = {json.dumps(run, ensure_ascii=False)}"


def how_to_submit(path: Path) -> str:
    """Return what to submit in place of source that needs a compiler or an interpreter; "" for other files."""
    if language := compiled_source(path):
        lines = in_bot_file(*how_to_build(path, path.name))
        return f"is source in {language.title}, which must be compiled; submit it with a file bot.toml that has the lines {lines}."
    if run := how_to_run(Path(path.name)):
        return f"is started by {run}; submit it with a file bot.toml that has the line run = {json.dumps(run, ensure_ascii=False)}."
    return ""


def _class_name(path: Path) -> str:
    """Return the class of a file of Java that has the method ``main``; the file's name if none is found."""
    try:
        with open_regular(path) as file:
            text = file.read(_MOST_SOURCE).decode("utf-8", "replace")
    except OSError:
        text = ""
    main = _MAIN.search(text)
    classes: list[str] = _CLASS.findall(text[: main.start()]) if main else []
    return classes[-1] if classes else path.stem
