/** What each game's drawing code says: moves in words, colours of the seats, minor events, controls, positions. */

import assert from "node:assert/strict";
import test from "node:test";

const display = async (game) => (await import(`../../referee/games/${game}/display.js`)).display;
const { controlsFor } = await import("../../referee/games/evasion/controls.js");
const { reworded } = await import("../../referee/pages/viewer/app/sentence.js");
const { counted, number } = await import("../../referee/pages/viewer/kit/dom.js");

const seats = { evasion: ["hunter", "prey"], maze: ["thief", "policeman"], rectangle: [..."abcdefghijklmnopqrstuvwxyz"] };
const words = {
  evasion: [
    [{ build: { kind: "vertical", span: [0, 9] }, remove: [3] }, "build a vertical wall from 0 to 9 and remove wall 3"],
    [{ go: [0, 0] }, "stand still"],
    [{ go: "NE" }, "go ↗ north-east"],
    [{}, ""],
  ],
  maze: [[{ go: "U" }, "go ↑ up"], [{}, ""]],
  rectangle: [[{ orders: "E-" }, "robots → •"], [{ place: [[1, 2]] }, "1 robot placed"], [{}, ""]],
};

for (const [game, moves] of Object.entries(words))
  test(`${game} says its moves in words and knows its seats`, async () => {
    const drawn = await display(game);
    for (const [move, text] of moves) assert.equal(drawn.describeMove(move), text);
    assert.deepEqual(Object.keys(drawn.seatColors), seats[game]);
    const looks = Object.entries(drawn.eventLooks ?? {});
    assert.deepEqual(looks.filter(([, look]) => look.isMinor).map(([kind]) => kind), game === "evasion" ? ["bounce"] : []);
  });

test("a second click on a wall takes the removal back", () => {
  const { combine } = controlsFor({ kinds: ["vertical"] }, "hunter");
  assert.deepEqual(combine({ remove: [1, 2] }, { remove: [2, 3] }), { remove: [1, 3] });
  assert.deepEqual(combine({ build: { kind: "vertical" } }, { remove: [4] }), { build: { kind: "vertical" }, remove: [4] });
  assert.deepEqual(combine({ remove: [4] }, {}), { remove: [4] });
});

test("only the game shortens what its engine says of a move", () => {
  const text = "counter-diagonal wall refused: it would cover the hunter's next cell (1, 2)";
  for (const isTurnwise of [false, true]) {
    const controls = controlsFor({ kinds: ["vertical"], isTurnwise }, "hunter");
    assert.equal(reworded(text, controls, "wall-refused"), "Refused: it would cover your next cell (1, 2)");
    assert.equal(reworded(text, controls), "It would cover your next cell (1, 2)");
    assert.equal(reworded("wall refused: it leaves the board", controls), "It leaves the board");
  }
  assert.equal(reworded("a move refused: no", null, "wall-refused"), "A move refused: no");
});

test("a figure of Maze is drawn once its square is known", async () => {
  const track = (await display("maze")).createTrack({ settings: { layout: ["...", ".#E", "..."] }, players: {} });
  track.push({ turn: 0, changes: { thief: [1, 2] } });
  const places = () => track.spots(1).map(({ seat, u, v }) => [seat, u, v]);
  assert.deepEqual(places().map(([seat]) => seat), ["thief"]);
  assert.equal(track.summary(1), "Ply 1. Thief at row 1, column 2.");
  assert.deepEqual([track.score(1), track.score(2), track.facts(1)[1][1]], ["1 move", "1 move", "not known yet"]);
  track.measure(0, { thief: [1, 1], policeman: [3, 3] });
  assert.deepEqual(places().filter(([seat]) => seat === "policeman"), [["policeman", 2.5, 2.5]]);
  assert.equal(track.summary(1), "Ply 1. Thief at row 1, column 2; policeman at row 3, column 3.");
});

test("distances in a maze", async () => {
  const { distances, exitsOf } = await import("../../referee/games/maze/scene.js");
  const rows = ["..#E", ".##.", "...."];
  assert.deepEqual(exitsOf(rows), [[0, 3]]);
  assert.deepEqual([...distances(rows, exitsOf(rows))], [7, 8, -1, 0, 6, -1, -1, 1, 5, 4, 3, 2]);
  assert.ok([...distances(rows, [[-1, -1]])].every((steps) => steps < 0));
});

test("numbers are written as English writes them", () => {
  const values = [[0], [999], [1234567], [-1234.5, 1], [0.05, 2], [NaN], [Infinity], [1e6, 1]];
  assert.deepEqual(values.map(([value, digits]) => number(value, digits)), ["0", "999", "1,234,567", "-1,234.5", "0.05", "NaN", "∞", "1,000,000.0"]);
  assert.deepEqual([counted(1, "step"), counted(2000, "match", "matches")], ["1 step", "2,000 matches"]);
});
