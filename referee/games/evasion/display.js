// Evasion on a page: positions from the records of a replay, and how they are drawn.
// There are no rules here: the engine answers what would happen.

import { lastBefore } from "../../pages/viewer/kit/columns.js";
import { counted, number, plain } from "../../pages/viewer/kit/dom.js";
import { ARROWS, controlsFor, describeMove, KINDS } from "./controls.js";
import { Analysis, LAYERS } from "./analysis.js";
import { notes } from "./intents.js";
import { noticesOf } from "../../pages/viewer/kit/records.js";
import { Way } from "./motion.js";
import { Regions } from "./region.js";
import { drawChase, drawGround, groundKey } from "./scene.js";
import { shade } from "./signs.js";
import { betweenEnds, eachCell, fromTurns, KEY_OF, length, wallPlace, whole } from "./walls.js";
import { moments } from "./moments.js";

/**
 * @typedef {import("./walls.js").WallPlace} WallPlace
 * @typedef {import("./walls.js").Wall} Wall
 * @typedef {{ turn: number, kind: string, reason: string, x: number, y: number, text: string, reach?: Record<string, number> }} Refusal
 * @typedef {import("../../pages/viewer/kit/columns.js").Column} Column
 */

const SEATS = /** @type {const} */ (["hunter", "prey"]);
/** For how many steps before and after a camera that follows looks. */
const FOCUS_STEPS = 36;
/** The length of the arrow of a better move, in cells. */
const BETTER_CELLS = 24;
/** How many sets of walls are cached: they come back while a reader scrubs. */
const KEPT_SETS = 64;

/** @implements {Track} */
export class EvasionTrack {
  /** @param {Head} head */
  constructor(head) {
    const { settings } = head;
    this.width = whole(settings.width, "the width", 1);
    this.height = whole(settings.height, "the height", 1);
    if (this.width > 10_000 || this.height > 10_000) throw new Error("The board is larger than any game's.");
    this.radius = whole(settings.capture_radius, "the capture radius", 0);
    this.cooldown = whole(settings.cooldown, "the cooldown", 0);
    this.maxWalls = whole(settings.max_walls, "the greatest number of walls", 0);
    /** Played turn by turn, y downwards on the screen, and with a cooldown for the prey. */
    this.isTurnwise = settings.prey_cooldown !== undefined;
    this.period = this.isTurnwise ? 1 : whole(settings.prey_period, "the prey's period", 1);
    this.kinds = KINDS[head.rules] ?? Object.keys(KEY_OF);
    const [hx, hy, hdx, hdy] = [0, 1, 2, 3].map((index) => whole(settings.hunter?.[index], "the hunter's start"));
    const [px, py] = [0, 1].map((index) => whole(settings.prey?.[index], "the prey's start"));
    this.ways = { hunter: new Way([hx, hy, hdx, hdy]), prey: new Way([px, py, 0, 0]) };
    /** Places and directions by position: x, y, dx, dy. */
    this.hunter = this.ways.hunter.columns;
    this.prey = this.ways.prey.columns;
    /** @type {Wall[]} */
    this.walls = [];
    /** @type {Map<number, Wall>} */
    this.standing = new Map();
    /** @type {Refusal[]} */
    this.refusals = [];
    /** The steps of the refusals. @type {number[]} */
    this.refusedTurns = [];
    /** Where a cooldown began: positions, and the steps left then. */
    this.timers = { positions: [0], left: [0] };
    this.preyTimers = { positions: [0], left: [0] };
    /** The positions at which the walls changed. */
    this.changes = [0];
    /** The walls of such a position. @type {Map<number, Wall[]>} */
    this.sets = new Map();
    this.regions = new Regions(this);
    /** Why the match ended, as its result says. */
    this.reason = "";
    this.areas = { positions: /** @type {number[]} */ ([]), cells: /** @type {number[]} */ ([]) };
    this.analysis = new Analysis(this);
    this.layers = LAYERS;
    /** What the page itself can draw. @type {[string, string][]} */
    this.options = this.regions.isPossible ? [["region", "prey's region"]] : [];
    this.shown = new Set(["region"]);
    this.drawGround = drawGround.bind(null, this);
    this.groundKey = groundKey.bind(null, this);
    this.draw = drawChase.bind(null, this);
    this.notes = notes.bind(null, this);
  }

  /** The last position that is known. */
  get last() {
    return this.hunter[0].length - 1;
  }

