"""The report in a real Chromium, at three widths: from its file, and served while the league runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import play_match
from leagues import HOSTILE, NAMES, league
from served_pages import axe, launched, visiting, wait_for_step, wait_until_read

from referee.league import report_folder, report_page

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser, Page
    from served_pages import Open

pytestmark = pytest.mark.slow

WIDTHS = (390, 1280, 1600)
#: Parts of a page that scroll sideways, by their names.
SCROLLED = "[...document.querySelectorAll('.wide')].filter((one) => one.scrollWidth > one.clientWidth).map((one) => one.ariaLabel)"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    with launched() as browser:
        yield browser


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Open]:
    with visiting(chromium) as opened:
        yield opened


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Reports of several leagues; the smallest has a replay of its first match."""
    made = tmp_path_factory.mktemp("league")
    for teams in (6, 20, 40, 200):
        (made / f"{teams}.html").write_text(report_page.html(league(teams, finished=0.8 if teams == 20 else 1.0)))
    hostile = league([*HOSTILE, *NAMES[:3]], remark=HOSTILE[0])._replace(name=HOSTILE[1])
    (made / "hostile.html").write_text(report_page.html(hostile))
    data = league(6)
    (made / "replays").mkdir()
    play_match("straight", "still", replay=made / data.duels[0].matches[0].record.replay, max_steps=60)
    report_folder.write(data, made)
    return made


def address(folder: Path, name: str, wanted: str = "") -> str:
    return f"file://{folder}/{name}.html{wanted}"


def is_read(page: Page) -> None:
    page.locator("#duels .duels").wait_for()


@pytest.mark.parametrize("name", ["6", "20", "40", "200", "hostile"])
def test_a_report_is_whole_at_every_width(name: str, folder: Path, visit: Open) -> None:
    """A narrow dark page and a wide light one are held against the rules of accessibility; the largest page is made like that of 40 teams."""
    page = visit(address(folder, name), {"width": WIDTHS[0], "height": 900}, color_scheme="dark")
    is_read(page)
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        page.emulate_media(color_scheme="light" if width == WIDTHS[1] else "dark")
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        assert width == WIDTHS[0] or page.evaluate(SCROLLED) == []
        for section in ("standings", "crosstable", "endings", "time", "duels", "settings"):
            assert page.locator(f"#{section} .content > *").first.is_visible()
        assert page.locator("#standings .bar:visible").count() == page.locator("#standings tbody tr:visible").count()
        # The widest page has all of 1280 and nothing else.
        assert (width, name) == (WIDTHS[0], "20") or width == WIDTHS[2] or name == "200" or axe(page) == []
    # However large a league is, the page shows few elements beside the cells of its crosstable.
    assert page.evaluate("[...document.querySelectorAll(':not(.cross *)')].filter((one) => one.checkVisibility()).length") < 5000


@pytest.mark.parametrize("width", WIDTHS)
def test_texts_of_teams_stay_text(width: int, folder: Path, visit: Open) -> None:
    page = visit(address(folder, "hostile"), {"width": width, "height": 900})
    is_read(page)
    for team in HOSTILE[:5]:
        page.evaluate("team => { location.hash = new URLSearchParams({ team }).toString(); }", team)
        page.locator("#team-panel").wait_for()
        shown = "".join("\ufffd" if sign < " " or sign == "\u202e" else sign for sign in team)
        page.wait_for_function("shown => document.getElementById('team-title').textContent === shown", arg=shown)
    assert page.locator("img, iframe, object").count() == 0
    assert page.locator("h1").inner_text() == HOSTILE[1]
    assert page.evaluate("[...document.scripts].filter((one) => !one.type).length") == 1
    assert "\u202e" not in page.locator("body").inner_text()


