// What all people at the board agree on: pace and pause; and the button that gives up.

import { byId, counted, el } from "../kit/dom.js";
import { capital, listed, proposals } from "./people.js";

const PACES = [1, 2, 4, 8, 15, 30];
/** For how long the question whether to give up stays, in milliseconds. */
const SURE_MS = 6000;

export class Agreements {
  /**
   * @param {string} seat
   * @param {{ hasPace: boolean, canPause: boolean }} may
   * @param {(message: any) => void} send
   */
  constructor(seat, may, send) {
    this.seat = seat;
    this.may = may;
    this.send = send;
    this.place = el("div", { class: "row agreements" });
    /** What the buttons were made from. They stay as they are until something of it changes: a click takes longer than a step. */
    this.shown = "";
    // What the others propose must not take the question whether to give up away from under the pointer.
    this.resign = this.resignation();
    // On a small phone there is no header with this button.
    this.help = el("button", { type: "button", class: "how", "aria-label": "How to play", title: "How to play", onclick: () => byId("keys").click() }, "?");
  }

  /** @param {any} session */
  show(session) {
    const own = session.seats[this.seat];
    const seats = Object.keys(session.seats);
    const shown = JSON.stringify([session.paused, session.pace, ...seats.map((seat) => [seat, session.seats[seat].paused, session.seats[seat].pace])]);
    if (!own || shown === this.shown) return;
    this.shown = shown;
    const asked = [...proposals(session, this.seat)].map(([what, wanting]) => {
      const agree = el("button", { type: "button", onclick: () => this.send({ type: "agree", seat: wanting[0] }) }, "Agree");
      const refuse = el("button", { type: "button", onclick: () => this.send({ type: "refuse" }) }, "No");
      return el("span", { class: "ask", role: "status" }, `${capital(listed(wanting))} want${wanting.length > 1 ? "" : "s"} ${what}. `, agree, " ", refuse);
    });
    const asks = own.paused !== session.paused || own.pace !== session.pace;
    const waiting = asks ? el("span", { class: "note", role: "status" }, `Asked; waiting for the other player${seats.length > 2 ? "s" : ""} to agree.`) : null;
    const parts = [this.may.hasPace ? this.pace(own) : null, this.may.canPause ? this.pause(session) : null, this.resign, this.help, waiting];
    const focused = this.resign.contains(document.activeElement) ? document.activeElement : null;
    this.place.replaceChildren(...asked, ...parts.filter((part) => part !== null));
    if (focused instanceof HTMLElement) focused.focus();
  }

  /** @param {any} own */
  pace(own) {
    const choice = el("select", { "aria-label": "Pace", onchange: () => this.send({ type: "pace", pace: Number(choice.value) || null }) },
      el("option", { value: "0" }, "wait for me"), ...PACES.map((value) => el("option", { value }, `${counted(value, "step")}/s`)));
    choice.value = String(own.pace ?? 0);
    return el("label", {}, el("span", {}, "pace "), choice);
  }

  /** @param {any} session */
  pause(session) {
    const isPaused = session.seats[this.seat].paused;
    // The person who proposes it sees that it doesn't hold yet; a second press withdraws the proposal.
    const isAsked = isPaused !== session.paused;
    return el("button", { type: "button", id: "pause", "aria-pressed": String(isPaused), onclick: () => this.togglePause(session) }, isAsked ? (isPaused ? "Pause: asked" : "Go on: asked") : isPaused ? "Go on" : "Pause");
  }

  /** @param {any} session */
  togglePause(session) {
    const own = session.seats[this.seat];
    if (own && this.may.canPause) this.send({ type: "pause", paused: !own.paused });
  }

  /** The button that gives up, after a question: the match continues meanwhile, so nothing may block the page. */
  resignation() {
    const place = el("span", { class: "resign" });
    const first = () => {
      const button = el("button", { type: "button", onclick: ask }, "Give up");
      place.replaceChildren(button);
      return button;
    };
    const ask = () => {
      const yes = el("button", { type: "button", class: "danger", onclick: () => this.send({ type: "resign" }) }, "Yes, give up");
      const back = () => {
        clearTimeout(timer);
        if (place.contains(yes)) first().focus();
      };
      const timer = window.setTimeout(back, SURE_MS);
      place.replaceChildren(el("span", { role: "status" }, "Give up? "), yes, " ", el("button", { type: "button", onclick: back }, "Play on"));
      yes.focus();
    };
    first();
    return place;
  }
}
