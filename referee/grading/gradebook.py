"""Enters marks into a file that a course platform exported: Canvas's gradebook, or Moodle's worksheet for offline grading.

The row of a student is found by ids and addresses, then by name. A number counts only with the name, because each platform has its own. A name
that a person chose on a platform doesn't count without a number. If a name fits two rows, or a row fits two students, the mark isn't entered:
the grader has to enter it by hand.
"""

from __future__ import annotations

import contextlib
import csv
import hashlib
import html
import io
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError
from referee.grading.escaping import number, one_line
from referee.grading.handout import shown_marks
from referee.grading.marks import public
from referee.grading.values import AFTER_DUE
from referee.handins import roster
from referee.handins.names import key
from referee.handins.values import MISSING, REFUSED
from referee.replay.paths import content
from referee.support.csv_text import foreign_cell, without_formula
from referee.support.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from referee.grading.values import Grades, StudentMarks
    from referee.handins.values import HandIn

CANVAS, MOODLE = "Canvas", "Moodle"
_MOST_BYTES = 64 << 20
_BOM = "\ufeff"
#: Columns that identify a student in each file. Canvas has either "Student" or the two names.
_CANVAS_IDS = ("ID", "SIS User ID", "SIS Login ID", "Integration ID")
_CANVAS_NAMES = ("Student", "LastName", "FirstName")
_CANVAS_OTHER = ("Root Account", "Section")
_MOODLE_IDS = ("Identifier", "Email address", "ID number", "Username")
_ASSIGNMENT = re.compile(r"(.*\S)\s*\((\d+)\)")
_DECIMAL_COMMA = re.compile(r"\d+,\d+")
_NUMBER = re.compile(r"\d+([.,]\d+)?")
#: The level of a match by name, the least certain one.
_BY_NAME = 2


class Filled(NamedTuple):
    """What was entered. ``written`` are the students whose mark is in the file.

    ``refused`` are sentences about ambiguous students, ``unmatched`` are students without a row, ``notes`` are sentences about other
    marks that were not entered, and about the column.
    """

    path: Path
    kind: str
    column: str
    written: tuple[str, ...]
    refused: tuple[str, ...]
    unmatched: tuple[str, ...]
    notes: tuple[str, ...]


class _Sheet(NamedTuple):
    """An exported file: its first row, all others, and how it is written."""

    name: str
    head: list[str]
    rows: list[list[str]]
    delimiter: str
    line_end: str
    has_bom: bool

    def column(self, name: str) -> int | None:
        return self.head.index(name) if name in self.head else None

    def value(self, row: Sequence[str], name: str) -> str:
        at = self.column(name)
        return row[at].strip() if at is not None else ""


class _Matched(NamedTuple):
    """The student of each row by its number, and the students without a row."""

    rows: Mapping[int, StudentMarks]
    refused: tuple[str, ...]
    unmatched: tuple[str, ...]


def fill(export: Path, grades: Grades, out: Path, column: str | None = None, *, after_due: bool = False) -> Filled:
    """Enter the points into a copy of an exported file. Raises UsageError if the file or the column is unsuitable.

    ``column`` is the heading of an assignment in Canvas, its name or its number; None is allowed if only one fits. Canvas's copy has the
    columns that identify students, and the changed one. Moodle's has all columns, with the grade and the feedback changed. The feedback has
    only the points of hidden matches. Incomplete marks aren't entered, and neither are those of students who submitted nothing.

    Platforms show the points to students: tests that are shown after the due date are left out unless ``after_due``, and a note says so.
    """
    sheet = _read(export)
    kind = _kind(sheet.head)
    if kind == MOODLE:
        if column is not None and column != "Grade":
            raise UsageError(f"{sheet.name} is a worksheet of Moodle, with the marks in the column 'Grade'. Leave out --column.")
        return _moodle(sheet, grades, out, after_due=after_due)
    if kind == CANVAS:
        return _canvas(sheet, grades, out, column, after_due=after_due)
    raise UsageError(
        f"{sheet.name} is neither a gradebook exported from Canvas (columns 'Student' and 'ID') nor Moodle's worksheet for offline grading "
        "(columns 'Identifier' and 'Grade')."
    )


