// The page: brings the parts together and joins them to the keyboard, the address and the server.

import { Board } from "./board.js";
import { byId, el, number, plain, remembered } from "./dom.js";
import { Live } from "./live.js";
import { onSystemTheme, palette } from "./palette.js";
import { Panels } from "./panels.js";
import { Playback, SPEEDS } from "./playback.js";
import { readAll, Recording, replayIn, unpack } from "./recording.js";
import { Seat } from "./seat.js";
import { Strips } from "./strips.js";

const KEYS = [
  ["Space", "play or pause"],
  ["← →", "a step back, a step on (with Shift: ten)"],
  ["Home End", "first and last step"],
  ["P N", "previous and next event"],
  ["− +", "slower, faster (0.25 to 64)"],
  ["L", "loop"],
  ["G", "go to a step"],
  ["F", "follow a match that is running"],
  ["0", "the whole board; wheel, pinch or drag to zoom and pan"],
  ["?", "these keys"],
];

/** @type {import("./types.js").PageConfig} */
const config = JSON.parse(byId("page").textContent || "null") ?? { mode: "empty", name: "", server: false, version: "" };

/** @template {HTMLElement} T @param {string} id @param {new () => T} Kind @returns {T} */
function part(id, Kind) {
  const found = byId(id);
  if (!(found instanceof Kind)) throw new Error(`#${id} is not what it should be`);
  return found;
}

const canvas = part("board", HTMLCanvasElement);
const scrubber = part("scrubber", HTMLInputElement);
const speedChoice = part("speed", HTMLSelectElement);
const goto = part("goto", HTMLInputElement);

/** One replay on the page, from the first byte to its replacement by another. */
class Viewer {
  /** @param {import("./types.js").PageConfig} config */
  constructor(config) {
    this.config = config;
    this.recording = new Recording();
    this.board = new Board(canvas, this.recording, (cell) => this.pointed(cell));
    this.playback = new Playback({ moved: (turn) => this.moved(turn), changed: () => this.controlsChanged() });
    /** @type {Strips | null} */
    this.strips = null;
    /** @type {Panels | null} */
    this.panels = null;
    /** @type {Live | null} */
    this.live = null;
    /** @type {Seat | null} */
    this.seat = null;
    /** Where the server keeps what it knows of this replay. */
    this.address = config.server && config.mode !== "seat" ? "" : null;
    this.announceTimer = 0;
    this.hashTimer = 0;
    this.shift = false;
    this.wanted = wantedStep();
    /** What the engine measured before the head was here. @type {[number, Record<string, any>][]} */
    this.early = [...(config.measures ?? [])];
    /** What was certain when, before there is a board; and how much of it is known. @type {[number, any][]} */
    this.earlyPoints = [...(config.judged ?? [])];
    this.judgedCount = this.earlyPoints.length;
    this.insightTimer = 0;
    byId("message").hidden = true;
    byId("outcome").textContent = "";
    // Nothing of another replay stays on the page.
    document.body.classList.add("boardless");
    byId("title").textContent = document.title = "Referee";
    for (const id of ["players", "step", "score", "summary", "hover"]) byId(id).textContent = "";
    for (const id of ["tabs", "panels", "strips", "legend", "overlays"]) byId(id).replaceChildren();
    scrubber.max = scrubber.value = "0";
    part("check", HTMLSpanElement).hidden = true;
  }

  get isClosed() {
    return this.board.end.signal.aborted;
  }

  /** Another replay has the page from now on. */
  close() {
    this.playback.pause();
    this.board.close();
    clearTimeout(this.announceTimer);
    clearTimeout(this.hashTimer);
    if (this.live) {
      this.live.isOver = true;
      this.live.socket?.close();
    }
  }

