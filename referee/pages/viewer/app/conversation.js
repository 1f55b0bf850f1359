// What the players were asked in a step and what they answered, as trees; and the commands that ask a bot again.

import { counted, el, facts, number, plain, remembered } from "../kit/dom.js";
import { copyButton, quoted } from "./clip.js";
import { tree } from "./tree.js";

/** How long a step stays before its questions are asked for, in milliseconds. */
const ASK_MS = 120;
/** The most questions that are kept. */
const MOST_KEPT = 200;
/** With more players than this, only those that were opened are shown. */
const MOST_OPEN = 2;

/**
 * @typedef {import("./panels.js").Source} Source
 * @typedef {import("./recording.js").Recording} Recording
 * @typedef {{ program: string, replay: string | null, bots: Record<string, string | null> }} Commands
 */

/** The tab of the step: facts, and each player's question and answer. */
export class StepPanel {
  /**
   * @param {Recording} recording
   * @param {Source} source
   */
  constructor(recording, source) {
    this.recording = recording;
    this.source = source;
    this.facts = el("div");
    this.seats = el("div");
    this.element = el("div", {}, this.facts, this.seats);
    this.shown = "";
    this.timer = 0;
    this.turn = 0;
    /** Questions by turn and seat; null while one is on its way. @type {Map<string, any>} */
    this.known = new Map();
    /** The question and the earlier one that a place shows. @type {WeakMap<Element, [any, any]>} */
    this.filled = new WeakMap();
    /** Which parts of the trees are open. @type {import("./tree.js").Folds} */
    this.folds = new Map();
    /** The players that were opened or closed by hand. @type {Map<string, boolean>} */
    this.opened = new Map();
    /** @type {Commands | null} */
    this.commands = null;
    this.hasAsked = false;
    /** The programs that a person named here, by seat. @type {Map<string, string>} */
    this.named = new Map();
  }

  /** @param {number} turn */
  show(turn) {
    const { recording } = this;
    if (!recording.track) return;
    this.turn = turn;
    const isEnd = recording.isOver && turn === recording.steps;
    this.facts.replaceChildren(el("h2", {}, isEnd ? `At the end, after ${counted(turn, "step")}` : `Before step ${number(turn)}`), facts(recording.track.facts(turn)));
    void this.askCommands();
    const record = recording.record(turn);
    // The part that somebody reads doesn't change while a match is running.
    const key = [turn, isEnd, record === null, recording.faults.length, Boolean(this.source.question), Boolean(this.commands)].join();
    if (key === this.shown) return;
    this.shown = key;
    const parts = recording.seats.flatMap((seat) => (isEnd && !this.faultOf(turn, seat) ? [] : [this.seat(turn, seat)]));
    if (!record && turn < recording.steps) parts.push(el("p", { class: "note" }, "The page skipped this step, to keep up with the match."));
    parts.push(...this.again(turn, isEnd));
    replace(this.seats, parts);
    // Not for every step that flies by.
    clearTimeout(this.timer);
    if (this.source.question) this.timer = window.setTimeout(() => this.ask(turn), ASK_MS);
  }

  /** One player in a step. @param {number} turn @param {string} seat @returns {HTMLElement} */
  seat(turn, seat) {
    const { recording } = this;
    const record = recording.record(turn);
    const us = record?.us?.[seat];
    const name = plain(recording.head?.players[seat]?.name, 40);
    const isAsked = !record || us !== undefined;
    const words = !isAsked ? "is not asked in this step" : record ? `answers after ${number(Number(us) / 1000, 2)} ms` : "";
    const title = [el("strong", {}, plain(seat, 20)), name ? ` ${name}` : "", words ? el("span", { class: "note" }, ` · ${words}`) : null];
    if (!isAsked && !this.faultOf(turn, seat)) return el("p", { class: "talk" }, ...title);
    const summary = el("summary", {}, ...title);
    const part = el("details", { class: "talk", "data-path": `seat ${seat}` }, summary);
    part.open = this.opened.get(seat) ?? recording.seats.length <= MOST_OPEN;
    const fill = () => {
      if (part.open && part.childElementCount === 1) part.append(...this.exchange(turn, seat, record, isAsked));
    };
    fill();
    summary.addEventListener("click", () => this.opened.set(seat, !part.open));
    part.addEventListener("toggle", () => {
      fill();
      if (part.open && this.source.question) void this.ask(turn);
    });
    return part;
  }

