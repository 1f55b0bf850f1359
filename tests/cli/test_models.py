"""A command that takes a model has an option for each field, and its function gets the model."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated

import typer
from typer.testing import CliRunner

from referee.cli.models import CommandModel, with_fields
from referee.support.sections import option


class Box(CommandModel):
    """Two options with an annotation of typer, one with a declaration of its own, and a field that is no option."""

    width: Annotated[int, typer.Option("--width")] = 3
    names: Annotated[list[str] | None, typer.Option("--name")] = None
    colour: str | None = option(None, "Its colour.", flag="--colour", metavar="COLOUR")
    place: Path = Path()


CALLS: list[tuple[str, Box, bool]] = []


@with_fields
def pack(*, item: Annotated[str, typer.Argument()], box: Box, quick: Annotated[bool, typer.Option("--quick")] = False) -> None:
    """Pack an item."""
    CALLS.append((item, box, quick))


def run(*words: str) -> str:
    CALLS.clear()
    app = typer.Typer()
    app.command()(pack)
    done = CliRunner().invoke(app, words)
    assert done.exit_code == 0, done.output
    return done.output


def test_the_fields_stand_in_place_of_the_model() -> None:
    parameters = inspect.signature(pack).parameters
    assert list(parameters) == ["item", "width", "names", "colour", "quick"]
    assert [parameters[name].default for name in ("width", "names", "colour")] == [3, None, None]


def test_a_value_that_is_absent_is_not_set() -> None:
    run("ball")
    assert [("ball", Box(), False)] == CALLS
    assert CALLS[0][1].model_fields_set == {"width"}
    run("ball", "--width", "4", "--name", "a", "--name", "b", "--colour", "red", "--quick")
    assert [("ball", Box(width=4, names=["a", "b"], colour="red"), True)] == CALLS


def test_the_help_has_each_option() -> None:
    text = run("--help")
    assert "Its colour." in text
    assert all(flag in text for flag in ("--width", "--name", "--colour", "COLOUR", "--quick"))


def test_python_calls_a_command_with_the_options_that_it_has() -> None:
    CALLS.clear()
    pack(item="ball", width=5, quick=True)
    assert [("ball", Box(width=5), True)] == CALLS