  /** The head is known: build what depends on the game. */
  begin() {
    const { recording } = this;
    const head = /** @type {import("./types.js").Head} */ (recording.head);
    byId("empty").hidden = true;
    document.body.classList.remove("boardless");
    byId("title").textContent = `${plain(head.game, 40)} · ${plain(head.rules, 40)}`;
    const names = Object.entries(head.players).map(([seat, player]) => `${plain(player?.name, 40)} (${plain(seat, 20)})`);
    byId("players").textContent = names.join(" against ");
    document.title = `${Object.values(head.players).map((player) => plain(player?.name, 40)).join(" – ")} · Referee`;
    this.strips = new Strips(byId("strips"), recording, (turn) => this.playback.seek(turn));
    this.panels = new Panels(byId("tabs"), byId("panels"), recording, this, (turn) => this.playback.seek(turn));
    byId("overlays").replaceChildren(...recording.seats.map((seat) => {
      const box = el("input", { type: "checkbox", onchange: () => this.overlay(seat, box.checked) });
      box.checked = true;
      this.board.overlays.add(seat);
      return el("label", {}, box, ` ${plain(seat, 20)} says and draws`);
    }), ...this.layers());
    this.legend();
    this.board.reset();
    for (const [turn, values] of this.early.splice(0)) this.measure(turn, values);
    if (this.earlyPoints.length) this.judged(this.earlyPoints.splice(0), 0);
  }

  /** Boxes for what the engine can draw over a position, where there is one to ask. */
  layers() {
    const { track } = this.recording;
    const { insight } = track ?? {};
    if (!insight || this.address === null) return [];
    return (track?.layers ?? []).map(([name, text]) => {
      const box = el("input", {
        type: "checkbox",
        onchange: () => {
          if (box.checked) insight.shown.add(name);
          else insight.shown.delete(name);
          this.lookInto(this.playback.turn);
          this.board.request();
        },
      });
      return el("label", {}, box, ` ${text}`);
    });
  }

  /** Ask what can be drawn over a position, once it stays for a moment. @param {number} turn */
  lookInto(turn) {
    const { address, playback, recording: { track } } = this;
    const insight = track?.insight;
    if (!insight) return;
    // While steps go by what is drawn is that of a moment ago.
    insight.lags = playback.isPlaying || playback.follows;
    if (address === null || !insight.shown.size || insight.turn === turn || this.insightTimer) return;
    this.insightTimer = window.setTimeout(async () => {
      const asked = playback.turn;
      const found = await fetch(`${address}insight?turn=${asked}`).catch(() => null);
      this.insightTimer = 0;
      if (!found?.ok || this.isClosed) return;
      insight.take(asked, await found.json());
      this.panels?.refresh();
      this.show();
    }, 150);
  }

  /** What was certain when, as far as it is known now. */
  async askJudged() {
    const { address } = this;
    for (let known = this.judgedCount; address !== null && !this.isClosed;) {
      const found = await fetch(`${address}judged?from=${known}`).catch(() => null);
      if (!found?.ok || this.isClosed) return;
      const { points, is_all: isAll } = await found.json();
      this.judged(points, known);
      known += points.length;
      if (isAll) return;
    }
  }

  /** @param {[number, any][]} points @param {number} from how many come before them */
  judged(points, from) {
    this.judgedCount = Math.max(this.judgedCount, from + points.length);
    const { track } = this.recording;
    if (!track) this.earlyPoints.push(...points);
    else if (track.judged) {
      this.recording.learn(track.judged(points));
      this.strips?.refresh();
      this.panels?.refresh();
      this.show();
    }
  }

  legend() {
    const items = this.recording.track?.legend(palette()) ?? [];
    byId("legend").replaceChildren(...items.map(([text, color]) => {
      const sign = el("span", { "aria-hidden": "true" }, text.slice(0, 1));
      sign.style.color = color;
      return el("li", {}, sign, text.slice(1));
    }));
  }

  /** @param {string} seat @param {boolean} isShown */
  overlay(seat, isShown) {
    if (isShown) this.board.overlays.add(seat);
    else this.board.overlays.delete(seat);
    this.board.request();
  }

