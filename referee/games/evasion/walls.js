// What the records of Evasion say of walls and players, checked, and the cells of a wall.

import { plain } from "../../pages/viewer/kit/dom.js";
import { whole as inBounds } from "../../pages/viewer/kit/records.js";

const MOST = 1_000_000;
/** The kinds of walls, with the key for each of a person at the board. @type {Record<string, string>} */
export const KEY_OF = { horizontal: "h", vertical: "v", diagonal: "d", "counter-diagonal": "c" };

/**
 * @typedef {{ id: number, kind: string, x1: number, y1: number, x2: number, y2: number, first: string }} WallPlace
 * @typedef {WallPlace & { from: number, to: number, path: Path2D | null }} Wall
 */

/** @param {unknown} value @param {string} what @param {number} [least] */
export function whole(value, what, least = -MOST) {
  return inBounds(value, what, least, MOST);
}

/**
 * @param {any} given
 * @returns {WallPlace}
 */
export function wallPlace(given) {
  const kind = given?.kind;
  if (!Object.hasOwn(KEY_OF, kind)) throw new Error(`a wall has the kind ${plain(kind, 40)}`);
  const [id, x1, y1, x2, y2] = ["id", "x1", "y1", "x2", "y2"].map((key) => whole(given[key], `a wall's ${key}`));
  if (Math.abs(x2 - x1) > 20_000 || Math.abs(y2 - y1) > 20_000) throw new Error("a wall is longer than any board");
  return { id, kind, x1, y1, x2, y2, first: given.first === "x" ? "x" : "y" };
}

/**
 * The cells of a wall; a diagonal one goes on by one step along one axis, then one along the other.
 * @param {WallPlace} wall
 * @param {(x: number, y: number) => void} visit
 */
export function eachCell({ kind, x1, y1, x2, y2, first }, visit) {
  if (kind === "horizontal") for (let x = x1; x <= x2; x += 1) visit(x, y1);
  else if (kind === "vertical") for (let y = y1; y <= y2; y += 1) visit(x1, y);
  else {
    const up = kind === "diagonal" ? 1 : -1;
    let [x, y, along] = [x1, y1, first === "x"];
    visit(x, y);
    for (let left = Math.abs(x2 - x1) + Math.abs(y2 - y1); left > 0; left -= 1) {
      if (along) x += 1;
      else y += up;
      along = !along;
      visit(x, y);
    }
  }
}

/**
 * The cells of a wall as a path, made once.
 * @param {{ row: (y: number) => number }} board
 * @param {Wall} wall
 */
export function pathOf(board, wall) {
  wall.path ??= outline(board, wall);
  return wall.path;
}

/** @param {{ row: (y: number) => number }} board @param {WallPlace} wall */
export function outline(board, wall) {
  const path = new Path2D();
  if (wall.kind === "horizontal") path.rect(wall.x1, board.row(wall.y1), wall.x2 - wall.x1 + 1, 1);
  else if (wall.kind === "vertical") path.rect(wall.x1, Math.min(board.row(wall.y1), board.row(wall.y2)), 1, wall.y2 - wall.y1 + 1);
  else eachCell(wall, (x, y) => path.rect(x, board.row(y), 1, 1));
  return path;
}

/** @param {WallPlace} wall */
export function length(wall) {
  return Math.abs(wall.x2 - wall.x1) + Math.abs(wall.y2 - wall.y1) + 1;
}

/** The directions of the 2010 server, y downwards. @type {Record<string, [number, number]>} */
export const COMPASS = { N: [0, -1], NE: [1, -1], E: [1, 0], SE: [1, 1], S: [0, 1], SW: [-1, 1], W: [-1, 0], NW: [-1, -1] };

/** A player of the 2010 server as the other rule sets have one. @param {any} body */
export function fromTurns(body) {
  const [dx, dy] = COMPASS[body.heading] ?? [0, 0];
  return { x: body.x, y: body.y, dx, dy };
}

/** A wall of the 2010 server, whose ends come in any order, as the other rule sets have one. @param {any} given */
export function betweenEnds({ id, x1, y1, x2, y2 }) {
  const kind = y1 === y2 ? "horizontal" : "vertical";
  return { id, kind, x1: Math.min(x1, x2), y1: Math.min(y1, y2), x2: Math.max(x1, x2), y2: Math.max(y1, y2) };
}
