"""Servers of a built workshop, what is done on its page, and bots that do harm."""

from __future__ import annotations

import contextlib
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from playwright.sync_api import expect

from referee.workshop import pyodide

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page

#: Where ``make setup`` keeps Pyodide's package.
ARCHIVE = Path(sys.prefix) / "lib" / "pyodide" / pyodide.ARCHIVE


class Plain(SimpleHTTPRequestHandler):
    """Serves files as ``python -m http.server`` does, and remembers which."""

    requests: ClassVar[list[str]] = []

    def log_message(self, *_: Any) -> None:
        self.requests.append(self.path)


@contextlib.contextmanager
def served(site: Path, handler: type[SimpleHTTPRequestHandler]) -> Iterator[str]:
    """Serve a folder; yield its address."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(handler, directory=str(site))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


#: Python takes two seconds to start, on a busy machine much longer.
PATIENCE_MS = 600_000
expect.set_options(timeout=PATIENCE_MS)
BOT = """
from sdk import HunterBot


class Written(HunterBot):
    def hunt(self, state):
{}
        return None


Written.main()
"""


def bot(*lines: str) -> str:
    """A hunter with these lines."""
    return BOT.format("\n".join(f"        {line}" for line in lines))


def write(page: Page, text: str) -> None:
    """Put a text into the editor, as its user opens a file."""
    page.locator("#file").set_input_files({"name": "any.py", "mimeType": "text/plain", "buffer": text.encode()})
    expect(page.locator("#editor")).to_contain_text(text.strip().splitlines()[-1])


def ready(page: Page) -> None:
    expect(page.locator("#run")).to_be_enabled(timeout=PATIENCE_MS)


#: Whether a match has begun and is over.
OVER = "() => document.getElementById('stop').disabled && document.getElementById('sentence').textContent !== ''"


def run(page: Page, text: str) -> str:
    """Run a bot against the prey that stands still; return what the page says of the match."""
    ready(page)
    write(page, text)
    page.locator("#opponent").select_option("still")
    page.locator("#steps").fill("60")
    # A match may be over before anybody sees its button Stop.
    page.locator("#sentence").evaluate("place => place.replaceChildren()")
    page.locator("#run").click()
    page.wait_for_function(OVER, timeout=PATIENCE_MS)
    return page.locator("#sentence").inner_text()


#: Bots that do harm, with what the page says of their match.
HOSTILE = {
    "loops": (bot("while True:", "    pass"), "The bot thought for more than 10 s"),
    "floods prints": (bot("for _ in range(100_000):", "    print('x' * 1000)", "raise SystemExit"), "raised SystemExit"),
    "allocates": (bot("self.all = []", "while True:", "    self.all.append(bytearray(1 << 27))"), "raised MemoryError"),
    "changes the rules": (
        bot(
            "import referee.games.evasion.game as game", "game.GAME.__class__.outcome = None", "import sdk.bot; sdk.bot.Conversation = None"
        ),
        "",
    ),
    "leaves": (bot("import os", "os._exit(0)"), ""),
    "fetches": (bot("import js", "js.fetch('ADDRESS/escaped')"), "raised AttributeError"),
    "opens a socket": (
        bot(
            "import socket",
            "with socket.create_connection(('127.0.0.1', PORT), 1) as one:",
            "    one.sendall(b'GET /escaped HTTP/1.0\\r\\n\\r\\n')",
        ),
        "",
    ),
    "asks the server": (bot("import urllib.request", "urllib.request.urlopen('ADDRESS/escaped')", "print('escaped')"), "raised"),
    "runs scripts": (bot("from pyodide.code import run_js", "run_js('fetch(`ADDRESS/escaped`)')", "print('escaped')"), "raised"),
    "touches the page": (bot("import js", "js.parent.document", "print('escaped')"), "raised AttributeError"),
    "reads storage": (bot("import js", "js.localStorage, js.indexedDB", "print('escaped')"), "raised AttributeError"),
}


def check_harmless(page: Page, top: str, api: str = "") -> None:
    """Run all bots that do harm, on a page below ``top``; then a good one plays as ever. They ask for addresses that begin with ``api``."""
    port = top.rstrip("/").rpartition(":")[2]
    for name, (text, expected) in HOSTILE.items():
        sentence = run(page, text.replace("ADDRESS/", top + api).replace("PORT", port))
        assert expected in sentence, name
        assert "escaped" not in page.locator("#prints").inner_text(), name
        assert len(page.locator("#prints").inner_text()) < 110_000, name
    assert "The prey is still free after 60 steps" in run(page, bot("pass"))


#: Attempts of a script in the frame of Python, which a bot may become that gets out of its interpreter.
ATTEMPTS = """async (address) => {
  const tried = {
    fetch: () => fetch(address + "escaped"),
    socket: () => new Promise((resolve, reject) => {
      const socket = new WebSocket(address.replace("http", "ws") + "escaped");
      Object.assign(socket, { onopen: resolve, onerror: reject });
    }),
    picture: () => new Promise((resolve, reject) => Object.assign(new Image(), { onload: resolve, onerror: reject, src: address + "escaped.png" })),
    script: () => import(address + "workshop.js?escaped"),
    storage: () => localStorage.length,
    database: () => new Promise((resolve, reject) => Object.assign(indexedDB.open("any"), { onsuccess: resolve, onerror: reject })),
    cookies: () => document.cookie,
    page: () => parent.document.title,
    evaluates: () => eval("1"),
    leaves: () => { top.location = address + "escaped"; },
    worker: () => new Promise((resolve, reject) => {
      const text = `fetch("${address}escaped").then(() => postMessage(1), () => postMessage(0))`;
      const worker = new Worker(URL.createObjectURL(new Blob([text])));
      worker.onmessage = ({ data }) => (data ? resolve() : reject());
    }),
  };
  const succeeded = [];
  for (const [name, attempt] of Object.entries(tried)) await Promise.resolve().then(attempt).then(() => succeeded.push(name), () => {});
  return succeeded;
}"""
