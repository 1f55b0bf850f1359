"""The report as a file: what it holds, and the folder beside it."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

import pytest
from gradings import HOSTILE, SAMPLE, crowd, replaced, tables

from referee.grading import handout, page
from referee.grading.escaping import number

if TYPE_CHECKING:
    from referee.grading.values import Grades, StudentMarks

DASH = "\N{EN DASH}"
SHOWN_HOSTILE = "".join("\ufffd" if sign < " " or sign == "\ud800" else sign for sign in HOSTILE)


def student_pages(text: str) -> list[str]:
    """The page of each student."""
    return re.findall(r'<template class="student-page">(.*?)</template>', text, re.DOTALL)


def words(text: str) -> str:
    """What a part of a page says."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", text)).split())


def written(grades: Grades) -> str:
    page.write(grades, handout.folder_names(grades.students))
    return (grades.folder / "report.html").read_text()


def test_every_student_test_and_match_is_in_the_page(grades: Grades) -> None:
    text = written(grades)
    rows = tables(text)
    assert [row[0].split(" ")[0] for row in rows["tests-table"]] == ["finishes", "survives", "beats"]
    assert [row[0] for row in rows["students-table"]] == ["alice", "bob", SHOWN_HOSTILE, "dave"]
    assert [row[2] for row in rows["students-table"]] == [number(marks.points) for marks in grades.students]
    for student, marks in zip(student_pages(text), grades.students, strict=True):
        assert f"points {number(marks.points)} of 20 status {marks.status}" in words(student)
        assert student.count('<section class="test-part"') == 3
        trials = re.findall(r'<li class="trial.*?</li>', student, re.DOTALL)
        for trial, own in zip(trials, (own for mark in marks.tests for own in mark.trials), strict=True):
            text_of = f"Fault 1 in step {own.step}" if own.is_fault else own.text
            assert ("passed" in words(trial), "hidden" in words(trial), text_of in words(trial)) == (own.passed, own.trial.is_hidden, True)
            pages = re.findall(r'href="viewer.html\?match=([^"#]*)', trial)
            logs = re.findall(r'href="(private/[^"]*)"', trial)
            for match, (task, record) in zip(pages, own.matches, strict=True):
                assert f"private/{record.replay}" == f"{match}.replay.jsonl.gz"
                assert (grades.folder / "pages" / f"{match}.js").exists()
                assert " · ".join(f"{seat}: {name}" for seat, name in task.names.items()) in words(trial)
            assert all((grades.folder / log).exists() for log in logs)
    failed = student_pages(text)[1].partition('<ul class="trials">')[2].partition("</li>")[0]
    assert "#t=5" in failed
    assert "▶ Step 5" in failed
    assert words(student_pages(text)[1]).count("exited with status 1") == 1
    assert "stderr of hunter" in failed


def test_the_page_holds_no_markup_of_a_hand_in_and_no_seed(grades: Grades) -> None:
    text = written(grades._replace(rubric=SAMPLE._replace(name=f"</script>{HOSTILE}")))
    assert "<script>alert(1)" not in text
    assert text.count("<script") == written(grades).count("<script") == 2
    assert SAMPLE.seed not in text
    assert "http://" not in text.replace("http://www.w3.org", "").replace("(http://b)", "")


def test_a_step_is_within_its_match_and_a_lost_replay_has_no_link(grades: Grades) -> None:
    mark = grades.students[1].tests[0]
    _, record = mark.trials[0].matches[0]
    (grades.replays / record.replay).unlink()
    far = replaced(grades, 1, [mark._replace(trials=(mark.trials[0]._replace(step=999), *mark.trials[1:]))])
    first, second, *_ = re.findall(r'<p class="match">.*?</p>', student_pages(written(far))[1], re.DOTALL)
    assert "<a class=" not in first
    assert "viewer.html" in second
    (grades.replays / record.replay).write_bytes((grades.replays / mark.trials[1].matches[0][1].replay).read_bytes())
    assert f"#t={record.steps}" in student_pages(written(far))[1]


