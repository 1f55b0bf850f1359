"""The life cycle of a version, from its hand-in to its last duel.

A team sends a hand-in, which waits in a queue for its check. The check unpacks its files, which become a version of the team. The same
files are the same version with the same verdict. An accepted version plays. ``MOVES`` lists all transitions: which process makes them, and
when. ``move`` allows nothing else. A process that was killed left its rows in one of these states, and the next one goes on from there.
After each change, the next process is woken by its bell.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel
from sqlalchemy import or_, select

from referee.errors import UsageError
from referee.handins.values import Entry
from referee.support.words import listed
from referee.tournament.transactions import storable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from referee.arena.duels import Duels
    from referee.arena.season import SeasonRow
    from referee.games.game import Json
    from referee.tournament.store import Store

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


#: The beginning of the reason why a disqualified team's version doesn't play.
_NO_PLAY = "The team is disqualified: "


class HandIn(BaseModel, frozen=True):
    """What a team has handed in. ``file`` is its path in the arena's folder; ``version`` its number as a version, None until it is checked.

    ``submitted`` is in seconds since the epoch. ``report`` says what the check found, or while it runs, how far it is.
    """

    number: int
    team: str
    note: str
    file: str
    state: str
    report: dict[str, Any] = {}
    version: int | None = None
    submitted: float


class Version(BaseModel, frozen=True):
    """A version of a team. ``name`` is its name in matches: the team's, and the number, which counts from 1.

    ``report`` says what its check found. ``submitted`` is in seconds since the epoch. ``first_duel`` is the number of duels that the arena had
    then. ``is_active``: its team plays with it. ``position`` is its place among all accepted versions, None for one that was refused.
    ``forfeit`` says why it can't start, and is "" while it can.
    """

    name: str = ""
    team: str
    number: int = 0
    hash: str
    state: str
    note: str = ""
    report: dict[str, Any] = {}
    submitted: float = 0.0
    first_duel: int = 0
    is_reference: bool = False
    is_active: bool = False
    position: int | None = None
    forfeit: str = ""

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


class Program(BaseModel, frozen=True):
    """What plays as an accepted version, as ``Entry`` has it. The name of a folder may hold what no database takes as text, but as JSON."""

    name: str
    hash: str
    players: dict[str, str]
    home: list[str]
    files: dict[str, dict[str, str]]

    @property
    def entry(self) -> Entry:
        """The entry."""
        return Entry(self.name, self.players, self.hash, self.home[0], self.files)


class Disqualified(BaseModel, frozen=True):
    """A team that is disqualified, and the reason."""

    team: str
    why: str


class Versions:
    """The hand-ins and versions of a store. After a change it wakes the process whose turn it is, once the transaction is stored."""

    def __init__(self, core: Store, season: SeasonRow, duels: Duels, wake: Callable[[str], None]) -> None:
        self._core = core
        self._season = season
        self._duels = duels
        self._wake = wake
        self._hand_ins = core.table(HandIn, "hand_ins", [["state"], ["team", "submitted"]])
        self._versions = core.table(Version, "versions", [["team"], ["position"]])
        self._programs = core.table(Program, "programs")
        self._disqualified = core.table(Disqualified, "disqualified")
        self._is_waiting = self._hand_ins.sql.c.state.in_(_WAITING)

    def hand_in(self, team: str, note: str, file: str) -> HandIn:
        """Queue what a team has handed in, and wake the checker."""
        check_move(SERVER, None, QUEUED)
        with self._core.step():
            number = self._hand_ins.next_number()
            queued = HandIn(number=number, team=team, note=storable(note), file=file, state=QUEUED, submitted=time.time())
            self._hand_ins.put(queued)
            self._wake(CHECKER)
        return queued

    def next(self) -> HandIn | None:
        """Return the first hand-in without a verdict, None if none waits. One whose check was cut off by a kill comes first again."""
        table = self._hand_ins.sql
        return next(iter(self._hand_ins.select(select(table).where(self._is_waiting).order_by(table.c.number).limit(1))), None)

    def move(
        self, mover: str, hand_in: HandIn, after: str, report: Mapping[str, Json], version: int | None = None, *, is_last: bool = False
    ) -> HandIn | None:
        """Move a hand-in on, with a report; return it as it is then. None if somebody else has moved it meanwhile: then nothing is changed.

        ``is_last``: its number as a version is certain now.
        """
        check_move(mover, hand_in.state, after)
        number = version if is_last else hand_in.version
        moved = hand_in.model_copy(update={"state": after, "report": dict(report), "version": number})
        with self._core.step():
            now = self._hand_ins.get(hand_in.number)
            if now is None or now.state != hand_in.state:
                return None
            self._hand_ins.put(moved)
            if after == QUEUED:
                self._wake(CHECKER)
        return moved

    def handed_in(self, number: int) -> HandIn | None:
        """Return a hand-in by its number; None if there is none."""
        return self._hand_ins.get(number)

    def hand_ins(self, team: str | None = None, *, limit: int = 50) -> list[HandIn]:
        """Return the latest hand-ins of a team, or of all teams, those without a verdict first, each the latest first."""
        table = self._hand_ins.sql
        query = select(table).order_by(self._is_waiting.desc(), table.c.number.desc()).limit(limit)
        return self._hand_ins.select(query if team is None else query.where(table.c.team == team))

    def times(self, team: str, since: float) -> list[float]:
        """Return when a team has handed in since some time, the first one first."""
        columns = self._hand_ins.sql.c
        query = select(columns.submitted).where(columns.team == team, columns.submitted > since).order_by(columns.submitted)
        return self._core.database.all(query, lambda row: float(row.submitted))

    def waiting(self) -> int:
        """Return how many hand-ins have no verdict yet."""
        return sum(self._hand_ins.count(state=state) for state in _WAITING)

    def all(self, team: str | None = None) -> list[Version]:
        """Return all versions of all teams, or those of a team: the accepted ones in the order in which they were accepted, then the others."""
        columns = self._versions.sql.c
        query = select(self._versions.sql).order_by(columns.position.is_(None), columns.position, columns.submitted, columns.name)
        return self._versions.select(query if team is None else query.where(columns.team == team))

    def names(self, count: int = -1) -> list[str] | None:
        """Return the accepted versions by their positions; None if there are ``count`` of them, as many as the caller has already."""
        columns = self._versions.sql.c
        if self._programs.count() == count:
            return None
        query = select(columns.name).where(columns.position.is_not(None)).order_by(columns.position)
        return self._core.database.all(query, lambda row: str(row.name))

    def programs(self) -> list[Entry]:
        """Return what plays as each accepted version, with paths that begin in the arena's folder."""
        return [program.entry for program in self._programs.all()]

    def put(self, version: Version, program: Entry | None) -> Version:
        """Store a version with its number, which is counted here, and the time of now unless it has one; return it as it is stored.

        ``program`` is None for a version that is refused; else it becomes the active version of its team. A version that was refused before
        keeps its number. UsageError if the team is disqualified.
        """
        with self._core.step():
            self.check_admitted(version.team)
            mine = self._versions.all(team=version.team)
            earlier = next((each for each in mine if each.hash == version.hash), None)
            if earlier is not None and earlier.state != REFUSED:
                # Another process has accepted the same files meanwhile.
                self._activate(earlier.team, earlier.name)
                return earlier.model_copy(update={"is_active": True})
            check_move(CHECKER, None if earlier is None else earlier.state, version.state)
            number = max((each.number for each in mine), default=0) + 1 if earlier is None else earlier.number
            facts = {"number": number, "name": version_name(version.team, number), "note": storable(version.note), "is_active": False}
            facts |= {"first_duel": self._duels.count(), "submitted": version.submitted or time.time()}
            stored = version.model_copy(update={**facts, "position": None if program is None else self._programs.count()})
            self._versions.put(stored)
            if program is None:
                self._changed()
                return stored
            files = {seat: dict(hashes) for seat, hashes in program.files.items()}
            row = Program(name=stored.name, hash=program.hash, players=dict(program.players), home=[program.home], files=files)
            self._programs.put(row)
            self._activate(stored.team, stored.name)
        return stored.model_copy(update={"is_active": True})

    def play(self, states: Iterable[tuple[Version, str]]) -> None:
        """Move versions on to the states that they have to have: the part of the process that plays."""
        with self._core.step():
            for version, after in states:
                check_move(PLAYER, version.state, after)
                now = self._versions.get(version.name)
                if now is not None and now.state == version.state:
                    self._versions.put(now.model_copy(update={"state": after}))

    def forfeit(self, name: str, reason: str) -> None:
        """Store why a version can't start."""
        with self._core.step():
            version = self._versions.get(name)
            if version is not None:
                self._versions.put(version.model_copy(update={"forfeit": storable(reason)}))

    def forfeits(self) -> dict[str, str]:
        """Return the versions that play no more, each with the reason: it can't start, or its team is disqualified."""
        teams, columns = self.disqualified(), self._versions.sql.c
        query = select(self._versions.sql).where(or_(columns.forfeit != "", columns.team.in_(teams)), columns.position.is_not(None))
        return {version.name: version.forfeit or f"{_NO_PLAY}{teams[version.team]}" for version in self._versions.select(query)}

    def activate(self, team: str, name: str = "", *, admits: bool = False) -> None:
        """Make an accepted version the active one of its team, by default none.

        A team that is disqualified is admitted again if this ``admits`` it; else UsageError.
        """
        with self._core.step():
            if admits:
                self._disqualified.remove(team=team)
            self.check_admitted(team)
            self._activate(team, name)

    def disqualified(self) -> dict[str, str]:
        """Return the teams that are disqualified, each with the reason."""
        return {row.team: row.why for row in self._disqualified.all()}

    def check_admitted(self, team: str) -> None:
        """Raise UsageError if a team is disqualified."""
        row = self._disqualified.get(team)
        if row is not None:
            raise UsageError(f"{team} is disqualified ({row.why.rstrip('.')}). To reinstate it, the staff activates one of its versions.")

    def disqualify(self, team: str, why: str) -> None:
        """Disqualify a team, so that its versions don't play any more."""
        with self._core.step():
            self._disqualified.put(Disqualified(team=team, why=storable(why)))
            self._activate(team)

    def _activate(self, team: str, name: str = "") -> None:
        """Make a version the active one of its team, by default none."""
        rows = self._versions.all(team=team)
        self._versions.put(*(row.model_copy(update={"is_active": row.name == name}) for row in rows))
        self._changed()

    def _changed(self) -> None:
        """Note that versions have changed, and wake the process that plays."""
        self._season.note_change()
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