  /** @returns {import("./panels.js").Source["question"]} */
  get question() {
    const { address } = this;
    if (address === null) return null;
    return async (turn, seat) => {
      const found = await fetch(`${address}question?turn=${turn}&seat=${encodeURIComponent(seat)}`);
      return found.ok ? found.json() : { text: found.status === 409 ? await found.text() : `The server says ${found.status}.` };
    };
  }

  /** @returns {import("./panels.js").Source["log"]} */
  get log() {
    const { logs } = this.config;
    if (logs) return async (seat) => (Object.hasOwn(logs, seat) ? gunzip(unpack(logs[seat])) : null);
    const { address } = this;
    if (address !== "") return null;
    return async (seat) => {
      const found = await fetch(`log?seat=${encodeURIComponent(seat)}`);
      return found.ok ? new Uint8Array(await found.arrayBuffer()) : null;
    };
  }

  /** There is more of the recording, or its end. */
  grown() {
    const { recording, playback } = this;
    if (this.isClosed) return;
    if (recording.head && !this.panels) this.begin();
    if (recording.head && this.seat && !this.seat.controls && !this.seat.isOver) this.seat.begin();
    const hadLast = playback.last;
    playback.extend(recording.steps);
    scrubber.max = goto.max = String(recording.steps);
    if (this.wanted !== null && recording.steps > 0 && (recording.isOver || recording.steps >= this.wanted)) {
      playback.follows = false;
      playback.go(this.wanted);
      this.wanted = null;
    }
    if (recording.problem) this.say(recording.problem);
    this.strips?.refresh();
    if (recording.isOver || hadLast !== recording.steps) this.panels?.refresh();
    this.show();
  }

  /** @param {string} text */
  say(text) {
    if (this.isClosed) return;
    byId("message").textContent = text;
    byId("message").hidden = !text;
  }

  /** @param {number} turn @param {Record<string, any>} values */
  measure(turn, values) {
    if (this.recording.track) this.recording.learn(this.recording.track.measure(turn, values) ?? []);
    else this.early.push([turn, values]);
    this.strips?.refresh();
    if (turn === this.board?.turn) this.board.request();
  }

  /** @param {number} turn */
  moved(turn) {
    this.board.turn = turn;
    this.show();
    clearTimeout(this.hashTimer);
    this.hashTimer = window.setTimeout(() => this.rememberStep(), 400);
  }

  rememberStep() {
    if (this.playback.isPlaying || this.playback.follows || this.config.mode === "seat") return;
    setHash(`#t=${this.playback.turn}`);
  }

  show() {
    const { recording, playback, board } = this;
    const { track } = recording;
    if (!track || this.isClosed) return;
    const { turn } = playback;
    board.turn = turn;
    board.request();
    this.strips?.go(turn);
    this.panels?.go(turn);
    byId("step").textContent = `Step ${number(turn)}`;
    byId("score").textContent = `of ${number(recording.steps)} · ${turn === recording.steps && recording.result ? track.result(recording.result) : track.score(turn)}`;
    scrubber.value = String(turn);
    const summary = track.summary(turn);
    scrubber.setAttribute("aria-valuetext", summary);
    canvas.setAttribute("aria-label", `The board. ${summary}`);
    byId("scrub-value").textContent = `${number(turn)} / ${number(recording.steps)}`;
    const isEnd = turn === recording.steps && recording.result !== null;
    byId("outcome").textContent = isEnd ? plain(recording.result.text, 300) : "";
    this.tellCell();
    this.announce(summary);
    this.lookInto(turn);
  }

