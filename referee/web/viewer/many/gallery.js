// A gallery: the matches of a folder as cards, with filters. Cards are made as they scroll into view.

import { byId, el, number, part, plain, remembered } from "../kit/dom.js";
import { actOn, isTaken } from "../kit/keys.js";
import { listenToTheme } from "../app/palette.js";
import { SmallBoards } from "./boards.js";
import { lengthOf, List, listenToHelp, pause, players, say } from "./common.js";

/** How many cards are made at once, and how long the page waits before it asks for more, in milliseconds. */
const BATCH = 120;
const WAIT_MS = 3000;

const list = new List();
const boards = new SmallBoards();
const cards = byId("cards");
const search = part("search", HTMLInputElement);
const [game, player, result, sort] = ["game", "player", "result", "sort"].map((id) => part(id, HTMLSelectElement));
/** The matches that fit, in order. @type {number[]} */
let shown = [];
/** How many of them have a card. */
let made = 0;

/** What the address wants until it is there: filters by name, and the match that has the focus. */
const wanted = new URLSearchParams(location.hash.slice(1));

/** @typedef {import("./common.js").Entry} Entry */

/** @type {Record<string, (a: Entry, b: Entry) => number>} */
const ORDERS = {
  newest: (a, b) => b.modified - a.modified,
  oldest: (a, b) => a.modified - b.modified,
  longest: (a, b) => (b.steps ?? -1) - (a.steps ?? -1),
  shortest: (a, b) => (a.steps ?? Infinity) - (b.steps ?? Infinity),
  name: (a, b) => (a.name < b.name ? -1 : 1),
};

/** How a match ended, in few words. @param {Entry} entry */
function ending(entry) {
  if (entry.problem) return plain(entry.problem, 200);
  const winner = entry.winner && players(entry).find(([seat]) => seat === plain(entry.winner, 20));
  return `${winner ? `${winner[1]} wins` : "nobody wins"} · ${plain(entry.reason, 40)}`;
}

/** @param {Entry} entry */
function fits(entry) {
  const given = players(entry);
  if (game.value && entry.game !== game.value) return false;
  if (player.value && !given.some(([, , name]) => name === player.value)) return false;
  const [kind, value] = [result.value.slice(0, 2), result.value.slice(2)];
  if (kind === "r:" && (entry.problem || entry.reason !== value)) return false;
  if (kind === "w:" && entry.winner !== value) return false;
  if (kind === "n:" && (entry.problem || entry.winner !== null)) return false;
  if (kind === "p:" && !entry.problem) return false;
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
  const text = [entry.name, entry.game, entry.rules, ending(entry), entry.text, ...given.flat()].join(" ").toLowerCase();
  return words.every((word) => text.includes(word));
}

/** What a card says: one with the same words and the same board need not be made again. @param {Entry} entry */
function shownOn(entry) {
  return JSON.stringify([entry.modified, players(entry), ending(entry)]);
}

