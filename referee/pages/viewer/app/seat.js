// A person at the board: the question, the pending move, and the end of the match.

import { DISPLAYS } from "./displays.js";
import { byId, el, plain } from "../kit/dom.js";
import { showBefore } from "./before.js";
import { Countdown, MoveClock } from "./countdown.js";
import { DrawingHand } from "./hand.js";
import { HeldKeys } from "./held-keys.js";
import { copyButton } from "./clip.js";
import { howToPlay, introduction } from "./intro.js";
import { MatchButtons } from "./match-buttons.js";
import { Dials, Pads, write } from "./pad.js";
import { awaited, called, capital, ending, listed } from "./people.js";
import { Previews } from "./previews.js";
import { reworded, tell } from "./sentence.js";
import { Wish } from "./wish.js";

/** For how long a question may be missing before the heading says so, in milliseconds. */
const SLOW_MS = 600;
/** How near a click counts as a hit, in pixels of the page. */
const [MOUSE_PIXELS, TOUCH_PIXELS] = [3, 14];

/**
 * @typedef {object} View
 * @property {import("./board.js").Board} board
 * @property {import("./recording.js").Recording} recording
 * @property {() => number} turn
 * @property {() => void} follow
 * @property {(message: any) => void} send
 * @property {() => void} refresh what is shown is to be drawn anew
 */

export class Seat {
  /**
   * @param {HTMLElement} place
   * @param {PageConfig} config
   * @param {View} view
   */
  constructor(place, config, view) {
    this.place = place;
    this.seat = config.seat ?? "";
    this.config = config;
    this.view = view;
    this.head = /** @type {Head} */ (config.settings);
    this.display = DISPLAYS[this.head.game];
    /** @type {Controls | null} */
    this.controls = null;
    /** The state of all people at the board, as the server sends it. @type {any} */
    this.session = null;
    /** The turn that is asked; -1 for none. */
    this.asked = -1;
    // `waits`: the question waits for a move, whatever the pace.
    this.waits = this.isOver = this.hasBegun = false;
    /** The move that answers the question; `moveId` is its number, 0 if the server doesn't have it. @type {any} */
    this.pendingMove = null;
    this.moveId = this.lastId = this.optionsId = 0;
    /** @type {any} */
    this.hovered = null;
    /** Where a tap waits for a second one. @type {Cell | null} */
    this.tapped = null;
    /** Where the pointer is on the board. @type {{ cell: Cell, event: { shiftKey: boolean } } | null} */
    this.pointsAt = null;
    /** Whether the pointer has moved since the last move was chosen: where it only rests, it asks for nothing. */
    this.hasMoved = false;
    this.slowTimer = this.toldAt = 0;
    /** What says that this person is ready; the match takes it only after its greeting. @type {any} */
    this.ready = null;
    /** What was left when the question came, in seconds. @type {{ move: number | null, bank: number | null } | undefined} */
    this.left = undefined;
    /** The remarks on the last steps, and when they came. @type {any[]} */
    this.told = [];
    /** The address for another player who is awaited. */
    this.invited = el("div", { class: "invitation", hidden: true });
    this.wish = new Wish(() => this.changed());
    this.previews = new Previews(() => (this.hovered ? this.combined(this.hovered) : this.pendingMove), (message) => view.send(message), (preview) => this.setPreview(preview));
    this.keys = new HeldKeys(view.board.end.signal);
    this.countdown = new Countdown(() => this.showStatus());
    byId("frame").append(this.countdown.place);
    this.padPlace = el("section", { id: "pad", "aria-label": "Your moves", hidden: true });
    byId("frame").after(this.padPlace);
    document.body.classList.add("seated");
    this.intro();
    /** What is shown before the match. */
    this.before = showBefore(this.view.board, this.head, this.config.start);
    this.view.board.you = this.seat;
  }

  get seats() {
    return Object.keys(this.session?.seats ?? {});
  }

  /** The name of the others in the match, for what is said about them. */
  get others() {
    return Object.keys(this.head.players).filter((seat) => seat !== this.seat);
  }

