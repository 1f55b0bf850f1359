// Two replays side by side: one scrubber for both, and the first step in which they differ.

import { byId, counted, el, number, part, plain } from "../kit/dom.js";
import { actOn, isTaken } from "../kit/keys.js";
import { fitted } from "../kit/pixels.js";
import { Board } from "../app/board.js";
import { listenToTheme, palette } from "../app/palette.js";
import { listenToTransport, Playback, playbackKeys, showTransport } from "../app/playback.js";
import { readAll, Recording } from "../app/recording.js";
import { List, listenToHelp, players, say } from "./common.js";
import { Differences, words } from "./differences.js";

const given = new URLSearchParams(location.hash.slice(1));
const keys = ["a", "b"].map((name) => Number(given.get(name) ?? NaN));
const differences = new Differences();
const scrubber = part("scrubber", HTMLInputElement);
const marks = part("marks", HTMLCanvasElement);
const playback = new Playback({ moved: () => show(), ticked: (exact, pace) => glide(exact, pace), changed: () => controlsChanged() });
let timer = 0;

/** One of the two matches: its recording, its board and its words. */
class Side {
  /** @param {number} key @param {string} name */
  constructor(key, name) {
    this.key = key;
    this.recording = new Recording();
    this.canvas = el("canvas", { role: "img", tabindex: 0, "aria-label": `The board on the ${name}` });
    this.heading = el("h2", {});
    this.caption = el("p", { class: "caption" });
    this.board = new Board(this.canvas, this.recording, () => {});
    this.element = el("section", { class: "side", "aria-label": name }, this.heading, el("div", { class: "arena" }, this.canvas), this.caption);
  }

  /** @param {import("./common.js").Entry} entry */
  name(entry) {
    const open = el("a", { href: `replay/${this.key}/`, title: "Open in the viewer" }, plain(entry.name, 120));
    this.heading.replaceChildren(el("span", {}, players(entry).map(([seat, name]) => `${name} (${seat})`).join(" against ")), el("small", {}, open));
  }

  async read() {
    const found = await fetch(`replay/${this.key}/replay`).catch(() => null);
    if (!found?.ok || !found.body) {
      this.caption.textContent = "This replay can't be read.";
      return;
    }
    await readAll(found.body, this.recording, () => show());
    const { track } = this.recording;
    if (!track) return;
    this.element.style.setProperty("--wide", String(Math.max(0.5, Math.min(3, track.width / track.height))));
    this.board.wholeBoard();
    this.board.request();
  }

  /** @param {number} position */
  show(position) {
    const { recording, board } = this;
    const { track } = recording;
    if (!track) {
      this.caption.textContent = recording.problem;
      return;
    }
    const turn = Math.min(position, recording.steps);
    board.turn = turn;
    board.request();
    const isEnd = turn === recording.steps && recording.result !== null;
    // The board tells the end.
    const end = isEnd ? track.result(recording.result) : position > recording.steps ? `ended after ${counted(recording.steps, "step")}` : "";
    this.caption.replaceChildren(el("span", {}, isEnd ? "" : track.score(turn)), " ", el("strong", {}, end || (turn === recording.steps ? recording.problem : "")));
    this.canvas.setAttribute("aria-label", `The board. ${track.summary(turn)}`);
  }
}

const sides = ["left", "right"].map((name, at) => new Side(keys[at], name));

/** The step at which the page is, everywhere on it. */
function show() {
  const { turn } = playback;
  for (const side of sides) side.show(turn);
  scrubber.value = String(turn);
  byId("step").textContent = `Step ${number(turn)} of ${number(playback.last)}`;
  showDifference(turn);
  clearTimeout(timer);
  timer = window.setTimeout(() => !playback.isPlaying && history.replaceState(null, "", `#a=${keys[0]}&b=${keys[1]}&t=${turn}`), 400);
}

/** Between two steps. @param {number} exact @param {number} pace */
function glide(exact, pace) {
  for (const { board, recording } of sides) board.glide(exact, exact < recording.steps ? pace : 0);
}

/** What the last step was on both sides. @param {number} turn */
function showDifference(turn) {
  const [a, b] = sides.map((side) => side.recording);
  const place = byId("difference");
  if (turn === 0 || !a.head || !b.head || a.head.game !== b.head.game || turn > Math.min(a.steps, b.steps)) {
    place.textContent = "";
    return;
  }
  const rows = words(a, b, turn - 1);
  const isElse = differences.changes.includes(turn - 1);
  place.classList.toggle("differs", rows.length > 0);
  if (!rows.length) {
    place.textContent = isElse ? "The players made the same moves in this step, but from different positions." : "This step is the same in both matches.";
    return;
  }
  place.replaceChildren(...rows.map(([seat, one, other]) => el("p", {}, el("span", {}, one), el("b", {}, seat), el("span", {}, other))));
}

