"""The hand-in of each student that is graded: that of this run, or else of an earlier one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee import games
from referee.errors import UsageError
from referee.grading.values import GradedHandIn
from referee.handins import copies
from referee.handins.entry import read as read_entry
from referee.handins.values import MISSING, OK, REFUSED, HandIn
from referee.isolation.file_names import for_author

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from referee.grading.values import Rubric


def joined(
    new: Sequence[GradedHandIn], before: Mapping[str, GradedHandIn], run: int, *, missing_is_zero: bool, is_only: bool
) -> list[GradedHandIn]:
    """Return the graded hand-in of each student after a run.

    Students without a new hand-in, or who submitted nothing, keep the earlier one, unless ``missing_is_zero``. ``is_only``: the new
    hand-ins are marked again even if they are the same.
    """
    rows = [_joined(each, before.get(each.hand_in.student), run, missing_is_zero=missing_is_zero, is_only=is_only) for each in new]
    students = {each.hand_in.student for each in new}
    others = [each for student, each in before.items() if student not in students]
    rows += [GradedHandIn(_missing(each.hand_in), None) if missing_is_zero else each for each in others]
    places = {each.hand_in.student: each.hand_in.place for each in new}
    if is_only or not any(place is not None for place in places.values()):
        places |= {student: each.hand_in.place for student, each in before.items()}
    return [row._replace(hand_in=row.hand_in._replace(place=places.get(row.hand_in.student))) for row in rows]


def _joined(new: GradedHandIn, before: GradedHandIn | None, run: int, *, missing_is_zero: bool, is_only: bool) -> GradedHandIn:
    """Return the graded hand-in of a student: the new one, or the earlier one if nothing was handed in."""
    hand_in = new.hand_in
    if before is None:
        return new if hand_in.status == MISSING else GradedHandIn(hand_in._replace(run=run), new.entry)
    old = before.hand_in
    roster_name = hand_in.roster_name or old.roster_name
    full_name = roster_name or hand_in.full_name or old.full_name
    hand_in = hand_in._replace(full_name=full_name, roster_name=roster_name, person=hand_in.person or old.person)
    if hand_in.person == old.person:
        # A run without the roster knows less about a student.
        hand_in = hand_in._replace(identities=tuple(dict.fromkeys((*hand_in.identities, *old.identities))))
    if hand_in.status == MISSING:
        if missing_is_zero or old.status == MISSING:
            return GradedHandIn(hand_in, None)
        more = {name: getattr(hand_in, name) for name in ("full_name", "identities", "roster_name")}
        return GradedHandIn(old._replace(**more, late=hand_in.late or old.late), before.entry)
    if new.entry is not None:
        is_same = before.entry is not None and before.entry.hash == new.entry.hash and not is_only
    else:
        is_same = (hand_in.status, hand_in.name, hand_in.reason) == (old.status, old.name, old.reason)
    return GradedHandIn(hand_in._replace(run=old.run if is_same else run), new.entry)


def _missing(before: HandIn) -> HandIn:
    return before._replace(name="", folder=None, players={}, status=MISSING, reason="Nothing was submitted.", run=0)


def order(hand_in: HandIn) -> tuple[bool, int, str, str]:
    """Return a sort key for the marks: the place on the roster, else the name."""
    place = hand_in.place
    return place is None, place or 0, hand_in.student.casefold(), hand_in.student


def checked(hand_in: HandIn, rubric: Rubric, private: Path) -> GradedHandIn:
    """Move the copy of a hand-in to its place, and return it with its entry, or refused. The reason contains no path of the grader's."""
    if hand_in.status != OK:
        return GradedHandIn(hand_in, None)
    game = games.get(rubric.game)
    settings = game.codec.settings(rubric.rules, dict(rubric.tests[0].settings))
    try:
        entry = read_entry(hand_in.student, hand_in.players, game, settings, hand_in.folder, tuple(hand_in.players))
    except UsageError as error:
        reason = str(error).removeprefix(f"The team '{hand_in.student}' can't play: ")
        reason = for_author(reason, hand_in.folder or private, hand_in.name)
        return GradedHandIn(hand_in._replace(status=REFUSED, reason=reason), None)
    folder = hand_in.folder
    if folder is None:
        return GradedHandIn(hand_in, entry)
    if copies.is_incoming(folder.parent):
        # Earlier copies stay, because an appeal needs them.
        folder = folder.parent.parent / entry.hash / folder.name
        copies.keep(hand_in.folder or folder, folder)
    # Paths of programs begin in the folder of all copies, so that messages and replays contain no path of the grader's.
    players = {seat: _short(path, str(hand_in.folder), folder.name) for seat, path in entry.players.items()}
    entry = entry._replace(players=players, home=str(folder.parent))
    return GradedHandIn(hand_in._replace(folder=folder, players=players), entry)


def _short(path: str, folder: str, name: str) -> str:
    """Return the path of a program in a hand-in, relative to the folder of all copies."""
    return f"./{name}{path.removeprefix(folder)}" if path == folder or path.startswith(f"{folder}/") else path