  /** Steps follow a pace, so nothing waits for this person; a set-up does. */
  get isPaced() {
    return Boolean(this.session?.pace) && !this.config.timed && !(this.waits && this.asked >= 0);
  }

  /** How to play, for a person who asks. */
  get help() {
    return this.howTo ? howToPlay(this.howTo) : [];
  }

  /** What the keys mean, and the button that says "I am ready". */
  intro() {
    const controls = this.display.createControls?.(this.display.createTrack(this.head), this.seat) ?? null;
    this.howTo = controls;
    const { parts, button } = introduction({ ...this.config, head: this.head, seat: this.seat, others: this.others, controls }, (name) => this.view.send((this.ready = { type: "ready", name })));
    this.readyButton = button;
    byId("title").textContent = `${plain(this.head.game, 40)} · ${plain(this.head.rules, 40)}`;
    this.place.hidden = false;
    this.place.replaceChildren(...parts);
  }

  /** The match has begun: the board is there. */
  begin() {
    const { board, recording } = this.view;
    this.hasBegun = true;
    board.recording = recording;
    board.reset();
    board.canvas.parentElement?.classList.add("playing");
    board.onClick = (cell, event) => this.pointed(cell, event);
    board.hand = new DrawingHand(this);
    this.layOut(board.track, this.view.turn());
    this.padPlace.inert = false;
    // The first question may have come before the board.
    this.tellTime();
    this.checkOptions();
    this.show();
  }

  /** All stands where it stays while the match is played. @param {Track} track @param {number} turn */
  layOut(track, turn) {
    this.controls = this.display.createControls?.(track, this.seat) ?? null;
    this.status = el("span", { role: "status", id: "turn-status" });
    this.said = el("p", { id: "pending-move", "aria-live": "off" });
    this.buttons = new MatchButtons(!this.config.timed, (message) => this.view.send(message));
    this.clock = new MoveClock();
    this.dials = new Dials();
    this.pads = new Pads(this.controls?.pads ?? [], {
      press: (button) => this.press(button),
      hover: (button) => this.hover(button?.move === undefined || this.pads?.reason(button.move) ? null : this.intentOf(button)),
    });
    this.padPlace.replaceChildren(this.pads.place);
    this.padPlace.hidden = !this.pads.buttons.length;
    this.place.replaceChildren(el("div", { class: "words" }, el("h2", {}, this.status), this.said, this.clock.place), this.dials.place, this.buttons.place);
    this.place.classList.add("playing");
    this.dials.show(this.controls?.dials?.(turn) ?? []);
    this.pads.show(turn);
    if (this.session) this.buttons.show(this.session);
  }

  /** @param {PadButton} button */
  intentOf(button) {
    return button.press(this.view.turn());
  }

  /** @param {PadButton} button */
  press(button) {
    this.hovered = null; // The pointer stays there, but what the button would do next time is no news.
    const intent = this.intentOf(button);
    if (intent) this.choose(intent);
    else this.view.refresh();
    this.changed();
  }

  /** @param {any} message */
  take(message) {
    if (message.type === "session") {
      this.session = message;
      this.countdown.set(message.paused ? null : message.starts_in);
      if (!message.seats[this.seat] && !this.isOver && (this.hasBegun || message.left?.[this.seat])) {
        // This seat has left the match; the others may continue.
        this.leave();
        return;
      }
      const { is_greeted: isGreeted, is_ready: isReady } = message.seats[this.seat] ?? {};
      if (this.ready && isGreeted && !isReady) this.view.send(this.ready);
      this.tellWaiting();
      if (!this.isOver) this.invite();
    } else if (message.type === "asked") {
      this.asked = message.turn;
      this.askedAt = performance.now();
      this.left = message.left;
      this.waits = message.waits;
      this.tellTime();
      if (message.notices?.length) [this.told, this.toldAt] = [message.notices, performance.now()];
      this.checkOptions();
      const planned = this.controls?.plan?.(message.turn);
      if (planned) this.choose(planned);
      else if (this.pointsAt) this.lookAgain();
      else if (this.hovered) this.previews.request();
    } else if (message.type === "answered") {
      if (this.asked === message.turn) this.asked = -1;
      this.tellTime();
      // A move that the server had not heard of by then is for the next turn.
      if (!this.moveId || message.id >= this.moveId) this.pendingMove = null;
      // What was asked for this turn says nothing of the next.
      this.previews.forget();
      if (this.pendingMove) this.previews.request();
      else if (!this.hovered) this.setPreview(null);
    } else if (message.type === "wish") {
      if (message.status === "chosen" && !this.isOver) this.chosen(message.move, message.id);
      this.wish.take(message, this.inWords(message.move, message.why));
    } else if (message.type === "options") {
      // On a slow network the next question comes first; what is known of the last one is better than nothing.
      this.takeOptions(message.reasons);
      return;
    } else if (message.type === "preview") {
      if (!this.isOver) this.previews.take(message);
      return;
    }
    this.show();
  }

