"""Grades whose matches are played once for all tests."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING

import pytest
import sample_grades

if TYPE_CHECKING:
    from pathlib import Path

    from referee.grading.values import Grades


@pytest.fixture(scope="session")
def played_grades(tmp_path_factory: pytest.TempPathFactory) -> Grades:
    return sample_grades.played(tmp_path_factory.mktemp("grading") / "out")


@pytest.fixture
def grades(played_grades: Grades, tmp_path: Path) -> Grades:
    """Grades in a folder of their own."""
    folder = tmp_path / "out"
    shutil.copytree(played_grades.folder, folder, symlinks=True)
    private = folder / "private"
    students = []
    for student in played_grades.students:
        own = student.submission.folder
        students.append(student._replace(submission=student.submission._replace(folder=own and private / "submissions" / own.name)))
    return played_grades._replace(folder=folder, replays=private, students=tuple(students))
