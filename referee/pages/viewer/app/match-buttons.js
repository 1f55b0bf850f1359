// The buttons of a person at the board that are no moves: pause, give up, and how to play.

import { byId, el } from "../kit/dom.js";
import { write } from "./pad.js";

/** For how long the question whether to give up stays, in milliseconds. */
const SURE_MS = 6000;

export class MatchButtons {
  /** @param {boolean} canPause @param {(message: any) => void} send */
  constructor(canPause, send) {
    this.canPause = canPause;
    this.send = send;
    this.isPaused = false;
    this.pause = el("button", { type: "button", id: "pause", hidden: !canPause, onclick: () => this.togglePause() }, "Pause");
    // On a small phone there is no header with this button.
    const help = el("button", { type: "button", class: "how", "aria-label": "How to play", title: "How to play", onclick: () => byId("keys").click() }, "?");
    this.place = el("div", { class: "row match-buttons" }, this.pause, this.resignation(), help);
  }

  /** @param {any} session */
  show(session) {
    this.isPaused = session.paused;
    write(this.pause, this.isPaused ? "Go on" : "Pause");
  }

  togglePause() {
    if (this.canPause) this.send({ type: "pause", paused: !this.isPaused });
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
