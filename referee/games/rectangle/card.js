// What a player of Rectangle reads and sees before a match.

const SIDE = 17;

/** A robot that has painted a ring nearly to its end, and the cells inside. @param {string} color @returns {Shape[]} */
function picture(color) {
  const cell = (/** @type {number} */ row, /** @type {number} */ column, /** @type {number} */ opacity) => /** @type {Shape} */ (["rect", { x: 1 + column * SIDE, y: 2 + row * SIDE, width: SIDE, height: SIDE, fill: color, "fill-opacity": opacity }]);
  const ring = [[0, 1], [0, 2], [0, 3], [0, 4], [0, 5], [1, 5], [2, 5], [3, 5], [3, 4], [3, 3], [3, 2], [3, 1], [2, 1]];
  const lines = Array.from({ length: 6 }, (_, column) => `M${1 + (column + 1) * SIDE} 2 v${4 * SIDE}`).concat(Array.from({ length: 3 }, (_, row) => `M1 ${2 + (row + 1) * SIDE} h${7 * SIDE}`));
  return [
    ...[1, 2].flatMap((row) => [2, 3, 4].map((column) => cell(row, column, 0.18))),
    ...ring.map(([row, column]) => cell(row, column, 0.55)),
    ["path", { d: lines.join(" "), stroke: "var(--line)", "stroke-width": 1 }],
    ["rect", { x: 1, y: 2, width: 7 * SIDE, height: 4 * SIDE, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5 }],
    ["circle", { cx: 1 + 1.5 * SIDE, cy: 2 + 2.5 * SIDE, r: 5.5, fill: color, stroke: "var(--ink)", "stroke-width": 1.5 }],
    ["path", { d: `M${1 + 1.5 * SIDE} ${2 + 1.9 * SIDE} v-12 m-4 5 l4 -5 l4 5`, fill: "none", stroke: "var(--ink)", "stroke-width": 2 }],
    ["text", { x: 1 + 3.5 * SIDE, y: 7 + 2 * SIDE, fill: "var(--ink)", "font-size": 14, "font-weight": 700, "text-anchor": "middle" }, "+6"],
  ];
}

/** @param {string} color @returns {Card} */
export function cardOf(color) {
  return {
    picture: picture(color),
    describes: "A robot that paints the cells around six others: when the ring is closed, they count.",
    goal: "Own the most cells: close a ring of your colour, and the cells inside are yours. Each robot goes one cell a turn and paints it; two robots on a cell wipe it.",
    keys: "First click a cell for each robot; then `Tab` or `1` to `9`: choose one; `W` `A` `S` `D`, click or drag: move it; `Enter`: go.",
    taps: "First tap a cell for each robot; then tap a robot and a cell, or drag it; tap Go: send the orders.",
  };
}
