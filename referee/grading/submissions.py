"""Collects the submissions of a class: copies or unpacks each of them, and finds its programs.

A submission that can't be graded gets a reason, one sentence, and never stops the others. Only a failure of the referee itself, such as
a full disk, ends the collection.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
import unicodedata
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from referee.errors import PlayerError, RefereeError, UsageError
from referee.grading import archive
from referee.grading.archive import OWN_FAILURES
from referee.grading.values import MISSING, REFUSED, Submission
from referee.handins import layouts, ownership, roster
from referee.handins.layouts import HandIn
from referee.handins.names import is_archive, is_ignored, stem
from referee.handins.ownership import MOST_NAMED, Attribution, EarlierHandIn, listed
from referee.isolation import runtime, scripts, submission
from referee.isolation.file_names import for_author
from referee.isolation.submission import Piece
from referee.players import bot_toml, languages
from referee.support.escape import escape
from referee.support.files import open_regular
from referee.tournament.teams import LONGEST_NAME, file_name

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from referee.games.game import Seat

#: Names of a program besides its seat's, in this order.
_MAIN = ("main", "bot")
#: So many archives may lie in one another.
_MOST_ARCHIVES = 2
#: How programs for this machine begin: Linux, and macOS in its three forms.
_BINARIES = (b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_PLAIN_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}")
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
    earlier: Sequence[Submission] = (),
) -> tuple[Submission, ...]:
    """Copy or unpack all submissions of a class into ``folder``, one folder each, and return them.

    ``source`` is a folder, a bulk download, or an archive of one; a single file is a class of one student. With a roster the order is the
    roster's, and students without a submission are missing; submissions that belong to nobody on the roster come last and say so in their reason.
    ``seats`` are the seats for which a submission needs a program, ``others`` the game's other roles. ``earlier`` are the submissions
    of earlier runs: the same person stays the same student. Earlier contents of the same places in ``folder`` are replaced.

    UsageError if ``source`` or the roster can't be read; if the layout isn't certain, or if a student has several submissions, or one that was
    another person's; or if there is no student at all.
    """
    if layout not in layouts.LAYOUTS:
        raise UsageError(f"--layout is {layout!r:.60}, but must be one of {', '.join(layouts.LAYOUTS)}.")
    rows = roster.load(roster_file) if roster_file is not None else None
    excluded = [folder, *([roster_file] if roster_file is not None else [])]
    left_out = [
        path.absolute().relative_to(source.absolute()).parts[0] for path in excluded if source.absolute() in path.absolute().parents
    ]
    with _stage(folder) as stage:
        before = [EarlierHandIn(each.student, each.name, each.person, each.identities) for each in earlier]
        is_known = partial(ownership.is_known, rows=rows or (), earlier=before)
        hand_ins = _hand_ins(source, stage, seats, left_out, layout, is_known)
        if not hand_ins and not rows and not earlier:
            raise UsageError(f"'{source}' has no submission in it; name the folder or archive that holds all submissions.")
        attributions = ownership.attributions(hand_ins, rows, before)
        names = SubmissionNames([row.student for row in rows or ()] + [submission.student for submission in earlier])
        return tuple(
            _taken(attribution, names, folder, stage / str(number), seats, others) for number, attribution in enumerate(attributions)
        )


def single(source: Path, folder: Path, seats: Sequence[Seat], others: Sequence[Seat] = ()) -> Submission:
    """Copy or unpack one submission, a file or a folder, into a folder in ``folder``. Raises nothing for a fault of the submission."""
    name = source.name or source.absolute().name
    hand_in = HandIn(name, ((str(source), name if _is_file(source) else ""),), stem(name) if _is_file(source) else name)
    with _stage(folder) as stage:
        return _taken(Attribution(hand_in), SubmissionNames(), folder, stage / "0", seats, others)


class SubmissionNames:
    """Makes the names of students different, also as file names."""

    def __init__(self, taken: Iterator[str] | Collection[str] = ()) -> None:
        self._taken = {file_name(name) for name in taken}

    def new(self, preferred: str) -> str:
        """Return a printable name that nobody has yet, the wanted one if possible."""
        text = " ".join(unicodedata.normalize("NFC", preferred).split())
        text = "".join(char if char.isprintable() else "_" for char in text)[:LONGEST_NAME].strip()
        while len(file_name(text).encode()) > roster.LONGEST_FILE_NAME - 10:
            text = text[:-1].strip()
        base = text if file_name(text) else f"submission {text}".strip()[:LONGEST_NAME]
        name, number = base, 1
        while file_name(name) in self._taken or file_name(name).endswith(_OPPONENT):
            number += 1
            end = f" ({number})"
            name = base[: LONGEST_NAME - len(end)] + end
        self._taken.add(file_name(name))
        return name


@contextlib.contextmanager
def _stage(folder: Path) -> Iterator[Path]:
    """Make a folder for unpacking; it is removed at the end."""
    stage = folder / ".unpacking"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        submission.remove(str(stage))
        stage.mkdir(mode=0o700)
    except OSError as error:
        raise UsageError(f"The folder '{folder}' can't be made: {error.strerror or error}.") from None
    try:
        yield stage
    finally:
        submission.remove(str(stage))


def _is_file(path: Path) -> bool:
    return path.is_file() and not path.is_symlink()


def _hand_ins(
    source: Path, stage: Path, seats: Sequence[Seat], left_out: Sequence[str], layout: str, is_known: Callable[[str], bool]
) -> list[HandIn]:
    """Return the submissions of a source."""
    is_wrapper = partial(layouts.is_wrapper, programs=(*seats, *_MAIN), layout=layout, is_known=is_known)
    label = f"'{source}'"
    if source.is_dir():
        top = _unwrapped(source, is_wrapper, left_out)
        hand_ins = layouts.read(top, left_out=left_out, layout=layout)
    elif not source.exists():
        raise UsageError(f"{label} does not exist; name the folder or archive that holds all submissions.")
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
        raise UsageError(f"{label} looks like one submission, because there is a program for every seat; name the folder around it.")
    return hand_ins


def _unwrapped(source: Path, is_wrapper: partial[bool], left_out: Sequence[str]) -> Path:
    """Return the folder in which the submissions are: ``source``, or the only folder in it if that holds a class."""
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
    attribution: Attribution, names: SubmissionNames, folder: Path, stage: Path, seats: Sequence[Seat], others: Sequence[Seat]
) -> Submission:
    """Copy or unpack a submission and return it. ``stage`` is a new folder for unpacking."""
    hand_in, row = attribution.hand_in, attribution.row
    student = attribution.student or names.new(hand_in.student if hand_in is not None else "")
    identities = (*(hand_in.identities if hand_in is not None else ()), *(row.identities if row is not None else ()))
    result = Submission(
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
            players = _players(top, seats, others, f"'{hand_in.name:.120}'")
            submission.remove(str(target))
            top.rename(target)
            paths = {seat: str(target / name) if name else str(target) for seat, name in players.items()}
            return result._replace(folder=target, players=paths, reason=attribution.note)
        except PlayerError as error:
            reason = for_author(str(error), stage)
            for path, _ in hand_in.pieces:
                reason = for_author(reason, Path(path).parent)
        except (ValueError, RecursionError) as error:
            reason = f"The submission '{hand_in.name:.120}' can't be read: {error}."
        except OSError as error:
            raise RefereeError(f"The submission '{hand_in.name:.120}' can't be copied: {error.strerror or error}.") from None
        finally:
            submission.remove(str(stage))
    if attribution.note and row is None:
        reason = f"{reason.rstrip('.')}; it belongs to nobody on the roster."
    return result._replace(status=REFUSED, reason=reason)


def _copied(hand_in: HandIn, stage: Path) -> Path:
    """Return a folder with a copy of a submission, unpacked. PlayerError says what is wrong with the submission."""
    pieces = tuple(Piece(path, _place(place)) for path, place in hand_in.pieces)
    copy = stage / "copy"
    try:
        submission.copy(pieces, hand_in.name, str(copy), is_ignored, is_submission=True)
    except PlayerError as error:
        # A full disk is no fault of the submission.
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
    bot_toml.settle(top)
    return top


def _repaired(copy: Path) -> Path:
    """Repair a copy's scripts, and return the folder in which the programs are."""
    scripts.repair(str(copy))
    return _descended(copy)


