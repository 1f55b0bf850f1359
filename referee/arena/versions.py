"""The whole life of a version, from what a team hands in to the day on which it plays no more.

What a team sends is a hand-in. It waits in a queue until its check. The check unpacks its files, which become a version of the team; the same
files are the same version, and share its verdict. An accepted version plays. ``MOVES`` is all of that life: which process moves what on, and
when. ``move`` allows nothing else. A process that was killed left its rows in one of these states, and the next one goes on from there.
After each change the process whose turn it is hears its bell.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from sqlalchemy import Boolean, Column, Float, Index, Integer, MetaData, Table, Text, UniqueConstraint, func, insert, select, update

from referee.arena.season import note_change
from referee.errors import UsageError
from referee.league import database as league_tables
from referee.league.rows import team_row
from referee.support.words import listed
from referee.tournament.database import required
from referee.tournament.transactions import storable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy.engine import Connection, Row

    from referee.games.game import Json
    from referee.tournament.transactions import Database
    from referee.tournament.values import Team

#: Who moves something on: the server that answers teams, the process that checks, the one that plays, and the staff.
SERVER, CHECKER, PLAYER, STAFF = "server", "checker", "player", "staff"
#: The states. A hand-in that is built is being checked, too.
QUEUED, CHECKING, BUILDING, ACCEPTED, REFUSED = "queued", "checking", "building", "accepted", "refused"
PLACING, ACTIVE, RETIRED = "placing", "active", "retired"
#: What has no verdict yet.
_WAITING = (QUEUED, BUILDING, CHECKING)


class Transition(NamedTuple):
    """A step of the life: ``mover`` moves a hand-in or a version from any of some states to another one. None: it is new."""

    mover: str
    before: tuple[str | None, ...]
    after: str
    when: str


MOVES = (
    Transition(SERVER, (None,), QUEUED, "a team hands it in"),
    Transition(
        CHECKER, (QUEUED, CHECKING, BUILDING), CHECKING, "it is the first one that waits, or the program is built; again after a kill"
    ),
    Transition(CHECKER, (CHECKING, BUILDING), BUILDING, "its program is built"),
    Transition(CHECKER, (CHECKING, BUILDING), ACCEPTED, "the check found nothing, or the same files were accepted before"),
    Transition(CHECKER, (CHECKING, BUILDING), REFUSED, "the check says why, or the team is disqualified"),
    Transition(CHECKER, (None, REFUSED), ACCEPTED, "its files are a version that has passed its check"),
    Transition(CHECKER, (None, REFUSED), REFUSED, "its files are a version that has failed its check"),
    Transition(PLAYER, (ACCEPTED,), PLACING, "it joins between two batches of duels"),
    Transition(PLAYER, (ACCEPTED, PLACING, RETIRED), ACTIVE, "it has had its first duels and goes on, or its team has gone back to it"),
    Transition(PLAYER, (ACCEPTED, PLACING, ACTIVE), RETIRED, "it has had its first duels, and its team plays with another version"),
    Transition(STAFF, (*_WAITING, ACCEPTED, REFUSED), QUEUED, "the staff wants another check"),
)
_ALLOWED = {(before, move.after): move.mover for move in MOVES for before in move.before}


def check_move(mover: str, before: str | None, after: str) -> None:
    """Raise ValueError unless ``MOVES`` has this step."""
    if _ALLOWED.get((before, after)) != mover:
        raise ValueError(f"the {mover} can't move {before} to {after}")


meta = MetaData()
_hand_ins = Table(
    "hand_ins",
    meta,
    Column("number", Integer, primary_key=True),
    *required(Text, "team", "note", "file", "state", "report"),
    Column("version", Integer),
    *required(Float, "submitted"),
    Index("hand_ins_by_state", "state"),
    Index("hand_ins_by_team", "team", "submitted"),
)
_is_waiting = _hand_ins.c.state.in_(_WAITING)
_versions = Table(
    "versions",
    meta,
    Column("name", Text, primary_key=True),
    *required(Text, "team"),
    *required(Integer, "number"),
    *required(Text, "hash", "state", "note", "report"),
    *required(Float, "submitted"),
    *required(Integer, "first_duel"),
    *required(Boolean, "is_reference", "is_active"),
    UniqueConstraint("team", "hash"),
)
#: The teams that are disqualified, each with the reason.
_disqualified = Table("disqualified", meta, Column("team", Text, primary_key=True), *required(Text, "why"))
#: How the reason begins why a disqualified team's version plays no more.
_NO_PLAY = "The team is disqualified: "


class HandIn(NamedTuple):
    """What a team has handed in. ``file`` is its path in the arena's folder; ``version`` its number as a version, None until it is checked.

    ``submitted`` is in seconds since the epoch. ``report`` says what the check found, or while it runs, how far it is.
    """

    number: int
    team: str
    note: str
    file: str
    state: str
    report: Mapping[str, Json]
    version: int | None
    submitted: float


class Version(NamedTuple):
    """A version of a team. ``name`` is its name in matches: the team's, and the number, which counts from 1.

    ``report`` says what its check found. ``submitted`` is in seconds since the epoch. ``first_duel`` is the number of duels that the arena had
    then. ``is_active``: its team plays with it.
    """

    name: str
    team: str
    number: int
    hash: str
    state: str
    note: str = ""
    report: Mapping[str, Json] = {}
    submitted: float = 0.0
    first_duel: int = 0
    is_reference: bool = False
    is_active: bool = False

    @property
    def status(self) -> str:
        """The verdict of its check: ``ACCEPTED`` or ``REFUSED``."""
        return REFUSED if self.state == REFUSED else ACCEPTED

    def due(self, duels: int, placement: int, *, goes_on: bool) -> str:
        """Return the state that it has to have after so many duels: first its placement, then play if it ``goes_on``."""
        if self.state == REFUSED:
            return REFUSED
        if duels < placement and not self.is_reference and self.state in (ACCEPTED, PLACING):
            return PLACING
        return ACTIVE if goes_on else RETIRED


class Versions:
    """The hand-ins and versions of a store. ``wake`` rings the bell of a process, after the transaction."""

    def __init__(self, database: Database, wake: Callable[[str], None]) -> None:
        self._database = database
        self._wake = wake

    def hand_in(self, team: str, note: str, file: str) -> HandIn:
        """Queue what a team has handed in, and wake the checker."""
        check_move(SERVER, None, QUEUED)
        stored_note, now = storable(note), time.time()
        row = {"team": team, "note": stored_note, "file": file, "state": QUEUED, "report": "{}", "submitted": now}
        with self._database.write() as connection:
            number = connection.execute(insert(_hand_ins).values(**row).returning(_hand_ins.c.number)).scalar_one()
        self._wake(CHECKER)
        return HandIn(number, team, stored_note, file, QUEUED, {}, None, now)

    def next(self) -> HandIn | None:
        """Return the first hand-in without a verdict, None if none waits. One whose check was cut off by a kill comes first again."""
        hand_ins = self._database.all(select(_hand_ins).where(_is_waiting).order_by(_hand_ins.c.number).limit(1), _hand_in)
        return hand_ins[0] if hand_ins else None

    def move(
        self, mover: str, hand_in: HandIn, after: str, report: Mapping[str, Json], version: int | None = None, *, is_last: bool = False
    ) -> HandIn | None:
        """Move a hand-in on, with a report; return it as it is then. None if somebody else has moved it meanwhile: then nothing is changed.

        ``is_last``: its number as a version is certain now.
        """
        check_move(mover, hand_in.state, after)
        moved = hand_in._replace(state=after, report=report, version=version if is_last else hand_in.version)
        mine = _hand_ins.c.number == hand_in.number, _hand_ins.c.state == hand_in.state
        with self._database.write() as connection:
            values = {"state": after, "report": json.dumps(report), "version": moved.version}
            count = connection.execute(update(_hand_ins).where(*mine).values(**values)).rowcount
        if after == QUEUED:
            self._wake(CHECKER)
        return moved if count else None

    def handed_in(self, number: int) -> HandIn | None:
        """Return a hand-in by its number; None if there is none."""
        hand_ins = self._database.all(select(_hand_ins).where(_hand_ins.c.number == number), _hand_in)
        return hand_ins[0] if hand_ins else None

    def hand_ins(self, team: str | None = None, *, limit: int = 50) -> list[HandIn]:
        """Return the latest hand-ins of a team, or of all teams, those without a verdict first, each the latest first."""
        query = select(_hand_ins).order_by(_is_waiting.desc(), _hand_ins.c.number.desc()).limit(limit)
        return self._database.all(query if team is None else query.where(_hand_ins.c.team == team), _hand_in)

    def times(self, team: str, since: float) -> list[float]:
        """Return when a team has handed in since some time, the first one first."""
        column = _hand_ins.c.submitted
        query = select(column).where(_hand_ins.c.team == team, column > since).order_by(column)
        return self._database.all(query, lambda row: float(row.submitted))

    def waiting(self) -> int:
        """Return how many hand-ins have no verdict yet."""
        return self._database.all(select(func.count()).select_from(_hand_ins).where(_is_waiting), lambda row: int(row[0]))[0]

    def all(self, team: str | None = None) -> list[Version]:
        """Return all versions of all teams, or those of a team: the accepted ones in the order in which they were accepted, then the others."""
        place = league_tables.teams.c.position
        joined = select(_versions).outerjoin(league_tables.teams, league_tables.teams.c.name == _versions.c.name)
        query = joined.order_by(place.is_(None), place, _versions.c.submitted, _versions.c.name)
        return self._database.all(query if team is None else query.where(_versions.c.team == team), _version)

    def names(self, count: int = -1) -> list[str] | None:
        """Return the accepted versions by their positions; None if there are ``count`` of them, as many as the caller has already."""
        teams = league_tables.teams
        with self._database.read() as connection:
            if connection.execute(select(func.count()).select_from(teams)).scalar_one() == count:
                return None
            return list(connection.execute(select(teams.c.name).order_by(teams.c.position)).scalars())

    def put(self, version: Version, program: Team | None) -> Version:
        """Store a version with its number, which is counted here, and the time of now unless it has one; return it as it is stored.

        ``program`` is None for a version that is refused; else it becomes the active version of its team. A version that was refused before
        keeps its number. UsageError if the team is disqualified.
        """
        with self._database.write() as connection:
            self._check_admitted(connection, version.team)
            mine = _versions.c.team == version.team
            earlier = connection.execute(select(_versions).where(mine, _versions.c.hash == version.hash)).first()
            if earlier is not None and earlier.state != REFUSED:
                # Another process has accepted the same files meanwhile.
                self._activate(connection, earlier.team, earlier.name)
                return _version(earlier)._replace(is_active=True)
            check_move(CHECKER, None if earlier is None else earlier.state, version.state)
            last = connection.execute(select(func.max(_versions.c.number)).where(mine)).scalar() or 0
            number = last + 1 if earlier is None else earlier.number
            duels = connection.execute(select(func.count()).select_from(league_tables.duels)).scalar_one()
            stored = version._replace(number=number, name=version_name(version.team, number), first_duel=duels)
            stored = stored._replace(submitted=version.submitted or time.time())
            connection.execute(_versions.delete().where(_versions.c.name == stored.name))
            row = {**stored._asdict(), "report": json.dumps(stored.report), "note": storable(stored.note), "is_active": False}
            connection.execute(insert(_versions).values(**row))
            if program is not None:
                teams = league_tables.teams
                count = connection.execute(select(func.count()).select_from(teams)).scalar_one()
                connection.execute(insert(teams).values(**team_row(program._replace(name=stored.name)), position=count))
                self._activate(connection, stored.team, stored.name)
            else:
                self._change(connection)
        return stored._replace(is_active=program is not None)

    def play(self, states: Iterable[tuple[Version, str]]) -> None:
        """Move versions on to the states that they have to have: the part of the process that plays."""
        with self._database.write() as connection:
            for version, after in states:
                check_move(PLAYER, version.state, after)
                mine = _versions.c.name == version.name, _versions.c.state == version.state
                connection.execute(update(_versions).where(*mine).values(state=after))

    def activate(self, team: str, name: str = "", *, admits: bool = False) -> None:
        """Make an accepted version the active one of its team, by default none.

        A team that is disqualified is admitted again if this ``admits`` it; else UsageError.
        """
        with self._database.write() as connection:
            if admits and connection.execute(_disqualified.delete().where(_disqualified.c.team == team)).rowcount:
                _set_forfeits(connection, team, f"{_NO_PLAY}%", None)
            self._check_admitted(connection, team)
            self._activate(connection, team, name)

    def disqualified(self) -> dict[str, str]:
        """Return the teams that are disqualified, each with the reason."""
        return dict(self._database.all(select(_disqualified), lambda row: (row.team, row.why)))

    def check_admitted(self, team: str) -> None:
        """Raise UsageError if a team is disqualified."""
        with self._database.read() as connection:
            self._check_admitted(connection, team)

    def disqualify(self, team: str, why: str) -> None:
        """Let no version of a team play any more."""
        with self._database.write() as connection:
            connection.execute(_disqualified.delete().where(_disqualified.c.team == team))
            connection.execute(insert(_disqualified).values(team=team, why=storable(why)))
            _set_forfeits(connection, team, None, f"{_NO_PLAY}{why}")
            self._activate(connection, team)

    def _check_admitted(self, connection: Connection, team: str) -> None:
        why = connection.execute(select(_disqualified.c.why).where(_disqualified.c.team == team)).scalar()
        if why is not None:
            raise UsageError(f"{team} is disqualified ({why.rstrip('.')}); to admit it again, the staff makes a version active.")

    def _activate(self, connection: Connection, team: str, name: str = "") -> None:
        """Make a version the active one of its team, by default none."""
        connection.execute(update(_versions).where(_versions.c.team == team).values(is_active=_versions.c.name == name))
        self._change(connection)

    def _change(self, connection: Connection) -> None:
        """Note that versions have changed, and wake the process that plays."""
        note_change(connection)
        self._wake(PLAYER)


def version_name(team: str, number: int) -> str:
    """Return the name of a team's version in matches."""
    return f"{team} v{number}"


def named(versions: Sequence[Version], team: str) -> list[Version]:
    """Return the versions of a team. UsageError if there is no such team."""
    mine = [version for version in versions if version.team == team]
    if not mine:
        names = list(dict.fromkeys(version.team for version in versions if version.is_active or not version.is_reference))
        raise UsageError(f"The arena has no team {team}; there {f'are {listed(names)}' if names else 'is none yet'}.")
    return mine


def _set_forfeits(connection: Connection, team: str, like: str | None, reason: str | None) -> None:
    """Set why the versions of a team play no more; only of those whose reason is like this, or which have none."""
    column, names = league_tables.teams.c.forfeit, select(_versions.c.name).where(_versions.c.team == team)
    is_meant = column.is_(None) if like is None else column.like(like)
    connection.execute(update(league_tables.teams).where(league_tables.teams.c.name.in_(names), is_meant).values(forfeit=reason))


def _hand_in(row: Row[Any]) -> HandIn:
    return HandIn(**{**row._asdict(), "report": json.loads(row.report)})


def _version(row: Row[Any]) -> Version:
    return Version(**{**row._asdict(), "report": json.loads(row.report)})
