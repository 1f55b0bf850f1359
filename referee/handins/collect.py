"""Collects hand-ins: copies or unpacks each, and finds its programs.

A hand-in that can't play gets a reason, one sentence, and never stops the others. Only a failure of the referee itself, such as a full disk,
ends the collection.
"""

from __future__ import annotations

import os
import re
import unicodedata
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import PlayerError, RefereeError, UsageError
from referee.handins import archive, copies, layouts, ownership, programs, roster
from referee.handins.archive import OWN_FAILURES
from referee.handins.layouts import DownloadedHandIn
from referee.handins.names import LONGEST_NAME, file_name, is_archive, is_ignored, stem
from referee.handins.ownership import Attribution
from referee.handins.programs import file_names, is_program
from referee.handins.values import MISSING, REFUSED, HandIn
from referee.isolation import scripts, submission
from referee.isolation.file_names import for_author
from referee.isolation.submission import Piece
from referee.players import bot_toml
from referee.support.escape import escape
from referee.support.files import open_regular

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Sequence

    from referee.games.game import Seat

#: The deepest nesting of archives.
_MOST_ARCHIVES = 2
#: The end of the names of opponents in the results; no student may have such a name.
_OPPONENT = "-opponent"


def collect(
    source: Path,
    folder: Path,
    seats: Sequence[Seat],
    roster_file: Path | None = None,
    others: Sequence[Seat] = (),
    *,
    layout: str = layouts.AUTO,
    earlier: Sequence[HandIn] = (),
) -> tuple[HandIn, ...]:
    """Copy or unpack all hand-ins of a class into ``folder``, one folder each, and return them.

    ``source`` is a folder, a bulk download, or an archive of one; a single file is a class of one student. With a roster the order is the
    roster's, and students without a hand-in are missing; hand-ins of nobody on the roster come last, with a reason.
    ``seats`` are the seats for which a hand-in needs a program, ``others`` the game's other roles. ``earlier`` are the hand-ins
    of earlier runs: the same person stays the same student. Earlier contents of the same places in ``folder`` are replaced.

    UsageError if ``source`` or the roster can't be read; if the layout isn't certain; if a student has several hand-ins, or one of
    another person; or if there is no student at all.
    """
    if layout not in layouts.LAYOUTS:
        raise UsageError(f"--layout is {layout!r:.60}, but must be one of {', '.join(layouts.LAYOUTS)}.")
    rows = roster.load(roster_file) if roster_file is not None else None
    excluded = [folder, *([roster_file] if roster_file is not None else [])]
    left_out = [
        path.absolute().relative_to(source.absolute()).parts[0] for path in excluded if source.absolute() in path.absolute().parents
    ]
    with copies.incoming(folder) as stage:
        is_known = partial(ownership.is_known, rows=rows or (), earlier=earlier)
        hand_ins = _hand_ins(source, stage, seats, left_out, layout, is_known)
        if not hand_ins and not rows and not earlier:
            raise UsageError(f"'{source}' has no hand-in in it; name the folder or archive that holds all hand-ins.")
        attributions = ownership.attributions(hand_ins, rows, earlier)
        names = StudentNames([row.student for row in rows or ()] + [hand_in.student for hand_in in earlier])
        return tuple(
            _taken(attribution, names, folder, stage / str(number), seats, others) for number, attribution in enumerate(attributions)
        )


def single(source: Path, folder: Path, seats: Sequence[Seat], others: Sequence[Seat] = ()) -> HandIn:
    """Copy or unpack one hand-in, a file or a folder, into a folder in ``folder``. Raises nothing for a fault of the hand-in."""
    name = source.name or source.absolute().name
    hand_in = DownloadedHandIn(name, ((str(source), name if _is_file(source) else ""),), stem(name) if _is_file(source) else name)
    with copies.incoming(folder) as stage:
        return _taken(Attribution(hand_in), StudentNames(), folder, stage / "0", seats, others)


