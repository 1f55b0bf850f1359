// What a player of Maze reads and sees before a match.

const [THIEF, POLICEMAN, EXIT] = ["var(--orange)", "var(--blue)", "var(--accent)"];
const SIDE = 17;
/** A corner of a maze, with the way to the exit. */
const ROWS = ["...#...", ".#.#.#.", ".#...#E", "...#..."];
/** The middle of a square. @param {number} row @param {number} column */
const middle = (row, column) => [1 + (column + 0.5) * SIDE, 2 + (row + 0.5) * SIDE];

/** @returns {Shape[]} */
function picture() {
  const walls = ROWS.flatMap((row, y) => [...row].flatMap((sign, x) => (sign === "#" ? [/** @type {Shape} */ (["rect", { x: 1 + x * SIDE, y: 2 + y * SIDE, width: SIDE, height: SIDE, fill: "var(--faint)" }])] : [])));
  const way = [[0, 0], [0, 2], [2, 2], [2, 4], [0, 4], [0, 6], [1.6, 6]].map(([row, column]) => middle(row, column).join(" ")).join(" L");
  const [[thiefX, thiefY], [policeX, policeY], [exitX, exitY]] = [middle(0, 0), middle(3, 0), middle(2, 6)];
  return [
    ["rect", { x: 1, y: 2, width: 7 * SIDE, height: 4 * SIDE, fill: "none", stroke: "var(--ink)", "stroke-width": 1.5 }],
    ...walls,
    ["path", { d: `M${way}`, fill: "none", stroke: THIEF, "stroke-width": 2, "stroke-dasharray": "4 3" }],
    ["circle", { cx: thiefX, cy: thiefY, r: 6, fill: THIEF }],
    ["path", { d: `M${policeX} ${policeY - 7} V${policeY - 22}`, stroke: POLICEMAN, "stroke-width": 2, "stroke-dasharray": "4 3" }],
    ["circle", { cx: policeX, cy: policeY, r: 6, fill: POLICEMAN }],
    ["text", { x: exitX, y: exitY + 5, fill: EXIT, "font-size": 14, "font-weight": 700, "text-anchor": "middle" }, "E"],
  ];
}

/** @param {string} seat @returns {Card} */
export function cardOf(seat) {
  const moves = "You move in turn, one square up, down, left or right, around walls.";
  return {
    picture: picture(),
    describes: "The thief's way leads around walls to the exit E; the policeman is behind it.",
    goal: seat === "thief" ? `Reach the exit E before the policeman is on your square. ${moves}` : `Go to the thief's square before it is at the exit E. ${moves}`,
    keys: "`W` `A` `S` `D` or arrows: move; click: one step towards that square; `H`: a hint.",
    taps: "Tap an arrow, or the board: one step towards that square; tap Hint: the best moves.",
  };
}