def _place(place: str) -> str:
    return "file" if place in (".", "..") else place


def _packed(top: Path) -> Path | None:
    """Return the archive that is the submission: the only one in a folder without a program."""
    files = _files(top)
    packed = [name for name in files if is_archive(name)]
    if len(packed) == 1 and not any(_is_program(top / name) for name in files if name not in packed):
        return top / packed[0]
    other = [name for name in files if name.lower().endswith(submission.OTHER_ARCHIVES)]
    if len(files) == len(other) == 1:
        kind = re.sub(r"^.*?((?:\.tar)?\.\w+)$", r"\1", other[0].lower(), flags=re.DOTALL)
        raise PlayerError(f"The submission '{other[0]:.120}' is an archive of the kind {kind:.20}; submit a zip or tar.gz file.")
    return None


def _descended(top: Path) -> Path:
    """Return the folder in which the programs are: an archive often has everything in one folder."""
    while True:
        names = [entry.name for entry in os.scandir(top) if entry.is_dir(follow_symlinks=False) and not entry.name.startswith(".")]
        if any(_is_program(top / name) or is_archive(name) for name in _files(top)):
            return top
        if len(names) != 1:
            return top
        top /= names[0]


def _check_links(top: Path, label: str) -> None:
    """Raise PlayerError for a link that leads out of the remaining files of the submission."""
    real_top = os.path.realpath(top)
    for place, folders, files in os.walk(top):
        for name in (*folders, *files):
            path = os.path.join(place, name)  # noqa: PTH118 - as os.walk has it
            if os.path.islink(path) and not os.path.realpath(path).startswith(real_top + os.sep):  # noqa: PTH114 - the same
                link = os.path.relpath(path, top)
                raise submission.refusal(
                    f"'{label:.120}'", f"has a link that leaves the folder of its programs: '{link}'; put a copy there."
                )


