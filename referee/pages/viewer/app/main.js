// The page: joins the viewer to the keyboard, the address and files that are opened.

import { awaitResult, showNeighbours } from "../many/neighbours.js";
import { byId, closeButton, el, facts, part, plain } from "../kit/dom.js";
import { actOn, FINGERS, isTaken, keyCaps } from "../kit/keys.js";
import { bytesOf } from "../kit/packed.js";
import { awaitMatch } from "./before.js";
import { nextCamera } from "./layers.js";
import { quoted } from "./clip.js";
import { listenToTheme } from "./palette.js";
import { listenToTransport, playbackKeys } from "./playback.js";
import { replayIn } from "./recording.js";
import { setHash } from "./bar.js";
import { Viewer } from "./viewer.js";

const KEYS = [
  ["Space", "play or pause"],
  ["← →", "one step back, one step forward (with Shift: ten)"],
  ["Home End", "first and last step"],
  ["P N", "previous and next moment of the story"],
  ["− +", "slower, faster (0.25 to 64)"],
  ["L", "loop"],
  ["G", "go to a step"],
  ["S", "share: a link or a picture"],
  ["C", "the next camera: the whole board, follow the players, or zoom in on the end"],
  ["X", "hide the text at the end of the match, and show it again"],
  ["F", "go to the newest step of a running match (with Shift: play faster until there)"],
  ["0", "the whole board; wheel, pinch or drag to zoom and pan"],
  ["Tab", "to the board: then W A S D move the view, once it is zoomed in"],
  ["?", "this help; for a player how to play"],
];
/** The same for a person who has only fingers. */
const GESTURES = [
  ["Tap a moment", "goes to its step, and marks on the board what it is about"],
  ["Drag the slider or a chart", "goes through the steps"],
  ["Pinch the board", "zooms in and out; then a drag moves it"],
  ["Tap the text at the end", "hides it; a tap on the board shows it again"],
];

/** @type {PageConfig} */
const config = JSON.parse(byId("page").textContent || "null") ?? { mode: "empty", name: "", server: false, version: "" };

const canvas = part("board", HTMLCanvasElement);
const scrubber = part("scrubber", HTMLInputElement);
const goto = part("goto", HTMLInputElement);

/** What the page says while it has no replay. */
const invitation = [...byId("empty").childNodes];

let viewer = new Viewer(config);

/** Another replay in place of the one on the page. @param {File} file */
async function open(file) {
  setHash("#");
  viewer.close();
  byId("live").hidden = true;
  byId("seat").hidden = true;
  byId("empty").replaceChildren(...invitation);
  viewer = new Viewer({ mode: "watch", name: file.name, server: false, version: config.version });
  byId("empty").hidden = true;
  viewer.controlsChanged();
  viewer.say("Reading the replay…");
  const opened = viewer;
  const replay = await replayIn(file);
  opened.leftOut = `This page shows the file without an engine. To verify it, and to see questions and verdicts, run: referee watch ${quoted(plain(file.name, 200))}`;
  opened.checked({ status: "unknown", text: opened.leftOut });
  await opened.read(replay.stream(), replay.size);
  opened.show();
  // The page still holds the replay that it came with.
  if (!opened.recording.head && !opened.isClosed && (config.mode === "watch" || config.mode === "export")) {
    byId("empty").append(el("button", { type: "button", id: "before", onclick: () => location.reload() }, `Back to ${plain(config.name, 80) || "the replay before"}`));
  }
}

