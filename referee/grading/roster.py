"""The roster of a class, and which of its students a submission belongs to. With two possible students, it belongs to neither."""

from __future__ import annotations

import csv
import io
import re
import unicodedata
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError
from referee.league.teams import file_name
from referee.replay.paths import why_unreadable
from referee.support.files import open_regular
from referee.wire.escape import escape, is_blank

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from referee.grading.downloads import Found

#: The longest name of a student in tables, in characters.
LONGEST_STUDENT = 80
#: The longest name of a student's folder, in bytes.
LONGEST_FILE_NAME = 160
_MOST_BYTES = 16 << 20
#: The most words of a person's name that are compared.
_MOST_WORDS = 8


class Row(NamedTuple):
    """A student on the roster. ``submission`` is the name of a file or folder, if the roster names one; ``identities`` are all cells."""

    line: int
    student: str
    full_name: str = ""
    submission: str = ""
    identities: tuple[str, ...] = ()


class Match(NamedTuple):
    """The student of a submission: ``row`` if this is certain. ``rows`` are all students that it could belong to."""

    row: Row | None
    rows: tuple[Row, ...]


def load(path: Path) -> tuple[Row, ...]:
    """Return the students of a CSV file with the columns student and optionally name, email, submission and any others.

    UsageError names the line that is wrong.
    """
    shown = f"'{escape(str(path), 200)}'"
    try:
        with open_regular(path) as file:
            data = file.read(_MOST_BYTES + 1)
        text = data.decode("utf-8-sig")
    except OSError as error:
        raise UsageError(f"The roster {shown} can't be read: {why_unreadable(error, path)}") from None
    except UnicodeDecodeError:
        raise UsageError(f"The roster {shown} is not UTF-8 text; save it as CSV with the encoding UTF-8.") from None
    if len(data) > _MOST_BYTES:
        raise UsageError(f"The roster {shown} has more than {_MOST_BYTES >> 20} MiB.")
    first = text.partition("\n")[0]
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=max(",;\t", key=first.count), strict=True)
    try:
        header = [cell.strip().casefold() for cell in next(reader, [])]
        _check_header(header, shown)
        rows = [_row(header, cells, reader.line_num, shown) for cells in reader if any(cell.strip() for cell in cells)]
    except csv.Error as error:
        raise UsageError(f"Line {reader.line_num} of the roster {shown} is no CSV: {error}.") from None
    if not rows:
        raise UsageError(f"The roster {shown} has no students.")
    _check_different(rows, shown)
    return tuple(rows)


def _check_header(header: Sequence[str], shown: str) -> None:
    if "student" not in header:
        columns = ", ".join(f"'{escape(name, 40)}'" for name in header[:10]) or "none"
        raise UsageError(f"The roster {shown} has no column 'student' in its first line; its columns are {columns}.")
    twice = next((name for name in header if name and header.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"The roster {shown} has two columns '{escape(twice, 40)}'.")


def _row(header: Sequence[str], cells: Sequence[str], line: int, shown: str) -> Row:
    where = f"Line {line} of the roster {shown}"
    if len(cells) > len(header):
        raise UsageError(f"{where} has {len(cells)} cells, the first line has {len(header)}.")
    values = {name: " ".join(cell.split()) for name, cell in zip(header, cells, strict=False)}
    student = values.get("student", "")
    if not student or is_blank(student):
        raise UsageError(f"{where} has no student.")
    if not student.isprintable() or len(student) > LONGEST_STUDENT or not 0 < len(file_name(student).encode()) <= LONGEST_FILE_NAME:
        raise UsageError(
            f"{where} has the student '{escape(student, 60)}'; a student's name has 1 to {LONGEST_STUDENT} printable characters, one of them a letter or digit."
        )
    names = [values.get(name, "") for name in ("name", "full name")]
    parts = " ".join(values.get(name, "") for name in ("first name", "last name", "surname")).strip()
    full_name = next((name for name in (*names, parts) if name), "")
    identities = tuple(dict.fromkeys(value for name, value in values.items() if value and name != "submission" and name not in _NAMES))
    return Row(line, student, full_name, values.get("submission", ""), identities)


_NAMES = frozenset({"name", "full name", "first name", "last name", "surname"})


def _check_different(rows: Iterable[Row], shown: str) -> None:
    seen: dict[str, Row] = {}
    for row in rows:
        other = seen.setdefault(file_name(row.student), row)
        if other is not row:
            raise UsageError(
                f"Lines {other.line} and {row.line} of the roster {shown} have students that can't be told apart: '{escape(other.student, 60)}' and '{escape(row.student, 60)}'."
            )


def find(found: Found, rows: Sequence[Row]) -> Match:
    """Return the student to whom a submission belongs.

    The file that the roster names counts first, then the identities, then the part of an address before the @, and names of persons last.
    If a number and a name point to different students, it belongs to neither.
    """
    files = {_key(text) for text in (found.name, *(path.rpartition("/")[2] for path, _ in found.pieces), *found.identities)}
    named = [row for row in rows if row.submission and _key(row.submission) in files]
    if named:
        return _only(named)
    people = {key for text in found.people for key in name_keys(text)}
    by_name = [row for row in rows if people & {key for text in (row.full_name, row.student) for key in name_keys(text)}]
    own = {_key(text) for text in found.identities}
    exact = [row for row in rows if own & {_key(text) for text in row.identities}]
    short = {_local(text) for text in found.identities}
    near = [row for row in rows if short & {_local(text) for text in row.identities}]
    for sure in (exact, near):
        if len(sure) > 1:
            return Match(None, tuple(sure))
        if sure:
            is_other = found.full_name and len(by_name) == 1 and by_name != sure
            return Match(None, (*sure, *by_name)) if is_other else _only(sure)
    return _only(by_name)


def _only(rows: Sequence[Row]) -> Match:
    return Match(rows[0] if len(rows) == 1 else None, tuple(rows))


def _key(text: str) -> str:
    """Return an identity in the form in which it is compared."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _local(text: str) -> str:
    """Return the part of an address before the @, or the whole of another identity."""
    return _key(text).partition("@")[0]


def name_keys(text: str) -> set[str]:
    """Return the forms of a person's name that are equal for all ways to write it: "Doe, Jane", "Jane Doe", "doejane"."""
    plain = "".join(char for char in unicodedata.normalize("NFKD", text) if not unicodedata.combining(char))
    words = re.findall(r"[^\W_]+", plain.casefold())
    if len(words) > _MOST_WORDS:
        return {"".join(words)}
    return {"".join(words[start:] + words[:start]) for start in range(len(words))}
