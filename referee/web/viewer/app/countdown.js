// The seconds before the first step of a match of people, large over the board.

import { el } from "../kit/dom.js";
import { write } from "./pad.js";

export class Countdown {
  /** @param {() => void} changed called when it begins or ends */
  constructor(changed) {
    this.changed = changed;
    // Those who hear the page hear the status instead.
    this.place = el("p", { id: "countdown", "aria-hidden": "true", hidden: true });
    this.timer = 0;
    this.endsAt = 0;
  }

  get isRunning() {
    return !this.place.hidden;
  }

  /** @param {number | null | undefined} seconds left; none stops it */
  set(seconds) {
    this.endsAt = typeof seconds === "number" ? performance.now() + 1000 * seconds : 0;
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
