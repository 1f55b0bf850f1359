"""People who play on a page, in a real Chromium."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import play_match
from served_pages import assert_full_board, axe, pixels, resize, start_as, wait_for_step

from referee.replay.reader import verify

if TYPE_CHECKING:
    from served_pages import Open, Serve


@pytest.mark.slow
def test_a_person_plays_the_prey_against_a_program(serve: Serve, visit: Open, tmp_path: Path) -> None:
    served = serve("play", "straight", "human", "--pace", "wait", "--no-stay", "--out", "h.gz", "--max-steps", "20", count=2)
    page = visit(served.addresses[0])
    assert "You play the prey" in page.locator("#seat").inner_text()
    assert axe(page) == []
    start_as(page, "Ada")
    page.get_by_text("Your move, prey").wait_for()
    wait_for_step(page, 1)
    assert axe(page) == []
    for key, wanted in (("w", 3), ("ArrowLeft", 5), ("q", 7), ("Numpad3", 9), ("x", 11)):
        page.keyboard.press(key)
        wait_for_step(page, wanted)
    page.get_by_role("button", name="north-east").click()
    wait_for_step(page, 13)
    box = page.locator("#board").bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2 - min(box["width"], box["height"]) / 2 + 20, box["y"] + box["height"] / 2)
    wait_for_step(page, 15)
    for wanted in (17, 19, 20):
        page.keyboard.press("s")
        wait_for_step(page, wanted)
    page.get_by_text("✓ verified").wait_for()
    assert "still free after 20 steps" in page.locator("#outcome").inner_text()
    assert "evaded" in served.finish()
    replay = verify(tmp_path / "h.gz")
    assert replay.problem is None
    records = [json.loads(line) for line in gzip.decompress((tmp_path / "h.gz").read_bytes()).splitlines()]
    moves = [record["moves"]["prey"]["go"] for record in records if "moves" in record]
    assert moves[:6] == [[0, 1], [-1, 0], [-1, 1], [1, -1], [0, 0], [1, 1]]
    assert records[0]["players"]["prey"]["name"] == "Ada"


@pytest.mark.slow
def test_a_person_hunts_with_previews(serve: Serve, visit: Open, tmp_path: Path) -> None:
    served = serve(
        "play",
        "human",
        "still",
        "--pace",
        "wait",
        "--no-stay",
        "--out",
        "h.gz",
        "--max-steps",
        "6",
        "--hunter",
        "100,100,1,1",
        "-N",
        "3",
        count=2,
    )
    page = visit(served.addresses[0])
    start_as(page, "")
    page.get_by_text("Your move, hunter").wait_for()
    box = page.locator("#board").bounding_box()
    assert box is not None
    side = min(box["width"], box["height"])
    corner = (box["x"] + (box["width"] - side) / 2, box["y"] + (box["height"] - side) / 2)
    cell = (side - 20) / 300

    def at(x: float, y: float) -> tuple[float, float]:
        return corner[0] + 10 + (x + 0.5) * cell, corner[1] + 10 + (300 - y - 0.5) * cell

    empty = pixels(page)
    page.mouse.move(*at(101, 150))
    page.get_by_text("vertical wall 0 built from (100, 0) to (100, 299)").or_(page.get_by_text("build a vertical wall")).first.wait_for()
    page.wait_for_function("() => document.getElementById('pending-move').textContent.includes('vertical')")
    assert pixels(page) != empty
    page.keyboard.down("Shift")
    page.mouse.click(*at(101, 150))
    page.keyboard.up("Shift")
    wait_for_step(page, 1)
    # Too soon for another wall: the engine says so before it is tried.
    page.mouse.move(*at(150, 101))
    page.wait_for_function("() => document.getElementById('pending-move').textContent.includes('legal in 2 more steps')")
    page.keyboard.press("Enter")
    wait_for_step(page, 2)
    page.mouse.click(*at(100, 120))
    wait_for_step(page, 3)
    # Until the engine has answered for this step, the reasons are those of an earlier one.
    page.locator("#pad .why").get_by_text("The next wall is legal").wait_for(state="hidden")
    page.keyboard.press("h")
    wait_for_step(page, 4)
    # What would be refused isn't sent: the button says why.
    page.locator("#pad .why").get_by_text("The next wall is legal in 2 more steps").wait_for()
    vertical = page.get_by_role("button", name="the longest vertical wall")
    assert vertical.is_disabled()
    assert "The next wall is legal" in str(vertical.get_attribute("title"))
    page.keyboard.press("v")
    page.locator("#pending-move").get_by_text("Build a vertical wall: next wall in 2 steps").wait_for()
    page.get_by_role("button", name="no wall in this step").click()
    wait_for_step(page, 5)
    page.keyboard.press("Enter")
    wait_for_step(page, 6)
    page.get_by_text("✓ verified").wait_for()
    served.finish()
    records = [json.loads(line) for line in gzip.decompress((tmp_path / "h.gz").read_bytes()).splitlines()]
    moves = [record.get("moves", {}).get("hunter", {}) for record in records[1:-1]]
    assert moves[0]["build"]["kind"] == "vertical"
    assert moves[0]["build"]["span"] == [100, 150]
    assert moves[1] == {}
    assert moves[2] == {"remove": [0]}
    assert moves[3] == {"build": {"kind": "horizontal"}}
    assert moves[4] == {}
    assert verify(tmp_path / "h.gz").problem is None


@pytest.mark.slow
def test_two_people_pause_and_play(serve: Serve, visit: Open, tmp_path: Path) -> None:
    served = serve("play", "human", "human", "--pace", "wait", "--no-stay", "--max-steps", "8", count=3)
    hunter, prey = visit(served.addresses[0]), visit(served.addresses[1])
    spectator = visit(served.addresses[2])
    start_as(hunter, "Ada")
    hunter.get_by_text("Waiting for the prey").wait_for()
    start_as(prey, "Bob")
    hunter.get_by_text("Your move, hunter").wait_for()
    hunter.keyboard.press("Enter")
    prey.get_by_text("Your move, prey").wait_for()
    # On a small phone the pause moves nothing.
    resize(prey, 320, 568)
    board = prey.locator("#board").bounding_box()
    hunter.keyboard.press("Space")
    for page in (hunter, prey):
        page.get_by_text("Paused", exact=True).wait_for()
    assert prey.locator("#board").bounding_box() == board
    prey.keyboard.press("w")
    # Whoever wants to continues.
    prey.keyboard.press("Space")
    hunter.get_by_text("Paused", exact=True).wait_for(state="hidden")
    hunter.locator("#seat[data-asked='1']").wait_for()
    hunter.keyboard.press("v")
    for page in (hunter, prey, spectator):
        wait_for_step(page, 2)
    for step in range(2, 8):
        hunter.locator(f"#seat[data-asked='{step}']").wait_for()
        hunter.keyboard.press("Enter")
        if step % 2:
            prey.locator(f"#seat[data-asked='{step}']").wait_for()
            prey.keyboard.press("w")
    wait_for_step(spectator, 8)
    for page in (hunter, prey, spectator):
        page.get_by_text("✓ verified").wait_for()
    assert "Ada" in spectator.locator("#players").inner_text()
    served.finish()


@pytest.mark.slow
def test_a_pause_of_the_other_takes_no_question_away(serve: Serve, visit: Open) -> None:
    served = serve("play", "human", "human", "--pace", "wait", "--no-stay", count=3)
    hunter, prey = visit(served.addresses[0]), visit(served.addresses[1])
    for page in (hunter, prey):
        start_as(page, "")
    hunter.get_by_text("Your move, hunter").wait_for()
    hunter.get_by_role("button", name="Give up").click()
    prey.get_by_role("button", name="Pause").click()
    hunter.get_by_text("Paused", exact=True).wait_for()
    sure = hunter.get_by_role("button", name="Yes, give up")
    assert sure.evaluate("button => button === document.activeElement")
    sure.click()
    hunter.locator("#ending-text").get_by_text("You gave up. Guest 2 wins.").wait_for()
    served.finish()


#: Keeps a page's moves back until the test sends the last one.
HOLDS_MOVES = """
() => {
    const { send } = WebSocket.prototype;
    WebSocket.prototype.send = function (data) {
        if (JSON.parse(data).type === "move") globalThis.sendMove = () => send.call(this, data);
        else send.call(this, data);
    };
}
"""


@pytest.mark.slow
def test_a_move_that_comes_too_late_for_one_answer_is_shown_until_the_next(serve: Serve, visit: Open, tmp_path: Path) -> None:
    served = serve("play", "straight", "human", "--pace", "4", "--no-stay", "--out", "h.gz", "--max-steps", "400", count=2)
    page = visit(served.addresses[0])
    page.evaluate(HOLDS_MOVES)
    start_as(page, "")
    asked = page.locator("#seat[data-asked]:not([data-asked='-1'])")
    asked.wait_for()
    page.keyboard.press("w")
    page.locator("#pending-move").get_by_text("Next: ").wait_for()
    turn = asked.get_attribute("data-asked")
    # It is asked again: the answer before has gone without the move.
    page.wait_for_function("(turn) => Number(document.getElementById('seat').dataset.asked) > Number(turn)", arg=turn)
    assert "Next: " in page.locator("#pending-move").inner_text()
    page.evaluate("sendMove()")
    page.wait_for_function("() => !document.getElementById('pending-move').textContent.includes('Next: ')")
    page.get_by_role("button", name="Give up").click()
    page.get_by_role("button", name="Yes, give up").click()
    page.locator("#ending-text").get_by_text("You gave up").wait_for()
    served.finish()
    records = [json.loads(line) for line in gzip.decompress((tmp_path / "h.gz").read_bytes()).splitlines()]
    moves = [move for record in records if (move := record.get("moves", {}).get("prey"))]
    assert moves == [{"go": [0, 1]}]


#: Loses the first message of a page that says that somebody is ready, as a connection does that isn't there yet.
LOSES_READY = """
() => {
    const { send } = WebSocket.prototype;
    globalThis.said = 0;
    WebSocket.prototype.send = function (data) {
        if (data.includes('"ready"')) said += 1;
        if (said !== 1 || !data.includes('"ready"')) send.call(this, data);
    };
}
"""


@pytest.mark.slow
def test_who_is_ready_too_early_says_it_again(serve: Serve, visit: Open) -> None:
    served = serve("play", "human", "human", "--pace", "wait", "--no-stay", "--max-steps", "2", count=3)
    hunter, prey = visit(served.addresses[0]), visit(served.addresses[1])
    hunter.evaluate(LOSES_READY)
    start_as(hunter, "Ada")
    start_as(prey, "Bob")
    hunter.get_by_text("Your move, hunter").wait_for()
    hunter.keyboard.press("Enter")
    prey.get_by_text("Your move, prey").wait_for()
    # Once lost, once heard: it isn't said forever.
    assert hunter.evaluate("said") == 2


@pytest.mark.slow
def test_a_person_with_a_clock_sees_it_and_can_lose_by_it(serve: Serve, visit: Open) -> None:
    served = serve("play", "straight", "human", "--human-clock", "--move-time", "6", "--no-stay", count=2)
    page = visit(served.addresses[0])
    assert "You have the same clock as a bot" in page.locator("#seat").inner_text()
    start_as(page, "")
    page.wait_for_function("() => /^[0-6][.][0-9] s left$/.test(document.getElementById('clock')?.textContent ?? '')")
    # The question may come before the page has unpacked the beginning of the match, which it needs for a move.
    page.get_by_text("Your move, prey").wait_for()
    assert page.get_by_label("Pace").count() == 0
    page.keyboard.press("w")
    page.get_by_text("ran out of time in step 3").first.wait_for()
    assert "gave no answer within the move limit of 6 s" in served.finish()


def test_a_person_gives_up_in_the_window_that_has_the_seat(serve: Serve, visit: Open) -> None:
    served = serve("play", "human", "still", "--no-stay", count=2)
    page = visit(served.addresses[0])
    start_as(page, "")
    page.get_by_text("Your move, hunter").or_(page.get_by_text("You are the hunter")).first.wait_for()
    # Another window takes the seat, and this one takes it back.
    other = visit(served.addresses[0])
    page.get_by_role("heading", name="Another window plays this seat").wait_for()
    assert not page.locator("#pad").is_visible()
    page.get_by_role("button", name="Play here again").click()
    other.get_by_role("heading", name="Another window plays this seat").wait_for()
    page.get_by_role("button", name="Give up").click()
    page.get_by_role("button", name="Yes, give up").click()
    page.locator("#ending-text").get_by_text("You gave up. Still wins.").wait_for()
    assert "Still wins: Guest gave up in step " in page.locator("#outcome").inner_text()
    assert page.get_by_text("Fault of").count() == 0
    assert "gave up" in served.finish()


@pytest.mark.slow
def test_a_person_hunts_by_the_2010_rules(serve: Serve, visit: Open, tmp_path: Path) -> None:
    arguments = ("--rules", "gameserver", "--pace", "wait", "--no-stay", "--out", "h.gz", "--max-steps", "6", "--set", "cooldown=0")
    served = serve("play", "human", "still", *arguments, count=2)
    page = visit(served.addresses[0])
    start_as(page, "")
    page.get_by_text("Your move, hunter").wait_for()
    box = page.locator("#board").bounding_box()
    assert box is not None
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.click(*middle)
    # Escape forgets where the wall begins, and is no move.
    page.keyboard.press("Escape")
    page.mouse.click(*middle)
    page.mouse.move(middle[0] + 80, middle[1] + 3)
    page.get_by_text("wall 1 from (250, 250) to").wait_for()
    page.mouse.click(middle[0] + 80, middle[1] + 3)
    wait_for_step(page, 2)
    page.keyboard.press("Enter")
    wait_for_step(page, 4)
    page.mouse.click(middle[0] + 40, middle[1])
    wait_for_step(page, 6)
    page.get_by_text("✓ verified").wait_for()
    served.finish()
    records = [json.loads(line) for line in gzip.decompress((tmp_path / "h.gz").read_bytes()).splitlines()]
    moves = [record.get("moves", {}).get("hunter") for record in records[1:-1:2]]
    assert moves[0]["add"]["id"] == 1
    assert moves[0]["add"]["y1"] == moves[0]["add"]["y2"] == 250
    assert moves[1] is None
    assert moves[2] == {"remove": 1}


@pytest.mark.slow
def test_three_people_and_one_who_leaves(serve: Serve, visit: Open) -> None:
    # A pace was asked for, but nobody is hurried while robots are placed.
    arguments = ("--size", "8", "--pace", "30", "--no-stay", "--cap", "40", "--seed", "1")
    served = serve("play", "--game", "rectangle", "human", "human", "human", *arguments, count=4)
    pages = [visit(served.addresses[at]) for at in range(3)]
    for page in pages:
        start_as(page, "")
    one, other, third = pages
    for page in pages:
        page.get_by_text("Your move").wait_for()
    third.get_by_role("button", name="Pause").click()
    for page in pages:
        page.get_by_text("Paused", exact=True).wait_for()
    third.get_by_role("button", name="Give up").click()
    third.get_by_role("button", name="Yes, give up").click()
    third.locator("#seat").get_by_text("You gave up").wait_for()
    one.get_by_role("button", name="Go on").click()
    for page in (one, other):
        page.get_by_text("Your move").wait_for()
        assert page.locator("#scrubber").get_attribute("max") == "0"
        page.locator("#board").click()
        # What the lot would add is not shown as if it were chosen.
        page.get_by_text("1 of 2 chosen").wait_for()
        page.keyboard.press("Enter")
    for page in pages:
        page.get_by_text("✓ verified").wait_for()
    assert "Player c (Guest 3) gave up" in served.finish()


@pytest.mark.slow
def test_a_person_paints(serve: Serve, visit: Open, tmp_path: Path) -> None:
    """Robots placed by clicks, moved by keys, sent somewhere, and given a ring that closes."""
    # The seed says where the other one stands: out of the way.
    arguments = ("--size", "8", "--pace", "wait", "--no-stay", "--out", "h.gz", "--cap", "14", "--seed", "1")
    served = serve("play", "--game", "rectangle", "human", "idle", *arguments, count=2)
    page = visit(served.addresses[0])
    assert "You play player a" in page.locator("#seat").inner_text()
    assert axe(page) == []
    start_as(page, "Ada")
    page.get_by_text("Your move").wait_for()
    box = page.locator("#board").bounding_box()
    assert box is not None
    side = min(box["width"], box["height"])
    corner = (box["x"] + (box["width"] - side) / 2, box["y"] + (box["height"] - side) / 2)
    cell = (side - 20) / 8

    def at(row: float, column: float) -> tuple[float, float]:
        return corner[0] + 10 + (column + 0.5) * cell, corner[1] + 10 + (row + 0.5) * cell

    page.mouse.click(*at(1, 1))
    page.get_by_text("1 of 2 chosen").wait_for()
    page.mouse.click(*at(6, 6))
    wait_for_step(page, 1)
    # The first robot draws a ring of 3 x 3, the second goes up a cell; after that only the second is asked about.
    page.keyboard.down("Shift")
    page.mouse.click(*at(1, 1))
    page.mouse.click(*at(3, 3))
    page.keyboard.up("Shift")
    page.keyboard.press("w")
    wait_for_step(page, 2)
    page.get_by_text("Next: robots → •").wait_for()
    for step in range(3, 10):
        # What is pressed before the question has come is meant for the one before.
        page.locator(f"#seat[data-asked='{step - 1}']").wait_for()
        page.keyboard.press("Enter")
        wait_for_step(page, step)
    page.wait_for_function("() => document.body.innerText.includes('a 1 · b 0')")
    page.locator("#seat[data-asked='9']").wait_for()
    page.mouse.click(*at(7, 1))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    wait_for_step(page, 10)
    for step in range(11, 16):
        page.locator(f"#seat[data-asked='{step - 1}']").wait_for()
        page.keyboard.press("Enter")
        wait_for_step(page, step)
    page.get_by_text("✓ verified").wait_for()
    assert " wins with 1 cell" in page.locator("#outcome").inner_text()
    served.finish()
    records = [json.loads(line) for line in gzip.decompress((tmp_path / "h.gz").read_bytes()).splitlines()]
    assert records[1]["moves"]["a"] == {"place": [[1, 1], [6, 6]]}
    said = [record.get("moves", {}).get("a", {}).get("orders", "--") for record in records[2:-1]]
    assert said[:8] == ["EN", "E-", "S-", "S-", "W-", "W-", "N-", "N-"]
    assert verify(tmp_path / "h.gz").problem is None


@pytest.mark.slow
def test_a_person_runs_through_the_maze(serve: Serve, visit: Open, tmp_path: Path) -> None:
    """Walls aren't gone through, and the game waits for every move."""
    settings = ("--set", "thief=[5,7]", "--set", "policeman=[16,1]", "--parity", "any")
    drawn = serve("play", "--game", "maze", "human", "easy", "--no-stay", "--seed", "3", count=2)
    other = visit(drawn.addresses[0])
    start_as(other, "")
    other.get_by_text("Your move, thief").wait_for()
    assert_full_board(other)
    # A start by lot is seen before the first move, and played from.
    before = pixels(other)
    other.keyboard.press("h")
    other.wait_for_function("was => document.getElementById('board').toDataURL() !== was", arg=before)
    for key in "wasd":
        other.keyboard.press(key)
    other.wait_for_function("() => Number(document.getElementById('step').textContent.replace(/\\D/g, '')) >= 2")
    other.close()
    served = serve("play", "--game", "maze", "human", "easy", *settings, "--no-stay", "--out", "h.gz", "--seed", "1", count=2)
    page = visit(served.addresses[0])
    assert "You play the thief" in page.locator("#seat").inner_text()
    start_as(page, "Ada")
    page.get_by_text("Your move, thief").wait_for()
    assert page.get_by_label("Pace").count() == 0
    # There is a wall below, whether it is asked for by a key or a button: that is told, and nothing is sent.
    page.keyboard.press("s")
    page.locator("#pending-move").get_by_text("There is no way down: a wall.").wait_for()
    page.get_by_role("button", name="left", exact=True).hover()
    page.get_by_text("go ← left").wait_for()
    page.get_by_role("button", name="down", exact=True).click(force=True)
    page.locator("#pending-move").get_by_text("There is no way down: a wall.").wait_for()
    assert "Hint" not in page.locator("#pending-move").inner_text()
    plain = pixels(page)
    page.keyboard.press("h")
    # A hint, on request.
    page.wait_for_function("was => document.getElementById('board').toDataURL() !== was", arg=plain)
    page.locator("#pending-move").get_by_text("Hint: thief escapes in 12 moves; go").wait_for()
    page.keyboard.press("h")
    page.wait_for_function("() => !document.getElementById('pending-move').textContent.includes('Hint')")
    # The story is told again a moment later.
    page.wait_for_function("() => !document.getElementById('panels').textContent.includes('escapes in')")
    for count, key in enumerate(("d", "d", "d", "ArrowDown", "s", "s", "d", "d", "d", "d", "d"), 1):
        page.keyboard.press(key)
        wait_for_step(page, 2 * count)
        # The heading still asks for the move before, for a moment.
        page.locator(f"#seat[data-asked='{2 * count}']").wait_for()
    page.keyboard.press("d")
    page.get_by_text("✓ verified").wait_for()
    assert " escapes after 12 moves" in page.locator("#outcome").inner_text()
    served.finish()
    assert verify(tmp_path / "h.gz").problem is None


