// Sharing: a link to this step, a picture of it, and a passage as a video.

import { closeButton, counted, el, number, part, plain } from "../kit/dom.js";
import { bytesOf } from "../kit/packed.js";
import { copyButton, copyPicture, save } from "./clip.js";
import { secondsOf, Studio, videoForm } from "./picture.js";

/** The steps before and after the current one in a passage that nobody has chosen. */
const BEFORE = 60;
const AFTER = 20;
const SIZES = [360, 480, 720, 1080];
const SPEEDS = [0.25, 0.5, 1, 2, 4, 8];

/**
 * What the dialog needs of the page.
 * @typedef {object} Shown
 * @property {import("./board.js").Board} board
 * @property {import("./recording.js").Recording} recording
 * @property {() => number} turn
 * @property {() => string} link the whole address; "" while there is none to share
 * @property {string} note on the link: who can open it
 * @property {(() => Promise<Blob>) | null} file the replay, where the page has all of it
 */

/** The dialog, and the passage that was chosen with [ and ]. */
export class Share {
  /** @param {Shown} shown */
  constructor(shown) {
    this.shown = shown;
    /** @type {number | null} */
    this.from = null;
    /** @type {number | null} */
    this.to = null;
    /** @type {{ isGivenUp: boolean, progress: (share: number) => void } | null} */
    this.work = null;
    this.dialog = part("sharing", HTMLDialogElement);
    this.status = el("p", { class: "note", role: "status" });
  }

  /** The passage begins or ends at this step. @param {"from" | "to"} end */
  mark(end) {
    this[end] = this.shown.turn();
    this.showPassage();
    return end === "from" ? `A passage to share begins at step ${number(this.shown.turn())}.` : `A passage to share ends at step ${number(this.shown.turn())}.`;
  }

  /** Show the chosen passage on the scrubber. */
  showPassage() {
    const { from, to } = this.passage();
    const { style } = part("passage", HTMLElement);
    const steps = Math.max(1, this.shown.recording.steps);
    style.left = `${(100 * from) / steps}%`;
    style.width = `${(100 * (to - from)) / steps}%`;
    part("passage", HTMLElement).hidden = this.from === null && this.to === null;
  }

  /** @returns {{ from: number, to: number }} */
  passage() {
    const { steps } = this.shown.recording;
    const turn = this.shown.turn();
    const [from, to] = [this.from ?? Math.max(0, turn - BEFORE), this.to ?? Math.min(steps, turn + AFTER)];
    return from <= to ? { from, to } : { from: to, to: from };
  }

  open() {
    const { dialog, shown } = this;
    if (!shown.recording.track || dialog.open) return;
    // Work that was given up may still end: it writes into a line that is gone.
    this.status = el("p", { class: "note", role: "status" });
    dialog.replaceChildren(closeButton(dialog), el("h2", { id: "sharing-title" }, "Share"), ...(location.protocol === "about:" ? [] : [this.linkPart()]), this.picturePart(), ...this.passagePart(), ...this.filePart(), this.status);
    dialog.onclose = () => this.giveUp();
    dialog.showModal();
  }

  close() {
    this.giveUp();
    if (this.dialog.open) this.dialog.close();
  }

  giveUp() {
    if (this.work) this.work.isGivenUp = true;
  }

  linkPart() {
    const link = this.shown.link();
    const title = el("h3", {}, "Link to this step");
    if (!link) return el("section", {}, title, el("p", {}, "The address of this page is secret: whoever has it can take your seat. After the match there is a link for everybody here."));
    const field = el("input", { type: "text", readonly: true, "aria-label": "Link to this step", onfocus: () => field.select() });
    field.value = link;
    return el("section", {}, title, el("p", { class: "row" }, field, copyButton("link", () => link, "Copy link")), el("p", { class: "note" }, this.shown.note));
  }

  picturePart() {
    const turn = this.shown.turn();
    const copy = el("button", { type: "button", onclick: () => this.run(async () => {
      const isDone = await copyPicture(await this.png(turn));
      return isDone ? "The picture is copied." : "This browser can't copy pictures here. Save it as a file.";
    }) }, "Copy picture");
    const keep = el("button", { type: "button", onclick: () => this.run(async () => {
      save(await this.png(turn), `${this.name()}-${turn}.png`);
      return "The picture is in your downloads.";
    }) }, "Save as PNG");
    return el("section", {}, el("h3", {}, `Picture of step ${number(turn)}`), el("p", { class: "row" }, copy, keep));
  }

  /** @param {number} turn */
  async png(turn) {
    const studio = new Studio(this.shown.board, this.shown.recording, 900);
    try {
      return await studio.png(turn);
    } finally {
      studio.close();
    }
  }

  /** The replay as a file, which every command and every page of this kind reads. */
  filePart() {
    const { file } = this.shown;
    if (!file) return [];
    const keep = el("button", { type: "button", onclick: () => this.run(async () => {
      save(await file(), `${this.name()}.replay.jsonl.gz`);
      return "The replay is in your downloads.";
    }) }, "Save the replay");
    return [el("section", {}, el("h3", {}, "Replay"), el("p", { class: "row" }, keep))];
  }