function listen() {
  const act = /** @type {Record<string, () => void>} */ ({
    loop: () => viewer.playback.setLoop(),
    "moment-back": () => viewer.toMoment(-1),
    "moment-on": () => viewer.toMoment(1),
    follow,
    "catch-up": () => viewer.playback.catchUp(),
    "zoom-in": () => viewer.recording.track && viewer.board.zoomAt(1.5, canvas.clientWidth / 2, canvas.clientHeight / 2),
    "zoom-out": () => viewer.recording.track && viewer.board.zoomAt(1 / 1.5, canvas.clientWidth / 2, canvas.clientHeight / 2),
    "zoom-reset": () => viewer.recording.track && viewer.board.reset(),
    keys: () => showKeys(),
    share: () => viewer.share.open(),
    open: () => part("file", HTMLInputElement).click(),
    more: () => showRest(byId("rest").classList.toggle("open")),
  });
  for (const [id, action] of Object.entries(act)) byId(id).addEventListener("click", action);
  scrubber.addEventListener("input", () => {
    viewer.isScrubbing = true;
  });
  listenToTransport(() => viewer.playback);
  scrubber.addEventListener("change", () => {
    viewer.isScrubbing = false;
    viewer.describe();
  });
  goto.addEventListener("change", () => {
    if (goto.value !== "") viewer.playback.seek(Number(goto.value));
    goto.value = "";
    // The keys are for the steps again.
    goto.blur();
  });
  goto.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === "Escape") goto.blur();
  });
  const trail = part("trail", HTMLSelectElement);
  trail.addEventListener("change", () => {
    viewer.board.trail = Number(trail.value);
    viewer.board.request();
  });
  const ahead = part("ahead", HTMLInputElement);
  ahead.addEventListener("change", () => {
    viewer.board.ahead = ahead.checked;
    viewer.board.request();
  });
  const file = part("file", HTMLInputElement);
  file.addEventListener("change", () => {
    if (file.files?.length) void open(file.files[0]);
    file.value = "";
  });
  document.addEventListener("keydown", keyDown);
  document.addEventListener("pointermove", (event) => {
    viewer.shift = event.shiftKey;
  }, { capture: true });
  globalThis.addEventListener("hashchange", () => {
    const step = viewer.bar.changed();
    if (step === null) return;
    const { recording, playback } = viewer;
    // A step that the page has not read yet is shown when it has.
    viewer.wanted = step > recording.steps && !recording.isOver ? step : null;
    if (viewer.wanted === null) playback.seek(step);
  });
  listenToTheme(repaint);
  // The page shows what failed on it; the rest of the page still works.
  globalThis.addEventListener("error", ({ message }) => {
    // A notice of the browser that sizes changed twice in a frame: nothing has failed.
    if (!message.startsWith("ResizeObserver")) viewer.say(`Something on this page failed (${plain(message, 200)}). The rest still works.`);
  });
  listenForDrops();
  listenForMenus();
}

/** Stay at the newest step of a running match. */
function follow() {
  if (viewer.live && !viewer.live.isOver) viewer.playback.follow();
}

/** The buttons that small screens keep in a menu. @param {boolean} isOpen */
function showRest(isOpen) {
  byId("rest").classList.toggle("open", isOpen);
  byId("more").setAttribute("aria-expanded", String(isOpen));
}

/** A menu closes with Escape, and when something else is chosen. */
function listenForMenus() {
  const close = (/** @type {EventTarget | null} */ target) => {
    if (!(target instanceof Element && target.closest("#rest, #more"))) showRest(false);
    for (const menu of document.querySelectorAll("details.menu[open]")) {
      if (!(target instanceof Node && menu.contains(target))) menu.removeAttribute("open");
    }
  };
  document.addEventListener("pointerdown", ({ target }) => close(target));
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const menu = event.target instanceof Element ? event.target.closest("details.menu[open]") : null;
    close(null);
    menu?.querySelector("summary")?.focus();
  });
}

/** @param {KeyboardEvent} event */
function keyDown(event) {
  const { target } = event;
  if (isTaken(event) || (target instanceof Element && target.closest("[role=tab]"))) return;
  if (viewer.seat?.key(event)) {
    event.preventDefault();
    return;
  }
  if (isPan(event) || (event.key.startsWith("Arrow") && target instanceof Element && target.closest(".scroll, .log, [role=tabpanel]"))) return;
  const { playback } = viewer;
  actOn(event, {
    ...playbackKeys(playback, event),
    p: () => viewer.toMoment(-1),
    n: () => viewer.toMoment(1),
    l: () => playback.setLoop(),
    g: () => goto.focus(),
    // A player's hands are on these keys.
    s: () => (!viewer.seat || viewer.seat.isOver) && viewer.share.open(),
    f: () => (event.shiftKey ? playback.catchUp() : follow()),
    0: () => viewer.recording.track && viewer.board.reset(),
    x: () => viewer.recording.track && viewer.board.words.toggle(),
    c: () => viewer.recording.track && nextCamera(viewer.board),
    "?": () => showKeys(),
  });
}

