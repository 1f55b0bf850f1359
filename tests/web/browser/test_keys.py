"""Keys and clicks of people at the board that come too early or too late, in a real Chromium."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pages import start_as, wait_for_step

if TYPE_CHECKING:
    from pages import Open, Serve


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
