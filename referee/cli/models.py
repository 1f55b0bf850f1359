"""Options that commands share are fields of models; a command that takes a model has an option for each field."""

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


class Options(BaseModel):
    """Options of a command. The annotation of a field is that of typer; a value None means that the option is absent."""

    model_config = ConfigDict(frozen=True, extra="forbid")


def with_fields(function: Callable[..., None]) -> Callable[..., None]:
    """Return a command with the options of its models in place of the models; the function gets the models."""
    parameters = inspect.signature(function, eval_str=True).parameters
    models: dict[str, type[BaseModel]] = {
        name: parameter.annotation for name, parameter in parameters.items() if isinstance(parameter.annotation, type(BaseModel))
    }
    options = [
        option.replace(kind=inspect.Parameter.KEYWORD_ONLY)
        for name, parameter in parameters.items()
        for option in (_options(models[name]) if name in models else [parameter])
    ]

    @functools.wraps(function)
    def command(**values: object) -> None:
        for name, model in models.items():
            fields = {field: values.pop(field) for field in model.model_fields}
            values[name] = model.model_validate({field: value for field, value in fields.items() if value is not None})
        function(**values)

    command.__signature__ = inspect.Signature(options)  # type: ignore[attr-defined]
    command.__annotations__ = {option.name: option.annotation for option in options}
    return command


def _options(model: type[BaseModel]) -> Iterator[inspect.Parameter]:
    """Yield the options of a model as parameters of a command."""
    for name, field in model.model_fields.items():
        default = inspect.Parameter.empty if field.is_required() else field.default
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=field.rebuild_annotation())
