// A JSON value as a tree that folds, with what differs from an earlier value marked.

import { el, plain } from "../kit/dom.js";

/** Values this short, without parts of their own, stand in one line. */
const MOST_INLINE = 90;
/** The most parts of a list that are shown, and the greatest depth. */
const MOST_PARTS = 300;
const MOST_DEPTH = 12;
const MOST_TEXT = 2000;
/** There was no earlier value to compare with. */
const UNKNOWN = Symbol("unknown");

/**
 * @typedef {Map<string, boolean>} Folds which parts are open, by their path; others are as they come
 * @typedef {{ folds: Folds, path: string, depth: number }} Place
 */

/** @param {any} value */
function isCompound(value) {
  return typeof value === "object" && value !== null;
}

/** @param {any} one @param {any} other */
function isSame(one, other) {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

/** A value in one line. @param {any} value */
function line(value) {
  return plain(JSON.stringify(value) ?? "", MOST_TEXT);
}

/**
 * The parts of a value: name, value, and the earlier value. Things with an id are compared by their id, and others by their place.
 * @param {any} value
 * @param {any} before
 * @returns {{ parts: [string, any, any][], gone: [string, any][] }}
 */
function partsOf(value, before) {
  const isKnown = before !== UNKNOWN;
  if (!Array.isArray(value)) {
    const earlier = isKnown && isCompound(before) && !Array.isArray(before) ? before : {};
    const parts = /** @type {[string, any, any][]} */ (Object.entries(value).map(([name, part]) => [name, part, isKnown ? earlier[name] : UNKNOWN]));
    return { parts, gone: Object.entries(earlier).filter(([name]) => !Object.hasOwn(value, name)) };
  }
  const earlier = isKnown && Array.isArray(before) ? before : [];
  const ids = (/** @type {any[]} */ list) => new Map(list.map((part) => [isCompound(part) ? part.id : undefined, part]));
  const [now, then] = [ids(value), ids(earlier)];
  const areNamed = value.length + earlier.length > 0 && !now.has(undefined) && !then.has(undefined) && now.size === value.length && then.size === earlier.length;
  const parts = /** @type {[string, any, any][]} */ (value.map((part, at) => [String(at), part, isKnown ? (areNamed ? then.get(part.id) : earlier[at]) : UNKNOWN]));
  const gone = areNamed ? [...then].filter(([id]) => !now.has(id)).map(([id, part]) => [`id ${plain(id, 40)}`, part]) : earlier.slice(value.length).map((part, at) => [String(value.length + at), part]);
  return { parts, gone: /** @type {[string, any][]} */ (gone) };
}

/** The number of changed parts at the ends of a tree. @param {any} value @param {any} before @returns {number} */
export function changes(value, before) {
  if (before === UNKNOWN || isSame(value, before)) return 0;
  if (!isCompound(value) || !isCompound(before)) return 1;
  const { parts, gone } = partsOf(value, before);
  return Math.max(1, gone.length + parts.reduce((sum, [, part, earlier]) => sum + changes(part, earlier), 0));
}

/**
 * A value as a tree. `before` is the earlier value; leave it out where there is none.
 * @param {any} value
 * @param {Folds} folds
 * @param {{ before?: any, hasBefore?: boolean, path?: string }} [options]
 */
export function tree(value, folds, { before, hasBefore = before !== undefined, path = "" } = {}) {
  return el("div", { class: "tree" }, ...branch(value, hasBefore ? before : UNKNOWN, { folds, path, depth: 0 }));
}

/** The parts of a value, one a line. @param {any} value @param {any} before @param {Place} place @returns {HTMLElement[]} */
function branch(value, before, place) {
  if (!isCompound(value)) return [el("div", { class: "leaf" }, ...scalar(value, before))];
  const { parts, gone } = partsOf(value, before);
  const rows = parts.slice(0, MOST_PARTS).map(([name, part, earlier]) => row(name, part, earlier, place));
  if (parts.length > MOST_PARTS) rows.push(el("div", { class: "leaf note" }, `… ${parts.length - MOST_PARTS} more; the copy has all`));
  for (const [name, part] of gone.slice(0, MOST_PARTS)) {
    rows.push(el("div", { class: "leaf gone" }, el("del", {}, el("span", { class: "name" }, `${plain(name, 60)}: `), line(part).slice(0, MOST_INLINE)), el("small", { class: "was" }, " gone")));
  }
  return rows.length ? rows : [el("div", { class: "leaf note" }, Array.isArray(value) ? "[] empty" : "{} empty")];
}

/** @param {string} name @param {any} value @param {any} before @param {Place} place */
function row(name, value, before, place) {
  const label = el("span", { class: "name" }, `${plain(name, 60)}: `);
  if (!isCompound(value)) return el("div", { class: "leaf" }, label, ...scalar(value, before));
  const isNew = before === undefined;
  if (isInline(value) || place.depth >= MOST_DEPTH) return el("div", { class: isNew ? "leaf new" : "leaf" }, label, ...inline(value, before), isNew ? el("small", { class: "was" }, " new") : null);
  const path = `${place.path}/${name}`;
  const count = changes(value, before);
  const size = Array.isArray(value) ? `[${value.length}]` : `{${Object.keys(value).length}}`;
  const words = isNew ? " new" : count ? ` ${count} changed` : "";
  const body = el("div", { class: "branch" });
  const fold = el("details", { "data-path": path },
    el("summary", {}, label, el("span", { class: "size" }, size), words ? el("small", { class: "was" }, words) : null), body);
  const fill = () => {
    if (fold.open && !body.childElementCount) body.append(...branch(value, isNew ? UNKNOWN : before, { ...place, path, depth: place.depth + 1 }));
  };
  fold.open = place.folds.get(path) ?? (place.depth < 1 || count > 0 && count < 20);
  fill();
  fold.addEventListener("toggle", fill);
  fold.firstElementChild?.addEventListener("click", () => place.folds.set(path, !fold.open));
  return fold;
}

/** @param {any} value */
function isInline(value) {
  const parts = Object.values(value);
  return parts.every((part) => !isCompound(part)) && parts.length <= 12 && (JSON.stringify(value)?.length ?? 0) <= MOST_INLINE;
}

/** A short value, part by part. @param {any} value @param {any} before @returns {(string | HTMLElement)[]} */
function inline(value, before) {
  if (!Object.values(value).every((part) => !isCompound(part))) return [line(value)];
  const isList = Array.isArray(value);
  const { parts, gone } = partsOf(value, before === undefined ? UNKNOWN : before);
  const shown = parts.flatMap(([name, part, earlier], at) => [at ? ", " : "", isList ? "" : `${plain(name, 60)} `, ...scalar(part, earlier)]);
  const lost = gone.length ? [el("small", { class: "was" }, ` gone: ${gone.map(([name, part]) => `${plain(name, 40)} ${line(part)}`).join(", ").slice(0, MOST_INLINE)}`)] : [];
  return [isList ? "[" : "{", ...shown.filter(Boolean), isList ? "]" : "}", ...lost];
}

/** @param {any} value @param {any} before @returns {HTMLElement[]} */
function scalar(value, before) {
  const text = line(value);
  if (before === UNKNOWN || isSame(value, before)) return [el("span", { class: "value" }, text)];
  const was = before === undefined ? "new" : `was ${line(before).slice(0, MOST_INLINE)}`;
  return [el("mark", {}, text), el("small", { class: "was" }, ` ${was}`)];
}
