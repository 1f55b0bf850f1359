"""Sections of options: frozen models in which each option is declared once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

if TYPE_CHECKING:
    from typing_extensions import Self


class Section(BaseModel):
    """A table of options. Unknown keys are errors, and no value is converted. Pydantic builds it at its first use."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, defer_build=True)

    @property
    def given(self) -> dict[str, Any]:
        """The values that the user gave, by name. All others are the defaults."""
        return {name: value for name, value in self if name in self.model_fields_set}

    def replace(self, **values: object) -> Self:
        """Return a copy with other values. They are not checked: use this only for the referee's own values."""
        return self.model_copy(update=values)


def option(default: object, text: str, *, unit: str = "", flag: str = "", metavar: str = "", **bounds: Any) -> Any:
    """Return the declaration of an option. ``text`` is its sentence in a help, ``unit`` that of its number, ``flag`` its flag on a command line, and
    ``metavar`` the name of the flag's value in a help.

    ``bounds`` are those of ``pydantic.Field``, such as ``ge`` and ``le``.
    """
    return Field(default, description=text, json_schema_extra={"unit": unit, "flag": flag, "metavar": metavar}, **bounds)