  /** @param {StepRecord} record */
  push({ turn, changes, notices }) {
    const position = this.last + 1;
    for (const name of SEATS) {
      const way = this.ways[name];
      const moved = changes[name];
      way.push(way.columns.map((column, index) => (moved === undefined ? column.data[position - 1] : whole(moved?.[index], `the ${name}'s place`))), moved !== undefined);
    }
    if (changes.removed?.length || changes.built?.length) this.wallsChange(position);
    for (const id of changes.removed ?? []) {
      const wall = this.standing.get(id);
      if (!wall) throw new Error(`wall ${plain(id, 20)} is removed, but there is none`);
      wall.to = position;
      this.standing.delete(id);
    }
    for (const given of changes.built ?? []) this.addWall(wallPlace(given), position);
    if (changes.wall_timer !== undefined) {
      this.timers.positions.push(position);
      this.timers.left.push(whole(changes.wall_timer, "the wall timer", 0));
    }
    if (changes.prey_timer !== undefined) {
      this.preyTimers.positions.push(position);
      this.preyTimers.left.push(whole(changes.prey_timer, "the prey's timer", 0));
    }
    for (const notice of Array.isArray(notices) ? notices : []) {
      if (notice?.code !== "wall-refused" || !Array.isArray(notice.data?.at)) continue;
      const [x, y] = notice.data.at.map((/** @type {unknown} */ part) => whole(part, "the place of a refused wall"));
      this.refusedTurns.push(turn);
      const [kind, reason] = [plain(notice.data.kind, 20), plain(notice.data.reason, 20)];
      this.refusals.push({ turn, kind, reason, x, y, text: plain(notice.text, 300) });
    }
  }

  /** @param {WallPlace} place @param {number} position */
  addWall(place, position) {
    const wall = { ...place, from: position, to: Infinity, path: null };
    this.walls.push(wall);
    this.standing.set(place.id, wall);
  }

  /** @param {number} turn @param {any} view */
  jump(turn, view) {
    for (const name of SEATS) {
      const body = this.isTurnwise ? fromTurns(view[name]) : view[name];
      this.ways[name].jump(turn, ["x", "y", "dx", "dy"].map((key) => whole(body[key], `the ${name}'s ${key}`)));
    }
    this.wallsChange(turn);
    const there = new Set(view.walls.map((/** @type {any} */ wall) => wall.id));
    for (const [id, wall] of this.standing) {
      if (!there.has(id)) {
        wall.to = turn;
        this.standing.delete(id);
      }
    }
    for (const given of view.walls) {
      if (!this.standing.has(given.id)) this.addWall(wallPlace(this.isTurnwise ? betweenEnds(given) : given), turn);
    }
    this.timers.positions.push(turn);
    this.timers.left.push(whole(this.isTurnwise ? view.hunter.cooldown : view.wall_timer, "the wall timer", 0));
    if (!this.isTurnwise) return;
    this.preyTimers.positions.push(turn);
    this.preyTimers.left.push(whole(view.prey.cooldown, "the prey's timer", 0));
  }

  /**
   * What the engine has worked out for a position and those after it.
   * @param {number} position
   * @param {Record<string, any>} values
   */
  measure(position, values) {
    const last = this.areas.positions.at(-1) ?? -1;
    if (typeof values.area === "number" && position > last) {
      this.areas.positions.push(position);
      this.areas.cells.push(values.area);
    }
  }

  /** @param {[number, any][]} points @param {boolean} isAll */
  judged(points, isAll = true) {
    const had = this.analysis.events().length;
    this.analysis.judged(points, isAll);
    return this.analysis.events().slice(had);
  }

  /** @param {StepRecord} record */
  events(record) {
    const { turn, changes, moves } = record;
    /** @type {GameEvent[]} */
    const found = [];
    for (const id of changes.removed ?? []) found.push({ turn, kind: "wall removed", seat: "hunter", text: `wall ${id} removed` });
    for (const wall of changes.built ?? []) {
      const text = `${wall.kind} wall ${wall.id} built from (${wall.x1}, ${wall.y1}) to (${wall.x2}, ${wall.y2})`;
      found.push({ turn, kind: "wall built", seat: "hunter", text });
    }
    found.push(...noticesOf(record, (notice) => (notice?.code === "wall-refused" ? "wall refused" : "notice")));
    const before = this.last - 1;
    for (const [seat, columns] of /** @type {[string, Column[]][]} */ ([["hunter", this.hunter], ["prey", this.prey]])) {
      const [x, y, dx, dy] = columns.map((column) => column.data[before + 1]);
      const asked = seat === "prey" ? moves?.prey?.go : undefined;
      const [wasX, wasY] = Array.isArray(asked) ? asked : [columns[2].data[before], columns[3].data[before]];
      if ((dx !== wasX || dy !== wasY) && (seat === "hunter" || changes.prey)) {
        found.push({ turn, kind: "bounce", seat, text: `the ${seat} bounces at (${x}, ${y}), now going ${this.heading(dx, dy)}` });
      }
    }
    return found;
  }

