// The list of duels: each match with the way to its replay.

import { counted, el, number } from "../../web/viewer/kit/dom.js";
import { isWanted, pageKey } from "./league.js";
import { address, clean, duration, points, teamLink } from "./shared.js";

/** How many duels are shown at first, and how many more at a time. */
const AT_FIRST = 30;
const MORE = 100;

/** How many duels of the list are shown, until the reader asks for another list. */
const shown = { list: "", count: AT_FIRST };

/** @typedef {import("./league.js").League} League */
/** @typedef {import("./types.js").Wanted} Wanted */
/** @typedef {import("./types.js").Duel} Duel */
/** @typedef {import("./types.js").Match} Match */

/** What the list shows, in words. @param {Wanted} wanted @param {number} count */
export function title(wanted, count) {
  if (wanted.match !== null || wanted.duel !== null) return count ? "One duel" : "No such duel";
  const who = wanted.team === null ? "" : ` of ${clean(wanted.team)}${wanted.against === null ? "" : ` against ${clean(wanted.against)}`}`;
  const what = wanted.reason === null ? "" : ` with a match that ended with ${clean(wanted.reason)}${wanted.seat === null ? "" : ` as ${clean(wanted.seat)}`}`;
  return `${counted(count, "duel")}${who}${what}`;
}

/** @param {League} league @param {Wanted} wanted @param {boolean} isLive @param {() => void} again */
export function duels(league, wanted, isLive, again) {
  if (!league.isComplete) return [el("p", { class: "note" }, "Reading the duels…")];
  const list = JSON.stringify(wanted);
  if (shown.list !== list) Object.assign(shown, { list, count: AT_FIRST });
  const found = league.select(wanted);
  const isAll = Object.values(wanted).every((one) => one === null);
  const top = el("p", { class: "row" }, el("span", {}, title(wanted, found.length)), isAll ? null : el("a", { href: "#", class: "button" }, "All duels"));
  const items = found.slice(0, shown.count).map((duel) => duelItem(league, duel, wanted, isLive));
  const rest = found.length - items.length;
  const more = rest > 0
    ? el("button", {
      type: "button", class: "more", "data-key": "more-duels", onclick: () => {
        shown.count += MORE;
        again();
      },
    }, `Show ${number(Math.min(MORE, rest))} more of ${number(rest)}`)
    : null;
  return [top, el("ol", { class: "duels" }, ...items), ...(more ? [more] : [])];
}

/** @param {League} league @param {Duel} duel @param {Wanted} wanted @param {boolean} isLive */
function duelItem(league, duel, wanted, isLive) {
  const isOnlyStart = league.duels.every((one) => one.start === league.duels[0].start);
  const details = [
    `round ${duel.round + 1}`, isOnlyStart ? "" : `start ${duel.start + 1}`, league.summary.variants.length > 1 ? `variant ${duel.variant + 1}` : "",
  ].filter(Boolean).join(" · ");
  const best = Math.max(...duel.points.map((value) => value ?? 0));
  const score = duel.teams.flatMap((team, at) => {
    const isBest = duel.points[at] === best && duel.points.some((value) => value !== null && value < best);
    return [at ? el("span", { class: "versus" }, duel.teams.length === 2 ? " – " : ", ") : null, el("span", { class: isBest ? "side best" : "side" }, teamLink(team), el("strong", {}, points(duel.points[at])))];
  });
  const isOne = wanted.duel === duel.number || wanted.match?.split(".")[0] === String(duel.number);
  return el("li", { class: `duel${isOne ? " chosen" : ""}`, id: `duel-${duel.number}` },
    el("div", { class: "about" },
      el("h3", {}, el("a", { href: address({ duel: duel.number }) }, `Duel ${number(duel.number + 1)}`), el("span", { class: "faint" }, ` ${details}`)),
      el("p", { class: "score" }, ...score),
      duel.note ? el("p", { class: "fault" }, clean(duel.note)) : null),
    el("div", { class: "matches" }, ...duel.matches.map((match) => matchItem(league, duel, match, wanted, isLive))));
}

/** @param {League} league @param {Duel} duel @param {Match} match @param {Wanted} wanted @param {boolean} isLive */
function matchItem(league, duel, match, wanted, isLive) {
  const key = `${duel.number}.${match.game}`;
  const label = `duel ${duel.number + 1}, match ${match.game + 1}`;
  const players = match.seats.flatMap((seat, at) => [at ? " · " : "", el("span", { class: match.winner === at ? "side best" : "side" }, el("span", { title: clean(match.teams[at]) }, clean(match.teams[at])), el("span", { class: "faint" }, clean(seat)))]);
  const each = (/** @type {(number | null)[]} */ values) => values.map(duration).join(", ");
  const facts = [counted(match.steps, "step"), match.seconds.some((one) => one !== null) ? `${league.time} ${each(match.seconds)}` : "", match.slowest.some((one) => one !== null) ? `slowest ${each(match.slowest)}` : ""];
  const isChosen = wanted.match === key || isWanted(match, wanted);
  return el("div", { class: `match${isChosen ? " chosen" : ""}`, id: `match-${key}` },
    way(match, key, label, isLive),
    el("div", { class: "told" },
      el("p", { class: "players" }, ...players),
      el("p", {}, clean(match.text), " ", el("span", { class: "chip" }, clean(match.reason))),
      ...match.faults.map(([seat, text]) => el("p", { class: "fault" }, `${clean(match.teams[seat] ?? "")}: ${clean(text)}`)),
      el("p", { class: "faint" }, facts.filter(Boolean).join(" · "), " · ", el("a", { href: address({ match: key }), "aria-label": `Link to ${label}` }, "link"))));
}

/** The way to a match's replay: a link, or the command that shows it. @param {Match} match @param {string} key @param {string} label @param {boolean} isLive */
function way(match, key, label, isLive) {
  if (match.replay === null) return el("p", { class: "watch faint" }, "No replay");
  if (isLive || match.hasPage) {
    const href = isLive ? `match/${key}/` : `viewer.html?match=${encodeURIComponent(pageKey(match.replay))}`;
    return el("p", { class: "watch" }, el("a", { href, class: "button", "aria-label": `Watch ${label}` }, "▶ Watch"));
  }
  const command = el("code", { tabindex: 0 }, `referee watch ${quoted(match.replay)}`);
  const copied = el("span", { role: "status" });
  const copy = el("button", { type: "button", onclick: () => void take() }, "Copy");
  return el("details", { class: "watch" }, el("summary", { "aria-label": `How to watch ${label}` }, "▶ Watch"),
    el("p", {}, "In the league's folder: ", command, " ", copy, " ", copied));

  async function take() {
    try {
      await navigator.clipboard.writeText(command.textContent ?? "");
      copied.textContent = "Copied.";
    } catch {
      getSelection()?.selectAllChildren(command);
      copied.textContent = "Selected: copy it with the keyboard.";
    }
  }
}

/** A word for a shell. @param {string} path */
function quoted(path) {
  return /^[\w./@%+=:,-]+$/.test(path) && !path.startsWith("-") ? path : `'${path.replaceAll("'", "'\\''")}'`;
}