def test_a_finished_league_shows_its_winner_boards_and_duels_of_a_kind(folder: Path, visit: Open) -> None:
    page = visit(address(folder, "40"))
    is_read(page)
    first = page.locator("#standings tbody .team").first.inner_text()
    assert page.locator("#honours h2").inner_text() == f"{first} wins"
    for title in ("The winner", "The best against each other", "The biggest surprise"):
        page.locator("#honour-boards").get_by_text(title, exact=True).wait_for()
    assert axe(page) == []
    duels, shown = page.locator(".duel"), page.locator("#which")
    every = int(shown.inner_text().split()[0].replace(",", ""))
    for kind in ("surprises", "faults", "longest", "closest", "all"):
        page.get_by_role("button", name=kind, exact=True).click()
        count = int(shown.inner_text().split()[0].replace(",", ""))
        assert count <= every
        assert kind != "all" or count == every
        assert kind == "surprises" or count > 0
        assert kind != "surprises" or count < every
        if kind == "faults":
            assert duels.filter(has=page.locator(".told .fault")).count() == duels.count()
        if kind == "longest":
            steps = [max(map(int, re.findall(r"after (\d+) ", text))) for text in duels.all_inner_texts()]
            assert steps == sorted(steps, reverse=True)
    page.goto(address(folder, "report"))
    is_read(page)
    # The one match whose replay is beside the report has a board in its line, drawn from the script of its viewer.
    page.locator("#duels .thumb canvas").scroll_into_view_if_needed()
    page.locator("#duels .thumb canvas.drawn").wait_for()
    assert page.locator("#duels .thumb canvas").count() == 1
    assert page.locator("#duels script").count() == 0
    # A heading sorts its table, a second time the other way round, also with the keyboard.
    heading, teams = page.locator("#standings thead th", has_text="Team"), page.locator("#standings tbody .team")
    before = teams.all_inner_texts()
    heading.click()
    assert teams.all_inner_texts() == sorted(before, key=str.casefold)
    heading.press("Enter")
    assert teams.all_inner_texts() == sorted(before, key=str.casefold, reverse=True)
    assert heading.get_attribute("aria-sort") == "ascending"
    for _ in range(2):
        page.locator("#standings thead th").first.press(" ")
    assert teams.all_inner_texts() == before
    assert axe(page) == []


def test_the_address_leads_to_a_team_a_duel_and_a_match(folder: Path, visit: Open) -> None:
    page = visit(address(folder, "20", "#team=Lasso"))
    is_read(page)
    assert page.locator("#team-title").inner_text() == "Lasso"
    rows = page.locator(".duel")
    assert rows.count() > 0
    assert rows.filter(has_text="Lasso").count() == rows.count()
    assert page.locator("#standings tr.chosen").inner_text().count("Lasso") == 1
    page.evaluate("location.hash = 'duel=17'")
    page.locator("#duel-17.chosen").wait_for()
    assert page.locator(".duel").count() == 1
    page.evaluate("location.hash = 'match=17.1'")
    page.locator("#match-17\\.1.chosen").wait_for()
    page.go_back()
    page.go_back()
    page.locator("#team-title", has_text="Lasso").wait_for()
    page.evaluate("location.hash = 'team=Nobody'")
    page.get_by_text("There is no team Nobody in this league.").wait_for()
    page.get_by_label("Team", exact=True).fill("")
    page.wait_for_function("() => location.hash === ''")


def test_a_team_is_chosen_by_its_name(folder: Path, visit: Open) -> None:
    page = visit(address(folder, "6"))
    is_read(page)
    page.get_by_label("Team", exact=True).fill("box")
    page.keyboard.press("Enter")
    page.locator("#team-title", has_text="Boxer").wait_for()
    page.locator("#endings tr.chosen td a").first.click()
    page.wait_for_function("() => location.hash.includes('reason=')")
    page.locator(".match.chosen").first.wait_for()
    page.get_by_role("link", name="All teams").click()
    page.locator("#team-panel").wait_for(state="hidden")


def test_the_crosstable_is_read_with_the_keys(folder: Path, visit: Open) -> None:
    page = visit(address(folder, "6"))
    is_read(page)
    page.locator("table.cross [tabindex='0']").focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    names = page.locator("#standings tbody th a").all_inner_texts()
    assert label.startswith(f"{names[2]} ")
    assert page.locator("table.cross [tabindex='0']").count() == 1
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_function("() => location.hash.includes('against=')")
    page.locator("#team-title").get_by_text(names[2], exact=True).wait_for()


