"""The pages in a real Chromium: what is drawn is there, keys and pointers work, hostile text stays text."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from conftest import HOSTILE, play_match
from sandboxes import need

from referee.export.html import framed, single_page
from referee.replay.reader import verify

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

playwright = pytest.importorskip("playwright.sync_api")

AXE = Path(sys.prefix) / "lib" / "viewer" / "node_modules" / "axe-core" / "axe.min.js"
#: Run before a page's own scripts: remembers every socket that it opens.
COUNTS_SOCKETS = """
globalThis.sockets = [];
globalThis.WebSocket = class extends WebSocket {
    constructor(...given) {
        super(...given);
        sockets.push(this);
    }
};
"""
DESKTOP, PHONE = {"width": 1440, "height": 900}, {"width": 390, "height": 844}

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Dialog, Page

    Open = Callable[..., Page]
    Serve = Callable[..., "Served"]


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
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


class Served:
    """A command that serves pages, and the addresses that it told."""

    def __init__(self, process: subprocess.Popen[str], addresses: list[str]) -> None:
        self.process = process
        self.addresses = addresses

    def finish(self) -> str:
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err
        return out


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts a command and reads as many addresses as it is to tell."""
    with contextlib.ExitStack() as stack:
        yield serving(stack, tmp_path)


@pytest.fixture(scope="module")
def address(good: Path) -> Iterator[str]:
    """Where the good replay is shown."""
    with contextlib.ExitStack() as stack:
        yield serving(stack, good.parent)("watch", good).addresses[0]


def serving(stack: contextlib.ExitStack, folder: Path) -> Serve:
    """What starts commands; they end with the stack."""

    def started(*arguments: str | Path, count: int = 1) -> Served:
        command = [sys.executable, "-m", "referee", *map(str, arguments), "--port", "0", "--no-browser"]
        environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "200"}
        process = subprocess.Popen(
            command, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )
        stack.callback(ended, process)
        stream = process.stdout if arguments[0] == "watch" else process.stderr
        assert stream is not None
        addresses: list[str] = []
        while len(addresses) < count:
            line = stream.readline()
            assert line, process.communicate()
            addresses += re.findall(r"http://\S+", line)
        return Served(process, addresses)

    return started


def ended(process: subprocess.Popen[str]) -> None:
    process.terminate()
    with contextlib.suppress(ValueError):
        process.communicate(timeout=60)


@pytest.fixture(scope="module")
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


def step(page: Page) -> int:
    text = page.locator("#step").inner_text()
    return int(re.sub(r"\D", "", text))


def wait_for_step(page: Page, wanted: int) -> None:
    page.wait_for_function("wanted => document.getElementById('step').textContent.replace(/\\D/g, '') === String(wanted)", arg=wanted)


def wait_for_steps(page: Page, least: int) -> None:
    page.wait_for_function("least => Number(document.getElementById('scrubber').max) >= least", arg=least)


def wait_until_read(page: Page, steps: int) -> None:
    page.wait_for_function("steps => document.getElementById('scrubber').max === String(steps)", arg=steps)


def pixels(page: Page, canvas: str = "#board") -> str:
    """What a canvas shows, as something to compare. Read after the frame in which it is drawn."""
    return str(
        page.evaluate(
            "selector => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(document.querySelector(selector).toDataURL()))))",
            canvas,
        )
    )


def axe(page: Page) -> list[str]:
    need(AXE.exists(), "axe-core is missing (make setup installs it)")
    page.evaluate(AXE.read_text())
    found = page.evaluate("() => axe.run()")
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found["violations"] if one["impact"] in ("serious", "critical")]


def test_the_whole_replay_is_there_and_verified(address: str, visit: Open) -> None:
    page = visit(address)
    wait_until_read(page, 297)
    page.get_by_text("✓ verified").wait_for()
    assert page.locator("#title").inner_text() == "evasion · classic"
    assert "Talks (hunter) against Runner (prey)" in page.locator("#players").inner_text()
    assert step(page) == 0
    page.locator(".strip-row:visible").nth(6).wait_for()
    assert page.locator(".strip-row:visible").count() == 7
    assert "The hunter catches the prey after 297 steps" in page.locator("#panel-match").inner_text()


