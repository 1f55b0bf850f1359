// Evasion on a page: positions from the records of a replay, and how they are drawn.
// There are no rules here: what would happen is asked of the engine.

import { Column, lastBefore } from "../../web/viewer/kit/columns.js";
import { number, plain } from "../../web/viewer/kit/dom.js";
import { controlsFor, describeMove, KINDS } from "./controls.js";
import { Analysis, LAYERS } from "./analysis.js";
import { drawPreview, drawRefusals } from "./intents.js";
import { drawHunter, drawPrey, shade } from "./signs.js";
import { betweenEnds, eachCell, fromTurns, KEY_OF, length, wallPlace, whole } from "./walls.js";

/**
 * @typedef {import("./walls.js").WallPlace} WallPlace
 * @typedef {import("./walls.js").Wall} Wall
 * @typedef {{ turn: number, kind: string, x: number, y: number, text: string }} Refusal
 * @typedef {import("../../web/viewer/kit/types.js").Frame} Frame
 * @typedef {import("../../web/viewer/kit/types.js").Track} Track
 */

/** @param {number} dx @param {number} dy */
function heading(dx, dy) {
  const names = [
    ["south-west", "south", "south-east"],
    ["west", "standing", "east"],
    ["north-west", "north", "north-east"],
  ];
  return names[Math.sign(dy) + 1][Math.sign(dx) + 1];
}