  /** @param {number} x @param {number} y @returns {[number, number]} */
  place(x, y) {
    return [x + 0.5, this.row(y) + 0.5];
  }

  /** The row of cells, from above, in which a y is drawn. @param {number} y */
  row(y) {
    return this.isTurnwise ? y : this.height - 1 - y;
  }

  /** A direction by its name. @param {number} dx @param {number} dy */
  heading(dx, dy) {
    return dx || dy ? ARROWS[[dx, this.isTurnwise ? -dy : dy].map(Math.sign).join()][1] : "standing";
  }

  /** @param {number} u @param {number} v */
  locate(u, v) {
    return { x: Math.floor(u), y: this.row(Math.floor(v)) };
  }

  /** Other walls stand from a position on. @param {number} position */
  wallsChange(position) {
    if (this.changes.at(-1) !== position) this.changes.push(position);
  }

  /** The number of the set of walls that stands. @param {number} turn */
  wallSet(turn) {
    return lastBefore(this.changes, turn + 1);
  }

  /** @param {number} turn */
  wallsAt(turn) {
    const set = this.wallSet(turn);
    const found = this.sets.get(set) ?? this.walls.filter((wall) => wall.from <= turn && turn < wall.to);
    if (!this.sets.has(set)) {
      if (this.sets.size >= KEPT_SETS) this.sets.clear();
      this.sets.set(set, found);
    }
    return found;
  }

  /** What the prey can reach; null where the board is too large. @param {number} turn */
  regionAt(turn) {
    return this.regions.at(this.wallSet(turn), this.wallsAt(turn), this.prey[0].data[turn], this.prey[1].data[turn]);
  }

  /** @param {Cell} cell @param {number} turn */
  wallAt({ x, y }, turn) {
    for (const wall of this.wallsAt(turn)) {
      if (x < wall.x1 || x > wall.x2 || y < Math.min(wall.y1, wall.y2) || y > Math.max(wall.y1, wall.y2)) continue;
      let isHit = false;
      eachCell(wall, (atX, atY) => {
        if (atX === x && atY === y) isHit = true;
      });
      if (isHit) return wall;
    }
    return null;
  }

  /** @param {Cell} cell @param {number} turn */
  hover(cell, turn) {
    const wall = this.wallAt(cell, turn);
    if (wall) {
      const ends = `(${wall.x1}, ${wall.y1}) to (${wall.x2}, ${wall.y2})`;
      return `wall ${wall.id} · ${wall.kind} · ${ends} · ${counted(length(wall), "cell")} · ${counted(turn - wall.from, "step")} old`;
    }
    for (const [seat, columns] of /** @type {[string, Column[]][]} */ ([["hunter", this.hunter], ["prey", this.prey]])) {
      const [x, y, dx, dy] = columns.map((column) => column.data[turn]);
      if (x === cell.x && y === cell.y) return `${seat} · ${this.heading(dx, dy)}`;
    }
    return "";
  }

  /** @param {number} turn */
  distance(turn) {
    return Math.hypot(this.hunter[0].data[turn] - this.prey[0].data[turn], this.hunter[1].data[turn] - this.prey[1].data[turn]);
  }

  /** @param {number} turn */
  timer(turn) {
    return this.left(this.timers, turn);
  }

  /**
   * What is left of a cooldown; turn by turn it falls with every other one.
   * @param {{ positions: number[], left: number[] }} timers
   * @param {number} turn
   */
  left({ positions, left }, turn) {
    const at = lastBefore(positions, turn + 1);
    const passed = turn - positions[at];
    return Math.max(0, left[at] - (this.isTurnwise ? Math.floor(passed / 2) : passed));
  }

