"""What phones need, in a real Chromium: the code of the address on the projector's page, and help that speaks of taps."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from served_pages import DESKTOP, PHONE, axe, start_as

if TYPE_CHECKING:
    from served_pages import Open, Serve

RECORDED = Path(__file__).parents[2] / "data/replays"
#: The seats of people, with the arguments of their match.
SEATS = {
    "hunter": ("human", "still"),
    "prey": ("straight", "human"),
    "hunter of the 2010 server": ("human", "still", "--rules", "gameserver"),
    "robots": ("human", "idle", "--game", "rectangle"),
    "thief": ("human", "random", "--game", "maze"),
}


def on_this_machine(address: str) -> str:
    return re.sub(r"//[^/]+(:\d+/)", r"//127.0.0.1\1", address)


def test_the_projector_shows_the_code_of_an_address_that_phones_can_open(serve: Serve, visit: Open, tmp_path: Path) -> None:
    pytest.importorskip("segno")
    shutil.copy(RECORDED / "maze-dasher-hard.replay.jsonl.gz", tmp_path)
    address = serve("watch", tmp_path, "--projector", "--host", "0.0.0.0").addresses[0]
    # Chromium complains of a header on pages without TLS that are not on this machine.
    page = visit(on_this_machine(address))
    code = page.locator("#join-code")
    code.wait_for()
    assert code.evaluate("code => code.naturalWidth") > 0
    assert page.locator("#join-address").inner_text() == address.removesuffix("projector")
    assert axe(page) == []
    page.keyboard.press("q")
    code.wait_for(state="hidden")
    page.get_by_role("button", name="QR code").click()
    code.wait_for()
    # It leads to the list of the matches.
    listed = visit(on_this_machine(page.locator("#join-address").inner_text()))
    listed.get_by_text("maze-dasher-hard").first.wait_for()


def test_a_projector_of_this_machine_alone_has_no_code(serve: Serve, visit: Open, tmp_path: Path) -> None:
    shutil.copy(RECORDED / "maze-dasher-hard.replay.jsonl.gz", tmp_path)
    page = visit(serve("watch", tmp_path, "--projector").addresses[0])
    page.get_by_text("Dasher").first.wait_for()
    assert not page.locator("#join").is_visible()
    assert not page.locator("#code").is_visible()


@pytest.mark.parametrize("seat", [pytest.param(seat, marks=[] if seat == "hunter" else [pytest.mark.slow]) for seat in SEATS])
def test_how_to_play_speaks_of_taps_on_a_phone(seat: str, serve: Serve, visit: Open) -> None:
    address = serve("play", *SEATS[seat], "--no-stay", "--out", "h.gz", count=2).addresses[0]
    for size, is_phone in ((DESKTOP, False), (PHONE, True)):
        page = visit(address, size, has_touch=is_phone, is_mobile=is_phone)
        page.locator("#ready").wait_for()
        text = " ".join(page.locator("#seat .card").inner_text().lower().split())
        assert ("tap" in text) == is_phone
        for word in ("click", "shift", "enter", "pointer", "numpad", "w a s d"):
            assert not is_phone or word not in text, (word, text)
        page.close()


def test_the_start_card_shows_how_to_play_until_it_is_switched_off_and_again_on_request(serve: Serve, visit: Open) -> None:
    page = visit(serve("play", "human", "still", "--pace", "wait", "--no-stay", "--out", "h.gz", count=2).addresses[0])
    card = page.locator("#seat .card")
    card.get_by_role("img").wait_for()
    goal, keys = (line.inner_text() for line in card.locator("p").all())
    assert "come within 4 cells" in goal
    assert "fly diagonally and bounce" in goal
    assert keys.startswith("H V or click")
    page.get_by_label("Show this before every match").uncheck()
    page.reload()
    page.locator("#ready").wait_for()
    assert not card.is_visible()
    start_as(page, "")
    page.locator("#seat[data-asked='0']").wait_for()
    # At any time, without a move.
    page.keyboard.press("?")
    again = page.get_by_role("dialog", name="How to play")
    again.locator(".card").get_by_role("img").wait_for()
    assert "the wall ends where you point" in again.inner_text()
    assert axe(page) == []
    again.get_by_label("Show this before every match").check()
    page.keyboard.press("Escape")
    assert page.locator("#seat").get_attribute("data-asked") == "0"
    page.reload()
    page.set_viewport_size({"width": 320, "height": 568})
    page.get_by_role("button", name="How to play").click()
    again.locator(".card").get_by_role("img").wait_for()