def is_own(filled: Path, private: Path) -> bool:
    """Return True if a filled gradebook is as this grading wrote it. Its ``private`` folder has the hash of what ``remember`` saw."""
    with contextlib.suppress(OSError):
        return _remembered(filled, private).read_bytes() == _sum(filled)
    return False


def remember(filled: Path, private: Path) -> None:
    """Store the hash of a filled gradebook, so that a later run may replace it, but no file that somebody has edited or put there."""
    write_whole(_remembered(filled, private), _sum(filled))


def _remembered(filled: Path, private: Path) -> Path:
    return private / f"{filled.name}.sha256"


def _sum(path: Path) -> bytes:
    return f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n".encode()


def _kind(head: Sequence[str]) -> str | None:
    """Return the platform whose gradebook has these columns, if any."""
    if "Identifier" in head and "Grade" in head:
        return MOODLE
    return CANVAS if "ID" in head and ("Student" in head or {"LastName", "FirstName"} <= set(head)) else None


def _read(path: Path) -> _Sheet:
    name = f"The file {path}"
    try:
        text = content(path, name, _MOST_BYTES).decode("utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{name} is not UTF-8 text; export it again as CSV.") from None
    has_bom = text.startswith(_BOM)
    text = text.removeprefix(_BOM)
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True) if row]
    except csv.Error as error:
        raise UsageError(f"{name} is not CSV: {error}.") from None
    if not rows:
        raise UsageError(f"{name} is empty.")
    head = [cell.strip() for cell in rows[0]]
    twice = next((cell for cell in head if cell and head.count(cell) > 1), None)
    if twice is not None:
        raise UsageError(f"{name} has two columns '{twice:.80}'.")
    for number_, row in enumerate(rows[1:], 2):
        if len(row) > len(head):
            raise UsageError(f"{name}, row {number_}: there are more cells than columns.")
        row.extend([""] * (len(head) - len(row)))
    return _Sheet(name, head, rows[1:], delimiter, "\r\n" if first.endswith("\r") else "\n", has_bom)


def _write(sheet: _Sheet, rows: Iterable[Sequence[str]], out: Path) -> None:
    text = io.StringIO()
    csv.writer(text, delimiter=sheet.delimiter, lineterminator=sheet.line_end).writerows(rows)
    write_whole(out, ((_BOM if sheet.has_bom else "") + text.getvalue()).encode())


def _canvas(sheet: _Sheet, grades: Grades, out: Path, column: str | None, *, after_due: bool) -> Filled:
    is_student = [bool(sheet.value(row, "ID")) for row in sheet.rows]
    limits = next((row for row in sheet.rows if any(cell.strip() == "Points Possible" for cell in row[:2])), None)
    at = _canvas_column(sheet, grades, column, limits)
    limit = "" if limits is None else limits[at].strip()
    notes = _left_out(grades, after_due=after_due)
    maximum = grades.rubric.maximum
    if _NUMBER.fullmatch(limit) and abs(float(limit.replace(",", ".")) - maximum) > 0.005:
        notes.append(f"'{sheet.head[at]:.80}' has {limit} points in Canvas, but the rubric has {number(maximum)}.")
    numbers = [row for row, is_one in enumerate(is_student) if is_one]
    matched = _match(grades, sheet, numbers, _Ids(CANVAS, "ID", _CANVAS_IDS), _canvas_name)
    has_comma = any(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in limits or ())
    columns = [i for i, name in enumerate(sheet.head) if name in (*_CANVAS_NAMES, *_CANVAS_IDS, *_CANVAS_OTHER)]
    written = []
    rows = [[sheet.head[i] for i in (*columns, at)]]
    for row_number, row in enumerate(sheet.rows):
        cells = [row[i] if sheet.head[i] in _CANVAS_IDS else foreign_cell(row[i]) for i in columns]
        if row is limits:
            rows.append([*cells, limit])
        elif (student := matched.rows.get(row_number)) is not None:
            mark = _mark(student, notes, after_due=after_due)
            if mark is not None:
                rows.append([*cells, mark.replace(".", ",") if has_comma else mark])
                written.append(student.hand_in.student)
    _write(sheet, rows, out)
    return Filled(out, CANVAS, sheet.head[at], tuple(written), matched.refused, matched.unmatched, tuple(notes))


