"""One browser, one good replay and one viewer for all tests of this folder."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import play_match
from pages import DESKTOP, serving
from sandboxes import need

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pages import Open, Serve
    from playwright.sync_api import Browser, Dialog, Page


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser a worker. It goes when the worker leaves this folder: its event loop and its processes would be in others' way."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    need(path is not None, "chromium is missing")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Open]:
    """Opens pages; what any of them complains of on its console fails the test."""
    complaints: list[str] = []
    contexts = []

    def refuse(dialog: Dialog) -> None:
        complaints.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def opened(address: str, size: dict[str, int] = DESKTOP, script: str = "", **options: Any) -> Page:
        context = chromium.new_context(viewport={"width": size["width"], "height": size["height"]}, **options)
        contexts.append(context)
        context.set_default_timeout(60_000)
        page = context.new_page()
        page.on("console", lambda message: complaints.append(message.text) if message.type in ("error", "warning") else None)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", refuse)
        if script:
            page.add_init_script(script)
        page.goto(address)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert complaints == []


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a command and reads as many addresses as it is to tell."""
    with contextlib.ExitStack() as stack:
        yield serving(stack, tmp_path)


@pytest.fixture(scope="package")
def address(good: Path) -> Iterator[str]:
    """Where the good replay is shown."""
    with contextlib.ExitStack() as stack:
        yield serving(stack, good.parent)("watch", good).addresses[0]


@pytest.fixture(scope="package")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A whole replay, of 297 steps, with logs beside it and a refused wall or two."""
    folder = tmp_path_factory.mktemp("browser")
    bot = folder / "talks.py"
    bot.write_text(
        "import sys\nfrom sdk import HunterBot\n"
        "class Talks(HunterBot):\n    def hunt(self, state):\n        print(f'thinking about {self.turn}', file=sys.stderr)\n"
        "        if self.turn % 15 == 0:\n            self.say(f'wall at {self.turn}')\n            self.draw.line((0, 0), (50, 50), 'red')\n"
        "            return self.build('vertical' if self.turn % 30 else 'horizontal')\n"
        "Talks.main()\n"
    )
    path = folder / "good.replay.jsonl.gz"
    play_match(str(bot), "runner", replay=path, cooldown=20, max_steps=297)
    for seat in ("hunter", "prey"):
        log = folder / f"{seat}.log"
        if log.exists():
            log.rename(folder / f"good.{seat}.stderr.log")
    return path
