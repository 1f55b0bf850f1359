// The way of a player of Evasion: its places step by step, the points where it turns, and where it is between two steps.

import { Column, lastBefore } from "../../pages/viewer/kit/columns.js";

/** The most corners of a line; an older part would cover the whole board, and take longer than a frame of the screen. */
const MOST_CORNERS = 20_000;

/** @typedef {[number, number]} Point */

export class Way {
  /** @param {number[]} start x, y, dx, dy */
  constructor(start) {
    /** Places and directions by position: x, y, dx, dy. */
    this.columns = start.map((value) => {
      const column = new Column(Int32Array);
      column.push(value);
      return column;
    });
    /** The length of the way so far, by position, in cells. */
    this.lengths = new Column(Float64Array);
    this.lengths.push(0);
    /** The positions at which a line through all places has to turn, ascending. */
    this.corners = new Column(Int32Array);
    this.corners.push(0);
    /** Positions before which steps are missing. @type {Set<number>} */
    this.breaks = new Set();
    /** The direction of the last move. */
    this.along = [0, 0];
    /** By position: whether the step that led there bounced off something. */
    this.bounces = new Column(Int32Array);
    this.bounces.push(0);
  }

  get last() {
    return this.columns[0].length - 1;
  }

  /**
   * @param {number[]} to x, y, dx, dy
   * @param {boolean} moved whether the player moved, or tried to
   */
  push(to, moved) {
    const at = this.last;
    const [xs, ys, dxs, dys] = this.columns;
    const [du, dv] = [to[0] - xs.data[at], to[1] - ys.data[at]];
    const [dx, dy] = [dxs.data[at], dys.data[at]];
    for (let index = 0; index < 4; index += 1) this.columns[index].push(to[index]);
    const hasBounced = moved && (to[2] !== dx || to[3] !== dy) && isBounce(du, dv, to[2], to[3]);
    this.bounces.push(hasBounced ? 1 : 0);
    this.lengths.push(this.lengths.data[at] + (hasBounced ? Math.hypot(to[2], to[3]) : Math.hypot(du, dv)));
    if (hasBounced) {
      this.corner(at);
      this.corner(at + 1);
    } else if ((du || dv) && (du !== this.along[0] || dv !== this.along[1])) this.corner(at);
    if (hasBounced || du || dv) this.along = hasBounced ? [to[2], to[3]] : [du, dv];
  }

  /** @param {number} position */
  corner(position) {
    if (this.corners.data[this.corners.length - 1] !== position) this.corners.push(position);
  }

  /** Go on at a place after steps that were not seen. @param {number} turn @param {number[]} to */
  jump(turn, to) {
    while (this.last < turn - 1) this.push(this.columns.map((column) => column.data[this.last]), false);
    this.corner(this.last);
    this.columns.forEach((column, index) => column.push(to[index]));
    this.bounces.push(0);
    this.lengths.push(this.lengths.data[turn - 1]);
    this.breaks.add(turn);
    this.corner(turn);
    this.along = [0, 0];
  }

  /** The point at which the step after a position touches what it bounces off; null if it doesn't bounce. @param {number} turn @returns {Point | null} */
  tip(turn) {
    if (turn >= this.last || !this.bounces.data[turn + 1]) return null;
    const [x, y, dx, dy] = this.columns.map((column) => column.data[turn + 1]);
    return [x - dx / 2, y - dy / 2];
  }

  /**
   * Where the player is: at a position, and then on its way to the next one.
   * @param {number} exact
   * @returns {Point}
   */
  at(exact) {
    const turn = Math.max(0, Math.min(this.last, Math.floor(exact)));
    const part = Math.max(0, exact - turn);
    const [xs, ys] = this.columns.map((column) => column.data);
    if (!part || turn >= this.last || this.breaks.has(turn + 1)) return [xs[turn], ys[turn]];
    const tip = this.tip(turn);
    if (!tip) return between([xs[turn], ys[turn]], [xs[turn + 1], ys[turn + 1]], part);
    return part < 0.5 ? between([xs[turn], ys[turn]], tip, 2 * part) : between(tip, [xs[turn + 1], ys[turn + 1]], 2 * part - 1);
  }

  /** The direction at a point of the way: that of the step that is being made. @param {number} exact @returns {Point} */
  heading(exact) {
    const turn = Math.max(0, Math.min(this.last, Math.floor(exact)));
    const later = turn < this.last && this.tip(turn) && exact - turn >= 0.5 ? turn + 1 : turn;
    return [this.columns[2].data[later], this.columns[3].data[later]];
  }

  /** The length of the way up to a point of it, in cells. @param {number} exact */
  length(exact) {
    const turn = Math.max(0, Math.min(this.last, Math.floor(exact)));
    const here = this.lengths.data[turn];
    return turn >= this.last ? here : here + (exact - turn) * (this.lengths.data[turn + 1] - here);
  }

  /**
   * Visit the points of a part of the way: its start, all corners, its end.
   * @param {number} from
   * @param {number} to
   * @param {(point: Point, isBreak: boolean) => void} visit
   */
  points(from, to, visit) {
    const [xs, ys] = this.columns.map((column) => column.data);
    visit(this.at(from), true);
    const { data } = this.corners;
    const list = data.subarray(0, this.corners.length);
    const [first, end] = [lastBefore(list, Math.floor(from) + 1) + 1, lastBefore(list, to) + 1];
    let turn = Math.floor(from);
    let tip = this.tip(turn);
    if (tip && turn + 0.5 > from && turn + 0.5 < to) visit(tip, false);
    const start = Math.max(first, end - MOST_CORNERS);
    for (let index = start; index < end; index += 1) {
      turn = data[index];
      visit([xs[turn], ys[turn]], this.breaks.has(turn) || (index === start && start > first));
      tip = this.tip(turn);
      if (tip && turn + 0.5 < to) visit(tip, false);
    }
    visit(this.at(to), this.breaks.has(to));
  }
}

/**
 * Whether a move ends as a bounce off something half a cell away does: out in one direction, back in the new one.
 * @param {number} du @param {number} dv @param {number} dx @param {number} dy
 */
function isBounce(du, dv, dx, dy) {
  if ((!dx && !dy) || (du === dx && dv === dy)) return false;
  const [out, aside] = [du - dx / 2, dv - dy / 2];
  return Math.abs(out) <= 0.5 && Math.abs(aside) <= 0.5 && (out !== 0 || aside !== 0);
}

/** @param {Point} from @param {Point} to @param {number} part @returns {Point} */
function between(from, to, part) {
  return [from[0] + (to[0] - from[0]) * part, from[1] + (to[1] - from[1]) * part];
}
