// The report of a league: the team and the duels that the address asks for, the crosstable by keys, and a league that is running.

import { byId, counted, el, number, part } from "./viewer/kit/dom.js";
import { bytesOf } from "./viewer/kit/packed.js";
import { SmallBoards } from "./viewer/many/boards.js";
import { quoted } from "./viewer/app/clip.js";
import { address, bulk, clean, configured, fetched, filled, keepingFocus, listenToPage, replaceParts } from "./common.js";
import { joined, matchRow, side } from "./matches.js";

/** How many duels are shown at first, and how many more at a time. */
const AT_FIRST = 30;
const MORE = 100;
/** How often a page looks whether its report was written again, in milliseconds. */
const AGAIN_MS = 3000;

/** @typedef {{ game: number, seats: string[], teams: string[], winner: number, reason: string, text: string, facts: string, faults: [number, string][], replay: string | null, hasPage: boolean }} Match */
/** @typedef {{ number: number, details: string, teams: string[], points: string[], best: number[], matches: Match[], note: string }} Duel */

/** What the script needs, as referee/league/report_page.py writes it. @type {{ live: boolean, teams: string[], boards: boolean }} */
let config = configured();
/** Makes the addresses of scripts; the page's security policy allows it only where there are some. */
const trusted = config.boards ? globalThis.trustedTypes?.createPolicy("pages", { createScriptURL: (/** @type {string} */ key) => `pages/${key}.js` }) : undefined;
const boards = config.boards ? new SmallBoards(readScript) : null;
/** @type {Map<number, Duel>} */
const known = new Map();
let isRead = false;
/** Whether the message says that the wanted team is missing. */
let isTeamMissing = false;
let wanted = read();
/** How many duels of the list are shown. */
let count = AT_FIRST;
/** The cell of the crosstable that the arrow keys have reached. */
const cursor = { row: 0, column: 1 };

/** What the address asks for. */
function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  const [duel, match] = [given.get("duel"), given.get("match")];
  return {
    team: given.get("team"), against: given.get("against"), seat: given.get("seat"), reason: given.get("reason"),
    duel: duel !== null && /^\d{1,9}$/.test(duel) ? Number(duel) : null, match: match !== null && /^\d{1,9}\.\d{1,9}$/.test(match) ? match : null,
  };
}

/** Take the duels of the page: see `pack` in referee/league/report_page.py. @param {{ texts: string[], replay: [string, string], duels: any[][] }} pack */
function take({ texts, replay: [prefix, suffix], duels }) {
  const text = (/** @type {number} */ index) => texts[index];
  known.clear();
  for (const [at, details, teams, points, best, matches, note] of duels) {
    known.set(at, {
      number: at, details: texts[details], teams: teams.map(text), points: points.map(text), best, note: texts[note],
      matches: matches.map((/** @type {any[]} */ [game, seats, players, winner, reason, words, facts, faults, replay, page]) => ({
        game, seats: seats.map(text), teams: players.map(text), winner, reason: texts[reason], text: texts[words], facts,
        faults: faults.map((/** @type {[number, number]} */ [seat, fault]) => [seat, texts[fault]]), replay: replay === null ? null : prefix + replay + suffix, hasPage: page === 1,
      })),
    });
  }
}

/** If a match ended as the address asks, for the team that it names. @param {Match} match */
function isWanted(match) {
  if (wanted.reason === null || match.reason !== wanted.reason) return false;
  return wanted.team === null || match.teams.some((team, seat) => team === wanted.team && (wanted.seat === null || match.seats[seat] === wanted.seat));
}

/** The kind of duels that the reader has chosen, "" for all. */
let kind = "";

/** A number of points as the page writes it. @param {string} points */
const worth = (points) => Number(points.replace("½", ".5")) || 0;

/** How many places the winner of a duel stands below the loser; 0 or less for what was to be expected, and without a winner. @param {Duel} duel */
function surprise({ teams, best }) {
  if (best.length !== 1 || teams.length !== 2) return 0;
  return config.teams.indexOf(teams[best[0]]) - config.teams.indexOf(teams[1 - best[0]]);
}