  /** Before the match: the people who aren't ready yet. A person who is ready sees the board, with buttons that do nothing yet. */
  tellWaiting() {
    const { session } = this;
    if (this.hasBegun || this.isOver || !session?.seats[this.seat]?.is_ready) return;
    if (this.readyButton) this.readyButton.disabled = true;
    if (this.before?.track && !this.status) {
      this.layOut(this.before.track, this.config.start?.turn ?? 0);
      this.padPlace.inert = true;
      if (this.buttons) this.buttons.place.inert = true;
    }
    const place = this.status ?? document.getElementById("waiting");
    if (place) write(place, awaited(session, this.seat, this.others, this.head));
  }

  /** The address for a player who has not come yet: it works once, so nobody can take the seat with it afterwards. */
  invite() {
    const { invitation } = this.session;
    const address = invitation && (invitation.address ?? new URL(invitation.path, location.href).href);
    const isNews = this.invited.dataset.address !== (address ?? "");
    this.invited.dataset.address = address ?? "";
    this.invited.hidden = !address || this.hasBegun;
    if (this.invited.parentNode !== this.place) this.place.append(this.invited);
    if (!address || !isNews) return;
    const field = el("input", { type: "text", readonly: true, "aria-label": `Address for ${called(invitation.seat)}`, value: address, onfocus: () => field.select() });
    const code = invitation.picture ? el("img", { src: invitation.picture, alt: "The address as a QR code", width: 140, height: 140 }) : null;
    this.invited.replaceChildren(el("p", {}, `Send this address to ${called(invitation.seat)}. The first who opens it has the seat.`), el("p", { class: "row" }, field, copyButton("address", () => address, "Copy")), ...(code ? [code] : []));
  }

  /** This person is out of the match. */
  leave() {
    this.stop();
    this.place.replaceChildren(el("h2", {}, `You ${plain(this.session?.left?.[this.seat], 100) || "are out of the match"}`), el("p", { class: "note" }, "The match continues to its end."));
  }

  /** Another window has taken the seat. */
  lose() {
    if (this.isOver) return;
    this.stop();
    this.place.replaceChildren(el("h2", {}, "Another window plays this seat"), el("button", { type: "button", onclick: () => location.reload() }, "Play here again"));
  }

  /** The match is over. */
  over() {
    this.stop();
    document.body.classList.remove("seated");
    this.view.board.recording = this.view.recording;
    this.place.hidden = false;
    const [heading, text] = ending(this.view.recording, this.seat, String(this.session?.left?.[this.seat] ?? ""));
    this.place.replaceChildren(el("div", { class: "ending" }, el("h2", { id: "ending" }, heading), el("p", { id: "ending-text" }, text)));
  }

  stop() {
    if (!this.isOver) this.keys.end();
    this.isOver = true;
    this.asked = -1;
    this.clock?.stop();
    clearTimeout(this.slowTimer);
    this.countdown.set(null);
    this.previews.stop();
    this.wish.clear();
    this.view.board.onClick = null;
    this.view.board.hand = null;
    this.view.board.you = "";
    this.view.board.canvas.parentElement?.classList.remove("playing");
    this.padPlace.hidden = true;
    this.place.classList.remove("playing", "mine");
    this.view.board.request();
  }

