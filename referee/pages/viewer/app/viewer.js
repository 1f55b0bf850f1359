// One replay on the page: brings its parts together and joins them to the server.

import { AddressBar } from "./bar.js";
import { fitLayout } from "./before.js";
import { Board } from "./board.js";
import { byId, el, number, part, plain } from "../kit/dom.js";
import { answered, data } from "../kit/server.js";
import { drawn } from "../kit/frames.js";
import { unpacked } from "../kit/packed.js";
import { showLayers } from "./layers.js";
import { offerSkipped, tellBehind } from "./catch-up.js";
import { Live } from "./live.js";
import { palette } from "./palette.js";
import { Panels } from "./panels.js";
import { outcomeText } from "./people.js";
import { playersLine, tellScores } from "./players.js";
import { Playback, showTransport } from "./playback.js";
import { readAll, Recording } from "./recording.js";
import { Seat } from "./seat.js";
import { fileOf, linkNote, Share } from "./share.js";
import { Strips } from "./strips.js";

const canvas = part("board", HTMLCanvasElement);
const scrubber = part("scrubber", HTMLInputElement);
const goto = part("goto", HTMLInputElement);

/** How often words about the step change while steps fly by, and after how long the engine is asked again for what it could not draw yet, in milliseconds. */
const TELL_MS = 150;
const LOOK_AGAIN_MS = 500;

/** One replay on the page, from the first byte to its replacement by another. */
export class Viewer {
  /** @param {PageConfig} config */
  constructor(config) {
    this.config = config;
    this.recording = new Recording();
    this.board = new Board(canvas, this.recording, (cell) => this.pointed(cell));
    this.playback = new Playback({ moved: (turn) => this.moved(turn), ticked: (exact, pace) => this.board.glide(exact, pace), changed: () => this.controlsChanged() });
    /** @type {Strips | null} */
    this.strips = null;
    /** @type {Panels | null} */
    this.panels = null;
    /** @type {Live | null} */
    this.live = null;
    /** @type {Seat | null} */
    this.seat = null;
    /** Whether the server answers questions about this replay. */
    this.isServed = config.server && config.mode !== "seat";
    /** Whether there is a board. */
    this.hasBegun = false;
    this.announceTimer = 0;
    /** When the words about a step were written last. */
    this.toldAt = 0;
    this.tellTimer = 0;
    /** Whether the scrubber is being dragged. */
    this.isScrubbing = false;
    this.shift = false;
    this.bar = new AddressBar(this.board, this.playback, config.mode !== "seat", config.hash);
    this.wanted = this.bar.step;
    this.share = new Share({ board: this.board, recording: this.recording, turn: () => this.playback.turn, link: () => this.link, note: linkNote(config), file: fileOf(config) });
    /** The spectators' token, which a page of a player has when the match is over. @type {string | undefined} */
    this.spectators = undefined;
    /** Metrics that came before the head. @type {[number, Record<string, any>][]} */
    this.early = [...(config.metrics ?? [])];
    /** Verdicts that came before the board, and how many are known. @type {[number, any][]} */
    this.earlyPoints = [...(config.judged ?? [])];
    this.judgedCount = this.earlyPoints.length;
    this.overlayTimer = 0;
    /** What the referee found when it played the replay again, null until then; and what the engine left out. @type {any} */
    this.check = null;
    this.leftOut = "";
    byId("message").hidden = true;
    byId("outcome").textContent = "";
    // Nothing of another replay stays on the page.
    document.body.classList.add("boardless");
    byId("title").textContent = document.title = "Referee";
    for (const id of ["players", "step", "score", "summary", "hover", "told"]) byId(id).textContent = "";
    for (const id of ["tabs", "panels", "strips", "legend", "overlays"]) byId(id).replaceChildren();
    scrubber.max = scrubber.value = "0";
    part("check", HTMLSpanElement).hidden = true;
  }

  get isClosed() {
    return this.board.end.signal.aborted;
  }

  /** The address of this step for others; "" while there is none. A player's address would give its seat away. */
  get link() {
    if (this.config.mode === "seat" && !this.spectators) return "";
    return this.bar.link(this.playback.turn, this.spectators);
  }

  /** Another replay has the page from now on. */
  close() {
    this.playback.pause();
    this.board.close();
    for (const timer of [this.announceTimer, this.tellTimer]) clearTimeout(timer);
    this.share.close();
    this.live?.close();
  }