/** The most steps, or other units, of a match of a duel. @param {Duel} duel */
function lengthOf({ matches }) {
  return Math.max(0, ...matches.map(({ text }) => Number(/after ([\d,]+) /.exec(text)?.[1].replaceAll(",", "") ?? 0)));
}

/** The order of each kind: those with the greatest number first; duels with 0 are left out. @type {Record<string, (duel: Duel) => number>} */
const KINDS = {
  surprise,
  fault: ({ matches }) => matches.filter(({ faults }) => faults.length).length,
  longest: lengthOf,
  closest: ({ points }) => (points.length === 2 && !points.includes("–") ? 1 / (1 + Math.abs(worth(points[0]) - worth(points[1]))) : 0),
};

/** The duels that the address asks for, of the kind that the reader has chosen. */
function selected() {
  const found = fitting();
  if (!Object.hasOwn(KINDS, kind)) return found;
  const value = KINDS[kind];
  return found.filter((duel) => value(duel) > 0).sort((a, b) => value(b) - value(a));
}

/** A replay from the script beside the report, which calls `replay`: a page that is opened from its file can read no other files. @param {string} key @returns {Promise<ReadableStream<Uint8Array<ArrayBuffer>> | null>} */
function readScript(key) {
  return new Promise((resolve) => {
    globalThis.replay = (name, data) => {
      if (name === key) resolve(new Blob([bytesOf(data)]).stream());
    };
    const script = document.createElement("script");
    script.src = trusted ? trusted.createScriptURL(key) : `pages/${key}.js`;
    for (const kind of ["load", "error"]) script.addEventListener(kind, () => {
      script.remove();
      resolve(null);
    });
    document.head.append(script);
  });
}

/** The last position of a match on a small board; nothing if its replay isn't beside the report. @param {Match | undefined} match */
function smallBoard(match) {
  if (!boards || !match?.hasPage || match.replay === null) return [];
  const canvas = el("canvas", { "data-replay": keyOf(match.replay), "aria-hidden": "true", width: 320, height: 320 });
  boards.watch([canvas]);
  return [canvas];
}

/** @param {string} replay */
const keyOf = (replay) => replay.replace(/\.replay\.jsonl\.gz$/, "");

/** The viewer with a match; null if it isn't beside the report. @param {Match} match */
const viewerOf = ({ replay, hasPage }) => (replay !== null && hasPage ? `viewer.html?match=${encodeURIComponent(keyOf(replay))}` : null);

/** The best duel and the greatest surprise of a league that is finished: the one between the teams with the best places, and the one whose winner stood lowest. Before them the winner, in a match that it won against the best of the others. */
function drawHonours() {
  if (!document.getElementById("honours")) return;
  const over = [...known.values()].filter(({ points, matches }) => points.length === 2 && !points.includes("–") && !matches.some(({ faults }) => faults.length));
  const rank = (/** @type {Duel} */ { teams }) => teams.reduce((sum, team) => sum + config.teams.indexOf(team), 0);
  const best = over.sort((a, b) => rank(a) - rank(b) || lengthOf(b) - lengthOf(a))[0];
  const odd = over.filter((duel) => surprise(duel) > 0).sort((a, b) => surprise(b) - surprise(a))[0];
  const won = over.find(({ teams, best: [at] }) => at !== undefined && teams[at] === config.teams[0]);
  /** @type {Set<Match>} */
  const shown = new Set();
  byId("honour-boards").replaceChildren(...honour("The winner", won, shown), ...honour("The best against each other", best, shown), ...honour("The biggest surprise", odd, shown));
}

/** A duel with the board of the match that its winner won, which no other one shows. @param {string} title @param {Duel | undefined} duel @param {Set<Match>} shown */
function honour(title, duel, shown) {
  if (!duel) return [];
  const free = duel.matches.filter((match) => !shown.has(match));
  const match = free.find(({ teams, winner }) => winner >= 0 && teams[winner] === duel.teams[duel.best[0]]) ?? free[0];
  if (match) shown.add(match);
  return [filled("honour", {
    link: { href: (match && viewerOf(match)) ?? address({ duel: duel.number }) }, board: smallBoard(match), title,
    names: duel.teams.map((team, at) => `${team} ${duel.points[at]}`).join(" – "), text: match?.text ?? "",
  })];
}

