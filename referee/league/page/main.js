// The report: reads its data, draws its sections, and follows the address and a league that is running.

import { byId, counted, el, number, part, remembered } from "../../web/viewer/kit/dom.js";
import { bracket } from "./bracket.js";
import { crosstable } from "./crosstable.js";
import { duels } from "./duels.js";
import { League } from "./league.js";
import { address, capital, clean, duration, setPrinting } from "./shared.js";
import { endings, standings, times } from "./standings.js";
import { teamPanel } from "./team.js";

const SECTIONS = [
  ["standings", "Standings"], ["bracket", "Bracket"], ["crosstable", "Crosstable"], ["endings", "Endings"], ["time", "Time"], ["duels", "Duels"], ["settings", "Settings"],
];
const STATES = /** @type {Record<string, string>} */ ({ running: "running", finished: "finished", stopped: "stopped" });
const dark = matchMedia("(prefers-color-scheme: dark)");

const config = JSON.parse(byId("page").textContent || "null") ?? { live: true };
/** @type {League | null} */
let league = null;
let wanted = read();

/** What the address asks for. @returns {import("./types.js").Wanted} */
function read() {
  const given = new URLSearchParams(location.hash.slice(1));
  const duel = given.get("duel");
  return {
    team: given.get("team"), against: given.get("against"), seat: given.get("seat"), reason: given.get("reason"),
    duel: duel !== null && /^\d{1,9}$/.test(duel) ? Number(duel) : null, match: /^\d{1,9}\.\d{1,9}$/.test(given.get("match") ?? "") ? given.get("match") : null,
  };
}

function isDark() {
  if (isOnPaper) return false;
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : dark.matches;
}

/** Put elements into a section. The element that has the focus keeps it, if it is still there. @param {string} id @param {(HTMLElement | null)[]} children */
function fill(id, children) {
  const box = byId(id).querySelector(".content") ?? byId(id);
  const held = document.activeElement;
  const key = held && box.contains(held) ? [held.getAttribute("data-key"), held.getAttribute("href")] : null;
  const scrolled = [...box.querySelectorAll(".wide")].map((wide) => wide.scrollLeft);
  box.replaceChildren(...children.filter((child) => child !== null));
  box.querySelectorAll(".wide").forEach((wide, index) => {
    wide.scrollLeft = scrolled[index] ?? 0;
  });
  if (!key) return;
  const again = [...box.querySelectorAll("[data-key], a")].find((one) => (key[0] ? one.getAttribute("data-key") === key[0] : one.getAttribute("href") === key[1]));
  if (again instanceof HTMLElement) again.focus({ preventScroll: true });
}

function drawTop() {
  if (!league) return;
  const { summary } = league;
  const { progress } = summary;
  document.title = `${clean(summary.name)} · League`;
  document.body.classList.toggle("many", summary.standings.length > 12);
  byId("name").textContent = clean(summary.name);
  byId("about").textContent = [`${clean(summary.game)} ${clean(summary.rules)}`, clean(summary.format), counted(summary.standings.length, "team"), summary.seed === null ? "" : `seed ${summary.seed}`].filter(Boolean).join(" · ");
  byId("state").textContent = STATES[progress.state] ?? clean(progress.state);
  byId("state").className = `chip ${progress.state === "running" ? "running" : progress.state === "finished" ? "good" : ""}`;
  byId("progress-text").textContent = [
    progress.done === progress.total ? counted(progress.total, "match", "matches") : `${number(progress.done)} of ${counted(progress.total, "match", "matches")}`,
    progress.matches_a_minute === null ? "" : `${number(progress.matches_a_minute)} a minute`,
    progress.seconds_left === null ? "" : `${duration(progress.seconds_left)} left`,
  ].filter(Boolean).join(" · ");
  const meter = part("progress", HTMLProgressElement);
  meter.max = Math.max(1, progress.total);
  meter.value = progress.done;
  meter.hidden = progress.done === progress.total;
  byId("teams").replaceChildren(...summary.standings.map((row) => el("option", { value: row.team })));
  const hasBracket = summary.bracket.length > 0;
  byId("bracket").hidden = !hasBracket;
  for (const link of byId("sections").querySelectorAll('[href="#bracket"]')) if (link instanceof HTMLElement) link.hidden = !hasBracket;
  byId("time-title").textContent = capital(league.time);
  byId("footer").textContent = [`referee ${summary.version}`, summary.written].filter(Boolean).join(" · ");
}

