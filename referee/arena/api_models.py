"""The requests and answers of an arena's API. /api/openapi.json is made from these models."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

#: The longest note of a version, in characters.
LONGEST_NOTE = 200
#: PostgreSQL stores no NUL.
_TEXT = r"^[^\x00]*$"


class _Model(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class ErrorAnswer(_Model):
    """Why a request is refused."""

    error: str = Field(description="One sentence: what was wrong, and what to do.")


class ArenaAnswer(_Model):
    """The arena."""

    name: str
    game: str
    rules: str
    roles: str = Field(description='"both", or the one seat that versions play.')
    frozen: str | None = Field(description="Why submissions are closed; null if they are open.")
    opens: str | None
    closes: str | None
    submissions_per_day: int
    max_bytes: int
    replays: Literal["all", "own"]
    logs: Literal["own", "staff"]
    matches: int = Field(description="The number of matches that were played.")
    team: str | None = Field(description="The team of the token; null for the staff and without a token.")


class StandingsEntry(_Model):
    """A version that plays."""

    rank: int
    team: str
    version: int
    rating: float
    low: float
    high: float
    duels: int
    is_reference: bool
    submitted: str


class StandingsAnswer(_Model):
    """The versions that play, the best first."""

    entries: list[StandingsEntry]


class RatingPointAnswer(_Model):
    """The rating of a version at some time, with the number of duels of the whole arena until then."""

    version: int
    duels: int
    time: str
    rating: float
    low: float
    high: float


class RecordAnswer(_Model):
    """The duels of a team against another one."""

    team: str
    won: int
    tied: int
    lost: int
    duels: int


class VersionAnswer(_Model):
    """A version of a team. Only the team and the staff see refused versions and reports."""

    version: int
    status: str
    note: str
    submitted: str
    is_active: bool
    rating: float | None
    low: float | None
    high: float | None
    duels: int
    report: dict[str, object] | None


class TeamAnswer(_Model):
    """A team."""

    team: str
    is_reference: bool
    disqualified: str | None
    versions: list[VersionAnswer]
    ratings: list[RatingPointAnswer] = Field(description="The ratings of all versions over time.")
    against: list[RecordAnswer] = Field(description="The record of all versions together, by opponent.")


class SubmissionTaken(_Model):
    """A version that waits for its check."""

    id: int
    status: str


class SubmissionAnswer(_Model):
    """A submission. ``version`` is null until it is checked."""

    id: int
    team: str
    version: int | None
    status: Literal["queued", "building", "checking", "accepted", "refused"]
    note: str
    submitted: str
    report: dict[str, object]


class SeatAnswer(_Model):
    """Who played a seat."""

    team: str
    version: int | None


class MatchAnswer(_Model):
    """A match that was played."""

    id: str
    order: int = Field(description="Its position among all matches. As `before`, it selects the earlier matches.")
    seats: dict[str, SeatAnswer]
    winner: str | None
    reason: str
    scores: dict[str, float | None]
    steps: int
    faults: dict[str, str] = Field(description="By seat, the kind of its fault.")
    seconds: float
    ended: str | None


class MatchesAnswer(_Model):
    """Matches, the latest first. ``next`` is the value of ``before`` for those that follow, null at the end."""

    matches: list[MatchAnswer]
    next: int | None


class MatchesQuery(_Model):
    """A selection of matches."""

    team: str | None = Field(default=None, max_length=200)
    version: int | None = Field(default=None, ge=1, le=10**9)
    opponent: str | None = Field(default=None, max_length=200)
    limit: int = Field(default=50, ge=1, le=200)
    before: int | None = Field(default=None, ge=0, le=10**12)

    @model_validator(mode="before")
    @classmethod
    def _without_empty(cls, fields: dict[str, object]) -> dict[str, object]:
        """Leave out empty fields, because a form sends all its fields."""
        return {name: value for name, value in fields.items() if value != ""}


class TeamAsked(_Model):
    """A team, and why."""

    team: str = Field(min_length=1, max_length=200, pattern=_TEXT)
    reason: str = Field(default="", max_length=LONGEST_NOTE, pattern=_TEXT)


class VersionAsked(_Model):
    """A version of a team."""

    team: str = Field(min_length=1, max_length=200, pattern=_TEXT)
    version: int = Field(ge=1, le=10**9, strict=True)


class SubmissionAsked(_Model):
    """A submission."""

    id: int = Field(ge=1, le=10**12, strict=True)


class DoneAnswer(_Model):
    """A sentence about the completed action."""

    done: str


class AuditAction(_Model):
    """An action of the staff."""

    time: str
    action: str
    details: dict[str, object]


class AuditAnswer(_Model):
    """The actions of the staff, the latest first."""

    actions: list[AuditAction]
