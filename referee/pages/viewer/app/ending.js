// The words of the end over the board, which the reader can put away.

import { drawEnding, endingOf } from "./hud.js";
import { departure, outcomeText } from "./people.js";
import { plain } from "../kit/dom.js";

/** How much of a fault's text stands in the words of the end, on a large and on a small board. */
const [FAULT_LENGTH, SMALL_FAULT] = [160, 70];

/** @typedef {import("./hud.js").Rect} Rect */

export class EndWords {
  /** @param {import("./board.js").Board} board */
  constructor(board) {
    this.board = board;
    /** Where the words stand; null if they don't. @type {Rect | null} */
    this.place = null;
    /** Whether the last position is shown. */
    this.isAtEnd = false;
    /** Whether the reader has put them away. */
    this.isPutAway = false;
    /** Whether the pointer is on them: then the cells below show through. */
    this.isUnderPointer = false;
    const { canvas, end: { signal } } = board;
    canvas.addEventListener("pointermove", (event) => this.under(event.pointerType === "mouse" && this.isAt(event)), { signal });
    canvas.addEventListener("pointerleave", () => this.under(false), { signal });
    canvas.addEventListener("click", (event) => {
      // A tap puts the words away, another one brings them back.
      if (board.hasDragged || board.onClick || !((this.isPutAway && this.isAtEnd) || this.isAt(event))) return;
      this.toggle();
    }, { signal });
  }

  /** @param {MouseEvent} event */
  isAt({ offsetX: x, offsetY: y }) {
    const { place } = this;
    return place !== null && x > place.left && x < place.left + place.width && y > place.top && y < place.top + place.height;
  }

  /** @param {boolean} isOver */
  under(isOver) {
    if (isOver === this.isUnderPointer) return;
    this.isUnderPointer = isOver;
    this.board.canvas.style.cursor = isOver ? "pointer" : "";
    this.board.canvas.title = isOver ? "Click to hide this text" : "";
    this.board.request();
  }

  /** Another position than the last one is shown. */
  clear() {
    this.place = null;
    this.isAtEnd = false;
  }

  /** Put the words away, or bring them back. */
  toggle() {
    this.isPutAway = !this.isPutAway;
    this.board.request();
  }

  /**
   * @param {{ wide: number, high: number }} page
   * @param {[number, number][]} points what must not be covered
   * @param {number} margin how far that reaches
   * @param {Rect[]} taken
   * @param {Palette} colors
   */
  draw(page, points, margin, taken, colors) {
    const { recording, track, context } = this.board;
    this.isAtEnd = true;
    this.place = null;
    if (this.isPutAway) return;
    // That a person left is what the outcome says.
    const faults = recording.faults.flatMap(({ faults }) => Object.entries(faults).map(([seat, fault]) => (departure(recording, seat) ? "" : plain(fault?.text, page.wide < 420 ? SMALL_FAULT : FAULT_LENGTH))));
    const { text } = track.ending?.() ?? { text: "" };
    const words = endingOf(context, page.wide, outcomeText(recording), [text, ...faults].filter(Boolean).join(" "));
    const [[left, top], [right, bottom]] = [this.board.toPage(0, 0), this.board.toPage(track.width, track.height)];
    this.place = drawEnding(context, page, words, { left, top, width: right - left, height: bottom - top }, points, margin, taken, colors, this.isUnderPointer ? 0.15 : 0.96);
  }
}
