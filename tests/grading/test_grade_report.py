"""The report as a file: what it holds, and the folder beside it."""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING

from sample_grades import HOSTILE, RUBRIC, crowd, replaced, tables

from referee.grading import handout, page
from referee.grading.escaping import number

if TYPE_CHECKING:
    from referee.grading.values import Grades

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
            assert ("passed" in words(trial), "hidden" in words(trial), own.text in words(trial)) == (own.passed, own.trial.is_hidden, True)
            pages = re.findall(r'href="viewer.html\?match=([^"#]*)', trial)
            logs = re.findall(r'href="(private/[^"]*)"', trial)
            for match, (task, record) in zip(pages, own.matches, strict=True):
                assert f"private/{record.replay}" == f"{match}.replay.jsonl.gz"
                assert (grades.folder / "pages" / f"{match}.js").exists()
                assert " · ".join(f"{seat}: {name}" for seat, name in task.names.items()) in words(trial)
            assert all((grades.folder / log).exists() for log in logs)
    failed = student_pages(text)[1].partition("</li>")[0]
    assert "#t=5" in failed
    assert "▶ Step 5" in failed
    assert "stderr of hunter" in failed


def test_the_page_holds_no_markup_of_a_hand_in_and_no_seed(grades: Grades) -> None:
    text = written(grades._replace(rubric=RUBRIC._replace(name=f"</script>{HOSTILE}")))
    assert "<script>alert(1)" not in text
    assert text.count("<script") == written(grades).count("<script") == 2
    assert RUBRIC.seed not in text
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
    assert f"#t={record.steps}" in student_pages(written(far))[1].partition("</li>")[0]


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
