"""Matches that are followed live, in a real Chromium."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from served_pages import COUNTS_SOCKETS, start_as, wait_for_step

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from served_pages import Open, Serve


def wait_for_steps(page: Page, least: int) -> None:
    page.wait_for_function("least => Number(document.getElementById('scrubber').max) >= least", arg=least)


def test_a_live_match_is_followed_to_its_end(serve: Serve, visit: Open, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    bot = tmp_path / "waits.py"
    # Its first move waits until the page is there, so that the match can't be over before.
    bot.write_text(
        "import sys\nfrom sdk import HunterBot\nclass Waits(HunterBot):\n    def hunt(self, state):\n"
        f"        if self.turn in (0, 49):\n            print(f'thinking about {{self.turn}}', file=sys.stderr)\n        if self.turn == 50:\n            open({str(gate)!r}).read()\n        return self.build('vertical') if self.turn == 10 else None\nWaits.main()\n"
    )
    served = serve(
        "play", bot, "runner", "--live", "--no-stay", "--isolation", "none", "--bank", "none", "--move-time", "none", "--max-steps", "400"
    )
    page = visit(served.addresses[0])
    wait_for_step(page, 50)
    assert page.locator("#live").is_visible()
    page.click("#tab-logs")
    page.get_by_text("thinking about 49").wait_for()
    page.click("#tab-match")
    assert page.locator("#score").inner_text().startswith("of 50")
    page.keyboard.press("ArrowLeft")
    wait_for_step(page, 49)
    page.get_by_role("button", name="● live").click()
    gate.write_text("")
    wait_for_step(page, 297)
    page.get_by_text("✓ verified").wait_for()
    assert not page.locator("#live").is_visible()
    assert "297 steps" in served.finish()


def test_a_lost_connection_is_taken_up_again(serve: Serve, visit: Open, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    bot = tmp_path / "waits.py"
    bot.write_text(
        "from sdk import HunterBot\nclass Waits(HunterBot):\n    def hunt(self, state):\n"
        f"        if self.turn == 50:\n            open({str(gate)!r}).read()\nWaits.main()\n"
    )
    served = serve(
        "play", bot, "runner", "--live", "--no-stay", "--isolation", "none", "--bank", "none", "--move-time", "none", "--max-steps", "200"
    )
    page = visit(served.addresses[0], script=COUNTS_SOCKETS)
    wait_for_step(page, 50)
    # As if the network had dropped it: the page has not asked for this, and must come back by itself, from where it was.
    page.evaluate("() => sockets.at(-1).close()")
    page.wait_for_function("() => sockets.length === 2 && sockets[1].readyState === WebSocket.OPEN")
    first, again = page.evaluate("() => sockets.map((one) => Number(new URL(one.url).searchParams.get('from')))")
    assert first == 0
    assert again > 100
    gate.write_text("")
    wait_for_step(page, 200)
    served.finish()


@pytest.mark.slow
def test_what_can_be_clicked_stays_while_steps_go_by(serve: Serve, visit: Open) -> None:
    # A small board, so that something happens in every few steps, and the fastest pace.
    served = serve("play", "human", "still", "--size", "40x40", "--prey", "30,10", "--pace", "30", "--no-stay", count=2)
    page = visit(served.addresses[0])
    start_as(page, "")
    wait_for_steps(page, 1)
    page.get_by_role("tab", name="Events").click()
    page.get_by_text("bounce (").wait_for()
    page.get_by_label("bounce").check()
    page.get_by_role("button", name="Go to step").first.wait_for()
    page.evaluate("""() => {
        const parts = [...document.querySelectorAll('button, select')];
        window.kept = ['Give up', 'Go to step', 'Pause'].map((name) => parts.find((part) => (part.ariaLabel || part.textContent).startsWith(name) && part.id !== 'play'));
        window.kept.push(document.querySelector('label:has(input) input[type=checkbox]'));
    }""")
    kept = page.evaluate("() => window.kept.map((part) => part.ariaLabel || part.textContent || part.type)")
    assert [name.rstrip(" 0123456789") for name in kept] == ["Give up", "Go to step", "Pause", "checkbox"]
    wait_for_steps(page, 150)
    assert page.evaluate("() => window.kept.every((part) => part.isConnected)")
    page.get_by_role("button", name="Give up").click()
    page.get_by_role("button", name="Yes, give up").click()
    page.get_by_text("You gave up").first.wait_for()
    told = served.finish()
    assert re.search(r"^  left     The hunter .*gave up\.$", told, re.MULTILINE), told
    assert "Next:" in told
    assert "explain" not in told


@pytest.mark.slow
def test_spectators_go_back_and_catch_up(serve: Serve, visit: Open, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    bot = tmp_path / "waits.py"
    bot.write_text(
        "from sdk import HunterBot\nclass Waits(HunterBot):\n    def hunt(self, state):\n"
        f"        if self.turn == 20:\n            open({str(gate)!r}).read()\nWaits.main()\n"
    )
    limits = ("--isolation", "none", "--bank", "none", "--move-time", "none", "--max-steps", "40")
    served = serve("play", bot, "runner", "--live", "--no-stay", *limits, count=2)
    spectator, reader, projector = visit(served.addresses[0]), visit(served.addresses[0]), visit(served.addresses[1])
    for page in (spectator, reader):
        wait_for_step(page, 20)
        page.keyboard.press("Home")
        page.get_by_role("button", name="20 behind").wait_for()
    spectator.keyboard.press("Shift+F")
    wait_for_step(spectator, 20)
    spectator.wait_for_function("() => document.getElementById('catch-up').hidden")
    assert spectator.locator("#follow").get_attribute("aria-pressed") == "true"
    projector.get_by_text("Runner").first.wait_for()
    reader.keyboard.press("f")
    wait_for_step(reader, 20)
    gate.write_text("")
    projector.get_by_text("Runner wins").wait_for()
    wait_for_step(reader, 40)
    served.finish()
