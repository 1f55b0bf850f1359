"""From a platform's download to its gradebook: each student gets the own points, and nobody those of another."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

import pytest
from gradings import SAMPLE, TESTS
from leagues import IDLE

from referee.errors import UsageError
from referee.grading import gradebook
from referee.grading.values import Grades, RubricMark, StudentMarks, Trial, TrialMark
from referee.handins.collect import collect

if TYPE_CHECKING:
    from pathlib import Path

TEST = TESTS[0]._replace(points=100.0, starts=1, hidden=0)
MOODLE = "Identifier,Full name,Email address,Grade,Maximum Grade,Grade can be changed\n"
CANVAS = "Student,ID,SIS User ID,SIS Login ID,Section,Evasion (1)\n"
SHEET = f"{MOODLE}Participant 12,Kim Lee,kim@u.example,,100,Yes\nParticipant 40,Ana Ruiz,ana@u.example,,100,Yes\nParticipant 13,Bo Li,bo@u.example,,100,Yes\n"
BOOK = f'{CANVAS}"Lee, Kim",12,101,kim,1,\n"Ruiz, Ana",40,102,ana,1,\n"Li, Bo",13,103,bo,1,\n'
TEAMS = ("student,name,email,team", "k,Kim Lee,kim@u.example,", "a,Ana Ruiz,ana@u.example,Rocket", "b,Bo Li,bo@u.example,Rocket")
PEOPLE = ("student,name,email", "k,Kim Lee,kim@u.example", "a,Ana Ruiz,ana@u.example", "b,Bo Li,bo@u.example")


def download(folder: Path, layout: str, names: tuple[str, ...]) -> Path:
    """A download in which each hand-in earns the points before the colon: (points: name of a file or folder, or submitter)."""
    metadata = ""
    for number, text in enumerate(names, 1):
        points, _, name = text.partition(":")
        path = {"moodle": f"{name}_assignsubmission_file_/bot.py", "gradescope": f"submission_{number}/bot.py"}.get(layout, name)
        file = folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# {points}\n{IDLE}")
        full, sid, email = (*name.split("|"), "", "")[:3]
        metadata += f"submission_{number}:\n  :submitters:\n  - :name: {full}\n    :sid: {sid}\n    :email: {email}\n"
    if layout == "gradescope":
        (folder / "submission_metadata.yml").write_text(metadata)
    return folder


def entered(tmp_path: Path, source: Path, sheet: str, lines: tuple[str, ...]) -> tuple[dict[str, str], tuple[str, ...]]:
    """The points in each row of a gradebook by the name there, and what was refused."""
    (tmp_path / "roster.csv").write_text("\n".join(lines))
    (tmp_path / "sheet.csv").write_text(sheet)
    students = []
    for hand_in in collect(source, tmp_path / "out", ("hunter",), tmp_path / "roster.csv" if lines else None):
        program = None if hand_in.folder is None else next(hand_in.folder.rglob("*.py"))
        points = 0.0 if program is None else float(program.read_text().split()[1])
        mark = TrialMark(Trial(hand_in.student, 0, 0, is_hidden=False), passed=True, points=points)
        students.append(StudentMarks(hand_in, hand_in.status, hand_in.reason, (RubricMark(TEST, (mark,)),)))
    grades = Grades(SAMPLE._replace(tests=(TEST,), name="Evasion"), tuple(students), tmp_path, tmp_path)
    filled = gradebook.fill(tmp_path / "sheet.csv", grades, tmp_path / "filled.csv")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "filled.csv").read_text(), newline="")))
    column, who = ("Grade", "Full name") if filled.kind == gradebook.MOODLE else ("Evasion (1)", "Student")
    return {row[who]: row[column] for row in rows if row[column]}, filled.refused


#: The layout, what was handed in, the gradebook, the roster, and who gets which points.
TRIPS: dict[str, tuple[str, tuple[str, ...], str, tuple[str, ...], dict[str, str]]] = {
    "moodle": ("moodle", ("10:Kim Lee_12", "20:Ana Ruiz_40"), SHEET, (), {"Kim Lee": "10", "Ana Ruiz": "20"}),
    "moodle, a roster": ("moodle", ("10:Kim Lee_12", "20:Ana Ruiz_40"), SHEET, PEOPLE, {"Kim Lee": "10", "Ana Ruiz": "20"}),
    "moodle, a group": ("moodle", ("10:L 2-Kim Lee_12", "20:L 2-Ana Ruiz_40"), SHEET, (), {"Kim Lee": "10", "Ana Ruiz": "20"}),
    "moodle, teams": ("moodle", ("10:Rocket_12", "20:Moon_13"), SHEET, (), {}),
    "moodle, teams on a roster": ("moodle", ("10:Rocket_12",), SHEET, TEAMS, {"Ana Ruiz": "10", "Bo Li": "10"}),
    "moodle, a name changed": ("moodle", ("10:Kim Lee_13",), SHEET, (), {}),
    "moodle, a team called like a student": ("moodle", ("10:Kim Lee_77",), SHEET, (), {}),
    "moodle, no names": ("moodle", ("10:Participant_12",), SHEET.replace("Kim Lee", ""), (), {"": "10"}),
    "moodle, into canvas": ("moodle", ("10:Kim Lee_40", "20:Ana Ruiz_12"), BOOK, (), {}),
    "canvas": ("canvas", ("10:leekim_12_1_bot.py", "20:ruizana_40_2_bot.py"), BOOK, (), {"Lee, Kim": "10", "Ruiz, Ana": "20"}),
    "canvas, a student's ids": ("canvas", ("10:leekim_101_1_bot.py", "20:xy_13_2_bot.py"), BOOK, (), {"Lee, Kim": "10"}),
    "canvas, her name": ("canvas", ("10:leekim_13_1_bot.py", "20:ruizana_40_2_bot.py"), BOOK, (), {"Ruiz, Ana": "20"}),
    "canvas, a resubmission": ("canvas", ("10:leekim_12_1_bot.py", "30:leekim_12_9_bot-1.py"), BOOK, (), {"Lee, Kim": "30"}),
    "gradescope": ("gradescope", ("10:Kim Lee|101|kim@u.example", "20:Ana|102|ana@u.example"), BOOK, (), {"Lee, Kim": "10", "Ruiz, Ana": "20"}),
    "gradescope, addresses": ("gradescope", ("10:Eve||kim@u.example",), SHEET, (), {"Kim Lee": "10"}),
    "gradescope, her name": ("gradescope", ("10:Kim Lee||eve@u.example", "20:Bo|103|bo@u.example"), BOOK, (), {"Li, Bo": "20"}),
    "gradescope, her login elsewhere": ("gradescope", ("10:Eve||kim@evil.example", "20:Bo||bo@u.example"), BOOK, (), {}),
    "gradescope, her id as a name": ("gradescope", ("10:101||eve@u.example", "20:Bo||bo@u.example"), BOOK, (), {"Li, Bo": "20"}),
    "gradescope, left out": ("gradescope", ("10:Kim Lee||eve@u.example", "20:Bo||bo@u.example"), SHEET.replace("bo@", "eve@"), PEOPLE, {}),
    "moodle, her address as a name": ("moodle", ("10:kim@u.example_77", "20:kim_78"), BOOK, (), {}),
    "moodle, her address in a sheet": ("moodle", ("10:kim@u.example_77", "20:Bo Li_13"), SHEET, (), {"Bo Li": "20"}),
    "plain": ("plain", ("10:Kim Lee.py", "20:ana.py"), BOOK, (), {"Lee, Kim": "10", "Ruiz, Ana": "20"}),
    "plain, ids": ("plain", ("10:101.py", "20:102.py"), BOOK, ("student,name", "101,Kim Lee", "102,Ana Ruiz"), {"Lee, Kim": "10", "Ruiz, Ana": "20"}),
    "plain, numbers of rows": ("plain", ("10:1.py", "20:12.py"), BOOK, ("student,name", "1,Kim Lee", "12,Ana Ruiz"), {"Lee, Kim": "10", "Ruiz, Ana": "20"}),
}  # fmt: skip


@pytest.mark.parametrize("case", TRIPS)
def test_everybody_gets_the_own_points(case: str, tmp_path: Path) -> None:
    layout, names, sheet, lines, expected = TRIPS[case]
    found, _ = entered(tmp_path, download(tmp_path / "class", layout, names), sheet, lines)
    assert found == expected


def test_a_number_beside_another_name_is_told(tmp_path: Path) -> None:
    source = download(tmp_path / "class", "moodle", ("10:Rocket_12", "20:Ana Ruiz_40"))
    _, refused = entered(tmp_path, source, SHEET, ())
    assert refused == ("Rocket-12 has a number of row 2, but that is the row of Kim Lee; enter this mark by hand.",)


def test_whoever_was_left_out_gets_no_zero(tmp_path: Path) -> None:
    source = download(tmp_path / "class", "gradescope", ("10:Kim Lee||eve@u.example", "20:Bo||bo@u.example"))
    found, refused = entered(tmp_path, source, SHEET.replace("kim@", "eve@"), PEOPLE)
    assert found == {"Bo Li": "20"}
    assert refused == ("eve@u.example was left out of the grading; enter this mark by hand.",)


def test_two_accounts_of_one_address_enter_nothing(tmp_path: Path) -> None:
    source = download(tmp_path / "class", "gradescope", ("10:A|101|kim@u.example", "20:B|102|kim@u.example"))
    with pytest.raises(UsageError, match="are of different accounts"):
        entered(tmp_path, source, SHEET, ())
