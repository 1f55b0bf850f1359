"""The roster of a class, and which of its students a submission belongs to. With two possible students, it belongs to neither.

An arena has a roster of its teams, which is read in the same way.
"""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError
from referee.handins.names import key
from referee.league.teams import file_name
from referee.replay.paths import content
from referee.support.escape import is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from referee.handins.layouts import Found

#: The longest name of a student in tables, in characters.
LONGEST_STUDENT = 80
#: The longest name of a student's folder, in bytes.
LONGEST_FILE_NAME = 160
_MOST_BYTES = 16 << 20
#: The most words of a person's name that are compared.
MOST_WORDS = 8


class Row(NamedTuple):
    """A student on the roster, or the team of an arena. ``submission`` is the name of a file or folder, if the roster names one; ``identities`` are all cells.

    ``ids`` are the cells of columns whose name says that they have student ids.
    """

    line: int
    student: str
    full_name: str = ""
    submission: str = ""
    identities: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


class Match(NamedTuple):
    """The student of a submission: ``row`` if this is certain. ``rows`` are all students that it could belong to."""

    row: Row | None
    rows: tuple[Row, ...]


def load(path: Path, who: str = "student", longest: int = LONGEST_STUDENT) -> tuple[Row, ...]:
    """Return the students of a CSV file with the columns student and optionally name, email, submission and any others.

    ``who`` is the name of the first of these columns: "team" for an arena. Students without it go by their address. Names have at most
    ``longest`` characters. UsageError names the line that is wrong.
    """
    shown = f"'{path}'"
    try:
        text = content(path, f"The roster {shown}", _MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise UsageError(f"The roster {shown} is not UTF-8 text; save it as CSV with the encoding UTF-8.") from None
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        header = [cell.strip().casefold() for cell in next(reader, [])]
        mail = next((name for name in header if name in _MAILS), "")
        if who == "student" and who not in header and mail:
            header[header.index(mail)] = who
        _check_header(header, shown, who)
        rows = [_row(header, cells, reader.line_num, shown, who, longest) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise UsageError(f"Line {reader.line_num} of the roster {shown} is no CSV: {error}.") from None
    if not rows:
        raise UsageError(f"The roster {shown} has no {who}s.")
    _check_different(rows, shown, who)
    return tuple(rows)


def _check_header(header: Sequence[str], shown: str, who: str) -> None:
    if who not in header:
        columns = ", ".join(f"'{name:.40}'" for name in header[:10]) or "none"
        raise UsageError(
            f"The roster {shown} has no column '{who}' in its first line; its columns are {columns}. Give the column that names each {who} this heading."
        )
    twice = next((name for name in header if name and header.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"The roster {shown} has two columns '{twice:.40}'.")


def _row(header: Sequence[str], cells: Sequence[str], line: int, shown: str, who: str, longest: int) -> Row:
    where = f"Line {line} of the roster {shown}"
    if len(cells) > len(header):
        raise UsageError(f"{where} has {len(cells)} cells, the first line has {len(header)}.")
    values = {name: " ".join(cell.split()) for name, cell in zip(header, cells, strict=False)}
    student = values.get(who, "")
    if not student or is_blank(student):
        raise UsageError(f"{where} has no {who}.")
    if len(student) > longest:
        raise UsageError(f"{where} has the {who} '{student:.60}' with {len(student):,} characters; the limit is {longest}.")
    if not student.isprintable() or not 0 < len(file_name(student).encode()) <= LONGEST_FILE_NAME:
        raise UsageError(
            f"{where} has the {who} '{student:.60}'; a {who}'s name has 1 to {longest} printable characters, one of them a letter or digit."
        )
    names = [values.get(name, "") for name in ("name", "full name")]
    parts = " ".join(values.get(name, "") for name in ("first name", "last name", "surname")).strip()
    full_name = next((name for name in (*names, parts) if name), "")
    identities = tuple(dict.fromkeys(value for name, value in values.items() if value and name != "submission" and name not in _NAMES))
    ids = tuple(value for name, value in values.items() if value and name.replace("_", " ") in _IDS)
    return Row(line, student, full_name, values.get("submission", ""), identities, ids)


_MAILS = frozenset({"email", "e-mail", "mail", "email address", "e-mail address"})
_NAMES = frozenset({"name", "full name", "first name", "last name", "surname"})
_IDS = frozenset({"id", "sid", "student id", "studentid", "student number", "matriculation number"})


def _check_different(rows: Iterable[Row], shown: str, who: str) -> None:
    seen: dict[str, Row] = {}
    for row in rows:
        other = seen.setdefault(file_name(row.student), row)
        if other is not row:
            raise UsageError(
                f"Lines {other.line} and {row.line} of the roster {shown} have {who}s that can't be told apart: '{other.student:.60}' and '{row.student:.60}'."
            )


def sure(found: Found, rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the students of whom the roster names an identity of a submission: an id, an address, a number."""
    own = {key(text) for text in found.identities}
    return tuple(row for row in rows if own & keys(row))


def names(row: Row, found: Found) -> bool:
    """True if the roster names the person of a submission in this row: by its file, else by the id, else by the address or number."""
    told = (found.student_id,) if found.student_id else found.identities
    return is_file_of(found, row) or not keys(row).isdisjoint(key(text) for text in told)


def contradiction(found: Found, rows: Sequence[Row]) -> str:
    """Return what is wrong if the student id of a submission is not that of the student with its address, as a verb phrase; else ""."""
    if not found.student_id or any(is_file_of(found, row) for row in rows):
        return ""
    by_address = [row for row in rows if not keys(row).isdisjoint(found.addresses)]
    by_id = [row for row in rows if key(found.student_id) in keys(row)]
    if not by_address or any(row in by_id for row in by_address):
        return ""
    owner = f"has the address of the student '{by_address[0].student:.80}'"
    if by_id:
        return f"{owner}, but the student id of '{by_id[0].student:.80}'."
    ids = by_address[0].ids
    return f"{owner}, but not the student id ({', '.join(ids):.80})." if ids else ""


def is_file_of(found: Found, row: Row) -> bool:
    """True if the column 'submission' names the file or folder of a submission in this row."""
    return bool(row.submission) and key(row.submission) in {key(name) for name in _files(found)}


def _files(found: Found) -> tuple[str, ...]:
    return found.name, *(path.rpartition("/")[2] for path, _ in found.pieces)


def keys(row: Row) -> set[str]:
    """Return what the roster names in a row, except names of persons, in the form in which it is compared."""
    return {key(text) for text in (*row.identities, row.submission) if text}


def find(found: Found, rows: Sequence[Row], *, by_name: bool = True) -> Match:
    """Return the student to whom a submission belongs.

    The file that the roster names counts first, then the identities, then, if ``by_name``, the part of an address before the @, and names of
    persons last. If a number and a name point to different students, it belongs to neither. Two addresses have to be equal as a whole.
    """
    files = {key(text) for text in (*_files(found), *found.identities)}
    told = tuple(row for row in rows if row.submission and key(row.submission) in files)
    if told:
        return _only(told)
    exact = sure(found, rows)
    alike = [row for row in rows if not differ(found.identities, row.identities)] if by_name else []
    likely = namesakes(found, rows)
    short = {_local(text) for text in found.identities}
    near = tuple(row for row in alike if short & {_local(text) for text in row.identities})
    for certain in (exact, near):
        if len(certain) > 1:
            return Match(None, certain)
        if certain:
            is_other = found.full_name and len(likely) == 1 and likely != certain
            return Match(None, (*certain, *likely)) if is_other else _only(certain)
    return _only([row for row in likely if row in alike])


def namesakes(found: Found, rows: Sequence[Row]) -> tuple[Row, ...]:
    """Return the students who have the name of a submission's person."""
    named = {name for text in found.people for name in name_keys(text)}
    return tuple(row for row in rows if named & {name for text in (row.full_name, row.student) for name in name_keys(text)})


def _only(rows: Sequence[Row]) -> Match:
    return Match(rows[0] if len(rows) == 1 else None, tuple(rows))


def differ(identities: Sequence[str], others: Sequence[str]) -> bool:
    """True if both have e-mail addresses, and none in common."""
    mine, theirs = ({key(text) for text in texts if "@" in text} for texts in (identities, others))
    return bool(mine and theirs and not mine & theirs)


def _local(text: str) -> str:
    """Return the part of an address before the @, or the whole of another identity."""
    return key(text).partition("@")[0]


def name_keys(text: str) -> set[str]:
    """Return the forms of a person's name that are equal for all ways to write it: "Doe, Jane", "Jane Doe", "doejane"."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    words = re.findall(r"[^\W_]+", plain.casefold())
    if len(words) > MOST_WORDS:
        return {"".join(words)}
    return {"".join(words[start:] + words[:start]) for start in range(len(words))}