def _files(top: Path) -> list[str]:
    """Return the names of everything in a folder except folders."""
    with os.scandir(top) as entries:
        return sorted(entry.name for entry in entries if not entry.is_dir())


def _is_program(path: Path) -> bool:
    """True for a file that can be run, or that says how the folder is run."""
    return bot_toml.is_meant(path.name) or path.suffix == ".py" or _begins(path).startswith((b"#!", *_BINARIES))


def _begins(path: Path) -> bytes:
    with open_regular(path) as file:
        return file.read(4)


def _players(top: Path, seats: Sequence[Seat], others: Sequence[Seat], label: str) -> Mapping[Seat, str]:
    """Return the player of each seat, as a name in the submission's folder; "" is the folder, whose programs have the names of seats.

    As on the command line, a seat's program is called after it, or main or bot, or ``bot.toml`` says how it is run. A single program with
    another name plays every seat. A program with the name of a seat plays no other one.
    """
    files = _files(top)
    if bot_toml.NAME in files:
        return _by_bot_toml(top, seats, label, files)
    chosen = {seat: _chosen(files, seat, label) for seat in seats}
    lacking = [seat for seat in seats if not chosen[seat]]
    for seat, name in chosen.items():
        if name:
            _check_program(top / name, seat, label)
    if not lacking:
        return dict.fromkeys(seats, "")
    programs = [name for name in files if _is_program(top / name)]
    if len(lacking) < len(seats):
        # Tests of the other seats earn nothing.
        return {seat: "" for seat in seats if chosen[seat]}
    if len(programs) != 1:
        raise _no_program(label, lacking[0], top, files, programs)
    name = programs[0]
    if role := next((seat for seat in others if name.partition(".")[0] == seat), None):
        raise submission.refusal(
            label,
            f"has no program for the {lacking[0]}: a file {lacking[0]}.*, main.* or bot.*; by its name, '{name:.80}' plays the {role} alone.",
        )
    _check_program(top / name, lacking[0], label)
    names = [path.name for path in top.iterdir()]
    is_alone = len(names) == 1
    suffix = ".py" if name.endswith(".py") else ""
    if is_alone and _PLAIN_NAME.fullmatch(name):
        return dict.fromkeys(seats, name)
    if any(other != name and other.partition(".")[0] == "main" for other in names):
        raise _no_program(label, lacking[0], top, files, programs)
    (top / name).rename(top / f"main{suffix}")
    return dict.fromkeys(seats, f"main{suffix}" if is_alone else "")


