/** The viewer's charts, on a canvas that writes down what is drawn. */

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { gunzipSync } from "node:zlib";

globalThis.document = { documentElement: { dataset: {} } };
const { drawChart, drawEvents } = await import("../../referee/pages/viewer/app/charts.js");
const { Recording } = await import("../../referee/pages/viewer/app/recording.js");
const { stripsOf } = await import("../../referee/pages/viewer/app/strips.js");
const colors = { orange: "red", blue: "blue", accent: "gold", faint: "grey", warn: "pink", ink: "black" };

for (let steps = 15; steps <= 60; steps += 1)
  test(`each of ${steps} steps has its own column`, () => {
    // With 49 steps, a quotient that is rounded down before it is multiplied would lose one.
    const turns = Array.from({ length: steps + 1 }, (_, turn) => turn);
    let rectangles = [];
    const context = { clearRect() {}, fillRect: (x, _y, _wide, high) => rectangles.push([x, high]) };
    const chart = (strip) => drawChart(context, { width: 600, height: 34 }, [strip], steps, colors);
    chart({ color: "plain", bars: () => steps, value: (turn) => turn + 1 });
    const heights = rectangles.map(([, high]) => high);
    assert.equal(heights.length, steps);
    assert.equal(new Set(rectangles.map(([x]) => x)).size, steps);
    assert.deepEqual(heights, [...heights].sort((a, b) => a - b), "each step is worth one more than the step before it");
    const pieces = [];
    chart({ color: "plain", bars: () => steps, band: (turn) => (pieces.push(turn), "accent") });
    assert.deepEqual(pieces, turns.slice(0, -1));
    rectangles = [];
    const events = turns.map((turn) => ({ turn, kind: "any" }));
    drawEvents(context, { width: steps + 2, height: 20 }, events, steps, () => ({ color: "ink", from: 0, to: 1 }), colors);
    assert.deepEqual(rectangles.map(([x]) => x), turns);
  });

test("the answer that lost the match is a bar beside its limit", () => {
  const file = new URL("../data/replays/evasion-classic-hunter-fault.replay.jsonl.gz", import.meta.url);
  const records = gunzipSync(readFileSync(file)).toString().trim().split("\n").map((line) => JSON.parse(line));
  records[0].clock = { kind: "fair", move: 1 };
  records.find(({ type }) => type === "fault").us.hunter = 1_000_000;
  const recording = new Recording();
  recording.feed(Buffer.from(records.map((record) => `${JSON.stringify(record)}\n`).join("")));
  const [hunter, prey] = stripsOf(recording).filter(({ chart }) => chart === "time");
  const last = hunter.bars() - 1;
  assert.deepEqual([last, hunter.value(last)], [recording.steps, 1000]);
  assert.ok(Number.isNaN(prey.value(last + 1)), "there is no later step");

  const marks = [];
  const fillRect = function (...place) {
    if (this.fillStyle === "pink") marks.push(place);
  };
  const context = { fillStyle: "", clearRect() {}, fillRect };
  assert.equal(drawChart(context, { width: 600, height: 40 }, [hunter, prey], recording.steps, colors), 1000);
  const [[left, top, wide, high], ...others] = marks.filter((mark) => mark[3] > 2);
  assert.deepEqual(others, []);
  assert.ok(left + wide >= 598 && top <= 3 && top + high >= 40, "at the right edge, from the limit to the ground");
  const dashes = marks.filter((mark) => mark[3] <= 2);
  assert.ok(dashes.length > 50);
  assert.ok(dashes.every((mark) => mark[1] === top), "the limit's line");
});
