"""Advice about crashes with a common cause: a missing file or package, a class that Java doesn't find, another seat, or other rules.

The names come from the bot's stderr, so this module looks for them only in the folder of the bot's own program.
"""

from __future__ import annotations

import re
import shlex
import shutil
import sys
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, NamedTuple

from referee.isolation import bubblewrap, runtime
from referee.players.crash_report import crash_line
from referee.players.own_files import short_path
from referee.support.escape import escape
from referee.support.packages import install_command

if TYPE_CHECKING:
    from referee.isolation.program import Program
    from referee.players.process import BotProcess

#: How many lines of stderr are searched where no error report is found.
_LINES = 20
_MODULE = re.compile(r"No module named '?(\w+)")
_PACKAGE = re.compile(r"Cannot find (?:module|package) '([^'./][^']*)'")
_FILE = re.compile(
    r"Cannot find module '([./][^']*)'"
    r"|No such file or directory: '([^']+)'"
    r"|can't open file '([^']+)'"
    r"|ENOENT: no such file or directory, \w+ '([^']+)'"
    r"|java\.io\.FileNotFoundException: (.+) \(No such file or directory\)"
    r"|java\.nio\.file\.NoSuchFileException: (.+)"
)
_CLASS = re.compile(r"Could not find or load main class ([\w.$/]+)")
_TIMER = re.compile(r"timerfd_create: Operation not permitted")
#: Messages of a bot that plays another seat, and of a bot of the SDK whose class names other rules than those of the match.
_SEATS = re.compile(r"plays ([\w-]{1,40}(?: (?:and|or) [\w-]{1,40}){0,3}), but was asked to play [\w-]")
_RULES = re.compile(r"plays the rules ([\w-]{1,40})(?: and [\w-]{1,40})*, but was asked to play ")
_MISSES_FILE = re.compile(r"FileNotFoundError|FileNotFoundException|NoSuchFileException|ENOENT|No such file or directory")
_LONGEST_NAME = 200
#: What a program in a folder may be called, whatever seat it plays.
_MAIN = ("main", "bot")
_OWN_MODULES = ("sdk", "referee")


class Advice(NamedTuple):
    """What to do about a crash, as sentences without the last full stop; "" if nothing is known.

    ``is_line_right``: the line of the bot's own files that failed needs no change.
    """

    text: str = ""
    is_line_right: bool = False


def advice_of(process: BotProcess, text: str) -> Advice:
    """Return the advice about a program that has ended; ``text`` is the end of its stderr."""
    program, box = process.program, process.sandbox
    if program is None:
        return Advice()
    return advice(program, text, process.status, is_sandbox=box.is_sandbox, home=box.home)


def advice(program: Program, text: str, status: int | None = None, *, is_sandbox: bool, home: str = bubblewrap.HOME) -> Advice:
    """Return what to do about the crash that a bot's stderr reports. ``home`` is the folder of its files in a sandbox."""
    report = crash_line(text, status=status)
    lines = [line for line in text.split("\n") if line.strip()]
    says = report.says if report is not None else "\n".join(lines[-_LINES:])
    if found := _CLASS.search(says):
        return Advice(_java(program, found[1]))
    if found := _MODULE.search(says):
        return _module(program, found[1], is_sandbox=is_sandbox)
    if (elsewhere := _elsewhere(says)) or not is_sandbox:
        return Advice(elsewhere)
    if _TIMER.search(says):
        return Advice(
            "In isolation a bot can't make file descriptors of timers; "
            "a Haskell program doesn't need them if it is linked with -with-rtsopts=-V0"
        )
    if "Read-only file system" in says:
        return Advice(f"In isolation a bot can write to {bubblewrap.SCRATCH} alone")
    if found := _FILE.search(says):
        name = next(group for group in found.groups() if group)
        beside = _beside(program, name, "", ".js", ".mjs", ".cjs", ".json")
        if beside:
            return _name_the_folder(program, beside)
    if _MISSES_FILE.search(says):
        return Advice(f"In isolation a bot sees its own files alone, in {bubblewrap.HOME}" if home == bubblewrap.HOME else "")
    return Advice()


def _elsewhere(says: str) -> str:
    """What to do about a bot that plays other rules or another seat; "" for other crashes."""
    if found := _RULES.search(says):
        return f"Let it play its own rules; try: --rules {found[1]}"
    found = _SEATS.search(says)
    return f"Name a bot of this seat in its place, or give it the seat that it plays: {found[1]}" if found else ""


