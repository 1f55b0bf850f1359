// The engine's analysis of a match: verdicts, each with the position from which it holds, and the overlay of one position.

import { lastBefore } from "../../pages/viewer/kit/columns.js";
import { counted, number } from "../../pages/viewer/kit/dom.js";
import { bytesOf } from "../../pages/viewer/kit/packed.js";

/**
 * @typedef {{ verdict: string, within: number | null, separated: boolean }} Verdict
 * @typedef {{ stride: number, safe: string, unknown: string, reach: string, safe_cells: number, trajectory: [number, number][], prey_is_safe: boolean, text?: string }} Found
 */

/** What can be drawn over a position: names and labels. @type {[string, string][]} */
export const LAYERS = [["safe", "safe cells"], ["reach", "prey's reach"], ["trajectory", "hunter's path if no wall changes"]];

/** The number of bits of a byte. */
const ONES = Uint8Array.from({ length: 256 }, (_, byte) => byte.toString(2).replaceAll("0", "").length);

export class Analysis {
  /** @param {{ width: number, height: number, place: (x: number, y: number) => [number, number], row: (y: number) => number }} board */
  constructor(board) {
    this.board = board;
    /** @type {number[]} */
    this.positions = [];
    /** @type {Verdict[]} */
    this.found = [];
    /** Whether the last verdict holds for all positions after it. */
    this.isAll = true;
    /** The position in which the prey is caught; -1 where none is known. */
    this.caughtAt = -1;
    /** What is drawn. @type {Set<string>} */
    this.shown = new Set();
    /** The position that the drawing is of, and what is drawn. */
    this.turn = -1;
    /** Whether it is drawn over later positions, too, until there is a newer one. */
    this.lags = false;
    /** @type {Found | null} */
    this.drawn = null;
    /** The cells of each layer as bits, and the number of the safe ones. @type {Map<string, Uint8Array>} */
    this.sets = new Map();
    this.safeCount = 0;
    /** @type {Map<string, HTMLCanvasElement>} */
    this.images = new Map();
  }

  /** @param {[number, Verdict][]} points @param {boolean} isAll false: later positions have not been judged yet */
  judged(points, isAll) {
    this.isAll = isAll;
    for (const [position, verdict] of points) {
      if (position <= (this.positions.at(-1) ?? -1)) continue;
      this.positions.push(position);
      this.found.push(verdict);
    }
  }

  /** The verdict at a position, with the steps left until capture. @param {number} turn */
  at(turn) {
    const at = lastBefore(this.positions, turn + 1);
    if (at < 0 || (!this.isAll && turn > (this.positions.at(-1) ?? -1))) return null;
    const found = this.found[at];
    // A prey that doesn't flee as long as it could is caught sooner than the verdict allows for.
    if (turn === this.caughtAt) return { ...found, verdict: "capture", within: 0 };
    return { ...found, within: found.within === null ? null : Math.max(0, found.within - (turn - this.positions[at])) };
  }

  /** @param {number} turn */
  inShort(turn) {
    const found = this.at(turn);
    if (!found) return "–";
    if (found.verdict === "capture") return found.within ? `capture in ${number(found.within)}` : "caught";
    return found.separated ? "apart" : found.verdict;
  }

  /** @param {number} turn @param {string} unit */
  inWords(turn, unit) {
    const found = this.at(turn);
    if (!found) return "";
    if (found.verdict === "capture") return found.within ? `capture is certain within ${counted(found.within, unit)}` : "caught";
    if (found.verdict === "evade") return `the prey can evade forever${found.separated ? ": no path joins the two players" : ""}`;
    return "not decided within the budget";
  }

  /** @returns {Strip} */
  strip() {
    const colors = /** @type {Record<string, string>} */ ({ capture: "orange", evade: "blue", undecided: "plain" });
    return {
      name: "verdict", unit: "", color: "accent", isKnown: () => this.positions.length > 0,
      value: (turn) => this.at(turn)?.within ?? NaN,
      text: (turn) => this.inShort(turn),
      band: (turn) => colors[this.at(turn)?.verdict ?? ""] ?? "",
    };
  }

  /** The events at which the verdict changed. @returns {GameEvent[]} */
  events() {
    /** @type {GameEvent[]} */
    const events = [];
    this.found.forEach((found, index) => {
      const before = this.found[index - 1];
      if (!before || before.verdict === found.verdict || !this.positions[index]) return;
      events.push({ turn: this.positions[index] - 1, kind: "turning point", seat: "", text: this.inWords(this.positions[index], "step") });
    });
    return events;
  }

  /** @param {number} turn @param {Found} found */
  take(turn, found) {
    this.turn = turn;
    this.drawn = found.text ? null : found;
    this.images.clear();
    this.sets.clear();
    if (found.text) return;
    const reach = bytesOf(found.reach);
    this.sets.set("reach", reach);
    // A cell that the prey can't reach is of no use to it.
    for (const name of /** @type {const} */ (["safe", "unknown"])) this.sets.set(name, bytesOf(found[name]).map((byte, at) => byte & (reach[at] ?? 0)));
    this.safeCount = /** @type {Uint8Array} */ (this.sets.get("safe")).reduce((sum, byte) => sum + ONES[byte], 0);
  }

  /** What is drawn over the board, for the legend. @param {Palette} palette @returns {[string, string][]} */
  legend(palette) {
    const looks = /** @type {Record<string, [string, string]>} */ ({ safe: ["■", "rgb(0 158 115)"], reach: ["■", "rgb(120 120 120)"], trajectory: ["┄", palette.orange] });
    return LAYERS.filter(([name]) => this.shown.has(name)).map(([name, text]) => [`${looks[name][0]} ${text}`, looks[name][1]]);
  }

  /** A set of cells as a picture of one pixel a cell. @param {string} name @param {number[]} color */
  image(name, color) {
    const bytes = this.sets.get(name);
    if (this.images.has(name) || !this.drawn || !bytes) return this.images.get(name);
    const { width, height } = this.board;
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width, height];
    const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    const image = context.createImageData(width, height);
    for (let y = 0; y < height; y += 1) {
      for (let x = 0; x < width; x += 1) if (bytes[y * this.drawn.stride + (x >> 3)] & (1 << (x & 7))) image.data.set(color, 4 * (this.board.row(y) * width + x));
    }
    context.putImageData(image, 0, 0);
    this.images.set(name, canvas);
    return canvas;
  }

  /** @param {CanvasRenderingContext2D} context @param {Frame} frame */
  draw(context, { turn, pixel, palette }) {
    const { drawn, board } = this;
    if (!drawn || (turn !== this.turn && !(this.lags && turn > this.turn))) return;
    /** @type {[string, number[]][]} */
    const layers = [["reach", [120, 120, 120, 60]], ["safe", [0, 158, 115, 90]], ["unknown", [200, 160, 0, 90]]];
    // Cells have sharp edges.
    context.imageSmoothingEnabled = false;
    for (const [name, color] of layers) {
      const image = this.shown.has(name === "unknown" ? "safe" : name) && this.image(name, color);
      if (image) context.drawImage(image, 0, 0, board.width, board.height);
    }
    context.imageSmoothingEnabled = true;
    if (!this.shown.has("trajectory")) return;
    context.beginPath();
    for (const [x, y] of drawn.trajectory) context.lineTo(...board.place(x, y));
    context.strokeStyle = palette.orange;
    context.lineWidth = pixel;
    context.setLineDash([2 * pixel, 4 * pixel]);
    context.stroke();
    context.setLineDash([]);
  }
}
