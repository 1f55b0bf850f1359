"""Where the parts of the page stand, at every size: the board first, nothing cut."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from served_pages import resize, wait_for_frames, wait_for_step, wait_until_read

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from served_pages import Open, Serve

#: The elements that stand out of the page on its right, or out of a box that hides what doesn't fit.
CUT = """
() => [...document.querySelectorAll('body *')].filter((one) => {
  if (!one.checkVisibility() || one.closest('.unseen, .skip, dialog, canvas')) return false;
  const box = one.getBoundingClientRect();
  return box.width > 1 && (box.right > innerWidth + 0.5 || box.left < -0.5);
}).map((one) => one.outerHTML.slice(0, 80))
"""


def board(page: Page) -> tuple[float, float, float]:
    """The width and the height of the drawn board (the cells alone), and where its canvas ends."""
    box = page.locator("#board").bounding_box()
    assert box is not None
    size = min(box["width"], box["height"]) - 20
    return size, size, box["y"] + box["height"]


def test_the_board_has_the_room_that_there_is(address: str, visit: Open) -> None:
    page = visit(address + "#t=60")
    wait_for_step(page, 60)
    wait_until_read(page, 297)
    for width, height in ((1280, 800), (1920, 1080)):
        resize(page, width, height)
        assert board(page)[1] >= 0.8 * height, (width, height)
        play = page.locator("#play").bounding_box()
        assert play is not None
        # In sight without scrolling, in one line below the board.
        assert board(page)[2] <= play["y"] < height - 20
        tops = page.evaluate(
            "[...document.querySelectorAll('.transport > *')].map((one) => one.getBoundingClientRect()).map((box) => box.top + box.height / 2)"
        )
        assert max(tops) - min(tops) < 4
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        # The buttons of the board cover no cell.
        corner = page.locator(".corner").bounding_box()
        canvas = page.locator("#board").bounding_box()
        assert corner is not None
        assert canvas is not None
        assert corner["x"] >= canvas["x"] + canvas["width"] - 1
    resize(page, 390, 844)
    assert board(page)[0] >= 390 - 21
    resize(page, 844, 390)
    assert board(page)[1] >= 390 - 21
    controls = page.locator("#play").bounding_box()
    assert controls is not None
    assert controls["x"] > 390


@pytest.mark.parametrize("first", [(320, 568), (1280, 800)])
def test_nothing_is_cut(address: str, visit: Open, first: tuple[int, int]) -> None:
    """In a page that begins small, as on a phone, or large; then it has other sizes."""
    page = visit(address + "#t=60", {"width": first[0], "height": first[1]})
    wait_for_step(page, 60)
    wait_until_read(page, 297)
    sizes = [(320, 568), (390, 844), (568, 320), (844, 390), (768, 1024), (1024, 768), (1280, 800)]
    for width, height in sorted(sizes, key=first.__ne__)[:: 1 if first == sizes[0] else 3]:
        resize(page, width, height)
        for tab in page.locator("[role=tab]").all():
            tab.click()
            wait_for_frames(page)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (width, height, page.evaluate(CUT))
            assert page.evaluate(CUT) == [], (width, height)
        page.click("#layers summary")
        assert page.evaluate(CUT) == [], (width, height)
        page.keyboard.press("Escape")


#: The lowest pixel of a column of the canvas that is not empty: the lower edge of the board.
LOWEST = """
() => {
  const canvas = document.getElementById('board');
  const copy = new OffscreenCanvas(1, canvas.height).getContext('2d', { willReadFrequently: true });
  copy.drawImage(canvas, 30 - canvas.width, 0);
  const { data } = copy.getImageData(0, 0, 1, canvas.height);
  for (let y = canvas.height - 1; y >= 0; y -= 1) if (data[4 * y] < 250) return y;
  return -1;
}
"""


def test_the_board_keeps_its_size_at_the_end_and_a_step_key_stops_the_playback(serve: Serve, visit: Open) -> None:
    """A narrow board on a phone that lies on its side: the words of the end lie over it."""
    replay = Path(__file__).parents[2] / "data" / "replays" / "evasion-diagonal-caught.replay.jsonl.gz"
    page = visit(serve("watch", replay).addresses[0] + "#t=20", {"width": 844, "height": 390})
    wait_for_step(page, 20)
    wait_until_read(page, 21)
    wait_for_frames(page)
    before = page.evaluate(LOWEST)
    assert before >= 390 - 21
    page.keyboard.press("End")
    wait_for_step(page, 21)
    page.locator("#outcome", has_text="catches").wait_for(state="attached")
    wait_for_frames(page)
    assert page.evaluate(LOWEST) >= before
    page.keyboard.press("Home")
    page.locator("#speed").select_option("0.25")
    page.locator("#play").click()
    page.locator("#play[aria-label=Pause]").wait_for()
    page.keyboard.press("ArrowRight")
    page.locator("#play[aria-label=Play]").wait_for()


#: Whether each chart in sight marks the step under the pointer. A chart may appear at any moment, when the referee has found its values.
MARKED = """
() => {
  const charts = [...document.querySelectorAll('.chart')].filter((one) => one.checkVisibility());
  return charts.length > 0 && charts.every((one) => one.querySelector('.seen').checkVisibility());
}
"""


def test_timelines_fold_and_tell_the_step_under_the_pointer(address: str, visit: Open) -> None:
    page = visit(address + "#t=60")
    wait_until_read(page, 297)
    page.get_by_text("✓ verified").wait_for()
    charts = page.locator(".chart:visible")
    titles = charts.locator(".chart-title").all_inner_texts()
    assert titles[0] == "time"
    assert titles[-1] == "events"
    # Both players in one chart.
    first = charts.first
    assert "hunter" in first.inner_text()
    assert "prey" in first.inner_text()
    plot = first.locator(".plot")
    box = plot.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + 10)
    tip = page.locator(".tip")
    tip.wait_for()
    told = tip.inner_text()
    assert "step 148" in told or "step 149" in told
    assert "hunter:" in told
    assert "ms" in told
    page.wait_for_function(MARKED)
    page.mouse.move(5, 5)
    tip.wait_for(state="hidden")
    first.locator("summary").click()
    plot.wait_for(state="hidden")
    # The browser tells of a fold a moment after it is drawn.
    page.wait_for_function("() => localStorage.getItem('referee.chart.time') === 'closed'")
    page.reload()
    wait_until_read(page, 297)
    folded = page.locator(".chart:not([open])", has_text="time")
    folded.wait_for()
    assert not folded.locator(".plot").is_visible()
    page.locator("#timelines > summary").click()
    page.locator("#strips").wait_for(state="hidden")


def test_menus_and_folds_have_their_own_keys(address: str, visit: Open) -> None:
    page = visit(address + "#t=60")
    wait_for_step(page, 60)
    wait_until_read(page, 297)
    page.locator("#layers summary").focus()
    page.keyboard.press("Enter")
    page.locator("#ahead").focus()
    assert page.locator("#ahead").is_checked()
    page.keyboard.press("Space")
    assert not page.locator("#ahead").is_checked()
    assert page.locator("#play").get_attribute("aria-label") == "Play"
    page.keyboard.press("Escape")
    assert page.locator("#layers").get_attribute("open") is None
    assert page.evaluate("document.activeElement.closest('#layers') !== null")
