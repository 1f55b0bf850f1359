"""The tables: their columns, their schema, and what stays text in them."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from gradings import HOSTILE, SAMPLE, TESTS, replaced

from referee.grading import handout, page, tables
from referee.grading.values import STATUSES, Need

if TYPE_CHECKING:
    from referee.grading.values import Grades

MARKS = (Path(__file__).parents[2] / "docs" / "marks.md").read_text()


def rows(grades: Grades) -> list[list[str]]:
    return list(csv.reader(io.StringIO(tables.grades_csv(grades).decode("utf-8-sig"), newline="")))


def read_json(grades: Grades) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(tables.grades_json(grades, handout.folder_names(grades.students)))
    return found


def undecided(grades: Grades) -> Grades:
    """The grades of before the last match of the first test of the first student."""
    first, *others = grades.students[0].tests
    *done, last = first.trials
    first = first._replace(trials=(*done, last._replace(passed=None, points=0.0, matches=())))
    return replaced(grades, 0, [first, *others])


def test_csv_has_one_row_a_student(grades: Grades) -> None:
    head, alice, bob, missing, refused = rows(grades)
    assert head == [
        "student",
        "name",
        "submission",
        "points",
        "maximum",
        "status",
        "reason",
        "from",
        "late",
        "replaced",
        "finishes",
        "survives",
        "beats a walker",
    ]
    assert alice == ["alice", "", "alice.zip", "20", "20", "ok", "", "1", "", "", "6", "10", "4"]
    assert bob[:6] == ["bob", "", "bob.zip", "0", "20", "faulty"]
    assert bob[10:] == ["0", "0", "0"]
    assert missing[2:6] == ["", "0", "20", "missing"]
    assert refused[3:6] == ["0", "20", "refused"]


def test_every_output_names_the_graded_file_and_those_that_it_replaced(grades: Grades) -> None:
    first, *others = grades.students
    hand_in = first.hand_in._replace(name="a_LATE_1_12_bot-1.py", replaced=("a_1_10_bot.py",), late="LATE")
    grades = grades._replace(students=(first._replace(hand_in=hand_in), *others))
    assert (rows(grades)[1][2], *rows(grades)[1][8:10]) == ("a_LATE_1_12_bot-1.py", "LATE", "a_1_10_bot.py")
    told = read_json(grades)["students"][0]
    assert (told["submission"], told["late"], told["replaced"]) == ("a_LATE_1_12_bot-1.py", "LATE", ["a_1_10_bot.py"])
    assert "Hand-in: a_LATE_1_12_bot-1.py, in place of a_1_10_bot.py" in handout.html(grades, grades.students[0])
    html = page.html(grades, handout.folder_names(grades.students))
    assert "<dd>a_LATE_1_12_bot-1.py in place of a_1_10_bot.py</dd>" in html


def test_csv_has_no_formula_and_no_control_character(grades: Grades) -> None:
    text = tables.grades_csv(grades).decode()
    assert all(line.isprintable() for line in text.split("\r\n"))
    for row in rows(grades):
        assert not [each for each in row if each.startswith(("=", "+", "-", "@"))]
    assert rows(grades)[3][0].startswith("'=cmd")


def test_points_that_are_not_complete_are_empty_cells(grades: Grades) -> None:
    alice = rows(undecided(grades))[1]
    assert (alice[3], alice[10], alice[11]) == ("", "", "10")


def named(grades: Grades, full_name: str) -> Grades:
    """The grades with one name for everybody."""
    students = (student._replace(hand_in=student.hand_in._replace(full_name=full_name)) for student in grades.students)
    return grades._replace(students=tuple(students))


def test_a_spreadsheet_reads_the_names_of_the_roster_with_their_umlauts(grades: Grades) -> None:
    """Excel and LibreOffice take the byte order mark for that of UTF-8; a file of ASCII alone needs none."""
    data = tables.grades_csv(named(grades, "J\u00fcrgen Wei\u00df"))
    assert data.startswith(b"\xef\xbb\xbf")
    assert [row["name"] for row in csv.DictReader(io.StringIO(data.decode("utf-8-sig"), newline=""))] == ["J\u00fcrgen Wei\u00df"] * 4
    assert tables.grades_csv(named(grades, "Ada")).isascii()
    assert b"name" not in tables.grades_csv(named(grades, "")).partition(b"\r\n")[0]


def test_points_of_programs_have_two_decimals_too(grades: Grades) -> None:
    mark = grades.students[0].tests[0]
    thirds = mark._replace(trials=(mark.trials[0]._replace(points=17 / 6), *(trial._replace(points=0.0) for trial in mark.trials[1:])))
    found = read_json(replaced(grades, 0, [thirds]))["students"][0]
    assert (found["points"], found["tests"][0]["points"]) == (2.83, 2.83)


def test_json_has_the_keys_that_the_page_names(grades: Grades) -> None:
    found = read_json(grades)
    student = found["students"][1]
    result = student["tests"][0]
    trial = result["trials"][2]
    objects = [found, found["tests"][0], student, result, trial, trial["matches"][0]]
    section = MARKS.partition("## grades.json")[2].partition("\n## ")[0]
    named = [re.findall(r"`(\w+)`", row.split("|")[2]) for row in section.splitlines() if row.startswith(("| a ", "| the "))]
    assert [list(each) for each in objects] == named
    assert found["format"] == tables.FORMAT
    assert [student["student"] for student in found["students"]] == ["alice", "bob", HOSTILE, "dave"]
    assert (trial["hidden"], trial["passed"], trial["fault"], trial["step"]) == (True, False, True, 5)
    assert found["tests"][2]["when"] == "after_due"
    assert SAMPLE.seed not in json.dumps(found)
    assert read_json(undecided(grades))["complete"] is False


def test_numbers_that_json_does_not_have_become_null(grades: Grades) -> None:
    mark = grades.students[0].tests[0]
    task, record = mark.trials[0].matches[0]
    record = record._replace(seconds={"hunter": float("nan")}, scores={"hunter": float("inf")})
    mark = mark._replace(trials=(mark.trials[0]._replace(matches=((task, record),)),))
    found = read_json(replaced(grades, 0, [mark]))
    match = found["students"][0]["tests"][0]["trials"][0]["matches"][0]
    assert (match["seconds"], match["scores"]) == ({"hunter": None}, {"hunter": None})


def test_the_page_names_every_column_and_status() -> None:
    for word in (*tables.COLUMNS, *STATUSES, tables.CSV, tables.JSON, handout.REPORT):
        assert f"`{word}`" in MARKS


def test_needs_are_words() -> None:
    both = TESTS[1]._replace(needs=(Need("catch_within", 900), Need("mean_seconds_below", 0.05), Need("wins", True)))
    assert tables.needs(both) == "catch within 900 and mean seconds below 0.05 and wins"
    assert tables.needs(TESTS[2]) == "beats random"
