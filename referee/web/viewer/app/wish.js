// A move that a person wishes for, in a game that may refuse it. It waits on the page until the rules allow it; then it is sent, for that step alone.

/** How long before the first legal step a wish may be made, in milliseconds. An older one is never sent. */
const WAITS_MS = 500;
/** For how long the page shows a wish that is never sent. */
const SHOWN_MS = 2500;

/**
 * @typedef {object} Judge
 * @property {() => boolean} isAsked whether a step waits for a move, and the page has its position
 * @property {(move: any) => string | null} refusal why the rules refuse a move in that step; "" if they don't, null if only the engine knows
 * @property {() => void} ask the engine is to say it
 * @property {(move: any) => void} send
 * @property {() => void} changed
 */

export class Wish {
  /** @param {Judge} judge */
  constructor(judge) {
    this.judge = judge;
    /** The move; null for none. @type {any} */
    this.move = null;
    this.madeAt = this.timer = 0;
    /** Its number, once the engine was asked to play it; 0 before. */
    this.id = 0;
    /** Whether it may still be sent. */
    this.isOpen = false;
    /** Why it isn't legal yet; "" if that isn't known. */
    this.why = "";
  }

  /** The last wish is the one that counts. @param {any} move @param {number} madeAt */
  make(move, madeAt = performance.now()) {
    // A key that is held says the same again and again.
    const isSame = this.isOpen && JSON.stringify(move) === JSON.stringify(this.move);
    if (!isSame) Object.assign(this, { move, isOpen: true, why: "", id: 0 });
    this.madeAt = madeAt;
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.clear(), Math.max(0, madeAt + SHOWN_MS - performance.now()));
    this.consider();
  }

  /** A step asks for a move: a wish that was made too early is not for it. */
  asked() {
    if (performance.now() - this.madeAt > WAITS_MS) this.isOpen = false;
    this.consider();
  }

  /** Send it if the rules allow it now. */
  consider() {
    if (this.move === null || !this.isOpen || !this.judge.isAsked()) return;
    const why = this.judge.refusal(this.move);
    if (why === null) this.judge.ask();
    else this.decide(this.move, why);
  }

  /** What the engine says of a move. @param {any} move @param {string} why */
  decide(move, why) {
    if (move !== this.move || !this.isOpen) return;
    this.why = why;
    if (why) this.judge.changed();
    else {
      this.clear();
      this.judge.send(move);
    }
  }

  /** An answer has gone to the match, with the moves up to this number. @param {number | null} id */
  answered(id) {
    if (this.id && id !== null && id >= this.id) this.clear();
  }

  clear() {
    clearTimeout(this.timer);
    this.move = null;
    this.isOpen = false;
    this.judge.changed();
  }

  /** Something else is looked at: a wish that is never sent needn't be shown any longer. */
  makeRoom() {
    if (this.move !== null && !this.isOpen) this.clear();
  }
}
