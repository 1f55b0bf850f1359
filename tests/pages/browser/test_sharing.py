"""The story and sharing in a real Chromium: moments, the address, pictures, and commands to copy."""

from __future__ import annotations

import json
import shlex
import subprocess
from typing import TYPE_CHECKING

import pytest
from served_pages import axe, pixels, step, wait_for_step, wait_until_read

from referee.pages.standalone import single_page

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Page
    from served_pages import Open

PERMISSIONS = ["clipboard-read", "clipboard-write"]


def copied(page: Page, name: str) -> str:
    """What a button copies."""
    page.evaluate("navigator.clipboard.writeText('')")
    page.get_by_role("button", name=name).click()
    page.wait_for_function("() => navigator.clipboard.readText()")
    return str(page.evaluate("navigator.clipboard.readText()"))


def test_a_click_on_a_moment_shows_it_and_keys_go_from_one_to_the_next(address: str, visit: Open) -> None:
    page = visit(address)
    wait_until_read(page, 297)
    story = page.locator("#panel-story")
    story.get_by_text("Capture is certain now").wait_for()
    # Verdicts come in parts, each of which may add moments. The last position is judged last; then P brings the story up to date.
    page.keyboard.press("End")
    page.locator(".chart", has_text="verdict").get_by_text("caught", exact=True).wait_for()
    # Costly moves come last of all.
    page.get_by_role("button", name="Learn from").wait_for()
    page.keyboard.press("p")
    moments = page.locator(".moment")
    turns = [int(turn) for turn in moments.evaluate_all("found => found.map(moment => moment.dataset.turn)")]
    assert turns == sorted(turns)
    assert (turns[0], turns[-1]) == (0, 296)
    wall = page.locator(".moment", has_text="cuts the prey's area").last
    turn = int(wall.get_attribute("data-turn") or "")
    page.keyboard.press("g")
    page.keyboard.type(f"{turn}\n")
    wait_for_step(page, turn)
    unmarked = pixels(page)
    wall.click()
    page.locator(".moment[aria-current=step]", has_text="cuts the prey's area").wait_for()
    assert pixels(page) != unmarked, "the wall is marked"
    # Space belongs to the match after a click, and to a button that Tab has reached.
    page.keyboard.press("Space")
    page.get_by_role("button", name="Pause").wait_for()
    page.keyboard.press("Space")
    page.keyboard.press("Tab")
    turn_there = page.evaluate("document.activeElement.dataset.turn")
    page.keyboard.press("Space")
    wait_for_step(page, int(turn_there))
    page.locator("#scrubber").focus()
    page.keyboard.press("Home")
    for wanted in dict.fromkeys(turns[1:]):
        if wanted == 0:
            continue
        page.keyboard.press("n")
        wait_for_step(page, wanted)
    page.keyboard.press("n")
    wait_for_step(page, 296)
    for wanted in reversed(list(dict.fromkeys(turns))[:-1]):
        page.keyboard.press("p")
        wait_for_step(page, wanted)


@pytest.mark.slow
def test_the_address_holds_step_camera_and_layers(address: str, visit: Open) -> None:
    page = visit(address + "#t=60")
    wait_for_step(page, 60)
    page.locator("#layers summary").click()
    page.get_by_label("the path ahead").uncheck()
    page.get_by_label("prey says and draws").uncheck()
    page.get_by_label("safe cells").check()
    page.locator("#trail").select_option("50")
    page.keyboard.press("Escape")
    page.locator("#zoom-in").click()
    # On the board itself the arrows move the view.
    page.keyboard.press("ArrowRight")
    page.wait_for_function("() => /^#t=61&camera=whole&view=1.5,.*&layers=trail:50,([a-z]+,)*seat.hunter,safe$/.test(location.hash)")
    hash_ = page.evaluate("location.hash")
    page.click("#tab-turn")
    page.locator("#panel-turn").get_by_text("Safe cells").wait_for()
    shown = pixels(page)
    page.reload()
    wait_for_step(page, 61)
    page.click("#tab-turn")
    page.locator("#panel-turn").get_by_text("Safe cells").wait_for()
    assert not page.locator("#ahead").is_checked()
    assert page.locator("#trail").input_value() == "50"
    page.wait_for_function("hash => location.hash === hash", arg=hash_)
    page.wait_for_function(
        "wanted => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(document.querySelector('#board').toDataURL() === wanted))))",
        arg=shown,
    )
    # An address by hand, and one of an older version of the viewer.
    page.evaluate("location.hash = '#t=33&camera=whole&layers=trail:0,ahead'")
    wait_for_step(page, 33)
    assert page.locator("#ahead").is_checked()
    page.evaluate("location.hash = '#t=12'")
    wait_for_step(page, 12)
    assert page.locator("#ahead").is_checked()
    page.evaluate("location.hash = '#t=1e9&camera=%&view=1,2,x&layers=%zz,,&more'")
    page.wait_for_function("() => location.hash.startsWith('#t=12&') && location.hash.endsWith('&more')")