@pytest.mark.slow
def test_what_is_certain_is_shown_and_drawn(address: str, visit: Open) -> None:
    """The verdict strip, and over the board the safe cells, the prey's reach and the hunter's way."""
    page = visit(f"{address}#t=40")
    page.get_by_text("✓ verified").wait_for()
    row = page.locator(".strip-row", has_text="verdict")
    row.wait_for()
    page.wait_for_function(
        "() => [...document.querySelectorAll('.strip-row')].some(row => /verdict.*(evade|capture)/s.test(row.textContent))"
    )
    page.get_by_role("tab", name="Step").click()
    page.locator("#panels", has_text="Verdict").wait_for()
    seen = {pixels(page)}
    for label in ("safe cells", "prey's reach", "hunter's way if no wall changes"):
        page.get_by_label(label).check()
        page.wait_for_function("() => document.getElementById('panels').textContent.includes('Safe cells')")
        seen.add(pixels(page))
    assert len(seen) == 4, "each is drawn"
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 41)
    page.wait_for_function("() => document.getElementById('panels').textContent.includes('Safe cells')")
    assert pixels(page) not in seen
    page.keyboard.press("End")
    page.locator("#panels", has_text="caught").wait_for()


def test_keys(address: str, visit: Open) -> None:
    page = visit(address)
    wait_until_read(page, 297)
    for key, wanted in (
        ("ArrowRight", 1), ("ArrowRight", 2), ("ArrowLeft", 1), ("Shift+ArrowRight", 11), ("Shift+ArrowLeft", 1), ("ArrowLeft", 0),
        ("ArrowLeft", 0), ("End", 297), ("ArrowRight", 297), ("Home", 0), ("n", 1), ("n", 16), ("p", 1),
    ):  # fmt: skip
        page.keyboard.press(key)
        wait_for_step(page, wanted)
    page.keyboard.press("g")
    page.keyboard.type("123")
    page.keyboard.press("Enter")
    wait_for_step(page, 123)
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 124)
    page.keyboard.press("ArrowLeft")
    wait_for_step(page, 123)
    page.locator("#scrubber").focus()
    page.keyboard.press("ArrowRight")
    wait_for_step(page, 124)
    page.keyboard.press("?")
    assert page.locator("#help").is_visible()
    page.keyboard.press("Escape")
    assert not page.locator("#help").is_visible()


@pytest.mark.slow
def test_it_plays_to_the_end_stops_there_and_loops(address: str, visit: Open) -> None:
    page = visit(address + "#t=280")
    wait_for_step(page, 280)
    for _ in range(6):
        page.keyboard.press("+")
    assert page.locator("#speed").input_value() == "64"
    page.keyboard.press("Space")
    wait_for_step(page, 297)
    page.wait_for_function("() => document.getElementById('play').getAttribute('aria-label') === 'Play'")
    assert "catches" in page.locator("#outcome").inner_text()
    page.keyboard.press("l")
    page.keyboard.press("Home")
    page.keyboard.press("Space")
    wait_for_step(page, 297)
    page.wait_for_function("() => Number(document.getElementById('step').textContent.replace(/\\D/g, '')) < 200")
    page.keyboard.press("Space")
    assert page.locator("#play").get_attribute("aria-label") == "Play"


def test_an_idle_page_draws_nothing(address: str, visit: Open) -> None:
    page = visit(address + "#t=100")
    wait_for_step(page, 100)
    page.get_by_text("✓ verified").wait_for()
    pixels(page)
    count = page.evaluate(
        "() => new Promise(done => { let count = 0; const real = window.requestAnimationFrame; window.requestAnimationFrame = (f) => { count += 1; return real(f); };"
        " setTimeout(() => { window.requestAnimationFrame = real; done(count); }, 700); })"
    )
    assert count == 0


def test_scrubbing_shows_another_board_and_the_link_holds_the_step(address: str, visit: Open) -> None:
    page = visit(address)
    wait_until_read(page, 297)
    first = pixels(page)
    box = page.locator("#strips canvas").first.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + 10)
    page.wait_for_function("() => Math.abs(Number(document.getElementById('step').textContent.replace(/\\D/g, '')) - 148) < 3")
    assert pixels(page) != first
    page.wait_for_function("() => location.hash === '#t=' + document.getElementById('step').textContent.replace(/\\D/g, '')")
    page.evaluate("location.hash = '#t=33'")
    wait_for_step(page, 33)


