// Evasion on a page: positions from the records of a replay, how they are drawn, and what keys and the pointer mean to a player.
// There are no rules here: what would happen is asked of the engine.

import { Column, lastBefore } from "../../web/static/columns.js";
import { number, plain } from "../../web/static/dom.js";
import { Insight, LAYERS } from "./insight.js";

/** The walls that a hunter may ask for, by rule set: the buttons of a person at the board. @type {Record<string, string[]>} */
const KINDS = {
  classic: ["horizontal", "vertical"],
  diagonal: ["horizontal", "vertical", "diagonal", "counter-diagonal"],
};
/** @type {Record<string, string>} */
const KEY_OF = { horizontal: "h", vertical: "v", diagonal: "d", "counter-diagonal": "c" };
const MOST = 1_000_000;
/** For how many steps a refused wall stays in sight. */
const REFUSED_STEPS = 12;

/**
 * @typedef {{ id: number, kind: string, x1: number, y1: number, x2: number, y2: number, first: string }} WallPlace
 * @typedef {WallPlace & { from: number, to: number, path: Path2D | null }} Wall
 * @typedef {{ turn: number, kind: string, x: number, y: number, text: string }} Refusal
 * @typedef {import("../../web/static/types.js").Frame} Frame
 * @typedef {import("../../web/static/types.js").Track} Track
 */

/**
 * @param {unknown} value
 * @param {string} what
 * @param {number} [least]
 */
function whole(value, what, least = -MOST) {
  if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > MOST) {
    throw new Error(`${what} is ${plain(value, 40) || "missing"}, which is no sensible number`);
  }
  return value;
}

/**
 * @param {any} given
 * @returns {WallPlace}
 */