/** Where the board has the focus of the keyboard, and shows a part of itself, letters move the view. @param {KeyboardEvent} event */
function isPan(event) {
  const { board } = viewer;
  const [du, dv] = { a: [-1, 0], d: [1, 0], w: [0, -1], s: [0, 1] }[event.key] ?? [0, 0];
  if ((!du && !dv) || event.target !== canvas || !canvas.matches(":focus-visible") || !viewer.recording.track || board.zoom < 1.01) return false;
  event.preventDefault();
  board.move((du * 40) / board.scale, (dv * 40) / board.scale);
  return true;
}

function listenForDrops() {
  let depth = 0;
  const hide = () => {
    depth = 0;
    byId("drop").hidden = true;
  };
  document.addEventListener("dragenter", (event) => {
    if (!event.dataTransfer?.types.includes("Files") || viewer.seat) return;
    depth += 1;
    byId("drop").hidden = false;
  });
  document.addEventListener("dragleave", () => {
    depth -= 1;
    if (depth <= 0) hide();
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    hide();
    const file = event.dataTransfer?.files[0];
    if (file && !viewer.seat) void open(file);
  });
}

function showKeys() {
  const dialog = part("help", HTMLDialogElement);
  const { seat } = viewer;
  const list = FINGERS.matches ? facts(GESTURES) : facts(KEYS.map(([keys, text]) => [keyCaps(keys), text]));
  // While a person plays, the viewer's keys mean something else.
  const own = seat?.help ?? [];
  const rest = [own.length ? el("h2", {}, "The viewer") : el("h2", { id: "help-title" }, "Help"), list];
  dialog.replaceChildren(closeButton(dialog), ...own, ...(own.length && !seat?.isOver ? [] : rest));
  // Not on the first control: a key that is meant for the match would press it.
  dialog.tabIndex = -1;
  if (!dialog.open) dialog.showModal();
  dialog.focus();
}

function repaint() {
  viewer.board.request();
  viewer.strips?.refresh();
  viewer.legend();
}

async function start() {
  listen();
  viewer.controlsChanged();
  if (typeof DecompressionStream === "undefined") {
    viewer.say("This browser is too old to read replays. Use a newer one.");
    return;
  }
  const own = viewer;
  if (config.mode === "watch" || config.mode === "export") byId("empty").textContent = "Reading the replay…";
  // The page around it has a title.
  byId("title").classList.toggle("unseen", Boolean(config.server) && globalThis.top !== globalThis.self);
  if (config.listed !== undefined) void showNeighbours(config.listed);
  if (config.mode === "live" || config.mode === "seat") {
    byId("empty").textContent = config.mode === "seat" ? "The board appears when everybody is ready." : "Waiting for the match to begin.";
    if (config.mode === "seat") byId("open").hidden = true;
    else awaitMatch(viewer, config);
    viewer.watchLive();
  } else if (config.mode === "export") {
    const packed = bytesOf(byId("replay").textContent ?? "");
    own.checked(config.check ?? { status: "unknown", text: "" });
    await own.read(new Blob([packed]).stream(), packed.length);
    if (config.plays && !matchMedia("(prefers-reduced-motion: reduce)").matches) own.playback.play();
  } else if (config.mode === "watch") {
    const found = await fetch("replay").catch(() => null);
    if (found?.ok && found.body) {
      const size = Number(found.headers.get("content-length"));
      await own.read(found.body, size);
      if (config.listed !== undefined && !own.recording.result) void awaitResult(config.listed, size);
      // The referee plays it again when the page is there, not before.
      await own.askCheck();
    } else own.say(found ? `The replay can't be read: the server says ${found.status}.` : "The server doesn't answer: start referee watch again, and open the address that it prints.");
  }
  // Another file may have been opened meanwhile.
  if (!own.isClosed && (config.mode === "watch" || config.mode === "export")) byId("empty").replaceChildren(...invitation);
}

void start();
