// Where two matches differ: their moves and the changes of the position, step by step.

import { breathe } from "../app/recording.js";
import { number, plain } from "../kit/dom.js";

/** How many steps are compared before the page may do something else. */
const BATCH = 2000;

/** @typedef {import("../app/recording.js").Recording} Recording */

/** A value as text, with its keys in order. @param {any} value @returns {string} */
function canonical(value) {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  return `{${Object.keys(value).sort().map((key) => `${JSON.stringify(key)}:${canonical(value[key])}`).join()}}`;
}

export class Differences {
  constructor() {
    /** The steps whose moves differ. @type {number[]} */
    this.moves = [];
    /** The steps of which something else came. @type {number[]} */
    this.changes = [];
    /** The first step that differs; null if none does. @type {number | null} */
    this.first = null;
    /** What is said about the whole. */
    this.text = "";
  }

  /** Compare two recordings. @param {Recording} a @param {Recording} b @param {() => void} onProgress */
  async find(a, b, onProgress) {
    const common = Math.min(a.steps, b.steps);
    for (let turn = 0; turn < common; turn += 1) {
      const [one, other] = [a.record(turn), b.record(turn)];
      if (canonical(one?.moves ?? {}) !== canonical(other?.moves ?? {})) this.moves.push(turn);
      if (canonical(one?.changes ?? {}) !== canonical(other?.changes ?? {})) this.changes.push(turn);
      if (turn % BATCH === BATCH - 1) {
        onProgress();
        await breathe();
      }
    }
    const found = [this.moves[0], this.changes[0]].filter((turn) => turn !== undefined);
    this.first = found.length ? Math.min(...found) : a.steps !== b.steps ? common : null;
    this.text = this.told(a, b, common);
  }

  /** @param {Recording} a @param {Recording} b @param {number} common */
  told(a, b, common) {
    const settings = differentSettings(a, b);
    const after = settings.length ? ` The settings differ: ${settings.slice(0, 4).join("; ")}.` : "";
    const { first } = this;
    if (first === null) return `${sameEnd(a, b) ? "The two matches are the same in every step." : "The steps are the same, but not the results."}${after}`;
    const agree = first === 0 ? "The first step differs" : `The first ${first === 1 ? "step is" : `${number(first)} steps are`} the same; the next one differs`;
    if (first < common) return `${agree}: ${words(a, b, first).map(([seat, one, other]) => `${seat}: ${one} (left), ${other} (right)`).join("; ") || "the same moves led to another position"}.${after}`;
    const [longer, shorter] = a.steps > b.steps ? ["left", "right"] : ["right", "left"];
    return `The first ${common === 1 ? "step is" : `${number(common)} steps are`} the same; there the match on the ${shorter} ends, and the match on the ${longer} continues.${after}`;
  }

  /** The next step with another move in a direction; null if there is none. @param {number} position @param {1 | -1} direction */
  next(position, direction) {
    const all = this.moves.length ? this.moves : this.first === null ? [] : [this.first];
    // The position after a step shows it.
    const found = direction > 0 ? all.find((turn) => turn + 1 > position) : all.filter((turn) => turn + 1 < position).at(-1);
    return found === undefined ? null : found + 1;
  }
}

/** @param {Recording} a @param {Recording} b */
function sameEnd(a, b) {
  const of = (/** @type {any} */ result) => canonical([result?.reason, result?.winner, result?.scores]);
  return of(a.result) === of(b.result);
}

/** @param {Recording} a @param {Recording} b @returns {string[]} */
function differentSettings(a, b) {
  const [one, other] = [a, b].map((recording) => /** @type {Record<string, any>} */ ({ "rule set": recording.head?.rules, ...recording.head?.settings }));
  return [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .filter((key) => canonical(one[key]) !== canonical(other[key]))
    .map((key) => `${plain(key, 40)} ${plain(canonical(one[key]), 60)} and ${plain(canonical(other[key]), 60)}`);
}

/**
 * The moves of a step that differ: the seat, and both moves in words.
 * @param {Recording} a @param {Recording} b @param {number} turn
 * @returns {[string, string, string][]}
 */
export function words(a, b, turn) {
  const [one, other] = [a, b].map((recording) => recording.record(turn)?.moves ?? {});
  const seats = [...new Set([...a.seats, ...b.seats])];
  return seats
    .filter((seat) => canonical(one[seat] ?? {}) !== canonical(other[seat] ?? {}))
    .map((seat) => [plain(seat, 20), inWords(a, one[seat]), inWords(b, other[seat])]);
}

/** @param {Recording} recording @param {any} move */
function inWords(recording, move) {
  if (move === undefined || canonical(move) === "{}") return "nothing";
  try {
    const text = recording.display?.describeMove?.(move);
    if (text) return plain(text, 120);
  } catch {
    // A move of another form than this game's.
  }
  return plain(canonical(move), 120);
}