/** Why the league can't be read at the moment, as the server says. */
let problem = "";

function tellProblem() {
  const isUnknown = league !== null && wanted.team !== null && !league.rows.has(wanted.team);
  byId("message").textContent = clean(problem) || (isUnknown ? `There is no team ${clean(wanted.team ?? "")} in this league.` : "");
  byId("message").hidden = !byId("message").textContent;
}

function drawTeam() {
  if (!league) return;
  const children = wanted.team === null ? [] : teamPanel(league, wanted, drawTeam);
  byId("team-panel").hidden = !children.length;
  fill("team-panel", children);
  tellProblem();
  const input = part("team", HTMLInputElement);
  if (document.activeElement !== input) input.value = wanted.team ?? "";
}

function drawSettings() {
  if (!league) return;
  const { summary } = league;
  const list = (/** @type {Record<string, unknown>} */ settings) => el("dl", { class: "facts" }, ...Object.entries(settings).flatMap(([name, value]) =>
    [el("dt", {}, clean(name)), el("dd", {}, clean(typeof value === "string" ? value : JSON.stringify(value) ?? ""))]));
  fill("settings", [
    Object.keys(summary.settings).length ? list(summary.settings) : el("p", { class: "note" }, "All settings have their standard values."),
    ...(summary.variants.length > 1 ? summary.variants.flatMap((settings, index) => [el("h3", {}, `Variant ${index + 1}`), list(settings)]) : []),
    summary.notes.length ? el("h3", {}, "Notes") : null,
    summary.notes.length ? el("ul", {}, ...summary.notes.map((text) => el("li", {}, clean(text)))) : null,
  ]);
}

const drawStandings = () => league && fill("standings", standings(league, wanted, drawStandings));
const drawBracket = () => league && league.summary.bracket.length && fill("bracket", bracket(league, wanted));
const drawEndings = () => league && fill("endings", league.isComplete ? endings(league, wanted, drawEndings) : []);
const drawTimes = () => league && fill("time", league.isComplete ? times(league, wanted, drawTimes) : []);
const drawCrosstable = () => league && fill("crosstable", league.isComplete ? crosstable(league, wanted, isDark()) : []);
const drawDuels = () => league && fill("duels", duels(league, wanted, config.live, drawDuels));

function drawAll() {
  drawTop();
  drawTeam();
  drawStandings();
  drawBracket();
  drawCrosstable();
  drawEndings();
  drawTimes();
  drawDuels();
  drawSettings();
}

/** Bring what the address asks for into view. */
function show() {
  const id = wanted.match !== null ? `match-${wanted.match}` : wanted.duel !== null ? `duel-${wanted.duel}` : wanted.reason !== null || wanted.against !== null ? "duels" : wanted.team !== null ? "team-panel" : null;
  const found = id === null ? null : document.getElementById(id);
  found?.scrollIntoView({ block: wanted.match !== null || wanted.duel !== null ? "center" : "start" });
  if (id !== null && league?.isComplete) byId("status").textContent = found?.id === "team-panel" ? `Team ${clean(wanted.team ?? "")}` : (byId("duels").querySelector(".row")?.textContent ?? "");
}

/** @param {string} theme */
function setTheme(theme) {
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
}

let isOnPaper = false;

/** On paper all rows are shown, dark on white. @param {boolean} isPaper */
function print(isPaper) {
  if (isOnPaper === isPaper) return;
  isOnPaper = isPaper;
  setPrinting(isPaper);
  drawStandings();
  drawTeam();
  drawCrosstable();
  drawEndings();
  drawTimes();
}

function listen() {
  byId("sections").replaceChildren(...SECTIONS.map(([id, name]) => el("a", {
    href: `#${id}`, onclick: (/** @type {Event} */ event) => {
      // The address keeps the team that was chosen.
      event.preventDefault();
      byId(id).scrollIntoView();
      byId(id).focus({ preventScroll: true });
    },
  }, name)));
  globalThis.addEventListener("hashchange", () => {
    if (SECTIONS.some(([id]) => location.hash === `#${id}`)) return;
    wanted = read();
    drawTeam();
    drawStandings();
    drawBracket();
    drawCrosstable();
    drawEndings();
    drawTimes();
    drawDuels();
    show();
  });
  const input = part("team", HTMLInputElement);
  const choose = (/** @type {boolean} */ isSure) => {
    const name = input.value;
    if (name === "" ? wanted.team !== null : league?.rows.has(name) && name !== wanted.team) location.hash = name === "" ? "#" : address({ team: name });
    else if (isSure && name !== "") {
      const near = league?.summary.standings.find(({ team }) => team.toLowerCase().startsWith(name.toLowerCase()));
      location.hash = address({ team: near ? near.team : name });
    }
  };
  input.addEventListener("input", () => choose(false));
  byId("filter").addEventListener("submit", (event) => {
    event.preventDefault();
    choose(true);
  });
  // A form may not be sent from this page; Enter chooses the team.
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    event.preventDefault();
    choose(true);
  });
  byId("theme").addEventListener("click", () => {
    setTheme(isDark() ? "light" : "dark");
    remembered("theme", document.documentElement.dataset.theme);
    drawCrosstable();
  });
  dark.addEventListener("change", drawCrosstable);
  globalThis.addEventListener("beforeprint", () => print(true));
  globalThis.addEventListener("afterprint", () => print(false));
  const paper = matchMedia("print");
  paper.addEventListener("change", () => print(paper.matches));
  let width = innerWidth;
  globalThis.addEventListener("resize", () => {
    if (innerWidth === width) return;
    width = innerWidth;
    drawCrosstable();
  });
}

/** The duels of a page in one file. @returns {Promise<import("./types.js").Pack>} */
async function unpacked() {
  const bytes = Uint8Array.from(atob(byId("bulk").textContent ?? ""), (sign) => sign.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

/** Follow a league that is running: the server says when there is more. */
function follow() {
  let known = 0;
  let isAsking = false;
  let isAsked = false;
  const ask = async () => {
    if (isAsking) {
      isAsked = true;
      return;
    }
    isAsking = true;
    do {
      isAsked = false;
      const found = await fetch(`data?from=${known}`).catch(() => null);
      if (!found) break;
      const { summary, pack, next, problem: told } = await found.json();
      problem = typeof told === "string" ? told : "";
      if (!found.ok) {
        tellProblem();
        break;
      }
      const isFirst = league === null;
      league ??= new League(summary);
      league.replace(summary);
      league.take(pack);
      league.isComplete = true;
      known = next;
      drawAll();
      if (isFirst) show();
    } while (isAsked);
    isAsking = false;
  };
  const events = new EventSource("events");
  events.addEventListener("message", () => void ask());
  events.addEventListener("open", () => {
    if (league) drawTop();
  });
  events.addEventListener("end", () => events.close());
  events.addEventListener("error", () => {
    byId("state").textContent = "not connected";
    byId("state").className = "chip bad";
  });
}

async function start() {
  setTheme(remembered("theme") ?? "");
  listen();
  if (config.live) {
    follow();
    return;
  }
  league = new League(config);
  drawTop();
  drawStandings();
  drawSettings();
  // The standings are painted before the duels are read.
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  league.take(await unpacked());
  league.isComplete = true;
  drawAll();
  show();
}

void start();
