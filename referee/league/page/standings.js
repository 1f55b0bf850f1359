// The standings with the ratings, what a team's matches came to, and the time that it used.

import { counted, el, number } from "../../web/viewer/kit/dom.js";
import { endingKey } from "./league.js";
import { address, bar, capital, clean, duration, longTable, points, rating, teamLink, ticks } from "./shared.js";

/** @typedef {import("./league.js").League} League */
/** @typedef {import("./types.js").Wanted} Wanted */

/** @param {Wanted} wanted @param {string} team */
function chosen(wanted, team) {
  return wanted.team === team || wanted.against === team ? "chosen" : "";
}

/** The scale of all ratings: shares of the width. @param {League} league */
function scaleOf(league) {
  const rated = league.summary.standings.filter((row) => row.elo !== null);
  const bounds = rated.flatMap((row) => [row.low ?? row.elo ?? 0, row.high ?? row.elo ?? 0, row.elo ?? 0]);
  const low = Math.min(-50, ...bounds);
  const high = Math.max(50, ...bounds);
  const margin = (high - low) * 0.03;
  return { low: low - margin, high: high + margin, share: (/** @type {number} */ elo) => (elo - low + margin) / (high - low + 2 * margin) };
}

/** @param {League} league @param {Wanted} wanted @param {() => void} again */
export function standings(league, wanted, again) {
  const { summary } = league;
  if (!summary.standings.length) return [el("p", { class: "note" }, "No team has played yet.")];
  const scale = scaleOf(league);
  const hasTotal = summary.standings.some((row) => row.total !== null);
  const hasForfeits = summary.standings.some((row) => row.forfeits > 0);
  const axis = el("span", { class: "axis", "aria-hidden": "true" }, ...ticks(scale.low, scale.high, 5).filter((value) => Math.abs(scale.share(value) - 0.5) < 0.44).map((value) => {
    const tick = el("span", {}, rating(value));
    tick.style.left = `${100 * scale.share(value)}%`;
    return tick;
  }));
  const isElimination = summary.standings.some((row) => row.stage !== null);
  const isSwiss = summary.standings.some((row) => row.buchholz !== null);
  const heading = (/** @type {string} */ kind, /** @type {string} */ text, /** @type {string} */ title = "") => el("th", { scope: "col", class: `number ${kind}`, ...(title ? { title } : {}) }, text);
  const head = el("tr", {},
    heading("", "Place"),
    el("th", { scope: "col" }, "Team"),
    isElimination ? heading("", "Rounds", "rounds survived, byes included") : null,
    heading("", "Points"),
    summary.is_live && !isElimination ? heading("", "A duel", "points a duel") : null,
    heading("", "Duels", "duels played"),
    isSwiss ? heading("", "Buchholz", "sum of the points of all opponents") : null,
    heading("medium", "W–T–L", "won, tied and lost duels"),
    hasTotal ? heading("roomy", capital(clean(summary.total_name)), `total of ${clean(summary.total_name)} over all duels`) : null,
    hasForfeits ? heading("roomy", "Forfeits") : null,
    heading("", "Elo"),
    heading("roomy", "Elo, 95 %"),
    heading("medium", "Possible places", "the places that the results allow at 95 %"),
    el("th", { scope: "col", class: "chart" }, el("span", { class: "unseen" }, "Rating as a bar"), axis),
  );
  const rows = summary.standings.map((row) => {
    const [first, last] = row.places;
    const places = row.decided
      ? el("span", { class: "decided", title: "This place is decided at 95 %." }, `${first} `, el("span", { "aria-hidden": "true" }, "✓"), el("span", { class: "unseen" }, "decided"))
      : el("span", { class: "places" }, first === last ? String(first) : `${first}–${last}`);
    const interval = () => (row.elo === null ? null : bar(scale.share(row.low ?? row.elo), scale.share(row.high ?? row.elo), { at: scale.share(row.elo), zero: scale.share(0) }));
    return el("tr", { class: chosen(wanted, row.team), "data-team": row.team },
      el("td", { class: "number" }, el("strong", {}, String(row.place))),
      // On a narrow page the bar is below the name.
      el("th", { scope: "row" }, teamLink(row.team), el("span", { class: "below" }, interval())),
      isElimination ? el("td", { class: "number" }, number(row.stage ?? 0)) : null,
      el("td", { class: "number" }, el("strong", {}, points(row.points))),
      summary.is_live && !isElimination ? el("td", { class: "number" }, row.played ? number(row.points / row.played, 2) : "–") : null,
      el("td", { class: "number" }, number(row.played)),
      isSwiss ? el("td", { class: "number" }, points(row.buchholz)) : null,
      el("td", { class: "number medium" }, `${row.won}–${row.tied}–${row.lost}`),
      hasTotal ? el("td", { class: "number roomy" }, row.total === null ? "–" : number(row.total, Number.isInteger(row.total) ? 0 : 1)) : null,
      hasForfeits ? el("td", { class: "number roomy" }, row.forfeits ? number(row.forfeits) : "") : null,
      el("td", { class: "number" }, rating(row.elo)),
      el("td", { class: "number roomy" }, row.low === null || row.high === null ? "–" : `${rating(row.low)} to ${rating(row.high)}`),
      el("td", { class: "number medium" }, places),
      el("td", { class: "chart" }, interval()),
    );
  });
  const byes = summary.standings.filter((row) => row.byes > 0).map((row) => `${clean(row.team)} ${row.byes}`);
  const note = [clean(summary.order), "A bar is the interval of a rating at 95 %; the average team has 0. ✓ marks a place that is decided at 95 %.",
    byes.length ? `Byes: ${byes.join(", ")}. A bye counts as won.` : ""].filter(Boolean).join(" ");
  return [...longTable({ name: "standings", caption: "Standings and ratings", head: [head], rows, again }), el("p", { class: "note" }, note)];
}