function controlsChanged() {
  if (!playback.isPlaying) glide(playback.turn, 0);
  showTransport(playback);
}

/** Draws ticks where the moves differ, over a band where the changes of the position differ. */
function drawMarks() {
  const { wide, high, dense } = fitted(marks);
  const context = marks.getContext("2d");
  context?.clearRect(0, 0, wide, high);
  const last = playback.last;
  if (!context || !last || !wide) return;
  const colors = palette();
  const at = (/** @type {number} */ turn) => (turn / last) * wide;
  context.fillStyle = colors.grid;
  context.fillRect(0, high * 0.4, wide, high * 0.2);
  context.fillStyle = colors.faint;
  for (const turn of differences.changes) context.fillRect(at(turn), high * 0.3, Math.max(dense, at(1)), high * 0.4);
  context.fillStyle = colors.warn;
  for (const turn of differences.moves) context.fillRect(at(turn), 0, Math.max(1.5 * dense, at(1)), high);
  if (differences.first !== null) {
    const x = at(differences.first + 1);
    context.fillStyle = colors.ink;
    context.beginPath();
    context.moveTo(x - 5 * dense, 0);
    context.lineTo(x + 5 * dense, 0);
    context.lineTo(x, high);
    context.fill();
  }
}

/** @param {1 | -1} direction */
function toDifference(direction) {
  const found = differences.next(playback.turn, direction);
  if (found !== null) playback.seek(found);
}

function toFirst() {
  if (differences.first !== null) playback.seek(differences.first + 1);
}

function listen() {
  const act = /** @type {Record<string, () => void>} */ ({
    previous: () => toDifference(-1),
    next: () => toDifference(1),
    first: toFirst,
  });
  for (const [id, action] of Object.entries(act)) byId(id).addEventListener("click", action);
  listenToTransport(() => playback);
  marks.addEventListener("click", (event) => playback.seek(Math.round((event.offsetX / marks.clientWidth) * playback.last)));
  new ResizeObserver(drawMarks).observe(marks);
  const help = listenToHelp();
  document.addEventListener("keydown", (event) => {
    if (isTaken(event)) return;
    actOn(event, {
      ...playbackKeys(playback, event),
      d: toFirst,
      n: act.next,
      p: act.previous,
      u: () => location.assign("./"),
      "?": help,
    });
  });
}

async function start() {
  byId("pair").replaceChildren(...sides.map((side) => side.element));
  listenToTheme(() => {
    show();
    drawMarks();
  });
  listen();
  controlsChanged();
  const list = new List();
  // The server knows a replay once it is on the list.
  while (list.isReading) await list.update();
  const missing = sides.filter((side) => !list.entries.get(side.key)?.opens);
  if (missing.length) {
    const why = missing.map((side) => list.entries.get(side.key)).map((entry) => (entry ? `${plain(entry.name, 120)} ${plain(entry.problem, 300)}` : ""));
    const what = missing.length > 1 ? "There are no two replays to compare at this address." : "Only one of the two can be shown.";
    say([what, ...why, "Choose two in the gallery."].filter(Boolean).join(" "));
  }
  for (const side of sides) {
    const entry = list.entries.get(side.key);
    if (entry) side.name(entry);
  }
  document.title = `${sides.map((side) => plain(list.entries.get(side.key)?.name, 60)).join(" and ")} · Referee`;
  await Promise.all(sides.filter((side) => !missing.includes(side)).map((side) => side.read()));
  const [a, b] = sides.map((side) => side.recording);
  playback.extend(Math.max(a.steps, b.steps));
  scrubber.max = String(playback.last);
  const wanted = Number(given.get("t") ?? 0);
  playback.go(Number.isInteger(wanted) ? wanted : 0);
  show();
  if (!a.head || !b.head) {
    byId("verdict").textContent = a.head || b.head ? "Only one of the two can be shown." : "";
    return;
  }
  if (a.head.game !== b.head.game) {
    byId("verdict").textContent = `Two games, ${plain(a.head.game, 40)} and ${plain(b.head.game, 40)}: their steps can't be compared.`;
    return;
  }
  byId("verdict").textContent = "Comparing the steps…";
  await differences.find(a, b, drawMarks);
  byId("verdict").textContent = differences.text;
  byId("first").hidden = differences.first === null;
  drawMarks();
  show();
}

void start().catch((error) => say(error instanceof Error ? error.message : String(error)));