/** @implements {Track} */
export class EvasionTrack {
  /** @param {import("../../web/viewer/kit/types.js").Head} head */
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
    this.maxSteps = whole(settings.max_steps, "the step limit", 1);
    this.kinds = KINDS[head.rules] ?? Object.keys(KEY_OF);
    const [hx, hy, hdx, hdy] = [0, 1, 2, 3].map((index) => whole(settings.hunter?.[index], "the hunter's start"));
    const [px, py] = [0, 1].map((index) => whole(settings.prey?.[index], "the prey's start"));
    /** Places and directions by position: x, y, dx, dy. */
    this.hunter = [hx, hy, hdx, hdy].map(startColumn);
    this.prey = [px, py, 0, 0].map(startColumn);
    /** @type {Wall[]} */
    this.walls = [];
    /** @type {Map<number, Wall>} */
    this.standing = new Map();
    /** @type {Refusal[]} */
    this.refusals = [];
    /** Where a cooldown began: positions, and the steps left then. */
    this.timers = { positions: [0], left: [0] };
    this.preyTimers = { positions: [0], left: [0] };
    /** Positions before which steps are missing. */
    this.breaks = new Set();
    this.areas = { positions: /** @type {number[]} */ ([]), cells: /** @type {number[]} */ ([]) };
    this.analysis = new Analysis(this);
    this.layers = LAYERS;
  }

  /** The last position that is known. */
  get last() {
    return this.hunter[0].length - 1;
  }

  /** @param {import("../../web/viewer/kit/types.js").StepRecord} record */
  push({ turn, changes, notices }) {
    const position = this.last + 1;
    for (const [name, columns] of /** @type {[string, Column[]][]} */ ([["hunter", this.hunter], ["prey", this.prey]])) {
      const moved = changes[name];
      columns.forEach((column, index) => {
        column.push(moved === undefined ? column.data[column.length - 1] : whole(moved?.[index], `the ${name}'s place`));
      });
    }
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
      this.refusals.push({ turn, kind: plain(notice.data.kind, 20), x, y, text: plain(notice.text, 300) });
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
    while (this.last < turn - 1) {
      for (const column of [...this.hunter, ...this.prey]) column.push(column.data[column.length - 1]);
    }
    for (const [name, columns] of /** @type {[string, Column[]][]} */ ([["hunter", this.hunter], ["prey", this.prey]])) {
      const body = this.isTurnwise ? fromTurns(view[name]) : view[name];
      ["x", "y", "dx", "dy"].forEach((key, index) => columns[index].push(whole(body[key], `the ${name}'s ${key}`)));
    }
    this.breaks.add(turn);
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

  /** @param {[number, any][]} points */
  judged(points) {
    const had = this.analysis.events().length;
    this.analysis.judged(points);
    return this.analysis.events().slice(had);
  }

  /** @param {import("../../web/viewer/kit/types.js").StepRecord} record */
  events({ turn, changes, notices, moves }) {
    /** @type {import("../../web/viewer/kit/types.js").GameEvent[]} */
    const found = [];
    for (const id of changes.removed ?? []) found.push({ turn, kind: "wall removed", seat: "hunter", text: `wall ${id} removed` });
    for (const wall of changes.built ?? []) {
      const text = `${wall.kind} wall ${wall.id} built from (${wall.x1}, ${wall.y1}) to (${wall.x2}, ${wall.y2})`;
      found.push({ turn, kind: "wall built", seat: "hunter", text });
    }
    for (const notice of Array.isArray(notices) ? notices : []) {
      const kind = notice?.code === "wall-refused" ? "wall refused" : "notice";
      found.push({ turn, kind, seat: plain(notice?.seat, 20), text: plain(notice?.text, 300) });
    }
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
    return heading(dx, this.isTurnwise ? -dy : dy);
  }

  /** @param {number} u @param {number} v */
  locate(u, v) {
    return { x: Math.floor(u), y: this.row(Math.floor(v)) };
  }

  /** @param {string} seat @param {number} turn @returns {[number, number] | null} */
  anchor(seat, turn) {
    const columns = seat === "hunter" ? this.hunter : seat === "prey" ? this.prey : null;
    return columns && this.place(columns[0].data[turn], columns[1].data[turn]);
  }

  /** @param {number} turn */
  wallsAt(turn) {
    return this.walls.filter((wall) => wall.from <= turn && turn < wall.to);
  }

  /** @param {import("../../web/viewer/kit/types.js").Cell} cell @param {number} turn */
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

  /** @param {import("../../web/viewer/kit/types.js").Cell} cell @param {number} turn */
  hover(cell, turn) {
    const wall = this.wallAt(cell, turn);
    if (wall) {
      const ends = `(${wall.x1}, ${wall.y1}) to (${wall.x2}, ${wall.y2})`;
      return `wall ${wall.id} · ${wall.kind} · ${ends} · ${number(length(wall))} cells · ${number(turn - wall.from)} steps old`;
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
      `${number(this.distance(turn), 1)} apart; ${walls} wall${walls === 1 ? "" : "s"}.`
    );
  }

  /** @param {number} turn */
  score(turn) {
    const count = this.isTurnwise ? Math.floor(turn / 2) : turn;
    return `${number(count)} ${this.isTurnwise ? "round" : "step"}${count === 1 ? "" : "s"} survived`;
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
      ["Next wall", timer ? `in ${timer} ${this.isTurnwise ? "round" : "step"}${timer === 1 ? "" : "s"}` : "now"],
      this.isTurnwise ? ["Turn", this.turnOf(turn)] : ["Prey moves", (turn + 1) % this.period ? `in step ${turn + this.period - ((turn + 1) % this.period)}` : "in this step"],
    ];
    const area = this.area(turn);
    if (!Number.isNaN(area)) facts.push(["Prey's area", `${number(area)} cells`]);
    const verdict = this.analysis.inWords(turn, this.isTurnwise ? "turns" : "steps");
    if (verdict) facts.push(["Verdict", verdict]);
    if (this.analysis.turn === turn && this.analysis.drawn) facts.push(["Safe cells", number(this.analysis.drawn.safe_cells)]);
    return facts;
  }

  /** Whose turn it is, and whether it may do something. @param {number} turn */
  turnOf(turn) {
    const seat = turn % 2 ? "prey" : "hunter";
    const left = this.left(seat === "prey" ? this.preyTimers : this.timers, turn);
    return `round ${number(Math.floor(turn / 2))}, ${seat}'s${left ? `, not asked for ${left} more` : ""}`;
  }

  /** @returns {import("../../web/viewer/kit/types.js").Strip[]} */
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
    return typeof score === "number" ? `hunter ${number(score)} ${this.isTurnwise ? "rounds" : "steps"}` : "no score";
  }

  /** @param {import("../../web/viewer/kit/types.js").Palette} palette @returns {[string, string][]} */
  legend(palette) {
    return [
      ["▲ hunter and its path —", palette.orange],
      ["● prey and its path - -", palette.blue],
      ["■ new wall", shade(palette, 0)],
      ["■ old wall", shade(palette, 1)],
      ["╳ refused wall", palette.warn],
    ];
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Frame} frame
   */
  draw(context, frame) {
    const { turn, palette, pixel } = frame;
    this.analysis.draw(context, frame);
    this.drawWalls(context, frame);
    this.drawWay(context, frame, this.hunter, palette.orange, []);
    this.drawWay(context, frame, this.prey, palette.blue, [6 * pixel, 4 * pixel]);
    drawRefusals(this, context, frame);
    if (frame.preview) drawPreview(this, context, frame, frame.preview);
    const [hx, hy, hdx, hdy] = this.hunter.map((column) => column.data[turn]);
    const [px, py, pdx, pdy] = this.prey.map((column) => column.data[turn]);
    const [hu, hv] = this.place(hx, hy);
    const [pu, pv] = this.place(px, py);
    context.lineWidth = pixel;
    context.strokeStyle = palette.orange;
    context.setLineDash([3 * pixel, 3 * pixel]);
    context.beginPath();
    context.arc(hu, hv, Math.max(this.radius, 0.5), 0, 2 * Math.PI);
    context.stroke();
    context.setLineDash([]);
    const down = this.isTurnwise ? 1 : -1;
    drawPrey(context, pu, pv, pdx, down * pdy, Math.max(1.1, 5.5 * pixel), pixel, palette);
    drawHunter(context, hu, hv, hdx, down * hdy, Math.max(1.4, 7.5 * pixel), pixel, palette);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Frame} frame
   */
  drawWalls(context, { turn, palette, pixel }) {
    for (const wall of this.walls) {
      if (wall.from > turn || turn >= wall.to) continue;
      const age = Math.min(1, Math.log1p(turn - wall.from) / Math.log1p(40 * Math.max(1, this.cooldown)));
      context.fillStyle = shade(palette, age);
      context.fill(this.pathOf(wall));
      if (pixel > 0.6) {
        // Cells smaller than a pixel or two: walls would all but vanish.
        context.strokeStyle = context.fillStyle;
        context.lineWidth = 1.2 * pixel;
        context.stroke(this.pathOf(wall));
      }
    }
  }

  /** @param {Wall} wall */
  pathOf(wall) {
    wall.path ??= this.outline(wall);
    return wall.path;
  }

  /** @param {WallPlace} wall */
  outline(wall) {
    const path = new Path2D();
    if (wall.kind === "horizontal") path.rect(wall.x1, this.row(wall.y1), wall.x2 - wall.x1 + 1, 1);
    else if (wall.kind === "vertical") path.rect(wall.x1, Math.min(this.row(wall.y1), this.row(wall.y2)), 1, wall.y2 - wall.y1 + 1);
    else eachCell(wall, (x, y) => path.rect(x, this.row(y), 1, 1));
    return path;
  }

  /**
   * The path so far, and the next steps.
   * @param {CanvasRenderingContext2D} context
   * @param {Frame} frame
   * @param {Column[]} columns
   * @param {string} color
   * @param {number[]} dash
   */
  drawWay(context, { turn, pixel, trail, ahead }, columns, color, dash) {
    const [xs, ys] = columns.map((column) => column.data);
    context.strokeStyle = color;
    context.lineJoin = "round";
    context.lineWidth = 1.6 * pixel;
    context.setLineDash(dash);
    context.globalAlpha = 0.75;
    this.polyline(context, xs, ys, Math.max(0, turn - trail), turn);
    if (ahead) {
      context.globalAlpha = 0.5;
      context.lineWidth = pixel;
      context.setLineDash([pixel, 3 * pixel]);
      this.polyline(context, xs, ys, turn, Math.min(this.last, turn + 40));
    }
    context.globalAlpha = 1;
    context.setLineDash([]);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {ArrayLike<number>} xs
   * @param {ArrayLike<number>} ys
   * @param {number} from
   * @param {number} to
   */
  polyline(context, xs, ys, from, to) {
    context.beginPath();
    context.moveTo(...this.place(xs[from], ys[from]));
    for (let at = from + 1; at <= to; at += 1) {
      // A run in one direction is one line.
      if (at < to && xs[at + 1] - xs[at] === xs[at] - xs[at - 1] && ys[at + 1] - ys[at] === ys[at] - ys[at - 1] && !this.breaks.has(at)) continue;
      if (this.breaks.has(at)) context.moveTo(...this.place(xs[at], ys[at]));
      else context.lineTo(...this.place(xs[at], ys[at]));
    }
    context.stroke();
  }

}

/** @param {number} value */
function startColumn(value) {
  const column = new Column(Int32Array);
  column.push(value);
  return column;
}

/** @type {import("../../web/viewer/kit/types.js").Display} */
export const display = {
  createTrack: (head) => new EvasionTrack(head),
  createControls: (track, seat) => controlsFor(/** @type {EvasionTrack} */ (track), seat),
  describeMove,
  seatColors: { hunter: "orange", prey: "blue" },
  eventLooks: {
    bounce: { color: "grid", from: 0.7, to: 1, isMinor: true },
    "wall built": { color: "accent", from: 0.1, to: 0.55 },
    "wall removed": { color: "plain", from: 0.35, to: 0.7 },
    "wall refused": { color: "warn", from: 0.5, to: 0.9 },
  },
};