  /** @param {number} turn */
  area(turn) {
    const at = lastBefore(this.areas.positions, turn + 1);
    return at < 0 ? NaN : this.areas.cells[at];
  }

  /** @param {number} turn */
  summary(turn) {
    const [hx, hy, hdx, hdy] = this.hunter.map((column) => column.data[turn]);
    const [px, py, pdx, pdy] = this.prey.map((column) => column.data[turn]);
    const walls = this.wallsAt(turn).length;
    const prey = pdx || pdy ? `going ${this.heading(pdx, pdy)}` : "standing";
    return (
      `Step ${turn}. Hunter at ${hx}, ${hy} going ${this.heading(hdx, hdy)}; prey at ${px}, ${py} ${prey}; ` +
      `${number(this.distance(turn), 1)} apart; ${counted(walls, "wall")}.`
    );
  }

  /** @param {number} turn */
  score(turn) {
    const count = this.isTurnwise ? Math.floor(turn / 2) : turn;
    return `${counted(count, this.isTurnwise ? "round" : "step")} survived`;
  }

  /** @param {number} turn @returns {[string, string][]} */
  facts(turn) {
    const [hx, hy, hdx, hdy] = this.hunter.map((column) => column.data[turn]);
    const [px, py, pdx, pdy] = this.prey.map((column) => column.data[turn]);
    const timer = this.timer(turn);
    /** @type {[string, string][]} */
    const facts = [
      ["Hunter", `(${hx}, ${hy}) ${this.heading(hdx, hdy)}`],
      ["Prey", `(${px}, ${py})${this.isTurnwise ? "" : ` ${this.heading(pdx, pdy)}`}`],
      ["Distance", number(this.distance(turn), 1)],
      ["Walls", `${this.wallsAt(turn).length} of ${this.maxWalls}`],
      ["Next wall", timer ? `in ${counted(timer, this.isTurnwise ? "round" : "step")}` : "now"],
      this.isTurnwise ? ["Turn", this.turnOf(turn)] : ["Prey moves", (turn + 1) % this.period ? `in step ${turn + this.period - ((turn + 1) % this.period)}` : "in this step"],
    ];
    const area = this.area(turn);
    const cells = Number.isNaN(area) ? this.regionAt(turn)?.cells ?? NaN : area;
    if (!Number.isNaN(cells)) facts.push(["Prey's area", `${counted(cells, "cell")}, ${number((100 * cells) / (this.width * this.height), 1)} % of the board`]);
    const verdict = this.analysis.inWords(turn, this.isTurnwise ? "turn" : "step");
    if (verdict) facts.push(["Verdict", verdict]);
    if (this.analysis.turn === turn && this.analysis.drawn) facts.push(["Safe cells", number(this.analysis.safeCount)]);
    return facts;
  }

  /** Whose turn it is, and whether it may do something. @param {number} turn */
  turnOf(turn) {
    const seat = turn % 2 ? "prey" : "hunter";
    const left = this.left(seat === "prey" ? this.preyTimers : this.timers, turn);
    return `round ${number(Math.floor(turn / 2))}, ${seat}'s${left ? `, not asked for ${left} more` : ""}`;
  }

  /** @returns {Strip[]} */
  strips() {
    return [
      { name: "distance", unit: "cells", color: "accent", value: (turn) => this.distance(turn), limit: this.radius, isKnown: () => true },
      { name: "prey's area", chart: "verdict", unit: "cells", color: "blue", value: (turn) => this.area(turn), isKnown: () => this.areas.cells.length > 0 },
      this.analysis.strip(),
    ];
  }

  /** @param {any} result */
  result(result) {
    const score = result?.scores?.hunter;
    return typeof score === "number" ? `hunter ${counted(score, this.isTurnwise ? "round" : "step")}` : "no score";
  }

  /** @param {Palette} palette @returns {[string, string][]} */
  legend(palette) {
    return [
      ["▲ hunter and its path —", palette.orange],
      ["● prey and its path - -", palette.blue],
      ["⋯ the path ahead", palette.faint],
      ["■ prey's region", palette.blue],
      ["■ new wall", shade(palette, 0)],
      ["■ old wall", shade(palette, 1)],
      ["╳ refused wall", palette.warn],
      ...this.analysis.legend(palette),
    ];
  }