def test_replays_elsewhere_have_no_link(grades: Grades) -> None:
    elsewhere = grades._replace(folder=grades.folder / "other")
    elsewhere.folder.mkdir()
    assert "viewer.html" not in student_pages(written(elsewhere))[0]
    assert not (elsewhere.folder / "pages").exists()


def test_pages_of_earlier_trials_are_removed(grades: Grades) -> None:
    written(grades)
    pages = grades.folder / "pages"
    before = len(list(pages.rglob("*.js")))
    written(replaced(grades, 0, grades.students[0].tests[1:]))
    assert len(list(pages.rglob("*.js"))) == before - 3
    assert written(grades) == written(grades)


def test_a_large_class_stays_small(grades: Grades) -> None:
    large = crowd(grades, 500)
    text = page.html(large, handout.folder_names(large.students))
    # Ten matches each, with their sentences, links and logs.
    assert len(text) < 500 * 10 * 800


def test_zeros_that_are_no_result_of_play_look_different(grades: Grades) -> None:
    """Nothing was submitted; nothing could be graded; no match began."""
    bob = grades.students[1]
    never = [
        mark._replace(
            trials=tuple(
                trial._replace(is_fault=True, matches=tuple((task, record._replace(started=False)) for task, record in trial.matches))
                for trial in mark.trials
            )
        )
        for mark in bob.tests
    ]
    table = written(replaced(grades, 1, never)).partition('id="students-table-title"')[2]
    rows = re.findall(r'(?s)<tr><th scope="row">.*?</tr>', table)[:4]
    kinds = [re.findall(r'<td class="number (missing|refused|unable)">(.*?)</td>', row) for row in rows]
    assert kinds == [[], [("unable", "0")] * 3, [("missing", DASH)] * 3, [("refused", "0")] * 3]


def test_the_class_has_tiles_and_a_histogram(grades: Grades) -> None:
    text = written(grades)
    (tiles,) = re.findall(r'(?s)<ul class="tiles">(.*?)</ul>', text)
    assert words(tiles) == "4 students 10 mean, of 20 10 median 1 ok 1 faulty 1 missing 1 refused"
    assert f'aria-label="Points: 1 student missing, 1 student refused, 1 student 0{DASH}2, 1 student 18{DASH}20"' in text
    assert sum(column.students for column in page._histogram(grades.students, [0, 1.99, 2, 20, 20], 20)) == 7


def test_which_test_separates(grades: Grades) -> None:
    assert page.separation([1, 2, 3, 4, 5], [2, 4, 6, 8, 10]) == pytest.approx(1)
    assert page.separation([1, 2, 3, 4, 5], [10, 8, 6, 4, 2]) == pytest.approx(-1)
    assert page.separation([1, 1, 1, 1, 1], [1, 2, 3, 4, 5]) is None
    assert page.separation([1, 2, 3, 4], [1, 2, 3, 4]) is None
    rows = tables(written(crowd(grades, 12)))["tests-table"]
    assert {row[5].strip() for row in rows} <= {"well", "somewhat", "hardly", DASH}
    assert [row[5].strip() for row in tables(written(grades))["tests-table"]] == [DASH] * 3


def test_the_hand_in_that_took_most_of_the_time_is_named(grades: Grades) -> None:
    def slow(student: StudentMarks) -> StudentMarks:
        (first, *trials), *_ = (mark.trials for mark in student.tests)
        (task, record), *others = first.matches
        matches = ((task, record._replace(wall_seconds=80.0)), *others)
        return student._replace(tests=(student.tests[0]._replace(trials=(first._replace(matches=matches), *trials)), *student.tests[1:]))

    students = (grades.students[0], slow(grades.students[1]), *grades.students[2:])
    assert "Most of the time went to bob: 1 min 2" in written(grades._replace(students=students))
    assert "Most of the time" not in written(grades)
