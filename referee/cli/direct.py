"""Calls a command without typer's tree of commands, if the command line is simple: known options with values in their usual form.

Typer takes longer to build the tree than a match takes to start, because it makes a validator for every option. This module reads the same
declarations, those of the command's signature. For any other command line, such as one with an unknown option, a value in an unusual form or a
missing argument, it does nothing. Then typer parses the command line and prints the error message.
"""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Union, get_args, get_origin

import typer
from typer.models import ArgumentInfo, OptionInfo

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Convert = Callable[[str], Any]

#: What a declaration may say and this module either understands or need not know. Any other word in it leaves the command to typer.
_UNDERSTOOD = {
    "autocompletion",
    "default",
    "help",
    "max",
    "metavar",
    "min",
    "param_decls",
    "rich_help_panel",
    "show_default",
}
_INTEGER = re.compile(r"-?[0-9]{1,15}")
_NUMBER = re.compile(r"-?[0-9]{1,15}(\.[0-9]{1,15})?")


class _Unclear(Exception):
    """Only typer can tell what the command line means."""


class _Parameter(NamedTuple):
    """A parameter of a command. ``convert`` is None for a flag; ``flags`` maps its options to their values as a flag, {} for an argument."""

    name: str
    convert: Convert | None
    flags: Mapping[str, bool]
    is_list: bool
    default: Any
    is_required: bool


def run(command: Callable[..., Any] | None, words: Sequence[str]) -> bool:
    """Call a command with the words after its name, and return True. False if typer has to parse them; then nothing was done."""
    given = None if command is None else arguments(command, words)
    if command is None or given is None:
        return False
    try:
        command(**given)
    except typer.Exit as exit_:
        sys.exit(exit_.exit_code)
    return True


def arguments(command: Callable[..., Any], words: Sequence[str]) -> dict[str, Any] | None:
    """Return the arguments with which typer would call a command for these words. None if they aren't simple."""
    try:
        parameters = [_read(parameter) for parameter in inspect.signature(command, eval_str=True).parameters.values()]
        return _parsed(parameters, words)
    except _Unclear:
        return None


def _read(parameter: inspect.Parameter) -> _Parameter:
    """Return one parameter of a command from its annotation."""
    if get_origin(parameter.annotation) is not Annotated:
        raise _Unclear
    kind, info, *others = get_args(parameter.annotation)
    if others or not isinstance(info, OptionInfo | ArgumentInfo):
        raise _Unclear
    is_option = isinstance(info, OptionInfo)
    plain = vars(typer.Option() if is_option else typer.Argument())
    if any(value != plain[name] for name, value in vars(info).items() if name not in _UNDERSTOOD):
        raise _Unclear
    # In an annotation, the first name of an option stands where its default would stand elsewhere.
    flags = _flags((info.default, *(info.param_decls or ()))) if is_option else {}
    kind, is_list = _kind(kind)
    is_required = parameter.default is inspect.Parameter.empty
    convert = None if kind is bool and is_option else _converter(kind, info.min, info.max)
    if (convert is None and is_list) or (convert is not None and not all(flags.values())):
        raise _Unclear
    return _Parameter(parameter.name, convert, flags, is_list, None if is_required else parameter.default, is_required)


def _kind(annotation: Any) -> tuple[Any, bool]:
    """Return the type of each value of a parameter, and whether the parameter is a list of them."""
    if get_origin(annotation) in (Union, UnionType):
        kinds = [each for each in get_args(annotation) if each is not type(None)]
        if len(kinds) != 1:
            raise _Unclear
        annotation = kinds[0]
    return (get_args(annotation)[0], True) if get_origin(annotation) is list else (annotation, False)


def _flags(declared: Sequence[Any]) -> dict[str, bool]:
    """Return the options that a declaration such as "--stay/--no-stay" or "-q" names, each with the value that it sets as a flag."""
    found: dict[str, bool] = {}
    for text in declared:
        if not isinstance(text, str):
            raise _Unclear
        yes, _, no = text.partition("/")
        found.update({name.strip(): value for name, value in ((yes, True), (no, False)) if name})
    if not all(re.fullmatch(r"--\w[\w-]*|-\w", name) for name in found):
        raise _Unclear
    return found


def _converter(kind: Any, least: float | None, most: float | None) -> Convert:
    def number(text: str) -> Any:
        if not (_INTEGER if kind is int else _NUMBER).fullmatch(text):
            raise _Unclear
        value = kind(text)
        if (least is not None and value < least) or (most is not None and value > most):
            raise _Unclear
        return value

    def path(text: str) -> Path:
        if text in ("", "-"):
            raise _Unclear
        return Path(text)

    if kind in (int, float):
        return number
    if kind is Path:
        return path
    if kind is str:
        return str
    raise _Unclear


def _parsed(parameters: Sequence[_Parameter], words: Sequence[str]) -> dict[str, Any]:
    """Return the value of each parameter by name."""
    options = {flag: parameter for parameter in parameters for flag in parameter.flags}
    values: dict[str, Any] = {}
    places: list[str] = []
    left = iter(words)
    for word in left:
        if word == "-" or not word.startswith("-"):
            places.append(word)
            continue
        flag, equals, text = word.partition("=")
        option = options.get(flag)
        if option is None or (equals and (option.convert is None or not flag.startswith("--"))):
            raise _Unclear
        if option.convert is None:
            values[option.name] = option.flags[flag]
            continue
        if not equals:
            text = next(left, "--")
            if text.startswith("-") and not _NUMBER.fullmatch(text):
                raise _Unclear
        value = option.convert(text)
        if option.is_list:
            values.setdefault(option.name, []).append(value)
        else:
            values[option.name] = value
    values |= _placed([parameter for parameter in parameters if not parameter.flags], places)
    if any(parameter.is_required and parameter.name not in values for parameter in parameters):
        raise _Unclear
    return {parameter.name: values.get(parameter.name, parameter.default) for parameter in parameters}


def _placed(arguments: Sequence[_Parameter], words: Sequence[str]) -> dict[str, Any]:
    """Return the values of arguments, which are told apart by their places alone."""
    values: dict[str, Any] = {}
    left = list(words)
    for index, argument in enumerate(arguments):
        if argument.convert is None or (argument.is_list and index != len(arguments) - 1):
            raise _Unclear
        if argument.is_list and left:
            values[argument.name] = [argument.convert(word) for word in left]
            left = []
        elif left:
            values[argument.name] = argument.convert(left.pop(0))
    if left:
        raise _Unclear
    return values
