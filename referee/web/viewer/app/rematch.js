// After a match of people: how it ended, and the offer of another one.

import { el, plain } from "../kit/dom.js";
import { called, capital, ending, listed } from "./people.js";
import { write } from "./pad.js";

const KINDS = /** @type {const} */ ({ same: "Play again", swapped: "Swap roles" });

export class Rematch {
  /**
   * @param {import("./recording.js").Recording} recording
   * @param {string} seat
   * @param {(message: any) => void} send
   */
  constructor(recording, seat, send) {
    this.recording = recording;
    this.seat = seat;
    this.send = send;
    this.heading = el("h2", { id: "ending" });
    this.text = el("p", { id: "ending-text" });
    this.status = el("p", { role: "status", id: "rematch-status" });
    this.actions = el("div", { class: "row" });
    this.place = el("div", { class: "ending" }, this.heading, this.text, this.actions, this.status);
    /** What the buttons were made from. */
    this.shown = "";
  }

  /** @param {string} reason why this person has left; empty if it has not */
  end(reason) {
    const [heading, text] = ending(this.recording, this.seat, reason);
    write(this.heading, heading);
    write(this.text, text);
  }

  /** The offers, and who wants what. @param {any} message */
  take(message) {
    const shown = JSON.stringify(message);
    if (shown === this.shown) return;
    this.shown = shown;
    const { people, offers, agreed } = message;
    const own = people[this.seat]?.proposal ?? null;
    const others = Object.keys(people).filter((seat) => seat !== this.seat);
    const kinds = /** @type {("same" | "swapped")[]} */ (Object.keys(KINDS).filter((kind) => offers[kind]));
    const buttons = kinds.map((kind) => {
      const wanting = others.filter((seat) => people[seat].proposal === kind);
      return el("button", {
        type: "button", class: kind === "same" ? "main" : null, "aria-pressed": String(own === kind), disabled: Boolean(agreed),
        title: this.lineup(offers[kind]), onclick: () => this.send({ type: "rematch", proposal: own === kind ? null : kind }),
      }, wanting.length && own !== kind ? `Agree: ${KINDS[kind].toLowerCase()}` : KINDS[kind], ...(kind === "swapped" ? [` (${this.roles(offers[kind])})`] : []));
    });
    const asked = others.some((seat) => people[seat].proposal);
    if (asked && !agreed) buttons.push(el("button", { type: "button", onclick: () => this.send({ type: "rematch", refuse: true, proposal: null }) }, "No"));
    this.actions.replaceChildren(...buttons);
    const gone = others.filter((seat) => !people[seat].is_here);
    const proposals = others.filter((seat) => people[seat].proposal).map((seat) => `${capital(listed([seat]))} wants to ${people[seat].proposal === "same" ? "play again" : "swap roles"}.`);
    write(this.status, agreed ? "The next match begins." : [
      ...proposals,
      gone.length ? `${capital(listed(gone))} ${gone.length > 1 ? "have" : "has"} closed the page; a rematch needs everybody.` : own && others.length ? `Waiting for the other${others.length > 1 ? "s" : " player"} to agree.` : "",
      offers.swapped || !message.why_not ? "" : `The roles can't be swapped: ${plain(message.why_not, 300)}`,
    ].filter(Boolean).join(" "));
  }

  /** What this person would play against whom. @param {Record<string, string>} lineup */
  roles(lineup) {
    const seats = Object.keys(lineup);
    const mine = seats[(seats.indexOf(this.seat) + 1) % seats.length];
    const programs = seats.filter((seat) => seat !== mine && lineup[seat] !== "human").map((seat) => plain(lineup[seat], 40));
    return `you play ${called(mine)}${programs.length ? ` against ${programs.join(", ")}` : ""}`;
  }

  /** @param {Record<string, string>} lineup */
  lineup(lineup) {
    return Object.entries(lineup).map(([seat, player]) => `${plain(seat, 20)}: ${player === "human" ? "a person" : plain(player, 40)}`).join(", ");
  }
}
