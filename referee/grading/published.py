"""Revealed seeds: files that the referee wrote and strangers may have changed, and the report of a check of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from referee.errors import UsageError
from referee.players.faults import predicate
from referee.replay.paths import content
from referee.support.files import write_whole
from referee.support.words import counted
from referee.wire import strict_json
from referee.wire.decode import requirement

if TYPE_CHECKING:
    from pathlib import Path

    from referee.games.game import Json

#: The most problems that are listed for people.
_MOST = 20


class Part(BaseModel):
    """A part of such a file. Other fields are allowed: later versions may add some."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)


class Finding(NamedTuple):
    """A problem that a check found: where it is ("" for the whole file), what is wrong there, and what to do."""

    where: str
    what: str
    remedy: str


class CheckReport(NamedTuple):
    """The result of a check. ``facts`` are for ``--json``; ``summary`` and, if there is no problem, ``verdict`` are lines for people."""

    findings: list[Finding]
    facts: dict[str, Any]
    summary: list[str]
    verdict: list[str]

    @property
    def ok(self) -> bool:
        """True if there is no problem."""
        return not self.findings

    @property
    def problems(self) -> tuple[str, ...]:
        """A sentence for each problem."""
        return tuple(f"{one.where:.200}: {one.what}" if one.where else one.what for one in self.findings)

    def to_json(self) -> dict[str, Any]:
        """The result as ``--json`` prints it."""
        return {"ok": self.ok, "problems": self.problems, **self.facts}

    def lines(self) -> list[str]:
        """Return the result for people."""
        more = len(self.findings) - _MOST
        problems = [*self.problems[:_MOST], *([f"... and {more:,} more problems"] if more > 0 else [])]
        remedies = dict.fromkeys(one.remedy for one in self.findings)
        return [*problems, *self.summary, *(self.verdict if self.ok else [f"{counted(len(self.findings), 'problem')}.", *remedies])]


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


def write(path: Path, text: str) -> None:
    """Write such a file. UsageError if that fails."""
    try:
        write_whole(path, f"{text}\n".encode())
    except OSError as error:
        raise UsageError(f"{path} can't be written: {error.strerror or error}.") from None
