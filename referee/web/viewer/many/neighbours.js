// In the viewer of a gallery: the next and the previous match, and the way back.

import { byId, el, number, remembered } from "../kit/dom.js";
import { isTaken } from "../kit/keys.js";

/** The order that the gallery has left in this tab; null if it has left none, or not with this match. @param {number} key */
function left(key) {
  const found = /** @type {number[] | null} */ (JSON.parse(remembered("gallery", undefined, "sessionStorage") ?? "null"));
  return found?.includes(key) ? found : null;
}

/** The gallery as it was left in this tab, at this match; else with everything. @param {number} key */
function gallery(key) {
  const parts = new URLSearchParams((remembered("gallery.address", undefined, "sessionStorage") ?? "").slice(1));
  parts.set("at", String(key));
  return `../../#${parts}`;
}

/** The order of the list, the newest first. */
async function listed() {
  const found = await fetch("../../list?from=0").catch(() => null);
  if (!found?.ok) return [];
  const { entries } = await found.json();
  const open = entries.filter((/** @type {any} */ [, entry]) => entry?.opens);
  return open.sort((/** @type {any} */ [, a], /** @type {any} */ [, b]) => b.modified - a.modified).map((/** @type {any} */ [key]) => key);
}

/** Show the links, and listen to their keys. @param {number} key the number of this match in the gallery */
export async function showNeighbours(key) {
  const order = left(key) ?? (await listed());
  const at = order.indexOf(key);
  const [previous, next] = [order[at - 1], at < 0 ? undefined : order[at + 1]];
  const link = (/** @type {string} */ text, /** @type {string} */ title, /** @type {number | undefined} */ other) =>
    other === undefined ? null : el("a", { href: `../${other}/`, title, "aria-label": title }, text);
  const place = at < 0 ? "" : `${number(at + 1)} of ${number(order.length)}`;
  const bar = el("nav", { class: "neighbours", "aria-label": "Gallery" },
    link("◂", "Previous match (Shift+P)", previous),
    el("a", { href: gallery(key), title: "Back to the gallery (U)", "aria-label": place ? `Gallery, ${place}` : "Gallery" }, place || "Gallery"),
    link("▸", "Next match (Shift+N)", next),
  );
  byId("title").closest("header")?.querySelector(".tools")?.prepend(bar);
  document.addEventListener("keydown", (event) => {
    if (isTaken(event)) return;
    const to = /** @type {Record<string, string | undefined>} */ ({
      N: event.shiftKey && next !== undefined ? `../${next}/` : undefined,
      P: event.shiftKey && previous !== undefined ? `../${previous}/` : undefined,
      u: gallery(key),
    })[event.key];
    if (to === undefined && !(event.shiftKey && (event.key === "N" || event.key === "P"))) return;
    event.preventDefault();
    event.stopPropagation();
    if (to !== undefined) location.href = to;
  }, { capture: true });
}
