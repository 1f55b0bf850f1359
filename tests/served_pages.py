"""Pages in a real Chromium: commands that serve them, and what is asked of them."""

from __future__ import annotations

import base64
import contextlib
import http.client
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import pytest
from sandboxes import need
from serving import PATIENCE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from commands import Commands, Running
    from playwright.sync_api import Browser, Dialog, Page, Route

    Open = Callable[..., Page]
    Serve = Callable[..., "Served"]

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


@contextlib.contextmanager
def launched() -> Iterator[Browser]:
    """A Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    need(path is not None, "chromium is missing")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


class _Profile:
    """A browser's profile for the first page of each test: such pages share the process that draws them, whose start takes longer than most tests.

    One page keeps this process alive. ``forget`` removes what the others have stored, so that each test finds an empty profile.
    """

    def __init__(self, browser: Browser) -> None:
        self.context = browser.new_context()
        self.context.set_default_timeout(60_000)
        self._keeper = self.context.new_page()
        # A page of the same site as those of the tests; nobody serves it.
        self._keeper.route(_KEEPER, lambda route: route.fulfill(body=""))
        self._keeper.goto(_KEEPER)
        self._tools = self.context.new_cdp_session(self._keeper)
        self._origins: set[str] = set()

    def new_page(self, size: dict[str, int]) -> Page:
        """A page that shows what was stored by nobody."""
        page = self.context.new_page()
        page.set_viewport_size({"width": size["width"], "height": size["height"]})
        page.on("framenavigated", lambda frame: self._origins.add("/".join(frame.url.split("/")[:3])))
        return page

    def forget(self) -> None:
        """Close all pages but the keeper, and remove what they have stored."""
        for page in self.context.pages:
            if page is not self._keeper:
                page.close()
        self.context.clear_cookies()
        self.context.clear_permissions()
        for origin in self._origins:
            if origin.startswith(("http:", "file:")):
                self._tools.send("Storage.clearDataForOrigin", {"origin": origin, "storageTypes": "all"})
        self._tools.send("Network.clearBrowserCache")
        self._origins.clear()


_KEEPER = "http://127.0.0.1:1/"
_profiles: WeakKeyDictionary[Browser, _Profile] = WeakKeyDictionary()


@contextlib.contextmanager
def visiting(browser: Browser) -> Iterator[Open]:
    """Opens pages, each with a profile of its own; what any of them complains of on its console fails the test."""
    complaints: list[str] = []
    contexts = []
    has_shared = False

    def refuse(dialog: Dialog) -> None:
        complaints.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def opened(address: str, size: dict[str, int] = DESKTOP, script: str = "", **options: Any) -> Page:
        nonlocal has_shared
        if not options and not has_shared:
            has_shared = True
            if browser not in _profiles:
                _profiles[browser] = _Profile(browser)
            page = _profiles[browser].new_page(size)
        else:
            context = browser.new_context(viewport={"width": size["width"], "height": size["height"]}, **options)
            contexts.append(context)
            context.set_default_timeout(60_000)
            page = context.new_page()
        page.on(
            "console",
            lambda message: (
                complaints.append(f"{message.text} {message.location.get('url')}") if message.type in ("error", "warning") else None
            ),
        )
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("dialog", refuse)
        if script:
            page.add_init_script(script)
        page.goto(address)
        return page

    yield opened
    if has_shared:
        _profiles[browser].forget()
    for context in contexts:
        context.close()
    assert complaints == [], complaints


class Served:
    """A command that serves pages, and the addresses that it told."""

    def __init__(self, process: Running, addresses: list[str]) -> None:
        self.process = process
        self.addresses = addresses

    def finish(self) -> str:
        out, err = self.process.communicate(60)
        assert self.process.returncode == 0, err
        return out


def serving(stack: contextlib.ExitStack, commands: Commands, folder: Path) -> Serve:
    """What starts commands; they end with the stack."""

    def started(*arguments: str | Path, count: int = 1) -> Served:
        process = commands.start(*arguments, "--port", "0", "--no-browser", cwd=folder)
        stack.callback(ended, process)
        stream = process.stdout if arguments[0] == "watch" else process.stderr
        addresses: list[str] = []
        while len(addresses) < count:
            line = stream.readline()
            assert line, process.communicate(60)
            addresses += re.findall(r"http://\S+", line)
        return Served(process, addresses)

    return started


def ended(process: Running) -> None:
    process.terminate()
    process.communicate(60)


def step(page: Page) -> int:
    text = page.locator("#step").inner_text()
    return int(re.sub(r"\D", "", text))


def wait_for_step(page: Page, wanted: int) -> None:
    page.wait_for_function("wanted => document.getElementById('step').textContent.replace(/\\D/g, '') === String(wanted)", arg=wanted)


#: While a page reads, its message takes room above the board, and what stands around the board comes a frame after the first picture.
IS_READ = """
(steps) => document.getElementById("scrubber").max === String(steps) && document.querySelector("[role=tab]") !== null
    && !document.getElementById("message").textContent.startsWith("Reading")
