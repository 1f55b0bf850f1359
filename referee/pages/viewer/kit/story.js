// What the moments of every game have in common.

import { number } from "./dom.js";

/**
 * The first of all events that are alike, each with their number.
 * @template T
 * @param {T[]} events
 * @param {(event: T) => string} keyOf
 */
export function firstOfEach(events, keyOf) {
  /** @type {Map<string, { event: T, count: number }>} */
  const found = new Map();
  for (const event of events) {
    const key = keyOf(event);
    const known = found.get(key);
    if (known) known.count += 1;
    else found.set(key, { event, count: 1 });
  }
  return [...found.values()];
}

/** A text without its numbers and plurals: texts that differ only in these are alike. @param {string} text */
export function alike(text) {
  return text.replace(/\d+/g, "0").replace(/(\w{3})s\b/g, "$1");
}

/** A text as a sentence: with a capital and an end. @param {string} text */
export function sentence(text) {
  const begun = text.slice(0, 1).toUpperCase() + text.slice(1);
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

/** How many events are like the one in the story. @param {number} count */
export function ofMany(count) {
  return count > 1 ? ` This happens ${number(count)} times.` : "";
}

/**
 * The moments of the first of events that are alike.
 * @param {GameEvent[]} events @param {Pick<Moment, "weight" | "sign" | "color">} looks
 * @param {boolean} [isBySeat] whether those of several seats are told apart
 * @returns {Moment[]}
 */
export function firstMoments(events, looks, isBySeat = true) {
  const keyOf = (/** @type {GameEvent} */ { seat, text }) => `${isBySeat ? seat : ""} ${alike(text)}`;
  return firstOfEach(events, keyOf).map(({ event, count }) => ({ turn: event.turn, text: `${sentence(event.text)}${ofMany(count)}`, ...looks }));
}
