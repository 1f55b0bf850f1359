// Sharing: a link to this step, and a picture of it.

import { closeButton, el, number, part, plain } from "../kit/dom.js";
import { bytesOf } from "../kit/packed.js";
import { copyButton, copyPicture, save } from "./clip.js";
import { Studio } from "./picture.js";

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

/** The dialog. */
export class Share {
  /** @param {Shown} shown */
  constructor(shown) {
    this.shown = shown;
    this.dialog = part("sharing", HTMLDialogElement);
    this.status = el("p", { class: "note", role: "status" });
  }

  open() {
    const { dialog, shown } = this;
    if (!shown.recording.track || dialog.open) return;
    // Work of before may still end: it writes into a line that is gone.
    this.status = el("p", { class: "note", role: "status" });
    dialog.replaceChildren(closeButton(dialog), el("h2", { id: "sharing-title" }, "Share"), ...(location.protocol === "about:" ? [] : [this.linkPart()]), this.picturePart(), ...this.filePart(), this.status);
    dialog.showModal();
  }

  close() {
    if (this.dialog.open) this.dialog.close();
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
