"""Events that come to a page in an unusual order, held in that order: the page's own scripts, run without a browser."""

from __future__ import annotations

from pathlib import Path

from served_pages import laid_out, run

#: Sockets and timers that do nothing by themselves.
FAKES = """
import { gzipSync } from "node:zlib";

const [sockets, timers, told] = [[], [], []];
globalThis.window = globalThis;
globalThis.location = { hash: "", href: "http://127.0.0.1/page/", search: "" };
globalThis.WebSocket = class {
  constructor() { sockets.push(this); }
  close() {}
};
globalThis.setTimeout = (action) => timers.push(action);
globalThis.clearTimeout = (number) => { if (number) timers[number - 1] = null; };
const { Live } = await import("./pages/viewer/app/live.js");
const listener = Object.fromEntries(["connection", "message", "grown", "over"].map((name) => [name, () => told.push(name)]));
const live = new Live({ feed() {}, finish() {}, jump() {} }, listener);
live.connect();
const [socket] = sockets;
const bytes = new Uint8Array(gzipSync("a line\\n"));
"""


def told(folder: Path, script: str) -> object:
    laid_out(folder)
    (folder / "pages/viewer/app/displays.js").write_text("export const DISPLAYS = {};\n")
    return run(folder, FAKES + script)


def test_the_end_comes_after_the_last_bytes(tmp_path: Path) -> None:
    """The server closes the connection while the page still unpacks the result."""
    script = """
    socket.onmessage({ data: bytes.buffer });
    socket.onmessage({ data: JSON.stringify({ type: "over", text: "", check: null }) });
    socket.onclose({ code: 1001, reason: "" });
    const before = [...told];
    await live.queue;
    console.log(JSON.stringify([before, told]));
    """
    assert told(tmp_path, script) == [[], ["grown", "grown", "over"]]


def test_nothing_of_a_match_reaches_a_page_that_shows_something_else(tmp_path: Path) -> None:
    """A file is opened while bytes are being unpacked, and while a lost connection waits to be taken up again."""
    script = """
    socket.onmessage({ data: bytes.buffer });
    socket.onmessage({ data: JSON.stringify({ type: "over", text: "", check: null }) });
    live.isOver = false;
    socket.onclose({ code: 1006, reason: "" });
    told.length = 0;
    live.close();
    socket.onopen();
    socket.onclose({ code: 1001, reason: "" });
    await live.queue;
    for (const action of timers) action?.();
    console.log(JSON.stringify([told, sockets.length, timers.length]));
    """
    assert told(tmp_path, script) == [[], 1, 1]


def test_a_new_address_is_not_overwritten_before_the_page_has_heard_of_it(tmp_path: Path) -> None:
    script = """
    globalThis.document = { addEventListener() {}, getElementById: () => ({ querySelectorAll: () => [] }) };
    globalThis.history = { replaceState: (state, title, hash) => { location.hash = hash; } };
    const { AddressBar } = await import("./pages/viewer/app/bar.js");
    const board = { end: new AbortController(), camera: "whole", zoom: 1, center: [0, 0], recording: { track: {} }, request() {} };
    const playback = { follows: false, turn: 7 };
    const bar = new AddressBar(board, playback, true);
    bar.restore();
    bar.write();
    const seen = [location.hash];
    // Somebody writes an address, and the page's own writing is due before the browser tells of that.
    location.hash = "#t=33";
    bar.write();
    seen.push(location.hash, bar.changed());
    playback.turn = 33;
    bar.write();
    console.log(JSON.stringify([...seen, location.hash]));
    """
    assert told(tmp_path, script) == ["#t=7&camera=whole&layers=", "#t=33", 33, "#t=33&camera=whole&layers="]