"""


#: True if the first small boards of a page are drawn, each in several colours.
HAS_BOARDS = """
(count) => {
    const boards = [...document.querySelectorAll("canvas[data-replay]")].slice(0, count);
    return boards.length === count && boards.every((board) => {
        const copy = Object.assign(document.createElement("canvas"), { width: board.width, height: board.height });
        const context = copy.getContext("2d", { willReadFrequently: true });
        context.drawImage(board, 0, 0);
        return new Set(new Uint32Array(context.getImageData(0, 0, copy.width, copy.height).data.buffer)).size > 3;
    });
}
"""


def wait_until_read(page: Page, steps: int) -> None:
    """Wait until a page has read so many steps, and all its parts are there."""
    page.wait_for_function(IS_READ, arg=steps)


def held_back(page: Page, address: str) -> list[Route]:
    """Hold back what a page asks from an address; return the requests, each of which the test lets go."""
    found: list[Route] = []

    def hold(route: Route) -> None:
        found.append(route)

    page.route(address, hold)
    return found


def wait_for_frames(page: Page) -> None:
    """Wait until everything that the page has asked for so far is drawn."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))")


def resize(page: Page, width: int, height: int) -> None:
    """Give a page another size; return when the page has it, and has drawn itself at that size."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function("([width, height]) => innerWidth === width && innerHeight === height", arg=[width, height])
    wait_for_frames(page)


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
    return [f"{one['id']}: {one['nodes'][0]['html']}" for one in found["violations"]]


def dropped(page: Page, name: str, data: bytes) -> None:
    dropped_at_once(page, {name: data})


def dropped_at_once(page: Page, files: dict[str, bytes]) -> None:
    """Drop files on a page one after another, with no time between."""
    page.evaluate(
        """(files) => {
            for (const [name, data] of Object.entries(files)) {
                const bytes = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
                const transfer = new DataTransfer();
                transfer.items.add(new File([bytes], name));
                for (const kind of ["dragenter", "dragover", "drop"])
                    document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: transfer, bubbles: true, cancelable: true }));
            }
        }""",
        {name: base64.b64encode(data).decode() for name, data in files.items()},
    )


def start_as(page: Page, name: str) -> None:
    page.get_by_label("Your name").fill(name)
    page.get_by_role("button", name="Ready").click()


#: Phones, short and long ones, upright and on their side.
PHONES = ((320, 568), (375, 667), (360, 740), (390, 844), (430, 932), (568, 320), (667, 375), (844, 390))

SCROLLS_NOWHERE = """
([width, height]) => {
    const { scrollWidth, scrollHeight } = document.documentElement;
    return innerWidth === width && innerHeight === height && scrollWidth === width && scrollHeight === height;
}
"""


def assert_full_board(page: Page) -> None:
    """Assert that the board of who plays has the whole width or height of a phone, and that all that is to be pressed is in sight."""
    before = page.viewport_size
    assert before is not None
    for width, height in PHONES:
        page.set_viewport_size({"width": width, "height": height})
        # A page takes a moment for its new size. Then nothing scrolls.
        page.wait_for_function(SCROLLS_NOWHERE, arg=[width, height])
        board = page.locator("#board").bounding_box()
        assert board is not None
        # A square board fills its canvas.
        side = min(width, height)
        assert board["x"] == 0
        assert min(board["width"], board["height"]) >= side, (width, height, board)
        buttons = [
            button.bounding_box() for button in page.locator("#seat button:visible, #seat select:visible, #pad button:visible").all()
        ]
        boxes = [(box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]) for box in buttons if box is not None]
        assert len(boxes) >= 3
        for left, top, right, bottom in boxes:
            assert 0 <= left < right <= width, (width, height, left, right)
            assert 0 <= top < bottom <= height, (width, height, top, bottom)
            assert bottom - top >= 32, (width, height)
            assert left >= side if width > height else bottom <= board["y"] + 1 or top >= board["y"] + board["height"] - 1
        covered = [(one, other) for index, one in enumerate(boxes) for other in boxes[:index] if overlap(one, other)]
        assert not covered, (width, height)
    resize(page, before["width"], before["height"])


def overlap(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one[0] < other[2] - 0.5 and other[0] < one[2] - 0.5 and one[1] < other[3] - 0.5 and other[1] < one[3] - 0.5


@contextlib.contextmanager
def served(folder: Path, *arguments: str, descriptors: int | None = None) -> Iterator[tuple[subprocess.Popen[str], list[str]]]:
    """A command that serves pages, and the addresses that it prints; it may have no more than so many ``descriptors`` open.

    What it prints later must have no traceback.
    """
    environment = {**os.environ, "TMPDIR": str(folder)}
    command = [sys.executable, "-m", "referee", *arguments, "--no-browser", "--port", "0"]
    process = subprocess.Popen(
        command if descriptors is None else ["prlimit", f"--nofile={descriptors}:{descriptors}", *command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        yield process, addresses(process, 2 if "human" in arguments else 1)
    finally:
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in said, said[:5000]


def addresses(process: subprocess.Popen[str], count: int) -> list[str]:
    assert process.stdout is not None
    found: list[str] = []
    for line in process.stdout:
        found += re.findall(r"http://\S+/", line)
        if len(found) >= count:
            break
    return found


def assert_answers(address: str) -> None:
    """The page answers, once the server has noticed that a crowd has gone and has ended its work for it."""
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                assert answer.status == 200
                return
        except (OSError, http.client.HTTPException):
            if time.monotonic() > deadline:
                raise


class Socket:
    """A socket of a page: no more than the handshake, and what comes."""

    def __init__(self, address: str) -> None:
        found = re.fullmatch(r"http://([^:/]+):(\d+)/([^/]+)/", address)
        assert found
        self.sock = socket.create_connection((found[1], int(found[2])), PATIENCE)
        key = base64.b64encode(os.urandom(16)).decode()
        self.sock.sendall(
            f"GET /{found[3]}/socket HTTP/1.1\r\nHost: {found[1]}:{found[2]}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self.rest = b""
        try:
            while b"\r\n\r\n" not in self.rest:
                chunk = self.sock.recv(4096)
                assert chunk, "it was let in"
                self.rest += chunk
            assert self.rest.startswith(b"HTTP/1.1 101")
        except BaseException:
            self.close()
            raise
        self.rest = self.rest.partition(b"\r\n\r\n")[2]

    def frame(self) -> tuple[int, bytes]:
        """The kind of the next frame (8: it closes) and its data."""
        head = self._take(2)
        size = head[1] & 127
        if size >= 126:
            size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
        return head[0] & 15, self._take(size)

    def send(self, message: dict[str, Any]) -> None:
        """Send a message of at most 125 bytes, masked with zeros."""
        data = json.dumps(message).encode()
        self.sock.sendall(bytes((0x81, 0x80 | len(data), 0, 0, 0, 0)) + data)

    def _take(self, count: int) -> bytes:
        while len(self.rest) < count:
            chunk = self.sock.recv(65_536)
            assert chunk
            self.rest += chunk
        data, self.rest = self.rest[:count], self.rest[count:]
        return data

    def close(self) -> None:
        self.sock.close()


SCRIPTS = Path(__file__).parent / "scripts"
NODE = Path(sys.prefix) / "bin" / "node"


def node(*arguments: str | Path, stdin: str = "") -> str:
    """Return the stdout of Node.js, which runs in the folder of the scripts' tests with what they share; skip the test without it."""
    need(NODE.exists(), "Node.js is missing: install the dev extra")
    command = [NODE, "--import", "./setup.mjs", *arguments]
    run = subprocess.run(command, cwd=SCRIPTS, input=stdin, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout
