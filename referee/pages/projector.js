// The projector's page: one match after another on a full screen, with large names, the score, and the standings between them.

import { byId, el, number, part, plain } from "./viewer/kit/dom.js";
import { actOn, isTaken } from "./viewer/kit/keys.js";
import { Live } from "./viewer/app/live.js";
import { listenToTheme, named, palette } from "./viewer/app/palette.js";
import { momentsOf } from "./viewer/app/moments.js";
import { outcomeText } from "./viewer/app/people.js";
import { asked, config, List, pause, players, say } from "./viewer/many/common.js";
import { playing, Stage } from "./viewer/many/stage.js";
import { byWins, put } from "./viewer/many/table.js";

/** How long a result and the standings stay, in milliseconds; and how often a folder without a new match is asked for. */
const RESULT_MS = 4000;
const TABLE_MS = 6000;
const WAIT_MS = 1500;
const MOMENTS_MS = 1000;
/** The most rows of the standings. */
const MOST_ROWS = 12;
const MOST_BESIDE = 8;
const SPEEDS = ["auto", "0.5", "1", "2", "4", "8", "16", "32"];

/** @typedef {import("./viewer/many/common.js").Entry} Entry */
/** @typedef {import("./viewer/many/table.js").Standings} Standings */

const list = new List();
const stage = new Stage(part("arena", HTMLCanvasElement), { moved: showStep });
/** What is on the screen: the players as ``players`` has them, and a line about each. @type {{ names: [string, string, string][], notes: Record<string, string>, winner: string }} */
let bout = { names: [], notes: {}, winner: "" };
/** @type {Standings} */
let standings = { rows: [] };
/** Whether somebody asked for the standings while a match plays. */
let holdsTable = false;

/** The moments of the match on the screen, made again at most once a second while it still grows. */
let story = { moments: /** @type {Moment[]} */ ([]), steps: -1, at: 0 };

function showStep() {
  const { recording, turn } = stage;
  if (!recording.track) return;
  const isNew = recording.steps !== story.steps && performance.now() - story.at > MOMENTS_MS;
  if (isNew) story = { moments: momentsOf(recording).moments, steps: recording.steps, at: performance.now() };
  const moment = story.moments.filter((one) => one.turn <= turn).at(-1);
  byId("moment").textContent = moment?.text ?? "";
  part("progress", HTMLProgressElement).value = recording.steps ? turn / recording.steps : 0;
  const isEnd = recording.isOver && turn === recording.steps && recording.result;
  byId("step").textContent = `Step ${number(turn)}`;
  byId("score").textContent = isEnd ? recording.track.result(recording.result) : recording.track.score(turn);
  byId("arena").setAttribute("aria-label", `The board. ${recording.track.summary(turn)}`);
}

function showBout() {
  const { display } = stage.recording;
  const colors = palette();
  byId("sides").replaceChildren(...bout.names.map(([seat, name]) => {
    const box = el("div", { class: `contender${bout.names.length > 2 ? " many" : ""}${bout.winner === seat ? " won" : ""}` },
      el("b", {}, name), el("small", {}, [seat, bout.notes[seat]].filter(Boolean).join(" · ")));
    // Long names get smaller before they are cut, and all have one size.
    box.style.setProperty("--letters", String(Math.max(8, ...bout.names.map(([, other]) => other.length))));
    box.style.setProperty("--who", named(colors, display?.seatColors?.[seat] ?? "plain"));
    return box;
  }));
  document.title = `${bout.names.map(([, name]) => name).join(" – ")} · Referee`;
}

/** The standings on the screen, or the board again. @param {boolean} isShown */
function showBetween(isShown) {
  byId("between").hidden = !isShown;
  byId("table").setAttribute("aria-pressed", String(isShown));
  if (isShown) put(byId("standings"), standings, new Set(bout.names.map(([, , name]) => name)), MOST_ROWS);
}

/** The standings beside the board, and the match that comes next. @param {Entry | undefined} next */
function showBeside(next) {
  put(byId("beside"), standings, new Set(bout.names.map(([, , name]) => name)), MOST_BESIDE);
  byId("next").textContent = next ? `Next: ${players(next).map(([, , name]) => name).join(" against ")}` : "";
}

/** Wait, but not if somebody wants to go on. @param {number} ms */
async function rest(ms) {
  for (let left = ms; left > 0 && !stage.isSkipped; left -= 200) {
    await pause(200);
    // While it is stopped, no match begins by itself.
    if (stage.isStopped) left += 200;
  }
}

/** The end of a match: its result, then the standings. */
async function showEnd() {
  const { recording } = stage;
  const { result } = recording;
  bout.winner = plain(result?.winner ?? "", 20);
  showBout();
  const winner = bout.names.find(([seat]) => seat === bout.winner);
  byId("outcome").textContent = result ? `${winner ? `${winner[1]} wins` : "Nobody wins"}` : recording.problem;
  byId("coming").textContent = result ? outcomeText(recording) : "";
  // First the last position, with the result in the header; then the rest.
  await rest(RESULT_MS);
  showBetween(true);
  await rest(standings.rows.length ? TABLE_MS : RESULT_MS / 2);
}

