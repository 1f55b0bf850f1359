"""What is drawn on the board of the viewer: cameras, layers, motion between two steps, the words of the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from served_pages import pixels, wait_for_step, wait_until_read

if TYPE_CHECKING:
    from served_pages import Open

#: Looks at a board that plays until one step has had three pictures, or so many steps have passed; returns the most pictures of a step.
#: The scrubber moves in the frame that draws the step; the number in words may lag behind both.
PICTURES = """
(steps) => new Promise((done) => {
    const seen = new Map();
    const board = document.getElementById("board");
    const look = () => {
        const step = document.getElementById("scrubber").value;
        seen.set(step, (seen.get(step) ?? new Set()).add(board.toDataURL()));
        const most = Math.max(...[...seen.values()].map((pictures) => pictures.size));
        if (most > 2 || seen.size > steps) done(most);
        else requestAnimationFrame(look);
    };
    requestAnimationFrame(look);
})
"""


def test_cameras_and_layers(address: str, visit: Open) -> None:
    page = visit(f"{address}#t=230")
    wait_for_step(page, 230)
    page.get_by_text("✓ verified").wait_for()
    camera = page.locator("#camera")
    assert camera.input_value() == "capture"
    whole = pixels(page)
    page.click("#layers > summary")
    camera.select_option("follow")
    following = pixels(page)
    assert following != whole
    page.get_by_label("prey's region").uncheck()
    assert pixels(page) != following
    page.get_by_label("prey's region").check()
    camera.select_option("whole")
    assert pixels(page) == whole
    page.click("#layers > summary")
    page.keyboard.press("End")
    wait_for_step(page, 297)
    end = pixels(page)
    for name in ("follow", "capture", "whole"):
        page.locator("#board").focus()
        page.keyboard.press("c")
        assert page.locator("#camera").input_value() == name
    assert pixels(page) == end
    page.keyboard.press("c")
    # A view that the reader chooses is no camera's.
    page.mouse.move(200, 200)
    page.mouse.wheel(0, -200)
    page.wait_for_function("() => document.getElementById('camera').value === 'whole'")
    assert "catches " in page.locator("#outcome").inner_text()


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_players_glide_between_two_steps_unless_the_reader_wants_no_motion(address: str, visit: Open, motion: str) -> None:
    page = visit(f"{address}#t=100", reduced_motion=motion)
    wait_until_read(page, 297)
    wait_for_step(page, 100)
    page.get_by_text("✓ verified").wait_for()
    page.select_option("#speed", "0.25")
    page.locator("#board").focus()
    page.keyboard.press("Space")
    # On a busy machine a step may have no frame between.
    assert (page.evaluate(PICTURES, 5 if motion == "reduce" else 150) > 2) == (motion != "reduce")