  /** The head is known: build what depends on the game. */
  begin() {
    this.hasBegun = true;
    const { recording } = this;
    const head = /** @type {Head} */ (recording.head);
    byId("empty").hidden = true;
    if (!this.seat) byId("seat").hidden = true;
    document.body.classList.remove("awaiting", "boardless");
    byId("title").textContent = `${plain(head.game, 40)} · ${plain(head.rules, 40)}`;
    document.title = `${Object.values(head.players).map((player) => plain(player?.name, 40)).join(" – ")} · Referee`;
    this.legend();
    fitLayout(recording.track);
    // Until now it was the board before the match.
    this.board.recording = recording;
    this.board.wholeBoard();
    for (const [turn, values] of this.early.splice(0)) this.measure(turn, values);
    if (this.earlyPoints.length) this.judged(this.earlyPoints.splice(0), 0);
    if (this.bar.hasWishes) this.furnish();
    else void drawn().then(() => this.furnish());
  }

  /** What stands around the board: it comes after the first picture of the board, unless the address says what that must show. */
  furnish() {
    const { recording } = this;
    if (this.isClosed) return;
    this.strips = new Strips(byId("strips"), recording, (turn) => this.playback.seek(turn));
    this.panels = new Panels(byId("tabs"), byId("panels"), recording, this, (turn) => this.playback.seek(turn), (turn, better) => this.toStory(turn, better));
    showLayers(this);
    this.bar.restore();
    this.show();
  }

  /** Ask what can be drawn over a position, once it stays for a moment. @param {number} turn */
  lookInto(turn) {
    const { playback, recording: { track } } = this;
    const analysis = track?.analysis;
    if (!analysis) return;
    // While steps go by what is drawn is that of a moment ago.
    analysis.lags = playback.isPlaying || playback.follows;
    if (!this.isServed || !analysis.shown.size || analysis.turn === turn || this.overlayTimer) return;
    this.overlayTimer = window.setTimeout(async () => {
      const asked = playback.turn;
      const answer = await data(`overlay?turn=${asked}`);
      this.overlayTimer = 0;
      // Meanwhile the server may have begun to answer about another match.
      if (!answer || this.isClosed || !this.isServed) return;
      if (answer.later) {
        // The engine plays the replay again and is not there yet: a link may open any step.
        window.setTimeout(() => !this.isClosed && this.lookInto(playback.turn), LOOK_AGAIN_MS);
        return;
      }
      analysis.take(asked, answer);
      this.panels?.refresh();
      this.show();
    }, 150);
  }

  /** Ask for verdicts until all are known. */
  async askJudged() {
    for (let known = this.judgedCount; this.isServed && !this.isClosed;) {
      const found = await data(`judged?from=${known}`);
      if (!found || this.isClosed) return;
      const { points, is_all: isAll, left_out: leftOut } = found;
      this.judged(points, known, isAll);
      known += points.length;
      if (isAll) {
        void this.askMistakes();
        if (!leftOut?.length) return;
        this.leftOut = `Left out: ${leftOut.map((/** @type {string} */ text) => plain(text, 300)).join(" ")}`;
        this.say(this.findings);
        return;
      }
    }
  }

  async askMistakes() {
    const found = await data("mistakes");
    if (!found || this.isClosed) return;
    this.panels?.story.lessons.take(found);
    this.panels?.refresh();
  }

  /** @param {[number, any][]} points @param {number} from how many come before them @param {boolean} isAll whether the last one holds to the end */
  judged(points, from, isAll = true) {
    this.judgedCount = Math.max(this.judgedCount, from + points.length);
    const { track } = this.recording;
    if (!track) this.earlyPoints.push(...points);
    else if (track.judged) {
      this.recording.learn(track.judged(points, isAll));
      this.strips?.refresh();
      this.panels?.refresh();
      this.show();
    }
  }

  /** The players, as the head names them. @param {Head} head @param {Display | null} display */
  names(head, display = this.recording.display) {
    return Object.entries(head.players).map(([seat, player]) => ({ seat: plain(seat, 20), name: plain(player?.name, 40), own: plain(player?.own, 40), color: display?.seatColors?.[seat] ?? "plain" }));
  }

  /** What shows colours: the names in the header and the legend. */
  legend() {
    const { head } = this.recording;
    const names = head ? this.names(head) : [];
    byId("players").replaceChildren(...playersLine(names, this.recording.track));
    const items = this.recording.track?.legend(palette()) ?? [];
    byId("legend").replaceChildren(...items.map(([text, color]) => {
      const sign = el("span", { "aria-hidden": "true" }, text.slice(0, 1));
      sign.style.color = color;
      return el("li", {}, sign, text.slice(1));
    }));
  }

  /** @returns {import("./panels.js").Source["question"]} */
  get question() {
    if (!this.isServed) return null;
    return async (turn, seat) => {
      const found = await answered(`question?turn=${turn}&seat=${encodeURIComponent(seat)}`);
      return found.ok ? found.json() : { text: `The server says ${found.status}.` };
    };
  }

