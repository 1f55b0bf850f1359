"""The values for gradings, leagues and arenas: the hand-in of one student, and the entry that plays."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from referee.games.game import Seat

#: The status of a hand-in: it can play; nothing was handed in; it can't play, and the reason says why.
OK, MISSING, REFUSED = ("ok", "missing", "refused")


class HandIn(NamedTuple):
    """The hand-in of one student.

    ``student`` identifies the student in all tables, ``full_name`` is the person's name where one is known. ``name`` is that of the file or
    folder that was handed in ("" if nothing was). ``folder`` is the referee's own copy, if any; ``players`` has the player
    of each seat, as on the command line. A hand-in that can't play has a ``reason``, one sentence, and a missing one has the status
    "missing". ``run`` is the number of the run of a grading that took it, 0 if nothing was handed in. ``place`` is the student's line on the
    roster, None for students that aren't on one. ``person``, ``late`` and ``replaced`` are those of ``layouts.DownloadedHandIn``, ``roster_name``
    is the person's name on the roster.
    """

    student: str
    name: str
    folder: Path | None = None
    players: Mapping[Seat, str] = {}
    status: str = OK
    reason: str = ""
    full_name: str = ""
    identities: tuple[str, ...] = ()
    run: int = 0
    place: int | None = None
    person: str = ""
    roster_name: str = ""
    late: str = ""
    replaced: tuple[str, ...] = ()


class Entry(NamedTuple):
    """What plays under a name: a team of a league, a student's hand-in, a version of an arena.

    ``players`` says who fills each seat, as on the command line; ``hash`` is that of all its files. Relative paths in ``players`` begin in the
    folder ``home`` ("": the current one). ``files`` has the hash of each file by its path, for each seat. It tells which of them changed.
    The path "." has the hash by which replays name the program.
    """

    name: str
    players: Mapping[Seat, str]
    hash: str = ""
    home: str = ""
    files: Mapping[Seat, Mapping[str, str]] = {}