def _canvas_column(sheet: _Sheet, grades: Grades, column: str | None, limits: Sequence[str] | None) -> int:
    """Return the number of the column of the assignment. UsageError unless exactly one fits."""

    def is_open(at: int) -> bool:
        return limits is None or not limits[at].strip().startswith("(")

    assignments = {at: match for at, name in enumerate(sheet.head) if (match := _ASSIGNMENT.fullmatch(name)) is not None and is_open(at)}
    if column is None:
        fitting = [at for at, match in assignments.items() if key(match[1]) == key(grades.rubric.name)]
        if not fitting and len(assignments) == 1:
            fitting = list(assignments)
    else:
        fitting = [at for at in assignments if sheet.head[at] == column.strip()]
        fitting = fitting or [at for at, match in assignments.items() if column.strip() in (match[1], match[2])]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(f"'{sheet.head[at]:.80}'" for at in fitting or assignments) or "none"
    if fitting:
        raise UsageError(f"{sheet.name} has more than one column that fits: {names}; name one of them with its number.")
    label = f"'{(grades.rubric.name if column is None else column):.80}'"
    raise UsageError(f"{sheet.name} has no assignment {label} that can be changed; its assignments are: {names}.")


def _canvas_name(sheet: _Sheet, row: Sequence[str]) -> str:
    if sheet.column("Student") is not None:
        return sheet.value(row, "Student")
    return f"{sheet.value(row, 'FirstName')} {sheet.value(row, 'LastName')}"


def _moodle(sheet: _Sheet, grades: Grades, out: Path, *, after_due: bool) -> Filled:
    grade, feedback = sheet.head.index("Grade"), sheet.column("Feedback comments")
    notes = _left_out(grades, after_due=after_due)
    if feedback is None:
        notes.append("The worksheet has no column 'Feedback comments': turn that on in the assignment's settings to enter feedback.")
    ids = _Ids(MOODLE, "Identifier", _MOODLE_IDS)
    matched = _match(grades, sheet, range(len(sheet.rows)), ids, lambda sheet, row: sheet.value(row, "Full name"))
    written = []
    rows: list[list[str]] = [sheet.head]
    has_comma = any(_DECIMAL_COMMA.fullmatch(sheet.value(row, "Maximum Grade")) for row in sheet.rows)
    for row_number, row in enumerate(sheet.rows):
        cells = [cell if name in _MOODLE_IDS else foreign_cell(cell) for name, cell in zip(sheet.head, row, strict=True)]
        student = matched.rows.get(row_number)
        mark = None if student is None else _mark(student, notes, after_due=after_due)
        if student is not None and mark is not None:
            name = one_line(student.hand_in.student)
            limit = sheet.value(row, "Maximum Grade").replace(",", ".")
            if sheet.value(row, "Grade can be changed") == "No":
                notes.append(f"{name} has a grade that can't be changed, according to Moodle; it was left as it is.")
            elif _NUMBER.fullmatch(limit) and float(mark) > float(limit):
                notes.append(f"{name} has {mark} points, but Moodle allows {limit}; the mark was not entered.")
            else:
                cells[grade] = mark.replace(".", ",") if has_comma else mark
                if feedback is not None:
                    cells[feedback] = without_formula(_feedback(student, after_due=after_due))
                written.append(student.hand_in.student)
        rows.append(cells)
    _write(sheet, rows, out)
    return Filled(out, MOODLE, "Grade", tuple(written), matched.refused, matched.unmatched, tuple(notes))


def _left_out(grades: Grades, *, after_due: bool) -> list[str]:
    names = [f"'{one_line(test.name)}'" for test in grades.rubric.tests if test.when == AFTER_DUE and not after_due]
    return [f"Left out until after the due date: {', '.join(names)}."] if names else []


def _mark(student: StudentMarks, notes: list[str], *, after_due: bool) -> str | None:
    """Return the points to enter. None if the mark is missing or incomplete, with a note."""
    marks = shown_marks(student, after_due=after_due)
    if student.status == MISSING:
        notes.append(f"{one_line(student.hand_in.student)} submitted nothing; the mark was left as it is.")
    elif not all(mark.is_complete for mark in marks):
        notes.append(f"{one_line(student.hand_in.student)}: not all matches are decided; the mark was left as it is.")
    else:
        return number(sum(mark.points for mark in marks))
    return None


