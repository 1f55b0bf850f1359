// The matches of a folder as a list, which can be searched. New matches appear by themselves.

import { byId, el, number, part, plain, remembered } from "./viewer/kit/dom.js";
import { actOn, isTaken } from "./viewer/kit/keys.js";
import { SmallBoards } from "./viewer/many/boards.js";
import { lengthOf, List, pause, players, say } from "./viewer/many/common.js";
import { keepingFocus, listenToButtons } from "./common.js";
import { matchRow } from "./matches.js";

/** How many matches are shown at first, and how many more at a time; and how long the page waits before it asks for more, in milliseconds. */
const BATCH = 100;
const WAIT_MS = 3000;

/** @typedef {import("./viewer/many/common.js").Entry} Entry */

/** @type {Record<string, (a: Entry, b: Entry) => number>} */
const ORDERS = {
  newest: (a, b) => b.modified - a.modified,
  oldest: (a, b) => a.modified - b.modified,
  longest: (a, b) => (b.steps ?? -1) - (a.steps ?? -1),
  shortest: (a, b) => (a.steps ?? Infinity) - (b.steps ?? Infinity),
  name: (a, b) => (a.name < b.name ? -1 : 1),
};

const list = new List();
const boards = new SmallBoards();
/** The rows of entries that have not changed stay, with their boards. @type {Map<number, { entry: string, row: HTMLElement }>} */
const rows = new Map();
const search = part("search", HTMLInputElement);
const sort = part("sort", HTMLSelectElement);
/** The matches that fit, in order. @type {number[]} */
let fitting = [];
/** How many of them are shown at most. */
let most = BATCH;
/** The match to which the reader comes back from the viewer. @type {string | null} */
let left = null;

/** @param {Entry} entry */
function fits(entry) {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = [entry.name, entry.game, entry.rules, entry.reason, entry.text, entry.problem, ...players(entry).flat()].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

/** The row of a match. @param {number} key @param {Entry} entry */
function rowOf(key, entry) {
  const text = JSON.stringify(entry);
  const old = rows.get(key);
  if (old?.entry === text) return old.row;
  const row = item(key, entry);
  rows.set(key, { entry: text, row });
  return row;
}

/** @param {number} key @param {Entry} entry */
function item(key, entry) {
  const when = new Date(entry.modified).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" });
  const sides = players(entry);
  const row = matchRow({
    id: `match-${key}`, isChosen: false, label: sides.map(([, name]) => name).join(" against "), href: `replay/${key}/`, command: null,
    players: sides.map(([seat, name]) => ({ name, seat, isBest: plain(entry.winner ?? "", 20) === seat })),
    text: plain(entry.text, 300), faults: entry.problem ? [plain(entry.problem, 200)] : [],
    facts: [entry.game, lengthOf(entry.steps), when, entry.name.replace(/(\.replay\.jsonl)?\.gz$/, "")].filter(Boolean).map((text) => plain(text, 200)).join(" · "), link: null,
  });
  row.querySelector("a")?.addEventListener("click", () => leave(key));
  const board = el("canvas", { class: "small", "data-replay": `boards/${key}?v=${entry.modified}`, "aria-hidden": "true", width: 320, height: 320 });
  boards.watch([board]);
  return el("li", { class: "listed" }, board, row);
}

/** Leave the order for the viewer, for next and previous, and in the address what to come back to. @param {number} key */
function leave(key) {
  writeAddress(String(key));
  remembered("list", JSON.stringify(fitting), "sessionStorage");
  remembered("list.address", location.hash, "sessionStorage");
}

/** Write the words and the order into the address, so that a reload or a link shows the same. @param {string} [at] the match to come back to */
function writeAddress(at = "") {
  const given = Object.entries({ search: search.value, sort: sort.value === "newest" ? "" : sort.value, at }).filter(([, value]) => value);
  history.replaceState(null, "", `#${new URLSearchParams(given)}`);
}

function draw() {
  const entries = [...list.entries].filter(([, entry]) => entry.opens);
  fitting = entries.filter(([, entry]) => fits(entry)).sort(([, a], [, b]) => ORDERS[sort.value](a, b)).map(([key]) => key);
  const rest = fitting.length - most;
  keepingFocus(() => {
    byId("match-list").replaceChildren(...fitting.slice(0, most).map((key) => rowOf(key, /** @type {Entry} */ (list.entries.get(key)))));
  });
  byId("more-matches").hidden = rest <= 0;
  byId("more-matches").textContent = `Show ${number(Math.min(BATCH, rest))} more of ${number(rest)}`;
  byId("count").textContent = `${fitting.length === entries.length ? "" : `${number(fitting.length)} of `}${number(entries.length)} match${entries.length === 1 ? "" : "es"}${list.isReading ? ", reading…" : ""}`;
  byId("none").hidden = fitting.length > 0 || list.isReading || !entries.length;
  drawBad();
}

/** What can't be opened is named below the matches. */
function drawBad() {
  const bad = [...list.entries.values()].filter((entry) => !entry.opens).sort(ORDERS.name);
  byId("bad").hidden = !bad.length;
  byId("bad-list").replaceChildren(...bad.slice(0, 200).map((entry) => el("li", {}, el("code", {}, plain(entry.name, 200)), ` ${plain(entry.problem, 400)}`)),
    ...(bad.length > 200 ? [el("li", {}, `and ${number(bad.length - 200)} more`)] : []));
  say([...list.notes.map((note) => plain(note, 300)), ...(!list.entries.size && !list.isReading ? ["There are no replays in this folder yet."] : [])].join(" "));
}

/** The reader has changed the words or the order. */
function change() {
  most = BATCH;
  draw();
  writeAddress();
}

/** Back from a match: its link has the focus again. */
function comeBack() {
  const at = fitting.indexOf(Number(left));
  if (left === null || at < 0) return;
  left = null;
  most = Math.max(most, at + 1);
  draw();
  const link = byId("match-list").children[at].querySelector("a");
  link?.focus();
}

async function follow() {
  for (;;) {
    try {
      if (await list.update()) draw();
      if (list.isReading) continue;
      comeBack();
    } catch (error) {
      say(`${error instanceof Error ? error.message : error} The list shows the state before.`);
    }
    await pause(WAIT_MS);
    if (document.hidden) await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  }
}

function start() {
  const given = new URLSearchParams(location.hash.slice(1));
  left = given.get("at");
  search.value = given.get("search") ?? "";
  if (Object.hasOwn(ORDERS, given.get("sort") ?? "")) sort.value = given.get("sort") ?? "";
  listenToButtons(() => void boards.draw());
  search.addEventListener("input", change);
  sort.addEventListener("change", change);
  byId("filter").addEventListener("submit", (event) => event.preventDefault());
  byId("more-matches").addEventListener("click", () => {
    most += BATCH;
    draw();
  });
  document.addEventListener("keydown", (event) => isTaken(event) || actOn(event, { "/": () => search.focus() }));
  void follow();
}

start();