  /** A clock that runs while this person is asked. */
  tellTime() {
    if (this.config.timed && !this.isOver && this.asked >= 0) this.clock?.run(this.left, this.askedAt ?? 0);
    else this.clock?.stop();
  }

  show() {
    if (!this.hasBegun || !this.buttons || !this.said || this.isOver) return;
    this.place.dataset.asked = String(this.asked);
    this.showStatus();
    this.changed();
    if (this.session) this.buttons.show(this.session);
  }

  /** What is chosen has changed, or the position. */
  changed() {
    if (this.isOver || !this.hasBegun) return;
    const turn = this.view.turn();
    this.pads?.show(turn);
    this.dials?.show(this.controls?.dials?.(turn) ?? []);
    this.tell();
    this.view.board.request();
  }

  /** The heading. At a pace it stays as it is from step to step; a question that is late by a moment doesn't change it either. */
  showStatus() {
    const { session, status } = this;
    if (!this.hasBegun) return this.tellWaiting();
    if (!status || this.isOver) return;
    clearTimeout(this.slowTimer);
    const away = this.seats.filter((seat) => session.seats[seat].away_seconds !== null);
    const you = `you are ${called(this.seat)}`;
    let text = capital(you);
    let isMine = !session?.paused && (this.isPaced || this.asked >= 0);
    if (away.length) text = `${capital(listed(away))} is away; forfeits in ${Math.ceil(session.seats[away[0]].away_seconds)} s`;
    else if (session?.paused) text = "Paused";
    else if (this.countdown.isRunning) text = `Get ready: ${you}`;
    else if (!this.isPaced && this.asked >= 0) text = this.seat.length > 1 ? `Your move, ${this.seat}` : "Your move";
    else if (!this.isPaced) {
      const wait = SLOW_MS - (performance.now() - (this.askedAt ?? -SLOW_MS));
      if (wait > 0) {
        this.slowTimer = window.setTimeout(() => this.showStatus(), wait);
        return;
      }
      text = `Waiting for ${listed(this.others)}`;
      isMine = false;
    }
    write(status, text);
    this.place.classList.toggle("mine", isMine);
  }

  /** The sentence below the status. */
  tell() {
    if (this.said && this.hasBegun) tell(this, this.said);
  }

