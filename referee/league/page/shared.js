// Numbers, links and long tables: what all parts of the report write in the same way.

import { el, number } from "../../web/viewer/kit/dom.js";

/** Rows of a table that are shown before the reader asks for all. */
const FIRST_ROWS = 30;
/** Tables whose rows are all shown, by their name. @type {Set<string>} */
const opened = new Set();

/** The address of what is asked for. @param {Record<string, string | number | null | undefined>} wanted */
export function address(wanted) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(wanted)) if (value !== null && value !== undefined) given.set(name, String(value));
  return `#${given}`;
}

/** @param {string} team */
export function teamLink(team) {
  return el("a", { href: address({ team }), class: "team", title: clean(team) }, clean(team));
}

/** A name or a text of a team: signs that turn or hide the text around them are replaced. @param {string} text */
export function clean(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, "\ufffd");
}

/** Points: halves as fractions; a dash for none. @param {number | null} value */
export function points(value) {
  if (value === null) return "–";
  const whole = Math.floor(value + 1e-6);
  const rest = value - whole;
  if (rest < 1e-3) return String(whole);
  if (Math.abs(rest - 0.5) < 1e-3) return `${whole || ""}½`;
  return number(value, 2);
}

/** @param {number | null | undefined} seconds */
export function duration(seconds) {
  if (seconds === null || seconds === undefined) return "–";
  if (seconds > 0 && seconds < 0.0000995) return `${number(seconds * 1e6, seconds < 0.00000995 ? 1 : 0)} µs`;
  if (seconds < 0.000995) return `${number(seconds * 1000, 2)} ms`;
  if (seconds < 0.0995) return `${number(seconds * 1000, seconds < 0.00995 ? 1 : 0)} ms`;
  if (seconds < 99.5) return `${number(seconds, seconds < 9.95 ? 2 : 1)} s`;
  const minutes = Math.round(seconds / 60);
  return minutes < 100 ? `${minutes} min` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** A text with a capital letter. @param {string} text */
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A rating or its bound, with its sign. @param {number | null} elo */
export function rating(elo) {
  if (elo === null) return "–";
  const whole = Math.round(elo);
  return whole > 0 ? `+${whole}` : whole < 0 ? `−${-whole}` : "0";
}

/**
 * A table with a caption for those who hear the page; long tables show their first rows and offer the rest.
 * @param {{ name: string, caption: string, head: HTMLTableRowElement[], rows: HTMLTableRowElement[], again: () => void }} given
 *   `again` draws the table once more
 */
export function longTable({ name, caption, head, rows, again }) {
  const isAll = opened.has(name) || isPrinting || rows.length <= FIRST_ROWS + 5;
  const shown = rows.filter((row, index) => isAll || index < FIRST_ROWS || row.classList.contains("chosen"));
  const table = el("table", {}, el("caption", { class: "unseen" }, caption), el("thead", {}, ...head), el("tbody", {}, ...shown));
  const box = el("div", { class: "wide", tabindex: 0, role: "group", "aria-label": caption }, table);
  if (isAll) return [box];
  const more = el("button", {
    type: "button", class: "more", "data-key": `more-${name}`, onclick: () => {
      opened.add(name);
      again();
    },
  }, `Show all ${number(rows.length)}`);
  return [box, more];
}

/** True while the page is printed: then all rows are shown. */
let isPrinting = false;

/** @param {boolean} value */
export function setPrinting(value) {
  isPrinting = value;
}

/**
 * A bar from one share of the width to another; `at` is a mark on it.
 * @param {number} from @param {number} to @param {{ at?: number, zero?: number, kind?: string }} [more]
 */
export function bar(from, to, { at, zero, kind } = {}) {
  const made = el("span", { class: `bar ${kind ?? ""}`, "aria-hidden": "true" });
  const place = (/** @type {string} */ name, /** @type {number} */ left, /** @type {number} */ width) => {
    const part = el("span", { class: name });
    part.style.left = `${100 * left}%`;
    if (width >= 0) part.style.width = `${100 * width}%`;
    made.append(part);
  };
  if (zero !== undefined) place("zero", zero, -1);
  place("span", from, Math.max(0.004, to - from));
  if (at !== undefined) place("at", at, -1);
  return made;
}

/** Round steps for an axis: about `count` of them between two numbers. @param {number} low @param {number} high @param {number} count */
export function ticks(low, high, count) {
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((one) => one >= rough) ?? 10 * power;
  const found = [];
  for (let value = Math.ceil(low / step) * step; value <= high + 1e-9; value += step) found.push(value);
  return found;
}