def test_panels(address: str, visit: Open) -> None:
    page = visit(address + "#t=15")
    wait_for_step(page, 15)
    page.click("#tab-turn")
    shown = page.locator("#panel-turn")
    shown.get_by_text('"type":"turn","turn":15').first.wait_for()
    assert '{"move":{"build":{"kind":"vertical"}},"say":"wall at 15"' in shown.inner_text()
    assert "the next wall is legal in 5 more steps" in shown.inner_text()
    page.click("#tab-events")
    rows = page.locator("#panel-events tbody tr")
    assert "horizontal wall 0 built" in rows.first.inner_text()
    page.get_by_role("button", name="Go to step 15", exact=True).click()
    wait_for_step(page, 16)
    assert "refused" in page.locator("#panel-events tr.now").inner_text()
    before = rows.count()
    page.get_by_label("wall refused").uncheck()
    assert rows.count() < before
    page.click("#tab-logs")
    page.get_by_text("up to step 16 it had written").wait_for()
    page.get_by_label("Search the log").fill("about 200")
    page.get_by_text("1 of 1", exact=True).wait_for()
    assert page.locator(".log .found").inner_text() == "thinking about 200"


def test_the_pointer_names_cells_and_walls_and_zooms(address: str, visit: Open) -> None:
    page = visit(address + "#t=60")
    wait_for_step(page, 60)
    box = page.locator("#board").bounding_box()
    assert box is not None
    scale = (min(box["width"], box["height"]) - 20) / 300
    middle = (box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    # The first wall is the row y = 0, at the bottom of the board.
    page.mouse.move(middle[0], middle[1] + 149.6 * scale)
    page.wait_for_function("() => document.getElementById('hover').textContent.includes('wall 0')")
    assert "horizontal · (0, 0) to (299, 0) · 300 cells" in page.locator("#hover").inner_text()
    page.mouse.move(*middle)
    page.wait_for_function("() => document.getElementById('hover').textContent.startsWith('(1')")
    before = pixels(page)
    page.mouse.wheel(0, -400)
    assert pixels(page) != before
    page.keyboard.press("0")
    page.wait_for_function("() => document.getElementById('hover').textContent.length > 0")
    assert pixels(page) == before


def test_overlays_have_switches(address: str, visit: Open) -> None:
    page = visit(address + "#t=16")
    wait_for_step(page, 16)
    on = pixels(page)
    page.get_by_label("hunter says and draws").uncheck()
    assert pixels(page) != on


def test_a_screen_reader_is_told_the_step(address: str, visit: Open) -> None:
    page = visit(address + "#t=15")
    wait_for_step(page, 15)
    page.keyboard.press("ArrowRight")
    page.wait_for_function(
        "() => document.getElementById('summary').textContent.startsWith('Step 16. Hunter at 16, 16 going north-east; prey at')"
    )
    assert "wall refused" in page.locator("#summary").inner_text() or "refused" in str(page.locator("#summary").text_content())


@pytest.mark.parametrize(
    ("scheme", "size"), [("light", DESKTOP), pytest.param("dark", PHONE, marks=pytest.mark.slow)], ids=["light", "dark, on a phone"]
)
def test_anybody_can_use_it(address: str, good: Path, visit: Open, scheme: str, size: dict[str, int]) -> None:
    page = visit(address + "#t=60", size, color_scheme=scheme, reduced_motion="reduce")
    wait_for_step(page, 60)
    page.get_by_text("✓ verified").wait_for()
    for tab in ("match", "events", "turn", "logs"):
        page.click(f"#tab-{tab}")
        assert axe(page) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    red, green, blue = json.loads(
        page.evaluate("JSON.stringify(getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number))")
    )
    assert (red + green + blue < 200) == (scheme == "dark")


def dropped(page: Page, name: str, data: bytes) -> None:
    page.evaluate(
        """([name, data]) => {
            const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
            const transfer = new DataTransfer();
            transfer.items.add(new File([bytes], name));
            for (const kind of ["dragenter", "dragover", "drop"])
                document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
        }""",
        [name, base64.b64encode(data).decode()],
    )


def test_another_replay_is_dropped_on_the_page(address: str, good: Path, visit: Open, tmp_path: Path) -> None:
    play_match("straight", "still", replay=tmp_path / "other.gz", rules="diagonal", max_steps=77)
    page = visit(address + "#t=60")
    wait_for_step(page, 60)
    for name, data in (("other.gz", (tmp_path / "other.gz").read_bytes()), ("page.html", single_page(tmp_path / "other.gz").encode())):
        dropped(page, name, data)
        wait_until_read(page, 77)
        page.get_by_text("✓ verified").wait_for()
        assert page.locator("#title").inner_text() == "evasion · diagonal"
        page.click("#tab-turn")
        page.locator("#panel-turn").get_by_text('"type":"turn","turn":0').first.wait_for()


def edited(good: Path, old: bytes, new: bytes) -> bytes:
    text = gzip.decompress(good.read_bytes())
    assert old in text
    return gzip.compress(text.replace(old, new, 1))


@pytest.mark.parametrize(
    ("make", "steps", "message"),
    [
        (lambda good: good.read_bytes()[: good.stat().st_size // 2], None, "cut short"),
        (lambda good: edited(good, b'"hunter":[20,20,1,1]', b'"hunter":[21,20,1,1]'), 297, "does not verify"),
        (lambda good: edited(good, b'"format":1', b'"format":2'), None, "has format 2"),
        (lambda good: edited(good, b'"version":1', b'"version":9'), 297, "version 9 of the rules"),
        (lambda good: edited(good, b'"game":"evasion"', b'"game":"chess"'), None, "can't draw the game chess"),
        (lambda good: edited(good, b'"width":300', b'"width":3e9'), None, "no sensible number"),
        (lambda good: edited(good, b'{"turn":100,', b'{"turn":1e400,'), None, "turn"),
        (lambda good: b"hello", None, "not gzip"),
        (lambda good: b"", None, "no replay"),
        (lambda good: gzip.compress(b"[" * 100_000), None, "no replay"),
        (lambda good: gzip.compress(b"x" * 9_000_000), None, "no referee wrote it"),
    ],
    ids=["cut", "edited", "later format", "other rules", "other game", "huge board", "odd turn", "text", "empty", "not a line", "long line"],
)  # fmt: skip
def test_what_is_wrong_with_a_file_is_said(
    address: str, good: Path, visit: Open, make: Callable[[Path], bytes], steps: int | None, message: str
) -> None:
    page = visit(address)
    wait_until_read(page, 297)
    dropped(page, "bad.gz", make(good))
    page.wait_for_function("message => document.getElementById('message').textContent.includes(message)", arg=message)
    if steps is not None:
        wait_until_read(page, steps)
    page.get_by_text("does not verify", exact=False).first.wait_for()


def test_nothing_of_the_match_before_stays_beside_a_broken_file(address: str, visit: Open) -> None:
    page = visit(address + "#t=200")
    wait_for_step(page, 200)
    dropped(page, "bad.gz", b"hello")
    page.get_by_text("not gzip").wait_for()
    for word in ("Talks", "Step 200", "catches the prey"):
        assert word not in page.locator("body").inner_text()
    assert page.title() == "Referee"


def test_a_cut_replay_plays_to_the_cut(good: Path, serve: Serve, visit: Open, tmp_path: Path) -> None:
    cut = tmp_path / "cut.gz"
    cut.write_bytes(good.read_bytes()[: good.stat().st_size * 2 // 3])
    good_steps = verify(cut).turns
    assert 50 < good_steps < 290
    page = visit(serve("watch", cut).addresses[0])
    page.get_by_text("cut short").first.wait_for()
    wait_until_read(page, good_steps)
    page.keyboard.press("End")
    wait_for_step(page, good_steps)


@pytest.mark.slow
def test_an_exported_page_opens_from_its_file_and_asks_nobody(good: Path, visit: Open, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(single_page(good))
    page = visit(f"file://{file}#t=16")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    wait_for_step(page, 16)
    page.get_by_text("✓ verified").wait_for()
    page.locator(".strip-row:visible").nth(6).wait_for()
    assert page.locator(".strip-row:visible").count() == 7
    page.click("#tab-turn")
    page.keyboard.press("ArrowLeft")
    page.get_by_text("The question is made again by the engine").first.wait_for()
    assert "wall at 15" in page.locator("#panel-turn").inner_text()
    page.click("#tab-logs")
    page.get_by_text("thinking about 15", exact=True).wait_for()
    assert axe(page) == []
    assert asked == []


def test_a_notebook_shows_a_replay(good: Path, visit: Open, tmp_path: Path) -> None:
    file = tmp_path / "notebook.html"
    file.write_text(f"<!doctype html><html lang=en><title>notebook</title><body>{framed(good)}</body></html>")
    page = visit(f"file://{file}")
    page.frame_locator("iframe").get_by_text("✓ verified").wait_for()
    assert "Talks" in page.frame_locator("iframe").locator("#players").inner_text()


EVIL = '<img src=x onerror="alert(1)"><script>alert(2)</script>'


@pytest.mark.slow
def test_hostile_text_stays_text(serve: Serve, visit: Open, tmp_path: Path) -> None:
    bot = tmp_path / "evil.py"
    bot.write_text(
        f"import sys\nfrom sdk import HunterBot\nEVIL = {EVIL!r}\n"
        "class Evil(HunterBot):\n    name = EVIL[:40]\n    def hunt(self, state):\n        print(EVIL, file=sys.stderr, flush=True)\n"
        "        self.say(EVIL)\n        self.draw.text((50, 50), EVIL, EVIL)\n        return self.build('vertical')\nEvil.main()\n"
    )
    path = tmp_path / '<img src=x onerror=alert(3)>".gz'
    play_match(str(bot), "still", replay=path, max_steps=60, cooldown=9)
    (tmp_path / "hunter.log").rename(tmp_path / f"{path.name.removesuffix('.gz')}.hunter.stderr.log")
    single = tmp_path / "single.html"
    single.write_text(single_page(path))
    for address in (serve("watch", path).addresses[0], f"file://{single}"):
        page = visit(address + "#t=1")
        wait_for_step(page, 1)
        pixels(page)
        for tab in ("match", "events", "turn", "logs"):
            page.click(f"#tab-{tab}")
            page.keyboard.press("ArrowRight")
        page.get_by_text(EVIL).first.wait_for()
        assert "<img src=x" in page.locator("#players").inner_text()
        page.wait_for_function("() => document.getElementById('summary').textContent !== ''")
        assert page.locator("img").count() == 0
        assert page.locator("script").count() <= 4
        assert page.evaluate(
            "[...document.scripts].every((one) => !one.textContent.includes('alert(2)') || one.type === 'application/json')"
        )


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


def start_as(page: Page, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Start").click()


def test_a_person_plays_the_prey_against_a_program(serve: Serve, visit: Open, tmp_path: Path) -> None:
    served = serve("play", "straight", "human", "--pace", "wait", "--no-stay", "--out", "h.gz", "--max-steps", "20", count=2)
    page = visit(served.addresses[0])
    assert "You play the prey" in page.locator("#table").inner_text()
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
    page.wait_for_function("() => document.getElementById('meant').textContent.includes('vertical')")
    assert pixels(page) != empty
    page.keyboard.down("Shift")
    page.mouse.click(*at(101, 150))
    page.keyboard.up("Shift")
    wait_for_step(page, 1)
    # Too soon for another wall: the engine says so before it is tried.
    page.mouse.move(*at(150, 101))
    page.wait_for_function("() => document.getElementById('meant').textContent.includes('legal in 2 more steps')")
    page.keyboard.press("Enter")
    wait_for_step(page, 2)
    page.mouse.click(*at(100, 120))
    wait_for_step(page, 3)
    page.keyboard.press("h")
    wait_for_step(page, 4)
    page.get_by_role("button", name="the longest vertical wall").click()
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
    assert moves[4] == {"build": {"kind": "vertical"}}
    assert verify(tmp_path / "h.gz").problem is None


@pytest.mark.slow
def test_two_people_agree_on_pauses_and_play(serve: Serve, visit: Open, tmp_path: Path) -> None:
    served = serve("play", "human", "human", "--pace", "wait", "--no-stay", "--max-steps", "8", count=3)
    hunter, prey = visit(served.addresses[0]), visit(served.addresses[1])
    spectator = visit(served.addresses[2])
    start_as(hunter, "Ada")
    hunter.get_by_text("Waiting for the prey").wait_for()
    start_as(prey, "Bob")
    hunter.get_by_text("Your move, hunter").wait_for()
    hunter.keyboard.press("Enter")
    prey.get_by_text("Your move, prey").wait_for()
    # One alone can't pause.
    hunter.keyboard.press("Space")
    hunter.get_by_text("waiting for the other player to agree").wait_for()
    prey.get_by_text("The hunter wants a pause").wait_for()
    prey.get_by_role("button", name="Agree").click()
    hunter.get_by_text("Paused", exact=True).wait_for()
    prey.keyboard.press("w")
    prey.keyboard.press("Space")
    hunter.get_by_role("button", name="Agree").click()
    wait_for_step(spectator, 1)
    hunter.keyboard.press("v")
    wait_for_step(spectator, 2)
    # Another pace, refused.
    prey.get_by_label("Pace").select_option("30")
    hunter.get_by_text("The prey wants 30 steps a second").wait_for()
    hunter.get_by_role("button", name="No").click()
    prey.wait_for_function("() => document.querySelector('[aria-label=Pace]').value === '0'")
    prey.get_by_label("Pace").select_option("30")
    hunter.get_by_role("button", name="Agree").click()
    wait_for_step(spectator, 8)
    for page in (hunter, prey, spectator):
        page.get_by_text("✓ verified").wait_for()
    assert "Ada" in spectator.locator("#players").inner_text()
    served.finish()


@pytest.mark.slow
def test_a_person_with_a_clock_sees_it_and_can_lose_by_it(serve: Serve, visit: Open) -> None:
    served = serve("play", "straight", "human", "--human-clock", "--move-time", "6", "--no-stay", count=2)
    page = visit(served.addresses[0])
    assert "The clock runs for you" in page.locator("#table").inner_text()
    start_as(page, "")
    page.wait_for_function("() => /^[0-6][.][0-9] s left$/.test(document.getElementById('clock')?.textContent ?? '')")
    assert page.get_by_label("Pace").count() == 0
    page.keyboard.press("w")
    page.get_by_text("runs out of time after 3 steps").first.wait_for()
    assert "gave no answer within the move limit of 6 s" in served.finish()


def test_giving_up(serve: Serve, visit: Open) -> None:
    served = serve("play", "human", "still", "--no-stay", count=2)
    page = visit(served.addresses[0])
    start_as(page, "")
    page.get_by_text("Your move, hunter").or_(page.get_by_text("You are the hunter")).first.wait_for()
    page.evaluate("window.confirm = () => true")
    page.get_by_role("button", name="Give up").click()
    page.get_by_text("gave up").first.wait_for()
    assert "gave up" in served.finish()


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
        window.kept = ['Give up', 'Go to step', 'Pace', 'Pause'].map((name) => parts.find((part) => (part.ariaLabel || part.textContent).startsWith(name) && part.id !== 'play'));
        window.kept.push(document.querySelector('label:has(input) input[type=checkbox]'));
    }""")
    kept = page.evaluate("() => window.kept.map((part) => part.ariaLabel || part.textContent || part.type)")
    assert [name.rstrip(" 0123456789") for name in kept] == ["Give up", "Go to step", "Pace", "Pause", "checkbox"]
    wait_for_steps(page, 150)
    assert page.evaluate("() => window.kept.every((part) => part.isConnected)")
    page.evaluate("window.confirm = () => true")
    page.get_by_role("button", name="Give up").click()
    page.get_by_text("gave up").first.wait_for()
    assert "gave up" in served.finish()


def test_the_empty_viewer_waits_for_a_file(visit: Open, good: Path, tmp_path: Path) -> None:
    from referee.web import page as pages

    file = tmp_path / "empty.html"
    text = pages.single({"mode": "empty", "name": "", "server": False}, b"")
    file.write_text(text)
    page = visit(f"file://{file}")
    assert page.get_by_text("Drop a replay here").is_visible()
    assert axe(page) == []
    dropped(page, good.name, good.read_bytes())
    wait_until_read(page, 297)
    page.get_by_text("not checked").wait_for()


def test_hostile_names_of_the_collection(serve: Serve, visit: Open, tmp_path: Path) -> None:
    """The programs of the collection that talk in escapes and markup, in the viewer."""
    path = tmp_path / "escapes.gz"
    play_match("straight", str(HOSTILE / "escapes_and_markup.py"), replay=path, max_steps=40)
    page = visit(serve("watch", path).addresses[0])
    page.locator("#title").get_by_text("evasion").wait_for()
    page.keyboard.press("End")
    for tab in ("match", "events", "turn", "logs"):
        page.click(f"#tab-{tab}")
    assert "\u202e" not in page.locator("body").inner_text()


@pytest.mark.slow
def test_the_2010_rules_are_drawn_with_y_downwards(serve: Serve, visit: Open, tmp_path: Path) -> None:
    bot = tmp_path / "fences.py"
    bot.write_text(
        "from sdk import HunterBot\nclass Fences(HunterBot):\n    def hunt(self, state):\n"
        "        return self.add(7, (300, 40), (100, 40)) if self.turn == 0 else self.remove(7)\nFences.main()\n"
    )
    path = tmp_path / "turns.gz"
    play_match(str(bot), "runner", replay=path, rules="gameserver", max_steps=120)
    page = visit(serve("watch", path).addresses[0] + "#t=20")
    wait_for_step(page, 20)
    page.get_by_text("✓ verified").wait_for()
    assert page.locator("#score").inner_text() == "of 120 · 10 rounds survived"
    box = page.locator("#board").bounding_box()
    assert box is not None
    cell = (min(box["width"], box["height"]) - 20) / 500
    page.mouse.move(box["x"] + box["width"] / 2 - 50 * cell, box["y"] + box["height"] / 2 - 209.6 * cell)
    page.wait_for_function("() => document.getElementById('hover').textContent.includes('wall 7')")
    assert "horizontal · (100, 40) to (300, 40) · 201 cells" in page.locator("#hover").inner_text()
    page.click("#tab-turn")
    assert "(10, 10) south-east" in page.locator("#panel-turn").inner_text()
    page.locator("#panel-turn").get_by_text("It is not asked in this step.").or_(
        page.get_by_text("Is not asked in this step.")
    ).first.wait_for()
    page.keyboard.press("Home")
    page.locator("#panel-turn").get_by_text('"heading":"SE"').first.wait_for()


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
    for page in (one, other):
        page.get_by_text("The c wants a pause").wait_for()
    one.get_by_role("button", name="Agree").click()
    other.get_by_text("The a and the c want a pause").wait_for()
    other.get_by_role("button", name="Agree").click()
    for page in pages:
        page.get_by_text("Paused", exact=True).wait_for()
    third.evaluate("window.confirm = () => true")
    third.get_by_role("button", name="Give up").click()
    third.locator("#table").wait_for(state="hidden")
    one.get_by_role("button", name="Go on").click()
    other.get_by_role("button", name="Agree").click()
    for page in (one, other):
        page.get_by_text("Your move").wait_for()
        assert page.locator("#scrubber").get_attribute("max") == "0"
        page.locator("#board").click()
        page.get_by_text("Next: 1 robots placed").wait_for()
        page.keyboard.press("Enter")
    for page in pages:
        page.get_by_text("✓ verified").wait_for()
    assert "The c (human) gave up" in served.finish()


@pytest.mark.slow
def test_a_person_paints(serve: Serve, visit: Open, tmp_path: Path) -> None:
    """Robots placed by clicks, moved by keys, sent somewhere, and given a ring that closes."""
    # The seed says where the other one stands: out of the way.
    arguments = ("--size", "8", "--pace", "wait", "--no-stay", "--out", "h.gz", "--cap", "14", "--seed", "1")
    served = serve("play", "--game", "rectangle", "human", "idle", *arguments, count=2)
    page = visit(served.addresses[0])
    assert "You play the a" in page.locator("#table").inner_text()
    assert axe(page) == []
    start_as(page, "Ada")
    page.get_by_text("Your move, a").wait_for()
    box = page.locator("#board").bounding_box()
    assert box is not None
    side = min(box["width"], box["height"])
    corner = (box["x"] + (box["width"] - side) / 2, box["y"] + (box["height"] - side) / 2)
    cell = (side - 20) / 8

    def at(row: float, column: float) -> tuple[float, float]:
        return corner[0] + 10 + (column + 0.5) * cell, corner[1] + 10 + (row + 0.5) * cell

    page.mouse.click(*at(1, 1))
    page.get_by_text("Next: 1 robots placed").wait_for()
    page.mouse.click(*at(6, 6))
    wait_for_step(page, 1)
    # The first robot draws a ring of 3 x 3, the second goes up a cell; after that only the second is asked about.
    page.keyboard.down("Shift")
    page.mouse.click(*at(1, 1))
    page.mouse.click(*at(3, 3))
    page.keyboard.up("Shift")
    page.keyboard.press("w")
    wait_for_step(page, 2)
    page.get_by_text("Next: orders E-").wait_for()
    for step in range(3, 10):
        # What is pressed before the question has come is meant for the one before.
        page.locator(f"#table[data-asked='{step - 1}']").wait_for()
        page.keyboard.press("Enter")
        wait_for_step(page, step)
    page.wait_for_function("() => document.body.innerText.includes('a 1 · b 0')")
    page.mouse.click(*at(7, 1))
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    wait_for_step(page, 10)
    for step in range(11, 16):
        page.locator(f"#table[data-asked='{step - 1}']").wait_for()
        page.keyboard.press("Enter")
        wait_for_step(page, step)
    page.get_by_text("✓ verified").wait_for()
    assert "a wins with 1 cell" in page.locator("#outcome").inner_text()
    served.finish()
    records = [json.loads(line) for line in gzip.decompress((tmp_path / "h.gz").read_bytes()).splitlines()]
    assert records[1]["moves"]["a"] == {"place": [[1, 1], [6, 6]]}
    said = [record.get("moves", {}).get("a", {}).get("orders", "--") for record in records[2:-1]]
    assert said[:8] == ["EN", "E-", "S-", "S-", "W-", "W-", "N-", "N-"]
    assert verify(tmp_path / "h.gz").problem is None


@pytest.mark.slow
def test_mistakes_in_the_maze_are_marked_and_found(serve: Serve, visit: Open, referee: Any) -> None:
    done = referee("play", "--game", "maze", "dasher", "expert", "--seed", "5", "--isolation", "none", "--out", "m.gz")
    assert done.returncode == 0, done.stderr
    page = visit(serve("watch", "m.gz", "--no-browser").addresses[0])
    page.get_by_text("✓ verified").wait_for()
    page.get_by_role("tab", name="Events").click()
    page.get_by_text("mistake of the thief").first.wait_for()
    strips = page.locator("#strips")
    assert "perfect play" in strips.inner_text()
    assert "in 0" not in strips.inner_text()
    page.get_by_role("button", name="Go to step 30").click()
    page.locator("#score", has_text="mistake").wait_for()


@pytest.mark.slow
def test_a_person_runs_through_the_maze(serve: Serve, visit: Open, tmp_path: Path) -> None:
    """Walls aren't gone through, and the game waits for every move."""
    settings = ("--set", "thief=[5,7]", "--set", "policeman=[16,1]", "--parity", "any")
    drawn = serve("play", "--game", "maze", "human", "easy", "--no-stay", "--seed", "3", count=2)
    other = visit(drawn.addresses[0])
    start_as(other, "")
    other.get_by_text("Your move, thief").wait_for()
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
    assert "You play the thief" in page.locator("#table").inner_text()
    start_as(page, "Ada")
    page.get_by_text("Your move, thief").wait_for()
    assert page.get_by_label("Pace").count() == 0
    # There is a wall below, whether it is asked for by a key or a button: that is told, and nothing is sent.
    page.keyboard.press("s")
    page.get_by_text("There is no way down: a wall. Choose again.").wait_for()
    page.get_by_role("button", name="left").hover()
    page.get_by_text("go L").wait_for()
    page.get_by_role("button", name="down").click()
    page.get_by_text("There is no way down: a wall. Choose again.").wait_for()
    assert not page.locator("#strips").get_by_text("perfect play").is_visible()
    plain = pixels(page)
    page.keyboard.press("h")
    assert pixels(page) != plain, "a hint, on request"
    page.locator("#strips", has_text="thief in 12").wait_for()
    page.keyboard.press("h")
    assert not page.locator("#strips").get_by_text("perfect play").is_visible()
    assert "escapes in" not in page.locator("#panels").inner_text()
    for count, key in enumerate(("d", "d", "d", "ArrowDown", "s", "s", "d", "d", "d", "d", "d"), 1):
        page.keyboard.press(key)
        wait_for_step(page, 2 * count)
        page.get_by_text("Your move, thief").wait_for()
    page.keyboard.press("d")
    page.get_by_text("✓ verified").wait_for()
    assert "The thief escapes after 12 moves" in page.locator("#outcome").inner_text()
    served.finish()
    assert verify(tmp_path / "h.gz").problem is None