/** @param {number} key @param {Entry} entry */
function card(key, entry) {
  const when = new Date(entry.modified);
  const label = players(entry);
  const board = el("canvas", { "data-replay": `boards/${key}?v=${entry.modified}`, "aria-hidden": "true", width: 320, height: 320 });
  boards.watch([board]);
  const link = el("a", { class: "board", href: `replay/${key}/`, "data-key": key },
    board,
    el("span", { class: "names" }, ...label.map(([seat, name]) => el("span", { class: entry.winner === seat ? "who won" : "who" }, name, el("small", {}, ` ${seat}`)))),
    el("span", { class: entry.problem ? "ending bad-text" : "ending" }, ending(entry)),
    el("span", { class: "facts-line" }, [lengthOf(entry.steps), when.toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" })].filter(Boolean).join(" · ")),
    el("span", { class: "file" }, plain(entry.name, 200).replace(/(\.replay\.jsonl)?\.gz$/, "")),
  );
  link.addEventListener("click", () => leave(key));
  return el("li", { "data-shown": shownOn(entry) }, link);
}

/** Leave the order for the viewer, for next and previous, and in the address what to come back to. @param {number} key */
function leave(key) {
  writeAddress(key);
  remembered("gallery", JSON.stringify(shown), "sessionStorage");
  remembered("gallery.address", location.hash, "sessionStorage");
}

/** Write the filters and the order into the address, so that a reload or a link shows the same. @param {number | null} [key] the match to come back to */
function writeAddress(key = null) {
  const parts = new URLSearchParams();
  for (const choice of [search, game, player, result, sort]) {
    const value = choice.value || wanted.get(choice.id) || "";
    if (value && !(choice === sort && value === "newest")) parts.set(choice.id, value);
  }
  if (key !== null) parts.set("at", String(key));
  history.replaceState(null, "", `#${parts}`);
}

/** Fill a choice with what there is, and keep what is chosen. @param {HTMLSelectElement} select @param {[string, string][]} options */
function fill(select, options) {
  const value = select.value || wanted.get(select.id) || "";
  if (options.some(([key]) => key === value)) wanted.delete(select.id);
  select.replaceChildren(...options.map(([key, text]) => el("option", { value: key }, text)));
  select.value = options.some(([key]) => key === value) ? value : options[0][0];
}

/** @param {string[]} values */
function sorted(values) {
  return [...new Set(values)].sort((a, b) => a.localeCompare(b));
}

function fillFilters() {
  const entries = [...list.entries.values()].filter((entry) => entry.opens);
  const games = sorted(entries.map((entry) => entry.game));
  const everybody = sorted(entries.flatMap((entry) => players(entry).map(([, , name]) => name)));
  const seats = [...new Set(entries.flatMap((entry) => (entry.winner === null ? [] : [entry.winner])))].sort();
  const reasons = sorted(entries.filter((entry) => !entry.problem).map((entry) => entry.reason));
  fill(game, [["", "all games"], ...games.map((name) => /** @type {[string, string]} */ ([name, plain(name, 40)]))]);
  game.hidden = games.length < 2;
  fill(player, [["", "all players"], ...everybody.slice(0, 1000).map((name) => /** @type {[string, string]} */ ([name, name]))]);
  fill(result, [["", "all results"],
    ...seats.map((seat) => /** @type {[string, string]} */ ([`w:${seat}`, `${plain(seat, 20)} wins`])),
    ["n:", "nobody wins"],
    ...reasons.map((reason) => /** @type {[string, string]} */ ([`r:${reason}`, plain(reason, 40)])),
    ["p:", "not complete"]]);
}

/** Choose and order the matches anew. `keeps` leaves as many cards as there are. @param {boolean} [keeps] */
function refresh(keeps = false) {
  const focused = document.activeElement instanceof HTMLElement ? document.activeElement.dataset.key : undefined;
  const order = ORDERS[sort.value];
  const fitting = [...list.entries].filter(([, entry]) => entry.opens && fits(entry));
  const keys = fitting.sort(([, a], [, b]) => order(a, b)).map(([key]) => key);
  const count = keeps ? Math.max(made, BATCH) : BATCH;
  const kept = new Map([...cards.children].map((item) => [item.firstElementChild?.getAttribute("href") ?? "", item]));
  shown = keys;
  made = 0;
  if (!keeps) cards.replaceChildren();
  const first = keys.slice(0, count).map((key) => {
    const entry = /** @type {Entry} */ (list.entries.get(key));
    const old = keeps ? kept.get(`replay/${key}/`) : undefined;
    // A card that has not changed keeps its board.
    return old instanceof HTMLElement && old.dataset.shown === shownOn(entry) ? old : card(key, entry);
  });
  cards.replaceChildren(...first);
  made = first.length;
  if (focused !== undefined && document.activeElement === document.body) focusOn(shown.indexOf(Number(focused)));
  const all = [...list.entries.values()].filter((entry) => entry.opens).length;
  byId("count").textContent = `${shown.length === all ? "" : `${number(shown.length)} of `}${number(all)} match${all === 1 ? "" : "es"}${list.isReading ? ", reading…" : ""}`;
  byId("none").hidden = shown.length > 0 || list.isReading || !all;
  showBad();
}

/** Make the next cards. */
function more() {
  const next = shown.slice(made, made + BATCH);
  cards.append(...next.map((key) => card(key, /** @type {Entry} */ (list.entries.get(key)))));
  made += next.length;
}

/** What can't be opened is named below the cards. */
function showBad() {
  const bad = [...list.entries.values()].filter((entry) => !entry.opens).sort((a, b) => (a.name < b.name ? -1 : 1));
  byId("bad").hidden = !bad.length;
  byId("bad-list").replaceChildren(...bad.slice(0, 200).map((entry) => el("li", {}, el("code", {}, plain(entry.name, 200)), ` ${plain(entry.problem, 400)}`)),
    ...(bad.length > 200 ? [el("li", {}, `and ${number(bad.length - 200)} more`)] : []));
  say([...list.notes.map((note) => plain(note, 300)), ...(!list.entries.size && !list.isReading ? ["There are no replays in this folder yet."] : [])].join(" "));
}

/** @param {number} at */
function focusOn(at) {
  if (!shown.length) return;
  const index = Math.max(0, Math.min(shown.length - 1, at));
  while (made <= index) more();
  const link = cards.children[index].firstElementChild;
  if (link instanceof HTMLElement) {
    link.focus();
    link.scrollIntoView({ block: "nearest" });
  }
}

/** The place of the card with the focus; -1 if none has it. */
function focused() {
  const { activeElement } = document;
  return activeElement instanceof HTMLElement && activeElement.dataset.key ? shown.indexOf(Number(activeElement.dataset.key)) : -1;
}

/** How many cards stand side by side. */
function columns() {
  return getComputedStyle(cards).gridTemplateColumns.split(" ").length;
}

/** @param {KeyboardEvent} event @param {() => void} help */
function keyDown(event, help) {
  if (event.key === "Escape" && event.target === search) {
    clear();
    search.blur();
  }
  if (isTaken(event)) return;
  const at = focused();
  actOn(event, {
    ArrowRight: () => focusOn(at + 1),
    ArrowLeft: () => focusOn(at - 1),
    ArrowDown: () => focusOn(at < 0 ? 0 : at + columns()),
    ArrowUp: () => focusOn(at - columns()),
    Home: () => focusOn(0),
    End: () => focusOn(shown.length - 1),
    Escape: () => clear(),
    "/": () => search.focus(),
    "?": help,
  });
}

function clear() {
  search.value = game.value = player.value = result.value = "";
  for (const name of [...wanted.keys()]) wanted.delete(name);
  change();
}

/** The reader has changed a filter. */
function change() {
  refresh();
  writeAddress();
}

/** Back from a match: its card has the focus again. */
function comeBack() {
  const at = shown.indexOf(Number(wanted.get("at")));
  if (wanted.has("at") && at >= 0 && document.activeElement === document.body) focusOn(at);
  wanted.delete("at");
}

async function follow() {
  let isFirst = true;
  for (;;) {
    try {
      const isNew = await list.update();
      if (isNew) {
        if (!list.isReading || isFirst) fillFilters();
        refresh(true);
        if (!list.isReading) comeBack();
        isFirst = false;
      }
      if (list.isReading) continue;
    } catch (error) {
      say(`${error instanceof Error ? error.message : error} The list shows the state before.`);
    }
    await pause(WAIT_MS);
    if (document.hidden) await new Promise((resolve) => document.addEventListener("visibilitychange", resolve, { once: true }));
  }
}

listenToTheme(() => void boards.draw());
const help = listenToHelp();
search.value = wanted.get("search") ?? "";
if (Object.hasOwn(ORDERS, wanted.get("sort") ?? "")) sort.value = wanted.get("sort") ?? "";
search.addEventListener("input", change);
for (const select of [game, player, result, sort]) select.addEventListener("change", change);
byId("filters").addEventListener("submit", (event) => event.preventDefault());
byId("clear").addEventListener("click", clear);
document.addEventListener("keydown", (event) => keyDown(event, help));
new IntersectionObserver((seen) => seen.some((one) => one.isIntersecting) && more(), { rootMargin: "600px" }).observe(byId("more"));
void follow();
