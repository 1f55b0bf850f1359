"""Files that the referee wrote and strangers may have changed: certificates and revealed seeds, read with care."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from referee.errors import UsageError
from referee.match.sentences import predicate
from referee.replay.paths import why_unreadable
from referee.support.files import open_regular
from referee.wire import strict_json
from referee.wire.decode import requirement
from referee.wire.escape import escape

if TYPE_CHECKING:
    from pathlib import Path

    from referee.games.game import Json


class Part(BaseModel):
    """A part of such a file. Other fields are allowed: later versions may add some."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


Model = TypeVar("Model", bound=Part)


def read(path: Path, kind: str, version: int, model: type[Model], most_bytes: int, oldest: int = 0) -> tuple[dict[str, Json], Model]:
    """Return the content of a file as JSON and as a value. ``kind`` is its type and what sentences call it, ``version`` its format.

    ``oldest`` is the oldest format that is read, too; by default there is none but ``version``.

    UsageError if it can't be read, is something else, or has another format.
    """
    shown = escape(str(path), 200)
    try:
        with open_regular(path) as file:
            data = file.read(most_bytes + 1)
    except (OSError, ValueError) as error:
        raise UsageError(f"The {kind} {shown} can't be read: {why_unreadable(error, path)}") from None
    if len(data) > most_bytes:
        raise UsageError(f"The {kind} {shown} has more than {most_bytes >> 20} MiB: the referee wrote none like it.")
    try:
        body = strict_json.read(data)
    except strict_json.NotJson as error:
        raise UsageError(f"{shown} is not a {kind}: it {predicate(error)}.") from None
    if not isinstance(body, dict) or body.get("type") != kind:
        raise UsageError(f"{shown} is not a {kind}.")
    found = body.get("format")
    if type(found) is not int or not (oldest or version) <= found <= version:
        raise UsageError(f"{shown} has the format {escape(str(found), 20)}; this referee reads {version}: update it.")
    try:
        return body, model.model_validate(body)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = escape(".".join(str(part) for part in first["loc"]), 80)
        raise UsageError(f"{shown} is not a {kind}: {where} {requirement(first['msg'])}.") from None
