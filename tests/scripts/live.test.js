/** Events that come to a page in an unusual order are held in that order. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { gzipSync } from "node:zlib";

globalThis.window = globalThis;
globalThis.location = { hash: "", href: "http://127.0.0.1/page/", search: "" };
globalThis.WebSocket = class {
  constructor() {
    sockets.push(this);
  }
  close() {}
};
const { Live } = await import("../../referee/pages/viewer/app/live.js");
const bytes = new Uint8Array(gzipSync("a line\n"));
const over = JSON.stringify({ type: "over", text: "", check: null });
let sockets, timers, events, live;

beforeEach((context) => {
  [sockets, timers, events] = [[], [], []];
  context.mock.method(globalThis, "setTimeout", (action) => timers.push(action));
  context.mock.method(globalThis, "clearTimeout", (number) => number && (timers[number - 1] = null));
  const listener = Object.fromEntries(["connection", "message", "grown", "over"].map((name) => [name, () => events.push(name)]));
  live = new Live({ feed() {}, finish() {}, jump() {} }, listener);
  live.connect();
});

test("the end comes after the last bytes, which the page still unpacks when the server closes the connection", async () => {
  sockets[0].onmessage({ data: bytes.buffer });
  sockets[0].onmessage({ data: over });
  sockets[0].onclose({ code: 1001, reason: "" });
  assert.deepEqual(events, []);
  await live.queue;
  assert.deepEqual(events, ["grown", "grown", "over"]);
});

test("nothing of a match reaches a page that shows another file", async () => {
  // The file is opened while bytes are being unpacked, and while a lost connection waits to be taken up again.
  sockets[0].onmessage({ data: bytes.buffer });
  sockets[0].onmessage({ data: over });
  live.isOver = false;
  sockets[0].onclose({ code: 1006, reason: "" });
  events.length = 0;
  live.close();
  sockets[0].onopen();
  sockets[0].onclose({ code: 1001, reason: "" });
  await live.queue;
  for (const action of timers) action?.();
  assert.deepEqual(events, []);
  assert.deepEqual([sockets.length, timers.length], [1, 1]);
});

test("a new address is not overwritten before the page has heard of it", async () => {
  globalThis.document = { addEventListener() {}, getElementById: () => ({ querySelectorAll: () => [] }) };
  globalThis.history = { replaceState: (_state, _title, hash) => (location.hash = hash) };
  const { AddressBar } = await import("../../referee/pages/viewer/app/bar.js");
  const board = { end: new AbortController(), camera: "whole", zoom: 1, center: [0, 0], recording: { track: {} }, request() {} };
  const playback = { follows: false, turn: 7 };
  const bar = new AddressBar(board, playback, true);
  bar.restore();
  bar.write();
  assert.equal(location.hash, "#t=7&camera=whole&layers=");
  // Somebody writes an address, and the page's own writing is due before the browser tells of that.
  location.hash = "#t=33";
  bar.write();
  assert.equal(location.hash, "#t=33");
  assert.equal(bar.changed(), 33);
  playback.turn = 33;
  bar.write();
  assert.equal(location.hash, "#t=33&camera=whole&layers=");
});
