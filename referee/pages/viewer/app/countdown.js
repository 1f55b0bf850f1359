// The seconds before the first step of a match of people, large over the board.

import { el, number } from "../kit/dom.js";
import { write } from "./pad.js";

export class Countdown {
  /** @param {() => void} changed called when it begins or ends */
  constructor(changed) {
    this.changed = changed;
    // Those who hear the page hear the status instead.
    this.place = el("p", { id: "countdown", "aria-hidden": "true", hidden: true });
    this.timer = 0;
    this.endsAt = 0;
    /** The end by the word that came fastest: on a slow network the others are later than they say. */
    this.earliest = Infinity;
  }

  get isRunning() {
    return !this.place.hidden;
  }

  /** @param {number | null | undefined} seconds left; none stops it */
  set(seconds) {
    if (typeof seconds === "number") this.earliest = Math.min(this.earliest, performance.now() + 1000 * seconds);
    this.endsAt = typeof seconds === "number" ? this.earliest : 0;
    this.show();
  }

  show() {
    clearTimeout(this.timer);
    const left = this.endsAt - performance.now();
    if (this.place.hidden !== left <= 0) {
      this.place.hidden = left <= 0;
      this.changed();
    }
    if (left <= 0) return;
    write(this.place, String(Math.ceil(left / 1000)));
    this.timer = window.setTimeout(() => this.show(), 100);
  }
}

/** What is left of the move and of the bank, a few times a second. */
export class MoveClock {
  constructor() {
    this.place = el("p", { id: "clock", "aria-live": "off" });
    this.timer = 0;
  }

  /** @param {{ move: number | null, bank: number | null } | undefined} left in seconds @param {number} askedAt */
  run(left, askedAt) {
    clearTimeout(this.timer);
    const used = (performance.now() - askedAt) / 1000;
    const limits = [left?.move, left?.bank].filter((limit) => typeof limit === "number");
    write(this.place, limits.length ? `${number(Math.max(0, Math.min(...limits) - used), 1)} s left` : "");
    this.timer = window.setTimeout(() => this.run(left, askedAt), 100);
  }

  stop() {
    clearTimeout(this.timer);
    write(this.place, "");
  }
}
