"""People at the board: what they see before, while and after they play, on a desk and on a phone."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from served_pages import PHONE, assert_full_board, axe, pixels, resize, start_as, wait_for_step

from referee.replay.reader import verify

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from served_pages import Open, Serve

#: Counts how often an element's text changes.
PAD_BELOW_BOARD = """
height => {
    const [board, pad] = ["board", "pad"].map(id => document.getElementById(id).getBoundingClientRect());
    return pad.height > 0 && board.bottom <= pad.top + 1 && pad.bottom <= height;
}
"""
WATCHES = """
selector => {
    globalThis.changes = 0;
    const place = document.querySelector(selector);
    new MutationObserver(() => { changes += 1; }).observe(place, { childList: true, characterData: true, subtree: true });
}
"""
#: Says of the buttons what was to be said of them before, and the first word about the countdown again when it is asked to. Keeps what was counted.
SLOW_NETWORK = """
globalThis.counted = [];
let [late, held] = [null, null];
globalThis.WebSocket = class extends WebSocket {
    constructor(...given) {
        super(...given);
        this.addEventListener("message", (event) => {
            const { data } = event;
            const say = () => this.dispatchEvent((late = new MessageEvent("message", { data })));
            const message = typeof data === "string" ? JSON.parse(data) : {};
            if (message.starts_in) globalThis.sayAgain ??= say;
            if (message.type !== "options" || event === late) return;
            event.stopImmediatePropagation();
            held?.();
            held = say;
        });
    }
};
addEventListener("DOMContentLoaded", () => new MutationObserver(() => {
    const { hidden, textContent } = document.getElementById("countdown") ?? { hidden: true };
    if (!hidden && counted.at(-1) !== textContent) counted.push(textContent);
}).observe(document, { childList: true, characterData: true, subtree: true }));
"""
#: The names of the parts of the playback that cover the result of the match or the header.
COVERING = """() => {
    const box = (one) => one.getBoundingClientRect();
    const others = [...document.querySelectorAll("header, #seat")].map(box);
    const meet = (a, b) => a.width > 0 && a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
    return [...document.querySelectorAll(".controls :is(button, select, input)")].filter((one) => others.some((other) => meet(box(one), other))).map((one) => one.id);
}"""


def cells(page: Page, size: int) -> Any:
    """Where a cell of a square board is on the page, by row and column."""
    box = page.locator("#board").bounding_box()
    assert box is not None
    # The board says itself where a cell is drawn.
    side = min(box["width"], box["height"]) - 20
    left, top = box["x"] + (box["width"] - side) / 2, box["y"] + (box["height"] - side) / 2
    return lambda row, column: (left + (column + 0.5) * side / size, top + (row + 0.5) * side / size)


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]


def tap(page: Page, x: float, y: float) -> None:
    """Click the board with a finger. A real tap may end so late on a busy machine that it is a long press."""
    event = {"clientX": x, "clientY": y, "pointerType": "touch", "bubbles": True}
    page.evaluate("event => document.getElementById('board').dispatchEvent(new PointerEvent('click', event))", event)


def give_up(page: Page) -> None:
    page.get_by_role("button", name="Give up").click()
    page.get_by_role("button", name="Yes, give up").click()


@pytest.mark.slow
def test_the_board_before_the_heading_while_and_the_result_after_a_match(serve: Serve, visit: Open, tmp_path: Path) -> None:
    arguments = ("--stay", "--out", "h.gz", "--seed", "5", "--pace", "8", "-N", "1000", "--max-steps", "5000")
    served = serve("play", "human", "still", *arguments, count=2)
    page, spectator = visit(served.addresses[0], script=SLOW_NETWORK), visit(served.addresses[1])
    # Spectators, too, see the board before the match, and who will play.
    spectator.locator("#step", has_text="Before the match").wait_for()
    assert spectator.locator("#board").is_visible()
    assert spectator.locator("#players").text_content() == "huntera person against preystill"
    spectator.get_by_role("heading", name="Waiting for the hunter to press Ready").wait_for()
    assert axe(spectator) == []
    # The position is there before anybody is ready.
    page.locator("#ready").wait_for()
    assert "Against still (prey)" in page.locator("#seat").inner_text()
    page.wait_for_function("() => !document.body.classList.contains('boardless')")
    assert axe(page) == []
    page.get_by_label("Your name").fill("Ada")
    page.get_by_role("button", name="Ready").click()
    page.get_by_text("Get ready: you are the hunter").wait_for()
    page.locator("#countdown").wait_for(state="hidden")
    assert page.evaluate("counted[0]") == "3"
    page.locator("#turn-status").get_by_text("You are the hunter", exact=True).wait_for()
    # At a pace the heading stays as it is, also when a word about the countdown comes late.
    page.evaluate(WATCHES, "#turn-status")
    page.evaluate("sayAgain()")
    wait = "wanted => Number(document.getElementById('step').textContent.replace(/\\D/g, '')) >= wanted"
    page.wait_for_function(wait, arg=10)
    page.keyboard.press("h")
    # While no wall can be built the buttons say why, and the dial shows how long.
    page.locator("#pad .why", has_text="The next wall is legal in").wait_for()
    button = page.get_by_role("button", name="the longest vertical wall")
    assert button.is_disabled()
    assert "The next wall is legal in" in page.locator(f"#{button.get_attribute('aria-describedby')}").inner_text()
    page.locator(".dial", has_text="Next wall").get_by_text("steps").wait_for()
    assert "9 of 10" in page.locator(".dial", has_text="Walls left").inner_text()
    assert page.evaluate("changes") == 0
    assert axe(page) == []
    give_up(page)
    page.locator("#ending-text").get_by_text("You gave up. Still wins.").wait_for()
    page.get_by_text("✓ verified").first.wait_for()
    assert axe(page) == []
    spectator.locator("#outcome", has_text="Still wins: Ada gave up in step ").wait_for()
    assert page.url.startswith(served.addresses[0])
    path = tmp_path / "h.gz"
    assert verify(path).problem is None
    assert (records(path)[0]["players"]["hunter"]["name"], records(path)[0]["seed"]) == ("Ada", 5)


@pytest.mark.slow
def test_two_people_play_at_boards_that_stay_where_they_are(serve: Serve, visit: Open, tmp_path: Path) -> None:
    served = serve("play", "human", "human", "--pace", "wait", "--stay", "--out", "h.gz", "--max-steps", "4", count=3)
    hunter, prey = visit(served.addresses[0]), visit(served.addresses[1], {"width": 320, "height": 568})
    board = prey.locator("#board")
    box = board.bounding_box()
    assert box is not None
    assert box["y"] + box["height"] <= 568
    # Who is ready sees the board where it stays, and buttons that do nothing yet.
    start_as(prey, "Bob")
    prey.get_by_text("Waiting for the hunter").wait_for()
    assert prey.locator("#pad").evaluate("one => one.inert")
    box = board.bounding_box()
    start_as(hunter, "Ada")
    prey.locator("#seat[data-asked='1'], #seat[data-asked='-1']").wait_for()
    assert not prey.locator("#pad").evaluate("one => one.inert")
    assert board.bounding_box() == box
    for step in (1, 2, 3, 4):
        hunter.locator(f"#seat[data-asked='{step - 1}']").wait_for()
        hunter.keyboard.press("Enter")
        if step % 2 == 0:
            prey.locator(f"#seat[data-asked='{step - 1}']").wait_for()
            prey.get_by_role("button", name="south", exact=True).click()
    hunter.get_by_role("heading", name="You lost").wait_for()
    prey.get_by_role("heading", name="You won").wait_for()
    # The result is in sight.
    result = prey.locator("#ending-text").bounding_box()
    assert result is not None
    assert result["y"] + result["height"] <= 568
    assert verify(tmp_path / "h.gz").problem is None


@pytest.mark.slow
def test_a_phone_has_the_pad_below_the_board_and_robots_are_dragged(serve: Serve, visit: Open, tmp_path: Path) -> None:
    arguments = ("--size", "8", "--robots", "2", "--no-stay", "--out", "h.gz", "--cap", "12", "--seed", "1")
    served = serve("play", "--game", "rectangle", "human", "idle", *arguments, count=2)
    page = visit(served.addresses[0], PHONE, has_touch=True, is_mobile=True)
    page.locator("#ready").click()
    page.locator("#seat[data-asked='0']").wait_for()
    # A second click takes a robot away again.
    for cell, words in (((2, 2), "1 of 2 chosen"), ((2, 2), "0 of 2 chosen"), ((1, 1), "1 of 2 chosen")):
        page.mouse.click(*cells(page, 8)(*cell))
        page.get_by_text(words).wait_for()
    page.mouse.click(*cells(page, 8)(6, 6))
    page.locator("#seat[data-asked='1']").wait_for()
    # The page takes a moment for the buttons of this turn.
    page.wait_for_function(PAD_BELOW_BOARD, arg=PHONE["height"])
    assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    assert all(box["height"] >= 44 for button in page.locator("#pad button:visible").all() if (box := button.bounding_box()))
    assert axe(page) == []
    assert_full_board(page)
    # The chosen robot is marked, on the board and among the buttons; a tap chooses another one.
    page.get_by_role("button", name="choose robot 1", pressed=True).wait_for()
    marked = pixels(page)
    page.mouse.click(*cells(page, 8)(6, 6))
    page.get_by_role("button", name="choose robot 2", pressed=True).wait_for()
    assert pixels(page) != marked
    # A drag is a way: around a square.
    at = cells(page, 8)
    touch = page.context.new_cdp_session(page)
    way = [(1, 1), (1, 2), (1, 3), (2, 3), (3, 3), (3, 2), (3, 1), (2, 1), (1, 1)]
    for index, cell in enumerate(way):
        x, y = at(*cell)
        touch.send("Input.dispatchTouchEvent", {"type": "touchMove" if index else "touchStart", "touchPoints": [{"x": x, "y": y}]})
    touch.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    page.get_by_text("Next: robots → •").wait_for()
    # Not by a tap: on a busy machine its end comes so late that the browser takes it for a long press.
    page.get_by_role("button", name="the chosen robot goes up").click()
    wait_for_step(page, 2)
    for step in range(3, 10):
        page.locator(f"#seat[data-asked='{step - 1}']").wait_for()
        page.get_by_role("button", name="Go: send these orders").click()
        wait_for_step(page, step)
    page.wait_for_function("() => document.getElementById('score').textContent.includes('a 1')")
    give_up(page)
    page.locator("#ending-text").get_by_text("You gave up.").wait_for()
    page.locator("#loop").wait_for()
    for width, height in ((667, 375), (PHONE["width"], PHONE["height"])):
        resize(page, width, height)
        assert page.evaluate(COVERING) == [], width
    served.finish()
    said = [record["moves"]["a"]["orders"] for record in records(tmp_path / "h.gz")[2:] if "a" in record.get("moves", {})]
    assert said[:8] == ["EN", "E-", "S-", "S-", "W-", "W-", "N-", "N-"]


@pytest.mark.slow
@pytest.mark.parametrize("rules", ["classic", "diagonal", "gameserver"])
@pytest.mark.parametrize("seat", ["hunter", "prey"])
def test_every_rule_set_is_played_by_touch(rules: str, seat: str, serve: Serve, visit: Open, tmp_path: Path) -> None:
    lineup = ("human", "still") if seat == "hunter" else ("straight" if rules != "gameserver" else "random", "human")
    served = serve("play", *lineup, "--rules", rules, "--pace", "wait", "--no-stay", "--out", "h.gz", "--max-steps", "400", count=2)
    page = visit(served.addresses[0], PHONE, has_touch=True, is_mobile=True)
    page.locator("#ready").click()
    page.get_by_text(f"Your move, {seat}").wait_for()
    assert axe(page) == []
    assert_full_board(page)
    assert axe(page) == []
    board = page.locator("#board").bounding_box()
    assert board is not None
    middle = (board["x"] + board["width"] / 2, board["y"] + board["height"] / 2)
    if seat == "prey":
        page.get_by_role("button", name="north", exact=True).click()
    elif rules == "gameserver":
        tap(page, *middle)
        page.get_by_role("button", name="forget the first cell of a wall").wait_for()
        # A tap shows the wall, a second one near it builds it.
        tap(page, middle[0] + 50, middle[1])
        page.get_by_text("tap again to do it").wait_for()
        assert page.locator("#step").inner_text() == "Step 0"
        tap(page, middle[0] + 53, middle[1] + 2)
    else:
        page.get_by_role("button", name="the longest counter-diagonal wall" if rules == "diagonal" else "the longest vertical wall").click()
    page.wait_for_function("() => document.getElementById('step').textContent !== 'Step 0'")
    give_up(page)
    page.locator("#ending-text").get_by_text("You gave up.").wait_for()
    served.finish()
    replay = verify(tmp_path / "h.gz")
    assert replay.problem is None
    moves = [record["moves"][seat] for record in records(tmp_path / "h.gz") if record.get("moves", {}).get(seat)]
    wanted = {"go": "N" if rules == "gameserver" else [0, 1]} if seat == "prey" else moves[0]
    assert moves[0] == wanted
    assert seat == "prey" or {"build", "add"} & moves[0].keys()
