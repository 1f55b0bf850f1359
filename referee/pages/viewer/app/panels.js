// The panels beside the board: result and settings, events, the step's question and answers, the bots' logs.

import { lastBefore } from "../kit/columns.js";
import { counted, el, facts, number, plain, rememberFold } from "../kit/dom.js";
import { inFrame } from "../kit/frames.js";
import { LogPanel } from "./logs.js";
import { faultHeading, outcomeText } from "./people.js";
import { StepPanel } from "./conversation.js";
import { StoryPanel } from "./story.js";

const EVENT_ROWS = 200;

/**
 * What the panels ask of the page; all may come later, or never.
 * @typedef {object} Source
 * @property {((turn: number, seat: string) => Promise<any>) | null} question what a seat was asked, made again by the engine
 * @property {((seat: string) => Promise<Uint8Array | null>) | null} log a bot's stderr
 * @property {(() => Promise<import("./conversation.js").Commands | null>) | null} commands what command lines need
 */

/** What most readers skip: folded until it is wanted. @param {string} title @param {HTMLElement} content */
function folded(title, content) {
  const details = el("details", { class: "folded" }, el("summary", {}, title), content);
  rememberFold(details, `folded.${title}`, false);
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
   * @param {(turn: number, better?: Better | null) => void} onMoment a moment of the story was chosen
   */
  constructor(tabs, place, recording, source, onSeek, onMoment) {
    this.turn = 0;
    this.drawing = () => this.pages[this.open].panel.show(this.turn);
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
    inFrame(this.drawing);
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
      parts.push(facts([["Winner", plain(head.players[result.winner]?.name ?? "nobody", 60)], ["Reason", plain(result.reason, 60)], ["Score", track.result(result)]]));
    }
    for (const record of faults) {
      for (const [seat, fault] of Object.entries(record.faults)) {
        parts.push(faultHeading(this.recording, seat, record.turn), el("p", {}, plain(/** @type {any} */ (fault)?.text, 1000)));
        const line = /** @type {any} */ (fault)?.line;
        if (line) parts.push(el("pre", {}, plain(line, 600)));
      }
    }
    parts.push(el("h2", {}, "Players"), this.players(head, result));
    parts.push(folded("Settings", facts(Object.entries(head.settings).slice(0, 60).map(([name, value]) => [plain(name, 40), plain(value, 80)]))));
    const more = /** @type {[string, string][]} */ ([
      ["Rules", `${plain(head.game, 40)} ${plain(head.version, 10)}, ${plain(head.rules, 40)}`],
      ["Seed", plain(head.seed ?? "none", 40)],
      ["Clock", ["kind", "startup", "move", "bank", "increment"].map((name) => `${name} ${plain(head.clock[name] ?? "none", 20)}`).join(", ")],
      ["Isolation", plain(head.isolation, 40)],
      ["Machine", plain(head.machine?.system, 80)],
      ["Referee", plain(head.referee, 20)],
      ["Match", plain(head.match, 60)],
    ]);
    parts.push(folded("How it was played", facts(more)));
    this.element.replaceChildren(...parts);
  }

  /** @param {Head} head @param {any} result */
  players(head, result) {
    const rows = Object.entries(head.players).slice(0, 64).map(([seat, player]) => {
      const time = result?.time?.[seat];
      const used = typeof time?.used_seconds === "number" ? `${number(time.used_seconds, 2)} s` : "";
      const longest = typeof time?.longest_seconds === "number" ? `${number(time.longest_seconds * 1000, 1)} ms` : "";
      // The bot's own name and its program, unless they say no more than the name.
      const details = [player?.own, player?.program].map((text) => plain(text, 120)).filter((text, at, all) => text && all.indexOf(text) === at && text.toLowerCase() !== player.name.toLowerCase());
      return el("tr", {}, el("th", { scope: "row" }, plain(seat, 20)), el("td", {}, plain(player?.name, 40), ...details.map((text) => el("div", { class: "note" }, text))), el("td", { class: "number" }, used), el("td", { class: "number" }, longest));
    });
    const titles = ["seat", "player", head.clock.kind === "cpu" ? "CPU time used" : "time used", "longest"].map((title, at) => el("th", { scope: "col", class: at > 1 ? "number" : "" }, title));
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
    /** @type {GameEvent[]} */
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
    const at = Math.max(0, lastBefore(this.turns, turn + 1));
    const first = Math.max(0, Math.min(at - EVENT_ROWS / 2, this.chosen.length - EVENT_ROWS));
    if (at < this.first || at >= this.first + EVENT_ROWS || this.first > Math.max(0, this.chosen.length - EVENT_ROWS)) this.fill(first);
    else if (this.isStale) this.fill(this.first);
    const shown = this.chosen.length <= EVENT_ROWS ? "" : `; those around step ${number(turn)} are listed`;
    this.note.textContent = `${counted(this.chosen.length, "event")}${shown}.`;
    /** The last row up to this step. @type {HTMLTableRowElement | null} */
    let now = null;
    for (const row of this.body.rows) {
      row.classList.toggle("now", Number(row.dataset.turn) === turn);
      if (Number(row.dataset.turn) <= turn) now = row;
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
      const jump = el("button", { type: "button", "aria-label": `Go to step ${turn}`, onclick: () => this.onSeek(turn) }, number(turn));
      return el("tr", { "data-turn": turn, "data-key": keys[same + index] }, el("td", {}, jump), el("td", {}, kind), el("td", {}, seat), el("td", {}, text));
    }));
  }
}