def _by_bot_toml(top: Path, seats: Sequence[Seat], label: str, files: Sequence[str]) -> Mapping[Seat, str]:
    """Return the folder for each seat that its ``bot.toml`` or a program in it plays. PlayerError if the file is wrong or there is none."""
    players: dict[Seat, str] = {}
    others = [name for name in files if name != bot_toml.NAME]
    for seat in seats:
        bot_settings = bot_toml.read(top, seat, f"The submission {label}")
        if bot_settings is not None and bot_settings.run:
            scripts.repair(str(top), bot_settings.run)
            players[seat] = ""
        elif name := _chosen(others, seat, label):
            if bot_settings is None or not bot_settings.build:
                _check_program(top / name, seat, label)
            players[seat] = ""
    if not players:
        raise _no_program(label, seats[0], top, others, [name for name in others if _is_program(top / name)])
    return players


def _chosen(files: Sequence[str], seat: Seat, label: str) -> str:
    """Return the program for a seat by its name, "" if there is none. PlayerError if several could be it."""
    for beginning in (seat, *_MAIN):
        candidates = [name for name in files if name == beginning or name.startswith(f"{beginning}.")]
        if len(candidates) > 1:
            raise submission.refusal(label, f"has {len(candidates)} files that could be the {seat}: {listed(candidates)}; keep one.")
        if candidates:
            return candidates[0]
    return ""


def _no_program(label: str, seat: Seat, top: Path, files: Sequence[str], programs: Sequence[str]) -> PlayerError:
    names = f"{seat}.*, main.* or bot.*"
    if len(programs) > 1:
        return submission.refusal(label, f"has no program called {names}, but several others: {listed(programs)}; rename one.")
    begin = f"has no program for the {seat}: a file {names}"
    source = next((name for name in files if languages.compiled_source(top / name)), None)
    if source is not None:
        return submission.refusal(label, f"{begin}; '{source:.80}' {languages.how_to_submit(top / source)}")
    folders = sorted(entry.name for entry in os.scandir(top) if entry.is_dir() and not is_ignored(entry.name))
    if files or not folders:
        return submission.refusal(label, f"{begin}; at its top there is {listed(files)}.")
    inside = [f"{folder}/{name}" for folder in folders[:MOST_NAMED] for name in _files(top / folder) if _is_program(top / folder / name)]
    contents = listed(folders) + (f", with {listed(inside)}" if inside else "")
    return submission.refusal(label, f"{begin}; at its top there are only folders, {contents}; submit the files of one folder alone.")


def _check_program(path: Path, seat: Seat, label: str) -> None:
    """Raise PlayerError if a program can't run here."""
    name = f"'{path.name:.80}'"
    if not stat.S_ISREG(path.stat().st_mode):
        raise submission.refusal(label, f"has no ordinary file for the {seat}: {name}.")
    if path.suffix == ".py":
        return
    if not _is_program(path):
        otherwise = "is no Python file, no executable, and its first line names no interpreter, such as #!/usr/bin/env node."
        remedy = languages.how_to_submit(path) or otherwise
        raise submission.refusal(label, f"has a file for the {seat} that can't be run: {name} {remedy}")
    words = runtime.first_line(str(path))
    if words or _begins(path).startswith(b"#!"):
        missing = _missing_interpreter(words)
        if missing:
            raise submission.refusal(label, f"has a program for the {seat}, {name}, whose interpreter isn't here: '{missing:.80}'.")


def _missing_interpreter(words: Sequence[str]) -> str:
    """Return the interpreter of a script if it doesn't exist on this machine, else ""."""
    if not words or "\0" in "".join(words):
        return "#!"
    if not os.access(words[0], os.X_OK):
        return words[0]
    if os.path.basename(words[0]) != "env":  # noqa: PTH119 - a name of bytes from a script
        return ""
    named = [word for word in words[1:] if not word.startswith("-") and "=" not in word]
    return "" if named and shutil.which(named[0]) else (named[0] if named else words[0])