  /** @returns {import("./panels.js").Source["commands"]} */
  get commands() {
    const { config } = this;
    if (config.commands) return async () => config.commands ?? null;
    return this.isServed ? () => data("commands") : null;
  }

  /** @returns {import("./panels.js").Source["log"]} */
  get log() {
    const { logs } = this.config;
    if (logs) return async (seat) => (Object.hasOwn(logs, seat) ? new Uint8Array(await unpacked(logs[seat]).arrayBuffer()) : null);
    if (!this.isServed) return null;
    return async (seat) => {
      const found = await fetch(`log?seat=${encodeURIComponent(seat)}`);
      return found.ok ? new Uint8Array(await found.arrayBuffer()) : null;
    };
  }

  /** There is more of the recording, or its end. */
  grown() {
    const { recording, playback } = this;
    if (this.isClosed) return;
    if (recording.head && !this.hasBegun) this.begin();
    if (recording.head && this.seat && !this.seat.hasBegun && !this.seat.isOver) this.seat.begin();
    const hadLast = playback.last;
    playback.extend(recording.steps);
    scrubber.max = goto.max = String(recording.steps);
    if (this.wanted !== null && recording.steps > 0 && (recording.isOver || recording.steps >= this.wanted)) {
      playback.follows = false;
      playback.go(this.wanted);
      this.wanted = null;
    }
    if (recording.problem) this.say(this.findings);
    if (this.live) offerSkipped(recording);
    this.strips?.refresh();
    if (recording.isOver || hadLast !== recording.steps) this.panels?.refresh();
    this.seat?.changed();
    this.show();
  }

  /** All that is wrong with the replay: what the page has read, and what the referee and the engine have found. */
  get findings() {
    const { recording: { problem }, check, leftOut } = this;
    // What the page has found itself isn't said twice.
    const isKnown = problem && (check?.kind === "cut" || check?.kind === "unreadable");
    const verdict = check?.status === "bad" && !isKnown ? `This replay does not verify: ${plain(check.text, 600)}` : "";
    return [problem, verdict, leftOut].filter(Boolean).join(" ");
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
    if (this.playback.follows) this.board.arrive(turn);
    else this.board.turn = turn;
    this.show();
    this.bar.later();
  }

  show() {
    const { recording, playback, board } = this;
    const { track } = recording;
    if (!track || this.isClosed) return;
    const { turn } = playback;
    board.turn = turn;
    board.request();
    this.strips?.go(turn);
    // While steps fly by, it changes together with the score.
    if (!playback.isMoving) byId("step").textContent = `Step ${number(turn)}`;
    scrubber.value = String(turn);
    tellBehind(playback);
    const isEnd = turn === recording.steps && recording.result !== null;
    byId("outcome").textContent = isEnd ? outcomeText(recording) : "";
    // While steps fly by, what must be read comes a few times a second.
    const wait = playback.isPlaying || playback.follows || this.isScrubbing ? this.toldAt + TELL_MS - performance.now() : 0;
    if (wait <= 0) this.describe();
    else this.tellTimer ||= window.setTimeout(() => this.describe(), wait);
  }