function wallPlace(given) {
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
function eachCell({ kind, x1, y1, x2, y2, first }, visit) {
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

/** @param {WallPlace} wall */
function length(wall) {
  const apart = Math.abs(wall.x2 - wall.x1) + Math.abs(wall.y2 - wall.y1);
  return apart + 1;
}

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
class EvasionTrack {
  /** @param {import("../../web/static/types.js").Head} head */
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
    this.insight = new Insight(this);
    this.layers = LAYERS;
  }

  /** The last position that is known. */
  get last() {
    return this.hunter[0].length - 1;
  }

  /** @param {import("../../web/static/types.js").StepRecord} record */
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
    for (const given of changes.built ?? []) this.stand(wallPlace(given), position);
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
  stand(place, position) {
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
      if (!this.standing.has(given.id)) this.stand(wallPlace(this.isTurnwise ? betweenEnds(given) : given), turn);
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
    const had = this.insight.events().length;
    this.insight.judged(points);
    return this.insight.events().slice(had);
  }

  /** @param {import("../../web/static/types.js").StepRecord} record */
  events({ turn, changes, notices, moves }) {
    /** @type {import("../../web/static/types.js").GameEvent[]} */
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

  /** @param {import("../../web/static/types.js").Cell} cell @param {number} turn */
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

  /** @param {import("../../web/static/types.js").Cell} cell @param {number} turn */
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
    const verdict = this.insight.inWords(turn, this.isTurnwise ? "turns" : "steps");
    if (verdict) facts.push(["Verdict", verdict]);
    if (this.insight.turn === turn && this.insight.drawn) facts.push(["Safe cells", number(this.insight.drawn.safe_cells)]);
    return facts;
  }

  /** Whose turn it is, and whether it may do something. @param {number} turn */
  turnOf(turn) {
    const seat = turn % 2 ? "prey" : "hunter";
    const left = this.left(seat === "prey" ? this.preyTimers : this.timers, turn);
    return `round ${number(Math.floor(turn / 2))}, ${seat}'s${left ? `, not asked for ${left} more` : ""}`;
  }

  /** @returns {import("../../web/static/types.js").Strip[]} */
  strips() {
    return [
      { name: "distance H–P", unit: "cells", color: "accent", value: (turn) => this.distance(turn), limit: this.radius, isKnown: () => true },
      { name: "prey's area", unit: "cells", color: "prey", value: (turn) => this.area(turn), isKnown: () => this.areas.cells.length > 0 },
      this.insight.strip(),
    ];
  }

  /** @param {any} result */
  result(result) {
    const score = result?.scores?.hunter;
    return typeof score === "number" ? `hunter ${number(score)} ${this.isTurnwise ? "rounds" : "steps"}` : "no score";
  }

  /** @param {import("../../web/static/types.js").Palette} palette @returns {[string, string][]} */
  legend(palette) {
    return [
      ["▲ hunter, its way —", palette.hunter],
      ["● prey, its way - -", palette.prey],
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
    this.insight.draw(context, frame);
    this.drawWalls(context, frame);
    this.drawWay(context, frame, this.hunter, palette.hunter, []);
    this.drawWay(context, frame, this.prey, palette.prey, [6 * pixel, 4 * pixel]);
    this.drawRefusals(context, frame);
    if (frame.preview) this.drawPreview(context, frame, frame.preview);
    const [hx, hy, hdx, hdy] = this.hunter.map((column) => column.data[turn]);
    const [px, py, pdx, pdy] = this.prey.map((column) => column.data[turn]);
    const [hu, hv] = this.place(hx, hy);
    const [pu, pv] = this.place(px, py);
    context.lineWidth = pixel;
    context.strokeStyle = palette.hunter;
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
   * The way gone, and the one that is gone next.
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

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Frame} frame
   */
  drawRefusals(context, { turn, palette, pixel, preview }) {
    let hasWords = preview !== null;
    for (let at = this.refusals.length - 1; at >= 0 && this.refusals[at].turn >= turn - REFUSED_STEPS; at -= 1) {
      const refusal = this.refusals[at];
      if (refusal.turn >= turn) continue;
      // Words for the newest alone: several would cover each other.
      const text = hasWords ? "" : refusal.text;
      hasWords = true;
      context.globalAlpha = 1 - (turn - 1 - refusal.turn) / REFUSED_STEPS;
      this.drawRefused(context, { ...refusal, text }, palette.warn, pixel);
      context.globalAlpha = 1;
    }
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {{ kind: string, x: number, y: number, text: string }} refusal
   * @param {string} color
   * @param {number} pixel
   */
  drawRefused(context, { kind, x, y, text }, color, pixel) {
    const [u, v] = this.place(x, y);
    const reach = 60 * pixel;
    const across = kind === "vertical" ? 0 : 1;
    const down = kind === "horizontal" ? 0 : kind === "diagonal" ? -1 : 1;
    context.strokeStyle = color;
    context.lineWidth = 2 * pixel;
    context.setLineDash([5 * pixel, 4 * pixel]);
    context.beginPath();
    context.moveTo(u - across * reach, v - down * reach);
    context.lineTo(u + across * reach, v + down * reach);
    context.stroke();
    context.setLineDash([]);
    const arm = 6 * pixel;
    context.beginPath();
    for (const side of [-1, 1]) {
      context.moveTo(u - arm, v - side * arm);
      context.lineTo(u + arm, v + side * arm);
    }
    context.stroke();
    label(context, text.replace(/^.*refused: /, "refused: "), u, v + 22 * pixel, pixel, color, this.width, this.height);
  }

  /**
   * @param {CanvasRenderingContext2D} context
   * @param {Frame} frame
   * @param {import("../../web/static/types.js").Preview} preview
   */
  drawPreview(context, { turn, palette, pixel }, { changes, notices, move }) {
    context.globalAlpha = 0.55;
    context.fillStyle = palette.accent;
    for (const wall of changes.built ?? []) context.fill(this.outline(wallPlace(wall)));
    context.globalAlpha = 1;
    for (const id of changes.removed ?? []) {
      const wall = this.standing.get(id);
      if (!wall) continue;
      context.strokeStyle = palette.warn;
      context.lineWidth = 2 * pixel;
      context.setLineDash([4 * pixel, 3 * pixel]);
      context.stroke(this.pathOf(wall));
      context.setLineDash([]);
    }
    const refusal = notices.find((notice) => notice.code === "wall-refused");
    if (refusal && move.build) {
      const [x, y] = [this.hunter[0].data[turn], this.hunter[1].data[turn]];
      this.drawRefused(context, { kind: move.build.kind, x, y, text: refusal.text }, palette.warn, pixel);
    }
    const go = this.isTurnwise ? COMPASS[move.go] : move.go;
    if (Array.isArray(go)) {
      const [u, v] = this.place(this.prey[0].data[turn], this.prey[1].data[turn]);
      context.strokeStyle = palette.prey;
      context.lineWidth = 3 * pixel;
      context.beginPath();
      context.moveTo(u, v);
      context.lineTo(u + go[0] * 26 * pixel, v + (this.isTurnwise ? 1 : -1) * go[1] * 26 * pixel);
      context.stroke();
    }
  }
}

/** The directions of the 2010 server, y downwards. @type {Record<string, [number, number]>} */
const COMPASS = { N: [0, -1], NE: [1, -1], E: [1, 0], SE: [1, 1], S: [0, 1], SW: [-1, 1], W: [-1, 0], NW: [-1, -1] };

/** A player of the 2010 server as the other rule sets have one. @param {any} body */
function fromTurns(body) {
  const [dx, dy] = COMPASS[body.heading] ?? [0, 0];
  return { x: body.x, y: body.y, dx, dy };
}

/** A wall of the 2010 server, whose ends come in any order, as the other rule sets have one. @param {any} given */
function betweenEnds({ id, x1, y1, x2, y2 }) {
  const kind = y1 === y2 ? "horizontal" : "vertical";
  return { id, kind, x1: Math.min(x1, x2), y1: Math.min(y1, y2), x2: Math.max(x1, x2), y2: Math.max(y1, y2) };
}

/** @param {number} value */
function startColumn(value) {
  const column = new Column(Int32Array);
  column.push(value);
  return column;
}

/** @param {import("../../web/static/types.js").Palette} palette @param {number} age from 0, new, to 1 */
function shade({ wallNew, wallOld }, age) {
  const parts = wallNew.map((part, index) => Math.round(part + (wallOld[index] - part) * age));
  return `rgb(${parts.join(" ")})`;
}

/**
 * A triangle that points where the hunter goes.
 * @param {CanvasRenderingContext2D} context
 * @param {number} u @param {number} v @param {number} du @param {number} dv
 * @param {number} size @param {number} pixel
 * @param {import("../../web/static/types.js").Palette} palette
 */
function drawHunter(context, u, v, du, dv, size, pixel, palette) {
  const angle = Math.atan2(dv, du);
  context.beginPath();
  for (const [turned, far] of [[0, 1.35], [2.45, 1], [-2.45, 1]]) {
    context.lineTo(u + far * size * Math.cos(angle + turned), v + far * size * Math.sin(angle + turned));
  }
  context.closePath();
  outlined(context, pixel, palette.hunter, palette.paper);
}

/**
 * A disc, with a line to where the prey goes.
 * @param {CanvasRenderingContext2D} context
 * @param {number} u @param {number} v @param {number} du @param {number} dv
 * @param {number} size @param {number} pixel
 * @param {import("../../web/static/types.js").Palette} palette
 */
function drawPrey(context, u, v, du, dv, size, pixel, palette) {
  if (du || dv) {
    const far = (2 * size) / Math.hypot(du, dv);
    context.strokeStyle = palette.prey;
    context.lineWidth = 2 * pixel;
    context.beginPath();
    context.moveTo(u, v);
    context.lineTo(u + du * far, v + dv * far);
    context.stroke();
  }
  context.beginPath();
  context.arc(u, v, size, 0, 2 * Math.PI);
  outlined(context, pixel, palette.prey, palette.paper);
}

/** @param {CanvasRenderingContext2D} context @param {number} pixel @param {string} fill @param {string} edge */
function outlined(context, pixel, fill, edge) {
  context.fillStyle = fill;
  context.strokeStyle = edge;
  context.lineWidth = 1.5 * pixel;
  context.fill();
  context.stroke();
}

/**
 * A word beside something, kept on the board.
 * @param {CanvasRenderingContext2D} context
 * @param {string} text
 * @param {number} u @param {number} v @param {number} pixel @param {string} color
 * @param {number} width @param {number} height
 */
function label(context, text, u, v, pixel, color, width, height) {
  context.save();
  context.font = "600 12px system-ui, sans-serif";
  const wide = context.measureText(text).width * pixel;
  context.translate(Math.max(2 * pixel, Math.min(u - wide / 2, width - wide - 2 * pixel)), Math.max(12 * pixel, Math.min(v, height - 4 * pixel)));
  context.scale(pixel, pixel);
  context.fillStyle = color;
  context.fillText(text, 0, 0);
  context.restore();
}

/** What the keys of a prey mean: dx, dy with y upwards. @type {Record<string, [number, number]>} */
const PREY_KEYS = {
  KeyW: [0, 1], KeyA: [-1, 0], KeyS: [0, -1], KeyD: [1, 0],
  ArrowUp: [0, 1], ArrowLeft: [-1, 0], ArrowDown: [0, -1], ArrowRight: [1, 0],
  KeyQ: [-1, 1], KeyE: [1, 1], KeyZ: [-1, -1], KeyC: [1, -1], KeyX: [0, 0],
  Numpad8: [0, 1], Numpad4: [-1, 0], Numpad2: [0, -1], Numpad6: [1, 0],
  Numpad7: [-1, 1], Numpad9: [1, 1], Numpad1: [-1, -1], Numpad3: [1, -1], Numpad5: [0, 0],
};

/**
 * @param {EvasionTrack} track
 * @returns {import("../../web/static/types.js").Controls}
 */
function preyControls(track) {
  return {
    help: [
      ["W A S D or arrows", "up, left, down, right"],
      ["Q E Z C", "the four diagonals"],
      ["numpad", "all eight, 5 to stand still (also X)"],
      ["pointer", "go towards the place you click"],
    ],
    key(event) {
      // Letters by what is printed on the key, so that they work on every layout; the rest by place.
      const letter = /^[a-z]$/i.test(event.key) ? `Key${event.key.toUpperCase()}` : event.code;
      const go = PREY_KEYS[letter];
      return go ? { move: { go } } : null;
    },
    point(cell, turn) {
      const dx = cell.x - track.prey[0].data[turn];
      const dy = cell.y - track.prey[1].data[turn];
      const octant = Math.round(Math.atan2(dy, dx) / (Math.PI / 4));
      const [cos, sin] = [Math.cos((octant * Math.PI) / 4), Math.sin((octant * Math.PI) / 4)];
      return { move: { go: dx || dy ? [Math.round(cos), Math.round(sin)] : [0, 0] } };
    },
    buttons: [
      ["↖", "north-west", { go: [-1, 1] }], ["↑", "north", { go: [0, 1] }], ["↗", "north-east", { go: [1, 1] }],
      ["←", "west", { go: [-1, 0] }], ["•", "stand still", { go: [0, 0] }], ["→", "east", { go: [1, 0] }],
      ["↙", "south-west", { go: [-1, -1] }], ["↓", "south", { go: [0, -1] }], ["↘", "south-east", { go: [1, -1] }],
    ],
  };
}

/**
 * @param {EvasionTrack} track
 * @param {string[]} kinds
 * @returns {import("../../web/static/types.js").Controls}
 */
function hunterControls(track, kinds) {
  const byKey = Object.fromEntries(kinds.map((kind) => [KEY_OF[kind], kind]));
  return {
    help: [
      ...kinds.map((kind) => /** @type {[string, string]} */ ([KEY_OF[kind].toUpperCase(), `the longest ${kind} wall through your cell`])),
      ["pointer", "point to where the wall should run, click to build it"],
      ["Shift + pointer", "the wall ends where you point"],
      ["click a wall", "take it down"],
      ["Enter", "no wall in this step"],
    ],
    key(event) {
      if (event.key === "Enter") return { move: {} };
      const kind = byKey[event.key.toLowerCase()];
      return kind ? { move: { build: { kind } }, merge: true } : null;
    },
    point(cell, turn, event) {
      const wall = track.wallAt(cell, turn);
      if (wall) return { move: { remove: [wall.id] }, merge: true };
      const [x, y] = [track.hunter[0].data[turn], track.hunter[1].data[turn]];
      const [dx, dy] = [cell.x - x, cell.y - y];
      if (!dx && !dy) return null;
      // The kind whose line through the hunter passes nearest to the pointer.
      const gaps = kinds.map((kind) => {
        if (kind === "horizontal") return Math.abs(dy);
        if (kind === "vertical") return Math.abs(dx);
        return Math.abs(kind === "diagonal" ? dx - dy : dx + dy) / Math.SQRT2;
      });
      const kind = kinds[gaps.indexOf(Math.min(...gaps))];
      const [from, to] = kind === "vertical" ? [y, cell.y] : [x, cell.x];
      const span = event.shiftKey ? { span: [Math.min(from, to), Math.max(from, to)] } : {};
      return { move: { build: { kind, ...span } }, merge: true };
    },
    buttons: kinds.map((kind) => [
      { horizontal: "— wall", vertical: "| wall", diagonal: "/ wall", "counter-diagonal": "\\ wall" }[kind] ?? kind,
      `the longest ${kind} wall`,
      { build: { kind } },
    ]),
  };
}

const NAMES = Object.fromEntries(Object.entries(COMPASS).map(([name, [dx, dy]]) => [`${dx},${dy}`, name]));

/**
 * The prey of the 2010 server: the same keys and places, its own names for directions.
 * @param {EvasionTrack} track
 * @returns {import("../../web/static/types.js").Controls}
 */
function turnwisePrey(track) {
  const controls = preyControls(track);
  const named = (/** @type {any} */ move) => {
    // Keys and buttons say y upwards, which on this board is N.
    const go = NAMES[`${move.go[0]},${-move.go[1]}`];
    return go ? { go } : {};
  };
  return {
    ...controls,
    key: (event, turn) => {
      const intent = controls.key(event, turn);
      return intent && { move: named(intent.move) };
    },
    point: (cell, turn) => {
      const [x, y] = [track.prey[0].data[turn], track.prey[1].data[turn]];
      const intent = controls.point({ x: cell.x, y: 2 * y - cell.y }, turn, { shiftKey: false });
      return cell.x === x && cell.y === y ? { move: {} } : intent && { move: named(intent.move) };
    },
    buttons: controls.buttons.map(([sign, title, move]) => [sign, title, named(move)]),
  };
}

/**
 * The hunter of the 2010 server: a wall goes from one click to the next.
 * @param {EvasionTrack} track
 * @returns {import("../../web/static/types.js").Controls}
 */
function turnwiseHunter(track) {
  /** Where the next wall begins. @type {import("../../web/static/types.js").Cell | null} */
  let first = null;
  const wallTo = (/** @type {import("../../web/static/types.js").Cell} */ start, /** @type {import("../../web/static/types.js").Cell} */ cell) => {
    const isFlat = Math.abs(cell.x - start.x) >= Math.abs(cell.y - start.y);
    let id = 1;
    while (track.standing.has(id)) id += 1;
    return { add: { id, x1: start.x, y1: start.y, x2: isFlat ? cell.x : start.x, y2: isFlat ? start.y : cell.y } };
  };
  return {
    help: [
      ["click twice", "a wall from the first cell to the second, along a row or a column"],
      ["Escape", "forget the first cell"],
      ["click a wall", "take it down"],
      ["Enter", "pass"],
    ],
    key(event) {
      if (event.key !== "Escape" && event.key !== "Enter") return null;
      first = null;
      return { move: {} };
    },
    point(cell, turn, event) {
      const isClick = event.type === "click";
      if (first) {
        const move = wallTo(first, cell);
        if (isClick) first = null;
        return { move };
      }
      const wall = track.wallAt(cell, turn);
      if (wall) return { move: { remove: wall.id } };
      if (isClick) first = cell;
      return null;
    },
    buttons: [],
  };
}

/** @type {import("../../web/static/types.js").Display} */
export const display = {
  createTrack: (head) => new EvasionTrack(head),
  createControls(track, seat) {
    const own = /** @type {EvasionTrack} */ (track);
    if (own.isTurnwise) return seat === "prey" ? turnwisePrey(own) : turnwiseHunter(own);
    return seat === "prey" ? preyControls(own) : hunterControls(own, own.kinds);
  },
};