function fitting() {
  const one = wanted.match !== null ? Number(wanted.match.split(".")[0]) : wanted.duel;
  const all = [...known.values()].sort((a, b) => a.number - b.number);
  return all.filter((duel) => (one !== null ? duel.number === one
    : [wanted.team, wanted.against].every((team) => team === null || duel.teams.includes(team)) && (wanted.reason === null || duel.matches.some(isWanted))));
}

/** What the list of duels shows, in words. @param {number} length */
function title(length) {
  if (!isRead) return "Reading the duels…";
  if (wanted.match !== null || wanted.duel !== null) return length ? "One duel" : "No such duel";
  const who = wanted.team === null ? "" : ` of ${wanted.team}${wanted.against === null ? "" : ` against ${wanted.against}`}`;
  const what = wanted.reason === null ? "" : ` with a match that ended with ${wanted.reason}${wanted.seat === null ? "" : ` as ${wanted.seat}`}`;
  return clean(`${counted(length, "duel")}${who}${what}`);
}

/** @param {string} team */
const teamLink = (team) => ({ text: team, title: team, href: address({ team }) });

function drawDuels() {
  const found = selected();
  const rest = found.length - count;
  byId("which").textContent = title(found.length);
  byId("all-duels").hidden = Object.values(wanted).every((one) => one === null);
  byId("duel-list").hidden = !isRead;
  byId("duel-list").replaceChildren(...found.slice(0, count).map(duelItem));
  byId("more-duels").hidden = rest <= 0;
  byId("more-duels").textContent = `Show ${number(Math.min(MORE, rest))} more of ${number(rest)}`;
}

/** @param {Duel} duel */
function duelItem(duel) {
  const isOne = wanted.duel === duel.number || wanted.match?.split(".")[0] === String(duel.number);
  const sides = duel.teams.map((team, at) => side("side", duel.best.includes(at), { team: teamLink(team), points: duel.points[at] }));
  return filled("duel", {
    self: { id: `duel-${duel.number}`, class: `duel${isOne ? " chosen" : ""}` }, name: { text: `Duel ${number(duel.number + 1)}`, href: address({ duel: duel.number }) },
    details: duel.details, sides: joined(sides, sides.length === 2 ? " – " : ", "), note: duel.note || null, matches: duel.matches.map((match) => matchItem(duel, match)),
  });
}

/** @param {Duel} duel @param {Match} match */
function matchItem(duel, match) {
  const key = `${duel.number}.${match.game}`;
  const { replay } = match;
  const row = matchRow({
    id: `match-${key}`, isChosen: wanted.match === key || isWanted(match), label: `duel ${duel.number + 1}, match ${match.game + 1}`,
    href: viewerOf(match), command: replay === null ? null : `referee watch ${quoted(replay)}`,
    players: match.seats.map((seat, at) => ({ name: match.teams[at], seat, isBest: match.winner === at })), text: match.text,
    faults: match.faults.map(([seat, text]) => `${match.teams[seat] ?? ""}: ${text}`), facts: match.facts, link: address({ match: key }),
  });
  row.title = match.facts;
  row.prepend(el("span", { class: "thumb" }, ...smallBoard(match)));
  return row;
}

/** A row of the crosstable. @param {number} row */
function crossRow(row) {
  return document.querySelector("table.cross")?.querySelectorAll("tbody tr")[row] ?? null;
}

/** The text of a cell of the crosstable: the points of one team against another, "" for none. @param {number} row @param {number} column */
function crossPoints(row, column) {
  return crossRow(row)?.querySelectorAll("td")[column]?.textContent?.replace("·", "") ?? "";
}

/** How many duels of two teams count. @param {string} a @param {string} b */
function duelsOf(a, b) {
  return [...known.values()].filter(({ teams, points }) => teams.includes(a) && teams.includes(b) && !points.includes("–")).length;
}

