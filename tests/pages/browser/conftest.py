"""One browser, one good replay and one viewer for all tests of this folder."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import play_match
from served_pages import launched, serving, visiting

if TYPE_CHECKING:
    from collections.abc import Iterator

    from commands import Commands
    from playwright.sync_api import Browser
    from served_pages import Open, Serve


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser a worker. It goes when the worker leaves this folder: its event loop and its processes would be in others' way."""
    with launched() as browser:
        yield browser


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Open]:
    """Opens pages; what any of them complains of on its console fails the test."""
    with visiting(chromium) as opened:
        yield opened


@pytest.fixture
def serve(commands: Commands, tmp_path: Path) -> Iterator[Serve]:
    """Starts a command and reads as many addresses as it is to tell."""
    with contextlib.ExitStack() as stack:
        yield serving(stack, commands, tmp_path)


@pytest.fixture(scope="package")
def address(commands: Commands, good: Path) -> Iterator[str]:
    """Where the good replay is shown."""
    with contextlib.ExitStack() as stack:
        yield serving(stack, commands, good.parent)("watch", good).addresses[0]


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
    return path
