// What the scripts of the pages share: the theme, long tables, the choice by a name, and parts of a page that are filled or replaced.

import { byId, part } from "./viewer/kit/dom.js";
import { copyText } from "./viewer/app/clip.js";
import { unpacked } from "./viewer/kit/packed.js";
import { listenToTheme } from "./viewer/app/palette.js";

/** What the reader has opened, by the id of the table; a table stays open when the server sends it again. @type {Set<string>} */
const opened = new Set();
/** Which folding parts the reader has opened or closed, by their keys. @type {Map<string, boolean>} */
const folded = new Map();

/** The address of what is asked for. @param {Record<string, string | number | null | undefined>} wanted */
export function address(wanted) {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(wanted)) if (value !== null && value !== undefined) given.set(name, String(value));
  return `#${given}`;
}

/** A name or a text: signs that turn or hide the text around them are replaced. @param {string} text */
export function clean(text) {
  return text.replace(/[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, "\ufffd");
}

/** The data of a page's script. */
export const configured = () => JSON.parse(byId("page").textContent || "null");

/** The packed data of a page. @param {Document} [from] @returns {Promise<any>} */
export const bulk = (from = document) => unpacked(from.getElementById("bulk")?.textContent ?? "").json();

/**
 * A copy of what a template holds, with its slots filled: by a text, by elements, or by attributes, `text` among them; null removes a slot.
 * @param {string} id
 * @param {Record<string, string | Node[] | Record<string, string> | null>} values
 */
export function filled(id, values) {
  const made = part(id, HTMLTemplateElement).content.firstElementChild?.cloneNode(true);
  if (!(made instanceof HTMLElement)) throw new Error(`#${id} is empty`);
  for (const slot of [made, ...made.querySelectorAll("[data-slot]")]) {
    const value = values[slot.getAttribute("data-slot") ?? ""];
    if (value === null) slot.remove();
    else if (typeof value === "string") slot.textContent = clean(value);
    else if (Array.isArray(value)) slot.replaceChildren(...value);
    else for (const [name, text] of Object.entries(value ?? {})) {
      if (name === "text") slot.textContent = clean(text);
      else slot.setAttribute(name, name === "href" || name === "id" ? text : clean(text));
    }
  }
  return made;
}

/** Show all rows of the tables that the reader has opened. */
function open() {
  for (const id of opened) {
    document.getElementById(id)?.classList.remove("short");
    document.querySelector(`[aria-controls="${id}"]`)?.remove();
  }
}

/** Change the page; what had the focus has it again afterwards, if it is still there. @param {() => void} change */
export function keepingFocus(change) {
  const held = document.activeElement;
  const section = held?.closest("section")?.id;
  const keyOf = (/** @type {Element} */ one) => one.getAttribute("data-key") ?? one.getAttribute("href");
  const key = held && keyOf(held);
  change();
  if (!section || !key || held?.isConnected) return;
  const again = [...byId(section).querySelectorAll("[data-key], a")].find((one) => keyOf(one) === key);
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
}

/** Put the parts of a page that the server has made again in the place of the old ones. @param {Document} page */
export function replaceParts(page) {
  for (const old of document.querySelectorAll("[data-live]")) {
    const fresh = page.getElementById(old.id);
    if (!fresh) continue;
    const scrolled = [...old.querySelectorAll(".wide")].map((wide) => wide.scrollLeft);
    old.replaceWith(document.adoptNode(fresh));
    fresh.querySelectorAll(".wide").forEach((wide, index) => {
      wide.scrollLeft = scrolled[index] ?? 0;
    });
  }
  for (const part of document.querySelectorAll("details[data-key]")) if (part instanceof HTMLDetailsElement) part.open = folded.get(part.dataset.key ?? "") ?? part.open;
  document.title = page.title;
  document.body.className = page.body.className;
  open();
  sortAgain();
}

/** A page that the server makes; null if it doesn't answer. Only so does HTML come into a page without a text becoming markup. @param {string} from @returns {Promise<Document | null>} */
export function fetched(from) {
  return new Promise((resolve) => {
    const asked = new XMLHttpRequest();
    asked.open("GET", from);
    asked.responseType = "document";
    asked.addEventListener("loadend", () => resolve(asked.status === 200 ? asked.response : null));
    asked.send();
  });
}

/** Let the theme be chosen, and long tables be opened. @param {() => void} [repaint] */
export function listenToButtons(repaint) {
  listenToTheme(repaint);
  listenToHeadings();
  for (const button of document.querySelectorAll("button.copies")) if (button instanceof HTMLElement) button.hidden = false;
  document.addEventListener("click", ({ target }) => {
    const part = target instanceof Element ? target.closest("summary")?.parentElement : null;
    if (part instanceof HTMLDetailsElement && part.dataset.key) folded.set(part.dataset.key, !part.open);
    if (target instanceof HTMLButtonElement && target.matches(".copies, .watch button")) void copy(target);
    const table = target instanceof Element ? target.closest("button.more")?.getAttribute("aria-controls") : null;
    if (!table) return;
    opened.add(table);
    open();
  });
}

/** Copy the command before a button, and say so after it. @param {HTMLButtonElement} button */
async function copy(button) {
  const [command, told] = [button.previousElementSibling, button.nextElementSibling];
  if (!command || !told) return;
  const isDone = await copyText(command.textContent ?? "");
  if (!isDone) getSelection()?.selectAllChildren(command);
  told.textContent = isDone ? "Copied." : "Selected: copy it with the keyboard.";
}

/** The value of a cell to sort by: its time, its number, or its text. @param {HTMLTableRowElement} row @param {number} column */
function sortValue(row, column) {
  const time = row.cells[column]?.querySelector("time")?.dateTime;
  if (time) return Date.parse(time);
  const text = row.cells[column]?.textContent?.trim() ?? "";
  const amount = parseFloat(text.replace(/^½/, "0.5").replace("½", ".5").replace("−", "-").replaceAll(",", ""));
  return Number.isNaN(amount) ? text : amount;
}

/** By which column the reader has sorted each table, and which way. @type {Map<string, { column: number, isUp: boolean }>} */
const sorted = new Map();

/** Sort the rows of a table by the column of a heading. @param {HTMLTableCellElement} heading @param {boolean} isUp */
function sortBy(heading, isUp) {
  const table = heading.closest("table");
  const body = table?.tBodies[0];
  if (!body) return;
  sorted.set(table.id, { column: heading.cellIndex, isUp });
  for (const other of heading.parentElement?.children ?? []) other.ariaSort = null;
  heading.ariaSort = isUp ? "ascending" : "descending";
  // Texts begin with A, numbers with the greatest.
  const order = (/** @type {HTMLTableRowElement} */ a, /** @type {HTMLTableRowElement} */ b) => {
    const [one, other] = [sortValue(a, heading.cellIndex), sortValue(b, heading.cellIndex)];
    if (typeof one === "number" && typeof other === "number") return isUp ? one - other : other - one;
    if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
    return (isUp ? -1 : 1) * String(one).localeCompare(String(other));
  };
  body.append(...[...body.rows].sort(order));
}

const headings = "table.sorts thead tr:last-child th";

/** Let the keyboard reach the headings, and sort the tables that the server has sent again as the reader had them. */
function sortAgain() {
  for (const heading of document.querySelectorAll(headings)) {
    if (!(heading instanceof HTMLTableCellElement)) continue;
    heading.tabIndex = 0;
    const wish = sorted.get(heading.closest("table")?.id ?? "");
    if (wish?.column === heading.cellIndex && !heading.ariaSort) sortBy(heading, wish.isUp);
  }
}

/** The headings of tables sort them: by a click, and with Enter or Space; a second time the other way round. */
function listenToHeadings() {
  sortAgain();
  const act = (/** @type {Event} */ event) => {
    const heading = event.target instanceof Element ? event.target.closest(headings) : null;
    if (!(heading instanceof HTMLTableCellElement) || (event instanceof KeyboardEvent && event.key !== "Enter" && event.key !== " ")) return;
    event.preventDefault();
    sortBy(heading, heading.ariaSort === "descending");
  };
  document.addEventListener("click", act);
  document.addEventListener("keydown", act);
}

/** Let the theme be chosen, long tables be opened, and the field `id` choose by a name. @param {string} id @param {(name: string, isSure: boolean) => void} choose @param {() => void} [repaint] */
export function listenToPage(id, choose, repaint) {
  listenToButtons(repaint);
  const input = part(id, HTMLInputElement);
  input.addEventListener("input", () => choose(input.value, false));
  // A form may not be sent from this page; Enter chooses.
  for (const [on, kind] of /** @type {[HTMLElement, string][]} */ ([[input, "keydown"], [byId("filter"), "submit"]])) {
    on.addEventListener(kind, (event) => {
      if (event instanceof KeyboardEvent && event.key !== "Enter") return;
      event.preventDefault();
      choose(input.value, true);
    });
  }
}