  /** The places of the players on the canvas, with their colours. @param {number} exact */
  spots(exact) {
    return SEATS.map((seat) => {
      const [u, v] = this.place(...this.ways[seat].at(exact));
      return { seat, u, v, color: seat === "hunter" ? "orange" : "blue" };
    });
  }

  /** What a camera that follows the players has to show: both, now and soon. @param {number} exact */
  focus(exact) {
    let [left, right, top, bottom] = [Infinity, -Infinity, Infinity, -Infinity];
    let [u, v, count] = [0, 0, 0];
    for (let shift = -FOCUS_STEPS; shift <= FOCUS_STEPS; shift += 6) {
      for (const spot of this.spots(Math.max(0, Math.min(this.last, exact + shift)))) {
        [u, v, count] = [u + spot.u, v + spot.v, count + 1];
        [left, right, top, bottom] = [Math.min(left, spot.u), Math.max(right, spot.u), Math.min(top, spot.v), Math.max(bottom, spot.v)];
      }
    }
    [u, v] = [u / count, v / count];
    return { u, v, span: 12 + 2.3 * Math.max(right - u, u - left, bottom - v, v - top, 6 * this.radius / 2.3) };
  }

  get isCaught() {
    return this.reason === "caught";
  }

  /** Where the match ends; null while that isn't known, or where nobody is caught. */
  finale() {
    if (!this.isCaught) return null;
    const [hunter, prey] = this.spots(this.last);
    const apart = Math.hypot(hunter.u - prey.u, hunter.v - prey.v);
    return { turn: this.last, u: (hunter.u + prey.u) / 2, v: (hunter.v + prey.v) / 2, span: Math.max(24, 3 * apart, 6 * this.radius) };
  }

  /** @param {any} result */
  ended(result) {
    this.reason = plain(result?.reason, 40);
    this.analysis.caughtAt = this.isCaught ? this.last : -1;
  }

  /** Where the match ended, and why. @returns {Ending} */
  ending() {
    const { last } = this;
    const [hx, hy] = this.hunter.map((column) => column.data[last]);
    const [px, py] = this.prey.map((column) => column.data[last]);
    const apart = number(this.distance(last), 1);
    if (this.isCaught) {
      const [spot, other] = this.spots(last);
      const how = this.isTurnwise
        ? `at most ${counted(this.radius, "step")} from the hunter at (${hx}, ${hy})`
        : `${apart} cells from the hunter at (${hx}, ${hy}), within the capture radius of ${number(this.radius)}, with no wall between them`;
      return { text: `Caught at (${px}, ${py}): ${how}.`, place: [(spot.u + other.u) / 2, (spot.v + other.v) / 2] };
    }
    return { text: `The prey is at (${px}, ${py}), ${apart} cells from the hunter at (${hx}, ${hy}).`, place: null };
  }
}

/**
 * How a better move is drawn: a wall as its row of cells, a step as an arrow that is long enough to be seen.
 * @param {Track} track @param {{ seat: string, turn: number, better: any }} mistake @returns {Better | null}
 */
function better(track, { seat, turn, better: { build, go } }) {
  const chase = /** @type {EvasionTrack} */ (track);
  const [x, y] = chase.ways[/** @type {"hunter" | "prey"} */ (seat)].columns.map((column) => column.data[turn]);
  if (Array.isArray(go) && (go[0] || go[1])) return { arrow: { start: [x, y], end: [x + BETTER_CELLS * go[0], y + BETTER_CELLS * go[1]] } };
  if (build?.kind === "vertical") return { marks: [{ start: [x, build.span?.[0] ?? 0], end: [x, build.span?.[1] ?? chase.height - 1] }] };
  if (build?.kind === "horizontal") return { marks: [{ start: [build.span?.[0] ?? 0, y], end: [build.span?.[1] ?? chase.width - 1, y] }] };
  return null;
}

/** @type {Display} */
export const display = {
  createTrack: (head) => new EvasionTrack(head),
  createControls: (track, seat) => controlsFor(/** @type {EvasionTrack} */ (track), seat),
  describeMove,
  better,
  seatColors: { hunter: "orange", prey: "blue" },
  moments,
  eventLooks: {
    bounce: { color: "grid", from: 0.7, to: 1, isMinor: true },
    "wall built": { color: "accent", from: 0.1, to: 0.55 },
    "wall removed": { color: "plain", from: 0.35, to: 0.7 },
    "wall refused": { color: "warn", from: 0.5, to: 0.9 },
  },
};