  /** What is read, or heard, about this step. */
  describe() {
    clearTimeout(this.tellTimer);
    this.tellTimer = 0;
    this.toldAt = performance.now();
    const { recording: { track, steps, result }, playback: { turn } } = this;
    if (!track || this.isClosed) return;
    // If each player has a score, it is beside the name; a person who plays on a phone sees no names.
    const score = track.standings && !this.seat ? "" : turn === steps && result ? track.result(result) : track.score(turn);
    byId("step").textContent = `Step ${number(turn)}`;
    byId("score").replaceChildren(`of ${number(steps)}`, score ? el("span", { class: "long" }, ` · ${score}`) : "");
    if (track.standings) tellScores(byId("players"), track.standings(turn));
    this.panels?.go(turn);
    byId("told").textContent = this.panels?.story.textAt(turn) ?? "";
    const summary = track.summary(turn);
    scrubber.setAttribute("aria-valuetext", summary);
    canvas.setAttribute("aria-label", `The board. ${summary}`);
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
      const { events, minorKinds } = this.recording;
      const last = events.slice(this.recording.firstEvent(turn - 1), this.recording.firstEvent(turn));
      const happened = last.filter(({ kind }) => !minorKinds.includes(kind)).slice(0, 5);
      byId("summary").textContent = [summary, ...happened.map((event) => event.text)].join(" ");
    }, wait);
  }

  /** @param {Cell | null} cell */
  pointed(cell) {
    this.tellCell();
    this.seat?.pointer(cell, { shiftKey: this.shift });
  }

  /** A short word for those who see the page and those who hear it. @param {string} text */
  tell(text) {
    byId("hover").textContent = byId("summary").textContent = text;
  }

  tellCell() {
    const cell = this.board.pointer;
    const { track } = this.recording;
    const what = cell && track ? track.hover(cell, this.playback.turn) : "";
    byId("hover").textContent = cell ? `(${cell.x}, ${cell.y})${what ? ` · ${what}` : ""}` : "";
    if (!cell || !track) return;
    // Beside the cell, on the side where there is room; it never makes the page wider.
    const [x, y] = this.board.toPage(...track.place(cell.x, cell.y));
    const { style } = byId("caption"), rest = canvas.clientWidth - x, isRight = x > rest;
    const [left, right] = isRight ? ["auto", `calc(100% - ${x - 14}px)`] : [`${x + 14}px`, "auto"];
    Object.assign(style, { left, right, top: `${Math.max(0, y - 34)}px`, maxWidth: `${Math.max(x, rest) - 14}px` });
  }

  controlsChanged() {
    const { playback } = this;
    showTransport(playback);
    byId("loop").setAttribute("aria-pressed", String(playback.isLooping));
    byId("follow").hidden = !this.live || this.live.isOver;
    byId("follow").setAttribute("aria-pressed", String(playback.follows));
    tellBehind(playback);
    this.bar.later();
  }

  /** Go to a moment of the story, and mark what it is about, or a better move. @param {number} turn @param {Better | null} [better] */
  toStory(turn, better) {
    this.playback.seek(turn);
    this.board.marks = { turn, rows: better?.marks ?? this.panels?.story.marksAt(turn) ?? [], arrow: better?.arrow };
    this.board.request();
  }

  /** @param {1 | -1} direction */
  toMoment(direction) {
    const turn = this.panels?.story.next(this.playback.turn, direction);
    if (turn !== null && turn !== undefined) this.toStory(turn);
  }

  /** What the referee found when it played the replay again. @param {any} check */
  checked(check) {
    if (this.isClosed) return;
    const chip = byId("check");
    // Nothing is said of a replay whose page says it better.
    chip.hidden = !check.status;
    const isCut = check.status === "bad" && check.kind === "cut";
    chip.className = `chip ${isCut ? "" : check.status}`;
    const [sign, words] = isCut ? ["✂", " cut short"] : { good: ["✓", " verified"], bad: ["✗", " does not verify"], checking: ["", "checking…"] }[/** @type {string} */ (check.status)] ?? ["", "not checked"];
    // A small screen has room only for the sign.
    chip.replaceChildren(sign, el("span", { class: sign ? "long" : "" }, words));
    chip.title = plain(check.text, 600);
    this.check = check;
    this.recording.sentence = check.sentence ?? "";
    if (check.status === "bad") this.say(this.findings);
    for (const [turn, values] of check.metrics ?? []) this.measure(turn, values);
    this.panels?.refresh();
    this.show();
  }

  async askCheck() {
    this.checked({ status: "checking", text: "The referee plays it again and compares every step." });
    try {
      const found = await answered("check");
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
    if (this.isClosed) return;
    // The referee may have found something while the page was reading.
    this.say(this.findings);
    this.grown();
    this.controlsChanged();
    // There is nothing to show: another file may be chosen.
    if (!this.recording.head) byId("empty").hidden = false;
  }

  /** A match that is running. */
  watchLive() {
    const live = new Live(this.recording, {
      connection: (isConnected, text) => {
        byId("live").textContent = isConnected ? "live" : "offline";
        // A move on its way may be lost.
        if (!isConnected && this.seat) this.seat.moveId = 0;
        this.say(isConnected ? this.findings : text);
      },
      message: (message) => {
        if (message.type === "judged") this.judged(message.points, message.from);
        else if (message.type === "metrics") for (const [turn, values] of message.values) this.measure(turn, values);
        else this.seat?.take(message);
      },
      grown: () => this.grown(),
      lost: () => this.seat?.lose(),
      over: (check, spectators) => this.ended(check, spectators),
    });
    this.live = live;
    this.playback.isGrowing = true;
    byId("live").hidden = false;
    if (this.wanted === null) this.playback.follows = true;
    if (this.config.mode === "seat") {
      this.seat = new Seat(byId("seat"), this.config, {
        board: this.board,
        recording: this.recording,
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

  /** The match is over. @param {any} check @param {string | undefined} spectators their token, for a page of a player */
  ended(check, spectators) {
    this.spectators = spectators;
    byId("live").hidden = true;
    this.playback.isGrowing = false;
    this.seat?.over();
    this.playback.follows = false;
    this.controlsChanged();
    if (this.seat && this.hasBegun) {
      // Now a player may see everything.
      this.isServed = true;
      this.panels?.refresh();
    }
    if (check) this.checked(check);
  }
}
