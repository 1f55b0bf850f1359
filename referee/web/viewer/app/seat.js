// A person at the board: the question, the pending move, and the proposals of all people.

import { DISPLAYS } from "./displays.js";
import { el, number, plain, remembered } from "../kit/dom.js";

const PACES = [1, 2, 4, 8, 15, 30];

/**
 * @typedef {object} View
 * @property {import("./board.js").Board} board
 * @property {() => number} turn
 * @property {() => void} follow
 * @property {(message: any) => void} send
 * @property {() => void} refresh what is shown is to be drawn anew
 */

export class Seat {
  /**
   * @param {HTMLElement} place
   * @param {import("../kit/types.js").PageConfig} config
   * @param {View} view
   */
  constructor(place, config, view) {
    this.place = place;
    this.seat = config.seat ?? "";
    this.config = config;
    this.view = view;
    this.head = /** @type {import("../kit/types.js").Head} */ (config.settings);
    /** @type {import("../kit/types.js").Controls | null} */
    this.controls = null;
    /** The state of all people at the board, as the server sends it. @type {any} */
    this.session = null;
    /** The turn that is asked; -1 for none. */
    this.asked = -1;
    this.isOver = false;
    /** What the buttons below the board were made from. */
    this.agreed = "";
    /** The move that answers the question. @type {any} */
    this.pendingMove = null;
    this.previewId = 0;
    /** @type {any} */
    this.hovered = null;
    /** Where the pointer is on the board. @type {{ cell: import("../kit/types.js").Cell, event: { shiftKey: boolean } } | null} */
    this.pointsAt = null;
    this.previewTimer = 0;
    this.previewed = 0;
    this.clockTimer = 0;
    /** What was left when the question came, in seconds. @type {{ move: number | null, bank: number | null } | undefined} */
    this.left = undefined;
    this.intro();
  }

  get seats() {
    return Object.keys(this.session?.seats ?? {});
  }

  /** What the keys mean, and the button that says "I am ready". */
  intro() {
    const display = DISPLAYS[this.head.game];
    const track = display.createTrack(this.head);
    const controls = display.createControls?.(track, this.seat);
    const help = el("dl", { class: "facts" }, ...(controls?.help ?? []).flatMap(([keys, text]) => [el("dt", {}, el("kbd", {}, keys)), el("dd", {}, text)]));
    const name = el("input", { type: "text", maxlength: "40", placeholder: "optional", "aria-label": "Your name", value: remembered("name") ?? "" });
    const start = el("button", { type: "button", class: "main", id: "ready" }, "Start");
    const form = el("form", { class: "row" }, el("label", {}, "Your name ", name), start, el("span", { class: "note", role: "status", id: "waiting" }));
    const ready = (/** @type {Event} */ event) => {
      event.preventDefault();
      remembered("name", name.value);
      this.view.send({ type: "ready", name: name.value });
    };
    form.addEventListener("submit", ready);
    start.addEventListener("click", ready);
    const timed = this.config.timed ? el("p", { class: "note" }, "The clock runs for you as for a bot: it starts with each question.") : null;
    this.place.hidden = false;
    this.place.replaceChildren(el("h2", {}, `You play the ${this.seat} (${this.head.game}, ${this.head.rules})`), help, timed ?? "", form);
  }

  /** The match has begun: the board is there. */
  begin() {
    const track = this.view.board.track;
    this.controls = DISPLAYS[this.head.game].createControls?.(track, this.seat) ?? null;
    this.view.board.canvas.parentElement?.classList.add("playing");
    this.view.board.onClick = (cell, event) => this.pointed(cell, event);
    this.status = el("h2", { role: "status", id: "turn-status" });
    this.said = el("p", { id: "pending-move", "aria-live": "off" });
    this.agreements = el("div", { class: "row" });
    this.agreed = "";
    const merge = Boolean(this.controls?.combine);
    this.pad = el("div", { class: this.controls?.buttons.length === 9 ? "pad" : "wide-pad" }, ...(this.controls?.buttons ?? []).map(([sign, title, move]) =>
      el("button", {
        type: "button", title, "aria-label": title,
        onclick: (/** @type {MouseEvent} */ event) => {
          this.choose({ move, merge });
          // After a click the keyboard is for the game again.
          if (event.detail) /** @type {HTMLElement} */ (event.currentTarget).blur();
        },
        onpointerenter: () => this.hover({ move, merge }), onpointerleave: () => this.hover(null),
      }, sign)));
    this.clock = el("p", { id: "clock", "aria-live": "off" });
    this.place.replaceChildren(el("div", { class: "words" }, this.status, this.said, this.clock), this.pad, this.agreements);
    this.place.classList.add("playing");
    // The first question may have come before the board.
    this.tellTime();
    this.show();
  }

