// In the viewer of a listed match: the next and the previous match, and the way back.

import { byId, el, number, remembered } from "../kit/dom.js";
import { isTaken } from "../kit/keys.js";

/** How long the page of a match that still runs waits before it asks the list again, in milliseconds. */
const WAIT_MS = 2000;

/** The order that the list has left in this tab; null if it has left none, or not with this match. @param {number} key */
function left(key) {
  const found = /** @type {number[] | null} */ (JSON.parse(remembered("list", undefined, "sessionStorage") ?? "null"));
  return found?.includes(key) ? found : null;
}

/** The list as it was left in this tab, at this match; else with everything. @param {number} key */
function listAt(key) {
  const parts = new URLSearchParams((remembered("list.address", undefined, "sessionStorage") ?? "").slice(1));
  parts.set("at", String(key));
  return `../../#${parts}`;
}

/** The order of the list without a choice, the newest first. */
async function listed() {
  const found = await fetch("../../list?from=0").catch(() => null);
  if (!found?.ok) return [];
  const { entries } = await found.json();
  const open = entries.filter((/** @type {any} */ [, entry]) => entry?.opens);
  return open.sort((/** @type {any} */ [, a], /** @type {any} */ [, b]) => b.modified - a.modified).map((/** @type {any} */ [key]) => key);
}

/** Show the links, and listen to their keys. @param {number} key the number of this match in the list */
export async function showNeighbours(key) {
  const order = left(key) ?? (await listed());
  const at = order.indexOf(key);
  const [previous, next] = [order[at - 1], at < 0 ? undefined : order[at + 1]];
  const link = (/** @type {string} */ text, /** @type {string} */ title, /** @type {number | undefined} */ other) =>
    other === undefined ? null : el("a", { href: `../${other}/`, title, "aria-label": title }, text);
  const place = at < 0 ? "" : `${number(at + 1)} of ${number(order.length)}`;
  const bar = el("nav", { class: "neighbours", "aria-label": "Matches" },
    link("◂", "Previous match (Shift+P)", previous),
    el("a", { href: listAt(key), title: "Back to the list (U)", "aria-label": place ? `All matches, ${place}` : "All matches" }, place || "All matches"),
    link("▸", "Next match (Shift+N)", next),
  );
  byId("title").closest("header")?.querySelector(".tools")?.prepend(bar);
  document.addEventListener("keydown", (event) => {
    if (isTaken(event)) return;
    const to = /** @type {Record<string, string | undefined>} */ ({
      N: event.shiftKey && next !== undefined ? `../${next}/` : undefined,
      P: event.shiftKey && previous !== undefined ? `../${previous}/` : undefined,
      u: listAt(key),
    })[event.key];
    if (to === undefined && !(event.shiftKey && (event.key === "N" || event.key === "P"))) return;
    event.preventDefault();
    event.stopPropagation();
    if (to !== undefined) location.href = to;
  }, { capture: true });
}

/** Open a replay without a result again when its match has ended. @param {number} key its number in the list @param {number} size the bytes of the file that is shown */
export async function awaitResult(key, size) {
  for (let next = 0; ;) {
    const answer = await fetch(`../../list?from=${next}`).catch(() => null);
    if (!answer?.ok) return;
    const news = await answer.json();
    next = news.next;
    const entry = new Map(news.entries).get(key);
    if (entry?.opens && !entry.problem && entry.size > size) {
      location.reload();
      return;
    }
    await new Promise((resolve) => setTimeout(resolve, WAIT_MS));
  }
}
