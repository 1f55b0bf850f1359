// Keeps the address of the page true to what is shown, and shows what an address wants.

import { addressOf, layersIn, readAddress, setLayers } from "./address.js";
import { byId } from "../kit/dom.js";
import { isCamera } from "./camera.js";

/** How long after a change the address is written, and how long changes that go on may delay that, in milliseconds: writing it takes
 * longer than drawing a frame, and browsers refuse to do it often. */
const WRITE_MS = 400;
const MOST_MS = 1200;

/** The bar with the address. */
export class AddressBar {
  /**
   * @param {import("./board.js").Board} board
   * @param {import("./playback.js").Playback} playback
   * @param {boolean} isWritten a page of a player at the board keeps its address
   * @param {string} [hash] what is shown first by a page in a frame, which has no address of its own
   */
  constructor(board, playback, isWritten, hash = "") {
    this.board = board;
    this.playback = playback;
    this.isWritten = isWritten;
    this.wanted = readAddress(location.hash || hash);
    /** What stood in the address when this looked last. */
    this.known = location.hash;
    this.timer = 0;
    /** Whether the page shows what its address wanted. */
    this.isRestored = false;
    /** When the view changed last, and when it changed first since the address was written. */
    this.changedAt = 0;
    this.staleSince = 0;
    const { signal } = board.end;
    // Whatever a person does may change the view; what has not changed isn't written.
    for (const name of ["pointerup", "wheel", "change", "keyup", "dblclick"]) document.addEventListener(name, () => this.later(), { signal, passive: true });
  }

  /** The step that the address names; null if it names none. */
  get step() {
    return this.wanted.step;
  }

  /** Whether the address names a camera, a view or layers. */
  get hasWishes() {
    const { camera, view, layers } = this.wanted;
    return camera !== null || view !== null || layers !== null;
  }

  /** Show the camera and the layers that the address wants. */
  restore() {
    this.isRestored = true;
    const { board, wanted: { camera, view, layers } } = this;
    if (layers) setLayers(byId("layers"), layers);
    if (isCamera(camera)) board.camera = camera;
    if (view && board.camera === "whole") {
      board.reset();
      board.zoomAt(view[0], 0, 0);
      board.center = [view[1], view[2]];
      board.move(0, 0);
    }
    board.request();
  }

  /** The address was changed by hand, or by a link: show what it wants; return the step. */
  changed() {
    this.known = location.hash;
    this.wanted = readAddress(location.hash);
    this.restore();
    return this.wanted.step;
  }

  /** The address of what is shown. @param {number | null} step null: the newest one */
  hash(step) {
    const { board } = this;
    const isOwn = board.camera === "whole" && board.zoom > 1;
    const view = isOwn ? /** @type {[number, number, number]} */ ([board.zoom, ...board.center]) : null;
    return addressOf({ step, camera: board.camera, view, layers: layersIn(byId("layers")), rest: this.wanted.rest });
  }

  /** The whole address of a step. @param {number} step @param {string} [token] that of another page of the same match */
  link(step, token) {
    return new URL(token === undefined ? location.href : `../${token}/`, location.href).href.replace(/#.*$/s, "") + this.hash(step);
  }

  /** Write the address when changes have stopped; while they go on, now and then. */
  later() {
    this.changedAt = performance.now();
    if (this.timer || this.board.end.signal.aborted) return;
    this.staleSince = this.changedAt;
    this.wait(WRITE_MS);
  }

  /** @param {number} milliseconds */
  wait(milliseconds) {
    this.timer = window.setTimeout(() => {
      const due = Math.min(this.changedAt + WRITE_MS, this.staleSince + MOST_MS) - performance.now();
      if (due > 1) {
        this.wait(due);
        return;
      }
      this.timer = 0;
      this.write();
    }, milliseconds);
  }

  write() {
    const { board, playback } = this;
    if (!this.isWritten || !this.isRestored || !board.recording.track || board.end.signal.aborted) return;
    // The browser reports a new address a moment later; until then it must not be overwritten.
    if (location.hash !== this.known) return;
    const hash = this.hash(playback.follows ? null : playback.turn);
    if (hash !== location.hash) setHash(hash);
    this.known = location.hash;
  }
}

/** Write into the address, where there is one: a page inside another may have none of its own. @param {string} hash */
export function setHash(hash) {
  try {
    history.replaceState(null, "", hash);
  } catch {
    // Then there is no link to this step.
  }
}