class StudentNames:
    """Makes the names of students different, also as file names."""

    def __init__(self, taken: Iterator[str] | Collection[str] = ()) -> None:
        self._taken = {file_name(name) for name in taken}

    def new(self, preferred: str) -> str:
        """Return a new printable name, the preferred one if possible."""
        text = " ".join(unicodedata.normalize("NFC", preferred).split())
        text = "".join(char if char.isprintable() else "_" for char in text)[:LONGEST_NAME].strip()
        while len(file_name(text).encode()) > roster.LONGEST_FILE_NAME - 10:
            text = text[:-1].strip()
        base = text if file_name(text) else f"hand-in {text}".strip()[:LONGEST_NAME]
        name, number = base, 1
        while file_name(name) in self._taken or file_name(name).endswith(_OPPONENT):
            number += 1
            end = f" ({number})"
            name = base[: LONGEST_NAME - len(end)] + end
        self._taken.add(file_name(name))
        return name


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _hand_ins(
    source: Path, stage: Path, seats: Sequence[Seat], left_out: Sequence[str], layout: str, is_known: Callable[[str], bool]
) -> list[DownloadedHandIn]:
    """Return the hand-ins of a source."""
    is_wrapper = partial(layouts.is_wrapper, programs=(*seats, *programs.MAIN), layout=layout, is_known=is_known)
    label = f"'{source}'"
    if source.is_dir():
        top = _unwrapped(source, is_wrapper, left_out)
        hand_ins = layouts.read(top, left_out=left_out, layout=layout)
    elif not source.exists():
        raise UsageError(f"{label} does not exist; name the folder or archive that holds all hand-ins.")
    elif source.name.lower().endswith(submission.OTHER_ARCHIVES) and not is_archive(source.name):
        raise UsageError(f"{label} is an archive of a kind that isn't supported; unpack it and name the folder.")
    elif is_archive(source.name):
        try:
            open_regular(source).close()
        except OSError as error:
            raise UsageError(f"{label} can't be read: {error.strerror or error}.") from None
        top = stage / "class"
        top.mkdir(mode=0o700)
        hand_ins = layouts.read(top, archive.unpack_class(source, top, is_wrapper), layout=layout)
    else:
        return [layouts.of_entry(source)]
    stems = {item.name.partition(".")[0] for item in hand_ins}
    if len(seats) > 1 and stems >= set(seats):
        raise UsageError(f"{label} looks like one hand-in, because there is a program for every seat; name the folder around it.")
    return hand_ins


def _unwrapped(source: Path, is_wrapper: partial[bool], left_out: Sequence[str]) -> Path:
    """Return the folder in which the hand-ins are: ``source``, or the only folder in it if that holds a class."""
    try:
        inside = [
            path for path in source.iterdir() if not is_ignored(path.name) and not path.name.startswith(".") and path.name not in left_out
        ]
        if len(inside) == 1 and inside[0].is_dir() and not inside[0].is_symlink():
            inner = inside[0]
            if is_wrapper(inner.name, [path.name for path in inner.iterdir()]):
                return inner
    except OSError:
        pass
    return source


def _taken(
    attribution: Attribution, names: StudentNames, folder: Path, stage: Path, seats: Sequence[Seat], others: Sequence[Seat]
) -> HandIn:
    """Copy or unpack a hand-in and return it. ``stage`` is a new folder for unpacking."""
    hand_in, row = attribution.hand_in, attribution.row
    student = attribution.student or names.new(hand_in.student if hand_in is not None else "")
    identities = (*(hand_in.identities if hand_in is not None else ()), *(row.identities if row is not None else ()))
    result = HandIn(
        student,
        place=row.line if row is not None else None,
        name=escape(hand_in.name) if hand_in is not None else "",
        full_name=escape((row.full_name if row is not None else "") or (hand_in.full_name if hand_in is not None else "")),
        identities=tuple(dict.fromkeys(escape(text) for text in identities)),
        person=escape(hand_in.person) if hand_in is not None else "",
        roster_name=escape(row.full_name) if row is not None else "",
        late=escape((hand_in.late if hand_in is not None else "") or (row.late if row is not None else "")),
        replaced=tuple(map(escape, hand_in.replaced)) if hand_in is not None else (),
    )
    if hand_in is None:
        return result._replace(status=MISSING, reason=attribution.reason)
    if hand_in.is_absent:
        return result._replace(name="", status=MISSING, reason=hand_in.reason, replaced=())
    reason = attribution.reason or hand_in.reason
    if not reason:
        try:
            target = folder.absolute() / file_name(student)
            stage.mkdir(mode=0o700)
            top = _copied(hand_in, stage)
            players = programs.players_of(top, seats, others, f"'{hand_in.name:.120}'")
            submission.remove(str(target))
            top.rename(target)
            paths = {seat: str(target / name) if name else str(target) for seat, name in players.items()}
            return result._replace(folder=target, players=paths, reason=attribution.note)
        except PlayerError as error:
            reason = for_author(str(error), stage)
            for path, _ in hand_in.pieces:
                reason = for_author(reason, Path(path).parent)
        except (ValueError, RecursionError) as error:
            reason = f"The hand-in '{hand_in.name:.120}' can't be read: {error}."
        except OSError as error:
            raise RefereeError(f"The hand-in '{hand_in.name:.120}' can't be copied: {error.strerror or error}.") from None
        finally:
            submission.remove(str(stage))
    if attribution.note and row is None:
        reason = f"{reason.rstrip('.')}; it belongs to nobody on the roster."
    return result._replace(status=REFUSED, reason=reason)