def _program_file(program: Program) -> Path | None:
    """The file of a program that brings along files alone: what lies beside it is missing in a sandbox."""
    sources = [Path(piece.source) for piece in program.pieces]
    return sources[0] if sources and all(source.is_file() for source in sources) else None


def _beside(program: Program, name: str, *ends: str) -> str:
    """The path below the folder of the program's file at which the author has what the bot misses; "" if it isn't there."""
    file = _program_file(program)
    if file is None:
        return ""
    # The log names the bot's folder as its author does.
    folder = short_path(str(file.parent), program.home)
    path = PurePosixPath(name.removeprefix(f"{bubblewrap.HOME}/").removeprefix(f"{folder}/"))
    if len(name) > _LONGEST_NAME or path.is_absolute() or ".." in path.parts or not path.name or "\0" in name:
        return ""
    try:
        return str(path) if any((file.parent / f"{path}{end}").exists() for end in ends) else ""
    except OSError:
        return ""


def _name_the_folder(program: Program, missing: str) -> Advice:
    """Return the advice where a sandbox lacks a file that lies beside the program's own."""
    file = _program_file(program)
    assert file is not None
    renamed = "" if file.stem in _MAIN else f", with the program in it called main{escape(file.suffix, 20)}"
    text = f"In isolation a bot that is named by its file brings that file alone; name its folder to bring {escape(missing, 80)} along{renamed}"
    return Advice(text, is_line_right=True)


def _module(program: Program, name: str, *, is_sandbox: bool) -> Advice:
    """What to do about a Python module that can't be imported."""
    if is_sandbox and _beside(program, name, "", ".py"):
        return _name_the_folder(program, name)
    python = _python(program, is_sandbox=is_sandbox)
    if python is None or name in sys.stdlib_module_names:
        return Advice()
    shown = _without_folders(python, program)
    runs = f"It runs on {escape(shown or 'a Python of its own', 200)}, which has no module {name}"
    if name in _OWN_MODULES:
        own = _without_folders(runtime.OWN_PYTHON, program)
        instead = f"write {escape(own, 200)} instead, or " if own else ""
        return Advice(f"{runs}; {instead}name the .py file without an interpreter", is_line_right=True)
    return Advice(f"{runs}; " + (f"try: {escape(install_command(name, python=shown), 300)}" if shown else "install it for that one"))


def _without_folders(python: str, program: Program) -> str:
    """The Python as a command that names no folder of a person, for a program whose texts others may read; "" if there is no such command."""
    if not program.home or python.startswith("/usr/"):
        return python
    name = Path(python).name
    return short_path(python, program.home) if _is_below(python, program.home) else name if shutil.which(name) == python else ""


def _is_below(path: str, folder: str) -> bool:
    return bool(folder.strip("/")) and Path(path).is_relative_to(folder)


def _python(program: Program, *, is_sandbox: bool) -> str | None:
    """The Python that runs a program, None if it is another program or can't be known."""
    words = [program.argv[0]]
    if not _is_python(words[0]):
        words = runtime.first_line(words[0])
    if len(words) > 1 and Path(words[0]).name == "env" and _is_python(words[1]):
        return runtime.OWN_PYTHON if is_sandbox else shutil.which(words[1], path=program.env.get("PATH"))
    return words[0] if words and _is_python(words[0]) else None


def _is_python(path: str) -> bool:
    return re.fullmatch(r"python[\d.]*", Path(path).name) is not None


def _java(program: Program, name: str) -> str:
    """What to do where Java doesn't find the class of a program."""
    words = program.argv[1:]
    if name not in words:
        return ""
    file = name.replace(".", "/")
    if any(word in ("-cp", "-classpath", "--class-path", "-jar") or word.startswith("--class-path=") for word in words):
        return f"There is no {file}.class in the folders of its class path; compile it, and name the folder that holds it"
    command = shlex.join(["java", "-cp", ".", *words])
    if Path(program.cwd, f"{file}.class").is_file():
        return f'In isolation a command line brings only the files and folders that it names; name the folder of the class: "{command}"'
    if Path(program.cwd, f"{file}.java").is_file():
        return f'There is {file}.java, but no {file}.class; compile it (javac {file}.java), then write: "{command}"'
    return f'There is no {file}.class in {escape(program.cwd, 200)}; name the folder that holds it: "{shlex.join(["java", "-cp", "FOLDER", *words])}"'
