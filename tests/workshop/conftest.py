"""The built site of the workshop, and servers for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sandboxes import need
from served_pages import launched, visiting
from workshops import ARCHIVE, Plain, served

from referee.workshop.build import build

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from commands import Commands
    from playwright.sync_api import Browser
    from served_pages import Open


@pytest.fixture(scope="session")
def archive() -> Path:
    """Pyodide's package."""
    need(ARCHIVE.exists(), f"{ARCHIVE.name} is missing (make setup fetches it)")
    return ARCHIVE


@pytest.fixture(scope="package")
def site(archive: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A built workshop."""
    folder = tmp_path_factory.mktemp("workshop") / "site"
    build(folder, archive)
    return folder


@pytest.fixture
def plain(site: Path) -> Iterator[str]:
    """The workshop on a web server that sends no headers of its own."""
    Plain.requests.clear()
    with served(site, Plain) as address:
        yield address


@pytest.fixture
def interruptible(site: Path, commands: Commands) -> Iterator[str]:
    """The workshop as ``referee workshop serve`` serves it."""
    server = commands.start("workshop", "serve", str(site), "--port", "0", cwd=site.parent)
    yield server.stdout.readline().strip()
    server.terminate()
    server.communicate(60)


@pytest.fixture(scope="package")
def chromium() -> Iterator[Browser]:
    """One browser a worker."""
    with launched() as browser:
        yield browser


@pytest.fixture
def visit(chromium: Browser) -> Iterator[Open]:
    """Opens pages; what any of them complains of on its console fails the test."""
    with visiting(chromium) as opened:
        yield opened