def _copied(hand_in: DownloadedHandIn, stage: Path) -> Path:
    """Return a folder with a copy of a hand-in, unpacked. PlayerError says what is wrong with the hand-in."""
    pieces = tuple(Piece(path, _place(place)) for path, place in hand_in.pieces)
    copy = stage / "copy"
    try:
        submission.copy(pieces, hand_in.name, str(copy), is_ignored, is_hand_in=True)
    except PlayerError as error:
        # A full disk is no fault of the hand-in.
        cause = error.__context__
        if isinstance(cause, OSError) and cause.errno in OWN_FAILURES and not isinstance(cause, PermissionError):
            raise RefereeError(str(error)) from None
        raise
    top = _repaired(copy)
    for depth in range(_MOST_ARCHIVES + 1):
        packed = _packed(top)
        if packed is None:
            break
        if depth == _MOST_ARCHIVES:
            raise submission.refusal(
                f"'{hand_in.name:.120}'", f"has more than {_MOST_ARCHIVES} archives in one another; submit one archive of files."
            )
        unpacked = stage / f"unpacked-{depth}"
        unpacked.mkdir(mode=0o700)
        archive.unpack(packed, unpacked, hand_in.name)
        top = _repaired(unpacked)
    _check_links(top, hand_in.name)
    bot_toml.normalize_name(top)
    return top


def _repaired(copy: Path) -> Path:
    """Repair a copy's scripts, and return the folder in which the programs are."""
    scripts.repair(str(copy))
    return _descended(copy)


def _place(place: str) -> str:
    return "file" if place in (".", "..") else place


def _packed(top: Path) -> Path | None:
    """Return the archive that is the hand-in: the only one in a folder without a program."""
    files = file_names(top)
    packed = [name for name in files if is_archive(name)]
    if len(packed) == 1 and not any(is_program(top / name) for name in files if name not in packed):
        return top / packed[0]
    other = [name for name in files if name.lower().endswith(submission.OTHER_ARCHIVES)]
    if len(files) == len(other) == 1:
        kind = re.sub(r"^.*?((?:\.tar)?\.\w+)$", r"\1", other[0].lower(), flags=re.DOTALL)
        raise PlayerError(f"The hand-in '{other[0]:.120}' is an archive of the kind {kind:.20}; submit a zip or tar.gz file.")
    return None


def _descended(top: Path) -> Path:
    """Return the folder in which the programs are: an archive often has everything in one folder."""
    while True:
        names = [entry.name for entry in os.scandir(top) if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")]
        if any(is_program(top / name) or is_archive(name) for name in file_names(top)):
            return top
        if len(names) != 1:
            return top
        top /= names[0]


def _check_links(top: Path, label: str) -> None:
    """Raise PlayerError for a link that leads out of the remaining files of the hand-in."""
    real_top = os.path.realpath(top)
    for place, folders, files in os.walk(top):
        for name in (*folders, *files):
            path = os.path.join(place, name)  # noqa: PTH118 - as os.walk has it
            if os.path.islink(path) and not os.path.realpath(path).startswith(real_top + os.sep):  # noqa: PTH114 - the same
                link = os.path.relpath(path, top)
                raise submission.refusal(
                    f"'{label:.120}'", f"has a link that leaves the folder of its programs: '{link}'; put a copy there."
                )