  /** @param {any} message */
  take(message) {
    if (message.type === "session") {
      this.session = message;
      if (this.controls && !message.seats[this.seat]) {
        // It has left the match; the others play on.
        this.over();
        return;
      }
      const waiting = document.getElementById("waiting");
      if (waiting && message.seats[this.seat]?.is_ready) {
        const others = this.seats.filter((seat) => !message.seats[seat].is_ready);
        waiting.textContent = others.length ? `Waiting for the ${others.join(" and the ")}.` : "Starting.";
      }
    } else if (message.type === "asked") {
      this.asked = message.turn;
      this.askedAt = performance.now();
      this.left = message.left;
      this.tellTime();
      this.told = message.notices ?? [];
      const planned = this.controls?.plan?.(message.turn);
      if (planned) this.choose(planned);
      else if (this.pointsAt) this.lookAgain();
      else if (this.hovered) this.requestPreview();
    } else if (message.type === "answered") {
      if (this.asked === message.turn) this.asked = -1;
      this.tellTime();
      this.pendingMove = null;
      // What was asked for this turn says nothing of the next.
      this.previewId += 1;
      if (!this.hovered) this.setPreview(null);
    } else if (message.type === "preview") {
      if (message.id === this.previewId) this.setPreview(message);
      return;
    }
    this.show();
  }

  over() {
    this.isOver = true;
    this.asked = -1;
    this.setPreview(null);
    this.view.board.onClick = null;
    this.view.board.canvas.parentElement?.classList.remove("playing");
    this.place.hidden = true;
    this.place.classList.remove("playing", "mine");
  }

  /** A clock that runs: what is left of the move and of the bank, a few times a second. */
  tellTime() {
    clearTimeout(this.clockTimer);
    if (!this.config.timed || !this.clock || this.isOver) return;
    if (this.asked < 0) {
      this.clock.textContent = "";
      return;
    }
    const used = (performance.now() - (this.askedAt ?? 0)) / 1000;
    const limits = [this.left?.move, this.left?.bank].filter((limit) => typeof limit === "number");
    this.clock.textContent = limits.length ? `${number(Math.max(0, Math.min(...limits) - used), 1)} s left` : "";
    this.clockTimer = window.setTimeout(() => this.tellTime(), 100);
  }

  show() {
    if (!this.status || !this.agreements || !this.said || this.isOver) return;
    const { session } = this;
    const isMine = this.asked >= 0 && !session?.paused;
    this.place.dataset.asked = String(this.asked);
    this.place.classList.toggle("mine", isMine);
    const away = this.seats.filter((seat) => session.seats[seat].away_seconds !== null);
    this.status.textContent = away.length
      ? `The ${away.join(" and the ")} is away; forfeits in ${Math.ceil(session.seats[away[0]].away_seconds)} s`
      : session?.paused ? "Paused" : this.asked >= 0 ? `Your move, ${this.seat}` : `You are the ${this.seat}`;
    this.tell();
    if (session) this.showAgreements();
  }

  /** The sentence below the status: the pending move, or the one under the pointer, and what the engine says of it; else the last notices. */
  tell() {
    if (!this.said) return;
    const { preview } = this.view.board;
    const join = (/** @type {any[]} */ notices) => notices.map((notice) => plain(notice.text, 200)).join("; ");
    const wanted = this.hovered ? this.combined(this.hovered) : this.pendingMove;
    // The preview of an earlier move says nothing of this one.
    const notices = preview && JSON.stringify(preview.move) === JSON.stringify(wanted) ? preview.notices : [];
    const move = this.pendingMove ? `Next: ${this.inWords(this.pendingMove)}` : preview ? this.inWords(preview.move) : "";
    const untimed = this.session?.pace && !this.config.timed ? "Without a move in time you go on as you do." : "";
    this.said.textContent = [move, join(notices)].filter(Boolean).join(". ") || join(this.told ?? []) || untimed;
    this.said.classList.toggle("bad-text", notices.some((notice) => notice.seat));
  }

  /** @param {any} move */
  inWords(move) {
    const words = DISPLAYS[this.head.game].describeMove?.(move) ?? JSON.stringify(move);
    return plain(words, 200) || "nothing";
  }