/** A match of the folder. @param {number} key @param {Entry} entry @param {Entry | undefined} next */
async function showEntry(key, entry, next) {
  bout = { names: players(entry).map(([seat, , name]) => [seat, name, name]), notes: {}, winner: "" };
  bout.notes = notes();
  story = { moments: [], steps: -1, at: 0 };
  byId("where").textContent = plain(standings.isLeague ? standings.caption : config.name, 200);
  showBeside(next);
  showBetween(false);
  stage.open();
  showBout();
  const found = await fetch(`replay/${key}/replay`).catch(() => null);
  if (!found?.ok || !found.body) return;
  await stage.read(found.body, showBout);
  await playing(stage);
  if (stage.isSkipped) return;
  await readStandings();
  bout.notes = notes();
  await showEnd();
}

/** What is said beside each name: its place in the standings. @returns {Record<string, string>} */
function notes() {
  return Object.fromEntries(bout.names.map(([seat, , name]) => {
    const row = standings.rows.find((one) => one.team === name);
    return [seat, row ? (standings.isLeague ? `place ${row.place}, ${number(row.points ?? 0, Number.isInteger(row.points) ? 0 : 1)}${standings.isRated ? "" : " points"}` : `${row.won} won of ${row.played}`) : ""];
  }));
}

async function readStandings() {
  if (config.league) {
    const found = await asked("standings").catch(() => null);
    if (found?.rows) {
      standings = { ...found, isLeague: true, caption: `${plain(found.name, 80)}: ${number(found.done)} of ${number(found.total)} matches` };
      return;
    }
  }
  standings = byWins([...list.entries.values()]);
}

/** The folder: matches that have ended since, the newest first; else the others in turn. */
async function followFolder() {
  while (list.isReading) await list.update();
  const shown = new Set(list.entries.keys());
  let last = -1;
  for (;;) {
    await list.update().catch((error) => say(error instanceof Error ? error.message : String(error)));
    const complete = [...list.entries].filter(([, entry]) => entry.opens && !entry.problem).sort(([, a], [, b]) => a.modified - b.modified);
    const fresh = complete.filter(([key]) => !shown.has(key)).at(-1);
    const old = complete.filter(([key]) => shown.has(key));
    const at = old.findIndex(([key]) => key === last);
    const [key, entry] = fresh ?? old[at + 1] ?? old[0] ?? [];
    if (key === undefined || entry === undefined) {
      byId("outcome").textContent = "Waiting for the first match";
      byId("coming").textContent = `A match appears here when it has ended: ${plain(config.name, 80)}`;
      showBetween(true);
      await pause(WAIT_MS);
      continue;
    }
    if (!fresh) last = key;
    for (const [one, match] of list.entries) if (match.opens && !match.problem) shown.add(one);
    say("");
    await readStandings();
    const next = old[(old.findIndex(([other]) => other === key) + 1) % Math.max(1, old.length)];
    await showEntry(key, entry, next && next[0] !== key ? next[1] : undefined);
  }
}

/** A match that is being played. */
async function followLive() {
  showBetween(false);
  stage.open(config.pace);
  const { recording } = stage;
  byId("coming").textContent = "The match begins.";
  const live = new Live(recording, {
    connection: (isConnected, text) => say(isConnected ? recording.problem : text),
    message: () => {},
    grown: () => {
      if (recording.head && !bout.names.length) {
        bout.names = Object.entries(recording.head.players).map(([seat, player]) => [plain(seat, 20), plain(player?.name, 60), plain(player?.name, 60)]);
        showBout();
      }
      stage.grown();
    },
    over: () => stage.grown(),
  });
  live.connect();
  await playing(stage);
  live.close();
  await showEnd();
}

/** The address of the match for phones, as a QR code. */
function showCode() {
  const { join } = config;
  byId("join").hidden = byId("code").hidden = !join;
  if (!join) return;
  const code = part("join-code", HTMLImageElement);
  code.src = join.picture;
  code.alt = `QR code of ${join.address}`;
  byId("join-address").textContent = join.address;
}

function listen() {
  const speed = part("speed", HTMLSelectElement);
  speed.replaceChildren(...SPEEDS.map((value) => el("option", { value }, value === "auto" ? "auto" : `${value}×`)));
  speed.addEventListener("change", () => {
    stage.speed = Number(speed.value) || 0;
  });
  const act = /** @type {Record<string, () => void>} */ ({
    pause: () => {
      stage.isStopped = !stage.isStopped;
      byId("pause").setAttribute("aria-pressed", String(stage.isStopped));
    },
    skip: () => stage.skip(),
    table: () => {
      holdsTable = byId("between").hidden === true;
      byId("outcome").textContent = byId("coming").textContent = "";
      showBetween(holdsTable);
    },
    code: () => {
      byId("join").hidden = !byId("join").hidden;
      byId("code").setAttribute("aria-pressed", String(!byId("join").hidden));
    },
    full: () => void (document.fullscreenElement ? document.exitFullscreen() : document.documentElement.requestFullscreen()).catch(() => say("This browser allows no full screen here.")),
  });
  for (const [id, action] of Object.entries(act)) byId(id).addEventListener("click", action);
  const keys = { " ": act.pause, n: act.skip, ArrowRight: act.skip, s: act.table, f: act.full, q: config.join ? act.code : undefined };
  document.addEventListener("keydown", (event) => isTaken(event) || actOn(event, keys));
  listenToTheme(() => {
    stage.board.request();
    showBout();
  });
}

listen();
showCode();
if (config.live) for (const id of ["skip", "pause"]) byId(id).hidden = true;
void (config.live ? followLive() : followFolder()).catch((error) => say(error instanceof Error ? error.message : String(error)));
