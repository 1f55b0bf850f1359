"""Enters marks into a file that a course platform exported: Canvas's gradebook, or Moodle's worksheet for offline grading.

Students are found by their identities, then by name. If a name matches two rows, or a row matches two students, the mark isn't entered: the
grader has to enter it by hand.
"""

from __future__ import annotations

import csv
import html
import io
import re
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from referee.errors import UsageError
from referee.grading.escaping import number, one_line
from referee.grading.handout import shown_marks
from referee.grading.marks import public
from referee.grading.values import AFTER_DUE, MISSING
from referee.handins import roster
from referee.handins.names import key
from referee.replay.paths import content
from referee.support.csv_text import foreign_cell, guarded
from referee.support.files import write_whole

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from referee.grading.values import Grades, StudentMarks, Submission

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
#: The last way to find a row.
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
    """The row of each student by its number, and why others have none."""

    rows: Mapping[int, StudentMarks]
    refused: tuple[str, ...]
    unmatched: tuple[str, ...]


def fill(export: Path, grades: Grades, out: Path, column: str | None = None, *, after_due: bool = False) -> Filled:
    """Enter the points into a copy of an exported file. Raises UsageError if the file or the column can't be used.

    ``column`` is the heading of an assignment in Canvas, its name or its number; None is allowed if only one fits. Canvas's copy has the
    columns that identify students, and the changed one. Moodle's has all columns, with the grade and the feedback changed. The feedback has
    only the points of hidden matches. Incomplete marks aren't entered, and neither are those of students who submitted nothing.

    Platforms show the points to students: tests that are shown after the due date are left out unless ``after_due``, and a note says so.
    """
    sheet = _read(export)
    if "Identifier" in sheet.head and "Grade" in sheet.head:
        if column is not None and column != "Grade":
            raise UsageError(f"{sheet.name} is a worksheet of Moodle: its marks are in the column 'Grade'; leave the column out.")
        return _moodle(sheet, grades, out, after_due=after_due)
    if "ID" in sheet.head and ("Student" in sheet.head or {"LastName", "FirstName"} <= set(sheet.head)):
        return _canvas(sheet, grades, out, column, after_due=after_due)
    raise UsageError(
        f"{sheet.name} is neither a gradebook exported from Canvas (columns 'Student' and 'ID') nor Moodle's worksheet for offline grading "
        "(columns 'Identifier' and 'Grade')."
    )


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
    matched = _match(grades, sheet, numbers, _CANVAS_IDS, _canvas_name)
    has_comma = any(_DECIMAL_COMMA.fullmatch(cell.strip()) for cell in limits or ())
    kept = [i for i, name in enumerate(sheet.head) if name in (*_CANVAS_NAMES, *_CANVAS_IDS, *_CANVAS_OTHER)]
    written = []
    rows = [[sheet.head[i] for i in (*kept, at)]]
    for row_number, row in enumerate(sheet.rows):
        cells = [row[i] if sheet.head[i] in _CANVAS_IDS else foreign_cell(row[i]) for i in kept]
        if row is limits:
            rows.append([*cells, limit])
        elif (student := matched.rows.get(row_number)) is not None:
            mark = _mark(student, notes, after_due=after_due)
            if mark is not None:
                rows.append([*cells, mark.replace(".", ",") if has_comma else mark])
                written.append(student.submission.student)
    _write(sheet, rows, out)
    return Filled(out, CANVAS, sheet.head[at], tuple(written), matched.refused, matched.unmatched, tuple(notes))


def _canvas_column(sheet: _Sheet, grades: Grades, column: str | None, limits: Sequence[str] | None) -> int:
    """Return the number of the column of the assignment. UsageError if none or several fit."""

    def is_open(at: int) -> bool:
        return limits is None or not limits[at].strip().startswith("(")

    known = {at: found for at, name in enumerate(sheet.head) if (found := _ASSIGNMENT.fullmatch(name)) is not None and is_open(at)}
    if column is None:
        fitting = [at for at, found in known.items() if key(found[1]) == key(grades.rubric.name)]
        if not fitting and len(known) == 1:
            fitting = list(known)
    else:
        fitting = [at for at in known if sheet.head[at] == column.strip()]
        fitting = fitting or [at for at, found in known.items() if column.strip() in (found[1], found[2])]
    if len(fitting) == 1:
        return fitting[0]
    names = ", ".join(f"'{sheet.head[at]:.80}'" for at in fitting or known) or "none"
    if fitting:
        raise UsageError(f"{sheet.name} has more than one column that fits: {names}; name one of them with its number.")
    wanted = f"'{(grades.rubric.name if column is None else column):.80}'"
    raise UsageError(f"{sheet.name} has no assignment {wanted} that can be changed; its assignments are: {names}.")


def _canvas_name(sheet: _Sheet, row: Sequence[str]) -> str:
    if sheet.column("Student") is not None:
        return sheet.value(row, "Student")
    return f"{sheet.value(row, 'FirstName')} {sheet.value(row, 'LastName')}"


