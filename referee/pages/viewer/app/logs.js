// The panel of the bots' logs: what each has written to stderr up to the step, with a search.

import { lastBefore } from "../kit/columns.js";
import { counted, el, number, plain } from "../kit/dom.js";

const LOG_LINES = 400;
/** How often the log of a match that is running is read again. */
const LOG_MS = 1000;

export class LogPanel {
  /**
   * @param {import("./recording.js").Recording} recording
   * @param {import("./panels.js").Source} source
   */
  constructor(recording, source) {
    this.recording = recording;
    this.source = source;
    /** @type {Map<string, { lines: string[], starts: number[], bytes: number }>} */
    this.logs = new Map();
    /** When each seat's log was asked for last. @type {Map<string, number>} */
    this.asked = new Map();
    this.timer = 0;
    this.seat = "";
    this.matches = /** @type {number[]} */ ([]);
    this.match = -1;
    this.turn = 0;
    this.choice = el("select", { "aria-label": "Whose log", onchange: () => this.choose(this.choice.value) });
    this.search = el("input", { type: "search", placeholder: "search", "aria-label": "Search the log", oninput: () => this.find(), onkeydown: (/** @type {KeyboardEvent} */ event) => this.searchKey(event) });
    this.count = el("span", { class: "note", role: "status" });
    const again = (/** @type {1 | -1} */ direction) => el("button", { type: "button", "aria-label": direction > 0 ? "Next match" : "Previous match", onclick: () => this.step(direction) }, direction > 0 ? "↓" : "↑");
    this.list = el("div", { class: "log", tabindex: "0", role: "region", "aria-label": "Log" });
    this.note = el("p", { class: "note" });
    this.element = el("div", {}, el("div", { class: "row" }, this.choice, this.search, again(-1), again(1), this.count), this.note, this.list);
  }

  refresh() {
    if (this.recording.isOver) this.asked.clear();
  }

  /** Whether there is more of a log than is here. @param {string} seat */
  isStale(seat) {
    const column = this.recording.logged[seat];
    const written = column?.length ? column.data[column.length - 1] : 0;
    const asked = this.asked.get(seat);
    return asked === undefined || (written > (this.logs.get(seat)?.bytes ?? 0) && !this.recording.isOver && performance.now() - asked > LOG_MS);
  }

  /** @param {string} seat */
  choose(seat) {
    this.seat = seat;
    this.find();
    this.show(this.turn);
  }

  /** @param {string} seat */
  async load(seat) {
    this.asked.set(seat, performance.now());
    const { log } = this.source;
    const bytes = log ? await log(seat).catch(() => null) : null;
    // A log only grows: a shorter one is an earlier answer that has come later.
    if (!bytes || bytes.length < (this.logs.get(seat)?.bytes ?? 0)) return;
    const starts = [0];
    for (let at = bytes.indexOf(10); at >= 0 && at + 1 < bytes.length; at = bytes.indexOf(10, at + 1)) starts.push(at + 1);
    const decoder = new TextDecoder();
    const lines = starts.map((start, index) => plain(decoder.decode(bytes.subarray(start, starts[index + 1] ?? bytes.length)).replace(/\n$/, ""), 2000));
    this.logs.set(seat, { lines: bytes.length ? lines : [], starts, bytes: bytes.length });
    this.find();
    this.show(this.turn);
  }

  /** @param {number} turn */
  show(turn) {
    this.turn = turn;
    const { seats } = this.recording;
    if (this.choice.options.length !== seats.length) {
      this.choice.replaceChildren(...seats.map((seat) => el("option", { value: seat }, plain(seat, 20))));
      this.seat = seats[0] ?? "";
    }
    if (this.seat && this.isStale(this.seat)) void this.load(this.seat);
    const log = this.logs.get(this.seat);
    if (!log || !log.lines.length) {
      this.note.textContent = this.source.log ? "This bot wrote nothing to stderr, or its log is not beside the replay." : "A replay file alone has no logs.";
      this.list.replaceChildren();
      return;
    }
    const offset = turn > 0 ? (this.recording.logged[this.seat]?.data[turn - 1] ?? 0) : 0;
    const current = turn >= this.recording.steps && this.recording.isOver ? log.lines.length - 1 : lastBefore(log.starts, offset);
    this.note.textContent = `${counted(log.lines.length, "line")}; up to step ${number(turn)} it had written ${number(current + 1)}.`;
    const middle = this.match >= 0 ? this.matches[this.match] : Math.max(0, current);
    const from = Math.max(0, Math.min(middle - LOG_LINES / 2, log.lines.length - LOG_LINES));
    const found = new Set(this.matches);
    /** @type {HTMLElement | null} */
    let target = null;
    const rows = log.lines.slice(from, from + LOG_LINES).map((line, index) => {
      const at = from + index;
      const row = el("div", { class: [at > current ? "later" : "", at === current ? "now" : "", found.has(at) ? "found" : ""].join(" ").trim() || null }, line || " ");
      if (at === middle) target = row;
      return row;
    });
    this.list.replaceChildren(...rows);
    if (target) this.list.scrollTop = /** @type {HTMLElement} */ (target).offsetTop - this.list.offsetTop - this.list.clientHeight / 2;
  }

  find() {
    const wanted = this.search.value.toLowerCase();
    const lines = this.logs.get(this.seat)?.lines ?? [];
    this.matches = wanted ? lines.flatMap((line, at) => (line.toLowerCase().includes(wanted) ? [at] : [])) : [];
    this.match = this.matches.length ? 0 : -1;
    this.tell();
    this.show(this.turn);
  }

  /** @param {KeyboardEvent} event */
  searchKey(event) {
    event.stopPropagation();
    if (event.key === "Enter") this.step(event.shiftKey ? -1 : 1);
  }

  /** @param {1 | -1} direction */
  step(direction) {
    if (!this.matches.length) return;
    this.match = (this.match + direction + this.matches.length) % this.matches.length;
    this.tell();
    this.show(this.turn);
  }

  tell() {
    this.count.textContent = !this.search.value ? "" : this.matches.length ? `${this.match + 1} of ${this.matches.length}` : "not found";
  }
}
