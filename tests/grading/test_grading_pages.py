"""The report of marks in a real Chromium, from its file, at three widths."""

from __future__ import annotations

import gzip
import json
from typing import TYPE_CHECKING

import pytest
from gradings import HOSTILE, copied, crowd, replaced
from served_pages import axe, launched, resize, visiting, wait_for_step, wait_until_read

from referee.grading import handout, page
from referee.replay.paths import log_path
from referee.replay.reader import verify

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
    page.write_all(played_grades)
    large = crowd(played_grades, 200)
    text = page.html(large, handout.folder_names(large.students))
    (played_grades.folder / "large.html").write_text(text)
    return played_grades.folder


@pytest.mark.parametrize(
    "wanted", ["report.html", "large.html", "large.html#student=student003", "report.html#all", "students/bob/report.html"]
)
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
    assert "Fault 1 in step 5" in opened.locator(".trial").first.inner_text()
    assert "gave up in" in opened.locator(".fault-cards").inner_text()
    opened.locator(".trial a.watch").first.click()
    wait_until_read(opened, 5)
    wait_for_step(opened, 5)


def test_a_students_page_opens_a_replay_where_points_were_lost_and_saves_it(folder: Path, visit: Open, tmp_path: Path) -> None:
    """The page works without a network."""
    opened = visit(f"file://{folder}/students/bob/report.html", offline=True)
    opened.get_by_role("link", name="Step 5 of finishes, start 1").click()
    viewer = opened.frame_locator("#stage iframe")
    viewer.locator("#step", has_text="Step 5").wait_for()
    viewer.get_by_role("tab", name="Logs").click()
    viewer.locator(".log", has_text="gave up in").wait_for()
    with opened.expect_download() as download:
        opened.get_by_role("button", name="Save the replay", exact=True).click()
    saved = tmp_path / download.value.suggested_filename
    download.value.save_as(saved)
    assert (saved.name, verify(saved).problem) == ("1-finishes-1.replay.jsonl.gz", None)
    # On a phone the replay is as wide as the window.
    resize(opened, 390, 844)
    frame = opened.locator("#stage iframe").bounding_box()
    assert frame is not None
    assert frame["width"] == 390
    opened.get_by_role("button", name="Close").click()
    opened.locator("#stage").wait_for(state="hidden")
    opened.wait_for_url("**/report.html")
    opened.goto(f"file://{folder}/students/bob/report.html#replay=2-survives-1&t=3")
    opened.frame_locator("#stage iframe").locator("#step", has_text="Step 3").wait_for()
    opened.go_back()
    opened.locator("#stage").wait_for(state="hidden")


def test_a_hostile_hand_in_runs_nothing_in_its_page(played_grades: Grades, visit: Open, tmp_path: Path) -> None:
    """Markup in the names, in what the bot prints and says, in its code, its fault and its replay; a dialog or an error fails the test."""
    evil = '</script><script>alert(1)</script><img src=x onerror=alert(1)>"><svg onload=alert(1)>'
    grades = copied(played_grades, tmp_path / "out")
    bob = grades.students[1]
    mark = bob.tests[0]._replace(test=bob.tests[0].test._replace(name=evil))
    first = mark.trials[0]._replace(text=f"The hand-in failed in step 5: {evil}, at ./bob/bot.py:2 in hunt.")
    _, record = first.matches[0]
    assert bob.hand_in.folder is not None
    (bob.hand_in.folder / "bot.py").write_text(f"import json\n{evil}\n")
    replay = grades.replays / record.replay
    lines = (
        gzip.decompress(replay.read_bytes()).decode().replace("=1+1 <b>", json.dumps(evil)[1:-1]).replace("I saw", json.dumps(evil)[1:-1])
    )
    replay.write_bytes(gzip.compress(lines.encode()))
    log_path(replay, "hunter").write_text(evil)
    hand_in = bob.hand_in._replace(full_name=evil, name=evil)
    grades = replaced(grades, 1, [mark._replace(trials=(first, *mark.trials[1:]))])
    student = grades.students[1]._replace(hand_in=hand_in)
    path = tmp_path / "report.html"
    path.write_text(handout.html(grades, student))
    opened = visit(f"file://{path}")
    count = "() => [[...document.scripts].filter((one) => !one.type).length, document.querySelectorAll('img, svg[onload]').length]"
    assert evil in opened.locator("main").inner_text()
    assert opened.evaluate(count) == [1, 0]
    opened.locator("a.watch").first.click()
    viewer = opened.frame_locator("#stage iframe")
    viewer.locator("#step", has_text="Step 5").wait_for()
    for tab, text in (("Match", "<img src=x"), ("Logs", evil)):
        viewer.get_by_role("tab", name=tab).click()
        viewer.locator("[role=tabpanel]:visible", has_text=text).wait_for()
    assert viewer.locator("body").evaluate(count) == [1, 0]


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