  /**
   * @param {number} turn @param {string} seat
   * @param {StepRecord | null} record
   * @param {boolean} isAsked
   */
  exchange(turn, seat, record, isAsked) {
    /** @type {HTMLElement[]} */
    const parts = [];
    const fault = this.faultOf(turn, seat);
    if (isAsked) parts.push(this.question(turn, seat));
    if (record && isAsked) {
      const before = this.askedBefore(turn, seat);
      const answer = answerOf(record, seat);
      const earlier = before === null ? undefined : answerOf(this.recording.record(before), seat);
      parts.push(heading("Answer", before, copyButton(`the answer of the ${plain(seat, 20)}`, () => JSON.stringify(answer))),
        tree(answer, this.folds, { before: earlier, hasBefore: before !== null, path: `answer ${seat}` }));
      const told = (record.notices ?? []).filter((notice) => notice?.seat === seat);
      if (told.length) parts.push(el("p", {}, `Told afterwards: ${told.map((notice) => plain(notice.text, 300)).join("; ")}`));
    }
    if (fault) {
      parts.push(el("p", { class: "bad-text" }, plain(fault.text, 600)));
      if (fault.line) parts.push(el("pre", {}, plain(fault.line, 600)));
    }
    return parts;
  }

  /** The question, or what is known instead of it. @param {number} turn @param {string} seat */
  question(turn, seat) {
    if (!this.source.question) return el("p", { class: "note" }, "To show the question, the page needs the engine of a running referee: referee watch.");
    const place = el("div", { class: "question", "data-seat": seat }, el("p", { class: "note" }, "Question …"));
    this.fill(place, turn, seat);
    return place;
  }

  /** @param {Element} place @param {number} turn @param {string} seat */
  fill(place, turn, seat) {
    const found = this.known.get(`${turn} ${seat}`);
    if (!found) return;
    const before = this.askedBefore(turn, seat);
    const earlier = before === null ? undefined : this.known.get(`${before} ${seat}`)?.question;
    // What is read and pressed stays as it is, as long as it says the same.
    const shown = this.filled.get(place);
    if (shown && shown[0] === found && shown[1] === earlier) return;
    this.filled.set(place, [found, earlier]);
    replace(place, found.question ? [
      heading("Question", earlier ? before : null, copyButton(`the question to the ${plain(seat, 20)}`, () => JSON.stringify(found.question))),
      tree(found.question, this.folds, { before: earlier, path: `question ${seat}` }),
    ] : [el("p", { class: "note" }, plain(found.text, 400))]);
  }

  /** The last step before this one in which a player was asked; null if there is none. @param {number} turn @param {string} seat */
  askedBefore(turn, seat) {
    const { data } = this.recording.billed[seat];
    for (let at = turn - 1; at >= 0 && at > turn - 1000; at -= 1) if (!Number.isNaN(data[at]) && this.recording.record(at)) return at;
    return null;
  }

  /** @param {number} turn @param {string} seat */
  faultOf(turn, seat) {
    return this.recording.faults.find((record) => record.turn === turn)?.faults?.[seat];
  }

  /** Get the questions of a step that are shown, and those before them. @param {number} turn */
  async ask(turn) {
    if (turn !== this.turn) return;
    for (const place of [...this.seats.querySelectorAll(".question")]) {
      const seat = /** @type {HTMLElement} */ (place).dataset.seat ?? "";
      const before = this.askedBefore(turn, seat);
      await this.load(turn, seat);
      if (before !== null) await this.load(before, seat);
      if (place.isConnected) this.fill(place, turn, seat);
      if (turn !== this.turn) return;
    }
  }

  /** @param {number} turn @param {string} seat */
  async load(turn, seat) {
    const { question } = this.source;
    const key = `${turn} ${seat}`;
    if (!question || this.known.get(key)?.question) return;
    let found;
    try {
      found = await question(turn, seat);
    } catch (error) {
      found = { text: `The question isn't available: ${error instanceof Error ? error.message : error}` };
    }
    this.known.set(key, found);
    if (this.known.size > MOST_KEPT) this.known.delete(/** @type {string} */ (this.known.keys().next().value));
  }

  async askCommands() {
    if (this.hasAsked || !this.source.commands) return;
    this.hasAsked = true;
    this.commands = await this.source.commands();
    this.show(this.turn);
  }

