"""The list of all commands without their modules, and commands that are called without typer's tree."""

from __future__ import annotations

import functools
import inspect
import io
import subprocess
import sys
from importlib import import_module
from pathlib import Path
from typing import Any, get_args

import pytest
import typer
from typer.exceptions import TyperException
from typer.models import OptionInfo

from referee.cli import app, direct, front

NAMES = [name for _, name, _ in front.commands()]
for _name in NAMES:
    import_module(f"referee.cli.{front.module_of(_name)}")
GROUPS = {str(group.typer_instance.info.name): group for group in app.app.registered_groups if group.typer_instance is not None}
FUNCTIONS = {name: function for name in NAMES if (function := app._command_named(name)) is not None}


def test_the_table_is_what_the_modules_register() -> None:
    registered = {(info.name or info.callback.__name__): info for info in app.app.registered_commands if info.callback is not None}
    assert sorted([*registered, *GROUPS]) == sorted(NAMES)
    for panel, name, text in front.commands():
        info: Any = GROUPS.get(name) or registered[name]
        help_text = info.typer_instance.info.help if name in GROUPS else info.callback.__doc__
        assert (info.rich_help_panel, " ".join(help_text.split("\n\n")[0].split())) == (panel, text), name


def test_every_command_is_in_its_module() -> None:
    for name, function in FUNCTIONS.items():
        assert function.__module__ == f"referee.cli.{front.module_of(name)}", name
    assert front.module_of("plya") is None


@pytest.mark.parametrize("columns", [1, 40, 80, 137])
def test_the_list_fits_its_columns_and_says_everything(columns: int) -> None:
    lines = front.help_lines(columns)
    boxed = [line for line in lines if line[:1] in "╭│╰" and line]
    assert {len(line) for line in boxed} == {max(columns, 40)}
    for panel, named in front.PANELS.items():
        first = next(index for index, line in enumerate(lines) if line.startswith(f"╭─ {panel[:30]}"))
        rows = lines[first + 1 : next(index for index, line in enumerate(lines) if index > first and line[0] == "╰")]
        assert [row[2:].split(" ")[0] for row in rows if row[2] != " "] == list(named)
        if columns >= 80:
            assert " ".join(row[21:-1].strip() for row in rows) == " ".join(text for _, text in named.values())
    colored = front.help_lines(columns, is_colored=True)
    assert [_bare(line) for line in colored] == lines
    assert colored != lines
    assert "".join(front.help_lines(columns, box=front._BOXES[1])).isascii()


def _bare(line: str) -> str:
    for style in (front._DIM, front._BOLD, front._NAME, front._HEADING, front._PLAIN):
        line = line.replace(style, "")
    return line


@pytest.mark.parametrize(("encoding", "expected"), [("utf-8", 0), ("ascii", 1), ("latin-1", 1)])
def test_boxes_are_of_characters_that_stdout_has(encoding: str, expected: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(io.BytesIO(), encoding=encoding))
    assert front._box() == front._BOXES[expected]


@pytest.mark.parametrize(("words", "status"), [(["--help"], 0), (["-h"], 0), ([], 2), (["--version"], 0)])
def test_the_front_needs_neither_typer_nor_a_command(words: list[str], status: int) -> None:
    code = (
        "import sys; sys.argv[0] = 'referee'; from referee.__main__ import main\n"
        "try:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)\n"
    )
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == status, done.stderr
    assert ("Play one match" in done.stdout) == (words != ["--version"])
    loaded = done.stderr.split()
    assert not {"typer", "pydantic", "rich", "inspect", "pathlib", "re", "typing"} & set(loaded)
    assert [name for name in loaded if name.startswith("referee.cli")] == ["referee.cli", "referee.cli.front"]


def test_a_plain_match_is_called_without_the_tree(tmp_path: Path) -> None:
    code = "import sys; sys.argv[0] = 'referee'; from referee.__main__ import main\nmain()\nprint(*sys.modules, file=sys.stderr)\n"
    words = ["play", "straight", "still", "--max-steps", "1", "--isolation", "none", "--out", f"{tmp_path}/", "--json"]
    done = subprocess.run([sys.executable, "-c", code, *words], capture_output=True, text=True, encoding="utf-8", cwd=tmp_path)
    loaded = set(done.stderr.splitlines()[-1].split())
    assert done.returncode == 0, done.stderr
    assert "referee.match.loop" in loaded
    assert not {"pydantic", "rich", "typer._adapters", "sqlalchemy", "starlette"} & loaded