  /** The buttons for what both agree on. They stay as they are until something of it changes: a click takes longer than a step. */
  showAgreements() {
    const { session } = this;
    const own = session.seats[this.seat];
    const told = JSON.stringify([session.paused, session.pace, ...this.seats.map((seat) => [session.seats[seat].paused, session.seats[seat].pace])]);
    if (!own || told === this.agreed) return;
    this.agreed = told;
    /** Who wants the same, by what it is. @type {Map<string, string[]>} */
    const wanted = new Map();
    for (const seat of this.seats.filter((other) => other !== this.seat)) {
      const theirs = session.seats[seat];
      const wants = [];
      if (theirs.paused !== session.paused && own.paused !== theirs.paused) wants.push(theirs.paused ? "a pause" : "to go on");
      if (theirs.pace !== session.pace && own.pace !== theirs.pace) wants.push(theirs.pace ? `${theirs.pace} steps a second` : "to wait for every move");
      const what = wants.join(" and ");
      if (what) wanted.set(what, [...(wanted.get(what) ?? []), seat]);
    }
    const proposals = [...wanted].map(([what, seats]) => {
      const agree = el("button", { type: "button", onclick: () => this.view.send({ type: "agree", seat: seats[0] }) }, "Agree");
      const refuse = el("button", { type: "button", onclick: () => this.view.send({ type: "refuse" }) }, "No");
      return el("span", { class: "ask", role: "status" }, `The ${seats.join(" and the ")} want${seats.length > 1 ? "" : "s"} ${what}. `, agree, " ", refuse);
    });
    const asks = own.paused !== session.paused || own.pace !== session.pace;
    const pace = el("select", { "aria-label": "Pace", onchange: () => this.view.send({ type: "pace", pace: Number(pace.value) || null }) },
      el("option", { value: "0" }, "wait for my move"), ...PACES.map((value) => el("option", { value }, `${value} step${value === 1 ? "" : "s"} a second`)));
    pace.value = String(own.pace ?? 0);
    const pause = el("button", { type: "button", id: "pause", "aria-pressed": String(own.paused), onclick: () => this.togglePause() }, own.paused ? "Go on" : "Pause");
    const resign = el("button", { type: "button", onclick: () => confirm("Give up this match?") && this.view.send({ type: "resign" }) }, "Give up");
    this.agreements?.replaceChildren(...proposals, ...(this.config.timed ? [] : [...(DISPLAYS[this.head.game].waits ? [] : [el("label", {}, "pace ", pace)]), pause]), resign, ...(asks ? [el("span", { class: "note", role: "status" }, `Asked; waiting for the other player${this.seats.length > 2 ? "s" : ""} to agree.`)] : []));
  }

  togglePause() {
    const own = this.session?.seats[this.seat];
    if (own && !this.config.timed) this.view.send({ type: "pause", paused: !own.paused });
  }

  /**
   * Whether a key was meant for the game.
   * @param {KeyboardEvent} event
   */
  key(event) {
    if (!this.controls || this.isOver || event.ctrlKey || event.metaKey || event.altKey) return false;
    if (event.key === " ") {
      if (!event.repeat) this.togglePause();
      return true;
    }
    const intent = this.controls.key(event, this.view.turn());
    if (!intent) {
      // The key may have changed what is shown, and what the pointer means.
      this.lookAgain();
      this.view.refresh();
      return false;
    }
    this.choose(intent);
    return true;
  }

  /** @param {import("../kit/types.js").Cell} cell @param {MouseEvent} event */
  pointed(cell, event) {
    const intent = this.controls?.point(cell, this.view.turn(), event);
    if (intent) this.choose(intent);
  }

  /** @param {import("../kit/types.js").Intent} intent */
  combined({ move, merge }) {
    if (!merge || !this.pendingMove) return move;
    return this.controls?.combine?.(this.pendingMove, move) ?? { ...this.pendingMove, ...move };
  }

  /** @param {import("../kit/types.js").Intent} intent */
  choose(intent) {
    const why = this.controls?.refusal?.(intent.move);
    if (why) {
      if (this.said) this.said.textContent = why;
      this.said?.classList.add("bad-text");
      return;
    }
    this.said?.classList.remove("bad-text");
    this.pendingMove = this.combined(intent);
    this.view.follow();
    if (!intent.hold || (this.session?.pace && intent.hold !== "set-up")) this.view.send({ type: "move", move: this.pendingMove });
    this.requestPreview();
    this.show();
  }

  /** @param {import("../kit/types.js").Cell | null} cell @param {{ shiftKey: boolean }} event */
  pointer(cell, event) {
    this.pointsAt = cell && { cell, event };
    this.hover(cell && this.controls ? this.controls.point(cell, this.view.turn(), event) : null);
  }

  /** What the pointer means may be something else after a step, or a key. */
  lookAgain() {
    if (this.pointsAt) this.pointer(this.pointsAt.cell, this.pointsAt.event);
  }

  /** @param {import("../kit/types.js").Intent | null} intent */
  hover(intent) {
    this.hovered = intent && !this.controls?.refusal?.(intent.move) ? intent : null;
    if (this.hovered || this.pendingMove) this.requestPreview();
    else this.setPreview(null);
  }

  /** Ask the engine what would come of it, a few times a second at most. */
  requestPreview() {
    if (this.isOver || this.previewTimer) return;
    const wait = Math.max(0, 50 - (performance.now() - this.previewed));
    this.previewTimer = window.setTimeout(() => {
      this.previewTimer = 0;
      this.previewed = performance.now();
      const move = this.hovered ? this.combined(this.hovered) : this.pendingMove;
      if (!move) return;
      this.previewId += 1;
      this.view.send({ type: "preview", id: this.previewId, move });
    }, wait);
  }

  /** @param {import("../kit/types.js").Preview | null} preview */
  setPreview(preview) {
    this.view.board.preview = preview;
    this.view.board.request();
    this.tell();
  }
}