def test_a_large_crosstable_is_read_with_the_keys(folder: Path, visit: Open) -> None:
    page = visit(address(folder, "200"))
    is_read(page)
    page.locator("table.cross [tabindex='0']").focus()
    for key in ("ArrowDown", "PageDown", "End"):
        page.keyboard.press(key)
    label = page.evaluate("document.activeElement.getAttribute('aria-label')")
    names = page.locator("#standings tbody th a").all_inner_texts()
    assert label.startswith(f"{names[11]} ")
    assert page.locator(".readout").inner_text() == label
    page.keyboard.press("Enter")
    page.locator("#team-title", has_text=names[11]).wait_for()
    assert page.locator(".duel").count() == 1
    page.get_by_role("link", name="All duels").click()
    page.get_by_role("button", name="Show all 200").first.click()
    assert page.locator("#standings tbody tr:visible").count() == 200
    page.get_by_role("button", name="Show 100 more of 19,870").click()
    assert page.locator(".duel").count() == 130


def test_the_crosstable_is_read_with_the_pointer(folder: Path, visit: Open) -> None:
    page = visit(address(folder, "200"))
    is_read(page)
    names = page.locator("#standings tbody th a").all_inner_texts()
    cell = page.locator("table.cross tbody tr").nth(3).locator("td").nth(90)
    cell.hover()
    assert page.locator(".readout").inner_text().startswith(f"{names[3]} ")
    cell.click()
    page.locator("#team-title", has_text=names[3]).wait_for()
    assert page.locator("#opponents-table tr.chosen th").inner_text() == names[90]
    assert page.locator(".duel").count() == 1


def test_paper_has_every_row_and_no_controls(folder: Path, visit: Open) -> None:
    page = visit(address(folder, "200"), {"width": 720, "height": 1000}, color_scheme="dark")
    is_read(page)
    page.emulate_media(media="print")
    assert page.locator("#standings tbody tr:visible").count() == 200
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not page.locator("#filter").is_visible()
    assert not page.locator("#duels").is_visible()
    page.emulate_media(media="screen")
    assert page.locator("#standings tbody tr:visible").count() == 30


def test_a_match_is_one_click_from_its_replay(folder: Path, visit: Open) -> None:
    page = visit(address(folder, "report"))
    is_read(page)
    page.get_by_role("link", name="Watch duel 1, match 1").click()
    page.wait_for_url("**/viewer.html?match=**")
    wait_until_read(page, 60)
    assert json.loads(page.locator("#page").text_content() or "")["check"]["status"] == "good"
    page.keyboard.press("End")
    wait_for_step(page, 60)
    assert axe(page) == []
    page.go_back()
    is_read(page)
    page.get_by_label("How to watch duel 1, match 2").click()
    page.get_by_text("referee watch replays/").first.wait_for()
    page.get_by_role("button", name="Copy").first.click()
    page.get_by_text("Copied.").or_(page.get_by_text("Selected")).first.wait_for()


def test_a_viewer_without_a_match_says_so(folder: Path, visit: Open) -> None:
    for wanted in ("", "?match=../report", "?match=https://example.org/x", "?match=javascript:alert(1)"):
        page = visit(f"file://{folder}/viewer.html{wanted}")
        page.get_by_text("The address doesn't name a match").wait_for()


def test_a_served_report_follows_its_league(tmp_path: Path, visit: Open) -> None:
    (tmp_path / "replays").mkdir()
    play_match("straight", "still", replay=tmp_path / "replays" / "one.replay.jsonl.gz", max_steps=60)
    share = tmp_path / "share"
    share.write_text("0.4")
    program = Path(__file__).with_name("serve_sample.py")
    process = subprocess.Popen([sys.executable, program, share, tmp_path], stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        page = visit(process.stdout.readline().strip() + "#team=Boxer")
        is_read(page)
        page.locator("#progress-text", has_text="12 of 30 matches").wait_for()
        page.locator("#team-title", has_text="Boxer").wait_for()
        page.locator(".duel a").first.focus()
        share.write_text("0.6")
        page.locator("#progress-text", has_text="18 of 30 matches").wait_for()
        assert page.evaluate("document.activeElement.closest('.duel') !== null")
        share.write_text("1")
        page.locator("#state", has_text="finished").wait_for()
        assert page.locator(".duel").count() == 5
        assert axe(page) == []
        page.get_by_role("link", name="Watch duel 1, match 1").click()
        page.wait_for_url("**/viewer.html?match=**")
        wait_until_read(page, 60)
        page.get_by_text("✓ verified").wait_for()
    finally:
        process.terminate()
        process.communicate(timeout=60)
