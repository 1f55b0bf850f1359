// Rectangle on a page: positions from the records of a replay, how they are drawn, and what keys and the pointer mean to a player.
// There are no rules here: what would happen is asked of the engine.

import { counted, number, plain } from "../../pages/viewer/kit/dom.js";
import { noticesOf, whole } from "../../pages/viewer/kit/records.js";
import { controlsOf, describeMove } from "./controls.js";
import { moments } from "./moments.js";
import { colorOf, drawGround, drawPlay, isClaimed, layout, LETTERS, STEPS, UNPAINTED } from "./scene.js";

/**
 * @typedef {{ cells: [number, number, number][], moved: string, places: number[] | null }} Change what a step changed: cells as place, before, after
 */

/** @implements {Track} */
export class RectangleTrack {
  /** @param {Head} head */
  constructor(head) {
    const { settings } = head;
    this.n = whole(settings.n, "the size", 3, 200);
    this.width = this.height = this.n;
    this.players = whole(settings.players, "the number of players", 2, 26);
    this.robots = whole(settings.robots, "the number of robots", 1, 100);
    this.limit = whole(settings.stagnation, "the stagnation limit", 1, 1_000_000);
    this.cap = whole(settings.cap, "the cap", 0, 1_000_000);
    /** @type {string[]} */
    this.names = Array.from({ length: this.players }, (_, player) => plain(head.players[LETTERS[player]]?.name, 24) || LETTERS[player]);
    /** The result, once it is known. @type {any} */
    this.final = null;
    /** By step. @type {Change[]} */
    this.changes = [];
    /** By position: the score of each player, and turns without a gain. @type {Int32Array[]} */
    this.scores = [new Int32Array(this.players)];
    this.quiet = [0];
    /** The position that is at hand: gone forth and back from step by step. */
    this.at = 0;
    this.cells = new Uint8Array(this.n * this.n).fill(UNPAINTED);
    this.places = new Int16Array(2 * this.players * this.robots).fill(-1);
    this.drawGround = drawGround.bind(null, this);
    this.draw = drawPlay.bind(null, this);
  }

  /** The last position that is known. */
  get last() {
    return this.scores.length - 1;
  }

  /** @param {StepRecord} record */
  push({ turn, changes }) {
    this.seek(this.last);
    const before = this.cells.slice();
    /** @type {[number, number, number][]} */
    const cells = [];
    for (const given of Array.isArray(changes.cells) ? changes.cells : []) {
      const place = whole(given?.[0], "a cell", 0, this.n * this.n - 1);
      const code = String(given[1]).charCodeAt(0);
      if (code !== UNPAINTED && !LETTERS.slice(0, this.players).includes(String(given[1])[0]?.toLowerCase() ?? "")) throw new Error(`a cell is ${plain(given[1], 20)}`);
      cells.push([place, before[place], code]);
    }
    const places = changes.robots === undefined ? null : this.start(changes.robots);
    const moved = changes.moved === undefined ? "" : String(changes.moved);
    if (moved && (moved.length !== this.players * this.robots || !/^[NSEW-]*$/.test(moved))) throw new Error("the robots' moves can't be read");
    this.changes.push({ cells, moved, places });
    const gained = Array.isArray(changes.gained) ? changes.gained : null;
    const scores = this.scores[this.last].slice();
    if (gained) for (let player = 0; player < this.players; player += 1) scores[player] += whole(gained[player], "a gain", 0, this.n * this.n);
    this.quiet.push(gained || turn === 0 ? 0 : this.quiet[this.last] + 1);
    this.scores.push(scores);
  }

  /** Where the robots begin. @param {any} robots */
  start(robots) {
    const places = [];
    for (let player = 0; player < this.players; player += 1) {
      for (let robot = 0; robot < this.robots; robot += 1) {
        const cell = robots?.[LETTERS[player]]?.[robot];
        places.push(whole(cell?.[0], "a robot's row", 0, this.n - 1), whole(cell?.[1], "a robot's column", 0, this.n - 1));
      }
    }
    return places;
  }

  /** @param {number} turn @param {any} view */
  jump(turn, view) {
    while (this.last < turn - 1) {
      this.changes.push({ cells: [], moved: "", places: null });
      this.scores.push(this.scores[this.last]);
      this.quiet.push(this.quiet[this.last]);
    }
    this.seek(this.last);
    /** @type {[number, number, number][]} */
    const cells = [];
    const board = view.board.join("");
    for (let place = 0; place < this.cells.length; place += 1) {
      const code = board.charCodeAt(place);
      // The owner of a claimed cell isn't named here.
      if (code !== this.cells[place] && !(code === 35 && isClaimed(this.cells[place]))) cells.push([place, this.cells[place], code]);
    }
    this.changes.push({ cells, moved: "", places: this.start(view.robots) });
    this.scores.push(Int32Array.from({ length: this.players }, (_, player) => whole(view.scores[LETTERS[player]], "a score", 0, 40_000)));
    this.quiet.push(whole(view.stagnation, "the stagnation count", 0, 1_000_000));
  }

