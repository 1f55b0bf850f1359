"""Certificates and revealed seeds: files that the referee wrote and strangers may have changed, and the report of a check of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from referee.errors import UsageError
from referee.match.sentences import predicate
from referee.replay.paths import content
from referee.wire import strict_json
from referee.wire.decode import requirement

if TYPE_CHECKING:
    from pathlib import Path

    from referee.games.game import Json


class Part(BaseModel):
    """A part of such a file. Other fields are allowed: later versions may add some."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class CheckReport(Part):
    """The result of a check, with a sentence for each problem."""

    problems: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """True if there is no problem."""
        return not self.problems

    def to_json(self) -> dict[str, Any]:
        """The result as ``--json`` prints it."""
        return {"ok": self.ok, **self.model_dump(mode="json")}


Model = TypeVar("Model", bound=Part)


def read(path: Path, kind: str, model: type[Model], most_bytes: int) -> tuple[dict[str, Json], Model]:
    """Return the content of a file as JSON and as a value. ``kind`` is its type and what sentences call it. Raises UsageError."""
    shown = str(path)
    try:
        body = strict_json.read(content(path, f"The {kind} {shown}", most_bytes))
        if not isinstance(body, dict) or body.get("type") != kind:
            raise UsageError(f"{shown} is not a {kind}.")
        return body, model.model_validate(body)
    except strict_json.NotJson as error:
        raise UsageError(f"{shown} is not a {kind}: it {predicate(error)}.") from None
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        advice = "; update this referee if a newer one wrote the file" if where == "format" else ""
        raise UsageError(f"{shown} is not a {kind} that this referee reads: {where} {requirement(first['msg'])}{advice}.") from None