  /** For those who hear the page: not more than they can follow. @param {string} summary */
  announce(summary) {
    clearTimeout(this.announceTimer);
    const wait = this.playback.isPlaying || this.playback.follows ? 2500 : 350;
    this.announceTimer = window.setTimeout(() => {
      const { turn } = this.playback;
      const happened = this.recording.events.filter((event) => event.turn === turn - 1 && event.kind !== "bounce").slice(0, 5);
      byId("summary").textContent = [summary, ...happened.map((event) => event.text)].join(" ");
    }, wait);
  }

  /** @param {import("./types.js").Cell | null} cell */
  pointed(cell) {
    this.tellCell();
    this.seat?.pointer(cell, { shiftKey: this.shift });
  }

  tellCell() {
    const cell = this.board.pointer;
    const { track } = this.recording;
    const what = cell && track ? track.hover(cell, this.playback.turn) : "";
    byId("hover").textContent = cell ? `(${cell.x}, ${cell.y})${what ? ` · ${what}` : ""}` : "";
  }

  controlsChanged() {
    const { playback } = this;
    const play = byId("play");
    play.textContent = playback.isPlaying ? "❚❚" : "▶";
    play.setAttribute("aria-label", playback.isPlaying ? "Pause" : "Play");
    byId("loop").setAttribute("aria-pressed", String(playback.isLooping));
    byId("follow").hidden = !this.live || this.live.isOver;
    byId("follow").setAttribute("aria-pressed", String(playback.follows));
    speedChoice.value = String(playback.speed);
    this.rememberStep();
  }

  /** @param {1 | -1} way */
  toEvent(way) {
    const turn = this.panels?.events.next(this.playback.turn, way);
    if (turn !== null && turn !== undefined) this.playback.seek(turn);
  }

  /** What the referee found when it played the replay again. @param {any} check */
  checked(check) {
    if (this.isClosed) return;
    const chip = byId("check");
    chip.hidden = false;
    chip.classList.toggle("good", check.status === "good");
    chip.classList.toggle("bad", check.status === "bad");
    chip.textContent = { good: "✓ verified", bad: "✗ does not verify", checking: "checking…" }[/** @type {string} */ (check.status)] ?? "not checked";
    chip.title = plain(check.text, 600);
    // What the page has found itself isn't said twice.
    const isKnown = this.recording.problem && (check.kind === "cut" || check.kind === "unreadable");
    if (check.status === "bad") this.say([this.recording.problem, isKnown ? "" : `This replay does not verify: ${plain(check.text, 600)}`].filter(Boolean).join(" "));
    for (const [turn, values] of check.measures ?? []) this.measure(turn, values);
    this.panels?.refresh();
  }

  async askCheck() {
    const { address } = this;
    if (address === null) return;
    this.checked({ status: "checking", text: "The referee plays it again and compares every step." });
    try {
      const found = await fetch(`${address}check`);
      if (found.ok) this.checked(await found.json());
      if (found.ok) void this.askJudged();
      else throw new Error(`the server says ${found.status}`);
    } catch (error) {
      this.checked({ status: "unknown", text: `It could not be checked: ${error instanceof Error ? error.message : error}` });
    }
  }

  /** @param {ReadableStream<Uint8Array<ArrayBuffer>>} stream @param {number} size */
  async read(stream, size) {
    await readAll(stream, this.recording, (bytes) => {
      this.grown();
      this.say(`Reading the replay: ${size ? `${Math.floor((100 * bytes) / size)} %` : `${number(bytes / 1e6, 1)} MB`}`);
    });
    this.say("");
    this.grown();
    this.controlsChanged();
  }

