"""Match files: the options of ``referee play`` as TOML, checked key by key."""

from __future__ import annotations

from difflib import get_close_matches
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tomli
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from referee import games
from referee.errors import UsageError
from referee.isolation.limits import BOUNDS, size
from referee.support.files import open_regular
from referee.wire.escape import escape

if TYPE_CHECKING:
    from pathlib import Path

_MOST_BYTES = 1 << 20

Seconds = float | Literal["none"]


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class TimeSection(_Section):
    """Limits in seconds, or "none"."""

    startup: Seconds | None = None
    move: Seconds | None = None
    bank: Seconds | None = None
    increment: float | None = None
    clock: Literal["wall", "cpu"] | None = None


class RunSection(_Section):
    """Options of the match loop and the isolation level."""

    cores: int | None = Field(default=None, ge=0, le=4096)
    ask: Literal["in-turn", "together"] | None = None
    idle: Literal["stop", "run"] | None = None
    on_malformed: Literal["forfeit", "pass"] | None = None
    max_lateness: float | None = Field(default=None, gt=0, le=3600)
    isolation: Literal["auto", "strict", "limits", "none"] | None = None


def _bounded(name: str) -> Any:
    least, most = BOUNDS[name]
    return Field(default=None, ge=least, le=most)


def _bytes(value: Any) -> Any:
    """Return a number of bytes from a size with a unit, such as "512MiB"; other values are unchanged."""
    return size(value) if isinstance(value, str) else value


class LimitsSection(_Section):
    """Caps on a bot's resources and output; a size is a number of bytes, or a text such as "512MiB"."""

    memory_bytes: Annotated[int | None, BeforeValidator(_bytes)] = _bounded("memory_bytes")
    processes: int | None = _bounded("processes")
    scratch_bytes: Annotated[int | None, BeforeValidator(_bytes)] = _bounded("scratch_bytes")
    open_files: int | None = _bounded("open_files")
    line_bytes: Annotated[int | None, BeforeValidator(_bytes)] = _bounded("line_bytes")
    stderr_bytes: Annotated[int | None, BeforeValidator(_bytes)] = _bounded("stderr_bytes")
    remarks_bytes: Annotated[int | None, BeforeValidator(_bytes)] = _bounded("remarks_bytes")


class MatchFile(_Section):
    """A match file. The game checks ``settings``."""

    game: str | None = None
    rules: str | None = None
    players: list[str] | None = None
    seed: int | None = Field(default=None, ge=-(2**63), lt=2**63)
    out: str | None = None
    quiet: bool | None = None
    json_: bool | None = Field(default=None, alias="json")
    settings: dict[str, Any] = {}
    time: TimeSection = TimeSection()
    run: RunSection = RunSection()
    limits: LimitsSection = LimitsSection()


def read(path: Path) -> MatchFile:
    """Read and check a match file. The UsageError names the file, the key and the allowed values."""
    try:
        with open_regular(path) as file:
            text = file.read(_MOST_BYTES + 1)
        if len(text) > _MOST_BYTES:
            raise UsageError(f"The match file {escape(str(path))} has more than {_MOST_BYTES:,} bytes, the limit for a match file.")
        data = tomli.loads(text.decode())
    except OSError as error:
        raise UsageError(f"The match file {escape(str(path))} can't be read: {error.strerror or error}.") from None
    except (ValueError, RecursionError) as error:
        raise UsageError(f"The match file {escape(str(path))} is not TOML: {escape(str(error), 200)}.") from None
    try:
        return MatchFile.model_validate(data)
    except ValidationError as error:
        raise UsageError(f"The match file {escape(str(path))} {_first(error)}") from None


def _first(error: ValidationError) -> str:
    """Return the first error of a file as the rest of the sentence "The match file ..."."""
    first = error.errors(include_url=False)[0]
    place = [str(part) for part in first["loc"] if not isinstance(part, int) and part not in ("float", "literal['none']")]
    name = escape(".".join(place), 80)
    if first["type"] == "extra_forbidden":
        known = _keys(place[:-1])
        near = _homes(place[-1]) or get_close_matches(place[-1], known, n=1, cutoff=0.6) or get_close_matches(place[-1], _everywhere(), n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(known)}."
        return f"has an unknown key {name!r}; {hint}"
    said = first["msg"].removeprefix("Value error, ")
    said = said[:1].lower() + said[1:]
    return f"has a wrong {name!r}, {_given(first['input'])}: {escape(said, 200)}."


#: The key in a match file of each flag with another name.
_FLAGS = {
    **{option.short: f"settings.{option.name}" for name in games.names() for option in games.info(name).options if option.short},
    "size": "settings.width",
    "move_time": "time.move",
    "startup_time": "time.startup",
}


def _given(value: Any) -> str:
    """Return a value from the file as text for a message."""
    return "a huge number" if isinstance(value, int) and abs(value) >= 10**18 else escape(repr(value), 60)


def _homes(key: str) -> list[str]:
    """Return the full names of the keys that a misplaced or misnamed key may mean."""
    key = key.replace("-", "_")
    return [name for name in _everywhere() if name.partition(".")[2] == key] or [_FLAGS[key] for _ in range(key in _FLAGS)]


def _keys(place: list[str]) -> list[str]:
    """Return the keys of one section of the file, or of its top level."""
    sections: dict[str, type[BaseModel]] = {"time": TimeSection, "run": RunSection, "limits": LimitsSection}
    model = sections.get(place[0], MatchFile) if place else MatchFile
    return [field.alias or name for name, field in model.model_fields.items()]


def _everywhere() -> list[str]:
    """Return every key with its section, to find the place of a misplaced key."""
    inner = [f"{section}.{key}" for section in ("time", "run", "limits") for key in _keys([section])]
    settings = dict.fromkeys(option.name for name in games.names() for option in games.info(name).options)
    return [*inner, *(f"settings.{name}" for name in settings)]
