// The story beside the board: the moments of the match in plain words, one click each.

import { el, number, remembered } from "../kit/dom.js";
import { Lessons } from "./lessons.js";
import { momentsOf } from "./moments.js";
import { outcomeText } from "./people.js";

/** The story of a growing replay is made again after a pause: at least these milliseconds, and this multiple of the time that it took to make. */
const PAUSE_MS = 60;
const PAUSE_TIMES = 10;

/** The tab with the moments. */
export class StoryPanel {
  /**
   * @param {import("./recording.js").Recording} recording
   * @param {(turn: number, better?: Better | null) => void} onSeek
   */
  constructor(recording, onSeek) {
    this.recording = recording;
    this.onSeek = onSeek;
    /** @type {Moment[]} */
    this.moments = [];
    this.isStale = true;
    /** When the story may be told again. */
    this.due = 0;
    this.timer = 0;
    this.turn = 0;
    /** The row of the moment that has been reached. @type {HTMLElement | null} */
    this.current = null;
    this.key = "";
    this.note = el("p", { class: "note" });
    this.list = el("ol", { class: "story" });
    const keys = el("p", { class: "note" }, el("kbd", {}, "P"), " ", el("kbd", {}, "N"), " previous and next moment");
    this.result = el("strong");
    this.hides = el("button", { type: "button", onclick: () => this.hideResults(!this.isHiding) });
    this.headline = el("p", { class: "result", hidden: true }, this.result, " ", this.hides);
    this.lessons = new Lessons(recording, onSeek);
    this.element = el("div", {}, this.headline, this.lessons.place, this.list, this.note, keys);
  }

  /** Whether the reader wants to watch a match without knowing how it ends. */
  get isHiding() {
    return remembered("results") === "hidden";
  }

  /** @param {boolean} isHiding */
  hideResults(isHiding) {
    remembered("results", isHiding ? "hidden" : "shown");
    this.show(this.turn);
  }

  /** The result before the story, and the moments that come later, unless the reader hides them. */
  showResult() {
    const { recording, isHiding, turn } = this;
    const isHidden = isHiding && turn < recording.steps;
    this.headline.hidden = !recording.result;
    this.result.textContent = isHidden ? "The result is hidden." : recording.result ? outcomeText(recording) : "";
    this.hides.textContent = isHiding ? "Show results" : "Hide results";
    this.list.classList.toggle("hides", isHidden);
  }

  /** The text of the last moment up to a step, with its step. @param {number} turn */
  textAt(turn) {
    const last = this.moments.filter((moment) => moment.turn <= turn).at(-1);
    return last ? `${number(last.turn)} · ${last.text}` : "";
  }

  refresh() {
    this.isStale = true;
  }

  /** The moments, brought up to date: at most now and then while a replay still grows, unless somebody waits. @param {boolean} [isAsked] */
  update(isAsked = false) {
    if (!this.isStale) return;
    const begun = performance.now();
    const wait = isAsked ? 0 : this.due - begun;
    if (wait > 0) {
      clearTimeout(this.timer);
      this.timer = window.setTimeout(() => this.show(this.turn), wait);
      return;
    }
    this.isStale = false;
    const { moments, leftOut } = momentsOf(this.recording);
    const told = performance.now();
    this.due = told + Math.max(PAUSE_MS, PAUSE_TIMES * (told - begun));
    this.moments = moments;
    const key = JSON.stringify(moments);
    if (key === this.key) return;
    this.key = key;
    const focused = this.list.contains(document.activeElement) ? document.activeElement?.getAttribute("data-turn") : null;
    this.list.style.setProperty("--step", `${number(this.recording.steps).length + 0.5}ch`);
    this.list.replaceChildren(...moments.map((moment) => this.row(moment)));
    if (focused) /** @type {HTMLElement | null} */ (this.list.querySelector(`[data-turn="${focused}"]`))?.focus();
    this.note.textContent = leftOut ? `${number(leftOut)} less important moments are left out; the tab Events lists everything.` : "";
    this.note.hidden = !leftOut;
  }

  /** @param {Moment} moment */
  row({ turn, text, sign, color }) {
    const mark = el("span", { class: "moment-sign", "aria-hidden": "true" }, sign);
    mark.style.color = this.color(color);
    return el("li", {}, el("button", { type: "button", class: "moment", "data-turn": turn, onclick: () => this.onSeek(turn) },
      mark, el("span", { class: "moment-step" }, el("span", { class: "unseen" }, "step "), number(turn)), el("span", { class: "moment-text" }, text)));
  }

  /** A colour of the page's style sheet, or the one of a seat. @param {string} name */
  color(name) {
    const own = name.startsWith("seat:") ? (this.recording.display?.seatColors?.[name.slice(5)] ?? "plain") : name;
    return own.startsWith("#") ? own : own === "plain" ? "var(--faint)" : `var(--${own.replace(/[^a-z]/g, "")}, var(--faint))`;
  }

  /**
   * The position of the next moment, or of the one before; null if there is none.
   * @param {number} turn
   * @param {1 | -1} direction
   */
  next(turn, direction) {
    this.update(true);
    const turns = this.moments.map((moment) => moment.turn);
    return (direction < 0 ? turns.reverse().find((other) => other < turn) : turns.find((other) => other > turn)) ?? null;
  }

  /** What the moments of a position are about. @param {number} turn */
  marksAt(turn) {
    return this.moments.flatMap((moment) => (moment.turn === turn ? (moment.marks ?? []) : []));
  }

  /** @param {number} turn */
  show(turn) {
    this.turn = turn;
    this.update();
    this.showResult();
    const last = this.moments.filter((moment) => moment.turn <= turn).length - 1;
    /** @type {HTMLElement | null} */
    let current = null;
    [...this.list.children].forEach((row, at) => {
      const button = /** @type {HTMLElement} */ (row.firstElementChild);
      row.classList.toggle("past", this.moments[at].turn <= turn);
      row.classList.toggle("now", this.moments[at].turn === turn);
      button.ariaCurrent = at === last ? "step" : null;
      if (at === last) current = button;
    });
    // What stands in sight stays there until another moment is the current one: looking for it needs a layout of the page.
    if (current && current !== this.current) this.reveal(current);
    this.current = current;
  }

  /** Scroll the panels, and never the page, to a row. @param {HTMLElement} row */
  reveal(row) {
    const panels = this.element.closest("#panels");
    if (!panels || panels.scrollHeight <= panels.clientHeight) return;
    const top = row.getBoundingClientRect().top - panels.getBoundingClientRect().top;
    if (top < 0 || top + row.offsetHeight > panels.clientHeight) panels.scrollTop += top - panels.clientHeight / 2;
  }
}