  /** A match that is running. */
  watchLive() {
    const live = new Live(this.recording, {
      connection: (isConnected, text) => {
        byId("live").textContent = isConnected ? "live" : "offline";
        this.say(isConnected ? this.recording.problem : text);
      },
      message: (message) => {
        if (message.type === "judged") this.judged(message.points, message.from);
        else if (message.type === "measures") for (const [turn, values] of message.values) this.measure(turn, values);
        else this.seat?.take(message);
      },
      grown: () => this.grown(),
      over: (check) => this.ended(check),
    });
    this.live = live;
    byId("live").hidden = false;
    if (this.wanted === null) this.playback.follows = true;
    if (this.config.mode === "seat") {
      this.seat = new Seat(byId("table"), this.config, {
        board: this.board,
        turn: () => this.recording.steps,
        follow: () => this.playback.follows || this.playback.follow(),
        send: (message) => live.send(message),
        refresh: () => {
          this.strips?.refresh();
          this.panels?.refresh();
          this.show();
        },
      });
    }
    live.connect();
    this.controlsChanged();
  }

  /** The match is over. @param {any} check */
  ended(check) {
    byId("live").hidden = true;
    this.seat?.over();
    this.playback.follows = false;
    this.controlsChanged();
    if (this.seat && this.panels) {
      // Now a player may see everything.
      this.address = "";
      this.panels.refresh();
    }
    if (check) this.checked(check);
  }
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
async function gunzip(bytes) {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Write into the address, where there is one: a page inside another may have none of its own. @param {string} hash */
function setHash(hash) {
  try {
    history.replaceState(null, "", hash);
  } catch {
    // Then there is no link to this step.
  }
}

/** The step that the address names; null if it names none. */
function wantedStep() {
  const found = location.hash.match(/^#t=(\d{1,9})$/);
  return found ? Number(found[1]) : null;
}

let viewer = new Viewer(config);

/** Another replay in place of the one on the page. @param {File} file */
async function open(file) {
  setHash("#");
  viewer.close();
  byId("live").hidden = true;
  byId("table").hidden = true;
  viewer = new Viewer({ mode: "watch", name: file.name, server: config.server, version: config.version });
  viewer.address = null;
  byId("empty").hidden = true;
  viewer.controlsChanged();
  viewer.say("Reading the replay…");
  const replay = await replayIn(file);
  const opened = viewer;
  if (config.server && config.mode !== "seat") {
    // The referee plays it again meanwhile.
    void keep(replay).then((address) => {
      opened.address = address;
      return address === null ? undefined : opened.askCheck();
    });
  } else opened.checked({ status: "unknown", text: "Only a referee can play it again and compare: referee verify" });
  await opened.read(replay.stream(), replay.size);
  opened.show();
}

/** Hand a replay to the server; the place where it is kept, null if that fails. @param {Blob} replay */
async function keep(replay) {
  try {
    const found = await fetch("files", { method: "POST", body: replay });
    return found.ok ? `files/${(await found.json()).id}/` : null;
  } catch {
    return null;
  }
}

function listen() {
  const act = /** @type {Record<string, () => void>} */ ({
    home: () => viewer.playback.seek(0),
    back: () => viewer.playback.seek(viewer.playback.turn - 1),
    on: () => viewer.playback.seek(viewer.playback.turn + 1),
    end: () => viewer.playback.seek(viewer.playback.last),
    play: () => viewer.playback.toggle(),
    loop: () => viewer.playback.setLoop(),
    follow: () => viewer.playback.follow(),
    "event-back": () => viewer.toEvent(-1),
    "event-on": () => viewer.toEvent(1),
    "zoom-in": () => viewer.recording.track && viewer.board.zoomAt(1.5, canvas.clientWidth / 2, canvas.clientHeight / 2),
    "zoom-out": () => viewer.recording.track && viewer.board.zoomAt(1 / 1.5, canvas.clientWidth / 2, canvas.clientHeight / 2),
    "zoom-reset": () => viewer.recording.track && viewer.board.reset(),
    theme: () => switchTheme(),
    keys: () => showKeys(),
    open: () => part("file", HTMLInputElement).click(),
  });
  for (const [id, action] of Object.entries(act)) byId(id).addEventListener("click", action);
  speedChoice.replaceChildren(...SPEEDS.map((speed) => el("option", { value: speed }, `${speed}×`)));
  speedChoice.value = "1";
  speedChoice.addEventListener("change", () => viewer.playback.setSpeed(Number(speedChoice.value)));
  scrubber.addEventListener("input", () => viewer.playback.seek(Number(scrubber.value)));
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
    const step = wantedStep();
    if (step !== null) viewer.playback.seek(step);
  });
  onSystemTheme(repaint);
  listenForDrops();
}

/** @param {KeyboardEvent} event */
function keyDown(event) {
  if (event.target instanceof Element && event.target.closest("input:not([type=range]):not([type=checkbox]), select, dialog, [role=tab]")) return;
  // A button that has the focus keeps its own key.
  if (event.target instanceof HTMLButtonElement && (event.key === " " || event.key === "Enter")) return;
  if (viewer.seat?.key(event)) {
    event.preventDefault();
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { playback } = viewer;
  const far = event.shiftKey ? 10 : 1;
  const act = /** @type {Record<string, () => void>} */ ({
    " ": () => playback.toggle(),
    ArrowLeft: () => playback.seek(playback.turn - far),
    ArrowRight: () => playback.seek(playback.turn + far),
    ArrowDown: () => playback.seek(playback.turn - far),
    ArrowUp: () => playback.seek(playback.turn + far),
    Home: () => playback.seek(0),
    End: () => playback.seek(playback.last),
    p: () => viewer.toEvent(-1),
    n: () => viewer.toEvent(1),
    "+": () => playback.shiftSpeed(1),
    "=": () => playback.shiftSpeed(1),
    "-": () => playback.shiftSpeed(-1),
    l: () => playback.setLoop(),
    g: () => goto.focus(),
    f: () => viewer.live && !viewer.live.isOver && playback.follow(),
    0: () => viewer.recording.track && viewer.board.reset(),
    "?": () => showKeys(),
  })[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act || (event.key.startsWith("Arrow") && event.target instanceof Element && event.target.closest(".scroll, .log, [role=tabpanel]"))) return;
  event.preventDefault();
  act();
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
  const close = el("button", { type: "button", onclick: () => dialog.close() }, "Close");
  const list = el("dl", { class: "facts" }, ...KEYS.flatMap(([keys, text]) => [el("dt", {}, el("kbd", {}, keys)), el("dd", {}, text)]));
  dialog.replaceChildren(el("h2", { id: "help-title" }, "Keys"), list, close);
  if (!dialog.open) dialog.showModal();
}

function switchTheme() {
  document.documentElement.dataset.theme = palette().isDark ? "light" : "dark";
  remembered("theme", document.documentElement.dataset.theme);
  repaint();
}

function repaint() {
  viewer.board.request();
  viewer.strips?.refresh();
  viewer.legend();
}

async function start() {
  const theme = remembered("theme");
  if (theme === "dark" || theme === "light") document.documentElement.dataset.theme = theme;
  listen();
  viewer.controlsChanged();
  if (typeof DecompressionStream === "undefined") {
    viewer.say("This browser is too old to read replays; any of the last years will do.");
    return;
  }
  if (config.mode === "live" || config.mode === "seat") {
    byId("empty").textContent = config.mode === "seat" ? "The board comes up when everybody is ready." : "Waiting for the match to begin.";
    if (config.mode === "seat") byId("open").hidden = true;
    viewer.watchLive();
  } else if (config.mode === "export") {
    const packed = unpack(byId("replay").textContent ?? "");
    viewer.checked(config.check ?? { status: "unknown", text: "" });
    await viewer.read(new Blob([packed]).stream(), packed.length);
    if (config.check) viewer.checked(config.check);
  } else if (config.mode === "watch") {
    void viewer.askCheck();
    const found = await fetch("replay");
    if (found.ok && found.body) await viewer.read(found.body, Number(found.headers.get("content-length")));
    else viewer.say(`The replay can't be read: the server says ${found.status}.`);
  }
}

void start();
