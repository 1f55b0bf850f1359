// The bracket of an elimination: a column for each round, and why a team went on after a tie.

import { el } from "../../web/viewer/kit/dom.js";
import { address, clean, points, teamLink } from "./shared.js";

/** @typedef {import("./types.js").BracketLine} BracketLine */

/** The name of a round, counted from the final. @param {number} size how many fixtures it has @param {number} round */
function roundName(size, round) {
  return { 1: "Final", 2: "Semifinals", 4: "Quarterfinals" }[size] ?? `Round ${round + 1}`;
}

/** @param {import("./league.js").League} league @param {import("./types.js").Wanted} wanted */
export function bracket(league, wanted) {
  const { summary } = league;
  const count = Math.max(1, Math.ceil(Math.log2(Math.max(2, summary.standings.length))));
  const columns = Array.from({ length: count }, (_, round) => {
    const known = summary.bracket.filter((line) => line.round === round);
    const size = 2 ** (count - 1 - round);
    const open = Array.from({ length: size - known.length }, () => el("li", { class: "fixture open" }, el("span", {}, "not known yet")));
    return el("li", { class: "round" }, el("h3", {}, roundName(size, round)), el("ol", {}, ...known.map((line) => fixture(line, wanted)), ...open));
  });
  const list = el("ol", { class: "bracket" }, ...columns);
  list.style.setProperty("--rounds", String(count));
  return [el("div", { class: "wide", tabindex: 0, role: "group", "aria-label": "Bracket" }, list),
    el("p", { class: "note" }, clean(summary.fixture_rule))];
}

/** @param {BracketLine} line @param {import("./types.js").Wanted} wanted */
function fixture({ teams, points: scored, winner, tie }, wanted) {
  const rows = teams.map((team, at) => el("div", { class: `entrant${team === winner ? " best" : ""}${wanted.team === team ? " chosen" : ""}` },
    teamLink(team), scored.length ? el("span", { class: "number" }, points(scored[at])) : el("span", { class: "faint" }, "bye"),
    team === winner ? el("span", { class: "unseen" }, "goes on") : null));
  const way = teams.length > 1 ? el("a", { href: address({ team: teams[0], against: teams[1] }), class: "faint", "aria-label": `Duels of ${clean(teams[0])} and ${clean(teams[1])}` }, "duels") : null;
  return el("li", { class: "fixture" }, ...rows, tie ? el("p", { class: "faint" }, clean(tie)) : null, way);
}
