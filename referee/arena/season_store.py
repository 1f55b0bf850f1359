"""The store of an arena with a server: tokens of teams and staff, what was handed in, and the log of the staff's actions."""

from __future__ import annotations

import hashlib
import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Column, Float, Index, Integer, MetaData, Table, Text, func, insert, select, update

from referee.arena.store import ArenaStore
from referee.tournament.database import required
from referee.tournament.transactions import storable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from referee.games.game import Json

#: The status of a submission that waits, whose program is built, and whose check runs. The others are those of a version.
QUEUED, BUILDING, CHECKING = "queued", "building", "checking"

_meta = MetaData()
_tokens = Table(
    "tokens",
    _meta,
    Column("hash", Text, primary_key=True),
    # NULL: the staff's.
    Column("team", Text),
    Column("made", Float, nullable=False),
)
_submissions = Table(
    "submissions",
    _meta,
    Column("number", Integer, primary_key=True),
    *required(Text, "team", "note", "file", "status", "report"),
    Column("version", Integer),
    *required(Float, "time"),
    Index("submissions_by_status", "status"),
    Index("submissions_by_team", "team", "time"),
)
#: What has no verdict yet.
_is_open = _submissions.c.status.in_((QUEUED, BUILDING, CHECKING))
_audit = Table(
    "audit",
    _meta,
    Column("number", Integer, primary_key=True),
    *required(Float, "time"),
    *required(Text, "action", "details"),
)


class TeamSubmission(NamedTuple):
    """What a team has handed in. ``file`` is its path in the arena's folder; ``version`` its number as a version, None until it is checked.

    ``time`` is in seconds since the epoch. ``report`` says what the check found, or while it runs, how far it is.
    """

    number: int
    team: str
    note: str
    file: str
    status: str
    report: Mapping[str, Json]
    version: int | None
    time: float


class AuditEntry(NamedTuple):
    """An action of the staff. ``time`` is in seconds since the epoch."""

    number: int
    time: float
    action: str
    details: Mapping[str, Json]


class Holder(NamedTuple):
    """Who holds a token: a team, or the staff if ``team`` is None."""

    team: str | None

    @property
    def is_staff(self) -> bool:
        """True for the staff."""
        return self.team is None


class SeasonStore(ArenaStore):
    """An open store of an arena with a server."""

    metas = (*ArenaStore.metas, _meta)

    def put_tokens(self, tokens: Iterable[tuple[str, str | None]]) -> None:
        """Store the hashes of new tokens, each with its team. A token of the staff replaces the staff's earlier one."""
        now = time.time()
        with self._write() as connection:
            for token, team in tokens:
                if team is None:
                    connection.execute(_tokens.delete().where(_tokens.c.team.is_(None)))
                connection.execute(insert(_tokens).values(hash=_hashed(token), team=team, made=now))

    def revoke(self, team: str) -> int:
        """Forget all tokens of a team; return how many there were."""
        with self._write() as connection:
            return int(connection.execute(_tokens.delete().where(_tokens.c.team == team)).rowcount)

    def holder(self, token: str) -> Holder | None:
        """Return who holds a token; None for one that is not valid."""
        holders = self._all(select(_tokens.c.team).where(_tokens.c.hash == _hashed(token)), lambda row: Holder(row.team))
        return holders[0] if holders else None

    def invited(self) -> list[str]:
        """Return the teams that have a token."""
        query = select(_tokens.c.team).where(_tokens.c.team.is_not(None)).distinct().order_by(_tokens.c.team)
        return self._all(query, lambda row: str(row.team))

    def put_submission(self, team: str, note: str, file: str) -> TeamSubmission:
        """Store what a team has handed in; it is queued."""
        stored_note, now = storable(note), time.time()
        facts = {"team": team, "note": stored_note, "file": file, "status": QUEUED, "report": "{}", "time": now}
        with self._write() as connection:
            number = connection.execute(insert(_submissions).values(**facts).returning(_submissions.c.number)).scalar_one()
        return TeamSubmission(number, team, stored_note, file, QUEUED, {}, None, now)

    def submission(self, number: int) -> TeamSubmission | None:
        """Return a submission by its number; None if there is none."""
        submissions = self._all(select(_submissions).where(_submissions.c.number == number), _submission)
        return submissions[0] if submissions else None

    def submissions(self, team: str | None = None, *, limit: int = 50) -> list[TeamSubmission]:
        """Return the latest submissions of a team, or of all teams, those without a verdict first, each the latest first."""
        query = select(_submissions).order_by(_is_open.desc(), _submissions.c.number.desc()).limit(limit)
        if team is not None:
            query = query.where(_submissions.c.team == team)
        return self._all(query, _submission)

    def submission_times(self, team: str, since: float) -> list[float]:
        """Return when a team has handed in since some time, the first one first."""
        query = select(_submissions.c.time).where(_submissions.c.team == team, _submissions.c.time > since).order_by(_submissions.c.time)
        return self._all(query, lambda row: float(row.time))

    def next_submission(self) -> TeamSubmission | None:
        """Return the first submission without a verdict. One that was building or checking when its process was killed is taken up again."""
        query = select(_submissions).where(_is_open).order_by(_submissions.c.number).limit(1)
        submissions = self._all(query, _submission)
        return submissions[0] if submissions else None

    def set_submission(self, number: int, status: str, report: Mapping[str, Json], version: int | None = None) -> None:
        """Store how far a submission is."""
        facts = {"status": status, "report": json.dumps(report), "version": version}
        with self._write() as connection:
            connection.execute(update(_submissions).where(_submissions.c.number == number).values(**facts))

    def waiting(self) -> int:
        """Return how many submissions have no verdict yet."""
        query = select(func.count()).select_from(_submissions).where(_is_open)
        return self._all(query, lambda row: int(row[0]))[0]

    def put_audit(self, action: str, details: Mapping[str, Json]) -> None:
        """Note an action of the staff."""
        with self._write() as connection:
            connection.execute(insert(_audit).values(time=time.time(), action=action, details=json.dumps(details)))

    def audit(self, limit: int = 200) -> list[AuditEntry]:
        """Return the latest actions of the staff, the latest first."""
        query = select(_audit).order_by(_audit.c.number.desc()).limit(limit)
        return self._all(query, lambda row: AuditEntry(row.number, row.time, row.action, json.loads(row.details)))


def _hashed(token: str) -> str:
    """Return what is stored of a token. It has 128 random bits, so a plain hash can't be searched."""
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _submission(row: Any) -> TeamSubmission:
    facts = row._asdict()
    return TeamSubmission(**{**facts, "report": json.loads(facts["report"])})
