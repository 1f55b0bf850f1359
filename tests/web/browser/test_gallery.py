"""A gallery and the projector's page, in a real Chromium."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from leagues import open_new
from pages import HAS_BOARDS, PHONE, axe, pixels, resize
from replay_records import records

if TYPE_CHECKING:
    from pages import Open, Serve
    from playwright.sync_api import Page

RECORDED = Path(__file__).parents[2] / "data" / "replays"
BOXER, SEARCHER = RECORDED / "evasion-classic-boxer-runner.replay.jsonl.gz", RECORDED / "evasion-classic-searcher-evader.replay.jsonl.gz"
NARROW = {"width": 320, "height": 640}
EVIL = "<img src=x onerror=alert(1)>\u202etxt"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Matches of three games, one of a bot with a hostile name, and files that are none."""
    made = tmp_path_factory.mktemp("gallery")
    for path in sorted(RECORDED.glob("*.gz")):
        shutil.copy(path, made)
    lines = records(BOXER)
    lines[0]["players"]["hunter"]["name"] = EVIL
    (made / "evil.replay.jsonl.gz").write_bytes(gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))
    data = BOXER.read_bytes()
    (made / "cut.replay.jsonl.gz").write_bytes(data[: len(data) // 2])
    (made / "junk<b>.replay.jsonl.gz").write_bytes(b"junk")
    return made


def fits(page: Page) -> bool:
    """Nothing is cut at the right."""
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def cards(page: Page, count: int) -> None:
    page.wait_for_function("count => document.querySelectorAll('.board').length === count", arg=count)


def test_a_gallery_is_searched_and_walked_by_keys(serve: Serve, visit: Open, folder: Path) -> None:
    served = serve("watch", folder)
    page = visit(served.addresses[0])
    total = len(list(folder.iterdir())) - 1
    cards(page, total)
    # All cards may be there before the server says that it has read everything.
    page.locator("#count").get_by_text(f"{total} matches", exact=True).wait_for()
    assert page.get_by_text("junk<b>.replay.jsonl.gz").is_visible()
    assert page.get_by_text("it has no result").is_visible()
    page.wait_for_function(HAS_BOARDS, arg=5)
    assert axe(page) == []
    assert fits(page)
    page.keyboard.press("/")
    page.keyboard.type("txt")
    cards(page, 1)
    assert "onerror" in (page.locator(".board .who").first.text_content() or "")
    page.keyboard.press("Escape")
    cards(page, total)
    page.get_by_label("Game", exact=True).select_option("rectangle")
    cards(page, len(list(folder.glob("rectangle*"))))
    page.get_by_label("Order", exact=True).select_option("name")
    # With the arrows, Enter, and on in the viewer.
    page.keyboard.press("Escape")
    page.locator("h1").click()
    page.get_by_label("Game", exact=True).select_option("")
    page.get_by_label("Result", exact=True).select_option("p:")
    cards(page, 1)
    page.get_by_label("Result", exact=True).select_option("")
    page.get_by_label("Player", exact=True).select_option("Runner")
    page.locator("h1").click()
    page.keyboard.press("ArrowRight")
    first = page.evaluate("document.activeElement.dataset.key")
    page.keyboard.press("End")
    page.keyboard.press("Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert page.evaluate("document.activeElement.dataset.key") == first
    page.keyboard.press("Enter")
    page.get_by_role("link", name="Gallery, 1 of").wait_for()
    page.keyboard.press("Shift+N")
    page.get_by_role("link", name="Gallery, 2 of").wait_for()
    page.keyboard.press("Shift+P")
    page.get_by_role("link", name="Gallery, 1 of").wait_for()
    assert f"/replay/{first}/" in page.url
    page.keyboard.press("u")
    # Back where it was left: the same filter, the same card.
    page.wait_for_function("key => document.activeElement.dataset.key === key", arg=first)
    assert page.get_by_label("Player", exact=True).input_value() == "Runner"
    page.keyboard.press("Escape")
    cards(page, total)


@pytest.mark.slow
def test_every_recorded_match_has_a_small_board_in_both_themes(serve: Serve, visit: Open, folder: Path) -> None:
    page = visit(serve("watch", folder).addresses[0])
    total = len(list(folder.iterdir())) - 1
    cards(page, total)
    for _ in range(2):
        for number in range(total):
            page.locator(".board canvas").nth(number).scroll_into_view_if_needed()
            page.wait_for_function(HAS_BOARDS, arg=number + 1)
        before = pixels(page, ".board canvas")
        page.get_by_role("button", name="Dark or light").click()
        page.evaluate("scrollTo(0, 0)")
        page.wait_for_function("before => document.querySelector('.board canvas').toDataURL() !== before", arg=before)


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
    page.get_by_role("table").wait_for()
    assert sorted(page.locator("tr.playing td.team").all_inner_texts()) == ["Evader", "Searcher"]
    page.keyboard.press("Space")
    for size in (PHONE, NARROW):
        resize(page, size["width"], size["height"])
        assert fits(page)


@pytest.mark.slow
def test_cards_of_a_league_name_the_teams(serve: Serve, visit: Open, tmp_path: Path) -> None:
    open_new(tmp_path).close()
    lines = records(BOXER)
    lines[0]["players"]["hunter"] |= {"team": EVIL, "name": "Bert"}
    lines[0]["players"]["prey"] |= {"team": "Bert", "name": "Bert"}
    (tmp_path / "out" / "one.replay.jsonl.gz").write_bytes(gzip.compress(b"".join(json.dumps(line).encode() + b"\n" for line in lines)))
    page = visit(serve("watch", tmp_path / "out").addresses[0])
    page.locator(".board .who", has_text="Bert prey").wait_for()
    won = page.locator(".board .won").inner_text()
    assert (won.startswith("<img src=x onerror=alert(1)>"), "(Bert)" in won) == (True, True)
    assert page.locator("h1").inner_text() == "test"
    # The list of players has the teams.
    page.locator("#player").select_option("Bert")
    cards(page, 1)
