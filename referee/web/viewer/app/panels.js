// The panels beside the board: result and settings, events, the step's question and answers, the bots' logs.

import { lastBefore } from "../kit/columns.js";
import { el, number, plain, remembered } from "../kit/dom.js";
import { faultHeading, outcomeText } from "./people.js";
import { StepPanel } from "./conversation.js";
import { StoryPanel } from "./story.js";

const EVENT_ROWS = 200;
const LOG_LINES = 400;
/** How often the log of a match that is running is read again. */
const LOG_MS = 1000;

/**
 * What the panels ask of the page; all may come later, or never.
 * @typedef {object} Source
 * @property {((turn: number, seat: string) => Promise<any>) | null} question what a seat was asked, made again by the engine
 * @property {((seat: string) => Promise<Uint8Array | null>) | null} log a bot's stderr
 * @property {(() => Promise<import("./conversation.js").Commands | null>) | null} commands what command lines need
 */

/** @param {[string, string][]} facts */
function factList(facts) {
  return el("dl", { class: "facts" }, ...facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

/** What most readers skip: folded until it is wanted. @param {string} title @param {HTMLElement} content */
function folded(title, content) {
  const details = el("details", { class: "folded" }, el("summary", {}, title), content);
  details.open = remembered(`folded.${title}`) === "open";
  details.addEventListener("toggle", () => remembered(`folded.${title}`, details.open ? "open" : "closed"));
  return details;
}

/** Tabs, of which one is in sight. */
export class Panels {
  /**
   * @param {HTMLElement} tabs
   * @param {HTMLElement} place
   * @param {import("./recording.js").Recording} recording
   * @param {Source} source
   * @param {(turn: number) => void} onSeek
   * @param {(turn: number) => void} onMoment a moment of the story was chosen
   */
  constructor(tabs, place, recording, source, onSeek, onMoment) {
    this.turn = 0;
    this.isDue = false;
    this.story = new StoryPanel(recording, onMoment);
    /** @type {{ name: string, title: string, panel: { element: HTMLElement, show: (turn: number) => void, refresh?: () => void } }[]} */
    this.pages = [
      { name: "story", title: "Story", panel: this.story },
      { name: "match", title: "Match", panel: new MatchPanel(recording) },
      { name: "events", title: "Events", panel: new EventsPanel(recording, onSeek) },
      { name: "turn", title: "Step", panel: new StepPanel(recording, source) },
      { name: "logs", title: "Logs", panel: new LogPanel(recording, source) },
    ];
    this.open = 0;
    this.buttons = this.pages.map(({ name, title }, index) =>
      el("button", {
        type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `panel-${name}`,
        onclick: (/** @type {MouseEvent} */ event) => {
          this.select(index);
          // After a click the arrows are for the steps again.
          if (event.detail) /** @type {HTMLElement} */ (event.currentTarget).blur();
        },
        onkeydown: (/** @type {KeyboardEvent} */ event) => this.key(event, index),
      }, title),
    );
    tabs.replaceChildren(...this.buttons);
    this.places = this.pages.map(({ name, panel }) =>
      el("div", { role: "tabpanel", id: `panel-${name}`, "aria-labelledby": `tab-${name}`, tabindex: "0" }, panel.element),
    );
    place.replaceChildren(...this.places);
    this.select(0);
  }

  /** @param {KeyboardEvent} event @param {number} index */
  key(event, index) {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    const next = (index + by + this.pages.length) % this.pages.length;
    this.select(next);
    this.buttons[next].focus();
  }

  /** @param {number} index */
  select(index) {
    this.open = index;
    this.buttons.forEach((button, at) => {
      button.setAttribute("aria-selected", String(at === index));
      button.tabIndex = at === index ? 0 : -1;
      this.places[at].hidden = at !== index;
    });
    this.request();
  }

  /** @param {number} turn */
  go(turn) {
    this.turn = turn;
    this.request();
  }

  /** The recording has grown or ended, or more is known about it. */
  refresh() {
    for (const { panel } of this.pages) panel.refresh?.();
    this.request();
  }

  request() {
    if (this.isDue) return;
    this.isDue = true;
    requestAnimationFrame(() => {
      this.isDue = false;
      this.pages[this.open].panel.show(this.turn);
    });
  }
}

class MatchPanel {
  /** @param {import("./recording.js").Recording} recording */
  constructor(recording) {
    this.recording = recording;
    this.element = el("div");
    this.isStale = true;
  }

  refresh() {
    this.isStale = true;
  }

  show() {
    if (!this.isStale) return;
    this.isStale = false;
    const { head, result, track, faults } = this.recording;
    if (!head || !track) return;
    const parts = [];
    parts.push(el("h2", {}, "Result"), el("p", { class: "headline" }, result ? outcomeText(this.recording) : this.recording.isOver ? "None: the replay is cut short." : "The match is still running."));
    if (result) {
      parts.push(factList([["Winner", plain(result.winner ?? "nobody", 60)], ["Reason", plain(result.reason, 60)], ["Score", track.result(result)]]));
    }
    for (const record of faults) {
      for (const [seat, fault] of Object.entries(record.faults)) {
        parts.push(faultHeading(this.recording, seat, record.turn), el("p", {}, plain(/** @type {any} */ (fault)?.text, 1000)));
        const line = /** @type {any} */ (fault)?.line;
        if (line) parts.push(el("pre", {}, plain(line, 600)));
      }
    }
    parts.push(el("h2", {}, "Players"), this.players(head, result));
    parts.push(folded("Settings", factList(Object.entries(head.settings).slice(0, 60).map(([name, value]) => [plain(name, 40), plain(value, 80)]))));
    const more = /** @type {[string, string][]} */ ([
      ["Rules", `${plain(head.game, 40)} ${plain(head.version, 10)}, ${plain(head.rules, 40)}`],
      ["Seed", plain(head.seed ?? "none", 40)],
      ["Clock", ["kind", "startup", "move", "bank", "increment"].map((name) => `${name} ${plain(head.clock[name] ?? "none", 20)}`).join(", ")],
      ["Isolation", plain(head.isolation, 40)],
      ["Machine", plain(head.machine?.system, 80)],
      ["Referee", plain(head.referee, 20)],
      ["Match", plain(head.match, 60)],
    ]);
    parts.push(folded("How it was played", factList(more)));
    this.element.replaceChildren(...parts);
  }

  /** @param {import("../kit/types.js").Head} head @param {any} result */
  players(head, result) {
    const rows = Object.entries(head.players).slice(0, 64).map(([seat, player]) => {
      const time = result?.time?.[seat];
      const used = typeof time?.used_seconds === "number" ? `${number(time.used_seconds, 2)} s` : "";
      const longest = typeof time?.longest_seconds === "number" ? `${number(time.longest_seconds * 1000, 1)} ms` : "";
      return el("tr", {}, el("th", { scope: "row" }, plain(seat, 20)), el("td", {}, `${plain(player?.name, 40)} (${plain(player?.program, 120)})`), el("td", { class: "number" }, used), el("td", { class: "number" }, longest));
    });
    const titles = ["seat", "player", "time used", "longest"].map((title, at) => el("th", { scope: "col", class: at > 1 ? "number" : "" }, title));
    return el("table", {}, el("thead", {}, el("tr", {}, ...titles)), el("tbody", {}, ...rows));
  }
}

class EventsPanel {
  /**
   * @param {import("./recording.js").Recording} recording
   * @param {(turn: number) => void} onSeek
   */
  constructor(recording, onSeek) {
    this.recording = recording;
    this.onSeek = onSeek;
    /** Kinds that are left out. */
    this.hidden = new Set(recording.minorKinds);
    this.counted = -1;
    /** @type {import("../kit/types.js").GameEvent[]} */
    this.chosen = [];
    this.turns = /** @type {number[]} */ ([]);
    /** The event of the first row, and whether the rows lag behind. */
    this.first = 0;
    this.isStale = true;
    /** The words beside the box of each kind. @type {Map<string, HTMLElement>} */
    this.words = new Map();
    this.filters = el("div", { class: "row" });
    this.body = el("tbody");
    this.note = el("p", { class: "note" });
    const titles = ["step", "event", "who", "what"].map((title) => el("th", { scope: "col" }, title));
    this.scroll = el("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": "List of events" }, el("table", {}, el("thead", {}, el("tr", {}, ...titles)), this.body));
    this.element = el("div", {}, this.filters, this.note, this.scroll);
  }

  refresh() {
    this.counted = -1;
  }

  /** The events that are shown, brought up to date. */
  update() {
    const { events } = this.recording;
    if (this.counted === events.length) return;
    this.counted = events.length;
    this.chosen = events.filter(({ kind }) => !this.hidden.has(kind));
    this.turns = this.chosen.map(({ turn }) => turn);
    this.isStale = true;
    const counts = new Map();
    for (const { kind } of events) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    for (const [kind, count] of counts) this.filter(kind).textContent = ` ${kind} (${number(count)})`;
  }

  /** The words beside the box of a kind, which stays where it is: a click takes longer than a step of a match that is running. @param {string} kind */
  filter(kind) {
    let words = this.words.get(kind);
    if (!words) {
      const box = el("input", { type: "checkbox", onchange: () => this.toggle(kind) });
      box.checked = !this.hidden.has(kind);
      words = el("span");
      this.words.set(kind, words);
      this.filters.append(el("label", {}, box, words));
    }
    return words;
  }

  /** @param {string} kind */
  toggle(kind) {
    if (!this.hidden.delete(kind)) this.hidden.add(kind);
    this.counted = -1;
    this.update();
    this.show(this.turn ?? 0);
  }

  /** @param {number} turn */
  show(turn) {
    this.turn = turn;
    this.update();
    const at = Math.max(0, lastBefore(this.turns, turn));
    const first = Math.max(0, Math.min(at - EVENT_ROWS / 2, this.chosen.length - EVENT_ROWS));
    if (at < this.first || at >= this.first + EVENT_ROWS || this.first > Math.max(0, this.chosen.length - EVENT_ROWS)) this.fill(first);
    else if (this.isStale) this.fill(this.first);
    const shown = this.chosen.length <= EVENT_ROWS ? "" : `; those around step ${number(turn)} are listed`;
    this.note.textContent = `${number(this.chosen.length)} event${this.chosen.length === 1 ? "" : "s"}${shown}.`;
    /** The row of what happened last. @type {HTMLTableRowElement | null} */
    let now = null;
    for (const row of this.body.rows) {
      row.classList.toggle("now", Number(row.dataset.turn) === turn - 1);
      if (Number(row.dataset.turn) < turn) now = row;
    }
    if (now) {
      const [top, bottom] = [now.offsetTop, now.offsetTop + now.offsetHeight];
      if (top < this.scroll.scrollTop || bottom > this.scroll.scrollTop + this.scroll.clientHeight) this.scroll.scrollTop = top - this.scroll.clientHeight / 2;
    }
  }

  /** The rows from one event on; those that are there already stay. @param {number} first */
  fill(first) {
    this.first = first;
    this.isStale = false;
    const shown = this.chosen.slice(first, first + EVENT_ROWS);
    const { rows } = this.body;
    const keys = shown.map(({ turn, kind, seat, text }) => JSON.stringify([turn, kind, seat, text]));
    let same = 0;
    while (same < shown.length && rows[same]?.dataset.key === keys[same]) same += 1;
    while (rows.length > same) rows[same].remove();
    this.body.append(...shown.slice(same).map(({ turn, kind, seat, text }, index) => {
      const jump = el("button", { type: "button", "aria-label": `Go to step ${turn}`, onclick: () => this.onSeek(turn + 1) }, number(turn));
      return el("tr", { "data-turn": turn, "data-key": keys[same + index] }, el("td", {}, jump), el("td", {}, kind), el("td", {}, seat), el("td", {}, text));
    }));
  }
}

class LogPanel {
  /**
   * @param {import("./recording.js").Recording} recording
   * @param {Source} source
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
    if (!bytes) return;
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
      this.note.textContent = this.source.log ? "This bot wrote nothing to stderr, or its log is not beside the replay." : "Logs are not part of a replay alone.";
      this.list.replaceChildren();
      return;
    }
    const offset = turn > 0 ? (this.recording.logged[this.seat]?.data[turn - 1] ?? 0) : 0;
    const current = turn >= this.recording.steps && this.recording.isOver ? log.lines.length - 1 : lastBefore(log.starts, offset);
    this.note.textContent = `${number(log.lines.length)} lines; up to step ${number(turn)} it had written ${number(current + 1)}.`;
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