/** @param {League} league @param {Wanted} wanted @param {() => void} again */
export function endings(league, wanted, again) {
  const { tally } = league;
  /** @type {Map<string, number>} */
  const totals = new Map();
  for (const { ended } of tally.values()) for (const [key, count] of ended) totals.set(key, (totals.get(key) ?? 0) + count);
  const seats = league.seats.filter((seat) => [...totals.keys()].some((key) => key.startsWith(`${seat}\n`)));
  const columns = seats.map((seat) => ({
    seat,
    reasons: [...totals.keys()].filter((key) => key.startsWith(`${seat}\n`)).map((key) => key.slice(seat.length + 1))
      .sort((a, b) => (totals.get(endingKey(seat, b)) ?? 0) - (totals.get(endingKey(seat, a)) ?? 0)),
  }));
  const top = el("tr", {}, el("td", {}),
    ...columns.flatMap(({ seat, reasons }) => [el("th", { scope: "colgroup", colspan: reasons.length + 1, class: "group" }, `As ${clean(seat)}`)]),
    el("td", {}));
  const head = el("tr", {}, el("th", { scope: "col" }, "Team"), ...columns.flatMap(({ reasons }) => [
    el("th", { scope: "col", class: "number group" }, "won"), ...reasons.map((reason) => el("th", { scope: "col", class: "number" }, clean(reason)))]),
    el("th", { scope: "col", class: "number group" }, "Faults"));
  const rows = league.summary.standings.map(({ team }) => {
    const own = tally.get(team);
    const cells = columns.flatMap(({ seat, reasons }) => {
      const played = own?.played.get(seat) ?? 0;
      return [el("td", { class: "number group" }, played ? `${number(own?.won.get(seat) ?? 0)}/${number(played)}` : "–"), ...reasons.map((reason) => {
        const count = own?.ended.get(endingKey(seat, reason)) ?? 0;
        const label = `${clean(team)} as ${clean(seat)}: ${counted(count, "match", "matches")} ended with ${clean(reason)}`;
        const cell = el("td", { class: "number tinted" },
          count ? el("a", { href: address({ team, seat, reason }), "aria-label": label }, number(count)) : "");
        if (count) cell.style.setProperty("--share", `${Math.round((100 * count) / played)}%`);
        return cell;
      })];
    });
    return el("tr", { class: chosen(wanted, team) }, el("th", { scope: "row" }, teamLink(team)), ...cells,
      el("td", { class: "number group" }, own?.faults ? number(own.faults) : ""));
  });
  return [...longTable({ name: "endings", caption: "How each team's matches ended", head: [top, head], rows, again }),
    el("p", { class: "note" }, "A darker cell is a larger share of the team's matches in that seat. Each number leads to its matches. Faults are matches with a fault of the team itself.")];
}

/** @param {League} league @param {Wanted} wanted @param {() => void} again */
export function times(league, wanted, again) {
  const { tally } = league;
  const each = (/** @type {import("./league.js").Tally} */ one) => (one.timed ? one.seconds / one.timed : 0);
  const most = Math.max(1e-9, ...[...tally.values()].map(each));
  const head = el("tr", {}, el("th", { scope: "col" }, "Team"), el("th", { scope: "col", class: "number" }, "A match"),
    el("th", { scope: "col", class: "chart" }, el("span", { class: "unseen" }, `${capital(league.time)} a match as a bar`)),
    el("th", { scope: "col", class: "number" }, "A step"), el("th", { scope: "col", class: "number" }, "Slowest answer"));
  const rows = league.summary.standings.map(({ team }) => {
    const own = tally.get(team);
    if (!own?.timed) {
      return el("tr", { class: chosen(wanted, team) }, el("th", { scope: "row" }, teamLink(team)), el("td", { class: "number" }, "–"), el("td", {}), el("td", { class: "number" }, "–"), el("td", { class: "number" }, "–"));
    }
    return el("tr", { class: chosen(wanted, team) }, el("th", { scope: "row" }, teamLink(team)),
      el("td", { class: "number" }, duration(each(own))),
      el("td", { class: "chart" }, bar(0, each(own) / most, { kind: "length" })),
      el("td", { class: "number" }, own.steps ? duration(own.seconds / own.steps) : "–"),
      el("td", { class: "number" }, own.slowestMatch ? el("a", { href: address({ match: own.slowestMatch }), "aria-label": `${duration(own.slowest)}: the slowest answer of ${clean(team)}` }, duration(own.slowest)) : "–"));
  });
  return [...longTable({ name: "time", caption: `${capital(league.time)} used by each team`, head: [head], rows, again }),
    el("p", { class: "note" }, `Averages of all matches${league.summary.clock === "cpu" ? ", in processor time: the time that a bot waited for a core is not in it" : ""}. The slowest answer leads to its match.`)];
}