  /** Go to a position. @param {number} turn */
  seek(turn) {
    while (this.at < turn) this.apply(this.changes[this.at++], 1);
    if (this.at - turn > turn || this.changes.slice(turn, this.at).some((change) => change.places)) {
      // Nearer from the beginning, or robots that were put down can't be taken back.
      this.at = 0;
      this.cells.fill(UNPAINTED);
      this.places.fill(-1);
      while (this.at < turn) this.apply(this.changes[this.at++], 1);
    }
    while (this.at > turn) this.apply(this.changes[--this.at], -1);
  }

  /** @param {Change} change @param {number} direction 1: forth, -1: back */
  apply({ cells, moved, places }, direction) {
    for (const [place, before, after] of cells) this.cells[place] = direction > 0 ? after : before;
    if (places) this.places.set(places);
    for (let robot = 0; robot < moved.length; robot += 1) {
      const [down, along] = STEPS[moved[robot]];
      this.places[2 * robot] += direction * down;
      this.places[2 * robot + 1] += direction * along;
    }
  }

  /** @param {StepRecord} record */
  events(record) {
    const { turn, changes } = record;
    /** @type {GameEvent[]} */
    const found = [];
    (changes.gained ?? []).forEach((/** @type {number} */ cells, /** @type {number} */ player) => {
      if (cells) found.push({ turn, kind: "claim", seat: LETTERS[player], text: `${this.named(player)} claims ${counted(cells, "cell")}` });
    });
    return [...found, ...noticesOf(record, () => "notice").map((event) => ({ ...event, text: this.withNames(event.text) }))];
  }

  /** Nothing here is worked out elsewhere. */
  measure() {}

  /** @param {number} x @param {number} y @returns {[number, number]} */
  place(x, y) {
    return [x + 0.5, y + 0.5];
  }

  /** @param {number} u @param {number} v */
  locate(u, v) {
    return { x: Math.floor(u), y: Math.floor(v) };
  }

  /** A player with its letter and its name. @param {number} player */
  named(player) {
    const letter = LETTERS[player];
    return this.names[player] === letter ? letter : `${letter} ${this.names[player]}`;
  }

  /** The name of a player, with its letter if several have that name. @param {string} letter */
  nameOf(letter) {
    const name = this.names[LETTERS.indexOf(letter)] ?? letter;
    return this.names.indexOf(name) === this.names.lastIndexOf(name) ? name : `${name} (${letter})`;
  }

