// Maze on a page: positions from the records of a replay, how they are drawn, and what keys and the pointer mean to a player.
// There are no rules here: values of positions and what would happen are asked of the engine.

import { Column } from "../../pages/viewer/kit/columns.js";
import { counted, number, plain } from "../../pages/viewer/kit/dom.js";
import { noticesOf, whole } from "../../pages/viewer/kit/records.js";
import { controlsOf, describeMove, NAMES } from "./controls.js";
import { moments } from "./moments.js";
import { distances, drawGround, drawPlay, exitsOf, OPTIONS } from "./scene.js";

const SEATS = ["thief", "policeman"];
/** Names of the page's palette, which has them for a light and for a dark page. */
const COLORS = { thief: "orange", policeman: "blue" };

/** @implements {Track} */
export class MazeTrack {
  /** @param {Head} head */
  constructor(head) {
    /** @type {string[]} */
    this.rows = head.settings.layout;
    if (!Array.isArray(this.rows) || !this.rows.length || !this.rows.every((row) => typeof row === "string" && row.length === this.rows[0].length)) throw new Error("the layout can't be read");
    this.height = this.rows.length;
    this.width = this.rows[0].length;
    if (this.width > 64 || this.height > 64) throw new Error("The maze is larger than any game's.");
    this.limit = Number(head.settings.max_moves) || 0;
    /** Rows and columns by position, from 1; 0 before they are known. */
    this.thief = [new Column(Int32Array), new Column(Int32Array)];
    this.policeman = [new Column(Int32Array), new Column(Int32Array)];
    this.placed(head.start?.thief ?? head.settings.thief ?? [0, 0], head.start?.policeman ?? head.settings.policeman ?? [0, 0]);
    /** What the solved game says of each position. @type {Map<number, { winner: string, plies: number, best: string[] }>} */
    this.values = new Map();
    /** Whether that is shown: to a player only on request. */
    this.hints = true;
    /** The steps from each square to the nearest exit. */
    this.exitSteps = distances(this.rows, exitsOf(this.rows));
    this.options = OPTIONS;
    /** @type {Set<string>} */
    this.shown = new Set();
    /** Why the match ended, as its result says. */
    this.reason = "";
    this.drawGround = drawGround.bind(null, this);
    this.draw = drawPlay.bind(null, this);
  }

  /** @param {number[]} thief @param {number[]} policeman */
  placed(thief, policeman) {
    this.thief.forEach((column, index) => column.push(thief[index]));
    this.policeman.forEach((column, index) => column.push(policeman[index]));
  }

  /** @param {string} seat */
  columnsOf(seat) {
    return seat === "thief" ? this.thief : this.policeman;
  }

  get last() {
    return this.thief[0].length - 1;
  }

  /** @param {StepRecord} record */
  push({ changes }) {
    for (const [name, columns] of /** @type {[string, Column[]][]} */ ([["thief", this.thief], ["policeman", this.policeman]])) {
      const moved = changes[name];
      columns.forEach((column, index) => column.push(moved === undefined ? column.data[column.length - 1] : whole(moved?.[index], `the ${name}'s square`, 1, 64)));
    }
  }

  /** @param {number} turn @param {any} view */
  jump(turn, view) {
    while (this.last < turn - 1) [...this.thief, ...this.policeman].forEach((column) => column.push(column.data[column.length - 1]));
    this.placed(view.thief, view.policeman);
  }

  /** @param {StepRecord} record */
  events(record) {
    return noticesOf(record, () => "illegal order");
  }

  /** @param {number} position @param {Record<string, any>} values @returns {GameEvent[]} */
  measure(position, values) {
    if (typeof values.plies === "number") this.values.set(position, { winner: String(values.winner), plies: values.plies, best: Array.isArray(values.best) ? values.best : [] });
    // The start is known to the engine, not to the replay's head.
    if (Array.isArray(values.thief) && !this.thief[0].data[position]) {
      [this.thief, this.policeman].forEach((columns, seat) => columns.forEach((column, index) => {
        for (let at = position; at <= this.last && !column.data[at]; at += 1) column.data[at] = values[SEATS[seat]][index];
      }));
    }
    if (!this.isMistake(position)) return [];
    const seat = SEATS[(position - 1) % 2];
    return [{ turn: position - 1, kind: "mistake", seat, text: `mistake of the ${seat}: ${this.value(position)} now, ${this.value(position - 1)} before` }];
  }