def _feedback(student: StudentMarks, *, after_due: bool) -> str:
    """Return the feedback for Moodle, which shows it as HTML."""
    marks = shown_marks(student, after_due=after_due)
    status, reason = public(student, is_due=after_due)
    lines = [f"{one_line(mark.test.name)}: {number(mark.points)} of {number(mark.test.points)} points." for mark in marks]
    if reason:
        lines.append(f"Status: {status} ({one_line(reason.rstrip('.'))}).")
    # A quotation mark needs no escape outside of tags. The escape's semicolon would separate cells in some spreadsheets.
    return "<br>".join(html.escape(line, quote=False) for line in lines)


class _Ids(NamedTuple):
    """The columns that identify a student. ``number`` is the one with the platform's own number."""

    kind: str
    number: str
    every: Sequence[str]


class _SheetRow(NamedTuple):
    """What identifies the student of a row: numbers, other identities, and the name."""

    numbers: frozenset[str]
    exact: frozenset[str]
    accounts: frozenset[str]
    own_number: str
    values: tuple[str, ...]
    name: str


def _match(grades: Grades, sheet: _Sheet, rows: Iterable[int], ids: _Ids, name: Callable[[_Sheet, Sequence[str]], str]) -> _Matched:
    """Return the row of each student: by id or address, else by the part of an e-mail address before the @, else by name."""
    sheet_rows = {at: _read_row(sheet, sheet.rows[at], ids, name) for at in rows}
    near: dict[str, set[int]] = {}
    for at, row in sheet_rows.items():
        for text in (*row.numbers, *row.exact, *row.accounts, _name(row.name)):
            near.setdefault(text, set()).add(at)
    students_by_row: dict[int, list[tuple[int, StudentMarks]]] = {}
    refused, unmatched = [], []
    counts = Counter(each for student in grades.students for each in {key(text) for text in student.hand_in.identities})
    domains = {text.rpartition("@")[2] for text in counts if "@" in text}
    has_roster = any(student.hand_in.place is not None for student in grades.students)
    for student in grades.students:
        # An identity that several students share, such as the number of their section, identifies nobody.
        identities = [text for text in student.hand_in.identities if counts[key(text)] == 1]
        person = _person(student.hand_in, identities, ids.kind, has_one_domain=len(domains) < 2)
        candidates = {at: sheet_rows[at] for text in person.texts for at in near.get(text, ())}
        level, fitting = _fitting(person, candidates)
        who = one_line(student.hand_in.student)
        if has_roster and student.hand_in.place is None and student.status == REFUSED:
            refused.append(f"{who} was left out of the grading; enter this mark by hand.")
        elif len(fitting) == 1:
            students_by_row.setdefault(fitting.pop(), []).append((level, student))
        elif fitting:
            places = " and ".join(str(each + 2) for each in sorted(fitting))
            refused.append(f"{who} fits the rows {places}; enter this mark by hand.")
        elif (doubtful := next((at for at, row in sorted(candidates.items()) if person.numbers & row.numbers), None)) is not None:
            row_name = one_line(sheet_rows[doubtful].name) or "nobody"
            refused.append(f"{who} has a number of row {doubtful + 2}, but that is the row of {row_name}; enter this mark by hand.")
        else:
            unmatched.append(student.hand_in.student)
    matched = {}
    for row_number, students in students_by_row.items():
        best = min(level for level, _ in students)
        first = [student for level, student in students if level == best]
        if len(first) == 1:
            matched[row_number] = first[0]
        names = " and ".join(one_line(student.hand_in.student) for _, student in students)
        refused += [
            f"{one_line(student.hand_in.student)} fits row {row_number + 2}, but so does another student ({names}); enter this mark by hand."
            for level, student in students
            if len(first) > 1 or level > best
        ]
    return _Matched(matched, tuple(refused), tuple(unmatched))


