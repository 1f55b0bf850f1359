// Standings as a table, and standings by wins for a folder that is no league.

import { el, number, plain } from "../kit/dom.js";
import { players } from "./common.js";

/**
 * @typedef {{ place?: number, team: string, points?: number, played: number, won: number, tied?: number, lost?: number }} Row
 * @typedef {{ rows: Row[], isLeague?: boolean, isRated?: boolean, caption?: string }} Standings
 */

/** How often each player has won, by names. @param {import("./common.js").Entry[]} entries @returns {Standings} */
export function byWins(entries) {
  /** @type {Map<string, Row>} */
  const rows = new Map();
  const complete = entries.filter((entry) => entry.opens && !entry.problem);
  for (const entry of complete) {
    // Two players with the same name count as one player here, which has played once.
    const mine = players(entry);
    for (const name of new Set(mine.map(([, , one]) => one))) {
      const row = rows.get(name) ?? { team: name, played: 0, won: 0 };
      row.played += 1;
      if (mine.some(([seat, , one]) => one === name && seat === plain(entry.winner ?? "", 20))) row.won += 1;
      rows.set(name, row);
    }
  }
  const sorted = [...rows.values()].sort((a, b) => b.won - a.won || a.played - b.played || a.team.localeCompare(b.team));
  for (const [at, row] of sorted.entries()) row.place = at && sorted[at - 1].won === row.won ? sorted[at - 1].place : at + 1;
  return { rows: sorted, caption: `${number(complete.length)} match${complete.length === 1 ? "" : "es"}` };
}

/**
 * Draw the standings; the rows of those who play are marked.
 * @param {HTMLElement} place @param {Standings} standings @param {Set<string>} playing @param {number} most
 */
export function put(place, standings, playing, most) {
  if (!standings.rows.length) {
    place.replaceChildren();
    return;
  }
  const { isLeague = false, isRated = false } = standings;
  const heads = ["", isLeague ? "team" : "player", ...(isRated ? ["rating", "duels"] : isLeague ? ["points", "duels", "won", "tied", "lost"] : ["played", "won"])];
  // The first rows, and those who play, wherever they stand.
  const rows = standings.rows.filter((row, at) => at < most || playing.has(plain(row.team, 60)));
  const cells = (/** @type {Row} */ row) => [
    el("td", { class: "number" }, row.place === undefined ? "" : String(row.place)),
    el("td", { class: "team" }, plain(row.team, 60)),
    ...(isLeague ? [row.points ?? 0] : []).map((value) => el("td", { class: "number" }, number(value, Number.isInteger(value) ? 0 : 1))),
    ...[row.played, ...(isRated ? [] : [row.won]), ...(isLeague && !isRated ? [row.tied ?? 0, row.lost ?? 0] : [])].map((value) => el("td", { class: "number" }, number(value))),
  ];
  place.replaceChildren(el("table", {},
    el("caption", {}, standings.caption ?? ""),
    el("thead", {}, el("tr", {}, ...heads.map((text, at) => el(text ? "th" : "td", text && at !== 1 ? { class: "number", scope: "col" } : text ? { scope: "col" } : {}, text)))),
    el("tbody", {}, ...rows.map((row) => el("tr", { class: playing.has(plain(row.team, 60)) ? "playing" : "" }, ...cells(row)))),
  ));
}
