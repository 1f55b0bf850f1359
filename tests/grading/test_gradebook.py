"""Marks into files that Canvas and Moodle exported."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from gradings import HOSTILE, NAME, replaced

from referee.errors import UsageError
from referee.grading import gradebook

if TYPE_CHECKING:
    from pathlib import Path

    from referee.grading.values import Grades

ASSIGNMENT = f"{NAME} (87568490)"
#: Canvas: the two rows before the students, a column of its own, a column that can't be changed.
CANVAS = f"""Student,ID,SIS User ID,SIS Login ID,Section,Notes,Quiz 1 (17),"{ASSIGNMENT}",Quizzes Current Score,Final Score
,,,,,,Manual Posting,,,
    Points Possible,,,,,,5.00,20.00,(read only),(read only)
"Ant, Alice",101,S1,alice@example.edu,01,,4.50,,90.00,90.00
"Bee, Bob",102,S2,bob,01,,3.00,1.00,60.00,60.00
"Cat, =Cleo",103,S3,cleo,"01 and 02",,,,,
"Student, Test",104,,abcdef,01,,,,,
"""
MOODLE = """Identifier,"Full name","Email address",Status,Grade,"Maximum Grade","Grade can be changed","Last modified (hand-in)","Online text","Last modified (grade)","Feedback comments"
"Participant 1234","Alice Ant",alice@example.edu,"Submitted for grading - ",,100.00,Yes,"Friday, 20 November 2026, 10:00 AM",=1+1,-,
"Participant 1235","Bob Bee",bob@example.edu,"No hand-in - Graded",-3.00,100.00,Yes,-,,"Friday, 20 November 2026, 10:00 AM",Fine
"Participant 1236","Cleo Cat",cleo@example.edu,"No hand-in - ",,100.00,Yes,-,,-,
"""


def known_as(grades: Grades, *identities: tuple[str, tuple[str, ...], str]) -> Grades:
    """The grades with other names: (student, identities, full name) of the first ones."""
    students = list(grades.students)
    for at, (student, others, full_name) in enumerate(identities):
        hand_in = students[at].hand_in._replace(student=student, identities=others, full_name=full_name)
        students[at] = students[at]._replace(hand_in=hand_in)
    return grades._replace(students=tuple(students))


def filled(
    grades: Grades, folder: Path, text: str, column: str | None = None, *, encoding: str = "utf-8", after_due: bool = True
) -> tuple[gradebook.Filled, list[list[str]]]:
    export, out = folder / "export.csv", folder / "filled.csv"
    export.write_bytes(text.encode(encoding))
    found = gradebook.fill(export, grades, out, column, after_due=after_due)
    return found, list(csv.reader(io.StringIO(out.read_text("utf-8-sig"), newline="")))


def test_canvas_gets_the_changed_column_only(grades: Grades, tmp_path: Path) -> None:
    found, rows = filled(grades, tmp_path, CANVAS)
    assert rows == [
        ["Student", "ID", "SIS User ID", "SIS Login ID", "Section", ASSIGNMENT],
        ["    Points Possible", "", "", "", "", "20.00"],
        ["Ant, Alice", "101", "S1", "alice@example.edu", "01", "20"],
        ["Bee, Bob", "102", "S2", "bob", "01", "0"],
    ]
    assert found.kind == "Canvas"
    assert (found.column, found.written, found.refused) == (ASSIGNMENT, ("alice", "bob"), ())
    assert found.unmatched == (HOSTILE, "dave")
    assert found.notes == ()


def test_canvas_keeps_its_encoding_and_its_decimal_comma(grades: Grades, tmp_path: Path) -> None:
    mark = grades.students[0].tests[0]
    grades = replaced(grades, 0, [mark._replace(trials=(mark.trials[0]._replace(points=1.25), *mark.trials[1:]))])
    text = CANVAS.replace("5.00,20.00", '"5,00","20,00"').replace("\n", "\r\n")
    filled(grades, tmp_path, text, encoding="utf-8-sig")
    data = (tmp_path / "filled.csv").read_bytes()
    assert data.startswith(b"\xef\xbb\xbfStudent,ID")
    assert b',alice@example.edu,01,"5,25"\r\n' in data
    semicolons = "Student;ID;Section;A (1)\n    Points Possible;;;20,00\nAlice;101;1;\n"
    filled(known_as(grades, ("alice", ("101",), "")), tmp_path, semicolons)
    assert (tmp_path / "filled.csv").read_text().splitlines()[2] == "Alice;101;1;5,25"


def test_a_stranger_with_her_name_gets_no_row_of_alices(grades: Grades, tmp_path: Path) -> None:
    stranger = known_as(grades, ("alice@evil.example", ("alice@evil.example",), "Alice Ant"))
    for text in (CANVAS, MOODLE):
        found, _ = filled(stranger, tmp_path, text)
        assert "alice@evil.example" in found.unmatched


def test_canvas_with_first_and_last_names(grades: Grades, tmp_path: Path) -> None:
    text = "LastName,FirstName,ID,SIS Login ID,Section,HW (1)\n    Points Possible,,,,,20\n=Ant,Alice,7,x,1,\n"
    found, rows = filled(known_as(grades, ("one", (), "Alice =Ant")), tmp_path, text)
    assert found.written == ("one",)
    assert rows[2] == ["'=Ant", "Alice", "7", "x", "1", "20"]


@pytest.mark.parametrize("column", [ASSIGNMENT, NAME, "87568490", "Quiz 1", "17", None])
def test_the_column_of_canvas_is_chosen(grades: Grades, tmp_path: Path, column: str | None) -> None:
    found, _ = filled(grades, tmp_path, CANVAS, column)
    is_quiz = column in ("Quiz 1", "17")
    assert found.column == ("Quiz 1 (17)" if is_quiz else ASSIGNMENT)
    assert len(found.notes) == is_quiz


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        (CANVAS, "Quiz 2", r"no assignment 'Quiz 2' that can be changed; its assignments are: 'Quiz 1 \(17\)'"),
        (CANVAS, "Final Score", "no assignment 'Final Score'"),
        (CANVAS.replace("Evasion", "Other"), None, "no assignment 'Evasion, homework 3'"),
        (CANVAS.replace("Quiz 1 (17)", f'"{NAME} (18)"'), None, r"more than one column that fits: .* name one of them with its number"),
        (CANVAS.replace("20.00", "(read only)"), NAME, "that can be changed"),
        (MOODLE, "HW", "is a worksheet of Moodle"),
        ("a,b\n1,2\n", None, "is neither a gradebook exported from Canvas"),
        ("", None, "is empty"),
        ("ID,ID\n", None, "two columns 'ID'"),
        ("Student,ID,A (1)\nx,1,2,3\n", None, "row 2: there are more cells than columns"),
    ],
)
def test_a_file_that_can_not_be_used_is_refused(grades: Grades, tmp_path: Path, text: str, column: str | None, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        filled(grades, tmp_path, text, column)
    assert not (tmp_path / "filled.csv").exists()


def test_a_file_that_is_no_text_or_not_there_is_refused(grades: Grades, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="can't be read"):
        gradebook.fill(tmp_path / "none.csv", grades, tmp_path / "out.csv")
    with pytest.raises(UsageError, match="not UTF-8"):
        filled(grades, tmp_path, CANVAS, encoding="utf-16")


def test_moodle_gets_the_grade_and_the_feedback(grades: Grades, tmp_path: Path) -> None:
    found, rows = filled(known_as(grades, ("Alice Ant", ("1234",), ""), ("bob", ("bob@example.edu",), "")), tmp_path, MOODLE)
    head, alice, bob, cleo = rows
    assert (found.kind, found.written, found.refused) == ("Moodle", ("Alice Ant", "bob"), ())
    assert head[0] == "Identifier"
    assert alice[:6] == ["Participant 1234", "Alice Ant", "alice@example.edu", "Submitted for grading - ", "20", "100.00"]
    assert alice[8:10] == ["'=1+1", "-"]
    assert alice[10] == "finishes: 6 of 6 points.<br>survives: 10 of 10 points.<br>beats a walker: 4 of 4 points."
    assert bob[4] == "0"
    assert "Status: faulty (Crashed in " in bob[10]
    assert cleo == ["Participant 1236", "Cleo Cat", "cleo@example.edu", "No hand-in - ", "", "100.00", "Yes", "-", "", "-", ""]


def test_moodles_feedback_tells_nothing_of_hidden_matches_and_is_no_markup(grades: Grades, tmp_path: Path) -> None:
    alice, bob = grades.students[0].tests, grades.students[1].tests
    hidden = bob[0]._replace(trials=(alice[0].trials[0], *bob[0].trials[1:]))
    late = replaced(replaced(grades, 0, [hidden, *alice[1:]]), 1, alice)
    _, rows = filled(known_as(late, ("alice", ("1234",), "")), tmp_path, MOODLE, after_due=False)
    assert rows[1][10] == ("finishes: 2 of 6 points.<br>survives: 10 of 10 points.")
    public = bob[0]._replace(trials=(bob[0].trials[0]._replace(text=HOSTILE), *bob[0].trials[1:]))
    _, rows = filled(known_as(replaced(grades, 0, [public]), ("alice", ("1234",), "")), tmp_path, MOODLE)
    assert "<script" not in rows[1][10]
    public = bob[0]._replace(trials=(bob[0].trials[0]._replace(text="It is not JSON: 'hello' - print to stderr."), *bob[0].trials[1:]))
    _, told = filled(known_as(replaced(grades, 0, [public]), ("alice", ("1234",), "")), tmp_path, MOODLE)
    assert "It is not JSON: 'hello' - print to stderr" in told[1][10]
    assert rows[1][10].isprintable()


def test_a_test_shown_after_the_due_date_is_left_out_and_noted(grades: Grades, tmp_path: Path) -> None:
    found, rows = filled(grades, tmp_path, CANVAS, after_due=False)
    assert rows[2][-1] == "16"
    assert found.notes == ("Left out until after the due date: 'beats a walker'.",)
    found, _ = filled(grades, tmp_path, CANVAS.replace("20.00", "16.00"), after_due=False)
    assert found.notes[1:] == (f"'{ASSIGNMENT}' has 16.00 points in Canvas, but the rubric has 20.",)


def test_marks_that_can_not_be_entered_stay_and_are_noted(grades: Grades, tmp_path: Path) -> None:
    first, *others = grades.students[0].tests
    first = first._replace(trials=(first.trials[0]._replace(passed=None), *first.trials[1:]))
    _, rows = filled(replaced(grades, 0, [first, *others]), tmp_path, CANVAS)
    assert [row[1] for row in rows] == ["ID", "", "102"]
    missing = known_as(grades, ("x", (), ""), ("y", (), ""), ("cleo", (), ""))
    found, rows = filled(missing, tmp_path, CANVAS)
    assert found.notes == ("cleo submitted nothing; the mark was left as it is.",)
    assert len(rows) == 2
    found, rows = filled(grades, tmp_path, MOODLE.replace("100.00,Yes", "10.00,No", 1).replace("100.00", "0.00"))
    assert found.written == ("bob",)
    assert "can't be changed" in found.notes[0]
    found, rows = filled(grades, tmp_path, MOODLE.replace("100.00", "10.00"))
    assert found.notes == ("alice has 20 points, but Moodle allows 10.00; the mark was not entered.",)
    assert rows[1][4] == ""
    found, _ = filled(grades, tmp_path, MOODLE.replace("Feedback comments", "Other"))
    assert "no column 'Feedback comments'" in found.notes[0]


def test_two_students_of_one_name_are_refused(grades: Grades, tmp_path: Path) -> None:
    both = CANVAS + '"Ant, Alice",105,S5,ant2,02,,,,,\n'
    found, rows = filled(known_as(grades, ("Alice Ant", (), "")), tmp_path, both)
    assert found.refused == ("Alice Ant fits the rows 4 and 8; enter this mark by hand.",)
    assert [row[1] for row in rows] == ["ID", "", "102"]
    found, rows = filled(known_as(grades, ("Alice Ant", ("105",), "")), tmp_path, both)
    assert found.refused == ()
    assert [row[1] for row in rows] == ["ID", "", "102", "105"]


def test_two_hand_ins_for_one_row_are_refused(grades: Grades, tmp_path: Path) -> None:
    found, rows = filled(known_as(grades, ("a", (), "Alice Ant"), ("b", (), "Ant, Alice")), tmp_path, CANVAS)
    assert found.refused == (
        "a fits row 4, but so does another student (a and b); enter this mark by hand.",
        "b fits row 4, but so does another student (a and b); enter this mark by hand.",
    )
    assert len(rows) == 2
    # What identifies a student counts more than a name that somebody else took.
    found, rows = filled(known_as(grades, ("a", ("S1",), ""), ("Alice Ant", (), "")), tmp_path, CANVAS)
    assert found.written == ("a",)
    assert found.refused == ("Alice Ant fits row 4, but so does another student (a and Alice Ant); enter this mark by hand.",)


def test_a_hand_in_that_fits_two_rows_is_refused(grades: Grades, tmp_path: Path) -> None:
    found, _ = filled(known_as(grades, ("alice", ("S1", "S2"), "")), tmp_path, CANVAS)
    assert found.refused[0] == "alice fits the rows 4 and 5; enter this mark by hand."


def test_what_several_students_have_identifies_none_of_them(grades: Grades, tmp_path: Path) -> None:
    found, rows = filled(known_as(grades, ("alice", ("102", "hw3"), ""), ("bob", ("102", "hw3"), "")), tmp_path, CANVAS)
    assert (found.written, found.refused) == (("alice", "bob"), ())
    assert [row[1] for row in rows] == ["ID", "", "101", "102"]


@pytest.mark.parametrize(
    ("student", "identities", "fits"),
    [
        ("ALICE@example.edu", (), True),
        ("alice@other.edu", (), False),
        ("alice", (), True),
        ("bob@example.edu", (), False),
        ("x", ("S1",), True),
        ("alice  ANT", (), True),
        ("Ant, Alice", (), True),
        ("Ali", (), False),
    ],
)
def test_what_identifies_a_student(grades: Grades, tmp_path: Path, student: str, identities: tuple[str, ...], *, fits: bool) -> None:
    found, rows = filled(known_as(grades, (student, identities, ""), ("nobody", (), "")), tmp_path, CANVAS)
    assert (["Ant, Alice"] in [row[:1] for row in rows]) == fits
    assert (student in found.written) == fits or student == "bob@example.edu"
