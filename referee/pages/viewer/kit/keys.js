// The keys of a page.

import { el } from "./dom.js";

/** A device whose only pointer is a finger, such as a phone: it has no keys either. */
export const FINGERS = globalThis.matchMedia?.("(hover: none) and (pointer: coarse)") ?? { matches: false };

/** Keys in words, one cap for each. @param {string} keys with spaces between them */
export function keyCaps(keys) {
  return el("span", { class: "caps" }, ...keys.split(" ").map((key) => el("kbd", {}, key)));
}

/** Whether what has the focus was pressed by a pointer: then Space is the page's. Only what Tab has reached keeps it. */
let isPressed = false;
globalThis.addEventListener?.("pointerdown", () => (isPressed = true), true);
globalThis.addEventListener?.("keydown", ({ key }) => (isPressed &&= key !== "Tab"), true);

/** Whether a key belongs to what has the focus, or to the browser, and not to the page. @param {KeyboardEvent} event */
export function isTaken({ target, key, ctrlKey, metaKey, altKey }) {
  if (ctrlKey || metaKey || altKey) return true;
  if (!(target instanceof Element)) return false;
  if (target.closest("input:not([type=range], [type=checkbox]), select, textarea, dialog")) return true;
  return (key === "Enter" || (key === " " && !isPressed)) && target.closest("button, summary, [type=checkbox]") !== null;
}

/** Do what the page does for a key, where it does anything. @param {KeyboardEvent} event @param {Record<string, (() => unknown) | undefined>} actions by key; letters are small */
export function actOn(event, actions) {
  const action = actions[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!action) return;
  event.preventDefault();
  action();
}

/** A key by its code. Letters go by what is printed on the key, so that they work on every layout; the rest by place. @param {KeyboardEvent} event */
export function codeOf(event) {
  return /^[a-z]$/i.test(event.key) ? `Key${event.key.toUpperCase()}` : event.code;
}
