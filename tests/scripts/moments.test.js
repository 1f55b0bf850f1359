/** The moments of a long story. */

import assert from "node:assert/strict";
import test from "node:test";

globalThis.document = { documentElement: { dataset: {} } };
const { shortened } = await import("../../referee/pages/viewer/app/moments.js");

test("a long story leaves out what matters least", () => {
  const all = Array.from({ length: 90 }, (_, turn) => ({ turn, weight: turn % 3, text: "", sign: "", color: "" }));
  const { moments, leftOut } = shortened(all, 60);
  assert.deepEqual([moments.length, leftOut], [60, 30]);
  assert.ok(moments.every(({ weight }) => weight > 0));
  assert.deepEqual([moments[0].turn, moments.at(-1).turn], [1, 89]);
});
