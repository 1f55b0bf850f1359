// The keys that a person holds: those of the match don't become hotkeys of the page when it ends.

/** For how long after the end the keys do nothing, in milliseconds: hands play on for a moment. */
const SETTLE_MS = 2000;

export class HeldKeys {
  /** @param {AbortSignal} signal ends the listening */
  constructor(signal) {
    /** @type {Set<string>} */
    this.down = new Set();
    /** The keys that were down at the end. @type {Set<string>} */
    this.held = new Set();
    /** Those that have been pressed for the page since. @type {Set<string>} */
    this.pressed = new Set();
    this.endedAt = 0;
    document.addEventListener("keydown", ({ code }) => this.down.add(code), { capture: true, signal });
    document.addEventListener("keyup", ({ code }) => this.down.delete(code), { capture: true, signal });
    // Another window hears that the keys are released.
    globalThis.addEventListener("blur", () => this.down.clear(), { signal });
  }

  /** The match is over. */
  end() {
    this.held = new Set(this.down);
    this.pressed.clear();
    this.endedAt = performance.now();
  }

  /** Whether a key that goes down after the end is still meant for the match. @param {KeyboardEvent} event */
  isMeantForMatch({ code, repeat }) {
    if (repeat) return !this.pressed.has(code);
    // Whoever lets go of a key and presses it again means the page.
    const isMeant = !this.held.has(code) && performance.now() - this.endedAt < SETTLE_MS;
    if (!isMeant) this.pressed.add(code);
    return isMeant;
  }
}
