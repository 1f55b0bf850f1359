// What the games read from records in the same way.

import { plain } from "./dom.js";

/** A whole number of a record; throws an Error that names what is no such number. @param {unknown} value @param {string} what @param {number} least @param {number} most */
export function whole(value, what, least, most) {
  if (typeof value !== "number" || !Number.isInteger(value) || value < least || value > most) {
    throw new Error(`${what} is ${plain(value, 40) || "missing"}, which is not a valid number`);
  }
  return value;
}

/** The notices of a step as events of a kind. @param {StepRecord} record @param {(notice: any) => string} kindOf @returns {GameEvent[]} */
export function noticesOf({ turn, notices }, kindOf) {
  return (Array.isArray(notices) ? notices : []).map((notice) => ({ turn, kind: kindOf(notice), seat: plain(notice?.seat, 20), text: plain(notice?.text, 300) }));
}
