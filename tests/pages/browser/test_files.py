"""Files on the pages, in a real Chromium: broken, cut, exported, and hostile text that stays text."""

from __future__ import annotations

import gzip
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import HOSTILE, play_match
from served_pages import axe, dropped, dropped_at_once, held_back, pixels, wait_for_frames, wait_for_step, wait_until_read

from referee.pages.standalone import framed, single_page
from referee.replay.reader import verify

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Route
    from served_pages import Open, Serve


def test_another_replay_is_dropped_on_the_page(address: str, good: Path, visit: Open, tmp_path: Path) -> None:
    play_match("straight", "still", replay=tmp_path / "other.gz", rules="diagonal", max_steps=77)
    page = visit(address + "#t=60")
    wait_for_step(page, 60)
    for name, data in (("other.gz", (tmp_path / "other.gz").read_bytes()), ("page.html", single_page(tmp_path / "other.gz").encode())):
        dropped(page, name, data)
        wait_until_read(page, 77)
        page.locator("#check", has_text="not checked").wait_for()
        assert page.locator("#title").inner_text() == "evasion · diagonal"
        page.locator("#message", has_text=f"run: referee watch {name}").wait_for()
        page.click("#tab-turn")
        page.locator("#panel-turn", has_text="To show the question, the page needs the engine").wait_for()


def edited(good: Path, old: bytes, new: bytes) -> bytes:
    text = gzip.decompress(good.read_bytes())
    assert old in text
    return gzip.compress(text.replace(old, new, 1))


