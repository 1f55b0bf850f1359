// Elements made from code. Whatever comes from a replay or a player gets into the page through here, as text.

/**
 * An element with attributes and children; `on…` attributes are listeners, strings become text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Node | string | null)} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, String(value));
  }
  made.append(...children.filter((child) => child !== null));
  return made;
}

/** Facts as names and values. @param {(string | Node)[][]} pairs */
export function facts(pairs) {
  return el("dl", { class: "facts" }, ...pairs.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

/**
 * The element of that id, which is part of the page.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const found = document.getElementById(id);
  if (!found) throw new Error(`the page has no #${id}`);
  return found;
}

/** Marks on one letter beyond the third: a pile of them would cover the lines above. */
const MANY_MARKS = /(\p{M}{3})\p{M}+/gu;

/**
 * The name of a player of a replay's head, in a league that of its team; where it has none that can be seen, that of its seat. And the bot's
 * own name, which is no more than a detail: a bot could call itself like another team.
 * @param {{ name?: unknown, team?: unknown } | null | undefined} player
 * @param {string} seat
 */
export function playerNames(player, seat) {
  const [team, own] = [player?.team, player?.name].map((name) => (typeof name === "string" && /[^\s\u200b-\u200d\u2060\ufeff]/.test(name) ? name : ""));
  return { name: team || own || seat, own };
}

/**
 * Text from outside, cut short.
 * @param {unknown} value
 * @param {number} [most]
 * @returns {string}
 */
export function plain(value, most = 400) {
  const text = typeof value === "string" ? value : value === undefined ? "" : (JSON.stringify(value) ?? "");
  // Direction marks could turn the line around them, other controls are invisible.
  const few = text.slice(0, most).replace(MANY_MARKS, "$1");
  const safe = few.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, "\ufffd");
  return text.length > most ? safe + "…" : safe;
}

/**
 * A number with separators, as English writes it. Intl would take longer for its first number than the page for its first board.
 * @param {number} value
 * @param {number} [digits]
 */
export function number(value, digits = 0) {
  if (!Number.isFinite(value)) return Number.isNaN(value) ? "NaN" : value < 0 ? "-∞" : "∞";
  const [whole, part] = value.toFixed(digits).split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part === undefined ? grouped : `${grouped}.${part}`;
}

/** A number of things: "1 step", "2 steps". @param {number} count @param {string} one @param {string} [many] where it isn't `one` with an s */
export function counted(count, one, many) {
  return `${number(count)} ${count === 1 ? one : (many ?? `${one}s`)}`;
}

/** A button in a corner of a dialog that closes it. @param {HTMLDialogElement} dialog */
export function closeButton(dialog) {
  return el("button", { type: "button", class: "close", "aria-label": "Close", onclick: () => dialog.close() }, "×");
}

/**
 * What outlives the page, where the browser allows it: a preference, or what only this tab is to know.
 * @param {string} name
 * @param {string} [value]
 * @param {"localStorage" | "sessionStorage"} [kind]
 * @returns {string | null}
 */
export function remembered(name, value, kind = "localStorage") {
  try {
    if (value !== undefined) globalThis[kind].setItem(`referee.${name}`, value);
    return globalThis[kind].getItem(`referee.${name}`);
  } catch {
    return null;
  }
}

/** Whether a part of the page is open is remembered by its name. @param {HTMLDetailsElement} details @param {string} name @param {boolean} isOpen whether it is at first */
export function rememberFold(details, name, isOpen) {
  details.open = (remembered(name) ?? (isOpen ? "open" : "closed")) === "open";
  details.addEventListener("toggle", () => remembered(name, details.open ? "open" : "closed"));
}

/**
 * A part of the page that must be there, of its kind.
 * @template {HTMLElement} T @param {string} id @param {new () => T} Kind @returns {T}
 */
export function part(id, Kind) {
  const found = byId(id);
  if (!(found instanceof Kind)) throw new Error(`#${id} is not what it should be`);
  return found;
}
