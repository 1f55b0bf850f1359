"""Keys and clicks of people at the board that come too early or too late, in a real Chromium."""

from __future__ import annotations

import gzip
import itertools
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from served_pages import pixels, start_as, wait_for_step

if TYPE_CHECKING:
    from served_pages import Open, Serve


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def test_keys_that_are_held_when_the_match_ends_do_nothing(serve: Serve, visit: Open) -> None:
    served = serve("play", "straight", "human", "--pace", "wait", "--no-stay", "--max-steps", "4", count=2)
    page = visit(served.addresses[0])
    start_as(page, "")
    page.locator("#seat[data-asked='1']").wait_for()
    # One for this step and one for the prey's next one, which is the last.
    for key in ("s", "ArrowLeft"):
        page.keyboard.down(key)
    page.get_by_role("heading", name="You won").wait_for()
    # A key that is down already goes down again: it is held.
    for key in ("s", "ArrowLeft") * 3:
        page.keyboard.down(key)
    wait_for_step(page, 4)
    assert not page.locator("dialog[open]").count()
    for key in ("s", "ArrowLeft"):
        page.keyboard.up(key)
    page.keyboard.press("ArrowLeft")
    wait_for_step(page, 3)
    page.keyboard.press("s")
    page.get_by_role("heading", name="Share").wait_for()
    served.finish()


#: Remembers the wishes that the server has chosen as moves.
KEEPS_WISHES = """
globalThis.chosen = [];
globalThis.WebSocket = class extends WebSocket {
    constructor(...given) {
        super(...given);
        this.addEventListener("message", ({ data }) => {
            const message = typeof data === "string" ? JSON.parse(data) : {};
            if (message.status === "chosen") chosen.push(message);
        });
    }
};
"""
#: A key that goes down again and again, as fast as a held one.
HOLDS_A_KEY = """
(key) => setInterval(() => document.body.dispatchEvent(new KeyboardEvent("keydown", { key, code: `Key${key.toUpperCase()}`, bubbles: true, repeat: true })), 40)
"""


@pytest.mark.slow
def test_a_key_that_comes_too_early_is_played_at_a_legal_step_and_never_refused(serve: Serve, visit: Open, tmp_path: Path) -> None:
    arguments = ("-N", "5", "--pace", "8", "--no-stay", "--out", "h.gz", "--max-steps", "40", "--hunter", "10,10,1,1")
    served = serve("play", "human", "still", *arguments, count=2)
    page = visit(served.addresses[0], script=KEEPS_WISHES)
    start_as(page, "")
    page.evaluate(HOLDS_A_KEY, "v")
    # What waits is grey and says for how long.
    page.locator("#pending-move.note", has_text="next wall in").wait_for()
    page.locator("#ending").wait_for()
    chosen = page.evaluate("chosen")
    served.finish()
    played = [record["turn"] for record in records(tmp_path / "h.gz") if record.get("moves", {}).get("hunter")]
    told = [notice["code"] for record in records(tmp_path / "h.gz") for notice in record.get("notices", [])]
    assert len(played) >= 3
    assert all(later - turn >= 5 for turn, later in itertools.pairwise(played))
    assert "wall-refused" not in told
    # The page hears of each move before it is played.
    assert all(message["move"] == {"build": {"kind": "vertical"}} for message in chosen)
    assert {message["turn"] for message in chosen} == set(played)


@pytest.mark.slow
def test_a_wish_that_stays_illegal_is_grey_and_never_sent(serve: Serve, visit: Open, tmp_path: Path) -> None:
    served = serve("play", "human", "still", "--pace", "wait", "--no-stay", "--out", "h.gz", "--max-steps", "3", "-N", "12", count=2)
    page = visit(served.addresses[0], script=KEEPS_WISHES)
    start_as(page, "")
    page.locator("#seat[data-asked='0']").wait_for()
    page.keyboard.press("v")
    page.locator("#seat[data-asked='1']").wait_for()
    wait_for_step(page, 1)
    page.keyboard.press("h")
    page.locator("#pending-move.note", has_text="next wall in 11 steps").wait_for()
    for turn in (1, 2):
        page.locator(f"#seat[data-asked='{turn}']").wait_for()
        page.keyboard.press("Enter")
    page.locator("#ending").wait_for()
    assert [message["move"] for message in page.evaluate("chosen")] == [{"build": {"kind": "vertical"}}, {}, {}]
    served.finish()


@pytest.mark.slow
def test_a_resting_pointer_is_refused_nothing_after_a_click(serve: Serve, visit: Open) -> None:
    arguments = ("--pace", "wait", "--no-stay", "--max-steps", "4", "-N", "9", "--hunter", "100,100,1,1")
    served = serve("play", "human", "still", *arguments, count=2)
    page = visit(served.addresses[0])
    start_as(page, "")
    page.locator("#seat[data-asked='0']").wait_for()
    box = page.locator("#board").bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.move(*middle)
    page.locator("#pending-move", has_text="Build a").wait_for()
    page.mouse.click(*middle)
    page.locator("#seat[data-asked='1']").wait_for()
    wait_for_step(page, 1)
    page.locator("#pad .why", has_text="legal in").wait_for()
    # The engine has told the page by then what it thinks of every wall; the pointer has asked for none.
    page.evaluate("() => new Promise((done) => setTimeout(done, 300))")
    assert "efused" not in page.locator("#pending-move").inner_text()
    resting = pixels(page)
    page.mouse.move(middle[0] + 40, middle[1])
    page.locator("#pending-move.note", has_text="Refused: the next wall is legal in").wait_for()
    assert pixels(page) != resting
    page.keyboard.press("Enter")
    for turn in (2, 3):
        page.locator(f"#seat[data-asked='{turn}']").wait_for()
        page.keyboard.press("Enter")
    page.locator("#ending").wait_for()
    served.finish()
