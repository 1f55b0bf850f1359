"""The viewer in a real Chromium: what is drawn is there, keys and pointers work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from recorded_games import DATA
from served_pages import DESKTOP, PHONE, axe, dropped, pixels, step, wait_for_step, wait_until_read

if TYPE_CHECKING:
    from served_pages import Open, Serve


def test_the_whole_replay_is_there_and_verified(address: str, visit: Open) -> None:
    page = visit(address)
    wait_until_read(page, 297)
    page.get_by_text("✓ verified").wait_for()
    assert page.locator("#title").inner_text() == "evasion · classic"
    assert page.locator("#players").text_content() == "hunterTalks against preyRunner"
    assert step(page) == 0
    page.locator(".chart:visible").nth(3).wait_for()
    assert page.locator(".chart:visible").count() == 4
    page.locator("#panel-story", has_text="Talks catches Runner after 297 steps").wait_for()
    page.click("#tab-match")
    page.locator("#panel-match", has_text="Talks catches Runner after 297 steps").wait_for()


def test_the_result_of_an_older_replay_names_the_bots_and_can_be_hidden(serve: Serve, visit: Open) -> None:
    address = serve("watch", DATA / "replays/evasion-classic-hunter-fault.replay.jsonl.gz").addresses[0]
    page = visit(address)
    headline, later = page.locator(".result strong"), page.locator(".story li:not(.past)")
    headline.get_by_text("Runner wins: <b>x sent a malformed answer in step 31.").wait_for()
    later.last.wait_for()
    page.get_by_role("button", name="Hide results").click()
    headline.get_by_text("The result is hidden.").wait_for()
    assert not any(row.is_visible() for row in later.all())
    # It stays hidden in the next match, until its end.
    page.reload()
    headline.get_by_text("The result is hidden.").wait_for()
    assert "Runner wins" not in page.locator("body").inner_text()
    page.keyboard.press("End")
    headline.get_by_text("Runner wins").wait_for()
    page.keyboard.press("Home")
    page.get_by_role("button", name="Show results").click()
    headline.get_by_text("Runner wins").wait_for()
    later.last.wait_for()


@pytest.mark.slow
def test_what_is_certain_is_shown_and_drawn(address: str, visit: Open) -> None:
    """The verdict strip, and over the board the safe cells, the prey's reach and the hunter's path."""
    page = visit(f"{address}#t=40")
    page.get_by_text("✓ verified").wait_for()
    row = page.locator(".chart", has_text="verdict")
    row.wait_for()
    page.wait_for_function("() => [...document.querySelectorAll('.chart')].some(row => /verdict.*(evade|capture)/s.test(row.textContent))")
    page.get_by_role("tab", name="Step").click()
    page.locator("#panels", has_text="Verdict").wait_for()
    seen = {pixels(page)}
    page.click("#layers summary")
    for label in ("safe cells", "prey's reach", "hunter's path if no wall changes"):
        page.get_by_label(label).check()
        page.wait_for_function("() => document.getElementById('panels').textContent.includes('Safe cells')")
        seen.add(pixels(page))
    assert len(seen) == 4, "each is drawn"
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 41)
    page.wait_for_function("() => document.getElementById('panels').textContent.includes('Safe cells')")
    assert pixels(page) not in seen
    page.keyboard.press("End")
    page.locator("#panels", has_text="caught").wait_for()


def test_keys_move_through_the_steps(address: str, visit: Open) -> None:
    page = visit(address)
    wait_until_read(page, 297)
    for key, wanted in (
        ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("Shift+ArrowRight", 11), ("Shift+ArrowLeft", 1), ("ArrowLeft", 0),
        ("ArrowLeft", 0), ("End", 297), ("ArrowRight", 297), ("Home", 0), ("n", 15), ("p", 0),
    ):  # fmt: skip
        page.keyboard.press(key)
        wait_for_step(page, wanted)
    page.keyboard.press("g")
    page.keyboard.type("123")
    page.keyboard.press("Enter")
    wait_for_step(page, 123)
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 124)
    page.keyboard.press("ArrowLeft")
    wait_for_step(page, 123)
    page.locator("#scrubber").focus()
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 124)
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


@pytest.mark.slow
def test_it_plays_to_the_end_stops_there_and_loops(address: str, visit: Open) -> None:
    page = visit(address + "#t=280")
    wait_for_step(page, 280)
    for _ in range(6):
        page.keyboard.press("+")
    assert page.locator("#speed").input_value() == "64"
    page.keyboard.press("Space")
    wait_for_step(page, 297)
    page.wait_for_function("() => document.getElementById('play').getAttribute('aria-label') === 'Play'")
    assert "catches" in page.locator("#outcome").inner_text()
    page.keyboard.press("l")
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    wait_for_step(page, 297)
    page.wait_for_function("() => Number(document.getElementById('step').textContent.replace(/\\D/g, '')) < 200")
    page.keyboard.press("Space")
    page.locator("#play[aria-label=Play]").wait_for()


def test_an_idle_page_draws_nothing(address: str, visit: Open) -> None:
    page = visit(address + "#t=100")
    wait_for_step(page, 100)
    page.get_by_text("✓ verified").wait_for()
    pixels(page)

    def frames() -> int:
        """How many frames are asked for in a while."""
        return int(
            page.evaluate(
                "() => new Promise(done => { let count = 0; const real = window.requestAnimationFrame; window.requestAnimationFrame = (f) => { count += 1; return real(f); };"
                " setTimeout(() => { window.requestAnimationFrame = real; done(count); }, 700); })"
            )
        )

    # On a busy machine the page needs a while until everything that it was asked for is drawn.
    assert any(frames() == 0 for _ in range(20))


def test_scrubbing_shows_another_board_and_the_link_holds_the_step(address: str, visit: Open) -> None:
    page = visit(address)
    wait_until_read(page, 297)
    first = pixels(page)
    box = page.locator("#strips canvas").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 10)
    page.wait_for_function("() => Math.abs(Number(document.getElementById('step').textContent.replace(/\\D/g, '')) - 148) < 3")
    assert pixels(page) != first
    page.wait_for_function("() => location.hash.startsWith('#t=' + document.getElementById('step').textContent.replace(/\\D/g, '') + '&')")
    page.evaluate("location.hash = '#t=33'")
    wait_for_step(page, 33)


def test_the_panels_show_the_question_and_the_events_of_a_step(address: str, visit: Open) -> None:
    page = visit(address + "#t=15")
    wait_for_step(page, 15)
    page.click("#tab-turn")
    shown = page.locator("#panel-turn")
    shown.locator(".question .tree", has_text="turn: 15 was 14").first.wait_for()
    assert "build: {kind" in shown.inner_text()
    assert "the next wall is legal in 5 more steps" in shown.inner_text()
    page.click("#tab-events")
    rows = page.locator("#panel-events tbody tr")
    assert "horizontal wall 0 built" in rows.first.inner_text()
    page.get_by_role("button", name="Go to step 15", exact=True).click()
    wait_for_step(page, 15)
    page.locator("#panel-events tr.now", has_text="refused").wait_for()
    before = rows.count()
    page.get_by_label("wall refused").uncheck()
    assert rows.count() < before
    page.click("#tab-logs")
    page.get_by_text("up to step 15 it had written").wait_for()
    page.get_by_label("Search the log").fill("about 200")
    page.get_by_text("1 of 1", exact=True).wait_for()
    assert page.locator(".log .found").inner_text() == "thinking about 200"


def test_the_pointer_names_cells_and_walls_and_zooms(address: str, visit: Open) -> None:
    page = visit(address + "#t=60")
    wait_for_step(page, 60)
    wait_until_read(page, 297)
    box = page.locator("#board").bounding_box()
    assert box is not None
    scale = (min(box["width"], box["height"]) - 20) / 300
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    # The first wall is the row y = 0, at the bottom of the board.
    page.mouse.move(middle[0], middle[1] + 149.6 * scale)
    page.wait_for_function("() => document.getElementById('hover').textContent.includes('wall 0')")
    assert "horizontal · (0, 0) to (299, 0) · 300 cells" in page.locator("#hover").inner_text()
    page.mouse.move(*middle)
    page.wait_for_function("() => document.getElementById('hover').textContent.startsWith('(1')")
    before = pixels(page)
    page.mouse.wheel(0, -400)
    # A wheel takes a way of its own to the page, which may be longer than two frames.
    page.wait_for_function("() => document.getElementById('camera').value === 'whole'")
    assert pixels(page) != before
    page.keyboard.press("0")
    page.wait_for_function("() => document.getElementById('hover').textContent.length > 0")
    assert pixels(page) == before


def test_overlays_have_switches(address: str, visit: Open) -> None:
    page = visit(address + "#t=16")
    wait_for_step(page, 16)
    # What the bots say is drawn from the moment on at which its switches are there.
    wait_until_read(page, 297)
    on = pixels(page)
    page.click("#layers summary")
    page.get_by_label("hunter says and draws").uncheck()
    assert pixels(page) != on
    # The engine may not have played the replay up to this step yet: the page asks again.
    page.route("**/overlay?turn=16", lambda route: route.fulfill(json={"text": "not yet", "later": True}), times=1)
    assert page.locator("#legend", has_text="safe cells").count() == 0
    page.get_by_label("safe cells").check()
    page.locator("#legend", has_text="safe cells").wait_for()
    page.click("#tab-turn")
    page.locator("#panel-turn dt", has_text="Safe cells").wait_for()


def test_a_screen_reader_is_told_the_step(address: str, visit: Open) -> None:
    page = visit(address + "#t=15")
    wait_for_step(page, 15)
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "() => document.getElementById('summary').textContent.startsWith('Step 16. Hunter at 16, 16 going north-east; prey at')"
    )
    assert "wall refused" in page.locator("#summary").inner_text() or "refused" in str(page.locator("#summary").text_content())


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", DESKTOP), pytest.param("dark", PHONE, marks=pytest.mark.slow)], ids=["light", "dark, on a phone"]
)
def test_anybody_can_use_it(address: str, good: Path, visit: Open, scheme: str, size: dict[str, int]) -> None:
    page = visit(address + "#t=60", size, color_scheme=scheme, reduced_motion="reduce")
    wait_for_step(page, 60)
    page.get_by_text("✓ verified").wait_for()
    for tab in ("story", "match", "events", "turn", "logs"):
        page.click(f"#tab-{tab}")
        assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    red, green, blue = json.loads(
        page.evaluate("JSON.stringify(getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))")
    )
    assert (red + green + blue < 200) == (scheme == "dark")


def test_the_empty_viewer_waits_for_a_file(visit: Open, good: Path, tmp_path: Path) -> None:
    from referee.pages import page as pages

    file = tmp_path / "empty.html"
    text = pages.single({"mode": "empty", "name": "", "server": False}, b"")
    file.write_text(text)
    page = visit(f"file://{file}")
    assert page.get_by_text("Drop a replay here").is_visible()
    assert axe(page) == []
    dropped(page, good.name, good.read_bytes())
    wait_until_read(page, 297)
    page.get_by_text("not checked").wait_for()
