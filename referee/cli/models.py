"""Models whose fields are options of commands: a command that takes a model has an option for each field."""

from __future__ import annotations

import functools
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, ClassVar, get_args

import typer
from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_INFO = type(typer.Option())
_ARGUMENT = type(typer.Argument())


class CommandModel(BaseModel):
    """Options of a command: the fields with a ``typer.Option`` in their annotation, or a flag in their declaration by ``sections.option``.

    An option without a value is absent, not None. ``panels`` holds the panels of the help by field. Pydantic builds each model when it is first
    used, because building the models of all commands would slow down each start.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    panels: ClassVar[Mapping[str, str]] = {}

    @classmethod
    def parameters(cls) -> Iterator[inspect.Parameter]:
        """Yield the options as parameters of a command."""
        for name, field in cls.model_fields.items():
            default, facts = field.get_default(call_default_factory=True), field.json_schema_extra
            if any(isinstance(each, _INFO) for each in field.metadata):
                yield option(name, field.rebuild_annotation(), default)
            elif isinstance(facts, dict) and facts["flag"]:
                info = typer.Option(
                    str(facts["flag"]), metavar=str(facts["metavar"]), help=field.description, rich_help_panel=cls.panels.get(name)
                )
                yield option(name, Annotated[field.annotation, info], default)


def _named(text: str) -> str:
    """Return the text of a path. Refuse an empty one, which would mean the current folder."""
    if not text:
        raise typer.BadParameter("it is empty; name a file or a folder.")
    return text


def named_path(text: str) -> Path:
    """Return the path that an argument or an option names. Refuse an empty one."""
    return Path(_named(text))


def _file_path(text: str) -> Path:
    """Return the path of a file. Refuse a name that ends with a slash, because it means a folder."""
    if text.endswith("/"):
        raise typer.BadParameter("it ends in /, as the name of a folder does; name a file.")
    return named_path(text)


def _refuses_empty_paths(parameter: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter of a command. If its values are paths, the parameter refuses empty ones."""
    kind, *infos = get_args(parameter.annotation) if hasattr(parameter.annotation, "__metadata__") else (parameter.annotation,)
    is_path = kind is Path or Path in get_args(kind)
    for info in infos:
        if isinstance(info, _INFO | _ARGUMENT):
            is_file = re.fullmatch(r"FILE(\.\w+)?", info.metavar or "") is not None
            if is_path:
                info.parser = _file_path if is_file else named_path
            elif is_file or parameter.name == "out":
                info.parser = _named
    return parameter


def option(name: str, annotation: object, default: object = None) -> inspect.Parameter:
    """Return an option as a parameter of a command."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


@functools.cache
def _parameters(model: type[CommandModel]) -> list[inspect.Parameter]:
    return list(model.parameters())


def with_fields(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of its models in place of the models; the function gets the models."""
    models: dict[str, tuple[type[CommandModel], list[str]]] = {}
    options: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function, eval_str=True).parameters.items():
        model = parameter.annotation
        if isinstance(model, type) and issubclass(model, CommandModel):
            of_model = _parameters(model)
            models[name] = (model, [each.name for each in of_model])
            options += of_model
        else:
            options.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY))

    @functools.wraps(function)
    def command(**values: object) -> None:
        for name, (model, names) in models.items():
            fields = {field: values.pop(field, None) for field in names}
            values[name] = model.model_validate({field: value for field, value in fields.items() if value is not None})
        function(**values)

    options = [_refuses_empty_paths(parameter) for parameter in options]
    command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    # Set the types themselves, or typer would evaluate their texts for each command at each start.
    command.__annotations__ = {each.name: each.annotation for each in options}
    return command
