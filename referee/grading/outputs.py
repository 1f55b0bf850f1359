"""Writes all files of a grading: tables and a report for the teacher, and a folder for each student.

Each file is written whole or not at all. Files that would not change are left alone, and what belongs to earlier trials is removed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from referee.grading import handout, page, tables

if TYPE_CHECKING:
    from referee.grading.values import Grades

CSV, JSON = "grades.csv", "grades.json"


def write(grades: Grades, *, after_due: bool = False) -> None:
    """Write everything into ``grades.folder``. OSError if that fails; each file is then the old one or the new one.

    The folders of students have no test that is shown after the due date, unless ``after_due``.
    """
    folder = grades.folder
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    folders = handout.folder_names(grades.students)
    handout.write_changed(folder / CSV, tables.grades_csv(grades))
    handout.write_changed(folder / JSON, tables.grades_json(grades, folders))
    handout.write(grades, folders, after_due=after_due)
    page.write(grades, folders)