  /** The engine names players by their letters. @param {string} text */
  withNames(text) {
    const first = /^((?:[a-z], )*(?:[a-z] and )?[a-z])(?= wins with | share the )/.exec(text);
    if (first) return first[0].replace(/\b[a-z]\b/g, (letter) => this.nameOf(letter)) + text.slice(first[0].length);
    return text.replace(/^([a-z])(?='s robots? )/i, (letter) => this.nameOf(letter.toLowerCase()));
  }

  /** Where the robots are drawn: at a position, and as its fraction on their way to the next one. @param {number} exact */
  spotsOf(exact) {
    const turn = Math.min(this.last, Math.floor(exact));
    this.seek(turn);
    if (this.places[0] < 0) return [];
    const spots = layout(this.places, this.robots);
    const moved = this.changes[turn]?.moved;
    if (exact === turn || !moved) return spots;
    const part = exact - turn;
    const later = layout(this.places.map((place, at) => place + STEPS[moved[at >> 1]][at & 1]), this.robots);
    return spots.map(({ u, v, share, label }, robot) => {
      const to = later[robot];
      return { u: u + (to.u - u) * part, v: v + (to.v - v) * part, share: share + (to.share - share) * part, label: part < 0.5 ? label : to.label };
    });
  }

  /** All robots. @param {number} exact @returns {[number, number][]} */
  pieces(exact) {
    return this.spotsOf(exact).map(({ u, v }) => [u, v]);
  }

  /** The first robot of each player. @param {number} exact */
  spots(exact) {
    return this.spotsOf(exact).filter((_, robot) => robot % this.robots === 0).map(({ u, v }, player) => ({ seat: LETTERS[player], u, v, color: colorOf(player) }));
  }

  /** The robots on a cell, as "a0". @param {Cell} cell */
  robotsOn({ x, y }) {
    const found = [];
    for (let robot = 0; robot < this.places.length / 2; robot += 1) {
      if (this.places[2 * robot] === y && this.places[2 * robot + 1] === x) found.push(robot);
    }
    return found;
  }

  /** @param {Cell} cell @param {number} turn */
  hover(cell, turn) {
    this.seek(turn);
    const code = this.cells[cell.y * this.n + cell.x];
    const what = code === UNPAINTED ? "unpainted" : code === 35 ? "claimed" : `${isClaimed(code) ? "claimed by" : "painted by"} ${this.named(LETTERS.indexOf(String.fromCharCode(code).toLowerCase()))}`;
    const robots = this.robotsOn(cell).map((robot) => `${LETTERS[Math.floor(robot / this.robots)]}'s robot ${robot % this.robots + 1}`);
    return `row ${cell.y}, column ${cell.x} · ${what}${robots.length ? ` · ${robots.join(", ")}` : ""}`;
  }

  /** @param {number} turn */
  listed(turn) {
    return [...this.scores[turn]].map((score, player) => `${this.named(player)} ${number(score)}`);
  }

  /** @param {number} turn @returns {Standing[]} */
  standings(turn) {
    return this.names.map((name, player) => ({ seat: LETTERS[player], name, color: colorOf(player), score: number(this.scores[turn]?.[player] ?? 0) }));
  }

  /** @param {number} turn */
  summary(turn) {
    if (!turn) return "Before the set-up.";
    const quiet = this.quiet[turn];
    return `Turn ${turn - 1}. Cells claimed: ${this.listed(turn).join(", ")}; nothing gained for ${counted(quiet, "turn")}.`;
  }

  /** @param {number} turn */
  score(turn) {
    // The names stand beside it.
    return [...this.scores[turn]].map((score, player) => `${LETTERS[player]} ${number(score)}`).join(" · ");
  }

  /** @param {number} turn @returns {[string, string][]} */
  facts(turn) {
    /** @type {[string, string][]} */
    const facts = [["Turn", turn ? number(turn - 1) : "set-up"]];
    this.scores[turn].forEach((score, player) => facts.push([this.named(player), counted(score, "cell")]));
    facts.push(["Stagnation", `${number(this.quiet[turn])} of ${number(this.limit)}`]);
    if (this.cap) facts.push(["Last turn", number(this.cap)]);
    return facts;
  }

  /** @returns {Strip[]} */
  strips() {
    const strips = Array.from({ length: this.players }, (_, player) => ({
      name: this.nameOf(LETTERS[player]), unit: "cells", color: colorOf(player), chart: "cells claimed",
      value: (/** @type {number} */ turn) => this.scores[turn]?.[player] ?? NaN, isKnown: () => true,
    }));
    return [...strips, { name: "stagnation", unit: "turns", color: "plain", value: (turn) => this.quiet[turn] ?? NaN, limit: this.limit, isKnown: () => true }];
  }

  /** @param {any} result */
  result(result) {
    const ranks = Object.entries(result?.ranks ?? {}).sort(([, one], [, other]) => Number(one) - Number(other));
    const isShared = (/** @type {any} */ rank) => ranks.filter(([, other]) => other === rank).length > 1;
    return ranks.map(([seat, rank]) => `${Number(rank)}${isShared(rank) ? "=" : "."} ${this.named(LETTERS.indexOf(seat)) || plain(seat, 4)} ${number(Number(result.scores?.[seat]) || 0)}`).join(", ");
  }

  /** @param {any} result */
  ended(result) {
    this.final = result;
  }

  ending() {
    // The scores stand beside the names.
    return { text: "", place: null };
  }

  /** @returns {[string, string][]} */
  legend() {
    const shown = Math.min(this.players, 10);
    return Array.from({ length: shown }, (_, player) => /** @type {[string, string]} */ ([`● ${this.named(player)}`, colorOf(player)]));
  }

  /** @param {number} turn */
  groundKey(turn) {
    return String(turn);
  }
}

/** @type {Display} */
export const display = {
  createTrack: (head) => new RectangleTrack(head),
  createControls: (track, seat) => controlsOf(/** @type {RectangleTrack} */ (track), seat),
  describeMove,
  seatColors: Object.fromEntries([...LETTERS].map((letter, player) => [letter, colorOf(player)])),
  moments,
  eventLooks: { claim: { color: "accent", from: 0.1, to: 0.55 } },
};
