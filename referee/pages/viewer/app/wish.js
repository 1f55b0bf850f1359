// What a person wishes for, in a game that may refuse it. The server plays it at the first step that allows it; the page shows what it says.

/** For how long the page shows a wish that isn't played. */
const SHOWN_MS = 2500;

export class Wish {
  /** @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** The move; null for none. @type {any} */
    this.move = null;
    this.id = this.timer = 0;
    /** Whether it may still be played. */
    this.isOpen = false;
    /** Why it isn't legal yet; "" if that isn't known. */
    this.why = "";
  }

  /** The last wish is the one that counts. @param {any} move @param {number} id */
  make(move, id) {
    // A key that is held says the same again and again.
    if (JSON.stringify(move) !== JSON.stringify(this.move)) this.why = "";
    Object.assign(this, { move, id, isOpen: true });
    clearTimeout(this.timer);
    this.timer = window.setTimeout(() => this.clear(), SHOWN_MS);
    this.changed();
  }

  /** What the server says of a wish, with the reason in words. @param {{ id: number, status: string }} judged @param {string} why */
  take({ id, status }, why) {
    if (id !== this.id || this.move === null) return;
    if (status === "chosen") return this.clear();
    [this.why, this.isOpen] = [why, status === "waits"];
    this.changed();
  }

  clear() {
    clearTimeout(this.timer);
    this.move = null;
    this.isOpen = false;
    this.changed();
  }

  /** Something else is looked at: a wish that is never played needn't be shown any longer. */
  makeRoom() {
    if (this.move !== null && !this.isOpen) this.clear();
  }
}