  /** The commands that ask a bot again, or continue the match. @param {number} turn @param {boolean} isEnd @returns {HTMLElement[]} */
  again(turn, isEnd) {
    const { commands, recording } = this;
    if (!commands?.replay) return [];
    const rows = recording.seats.slice(0, 26).flatMap((seat) => this.askAgain(turn, seat, commands));
    const place = el("div", { class: "commands" }, el("h2", {}, "Ask a bot again"), el("p", { class: "note" }, `Copy a command into a terminal, in the folder ${this.source.question ? "where the referee was started" : "of the replay"}.`), ...rows);
    if (!isEnd && recording.seats.length) {
      const line = () => playOn(commands, turn, recording.seats.map((seat) => this.botOf(seat, commands)));
      place.append(el("h2", {}, "Continue from here"), commandRow("the command that continues the match from here", line));
    }
    return [place];
  }

  /** @param {number} turn @param {string} seat @param {Commands} commands @returns {HTMLElement[]} */
  askAgain(turn, seat, commands) {
    const { data } = this.recording.billed[seat];
    const asked = turn < this.recording.steps && !Number.isNaN(data[turn]) || this.faultOf(turn, seat) ? turn : this.askedBefore(turn, seat);
    if (asked === null) return [];
    const name = plain(seat, 20);
    const line = () => debugLine(commands, seat, asked, this.botOf(seat, commands));
    const row = commandRow(`the command that asks the ${name} again`, line);
    const bot = el("input", {
      type: "text", "aria-label": `Program of the ${name}`, placeholder: "your bot, such as my_bot.py", autocomplete: "off", spellcheck: "false",
      oninput: () => {
        this.named.set(seat, bot.value.trim());
        remembered(this.place(seat), bot.value.trim());
        row.hidden = !bot.value.trim();
        const code = row.querySelector("code");
        if (code) code.textContent = line();
      },
    });
    bot.value = this.botOf(seat, commands);
    row.hidden = !bot.value;
    return [el("div", { class: "row", "data-path": `bot ${seat}` }, el("span", {}, `${name}, turn ${number(asked)}`), bot), row];
  }

  /** Where the program of a seat is remembered. @param {string} seat */
  place(seat) {
    return `bot.${this.recording.head?.game}.${seat}`;
  }

  /** The program that a person named for a seat, else the one that played; "" if none is known. @param {string} seat @param {Commands} commands */
  botOf(seat, commands) {
    const named = this.named.get(seat);
    if (named !== undefined) return named;
    const own = commands.bots[seat];
    return own && own !== "human" ? own : (remembered(this.place(seat)) ?? "");
  }
}

/** A player's answer in a step: the move and what it remarked. @param {StepRecord | null} record @param {string} seat */
function answerOf(record, seat) {
  return record ? { move: record.moves?.[seat] ?? {}, ...record.remarks?.[seat] } : undefined;
}

/** Put new parts in an element; what has the focus there keeps it. @param {Element} place @param {HTMLElement[]} parts */
function replace(place, parts) {
  const focused = place.contains(document.activeElement) ? document.activeElement : null;
  const key = focused?.closest("[data-path]")?.getAttribute("data-path");
  place.replaceChildren(...parts);
  if (!key) return;
  const again = [...place.querySelectorAll("[data-path]")].find((part) => part.getAttribute("data-path") === key);
  /** @type {HTMLElement | null} */ (again?.querySelector("summary, button, input") ?? null)?.focus();
}

/** @param {string} title @param {number | null} before the step that it is compared with @param {HTMLElement} button */
function heading(title, before, button) {
  const words = before === null ? null : el("span", { class: "note" }, ` changes since step ${number(before)} are marked`);
  return el("p", { class: "talk-heading" }, el("strong", {}, title), words, button);
}

/** A command line with its button. @param {string} label @param {() => string} line */
function commandRow(label, line) {
  return el("p", { class: "command", "data-path": label }, el("code", {}, line()), copyButton(label, line));
}

/** The command that asks a bot again. @param {Commands} commands @param {string} seat @param {number} turn @param {string} bot */
export function debugLine(commands, seat, turn, bot) {
  return `${commands.program} debug ${quoted(commands.replay ?? "")} --seat ${quoted(plain(seat, 60))} --turn ${turn} ${quoted(plain(bot, 400))}`;
}

/** The command that continues the match; a player that isn't known is a person. @param {Commands} commands @param {number} turn @param {string[]} bots */
export function playOn(commands, turn, bots) {
  return `${commands.program} play --from ${quoted(`${commands.replay ?? ""}@${turn}`)} ${bots.map((bot) => quoted(plain(bot, 400) || "human")).join(" ")}`;
}
