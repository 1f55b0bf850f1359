"""The report of marks in a real Chromium, from its file, at three widths."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sample_grades import HOSTILE, crowd
from served_pages import axe, launched, resize, visiting, wait_for_step, wait_until_read

from referee.grading import handout, outputs, page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser
    from served_pages import Open

    from referee.grading.values import Grades

pytestmark = pytest.mark.slow

WIDTHS = (390, 1024, 1600)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Open]:
    with visiting(chromium) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(played_grades: Grades) -> Path:
    """A small class with its replays, and a large one without."""
    outputs.write(played_grades)
    large = crowd(played_grades, 200)
    text = page.html(large, handout.folder_names(large.students))
    (played_grades.folder / "large.html").write_text(text)
    return played_grades.folder


@pytest.mark.parametrize("wanted", ["report.html", "large.html", "large.html#student=student003", "report.html#all"])
def test_a_page_is_whole_at_every_width(wanted: str, folder: Path, visit: Open) -> None:
    opened = visit(f"file://{folder}/{wanted}", {"width": WIDTHS[0], "height": 900}, color_scheme="dark")
    opened.locator("main section").first.wait_for()
    for width in WIDTHS:
        resize(opened, width, 900)
        opened.emulate_media(color_scheme="light" if width == WIDTHS[1] else "dark")
        assert opened.evaluate("document.documentElement.scrollWidth") <= width
        # The widest page has all of 1024 and nothing else.
        assert width == WIDTHS[2] or axe(opened) == []
    assert opened.evaluate("document.querySelectorAll('*').length") < 5000


def test_all_means_are_over_the_same_students_and_say_so(folder: Path, visit: Open) -> None:
    """Two of the four students submitted nothing that can be graded; a mean of 17/6 points has two decimals."""
    opened = visit(f"file://{folder}/report.html")
    over = "over the 2 students of 4 whose hand-ins were graded completely"
    assert f"mean 10, median 10, from 0 to 20, of 20; {over}" in opened.locator("#overview").inner_text()
    assert f"Means and counts are {over}." in opened.locator("#tests").inner_text()
    cells = opened.locator("#tests tbody tr").evaluate_all("rows => rows.map((row) => [...row.cells].map((one) => one.textContent))")
    assert [(row[2], row[4]) for row in cells] == [("3", "1 of 2"), ("5", "1 of 2"), ("2", "1 of 2")]


def test_a_lost_point_leads_to_the_replay_at_that_step(folder: Path, visit: Open) -> None:
    opened = visit(f"file://{folder}/report.html")
    opened.locator("#students-table").get_by_role("link", name="bob").click()
    opened.get_by_role("heading", name="bob").wait_for()
    assert "gave up in" in opened.locator(".trial").first.inner_text()
    opened.locator(".trial a.watch").first.click()
    wait_until_read(opened, 5)
    wait_for_step(opened, 5)


def test_texts_of_hand_ins_stay_text(folder: Path, visit: Open) -> None:
    opened = visit(f"file://{folder}/report.html#all")
    opened.locator("main section").first.wait_for()
    assert opened.locator("main script, main img, main iframe").count() == 0
    assert "<script>alert(1)</script>" in opened.locator("main").inner_text()
    assert opened.evaluate("[...document.scripts].filter((one) => !one.type).length") == 1
    opened.get_by_role("link", name="Class").click()
    opened.locator("#students-table").get_by_role("link", name="=cmd").click()
    opened.locator("section.student").wait_for()
    assert opened.locator("section.student h2").inner_text().startswith("=cmd|' /C calc'!A1<script>alert(1)</script>\ufffd[31m")
    assert HOSTILE not in opened.locator("body").inner_text()


def test_a_student_is_chosen_by_name(folder: Path, visit: Open) -> None:
    opened = visit(f"file://{folder}/large.html")
    opened.get_by_label("Student", exact=True).fill("family12")
    opened.keyboard.press("Enter")
    opened.get_by_role("heading", name="student012").wait_for()
    opened.get_by_role("link", name="Next").click()
    opened.get_by_role("heading", name="student013").wait_for()
    opened.go_back()
    opened.get_by_role("heading", name="student012").wait_for()
    opened.get_by_label("Student", exact=True).fill("nobody")
    opened.keyboard.press("Enter")
    opened.get_by_text("There is no student nobody in these marks.").wait_for()
    opened.get_by_role("link", name="Class").click()
    opened.get_by_role("heading", name="The class").wait_for()


def test_paper_has_every_row(folder: Path, visit: Open) -> None:
    opened = visit(f"file://{folder}/large.html", color_scheme="dark")
    opened.locator("#students-table tbody tr").first.wait_for()
    assert opened.locator("#students-table tbody tr:visible").count() < 40
    opened.emulate_media(media="print", color_scheme="dark")
    assert opened.locator("#students-table tbody tr:visible").count() == 202
    assert opened.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert opened.locator("nav").is_hidden()
    opened.emulate_media(media="screen", color_scheme="dark")
    assert opened.locator("#students-table tbody tr:visible").count() < 40