/** Show the team that the address names, and mark it in all tables. */
function drawTeam() {
  const [at, other] = [wanted.team, wanted.against].map((team) => (team === null ? -1 : config.teams.indexOf(team)));
  for (const row of document.querySelectorAll("#standings tbody tr, #endings tbody tr, #time tbody tr, .cross tbody tr")) {
    row.classList.toggle("chosen", row instanceof HTMLTableRowElement && [at, other].includes(Number(row.dataset.row ?? row.sectionRowIndex)));
  }
  document.querySelectorAll(".cross thead th").forEach((head, column) => head.classList.toggle("chosen", column > 0 && [at, other].includes(column - 1)));
  for (const one of document.querySelectorAll(".entrant")) one.classList.toggle("chosen", one.getAttribute("data-team") === String(at));
  byId("team-panel").hidden = at < 0;
  if (wanted.team !== null && at < 0) byId("message").textContent = `There is no team ${clean(wanted.team)} in this league.`;
  else if (isTeamMissing) byId("message").textContent = "";
  isTeamMissing = wanted.team !== null && at < 0;
  byId("message").hidden = !byId("message").textContent;
  const input = part("team", HTMLInputElement);
  if (document.activeElement !== input) input.value = wanted.team ?? "";
  if (at < 0 || wanted.team === null) return;
  const own = wanted.team;
  byId("team-title").textContent = clean(own);
  byId("team-facts").replaceChildren(part("facts-of", HTMLTemplateElement).content.children[at].cloneNode(true));
  const rows = config.teams.flatMap((team, column) => {
    const points = crossPoints(at, column);
    if (column === at || points === "") return [];
    const duels = counted(duelsOf(own, team), "duel");
    const row = filled("opponent", {
      place: place(column), team: teamLink(team), points: `${points} : ${crossPoints(column, at)}`,
      duels: { text: duels, href: address({ team: own, against: team }), "aria-label": `${duels} against ${team}` },
    });
    row.classList.toggle("chosen", team === wanted.against);
    return [row];
  });
  byId("opponents-table").querySelector("tbody")?.replaceChildren(...rows);
  byId("opponents-table").hidden = !rows.length;
  byId("no-opponents").hidden = rows.length > 0;
}

/** @param {number} row */
const place = (row) => document.querySelector(`#standings tbody tr[data-row="${row}"]`)?.querySelector("td")?.textContent ?? "";

/** What a cell of the crosstable says in words. @param {number} row @param {number} column */
function words(row, column) {
  const [a, b] = [config.teams[row], config.teams[column]];
  if (row === column) return clean(`${a} (place ${place(row)})`);
  const points = crossPoints(row, column);
  return clean(points === "" ? `${a} against ${b}: no duel is over` : `${a} ${points}, ${b} ${crossPoints(column, row)} in ${counted(duelsOf(a, b), "duel")}`);
}

/** The one cell of the crosstable that can have the focus. */
function reach() {
  const last = config.teams.length - 1;
  for (const name of /** @type {const} */ (["row", "column"])) cursor[name] = Math.max(0, Math.min(last, cursor[name]));
  for (const old of document.querySelectorAll(".cross td[tabindex]")) old.removeAttribute("tabindex");
  const cell = crossRow(cursor.row)?.querySelectorAll("td")[cursor.column];
  cell?.setAttribute("tabindex", "0");
  cell?.setAttribute("aria-label", words(cursor.row, cursor.column));
  return cell;
}

/** Move in the crosstable. @param {KeyboardEvent} event */
function move(event) {
  const steps = /** @type {Record<string, [number, number]>} */ ({
    ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -1e6], End: [0, 1e6], PageUp: [-10, 0], PageDown: [10, 0],
  });
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Enter") openDuels();
  const step = steps[event.key];
  if (!step) return;
  event.preventDefault();
  cursor.row += step[0];
  cursor.column += step[1];
  reach()?.focus();
}

function openDuels() {
  const [team, against] = [config.teams[cursor.row], config.teams[cursor.column]];
  location.hash = address(team === against ? { team } : { team, against });
}

