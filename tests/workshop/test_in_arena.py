"""The workshop as a site of its own and as a page of an arena: its files and nothing else, and a bot that is handed in from it."""

from __future__ import annotations

import signal
import urllib.request
from typing import TYPE_CHECKING

import pytest
from arenas import write_arena
from playwright.sync_api import expect
from seasons import TOKENS, season
from workshops import ATTEMPTS, PATIENCE_MS, check_harmless, ready, write

from referee.arena import config
from referee.errors import UsageError
from referee.workshop import build

if TYPE_CHECKING:
    from pathlib import Path

    from commands import Commands
    from playwright.sync_api import Browser

MORE = 'workshop = "../site"'
BOTH = """
from sdk import HunterBot, PreyBot


class Both(HunterBot, PreyBot):
    def hunt(self, state):
        return None

    def flee(self, state):
        return (1, 1)


Both.main()
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A folder that passes for a workshop."""
    folder = tmp_path / "site"
    (folder / build.PYODIDE).mkdir(parents=True)
    (folder / build.MARK).write_bytes(build.data_of_page())
    (folder / "index.html").write_text('<!doctype html><html lang="en">')
    (folder / build.PYODIDE / "pyodide.mjs.gz").write_bytes(b"\x1f\x8b")
    (folder / "secret.txt").write_text("secret")
    (folder / "worker.js").symlink_to(folder / "secret.txt")
    return folder


@pytest.mark.usefixtures("small")
def test_an_arena_serves_the_files_of_the_workshop_and_nothing_else(tmp_path: Path) -> None:
    with season(tmp_path, MORE) as running:
        page = running.ask("/workshop/")
        assert (page.status, page.body) == (200, b'<!doctype html><html data-arena lang="en">')
        assert page.headers["content-security-policy"] == "frame-ancestors 'self'"
        assert page.headers["cross-origin-opener-policy"] == "same-origin"
        assert running.ask("/workshop").headers["location"] == "/workshop/"
        lasting = running.ask(f"/workshop/{build.PYODIDE}/pyodide.mjs.gz")
        assert (lasting.body, lasting.headers["content-type"]) == (b"\x1f\x8b", "application/gzip")
        assert "content-encoding" not in lasting.headers
        assert "immutable" in lasting.headers["cache-control"]
        for name in (
            "secret.txt",
            "worker.js",
            "../arena/arena.toml",
            "..%2farena%2farena.toml",
            "/etc/passwd",
            build.PYODIDE,
            "workshop.js",
        ):
            assert running.ask(f"/workshop/{name}").status == 404, name
        assert '<a href="/workshop/">Workshop</a>' in running.ask("/").body.decode()
        # Nothing but reading: other requests go to the arena, which refuses them.
        assert running.ask("/workshop/", TOKENS["Ada"], b"", {}, "POST").status in (404, 405)


def test_an_arena_without_a_workshop_has_no_such_page(tmp_path: Path) -> None:
    with season(tmp_path) as running:
        assert running.ask("/workshop/").status == 404
        assert "Workshop" not in running.ask("/").body.decode()


def test_a_folder_without_a_workshop_is_refused(tmp_path: Path) -> None:
    write_arena(tmp_path / "arena", 1, MORE)
    with pytest.raises(UsageError, match="referee workshop build"):
        config.load(tmp_path / "arena")


def test_it_is_served_until_ctrl_c(commands: Commands, small: Path) -> None:
    server = commands.start("workshop", "serve", str(small), "--port", "0", cwd=small.parent)
    address = server.stdout.readline().strip()
    with urllib.request.urlopen(address) as answer:
        assert (answer.headers["Cross-Origin-Opener-Policy"], answer.read()) == ("same-origin", b'<!doctype html><html lang="en">')
    server.send_signal(signal.SIGINT)
    assert server.communicate(60) == ("", "Ctrl-C ends the server.\n")
    assert server.returncode == 0


@pytest.mark.parametrize(
    ("name", "words"), [("siet", "siet does not exist. Build a workshop"), (".", ". is not a workshop. Build a workshop")]
)
def test_only_a_built_workshop_is_served(name: str, words: str, commands: Commands, tmp_path: Path) -> None:
    done = commands.run("workshop", "serve", name, cwd=tmp_path)
    assert (done.returncode, done.stdout, list(tmp_path.iterdir())) == (2, "", [])
    assert words in done.stderr


@pytest.mark.slow
def test_a_bot_is_handed_in_from_the_workshop_checked_and_rated(commands: Commands, chromium: Browser, site: Path, tmp_path: Path) -> None:
    with season(tmp_path, f'workshop = "{site}"'):
        pass
    server = commands.start("arena", "serve", "arena", "--isolation", "none", "--port", "0", "--slots", "1", cwd=tmp_path)
    try:
        top = server.stdout.readline().strip()
        page = chromium.new_page()
        page.set_default_timeout(PATIENCE_MS)
        page.goto(f"{top}workshop/")
        ready(page)
        # Bots of strangers reach nothing here, either.
        frame = next(frame for frame in page.frames if frame.url.endswith("frame.html"))
        assert frame.evaluate(ATTEMPTS, f"{top}api/arena?") == []
        check_harmless(page, top, "api/")
        write(page, BOTH)
        page.locator("#hand-in summary").click()
        page.locator("#send").click()
        expect(page.locator("#sent")).to_contain_text("Sign in first")
        page.goto(f"{top}sign-in#{TOKENS['Ada']}")
        page.get_by_role("button", name="Sign in as Ada").click()
        page.get_by_role("link", name="Workshop").first.click()
        # The text is still there.
        expect(page.locator("#editor")).to_contain_text("class Both")
        page.locator("#hand-in summary").click()
        page.locator("#note").fill("from the browser")
        page.locator("#send").click()
        page.get_by_role("link", name="See how its check goes.").click()
        expect(page.get_by_role("heading", name="Ada, version 1: accepted")).to_be_visible()
        page.goto(top)
        expect(page.locator("#standings-table")).to_contain_text("Ada")
        page.close()
    finally:
        server.terminate()
        server.communicate(60)
