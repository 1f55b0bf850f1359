"""The list of a folder and the projector's page, in a real Chromium."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from leagues import open_new
from recorded_games import records, sealed
from served_pages import DESKTOP, HAS_BOARDS, PHONE, axe, pixels, resize

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from served_pages import Open, Serve

RECORDED = Path(__file__).parents[2] / "data" / "replays"
BOXER, SEARCHER = RECORDED / "evasion-classic-boxer-runner.replay.jsonl.gz", RECORDED / "evasion-classic-searcher-evader.replay.jsonl.gz"
NARROW = {"width": 320, "height": 640}
EVIL = "<img src=x onerror=alert(1)>\u202etxt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Matches of three games, one of a bot with a hostile name, and files that are none."""
    made = tmp_path_factory.mktemp("folder")
    for path in sorted(RECORDED.glob("*.gz")):
        shutil.copy(path, made)
    lines = records(BOXER)
    lines[0]["players"]["hunter"]["name"] = EVIL
    (made / "evil.replay.jsonl.gz").write_bytes(sealed(lines))
    data = BOXER.read_bytes()
    (made / "cut.replay.jsonl.gz").write_bytes(data[: len(data) // 2])
    (made / "junk<b>.replay.jsonl.gz").write_bytes(b"junk")
    return made


def fits(page: Page) -> bool:
    """Nothing is cut at the right."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def rows(page: Page, count: int) -> None:
    page.wait_for_function("count => document.querySelectorAll('.listed').length === count", arg=count)


def test_a_list_is_searched_and_leads_to_the_viewer_and_back(serve: Serve, visit: Open, folder: Path) -> None:
    served = serve("watch", folder)
    page = visit(served.addresses[0])
    total = len(list(folder.iterdir())) - 1
    rows(page, total)
    # All rows may be there before the server says that it has read everything.
    page.locator("#count").get_by_text(f"{total} matches", exact=True).wait_for()
    assert page.get_by_text("junk<b>.replay.jsonl.gz").is_visible()
    assert page.get_by_text("it has no result").is_visible()
    page.wait_for_function(HAS_BOARDS, arg=5)
    assert axe(page) == []
    for size in (PHONE, NARROW, DESKTOP):
        resize(page, size["width"], size["height"])
        assert fits(page)
    page.keyboard.press("/")
    page.keyboard.type("txt")
    rows(page, 1)
    assert "onerror" in (page.locator(".listed .players").inner_text())
    assert page.locator("#count").inner_text() == f"1 of {total} matches"
    search = page.get_by_label("Search in players, games, results and files")
    search.fill("no such word")
    page.get_by_text("No match has these words.").wait_for()
    search.fill("rectangle")
    rows(page, len(list(folder.glob("rectangle*"))))
    search.fill("runner classic")
    page.get_by_label("Order", exact=True).select_option("name")
    names = page.locator(".listed .told > p:last-child").all_inner_texts()
    assert len(names) > 1
    first = page.get_by_role("link", name="Watch").nth(0)
    address = first.get_attribute("href")
    first.click()
    page.get_by_role("link", name="All matches, 1 of").wait_for()
    page.keyboard.press("Shift+N")
    page.get_by_role("link", name="All matches, 2 of").wait_for()
    page.keyboard.press("Shift+P")
    page.get_by_role("link", name="All matches, 1 of").wait_for()
    assert page.url.split("#")[0].endswith(f"/{address}")
    page.keyboard.press("u")
    # Back where it was left: the same words, the same match.
    page.wait_for_function("address => document.activeElement.getAttribute('href') === address", arg=address)
    assert (search.input_value(), page.get_by_label("Order", exact=True).input_value()) == ("runner classic", "name")


def test_a_match_that_ends_meanwhile_appears_and_the_others_stay(serve: Serve, visit: Open, tmp_path: Path) -> None:
    shutil.copy(BOXER, tmp_path)
    page = visit(serve("watch", tmp_path).addresses[0])
    rows(page, 1)
    page.evaluate("globalThis.first = document.querySelector('.listed')")
    shutil.copy(SEARCHER, tmp_path)
    rows(page, 2)
    assert page.evaluate("globalThis.first.isConnected")


def test_a_match_that_still_runs_has_its_result_when_it_ends(serve: Serve, visit: Open, tmp_path: Path) -> None:
    data, path = BOXER.read_bytes(), tmp_path / BOXER.name
    path.write_bytes(data[: len(data) // 2])
    page = visit(serve("watch", tmp_path).addresses[0])
    rows(page, 1)
    page.get_by_role("link", name="Watch").click()
    page.get_by_text("cut short").first.wait_for()
    path.write_bytes(data)
    page.get_by_text("verified").first.wait_for()
    page.get_by_text("cut short").first.wait_for(state="detached")


@pytest.mark.slow
def test_every_recorded_match_has_a_small_board_in_both_themes(serve: Serve, visit: Open, folder: Path) -> None:
    page = visit(serve("watch", folder).addresses[0])
    total = len(list(folder.iterdir())) - 1
    rows(page, total)
    for _ in range(2):
        for number in range(total):
            page.locator("canvas.small").nth(number).scroll_into_view_if_needed()
            page.wait_for_function(HAS_BOARDS, arg=number + 1)
        before = pixels(page, "canvas.small")
        page.get_by_role("button", name="Dark or light").click()
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_function("before => document.querySelector('canvas.small').toDataURL() !== before", arg=before)


@pytest.mark.slow
def test_the_projector_goes_on_by_itself_and_shows_a_match_that_has_just_ended(serve: Serve, visit: Open, tmp_path: Path) -> None:
    page = visit(serve("watch", tmp_path, "--projector").addresses[0])
    page.get_by_text("Waiting for the first match").wait_for()
    assert axe(page) == []
    shutil.copy(RECORDED / "maze-dasher-hard.replay.jsonl.gz", tmp_path)
    page.get_by_text("Dasher").first.wait_for()
    page.get_by_label("speed").select_option("32")
    page.get_by_text("Dasher wins").wait_for()
    assert page.locator("#standings td.team").all_inner_texts() == ["Dasher", "Hard"]
    assert axe(page) == []
    shutil.copy(SEARCHER, tmp_path)
    page.get_by_text("Searcher").first.wait_for()
    page.keyboard.press("Space")
    assert page.get_by_role("button", name="Pause").get_attribute("aria-pressed") == "true"
    page.keyboard.press("s")
    page.locator("#standings").get_by_role("table").wait_for()
    assert sorted(page.locator("#standings tr.playing td.team").all_inner_texts()) == ["Evader", "Searcher"]
    page.keyboard.press("Space")
    for size in (PHONE, NARROW):
        resize(page, size["width"], size["height"])
        assert fits(page)


@pytest.mark.slow
def test_rows_of_a_league_name_the_teams(serve: Serve, visit: Open, tmp_path: Path) -> None:
    open_new(tmp_path).close()
    lines = records(BOXER)
    lines[0]["players"]["hunter"] |= {"team": EVIL, "name": "Bert"}
    lines[0]["players"]["prey"] |= {"team": "Bert", "name": "Bert"}
    (tmp_path / "out" / "one.replay.jsonl.gz").write_bytes(sealed(lines))
    page = visit(serve("watch", tmp_path / "out").addresses[0])
    rows(page, 1)
    sides = page.locator(".listed .side")
    assert sides.nth(1).inner_text().split() == ["Bert", "prey"]
    won = page.locator(".listed .best").inner_text()
    assert (won.startswith("<img src=x onerror=alert(1)>"), "(Bert)" in won) == (True, True)
    assert page.locator("h1").inner_text() == "test"