  passagePart() {
    if (!videoForm()) return [];
    const { recording } = this.shown;
    const passage = this.passage();
    const field = (/** @type {"from" | "to"} */ end) => {
      const input = el("input", { type: "number", min: "0", max: recording.steps, inputmode: "numeric", oninput: () => tell() });
      input.value = String(passage[end]);
      return input;
    };
    const [from, to] = [field("from"), field("to")];
    const speed = el("select", { "aria-label": "Speed of the passage", onchange: () => tell() }, ...SPEEDS.map((value) => el("option", { value, selected: value === 1 }, `${value}×`)));
    const size = el("select", { "aria-label": "Size of the board" }, ...SIZES.map((value) => el("option", { value, selected: value === 480 }, `${value} pixels`)));
    const note = el("p", { class: "note" });
    /** What the fields say; null if that is no passage. */
    const chosen = () => {
      const [begin, end] = [from.valueAsNumber, to.valueAsNumber];
      return Number.isInteger(begin) && Number.isInteger(end) && begin >= 0 && begin <= end && end <= recording.steps ? { from: begin, to: end, speed: Number(speed.value) } : null;
    };
    const video = el("button", { type: "button", onclick: () => {
      const wanted = chosen();
      if (wanted) void this.make(wanted, Number(size.value), bar, video, stop);
    } }, "Save as video");
    const stop = el("button", { type: "button", hidden: true, onclick: () => this.giveUp() }, "Stop");
    const bar = el("progress", { max: "1", value: "0", hidden: true, "aria-label": "Progress" });
    const tell = () => {
      const wanted = chosen();
      video.disabled = !wanted;
      if (!wanted) note.textContent = `Choose steps from 0 to ${number(recording.steps)}, the first one first.`;
      else {
        [this.from, this.to] = [wanted.from, wanted.to];
        note.textContent = `${counted(wanted.to - wanted.from, "step")}; the video lasts ${number(secondsOf(wanted), 1)} s.`;
      }
    };
    const isChosen = this.from !== null || this.to !== null;
    tell();
    // A passage that nobody has chosen is another one at the next step.
    if (!isChosen) this.from = this.to = null;
    return [el("section", {}, el("h3", {}, "Passage"),
      el("p", { class: "row" }, el("label", {}, "from step ", from), el("label", {}, "to step ", to), speed, size),
      el("p", { class: "row" }, video, stop, bar), note,
      el("p", { class: "note" }, "On the board, ", el("kbd", {}, "["), " begins a passage and ", el("kbd", {}, "]"), " ends it. It shows the camera and the layers of the page."))];
  }

  /**
   * @param {import("./picture.js").Passage} passage @param {number} size
   * @param {HTMLProgressElement} bar @param {HTMLButtonElement} button @param {HTMLButtonElement} stop
   */
  async make(passage, size, bar, button, stop) {
    const work = { isGivenUp: false, progress: (/** @type {number} */ share) => { bar.value = share; } };
    this.work = work;
    bar.value = 0;
    bar.hidden = stop.hidden = false;
    button.disabled = true;
    const studio = new Studio(this.shown.board, this.shown.recording, size);
    await this.run(async () => {
      this.status.textContent = "Recording the video while it plays…";
      const found = await studio.video(passage, work);
      if (!found) return "Stopped.";
      const ending = found.type.startsWith("video/mp4") ? "mp4" : "webm";
      save(found, `${this.name()}-${passage.from}-${passage.to}.${ending}`);
      return `The video is in your downloads (${number(found.size / 1000)} kB).`;
    });
    studio.close();
    bar.hidden = stop.hidden = true;
    button.disabled = false;
  }

  /** Do something, and show its result as a sentence. @param {() => Promise<string>} work */
  async run(work) {
    const { status } = this;
    try {
      status.textContent = await work();
    } catch (error) {
      status.textContent = `That failed: ${error instanceof Error ? error.message : error}`;
    }
  }

  /** The beginning of a file's name. */
  name() {
    const { head } = this.shown.recording;
    const words = head ? [head.game, ...Object.values(head.players).slice(0, 2).map((player) => player?.name)] : [];
    return words.map((word) => plain(word, 20).normalize("NFC").replace(/[^\p{L}\p{N}]+/gu, "")).filter(Boolean).join("-").toLowerCase() || "match";
  }
}

/** Who can open a link to this page, in a sentence. @param {PageConfig} config */
export function linkNote({ mode }) {
  if (mode === "export" || location.protocol === "file:") return "The link works for everybody who has this file at the same path.";
  return "The link works while the referee serves this page. Everybody who knows it can watch.";
}

/** The way to the file of the replay; null where the page has none, or only a part. @param {PageConfig} config @returns {(() => Promise<Blob>) | null} */
export function fileOf({ mode, server }) {
  if (mode === "export") return async () => new Blob([bytesOf(part("replay", HTMLElement).textContent ?? "")]);
  return mode === "watch" && server ? async () => (await fetch("replay")).blob() : null;
}