  /** @param {number} x @param {number} y @returns {[number, number]} */
  place(x, y) {
    return [x - 0.5, y - 0.5];
  }

  /** @param {number} u @param {number} v */
  locate(u, v) {
    return { x: Math.floor(u) + 1, y: Math.floor(v) + 1 };
  }

  /** The middle of a figure's square, and as a fraction of the position on its way to the next one. @param {Column[]} columns @param {number} exact @returns {[number, number]} */
  at([rows, columns], exact) {
    const turn = Math.floor(exact);
    const next = Math.min(this.last, turn + 1);
    const between = (/** @type {Column} */ { data }) => data[turn] + (data[turn] ? (exact - turn) * (data[next] - data[turn]) : 0);
    return this.place(between(columns), between(rows));
  }

  /** A figure's row and column, from 0. @param {Column[]} columns @param {number} turn @returns {[number, number]} */
  squareOf([rows, columns], turn) {
    return [rows.data[turn] - 1, columns.data[turn] - 1];
  }

  /** Whether the place of a figure is known: the head doesn't have the starts that were drawn at random. @param {Column[]} columns @param {number} turn */
  isPlaced([rows], turn) {
    return rows.data[turn] > 0;
  }

  /** @param {number} exact */
  spots(exact) {
    return Object.entries(COLORS).flatMap(([seat, color]) => {
      const [u, v] = this.at(this.columnsOf(seat), exact);
      return this.isPlaced(this.columnsOf(seat), Math.floor(exact)) ? [{ seat, u, v, color }] : [];
    });
  }

  /** Where a figure stands, in words. @param {Column[]} columns @param {number} turn */
  where([rows, columns], turn) {
    return rows.data[turn] ? `row ${rows.data[turn]}, column ${columns.data[turn]}` : "not known yet";
  }

  /** @param {any} result */
  ended(result) {
    this.reason = plain(result?.reason, 40);
  }

  ending() {
    const { last } = this;
    const [[tr, tc], [pr, pc]] = [this.thief, this.policeman].map((columns) => columns.map((column) => column.data[last]));
    const policeman = `the policeman is at row ${pr}, column ${pc}`;
    if (this.reason === "caught") return { text: `Caught at row ${tr}, column ${tc}, ${counted(this.exitSteps[(tr - 1) * this.width + tc - 1], "step")} from the exit.`, place: this.at(this.thief, last) };
    if (this.reason === "escaped") return { text: `Out through the exit at row ${tr}, column ${tc}; ${policeman}.`, place: this.at(this.thief, last) };
    return { text: `The thief is at row ${tr}, column ${tc}; ${policeman}.`, place: null };
  }

  /** @param {Cell} cell @param {number} turn */
  hover({ x, y }, turn) {
    const sign = this.rows[y - 1]?.[x - 1];
    if (sign === undefined) return "";
    const who = SEATS.filter((seat) => {
      const [rows, columns] = this.columnsOf(seat);
      return rows.data[turn] === y && columns.data[turn] === x;
    });
    return [`row ${y}, column ${x}`, { "#": "wall", E: "exit" }[sign] ?? "free", ...who].join(" · ");
  }

  /** What perfect play makes of a position. @param {number} turn */
  value(turn) {
    const value = this.hints ? this.values.get(turn) : undefined;
    if (!value) return "";
    if (!value.winner) return "a draw with perfect play";
    return `${value.winner === "thief" ? "thief escapes" : "policeman wins"} in ${counted(Math.ceil(value.plies / 2), "move")}`;
  }

  /** The same in few letters. @param {number} turn */
  inShort(turn) {
    const value = this.values.get(turn);
    return !value ? "–" : value.winner ? `${value.winner} in ${number(Math.ceil(value.plies / 2))}` : "draw";
  }

  /** Whether the ply that led here threw the value away. @param {number} turn */
  isMistake(turn) {
    const [before, after] = [this.values.get(turn - 1), this.values.get(turn)];
    if (!before || !after || !this.hints) return false;
    const mover = SEATS[(turn - 1) % 2];
    const worth = (/** @type {string} */ winner) => (winner === mover ? 1 : winner ? -1 : 0);
    return worth(after.winner) < worth(before.winner);
  }

