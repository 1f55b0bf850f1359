// Learning from mistakes: the moves that cost the losing side most, one after another. The better move stays hidden until it is asked for.

import { counted, el, number, plain } from "../kit/dom.js";

/** @typedef {{ seat: string, turn: number, played: any, better: any, text: string }} Mistake */

export class Lessons {
  /**
   * @param {import("./recording.js").Recording} recording
   * @param {(turn: number, better: Better | null) => void} show go to the position of a mistake, and draw the better move, if there is one to draw
   */
  constructor(recording, show) {
    this.recording = recording;
    this.show = show;
    this.at = -1;
    this.sentence = el("p", { role: "status" });
    this.answer = el("button", { type: "button", onclick: () => this.reveal() }, "Show the better move");
    this.next = el("button", { type: "button", class: "learn", onclick: () => this.goOn() });
    this.place = el("div", { class: "lesson", hidden: true }, this.sentence, el("p", { class: "row" }, this.answer, this.next));
  }

  /** @param {Mistake[]} mistakes */
  take(mistakes) {
    this.recording.mistakes = mistakes;
    this.place.hidden = !mistakes.length;
    this.answer.hidden = true;
    this.next.textContent = mistakes.length === 1 ? "Learn from the mistake" : `Learn from ${counted(mistakes.length, "mistake")}`;
  }

  /** The next mistake: what was played, and the question what was better. */
  goOn() {
    const { mistakes } = this.recording;
    this.at = (this.at + 1) % mistakes.length;
    const { turn } = mistakes[this.at];
    this.show(turn, null);
    const nth = mistakes.length > 1 ? ` (${this.at + 1} of ${mistakes.length})` : "";
    this.sentence.textContent = `Step ${number(turn)}${nth}: ${playedInWords(this.recording, mistakes[this.at])} What is better?`;
    this.answer.hidden = false;
    this.next.textContent = "Next mistake";
    this.next.hidden = mistakes.length < 2;
  }

  reveal() {
    const mistake = this.recording.mistakes[this.at];
    const { track, display } = this.recording;
    this.sentence.textContent = `Better: ${[moveInWords(this.recording, mistake.better), plain(mistake.text, 200)].filter(Boolean).join(", ")}.`;
    this.answer.hidden = true;
    this.show(mistake.turn, (track && display?.better?.(track, mistake)) ?? null);
  }
}

/** @param {import("./recording.js").Recording} recording @param {any} move */
function moveInWords({ display }, move) {
  return plain(display?.describeMove?.(move) || JSON.stringify(move), 200);
}

/** What was played, in a sentence. @param {import("./recording.js").Recording} recording @param {Mistake} mistake */
export function playedInWords(recording, { seat, played }) {
  const name = plain(recording.head?.players[seat]?.name, 40);
  return Object.keys(played ?? {}).length ? `${name} chose to ${moveInWords(recording, played)}.` : `${name} did nothing new.`;
}