  /** Whether a key was meant for the game. @param {KeyboardEvent} event */
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return false;
    if (this.isOver) return event.key !== "Tab" && this.keys.isMeantForMatch(event);
    if (!this.controls || !this.hasBegun) return false;
    if (event.key === " ") {
      if (!event.repeat) this.buttons?.togglePause();
      return true;
    }
    const intent = this.controls.key(event, this.view.turn());
    if (!intent) {
      // The key may have changed what is shown, and what the pointer means.
      this.lookAgain();
      this.view.refresh();
      this.changed();
      return false;
    }
    this.choose(intent);
    return true;
  }

  /** @param {Cell} cell @param {MouseEvent} event */
  pointed(cell, event) {
    const [turn, reach] = [this.view.turn(), this.reach(event)];
    // A finger has no preview but this one: a second tap does what the first one showed.
    if (event instanceof PointerEvent && event.pointerType === "touch" && this.controls?.confirmsTaps) {
      const { tapped } = this;
      const isNear = tapped !== null && Math.hypot(cell.x - tapped.x, cell.y - tapped.y) <= reach;
      const shown = isNear ? null : this.controls.point(cell, turn, { shiftKey: event.shiftKey, reach });
      if (shown && JSON.stringify(shown.move) !== JSON.stringify(this.hovered?.move)) {
        this.tapped = cell;
        this.hasMoved = true;
        return this.hover(shown);
      }
      if (isNear) cell = tapped;
      this.hovered = this.tapped = null;
    }
    const intent = this.controls?.point(cell, turn, { shiftKey: event.shiftKey, type: event.type, reach });
    if (intent) this.choose(intent);
    else this.changed();
  }

  /** How near a click counts as a hit, in cells. @param {MouseEvent} event */
  reach(event) {
    const pixels = event instanceof PointerEvent && event.pointerType === "touch" ? TOUCH_PIXELS : MOUSE_PIXELS;
    return pixels / this.view.board.scale;
  }

  /** @param {Intent} intent */
  combined({ move, merge }) {
    if (!merge || !this.pendingMove) return move;
    return this.controls?.combine?.(this.pendingMove, move) ?? { ...this.pendingMove, ...move };
  }

  /** @param {Intent} intent */
  choose(intent) {
    // The pointer stays there, but what a click would do next time is no news.
    this.hovered = null;
    this.hasMoved = false;
    const move = this.combined(intent);
    if (!this.controls?.mayBeRefused) this.sendMove(move, intent.hold);
    // A key that is held says the same again and again.
    else if (JSON.stringify(move) !== JSON.stringify(this.pendingMove)) this.wishFor(intent.move, move);
    this.show();
  }

  /** The server plays the move as soon as the rules allow it. @param {any} move @param {any} combined with the pending move */
  wishFor(move, combined) {
    const id = this.nextId();
    this.view.follow();
    this.view.send({ type: "wish", id, move, ...(this.pendingMove ? { after: this.moveId, combined } : {}) });
    this.wish.make(move, id);
  }

  /** The server has chosen what this person wished for. @param {any} move @param {number} id */
  chosen(move, id) {
    [this.pendingMove, this.moveId] = [move, id];
    this.previews.request();
    this.checkOptions();
  }

  /** @param {any} move @param {boolean | "set-up"} [hold] */
  sendMove(move, hold = false) {
    this.pendingMove = move;
    this.view.follow();
    this.moveId = !hold || (this.session?.pace && hold !== "set-up") ? this.nextId() : 0;
    if (this.moveId) this.view.send({ type: "move", id: this.moveId, move });
    // Before a set-up is complete, the engine would place the other robots at random, so there is no preview.
    if (hold !== "set-up") this.previews.request();
    this.checkOptions();
  }

  /** Ask the engine which of the buttons' moves it would refuse. */
  checkOptions() {
    const merge = Boolean(this.controls?.combine);
    const moves = (this.pads?.checked ?? []).map((move) => this.combined({ move, merge }));
    if (!moves.length || this.asked < 0) return;
    this.optionsId += 1;
    this.view.send({ type: "options", id: this.optionsId, turn: this.asked, moves });
  }

  /** The number of the next move, greater than those of any page of this seat before. */
  nextId() {
    return (this.lastId = Math.max(this.lastId + 1, Date.now()));
  }

  /** @param {string[]} reasons why the engine would refuse the moves that it was asked about; "" if it would not */
  takeOptions(reasons) {
    const { pads } = this;
    pads?.refuse(pads.checked.map((move, at) => this.inWords(move, reasons[at])), this.controls?.refused);
  }

  /** Why the engine refuses a move, in the game's own words where it has some: they are made for people. @param {any} move @param {string} reason */
  inWords(move, reason) {
    return (reason && this.controls?.refusal?.(move)) || reworded(reason, this.controls);
  }

  /** The pointer has moved. @param {Cell | null} cell @param {{ shiftKey: boolean }} event */
  pointer(cell, event) {
    this.pointsAt = cell && { cell, event };
    this.hasMoved = true;
    if (cell) this.lookAgain();
    else this.hover(null);
  }

  /** What the pointer means may be something else after a step, or a key. */
  lookAgain() {
    if (this.pointsAt) this.hover(this.controls?.point(this.pointsAt.cell, this.view.turn(), this.pointsAt.event) ?? null);
  }

  /** @param {Intent | null} intent */
  hover(intent) {
    this.hovered = intent && !this.controls?.refusal?.(intent.move) ? intent : null;
    if (this.hovered && this.hasMoved) this.wish.makeRoom();
    this.hovered || this.pendingMove ? this.previews.request() : this.setPreview(null);
  }

  /** @param {Preview | null} preview */
  setPreview(preview) {
    // A pointer that rests asks for nothing, so nothing is refused to it.
    this.view.board.preview = preview?.refused && !this.hasMoved ? null : preview;
    this.view.board.request();
    this.tell();
  }
}