#: How to break the good replay, the number of steps that are shown all the same, and what the page says.
BROKEN: dict[str, tuple[Callable[[Path], bytes], int | None, str]] = {
    "cut": (lambda good: good.read_bytes()[: good.stat().st_size // 2], None, "cut short"),
    "later format": (lambda good: edited(good, b'"format":1', b'"format":2'), None, "has format 2"),
    "other game": (lambda good: edited(good, b'"game":"evasion"', b'"game":"chess"'), None, "can't draw the game chess"),
    "huge board": (lambda good: edited(good, b'"width":300', b'"width":3e9'), None, "not a valid number"),
    "odd turn": (lambda good: edited(good, b'{"turn":100,', b'{"turn":1e400,'), None, "turn"),
    "text": (lambda good: b"hello", None, "not gzip"),
    "empty": (lambda good: b"", None, "not a replay"),
    "not a line": (lambda good: gzip.compress(b"[" * 100_000), None, "not a replay"),
    "long line": (lambda good: gzip.compress(b"x" * 9_000_000), None, "no referee wrote it"),
}


def test_what_is_wrong_with_a_file_is_said(address: str, good: Path, visit: Open, tmp_path: Path) -> None:
    """Between two broken files a good one of other length is shown, of which nothing may stay, and no message beside it."""
    play_match("straight", "still", replay=tmp_path / "other.gz", rules="diagonal", max_steps=77)
    page = visit(address)
    wait_until_read(page, 297)
    for name, (make, steps, message) in BROKEN.items():
        dropped(page, f"{name}.gz", make(good))
        page.wait_for_function("message => document.getElementById('message').textContent.includes(message)", arg=message)
        if steps is not None:
            wait_until_read(page, steps)
        dropped(page, "other.gz", (tmp_path / "other.gz").read_bytes())
        wait_until_read(page, 77)
        # While it is read, the page says how far it is.
        page.wait_for_function("() => document.getElementById('message').textContent.endsWith('run: referee watch other.gz')")
        assert page.locator("#message").inner_text().startswith("This page shows the file")


#: A file's second part waits until the test lets it come.
HOLDS_FILES_BACK = """
Blob.prototype.stream = function () {
    const part = async (from, to) => new Uint8Array(await this.slice(from, to).arrayBuffer());
    return new ReadableStream({
        start: async (controller) => {
            controller.enqueue(await part(0, 2000));
            await new Promise((done) => { globalThis.readOn = done; });
            controller.enqueue(await part(2000, this.size));
            controller.close();
        },
    });
};
"""


def test_the_page_asks_again_while_the_server_says_that_its_answer_takes_longer(address: str, good: Path, visit: Open) -> None:
    asked: list[str] = []

    def later(route: Route) -> None:
        asked.append(route.request.url)
        if len(asked) < 3:
            route.fulfill(status=202, headers={"Retry-After": "0"}, body="Later.")
        else:
            route.continue_()

    # From the first request on: one that a page has sent before it is read again would count as well.
    page = visit("about:blank")
    page.route("**/check", later)
    page.goto(address)
    page.get_by_text("✓ verified").wait_for()
    assert len(asked) == 3


def test_what_the_referee_has_found_is_still_said_when_the_page_has_read_the_file(good: Path, visit: Open, tmp_path: Path) -> None:
    replay, file = tmp_path / "edited.gz", tmp_path / "page.html"
    replay.write_bytes(edited(good, b'"hunter":[20,20,1,1]', b'"hunter":[21,20,1,1]'))
    file.write_text(single_page(replay))
    page = visit(f"file://{file}", script=HOLDS_FILES_BACK)
    page.locator("#check", has_text="does not verify").wait_for()
    page.wait_for_function("() => globalThis.readOn !== undefined")
    assert page.locator("#scrubber").get_attribute("max") != "297"
    page.evaluate("readOn()")
    wait_until_read(page, 297)
    page.wait_for_function("() => !document.getElementById('message').textContent.startsWith('Reading')")
    assert "does not verify" in page.locator("#message").inner_text()


def test_of_two_files_the_last_one_is_shown(address: str, good: Path, visit: Open, tmp_path: Path) -> None:
    play_match("straight", "still", replay=tmp_path / "other.gz", rules="diagonal", max_steps=77)
    page = visit(address)
    dropped_at_once(page, {"good.gz": good.read_bytes(), "other.gz": (tmp_path / "other.gz").read_bytes()})
    wait_until_read(page, 77)
    page.wait_for_function("() => document.getElementById('message').textContent.endsWith('run: referee watch other.gz')")
    assert page.locator("#title").inner_text() == "evasion · diagonal"


def test_an_early_answer_that_comes_late_takes_no_line_from_a_log(address: str, visit: Open) -> None:
    logs: list[Route] = []
    page = visit("about:blank")
    checks = held_back(page, "**/check")
    page.route("**/log?seat=hunter", lambda route: route.continue_() if logs else logs.append(route))
    page.goto(address)
    wait_until_read(page, 297)
    page.click("#tab-logs")
    page.get_by_text("This bot wrote nothing").wait_for()
    # What is known of the whole match makes the page read the log again.
    checks[0].continue_()
    page.get_by_text("thinking about 15", exact=True).wait_for()
    with page.expect_event("requestfinished", lambda request: request == logs[0].request):
        logs[0].fulfill(body=b"early\n")
    wait_for_frames(page)
    assert page.get_by_text("thinking about 15", exact=True).is_visible()


def test_nothing_of_the_match_before_stays_beside_a_broken_file(address: str, visit: Open) -> None:
    page = visit(address + "#t=200")
    wait_for_step(page, 200)
    dropped(page, "bad.gz", b"hello")
    page.get_by_text("not gzip").wait_for()
    for word in ("Talks", "Step 200", "catches Runner"):
        assert word not in page.locator("body").inner_text()
    assert page.title() == "Referee"
    assert page.locator("#told").text_content() == ""
    page.get_by_role("button", name="Back to").click()
    wait_until_read(page, 297)
    assert page.locator("#before").count() == 0


def test_a_cut_replay_plays_to_the_cut(good: Path, serve: Serve, visit: Open, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gz"
    cut.write_bytes(good.read_bytes()[: good.stat().st_size * 2 // 3])
    good_steps = verify(cut).turns
    assert 50 < good_steps < 290
    page = visit(serve("watch", cut).addresses[0])
    page.get_by_text("cut short").first.wait_for()
    wait_until_read(page, good_steps)
    page.keyboard.press("End")
    wait_for_step(page, good_steps)


@pytest.mark.slow
def test_an_exported_page_opens_from_its_file_and_asks_nobody(good: Path, visit: Open, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(single_page(good))
    page = visit(f"file://{file}#t=16")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    wait_for_step(page, 16)
    page.get_by_text("✓ verified").wait_for()
    page.locator(".chart:visible").nth(3).wait_for()
    assert page.locator(".chart:visible").count() == 4
    page.click("#tab-turn")
    page.keyboard.press("ArrowLeft")
    page.get_by_text("To show the question, the page needs the engine").first.wait_for()
    page.locator("#panel-turn", has_text="wall at 15").wait_for()
    page.click("#tab-logs")
    page.get_by_text("thinking about 15", exact=True).wait_for()
    assert axe(page) == []
    assert asked == []


def test_a_notebook_shows_a_replay(good: Path, visit: Open, tmp_path: Path) -> None:
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><html lang=en><title>notebook</title><body>{framed(good)}</body></html>")
    page = visit(f"file://{file}")
    page.frame_locator("iframe").get_by_text("✓ verified").wait_for()
    assert "Talks" in page.frame_locator("iframe").locator("#players").inner_text()


EVIL = '<img src=x onerror="alert(1)"><script>alert(2)</script>'


@pytest.mark.slow
def test_hostile_text_stays_text(serve: Serve, visit: Open, tmp_path: Path) -> None:
    bot = tmp_path / "evil.py"
    bot.write_text(
        f"import sys\nfrom sdk import HunterBot\nEVIL = {EVIL!r}\n"
        "class Evil(HunterBot):\n    name = EVIL[:40]\n    def hunt(self, state):\n        print(EVIL, file=sys.stderr, flush=True)\n"
        "        self.say(EVIL)\n        self.draw.text((50, 50), EVIL, EVIL)\n        return self.build('vertical')\nEvil.main()\n"
    )
    path = tmp_path / '<img src=x onerror=alert(3)>".gz'
    play_match(str(bot), "still", replay=path, max_steps=60, cooldown=9)
    single = tmp_path / "single.html"
    single.write_text(single_page(path))
    for address in (serve("watch", path).addresses[0], f"file://{single}"):
        page = visit(address + "#t=1")
        wait_for_step(page, 1)
        pixels(page)
        for tab in ("match", "events", "turn", "logs"):
            page.click(f"#tab-{tab}")
            page.keyboard.press("ArrowRight")
        page.get_by_text(EVIL).first.wait_for()
        assert "<img src=x" in page.locator("#players").inner_text()
        page.wait_for_function("() => document.getElementById('summary').textContent !== ''")
        assert page.locator("img").count() == 0
        assert page.locator("script").count() <= 4
        assert page.evaluate(
            "[...document.scripts].every((one) => !one.textContent.includes('alert(2)') || one.type === 'application/json')"
        )


def test_hostile_names_of_the_collection(serve: Serve, visit: Open, tmp_path: Path) -> None:
    """The programs of the collection that talk in escapes and markup, in the viewer."""
    path = tmp_path / "escapes.gz"
    play_match("straight", str(HOSTILE / "escapes_and_markup.py"), replay=path, max_steps=40)
    page = visit(serve("watch", path).addresses[0])
    page.locator("#title").get_by_text("evasion").wait_for()
    page.keyboard.press("End")
    for tab in ("match", "events", "turn", "logs"):
        page.click(f"#tab-{tab}")
        # A panel is filled with the next frame.
        wait_for_frames(page)
        assert "\u202e" not in page.locator("body").inner_text()


@pytest.mark.slow
def test_the_2010_rules_are_drawn_with_y_downwards(serve: Serve, visit: Open, tmp_path: Path) -> None:
    bot = tmp_path / "fences.py"
    bot.write_text(
        "from sdk import HunterBot\nclass Fences(HunterBot):\n    def hunt(self, state):\n"
        "        return self.add(7, (300, 40), (100, 40)) if self.turn == 0 else self.remove(7)\nFences.main()\n"
    )
    path = tmp_path / "turns.gz"
    play_match(str(bot), "runner", replay=path, rules="gameserver", max_steps=120)
    page = visit(serve("watch", path).addresses[0] + "#t=20")
    wait_for_step(page, 20)
    page.get_by_text("✓ verified").wait_for()
    assert page.locator("#score").inner_text() == "of 120 · 10 rounds survived"
    box = page.locator("#board").bounding_box()
    assert box is not None
    cell = (min(box["width"], box["height"]) - 20) / 500
    page.mouse.move(box["x"] + box["width"] / 2 - 50 * cell, box["y"] + box["height"] / 2 - 209.6 * cell)
    page.wait_for_function("() => document.getElementById('hover').textContent.includes('wall 7')")
    assert "horizontal · (100, 40) to (300, 40) · 201 cells" in page.locator("#hover").inner_text()
    page.click("#tab-turn")
    page.locator("#panel-turn", has_text="(10, 10) south-east").wait_for()
    page.locator("#panel-turn").get_by_text("is not asked in this step").first.wait_for()
    page.keyboard.press("Home")
    page.locator("#panel-turn").get_by_text("answers after").first.wait_for()


@pytest.mark.slow
def test_mistakes_in_the_maze_are_marked_and_found(serve: Serve, visit: Open, referee: Any) -> None:
    done = referee("play", "--game", "maze", "dasher", "expert", "--seed", "5", "--isolation", "none", "--out", "m.gz")
    assert done.returncode == 0, done.stderr
    page = visit(serve("watch", "m.gz", "--no-browser").addresses[0])
    page.get_by_text("✓ verified").wait_for()
    page.get_by_role("tab", name="Events").click()
    page.locator("#panel-events").get_by_text("mistake of the thief").first.wait_for()
    strips = page.locator("#strips")
    strips.get_by_text("perfect play").first.wait_for()
    assert "in 0" not in strips.inner_text()
    page.get_by_role("button", name="Go to step 30").click()
    # The button leads to the position before the mistake. In a list, arrows scroll.
    page.locator("#board").focus()
    page.keyboard.press("ArrowRight")
    page.locator("#score", has_text="mistake").wait_for()
    # The better move stays hidden until it is asked for; then the board shows it, too.
    page.get_by_role("tab", name="Story").click()
    page.get_by_role("button", name="Learn from").click()
    page.locator(".lesson").get_by_text("What is better?").wait_for()
    hidden = pixels(page)
    page.get_by_role("button", name="Show the better move").click()
    page.locator(".lesson").get_by_text("Better: go ").wait_for()
    assert pixels(page) != hidden
    # Rows and columns count from 1: the last ones are on the board, too.
    page.keyboard.press("0")
    box = page.locator("#board").bounding_box()
    assert box is not None
    far = min(box["width"], box["height"]) / 2 - 16
    page.mouse.move(box["x"] + box["width"] / 2 + far, box["y"] + box["height"] / 2 + far)
    page.locator("#hover", has_text=re.compile(r"^\((\d+), (\d+)\) · row \2, column \1 · ")).wait_for()
