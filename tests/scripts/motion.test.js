/** What the drawing code of Evasion computes itself: ways between two positions, safe cells, cameras, signs. */

import assert from "node:assert/strict";
import test from "node:test";

const { display } = await import("../../referee/games/evasion/display.js");
const { camerasOf, viewOf } = await import("../../referee/pages/viewer/app/camera.js");
const { drawHunter, drawPrey } = await import("../../referee/games/evasion/signs.js");

const start = { width: 20, height: 10, capture_radius: 2, cooldown: 3, max_walls: 5, prey_period: 2, max_steps: 9, hunter: [1, 1, 1, 1], prey: [15, 5] };

/** A track of Evasion with these changes. */
function trackOf(records) {
  const track = display.createTrack({ rules: "classic", settings: start, players: {} });
  for (const [turn, changes] of records.entries()) track.push({ turn, changes });
  return track;
}

test("a player is on its way between two positions", () => {
  const { hunter, prey } = trackOf([
    { hunter: [2, 2, 1, 1] },
    { hunter: [2, 3, -1, 1] },
    { hunter: [2, 3, 1, -1] },
    { hunter: [3, 2, 1, -1], prey: [16, 5, 1, 0] },
  ]).ways;
  const at = (way, ...times) => times.map((exact) => way.at(exact));
  assert.deepEqual(at(hunter, 0, 0.5, 1), [[1, 1], [1.5, 1.5], [2, 2]], "straight on");
  assert.deepEqual(at(hunter, 1.25, 1.5, 1.75, 2), [[2.25, 2.25], [2.5, 2.5], [2.25, 2.75], [2, 3]], "off a wall, whose face it touches half way");
  assert.deepEqual(at(hunter, 2.5, 3, 3.5, 4), [[1.5, 3.5], [2, 3], [2.5, 2.5], [3, 2]], "back from a corner");
  assert.deepEqual(at(prey, 0, 2.5, 3.5), [[15, 5], [15, 5], [15.5, 5]], "a prey that stays, then goes");
});

test("a trail goes through every corner and touches what it bounces off", () => {
  const diagonal = [2, 3, 4, 5, 6, 7, 8].map((x) => ({ hunter: [x, x, 1, 1] }));
  const points = [];
  const track = trackOf([...diagonal, { hunter: [9, 8, 1, -1] }, { hunter: [10, 7, 1, -1] }]);
  track.ways.hunter.points(0.5, 8.5, (point, isBreak) => points.push([...point, isBreak]));
  assert.deepEqual(points, [[1.5, 1.5, true], [8, 8, false], [8.5, 8.5, false], [9, 8, false], [9.5, 7.5, false]]);
});

test("no way leads over steps that were not seen", () => {
  const track = trackOf([{ hunter: [2, 2, 1, 1] }]);
  track.jump(5, { hunter: { x: 9, y: 9, dx: 1, dy: -1 }, prey: { x: 3, y: 3, dx: 0, dy: 0 }, walls: [], wall_timer: 0 });
  assert.deepEqual([4, 4.5, 5].map((exact) => track.ways.hunter.at(exact)), [[2, 2], [2, 2], [9, 9]]);
});

test("only safe cells that the prey can reach are shown, and the legend names them", () => {
  const track = trackOf([]);
  const names = () => track.legend({}).map(([text]) => text);
  const before = names();
  const packed = (bits) => Buffer.from([bits, 0, 0]).toString("base64");
  track.analysis.take(0, { stride: 3, safe: packed(0b111100), unknown: packed(1), reach: packed(0b1111), safe_cells: 4, trajectory: [] });
  for (const name of ["safe", "trajectory"]) track.analysis.shown.add(name);
  assert.deepEqual([...track.analysis.sets.get("safe")], [0b1100, 0, 0]);
  assert.equal(track.analysis.safeCount, 2);
  assert.deepEqual(names().filter((name) => !before.includes(name)), ["■ safe cells", "┄ hunter's path if no wall changes"]);
  assert.deepEqual(track.facts(0).at(-1), ["Safe cells", "2"]);
});

test("cameras show the end and never leave the board", () => {
  const finale = { turn: 100, u: 290, v: 10, span: 30 };
  const track = { width: 300, height: 300, finale: () => finale, focus: (exact) => ({ u: exact, v: exact, span: 60 }) };
  const view = (name, exact, isCalm = false) => {
    const { zoom, center } = viewOf(name, track, exact, isCalm);
    return [zoom, ...center].map((part) => Math.round(100 * part) / 100);
  };
  assert.deepEqual([camerasOf(track), camerasOf({})].map((cameras) => cameras.map(([name]) => name)), [["whole", "follow", "capture"], ["whole"]]);
  assert.equal(viewOf("whole", track, 5, false), null);
  assert.deepEqual(view("capture", 20), [1, 150, 150], "the whole board long before the end");
  const [half] = view("capture", 70);
  assert.ok(half > 1 && half < 10);
  assert.deepEqual(view("capture", 100), [10, 290, 10], "six cells beyond the edge at most");
  assert.deepEqual([view("capture", 99.5, true), view("capture", 100, true)], [[1, 150, 150], [10, 290, 10]], "calm, it doesn't move");
  assert.deepEqual([view("follow", 2), view("follow", 150)], [[5, 18, 18], [5, 150, 150]]);
});

test("signs stand within large cells and around small ones", () => {
  for (const cell of [1, 2, 7, 20, 60, 200]) {
    let reach = 0;
    const draw = (name) => (x, y, radius) => {
      if (name === "lineTo") reach = Math.max(reach, Math.hypot(x, y));
      if (name === "arc") reach = Math.max(reach, radius);
    };
    const context = new Proxy({}, { set: () => true, get: (_, name) => draw(name) });
    const colors = { orange: "", blue: "", paper: "" };
    drawHunter(context, 0, 0, 1, 1, 1 / cell, colors);
    drawPrey(context, 0, 0, 0, 0, 1 / cell, colors);
    assert.ok(reach * cell >= 9, "a sign that can be seen");
    assert.ok(reach * cell <= Math.max(18, cell / 2), "no cells around are covered");
  }
});
