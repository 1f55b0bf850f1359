// What the engine says would come of a move: of the one under the pointer, or of the one that is chosen.

/** The shortest time between two requests, in milliseconds. */
const PAUSE_MS = 50;

export class Previews {
  /**
   * @param {() => any} wanted the move to ask about; null for none
   * @param {(message: any) => void} send
   * @param {(preview: Preview | null) => void} show
   */
  constructor(wanted, send, show) {
    this.wanted = wanted;
    this.send = send;
    this.show = show;
    this.id = this.timer = this.askedAt = 0;
  }

  /** Ask, a few times a second at most. */
  request() {
    if (this.timer) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      this.askedAt = performance.now();
      const move = this.wanted();
      if (!move) return;
      this.id += 1;
      this.send({ type: "preview", id: this.id, move });
    }, Math.max(0, PAUSE_MS - (performance.now() - this.askedAt)));
  }

  /** Answers that are still on their way are about an earlier step. */
  forget() {
    this.id += 1;
  }

  /** @param {any} message */
  take(message) {
    if (message.id === this.id) this.show(message);
  }

  stop() {
    clearTimeout(this.timer);
    this.forget();
    this.show(null);
  }
}
