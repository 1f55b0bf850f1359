// What the page shows of the team that the reader has chosen.

import { counted, el, number } from "../../web/viewer/kit/dom.js";
import { address, clean, longTable, points, rating, teamLink } from "./shared.js";

/**
 * @param {import("./league.js").League} league
 * @param {import("./types.js").Wanted} wanted
 * @param {() => void} again
 */
export function teamPanel(league, wanted, again) {
  const found = league.rows.get(wanted.team ?? "");
  if (!found) return [];
  const { row, index } = found;
  const own = league.tally.get(row.team);
  const [first, last] = row.places;
  const facts = [
    ...(row.stage === null ? [] : [["rounds survived", String(row.stage)]]),
    ["place", row.decided ? `${row.place}, decided` : first === last ? String(row.place) : `${row.place} (possible at 95 %: ${first} to ${last})`],
    ["points", `${points(row.points)} of ${counted(row.played, "duel")}`],
    ["duels", `${row.won} won, ${row.tied} tied, ${row.lost} lost${row.forfeits ? `, ${row.forfeits} forfeited` : ""}`],
    ["rating", row.elo === null ? "not known yet" : `${rating(row.elo)}${row.low === null ? "" : `, between ${rating(row.low)} and ${rating(row.high)}`}`],
    ...league.seats.filter((seat) => own?.played.get(seat)).map((seat) => [`as ${clean(seat)}`, `${number(own?.won.get(seat) ?? 0)} of ${counted(own?.played.get(seat) ?? 0, "match", "matches")} won`]),
    ["faults", own?.faults ? counted(own.faults, "match", "matches") : "none"],
  ];
  const cross = league.crosstable;
  const rows = league.summary.standings.map(({ team, place }, column) => ({ team, place, cell: cross.cell(index, column) }))
    .filter(({ cell }) => cell.count > 0)
    .map(({ team, place, cell }) => el("tr", { class: wanted.against === team ? "chosen" : "" },
      el("td", { class: "number" }, String(place)),
      el("th", { scope: "row" }, teamLink(team)),
      el("td", { class: "number" }, el("strong", {}, `${points(cell.points)} : ${points(cell.against)}`)),
      el("td", { class: "number" }, el("a", { href: address({ team: row.team, against: team }), "aria-label": `${counted(cell.count, "duel")} against ${clean(team)}` }, counted(cell.count, "duel")))));
  const head = el("tr", {}, el("th", { scope: "col", class: "number" }, "Place"), el("th", { scope: "col" }, "Opponent"),
    el("th", { scope: "col", class: "number" }, "Points"), el("th", { scope: "col", class: "number" }, "Duels"));
  return [
    el("div", { class: "row" }, el("h2", { id: "team-title" }, clean(row.team)), el("a", { href: "#", class: "button" }, "All teams")),
    el("div", { class: "columns" },
      el("dl", { class: "facts" }, ...facts.flatMap(([name, text]) => [el("dt", {}, name), el("dd", {}, text)])),
      el("div", {}, ...(rows.length ? longTable({ name: `opponents of ${row.team}`, caption: `Opponents of ${clean(row.team)}`, head: [head], rows, again }) : [el("p", { class: "note" }, "No duel is over yet.")]))),
  ];
}