def _read_row(sheet: _Sheet, row: Sequence[str], ids: _Ids, name: Callable[[_Sheet, Sequence[str]], str]) -> _SheetRow:
    values = [value for each in ids.every if (value := key(sheet.value(row, each)))]
    # Moodle writes "Participant 1234", in the language of the site.
    numbers = frozenset(last for value in values if (last := value.rpartition(" ")[2]).isdigit())
    own_number = key(sheet.value(row, ids.number))
    accounts = frozenset(f"{local}@" if at else local for local, at, _ in (value.partition("@") for value in values))
    return _SheetRow(numbers, frozenset(values) - numbers, accounts, own_number.rpartition(" ")[2], (own_number, *values), name(sheet, row))


class _StudentIdentity(NamedTuple):
    """What identifies a student who was graded.

    ``accounts`` are parts of addresses before the @, with an @ for what is no address. ``names`` identify the student without a number, ``shown_names``
    only together with one. ``own_number`` is the number on the platform that exported the file.
    """

    numbers: frozenset[str]
    exact: frozenset[str]
    accounts: frozenset[str]
    names: frozenset[str]
    shown_names: tuple[str, ...]
    own_number: str
    identities: tuple[str, ...]

    @property
    def texts(self) -> frozenset[str]:
        """All texts by which a row can be found."""
        return self.numbers | self.exact | self.accounts | self.names


def _person(hand_in: HandIn, identities: Sequence[str], kind: str, *, has_one_domain: bool) -> _StudentIdentity:
    platform, _, number = hand_in.person.partition(" ")
    names: tuple[str, ...] = ()
    if hand_in.place is not None:
        names = (hand_in.roster_name, hand_in.student)
    elif platform in ("", "name"):
        names = (hand_in.full_name, hand_in.student, *identities)
    # Without a roster, the name in the tables contains the name that the person chose on a platform.
    texts = frozenset(text for each in (*identities, *([hand_in.student] if names else [])) if (text := key(each)))
    numbers = frozenset(text for text in texts if text.isdigit())
    # An account "jdoe" fits the address "jdoe@a.edu" and vice versa. Two addresses must be equal, because people choose the domain.
    parts = (text.partition("@") for text in texts - numbers if has_one_domain or "@" not in text)
    accounts = frozenset(local if at else f"{local}@" for local, at, _ in parts)
    shown_names = (hand_in.roster_name or hand_in.full_name, hand_in.student, hand_in.student.removesuffix(f"-{number}"))
    own_number = number if platform == kind.casefold() else ""
    return _StudentIdentity(
        numbers, texts - numbers, accounts, frozenset(map(_name, names)) - {""}, shown_names, own_number, tuple(identities)
    )


def _fitting(person: _StudentIdentity, rows: Mapping[int, _SheetRow]) -> tuple[int, set[int]]:
    """Return the level of certainty (0 is the most certain), and the rows that fit a student at that level."""
    for level, fits in enumerate((_fits_surely, _fits_by_account, _fits_by_name)):
        fitting = {at for at, row in rows.items() if fits(person, row)}
        if fitting:
            return level, fitting
    return _BY_NAME + 1, set()


def _fits_surely(person: _StudentIdentity, row: _SheetRow) -> bool:
    if person.exact & row.exact:
        return True
    shared = person.numbers & row.numbers
    if not shared or roster.differ(person.identities, row.values):
        return False
    named = {name for text in person.shown_names for name in roster.name_keys(text) | roster.grouped(text)}
    is_numbered = any(text and key(f"{text} {number}") in row.values for text in person.shown_names for number in shared)
    return is_numbered or not named.isdisjoint(roster.name_keys(row.name))


def _fits_by_account(person: _StudentIdentity, row: _SheetRow) -> bool:
    return not person.accounts.isdisjoint(row.accounts)


def _fits_by_name(person: _StudentIdentity, row: _SheetRow) -> bool:
    """Return True if the row fits by name. Students choose their names on a platform, so addresses and numbers are tried first."""
    is_other = bool(person.own_number) and person.own_number != row.own_number
    return _name(row.name) in person.names and not is_other and not roster.differ(person.identities, row.values)


def _name(text: str) -> str:
    """Return a person's name as a key: "Doe, Jane" is "Jane Doe"."""
    last, comma, first = text.partition(",")
    return key(f"{first} {last}" if comma else text)
