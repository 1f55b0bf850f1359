/** Keys that a person holds while a match ends. */

import assert from "node:assert/strict";
import test from "node:test";

const listeners = {};
let now = 0;
globalThis.document = globalThis;
globalThis.addEventListener = (kind, listener) => (listeners[kind] = listener);
performance.now = () => now;
const { HeldKeys } = await import("../../referee/pages/viewer/app/held-keys.js");

test("keys are no hotkeys for two seconds, or until a held one is pressed again", () => {
  const keys = new HeldKeys(new AbortController().signal);
  const isMeantForMatch = (code, repeat = false) => {
    listeners.keydown({ code });
    return keys.isMeantForMatch({ code, repeat });
  };
  for (const code of ["KeyS", "KeyD"]) listeners.keydown({ code });
  listeners.keyup({ code: "KeyD" });
  now = 10_000;
  keys.end();
  assert.equal(isMeantForMatch("KeyS", true), true, "held");
  assert.equal(isMeantForMatch("KeyD"), true);
  assert.equal(isMeantForMatch("KeyD", true), true);
  assert.equal(isMeantForMatch("ArrowLeft"), true);
  listeners.keyup({ code: "KeyS" });
  assert.equal(isMeantForMatch("KeyS"), false, "pressed again");
  assert.equal(isMeantForMatch("KeyS", true), false);
  now = 11_999;
  assert.equal(isMeantForMatch("KeyD"), true, "two seconds are not over");
  now = 12_000;
  assert.equal(isMeantForMatch("KeyD"), false);
  assert.equal(isMeantForMatch("KeyD", true), false);
  assert.equal(isMeantForMatch("ArrowLeft", true), true, "it was held all the time, and still waits for its release");
  assert.equal(isMeantForMatch("ArrowLeft"), false);
});