def test_a_step_is_shared(address: str, visit: Open, tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    page = visit(address + "#t=262", permissions=PERMISSIONS)
    wait_for_step(page, 262)
    wait_until_read(page, 297)
    page.keyboard.press("s")
    dialog = page.locator("#sharing")
    assert axe(page) == []
    link = copied(page, "Copy link")
    assert link.startswith(f"{address}#t=262&camera=")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Save as PNG").click()
    assert download.value.suggested_filename == "evasion-talks-runner-262.png"
    download.value.save_as(tmp_path / "262.png")
    with image.open(tmp_path / "262.png") as found:
        assert found.size[0] == 900
        assert len(found.convert("RGB").getcolors(1 << 24)) > 5, "something is drawn"
    dialog.get_by_role("button", name="Copy picture").click()
    dialog.get_by_text("The picture is copied.").wait_for()
    kinds = page.evaluate("navigator.clipboard.read().then((items) => items.flatMap((item) => item.types))")
    assert kinds == ["image/png"]
    page.keyboard.press("Escape")
    assert not dialog.is_visible()
    assert step(page) == 262
    # At the end the words stand below the board, in two lines more.
    page.get_by_text("✓ verified").wait_for()
    page.keyboard.press("End")
    wait_for_step(page, 297)
    page.keyboard.press("s")
    with page.expect_download() as download:
        dialog.get_by_role("button", name="Save as PNG").click()
    download.value.save_as(tmp_path / "end.png")
    with image.open(tmp_path / "end.png") as end, image.open(tmp_path / "262.png") as before:
        assert end.size == (before.size[0], before.size[1] + 34)


@pytest.mark.slow
def test_questions_are_trees_and_commands_work_as_printed(address: str, good: Path, visit: Open) -> None:
    page = visit(address + "#t=16", permissions=PERMISSIONS)
    wait_for_step(page, 16)
    page.click("#tab-turn")
    panel = page.locator("#panel-turn")
    tree = panel.locator(".question .tree").first
    tree.locator("div.leaf", has_text="turn: 16").get_by_text("was 15", exact=True).wait_for()
    question = json.loads(copied(page, "copy the question to the hunter"))
    assert (question["type"], question["turn"]) == ("turn", 16)
    walls = tree.locator("details[data-path$='/walls'] > summary")
    assert walls.inner_text().startswith("walls: [1]")
    # The browser tells late that a player is open, and the page asks for the question again: what somebody is about to press stays.
    walls.focus()
    panel.locator("details[data-path='seat hunter']").dispatch_event("toggle")
    pixels(page)
    assert walls.evaluate("summary => summary === document.activeElement")
    page.keyboard.press("Enter")
    tree.get_by_text("horizontal").wait_for()
    page.locator("#scrubber").focus()
    page.keyboard.press("ArrowRight")
    panel.get_by_text("was 16", exact=True).first.wait_for()
    assert tree.get_by_text("horizontal").is_visible(), "what was opened stays open"
    page.keyboard.press("g")
    page.keyboard.type("290\n")
    wait_for_step(page, 290)
    panel.get_by_role("heading", name="Before step 290").wait_for()
    # The bot is a file of the folder where the viewer was started; the other is an example bot.
    for name, program in (
        ("copy the command that asks the hunter again", "talks.py"),
        ("copy the command that asks the prey again", "runner"),
    ):
        line = copied(page, name)
        assert line.endswith(f" {program}"), line
        assert run(line, good.parent)
    assert run(copied(page, "copy the command that continues the match from here") + " --out again.gz", good.parent)


def test_an_exported_page_shares_without_a_referee(good: Path, visit: Open, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(single_page(good))
    page = visit(f"file://{file}#t=31&camera=whole&layers=trail:0,ahead", permissions=PERMISSIONS)
    wait_for_step(page, 31)
    assert page.locator("#trail").input_value() == "0"
    page.locator(".moment", has_text="Capture is certain now").wait_for()
    page.click("#tab-turn")
    page.get_by_label("Program of the hunter").fill("node 'my bot.js'")
    line = copied(page, "copy the command that asks the hunter again")
    assert shlex.split(line) == ["referee", "debug", good.name, "--seat", "hunter", "--turn", "31", "node 'my bot.js'"]
    page.locator("#share").click()
    assert copied(page, "Copy link").startswith(f"file://{file}#t=31&camera=whole&layers=trail:0,ahead")
    with page.expect_download() as download:
        page.get_by_role("button", name="Save as PNG").click()
    assert download.value.suggested_filename == "evasion-talks-runner-31.png"


def run(line: str, folder: Path) -> bool:
    """Run a command line as a shell does."""
    found = subprocess.run(["/bin/sh", "-c", line], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert found.returncode == 0, (shlex.split(line), found.stdout, found.stderr)
    return True
