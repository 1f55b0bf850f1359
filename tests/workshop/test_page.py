"""The page of the workshop in Chromium: bots that are written, played and watched there, and bots that do harm."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect
from served_pages import PHONE, axe
from workshops import ATTEMPTS, PATIENCE_MS, Plain, bot, check_harmless, ready, run, write

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser, Page
    from served_pages import Open

pytestmark = pytest.mark.slow


def test_a_bot_is_written_played_watched_and_its_replay_verified(visit: Open, plain: str, tmp_path: Path) -> None:
    page = visit(plain)
    ready(page)
    assert axe(page) == []
    page.keyboard.press("Control+Enter")
    expect(page.locator("#sentence")).to_contain_text("The hunter catches the prey after 481 steps.", timeout=PATIENCE_MS)
    viewer = page.frame_locator("#viewer")
    expect(viewer.locator("#scrubber")).to_have_attribute("max", "481", timeout=PATIENCE_MS)
    expect(viewer.locator("#check")).to_be_visible()
    # It plays by itself.
    expect(viewer.locator("#step")).not_to_contain_text("Step 0")
    expect(page.locator("#opening")).to_be_hidden()
    assert axe(page) == []
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the replay").click()
    replay = tmp_path / download.value.suggested_filename
    download.value.save_as(replay)
    verified = subprocess.run([sys.executable, "-m", "referee", "verify", str(replay)], capture_output=True, text=True, check=False)
    assert verified.returncode == 0, verified.stdout + verified.stderr
    assert len(axe_on_a_phone(page)) == 0


def axe_on_a_phone(page: Page) -> list[str]:
    page.set_viewport_size({"width": PHONE["width"], "height": PHONE["height"]})
    page.emulate_media(color_scheme="dark")
    return axe(page)


def test_what_a_bot_prints_and_raises_stands_on_the_page_and_its_line_is_marked(visit: Open, plain: str) -> None:
    page = visit(plain)
    sentence = run(page, bot("print('seen', self.turn)", "if self.turn == 2:", "    return state.pray", ""))
    assert "raised AttributeError" in sentence
    assert "my_bot.py:9 in hunt" in sentence
    status = page.get_by_role("status")
    expect(status).to_contain_text("seen 0\nseen 1\nseen 2")
    trace = page.locator("#traceback").inner_text()
    assert "my_bot.py" in trace
    assert "sdk/" not in trace
    expect(page.locator(".cm-marked")).to_have_text("            return state.pray")
    assert "can't be run" in run(page, "def broken(:\n")
    expect(page.locator(".cm-marked")).to_have_text("def broken(:")
    # The text stays in this browser.
    page.reload()
    expect(page.locator("#editor")).to_contain_text("def broken(:")
    ready(page)


def test_an_endless_loop_is_interrupted_where_the_headers_allow_it(visit: Open, interruptible: str) -> None:
    page = visit(interruptible)
    ready(page)
    write(page, bot("print('begun')", "while True:", "    pass"))
    page.locator("#run").click()
    expect(page.locator("#prints")).to_have_text("begun\n")
    page.locator("#stop").click()
    expect(page.locator("#sentence")).to_have_text("You stopped the match.", timeout=PATIENCE_MS)
    expect(page.locator(".cm-marked")).to_be_visible()


def test_bots_that_do_harm_reach_nothing_and_the_next_match_is_as_ever(chromium: Browser, plain: str) -> None:
    # What a policy forbids stands on the console, so this page may complain.
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(plain)
    check_harmless(page, plain)
    assert not [path for path in Plain.requests if "escaped" in path]
    page.close()


def test_the_frame_of_python_reaches_nothing(chromium: Browser, plain: str) -> None:
    page = chromium.new_page()
    page.set_default_timeout(PATIENCE_MS)
    page.goto(plain)
    ready(page)
    frame = next(frame for frame in page.frames if frame.url.endswith("frame.html"))
    assert frame.evaluate(ATTEMPTS, plain) == []
    assert not [path for path in Plain.requests if "escaped" in path]
    assert page.url == plain
    page.close()


ALONE = """async () => {
  const frame = Object.assign(document.createElement("iframe"), { src: "frame.html" });
  let heard = false;
  addEventListener("message", ({ source }) => { heard ||= source === frame.contentWindow; });
  await new Promise((resolve) => { frame.onload = resolve; document.body.append(frame); });
  // A message of its own comes after those that the frame has sent.
  await new Promise((resolve) => { addEventListener("message", ({ data }) => data === "last" && resolve()); postMessage("last", "*"); });
  return heard;
}"""


def test_the_frame_of_python_runs_nothing_with_the_origin_of_its_server(visit: Open, plain: str) -> None:
    page = visit(plain)
    ready(page)
    assert page.evaluate(ALONE) is False


def test_another_game_begins_with_its_own_template(visit: Open, plain: str) -> None:
    page = visit(plain)
    ready(page)
    page.locator("#game").select_option("maze")
    page.locator("#seat").select_option("policeman")
    page.locator("#run").click()
    expect(page.locator("#sentence")).to_contain_text("The policeman catches the thief", timeout=PATIENCE_MS)
    # What somebody has written stays.
    write(page, bot("pass"))
    page.locator("#game").select_option("evasion")
    expect(page.locator("#editor")).to_contain_text("Written.main()")