@functools.cache
def _by_typer(name: str) -> tuple[typer.Typer, list[dict[str, Any]]]:
    """A program of one command, and the arguments with which it was called."""
    seen: list[dict[str, Any]] = []

    @functools.wraps(FUNCTIONS[name])
    def spy(**given: Any) -> None:
        seen.append(given)

    program = typer.Typer()
    program.command()(spy)
    return program, seen


def _called(name: str, words: list[str]) -> dict[str, Any] | None:
    """The arguments with which typer calls a command; None if it refuses the words."""
    program, seen = _by_typer(name)
    try:
        program(words, standalone_mode=False)
    except TyperException:
        return None
    return seen.pop() if seen else None


def _lines(name: str) -> list[list[str]]:
    """Command lines with every argument and option of a command."""
    words: list[str] = []
    places: list[str] = []
    for parameter in inspect.signature(FUNCTIONS[name], eval_str=True).parameters.values():
        kind, info = get_args(parameter.annotation)
        least = 1 if info.min is None else max(info.min, -9)
        value = str(least) if "int" in str(kind) or "float" in str(kind) else "word"
        if not isinstance(info, OptionInfo):
            places.append(value)
        elif "bool" in str(kind):
            words += [str(info.default).split("/", maxsplit=1)[0]]
        else:
            words += [str(info.default), value]
    joined = [word.replace("word", "a=b") for word in words]
    return [places, [*places, *words], [*words, *places], [*joined, *places, *joined], [*words, *places, "more"], words, places[:-1]]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
def test_a_command_is_called_as_typer_would_call_it(name: str) -> None:
    plain = 0
    for words in _lines(name):
        given = direct.arguments(FUNCTIONS[name], words)
        if given is not None:
            assert given == _called(name, words), words
            plain += 1
    assert plain >= 3


PLAIN = [
    [],
    ["a", "-"],
    ["a", "b", "-q", "--no-stay"],
    ["a", "--stay", "b", "--no-stay"],
    ["--set", "x=1", "a", "--set=y=2", "b"],
    ["a", "b", "--seed", "-5", "--out="],
    ["a", "b", "--seed", "0", "--seed", "7", "--match", "./x.toml"],
    ["a b", "--out", "x y", "--max-steps=3", "--exit-start"],
    ["a", "b", "--no-exit-start", "--name", "A", "--name", "B"],
]
UNCLEAR = [
    ["--help"],
    ["a", "--"],
    ["a", "b", "--max-steps"],
    ["a", "b", "--max-steps", "x"],
    ["a", "b", "--max-steps", " 3"],
    ["a", "b", "--max-steps", "1_000"],
    ["a", "b", "--max-steps", "٣"],
    ["a", "b", "--games", "0"],
    ["a", "b", "--out", "--json"],
    ["a", "b", "--out", "-x"],
    ["a", "b", "--json=1"],
    ["a", "b", "-qq"],
    ["a", "b", "-q=1"],
    ["a", "b", "--jso"],
    ["a", "b", "--match", "-"],
    ["a", "b", "--match="],
    ["-5"],
]


@pytest.mark.parametrize("words", PLAIN, ids=" ".join)
def test_plain_words(words: list[str]) -> None:
    given = direct.arguments(FUNCTIONS["play"], words)
    assert given is not None
    assert given == _called("play", words)


@pytest.mark.parametrize("words", UNCLEAR, ids=" ".join)
def test_other_words_are_left_to_typer(words: list[str]) -> None:
    assert direct.arguments(FUNCTIONS["play"], words) is None


def test_a_missing_or_superfluous_argument_is_left_to_typer() -> None:
    assert direct.arguments(FUNCTIONS["show"], []) is None
    assert direct.arguments(FUNCTIONS["show"], ["a", "b"]) is None
    assert direct.arguments(FUNCTIONS["verify"], []) is None


def test_declarations_of_other_kinds_are_left_to_typer() -> None:
    def asks(ctx: typer.Context) -> None: ...
    def calls(one: str = typer.Option("--one")) -> None: ...

    assert direct.arguments(asks, []) is None
    assert direct.arguments(calls, []) is None


def test_the_status_of_a_command_is_that_of_the_program() -> None:
    def leaves() -> None:
        raise typer.Exit(3)

    with pytest.raises(SystemExit) as left:
        direct.run(leaves, [])
    assert left.value.code == 3
    assert not direct.run(None, [])
