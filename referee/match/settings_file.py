"""TOML files of settings: match files, the sections that league files share with them, and messages about wrong keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, TypeVar

from pydantic import Field, ValidationError

from referee import games
from referee.errors import UsageError
from referee.isolation.limits import IsolationValue, Limits
from referee.match import options
from referee.match.options import AUTO, BilledTime, RunOptions, TimeLimits
from referee.replay.paths import content
from referee.support.near_names import nearest
from referee.support.plain_text import toml
from referee.support.sections import Section
from referee.wire import decode

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

#: The allowed seeds in a file.
Seed = Annotated[int | None, Field(ge=-(2**63), lt=2**63)]


class TimeSection(TimeLimits):
    """The time limits, and the clock."""

    clock: BilledTime = AUTO


class RunSection(RunOptions):
    """Options of the match loop and the isolation level."""

    isolation: IsolationValue = "auto"


class MatchFile(Section):
    """A match file: the options of ``referee play``. The game checks ``settings``."""

    game: str | None = None
    rules: str | None = None
    players: list[str] | None = None
    seed: Seed = None
    out: str | None = None
    quiet: bool | None = None
    json_: bool | None = Field(default=None, alias="json")
    settings: dict[str, Any] = Field(default_factory=dict)
    time: TimeSection = Field(default_factory=TimeSection)
    run: RunSection = Field(default_factory=RunSection)
    limits: Limits = Field(default_factory=Limits)


File = TypeVar("File", bound=Section)


def read(path: Path, model: type[File], kind: str, most_bytes: int = 1 << 20) -> File:
    """Read and check a file; ``kind`` names it in messages ("match file"). The UsageError names the file, the key and the allowed values."""
    called = f"The {kind} {path}"
    return parse(content(path, called, most_bytes), model, called)


def parse(text: bytes, model: type[File], where: str) -> File:
    """Check the content of a file. ``where`` begins the UsageError's sentence ("The match file x.toml")."""
    try:
        data = toml(text)
    except ValueError as error:
        raise UsageError(f"{where} {error}") from None
    return checked(data, model, where)


def checked(data: Mapping[str, Any], model: type[File], where: str) -> File:
    """Check a table of a file. ``where`` begins the UsageError's sentence."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        raise UsageError(f"{where} {_first(error, model)}") from None


def _first(error: ValidationError, model: type[Section]) -> str:
    """Return the first error of a file as the rest of the sentence "The match file ..."."""
    first = error.errors(include_url=False)[0]
    place = [str(part) for part in first["loc"] if not isinstance(part, int)]
    name = ".".join(place)
    if first["type"] == "extra_forbidden":
        return f"has an unknown key {name!r}; {_hint(model, place)}"
    if first["type"] == "missing":
        return f"has no key {name!r}; add it."
    field = _sections(model).get(place[0], model).model_fields.get(place[-1])
    must = options.requirement(field) if field is not None else ""
    said = f"must be {must}" if must else decode.requirement(first["msg"])
    return f"has a wrong {name!r}, {options.shown(first['input'])}: {said[:1].lower() + said[1:]}."


def _hint(model: type[Section], place: list[str]) -> str:
    """Return a suggestion for an unknown key, or the list of known keys."""
    key, known, everywhere = place[-1], keys(model, place[:-1]), _everywhere(model)
    near = next(iter(_homes(model, place)), "") or nearest(key, known) or nearest(key, everywhere)
    return f"did you mean {near!r}?" if near else f"there are {', '.join(known)}."


#: The key in a file of each command line flag with another name.
_FLAGS = {
    **{each.parameter: each.key for each in options.declared() if each.flag and each.parameter != each.name},
    **{option.short: f"settings.{option.name}" for name in games.names() for option in games.info(name).options if option.short},
    "size": "settings.width",
    "startup_time": "time.startup",
}


def _homes(model: type[Section], place: list[str]) -> list[str]:
    """Return the full names of the keys that a misplaced or misnamed key may mean."""
    key = place[-1].replace("-", "_")
    everywhere = _everywhere(model)
    found = [name for name in everywhere if name.partition(".")[2] == key] or [name for name in everywhere if name == _FLAGS.get(key)]
    return found or [key for _ in range(len(place) > 1 and key in keys(model))]


def keys(model: type[Section], place: list[str] | tuple[str, ...] = ()) -> list[str]:
    """Return the keys of one section of a file, or of its top level."""
    section = _sections(model).get(place[0], model) if place else model
    return [field.alias or name for name, field in section.model_fields.items()]


def _sections(model: type[Section]) -> dict[str, type[Section]]:
    kinds = {name: field.annotation for name, field in model.model_fields.items()}
    return {name: kind for name, kind in kinds.items() if isinstance(kind, type) and issubclass(kind, Section)}


def _everywhere(model: type[Section]) -> list[str]:
    """Return every key with its section, to find the section of a misplaced key."""
    inner = [f"{section}.{key}" for section in _sections(model) for key in keys(model, [section])]
    settings = dict.fromkeys(option.name for name in games.names() for option in games.info(name).options)
    return [*inner, *(f"settings.{name}" for name in settings)]
