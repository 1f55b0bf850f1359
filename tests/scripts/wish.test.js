/** What a page shows of a move that was chosen before the rules allow it, and how it words the reasons. */

import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

const { Wish } = await import("../../referee/pages/viewer/app/wish.js");
const { reasonsInWords } = await import("../../referee/pages/viewer/app/pad.js");
let wish;
globalThis.window = { setTimeout: (...given) => setTimeout(...given) };

beforeEach((context) => {
  context.mock.timers.enable({ apis: ["setTimeout"] });
  wish = new Wish(() => {});
});
const shown = () => [wish.move, wish.why];

test("a wish is shown for two and a half seconds", (context) => {
  wish.make("v", 1);
  wish.take({ id: 1, status: "waits" }, "too early");
  context.mock.timers.tick(2499);
  assert.deepEqual(shown(), ["v", "too early"]);
  context.mock.timers.tick(1);
  assert.deepEqual(shown(), [null, "too early"]);
});

test("one that is chosen is no longer shown", () => {
  wish.make("v", 1);
  wish.take({ id: 1, status: "chosen" }, "");
  assert.deepEqual(shown(), [null, ""]);
});

test("what is said of an earlier one doesn't count", () => {
  wish.make("v", 1);
  wish.make("h", 2);
  wish.take({ id: 1, status: "chosen" }, "");
  assert.deepEqual(shown(), ["h", ""]);
});

test("a key that is held keeps the reason", () => {
  wish.make("v", 1);
  wish.take({ id: 1, status: "waits" }, "too early");
  wish.make("v", 2);
  assert.deepEqual(shown(), ["v", "too early"]);
});

test("only one that came too early makes room for what is pointed at", () => {
  wish.make("v", 1);
  wish.makeRoom();
  assert.deepEqual(shown(), ["v", ""]);
  wish.take({ id: 1, status: "late" }, "no");
  wish.makeRoom();
  assert.deepEqual(shown(), [null, "no"]);
});

test("a reason names its buttons where others can be pressed", () => {
  const [cover, early] = [{ sign: "| wall", reason: "It would cover the prey" }, { sign: "— wall", reason: "Too early" }];
  const both = [early, { sign: "| wall", reason: "Too early" }];
  assert.equal(reasonsInWords([], 2), "");
  assert.equal(reasonsInWords([cover], 2), "| wall: It would cover the prey");
  assert.equal(reasonsInWords([cover, early], 2), "| wall: It would cover the prey · — wall: Too early");
  assert.equal(reasonsInWords(both, 2), "Too early");
  assert.equal(reasonsInWords(both, 3), "— wall, | wall: Too early");
});
