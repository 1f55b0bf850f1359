// The prey's region: the cells that it can reach through the walls of a position. Found by a flood once for each set of walls.

import { eachCell } from "./walls.js";

/** A larger board would take longer than a frame of the screen. */
const MOST_CELLS = 400_000;
/** The share of a region's colour in its cells, and in those at its border. */
export const INNER = 110 / 255;
export const BORDER = 150 / 255;
/** How many cells the regions that are kept have together: while a reader scrubs, the same ones come back. A cell takes a byte. */
const KEPT_CELLS = 16_000_000;

/**
 * @typedef {import("./walls.js").Wall} Wall
 * @typedef {{ all: Path2D, edge: Path2D }} Boxes all cells, and those at the border
 * @typedef {{ key: string, mask: Uint8Array, cells: number, boxes?: Boxes }} Region
 */

export class Regions {
  /** @param {{ width: number, height: number, row: (y: number) => number }} board */
  constructor(board) {
    this.board = board;
    /** By number of the set of walls: the regions that a prey was in. @type {Map<number, Region[]>} */
    this.kept = new Map();
    this.count = 0;
  }

  get isPossible() {
    return this.board.width * this.board.height <= MOST_CELLS;
  }

  /**
   * The region around a cell; null where the board is too large.
   * @param {number} set the number of the set of walls
   * @param {Wall[]} walls
   * @param {number} x
   * @param {number} y
   * @returns {Region | null}
   */
  at(set, walls, x, y) {
    const { width, height } = this.board;
    if (!this.isPossible || x < 0 || y < 0 || x >= width || y >= height) return null;
    const known = this.kept.get(set) ?? [];
    const found = known.find(({ mask }) => mask[y * width + x]);
    if (found) return found;
    const region = flood(width, height, walls, x, y);
    region.key = `${set}.${known.length}`;
    this.kept.delete(set);
    this.kept.set(set, [...known, region]);
    this.count += 1;
    for (const [oldest, regions] of this.kept) {
      if (this.count * width * height <= KEPT_CELLS || oldest === set) break;
      this.kept.delete(oldest);
      this.count -= regions.length;
    }
    return region;
  }

  /** A region as rectangles, which are drawn in a fraction of the time of a picture. @param {Region} region */
  boxes(region) {
    const { mask } = region;
    region.boxes ??= { all: this.merged((at) => mask[at] > 0), edge: this.merged((at, x, y) => mask[at] > 0 && !this.isInner(mask, at, x, y)) };
    return region.boxes;
  }

  /** Whether a cell of a region has no border beside it. @param {Uint8Array} mask @param {number} at @param {number} x @param {number} y */
  isInner(mask, at, x, y) {
    const { width, height } = this.board;
    return (x === 0 || mask[at - 1]) && (x === width - 1 || mask[at + 1]) && (y === 0 || mask[at - width]) && (y === height - 1 || mask[at + width]);
  }

  /**
   * Cells as rectangles: runs of a row, joined with equal runs of the rows before.
   * @param {(at: number, x: number, y: number) => boolean | number} isIn
   */
  merged(isIn) {
    const { width, height } = this.board;
    const path = new Path2D();
    /** The first rows of the runs that still go on, by first and last cell. @type {Map<string, [number, number, number]>} */
    let open = new Map();
    const close = (/** @type {[number, number, number]} */ [from, to, first], /** @type {number} */ end) => {
      const top = Math.min(this.board.row(first), this.board.row(end - 1));
      path.rect(from, top, to - from, end - first);
    };
    for (let y = 0; y <= height; y += 1) {
      const next = new Map();
      for (let x = 0; y < height && x < width; x += 1) {
        if (!isIn(y * width + x, x, y)) continue;
        const from = x;
        while (x < width && isIn(y * width + x, x, y)) x += 1;
        const key = `${from} ${x}`;
        next.set(key, open.get(key) ?? [from, x, y]);
      }
      for (const [key, run] of open) if (!next.has(key)) close(run, y);
      open = next;
    }
    return path;
  }
}

/**
 * The cells that steps in all eight directions over free cells reach from one.
 * @param {number} width
 * @param {number} height
 * @param {Wall[]} walls
 * @param {number} startX
 * @param {number} startY
 * @returns {Region}
 */
function flood(width, height, walls, startX, startY) {
  // A border of blocked cells spares every check for the edge of the board.
  const stride = width + 2;
  const state = new Uint8Array(stride * (height + 2)).fill(1);
  for (let y = 0; y < height; y += 1) state.fill(0, (y + 1) * stride + 1, (y + 1) * stride + 1 + width);
  for (const wall of walls) {
    eachCell(wall, (x, y) => {
      if (x >= 0 && y >= 0 && x < width && y < height) state[(y + 1) * stride + x + 1] = 1;
    });
  }
  const mask = new Uint8Array(width * height);
  const start = (startY + 1) * stride + startX + 1;
  const stack = new Int32Array(width * height + 1);
  let top = 0;
  let cells = 0;
  stack[top++] = start;
  state[start] = 2;
  const around = [1, -1, stride, -stride, stride + 1, stride - 1, 1 - stride, -1 - stride];
  while (top) {
    const at = stack[--top];
    const row = Math.floor(at / stride);
    mask[(row - 1) * width + at - row * stride - 1] = 1;
    cells += 1;
    for (let index = 0; index < 8; index += 1) {
      const next = at + around[index];
      if (state[next] === 0) {
        state[next] = 2;
        stack[top++] = next;
      }
    }
  }
  return { key: "", mask, cells };
}