  /** @param {number} turn */
  summary(turn) {
    const placed = SEATS.filter((seat) => this.isPlaced(this.columnsOf(seat), turn)).map((seat) => `${seat} at ${this.where(this.columnsOf(seat), turn)}`).join("; ");
    return [`Ply ${turn}.`, placed && `${placed[0].toUpperCase()}${placed.slice(1)}.`, this.value(turn)].filter(Boolean).join(" ");
  }

  /** @param {number} turn */
  score(turn) {
    return `${counted(Math.ceil(turn / 2), "move")}${this.isMistake(turn) ? " · mistake" : ""}`;
  }

  /** @param {number} turn @returns {[string, string][]} */
  facts(turn) {
    const [[tr, tc], [pr, pc]] = [this.thief, this.policeman].map((columns) => columns.map((column) => column.data[turn]));
    /** @type {[string, string][]} */
    const facts = [["Thief", this.where(this.thief, turn)], ["Policeman", this.where(this.policeman, turn)], ["Turn", SEATS[turn % 2]]];
    if (tr && pr) {
      const [toExit, apart] = [this.exitSteps[(tr - 1) * this.width + tc - 1], distances(this.rows, [[pr - 1, pc - 1]])[(tr - 1) * this.width + tc - 1]];
      if (toExit >= 0) facts.push(["Thief to the exit", counted(toExit, "step")]);
      if (apart >= 0) facts.push(["Thief to the policeman", counted(apart, "step")]);
    }
    const [over] = [this.values.get(turn)?.best.length === 0 && tr > 0];
    if (over) facts.splice(2, 1);
    if (this.value(turn) && !over) facts.push(["Value", this.value(turn)]);
    const best = this.hints ? this.values.get(turn)?.best ?? [] : [];
    if (best.length) facts.push(["Perfect play", best.map((order) => NAMES[order] ?? "").join(" or ")]);
    if (this.isMistake(turn)) facts.push(["Last ply", `a mistake of the ${SEATS[(turn - 1) % 2]}`]);
    if (this.limit) facts.push(["Moves left", number(Math.max(0, this.limit - Math.ceil(turn / 2)))]);
    return facts;
  }

  /** @returns {Strip[]} */
  strips() {
    const colors = /** @type {Record<string, string>} */ ({ ...COLORS, "": "plain" });
    return [{
      name: "perfect play", unit: "", color: "accent", isKnown: () => this.hints && this.values.size > 0,
      value: (turn) => this.values.get(turn)?.plies ?? NaN,
      text: (turn) => this.inShort(turn),
      band: (turn) => (this.values.has(turn) ? colors[/** @type {any} */ (this.values.get(turn)).winner] ?? "" : ""),
    }];
  }

  /** @param {any} result */
  result(result) {
    return SEATS.map((seat) => `${seat} ${number(Number(result?.scores?.[seat]) || 0, 1)}`).join(", ");
  }

  /** @param {Palette} palette @returns {[string, string][]} */
  legend(palette) {
    return [["● thief", palette.orange], ["● policeman", palette.blue], ["E exit", palette.accent]];
  }

  /** @param {number} turn */
  groundKey(turn) {
    return `${[...this.shown].join()}${this.shown.has("policeman") ? `/${this.squareOf(this.policeman, turn).join()}` : ""}`;
  }
}

/** @type {Display} */
export const display = {
  createTrack: (head) => new MazeTrack(head),
  createControls: (track, seat) => controlsOf(/** @type {MazeTrack} */ (track), seat),
  describeMove,
  better: (track, { seat, turn, better }) => {
    const maze = /** @type {MazeTrack} */ (track);
    const [row, column] = maze.squareOf(maze.columnsOf(seat), turn).map((part) => part + 1);
    const [down, right] = { U: [-1, 0], D: [1, 0], L: [0, -1], R: [0, 1] }[/** @type {string} */ (better.go)] ?? [0, 0];
    return { arrow: { start: [column, row], end: [column + right, row + down] } };
  },
  seatColors: COLORS,
  moments,
  eventLooks: { "illegal order": { color: "warn", from: 0.5, to: 0.9 }, mistake: { color: "accent", from: 0.1, to: 0.55 } },
};