/** What happens in the crosstable, which the server may send again at any time. @param {string} kind @param {(event: Event) => void} act called with the cell as the cursor */
function onCross(kind, act) {
  document.addEventListener(kind, (event) => {
    const cell = event.target instanceof Element ? event.target.closest(".cross td") : null;
    if (!(cell instanceof HTMLTableCellElement) || !(cell.parentElement instanceof HTMLTableRowElement)) return;
    Object.assign(cursor, { row: cell.parentElement.sectionRowIndex, column: cell.cellIndex - 1 });
    act(event);
  });
}

/** Bring what the address asks for into view. */
function show() {
  const isOne = wanted.match !== null || wanted.duel !== null;
  const id = wanted.match !== null ? `match-${wanted.match}` : wanted.duel !== null ? `duel-${wanted.duel}` : wanted.reason !== null || wanted.against !== null ? "duels" : wanted.team !== null ? "team-panel" : null;
  const found = id === null ? null : document.getElementById(id);
  found?.scrollIntoView({ block: isOne ? "center" : "start" });
  if (id !== null && isRead) byId("status").textContent = id === "team-panel" ? `Team ${clean(wanted.team ?? "")}` : byId("which").textContent;
}

function draw() {
  keepingFocus(() => {
    drawTeam();
    drawDuels();
    drawHonours();
    if (config.teams.length > 1) reach();
  });
}

/** @param {string} name @param {boolean} isSure */
function choose(name, isSure) {
  if (name === "" ? wanted.team !== null : config.teams.includes(name) && name !== wanted.team) location.hash = name === "" ? "#" : address({ team: name });
  else if (isSure && name !== "") location.hash = address({ team: config.teams.find((team) => team.toLowerCase().startsWith(name.toLowerCase())) ?? name });
}

function listen() {
  listenToPage("team", choose, () => void boards?.draw());
  document.addEventListener("click", (event) => {
    const { target } = event;
    if (!(target instanceof Element)) return;
    const section = target.closest("#sections a")?.getAttribute("href");
    if (section) {
      // The address keeps the team that was chosen.
      event.preventDefault();
      byId(section.slice(1)).scrollIntoView();
      byId(section.slice(1)).focus({ preventScroll: true });
    }
    if (target instanceof HTMLButtonElement && target.closest("#kinds")) {
      kind = target.dataset.kind ?? "";
      for (const button of document.querySelectorAll("#kinds button")) button.setAttribute("aria-pressed", String(button === target));
      count = AT_FIRST;
      drawDuels();
    }
  });
  byId("more-duels").addEventListener("click", () => {
    count += MORE;
    keepingFocus(drawDuels);
  });
  const tell = () => {
    for (const readout of document.querySelectorAll(".readout")) readout.textContent = words(cursor.row, cursor.column);
  };
  onCross("pointerover", tell);
  onCross("focusin", tell);
  onCross("keydown", (event) => event instanceof KeyboardEvent && move(event));
  onCross("click", openDuels);
  globalThis.addEventListener("hashchange", () => {
    // Only the link for those who skip the header leads to a section by the address.
    if (location.hash === "#standings") return;
    wanted = read();
    count = AT_FIRST;
    draw();
    show();
  });
}

/** Follow a league that is running: its report is written again every few seconds. A page that was opened from its file can't ask for it. */
async function follow() {
  let tag = "";
  while (config.live && location.protocol !== "file:") {
    await new Promise((again) => setTimeout(again, AGAIN_MS));
    const head = await fetch(location.pathname, { method: "HEAD" }).catch(() => null);
    if (head?.ok && head.headers.get("ETag") === tag) continue;
    const page = head?.ok ? await fetched(location.pathname) : null;
    if (!page) {
      byId("state").textContent = "not connected";
      byId("state").className = "chip bad";
      continue;
    }
    tag = head?.headers.get("ETag") ?? "";
    const pack = await bulk(page);
    keepingFocus(() => {
      replaceParts(page);
      config = configured();
      take(pack);
      draw();
    });
  }
}

async function start() {
  listen();
  drawTeam();
  take(await bulk());
  isRead = true;
  draw();
  show();
  await follow();
}

void start();