def test_a_person_takes_over_in_a_turn_of_a_replay(serve: Serve, visit: Open, tmp_path: Path) -> None:
    play_match("straight", "runner", replay=tmp_path / "game.gz", max_steps=16)
    served = serve("play", "--from", "game.gz@11", "-", "human", "--pace", "wait", "--no-stay", "--out", "h.gz", count=2)
    page = visit(served.addresses[0])
    start_as(page, "Ada")
    page.get_by_text("Your move, prey").wait_for()
    wait_for_step(page, 11)
    # The address of the page would give the seat away.
    page.locator("#share").click()
    page.get_by_text("The address of this page is secret").wait_for()
    assert not page.get_by_label("Link to this step").count()
    assert served.addresses[0] not in page.content()
    page.keyboard.press("Escape")
    for wanted in (13, 15, 16):
        page.keyboard.press("s")
        wait_for_step(page, wanted)
    page.get_by_text("✓ verified").wait_for()
    page.locator("#share").click()
    assert page.get_by_label("Link to this step").input_value().startswith(f"{served.addresses[1]}#t=16&")
    assert "evaded" in served.finish()
    assert verify(tmp_path / "h.gz").problem is None
    records = [json.loads(line) for line in gzip.decompress((tmp_path / "h.gz").read_bytes()).splitlines()]
    moves = [record["moves"]["prey"]["go"] for record in records if "prey" in record.get("moves", {})]
    assert moves == [[1, 1]] * 5 + [[0, -1]] * 3
    assert records[0]["from"]["turn"] == 11