def _moodle(sheet: _Sheet, grades: Grades, out: Path, *, after_due: bool) -> Filled:
    grade, feedback = sheet.head.index("Grade"), sheet.column("Feedback comments")
    notes = _left_out(grades, after_due=after_due)
    if feedback is None:
        notes.append("The worksheet has no column 'Feedback comments': turn that on in the assignment's settings to enter feedback.")
    matched = _match(grades, sheet, range(len(sheet.rows)), _MOODLE_IDS, lambda sheet, row: sheet.value(row, "Full name"))
    written = []
    rows: list[list[str]] = [sheet.head]
    has_comma = any(_DECIMAL_COMMA.fullmatch(sheet.value(row, "Maximum Grade")) for row in sheet.rows)
    for row_number, row in enumerate(sheet.rows):
        cells = [cell if name in _MOODLE_IDS else foreign_cell(cell) for name, cell in zip(sheet.head, row, strict=True)]
        student = matched.rows.get(row_number)
        mark = None if student is None else _mark(student, notes, after_due=after_due)
        if student is not None and mark is not None:
            name = one_line(student.submission.student)
            limit = sheet.value(row, "Maximum Grade").replace(",", ".")
            if sheet.value(row, "Grade can be changed") == "No":
                notes.append(f"{name} has a grade that Moodle says can't be changed; it was left alone.")
            elif _NUMBER.fullmatch(limit) and float(mark) > float(limit):
                notes.append(f"{name} has {mark} points, but Moodle allows {limit}; the mark was not entered.")
            else:
                cells[grade] = mark.replace(".", ",") if has_comma else mark
                if feedback is not None:
                    cells[feedback] = guarded(_feedback(student, after_due=after_due))
                written.append(student.submission.student)
        rows.append(cells)
    _write(sheet, rows, out)
    return Filled(out, MOODLE, "Grade", tuple(written), matched.refused, matched.unmatched, tuple(notes))


def _left_out(grades: Grades, *, after_due: bool) -> list[str]:
    names = [f"'{one_line(test.name)}'" for test in grades.rubric.tests if test.when == AFTER_DUE and not after_due]
    return [f"Left out until after the due date: {', '.join(names)}."] if names else []


def _mark(student: StudentMarks, notes: list[str], *, after_due: bool) -> str | None:
    """Return the points to enter; None with a note if there are none."""
    marks = shown_marks(student, after_due=after_due)
    if student.status == MISSING:
        notes.append(f"{one_line(student.submission.student)} submitted nothing; the mark was left as it is.")
    elif not all(mark.is_complete for mark in marks):
        notes.append(f"{one_line(student.submission.student)}: not all matches are decided; the mark was left as it is.")
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


def _match(
    grades: Grades, sheet: _Sheet, rows: Iterable[int], ids: Sequence[str], name: Callable[[_Sheet, Sequence[str]], str]
) -> _Matched:
    """Find the row of each student: by what identifies it, else by the part of an e-mail address before the @, else by name."""
    tiers: list[dict[str, set[int]]] = [{}, {}, {}]
    for row_number in rows:
        row = sheet.rows[row_number]
        values = [value for each in ids if (value := key(sheet.value(row, each)))]
        for tier, keys in zip(tiers, _row_keys(values, name(sheet, row)), strict=True):
            for each in keys:
                tier.setdefault(each, set()).add(row_number)
    found: dict[int, list[tuple[int, StudentMarks]]] = {}
    refused, unmatched = [], []
    counts = Counter(each for student in grades.students for each in {key(text) for text in student.submission.identities})
    for student in grades.students:
        # What several students have, such as the number of their section, identifies none of them.
        own = [text for text in student.submission.identities if counts[key(text)] == 1]
        level, fitting = _fitting(student.submission, own, tiers)
        if level == _BY_NAME:
            # Students choose their names, so of two with one name the address decides.
            fitting = {row for row in fitting if not roster.differ(own, [sheet.value(sheet.rows[row], each) for each in ids])}
        if len(fitting) == 1:
            found.setdefault(fitting.pop(), []).append((level, student))
        elif fitting:
            places = " and ".join(str(each + 2) for each in sorted(fitting))
            refused.append(f"{one_line(student.submission.student)} fits the rows {places}; enter this mark by hand.")
        else:
            unmatched.append(student.submission.student)
    matched = {}
    for row_number, students in found.items():
        best = min(level for level, _ in students)
        first = [student for level, student in students if level == best]
        if len(first) == 1:
            matched[row_number] = first[0]
        names = " and ".join(one_line(student.submission.student) for _, student in students)
        refused += [
            f"{one_line(student.submission.student)} fits row {row_number + 2}, but so does another student ({names}); enter this mark by hand."
            for level, student in students
            if len(first) > 1 or level > best
        ]
    return _Matched(matched, tuple(refused), tuple(unmatched))


def _row_keys(values: Sequence[str], name: str) -> tuple[set[str], set[str], set[str]]:
    """Return the keys of a row: the surest first."""
    # Moodle writes "Participant 1234", in the language of the site.
    exact = {*values, *(last for value in values if (last := value.rpartition(" ")[2]).isdigit())}
    accounts = {f"{local}@" if at else local for local, at, _ in (value.partition("@") for value in values)}
    return exact, accounts, {_name(name)} - {""}


def _fitting(submission: Submission, identities: Sequence[str], tiers: Sequence[Mapping[str, set[int]]]) -> tuple[int, set[int]]:
    """Return the rows that fit a student, and how sure they are (0 is the surest)."""
    texts = [text for each in (*identities, submission.student) if (text := key(each))]
    # An account "jdoe" fits "jdoe@a.edu" either way round, but two addresses have to be the same.
    accounts = {local if at else f"{local}@" for local, at, _ in (text.partition("@") for text in texts)}
    names = {_name(text) for text in (submission.full_name, submission.student, *identities)}
    for level, (tier, keys) in enumerate(zip(tiers, (set(texts), accounts, names), strict=True)):
        found = {row for each in keys for row in tier.get(each, ())}
        if found:
            return level, found
    return len(tiers), set()


def _name(text: str) -> str:
    """Return a person's name as a key: "Doe, Jane" is "Jane Doe"."""
    last, comma, first = text.partition(",")
    return key(f"{first} {last}" if comma else text)
